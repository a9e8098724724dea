"""One run from its first event to its record: what `Agent.run` and `Agent.stream` share."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, cast

from wisen import errors
from wisen.errors import BudgetExceededError, ConfigError, ModelError, WisenError
from wisen.events import BudgetExhausted, Degraded, Event, RunCompleted, RunStarted, described
from wisen.models.metered import MeteredModel
from wisen.models.names import resolve_model
from wisen.protocols import Architecture, RunLog, bound_to_run
from wisen.records import AttemptRecord, ReflectionEvaluation, RunRecord, RunStatus, TokenUsage, Trace
from wisen.session import AgentSession, Dependencies

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_ai.models import Model

    from wisen.architectures.reflection_records import ReflectionHistory, ReflectionResult
    from wisen.convergence import ConvergenceReason


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What a run came to."""

    record: RunRecord
    trace: Trace
    structured: object = None
    """The validated object where structured output was asked for."""
    metadata: "Mapping[str, object]" = field(default_factory=dict[str, object])
    """What the architecture has to say beyond the record."""

    @property
    def output(self) -> str:
        """The best answer."""
        return self.record.output

    @property
    def status(self) -> RunStatus:
        """How the run ended."""
        return self.record.status

    @property
    def score(self) -> float | None:
        """Score of the answer, `None` where it is unknown."""
        return self.record.score

    @property
    def attempts(self) -> tuple[AttemptRecord, ...]:
        """All attempts, in order."""
        return self.record.attempts

    @property
    def usage(self) -> TokenUsage:
        """What the run used, workers, evaluators and reflectors included."""
        return self.record.usage

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.record.run_id

    @property
    def reflection(self) -> "ReflectionResult":
        """What a `ReflectionPattern` came to; within a `Reflexion`, in the attempt that is the answer.

        Raises `ConfigError` where the run's architecture was none, or ended without any output.
        """
        found = self.metadata.get("reflection")
        if found is None:
            raise ConfigError(
                "this run has no reflection history: its architecture wasn't a ReflectionPattern, or it ended before "
                "there was any output"
            )
        return cast("ReflectionResult", found)

    @property
    def history(self) -> "ReflectionHistory":
        """All versions that a `ReflectionPattern` made; see `reflection`."""
        return self.reflection.history

    @property
    def iterations_used(self) -> int:
        """Cycles of reflection and revision of a `ReflectionPattern`; see `reflection`."""
        return self.reflection.iterations_used

    @property
    def convergence_reason(self) -> "ConvergenceReason":
        """Why a `ReflectionPattern` stopped; see `reflection`."""
        return self.reflection.convergence_reason


class Watchers:
    """Passes events on to whoever watches a run; none of them can end it."""

    def __init__(self, *watchers: Callable[[Event], None] | None) -> None:
        self._watchers = [watch for watch in watchers if watch is not None]
        self.degradations: list[str] = []

    @property
    def any(self) -> bool:
        """Whether somebody watches."""
        return bool(self._watchers)

    def __call__(self, event: Event) -> None:
        """Show an event to all."""
        if isinstance(event, Degraded):
            self.degradations.append(f"{event.stage}: {_kept(event.error)}")
        for watch in tuple(self._watchers):
            try:
                watch(event)
            except Exception as error:  # noqa: BLE001 - a watcher is the user's code; the run goes on without it
                self._watchers.remove(watch)
                self(Degraded(stage="watch", error=described(error), skipped="a watcher that failed"))


def _kept(error: str) -> str:
    """What a record may hold of an error: all of those that quote nobody's text, and the type of the others."""
    name = error.partition(":")[0]
    kind: object = getattr(errors, name, None)
    ours = isinstance(kind, type) and issubclass(kind, WisenError) and not issubclass(kind, ModelError)
    return error if ours or name == "Interrupted" else name


@dataclass(frozen=True, slots=True, kw_only=True)
class Binder:
    """Gives out models of one run; implements `ModelBinder`."""

    model: "Model"
    session: AgentSession
    watchers: Watchers

    def __call__(self, model: "Model | str | None", purpose: str) -> "Model":
        """The run's model for `None`, else the named one, on the run's meter and in its trace."""
        return MeteredModel(
            self.model if model is None else resolve_model(model),
            meter=self.session.meter,
            recorder=self.session.recorder,
            purpose=purpose,
            watch=self.watchers if self.watchers.any else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run that is about to be made."""

    architecture: Architecture
    session: AgentSession
    deps: Dependencies
    watchers: Watchers
    run_log: RunLog | None
    threshold: float
    """Score from which an answer counts as satisfactory."""

    async def drive(self) -> RunResult:
        """Make it, and keep its record. Raises what ended the first attempt, when there is no answer."""
        session, deps = self.session, self.deps
        started = deps.clockwork.now()
        model = deps.model.model_name
        self.watchers(RunStarted(run_id=session.id, agent=deps.agent, architecture=self.architecture.name, model=model))
        status: RunStatus | None = None
        try:
            async for event in events_of(self.architecture, session, deps, session.task.prompt):
                self.watchers(event)
            if not session.attempts:
                await self._evaluate_once()
        except BudgetExceededError as error:
            status = "budget_exhausted"
            self.watchers(BudgetExhausted(limit=error.limit, allowed=error.allowed, spent=error.spent))
        except Exception:
            await self._keep(self._record(started, "failed"))
            raise
        if session.meter.budget.cost_usd is not None and session.meter.unpriced:
            said = f"UnknownPrice: {session.meter.unpriced} calls of a model whose price isn't known"
            self.watchers(Degraded(stage="budget", error=said, skipped="counting them towards Budget(cost_usd=…)"))
        record = self._record(started, status)
        await self._keep(record)
        record = replace(record, degradations=tuple(self.watchers.degradations))
        self.watchers(RunCompleted(record=record))
        return RunResult(
            record=record,
            trace=session.recorder.trace(),
            structured=session.structured,
            metadata=session.metadata,
        )

    async def _evaluate_once(self) -> None:
        """Judge the answer of an architecture that doesn't evaluate by itself, if the agent has an evaluator."""
        session, evaluator, meter = self.session, self.deps.evaluator, self.session.meter
        evaluation: ReflectionEvaluation | None = None
        attempt = AttemptRecord(attempt=1, output=session.output, usage=meter.spent, seconds=meter.seconds)
        if evaluator is not None:
            try:
                bound = bound_to_run(evaluator, self.deps.bind)
                evaluation = await bound.evaluate(session.task, session.output, session.recorder.trace())
                evaluation = replace(evaluation, evaluator=evaluation.evaluator or evaluator.name)
            except BudgetExceededError:
                session.attempts.append(attempt)
                raise
            except Exception as error:  # noqa: BLE001 - an evaluator may be anybody's code; the answer stays
                said = described(error)
                self.watchers(Degraded(stage="evaluate", error=said, skipped="the score", attempt=1))
                evaluation = ReflectionEvaluation(overall_score=None, confidence=0.0, evaluator=evaluator.name)
        session.attempts.append(replace(attempt, evaluation=evaluation, usage=meter.spent, seconds=meter.seconds))

    def _record(self, started: datetime, status: RunStatus | None) -> RunRecord:
        session, deps = self.session, self.deps
        returned = session.returned or (session.attempts[-1] if session.attempts else None)
        evaluation = returned.evaluation if returned else None
        score = evaluation.overall_score if evaluation else None
        if status is None:
            good = session.satisfied if session.satisfied is not None else (score or 0.0) >= self.threshold
            bad = "escalated" if session.escalated else "unsatisfied"
            status = "unevaluated" if score is None else "satisfied" if good else bad
        return RunRecord(
            run_id=session.id,
            task=session.task,
            agent=deps.agent,
            architecture=self.architecture.name,
            model=deps.model.model_name,
            status=status,
            output=session.output,
            score=score,
            attempts=tuple(session.attempts),
            usage=session.meter.spent,
            turns=session.turns,
            started_at=started,
            seconds=session.meter.seconds,
            degradations=tuple(self.watchers.degradations),
        )

    async def _keep(self, record: RunRecord) -> None:
        if self.run_log is None:
            return
        try:
            await self.run_log.save_run(record)
        except Exception as error:  # noqa: BLE001 - a run log may be anybody's code; the answer matters more
            said = described(error)
            self.watchers(Degraded(stage="record", error=said, skipped="keeping the record of this run"))


async def events_of(
    architecture: Architecture, session: AgentSession, deps: Dependencies, prompt: str
) -> AsyncIterator[Event]:
    """The architecture's events; its generator is closed even if the reader stops early."""
    events = architecture.run(session, deps, prompt)
    try:
        async for event in events:
            yield event
    finally:
        if isinstance(events, AsyncGenerator):
            await cast("AsyncGenerator[Event]", events).aclose()
