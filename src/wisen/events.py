"""Defines the events of a run as one union, distinguished by `name`.

Events carry texts of attempts and lessons for the watcher of this run; logs and metrics must not repeat them.
"""

from dataclasses import dataclass
from typing import Literal

from wisen.records import Blocked, Injection, ReflectionEvaluation, RunRecord, TokenUsage

_RunStage = Literal["budget", "worker", "attempt", "record", "watch", "escalate"]
_LearningStage = Literal["recall", "evaluate", "reflect", "revise", "screen", "persist", "trial"]


def described(error: BaseException) -> str:
    """An error as events show it: its type and message."""
    return f"{type(error).__name__}: {error}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """A run begins."""

    run_id: str
    agent: str
    architecture: str
    model: str
    name: Literal["run.started"] = "run.started"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCompleted:
    """A run has ended with an answer. It is the last event of every run that isn't cancelled and raises nothing."""

    record: RunRecord
    """The record, as a run store keeps it."""
    name: Literal["run.completed"] = "run.completed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalled:
    """A model has answered."""

    model: str
    purpose: str
    """What the call was for: "attempt", "evaluate", "reflect" …"""
    usage: TokenUsage
    seconds: float
    advised: bool
    """Whether the request carried the attempt's advice."""
    recorded: bool = False
    """Whether the answer is a recorded one, as in a resumed run: no model was called, and nothing paid."""
    name: Literal["model.called"] = "model.called"

    @property
    def replayed(self) -> bool:
        """The former name of `recorded`."""
        return self.recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """A piece of the answer, as the model streams it."""

    text: str
    name: Literal["model.text_delta"] = "model.text_delta"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled:
    """The model asked for a tool."""

    tool: str
    arguments: str
    """As JSON."""
    call_id: str
    name: Literal["tool.called"] = "tool.called"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReturned:
    """A tool has answered, or failed."""

    tool: str
    result: str
    call_id: str
    failed: bool = False
    name: Literal["tool.returned"] = "tool.returned"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerStarted:
    """A supervisor has delegated to a worker."""

    worker: str
    instructions: str
    name: Literal["worker.started"] = "worker.started"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerEvent:
    """Something happened inside a worker."""

    worker: str
    event: "Event"
    name: Literal["worker.event"] = "worker.event"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerCompleted:
    """A worker has answered."""

    worker: str
    output: str
    name: Literal["worker.completed"] = "worker.completed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Degraded:
    """Something had to be skipped and the run went on without it."""

    stage: _RunStage | _LearningStage
    error: str
    """The error's type and message."""
    skipped: str
    """What the run does without, in words."""
    attempt: int = 0
    name: Literal["run.degraded"] = "run.degraded"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceUndelivered:
    """An attempt had advice, and none of its model calls carried it."""

    attempt: int
    card_ids: tuple[str, ...]
    name: Literal["run.advice_undelivered"] = "run.advice_undelivered"


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetExhausted:
    """A limit of the budget is reached; the run ends with the best answer so far."""

    limit: str
    allowed: float
    spent: float
    name: Literal["run.budget_exhausted"] = "run.budget_exhausted"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptStarted:
    """An attempt begins."""

    attempt: int
    max_attempts: int
    name: Literal["reflexion.attempt_started"] = "reflexion.attempt_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonsRecalled:
    """Memory was searched and found something. There is no event if it found nothing."""

    attempt: int
    injections: tuple[Injection, ...]
    name: Literal["reflexion.lessons_recalled"] = "reflexion.lessons_recalled"

    @property
    def n_recalled(self) -> int:
        """How many cards are shown to the attempt."""
        return sum(injection.shown for injection in self.injections)


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonsBlocked:
    """The screen kept stored cards out of the prompt: something to look into."""

    attempt: int
    blocked: tuple[Blocked, ...]
    name: Literal["reflexion.lessons_blocked"] = "reflexion.lessons_blocked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """The evaluator has judged an attempt."""

    attempt: int
    evaluation: ReflectionEvaluation
    name: Literal["reflexion.evaluated"] = "reflexion.evaluated"

    @property
    def score(self) -> float | None:
        """The score in [0, 1], or `None` for unknown."""
        return self.evaluation.overall_score


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdMet:
    """An attempt is good enough; the run ends with it."""

    attempt: int
    score: float
    name: Literal["reflexion.threshold_met"] = "reflexion.threshold_met"


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonProduced:
    """A lesson has passed the screen. One that hasn't only appears as a `LessonPersisted` that says so."""

    attempt: int
    lesson: str
    """As screened."""
    name: Literal["reflexion.lesson_produced"] = "reflexion.lesson_produced"


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonPersisted:
    """A card, or a line of the memory block, was written, counted as a duplicate, rejected, or (a line) held back."""

    attempt: int
    target: str
    """The block's name, or "lesson_store"."""
    card_id: str
    kind: str
    outcome: Literal["added", "duplicate", "rejected", "held"]
    rules: tuple[str, ...] = ()
    """The screen's rules that matched, by name: why it was rejected, or what was taken out of it."""
    held: tuple[str, ...] = ()
    """Phrases that keep it from every run until a person decides: sinks that its circle never used."""
    name: Literal["reflexion.lesson_persisted"] = "reflexion.lesson_persisted"


@dataclass(frozen=True, slots=True, kw_only=True)
class CardMoved:
    """The outcome of a run, or replays, decided on a card: it has another status now."""

    card_id: str
    before: str
    after: str
    why: str
    """The counts, in words."""
    by: str
    name: Literal["memory.card_moved"] = "memory.card_moved"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialAdvanced:
    """The outcome of this run was counted on an idea, which hasn't a verdict yet."""

    card_id: str
    """The card that stands for the idea."""
    runs: int
    of_about: int
    standing: Literal["ahead", "behind", "level"]
    name: Literal["memory.trial_advanced"] = "memory.trial_advanced"

    @property
    def text(self) -> str:
        """In words: "on trial, 37 of about 90 runs, ahead"."""
        return f"on trial, {self.runs} of about {self.of_about} runs, {self.standing}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MaxAttemptsReached:
    """No attempt was good enough; the run returns the best one."""

    attempts: int
    final_score: float | None
    name: Literal["reflexion.max_attempts_reached"] = "reflexion.max_attempts_reached"


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalated:
    """All retries are used up without a good enough answer: the orchestrator has to decide.

    It comes after `MaxAttemptsReached`; the run's status is "escalated".
    """

    run_id: str
    attempts: int
    final_score: float | None
    report_ids: tuple[str, ...]
    """The reports of the chain, or whatever lessons its attempts led to, in order."""
    name: Literal["reflexion.escalated"] = "reflexion.escalated"


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationMade:
    """A version of the output is there: the draft (iteration 0) or a revision."""

    iteration: int
    output: str
    name: Literal["reflection.generated"] = "reflection.generated"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionTriggered:
    """Something asks for a reflection beside those on finished versions."""

    trigger: Literal["step_interval", "error", "tool_result", "manual", "quality_drop"]
    step: int
    """Answers of the model so far; the step of the trace where it broke off; for "quality_drop", the iteration."""
    detail: str = ""
    """The tool or the type of the error."""
    name: Literal["reflection.triggered"] = "reflection.triggered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Steered:
    """A reflection in the middle of a run was added to the conversation, for the steps that follow."""

    step: int
    note: str
    name: Literal["reflection.steered"] = "reflection.steered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflected:
    """A version of the output is judged."""

    iteration: int
    evaluation: ReflectionEvaluation
    name: Literal["reflection.reflected"] = "reflection.reflected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Revised:
    """The output was revised."""

    iteration: int
    old_output: str
    new_output: str
    strategy: Literal["full_rewrite", "targeted_edit", "incremental"]
    """The one that made the new output."""
    edits_applied: int = 0
    edits_failed: tuple[str, ...] = ()
    """Why edits could not be applied. If none could, the output was rewritten."""
    name: Literal["reflection.revised"] = "reflection.revised"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureModeSeen:
    """The loop misbehaves in a known way, and what is done about it.

    - "infinite_loop": all issues come back and nothing is gained. The loop ends with the best version.
    - "quality_regression": a revision is worse than its source. The loop revises the source in another way.
    - "overcritical": no version satisfied a model's opinion. `SafeguardOptions(lowered_threshold=…)` can accept one.
    - "undercritical": a model's opinion alone accepted several first drafts in a row. Give the agent an evaluator.
    """

    mode: Literal["infinite_loop", "quality_regression", "overcritical", "undercritical"]
    iteration: int
    response: str
    name: Literal["reflection.failure_mode"] = "reflection.failure_mode"


@dataclass(frozen=True, slots=True, kw_only=True)
class Converged:
    """The loop of reflection and revision has ended."""

    reason: str
    """A `ConvergenceReason`."""
    iterations: int
    best_iteration: int
    score: float | None
    """Of the best version."""
    name: Literal["reflection.converged"] = "reflection.converged"


Event = (
    RunStarted
    | RunCompleted
    | ModelCalled
    | TextDelta
    | ToolCalled
    | ToolReturned
    | WorkerStarted
    | WorkerEvent
    | WorkerCompleted
    | Degraded
    | AdviceUndelivered
    | BudgetExhausted
    | AttemptStarted
    | LessonsRecalled
    | LessonsBlocked
    | Evaluated
    | ThresholdMet
    | LessonProduced
    | LessonPersisted
    | CardMoved
    | TrialAdvanced
    | MaxAttemptsReached
    | Escalated
    | GenerationMade
    | ReflectionTriggered
    | Steered
    | Reflected
    | Revised
    | FailureModeSeen
    | Converged
)
