"""Files that can't be used, embedders that don't fit and options that make no sense: one clear line each."""

import asyncio
import os
import sqlite3
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from wisen.cards import MemoryCard, MemoryKind, MemoryScope, MemoryStatus, Situation
from wisen.embedders.hashing import HashEmbedder
from wisen.errors import (
    ConfigError,
    EmbedderError,
    EmbedderMismatchError,
    ForeignDatabaseError,
    StoreError,
    StoreReadOnlyError,
)
from wisen.recall import CardFilter, RecallHit, RecallQuery
from wisen.records import RunRecord, Task
from wisen.stores.in_process.store import InMemoryVectorStore
from wisen.stores.sqlite.store import SQLiteVectorStore

EVERYTHING = CardFilter()
PROMPT = "Fold the paper crane"


def lesson(content: str = "Crease twice.", prompt: str = PROMPT) -> MemoryCard:
    return MemoryCard(kind=MemoryKind.LESSON, content=content, situation=Situation(prompt=prompt))


async def recalled(store: SQLiteVectorStore | InMemoryVectorStore, prompt: str = PROMPT) -> list[RecallHit]:
    return await store.search(RecallQuery(situation=Situation(prompt=prompt), filter=CardFilter(tenant="")))


class OddEmbedder:
    """Gives what it is told to give."""

    name = "odd"
    dimension = 4
    floor = 0.0

    def __init__(self, rows: NDArray[np.float32] | None) -> None:
        self.rows = rows

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.rows is None:
            message = f"no answer for {len(texts)} texts"
            raise EmbedderError(message)
        return self.rows


@contextmanager
def unprivileged() -> Generator[None]:
    """Permissions mean nothing to the superuser."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody can enter, which pytest's own aren't."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.anyio
async def test_nothing_is_touched_before_the_first_use(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "cards.db"
    store = SQLiteVectorStore(path)
    assert store.path == path
    assert not path.parent.exists()
    assert await store.count(EVERYTHING) == 0
    assert path.exists()
    await store.close()


@pytest.mark.anyio
async def test_a_store_opened_for_reading_refuses_to_write(tmp_path: Path) -> None:
    path = tmp_path / "cards.db"
    async with SQLiteVectorStore(path) as store:
        await store.add([lesson()])
        await store.append_block("notes", "line")
    async with SQLiteVectorStore(path, read_only=True) as store:
        assert [hit.card for hit in await recalled(store)] == [lesson()]
        assert await store.block("notes") == "line"
        changed = lesson().with_status(MemoryStatus.ARCHIVED)
        for attempt in (
            store.add([lesson("Other.")]),
            store.update(changed),
            store.delete([lesson().id]),
            store.append_block("notes", "line"),
            store.save_run(RunRecord(run_id="r", task=Task(prompt="p"))),
            store.reindex(),
        ):
            with pytest.raises(StoreReadOnlyError) as caught:
                await attempt
            assert str(caught.value) == f"store {str(path)!r} is read-only; make it writable or pass another path"


@pytest.mark.anyio
async def test_a_file_without_write_permission_is_read_only(open_folder: Path) -> None:
    path = open_folder / "cards.db"
    async with SQLiteVectorStore(path) as store:
        await store.add([lesson()])
    path.chmod(0o444)
    with unprivileged():
        async with SQLiteVectorStore(path, read_only=True) as store:
            assert [hit.card for hit in await recalled(store)] == [lesson()]
        store = SQLiteVectorStore(path)
        with pytest.raises(StoreError) as caught:
            await store.add([lesson("Other.")])
        await store.close()
    assert "\n" not in str(caught.value)
    assert repr(str(path)) in str(caught.value)


@pytest.mark.anyio
async def test_a_folder_that_cannot_be_made_is_read_only(open_folder: Path) -> None:
    path = open_folder / "below" / "cards.db"
    with unprivileged():
        store = SQLiteVectorStore(path)
        with pytest.raises(StoreReadOnlyError):
            await store.open()
        await store.close()


@pytest.mark.anyio
async def test_a_path_below_a_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = SQLiteVectorStore(tmp_path / "file" / "cards.db")
    with pytest.raises(StoreError, match="can't be made"):
        await store.open()
    await store.close()


@pytest.mark.anyio
async def test_a_missing_file_is_not_made_for_reading(tmp_path: Path) -> None:
    path = tmp_path / "cards.db"
    store = SQLiteVectorStore(path, read_only=True)
    with pytest.raises(StoreError) as caught:
        await store.count(EVERYTHING)
    await store.close()
    assert str(caught.value) == f"no store at {str(path)!r}; pass the path of an existing one"
    assert not path.exists()


@pytest.mark.anyio
async def test_a_file_that_several_make_at_once_is_foreign_to_none(tmp_path: Path) -> None:
    for number in range(80):
        stores = [SQLiteVectorStore(tmp_path / f"{number}.db") for _ in range(4)]
        await asyncio.gather(*(store.open() for store in stores))
        for store in stores:
            await store.close()


@pytest.mark.anyio
@pytest.mark.parametrize("read_only", [False, True])
async def test_foreign_files_are_left_alone(tmp_path: Path, read_only: bool) -> None:
    text, other, newer = (tmp_path / name for name in ("notes.txt", "other.db", "newer.db"))
    text.write_text("Dear diary, this is no database. " * 50)
    for path, script in (
        (other, "CREATE TABLE songs (title TEXT)"),
        (newer, "PRAGMA application_id = 0x7769736E; PRAGMA user_version = 99"),
    ):
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(script)
    for path, problem in (
        (text, "not a database"),
        (other, "a database of another program"),
        (newer, "schema 99 of a newer wisen; this one knows 6"),
    ):
        before = path.read_bytes()
        store = SQLiteVectorStore(path, read_only=read_only)
        with pytest.raises(ForeignDatabaseError) as caught:
            await store.open()
        with pytest.raises(ForeignDatabaseError):
            await store.count(EVERYTHING)
        await store.close()
        assert str(caught.value) == f"{str(path)!r} is not a store this wisen can open ({problem}); pass another path"
        assert path.read_bytes() == before


@pytest.mark.anyio
async def test_an_empty_file_becomes_a_store_but_not_for_reading(tmp_path: Path) -> None:
    path = tmp_path / "cards.db"
    path.touch()
    reading = SQLiteVectorStore(path, read_only=True)
    with pytest.raises(ForeignDatabaseError, match="an empty file"):
        await reading.open()
    await reading.close()
    async with SQLiteVectorStore(path) as store:
        await store.add([lesson()])


@pytest.mark.anyio
async def test_a_store_of_an_older_schema_is_not_read_before_it_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "cards.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("PRAGMA application_id = 0x7769736E; CREATE TABLE early (name TEXT)")
    store = SQLiteVectorStore(path, read_only=True)
    with pytest.raises(ForeignDatabaseError, match="schema 0 of an older wisen"):
        await store.open()
    await store.close()


@pytest.mark.anyio
async def test_another_embedder_is_refused_until_the_store_is_reindexed(tmp_path: Path) -> None:
    path = tmp_path / "cards.db"
    cards = [lesson(f"Crease {number} times.", f"{PROMPT} number {number}") for number in range(30)]
    async with SQLiteVectorStore(path, embedder=HashEmbedder(dimension=64)) as old:
        await old.add(cards)
        with pytest.raises(EmbedderMismatchError) as caught:
            await SQLiteVectorStore(path, embedder=HashEmbedder(dimension=128)).open()
        assert str(caught.value) == (
            f"store {str(path)!r} holds vectors of embedder 'hash-64-v1/64', opened with 'hash-128-v1/128'; "
            "open it with the stored one, or call reindex() to embed all cards again"
        )
        new = SQLiteVectorStore(path, embedder=HashEmbedder(dimension=128))
        for attempt in (new.add([lesson()]), recalled(new), new.update(cards[0].with_status(MemoryStatus.ARCHIVED))):
            with pytest.raises(EmbedderMismatchError):
                await attempt
        assert await new.get([cards[3].id]) == [cards[3]]
        heard: list[tuple[int, int]] = []
        assert await new.reindex(progress=lambda done, of: heard.append((done, of))) == 30
        assert heard == [(30, 30)]
        assert (await recalled(new, f"{PROMPT} number 3"))[0].card == cards[3]
        assert (await new.add([lesson()]))[0].outcome == "added"
        with pytest.raises(EmbedderMismatchError):
            await recalled(old)
        await new.close()


@pytest.mark.anyio
async def test_reindexing_with_the_same_embedder_renews_an_open_index(tmp_path: Path) -> None:
    async with SQLiteVectorStore(tmp_path / "cards.db") as store:
        assert await store.reindex() == 0
        await store.add([lesson()])
        assert await recalled(store)
        assert await store.reindex() == 1
        assert [hit.card for hit in await recalled(store)] == [lesson()]


@pytest.mark.anyio
async def test_reindexing_replaces_vectors_that_were_wrong(tmp_path: Path) -> None:
    embedder = OddEmbedder(np.eye(2, 4, dtype=np.float32))
    async with SQLiteVectorStore(tmp_path / "cards.db", embedder=embedder) as store:
        await store.add([lesson("Sing.", "Whistle.")])
        embedder.rows = np.eye(1, 4, 3, dtype=np.float32)
        assert await recalled(store) == []
        embedder.rows = np.eye(2, 4, 3, dtype=np.float32)
        await store.reindex()
        embedder.rows = np.eye(1, 4, 3, dtype=np.float32)
        assert [hit.vector for hit in await recalled(store)] == [1.0]


@pytest.mark.anyio
@pytest.mark.parametrize("rows", [None, np.ones((7, 4), np.float32), np.full((2, 4), np.nan, np.float32)])
async def test_a_failing_embedder_leaves_nothing_behind(tmp_path: Path, rows: NDArray[np.float32] | None) -> None:
    for store in (
        SQLiteVectorStore(tmp_path / "cards.db", embedder=OddEmbedder(rows)),
        InMemoryVectorStore(embedder=OddEmbedder(rows)),
    ):
        with pytest.raises(EmbedderError) as caught:
            await store.add([lesson()])
        assert "Crease" not in str(caught.value)
        assert await store.count(EVERYTHING) == 0
        await store.close()


@pytest.mark.anyio
async def test_a_card_that_is_not_unicode_is_refused_without_its_text(tmp_path: Path) -> None:
    broken = lesson("Half a pair: \ud800")
    async with SQLiteVectorStore(tmp_path / "cards.db") as store:
        with pytest.raises(StoreError) as caught:
            await store.add_unscreened([lesson(), broken])
        assert "Half" not in str(caught.value)
        with pytest.raises(StoreError, match="isn't valid Unicode"):
            await store.block("\ud800")
        assert await store.count(EVERYTHING) == 0
        changed: dict[str, object] = {}
        record = RunRecord(run_id="r", task=Task(prompt="p", metadata=changed))
        changed["what"] = object()
        with pytest.raises(StoreError, match="metadata isn't JSON"):
            await store.save_run(record)


@pytest.mark.anyio
async def test_a_damaged_card_is_reported_without_its_text(tmp_path: Path) -> None:
    path = tmp_path / "cards.db"
    async with SQLiteVectorStore(path) as store:
        await store.add([lesson()])
        await store.save_run(RunRecord(run_id="r", task=Task(prompt="p")))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("""UPDATE cards SET card = '{"kind": "secret text"}'""")
        connection.execute("""UPDATE runs SET record = '["secret text"]'""")
        connection.commit()
    async with SQLiteVectorStore(path) as store:
        for attempt in (store.get([lesson().id]), store.run("r")):
            with pytest.raises(StoreError, match="can't be read") as caught:
                await attempt
            assert "secret" not in str(caught.value)
        # Its duplicate can't be counted, so the whole batch is refused, the good card before it included.
        with pytest.raises(StoreError, match="can't be read"):
            await store.add([lesson("Good."), replace(lesson(), id="another")])
        assert await store.count(EVERYTHING) == 1


@pytest.mark.anyio
async def test_a_card_stays_in_its_tenant(tmp_path: Path) -> None:
    for store in (SQLiteVectorStore(tmp_path / "cards.db"), InMemoryVectorStore()):
        await store.add([lesson()])
        with pytest.raises(StoreError, match="tenant"):
            await store.update(replace(lesson(), version=2, scope=MemoryScope(tenant="north")))
        await store.close()


@pytest.mark.anyio
async def test_a_line_longer_than_a_block_is_cut(tmp_path: Path) -> None:
    for store in (SQLiteVectorStore(tmp_path / "cards.db", block_limit=10), InMemoryVectorStore(block_limit=10)):
        await store.append_block("notes", "a line of more than ten characters")
        assert await store.block("notes") == "a line of "
        await store.update_block("notes", "12345\n67890\nab")
        assert await store.block("notes") == "67890\nab"
        await store.close()


@pytest.mark.parametrize("floor", [-0.1, 1.5])
def test_options_that_make_no_sense(tmp_path: Path, floor: float) -> None:
    for make in (
        lambda: SQLiteVectorStore(tmp_path / "a.db", floor=floor),
        lambda: InMemoryVectorStore(floor=floor),
        lambda: SQLiteVectorStore(tmp_path / "a.db", block_limit=0),
        lambda: InMemoryVectorStore(block_limit=0),
    ):
        with pytest.raises(ConfigError, match="must be"):
            make()


@pytest.mark.anyio
async def test_fsync_and_the_stores_own_floor(tmp_path: Path) -> None:
    async with SQLiteVectorStore(tmp_path / "cards.db", fsync=True, floor=1.0) as store:
        await store.add([lesson()])
        assert await recalled(store)
        assert await recalled(store, f"{PROMPT} again") == []
    async with InMemoryVectorStore(floor=0.0) as store:
        await store.add([lesson()])
        assert await recalled(store, "Something else entirely")
