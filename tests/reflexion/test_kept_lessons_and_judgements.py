"""A run that is cut off around a judgement or a lesson, and resumed."""

from collections.abc import Sequence

import pytest
from resuming import TASK, Cut, is_cut_off

from wisen import (
    Agent,
    CardFilter,
    InMemoryVectorStore,
    MemoryCard,
    MemoryKind,
    ReflectionEvaluation,
    Reflexion,
    ScriptedModel,
    Task,
    Trace,
)
from wisen.errors import StoreError
from wisen.events import Event, LessonPersisted
from wisen.models.scripted import ScriptedCall
from wisen.recall import Written

pytestmark = pytest.mark.anyio


def reply_of(_: object, call: ScriptedCall) -> str:
    return "42" if "Look again" in call.system else "41"


class Reflecting:
    """A reflector whose process may end in it."""

    def __init__(self, *, dies: bool) -> None:
        self.dies, self.reflected = dies, 0

    async def reflect(
        self, task: Task, output: str, evaluation: ReflectionEvaluation, trace: Trace
    ) -> list[MemoryCard]:
        del task, output, trace
        self.reflected += 1
        if self.dies:
            raise Cut
        return [MemoryCard(kind=MemoryKind.LESSON, content=f"Look again: {evaluation.issues[0]}.")]


class Process:
    """A run of two attempts in a store that may be cut off: while it reflects, or once a lesson is written."""

    def __init__(self, store: "Store", *, dies: str = "") -> None:
        self.store, self.dies = store, dies
        self.events, self.asked = list[Event](), list[tuple[Task, str, str]]()
        self.name, self.reflector = "judge", Reflecting(dies=dies == "reflecting")
        self.agent = Agent(
            model=ScriptedModel(reply_of),
            architecture=Reflexion(lesson_store=store, reflector=self.reflector, max_attempts=2),
            evaluator=self,
            watch=self.events.append,
        )

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:
        self.asked.append((task, output, trace.events[0].kind))
        return ReflectionEvaluation(overall_score=float(output == "42"), issues=("one is missing",), verifiable=True)

    async def cut_off(self) -> bool:
        self.store.dies = self.dies
        cut = await is_cut_off(self.agent)
        self.store.dies = ""
        return cut


class Store(InMemoryVectorStore):
    """A store whose process may end once a card is written, or that may take none."""

    dies = ""

    async def add_unscreened(self, cards: Sequence[MemoryCard]) -> list[Written]:
        if self.dies == "full":
            self.dies = "asked"
            raise StoreError("the disk is full")
        written = await super().add_unscreened(cards)
        if self.dies == "written":
            raise Cut
        return written


async def lessons(store: Store) -> list[tuple[str, int]]:
    cards = await store.list(CardFilter())
    return [(one.content, one.duplicates) for one in cards if one.kind is MemoryKind.LESSON]


async def test_a_kept_judgement_is_the_same_and_nobody_is_asked_again() -> None:
    store = Store()
    first, again = Process(store, dies="reflecting"), Process(store)
    assert await first.cut_off()
    result = await again.agent.run(TASK, run_id="r1")
    assert first.asked == [(TASK, "41", "model_call")]
    assert [output for _, output, _ in again.asked] == ["42"]
    evaluation = result.attempts[0].evaluation
    assert evaluation == ReflectionEvaluation(
        overall_score=0.0, issues=("one is missing",), verifiable=True, evaluator="judge"
    )
    assert result.output == "42"


async def test_a_lesson_that_was_written_before_the_process_ended_is_counted_once() -> None:
    store = Store()
    assert await Process(store, dies="written").cut_off()
    again = Process(store)
    result = await again.agent.run(TASK, run_id="r1")
    assert again.reflector.reflected == 0
    assert await lessons(store) == [("Look again: one is missing.", 0)]
    (told,) = [one for one in again.events if isinstance(one, LessonPersisted) and one.kind == "lesson"]
    assert result.attempts[0].lesson_ids == (told.card_id,)
    assert result.output == "42"


async def test_a_lesson_that_could_not_be_written_is_written_by_the_resumed_run() -> None:
    store = Store()
    first = Process(store, dies="full")

    def reply(_: object, call: ScriptedCall) -> str:
        if "Look again" in call.system:
            raise Cut
        return "41"

    first.agent.model = ScriptedModel(reply)
    assert await first.cut_off()
    assert await lessons(store) == []
    await Process(store).agent.run(TASK, run_id="r1")
    assert await lessons(store) == [("Look again: one is missing.", 0)]
