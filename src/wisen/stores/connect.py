"""One name for any store: `connect(url)` opens what the URL's scheme says."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from wisen.errors import ConfigError, MissingExtraError
from wisen.stores.store_urls import POSTGRES_SCHEMES, is_url, names_folder, path_in, scheme_of, shown_url

if TYPE_CHECKING:
    from wisen.protocols import Embedder, Screen
    from wisen.stores.in_process.store import InMemoryVectorStore
    from wisen.stores.markdown.store import MarkdownStore
    from wisen.stores.postgres.store import PostgresVectorStore
    from wisen.stores.sqlite.store import SQLiteVectorStore

    AnyStore = InMemoryVectorStore | SQLiteVectorStore | MarkdownStore | PostgresVectorStore


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
    | a folder, a path ending in `/` or `.wisen`, `markdown:FOLDER`, `markdown:///absolute/folder` | `MarkdownStore` |
    | `postgresql://user:password@host:port/database`, `postgres://…` | `PostgresVectorStore` |

    Args:
        url: As in the table.
        embedder: Makes the vectors; `None` takes `HashEmbedder`.
        floor: Relevance in [0, 1] below which a search returns nothing; `None` takes `scoring.DEFAULT_FLOOR`.
        read_only: Never write; every writing method raises `StoreReadOnlyError`.
        screen: What `add` lets in; `None` takes `DefaultScreen`.

    Raises:
        ConfigError: If the URL can't be understood, or an option doesn't fit it.
        MissingExtraError: If the store needs a package that isn't installed.
    """
    if isinstance(url, Path) or not is_url(url):
        path = Path(url)
        if str(url) and (path.is_dir() if path.exists() else names_folder(str(url))):
            return _markdown(str(url), embedder, floor, read_only=read_only, screen=screen)
        return _sqlite(str(url), embedder, floor, read_only=read_only, screen=screen)
    scheme = scheme_of(url)
    if scheme in POSTGRES_SCHEMES:
        return _postgres(url, embedder, floor, read_only=read_only, screen=screen)
    if scheme == "sqlite":
        return _sqlite(path_in(url), embedder, floor, read_only=read_only, screen=screen)
    if scheme == "markdown":
        return _markdown(path_in(url), embedder, floor, read_only=read_only, screen=screen)
    return _memory(url, embedder, floor, read_only=read_only, screen=screen)


def _sqlite(
    path: str, embedder: "Embedder | None", floor: float | None, *, read_only: bool, screen: "Screen | None"
) -> "SQLiteVectorStore":
    from wisen.stores.sqlite.store import SQLiteVectorStore  # noqa: PLC0415 - imports numpy

    if not path:
        raise ConfigError("store '' names no file; pass a path or a URL")
    return SQLiteVectorStore(path, embedder=embedder, floor=floor, read_only=read_only, screen=screen)


def _markdown(
    path: str, embedder: "Embedder | None", floor: float | None, *, read_only: bool, screen: "Screen | None"
) -> "MarkdownStore":
    from wisen.stores.markdown.store import MarkdownStore  # noqa: PLC0415 - imports numpy

    return MarkdownStore(path, embedder=embedder, floor=floor, read_only=read_only, screen=screen)


def _memory(
    url: str, embedder: "Embedder | None", floor: float | None, *, read_only: bool, screen: "Screen | None"
) -> "InMemoryVectorStore":
    from wisen.stores.in_process.store import InMemoryVectorStore  # noqa: PLC0415 - imports numpy

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
    from wisen.stores.postgres.store import PostgresVectorStore  # noqa: PLC0415 - needs the extra

    return PostgresVectorStore(url, embedder=embedder, floor=floor, read_only=read_only, screen=screen)
