"""The numbers of a store's trials: each is given once, in whatever process."""

import asyncio
from copy import copy

import pytest

from wisen import InMemoryVectorStore, VectorStore
from wisen.memory_ci.sequence_numbers import (
    Promotions,
    SequenceNumbers,
    TrialNumbers,
    promoted_beside,
    promoted_by_trials,
)
from wisen.trial_records import Trial

pytestmark = pytest.mark.anyio


async def test_numbers_are_given_once_and_stay(two_stores: list[VectorStore]) -> None:
    both = [SequenceNumbers(store, "trials") for store in two_stores]
    names = [f"idea {number}" for number in range(12)]
    given = await asyncio.gather(*(both[at % 2].of(name) for at, name in enumerate(names)))
    assert sorted(given) == list(range(1, 13))
    again = [await SequenceNumbers(two_stores[0], "trials").last(), *[await one.last() for one in both]]
    assert again == [12] * 3
    assert [await both[at % 2].of(name) for at, name in enumerate(names)] == given


async def test_the_next_one_follows_after_a_restart(two_stores: list[VectorStore]) -> None:
    assert await SequenceNumbers(two_stores[0], "trials").of("a") == 1
    later = SequenceNumbers(two_stores[1], "trials")
    assert (later.known, await later.last(), later.known) == (0, 1, 1)
    assert await later.of("b") == 2
    assert await SequenceNumbers(two_stores[0], "promotions").of("a") == 1, "each series counts by itself"


async def test_a_name_has_one_number_whoever_asks_for_it(two_stores: list[VectorStore]) -> None:
    both = [SequenceNumbers(store, "trials") for store in two_stores]
    assert await asyncio.gather(*(one.of("a") for one in both * 3)) == [1] * 6
    assert await both[0].of("b") == 2
    assert await both[1].of("a") == 1
    assert [await SequenceNumbers(two_stores[1], "trials").of(name) for name in ("b", "a", "c")] == [2, 1, 3]


async def test_a_number_from_elsewhere_is_looked_for_among_the_last_thirty() -> None:
    store = InMemoryVectorStore()
    for number in range(31):
        await store.keep_call("memory-ci", "trials", number + 1, f"idea {number}".encode())
    assert await SequenceNumbers(store, "trials").of("idea 1") == 2
    assert await SequenceNumbers(store, "trials").of("idea 0") == 32


async def test_a_long_series_is_found_quickly() -> None:
    asked = list[int]()

    class Asked(InMemoryVectorStore):
        async def call(self, scope: str, key: str, ordinal: int) -> bytes | None:
            asked.append(ordinal)
            return await super().call(scope, key, ordinal)

    store = Asked()
    for number in range(1, 701):
        await store.keep_call("memory-ci", "trials", number, b"x")
    assert await SequenceNumbers(store, "trials").of("new") == 701
    assert len(asked) < 30 + 30


async def test_the_end_is_found_by_steps_that_double_and_then_by_halves() -> None:
    asked = list[int]()

    class Asked(InMemoryVectorStore):
        async def call(self, scope: str, key: str, ordinal: int) -> bytes | None:
            assert (scope, key, type(ordinal)) == ("memory-ci", "trials", int)
            asked.append(ordinal)
            return await super().call(scope, key, ordinal)

    store = Asked()
    numbers = SequenceNumbers(store, "trials")
    assert (await numbers.last(), asked) == (0, [1])
    for number in range(1, 6):
        await store.keep_call("memory-ci", "trials", number, b"x")
    asked.clear()
    assert (await numbers.last(), asked) == (5, [1, 3, 7, 5, 6])
    asked.clear()
    assert (await numbers.last(), asked) == (5, [6])


async def test_promotions_are_counted_by_cohorts_the_first_trial_alone_and_then_thirty_together() -> None:
    store = InMemoryVectorStore()
    assert await promoted_by_trials(store) == {}
    trials, promotions = SequenceNumbers(store, "trials"), Promotions(store)
    for number in range(62):
        await trials.of(f"idea {number}")
    for trial in (1, 2, 31, 62):
        await promotions.in_cohort_of(trial).of(f"idea {trial}")
    assert await promoted_by_trials(store) == {("", 1): 1, ("", 2): 2, ("", 3): 0, ("", 4): 1}
    assert await store.call("memory-ci", "promotions of cohort 2", 2) == b"idea 31"
    assert promotions.in_cohort_of(1) is not promotions.in_cohort_of(2) is promotions.in_cohort_of(31)
    assert await copy(promotions).in_cohort_of(62).last() == 1
    await trials.of("idea 62")
    assert {cohort for _, cohort in await promoted_by_trials(store)} == {1, 2, 3, 4}


@pytest.mark.parametrize(("trials", "cohorts"), [(1, {1}), (2, {1, 2}), (31, {1, 2}), (32, {1, 2, 3})])
async def test_a_cohort_is_there_from_its_first_trial_on(trials: int, cohorts: set[int]) -> None:
    store = InMemoryVectorStore()
    for number in range(1, trials + 1):
        await store.keep_call("memory-ci", "trials", number, b"x")
    assert set(await promoted_by_trials(store)) == {("", cohort) for cohort in cohorts}


async def test_examples_are_counted_apart(two_stores: list[VectorStore]) -> None:
    one, other = map(TrialNumbers, two_stores)
    assert [await one.of("a lesson"), await other.of("an example", "examples")] == [1, 1]
    assert [await other.of("another lesson"), await one.of("another example", "examples")] == [2, 2]
    for _ in range(3):
        await Promotions(two_stores[0]).in_cohort_of(2, "examples").of("another example")
    found = await promoted_by_trials(two_stores[1])
    assert found == {("", 1): 0, ("", 2): 0, ("examples", 1): 0, ("examples", 2): 1}
    assert promoted_beside(Trial(number=2), found) == 0
    assert promoted_beside(Trial(number=2, family="examples"), found) == 1
    assert promoted_beside(Trial(number=99), found) == 0


async def test_a_store_that_keeps_no_calls_counts_for_this_process() -> None:
    numbers = SequenceNumbers(Bare(), "trials")  # type: ignore[arg-type]
    assert [await numbers.of(name) for name in ("a", "b", "a")] == [1, 2, 1]
    assert (await numbers.last(), numbers.known) == (2, 2)


class Bare:
    """Whatever is no call log."""


@pytest.mark.parametrize(("trial", "first", "last"), [(1, 1, 1), (2, 2, 31), (31, 2, 31), (32, 32, 61), (62, 62, 64)])
async def test_the_names_of_a_cohort_are_those_of_its_numbers(trial: int, first: int, last: int) -> None:
    store = InMemoryVectorStore()
    given = TrialNumbers(store)
    for number in range(1, 65):
        assert await given.of(f"trial {number}") == number
    names = [f"trial {number}" for number in range(first, last + 1)]
    assert await given.in_cohort_of(trial) == await TrialNumbers(store).in_cohort_of(trial) == names
    assert await given.in_cohort_of(trial, "examples") == []


async def test_names_are_read_by_their_numbers(two_stores: list[VectorStore]) -> None:
    one, other = (SequenceNumbers(store, "promotions") for store in two_stores)
    for name in ("a", "b", "c"):
        await one.of(name)
    assert await other.names(range(2, 3)) == ["b"]
    assert await other.names(range(1, 4)) == ["a", "b", "c"]
    assert await other.of("d") == 4
    assert await one.names(range(1, 9)) == ["a", "b", "c", "d"]


async def test_promotions_beside_a_trial_are_those_of_its_family_and_cohort() -> None:
    store = InMemoryVectorStore()
    promotions = Promotions(store)
    await promotions.in_cohort_of(5).of("a lesson")
    await promotions.in_cohort_of(5, "examples").of("an example")
    await promotions.in_cohort_of(5, "examples").of("another")
    for trial, count in ((Trial(number=9, family="examples"), 2), (Trial(number=9), 1), (Trial(number=40), 0)):
        assert promoted_beside(trial, await Promotions(store).beside(trial)) == count
