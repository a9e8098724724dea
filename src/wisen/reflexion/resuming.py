"""What memory and evaluators have done in a run that keeps its steps, so that a resumed one doesn't do it again.

Models and tools keep their own steps. Here is what depends on more than they answer: what was recalled and drawn from a
store that has changed since, judgements, lessons that are written already, and outcomes that are counted already.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from wisen import models
from wisen.cards import MemoryCard
from wisen.evaluation.asking import judgement_of
from wisen.models.journal import RunOver, task_key
from wisen.protocols import Evaluator
from wisen.records import Advice, ReflectionEvaluation, Task, Trace
from wisen.reflexion.writing import WrittenLesson
from wisen.session import Steps

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSteps:
    """What one agent of a run has done for one task; without `steps` everything is done for the first time."""

    steps: Steps | None
    agent: str
    task: Task

    async def advice(
        self,
        attempt: int,
        make: Callable[[], Awaitable[Advice]],
        holds: Callable[[Advice], Awaitable[bool]],
        unused: Callable[[Advice, Advice], Awaitable[None]],
    ) -> Advice:
        """The advice of an attempt as it was; made again if it no longer holds.

        If another process has made one first, `unused` is called with the one made here and with that one; the other
        process may have ended the run since.
        """
        if self.steps is None:
            return await make()
        while True:
            async with self.steps.step(f"advice {attempt} {self._whose}") as step:
                if step.value is None:
                    made = await make()
                    try:
                        advice = await _kept(step.keep, made, Advice)
                    except RunOver:
                        await unused(made, Advice())
                        raise
                    if advice is not made:
                        await unused(made, advice)
                    return advice
                advice = models.read_as(Advice, step.value)
                if await holds(advice):
                    return advice

    async def cards(
        self, attempt: int, output: str, make: Callable[[], Awaitable[list[MemoryCard]]], *, repeats: bool
    ) -> list[MemoryCard]:
        """What was reflected of an attempt with this output.

        A reflector whose calls are kept `repeats`, so that they count again.
        """
        if self.steps is None:
            return await make()
        async with self.steps.step(f"cards {attempt} {self._whose} {output}") as step:
            if step.value is not None:
                if repeats:
                    await make()
                return models.read_as(list[MemoryCard], step.value)
            return await _kept(step.keep, await make(), list[MemoryCard])

    async def lesson(self, card: MemoryCard, write: Callable[[bool], Awaitable[WrittenLesson]]) -> WrittenLesson:
        """What became of a lesson; `write` is told whether it may have been written by a process that was cut off."""
        if self.steps is None:
            return await write(False)
        async with self.steps.step(f"lesson {card.id}") as step:
            if step.value is not None:
                return models.read_as(WrittenLesson, step.value)
            again = not await self.steps.first(f"writing {card.id}")
            kept = await write(again)
            if kept.persisted is None:
                return kept  # it isn't written: a resumed run tries again
            return await _kept(step.keep, kept, WrittenLesson)

    async def tell_once(self, tell: Callable[[], Awaitable[None]]) -> None:
        """Tell of an escalation, and note it only afterwards: it may be told twice, but never not at all."""
        if self.steps is None:
            await tell()
            return

        async def made() -> bytes:
            await tell()
            return b"1"

        await self.steps.once(f"escalation 0 {self._whose}", made)

    @property
    def _whose(self) -> str:
        return f"{task_key(self.task)} {self.agent}"


class KeptEvaluator:
    """An evaluator that calls no model, with the judgements that it has given in this run.

    Args:
        evaluator: Who judges.
        steps: The run's steps.
    """

    def __init__(self, evaluator: Evaluator, steps: Steps) -> None:
        self._evaluator = evaluator
        self._steps = steps

    @property
    def name(self) -> str:
        """The evaluator's."""
        return self._evaluator.name

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:
        """The judgement of this output; one that couldn't be had is asked for again."""
        async with self._steps.step(f"judgement {self.name} {task_key(task)} {output}") as step:
            if step.value is not None:
                return models.read_as(ReflectionEvaluation, step.value)
            evaluation = await judgement_of(self._evaluator, task, output, trace)
            if not evaluation.known:
                return evaluation
            return await _kept(step.keep, evaluation, ReflectionEvaluation)


async def _kept(keep: Callable[[bytes], Awaitable[bytes]], value: _Value, kind: Any) -> _Value:  # noqa: ANN401 - a type form
    """Keep a value; gives it, or the one that another process had kept before. What can't be written is made again."""
    mine = models.written(value, kind)
    if mine is None:
        return value
    kept = await keep(mine)
    return value if kept == mine else models.read_as(kind, kept)
