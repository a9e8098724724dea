"""A run that is cut off around a judgement or a lesson, and resumed."""

import asyncio
from collections.abc import Sequence

import pytest
from resuming import TASK, Cut, is_cut_off

from wisen import (
    Agent,
    CardFilter,
    InMemoryVectorStore,
    LearningOptions,
    MemoryCard,
    MemoryKind,
    PromptCompiler,
    ReflectionEvaluation,
    Reflexion,
    ScriptedModel,
    Task,
    Trace,
)
from wisen.errors import StoreError
from wisen.events import Evaluated, Event, LessonPersisted, LessonProduced
from wisen.models.scripted import ScriptedCall
from wisen.recall import Written
from wisen.records import Advice, Blocked, RunRecord

pytestmark = pytest.mark.anyio


def reply_of(_: object, call: ScriptedCall) -> str:
    return "42" if "Look again" in call.system else "41"


class Reflecting:
    """A reflector whose process may end in it."""

    def __init__(self, *lessons: str, dies: bool) -> None:
        self.lessons, self.dies, self.reflected = lessons, dies, 0

    async def reflect(
        self, task: Task, output: str, evaluation: ReflectionEvaluation, trace: Trace
    ) -> list[MemoryCard]:
        del task, output, trace
        self.reflected += 1
        if self.dies:
            raise Cut
        said = self.lessons or (f"Look again: {evaluation.issues[0]}.",)
        return [MemoryCard(kind=MemoryKind.LESSON, content=one) for one in said]


class Process:
    """A run of two attempts in a store that may be cut off: while it reflects, once a lesson is written, or kept."""

    def __init__(self, store: "Store", *lessons: str, dies: str = "", attempts: int = 2) -> None:
        self.store, self.dies = store, dies
        self.events, self.asked = list[Event](), list[tuple[Task, str, str]]()
        self.name, self.reflector = "judge", Reflecting(*lessons, dies=dies == "reflecting")
        self.agent = Agent(
            model=ScriptedModel(reply_of),
            architecture=Reflexion(lesson_store=store, reflector=self.reflector, max_attempts=attempts),
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
    """A store whose process may end once a card is written or its lesson kept, or that may take none."""

    dies = ""

    async def add_unscreened(self, cards: Sequence[MemoryCard]) -> list[Written]:
        if self.dies == "full":
            self.dies = "asked"
            raise StoreError("the disk is full")
        written = await super().add_unscreened(cards)
        if self.dies == "written":
            raise Cut
        self.dies = "keeping" if self.dies == "kept" else self.dies
        return written

    async def keep_call_while(self, scope: str, key: str, ordinal: int, response: bytes, *, head: str) -> bytes | None:
        if self.dies == "now":
            raise Cut
        self.dies = "now" if self.dies == "keeping" else self.dies
        return await super().keep_call_while(scope, key, ordinal, response, head=head)

    async def save_run(self, record: RunRecord) -> None:
        if self.dies == "recording" and record.status != "unfinished":
            raise Cut
        await super().save_run(record)


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


LESSONS = ("Begin at the door.", "Read the list backwards.")


@pytest.mark.parametrize("dies", ["written", "kept", ""])
async def test_lessons_that_earlier_runs_taught_are_counted_once_by_a_run_however_often_it_is_resumed(
    dies: str,
) -> None:
    store = Store()
    for run_id in ("earlier", "r1"):
        first = Process(store, *LESSONS, dies=dies if run_id == "r1" else "", attempts=1)
        assert not first.dies or await first.cut_off()
        await Process(store, *LESSONS, attempts=1).agent.run(TASK, run_id=run_id)
    assert sorted(await lessons(store)) == [(one, 1) for one in LESSONS]


async def test_without_a_log_of_steps_lessons_that_were_taught_before_are_counted() -> None:
    store = Store()
    for _ in range(3):
        await Process(store, *LESSONS[:1], attempts=1).agent.run(TASK)
    assert await lessons(store) == [(LESSONS[0], 2)]


async def test_a_judgement_is_of_the_answer_that_it_is_kept_with() -> None:
    """A changed program answers otherwise."""
    store = Store()
    assert await Process(store, dies="reflecting").cut_off()
    changed = Process(store)
    changed.agent.instructions, changed.agent.model = "Count twice.", ScriptedModel(["42"])
    assert (await changed.agent.run(TASK, run_id="r1")).status == "satisfied"
    assert [output for _, output, _ in changed.asked] == ["42"]


class Odd:
    """A reflector whose first lesson in a process can't be kept as a step, and whose process may end in its third."""

    def __init__(self, *, dies: bool) -> None:
        self.dies, self.reflected = dies, 0

    async def reflect(
        self, task: Task, output: str, evaluation: ReflectionEvaluation, trace: Trace
    ) -> list[MemoryCard]:
        del task, output, evaluation, trace
        self.reflected += 1
        if self.reflected == 3 and self.dies:
            raise Cut
        said = "Half of a character: \ud83d" if self.reflected == 1 else f"Lesson {self.reflected}"
        return [MemoryCard(kind=MemoryKind.LESSON, content=said)]


async def test_what_could_not_be_kept_of_one_attempt_is_not_taken_from_another() -> None:
    store = Store()

    def made(*, dies: bool) -> Agent:
        learner = Reflexion(lesson_store=store, reflector=Odd(dies=dies), max_attempts=3)
        return Agent(model=ScriptedModel(["41"] * 3), architecture=learner, evaluator=lambda _: 0.0)

    assert await is_cut_off(made(dies=True))
    result = await made(dies=False).run(TASK, run_id="r1")
    taught = [(await store.get(attempt.lesson_ids))[0].content for attempt in result.attempts]
    assert taught == ["Half of a character: \ufffd", "Lesson 2", "Lesson 2"]


class OddOnce(PromptCompiler):
    """A compiler whose first advice in a process can't be kept as a step."""

    async def compile_for(self, *_: object, **__: object) -> Advice:
        COMPILED.append(len(COMPILED))
        odd = Blocked(card_id="c", rules=("half: \ud83d",)) if len(COMPILED) == 1 else None
        return Advice(section=f"Advice {len(COMPILED)}.", blocked=() if odd is None else (odd,))


COMPILED: list[int] = []


async def test_nor_is_advice_that_could_not_be_kept() -> None:
    store, left = InMemoryVectorStore(), [2]

    def reply(*_: object) -> str:
        if not left[0]:
            raise Cut
        left[0] -= 1
        return "41"

    def made() -> Agent:
        COMPILED.clear()
        learner = Reflexion(
            reflector=Reflecting("Again.", dies=False), max_attempts=3, options=LearningOptions(compiler=OddOnce())
        )
        return Agent(model=ScriptedModel(reply), architecture=learner, memory=store, evaluator=lambda _: 0.0)

    assert await is_cut_off(made())
    left[0] = 9
    result = await made().run(TASK, run_id="r1")
    assert [len(attempt.blocked) for attempt in result.attempts] == [1, 0, 0]


async def test_an_escalation_is_told_once_though_the_run_is_resumed_after_it() -> None:
    store, heard = Store(), list[str]()

    def made() -> Agent:
        options = LearningOptions(on_escalation=lambda escalated: heard.append(escalated.run_id))
        learner = Reflexion(
            lesson_store=store, reflector=Reflecting("Again.", dies=False), max_attempts=1, options=options
        )
        return Agent(model=ScriptedModel(["41"]), architecture=learner, evaluator=lambda _: 0.0)

    store.dies = "recording"
    assert await is_cut_off(made())
    assert heard == ["r1"]
    store.dies = ""
    assert (await made().run(TASK, run_id="r1")).status == "escalated"
    assert heard == ["r1"]


class Waiting(InMemoryVectorStore):
    """A store in which a run doesn't end before both of its processes have told of their lesson."""

    def __init__(self) -> None:
        super().__init__()
        self.telling = 2
        self.told = asyncio.Event()

    async def save_run(self, record: RunRecord) -> None:
        if record.status != "unfinished":
            await asyncio.wait_for(self.told.wait(), 10)
        await super().save_run(record)


class AtOnce:
    """One of two processes that judge and reflect at the same time, and differ in what they say.

    It is its evaluator and its reflector, too.
    """

    name = "at once"

    def __init__(self, store: Waiting, both: asyncio.Barrier, who: str) -> None:
        self.store, self.both, self.who, self.said = store, both, who, list[object]()
        learner = Reflexion(lesson_store=store, reflector=self, max_attempts=1)
        self.agent = Agent(model=ScriptedModel(["41"]), architecture=learner, evaluator=self, watch=self.watch)

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:
        del task, output, trace
        await self.both.wait()
        return ReflectionEvaluation(overall_score=0.0, issues=(f"judged by {self.who}",))

    async def reflect(
        self, task: Task, output: str, evaluation: ReflectionEvaluation, trace: Trace
    ) -> list[MemoryCard]:
        del task, output, trace
        await self.both.wait()
        return [MemoryCard(kind=MemoryKind.LESSON, content=f"Of {self.who}: {evaluation.issues[0]}.")]

    def watch(self, event: Event) -> None:
        if isinstance(event, Evaluated):
            self.said.append(event.evaluation)
        if isinstance(event, LessonProduced):
            self.said.append(event.lesson)
            self.store.telling -= 1
            if not self.store.telling:
                self.store.told.set()


async def test_of_two_processes_at_once_the_first_ones_judgement_and_lessons_count_for_both() -> None:
    store, both = Waiting(), asyncio.Barrier(2)
    one, other = (AtOnce(store, both, who) for who in ("one", "other"))
    await asyncio.gather(one.agent.run(TASK, run_id="r1"), other.agent.run(TASK, run_id="r1"))
    assert len(one.said) == 2
    assert one.said == other.said
    assert len(await store.list(CardFilter())) == 1
