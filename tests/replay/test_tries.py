"""Beside a live trial, a pair that made no difference is made again with another seed."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from replaying import IDLE, Scripted, card, copy, outcome, stored, tasks

from wisen import MemoryCard, MemoryCI, Task
from wisen.replay.card_tests import ReplayOptions, ReplayReport, ReplayTest
from wisen.replay.clusters import Planned
from wisen.replay.pairs import ReplayBudget
from wisen.replay.stages import Replayed
from wisen.replay.turns import Turns
from wisen.stores.in_process.store import InMemoryVectorStore

pytestmark = pytest.mark.anyio
OTHER = card("IDLE chat.", number=4)
BESIDE = ReplayOptions(order="with the trial")


class Seeded(Scripted):
    """With the card, an attempt is good from its `good_from`th seed on; without it, never."""

    def __init__(self, good_from: int, *, soon: int = -1) -> None:
        super().__init__(lambda _, __: 0.0)
        self.condition = replace(self.condition, role="clerk")
        self.good_from = good_from
        self.soon = soon
        """Number of a task that it solves from the second seed on."""
        self.made: list[tuple[int, int]] = []
        """Number of the task and of the seed of each attempt with the card."""

    async def __call__(self, task: Task, cards: Sequence[MemoryCard], repetition: int) -> float | None:
        """Solved with the card alone, and by some seeds alone."""
        if not cards:
            return 0.0
        number = int("".join(filter(str.isdigit, task.prompt)))
        self.made.append((number, repetition))
        return float(repetition >= (1 if number == self.soon else self.good_from))


async def replayed(
    attempt: Scripted,
    given: list[Task],
    *,
    options: ReplayOptions = BESIDE,
    store: InMemoryVectorStore | None = None,
    most: int | None = None,
) -> ReplayReport:
    store = store or await stored(IDLE)
    return await ReplayTest(MemoryCI(store), attempt, options=options, budget=ReplayBudget(attempts=most)).run(given)


@pytest.mark.parametrize(
    ("good_from", "options", "gained", "attempts"),
    [
        (0, BESIDE, 5, 10),
        (1, BESIDE, 5, 20),
        (2, BESIDE, 5, 30),
        (3, BESIDE, 0, 30),
        (1, ReplayOptions(order="with the trial", tries=1), 0, 10),
        (2, ReplayOptions(order="with the trial", repetitions=2, tries=2), 5, 40),
        (1, ReplayOptions(), 0, 10),
    ],
    ids=["decided", "second try", "third try", "never", "one try", "means of two", "in stages"],
)
async def test_a_pair_is_made_so_often_while_it_makes_no_difference(
    good_from: int, options: ReplayOptions, gained: int, attempts: int
) -> None:
    report = await replayed(Seeded(good_from), tasks(8)[3:], options=options)
    assert (outcome(report, IDLE), report.attempts) == ((gained, 0), attempts)
    assert report.cards[0].counts.pairs == 5


async def test_the_nearest_clusters_are_tried_so_often_before_the_farther_ones() -> None:
    attempt = Seeded(9, soon=4)
    await replayed(attempt, tasks(16)[3:])
    numbers = [number for number, _ in attempt.made]
    near, far = numbers[:10], numbers[29:32]
    assert numbers == [*near, *near, *near[1:], *3 * far]
    assert sorted(near + far) == list(range(3, 16))
    assert near[0] == 4, "solved the second time"
    assert [seed for _, seed in attempt.made] == [*10 * [0], *10 * [1], *9 * [2], 0, 0, 0, 1, 1, 1, 2, 2, 2]


async def test_a_cluster_is_decided_by_the_first_of_its_ties_that_makes_a_difference() -> None:
    attempt = Seeded(1)
    report = await replayed(attempt, [copy(100 * n + i, 10 + n) for n in range(3) for i in range(2)])
    assert outcome(report, IDLE) == (3, 0)
    assert [seed for _, seed in attempt.made].count(1) == 3


async def test_pairs_that_made_a_difference_are_not_made_again_where_their_cluster_is_a_tie() -> None:
    """Of two near-copies each, the first is gained and the second lost."""
    attempt = Scripted(lambda number, shown: float((number % 100 == 0) is shown))
    attempt.condition = replace(attempt.condition, role="clerk")
    report = await replayed(attempt, [copy(100 * n + i, 10 + n) for n in range(3) for i in range(2)])
    assert (report.cards[0].counts.ties, report.attempts) == (3, 3 * 2 * 2)


async def test_a_test_that_finds_nothing_new_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    store, kept = await stored(IDLE), list[str]()
    await replayed(Seeded(0), tasks(8)[3:], store=store)
    keep = InMemoryVectorStore.keep_call

    async def noted(self: InMemoryVectorStore, scope: str, key: str, ordinal: int, response: bytes) -> bytes:
        kept.append(key)
        return await keep(self, scope, key, ordinal, response)

    monkeypatch.setattr(InMemoryVectorStore, "keep_call", noted)
    await replayed(Seeded(0), tasks(8)[3:], store=store)
    assert kept == []


async def test_a_later_test_tries_first_what_was_not_tried() -> None:
    store, attempt = await stored(IDLE), Seeded(9)
    await replayed(attempt, tasks(8)[3:], store=store, most=4)
    await replayed(attempt, tasks(8)[3:], store=store)
    assert [seed for _, seed in attempt.made] == [*5 * [0], *5 * [1], *5 * [2]]


async def test_a_test_in_stages_never_tries_a_tie_again() -> None:
    store, stages = await stored(IDLE), ReplayOptions()
    await replayed(Seeded(1), tasks(8)[3:], store=store, options=stages)
    assert (await replayed(Seeded(1), tasks(8)[3:], store=store, options=stages)).attempts == 0


def test_what_is_cleared_waits_no_more() -> None:
    one = Planned(task=tasks(1)[0], cluster="c", of=1)
    turns = Turns([one])
    turns.again(one)
    assert len(turns) == 2
    turns.clear()
    assert not turns


async def test_a_later_test_goes_on_where_an_earlier_one_was_broken_off() -> None:
    store, attempt = await stored(IDLE), Seeded(2)
    await replayed(attempt, tasks(8)[3:], store=store, most=14)
    report = await replayed(attempt, tasks(8)[3:], store=store)
    assert outcome(report, IDLE) == (5, 0)
    assert sorted(attempt.made) == [(number, seed) for number in range(3, 8) for seed in range(3)]


async def test_what_stayed_a_tie_to_the_last_try_is_not_counted_again() -> None:
    store, heard = await stored(IDLE), list[Replayed]()
    await replayed(Seeded(9), tasks(8)[3:], store=store)
    await ReplayTest(MemoryCI(store), Seeded(9), options=BESIDE, watch=heard.append).run(tasks(8)[3:])
    assert not heard


@pytest.mark.parametrize(("first", "again"), [(5, 5), (6, 6), (7, 6)])
async def test_an_agent_that_does_the_same_each_time_is_not_asked_again(first: int, again: int) -> None:
    """Six clusters that stayed ties tell; fewer don't. A later test knows it, too."""
    store, attempt, twice = await stored(IDLE), Seeded(9), ReplayOptions(order="with the trial", tries=2)
    report = await replayed(attempt, tasks(first + 3)[3:], options=twice, store=store)
    assert report.attempts == 2 * (first + again)
    report = await replayed(attempt, tasks(first + 5)[3:], options=twice, store=store)
    assert report.attempts == 2 * (2 + min(2, 6 - again))


async def test_near_copies_that_stayed_ties_tell_once() -> None:
    attempt, twice = Seeded(9), ReplayOptions(order="with the trial", tries=2)
    report = await replayed(attempt, [copy(100 * n + i, 10 + n) for n in range(5) for i in range(3)], options=twice)
    assert report.attempts == 2 * 5 * 3 * 2


async def test_one_tie_that_was_none_the_second_time_tells_that_it_does_not() -> None:
    attempt = Seeded(9, soon=4)
    report = await replayed(attempt, tasks(13)[3:], options=ReplayOptions(order="with the trial", tries=2))
    assert report.attempts == 2 * 10 * 2


async def test_only_an_idea_s_own_ties_tell() -> None:
    """Two ideas share the attempts without a card: the ties of one tell which side the other can win."""
    store, twice = await stored(IDLE, OTHER), ReplayOptions(order="with the trial", tries=2)
    report = await replayed(Seeded(9), tasks(10)[5:], options=twice, store=store)
    assert [one.counts.ties for one in report.cards] == [5, 5]
    assert report.attempts == 3 * 5 * 2


class Unknown(Seeded):
    """As it is, but for tasks numbered 1, 101 …, which give no score."""

    async def __call__(self, task: Task, cards: Sequence[MemoryCard], repetition: int) -> float | None:
        """See `Seeded`; of tasks from 200, none is solved."""
        number = int("".join(filter(str.isdigit, task.prompt)))
        score = await super().__call__(task, cards, repetition) or 0.0
        return None if number % 100 == 1 else score * (number < 200)


async def test_a_cluster_of_which_pairs_stay_unknown_counts_before_ties_are_tried_again() -> None:
    attempt = Unknown(0)
    given = [copy(100 * n + i, 10 + n) for n in range(3) for i in range(2)]
    assert outcome(await replayed(attempt, given, most=12), IDLE) == (2, 0)
    assert (await replayed(attempt, given)).attempts == 12 + 2 * 2, "what gave no score isn't made again for that"


async def test_a_cluster_of_which_pairs_stay_unknown_is_decided_by_a_later_try_too() -> None:
    given = [copy(100 * n + i, 10 + n) for n in range(2) for i in range(2)]
    assert outcome(await replayed(Unknown(1), given), IDLE) == (2, 0)
