"""What a run of `ReflectionPattern` leaves behind, and how its callbacks steer it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from wisen.architectures.selection import Selection, select
from wisen.convergence import ConvergenceReason
from wisen.records import AttemptRecord, ReflectionEvaluation, TokenUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionVersion:
    """One version of the output."""

    iteration: int
    """0 for the first draft, and n for what the n-th cycle of reflection and revision made."""
    output: str
    evaluation: ReflectionEvaluation
    improvements_applied: tuple[str, ...] = ()
    """What the revision set out to improve, in words; of edits, only those that could be applied."""
    timestamp: datetime
    token_usage: TokenUsage
    """What making and judging this version used."""
    seconds: float = 0.0
    strategy: str = ""
    """How the revision was made in the end: "full_rewrite", "targeted_edit" or "incremental"; "" for the draft."""
    edits_failed: tuple[str, ...] = ()
    """Why edits could not be applied, one entry each; never their text."""
    reverted: bool = False
    """Whether it scored lower than the version it was made from, which then was taken up again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionHistory:
    """All versions of one run."""

    versions: tuple[ReflectionVersion, ...]
    """Oldest first; with `preserve_all_versions=False` only the best and the final one."""
    best_version: ReflectionVersion
    """The one that is the run's answer."""
    final_version: ReflectionVersion
    """The last one that wasn't reverted."""
    convergence_reason: str
    total_iterations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionResult:
    """What a run of the pattern came to; `RunResult.metadata["reflection"]` holds it."""

    success: bool
    """Whether the best version is satisfactory, or was accepted by a callback."""
    final_output: str
    best_output: str
    """The run's answer; may differ from the final output."""
    final_evaluation: ReflectionEvaluation
    history: ReflectionHistory
    iterations_used: int
    """Cycles of reflection and revision; 0 if the first draft was good enough."""
    convergence_reason: ConvergenceReason
    token_usage: TokenUsage
    execution_time: float
    """Seconds."""


class ReflectionDecision(StrEnum):
    """What a callback makes of a reflection."""

    AUTO = "auto"
    """As the pattern would decide."""
    CONTINUE = "continue"
    """Revise once more, even if the output is good enough or nothing is gained any more; limits stay limits."""
    STOP = "stop"
    """End, and return the best version."""
    ACCEPT = "accept"
    """End, and return the version just reflected on, whatever its score."""


class ReflectionCallbacks:
    """Watches a run of the pattern, and can override its decisions. Override what you need.

    An error in a callback ends nothing: an event reports it, and the pattern decides by itself.
    """

    async def on_generation(self, output: str, iteration: int) -> None:
        """Called after each version is made, the draft (iteration 0) and revisions."""

    async def on_reflection(self, evaluation: ReflectionEvaluation, iteration: int) -> ReflectionDecision:
        """Called after each version is judged; says whether to go on."""
        del evaluation, iteration
        return ReflectionDecision.AUTO

    async def on_revision(self, old_output: str, new_output: str, iteration: int) -> None:
        """Called after each revision, before the new output is judged."""


def best_of(versions: Sequence[ReflectionVersion], how: Selection, *, threshold: float) -> ReflectionVersion:
    """The version to return, of at least one.

    Reverted versions are passed over, except by "highest_score", which never prefers them. "first_satisfactory" goes
    by what the evaluations say. The rest is as in `select`.
    """
    standing = [version for version in versions if not version.reverted]
    if how == "first_satisfactory":
        satisfactory = next((version for version in standing if version.evaluation.satisfactory), None)
        return satisfactory or best_of(standing, "highest_score", threshold=threshold)
    chosen = select([as_attempt(version) for version in standing], how, threshold=threshold)
    return next(version for version in standing if chosen is not None and version.iteration == chosen.attempt - 1)


def history_of(
    versions: Sequence[ReflectionVersion],
    best: ReflectionVersion,
    reason: ConvergenceReason,
    *,
    preserve_all: bool,
) -> ReflectionHistory:
    """The history of these versions."""
    final = next(version for version in reversed(versions) if not version.reverted)
    kept = versions if preserve_all else [version for version in versions if version in (best, final)]
    return ReflectionHistory(
        versions=tuple(kept),
        best_version=best,
        final_version=final,
        convergence_reason=reason.value,
        total_iterations=versions[-1].iteration,
    )


def as_attempt(version: ReflectionVersion) -> AttemptRecord:
    """The version as an attempt of the run record, which counts from 1."""
    return AttemptRecord(
        attempt=version.iteration + 1,
        output=version.output,
        evaluation=version.evaluation,
        usage=version.token_usage,
        seconds=version.seconds,
    )


def unknown_quality(evaluator: str) -> ReflectionEvaluation:
    """Stands for a judgement that could not be had."""
    return ReflectionEvaluation(overall_score=None, confidence=0.0, evaluator=evaluator)


def with_verdict(own: ReflectionEvaluation, verdict: ReflectionEvaluation, threshold: float) -> ReflectionEvaluation:
    """What a pattern's own judgement is worth after an external validation of known score."""
    score = verdict.overall_score
    if score is None or own.overall_score is None:
        return own
    if score >= threshold:
        return replace(own, verifiable=own.verifiable or verdict.verifiable)
    name = verdict.evaluator or "validator"
    return replace(
        own,
        overall_score=min(own.overall_score, score),
        satisfactory=False,
        criteria_scores={**own.criteria_scores, name: score},
        issues=(*verdict.issues, *own.issues) or (f"{name} does not accept the output",),
        suggestions=(*verdict.suggestions, *own.suggestions),
        confidence=verdict.confidence,
        verifiable=verdict.verifiable,
    )
