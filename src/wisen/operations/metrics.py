"""What a process did, in numbers for Prometheus: counted from the events of its runs, and read from the worker.

Labels are queues, outcomes, stages and names of models. None holds a tenant, a task, a run or any text: those would
grow without end, and a page that anybody on the network may read is no place for them.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from wisen.errors import MissingExtraError
from wisen.events import (
    AdviceUndelivered,
    AttemptStarted,
    BudgetExhausted,
    CardMoved,
    Degraded,
    Event,
    LessonPersisted,
    LessonsBlocked,
    LessonsRecalled,
    ModelCalled,
    RunCompleted,
    RunStarted,
    WorkerEvent,
)

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

INSTALL = "pip install 'wisen[durable]'"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_LATENCY = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
_LASTING = (0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800)
_ATTEMPTS = (1, 2, 3, 4, 6, 8, 12)
_MOST_OPEN = 10_000
_MOST_MODELS = 50
OTHER = "other"
"""Stands for the names of models beyond a number that no configuration has: a name may come from a task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueDepth:
    """How many tasks of a queue are where."""

    queue: str
    waiting: int
    running: int
    dead: int
    """Given up, and waiting for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolUse:
    """Connections of a pool."""

    in_use: int
    size: int
    """As many as it may open."""


class Metrics:
    """The counters of one process, in a registry of their own.

    Pass `watch` to any `Agent(watch=…)`, also to several at once; it never blocks. What events don't tell, a worker
    says through the other methods.
    """

    def __init__(self, *, monotonic: Callable[[], float] = time.perf_counter) -> None:
        """Make the counters; raises `MissingExtraError` where prometheus-client isn't installed."""
        try:
            from prometheus_client import CollectorRegistry, Info  # noqa: PLC0415 - optional extra
        except ImportError as error:
            raise MissingExtraError("wisen's metrics", INSTALL) from error
        self.registry: CollectorRegistry = CollectorRegistry()
        self._monotonic = monotonic
        self._runs = _RunCounts(self.registry)
        self._memory = _Memory(self.registry)
        self._work = _Work(self.registry)
        self._models: set[str] = set()
        self._open: dict[str, None] = {}
        # Events of one attempt come from one task of the loop, and say no run.
        self._began: WeakKeyDictionary[asyncio.Task[object], float] = WeakKeyDictionary()
        Info("wisen_build", "The version of wisen.", registry=self.registry).info({"version": version("wisen")})

    def watch(self, event: Event) -> None:
        """Count an event of a run."""
        while isinstance(event, WorkerEvent):
            event = event.event
        match event:
            case RunStarted(run_id=run_id):
                self._runs.started.inc()
                self._open[run_id] = None
                if len(self._open) > _MOST_OPEN:  # those that failed have no end that is told
                    del self._open[next(iter(self._open))]
            case RunCompleted(record=record):
                # Of a run that had ended before, which is asked for again, there is only the end.
                if self._open.pop(record.run_id, record) is record:
                    return
                self._runs.seconds.labels(record.status).observe(record.seconds)
                self._runs.attempts.observe(len(record.attempts))
            case ModelCalled():
                self._called(event)
            case Degraded(stage=stage):
                self._runs.degradations.labels(stage).inc()
            case BudgetExhausted(limit=limit):
                self._runs.exhausted.labels(limit).inc()
            case AttemptStarted() | LessonsRecalled():
                self._recalled(event)
            case _:
                self._memory.count(event)

    def _called(self, event: ModelCalled) -> None:
        model = self._known(event.model)
        if event.recorded:
            self._runs.recorded.labels(model).inc()
            return
        self._runs.calls.labels(model).inc()
        self._runs.call_seconds.labels(model).observe(event.seconds)
        self._runs.tokens.labels(model, "input").inc(event.usage.input_tokens)
        self._runs.tokens.labels(model, "output").inc(event.usage.output_tokens)
        self._runs.cost.labels(model).inc(event.usage.cost_usd)

    def _recalled(self, event: AttemptStarted | LessonsRecalled) -> None:
        task, now = _current_task(), self._monotonic()
        began = now if task is None else self._began.pop(task, now)
        if isinstance(event, LessonsRecalled):
            self._memory.recall_seconds.observe(now - began)
            self._memory.recalled.inc(event.n_recalled)
        elif task is not None:
            self._began[task] = now

    def _known(self, model: str) -> str:
        if model not in self._models and len(self._models) >= _MOST_MODELS:
            return OTHER
        self._models.add(model)
        return model

    def task_ended(self, queue: str, outcome: str, tasks: int = 1) -> None:
        """What became of a task: a run's status, "dead", "cancelled"; "retried" here, or "handed_back" to others."""
        self._work.tasks.labels(queue, outcome).inc(tasks)

    def took_over(self, tasks: int) -> None:
        """This worker took over the tasks of a dead one."""
        self._work.takeovers.inc()
        self._work.taken.inc(tasks)

    def lagged(self, seconds: float) -> None:
        """The event loop came this much later to a timer than it was due."""
        self._work.lag.observe(max(0.0, seconds))

    def set_depth(self, depth: QueueDepth) -> None:
        """How many tasks of a queue are where, as last looked up."""
        for state, count in (("waiting", depth.waiting), ("running", depth.running), ("dead", depth.dead)):
            self._work.depth.labels(depth.queue, state).set(count)

    def set_skipped(self, queue: str, batches: int) -> None:
        """How many batches this worker leaves to others, since it lacks what they need."""
        self._work.skipped.labels(queue).set(batches)

    def set_heartbeat_age(self, seconds: float) -> None:
        """How long ago this worker last said that it lives."""
        self._work.heartbeat.set(seconds)

    def set_pool(self, use: PoolUse) -> None:
        """How many of the store's connections are in use."""
        self._work.pool_in_use.set(use.in_use)
        self._work.pool_size.set(use.size)

    def set_check(self, name: str, *, ok: bool) -> None:
        """What a check of readiness found last."""
        self._work.checks.labels(name).set(ok)

    def text(self) -> bytes:
        """Everything in Prometheus' text format."""
        from prometheus_client import generate_latest  # noqa: PLC0415 - optional extra

        return generate_latest(self.registry)


class _RunCounts:
    """What runs and their model calls came to."""

    def __init__(self, registry: "CollectorRegistry") -> None:
        counter, histogram = _makers(registry)
        self.started = counter("wisen_runs_started", "Runs begun or resumed here.")
        self.seconds = histogram("wisen_run_seconds", "Duration of runs that ended with a status.", _LASTING, "outcome")
        self.attempts = histogram("wisen_run_attempts", "Attempts of runs that ended with a status.", _ATTEMPTS)
        self.calls = counter("wisen_model_calls", "Answers of models that were paid for.", "model")
        self.call_seconds = histogram("wisen_model_call_seconds", "Duration of model calls.", _LASTING, "model")
        self.tokens = counter("wisen_model_tokens", "Tokens, input and output.", "model", "direction")
        self.cost = counter("wisen_model_cost_usd", "US dollars spent, where the price is known.", "model")
        self.recorded = counter("wisen_model_replays", "Kept answers that a resumed run reused, unpaid.", "model")
        self.degradations = counter(
            "wisen_degradations", "What runs went without, such as recall, evaluate or persist.", "stage"
        )
        self.exhausted = counter("wisen_budgets_exhausted", "Runs that a limit of their budget ended.", "limit")


class _Memory:
    """What memory gave and took."""

    def __init__(self, registry: "CollectorRegistry") -> None:
        counter, histogram = _makers(registry)
        self.recall_seconds = histogram(
            "wisen_recall_seconds", "From an attempt's start to its advice, where anything was recalled.", _LATENCY
        )
        self.recalled = counter("wisen_recalled_cards", "Cards shown to attempts.")
        self.lessons = counter("wisen_lessons", "Lessons: added, duplicate, or rejected by the screen.", "outcome")
        self.redacted = counter("wisen_lessons_redacted", "Kept lessons that the screen redacted.")
        self.blocked = counter("wisen_cards_blocked", "Stored cards that the screen kept out of a prompt.")
        self.moved = counter("wisen_cards_moved", "Cards that a run's outcome promoted or archived.", "after")
        self.undelivered = counter("wisen_advice_undelivered", "Attempts with advice that no model call carried.")

    def count(self, event: Event) -> None:
        match event:
            case LessonPersisted(outcome=outcome, rules=rules):
                self.lessons.labels(outcome).inc()
                if rules and outcome != "rejected":
                    self.redacted.inc()
            case LessonsBlocked(blocked=blocked):
                self.blocked.inc(len(blocked))
            case CardMoved(after=after):
                self.moved.labels(after).inc()
            case AdviceUndelivered():
                self.undelivered.inc()
            case _:
                pass


class _Work:
    """What a worker and its process do."""

    def __init__(self, registry: "CollectorRegistry") -> None:
        counter, histogram = _makers(registry)
        self.tasks = counter(
            "wisen_tasks",
            "Tasks that ended, by their run's status, dead or cancelled; retried here, or handed_back to others.",
            "queue",
            "outcome",
        )
        self.takeovers = counter("wisen_takeovers", "Dead workers that this one took over from.")
        self.taken = counter("wisen_tasks_taken_over", "Tasks that this worker took over from dead ones.")
        self.lag = histogram("wisen_event_loop_lag_seconds", "How late the event loop reaches a timer.", _LATENCY)
        self.depth = _gauge(
            registry, "wisen_queue_tasks", "Tasks waiting, running and dead, over all workers.", "queue", "state"
        )
        self.skipped = _gauge(
            registry, "wisen_unfit_batches", "Batches left to others, since this worker lacks what they need.", "queue"
        )
        self.heartbeat = _gauge(
            registry, "wisen_heartbeat_age_seconds", "Seconds since this worker's last sign of life."
        )
        self.pool_in_use = _gauge(registry, "wisen_pool_in_use", "Busy connections to the store.")
        self.pool_size = _gauge(registry, "wisen_pool_size", "Connections to the store that may be open.")
        self.checks = _gauge(registry, "wisen_check_ok", "1 while a check of readiness passes, else 0.", "check")


def _makers(registry: "CollectorRegistry") -> "tuple[Callable[..., Counter], Callable[..., Histogram]]":
    from prometheus_client import Counter, Histogram  # noqa: PLC0415 - optional extra

    def counter(name: str, says: str, *labels: str) -> "Counter":
        return Counter(name, says, labels, registry=registry)

    def histogram(name: str, says: str, buckets: tuple[float, ...], *labels: str) -> "Histogram":
        return Histogram(name, says, labels, buckets=buckets, registry=registry)

    return counter, histogram


def _gauge(registry: "CollectorRegistry", name: str, says: str, *labels: str) -> "Gauge":
    from prometheus_client import Gauge  # noqa: PLC0415 - optional extra

    return Gauge(name, says, labels, registry=registry)


def _current_task() -> "asyncio.Task[object] | None":
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None
