"""One run of `ReflectionPattern`: its versions, what is decided of them, and what the run goes without.

Nothing here loses a version that exists: an evaluator, a callback or a reflection that fails is skipped, and an event
says so. Only an exhausted budget passes through, since it ends the run.
"""

from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass, replace
from typing import Literal

from wisen.architectures.editing import Edited
from wisen.architectures.reflection_options import ReflectionParts
from wisen.architectures.reflection_records import (
    ReflectionDecision,
    ReflectionResult,
    ReflectionVersion,
    as_attempt,
    best_of,
    history_of,
    unknown_quality,
    with_verdict,
)
from wisen.architectures.revision import (
    Allowance,
    Approach,
    aims_of,
    choose_approach,
    revision_prompt,
)
from wisen.architectures.triggers import Due, Steering
from wisen.convergence import ConvergenceReason, converged
from wisen.errors import BudgetExceededError, ConfigError
from wisen.evaluation.criteria import CriteriaEvaluator
from wisen.events import Converged, Degraded, Event, FailureModeSeen, Reflected, ReflectionTriggered, described
from wisen.models.advised import with_bound_advice
from wisen.models.steered import SteeredModel
from wisen.protocols import Evaluator, bound_to_run
from wisen.records import ReflectionEvaluation, TokenUsage
from wisen.session import AgentSession, Dependencies

_Stage = Literal["attempt", "evaluate", "revise", "watch"]
_EPSILON = 1e-9
"""Differences of scores below it come from rounding."""


@dataclass(slots=True, kw_only=True)
class _Open:
    """A version that is being made."""

    iteration: int
    spent_before: TokenUsage
    began: float
    output: str | None = None
    strategy: str = ""
    aims: tuple[str, ...] = ()
    edits_failed: tuple[str, ...] = ()


class Course:
    """The state of one run."""

    def __init__(self, parts: ReflectionParts, session: AgentSession, deps: Dependencies) -> None:
        self.parts = parts
        self.reason: ConvergenceReason | None = None
        """Why the loop ends; `None` as long as it goes on."""
        self.result: ReflectionResult | None = None
        self.versions: list[ReflectionVersion] = []
        self._session = session
        self._own_deps = deps
        lent = deps.evaluator
        judge = parts.judge if parts.explicit or lent is None else lent
        validator = parts.safeguards.validator or (lent if parts.explicit else None)
        self._trusts_judge = isinstance(judge, CriteriaEvaluator)
        self._judge = bound_to_run(judge, deps.bind)
        self._validator = None if validator is None else bound_to_run(validator, deps.bind)
        self.steering = Steering(
            parts.triggers,
            session,
            deps,
            model=lambda: deps.bind(parts.reflection_model, "reflect"),
            structured=parts.structured,
        )
        self.deps = replace(deps, model=SteeredModel(deps.model, self.steering.steered))
        """What the draft is made with."""
        self._allowance = Allowance(parts.revision.max_revision_tokens)
        self._revision_deps: Dependencies | None = None
        self._open: _Open | None = None
        self._began = (session.meter.spent, session.meter.seconds)
        self._standing = 0
        self._failed_approaches: set[str] = set()
        self._diagnosis = ""
        self._parent: ReflectionVersion | None = None
        self._accepted: ReflectionVersion | None = None
        self._structured: dict[int, object] = {}

    @property
    def revision_deps(self) -> Dependencies:
        """What revisions are made with: calls of the run's model are labelled so, and held to what they may write."""
        if self._revision_deps is None:
            deps = self._own_deps
            model = self._allowance.lend(with_bound_advice(deps.bind(None, "revise"), deps.bound_advice))
            self._revision_deps = replace(deps, model=SteeredModel(model, self.steering.steered))
        return self._revision_deps

    @property
    def standing(self) -> ReflectionVersion:
        """The version that is to be revised."""
        return self.versions[self._standing]

    def open_version(self) -> int:
        """Begin to make the next version; gives its iteration."""
        meter = self._session.meter
        self._open = _Open(iteration=len(self.versions), spent_before=meter.spent, began=meter.seconds)
        return self._open.iteration

    def abandon(self) -> None:
        """The open version came to nothing."""
        self._open = None

    def take(self, text: str) -> None:
        """Make an edited text the run's output, which the trace keeps as it keeps those of the base."""
        session = self._session
        session.output = text
        session.structured = text if isinstance(session.structured, str) else None
        session.recorder.next_step()
        session.recorder.add("output", text=text)

    async def made(self, output: str, *, strategy: Approach | Literal[""] = "", edited: Edited | None = None) -> None:
        """The open version has its output; tell the callbacks."""
        version = self._open
        if version is None:
            return
        version.output, version.strategy = output, strategy
        self._structured[version.iteration] = self._session.structured
        if edited is not None:
            version.edits_failed = edited.failed
            version.aims = tuple(edit.improves for edit in edited.applied if edit.improves)
        if strategy:
            version.aims = version.aims or aims_of(self.standing.evaluation)
        callbacks = self.parts.callbacks
        await self._call(callbacks.on_generation(output, version.iteration))
        if strategy:
            await self._call(callbacks.on_revision(self.standing.output, output, version.iteration))

    async def reflect(self) -> Reflected:
        """Judge the open version, and take it into the history."""
        version = self._open
        output = self._session.output if version is None or version.output is None else version.output
        evaluation = await self._judgement(output)
        self.steering.settled()
        self._session.recorder.add("score", score=evaluation.overall_score, issues=list(evaluation.issues))
        rejected = evaluation.verifiable and not evaluation.satisfactory
        if rejected and output not in self._session.rejected:
            self._session.rejected.append(output)
        closed = self._close(evaluation)
        return Reflected(iteration=closed.iteration, evaluation=evaluation)

    async def decide(self) -> AsyncIterator[Event]:
        """Let the callbacks and the pattern say whether to go on; `reason` is set if not."""
        version = self.versions[-1]
        decision = await self._call(self.parts.callbacks.on_reflection(version.evaluation, version.iteration))
        known = isinstance(decision, ReflectionDecision)
        self.reason = self._decided(decision if known else ReflectionDecision.AUTO, version)
        if version.reverted:
            self._failed_approaches.add(version.strategy)
            response = f"back to version {self.standing.iteration}; the next revision goes about it in another way"
            yield FailureModeSeen(mode="quality_regression", iteration=version.iteration, response=response)
        if self.reason is ConvergenceReason.REPEATED_ISSUES:
            response = "the loop ends with the best version"
            yield FailureModeSeen(mode="infinite_loop", iteration=version.iteration, response=response)
        if self.reason is None:
            async for event in self._diagnose_drop(version):
                yield event

    def approach(self) -> Approach:
        """How to revise the standing version."""
        version, structured = self.standing, self._session.structured
        if self._session.task.choices or not (structured is None or isinstance(structured, str)):
            return "full_rewrite"  # edits can't keep to known choices or to a type
        return choose_approach(self.parts.strategy, version.output, version.evaluation, self._failed_approaches)

    def prompt_for(self, approach: Approach) -> str:
        """The prompt that asks for the next revision."""
        version = self.standing
        return revision_prompt(
            approach,
            self._session.task.prompt,
            version.output,
            version.evaluation,
            earlier=[one for one in self.versions if one is not version],
            diagnosis=self._diagnosis,
            options=self.parts.revision,
        )

    def finish(self) -> list[Event]:
        """Choose the answer and leave the result in the session; safe to call again. Without a version, nothing."""
        if self.result is not None:
            return []
        self._close_what_is_open()
        if not self.versions:
            return []
        session, parts = self._session, self.parts
        reason = self.reason or ConvergenceReason.INTERRUPTED
        best = self._accepted or best_of(self.versions, parts.selection, threshold=parts.threshold)
        history = history_of(self.versions, best, reason, preserve_all=parts.preserve_all)
        spent_before, began = self._began
        lowered = self._meets_lowered(best)
        self.result = ReflectionResult(
            success=best.evaluation.satisfactory or best is self._accepted or lowered,
            final_output=history.final_version.output,
            best_output=best.output,
            final_evaluation=history.final_version.evaluation,
            history=history,
            iterations_used=history.total_iterations,
            convergence_reason=reason,
            token_usage=session.meter.spent.minus(spent_before),
            execution_time=session.meter.seconds - began,
        )
        session.output = best.output
        session.structured = self._structured.get(best.iteration)
        session.metadata["reflection"] = self.result
        session.satisfied = self.result.success
        session.attempts.extend(as_attempt(version) for version in self.versions)
        session.returned = as_attempt(best)
        return self._last_events(best, reason, lowered=lowered)

    def accepted_first_draft_on_trust(self) -> bool:
        """Whether a model's opinion alone, confirmed by nobody, was content with the first draft."""
        if self.result is None or self._validator is not None or len(self.versions) != 1:
            return False
        evaluation = self.versions[0].evaluation
        return self.reason is ConvergenceReason.QUALITY_MET and not evaluation.verifiable

    def degraded(self, stage: _Stage, error: Exception | str, skipped: str) -> None:
        """Tell the watchers what the run goes without."""
        said = error if isinstance(error, str) else described(error)
        self._session.recorder.add("error", stage=stage, error=said.partition(":")[0])
        self._own_deps.emit(Degraded(stage=stage, error=said, skipped=skipped, attempt=len(self.versions)))

    def give_up(self, error: Exception | str) -> None:
        """A revision came to nothing; the loop ends with the versions there are."""
        self.degraded("revise", error, "this revision and those after it")
        self.reason = ConvergenceReason.INTERRUPTED

    async def note_on(self, error: Exception) -> str | None:
        """What a reflection on a draft's error asks for; `None` where it isn't to be reflected on."""
        if not self.parts.triggers.on_error:
            return None
        trace = self._session.recorder.trace()
        steps = "\n".join(f"{event.kind}: {dict(event.data)}" for event in trace.events)
        due = Due(trigger="error", step=trace.step_count, detail=type(error).__name__)
        return await self.steering.reflection([due], f"{steps}\nThe attempt broke off: {described(error)}")

    async def _judgement(self, output: str) -> ReflectionEvaluation:
        evaluation = await self._evaluated(self._judge, output, "the score of this version")
        score, threshold = evaluation.overall_score, self.parts.threshold
        content = score is not None and score >= threshold and (evaluation.satisfactory or not self._trusts_judge)
        evaluation = replace(evaluation, satisfactory=content)
        if content and self._validator is not None:
            verdict = await self._evaluated(self._validator, output, "the confirmation of a satisfactory version")
            return with_verdict(evaluation, verdict, threshold)
        return evaluation

    async def _evaluated(self, evaluator: Evaluator, output: str, skipped: str) -> ReflectionEvaluation:
        try:
            trace = self._session.recorder.trace()
            evaluation = await evaluator.evaluate(self._session.task, output, trace)
            if evaluation.overall_score is None:
                self.degraded("evaluate", "no score could be read", skipped)
            return evaluation if evaluation.evaluator else replace(evaluation, evaluator=evaluator.name)
        except BudgetExceededError:
            raise
        except Exception as error:  # noqa: BLE001 - may be anybody's code; its failure isn't the version's
            self.degraded("evaluate", error, skipped)
            return unknown_quality(getattr(evaluator, "name", ""))

    async def _call(self, callback: Awaitable[object]) -> object:
        try:
            return await callback
        except BudgetExceededError:
            raise
        except Exception as error:  # noqa: BLE001 - callbacks are the user's code; the run goes on without them
            self.degraded("watch", error, "a callback that failed")
            return None

    def _close(self, evaluation: ReflectionEvaluation) -> ReflectionVersion:
        """Make the open version a finished one, and say which version stands now."""
        making, meter = self._open, self._session.meter
        if making is None:
            raise ConfigError("no version is being made")
        reverted = self._is_regression(evaluation)
        version = ReflectionVersion(
            iteration=making.iteration,
            output=self._session.output if making.output is None else making.output,
            evaluation=evaluation,
            improvements_applied=making.aims,
            timestamp=self._own_deps.clockwork.now(),
            token_usage=meter.spent.minus(making.spent_before),
            seconds=meter.seconds - making.began,
            strategy=making.strategy,
            edits_failed=making.edits_failed,
            reverted=reverted,
        )
        known = evaluation.known or not self.versions
        self._parent = self.standing if self.versions else None
        self.versions.append(version)
        self._open = None
        if known and not reverted:
            self._standing = version.iteration
            self._failed_approaches.clear()
        return version

    def _is_regression(self, evaluation: ReflectionEvaluation) -> bool:
        if not self.versions or not self.parts.safeguards.revert_on_regression:
            return False
        return _drop(self.standing.evaluation, evaluation) > 0

    def _close_what_is_open(self) -> None:
        """A version that was made but not judged is part of the history too; half a revision isn't."""
        if self._open is not None and (self._open.output is not None or (not self.versions and self._session.output)):
            self._close(unknown_quality(self._judge.name))

    def _decided(self, decision: ReflectionDecision, version: ReflectionVersion) -> ConvergenceReason | None:
        parts = self.parts
        if decision is ReflectionDecision.ACCEPT:
            self._accepted = version
            return ConvergenceReason.USER_ACCEPTED
        if decision is ReflectionDecision.STOP:
            return ConvergenceReason.INTERRUPTED
        limit = ConvergenceReason.MAX_ITERATIONS if version.iteration >= parts.max_iterations else None
        if decision is ReflectionDecision.CONTINUE:
            return limit
        if version.evaluation.satisfactory:
            return ConvergenceReason.QUALITY_MET
        if not self.standing.evaluation.known:
            return ConvergenceReason.UNKNOWN_QUALITY
        scores = [one.evaluation.overall_score for one in self.versions]
        outputs = [one.output for one in self.versions]
        issues = [one.evaluation.issues for one in self.versions]
        return converged(scores, outputs, issues, parts.convergence, threshold=None) or limit

    async def _diagnose_drop(self, version: ReflectionVersion) -> AsyncIterator[Event]:
        """Reflect on why a revision made it worse, where that is asked for."""
        self._diagnosis = ""
        least, parent = self.parts.triggers.drop, self._parent
        drop = 0.0 if parent is None else _drop(parent.evaluation, version.evaluation)
        if least is None or parent is None or drop < least - _EPSILON:
            return
        yield ReflectionTriggered(trigger="quality_drop", step=version.iteration, detail=f"{drop:.2f}")
        self._diagnosis = await self.steering.diagnosis(parent.output, version.output, version.evaluation.issues)

    def _meets_lowered(self, best: ReflectionVersion) -> bool:
        lowered, score = self.parts.safeguards.lowered_threshold, best.evaluation.overall_score
        return lowered is not None and score is not None and score >= lowered

    def _last_events(self, best: ReflectionVersion, reason: ConvergenceReason, *, lowered: bool) -> list[Event]:
        last, events = self.versions[-1], list[Event]()
        cut_short = reason in (ConvergenceReason.INTERRUPTED, ConvergenceReason.UNKNOWN_QUALITY)
        never = not any(one.evaluation.satisfactory or one.evaluation.verifiable for one in self.versions)
        if never and last.iteration and not cut_short and best is not self._accepted:
            response = "accepted at the lowered threshold" if lowered else "the best version is returned"
            events.append(FailureModeSeen(mode="overcritical", iteration=last.iteration, response=response))
        score = best.evaluation.overall_score
        events.append(
            Converged(reason=reason.value, iterations=last.iteration, best_iteration=best.iteration, score=score)
        )
        return events


def _drop(before: ReflectionEvaluation, after: ReflectionEvaluation) -> float:
    """How much lower the score is after than before; 0 where either is unknown."""
    if before.overall_score is None or after.overall_score is None:
        return 0.0
    return before.overall_score - after.overall_score
