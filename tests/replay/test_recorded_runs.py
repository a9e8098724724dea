"""Recorded runs are replayed beside an agent's own: within a budget, for its own tenant, and at nobody's cost."""

import asyncio
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai import ModelRequest
from pydantic_ai.direct import model_request
from pydantic_ai.models import Model
from replaying import FEW, HELPS, HURTS, IDLE, attempt, card, copy, obedient, status, stored, tasks

from wisen import Agent, InMemoryVectorStore, MemoryCI, MemoryStatus, ReAct, Reflexion, ScriptedModel, Supervisor, Task
from wisen.cards import MemoryCard
from wisen.errors import ConfigError, ModelError, StoreError
from wisen.evaluation.checks import ReferenceEvaluator
from wisen.events import CardMoved, Event
from wisen.memory_ci.status import is_benched, split_off
from wisen.models.scripted import ScriptedCall
from wisen.records import ReflectionEvaluation, Trace
from wisen.replay.attempts import Condition
from wisen.replay.background import BackgroundReplays
from wisen.replay.card_tests import ReplayReport, ReplayTest, untestable
from wisen.replay.log import stay_of
from wisen.replay.pairs import ReplayBudget
from wisen.replay.plan import Recalls
from wisen.replay.recorded_runs import RecordedOptions, replay_recorded, varied
from wisen.session import Architecture
from wisen.trial_records import Stage, Trial

pytestmark = pytest.mark.anyio
MUCH = ReplayBudget(attempts=500)
FEW_ATTEMPTS = ReplayBudget(attempts=4)


def agent(store: InMemoryVectorStore, model: ScriptedModel | None = None, **given: Any) -> Agent:
    """An agent whose runs are recorded, and that neither recalls nor learns."""
    options: dict[str, Any] = {"evaluator": ReferenceEvaluator(), "name": "clerk", **given}
    return Agent("Answer.", model=model or ScriptedModel(obedient), architecture=ReAct(), memory=store, **options)


async def worked(store: InMemoryVectorStore, given: list[Task], **options: Any) -> Agent:
    one = agent(store, **options)
    for task in given:
        await one.run(task)
    return one


async def test_recorded_runs_decide_on_an_idea() -> None:
    store = await stored(HELPS, HURTS)
    ci = MemoryCI(store)
    report = await replay_recorded(await worked(store, tasks(40)), ci, budget=MUCH)
    assert await status(store, HELPS) is MemoryStatus.PROMOTED
    kept = (await store.get([HELPS.id]))[0]
    assert kept.history[-1].by == "trial"
    assert "replays gained" in kept.history[-1].why
    assert kept.trials[0].stage == "promoted"
    assert report.releases == ()
    assert [(one.card_id, one.why) for one in report.moved] == [(HELPS.id, kept.note)]
    hurts = (await store.get([HURTS.id]))[0]
    assert (hurts.status, hurts.trials[0].stage) == (MemoryStatus.QUARANTINED, "benched"), "it is shown to no run"
    pairs = hurts.evidence[0]
    assert (pairs.gained, pairs.lost, pairs.ties) == (0, 6, 4), "and no pair is bought for it any more"
    assert {kept.trials[0].number, hurts.trials[0].number} == {1, 2}
    assert await ci.promotions.in_cohort_of(kept.trials[0].number).last() == 1


@pytest.mark.parametrize(
    ("stage", "model", "replayed"),
    [("benched", "scripted", False), ("on trial", "scripted", True), ("benched", "another", True)],
)
async def test_an_idea_whose_trial_is_over_is_replayed_no_more(stage: Stage, model: str, *, replayed: bool) -> None:
    trial = Trial(model=model, layout="episodes-as-turns", number=1, stage=stage)
    store = await stored(replace(HELPS, trials=(trial,)))
    report = await replay_recorded(await worked(store, tasks(40)), MemoryCI(store), budget=FEW_ATTEMPTS)
    assert bool(report.attempts) is replayed


@pytest.mark.parametrize(
    ("owner", "across_circles", "replayed"), [("ada", False, True), ("bob", False, False), ("bob", True, True)]
)
async def test_an_idea_is_replayed_on_the_tasks_of_its_own_circle(
    owner: str, *, across_circles: bool, replayed: bool
) -> None:
    store = await stored(replace(HELPS, provenance=replace(HELPS.provenance, owner="ada"), id=""))
    ci = MemoryCI(store, across_circles=across_circles)
    given = [replace(task, owner=owner) for task in tasks(40)]
    report = await replay_recorded(await worked(store, given), ci, budget=FEW_ATTEMPTS)
    assert bool(report.attempts) is replayed


async def test_a_later_trial_needs_more_evidence() -> None:
    """The first idea of a store is promoted at e = 20; the fifth at 300, which is 13 clusters and not eight."""
    store = await stored(HELPS)
    ci = MemoryCI(store)
    for number in range(4):
        await ci.numbers.of(f"idea {number}")
    await replay_recorded(await worked(store, tasks(40)), ci, budget=MUCH)
    kept = (await store.get([HELPS.id]))[0]
    assert kept.status is MemoryStatus.PROMOTED
    assert kept.evidence[0].gained == 13


@pytest.mark.parametrize(("options", "tries"), [(None, 3), (RecordedOptions(tries=1), 1)])
async def test_how_often_a_pair_is_made_can_be_chosen(options: RecordedOptions | None, tries: int) -> None:
    store = await stored(IDLE)
    report = await replay_recorded(await worked(store, tasks(6)), MemoryCI(store), budget=MUCH, options=options)
    assert report.attempts == 5 * 2 * tries


async def test_other_wordings_follow_and_are_no_tests_of_their_own() -> None:
    other = replace(card("HELPS in other words.", number=3), idea=HELPS.id)
    store = await stored(HELPS, other)
    report = await replay_recorded(await worked(store, tasks(40)), MemoryCI(store), budget=MUCH)
    assert [one.card_id for one in report.cards] == [HELPS.id]
    assert await status(store, other) is MemoryStatus.PROMOTED
    own = {0, 3}  # the tasks that the two wordings came from, which had failed
    assert report.cards[0].tasks == 40 - len(own)


@pytest.mark.parametrize(
    "other",
    [{"tenant": "acme"}, {"name": "porter"}, {"evaluator": re.compile("berth .*")}, {"evaluator": None}],
    ids=["tenant", "agent", "judge", "unjudged"],
)
async def test_runs_of_others_are_not_used(other: dict[str, object]) -> None:
    store = await stored(HELPS)
    await worked(store, tasks(), **other)
    report = await replay_recorded(agent(store), MemoryCI(store), budget=MUCH)
    assert report.attempts == 0


@pytest.mark.parametrize(
    ("source", "tried"),
    [
        ({}, True),
        ({"agent": "porter"}, False),
        ({"run_id": ""}, False),
        ({"created_by": "import"}, False),
        ({"created_by": "human", "agent": ""}, True),
    ],
    ids=["own", "another agent's", "of no run", "imported", "a person's"],
)
async def test_only_what_belongs_to_the_agent_is_replayed_by_itself(source: dict[str, Any], tried: bool) -> None:
    """What others put there might be an attack, and a replay does what it says."""
    card = replace(HELPS, provenance=replace(HELPS.provenance, **source), id="")
    store = await stored(card)
    report = await replay_recorded(await worked(store, tasks()), MemoryCI(store), budget=FEW_ATTEMPTS)
    assert bool(report.attempts) is tried


async def test_what_is_held_is_replayed_by_nobody() -> None:
    held = replace(HELPS, held=("HELPS",), id="")
    store = await stored(held)
    report = await ReplayTest(MemoryCI(store), attempt(), options=FEW).run(tasks(), [held.id])
    assert report.attempts == 0
    assert untestable(held, Condition()) == "it is held; see `wisen lessons review`"


async def test_an_evaluator_of_a_task_can_be_given_again() -> None:
    def strict(output: str) -> bool:
        return output != "berth -1"

    store = await stored(HELPS)
    await worked(store, tasks(), evaluator=strict)
    options = RecordedOptions(evaluator_of=lambda _: agent(store, evaluator=strict).evaluator)
    assert (await replay_recorded(agent(store), MemoryCI(store), budget=MUCH, options=options)).attempts


async def test_near_copies_are_few_among_the_tasks_and_the_newest_come_first() -> None:
    copies = [copy(100 + n, 1) for n in range(9)]
    assert varied([*copies, *tasks(3)], copies=2) == [*copies[:2], tasks(3)[0], tasks(3)[2]]
    assert varied([*tasks(5), *tasks(5)], copies=2, most=3) == tasks(3)


async def test_a_benched_idea_that_is_tried_again_starts_again() -> None:
    """What it did while the data were broken is of its first trial."""
    store, mended = await stored(HURTS), list[bool]()
    ci = MemoryCI(store)

    def clerk(messages: object, call: ScriptedCall) -> str:
        number = int("".join(filter(str.isdigit, call.prompt)))
        return f"berth {number}" if mended and "HURTS" in call.system else obedient(messages, call)

    one = await worked(store, tasks(40), model=ScriptedModel(clerk))
    await replay_recorded(one, ci, budget=MUCH)
    assert is_benched((await store.get([HURTS.id]))[0])
    mended.append(True)
    await ci.quarantine(HURTS.id, "the data are mended")
    await replay_recorded(one, ci, budget=MUCH)
    kept = (await store.get([HURTS.id]))[0]
    assert kept.status is MemoryStatus.PROMOTED
    assert kept.evidence[0].lost == 0


async def test_a_wording_that_was_split_off_keeps_its_stay() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert stay_of(split_off(HELPS, idea="", why="tried again: no", at=now)) == stay_of(HELPS)


@pytest.mark.parametrize("limit", [{"attempts": 9}, {"calls": 9}])
async def test_a_budget_that_is_used_up_is_said_and_the_next_call_goes_on(limit: dict[str, int]) -> None:
    store = await stored(HELPS)
    one = await worked(store, tasks(40))
    report = await replay_recorded(one, MemoryCI(store), budget=ReplayBudget(**limit))
    assert next(iter(limit)) in report.exhausted
    assert report.attempts == 9
    again = await replay_recorded(one, MemoryCI(store), budget=MUCH)
    assert await status(store, HELPS) is MemoryStatus.PROMOTED
    whole = await replay_recorded(await worked(alone := await stored(HELPS), tasks(40)), MemoryCI(alone), budget=MUCH)
    assert report.attempts + again.attempts == whole.attempts


async def test_calls_of_attempts_that_raise_are_counted() -> None:
    def unreadable(_: object, call: ScriptedCall) -> ModelError:
        asked.append(call)
        return ModelError("scripted", "no answer that could be used")

    store, asked = await stored(HELPS, HURTS), list[ScriptedCall]()
    await worked(store, tasks(40))
    report = await replay_recorded(
        agent(store, ScriptedModel(unreadable)), MemoryCI(store), budget=ReplayBudget(calls=9)
    )
    assert report.attempts == len(asked) == 9
    assert "calls" in report.exhausted


async def test_tools_are_called_again_only_where_that_was_allowed() -> None:
    def book(berth: str) -> str:
        return berth

    store = await stored(HELPS)
    with pytest.raises(ConfigError, match="tools_too"):
        await replay_recorded(agent(store, tools=[book]), MemoryCI(store), budget=MUCH)
    with pytest.raises(ConfigError, match="tools_too"):
        agent(store, tools=[book], replay=BackgroundReplays(MemoryCI(store)))
    allowed = RecordedOptions(tools_too=True)
    assert agent(store, tools=[book], replay=BackgroundReplays(MemoryCI(store), options=allowed)).has_tools


async def acts(prompt: str, model: Model) -> str:
    """What it does besides can't be known."""
    asked = await model_request(model, [ModelRequest.user_text_prompt(prompt)])
    return asked.text or ""


class Theirs(ReAct):
    """An architecture that isn't ours."""


class Seen(Reflexion):
    """Another one, around ours."""


@pytest.mark.parametrize(
    "architecture",
    [
        acts,
        PydanticAgent("test", tools=[len]),
        Theirs(),
        Seen(),
        Reflexion(base=acts),
        Supervisor({"clerk": Agent(model=ScriptedModel([]), architecture=acts)}),
    ],
    ids=["function", "framework", "subclass", "around", "base", "worker"],
)
async def test_what_others_code_does_cannot_be_known(architecture: object) -> None:
    store = await stored(HELPS)
    one = Agent("Answer.", model=ScriptedModel(obedient), architecture=architecture, memory=store)
    with pytest.raises(ConfigError, match=r"RecordedOptions\(tools_too=True\)"):
        await replay_recorded(one, MemoryCI(store), budget=MUCH)
    await replay_recorded(one, MemoryCI(store), budget=MUCH, options=RecordedOptions(tools_too=True))


@pytest.mark.parametrize("architecture", [ReAct(), Reflexion(), Supervisor({"clerk": Agent(model=ScriptedModel([]))})])
def test_what_is_ours_does_nothing_by_itself(architecture: Architecture) -> None:
    assert not Agent(model=ScriptedModel([]), architecture=architecture).has_tools


def test_neither_can_what_a_worker_does_that_is_no_agent_of_ours() -> None:
    team = Supervisor({"clerk": Agent(model=ScriptedModel([]))})
    team.workers["other"] = cast("Agent", object())
    assert Agent(model=ScriptedModel([]), architecture=team).has_tools


async def test_others_code_is_replayed_where_that_was_allowed() -> None:
    store = await stored(HELPS)
    one = Agent(
        model=ScriptedModel(obedient), architecture=acts, memory=store, evaluator=ReferenceEvaluator(), name="clerk"
    )
    for task in tasks(12):
        await one.run(task)
    allowed = RecordedOptions(tools_too=True)
    report = await replay_recorded(one, MemoryCI(store), budget=FEW_ATTEMPTS, options=allowed)
    assert report.attempts == 4
    assert report.cards[0].counts.pairs


async def test_an_agent_replays_beside_its_runs_and_calls_no_more_than_they_do() -> None:
    store, said = await stored(HELPS), list[ReplayReport | Exception]()
    model = ScriptedModel(obedient)
    async with BackgroundReplays(MemoryCI(store), least=4, told=said.append) as replays:
        one = agent(store, model, replay=replays)
        for task in tasks(40):
            await one.run(task)
            await replays.settled()
            assert replays.spent.requests <= replays.live_calls
    assert replays.live_calls == 40
    assert 20 < replays.attempts == len(model.calls) - 40
    assert (await store.get([HELPS.id]))[0].evidence[0].gained
    assert all(isinstance(one, ReplayReport) for one in said)
    assert len(said) > 1


@pytest.mark.parametrize("broken", [False, True])
async def test_who_watches_the_agent_hears_what_its_replays_have_moved(*, broken: bool) -> None:
    heard, said = list[CardMoved](), list[ReplayReport | Exception]()

    def watch(event: Event) -> None:
        if isinstance(event, CardMoved):
            heard.append(event)
            if broken:
                raise RuntimeError("the watcher broke")

    newer = replace(HURTS, rivals=(HELPS.id,))
    store = await stored(replace(HELPS, rivals=(newer.id,)), newer)
    async with BackgroundReplays(MemoryCI(store), least=4, told=said.append) as replays:
        one = agent(store, replay=replays, watch=watch)
        for task in tasks(40):
            await one.run(task)
            await replays.settled()
    reports = [one for one in said if isinstance(one, ReplayReport)]
    moved = [move for report in reports for move in report.moved]
    assert heard == (moved[:1] if broken else moved)
    assert [(one.card_id, one.after, one.by) for one in moved] == [
        (HELPS.id, "promoted", "trial"),
        (newer.id, "archived", "trial"),
    ]
    assert len(reports) == len(said)


async def test_a_budget_bounds_all_sessions_together() -> None:
    store = await stored(HELPS)
    replays = BackgroundReplays(MemoryCI(store), ReplayBudget(attempts=7), least=2, share=4.0)
    one = agent(store, replay=replays)
    for task in tasks(30):
        await one.run(task)
        await replays.settled()
    assert replays.attempts == 7


async def test_seconds_too_hold_for_all_sessions_together() -> None:
    async def slow(output: str) -> bool:
        await asyncio.sleep(0.02)
        return output != "berth -1"

    store, said = await stored(HELPS), list[ReplayReport | Exception]()
    replays = BackgroundReplays(MemoryCI(store), ReplayBudget(seconds=0.1), least=1, share=99.0, told=said.append)
    await worked(store, tasks(), evaluator=slow)
    one = agent(store, replay=replays, evaluator=slow)
    for task in tasks(3):
        await one.run(task)
        await replays.settled()
    ended = [report.exhausted for report in said if isinstance(report, ReplayReport)]
    assert ["seconds" in why for why in ended] == [True], "and no other session begins"


async def test_runs_do_not_wait_for_replays_and_closing_breaks_them_off() -> None:
    store, hangs = await stored(HELPS), asyncio.Event()

    async def slow(messages: object, call: ScriptedCall) -> str:
        if replaying.is_set():
            hangs.set()
            await asyncio.Event().wait()
        return obedient(messages, call)

    replaying = asyncio.Event()
    replays = BackgroundReplays(MemoryCI(store), least=12)
    one = agent(store, ScriptedModel(slow), replay=replays)
    for task in tasks(12):
        await one.run(task)
    replaying.set()
    await hangs.wait()
    replaying.clear()
    assert (await one.run(tasks()[1])).output == "berth -1", "while a replay hangs"
    await replays.aclose()
    assert replays.attempts


@pytest.mark.parametrize("what", ["store", "model"])
async def test_what_fails_in_a_replay_fails_no_run(what: str) -> None:
    class Broken(InMemoryVectorStore):
        async def call(self, scope: str, key: str, ordinal: int) -> bytes | None:
            if what == "store" and scope.startswith("replay"):
                raise StoreError("gone")
            return await super().call(scope, key, ordinal)

    def down(messages: object, call: ScriptedCall) -> str | ModelError:
        return ModelError("scripted", "down") if "HELPS" in call.system else obedient(messages, call)

    store, said = Broken(), list[ReplayReport | Exception]()
    await store.add([HELPS])
    replays = BackgroundReplays(MemoryCI(store), least=8, told=said.append)
    one = agent(store, ScriptedModel(down if what == "model" else obedient), replay=replays)
    for task in tasks(20):
        assert (await one.run(task)).output
        await replays.settled()
        assert replays.attempts <= replays.live_calls + 1, "what raises has cost a call, too"
    assert isinstance(said[0], StoreError) == (what == "store")


def test_without_a_loop_replays_come_at_the_end_of_a_run() -> None:
    store = asyncio.run(stored(HELPS))
    replays = BackgroundReplays(MemoryCI(store), least=6)
    one = agent(store, replay=replays)
    for task in tasks(13):
        one.run_sync(task)
    assert 6 <= replays.attempts <= 13


async def test_replays_begin_no_replays_and_leave_no_records() -> None:
    store = await stored(HELPS)
    replays = BackgroundReplays(MemoryCI(store), least=5)
    one = agent(store, replay=replays)
    for task in tasks(12):
        await one.run(task)
    await replays.settled()
    assert replays.live_calls == len(await store.runs(limit=99)) == 12


async def test_each_tenants_runs_are_replayed_for_its_own_ideas() -> None:
    mine = replace(HELPS, scope=replace(HELPS.scope, tenant="acme"), id="")
    store = await stored(mine)
    replays = BackgroundReplays(MemoryCI(store), least=30)
    one = agent(store, replay=replays)
    for task in tasks(36):
        await one.run(replace(task, tenant="acme"))
    await replays.settled()
    kept: MemoryCard = (await store.get([mine.id]))[0]
    assert kept.evidence[0].gained
    seen = Unseen()
    await replay_recorded(agent(store, evaluator=seen), MemoryCI(store), budget=MUCH)
    assert not seen.tenants, "an agent of another tenant is shown none of it"


async def test_a_reflexion_agent_is_replayed_without_its_memory() -> None:
    store = await stored(HELPS)
    ci = MemoryCI(store)
    model = ScriptedModel(obedient)
    learner = Agent(
        "Answer.",
        model=model,
        architecture=Reflexion(lesson_store=ci, max_attempts=1),
        memory=store,
        evaluator=ReferenceEvaluator(),
    )
    for task in tasks(20):
        await learner.run(task)
    before = len(await store.runs(limit=99))
    report = await replay_recorded(learner, ci, budget=ReplayBudget(attempts=30))
    assert report.attempts > 10
    assert len(await store.runs(limit=99)) == before


class Unseen:
    """Remembers whose tasks it was asked about."""

    name = "reference"

    def __init__(self) -> None:
        self.tenants: set[str] = set()

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:
        del output, trace
        self.tenants.add(task.tenant)
        return ReflectionEvaluation(overall_score=0.0)


async def test_an_idea_keeps_the_number_that_replays_gave_it_when_its_live_trial_begins() -> None:
    store = await stored(HELPS)
    ci = MemoryCI(store)
    await replay_recorded(await worked(store, tasks(40)), ci, budget=ReplayBudget(attempts=9))
    begun = (await store.get([HELPS.id]))[0].trials[0]
    assert (begun.number, begun.stage) == (1, "waiting")
    learner = Agent(
        "Answer.", model=ScriptedModel(obedient), architecture=Reflexion(lesson_store=MemoryCI(store)), name="clerk"
    )
    for task in tasks(10):
        await learner.run(task, evaluator=ReferenceEvaluator())
    trial = (await store.get([HELPS.id]))[0].trials[0]
    assert (trial.number, trial.stage) == (1, "on trial")
    taken = [await store.call("memory-ci", "trials", number) or b"" for number in range(1, 99)]
    assert sum(name.startswith(HELPS.id.encode()) for name in taken) == 1, "and takes no other"
    assert trial.runs


async def test_wordings_are_tested_as_one_idea_and_follow_it() -> None:
    other = replace(card("HELPS in other words.", number=3), idea=HELPS.id)
    store = await stored(HELPS, other)
    report = await ReplayTest(MemoryCI(store), attempt(), options=FEW).run(tasks())
    assert [one.card_id for one in report.cards] == [HELPS.id]
    assert [await status(store, one) for one in (HELPS, other)] == [MemoryStatus.PROMOTED] * 2
    assert untestable(other, Condition()) == f"it puts card {HELPS.id} in other words, which is tested for both"


async def test_an_idea_is_shown_once_and_never_where_it_was_learned() -> None:
    other = replace(card("HELPS in other words.", number=3), idea=HELPS.id)
    recalls = await Recalls.of(MemoryCI(await stored(HELPS, other)), tasks(6), top_k=5, role="")
    shown = [[one.id for one in recalls.shown(task, {HELPS.id, other.id})] for task in tasks(6)]
    assert shown == [[] if number in (0, 3) else [HELPS.id] for number in range(6)]


async def test_a_task_is_known_again_by_what_the_screen_left_of_it() -> None:
    given = [replace(task, prompt=f"{task.prompt} Tell anna@example.com.") for task in tasks(6)]
    store = InMemoryVectorStore()
    [written] = await store.add([replace(HELPS, situation=replace(HELPS.situation, prompt=given[0].prompt), id="")])
    recalls = await Recalls.of(MemoryCI(store), given, top_k=5, role="")
    assert [bool(recalls.shown(task, {written.card_id})) for task in given] == [False] + [True] * 5
    assert recalls.own((await store.get([written.card_id]))[0]) is given[0]
