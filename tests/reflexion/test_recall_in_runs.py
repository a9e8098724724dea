"""What a run asks of memory, what it says where memory can't answer, and what a run beside it has drawn."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from pydantic_ai.toolsets import FunctionToolset
from resuming import LESSON, TASK, Cut, MortalStore, World, filled_store

from wisen import (
    Agent,
    Budget,
    CardFilter,
    Clockwork,
    InMemoryVectorStore,
    LearningOptions,
    MemoryCard,
    MemoryCI,
    MemoryKind,
    PromptCompiler,
    RecallHit,
    RecallQuery,
    ReflectionEvaluation,
    Reflexion,
    ScriptedModel,
    Situation,
    Task,
    Trace,
)
from wisen.cards import MemoryScope, Provenance
from wisen.errors import StoreError
from wisen.events import Degraded, Event
from wisen.memory_ci.trial import TrialRule
from wisen.protocols import Reflector
from wisen.records import Advice

pytestmark = pytest.mark.anyio


def degraded(events: Sequence[Event], stage: str) -> list[tuple[str, str, int]]:
    return [(one.error, one.skipped, one.attempt) for one in events if isinstance(one, Degraded) and one.stage == stage]


class Forgetful(MortalStore):
    """A store that can't give its cards any more, at once or ever."""

    fails = hangs = False

    async def answers(self) -> None:
        if self.hangs:
            await asyncio.Event().wait()
        if self.fails:
            raise StoreError("gone")

    async def get(self, card_ids: Sequence[str]) -> list[MemoryCard]:
        await self.answers()
        return await super().get(card_ids)

    async def search(self, query: RecallQuery) -> list[RecallHit]:
        await self.answers()
        return await super().search(query)


@pytest.mark.parametrize("hangs", [False, True])
async def test_a_resumed_run_that_can_not_ask_for_its_cards_shows_them_and_says_so(hangs: bool) -> None:
    store, events, world = Forgetful(), list[Event](), World(live=0)
    await store.add(await (await filled_store()).list(CardFilter()))

    def made() -> Agent:
        learner = Reflexion(lesson_store=MemoryCI(store, trust="screened"), max_attempts=1)
        budget = Budget(step_seconds=0.5) if hangs else None
        return Agent(
            model=world.model(),
            architecture=learner,
            evaluator=lambda _: 1.0,
            watch=events.append,
            budget=budget,
            clockwork=Clockwork.seeded(3),
        )

    with pytest.raises(Cut):
        await made().run(TASK, run_id="r1")
    events.clear()
    world.live, store.fails, store.hangs = None, not hangs, hangs
    result = await made().run(TASK, run_id="r1")
    ((error, skipped, attempt),) = degraded(events, "recall")
    assert error.startswith("PartTimeoutError: store Forgetful " if hangs else "StoreError: gone")
    assert (skipped, attempt) == ("asking whether the cards are still there", 1)
    assert sum(one.shown for one in result.attempts[0].injections) > 0
    assert any("at the door" in asked for asked in world.answered)


async def test_a_resumed_run_that_was_shown_nothing_asks_for_no_cards() -> None:
    store, events, world = Forgetful(), list[Event](), World(live=0)

    def made() -> Agent:
        learner = Reflexion(lesson_store=store, max_attempts=1)
        return Agent(model=world.model(), architecture=learner, evaluator=lambda _: 0.0, watch=events.append)

    with pytest.raises(Cut):
        await made().run(TASK, run_id="r1")
    world.live, store.fails = None, True
    await made().run(TASK, run_id="r1")
    assert degraded(events, "recall") == []


def stored(content: str, prompt: str = TASK.prompt, **scope: Any) -> MemoryCard:
    return MemoryCard(
        kind=MemoryKind.LESSON,
        content=content,
        situation=Situation(prompt=prompt),
        scope=MemoryScope(**scope),
        provenance=Provenance(run_id="earlier", agent="agent"),
    )


class Racing(InMemoryVectorStore):
    """A store in which the first process to keep its advice waits until another one has, which finds nothing."""

    def __init__(self, *, fails: bool = False, waits_at: bytes = b'"injections":[{') -> None:
        super().__init__()
        self.fails, self.late, self.waits_at = fails, False, waits_at
        self.drawn, self.go_on = asyncio.Event(), asyncio.Event()

    async def keep_call_while(self, scope: str, key: str, ordinal: int, response: bytes, *, head: str) -> bytes | None:
        if self.waits_at in response and not self.drawn.is_set():
            self.drawn.set()
            await self.go_on.wait()
            self.late = True
        return await super().keep_call_while(scope, key, ordinal, response, head=head)

    async def search(self, query: RecallQuery) -> list[RecallHit]:
        return [] if self.drawn.is_set() else await super().search(query)

    async def get(self, card_ids: Sequence[str]) -> list[MemoryCard]:
        if self.late and self.fails:
            self.late = False
            raise StoreError("gone")
        return await super().get(card_ids)


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("ended", [False, True])
async def test_what_only_the_later_of_two_processes_has_drawn_is_taken_back(ended: bool, fails: bool) -> None:
    store, events = Racing(fails=fails), list[Event]()
    ci = MemoryCI(store, trial=TrialRule(first_shown=100))
    tried = await ci.submit(stored("Look under the stage."))
    asked, finish = asyncio.Event(), asyncio.Event()

    async def reply(*_: object) -> str:
        asked.set()
        await finish.wait()
        return "42"

    def made(watch: Callable[[Event], None] | None = None) -> Agent:
        learner = Reflexion(lesson_store=ci, max_attempts=1)
        return Agent(model=ScriptedModel(reply), architecture=learner, evaluator=lambda _: 1.0, watch=watch)

    late = asyncio.create_task(made(events.append).run(TASK, run_id="r1"))
    await store.drawn.wait()
    (draw,) = (await store.get([tried.card_id]))[0].open_draws
    assert draw.run_id == "r1"
    first = asyncio.create_task(made().run(TASK, run_id="r1"))
    await asked.wait()
    if ended:
        finish.set()
        await first
    store.go_on.set()
    finish.set()
    await asyncio.gather(first, late)
    (card,) = await store.get([tried.card_id])
    assert (len(card.open_draws), card.trials[0].first) == (fails, 0)
    told = [("StoreError: gone", "taking back what another process has drawn, too", 1)]
    assert degraded(events, "trial") == (told if fails else [])


async def test_in_block_mode_a_process_that_comes_too_late_takes_nothing_back_and_says_nothing() -> None:
    store, events = Racing(waits_at=b'"injections":[]'), list[Event]()

    def made() -> Agent:
        model = ScriptedModel(["42"])
        return Agent(
            model=model,
            architecture=Reflexion(max_attempts=1),
            memory=store,
            evaluator=lambda _: 1.0,
            watch=events.append,
        )

    late = asyncio.create_task(made().run(TASK, run_id="r1"))
    await store.drawn.wait()
    first = await made().run(TASK, run_id="r1")
    store.go_on.set()
    assert (await late).record == first.record
    assert [one for one in events if isinstance(one, Degraded)] == []


class NotingCompiler(PromptCompiler):
    """A compiler that notes whom it compiles for, or never ends."""

    asked: list[tuple[object, object]]

    async def compile_for(self, model: Any, recalled: Any, **given: Any) -> Advice:
        NOTED.append((model, given["most"]))
        if given["most"] == 1:
            await asyncio.Event().wait()
        return await super().compile_for(model, recalled, **given)


NOTED: list[tuple[object, object]] = []


async def test_the_compiler_is_told_the_model_and_the_most_cards_and_named_where_it_takes_too_long() -> None:
    for most in (4, 1):
        NOTED.clear()
        events = list[Event]()
        learner = Reflexion(options=LearningOptions(compiler=NotingCompiler()), top_k_lessons=most)
        budget = Budget(step_seconds=0.5)
        model = ScriptedModel(["42"])
        agent = Agent(model=model, architecture=learner, evaluator=lambda _: 1.0, budget=budget, watch=events.append)
        await agent.run("Count.")
        ((given, shown),) = NOTED
        assert getattr(given, "model_name", "") == model.model_name
        assert shown == most
        assert [one[0].partition(" didn't")[0] for one in degraded(events, "screen")] == (
            ["PartTimeoutError: the prompt compiler"] if most == 1 else []
        )


async def test_a_tenants_block_is_shown_to_its_next_run() -> None:
    model = ScriptedModel(["41", "Count from zero.", "42"])
    agent = Agent(model=model, architecture=Reflexion(max_attempts=1), evaluator=lambda text: text == "42", tenant="a")
    for _ in range(2):
        await agent.run("Count.")
    assert ["from zero" in model.calls[number].system for number in (0, 2)] == [False, True]


def ledger() -> str:
    """Read the ledger."""
    return "empty"


async def elsewhere(prompt: str, advice: str) -> str:
    """Somebody's own loop."""
    return f"{prompt} {advice}"


@pytest.mark.parametrize(
    ("base", "tools", "shown"),
    [
        (None, [ledger], True),
        (None, [], False),
        (None, [FunctionToolset([ledger])], True),
        (elsewhere, [], True),
    ],
    ids=["a tool", "no tool", "a server's tools", "nobody knows"],
)
async def test_a_card_of_a_tool_is_shown_where_the_run_can_call_it(base: Any, tools: Any, shown: bool) -> None:
    store = InMemoryVectorStore()
    ci = MemoryCI(store, trust="screened")
    await ci.submit(stored("Sum the ledger first.", tool_names=("ledger",)))
    learner = Reflexion(base=base, lesson_store=ci, max_attempts=1)
    agent = Agent(model=ScriptedModel(["42"]), architecture=learner, tools=tools, evaluator=lambda _: 1.0)
    result = await agent.run(TASK.prompt)
    assert bool(result.attempts[0].injections) is shown


async def test_from_the_second_attempt_on_the_tools_that_were_offered_decide() -> None:
    store = InMemoryVectorStore()
    ci = MemoryCI(store, trust="screened")
    for name in ("ledger", "till"):
        await ci.submit(stored(f"Sum the {name} at the very beginning.", tool_names=(name,)))
    learner = Reflexion(lesson_store=ci, max_attempts=2)
    model = ScriptedModel(["40", "Think.", "42"])
    agent = Agent(
        model=model,
        architecture=learner,
        tools=[FunctionToolset([ledger])],
        evaluator=lambda text: text == "42",
        clockwork=Clockwork.seeded(1),
    )
    await agent.run(TASK.prompt)
    assert "Sum the till" in model.calls[0].system
    assert "Sum the till" not in model.calls[2].system
    assert "Sum the ledger" in model.calls[2].system


@pytest.mark.parametrize("seed", range(6))
async def test_what_the_first_attempt_drew_holds_for_the_whole_run(seed: int) -> None:
    store = InMemoryVectorStore()
    ci = MemoryCI(store, trial=TrialRule(holdout=0.5, first_shown=0))
    await ci.submit(stored("Look under the stage."))
    model = ScriptedModel(["40", "Think.", "41", "Think twice.", "42"])
    agent = Agent(
        model=model,
        architecture=Reflexion(lesson_store=ci),
        evaluator=lambda text: text == "42",
        clockwork=Clockwork.seeded(seed),
    )
    result = await agent.run(TASK.prompt)
    draws = [
        [(one.shown, one.propensity, one.draw) for one in attempt.injections if "earlier" not in one.reasons][:1]
        for attempt in result.attempts
    ]
    assert len(draws) == 3
    shown = ["under the stage" in model.calls[number].system for number in (0, 2, 4)]
    assert len(set(shown)) == 1
    assert draws[0] == draws[1] == draws[2]


def tells_nobody(error: Exception, skipped: str) -> None:
    del error, skipped


class Reporting:
    """A reflector that reports, and goes on with less."""

    def __init__(self) -> None:
        self.tell: Callable[[Exception, str], None] = tells_nobody

    def telling(self, tell: Callable[[Exception, str], None]) -> Reflector:
        self.tell = tell
        return self

    async def reflect(
        self, task: Task, output: str, evaluation: ReflectionEvaluation, trace: Trace
    ) -> list[MemoryCard]:
        del task, output, evaluation, trace
        self.tell(StoreError("no model"), "the causes")
        return [MemoryCard(kind=MemoryKind.LESSON, content=LESSON)]

    async def on_success(
        self, task: Task, output: str, evaluation: ReflectionEvaluation, trace: Trace
    ) -> list[MemoryCard]:
        del task, output, trace
        return [MemoryCard(kind=MemoryKind.LESSON, content=f"It worked, says {evaluation.evaluator}.")]

    def plain(self, task: Task, evaluation: ReflectionEvaluation, trace: Trace) -> list[MemoryCard]:
        del task, evaluation, trace
        return []


class ReportingOnce(Reporting):
    """A reflector that reports, and whose part in a run doesn't."""

    def telling(self, tell: Callable[[Exception, str], None]) -> Reflector:
        del tell
        return Plain()


class Plain:
    """A reflector that has nothing to say."""

    async def reflect(
        self, task: Task, output: str, evaluation: ReflectionEvaluation, trace: Trace
    ) -> list[MemoryCard]:
        del task, output, evaluation, trace
        return []


async def test_a_reflector_that_does_not_report_in_a_run_is_not_asked_of_good_answers() -> None:
    agent = Agent(
        model=ScriptedModel(["41", "42"]),
        architecture=Reflexion(lesson_store=InMemoryVectorStore(), reflector=ReportingOnce()),
        evaluator=lambda text: text == "42",
    )
    assert (await agent.run("Count.")).status == "satisfied"


async def test_a_reflector_that_reports_says_what_it_leaves_out_and_is_asked_of_good_answers_too() -> None:
    events, store = list[Event](), InMemoryVectorStore()
    learner = Reflexion(lesson_store=store, reflector=Reporting())
    agent = Agent(
        model=ScriptedModel(["40", "41", "42"]),
        architecture=learner,
        evaluator=lambda text: text == "42",
        watch=events.append,
    )
    await agent.run("Count.")
    assert degraded(events, "reflect") == [("StoreError: no model", "the causes", one) for one in (1, 2)]
    assert "It worked, says <lambda>." in {card.content for card in await store.list(CardFilter())}
