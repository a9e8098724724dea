"""What a worker has in hand: each task from being given out to its end, or to being left to others."""

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

from wisen import models
from wisen.errors import ConfigError, QueueError, WisenError
from wisen.operations.logs import log, log_context
from wisen.operations.safe_text import safe_summary
from wisen.queue.batches import worker_of
from wisen.queue.capabilities import SkippedBatches
from wisen.queue.jobs import job_from_json
from wisen.queue.owned_tasks import OwnedTasks
from wisen.queue.task_ids import TaskId
from wisen.queue.worker_runs import Runs

_PAUSE = 0.5
_LONGEST_PAUSE = 30.0


class TasksInFlight:
    """The tasks that a worker has in hand."""

    def __init__(
        self,
        owned: OwnedTasks,
        runs: Runs,
        skipped: SkippedBatches,
        *,
        became: Callable[[str], None],
        give_back: Callable[[TaskId], None],
    ) -> None:
        """`became` hears how a task ended here: a run's status, "dead", "cancelled" or "retried".

        `give_back` hands a task that isn't done here to others.
        """
        self.owned = owned
        self._runs = runs
        self._skipped = skipped
        self._became = became
        self._give_back = give_back
        self._isolation = IsolationLock()
        self._tasks: dict[TaskId, asyncio.Task[object]] = {}
        self._cancelled: set[TaskId] = set()
        self._lock = threading.Lock()
        self._changed = asyncio.Event()
        self._refusing = False

    def doing(self) -> frozenset[str]:
        """The workflows of the tasks in hand; safe to ask from another thread."""
        with self._lock:
            return frozenset(task_id.workflow for task_id in self._tasks)

    def refuse(self) -> None:
        """Take no more."""
        self._refusing = True

    def close(self) -> None:
        """Take no more, and drop what is in hand."""
        self._refusing = True
        for task in list(self._tasks.values()):
            task.cancel()

    def cancel(self, task_ids: list[TaskId]) -> None:
        """Break off tasks whose batch is cancelled."""
        for task_id in task_ids:
            if task_id in self._tasks and task_id not in self._cancelled:
                self._cancelled.add(task_id)
                self._tasks[task_id].cancel()

    async def idle(self) -> None:
        """Return when nothing is in hand."""
        while self._tasks:
            self._changed.clear()
            await self._changed.wait()

    async def do(self, task_id: TaskId) -> None:
        """Do a task; raises `CancelledError` where it is left to others."""
        task = asyncio.current_task()
        if self._refusing or task is None or task_id in self._tasks:
            raise asyncio.CancelledError
        with self._lock:
            self._tasks[task_id] = task
        log_context(worker=worker_of(self.owned.holder), batch=task_id.batch, place=task_id.place)
        try:
            await self._do_unless_cancelled(task_id, task)
        except QueueError as error:
            # What the database refuses is nobody's failure: it is given out again.
            log("task.left", level=logging.WARNING, error=error)
            with suppress(QueueError):
                await self.owned.let_go(task_id)
            raise asyncio.CancelledError from None
        finally:
            self._cancelled.discard(task_id)
            with self._lock:
                self._tasks.pop(task_id, None)
            self._changed.set()

    async def _do_unless_cancelled(self, task_id: TaskId, task: asyncio.Task[object]) -> None:
        try:
            await self._do(task_id)
        except asyncio.CancelledError:
            if task_id not in self._cancelled or self._refusing:
                raise
            task.uncancel()
            await self._dropped(task_id)

    async def _do(self, task_id: TaskId) -> None:
        history = await self.owned.history(task_id)
        if history is None:
            return
        if await self._skipped.skips(task_id.batch):
            self._give_back(task_id)
            raise asyncio.CancelledError
        async with self._isolation.hold(alone=history.suspect):
            begun = await self.owned.begin(task_id)
            if begun == "over":
                return
            if begun == "lost":
                raise asyncio.CancelledError
            tries = history.tries
            while True:
                try:
                    outcome = await self._runs.run(replace(task_id, anew=begun.anew), job_from_json(begun.body))
                except Exception as error:  # noqa: BLE001 - providers and agents are anybody's code; the worker goes on
                    tries += 1
                    if not await self._failed(task_id, error, tries):
                        return
                    await asyncio.sleep(min(_PAUSE * 2**tries, _LONGEST_PAUSE))
                else:
                    if not await self.owned.finish(task_id, outcome):
                        raise asyncio.CancelledError
                    self._became(outcome.status)
                    log("task.ended", outcome=outcome.status, attempts=outcome.attempts, seconds=outcome.seconds)
                    return

    async def _dropped(self, task_id: TaskId) -> None:
        """End a task that was broken off, if its batch is cancelled; else raises `CancelledError`: others have it."""
        cancelled = await self.owned.drop(task_id)
        if cancelled is None:
            self._give_back(task_id)
            raise asyncio.CancelledError
        self._became("cancelled")
        log("task.cancelled")
        try:
            await self._runs.call_off(cancelled)
        except WisenError as error:
            log("run.unfinished", level=logging.WARNING, error=error)

    async def _failed(self, task_id: TaskId, error: Exception, tries: int) -> bool:
        """Count a failure; gives whether to try again."""
        if refused := models.key_refused(error):
            # Another worker may have a key that is taken, so no try is used up.
            await self._skipped.skip(task_id.batch, refused)
            await self._dropped(task_id)
            return False
        said = str(error) if isinstance(error, WisenError) else safe_summary(error)
        final = isinstance(error, ConfigError)  # which is the same the next time
        found = await self.owned.fail(task_id, said, tries=tries, final=final)
        log("task.failed", level=logging.WARNING, error=error, tries=tries, then=found)
        if found == "lost":
            raise asyncio.CancelledError
        self._became("retried" if found == "again" else found)
        return found == "again"


class IsolationLock:
    """Lets a task that may kill its worker run alone, so that no neighbour is blamed for its death.

    Many at a time, or one alone; who wants to be alone is let in before others that come later.
    """

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._inside = 0
        self._alone = False
        self._waiting = 0
        self._telling: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def hold(self, *, alone: bool) -> AsyncGenerator[None]:
        """Wait for the lock, and hold it."""
        async with self._changed:
            if alone:
                await self._wait_alone()
            else:
                await self._changed.wait_for(lambda: not self._alone and not self._waiting)
            self._alone = alone
            self._inside += 1
        try:
            yield
        finally:
            # Without waiting: a task that is cancelled while it waits here would hold the lock for ever.
            self._inside -= 1
            self._alone = False
            telling = asyncio.get_running_loop().create_task(self._tell())
            self._telling.add(telling)
            telling.add_done_callback(self._telling.discard)

    async def _wait_alone(self) -> None:
        self._waiting += 1
        try:
            await self._changed.wait_for(lambda: not self._inside)
        finally:
            self._waiting -= 1
            self._changed.notify_all()

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()
