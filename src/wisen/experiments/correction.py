"""What the agent hears once its answer was wrong: only that, or what would have been right.

It stands apart because arms, streams and planted harm share it, and it knows none of them.

A customer who is sent a wrong note writes back how it should have been. The next attempt sees that; only if its answer
then passes the check is it kept, as any verified episode is.
"""

from dataclasses import replace

from wisen.evaluation.checks import ReferenceEvaluator
from wisen.experiments.families.family import Family
from wisen.protocols import Evaluator
from wisen.records import ReflectionEvaluation, Task, Trace


def evaluator_of(family: Family) -> Evaluator:
    """The family's check. Of a note each sign counts, elsewhere neither case nor the punctuation around an answer."""
    return Correcting() if family.corrected else ReferenceEvaluator()


class Correcting:
    """An exact check that says what would have been right."""

    name: str = "correction"

    def __init__(self) -> None:
        self._check = ReferenceEvaluator(normalise=str.strip, name=self.name)

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:
        """Compare, and name the task's reference where the output isn't it."""
        found = await self._check.evaluate(task, output, trace)
        return found if found.satisfactory else replace(found, expected=task.reference or "")
