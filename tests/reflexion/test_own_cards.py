"""Where a run's own cards say they come from, what its next attempt hears of them, and draws that can't be written."""

import pytest
from resuming import TASK, MortalStore, World, filled_store

from wisen import (
    Agent,
    CardFilter,
    Clockwork,
    InMemoryVectorStore,
    MemoryCard,
    MemoryCI,
    MemoryKind,
    ReflectionEvaluation,
    Reflexion,
    ScriptedModel,
    ToolCall,
    Trace,
    reflexion_protocol,
)
from wisen.errors import StoreError
from wisen.events import Degraded, Event, LessonsRecalled
from wisen.records import Task
from wisen.session import AgentSession

pytestmark = pytest.mark.anyio


class Says:
    """A reflector that says the same of every attempt."""

    def __init__(self, *cards: tuple[MemoryKind, str]) -> None:
        self.cards = cards

    async def reflect(
        self, task: Task, output: str, evaluation: ReflectionEvaluation, trace: Trace
    ) -> list[MemoryCard]:
        del task, evaluation, trace
        return [MemoryCard(kind=kind, content=f"{text} {output}") for kind, text in self.cards]


async def test_a_card_says_whose_it_is_and_who_judged_it() -> None:
    store = InMemoryVectorStore()
    learner = Reflexion(lesson_store=store, reflector=Says((MemoryKind.LESSON, "Not")), max_attempts=1)

    def is_forty_two(output: str) -> bool:
        return output == "42"

    agent = Agent(
        model=ScriptedModel(["41"]), architecture=learner, evaluator=is_forty_two, name="counter", owner="ada"
    )
    result = await agent.run(TASK.prompt)
    (card,) = await store.list(CardFilter())
    source = card.provenance
    assert (source.run_id, source.trace_id, source.attempt) == (result.run_id, result.run_id, 1)
    assert (source.created_by, source.model, source.evaluator) == ("reflexion", "scripted", "is_forty_two")
    assert (source.agent, source.owner, source.verified, source.tainted) == ("counter", "ada", True, False)


async def test_a_clean_card_that_is_shown_taints_nothing() -> None:
    store = await filled_store()
    learner = Reflexion(lesson_store=store, reflector=Says((MemoryKind.LESSON, "Not")), max_attempts=1)
    agent = Agent(
        model=ScriptedModel(["41"]), architecture=learner, evaluator=lambda _: False, clockwork=Clockwork.seeded(3)
    )
    result = await agent.run(TASK)
    assert any(one.shown for one in result.attempts[0].injections)
    (new,) = [card for card in await store.list(CardFilter()) if card.provenance.run_id == result.run_id]
    assert not new.provenance.tainted


async def test_the_next_attempt_hears_no_principle_that_a_report_of_its_attempt_holds() -> None:
    report, principle, lesson = MemoryKind.REFLECTION, MemoryKind.PRINCIPLE, MemoryKind.LESSON
    for cards, heard in (
        ([(principle, "Principle"), (report, "Report"), (lesson, "Lesson")], ["Report 41", "Lesson 41"]),
        ([(principle, "Principle"), (lesson, "Lesson")], ["Principle 41", "Lesson 41"]),
    ):
        model = ScriptedModel(["41", "42"])
        learner = Reflexion(lesson_store=InMemoryVectorStore(), reflector=Says(*cards))
        await Agent(model=model, architecture=learner, evaluator=lambda text: text == "42").run("Count.")
        said = [text for text in ("Principle 41", "Report 41", "Lesson 41") if text in model.calls[1].system]
        assert said == heard


async def test_the_next_attempt_hears_a_whole_report_without_empty_lines() -> None:
    world = World()
    model = world.model()
    agent = Agent(
        model=model, architecture=reflexion_protocol(InMemoryVectorStore(), retries=1), evaluator=lambda _: False
    )
    await agent.run(TASK)
    systems = [call.system for call in model.calls if "# Reflection: " in call.system]
    report = systems[0][systems[0].index("# Reflection: ") :].partition("\n\nAnswers to this very task")[0]
    assert "\n    ## What happened?\n    The task failed: " in report
    assert "\n\n" not in report


async def test_a_card_names_the_tools_that_its_own_attempt_called() -> None:
    def look() -> str:
        return "empty"

    store = InMemoryVectorStore()
    learner = Reflexion(lesson_store=store, reflector=Says((MemoryKind.LESSON, "Not")), max_attempts=2)
    model = ScriptedModel([ToolCall("look"), ToolCall("look"), "40", "41"])
    await Agent(model=model, architecture=learner, evaluator=lambda _: False, tools=[look]).run("Count.")
    tools = {card.content: card.situation.tools for card in await store.list(CardFilter())}
    assert tools == {"Not 40": ("look",), "Not 41": ()}


async def test_an_action_that_names_no_tool_is_of_none() -> None:
    async def work(prompt: str, session: AgentSession, advice: str) -> str:
        session.recorder.add("action", params=prompt + advice)
        session.recorder.add("action", name="look")
        return "40"

    store = InMemoryVectorStore()
    learner = Reflexion(base=work, lesson_store=store, reflector=Says((MemoryKind.LESSON, "Not")), max_attempts=1)
    await Agent(architecture=learner, model=ScriptedModel([]), evaluator=lambda _: False).run("Count.")
    assert [card.situation.tools for card in await store.list(CardFilter())] == [("look",)]


async def test_what_a_run_learns_again_is_told_once_as_it_was_worded_last() -> None:
    model = ScriptedModel(["A", "a", "42"])
    learner = Reflexion(lesson_store=InMemoryVectorStore(), reflector=Says((MemoryKind.LESSON, "The answer isn't")))
    await Agent(model=model, architecture=learner, evaluator=lambda text: text == "42").run("Count.")
    said = [[one for one in ("isn't A ", "isn't a ") if one in call.system] for call in model.calls]
    assert said == [[], ["isn't A "], ["isn't a "]]


class Unwritable(MortalStore):
    """A store whose cards can't be changed."""

    async def update(self, card: MemoryCard) -> None:
        raise StoreError(f"{card.kind.value}s stay as they are")


async def test_a_run_whose_draws_can_not_be_written_goes_on_and_counts_for_nothing() -> None:
    store, events = Unwritable(), list[Event]()
    await store.add(await (await filled_store()).list(CardFilter()))
    learner = Reflexion(lesson_store=MemoryCI(store), max_attempts=1)
    agent = Agent(
        model=ScriptedModel(["42"]),
        architecture=learner,
        evaluator=lambda _: 1.0,
        clockwork=Clockwork.seeded(3),
        watch=events.append,
    )
    result = await agent.run(TASK)
    told = [(one.stage, one.error, one.skipped, one.attempt) for one in events if isinstance(one, Degraded)]
    skipped = "counting this run on the ideas that it tries"
    assert told == [("trial", "StoreError: lessons stay as they are", skipped, 1)]
    (recalled,) = [one for one in events if isinstance(one, LessonsRecalled)]
    assert recalled.injections == result.attempts[0].injections
    assert [one.draw for one in recalled.injections] == ["", ""]
