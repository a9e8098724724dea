"""One run from its first event to its record: what `Agent.run` and `Agent.stream` share."""

from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar, cast

from wisen import models
from wisen.account.attempt_score import failure_of
from wisen.architectures.selection import select
from wisen.architectures.single import judge_once, only_attempt
from wisen.deadlines import RunTime, named
from wisen.errors import (
    BudgetExceededError,
    ConfigError,
    DeadlineError,
    PartTimeoutError,
    RunMismatchError,
    RunNotFoundError,
    StoreError,
)
from wisen.events import BudgetExhausted, Degraded, RunCompleted, RunStarted, described
from wisen.models.journal import Journal, RunOver, StepsUnreadableError, task_key
from wisen.protocols import Evaluator, RunLog
from wisen.records import ENDED, AttemptRecord, RunRecord, RunStatus, TokenUsage, Trace
from wisen.reflexion.resuming import KeptEvaluator
from wisen.session import AgentSession, Architecture, Dependencies, events_of
from wisen.watchers import Watchers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_ai.models import Model

    from wisen.reflection_pattern.convergence import ConvergenceReason
    from wisen.reflection_pattern.history import ReflectionHistory, ReflectionResult

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """The result of a run."""

    record: RunRecord
    trace: Trace
    structured: object = None
    """The validated object, if structured output was requested."""
    metadata: "Mapping[str, object]" = field(default_factory=dict[str, object])
    """What the architecture adds to the record."""

    def __str__(self) -> str:
        """The answer, and how the run ended below it; `repr` shows everything."""
        score = "" if self.score is None else f", score {self.score:.2f}"
        made = f"{len(self.attempts)} attempt{'' if len(self.attempts) == 1 else 's'}"
        return f"{self.output}\n({self.status}{score}, {made}, run {self.run_id})"

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
        """The answer's score; `None` if it is unknown."""
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
        """The result of a `ReflectionPattern`; within a `Reflexion`, that of the attempt whose output is the answer.

        Raises `ConfigError` if the run's architecture was another one, or ended without any output.
        """
        found = self.metadata.get("reflection")
        if found is None:
            raise ConfigError(
                "this run has no reflection history: its architecture wasn't a ReflectionPattern, it ended before "
                "there was any output, or it had ended earlier and only its record is kept"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBinder:
    """Gives out models of one run; implements `ModelBinder`."""

    model: "Model"
    session: AgentSession
    watchers: Watchers
    journal: Journal | None = None
    """What the run has done, where it can be resumed."""
    guard: "Callable[[Model], Model] | None" = None
    """Wraps each model that is asked, so that it can be held up; answers that were kept are given without it."""

    def keeping(self, evaluator: Evaluator) -> Evaluator:
        """An evaluator that calls no model, with the judgements that it gave before."""
        return evaluator if self.journal is None else KeptEvaluator(evaluator, self.journal)

    def __call__(self, model: "Model | str | None", purpose: str) -> "Model":
        """The run's model for `None`, else the named one, on the run's meter and in its trace."""
        meant = self.model if model is None else models.resolve_model(model)
        meant = meant if self.guard is None else self.guard(meant)
        return models.MeteredModel(
            meant if self.journal is None else models.JournaledModel(meant, self.journal),
            meter=self.session.meter,
            recorder=self.session.recorder,
            purpose=purpose,
            watch=self.watchers if self.watchers.any else None,
            unrepeatable=self.session.unrepeatable.extend,
            offered=self.session.offered.update,
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
    journal: Journal | None = None
    """What it has done, where it can be resumed."""
    seed: str = ""
    """What its ids and draws follow from if it is begun now; for a run with a journal."""

    async def drive(self) -> RunResult:
        """Make it, and keep its record.

        Raises what ended it or else what ended its first attempt, when there is no answer.
        """
        budget = self.session.meter.budget
        with RunTime(seconds=budget.seconds, step_seconds=budget.step_seconds) as time:
            self.watchers.time = time
            if self.journal is None:
                return await self._made(time, self.deps, self.deps.clockwork.now())
            return await self._resumable(time, self.journal)

    async def _resumable(self, time: RunTime, journal: Journal) -> RunResult:
        ended = await self._ended()
        if ended is not None:
            return self._result_of(ended)
        clockwork = self.deps.clockwork
        begin = journal.begin(self.session.task, at=clockwork.now(), seed=self.seed, told=self._fingerprint())
        begun = await self._closing(begin)
        if begun.new:
            if (ended := await self._ended()) is not None:  # in another process, since it was asked above
                await self._tidy(journal)
                return self._result_of(ended)
            await self._keep(self._record(begun.started, "unfinished"))
        if begun.changed:
            said = f"RunMismatchError: {', '.join(begun.changed)} changed since it was begun"
            self.watchers(Degraded(stage="record", error=said, skipped="making the whole run in one and the same way"))
        result = unreadable = None
        try:
            result = await self._made(time, replace(self.deps, clockwork=begun.clockwork(clockwork)), begun.started)
        except* RunOver:
            pass
        except* StepsUnreadableError as errors:
            unreadable = errors
        if unreadable is not None:
            said = f"the steps of run {self.session.id!r} can't be read, and nothing is to be done twice; run it again"
            raise StoreError(said) from unreadable
        if result is not None:
            return result
        await self._tidy(journal)
        return await self._ended_elsewhere()

    def _fingerprint(self) -> "Mapping[str, object]":
        """What makes other runs of the same task."""
        return {
            "model": self.deps.model.model_name,
            "instructions": self.session.instructions,
            "architecture": self.architecture.name,
            "max_attempts": getattr(self.architecture, "max_attempts", None),
            "threshold": self.threshold,
            "evaluator": None if self.deps.evaluator is None else self.deps.evaluator.name,
            "tools": [getattr(tool, "name", None) or getattr(tool, "__name__", "") for tool in self.deps.tools],
        }

    async def _ended_elsewhere(self) -> RunResult:
        """The result that another process has come to, while this one was at it."""
        ended = await self._ended()
        if ended is None:
            raise StoreError(f"the steps of run {self.session.id!r} were removed while it was under way; run it again")
        return self._result_of(ended)

    async def _made(self, time: RunTime, deps: Dependencies, started: datetime) -> RunResult:
        session = self.session
        model = deps.model.model_name
        self.watchers(RunStarted(run_id=session.id, agent=deps.agent, architecture=self.architecture.name, model=model))
        status: RunStatus | None = None
        try:
            await time.spend(f"architecture {self.architecture.name!r}", self._worked(deps))
        except BudgetExceededError as error:
            status = "budget_exhausted"
            self.watchers(BudgetExhausted(limit=error.limit, allowed=error.allowed, spent=error.spent))
            if isinstance(error, DeadlineError):
                self._cut_off(error, error.part)
        except Exception as error:
            if not self._cut_off_with_answer(time, error):
                ended = await self._ended_meanwhile()
                if ended is not None:  # another process has come further: its answer isn't to be lost
                    return self._result_of(ended)
                if not session.attempts:
                    session.attempts.append(only_attempt(session, failure_of(error)))
                await self._keep(self._record(started, "failed"))
                raise
        if session.meter.budget.cost_usd is not None and session.meter.unpriced:
            said = f"UnknownPrice: {session.meter.unpriced} calls of a model whose price isn't known"
            self.watchers(Degraded(stage="budget", error=said, skipped="counting them towards Budget(cost_usd=…)"))
        record = self._record(started, status)
        ended = None if self.journal is None else await self._settle(self.journal, record)
        if ended is not None:
            return self._result_of(ended)
        if self.journal is None:
            await self._keep(record)
        record = replace(record, degradations=tuple(self.watchers.degradations))
        self.watchers(RunCompleted(record=record))
        return RunResult(
            record=record,
            trace=session.recorder.trace(),
            structured=session.structured,
            metadata=session.metadata,
        )

    async def _worked(self, deps: Dependencies) -> None:
        with models.using_threads():
            async for event in events_of(self.architecture, self.session, deps, self.session.task.prompt):
                self.watchers(event)
            if not self.session.attempts:
                await judge_once(self.session, deps, threshold=self.threshold)

    def _cut_off_with_answer(self, time: RunTime, error: Exception) -> bool:
        """Whether the run was left behind because one of its parts can't be stopped, and still has an answer."""
        if not time.left_behind or not isinstance(error, PartTimeoutError):
            return False
        self._cut_off(error, error.part)
        return any(attempt.answered for attempt in self.session.attempts)

    def _cut_off(self, error: Exception, part: str) -> None:
        """Say what was broken off, and settle on the best answer there is."""
        self.watchers(Degraded(stage="budget", error=described(error), skipped=f"{part}, and all that was to follow"))
        session = self.session
        if session.returned is not None:
            return
        if session.output and not session.attempts:
            session.attempts.append(only_attempt(session))
        best = select(session.attempts, "highest_score", threshold=self.threshold)
        if best is not None and (best.evaluation is not None or not session.output):
            session.output, session.returned = best.output, best

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

    async def _ended(self) -> RunRecord | None:
        """The record of this run, where it has ended and come to something; raises what the run log raises."""
        try:
            record = await self._closing(self._known())
        except RunNotFoundError:
            return None
        if record is not None and task_key(record.task) != task_key(self.session.task):
            raise RunMismatchError(self.session.id)
        return record if record is not None and record.status in ENDED else None

    async def _known(self) -> RunRecord | None:
        return None if self.run_log is None else await self.run_log.run(self.session.id)

    def _result_of(self, record: RunRecord) -> RunResult:
        """The result of a run that had ended before: its record is all there is."""
        self.watchers(RunCompleted(record=record))
        trace = Trace(trace_id=record.run_id, purpose=record.task.prompt, run_mode="replay")
        return RunResult(record=record, trace=trace)

    async def _settle(self, journal: Journal, record: RunRecord) -> RunRecord | None:
        """Keep the record, unless another process was first: then its record counts, and is given."""
        kept = await self._keep(record, unless_ended=True)
        if isinstance(kept, RunRecord):
            return kept
        if kept:
            await self._tidy(journal)
        return None

    async def _tidy(self, journal: Journal) -> None:
        try:
            await self._closing(journal.drop())
        except Exception as error:  # noqa: BLE001 - as below
            self.watchers(Degraded(stage="record", error=described(error), skipped="tidying up after this run"))

    async def _ended_meanwhile(self) -> RunRecord | None:
        """The record of a run that keeps its steps, where another process has ended it."""
        try:
            return None if self.journal is None else await self._ended()
        except Exception:  # noqa: BLE001 - keeping the record fails as well, and says so
            return None

    async def _closing(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """A call of the store that keeps runs; it has a moment also where the deadline has passed."""
        time = self.watchers.time
        return await work if time is None else await time.spend(named("store", self.run_log), work, closing=True)

    async def _keep(self, record: RunRecord, *, unless_ended: bool = False) -> bool | RunRecord:
        """Whether the record is kept now; with `unless_ended`, the record that another process has kept before."""
        if self.run_log is None:
            return False
        try:
            return await self._closing(self._saved(self.run_log, record, unless_ended=unless_ended))
        except Exception as error:  # noqa: BLE001 - a run log may be anybody's code; the answer matters more
            said = described(error)
            self.watchers(Degraded(stage="record", error=said, skipped="keeping the record of this run"))
            return False

    async def _saved(self, log: RunLog, record: RunRecord, *, unless_ended: bool) -> bool | RunRecord:
        """One step for both, so that hardly anything comes between looking and writing."""
        known = None
        if unless_ended:
            with suppress(Exception):  # writing fails as well, and says so
                known = await log.run(record.run_id)
        if known is not None and known.status in ENDED and task_key(known.task) == task_key(record.task):
            return known
        await log.save_run(record)
        return True
