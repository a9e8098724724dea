"""A run as its trace tells it, with what is known of its task and of how it ended: what retrospection works on."""

from dataclasses import dataclass, replace
from typing import cast

from wisen.cards import Situation
from wisen.errors import ConfigError
from wisen.records import ReflectionEvaluation, Task, Trace

Outcome = ReflectionEvaluation | float | bool
"""How a run ended: an evaluation, a score in [0, 1], or whether it was solved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedRun:
    """A trace with its task and outcome, from this process or from a file."""

    trace: Trace
    task: Task | None = None
    """`None`: the trace's purpose is all that is known of it."""
    outcome: ReflectionEvaluation | None = None
    """`None`: what the trace's last score says, if it has one."""
    agent: str = ""
    """Whose run it was."""
    model: str = ""
    """Which model acted in it."""
    source: str = ""
    """The file that it was read from."""
    session: str = ""
    """The session that it is a turn of; "" where it stands for itself."""
    foreign: bool = False
    """Whether others' programs recorded it, so that what it teaches is imported."""

    @property
    def asked(self) -> Task:
        """The task."""
        return self.task if self.task is not None else Task(prompt=self.trace.purpose)

    @property
    def ended(self) -> ReflectionEvaluation:
        """The outcome; one with an unknown score where nothing tells it."""
        if self.outcome is not None:
            return self.outcome
        last = next((event for event in reversed(self.trace.events) if event.kind == "score"), None)
        return ReflectionEvaluation(overall_score=None) if last is None else _scored(last.data.get("score"))

    @property
    def situation(self) -> Situation:
        """The situation that its lessons are learned in."""
        task = self.asked
        return Situation(prompt=task.prompt, task_type=task.type, tools=task.tools)

    @property
    def task_key(self) -> tuple[str, str, str]:
        """Equal for runs of the same task: of one tenant, with one id, or without ids with one prompt."""
        task = self.asked
        return (task.tenant, task.id, "" if task.id else Situation(prompt=task.prompt).key)

    def solved(self, threshold: float) -> bool | None:
        """Whether the task was solved; `None` where nobody knows."""
        score = self.ended.overall_score
        return None if score is None else score >= threshold


def traced(run: Trace | TracedRun, task: Task | None = None, outcome: Outcome | None = None) -> TracedRun:
    """The run with what is said of it here; what isn't said stays. Raises `ConfigError` for an outcome that is none."""
    one = TracedRun(trace=run) if isinstance(run, Trace) else run
    if task is not None:
        one = replace(one, task=task)
    return one if outcome is None else replace(one, outcome=as_evaluation(outcome))


def as_evaluation(outcome: Outcome) -> ReflectionEvaluation:
    """The evaluation that a score, or a yes or no, stands for."""
    if isinstance(outcome, ReflectionEvaluation):
        return outcome
    given = cast("object", outcome)
    if not isinstance(given, int | float) or not 0.0 <= given <= 1.0:
        raise ConfigError(f"outcome={given!r}: must be a score in [0, 1], True, False or a ReflectionEvaluation")
    return ReflectionEvaluation(overall_score=float(given), satisfactory=given == 1)


def _scored(value: object) -> ReflectionEvaluation:
    if isinstance(value, int | float) and 0.0 <= value <= 1.0:
        return as_evaluation(float(value))
    return ReflectionEvaluation(overall_score=None)
