"""One name for any store: `connect(url)` opens what the URL's scheme says, and URLs are shown without passwords."""

import re
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from wisen.errors import ConfigError, MissingExtraError

if TYPE_CHECKING:
    from wisen.protocols import Embedder, Screen
    from wisen.stores.markdown import MarkdownStore
    from wisen.stores.memory import InMemoryVectorStore
    from wisen.stores.postgres import PostgresVectorStore
    from wisen.stores.sqlite import SQLiteVectorStore

    AnyStore = InMemoryVectorStore | SQLiteVectorStore | MarkdownStore | PostgresVectorStore

POSTGRES_SCHEMES = ("postgresql", "postgres")
SCHEMES = ("memory", "sqlite", "markdown", *POSTGRES_SCHEMES)
"""What a store's URL may begin with."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_PASSWORD = re.compile(r"(://[^:/?#@]*):.*@", re.DOTALL)
_PASSWORD_OPTION = re.compile(r"((?:^|[?&\s])(?:ssl)?password\s*=\s*)(?:'(?:[^'\\]|\\.)*'|[^&\s]*)", re.IGNORECASE)
_HIDDEN = "***"


def connect(
    url: "str | Path",
    *,
    embedder: "Embedder | None" = None,
    floor: float | None = None,
    read_only: bool = False,
    screen: "Screen | None" = None,
) -> "AnyStore":
    """The store that a URL names; nothing is opened yet (`async with` does, or the first use).

    | URL | store |
    |---|---|
    | `memory:` | `InMemoryVectorStore`, empty |
    | a path, `sqlite:PATH`, `sqlite:///absolute/path` | `SQLiteVectorStore` |
    | `markdown:FOLDER`, `markdown:///absolute/folder` | `MarkdownStore` |
    | `postgresql://user:password@host:port/database`, `postgres://…` | `PostgresVectorStore` |

    Args:
        url: As in the table.
        embedder: Makes the vectors; `None` takes `HashEmbedder`.
        floor: Relevance in [0, 1] below which a search returns nothing; `None` takes `hybrid.DEFAULT_FLOOR`.
        read_only: Never write; every writing method raises `StoreReadOnlyError`.
        screen: What `add` lets in; `None` takes `DefaultScreen`.

    Raises:
        ConfigError: If the URL can't be understood, or an option doesn't fit it.
        MissingExtraError: If the store needs a package that isn't installed.
    """
    if isinstance(url, Path) or not is_url(url):
        return _sqlite(str(url), embedder, floor, read_only=read_only, screen=screen)
    scheme = scheme_of(url)
    if scheme in POSTGRES_SCHEMES:
        return _postgres(url, embedder, floor, read_only=read_only, screen=screen)
    if scheme == "sqlite":
        return _sqlite(path_in(url), embedder, floor, read_only=read_only, screen=screen)
    if scheme == "markdown":
        return _markdown(path_in(url), embedder, floor, read_only=read_only, screen=screen)
    return _memory(url, embedder, floor, read_only=read_only, screen=screen)


def is_url(text: str) -> bool:
    """Whether a text names a store by URL, and not by a file's path."""
    return _SCHEME.match(text) is not None


def scheme_of(url: str) -> str:
    """Which of `SCHEMES` the URL begins with; raises `ConfigError` for any other, naming the nearest."""
    found = _SCHEME.match(url)
    said = found[1] if found else ""
    scheme = said.lower()
    if scheme in SCHEMES:
        return scheme
    nearest = get_close_matches(scheme, SCHEMES, 1, 0.5)
    meant = f"did you mean {nearest[0]}:?" if nearest else f"known are {', '.join(f'{one}:' for one in SCHEMES)}"
    raise ConfigError(
        f"store {shown_url(url)!r}: {said!r} is no kind of store; {meant} "
        "(write sqlite: in front of a file's name that has a colon)"
    )


def path_in(url: str) -> str:
    """The path in a `sqlite:` or `markdown:` URL. Raises `ConfigError` where there is none."""
    scheme = scheme_of(url)
    path = url[len(scheme) + 1 :]
    if path.startswith("//"):
        path = path[2:]
        if not path.startswith("/"):
            raise ConfigError(f"store {url!r} names another machine; write {scheme}:PATH or {scheme}:///absolute/path")
    if not path or "\0" in path:
        raise ConfigError(f"store {url!r} names no path; write {scheme}:PATH")
    return path


def shown_url(url: str) -> str:
    """The URL as it may be shown: with stars in the place of a password, wherever one can stand.

    Where it is unclear how far a password goes, because it isn't percent-encoded, more is hidden.
    """
    return _PASSWORD_OPTION.sub(rf"\1{_HIDDEN}", _PASSWORD.sub(rf"\1:{_HIDDEN}@", url))


def _sqlite(
    path: str, embedder: "Embedder | None", floor: float | None, *, read_only: bool, screen: "Screen | None"
) -> "SQLiteVectorStore":
    from wisen.stores.sqlite import SQLiteVectorStore  # noqa: PLC0415 - imports numpy

    if not path:
        raise ConfigError("store '' names no file; pass a path or a URL")
    return SQLiteVectorStore(path, embedder=embedder, floor=floor, read_only=read_only, screen=screen)


def _markdown(
    path: str, embedder: "Embedder | None", floor: float | None, *, read_only: bool, screen: "Screen | None"
) -> "MarkdownStore":
    from wisen.stores.markdown import MarkdownStore  # noqa: PLC0415 - imports numpy

    return MarkdownStore(path, embedder=embedder, floor=floor, read_only=read_only, screen=screen)


def _memory(
    url: str, embedder: "Embedder | None", floor: float | None, *, read_only: bool, screen: "Screen | None"
) -> "InMemoryVectorStore":
    from wisen.stores.memory import InMemoryVectorStore  # noqa: PLC0415 - imports numpy

    if url.partition(":")[2] not in ("", "//"):
        raise ConfigError(f"store {url!r}: a store in memory has no name; write memory:")
    if read_only:
        raise ConfigError("store 'memory:' begins empty, so there is nothing to open with read_only=True")
    return InMemoryVectorStore(embedder=embedder, floor=floor, screen=screen)


def _postgres(
    url: str, embedder: "Embedder | None", floor: float | None, *, read_only: bool, screen: "Screen | None"
) -> "PostgresVectorStore":
    if find_spec("asyncpg") is None:
        raise MissingExtraError(f"store {shown_url(url)!r}", "pip install 'wisen[postgres]'")
    from wisen.stores.postgres import PostgresVectorStore  # noqa: PLC0415 - needs the extra

    return PostgresVectorStore(url, embedder=embedder, floor=floor, read_only=read_only, screen=screen)
