"""Finds the embedder that a name means, and says why."""

import re
from difflib import get_close_matches
from typing import Final, get_args

from wisen.embedders.hashing import HashEmbedder
from wisen.embedders.local import INSTALL, LocalEmbedder, local_embedder_missing
from wisen.embedders.remote import COMPATIBLE, RemoteEmbedder
from wisen.errors import ConfigError
from wisen.protocols import Embedder

FORMS: Final = '"hash", "hash:512", "local", "auto", "provider:name", "openai-compatible:http://host:port/v1#name@768"'
"""The forms of an embedder's name, for messages and help; "@768" gives the dimension of a model that isn't known."""

_DIMENSION: Final = re.compile(r"@([1-9]\d+)$")


def resolve_embedder(name: Embedder | str | None) -> Embedder:
    """The embedder that is meant: itself, or the one that `name` names; `None` is "hash", which needs no extra.

    Raises:
        ConfigError: The name means none.
        MissingExtraError: The name is "local", and its packages aren't installed.
    """
    return explain_embedder(name)[0]


def explain_embedder(name: Embedder | str | None) -> tuple[Embedder, str]:
    """As `resolve_embedder`, with the reason in a few words, as `wisen doctor` shows it.

    "auto" is the local one where its packages are installed, and "hash" elsewhere.
    """
    if name is None:
        return HashEmbedder(), "the default, which needs no extra"
    if not isinstance(name, str):
        return name, "it was passed as an object"
    if name == "auto":
        missing = local_embedder_missing()
        if missing:
            return HashEmbedder(), f"{missing} isn't installed, which the local embedder needs; run: {INSTALL}"
        return LocalEmbedder(), "the local embedder's packages are installed"
    return _named(name), "asked for by name"


def _named(name: str) -> Embedder:
    kind, _, rest = name.partition(":")
    if name == "local":
        return LocalEmbedder()
    if kind == "hash":
        return _hash(name, rest)
    if not rest:
        raise _unknown(name, name, ["hash", "local", "auto"])
    return _remote(name, kind)


def _hash(name: str, dimension: str) -> HashEmbedder:
    if name == "hash":
        return HashEmbedder()
    if not dimension.isdecimal():
        msg = f'embedder {name!r}: write a number after the colon, such as "hash:512"'
        raise ConfigError(msg)
    return HashEmbedder(int(dimension))


def _remote(name: str, kind: str) -> RemoteEmbedder:
    providers = _providers()
    if kind not in providers:
        raise _unknown(name, kind, sorted(providers))
    found = _DIMENSION.search(name)
    if found is None:
        return RemoteEmbedder(name)
    return RemoteEmbedder(name[: found.start()], dimension=int(found.group(1)))


def _providers() -> set[str]:
    from pydantic_ai.embeddings import KnownEmbeddingModelName  # noqa: PLC0415 - slow to import
    from pydantic_ai.models import OpenAIChatCompatibleProvider  # noqa: PLC0415 - slow to import

    known = {name.partition(":")[0] for name in get_args(KnownEmbeddingModelName.__value__)}
    return known | set(get_args(OpenAIChatCompatibleProvider.__value__)) | {COMPATIBLE, "sentence-transformers"}


def _unknown(name: str, word: str, known: list[str]) -> ConfigError:
    close = get_close_matches(word, known, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    return ConfigError(f"no embedder is called {name!r}{hint}; write one of {FORMS}")


def name_of(label: str) -> str:
    """The name that resolves to the embedder with this label."""
    name, _, dimension = label.rpartition("/")
    if re.fullmatch(rf"hash-{dimension}-v\d+", name):
        return f"hash:{dimension}"
    return "local" if name.startswith("all-minilm-l6-v2") else f"{name}@{dimension}"
