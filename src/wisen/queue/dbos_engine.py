"""The one place that knows DBOS: it gives out tasks, each as a workflow whose single step is the run.

DBOS keeps which tasks wait and who has which; see `docs/how-to/workers.md` for its tables. Besides its documented
interface, this uses what DBOS 3.4 itself does for its own queues and for recovery; so the extra `durable` asks for
that release.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from concurrent.futures import CancelledError as FutureCancelledError
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from wisen.errors import ConfigError
from wisen.queue.database import hosts_as_options
from wisen.queue.polling import TaskPoll
from wisen.queue.reconnecting import patiently
from wisen.queue.task_ids import TaskId

if TYPE_CHECKING:
    from dbos import DBOS, DBOSClient, DBOSConfig
    from dbos._sys_db import WorkflowStatusInternal

SCHEMA = "wisen_dbos"
"""Where DBOS's tables are, in the queue's database."""
_NAME = "wisen"
_VERSION = "wisen-queue-1"
"""Workers of any wisen with this form of queue take over from one another, whatever else they run."""
_WORKFLOW = "wisen.task"
_BULK = 2_000
_RANKS = 2**31 - 1
"""As many as DBOS tells apart."""
_NOTED = 0.02
"""Seconds after which DBOS has noted that a task ended."""
_LOOK = 0.02
_IDLE = 5.0
_DISPATCH_POOL = 2
"""Connections for putting in and handing back, which are rare."""
CHANNEL = "wisen_queue"
"""Workers hear here, by a queue's name, that tasks wait in it."""


def cancelled_in(queue: str) -> str:
    """What is said on the channel when a batch of the queue was cancelled; no queue can have such a name."""
    return f"{queue}!"


def engine_connections(concurrency: int) -> int:
    """How many connections DBOS has at most, in a worker that does so many tasks at a time.

    Each task needs one for a moment at its beginning and end; one is for looking for tasks, and one listens.
    """
    return 3 + concurrency // 8


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSource:
    """Who takes which tasks, and what is done with them."""

    queue: str
    holder: str
    perform: Callable[[TaskId], Awaitable[None]]
    """Does a task, on the worker's event loop. If cancelled, it leaves the task to the next worker."""
    skipped: Callable[[], Collection[str]] = tuple
    """The batches of which no task is taken; asked before each look, in a thread."""


class Dispatch:
    """What can be done with a queue from anywhere: put tasks in, take them out, and see who has which; all block."""

    def __init__(self, url: str) -> None:
        """Nothing is opened yet."""
        self._url = hosts_as_options(url)
        self._client: DBOSClient | None = None
        self._lock = threading.Lock()

    def put(self, queue: str, task_ids: Iterable[TaskId]) -> None:
        """Let workers have these tasks; those that they had before stay as they are."""
        from dbos._enqueue_options import build_enqueue_status  # noqa: PLC0415 - optional extra

        client = self._opened()
        waiting: list[WorkflowStatusInternal] = []
        for task_id in task_ids:
            _, status = build_enqueue_status(
                {
                    "workflow_name": _WORKFLOW,
                    "queue_name": queue,
                    "workflow_id": task_id.workflow,
                    "app_version": _VERSION,
                    "serialization_type": _portable(),
                    "application_name": _NAME,
                    "priority": task_id.rank % _RANKS + 1,
                },
                client._serializer,  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - enqueue() takes one at a time
                (task_id.batch, task_id.place, task_id.round),
                {},
            )
            waiting.append(status)
        for start in range(0, len(waiting), _BULK):
            client._sys_db.init_workflows(waiting[start : start + _BULK])  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - as above
        self._tell(queue)

    def drop(self, task_ids: Sequence[TaskId]) -> None:
        """Take waiting tasks out."""
        client = self._opened()
        ids = [task_id.workflow for task_id in task_ids]
        for start in range(0, len(ids), _BULK):
            client.cancel_workflows(ids[start : start + _BULK])

    def holders(self, queue: str) -> dict[str, list[str]]:
        """The workflows that are being done, by who does them."""
        found: dict[str, list[str]] = {}
        running = self._opened().list_workflows(
            status="PENDING", queue_name=queue, load_input=False, load_output=False, application_name=_NAME
        )
        for one in running:
            found.setdefault(one.executor_id or "", []).append(one.workflow_id)
        return found

    def hand_back(self, queue: str, holder: str, workflows: Sequence[str]) -> int:
        """Let others have what this holder still has; gives how many those were."""
        database = self._opened()._sys_db  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - resume_workflow() would also move what someone else took meanwhile
        given = sum(database.reenqueue_for_recovery(one, [holder], queue) for one in workflows)
        if given:
            self._tell(queue)
        return given

    def forget(self, task_ids: Iterable[TaskId]) -> None:
        """Remove what DBOS has of these tasks."""
        ids, client = [task_id.workflow for task_id in task_ids], self._opened()
        for start in range(0, len(ids), _BULK):
            client.delete_workflows(ids[start : start + _BULK])

    def _tell(self, queue: str) -> None:
        """Wake the workers, which look seldom while there is nothing to do."""
        from sqlalchemy import text  # noqa: PLC0415 - optional extra

        engine = self._opened()._sys_db.engine  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - its connections serve
        with engine.begin() as connection:
            connection.execute(text("SELECT pg_notify(:channel, :queue)"), {"channel": CHANNEL, "queue": queue})

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.destroy()

    def _opened(self) -> "DBOSClient":
        with self._lock:
            if self._client is None:
                from dbos import DBOS, DBOSClient  # noqa: PLC0415 - optional extra

                _quiet()
                DBOS.migrate(self._url, schema=SCHEMA)
                self._client = DBOSClient(
                    system_database_url=self._url,
                    dbos_system_schema=SCHEMA,
                    system_database_pool_size=_DISPATCH_POOL,
                    application_name=_NAME,
                    # Its own waiting has pauses of a minute; the callers wait better.
                    retry_connection_errors=False,
                )
            return self._client


class QueueEngine:
    """Takes tasks from a queue and has them done; there can be one in a process.

    Args:
        url: The database.
        taking: Whose tasks are taken, and how they are done, on the event loop that `start` is called from.
        concurrency: Most tasks at a time here.
        most_running: Most tasks at a time in all workers of the queue.
        poll: Seconds between looks for tasks.
    """

    def __init__(
        self,
        url: str,
        taking: TaskSource,
        *,
        concurrency: int,
        most_running: int | None,
        poll: float,
    ) -> None:
        self._url = hosts_as_options(url)
        self._taking = taking
        self._concurrency = concurrency
        self._most_running = most_running
        self._poll = poll
        self._loop: asyncio.AbstractEventLoop | None = None
        self._instance: DBOS | None = None
        self._doing = 0
        # That another worker's end made room under the limit of all, nobody tells.
        longest = _IDLE if most_running is None else 2 * poll
        self._poller = TaskPoll(poll, lambda: self._doing > 0, longest=longest)

    async def start(self) -> None:
        """Begin to take tasks; a database that is away is waited for."""
        self._loop = asyncio.get_running_loop()
        _SLOT.take(self)
        try:
            await patiently(self._launch)
        except BaseException:
            _SLOT.give(self)
            raise

    async def stop(self, grace: float) -> None:
        """Take no more tasks at once, and let go of DBOS when those that are being done have ended, or `grace` has.

        Whatever is still being done must be cancelled by then, or is left to be taken over.
        """
        self._poller.set()
        try:
            await asyncio.to_thread(self._end, grace)
        finally:
            _SLOT.give(self)

    def look(self) -> None:
        """Look for tasks now; safe to ask from another thread."""
        self._poller.look()

    async def do(self, task_id: TaskId) -> None:
        """Do a task, from whatever loop DBOS is on; for the workflow only."""
        if self._loop is None:
            raise asyncio.CancelledError
        # On DBOS's loop alone, so that the two changes can't meet.
        self._doing += 1
        self._poller.worked()
        full = self._doing >= self._concurrency
        future = asyncio.run_coroutine_threadsafe(_as_coroutine(self._taking.perform, task_id), self._loop)
        try:
            await asyncio.wrap_future(future)
        except FutureCancelledError:
            raise asyncio.CancelledError from None
        finally:
            if full or self._doing >= self._concurrency:
                # There may be more than there was room for. DBOS notes the end first.
                asyncio.get_running_loop().call_later(_NOTED, self._poller.look)
            self._doing -= 1

    def _end(self, grace: float) -> None:
        from dbos import DBOS  # noqa: PLC0415 - optional extra

        # DBOS's own waiting looks once a second, also where there is nothing to wait for.
        deadline = time.monotonic() + grace
        while self._unfinished() and time.monotonic() < deadline:
            time.sleep(_LOOK)
        DBOS.destroy(workflow_completion_timeout_sec=0)

    def _unfinished(self) -> bool:
        """Whether DBOS still has to note the end of something."""
        return self._instance is not None and bool(self._instance._active_workflows_set.activeList())  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - nothing public tells

    def _launch(self) -> None:
        from dbos import DBOS  # noqa: PLC0415 - optional extra

        _quiet()
        _register()
        config: DBOSConfig = {
            "name": _NAME,
            "system_database_url": self._url,
            "dbos_system_schema": SCHEMA,
            "sys_db_pool_size": engine_connections(self._concurrency) - 1,
            "log_level": "CRITICAL",
            "application_version": _VERSION,
            "executor_id": self._taking.holder,
            "enable_otlp": False,
            "scheduler_polling_interval_sec": 3600.0,
        }
        instance = DBOS(config=config)
        _quiet()
        DBOS.listen_queues([])
        try:
            DBOS.launch()
        except BaseException:
            DBOS.destroy(workflow_completion_timeout_sec=0)
            raise
        self._listen(instance)

    def _listen(self, instance: "DBOS") -> None:
        """Look for tasks in a thread like DBOS's own.

        Those are ended: each asks the database, every second, for what there is none of here, such as schedules.
        """
        from dbos._queue import queue_worker_thread  # noqa: PLC0415 - optional extra

        self._instance = instance
        database: Any = instance._sys_db  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - nothing public leaves some tasks of a queue where they are
        database._claim_gate = partial(_others, database, self._taking.skipped)  # noqa: SLF001 - as above
        for one in instance.background_thread_stop_events:
            one.set()
        instance._background_jobs_stop_event.set()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - as said above
        registry = instance._registry  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - a queue in the database has one number for all workers, and machines differ
        registry.internal_queue_map.pop(self._taking.queue, None)
        queue = registry._register_internal_queue(  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - as above
            self._taking.queue,
            worker_concurrency=self._concurrency,
            global_concurrency=self._most_running,
            polling_interval_sec=self._poll,
        )
        instance.background_thread_stop_events.append(self._poller)
        thread = threading.Thread(target=queue_worker_thread, args=(self._poller, instance, queue), daemon=True)
        instance._background_threads.append(thread)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - it is joined with the others
        thread.start()


class _EngineSlot:
    """Which engine has this process's DBOS, of which there is one."""

    def __init__(self) -> None:
        self.engine: QueueEngine | None = None

    def take(self, engine: QueueEngine) -> None:
        if self.engine is not None:
            raise ConfigError("a worker runs in this process already; start another process for another worker")
        self.engine = engine

    def give(self, engine: QueueEngine) -> None:
        if self.engine is engine:
            self.engine = None


_SLOT = _EngineSlot()
_REGISTERED = threading.Event()


def _register() -> None:
    """Tell DBOS of the workflow; it keeps such things for as long as the process lives."""
    if _REGISTERED.is_set():
        return
    from dbos import DBOS  # noqa: PLC0415 - optional extra

    @DBOS.step(name="wisen.run")
    async def run(batch: str, place: int, round_: int) -> None:
        engine = _SLOT.engine
        if engine is None:
            raise asyncio.CancelledError
        await engine.do(TaskId(batch=batch, place=place, round=round_))

    # Tries are counted by the worker, which knows a task that failed from one that was handed back.
    @DBOS.workflow(name=_WORKFLOW, max_recovery_attempts=None, serialization_type=_portable())
    async def task(batch: str, place: int, round_: int) -> None:
        await run(batch, place, round_)

    del task
    _REGISTERED.set()


async def _as_coroutine(perform: Callable[[TaskId], Awaitable[None]], task_id: TaskId) -> None:
    await perform(task_id)


def _others(database: Any, leaves: Callable[[], Collection[str]], *_: object) -> list[object]:  # noqa: ANN401 - DBOS's own
    """The condition that a task is of none of the batches that are left."""
    if not (batches := leaves()):
        return []
    from sqlalchemy import func  # noqa: PLC0415 - optional extra

    workflow = database.tables.workflow_status.c.workflow_uuid
    return [func.regexp_replace(workflow, r"\.\d+\.\d+$", "").not_in(list(batches))]


def _portable() -> Any:  # noqa: ANN401 - DBOS's own enumeration
    """JSON, so that reading the tables runs no code."""
    from dbos import WorkflowSerializationFormat  # noqa: PLC0415 - optional extra

    return WorkflowSerializationFormat.PORTABLE


def _quiet() -> None:
    """Keep DBOS from printing: its lines may quote what a user's code raised."""
    logger = logging.getLogger("dbos")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    logger.propagate = False
    logger.setLevel(logging.CRITICAL)
