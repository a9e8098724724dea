"""A model that can't be reached ends a replay session, and says nothing of the cards that were to be tried."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import pytest
from replaying import FEW, HELPS, IDLE, Scripted, card, obedient, outcome, status, stored, tasks

from wisen import Agent, InMemoryVectorStore, MemoryCI, MemoryStatus, ReAct, ScriptedModel
from wisen.cards import MemoryCard
from wisen.errors import QueueError, UnreachableModelError
from wisen.evaluation.checks import ReferenceEvaluator
from wisen.evaluation.judge import JudgeEvaluator
from wisen.memory_ci.changes import change_card
from wisen.models.scripted import ScriptedCall
from wisen.replay.attempts import agent_attempt
from wisen.replay.background import BackgroundReplays
from wisen.replay.card_tests import ReplayOptions, ReplayReport, ReplayTest
from wisen.replay.log import ReplayLog, stay_of
from wisen.replay.pairs import ReplayBudget
from wisen.replay.recorded_runs import replay_recorded

pytestmark = pytest.mark.anyio
SOUND = card("SOUND advice.", number=3)
MUCH = ReplayBudget(attempts=500)
Answers = Callable[[object, ScriptedCall], str]


class Line:
    """The way to models, which may be cut."""

    def __init__(self) -> None:
        self.cut = False
        self.failed = 0

    def to(self, answers: Answers) -> ScriptedModel:
        def answer(messages: object, call: ScriptedCall) -> str:
            if self.cut:
                self.failed += 1
                raise ConnectionError("cut")
            return answers(messages, call)

        return ScriptedModel(answer)


def generous(messages: object, call: ScriptedCall) -> str:
    del messages, call
    return "score: 1.0"


def clerk(line: Line, gone: str) -> Agent:
    """An agent of whose models one is at the end of the line."""
    if gone == "its own":
        return Agent("Answer.", model=line.to(obedient), evaluator=ReferenceEvaluator(), name="clerk")
    judge = JudgeEvaluator(model=line.to(generous))
    return Agent("Answer.", model=ScriptedModel(obedient), evaluator=judge, name="clerk")


async def as_it_was(store: InMemoryVectorStore, one: MemoryCard) -> bool:
    """But for its number among the trials, which it has before its first replay."""
    now = (await store.get([one.id]))[0]
    waits = all((trial.stage, trial.runs) == ("waiting", 0) for trial in now.trials)
    return waits and replace(now, trials=(), version=one.version) == one


@pytest.mark.parametrize("gone", ["its own", "the judge's"])
async def test_an_outage_says_nothing_of_a_card_whose_controls_are_known(gone: str) -> None:
    store, line = await stored(IDLE), Line()
    ci, attempt = MemoryCI(store), agent_attempt(clerk(line, gone))
    await ReplayTest(ci, attempt, options=FEW).run(tasks(), [IDLE.id])
    await store.add([SOUND])
    line.cut = True
    with pytest.raises(UnreachableModelError, match="can't be reached"):
        await ReplayTest(ci, attempt, options=FEW).run(tasks(), [SOUND.id])
    assert await as_it_was(store, SOUND)
    line.cut = False
    report = await ReplayTest(ci, attempt, options=FEW).run(tasks(), [SOUND.id])
    assert outcome(report, SOUND) == (0, 0)
    assert report.cards[0].counts.ties == report.cards[0].tasks > 20, "all are tried then"


async def test_after_an_outage_nothing_more_is_asked() -> None:
    store, line = await stored(IDLE, SOUND), Line()
    line.cut = True
    attempt = agent_attempt(clerk(line, "its own"))
    options = ReplayOptions(top_k=2, repetitions=3)
    with pytest.raises(UnreachableModelError):
        await ReplayTest(MemoryCI(store), attempt, options=options).run(tasks())
    assert line.failed == 1


@pytest.mark.parametrize("parallel", [1, 4])
async def test_what_cuts_the_line_by_itself_is_the_cards_doing(parallel: int) -> None:
    """It makes the model ramble until it times out, say. Else replays would end with it for ever."""

    def rambling(messages: object, call: ScriptedCall) -> str | Exception:
        return TimeoutError("read timed out") if "SOUND" in call.system else obedient(messages, call)

    store = await stored(SOUND, IDLE)
    model = ScriptedModel(rambling)
    attempt = agent_attempt(Agent("Answer.", model=model, evaluator=ReferenceEvaluator()))
    report = await ReplayTest(MemoryCI(store), attempt, options=FEW, parallel=parallel).run(tasks())
    assert await status(store, SOUND) is MemoryStatus.ARCHIVED
    assert outcome(report, SOUND)[0] == 0
    assert outcome(report, IDLE) == (0, 0)
    assert report.attempts == len(model.calls)
    assert report.problems.keys() == {"UnreachableModelError"}


@pytest.mark.parametrize(
    ("order", "left_out"), [("in stages", 0), ("in stages", 4), ("with the trial", 0)], ids=["own", "stages", "trial"]
)
async def test_what_takes_the_model_down_is_tried_last_from_then_on(
    order: Literal["in stages", "with the trial"], left_out: int
) -> None:
    """Else it would end each session before the other ideas have their turn."""
    down = list[str]()

    def breaking(messages: object, call: ScriptedCall) -> str | Exception:
        down.extend(["down"] if "SOUND" in call.system else [])
        return ConnectionError("gone") if down else obedient(messages, call)

    store = await stored(SOUND, HELPS)
    await change_card(store, SOUND.id, lambda one: replace(one, retold=3))  # the first in turn
    model = ScriptedModel(breaking)
    clerk = Agent("Answer.", model=model, evaluator=ReferenceEvaluator(), name="clerk", memory=store)
    given = tasks()[left_out:]
    for task in given:  # some of which are solved neighbours then
        await clerk.run(task)
    attempt = agent_attempt(clerk)
    test = ReplayTest(MemoryCI(store), attempt, options=ReplayOptions(top_k=2, order=order))
    for _ in range(2):
        assert await status(store, HELPS) is MemoryStatus.QUARANTINED
        with pytest.raises(UnreachableModelError):
            await test.run(given, [SOUND.id, HELPS.id])
        down.clear()
    assert {one.gained for one in (await store.get([HELPS.id]))[0].evidence} - {0}
    assert await as_it_was(store, replace(SOUND, retold=3))


@pytest.mark.parametrize(("from_the_start", "blamed"), [(True, 0), (False, 1)])
async def test_only_what_the_model_went_down_with_is_remembered(blamed: int, *, from_the_start: bool) -> None:
    """Neither what is in use, nor what wasn't even shown."""
    line = Line()
    line.cut = from_the_start

    def breaking(messages: object, call: ScriptedCall) -> str:
        line.cut = line.cut or "SOUND" in call.system
        if line.cut:
            raise ConnectionError("cut")
        return obedient(messages, call)

    in_use = replace(HELPS, status=MemoryStatus.PROMOTED)
    store = await stored(SOUND, in_use)
    attempt = agent_attempt(Agent("Answer.", model=line.to(breaking), evaluator=ReferenceEvaluator(), name="clerk"))
    with pytest.raises(UnreachableModelError):
        await ReplayTest(MemoryCI(store), attempt, options=FEW).run(tasks(), [SOUND.id])
    log = ReplayLog(store, attempt.condition)
    assert [await log.outages(stay_of(one)) for one in (SOUND, in_use)] == [blamed, 0]


async def test_neither_do_workers_that_are_gone_say_anything_of_a_card() -> None:
    def queued(number: int, shown: bool) -> float:
        if shown:
            raise QueueError("an attempt wasn't made")
        return float(number % 2)

    store = await stored(SOUND)
    with pytest.raises(QueueError):
        await ReplayTest(MemoryCI(store), Scripted(queued), options=FEW).run(tasks())
    assert await as_it_was(store, SOUND)


async def test_an_outage_ends_replays_of_recorded_runs_as_an_error() -> None:
    store, line, said = await stored(IDLE), Line(), list[ReplayReport | Exception]()
    ci = MemoryCI(store)

    def agent(replays: BackgroundReplays | None = None) -> Agent:
        return Agent(
            "Answer.",
            model=line.to(obedient),
            architecture=ReAct(),
            memory=store,
            evaluator=ReferenceEvaluator(),
            name="clerk",
            replay=replays,
        )

    for task in tasks(40):
        await agent().run(task)
    await replay_recorded(agent(), ci, budget=MUCH)
    await store.add([SOUND])
    line.cut = True
    with pytest.raises(UnreachableModelError):
        await replay_recorded(agent(), ci, budget=MUCH)
    replays = BackgroundReplays(ci, told=said.append)
    replays.live_calls = 40
    replays.ran(agent(replays), (await store.runs(limit=1))[0])
    await replays.settled()
    assert isinstance(said[0], UnreachableModelError)
    kept = (await store.get([SOUND.id]))[0]
    assert (kept.status, kept.evidence, kept.history) == (MemoryStatus.QUARANTINED, (), ())
    line.cut = False
    report = await replay_recorded(agent(), ci, budget=MUCH)
    assert [one.counts.lost for one in report.cards if one.card_id == SOUND.id] == [0]
