"""Which idea gets the next pair of replays, and on which tasks."""

from dataclasses import replace
from typing import Any

import pytest
from replaying import HELPS, HURTS, IDLE, WORDS, attempt, card, stored, tasks

from wisen import InMemoryVectorStore, MemoryCard, MemoryCI, MemoryKind, MemoryStatus, Task
from wisen.cards import Situation
from wisen.memory_ci.trial import added, began
from wisen.recall import RecallHit
from wisen.replay.card_tests import ReplayOptions, ReplayTest
from wisen.replay.log import Counts, task_key
from wisen.replay.pairs import ReplayBudget
from wisen.replay.plan import Recalls
from wisen.replay.tested_card import CardUnderTest
from wisen.replay.trial_evidence import TrialEvidence
from wisen.trial_records import DrawCounts, Trial

pytestmark = pytest.mark.anyio
FRESH = Trial(model="m", layout="l")
ON_TRIAL = began(FRESH, 1)


def case(more: dict[str, Any] | None = None, **counts: int) -> CardUnderTest:
    """An idea as it stands."""
    return CardUnderTest(card=replace(HELPS, **(more or {})), counts=Counts(**counts), clusters=9, needed=7)


def seen(good: int, of: int) -> tuple[DrawCounts, ...]:
    return added((), DrawCounts(propensity=0.5, shown=of, shown_good=good, held_out=of))


HARD = (DrawCounts(propensity=0.5, shown=6, shown_good=1, held_out=6, held_out_good=1),)
VERIFIED = replace(HELPS.provenance, verified=True)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (case({"retold": 3}), case()),
        (case({"duplicates": 1}), case()),
        (case({"provenance": VERIFIED}), case({"provenance": replace(VERIFIED, verified=False)})),
        (case({"trials": (ON_TRIAL,)}), case()),
        (case({"trials": (replace(ON_TRIAL, counts=seen(6, 8)),)}), case({"trials": (ON_TRIAL,)})),
        (case(gained=3), case(gained=1, lost=1)),
        (case(), case(gained=2, lost=4)),
        (case(), case({"kind": MemoryKind.SKILL_CARD, "retold": 9, "trials": (ON_TRIAL,)}, gained=5)),
        (case({"trials": (replace(ON_TRIAL, first=3, first_good=2, counts=HARD),)}), case({"trials": (ON_TRIAL,)})),
        (case(lost=4), replace(case({"retold": 9}, gained=6), clusters=6)),
        (case(lost=4), replace(case({"retold": 9}, gained=6), served=True)),
        (replace(case(), served=True), case({"kind": MemoryKind.SKILL_CARD}, gained=5)),
    ],
    ids=[
        *("taught", "taught in these words", "verified", "begun", "ahead", "won", "lost", "lesson", "base", "clusters"),
        *("no promoted lesson there", "lesson where there is one"),
    ],
)
def test_the_pair_goes_to_the_idea_that_comes_first_in_the_live_trial(
    first: CardUnderTest, second: CardUnderTest
) -> None:
    evidence = TrialEvidence(MemoryCI(InMemoryVectorStore()), model="m", layout="l", now=lambda: HELPS_AT)
    assert evidence.promise(first) > evidence.promise(second)


HELPS_AT = HELPS.provenance.created_at
DEPOT = "Give the berth of crate 7 in the harbour depot."


@pytest.mark.parametrize(
    ("asked", "order", "far"),
    [
        (DEPOT, "with the trial", 0),
        (DEPOT, "in stages", 1),
        ("Give the berth of crate 7 in the harbour depot list.", "with the trial", 0),  # of the best relevance, 55 %
        ("Give the berth of crate 7 in the harbour list.", "with the trial", 1),  # 79 %
    ],
)
async def test_beside_a_live_trial_tasks_of_neighbouring_situations_are_left_out(
    asked: str, order: Any, far: int
) -> None:
    depot = replace(card("IDLE talk."), situation=Situation(prompt=DEPOT), id="")
    store = await stored(HELPS, depot)
    options = ReplayOptions(order=order, top_k=5)
    given = [*tasks(9), Task(prompt=asked.replace("7", "8"), reference="berth 8")]
    report = await ReplayTest(MemoryCI(store), attempt(), options=options).run(given, [HELPS.id])
    assert report.cards[0].tasks == 8 + far


def recalled(relevance: float, *, nearer: MemoryCard = HURTS, mine: MemoryCard = HELPS) -> Recalls:
    """A task for which one card was found with this relevance, behind another one."""
    task = tasks(1)[0]
    hits = tuple(RecallHit(card=one, relevance=at, reasons=()) for one, at in ((nearer, 0.9), (mine, relevance)))
    return Recalls(tasks=(task,), hits={task_key(task): hits}, top_k=2)


@pytest.mark.parametrize(
    ("relevance", "near_from", "tried"), [(0.59, 0.65, True), (0.58, 0.65, False), (0.1, 0.0, True)]
)
def test_an_idea_is_tried_on_tasks_that_it_is_near(relevance: float, near_from: float, *, tried: bool) -> None:
    recalls = recalled(relevance)
    assert recalls.related(HELPS.id, (), near_from=near_from) == (list(recalls.tasks) if tried else [])


EXAMPLE = replace(HURTS, kind=MemoryKind.SKILL_CARD)


@pytest.mark.parametrize(
    ("recalls", "tried"),
    [
        (recalled(0.1, nearer=replace(HURTS, status=MemoryStatus.PROMOTED)), True),
        (recalled(0.1, nearer=EXAMPLE), True),
        (recalled(0.1, nearer=EXAMPLE, mine=replace(HELPS, kind=MemoryKind.SKILL_CARD)), False),
        (replace(recalled(0.1), withdrawn={HURTS.id}), True),
        (recalled(0.1, mine=replace(HELPS, kind=MemoryKind.REFLECTION)), True),
    ],
    ids=["in use", "an example beside a lesson", "two examples", "withdrawn", "a report"],
)
def test_only_what_waits_beside_it_says_how_near_an_idea_has_to_be(recalls: Recalls, *, tried: bool) -> None:
    mine = recalls.hits[task_key(recalls.tasks[0])][1].card
    assert bool(recalls.related(mine.id, (), near_from=0.5)) is tried


PROMOTED = replace(HURTS, status=MemoryStatus.PROMOTED)


@pytest.mark.parametrize(
    ("recalls", "beside", "served"),
    [
        (recalled(0.9, nearer=PROMOTED), {PROMOTED.id}, True),
        (replace(recalled(0.9, nearer=PROMOTED), withdrawn={PROMOTED.id}), {PROMOTED.id}, False),
        (recalled(0.9, nearer=PROMOTED), set[str](), False),
        (recalled(0.9, nearer=replace(PROMOTED, kind=MemoryKind.SKILL_CARD)), {PROMOTED.id}, False),
        (recalled(0.9), {HELPS.id}, False),
        (replace(recalled(0.9, nearer=PROMOTED), hits={}), {PROMOTED.id}, False),
    ],
    ids=["shown", "withdrawn", "not shown", "an example", "itself", "not recalled"],
)
def test_a_task_is_served_by_a_promoted_lesson_that_is_shown_for_it(
    recalls: Recalls, beside: set[str], *, served: bool
) -> None:
    task = recalls.tasks[0]
    recalls = replace(recalls, hits={task_key(task): (), **recalls.hits})
    assert recalls.served(HELPS.id, task, beside, near_from=0.75) is served


@pytest.mark.parametrize(("relevance", "served"), [(0.79, True), (0.81, False)])
def test_a_task_is_served_only_by_what_is_nearly_as_relevant(relevance: float, *, served: bool) -> None:
    task = tasks(1)[0]
    hits = tuple(RecallHit(card=one, relevance=at, reasons=()) for one, at in ((HELPS, relevance), (PROMOTED, 0.6)))
    recalls = Recalls(tasks=(task,), hits={task_key(task): hits}, top_k=2)
    assert recalls.served(HELPS.id, task, {PROMOTED.id}, near_from=0.75) is served


def song(number: int) -> str:
    first, second, third, fourth = (WORDS[(4 * number + at) % len(WORDS)] for at in range(4))
    return f"Translate line {number}, where {first} and {second} sing of {third}, into {fourth} Dutch."


@pytest.mark.parametrize("promoted", [True, False])
async def test_ideas_whose_tasks_have_a_promoted_lesson_wait_for_the_others(*, promoted: bool) -> None:
    """What was told more often comes first, but for that."""
    told = replace(IDLE, retold=9, id="")
    other = replace(card("HELPS sing."), situation=Situation(prompt=song(50)), id="")
    mine = replace(HELPS, status=MemoryStatus.PROMOTED if promoted else MemoryStatus.ARCHIVED, id="")
    store = await stored(told, other, mine)
    songs = [Task(prompt=song(number), reference=f"berth {number}") for number in range(20)]
    options = ReplayOptions(order="with the trial", top_k=2)
    test = ReplayTest(MemoryCI(store), attempt(), options=options, parallel=2, budget=ReplayBudget(attempts=12))
    report = await test.run([*tasks(20), *songs], [told.id, other.id])
    pairs = {one.card_id: one.counts.pairs for one in report.cards}
    assert pairs[other.id if promoted else told.id] == 6
    assert sum(pairs.values()) == 6


async def test_an_idea_that_has_joined_another_is_tested_no_more() -> None:
    joined = replace(HELPS, idea="another")
    assert CardUnderTest(card=HELPS).in_test
    assert not CardUnderTest(card=joined).in_test
    assert CardUnderTest(card=replace(joined, kind=MemoryKind.SKILL_CARD)).in_test, "each example has its own answer"
