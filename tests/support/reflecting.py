"""What tests of ReflectionPattern share: an evaluator with a script, and a run in a line."""

from collections.abc import Sequence
from typing import Any

from wisen import Agent, ReflectionEvaluation, ReflectionPattern, ReflectionResult, ScriptedModel, Task, Trace
from wisen.events import Event


class Scores:
    """Gives one score after the other, whatever the output."""

    def __init__(self, *scores: float | None, issues: Sequence[str] = (), verifiable: bool = True) -> None:
        self.name = "scores"
        self._scores = list(scores)
        self._issues = tuple(issues)
        self._verifiable = verifiable

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:
        del task, output, trace
        score = self._scores.pop(0) if len(self._scores) > 1 else self._scores[0]
        return ReflectionEvaluation(overall_score=score, issues=self._issues, verifiable=self._verifiable)


def names(events: list[Event]) -> list[str]:
    return [event.name for event in events if event.name not in ("model.called", "run.started", "run.completed")]


async def reflected(pattern: ReflectionPattern, *replies: str, **agent: Any) -> ReflectionResult:
    return (await Agent(model=ScriptedModel(replies), architecture=pattern, **agent).run("Write.")).reflection
