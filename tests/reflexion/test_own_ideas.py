"""A prompt shows an idea in one wording, and marks what contradicts what the run is told anyway."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from trying import HARBOUR, NOON, PROMPT, Meaning, lesson

from wisen import (
    Agent,
    AsyncMemory,
    CardFilter,
    Clockwork,
    InMemoryVectorStore,
    MemoryCard,
    MemoryCI,
    MemoryKind,
    ReflectionEvaluation,
    Reflexion,
    ScriptedModel,
    Situation,
    Task,
    Trace,
)
from wisen.memory_ci.trial import TrialRule

pytestmark = pytest.mark.anyio

BILLS = "Bills: hand each of them over to the Harbour team."
FORWARD = "Forward any bill you get to the people at Harbour."
MAPLE = "Invoices go to Maple."
MARK = "Another note here says otherwise."


def of_tool(text: str) -> MemoryCard:
    return replace(lesson(text), situation=Situation(prompt=PROMPT, tools=("post",)))


class Says:
    """A reflector that says the same of every attempt."""

    def __init__(self, text: str, kind: MemoryKind = MemoryKind.LESSON) -> None:
        self.card = MemoryCard(kind=kind, content=text)

    async def reflect(
        self, task: Task, output: str, evaluation: ReflectionEvaluation, trace: Trace
    ) -> list[MemoryCard]:
        del task, output, evaluation, trace
        return [self.card]


async def keeping(*cards: MemoryCard) -> MemoryCI:
    """A store with these cards in use, in which every run is shown them."""
    store = InMemoryVectorStore(embedder=Meaning(("invoice", "bill"), ("parcel",)))
    ci = MemoryCI(store, trial=TrialRule(recheck=0.0))
    for card in cards:
        kept = (await ci.submit(card)).card_id
        await ci.promote(kept, "it is right")
    return ci


async def prompts(ci: MemoryCI, text: str, kind: MemoryKind = MemoryKind.LESSON) -> Sequence[str]:
    """What a run's two attempts are told, of which the first teaches this text."""
    model = ScriptedModel(["40", "41"])
    learner = Reflexion(lesson_store=ci, max_attempts=2, reflector=Says(text, kind))
    clockwork = Clockwork.seeded(1)
    agent = Agent(model=model, architecture=learner, evaluator=lambda _: False, clockwork=clockwork, name="agent")
    await agent.run(PROMPT)
    return [call.system for call in model.calls]


async def test_a_runs_own_wording_of_an_idea_takes_the_place_of_the_stored_one() -> None:
    ci = await keeping(lesson(HARBOUR), lesson("Invoices have a date."))
    first, second = await prompts(ci, BILLS)
    (own,) = [card for card in await ci.store.list(CardFilter()) if card.content == BILLS]
    assert own.idea
    assert [text in first for text in (HARBOUR, BILLS, "have a date")] == [True, False, True]
    assert [text in second for text in (HARBOUR, BILLS, "have a date")] == [False, True, True]


async def test_a_stored_rival_does_not_bring_the_idea_back_in_other_words() -> None:
    newer = lesson(HARBOUR, verified=True, created_at=NOON + timedelta(days=1))
    ci = await keeping(lesson(MAPLE, verified=True, created_at=NOON), newer)
    first, second = await prompts(ci, BILLS)
    assert [text in first for text in (HARBOUR, MAPLE)] == [True, False]
    assert [text in second for text in (HARBOUR, MAPLE, BILLS)] == [False, False, True]


async def test_what_contradicts_the_runs_own_lesson_is_marked() -> None:
    ci = await keeping(lesson(HARBOUR), lesson("Invoices have a date."))
    first, second = await prompts(ci, MAPLE)
    assert MARK not in first
    assert MAPLE in second
    assert second.count(MARK) == 1
    assert MARK in second.partition(HARBOUR)[2].partition("- lesson")[0]


async def test_a_standing_rule_is_not_said_again_in_the_runs_own_words_and_marked_where_those_contradict_it() -> None:
    rule = replace(lesson(HARBOUR), kind=MemoryKind.PRINCIPLE)
    for text, shown, marks in ((BILLS, False, 0), (MAPLE, True, 1)):
        first, second = await prompts(await keeping(rule), text, MemoryKind.PRINCIPLE)
        assert "Standing rules" in first
        assert (HARBOUR in second, text in second, second.count(MARK)) == (shown, True, marks)


async def test_what_the_run_around_is_shown_is_not_said_again_in_other_words() -> None:
    first, second = lesson(HARBOUR, "Route the ticket of today."), lesson(BILLS)
    outer, inner = await keeping(first), await keeping(first)
    wording = await inner.submit(second)
    assert wording.idea != wording.card_id
    (told,) = {call.system for call in (await _nested(outer, inner)).calls}
    assert [text in told for text in (HARBOUR, BILLS)] == [True, False]
    (alone,) = {call.system for call in (await _nested(await keeping(), inner)).calls}
    assert [text in alone for text in (HARBOUR, BILLS)] == [False, True]


async def _nested(outer: MemoryCI, inner: MemoryCI) -> ScriptedModel:
    """The model of a run within a run."""
    model = ScriptedModel(["40"])
    within = Reflexion(lesson_store=inner, max_attempts=1)
    learner = Reflexion(base=within, lesson_store=outer, max_attempts=1)
    await Agent(model=model, architecture=learner, evaluator=lambda _: True).run(PROMPT)
    return model


async def test_what_a_tools_error_brings_is_marked_where_it_contradicts_what_was_shown_before() -> None:
    ci = await keeping(lesson(HARBOUR))
    memory = AsyncMemory(ci)
    attempt = await memory.begin(PROMPT, tools=["post"])
    new = (await ci.submit(of_tool(MAPLE))).card_id
    await ci.promote(new, "so it is now")
    again = (await ci.submit(of_tool(FORWARD))).card_id
    assert (await ci.store.get([again]))[0].idea
    told = await memory.on_error(attempt, tool="post", error="no such team")
    assert [text in told for text in (MAPLE, FORWARD, MARK)] == [True, False, True]
