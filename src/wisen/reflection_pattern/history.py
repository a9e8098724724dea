"""Holds the results of a `ReflectionPattern` run, and the callbacks that steer it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from wisen.architectures.selection import Selection, select
from wisen.records import AttemptRecord, ReflectionEvaluation, TokenUsage
from wisen.reflection_pattern.convergence import ConvergenceReason


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionVersion:
    """One version of the output."""

    iteration: int
    """0 for the first draft, and n for the result of the n-th cycle of reflection and revision."""
    output: str
    evaluation: ReflectionEvaluation
    improvements_applied: tuple[str, ...] = ()
    """The revision's aims, in words; for edits, only those that could be applied."""
    timestamp: datetime
    token_usage: TokenUsage
    """The usage of making and judging this version, and of reflections since the version before. The usage of a
    revision without a result is in no version, only in the result's usage."""
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
    """Oldest first; with `preserve_all_versions=False` only the best and the final one. The run's record keeps all, as
    its attempts."""
    best_version: ReflectionVersion
    """The one that is the run's answer."""
    final_version: ReflectionVersion
    """The last one that wasn't reverted."""
    convergence_reason: str
    total_iterations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionResult:
    """The result of a run of the pattern; `RunResult.metadata["reflection"]` holds it."""

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
    """A callback's decision on a reflection."""

    AUTO = "auto"
    """As the pattern would decide."""
    CONTINUE = "continue"
    """Revise once more, even if the output is good enough or nothing is gained any more; limits stay limits."""
    STOP = "stop"
    """End, and return the best version. Ends a `Reflexion` around the pattern too."""
    ACCEPT = "accept"
    """End, and return the version just reflected on, whatever its score; it is then the answer of a `Reflexion` around
    the pattern too."""


class ReflectionCallbacks:
    """Watches a run of the pattern, and can override its decisions. Override what you need.

    An error in a callback stops nothing: an event reports it, and the pattern decides by itself. An object of any other
    class will do too: its callbacks may be plain functions, and some may be missing. A decision may be given by name,
    such as "accept".
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

    Reverted versions are passed over, and so are empty ones of unknown score. Except by "latest", a satisfactory
    version is preferred to any that isn't, whatever their scores: a mean can be high though one criterion falls short.
    The rest is as in `select`.
    """
    standing = [version for version in versions if not version.reverted]
    standing = [version for version in standing if version.output.strip() or version.evaluation.known] or standing
    satisfactory = [version for version in standing if version.evaluation.satisfactory]
    if how == "first_satisfactory" and satisfactory:
        return satisfactory[0]
    if how != "latest":
        standing = satisfactory or standing
    by_score: Selection = "highest_score" if how == "first_satisfactory" else how
    chosen = select([as_attempt(version) for version in standing], by_score, threshold=threshold)
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


def as_attempt(version: ReflectionVersion, *, did: str = "") -> AttemptRecord:
    """The version as an attempt of the run record, which counts from 1; the first is what the base `did`."""
    return AttemptRecord(
        attempt=version.iteration + 1,
        output=version.output,
        evaluation=version.evaluation,
        did="" if version.iteration else did,
        usage=version.token_usage,
        seconds=version.seconds,
    )
