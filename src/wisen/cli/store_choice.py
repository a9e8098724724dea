"""Which store and which embedder a command uses, and why; whatever the store is, a command opens it here."""

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from wisen.errors import (
    ConfigError,
    EmbedderError,
    EmbedderMismatchError,
    MissingExtraError,
    StoreError,
    StoreReadOnlyError,
)
from wisen.stores.connect import connect
from wisen.stores.store_urls import POSTGRES_SCHEMES, is_url, names_folder, path_in, scheme_of, shown_url
from wisen.stores.whole_store import Store

if TYPE_CHECKING:
    from wisen.protocols import Embedder
    from wisen.stores.transfer_protocol import Transferable

_Result = TypeVar("_Result")

VARIABLE = "WISEN_STORE"
_FOLDERS = (".wisen", "reflections", "cards", "tenants")
"""Of these, a folder that is a Markdown store has at least one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreChoice:
    """A store, by its file, folder or URL, and what chose it."""

    url: str = field(repr=False)
    """As it was given: it may hold a password, so print `shown`."""
    why: str

    @property
    def kind(self) -> Literal["sqlite", "markdown", "postgres"]:
        """What sort of store it is."""
        if is_url(self.url):
            scheme = scheme_of(self.url)
            if scheme == "memory":
                raise ConfigError("store 'memory:' would be gone when the command ends; pass a path")
            return "postgres" if scheme in POSTGRES_SCHEMES else "markdown" if scheme == "markdown" else "sqlite"
        return "markdown" if any((Path(self.url) / name).is_dir() for name in _FOLDERS) else "sqlite"

    @property
    def path(self) -> Path | None:
        """The file or folder; `None` where a server holds it."""
        if self.kind == "postgres":
            return None
        return Path(path_in(self.url) if is_url(self.url) else self.url).expanduser()

    @property
    def shown(self) -> str:
        """The path, or the URL without a password."""
        return shown_url(self.url) if self.path is None else str(self.path)

    @property
    def exists(self) -> bool:
        """Whether there is such a file or folder already; of a server, only opening tells."""
        return self.path is None or (self.path.is_dir() if self.kind == "markdown" else self.path.exists())

    @property
    def problem(self) -> StoreError | None:
        """Why this process can't write there, as far as it can be known without opening; SQLite needs its folder."""
        path = self.path
        if path is None:
            return None
        if self._refused:
            return self._refused
        folder = next((parent for parent in path.absolute().parents if parent.exists()), path.parent)
        changeable = self.kind == "markdown" or (folder.is_dir() and os.access(folder, os.W_OK))
        writable = os.access(path if self.exists else folder, os.W_OK)
        return None if changeable and writable else StoreReadOnlyError(str(path))

    @property
    def _refused(self) -> StoreError | None:
        if self.kind != "sqlite" or self.path is None or not self.path.is_dir():
            return None
        return StoreError(f"store {str(self.path)!r} is a directory; pass a file's path, or markdown:FOLDER")

    def existing(self) -> "StoreChoice":
        """The same choice; raises `StoreError` where there is no such file or folder yet."""
        if self._refused:
            raise self._refused
        if not self.exists:
            raise StoreError(f"no store at {self.shown!r} ({self.why}); `wisen run TASKS` makes it, or pass --store")
        return self

    def connect(self, embedder: "Embedder | None" = None, *, read_only: bool = False) -> Store:
        """The store, which opens at its first use."""
        url = f"markdown:{self.path}" if self.kind == "markdown" else self.url if self.path is None else self.path
        return cast("Store", connect(url, embedder=embedder, read_only=read_only))


def choose_store(given: str | None, environ: Mapping[str, str] = os.environ) -> StoreChoice:
    """`--store`, else the environment's choice, else the user's data folder. Raises `ConfigError` for no known URL."""
    if given is not None:
        return _named(given, "--store")
    if named := environ.get(VARIABLE):
        return _named(named, f"the environment variable {VARIABLE}")
    if folder := environ.get("XDG_DATA_HOME"):
        return _named(f"{folder}/wisen/wisen.db", "the default, in XDG_DATA_HOME")
    return _named(str(Path.home() / ".local" / "share" / "wisen" / "wisen.db"), "the default")


def choose_server(given: str | None) -> StoreChoice:
    """The same for what needs queues; raises `ConfigError` for a store that isn't in Postgres."""
    choice = choose_store(given)
    if choice.kind != "postgres":
        said = f"queues need Postgres; pass --store postgresql://… or set {VARIABLE}"
        raise ConfigError(f"store {choice.shown!r} ({choice.why}): {said}")
    return choice


def _named(name: str, why: str) -> StoreChoice:
    if not name:
        raise ConfigError("--store '': is empty; pass a path or a URL")
    choice = StoreChoice(url=name if is_url(name) else _by_path(name), why=why)
    _ = choice.path  # refuses what can't be understood
    return choice


def _by_path(name: str) -> str:
    """The path, or as a URL where only the name's form says that it is to be a folder."""
    path = Path(name).expanduser()
    return f"markdown:{path}" if names_folder(name) and not path.exists() else str(path)


async def choose_embedder(choice: StoreChoice, name: str | None) -> "tuple[Embedder, str]":
    """The embedder that is asked for, else the one that the store has, else "auto"; and why."""
    if name is not None:
        return named_embedder(name)
    automatic = named_embedder("auto")
    if not choice.exists or choice.kind == "markdown":
        return automatic
    try:
        await (await opened(choice.existing(), automatic[0], read_only=True)).close()
    except EmbedderMismatchError as error:
        return _embedder_of(error), "the store's vectors come from it"
    return automatic


async def embedder_of_vectors(choice: StoreChoice) -> "Embedder":
    """What the store's vectors come from, for who asks of it and embeds nothing: absent where it can't be had here."""
    from wisen.embedders.absent import AbsentEmbedder  # noqa: PLC0415 - for this question only
    from wisen.embedders.names import name_of  # noqa: PLC0415 - imports numpy

    async with reading(choice) as store:
        label = await cast("Transferable", store).vectors_label()
    try:
        return named_embedder(name_of(label) if label else "auto")[0]
    except ConfigError:  # unknown, or its packages aren't installed
        return AbsentEmbedder(label)


def named_embedder(name: str) -> "tuple[Embedder, str]":
    """The embedder that is asked for, and why. Raises `ConfigError` in the words of the command line."""
    from wisen.embedders.names import explain_embedder  # noqa: PLC0415 - imports numpy

    try:
        return explain_embedder(name)
    except MissingExtraError:
        raise
    except ConfigError as error:
        raise ConfigError(_as_option(str(error), name)) from None


async def check_embedder(embedder: "Embedder", name: str) -> None:
    """Ask the embedder for one vector, so that one that can't work is known before anything relies on it.

    Raises `EmbedderError`, or `MissingExtraError`.
    """
    try:
        await embedder.embed(["wisen"])
    except EmbedderError as error:
        raise EmbedderError(_as_option(str(error), name)) from None


@asynccontextmanager
async def reading(choice: StoreChoice) -> AsyncGenerator[Store]:
    """The store, for commands that only look: with whatever embedder its vectors come from, since none is needed."""
    await _bring_up_to_date(choice.existing())
    store = choice.connect(read_only=True)
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def open_store(
    choice: StoreChoice, embedder_name: str | None, *, read_only: bool = False
) -> AsyncGenerator[Store]:
    """The store with an embedder that works: the one that is asked for, else the one that its vectors come from."""
    embedder, _ = named_embedder("auto" if embedder_name is None else embedder_name)
    if embedder_name is not None:
        await check_embedder(embedder, embedder_name)
    try:
        store = await opened(choice, embedder, read_only=read_only)
    except EmbedderMismatchError as error:
        if embedder_name is not None:
            raise
        store = await opened(choice, _embedder_of(error), read_only=read_only)
    try:
        yield store
    finally:
        await store.close()


async def opened(choice: StoreChoice, embedder: "Embedder", *, read_only: bool) -> Store:
    """The store, open; the caller closes it. Raises `StoreError`."""
    if read_only:
        await _bring_up_to_date(choice)
    store = choice.connect(embedder, read_only=read_only)
    try:
        await store.__aenter__()
    except BaseException:
        await store.close()
        raise
    return store


async def _bring_up_to_date(choice: StoreChoice) -> None:
    """Upgrade a file or folder of an older version, as any run would, so that it can be looked at.

    Where it can't be written, it stays, and who reads it is told. A server's tables are upgraded by who writes there.
    """
    path = choice.path
    if path is None or choice.problem is not None:
        return
    from wisen.stores.markdown.ledger import runs_file  # noqa: PLC0415 - other stores don't need it
    from wisen.stores.sqlite.file import bring_up_to_date  # noqa: PLC0415 - as above

    await asyncio.to_thread(bring_up_to_date, path if choice.kind == "sqlite" else runs_file(path))


def _embedder_of(error: EmbedderMismatchError) -> "Embedder":
    """The embedder that a store's vectors come from, which another one was refused for."""
    from wisen.embedders.names import name_of  # noqa: PLC0415 - imports numpy

    return named_embedder(name_of(error.stored))[0]


def drive(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Run a command's asynchronous part."""
    return asyncio.run(work)


def _as_option(said: str, name: str) -> str:
    """The library's advice to pass an argument, as what to write after `--embedder`."""
    bare = re.sub(r"@\d*$", "", name)
    said = said.replace("pass dimension=…", f"write it behind the name, as in {bare}@768")
    return said.replace("pass the right dimension=…", f"write the right one behind the name, as in {bare}@768")
