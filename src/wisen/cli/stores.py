"""Which store and which embedder a command uses, and why."""

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from wisen.errors import (
    ConfigError,
    EmbedderError,
    EmbedderMismatchError,
    MissingExtraError,
    StoreError,
    StoreReadOnlyError,
)

if TYPE_CHECKING:
    from wisen.protocols import Embedder
    from wisen.stores.sqlite import SQLiteVectorStore

_Result = TypeVar("_Result")

VARIABLE = "WISEN_STORE"
_LISTED = 5

StorePath = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="PATH",
        help=f"The store's file. Default: ${VARIABLE}, else wisen/wisen.db in the user's data folder.",
        show_default=False,
    ),
]
EmbedderName = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        metavar="NAME",
        help=(
            "hash, local, auto or provider:name, with @768 for a model whose vectors' length isn't known. "
            "Default: the one that the store's vectors come from, else auto."
        ),
        show_default=False,
    ),
]
Tenant = Annotated[
    str | None, typer.Option("--tenant", help="Only this tenant; '' is the one without a name.", show_default=False)
]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreChoice:
    """A store's file and what chose it."""

    path: Path
    why: str

    @property
    def exists(self) -> bool:
        """Whether there is such a file already."""
        return self.path.exists()

    @property
    def problem(self) -> StoreError | None:
        """Why this process can't write the file, or make it; SQLite needs its folder, too."""
        if self.path.is_dir():
            return StoreError(f"store {str(self.path)!r} is a directory; pass a file's path")
        folder = next((parent for parent in self.path.absolute().parents if parent.exists()), self.path.parent)
        changeable = folder.is_dir() and os.access(folder, os.W_OK)
        writable = changeable and (not self.exists or os.access(self.path, os.W_OK))
        return None if writable else StoreReadOnlyError(str(self.path))

    def existing(self) -> "StoreChoice":
        """The same choice; raises `StoreError` where there is no such file yet."""
        if not self.exists:
            raise StoreError(
                f"no store at {str(self.path)!r} ({self.why}); `wisen run TASKS` makes it, or pass --store"
            )
        return self


def choose_store(given: Path | None, environ: Mapping[str, str] = os.environ) -> StoreChoice:
    """`--store`, else the environment's choice, else the user's data folder."""
    if given is not None:
        return StoreChoice(path=given.expanduser(), why="--store")
    if named := environ.get(VARIABLE):
        return StoreChoice(path=Path(named).expanduser(), why=f"the environment variable {VARIABLE}")
    if folder := environ.get("XDG_DATA_HOME"):
        return StoreChoice(path=Path(folder) / "wisen" / "wisen.db", why="the default, in XDG_DATA_HOME")
    return StoreChoice(path=Path.home() / ".local" / "share" / "wisen" / "wisen.db", why="the default")


async def choose_embedder(choice: StoreChoice, name: str | None) -> "tuple[Embedder, str]":
    """The embedder that is asked for, else the one that the store has, else "auto"; and why."""
    from wisen.embedders.names import explain_embedder  # noqa: PLC0415 - imports numpy
    from wisen.stores.sqlite import SQLiteVectorStore  # noqa: PLC0415 - as above

    if name is not None:
        return named_embedder(name)
    automatic = explain_embedder("auto")
    if not choice.exists:
        return automatic
    try:
        async with SQLiteVectorStore(choice.path, embedder=automatic[0], read_only=True):
            return automatic
    except EmbedderMismatchError as error:
        embedder = explain_embedder(_name_of(error.stored))[0]
        return embedder, "the store's vectors come from it"


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
async def reading(choice: StoreChoice) -> "AsyncGenerator[SQLiteVectorStore]":
    """The store, for commands that only look: with whatever embedder its vectors come from, since none is needed."""
    from wisen.stores.sqlite import SQLiteVectorStore  # noqa: PLC0415 - imports numpy

    store = SQLiteVectorStore(choice.existing().path, read_only=True)
    try:
        yield store
    finally:
        await store.close()


def whole_id(given: str, ids: Iterable[str], missing: StoreError) -> str:
    """The one of the ids that begins with what is given; raises `missing` where none does.

    Raises `StoreError` where several do.
    """
    found = [one for one in ids if given and one.startswith(given)]
    if not found:
        raise missing
    if len(found) > 1:
        more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
        raise StoreError(f"{given!r} begins several ids: {', '.join(found[:_LISTED])}{more}; write more of it")
    return found[0]


def drive(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Run a command's asynchronous part."""
    return asyncio.run(work)


def _as_option(said: str, name: str) -> str:
    """The library's advice to pass an argument, as what to write after `--embedder`."""
    bare = re.sub(r"@\d*$", "", name)
    said = said.replace("pass dimension=…", f"write it behind the name, as in {bare}@768")
    return said.replace("pass the right dimension=…", f"write the right one behind the name, as in {bare}@768")


def _name_of(label: str) -> str:
    """The name that resolves to the embedder with this label."""
    name, _, dimension = label.rpartition("/")
    if re.fullmatch(rf"hash-{dimension}-v\d+", name):
        return f"hash:{dimension}"
    return "local" if name.startswith("all-minilm-l6-v2") else f"{name}@{dimension}"
