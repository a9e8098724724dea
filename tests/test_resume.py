"""A run that is cut off anywhere goes on where it stopped: nothing is asked, done, learned or counted twice."""

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai import BinaryContent, ToolReturn
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import ModelRequestParameters
from resuming import (
    ARCHITECTURES,
    TASK,
    Cut,
    Ended,
    MortalStore,
    World,
    agent,
    answer,
    at_call,
    at_write,
    filled_store,
    is_cut_off,
    resumed,
    tools,
    uninterrupted,
)

from wisen.agent import Agent
from wisen.cards import MemoryCard
from wisen.errors import ConfigError, ModelError, RunMismatchError, StoreError
from wisen.events import Degraded, Event, RunCompleted, TextDelta
from wisen.memory_ci.pipeline import MemoryCI
from wisen.models.recorded import request_key
from wisen.models.scripted import Reply, ScriptedCall, ScriptedModel, ToolCall
from wisen.recall import CardFilter
from wisen.records import Budget, Clockwork, Task
from wisen.reflection_pattern.pattern import ReflectionPattern
from wisen.reflexion.loop import Reflexion
from wisen.session import Dependencies
from wisen.stores.in_process.store import InMemoryVectorStore
from wisen.stores.sqlite.store import SQLiteVectorStore

pytestmark = pytest.mark.anyio
RACING = ("supervisor of learners",)
"""Workers that learn side by side in one store: which of them is first, nothing decides, cut off or not."""


@pytest.mark.parametrize("name", ARCHITECTURES)
async def test_cut_off_at_each_model_call(name: str) -> None:
    build = ARCHITECTURES[name]
    whole = await uninterrupted(build)
    calls = whole.world.answered.total()
    assert calls == whole.result.usage.requests
    for number in range(calls):
        again, cuts = await resumed(build, [at_call(number)])
        assert cuts == 1
        assert again.world.answered.total() == again.result.usage.requests
        assert again.result.output == whole.result.output
        if name not in RACING:
            assert_same(again, whole)


def assert_same(one: Ended, other: Ended) -> None:
    assert one.result.record == other.result.record
    assert one.cards == other.cards
    assert one.block == other.block
    assert one.world.answered == other.world.answered
    assert one.world.done == other.world.done
    assert one.world.asked == other.world.asked
    assert one.calls_kept == other.calls_kept == 0


@pytest.mark.no_cover
@pytest.mark.parametrize("name", [name for name in ARCHITECTURES if name not in RACING])
async def test_cut_off_at_each_write(name: str) -> None:
    """What was under way may be done once more, and nothing else; what is counted is counted once or not at all."""
    build = ARCHITECTURES[name]
    whole = await uninterrupted(build)
    for number in itertools.count():
        again, cuts = await resumed(build, [at_write(number)])
        if not cuts:
            break
        assert_little_more(again, whole, cuts=1)


@pytest.mark.no_cover
@settings(max_examples=25)
@given(st.data(), st.sampled_from(("reflexion with tools", "reflexion over reflection", "the protocol")))
def test_cut_off_again_and_again(data: st.DataObject, name: str) -> None:
    places = data.draw(
        st.lists(st.one_of(st.integers(0, 6).map(at_call), st.integers(0, 30).map(at_write)), max_size=6)
    )

    async def run() -> None:
        whole = await uninterrupted(ARCHITECTURES[name])
        again, cuts = await resumed(ARCHITECTURES[name], places)
        assert_little_more(again, whole, cuts=cuts)

    asyncio.run(run())


def assert_little_more(one: Ended, other: Ended, *, cuts: int) -> None:
    assert one.result.output == other.result.output
    assert one.result.status == other.result.status
    assert [card.id for card in one.cards] == [card.id for card in other.cards]
    assert one.block == other.block
    for mine, theirs in zip(one.cards, other.cards, strict=True):
        assert mine.content == theirs.content
        assert mine.duplicates <= theirs.duplicates
        assert runs_of(mine) == runs_of(theirs)
        assert len(mine.open_draws) <= len(theirs.open_draws)
    # Two workers may be asking, and three tools working, when a process is cut off.
    assert other.world.answered.total() <= one.world.answered.total() <= other.world.answered.total() + 2 * cuts
    assert len(one.world.done) <= len(other.world.done) + 3 * cuts


async def test_a_run_that_has_ended_isnt_made_again() -> None:
    store, world = await filled_store(), World()
    build = ARCHITECTURES["reflexion"]
    first = await build(world, store).run(TASK, run_id="r1")
    asked = world.answered.total()
    seen: list[Event] = []
    later = agent(world, store, Reflexion(lesson_store=store), watch=seen.append)
    second = await later.run(TASK, run_id="r1")
    assert second.record == first.record
    assert second.run_id == "r1"
    assert world.answered.total() == asked
    assert [event.name for event in seen] == ["run.completed"]
    assert second.trace.run_mode == "replay"
    with pytest.raises(ConfigError, match="only its record is kept"):
        _ = second.reflection


async def test_another_task_under_the_same_id_is_refused() -> None:
    store, world = await filled_store(), World(live=1)
    build = ARCHITECTURES["reflexion"]
    with pytest.raises(Cut):
        await build(world, store).run(TASK, run_id="r1")
    world.live = None
    for other in (Task(prompt="Another."), replace(TASK, tenant="north"), replace(TASK, reference="43")):
        with pytest.raises(RunMismatchError, match="run 'r1' was begun with another task"):
            await build(world, store).run(other, run_id="r1")
    assert (await build(world, store).run(TASK, run_id="r1")).output == "42"
    with pytest.raises(RunMismatchError):
        await build(world, store).run("Another.", run_id="r1")


@pytest.mark.parametrize("run_id", ["", " ", "a\nb", "x" * 201])
async def test_ids_that_cannot_be_kept(run_id: str) -> None:
    with pytest.raises(ConfigError, match="run_id="):
        await ARCHITECTURES["react"](World(), MortalStore()).run(TASK, run_id=run_id)


async def test_nothing_that_keeps_steps() -> None:
    with pytest.raises(ConfigError, match="run_id='r1': nothing here keeps what a run does"):
        await Agent(model=ScriptedModel(["42"])).run(TASK, run_id="r1")


async def test_without_an_id_nothing_is_kept() -> None:
    store, world = MortalStore(), World(live=2)
    with pytest.raises(Cut):
        await ARCHITECTURES["reflexion"](world, store).run(TASK)
    assert (await store.facts()).calls == 0
    assert await store.runs() == []


async def test_what_is_unfinished_is_listed_and_what_failed_goes_on() -> None:
    store, said = MortalStore(), list[str]()

    def reply(_messages: list[ModelMessage], call: ScriptedCall) -> Reply:
        said.append(call.prompt)
        if len(said) == 1:
            raise Cut
        return ModelError("scripted", "is down") if len(said) == 2 else "42"

    def made() -> Agent:
        return Agent(model=ScriptedModel(reply), memory=store)

    with pytest.raises(Cut):
        await made().run(TASK, run_id="r1")
    (record,) = await store.runs()
    assert (record.run_id, record.status, record.attempts) == ("r1", "unfinished", ())
    with pytest.raises(ModelError):
        await made().run(TASK, run_id="r1")
    assert (await store.run("r1")).status == "failed"
    assert (await made().run(TASK, run_id="r1")).output == "42"
    assert (await store.run("r1")).status == "unevaluated"
    assert (await store.run("r1")).started_at == record.started_at


class Failing(InMemoryVectorStore):
    """A store whose calls can't be kept, or read, after so many."""

    def __init__(self, *, writes: int = 1_000, reads: int = 1_000) -> None:
        super().__init__()
        self.writes, self.reads = writes, reads

    async def keep_call(self, scope: str, key: str, ordinal: int, response: bytes) -> bytes:
        self.writes -= 1
        if self.writes < 0:
            raise StoreError("the disk is full")
        return await super().keep_call(scope, key, ordinal, response)

    async def call(self, scope: str, key: str, ordinal: int) -> bytes | None:
        self.reads -= 1
        if self.reads < 0:
            raise StoreError("the disk is gone")
        return await super().call(scope, key, ordinal)


@pytest.mark.parametrize("writes", range(1, 8))
async def test_a_log_that_fails_costs_no_answer(writes: int) -> None:
    store, seen = Failing(writes=writes), list[Event]()
    learner = Reflexion(lesson_store=MemoryCI(store), evaluator=lambda output: float(output == "42"))
    made = Agent(model=World().model(), architecture=learner, watch=seen.append)
    result = await made.run(TASK, run_id="r1")
    assert result.output == "42"
    said = [event for event in seen if isinstance(event, Degraded)]
    assert [(one.stage, one.error) for one in said] == [("record", "StoreError: the disk is full")]
    assert result.record.degradations == ("record: StoreError: the disk is full",)
    assert len(await store.list(CardFilter())) == 2


@pytest.mark.parametrize("reads", range(4))
async def test_what_was_done_and_cannot_be_read_isnt_done_again(reads: int) -> None:
    store, world = Failing(), World(live=1)

    def made() -> Agent:
        learner = Reflexion(lesson_store=MemoryCI(store), evaluator=lambda output: float(output == "42"))
        return Agent(model=world.model(), tools=tools(world), architecture=learner)

    with pytest.raises(Cut):
        await made().run(TASK, run_id="r1")
    done, world.live, store.reads = list(world.done), None, reads
    with pytest.raises(StoreError, match="the steps of run 'r1' can't be read"):
        await made().run(TASK, run_id="r1")
    assert (await store.run("r1")).status == "unfinished"
    store.reads = 1_000
    assert (await made().run(TASK, run_id="r1")).output == "42"
    assert world.done[: len(done)] == done
    assert set(world.answered.values()) == {1}


async def test_a_log_that_fails_at_the_beginning_is_an_error() -> None:
    """Nothing is done yet, and nobody knows what was done before."""
    world = World()
    with pytest.raises(StoreError):
        await Agent(model=world.model(), memory=Failing(writes=0)).run(TASK, run_id="r1")
    assert not world.answered


async def test_a_stream_is_told_again_and_goes_on() -> None:
    store, world = MortalStore(), World()
    world.live = 2
    build = ARCHITECTURES["reflexion in a block"]
    with pytest.raises(Cut):
        _ = [event async for event in build(world, store).stream(TASK, run_id="r1")]
    world.live = None
    events = [event async for event in build(world, store).stream(TASK, run_id="r1")]
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "4042"
    assert isinstance(events[-1], RunCompleted)
    assert world.answered.total() == 3


async def test_a_stream_that_is_left_early_isnt_kept() -> None:
    store, world = MortalStore(), World()
    build = ARCHITECTURES["react"]
    stream: AsyncIterator[Event] = build(world, store).stream(TASK, run_id="r1")
    async for event in stream:
        if isinstance(event, TextDelta):
            break
    await stream.aclose()  # type: ignore[attr-defined]
    assert (await build(world, store).run(TASK, run_id="r1")).output == "40"


async def test_two_processes_at_once_come_to_one_run() -> None:
    """Whoever is first says what counts: the other one goes on with that, and keeps no record of its own."""
    store, answers = await filled_store(), itertools.count()
    both = asyncio.Barrier(2)

    async def reply(_messages: list[ModelMessage], call: ScriptedCall) -> str:
        if "You write the lesson" in call.system:
            return f"Lesson {next(answers)}."
        await both.wait()
        return f"answer {next(answers)}"

    def made() -> Agent:
        learner = Reflexion(lesson_store=MemoryCI(store), evaluator=lambda _: 0.2, max_attempts=2)
        return Agent(model=ScriptedModel(reply), architecture=learner)

    one, other = await asyncio.gather(made().run(TASK, run_id="r1"), made().run(TASK, run_id="r1"))
    assert one.record == other.record
    lessons = [card for card in await store.list(CardFilter()) if card.provenance.run_id == "r1"]
    assert [card.duplicates for card in lessons] == [0, 0]
    for card in await store.list(CardFilter()):
        if card not in lessons:
            assert (runs_of(card), card.open_draws) == (1, ())


async def test_a_process_that_was_thought_dead_gives_way() -> None:
    """Another one has ended its run: what it is about to keep serves nobody, and it asks no more."""
    store, world, asked, go_on = await filled_store(), World(), asyncio.Event(), asyncio.Event()

    async def slow(messages: list[ModelMessage], call: ScriptedCall) -> Reply:
        asked.set()
        await go_on.wait()
        return answer(messages, call)

    stalled = agent(world, store, Reflexion(lesson_store=MemoryCI(store)))
    stalled.model = ScriptedModel(slow)
    waiting = asyncio.create_task(stalled.run(TASK, run_id="r1"))
    await asked.wait()
    ended = await agent(world, store, Reflexion(lesson_store=MemoryCI(store))).run(TASK, run_id="r1")
    go_on.set()
    assert (await waiting).record == ended.record
    assert len(stalled.model.calls) == 1
    assert (await store.facts()).calls == 0


async def test_steps_that_somebody_removed_are_an_error() -> None:
    store = await filled_store()

    async def reply(messages: list[ModelMessage], call: ScriptedCall) -> Reply:
        await store.drop_calls(["run:r1"])
        return answer(messages, call)

    with pytest.raises(StoreError, match="removed while it was under way"):
        await Agent(model=ScriptedModel(reply), memory=store).run(TASK, run_id="r1")


def runs_of(card: MemoryCard) -> int:
    """How many runs were counted on a card."""
    return sum(one.first + one.runs for one in card.trials)


async def test_an_outcome_is_counted_once_however_many_runs_came_between() -> None:
    store, world = await filled_store(), World(live=1)
    build = ARCHITECTURES["reflexion"]
    with pytest.raises(Cut):
        await build(world, store).run(TASK, run_id="r1")
    counted = [card for card in await store.list(CardFilter()) if card.trials]
    assert [(runs_of(card), card.open_draws) for card in counted] == [(1, ())] * 2
    world.live = None
    for number in range(3):
        await build(world, store).run(TASK, run_id=f"between {number}")
    between = await store.get([card.id for card in counted])
    await build(world, store).run(TASK, run_id="r1")
    assert [card.trials for card in await store.get([card.id for card in counted])] == [card.trials for card in between]


async def test_a_card_that_was_withdrawn_meanwhile_reaches_no_prompt() -> None:
    store, world = await filled_store(), World()
    ci = MemoryCI(store, trust="screened")
    world.live = 0

    def made() -> Agent:
        return agent(world, store, Reflexion(lesson_store=ci))

    with pytest.raises(Cut):
        await made().run(TASK, run_id="r1")
    cards = await store.list(CardFilter())
    await ci.reject(cards[0].id, "It is wrong.")
    await store.delete([cards[1].id])
    world.live, world.answered = None, Counter()
    result = await made().run(TASK, run_id="r1")
    assert result.output == "42"
    assert not [asked for asked in world.answered if "stage" in asked or "at the door" in asked]


async def test_replayed_calls_count_towards_the_budget() -> None:
    store, world = MortalStore(), World(live=1)
    build = ARCHITECTURES["reflexion"]
    with pytest.raises(Cut):
        await build(world, store).run(TASK, run_id="r1", budget=Budget(requests=2))
    world.live = None
    result = await build(world, store).run(TASK, run_id="r1", budget=Budget(requests=2))
    assert (result.status, result.usage.requests, world.answered.total()) == ("budget_exhausted", 2, 2)


async def test_draws_repeat_and_cannot_be_guessed() -> None:
    drawn: list[tuple[float, str]] = []

    async def draw(prompt: str, deps: Dependencies) -> str:
        drawn.append((deps.clockwork.random.random(), deps.clockwork.new_id()))
        if len(drawn) == 1:
            raise Cut
        return prompt

    store = MortalStore()
    with pytest.raises(Cut):
        await Agent(model=ScriptedModel([]), architecture=draw, memory=store).run(TASK, run_id="r1")
    await Agent(model=ScriptedModel([]), architecture=draw, memory=store).run(TASK, run_id="r1")
    await Agent(model=ScriptedModel([]), architecture=draw, memory=store).run(TASK, run_id="r2")
    await Agent(model=ScriptedModel([]), architecture=draw, memory=MortalStore()).run(TASK, run_id="r1")
    seeded = Clockwork.seeded(1)
    await Agent(model=ScriptedModel([]), architecture=draw, memory=MortalStore(), clockwork=seeded).run(
        TASK, run_id="r1"
    )
    seeded = Clockwork.seeded(1)
    await Agent(model=ScriptedModel([]), architecture=draw, memory=MortalStore(), clockwork=seeded).run(
        TASK, run_id="r1"
    )
    assert drawn[0] == drawn[1]
    assert drawn[4] == drawn[5]
    assert len(set(drawn)) == 4


async def test_tools_give_what_they_gave(tmp_path: Any) -> None:
    """Whatever they give: records, pictures, results with words beside them; what can't be kept is made again."""
    store, called, cut = SQLiteVectorStore(tmp_path / "s.db"), list[str](), [True]

    def shows(what: str) -> object:
        """Show something."""
        called.append(what)
        picture = BinaryContent(data=b"\x89PNG\x00", media_type="image/png")
        given: dict[str, object] = {
            "record": Budget(requests=3),
            "picture": picture,
            "beside": ToolReturn(return_value={"n": 1}, content=["Look:", picture], metadata={"page": 2}),
            "nothing": None,
        }
        return given[what]

    asked: list[list[ModelMessage]] = []

    def reply(messages: list[ModelMessage], _call: ScriptedCall) -> Reply:
        asked.append(messages)
        if len(messages) == 1:
            return [ToolCall("shows", what=what) for what in ("record", "picture", "beside", "nothing")]
        if cut[0]:
            raise Cut
        return "42"

    async with store:
        assert await is_cut_off(Agent(model=ScriptedModel(reply), memory=store, tools=[shows]))
        cut[0] = False
        result = await Agent(model=ScriptedModel(reply), memory=store, tools=[shows]).run(TASK, run_id="r1")
    assert result.output == "42"
    assert sorted(called) == ["beside", "nothing", "picture", "record"]
    first, second = (request_key("m", messages, None, ModelRequestParameters()) for messages in asked[1:])
    assert first == second
    beside = next(part for part in asked[2][-1].parts if getattr(part, "metadata", None))
    assert getattr(beside, "metadata", None) == {"page": 2}


async def test_tools_look_the_same_to_the_model() -> None:
    looks: list[object] = []
    for run_id in (None, "r1"):
        world = World()
        model = world.model()
        store = MortalStore()
        made = agent(world, store, None, with_tools=True)
        await made.run(TASK, model=model, run_id=run_id)
        looks.append(
            [
                [(tool.name, tool.description, tool.parameters_json_schema) for tool in call.parameters.function_tools]
                for call in model.calls
            ]
        )
    assert looks[0] == looks[1]


async def test_a_reflection_that_was_asked_for_is_asked_for_again() -> None:
    store, cut, world = MortalStore(), [True], World()
    pattern = ReflectionPattern(evaluator=lambda _: 1.0)

    def asks() -> str:
        """Ask for a reflection."""
        world.done.append("asked")
        pattern.request_reflection()
        return "done"

    prompts: list[str] = []

    def reply(messages: list[ModelMessage], call: ScriptedCall) -> Reply:
        prompts.append(call.system)
        if "asks" in call.tools and len(messages) == 1:
            return ToolCall("asks")
        if "asks" not in call.tools:
            return '{"on_track": false, "problems": ["slow"], "next_steps": ["hurry"]}'
        if cut[0]:
            raise Cut
        return "42"

    def made() -> Agent:
        return Agent(model=ScriptedModel(reply), architecture=pattern, memory=store, tools=[asks])

    with pytest.raises(Cut):
        await made().run(TASK, run_id="r1")
    cut[0] = False
    result = await made().run(TASK, run_id="r1")
    assert (result.output, world.done, result.usage.requests, len(prompts)) == ("42", ["asked"], 3, 4)


async def test_who_is_to_hear_of_an_escalation_hears_of_it() -> None:
    from wisen.reflexion.options import LearningOptions

    store, heard = MortalStore(), list[str]()
    options = LearningOptions(on_escalation=lambda escalated: heard.append(escalated.run_id))

    def made() -> Agent:
        learner = Reflexion(lesson_store=MemoryCI(store), evaluator=lambda _: 0.0, max_attempts=1, options=options)
        return Agent(model=World().model(), architecture=learner)

    cuts = 0
    for number in itertools.count():
        store.left = number
        try:
            await made().run(TASK, run_id=f"r{number}")
        except Cut:
            cuts += 1
            store.left = None
            assert (await made().run(TASK, run_id=f"r{number}")).status == "escalated"
        else:
            break
    counts = Counter(heard)
    assert set(counts) == {f"r{number}" for number in range(cuts + 1)}
    assert set(counts.values()) <= {1, 2}


async def test_a_lesson_that_may_be_written_already_is_counted_once_at_most() -> None:
    store = await filled_store()
    ci = MemoryCI(store)
    old = (await store.list(CardFilter()))[0]
    card = MemoryCard(
        kind=old.kind,
        content=f"{old.content} ",
        situation=old.situation,
        provenance=replace(old.provenance, run_id="r1"),
    )
    assert (await ci.submit(card)).outcome == "duplicate"
    assert (await ci.submit(card, again=True)).outcome == "duplicate"
    assert (await store.get([old.id]))[0].duplicates == 1
    new = replace(card, content="Something else entirely, said at length.", id="")
    assert (await ci.submit(new)).outcome == "added"
    assert (await ci.submit(new, again=True)).known
