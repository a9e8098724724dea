"""Vectors from a provider or a server, through the provider library, checked before anyone relies on them."""

import asyncio
import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import numpy as np

from wisen.errors import ConfigError, EmbedderError, MissingExtraError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pydantic_ai.embeddings import Embedder as ProviderEmbedder
    from pydantic_ai.embeddings import EmbeddingModel, EmbeddingSettings

NATIVE_DIMENSIONS: Final = {
    "openai:text-embedding-3-small": 1536,
    "openai:text-embedding-3-large": 3072,
    "google:gemini-embedding-001": 3072,
}
"""Lengths of the vectors that well-known models give unless asked for shorter ones."""

COMPATIBLE: Final = "openai-compatible"
"""The prefix for your own server: "openai-compatible:http://host:port/v1#name"."""

_EXTRA: Final = re.compile(r"pydantic-ai-slim\[([\w-]+)\]")
_VARIABLE: Final = re.compile(r"`([A-Z][A-Z0-9_]+)`")
_REQUEST_CHARACTERS: Final = 200_000


class RemoteEmbedder:
    """An embedding model of a provider, such as "openai:text-embedding-3-small".

    The provider's library is imported and its key read at the first use, in a thread. Several texts go in one request.
    A model that isn't known here needs its `dimension`. The default `floor` is a guess that suits most: a model whose
    unrelated texts come out more alike than that needs its own.
    """

    def __init__(
        self,
        model: "str | EmbeddingModel",
        *,
        dimension: int | None = None,
        floor: float = 0.3,
        batch: int = 128,
        max_characters: int = 8_000,
        same_meaning: float | None = None,
    ) -> None:
        """Say which model is meant, without connecting.

        Args:
            model: "provider:name", "openai-compatible:http://host:port/v1#name", or pydantic-ai's own object.
            dimension: Length of the vectors. A model of known length is asked to shorten them; others must have it.
            floor: The cosine below which texts are unrelated.
            batch: How many texts one request may carry.
            max_characters: How much of a text is sent; providers refuse what is too long for the model.
            same_meaning: The cosine from which two texts whose content agrees say the same. It differs by model, so
                measure it; without it, only texts of the same words count as one idea.

        Raises:
            ConfigError: If the name has another form, the length isn't known, or an option is out of its range.
        """
        self._model = model
        self._name = model if isinstance(model, str) else f"{model.system}:{model.model_name}"
        _check_name(self._name)
        native = NATIVE_DIMENSIONS.get(self._name)
        length = native if dimension is None else dimension
        if length is None:
            msg = f"embedder {self._name!r}: its vectors' length isn't known; pass dimension=…"
            raise ConfigError(msg)
        for option, value in (("dimension", length), ("batch", batch), ("max_characters", max_characters)):
            if value < 1:
                msg = f"RemoteEmbedder({option}={value!r}): must be 1 or more"
                raise ConfigError(msg)
        if not -1.0 <= floor <= 1.0:
            msg = f"RemoteEmbedder(floor={floor!r}): must be in [-1, 1]"
            raise ConfigError(msg)
        if same_meaning is not None and not -1.0 <= same_meaning <= 1.0:
            msg = f"RemoteEmbedder(same_meaning={same_meaning!r}): must be in [-1, 1]"
            raise ConfigError(msg)
        self._dimension = length
        self._shorten = native is not None and length != native
        self._floor = floor
        self._same_meaning = same_meaning
        self._batch = batch
        self._max_characters = max_characters
        self._connected: tuple[asyncio.AbstractEventLoop, ProviderEmbedder] | None = None

    @property
    def name(self) -> str:
        """The model's name with its provider."""
        return self._name

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        return self._dimension

    @property
    def floor(self) -> float:
        """The cosine below which two texts have nothing to do with each other."""
        return self._floor

    @property
    def same_meaning(self) -> float | None:
        """The cosine from which two texts whose content agrees say the same; `None` where it wasn't given."""
        return self._same_meaning

    def knows(self, text: str) -> bool:
        """Whether there is anything to embed: which characters a provider's model learned can't be asked."""
        return bool(text and not text.isspace())

    async def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """One unit row per text, in order; a row of zeros for a blank text, which isn't sent.

        Raises `EmbedderError` for a failed request, or an answer of another shape than asked for; `MissingExtraError`
        if the provider's library isn't installed.
        """
        rows = np.zeros((len(texts), self._dimension), dtype=np.float32)
        numbers = [number for number, text in enumerate(texts) if text and not text.isspace()]
        sent = {number: texts[number][: self._max_characters] for number in numbers}
        for batch in self._batches(sent):
            rows[batch] = await self._request([sent[number] for number in batch])
        return rows

    def _batches(self, sent: dict[int, str]) -> Iterator[list[int]]:
        batch: list[int] = []
        size = 0
        for number, text in sent.items():
            if batch and (len(batch) == self._batch or size + len(text) > _REQUEST_CHARACTERS):
                yield batch
                batch, size = [], 0
            batch.append(number)
            size += len(text)
        if batch:
            yield batch

    async def _request(self, texts: list[str]) -> "NDArray[np.float32]":
        embedder = await self._provider()
        settings: EmbeddingSettings = {"dimensions": self._dimension} if self._shorten else {}
        try:
            result = await embedder.embed_documents(texts, settings=settings)
        except Exception as error:
            msg = f"embedder {self._name!r}: {_reason(error)}"
            raise EmbedderError(msg) from error
        return self._checked(result.embeddings, len(texts))

    def _checked(self, vectors: Sequence[Sequence[float]], expected: int) -> "NDArray[np.float32]":
        lengths = {len(vector) for vector in vectors}
        if len(vectors) != expected:
            msg = f"embedder {self._name!r}: gave {len(vectors)} vectors for {expected} texts"
            raise EmbedderError(msg)
        if lengths != {self._dimension}:
            msg = (
                f"embedder {self._name!r}: gave vectors of length {', '.join(map(str, sorted(lengths)))}, "
                f"not {self._dimension}; pass the right dimension=…"
            )
            raise EmbedderError(msg)
        rows = np.asarray(vectors, dtype=np.float64)
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        if not all(math.isfinite(norm) and norm > 0.0 for norm in norms[:, 0].tolist()):
            msg = f"embedder {self._name!r}: gave a vector that isn't finite, or has no direction"
            raise EmbedderError(msg)
        return (rows / norms).astype(np.float32)

    async def _provider(self) -> "ProviderEmbedder":
        """The connection of this event loop: a client's open connections die with the loop they were made in."""
        loop = asyncio.get_running_loop()
        if self._connected is None or self._connected[0] is not loop:
            self._connected = (loop, await asyncio.to_thread(_connect, self._model, self._name))
        return self._connected[1]


def _check_name(name: str) -> None:
    kind, _, rest = name.partition(":")
    if not kind or not rest:
        msg = f'embedder {name!r}: write it as "provider:name", such as "openai:text-embedding-3-small"'
        raise ConfigError(msg)
    if kind == COMPATIBLE:
        url, _, served = rest.partition("#")
        if urlsplit(url).scheme not in {"http", "https"} or not served:
            msg = f'embedder {name!r}: write it as "{COMPATIBLE}:http://host:port/v1#name"'
            raise ConfigError(msg)


def _connect(model: "str | EmbeddingModel", name: str) -> "ProviderEmbedder":
    from pydantic_ai.embeddings import Embedder, infer_embedding_model  # noqa: PLC0415 - slow to import
    from pydantic_ai.exceptions import UserError  # noqa: PLC0415 - slow to import

    try:
        if isinstance(model, str):
            kind, _, rest = model.partition(":")
            model = _served(rest) if kind == COMPATIBLE else infer_embedding_model(model)
    except ImportError as error:
        needed_for = f"embedder {name!r}"
        raise MissingExtraError(needed_for, _install(str(error))) from error
    except UserError as error:
        variables = dict.fromkeys(_VARIABLE.findall(error.message))
        todo = f"set the environment variable {' or '.join(variables)}" if variables else error.message
        msg = f"embedder {name!r}: {todo}"
        raise EmbedderError(msg) from error
    except ValueError as error:
        msg = f"embedder {name!r}: {error}"
        raise ConfigError(msg) from error
    return Embedder(model)


def _served(address: str) -> "EmbeddingModel":
    from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel  # noqa: PLC0415 - optional extra
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415 - optional extra

    url, _, served = address.partition("#")
    return OpenAIEmbeddingModel(served, provider=OpenAIProvider(base_url=url, api_key="none"))


def _install(problem: str) -> str:
    found = _EXTRA.search(problem)
    extra = found.group(1) if found else "openai"
    return f"pip install '{'wisen' if extra == 'openai' else 'pydantic-ai-slim'}[{extra}]'"


def _reason(error: Exception) -> str:
    """What failed, without the provider's own words: they may repeat the texts that were sent."""
    status: object = getattr(error, "status_code", None)
    if not isinstance(status, int):
        return f"the request failed ({type(error).__name__})"
    hint = {401: "; check the key", 403: "; check the key", 404: "; check the name", 429: "; wait, or raise the quota"}
    return f"the request failed with HTTP status {status}{hint.get(status, '')}"
