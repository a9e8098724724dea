"""Lets a model of the caller's judge where an evaluator would ask the run's own.

It stands apart because it wraps any evaluator, a user's own too.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from wisen.protocols import BoundToRun, Evaluator, ModelBinder, kept_by
from wisen.records import ReflectionEvaluation, Task, Trace

if TYPE_CHECKING:
    from pydantic_ai.models import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedBy:
    """An evaluator whose judge, wherever in it, is a model of the caller's instead of the run's own."""

    evaluator: BoundToRun
    judge: "Model"
    name: str

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:
        """Judge outside of a run."""
        return await cast("Evaluator", self.evaluator).evaluate(task, output, trace)

    def bound(self, bind: ModelBinder) -> Evaluator:
        """The evaluator on the run's meter, with its judge."""
        return self.evaluator.bound(_Judged(bind, self.judge))


@dataclass(frozen=True, slots=True)
class _Judged:
    """A run's binder, with the judge in place of the run's model; implements `ModelBinder`."""

    bind: ModelBinder
    judge: "Model"

    def keeping(self, evaluator: Evaluator) -> Evaluator:
        """As the run's binder."""
        return kept_by(self.bind, evaluator)

    def __call__(self, model: "Model | str | None", purpose: str) -> "Model":
        return self.bind(self.judge if model is None else model, purpose)


def judged_by(evaluator: Evaluator, judge: "Model | None") -> Evaluator:
    """The evaluator with this judge, if it asks a model at all; one that names its model keeps it."""
    if judge is None or not isinstance(evaluator, BoundToRun):
        return evaluator
    return JudgedBy(evaluator=evaluator, judge=judge, name=evaluator.name)
