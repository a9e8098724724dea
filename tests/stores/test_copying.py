"""Whatever a store holds comes into another one as it is, may what will happen on the way."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from postgres import PostgresServer
from whole_stores import CONTENTS, Contents, everything, fill, lived_in

from wisen.cards import MemoryCard, MemoryKind, MemoryStatus
from wisen.embedders.absent import AbsentEmbedder
from wisen.embedders.hashing import HashEmbedder
from wisen.errors import ConfigError, EmbedderError, StoreError
from wisen.recall import CardFilter
from wisen.stores.connect import connect
from wisen.stores.copying import check_store, copy_store
from wisen.stores.in_process.store import InMemoryVectorStore
from wisen.stores.markdown.store import MarkdownStore
from wisen.stores.sqlite.store import SQLiteVectorStore
from wisen.stores.transfer_items import PARTS, block_item, call_item, card_item, run_item
from wisen.stores.transfer_protocol import Part, Transferable, TransferItem
from wisen.testing.material import card, query, run_record

pytestmark = pytest.mark.anyio
KINDS = ("memory", "sqlite", "markdown", "postgres")
Open = Callable[..., Any]


@pytest.fixture
def fresh(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Open:
    """Opens a new store of a kind."""

    @asynccontextmanager
    async def open_(kind: str, **options: Any) -> AsyncGenerator[Any]:
        url, after = "memory:", None
        if kind in ("sqlite", "markdown"):
            url = f"{kind}:{tmp_path_factory.mktemp('copy') / 'store'}"
        elif kind == "postgres":
            server: PostgresServer = request.getfixturevalue("postgres_server")
            url = server.new_database()
            after = server.drop
        try:
            store: Any = connect(url, **options)
            async with store:
                yield store
        finally:
            if after:
                after(url)

    return open_


def pairs() -> list[tuple[str, str]]:
    return [(one, other) for one in KINDS for other in KINDS if one != other]


@pytest.mark.no_cover
@pytest.mark.parametrize(("source", "target"), pairs())
def test_anything_comes_over_and_back(source: str, target: str, fresh: Open) -> None:
    slow = "postgres" in (source, target)

    @settings(max_examples=6 if slow else 12, suppress_health_check=[HealthCheck.too_slow])
    @given(CONTENTS)
    def there_and_back(contents: Contents) -> None:
        async def work() -> None:
            async with fresh(source) as first, fresh(target) as second, fresh(source) as third:
                await fill(first, contents)
                there = await copy_store(first, second, page=2)
                back = await copy_store(second, third, page=3)
                assert there.whole, there
                assert back.whole, back
                assert await everything(first) == await everything(second) == await everything(third)
                own = {name: part.source_hash for part in there.parts for name in [part.part] if name != "vectors"}
                for one in (first, second, third):
                    check = await check_store(one)
                    assert check.whole, check
                    assert {name: check.hashes[name] for name in own} == own

        asyncio.run(work())

    there_and_back()


@pytest.mark.parametrize("target", KINDS)
async def test_what_stores_made_themselves_is_the_same_in_the_other(target: str, fresh: Open) -> None:
    async with fresh("sqlite") as first, fresh(target) as second:
        await lived_in(first)
        report = await copy_store(first, second)
        assert report.whole
        ours, theirs = await check_store(first), await check_store(second)
        assert theirs.whole
        assert {part: ours.hashes[part] for part in PARTS} == {part: theirs.hashes[part] for part in PARTS}
        assert report.vectors == ("not kept" if target == "markdown" else "copied")
        every = CardFilter()
        assert await second.list(every) == await first.list(every)
        assert await second.runs() == await first.runs()
        assert await second.search(query("Count the chairs", k=9)) == await first.search(query("Count the chairs", k=9))
        again = await second.add([replace(card("Twice.", run_id="third"), status=MemoryStatus.QUARANTINED)])
        assert [one.outcome for one in again] == ["duplicate"]


async def test_a_copy_goes_on_where_it_was_interrupted(fresh: Open) -> None:
    async with fresh("memory") as first, fresh("sqlite") as second:
        await first.add([card(f"Lesson {number}.", minute=number) for number in range(25)])
        seen: list[int] = []

        def stop(_part: str, done: int, of: int) -> None:
            seen.append(done)
            assert of == 25
            if done >= 10:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            await copy_store(first, second, page=5, progress=stop)
        assert seen == [5, 10]
        report = await copy_store(first, second, page=5)
        assert report.whole
        assert [(part.part, part.read, part.written, part.there) for part in report.parts[:2]] == [
            ("cards", 25, 15, 10),
            ("vectors", 25, 15, 10),
        ]
        assert (await copy_store(first, second)).parts[0].written == 0


async def test_what_differs_in_the_target_stays_and_is_named(fresh: Open) -> None:
    async with fresh("memory") as first, fresh("sqlite") as second:
        one, other = card("Mine."), card("Both.")
        await first.add([one, other])
        await second.add([replace(one, status=MemoryStatus.ARCHIVED), other])
        await first.update_block("notes", "first")
        await second.update_block("notes", "second")
        await first.save_run(run_record("r", output="first"))
        await second.save_run(run_record("r", output="second"))
        report = await copy_store(first, second)
        assert not report.whole
        by = {part.part: part for part in report.parts}
        assert (by["cards"].conflicting, by["cards"].there, by["cards"].conflicts) == (1, 1, ((one.id,),))
        assert by["blocks"].conflicts == (("", "notes"),)
        assert by["runs"].conflicts == (("r",),)
        assert by["calls"].whole
        assert (await second.get([one.id]))[0].status is MemoryStatus.ARCHIVED
        assert await second.block("notes") == "second"
        replaced = await copy_store(first, second, replace=True)
        assert replaced.whole
        assert [part.written for part in replaced.parts if part.part != "vectors"] == [1, 1, 1, 0]
        assert await second.list(CardFilter()) == await first.list(CardFilter())
        assert (await second.run("r")).output == "first"


@pytest.mark.parametrize("kind", KINDS)
async def test_what_came_at_the_same_moment_is_not_overwritten_either(kind: str, fresh: Open) -> None:
    theirs = card("Look twice.")
    there: dict[Part, TransferItem] = {
        "cards": card_item(theirs),
        "blocks": block_item("", "notes", "theirs"),
        "runs": run_item(run_record("r", output="theirs")),
        "calls": call_item("scope", "key", 0, b"theirs"),
    }
    new: dict[Part, TransferItem] = {
        "cards": card_item(replace(theirs, note="ours")),
        "blocks": block_item("", "notes", "ours"),
        "runs": run_item(run_record("r", output="ours")),
        "calls": call_item("scope", "key", 0, b"ours"),
    }
    async with fresh(kind) as store:
        for part, item in there.items():
            assert await store.take(part, [item]) == {}
        for part, item in new.items():
            assert await store.take(part, [item]) == {}
            assert (await store.held(part, [item.key]))[item.key].content == there[part].content
            assert await store.take(part, [item], replace=True) == {}
            assert (await store.held(part, [item.key]))[item.key].content == item.content
        # An empty block is none.
        await store.update_block("notes", "")
        assert await store.held("blocks", [("", "notes")]) == {}
        await store.take("blocks", [there["blocks"]])
        assert await store.block("notes") == "theirs"


async def test_hashes_tell_what_is_where(fresh: Open) -> None:
    async with fresh("memory") as first, fresh("memory") as second:
        for one, other, store in (("a", "b", first), ("b", "a", second)):
            await store.update_block(one, "left")
            await store.update_block(other, "right")
        ours, theirs = await check_store(first), await check_store(second)
        assert ours.counts == theirs.counts
        assert ours.hashes["blocks"] != theirs.hashes["blocks"]
        assert ours.hashes["calls"] == theirs.hashes["calls"] == ""
        await second.update_block("a", "left")
        await second.update_block("b", "right")
        assert ours == await check_store(second)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_replaced_card_may_have_been_another_tenants(kind: str, fresh: Open) -> None:
    async with fresh("memory") as first, fresh(kind) as second:
        mine = card("Count the chairs by row.", prompt="Count the chairs")
        theirs = replace(mine, scope=replace(mine.scope, tenant="north"), content="Else.")
        await first.add([mine])
        await second.add([theirs, card("Another.")])
        assert len(await second.search(query("Count the chairs", where=CardFilter(tenant="north")))) == 1
        assert (await copy_store(first, second, replace=True)).whole
        assert await second.get([mine.id]) == [mine]
        assert await second.search(query("Count the chairs", where=CardFilter(tenant="north"))) == []
        assert [hit.card for hit in await second.search(query("Count the chairs", k=1))] == [mine]


async def test_vectors_of_another_embedder_are_made_anew_only_on_request(fresh: Open) -> None:
    async with fresh("sqlite", embedder=HashEmbedder(64)) as first, fresh("sqlite") as second:
        await first.add([card("Count the chairs by row.")])
        with pytest.raises(StoreError, match=r"(?s)hash-64-v\d/64.*hash-\d+-v\d.*--reembed"):
            await copy_store(first, second)
        assert await second.count(CardFilter()) == 0
        report = await copy_store(first, second, reembed=True)
        assert report.whole
        assert report.vectors == "embedded"
        assert [part.part for part in report.parts] == ["cards", "blocks", "runs", "calls"]
        assert len(await second.search(query("Count the chairs"))) == 1


async def test_a_target_needs_no_embedder_that_works(fresh: Open) -> None:
    async with fresh("sqlite") as first:
        await first.add([card("Count the chairs by row.")])
        label = await first.vectors_label()
        async with fresh("sqlite", embedder=AbsentEmbedder(label)) as second:
            assert (await copy_store(first, second)).whole
            assert await second.vectors_label() == label
            with pytest.raises(EmbedderError, match="isn't loaded"):
                await second.search(query("Count the chairs"))
    with pytest.raises(ConfigError, match="name/dimension"):
        AbsentEmbedder("nothing")


async def test_a_store_may_be_written_to_meanwhile(fresh: Open) -> None:
    async with fresh("sqlite") as first, fresh("sqlite") as second:
        await first.add([card(f"Lesson {number}.", minute=number) for number in range(40)])
        writing = asyncio.Event()
        busy = True

        async def write() -> None:
            number = 0
            while busy:
                await first.add([card(f"Meanwhile {number}.", run_id="late", minute=-number)])
                await first.append_block("notes", f"line {number}")
                await first.save_call("run:late", "key", number, b"x")
                writing.set()
                number += 1

        writer = asyncio.create_task(write())
        await writing.wait()
        before = {one.id for one in await first.list(CardFilter(), limit=1_000)}
        report = await copy_store(first, second, page=3)
        busy = False
        await writer
        assert before <= {one.id for one in await second.list(CardFilter(), limit=1_000)}
        assert all(part.whole for part in report.parts)
        rest = await copy_store(first, second, replace=True)
        assert rest.whole
        assert await everything(first) == await everything(second)


async def test_a_markdown_folder_says_what_it_cannot_give_or_take(tmp_path: Path, fresh: Open) -> None:
    async with MarkdownStore(tmp_path / "memory", fsync=False) as folder, fresh("memory") as other:
        await folder.add([card("Look twice.")])
        await folder.append_block("Notes of A", "line")
        (tmp_path / "memory/cards/lesson/broken.md").write_bytes(b"\xff")
        (tmp_path / "memory/blocks/strange~0000000000000000.md").write_text("whose?")
        report = await copy_store(folder, other)
        assert all(part.whole for part in report.parts)
        assert not report.whole
        assert report.vectors == "embedded"
        assert [one.partition(":")[0] for one in report.unreadable] == [
            "cards/lesson/broken.md",
            "blocks/strange~0000000000000000.md",
        ]
        assert not (await check_store(folder)).whole
        long = replace(card("x" * 4_100_000), id="long")
        broken = block_item("", "odd", "a lone \ud800")
        await other.take("cards", [card_item(long)])
        await other.take("blocks", [broken])
        back = await copy_store(other, folder)
        assert not back.whole
        refused = {key: why for part in back.parts for key, why in (part.refused or {}).items()}
        assert "4000000 bytes" in refused["long",]
        assert "Unicode" in refused["", "odd"]
        assert [(part.read, part.written) for part in back.parts[:2]] == [(2, 0), (2, 0)]


@pytest.mark.parametrize("kind", KINDS)
async def test_blocks_longer_than_the_targets_bound_stay_whole(kind: str, fresh: Open) -> None:
    async with fresh("memory") as first, fresh(kind) as second:
        await first.take("blocks", [block_item("north", "notes", "line\n" * 5_000)])
        assert (await copy_store(first, second)).whole
        assert await second.block("notes", tenant="north") == "line\n" * 5_000


async def test_pages_are_the_same_each_time(fresh: Open) -> None:
    async with fresh("sqlite") as first:
        await lived_in(first)
        once, again = await everything(first), await everything(first)
        assert [list(part) for part in once.values()] == [list(part) for part in again.values()]


async def test_damage_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "cards.db"
    async with SQLiteVectorStore(path) as store:
        await lived_in(store)
        good = await check_store(store)
        assert good.whole
        assert good.counts == {"cards": 7, "blocks": 2, "runs": 2, "calls": 1, "vectors": 7}

        def damage(connection: Any) -> None:
            connection.execute("UPDATE runs SET record = '{' WHERE run_id = 'r1'")
            connection.execute("UPDATE recall SET vectors = x'00' WHERE number = 1")
            connection.execute("DELETE FROM recall WHERE number = 2")

        await store._database.write(damage)
        bad = await check_store(store)
        assert not bad.whole
        assert [one.partition(" ")[0] for one in bad.problems] == ["card", "run", "card"]
        assert bad.counts["runs"] == good.counts["runs"] - 1
        assert bad.hashes["cards"] == good.hashes["cards"]
        assert bad.hashes["calls"] == good.hashes["calls"]


async def test_only_stores_that_can_are_copied() -> None:
    async with InMemoryVectorStore() as store:
        with pytest.raises(ConfigError, match="itself"):
            await copy_store(store, store)
        with pytest.raises(ConfigError, match="object can't be copied"):
            await copy_store(object(), store)
        with pytest.raises(ConfigError, match="page=0"):
            await copy_store(store, InMemoryVectorStore(), page=0)
        assert isinstance(store, Transferable)


async def test_vectors_of_another_length_are_refused() -> None:
    async with InMemoryVectorStore() as store:
        one = MemoryCard(kind=MemoryKind.LESSON, content="x")
        with pytest.raises(StoreError, match="vectors of 3 bytes"):
            await store.take("cards", [card_item(one, b"abc")])
