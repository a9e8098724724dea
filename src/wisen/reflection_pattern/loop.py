"""One run of `ReflectionPattern`: its versions, what is decided of them, and what the run goes without.

Nothing here loses a version that exists: an evaluator, a callback or a reflection that fails is skipped, and an event
says so. Only an exhausted budget passes through, since it ends the run.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Literal

from wisen import models
from wisen.account.attempt import did_in
from wisen.architectures.triggers import Due, Steering
from wisen.errors import ConfigError
from wisen.events import Converged, Degraded, Event, FailureModeSeen, Reflected, described
from wisen.records import ReflectionEvaluation, TokenUsage
from wisen.reflection_pattern.callbacks import Calling
from wisen.reflection_pattern.convergence import ConvergenceReason, converged
from wisen.reflection_pattern.history import (
    ReflectionDecision,
    ReflectionResult,
    ReflectionVersion,
    as_attempt,
    best_of,
    history_of,
)
from wisen.reflection_pattern.judging import Judging, unknown_quality
from wisen.reflection_pattern.options import ReflectionParts
from wisen.reflection_pattern.revision import aims_of
from wisen.reflection_pattern.revision_requests import EPSILON, Revising, Revision, drop
from wisen.session import AgentSession, Dependencies, Judged

_Stage = Literal["attempt", "evaluate", "revise", "watch"]


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


class PatternRun:
    """The state of one run."""

    def __init__(self, parts: ReflectionParts, session: AgentSession, deps: Dependencies, prompt: str) -> None:
        self.parts = parts
        self.reason: ConvergenceReason | None = None
        """Why the loop ends; `None` as long as it goes on."""
        self.result: ReflectionResult | None = None
        self.versions: list[ReflectionVersion] = []
        self._session = session
        self._own_deps = deps
        self._calling = Calling(
            parts.callbacks, lambda error: self.degraded("watch", error, "a callback, or what it said"), deps.steps
        )
        self._judging = Judging(
            parts, deps.evaluator, deps.bind, lambda error, skipped: self.degraded("evaluate", error, skipped)
        )
        self.steering = Steering(
            parts.triggers,
            session,
            deps,
            prompt=prompt,
            model=lambda: deps.bind(parts.reflection_model, "reflect"),
            structured=parts.structured,
        )
        self.deps = replace(deps, model=models.SteeredModel(deps.model, self.steering.steered))
        """What the draft is made with."""
        self.revising = Revising(parts, session, deps, self.steering, prompt)
        self._open: _Open | None = None
        self._began = self._closed = (session.meter.spent, session.meter.seconds)
        self._attempts_before = len(session.attempts)
        self._standing = 0
        self._unconfirmed: set[int] = set()
        self._tried: set[str] = set()
        self._parent: ReflectionVersion | None = None
        self._accepted: ReflectionVersion | None = None
        self._stopped = False
        self._said: dict[int, ReflectionEvaluation] = {}
        self._structured: dict[int, object] = {}

    @property
    def standing(self) -> ReflectionVersion:
        """The version that is to be revised."""
        return self.versions[self._standing]

    def open_version(self) -> int:
        """Begin to make the next version; gives its iteration."""
        spent, seconds = self._closed
        self._open = _Open(iteration=len(self.versions), spent_before=spent, began=seconds)
        self.steering.opened()
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

    async def made(self, output: str, revision: Revision | None = None) -> None:
        """The open version has its output, by a revision if it isn't the draft; tell the callbacks."""
        version = self._open
        if version is None:
            return
        version.output = output
        self._structured[version.iteration] = self._session.structured
        if revision is not None:
            edited, self._tried = revision.edited, {revision.approach, *revision.tried}
            version.strategy = revision.approach
            version.edits_failed = edited.failed if edited else ()
            version.aims = tuple(edit.improves for edit in edited.applied if edit.improves) if edited else ()
            version.aims = version.aims or aims_of(self.standing.evaluation)
        await self._calling.call("on_generation", output, version.iteration)
        if revision is not None:
            await self._calling.call("on_revision", self.standing.output, output, version.iteration)

    async def reflect(self) -> Reflected:
        """Judge the open version, and take it into the history."""
        version = self._open
        output = self._session.output if version is None or version.output is None else version.output
        session = self._session
        judgement = await self._judging.judged(session.task, output, session.recorder.trace(), first=not self.versions)
        evaluation = judgement.evaluation
        self.steering.settled()
        rejected = evaluation.verifiable and not evaluation.satisfactory and judgement.confirmed
        if rejected and output not in session.rejected:
            session.rejected.append(output)
        closed = self._close(evaluation)
        self._said[closed.iteration] = judgement.own
        if not judgement.confirmed:
            self._unconfirmed.add(closed.iteration)
        kept = {} if self._seen_last(self.standing.output) else {"kept": self.standing.output}
        session.recorder.add(
            "score", score=evaluation.overall_score, issues=list(evaluation.issues), version=closed.iteration, **kept
        )
        return Reflected(iteration=closed.iteration, evaluation=evaluation)

    def _seen_last(self, output: str) -> bool:
        """Whether the trace shows this output as the last one; not one gone back to, or rid of copied marks."""
        events = self._session.recorder.trace().events
        return next((one.data.get("text") for one in reversed(events) if one.kind == "output"), None) == output

    async def decide(self) -> AsyncIterator[Event]:
        """Let the callbacks and the pattern say whether to go on; `reason` is set if not."""
        version = self.versions[-1]
        self.reason = self._decided(await self._calling.decision(version.evaluation, version.iteration), version)
        if version.reverted:
            self.revising.failed(self._tried)
            after = "the loop ends" if self.reason else "the next revision goes about it in another way"
            response = f"back to version {self.standing.iteration}; {after}"
            yield FailureModeSeen(mode="quality_regression", iteration=version.iteration, response=response)
        if self.reason is ConvergenceReason.REPEATED_ISSUES:
            response = "the loop ends with the best version"
            yield FailureModeSeen(mode="infinite_loop", iteration=version.iteration, response=response)
        if self.reason is None:
            async for event in self._criticise():
                yield event
            async for event in self.revising.diagnose(self._parent, version):
                yield event

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
        session.settled = self._stopped
        # Attempts that the base counted are versions here, and so are not counted twice.
        did = did_in(session.recorder.trace())
        session.attempts[self._attempts_before :] = [as_attempt(version, did=did) for version in self.versions]
        session.returned = as_attempt(best, did=did)
        said = self._said.get(best.iteration)
        session.judged = None if said is None else Judged(by=self._judging.judge, evaluation=said)
        return self._last_events(best, reason, lowered=lowered)

    def accepted_first_draft_on_trust(self) -> bool:
        """Whether a model's opinion alone, confirmed by nobody, was content with the first draft."""
        if self.result is None or self._judging.validated or len(self.versions) != 1:
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
        self._open, self._closed = None, (meter.spent, meter.seconds)
        if known and not reverted:
            self._standing = version.iteration
            self.revising.succeeded()
        return version

    def _is_regression(self, evaluation: ReflectionEvaluation) -> bool:
        if not self.versions or not self.parts.safeguards.revert_on_regression:
            return False
        standing = self.standing.evaluation
        if evaluation.known and standing.satisfactory != evaluation.satisfactory:
            return standing.satisfactory
        return drop(standing, evaluation) > EPSILON

    def _close_what_is_open(self) -> None:
        """A version that was made but not judged is part of the history too; half a revision isn't."""
        if self._open is not None and (self._open.output is not None or (not self.versions and self._session.output)):
            self._close(unknown_quality(self._judging.name))

    def _decided(self, decision: ReflectionDecision, version: ReflectionVersion) -> ConvergenceReason | None:
        parts = self.parts
        self._stopped = decision in (ReflectionDecision.ACCEPT, ReflectionDecision.STOP)
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
        if version.iteration in self._unconfirmed or not self.standing.evaluation.known:
            return ConvergenceReason.UNKNOWN_QUALITY
        scores = [one.evaluation.overall_score for one in self.versions]
        outputs = [one.output for one in self.versions]
        issues = [one.evaluation.issues for one in self.versions]
        reason = converged(
            scores,
            outputs,
            issues,
            parts.convergence,
            threshold=None,  # criteria and validators have a say too, so that the score alone doesn't decide
            goal=parts.threshold,
            budget=parts.max_iterations + 1,
        )
        return reason or limit

    async def _criticise(self) -> AsyncIterator[Event]:
        """Let the reflection model say what is wrong with the version to revise, if nobody has."""
        version, session = self.standing, self._session
        trace = session.recorder.trace()
        evaluation = await self._judging.criticised(version.evaluation, session.task, version.output, trace)
        if evaluation is not version.evaluation:
            self.versions[self._standing] = replace(version, evaluation=evaluation)
            yield Reflected(iteration=version.iteration, evaluation=evaluation)

    def _meets_lowered(self, best: ReflectionVersion) -> bool:
        lowered, score = self.parts.safeguards.lowered_threshold, best.evaluation.overall_score
        if lowered is None or score is None or best.iteration in self._unconfirmed:
            return False
        return score >= lowered

    def _last_events(self, best: ReflectionVersion, reason: ConvergenceReason, *, lowered: bool) -> list[Event]:
        last, events = self.versions[-1], list[Event]()
        cut_short = reason in (ConvergenceReason.INTERRUPTED, ConvergenceReason.UNKNOWN_QUALITY)
        satisfied = any(one.evaluation.satisfactory for one in self.versions)
        checked = any(one.evaluation.verifiable for one in self.versions)  # a check that refuses is right, not critical
        never = not satisfied and (lowered or not checked)
        if never and last.iteration and not cut_short and best is not self._accepted:
            response = "accepted at the lowered threshold" if lowered else "the best version is returned"
            events.append(FailureModeSeen(mode="overcritical", iteration=last.iteration, response=response))
        score = best.evaluation.overall_score
        events.append(
            Converged(reason=reason.value, iterations=last.iteration, best_iteration=best.iteration, score=score)
        )
        return events
