"""Changes of one card that are asked for at once are made together, in order, and none is lost."""

import asyncio
import gc
from dataclasses import replace

import pytest

from wisen import InMemoryVectorStore, MemoryCard, MemoryKind, VectorStore
from wisen.deadlines import seconds_left
from wisen.errors import CardNotFoundError, PartCancelledError, StoreError
from wisen.memory_ci.changes import Change, change_card

pytestmark = pytest.mark.anyio


class Counting(InMemoryVectorStore):
    """Counts its writes, each of which takes a turn of the loop; somebody else may write in between."""

    def __init__(self) -> None:
        super().__init__()
        self.writes = 0
        self.between: list[Change] = []

    async def update(self, card: MemoryCard) -> None:
        """Write."""
        await asyncio.sleep(0)
        if self.between:
            changed = self.between.pop()((await self.get([card.id]))[0])
            if changed is not None:
                await super().update(replace(changed, version=changed.version + 1))
        self.writes += 1
        await super().update(card)


async def stored(store: VectorStore) -> str:
    card = MemoryCard(kind=MemoryKind.LESSON, content="Look twice.")
    await store.add([card])
    return card.id


def noting(text: str) -> Change:
    return lambda card: replace(card, note=f"{card.note}{text} ")


async def test_three_hundred_changes_at_once_are_few_writes_and_none_is_lost() -> None:
    store = Counting()
    card_id = await stored(store)
    made = await asyncio.gather(*(change_card(store, card_id, noting(str(number))) for number in range(300)))
    (card,) = await store.get([card_id])
    assert card.note.split() == [str(number) for number in range(300)], "in the order in which they were asked for"
    assert store.writes <= 3
    assert card.version == 1 + store.writes
    for number, one in enumerate(made):
        assert one is not None
        assert one.note.split() == [str(each) for each in range(number + 1)], "each hears of what it made"
    assert {one.version for one in made if one is not None} <= set(range(2, 2 + store.writes))
    assert made[-1] == card


async def test_a_change_that_fails_fails_alone() -> None:
    store = Counting()
    card_id = await stored(store)
    asked = list[int]()

    def wrong(card: MemoryCard) -> MemoryCard:
        asked.append(card.version)
        raise ValueError("not so")

    def nothing(_: MemoryCard) -> None:
        """Want no change."""

    changes = [noting("a"), wrong, nothing, noting("b")]
    made = await asyncio.gather(*(change_card(store, card_id, one) for one in changes), return_exceptions=True)
    assert [type(one) for one in made] == [MemoryCard, ValueError, type(None), MemoryCard]
    assert {one.version for one in made if isinstance(one, MemoryCard)} == {2}, "the version that is written"
    assert (await store.get([card_id]))[0].note.split() == ["a", "b"]
    assert (store.writes, asked) == (1, [2])


async def test_what_others_write_meanwhile_is_not_lost() -> None:
    store = Counting()
    card_id = await stored(store)
    store.between = [noting("theirs")]
    await asyncio.gather(*(change_card(store, card_id, noting(str(number))) for number in range(20)))
    (card,) = await store.get([card_id])
    assert card.note.split() == ["theirs", *map(str, range(20))]


async def test_what_failed_is_not_asked_again_where_the_others_are_made_again() -> None:
    store = Counting()
    card_id = await stored(store)
    store.between = [noting("theirs")]
    asked = list[int]()

    def wrong(card: MemoryCard) -> MemoryCard:
        asked.append(card.version)
        raise ValueError("not so")

    changes = [noting("a"), wrong, noting("b")]
    made = await asyncio.gather(*(change_card(store, card_id, one) for one in changes), return_exceptions=True)
    assert [type(one) for one in made] == [MemoryCard, ValueError, MemoryCard]
    assert (await store.get([card_id]))[0].note.split() == ["theirs", "a", "b"]
    assert (len(asked), store.writes) == (1, 2), "the second write is of all that is left"


async def test_who_is_always_second_gives_up_in_the_end() -> None:
    store = Counting()
    card_id = await stored(store)
    store.between = [noting("theirs")] * 200
    with pytest.raises(StoreError) as gave_up:
        await change_card(store, card_id, noting("mine"))
    assert str(gave_up.value) == f"card {card_id!r} was changed by others 200 times in a row; try again later"
    assert (store.writes, store.between) == (200, [])


async def test_a_write_has_half_a_minute_of_its_own_and_names_its_store() -> None:
    left = list[float]()

    class Hasty(Counting):
        async def update(self, card: MemoryCard) -> None:
            del card
            left.append(seconds_left(0.0))
            raise asyncio.CancelledError

    store = Hasty()
    card_id = await stored(store)
    with pytest.raises(PartCancelledError, match="store Hasty"):
        await change_card(store, card_id, noting("a"))
    assert 0.0 < left[0] <= 30.0


async def test_whoever_gives_up_takes_no_change_with_him() -> None:
    store = Counting()
    card_id = await stored(store)
    every = [asyncio.create_task(change_card(store, card_id, noting(str(number)))) for number in range(5)]
    await asyncio.sleep(0)
    every[2].cancel()
    ended = await asyncio.gather(*every, return_exceptions=True)
    assert [isinstance(one, asyncio.CancelledError) for one in ended] == [False, False, True, False, False]
    assert (await store.get([card_id]))[0].note.split() == list("01234"), "what was asked for is made"


class Gone(BaseException):
    """The process ends."""


@pytest.mark.parametrize("error", [StoreError("disk full"), Gone()])
async def test_where_the_store_fails_all_hear_of_it(error: BaseException) -> None:
    class Failing(Counting):
        async def update(self, card: MemoryCard) -> None:
            del card
            self.writes += 1
            await asyncio.sleep(0)
            raise error

    store = Failing()
    card_id = await stored(store)
    waits = (change_card(store, card_id, noting(str(number))) for number in range(5))
    async with asyncio.timeout(5):
        ended = await asyncio.gather(*waits, return_exceptions=True)
    assert ended == [error] * 5
    assert store.writes == 1 or not isinstance(error, StoreError), "the error is of all, and nothing is tried again"
    assert (await store.get([card_id]))[0].note == ""


async def test_a_card_that_is_not_there_is_told_of() -> None:
    with pytest.raises(CardNotFoundError):
        await change_card(InMemoryVectorStore(), "nobody", noting("a"))


def test_each_event_loop_has_lines_of_its_own() -> None:
    store = Counting()
    card_id = asyncio.run(stored(store))
    for number in range(3):
        asyncio.run(_some(store, card_id, number))
        gc.collect()
    assert len(asyncio.run(store.get([card_id]))[0].note.split()) == 30


async def _some(store: VectorStore, card_id: str, number: int) -> None:
    await asyncio.gather(*(change_card(store, card_id, noting(f"{number}.{each}")) for each in range(10)))
