"""Both attempts of a pair are of about the same time, and none is made again for a better outcome."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from replaying import FEW, HELPS, IDLE, Scripted, card, outcome, status, stored, tasks

from wisen import MemoryCard, MemoryCI, MemoryKind, MemoryStatus, Task
from wisen.errors import ModelError
from wisen.replay.card_tests import ReplayOptions, ReplayTest
from wisen.replay.log import SAME_TIME
from wisen.replay.pairs import ReplayBudget
from wisen.replay.rule_tests import RuleTest

pytestmark = pytest.mark.anyio

OTHER = card("OTHER talk.", number=2)
LATER = SAME_TIME + timedelta(minutes=1)


class Clock:
    def __init__(self) -> None:
        self.at = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at


def by_number(number: int, shown: bool) -> float:
    return float(shown or number % 2)


def nothing(_: int, __: bool) -> None:
    """No score."""


def unsolved(_: int, __: bool) -> float:
    return 0.0


def solved(_: int, __: bool) -> float:
    return 1.0


class Counted(Scripted):
    """Counts attempts by the task's number and whether a card is shown."""

    def __init__(self) -> None:
        super().__init__(by_number)
        self.made = Counter[tuple[int, bool]]()

    async def __call__(self, task: Task, cards: Sequence[MemoryCard], repetition: int) -> float | None:
        self.made[int("".join(filter(str.isdigit, task.prompt))), bool(cards)] += 1
        return await super().__call__(task, cards, repetition)


@pytest.mark.parametrize(("waited", "shared"), [(SAME_TIME, True), (LATER, False)])
async def test_what_was_made_without_a_card_serves_those_tested_about_that_time(
    waited: timedelta, *, shared: bool
) -> None:
    """Else new ideas would be compared with what the model could do a month ago."""
    clock, world = Clock(), {"better": False}
    made = Counted()

    def changing(number: int, _: bool) -> float:
        return float(world["better"] or number % 3 == 0)

    made.score = changing
    ci = MemoryCI(await stored(IDLE), now=clock)
    await ReplayTest(ci, made, options=FEW).run(tasks(), [IDLE.id])
    clock.at, world["better"] = clock.at + waited, True
    await ci.store.add([OTHER])
    report = await ReplayTest(ci, made, options=FEW).run(tasks(), [OTHER.id])
    assert bool(outcome(report, OTHER)[0]) is shared
    assert made.made[4, False] == (1 if shared else 2)


async def test_ideas_of_one_session_share_what_is_made_without_them() -> None:
    made = Counted()
    await ReplayTest(MemoryCI(await stored(IDLE, OTHER)), made, options=ReplayOptions(top_k=1)).run(tasks(12))
    assert {count for (_, shown), count in made.made.items() if not shown} == {1}
    assert {count for (_, shown), count in made.made.items() if shown} == {2}


async def test_a_session_that_takes_longer_makes_them_again() -> None:
    clock, made = Clock(), Counted()

    def slow(_: int, __: bool) -> float:
        clock.at += timedelta(minutes=30)
        return 0.0

    made.score = slow
    ci = MemoryCI(await stored(IDLE, OTHER), now=clock)
    await ReplayTest(ci, made, options=ReplayOptions(top_k=1)).run(tasks(12))
    assert {count for (_, shown), count in made.made.items() if not shown} == {1, 2}


async def test_the_attempt_without_comes_first_since_it_serves_others_too() -> None:
    made = Counted()
    await ReplayTest(MemoryCI(await stored(IDLE)), made, options=FEW, budget=ReplayBudget(attempts=1)).run(tasks(4))
    assert [shown for _, shown in made.made] == [False]


@pytest.mark.parametrize("sessions", [1, 40])
async def test_what_raised_with_a_card_is_not_tried_again(sessions: int) -> None:
    """A budget that ends after each attempt is no second chance."""
    made, budget = Counted(), ReplayBudget(attempts=1 if sessions > 1 else None)
    once = made.score

    def unreadable(number: int, shown: bool) -> float | None:
        if shown and number % 2:
            raise ModelError("scripted", "the answer can't be used")
        return once(number, shown)

    made.score = unreadable
    ci = MemoryCI(await stored(IDLE))
    for _ in range(sessions - 1):
        await ReplayTest(ci, made, options=FEW, budget=budget).run(tasks(20))
    report = await ReplayTest(ci, made, options=FEW, budget=budget).run(tasks(20))
    assert set(made.made.values()) == {1}
    assert report.cards[0].counts.gained + 1 == report.cards[0].counts.lost == 10


async def test_nor_is_what_raised_while_the_other_side_was_killed() -> None:
    made, hangs, raised = Counted(), asyncio.Event(), asyncio.Event()

    class Killed(Counted):
        async def __call__(self, task: Task, cards: Sequence[MemoryCard], repetition: int) -> float | None:
            if not cards:
                await hangs.wait()
            await super().__call__(task, cards, repetition)
            raised.set()
            raise ModelError("scripted", "the answer can't be used")

    ci = MemoryCI(await stored(IDLE))
    killed = Killed()
    running = asyncio.create_task(ReplayTest(ci, killed, options=FEW, parallel=2).run(tasks(8)))
    await raised.wait()
    for _ in range(20):  # until that is kept
        await asyncio.sleep(0)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    ((first, _),) = killed.made
    report = await ReplayTest(ci, made, options=FEW).run(tasks(8))
    assert made.made[first, False] == 1
    assert made.made[first, True] == 0
    assert report.cards[0].counts.lost == first % 2


async def test_a_pair_is_counted_with_what_was_made_beside_it() -> None:
    """An earlier attempt without the rule, which no budget was left to compare it with, is of another time."""
    clock, made = Clock(), Counted()
    rule = replace(HELPS, kind=MemoryKind.PRINCIPLE, status=MemoryStatus.PROMOTED, id="")
    ci = MemoryCI(await stored(rule), now=clock)
    options = ReplayOptions(condition=replace(made.condition, role="clerk"))
    made.score = unsolved
    for attempts in (1, 2, 0):
        test = RuleTest(ci, made, budget=ReplayBudget(attempts=attempts), options=options)
        report = await test.run(tasks(2), cards=[rule.id])
        clock.at, made.score = clock.at + LATER, solved
    assert "0 gained" in report.rules[0].why


async def test_what_nobody_could_score_is_tried_again_later_and_not_at_once() -> None:
    clock, made = Clock(), Counted()
    made.score = nothing
    ci, tested = MemoryCI(await stored(IDLE), now=clock), list[int]()
    for waited in (timedelta(0), SAME_TIME, LATER):
        clock.at += waited
        tested.append((await ReplayTest(ci, made, options=FEW).run(tasks(8))).attempts)
    assert tested[0] == tested[2] > tested[1] == 0


async def test_a_test_of_rules_ends_however_small_its_sessions_are_and_however_far_apart() -> None:
    """It counts all of its pairs again each time; those that are whole are never made again."""
    clock, made = Clock(), Counted()
    rule = replace(HELPS, kind=MemoryKind.PRINCIPLE, status=MemoryStatus.PROMOTED, id="")
    ci = MemoryCI(await stored(rule), now=clock)
    kept = list[str]()
    for _ in range(20):
        clock.at += LATER
        options = ReplayOptions(condition=replace(made.condition, role="clerk"))
        test = RuleTest(ci, made, budget=ReplayBudget(attempts=4), options=options)
        report = await test.run(tasks(40), cards=[rule.id])
        kept.append(report.rules[0].verdict)
        if not report.exhausted:
            break
    assert kept[-1] == "helps"
    assert set(made.made.values()) == {1}
    assert await status(ci.store, rule) is MemoryStatus.PROMOTED  # pyright: ignore[reportArgumentType] - made above
