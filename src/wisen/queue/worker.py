"""A worker: takes tasks from a queue, makes their runs, and hands back what it can't end."""

import asyncio
import gc
import logging
import math
import signal
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from wisen.errors import ConfigError, QueueError
from wisen.events import Event
from wisen.models.names import resolve_model
from wisen.operations.logs import log, log_context
from wisen.queue import batches
from wisen.queue.call_gate import GatedModel
from wisen.queue.capabilities import AGAIN, SkippedBatches
from wisen.queue.database import QueueConnection, Tables, checked_url
from wisen.queue.dbos_engine import Dispatch, QueueEngine, TaskSource
from wisen.queue.idle_work import IdleWork
from wisen.queue.in_flight import TasksInFlight
from wisen.queue.leases import Lease, LeaseKeeper, LeaseListener, checked_name, claim, resign
from wisen.queue.owned_tasks import OwnedTasks
from wisen.queue.rates import Rate, Rates
from wisen.queue.reconnecting import patiently
from wisen.queue.task_ids import TaskId
from wisen.queue.worker_runs import Makes, OpenStore, Runs, RunSetup, store_at, store_connections

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from wisen.operations.metrics import Metrics

_Result = TypeVar("_Result")

DEFAULT_TAKEOVER = 20.0
_OTHERS = 10
"""So many other queues are named, those with the most waiting tasks."""
_SHUTDOWN = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """Finer choices of a worker."""

    takeover: float = DEFAULT_TAKEOVER
    """Seconds without a sign of life after which others have this worker's tasks."""
    grace: float = 30.0
    """Seconds that runs have to end when the worker is stopped; the others are handed back."""
    most_running: int | None = None
    """Most tasks at a time in all workers of the queue; the same for each of them."""
    rates: Mapping[str, Rate] = field(default_factory=dict[str, Rate])
    """Most model calls of all workers of the queue, by the provider's or the model's name."""
    poll: float = 0.5
    """Seconds between polls for tasks while there is work. An idle worker polls rarely, and is notified of new
    tasks."""
    again: float = AGAIN
    """Seconds after which it looks again whether it has what it lacked for a batch."""
    forgotten: float = 15.0
    """Seconds after which a worker queues a batch whose submitter stored it but didn't queue it."""
    replay_budget: int | None = None
    """Most attempts an hour in which lessons without a verdict are tried on recorded runs, of all workers together,
    while there are no tasks; `None` tries none."""
    replay_every: float = 60.0
    """Seconds between looks for what can be replayed."""
    tools_too: bool = False
    """Whether replays may run the worker's own agent if it has tools or runs somebody else's code; see
    `RecordedOptions`."""
    open_store: OpenStore | None = None
    """Opens the store of lessons; by default it is in the queue's database."""
    find_model: "Callable[[str | None], Model]" = resolve_model
    """The model that a name means."""
    watch: Callable[[Event], None] | None = None
    """Shown the events of all runs, besides the agent's own watcher."""
    metrics: "Metrics | None" = None
    """Counts what becomes of tasks, and of other workers'; events of runs it counts as the `watch`."""

    def __post_init__(self) -> None:
        """Refuse what can't be, with `ConfigError`."""
        for name in ("takeover", "poll", "again", "forgotten", "replay_every"):
            if not 0 < getattr(self, name) < math.inf:
                raise ConfigError(f"{name} {getattr(self, name)!r}: must be more than 0 seconds")
        if not 0 <= self.grace < math.inf:
            raise ConfigError(f"grace {self.grace!r}: must be 0 seconds or more")
        if self.most_running is not None and self.most_running < 1:
            raise ConfigError(f"most_running {self.most_running}: must be 1 or more")
        if self.replay_budget is not None and self.replay_budget < 1:
            raise ConfigError(f"replay_budget {self.replay_budget}: must be 1 or more")


class Worker:
    """Does the tasks of a queue until it is stopped; one in each process.

    It prints nothing: what happens is logged to the logger "wisen.worker", as fields of each record that
    `set_up_logs()` of `wisen.operations.logs` writes to stderr, as `wisen worker` does. With `logging.basicConfig`
    alone only the events' names are seen.

    Args:
        url: The database, postgresql://…
        queue: Whose tasks.
        agent: Works on them: an agent, or a function that makes it, perhaps with the store of lessons in that database
            as its argument. By default each batch's options describe its agent.
        concurrency: Most tasks at a time.
        id: Its lasting name. A worker that has it now is superseded. By default the host's name with a number.
        options: Finer choices.
    """

    def __init__(
        self,
        url: str,
        *,
        queue: str,
        agent: Makes | None = None,
        concurrency: int = 4,
        id: str | None = None,  # noqa: A002 - what it is
        options: WorkerOptions | None = None,
    ) -> None:
        if concurrency < 1:
            raise ConfigError(f"Worker(concurrency={concurrency}): must be 1 or more")
        self.url = checked_url(url)
        self.queue = checked_name(queue, "queue")
        self._id = None if id is None else checked_name(id, "worker")
        self._concurrency = concurrency
        self._options = options or WorkerOptions()
        self._setup = RunSetup(
            agent=agent,
            open_store=self._options.open_store or store_at(url, connections=store_connections(concurrency)),
            find_model=self._options.find_model,
            watch=self._options.watch,
            tools_too=self._options.tools_too,
        )
        self._whole_process = False
        self._stop = asyncio.Event()
        self._hurry = asyncio.Event()
        self._lease: Lease | None = None
        self._giving: set[asyncio.Future[int]] = set()

    @property
    def id(self) -> str:
        """The worker's name; "" before it has one."""
        return "" if self._lease is None else self._lease.worker

    @property
    def takeover(self) -> float:
        """Seconds without a sign of life after which others have its tasks."""
        return self._options.takeover

    @property
    def stopping(self) -> bool:
        """Whether it takes no more tasks, and ends or hands back those that it has."""
        return self._stop.is_set()

    def find_model(self, name: str | None) -> "Model":
        """The model that a name means to this worker; raises what the options' `find_model` raises."""
        return self._options.find_model(name)

    @property
    def heartbeat_age(self) -> float:
        """Seconds since its lease was renewed; infinite before it has one."""
        return math.inf if self._lease is None else self._lease.age

    async def run(self) -> None:
        """Work until `stop`; a database that is away is waited for.

        Raises `QueueError` where another worker was started under the same id, and what the agent's making raises.
        """
        tables = Tables(self.url, patience=math.inf, size=2 + self._concurrency // 8)
        dispatch = Dispatch(self.url)
        log("worker.starting", queue=self.queue)
        try:
            await self._unless_stopped(tables.run(_nothing))
            while not self._stop.is_set():
                why = await self._life(tables, dispatch)
                if why == "displaced":
                    raise QueueError(f"worker {self.id!r} of queue {self.queue!r} was started again elsewhere")
        finally:
            for giving in self._giving:
                giving.cancel()
            await asyncio.to_thread(dispatch.close)
            await tables.close()

    def run_sync(self, *, beside: "Callable[[], AbstractAsyncContextManager[object]]" = nullcontext) -> None:
        """`run` for a program of its own, stopped by SIGTERM and SIGINT: once in peace, twice at once.

        `beside` is entered before and left after, such as for serving the worker's health.
        """
        self._whole_process = True

        async def main() -> None:
            loop = asyncio.get_running_loop()
            for one in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(one, self.stop)
            async with beside():
                await self.run()

        asyncio.run(main())

    def stop(self) -> None:
        """Take no more tasks, let those that are being done end within the grace, and hand back the rest.

        The second time: hand all back at once.
        """
        if self._stop.is_set():
            self._hurry.set()
        self._stop.set()

    async def _life(self, tables: Tables, dispatch: Dispatch) -> str:
        """One time from having a lease to not having it; gives why it ended."""
        options = self._options
        rates = Rates(tables, self.queue, options.rates)

        def guard(model: "Model") -> "Model":
            if self._lease is None:
                raise ConfigError("a worker makes no model call before it has a lease")
            return GatedModel(model, self._lease, rates)

        def changed(batches: int) -> None:
            self._report_skipped(batches)
            engine.look()

        # The lease comes after whatever takes long to make, which would let it end.
        async with Runs(self._setup, guard=guard, options_of=partial(batches.options_of, tables)) as runs:
            claimed = patiently(partial(claim, self.url, self.queue, self._id, options.takeover))
            lease = await self._unless_stopped(claimed)
            if lease is None:
                return "stopped"
            self._lease = lease
            elsewhere = await tables.run(partial(_elsewhere, self.queue))
            log("worker.started", worker=lease.worker, queue=self.queue, waiting_elsewhere=elsewhere or None)
            log_context(worker=lease.worker)
            self._report_skipped(0)
            skipped = SkippedBatches(tables, lease.holder, fits=runs.prepare, changed=changed, every=options.again)
            in_flight = TasksInFlight(
                OwnedTasks(tables, self.queue, lease.holder),
                runs,
                skipped,
                became=self._became,
                give_back=partial(self._give_back, dispatch, lease.holder),
            )
            engine = QueueEngine(
                self.url,
                TaskSource(queue=self.queue, holder=lease.holder, perform=in_flight.do, skipped=skipped.batches),
                concurrency=self._concurrency,
                most_running=options.most_running,
                poll=options.poll,
            )
            async with _beside(skipped.recheck()), _beside(self._idle_work(runs, in_flight, lease)):
                return await self._work(lease, dispatch, engine, in_flight, tables)

    async def _idle_work(self, runs: Runs, in_flight: TasksInFlight, lease: Lease) -> None:
        if (budget := self._options.replay_budget) is not None:
            idle_work = IdleWork(
                queue=self.queue,
                holder=lease.holder,
                budget=budget,
                idle=in_flight.idle,
                agents=runs.replayable,
                every=self._options.replay_every,
            )
            await idle_work.use()

    async def _work(
        self, lease: Lease, dispatch: Dispatch, engine: QueueEngine, in_flight: TasksInFlight, tables: Tables
    ) -> str:
        loop = asyncio.get_running_loop()
        lost: asyncio.Future[str] = loop.create_future()

        def on_lost(why: str) -> None:
            loop.call_soon_threadsafe(lambda: None if lost.done() else lost.set_result(why))

        def on_cancelled(task_ids: list[TaskId]) -> None:
            loop.call_soon_threadsafe(in_flight.cancel, task_ids)

        listener = LeaseListener(
            lost=on_lost,
            cancelled=on_cancelled,
            doing=in_flight.doing,
            took_over=self._took_over,
            tasks_wait=engine.look,
        )
        keeper = LeaseKeeper(self.url, dispatch, lease, listener)
        keeper.start()
        try:
            await engine.start()
            if self._whole_process:
                # All that was loaded stays; to look through it for garbage would hold up every run, again and again.
                gc.collect()
                gc.freeze()
            async with _beside(self._sweep(tables, dispatch)):
                stop = asyncio.ensure_future(self._stop.wait())
                await asyncio.wait({stop, lost}, return_when=asyncio.FIRST_COMPLETED)
                stop.cancel()
            if lost.done():
                log("worker.late", level=logging.WARNING, worker=lease.worker, queue=self.queue, why=lost.result())
                in_flight.close()
                await engine.stop(0)
                return lost.result()
            await self._hand_back(lease, dispatch, engine, in_flight)
            return "stopped"
        finally:
            in_flight.close()
            keeper.end()
            await asyncio.to_thread(keeper.join, _SHUTDOWN)

    async def _hand_back(self, lease: Lease, dispatch: Dispatch, engine: QueueEngine, in_flight: TasksInFlight) -> None:
        """End in order: what ends in time ends, and others have the rest at once."""
        grace = self._options.grace
        log("worker.stopping", worker=lease.worker, queue=self.queue, tasks=len(in_flight.doing()))
        in_flight.refuse()
        stopping = asyncio.ensure_future(engine.stop(grace + _SHUTDOWN))
        hurry = asyncio.ensure_future(self._hurry.wait())
        idle = asyncio.ensure_future(in_flight.idle())
        await asyncio.wait({hurry, idle}, timeout=grace, return_when=asyncio.FIRST_COMPLETED)
        hurry.cancel()
        idle.cancel()
        in_flight.close()
        await in_flight.idle()

        def give() -> int:
            return dispatch.hand_back(self.queue, lease.holder, dispatch.holders(self.queue).get(lease.holder, []))

        with suppress(TimeoutError):
            async with asyncio.timeout(_SHUTDOWN):
                await in_flight.owned.release()
                given = await patiently(give)
                await asyncio.wait({stopping})
                # Tasks may have been given out between the two.
                given += await patiently(give)
                await patiently(partial(resign, self.url, lease))
                log("worker.stopped", worker=lease.worker, queue=self.queue, handed_back=given)
                self._became("handed_back", given)
        await asyncio.wait({stopping}, timeout=_SHUTDOWN)

    async def _unless_stopped(self, work: Coroutine[object, object, _Result]) -> _Result | None:
        """What the work comes to, or `None` where the worker is stopped while that is waited for."""
        async with _beside(work) as working, _beside(self._stop.wait()) as stop:
            await asyncio.wait({working, stop}, return_when=asyncio.FIRST_COMPLETED)
            return working.result() if working.done() else None

    def _became(self, outcome: str, tasks: int = 1) -> None:
        if self._options.metrics is not None:
            self._options.metrics.task_ended(self.queue, outcome, tasks)

    def _give_back(self, dispatch: Dispatch, holder: str, task_id: TaskId) -> None:
        """Let others have a task."""
        giving = asyncio.ensure_future(patiently(partial(dispatch.hand_back, self.queue, holder, [task_id.workflow])))
        self._giving.add(giving)
        giving.add_done_callback(self._giving.discard)

    def _report_skipped(self, batches: int) -> None:
        if self._options.metrics is not None:
            self._options.metrics.set_skipped(self.queue, batches)

    def _took_over(self, tasks: int) -> None:
        if self._options.metrics is not None:
            self._options.metrics.took_over(tasks)

    async def _sweep(self, tables: Tables, dispatch: Dispatch) -> None:
        """Put batches into the queue that were stored, and whose submitter died before it came to that."""
        while True:
            await asyncio.sleep(self._options.forgotten * 2 / 3)
            for batch in await batches.forgotten(tables, self.queue, self._options.forgotten):
                task_ids = await batches.waiting(tables, batch)
                await patiently(partial(dispatch.put, self.queue, task_ids))
                await batches.mark_enqueued(tables, batch)


@asynccontextmanager
async def _beside(work: Coroutine[object, object, _Result]) -> AsyncGenerator[asyncio.Task[_Result]]:
    task = asyncio.ensure_future(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _nothing(_: object) -> None:
    """Open the tables, so that they are there."""


async def _elsewhere(queue: str, connection: QueueConnection) -> list[str]:
    """Other queues with tasks that wait, and how many: a worker may have been started for the wrong one."""
    rows = await connection.fetch(
        "SELECT queue, count(*) AS waiting FROM tasks WHERE state = 'waiting' AND queue <> $1 "
        "GROUP BY queue ORDER BY waiting DESC, queue LIMIT $2",
        *(queue, _OTHERS),
    )
    return [f"{row['queue']}: {row['waiting']}" for row in rows]
