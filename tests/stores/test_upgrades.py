"""A store that an earlier version has written opens, keeps all it holds, and says what can't be taken apart."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from old_stores import old_markdown, old_postgres, old_sqlite

from wisen.cards import MemoryCard, MemoryKind, Provenance, Situation
from wisen.errors import ForeignDatabaseError
from wisen.memory_ci.pipeline import MemoryCI
from wisen.recall import CardFilter
from wisen.stores.copying import check_store
from wisen.stores.markdown.store import MarkdownStore
from wisen.stores.postgres.store import PostgresVectorStore
from wisen.stores.sqlite.store import SQLiteVectorStore
from wisen.testing.material import query

pytestmark = pytest.mark.anyio
EVERYTHING = CardFilter()
MERGED = "For account 40 use tax code 40."
NOTE = "1 card counted 5 other lessons by spelling under an earlier version; what those said wasn't kept"
THAI = "ราคาตั๋วรถไฟไปเชียงใหม่เท่าไร"
NEAR_THAI = "ราคาตั๋วรถไฟไปกรุงเทพเท่าไร"


@pytest.fixture(params=["sqlite", "markdown", "postgres"])
async def old(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Any]:
    """An old store, opened."""
    if request.param == "sqlite":
        store: Any = SQLiteVectorStore(old_sqlite(tmp_path / "store.db"))
    elif request.param == "markdown":
        store = MarkdownStore(old_markdown(tmp_path / "memory"), fsync=False)
    else:
        store = PostgresVectorStore(await old_postgres(request.getfixturevalue("postgres_url")))
    async with store:
        yield store


async def by_text(store: Any) -> dict[str, MemoryCard]:
    return {card.content: card for card in await store.list(EVERYTHING)}


def lesson(content: str, prompt: str, run: str = "new") -> MemoryCard:
    return MemoryCard(
        kind=MemoryKind.LESSON,
        content=content,
        situation=Situation(prompt=prompt),
        provenance=Provenance(run_id=run),
    )


async def test_counts_are_kept_and_named(old: Any) -> None:
    cards = await by_text(old)
    assert (cards[MERGED].duplicates, cards[MERGED].alike) == (5, 5)
    assert {card.alike for text, card in cards.items() if text != MERGED} == {0}
    assert (await old.facts()).notes == (NOTE,)
    report = await check_store(old)
    assert (report.whole, report.notes) == (True, (NOTE,))
    told = cards["Count from zero."]
    assert (told.evidence[0].shown, told.observed, told.provenance.verified) == (3, ("a1b2c3d4",), True)
    assert await old.block("notes") == "a line"


async def test_every_card_is_found_by_its_prompt(old: Any) -> None:
    for card in (await by_text(old)).values():
        if card.content:
            hits = await old.search(query(card.situation.prompt))
            assert card in [hit.card for hit in hits if hit.relevance == 1.0]
            assert {hit.card.situation.key for hit in hits if hit.relevance == 1.0} == {card.situation.key}


async def test_signs_keep_prompts_apart(old: Any) -> None:
    for prompt, says in (("8-2", "Subtract."), ("8+2", "Add.")):
        hits = await old.search(query(prompt, floor=1.0))
        assert [hit.card.content for hit in hits] == [says]


async def test_situations_agree_by_their_numbers(old: Any) -> None:
    hits = await old.search(query("Cancel a bill on account 40."))
    assert (hits[0].card.content, hits[0].agrees) == (MERGED, True)


async def test_texts_without_spaces_are_found_by_their_parts(old: Any) -> None:
    """The words that are kept of each card are made anew, too."""
    hits = await old.search(query(NEAR_THAI, floor=0.0))
    assert hits[0].card.situation.prompt == THAI
    assert hits[0].lexical > 0.4


async def test_equal_cards_both_stay_and_the_first_counts(old: Any) -> None:
    alike = [card for card in await old.list(EVERYTHING) if card.content.lower().startswith("knock twice")]
    assert len(alike) == 3
    written = await old.add([lesson("KNOCK twice", "Enter  the room.")])
    assert (written[0].outcome, written[0].card_id) == ("duplicate", alike[0].id)
    kept = await old.get([card.id for card in alike])
    assert [(card.duplicates, card.alike) for card in kept] == [(1, 0), (0, 0), (0, 0)]


async def test_what_was_merged_is_learned_anew(old: Any) -> None:
    written = await old.add([lesson("For account 41 use tax code 41.", "Book a bill on account 41.")])
    assert written[0].outcome == "added"
    again = await old.add([lesson(MERGED, "Book a bill on account 40.", "another")])
    card = (await by_text(old))[MERGED]
    assert (again[0].card_id, card.duplicates, card.alike) == (card.id, 6, 5)
    await old.update(replace(card, pinned=True, version=card.version + 1))
    kept = (await old.get([card.id]))[0]
    assert (kept.duplicates, kept.alike, kept.pinned) == (6, 5, True)


async def test_a_first_change_that_counts_nothing_keeps_all_counts(old: Any) -> None:
    before = {card.id: card for card in await old.list(EVERYTHING)}
    for card in before.values():
        await old.update(replace(card, pinned=True, version=card.version + 1))
    after = {card.id: card for card in await old.list(EVERYTHING)}
    assert after == {key: replace(card, pinned=True, version=card.version + 1) for key, card in before.items()}
    assert (await old.facts()).notes == (NOTE,)


async def test_a_rejection_lasts(old: Any) -> None:
    again = lesson("Guess the total: it is 5.", "Sum another column.")
    assert (await MemoryCI(old).submit(again)).outcome == "rejected"


async def test_reading_changes_no_file_and_a_count_says_what_it_is(tmp_path: Path) -> None:
    root = old_markdown(tmp_path / "memory")
    path = root / "cards/lesson/2026-01-01-for-account-40-use-tax.md"
    before = path.read_text()
    async with MarkdownStore(root, fsync=False) as store:
        assert (await by_text(store))[MERGED].alike == 5
        assert path.read_text() == before
        await store.add([lesson(MERGED, "Book a bill on account 40.")])
    assert path.read_text() == before, "a count changes no card's file"
    async with MarkdownStore(root, fsync=False) as store:
        card = (await by_text(store))[MERGED]
        assert (card.duplicates, card.alike) == (6, 5)


async def test_a_reader_of_an_old_file_says_what_to_do(tmp_path: Path) -> None:
    path = old_sqlite(tmp_path / "store.db")
    async with SQLiteVectorStore(path) as store:
        held = await store.list(EVERYTHING)
    other = old_sqlite(tmp_path / "other.db")
    with pytest.raises(ForeignDatabaseError, match=r"schema 2 of an older wisen; open it once for writing"):
        await SQLiteVectorStore(other, read_only=True).open()
    async with SQLiteVectorStore(path, read_only=True) as store:
        assert await store.list(EVERYTHING) == held


async def test_a_reader_of_old_tables_says_what_to_do(postgres_url: str) -> None:
    await old_postgres(postgres_url)
    with pytest.raises(ForeignDatabaseError, match=r"schema 1 of an older wisen; open it once for writing"):
        await PostgresVectorStore(postgres_url, read_only=True).open()


async def test_many_open_old_tables_at_once(postgres_url: str) -> None:
    await old_postgres(postgres_url)
    stores = [PostgresVectorStore(postgres_url) for _ in range(6)]
    await asyncio.gather(*(store.open() for store in stores))
    listed = await asyncio.gather(*(store.list(EVERYTHING) for store in stores))
    assert all(cards == listed[0] for cards in listed)
    for store in stores:
        await store.close()


@pytest.mark.parametrize("version", [4, 5])
async def test_keys_of_the_last_versions_are_computed_again(tmp_path: Path, version: int) -> None:
    """Those of situations with a fraction have changed since, and those with a date."""
    path = tmp_path / "store.db"
    keys = "SELECT content_key FROM cards"
    async with SQLiteVectorStore(path) as store:
        await store.add([lesson("Add salt.", "Cook \u00bd liter of soup.")])
    with closing(sqlite3.connect(path)) as connection, connection:
        (now,) = connection.execute(keys).fetchone()
        connection.execute("UPDATE cards SET content_key = 7")
        connection.execute(f"PRAGMA user_version = {version}")
    async with SQLiteVectorStore(path):
        pass
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute(keys).fetchall() == [(now,)] != [(7,)]


async def test_a_card_that_cannot_be_read_stops_no_upgrade(tmp_path: Path) -> None:
    path = old_sqlite(tmp_path / "store.db")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE cards SET card = '{}' WHERE number = 1")
    async with SQLiteVectorStore(path) as store:
        assert [hit.card.content for hit in await store.search(query("8+2", floor=1.0))] == ["Add."]
        assert not (await check_store(store)).whole


async def test_an_interrupted_upgrade_leaves_the_old_file(tmp_path: Path) -> None:
    path = old_sqlite(tmp_path / "store.db")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("ALTER TABLE cards ADD COLUMN alike TEXT")
    with pytest.raises(Exception, match="alike"):
        await SQLiteVectorStore(path).open()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)
        assert "content_key" not in json.dumps(connection.execute("PRAGMA table_info(cards)").fetchall())
