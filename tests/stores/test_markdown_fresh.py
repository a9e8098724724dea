"""A Markdown store that doesn't look at its files each time it reads."""

import asyncio
from pathlib import Path

import pytest

from wisen import CardFilter, MarkdownStore, MemoryCard, MemoryKind, RecallQuery, Situation
from wisen.errors import ConfigError
from wisen.stores.one_look import one_look

pytestmark = pytest.mark.anyio


def card(text: str) -> MemoryCard:
    return MemoryCard(kind=MemoryKind.LESSON, content=text)


async def test_reading_waits_with_a_look_and_writing_does_not(tmp_path: Path) -> None:
    async with MarkdownStore(tmp_path, fresh=3_600.0) as store, MarkdownStore(tmp_path) as other:
        await store.add([card("one")])
        assert await store.count(CardFilter()) == 1
        await other.add([card("two")])
        assert await store.count(CardFilter()) == 1, "another's is seen later"
        assert await other.count(CardFilter()) == 2
        await store.add([card("three")])
        assert await store.count(CardFilter()) == 3, "what is written was looked at"


async def test_it_cannot_be_negative(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="fresh=-1"):
        MarkdownStore(tmp_path, fresh=-1.0)


async def test_reads_of_one_block_share_a_look(tmp_path: Path) -> None:
    async with MarkdownStore(tmp_path) as store, MarkdownStore(tmp_path) as other:
        await store.add([card("one")])
        with one_look():
            await other.add([card("two")])
            assert await store.count(CardFilter()) == 2, "a block's first read looks"
            with one_look():
                await other.add([card("three")])
                assert await store.count(CardFilter()) == 2, "those behind it don't"
        assert len(await store.list(CardFilter())) == 3, "what others did shows in the next block at once"
        with one_look():
            assert len(await store.list(CardFilter())) == 3
            await store.add([card("four")])
            assert len(await store.list(CardFilter())) == 4, "what the store itself writes shows at once"


async def test_other_calls_get_their_turn_while_a_first_search_reads_the_folder(tmp_path: Path) -> None:
    async with MarkdownStore(tmp_path, fsync=False) as store:
        await store.add([card(f"Keep rule {number}.") for number in range(350)])
    async with MarkdownStore(tmp_path) as store:
        query = RecallQuery(situation=Situation(prompt="Which rule has number 349?"), filter=CardFilter(tenant=""), k=3)
        searching = asyncio.create_task(store.search(query))
        await asyncio.sleep(0)
        answered = 0
        while not searching.done():
            await store.get([])
            answered += 1
        assert answered > 3
        assert [hit.card for hit in await store.search(query)] == [hit.card for hit in searching.result()]
        assert searching.result()[0].card.content == "Keep rule 349."
