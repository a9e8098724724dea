"""A queue of tasks in Postgres, from the outside: batches go in, and results come out."""

import asyncio
import math
import uuid
from collections.abc import AsyncGenerator, Sequence
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import Self

from wisen.errors import ConfigError, QueueFullError
from wisen.operations.metrics import QueueDepth
from wisen.queue import batches
from wisen.queue.batches import BatchStatus
from wisen.queue.cancelled_runs import end_runs
from wisen.queue.capabilities import live_workers
from wisen.queue.database import QueueConnection, Tables
from wisen.queue.dbos_engine import Dispatch
from wisen.queue.deletions import Deletions
from wisen.queue.jobs import DEFAULT_TRIES, BatchOptions, Job, TaskResult, as_job
from wisen.queue.leases import checked_name
from wisen.queue.reconnecting import patiently
from wisen.queue.task_ids import TaskId
from wisen.records import Task

_POLL = 0.5
_PATIENCE = 30.0


class Queue:
    """A queue of tasks; workers that name it do them. Use it as a context, or `close` it.

    Args:
        url: The database, postgresql://…
        name: The queue's.
        patience: Seconds for which a database that can't be reached is waited for.
    """

    def __init__(self, url: str, name: str = "default", *, patience: float = _PATIENCE) -> None:
        self.name = checked_name(name, "queue")
        self.tables = Tables(url, patience=patience)
        self.dispatch = Dispatch(url)
        self.deletions = Deletions(self.tables, self.dispatch, patience=patience)
        self._patience = patience

    async def __aenter__(self) -> Self:
        """Nothing is opened before it is used."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections."""
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await asyncio.to_thread(self.dispatch.close)
        await self.tables.close()

    async def submit(
        self,
        tasks: Sequence[Job | Task | str],
        options: BatchOptions | None = None,
        *,
        batch: str | None = None,
        tries: int = DEFAULT_TRIES,
        most_waiting: int | None = None,
        wait: bool = False,
    ) -> "Batch":
        """Let the workers have these tasks.

        Args:
            tasks: Prompts, tasks, or jobs that say what judges them.
            options: How workers without an agent of their own make the runs.
            batch: The batch's id; made up if not given. Submitting the same again under the same id adds nothing, so a
                caller that doesn't know whether it worked may try again.
            tries: How often a task may fail, or be lost together with its worker, before it is given up.
            most_waiting: How many tasks may wait in the queue with these.
            wait: Wait until there is room, instead of raising.

        Raises:
            QueueFullError: Too many would wait.
            ConfigError: There are no tasks, or the id is that of other ones.
        """
        jobs = [as_job(task) for task in tasks]
        if not jobs:
            raise ConfigError("a batch needs one task at least")
        if tries < 1:
            raise ConfigError(f"tries {tries}: must be 1 or more")
        if most_waiting is not None and len(jobs) > most_waiting:
            raise QueueFullError(self.name, 0, len(jobs), most_waiting)
        id_ = f"b{uuid.uuid4().hex[:12]}" if batch is None else checked_name(batch, "batch")
        given = options or BatchOptions()
        while True:
            try:
                new = await batches.store(self.tables, id_, self.name, jobs, given, tries=tries, most=most_waiting)
                break
            except QueueFullError:
                if not wait:
                    raise
            await asyncio.sleep(_POLL)
        await self.enqueue(id_)
        return Batch(self, id_, new=new)

    def batch(self, batch_id: str) -> "Batch":
        """A batch that was submitted; whether there is one is known when it is asked for something."""
        return Batch(self, batch_id)

    async def batches(self, *, everywhere: bool = False, limit: int = 50) -> list[BatchStatus]:
        """The newest batches of this queue, or of all of the database, newest first."""
        return await batches.statuses(self.tables, queue=None if everywhere else self.name, limit=limit)

    async def prune(self, before: datetime, *, everywhere: bool = False) -> int:
        """Remove finished batches of this queue, or of all, whose last task ended before that; gives how many.

        The records of their runs, and the lessons, stay in the store.
        """
        return await self.deletions.prune(before, queue=None if everywhere else self.name)

    async def workers(self) -> list[str]:
        """The ids of the workers of this queue that live."""

        async def work(connection: QueueConnection) -> list[str]:
            return list((await live_workers(connection, [self.name]))[self.name].values())

        return await self.tables.run(work)

    async def depth(self) -> QueueDepth:
        """How many tasks are where."""
        return await batches.depth(self.tables, self.name)

    async def enqueue(self, batch: str) -> None:
        """Tell the workers of what waits in a batch; those that know of it stay as they are."""
        task_ids = await batches.waiting(self.tables, batch)
        await self.put(task_ids)
        await batches.mark_enqueued(self.tables, batch)

    async def put(self, task_ids: Sequence[TaskId]) -> None:
        """Let workers have these tasks."""
        await patiently(partial(self.dispatch.put, self.name, task_ids), patience=self._patience)


class Batch:
    """Tasks that were submitted together."""

    def __init__(self, queue: Queue, batch_id: str, *, new: bool = False) -> None:
        self.id = batch_id
        self.new = new
        """Whether it was submitted just now, and not before."""
        self._queue = queue

    def __repr__(self) -> str:
        """Its id and queue; how its tasks stand, only `status` tells."""
        return f"Batch(id={self.id!r}, queue={self._queue.name!r}, new={self.new})"

    async def status(self) -> BatchStatus:
        """How many tasks are where; raises `BatchNotFoundError`."""
        return await batches.status(self._queue.tables, self.id)

    async def follow(self, *, every: float = _POLL) -> AsyncGenerator[BatchStatus]:
        """The status now and after each change, until the batch is finished."""
        before: BatchStatus | None = None
        while True:
            now = await self.status()
            if now != before:
                yield now
            if now.finished:
                return
            before = now
            await asyncio.sleep(every)

    async def wait(self, timeout: float = math.inf) -> BatchStatus:  # noqa: ASYNC109 - a batch may take for days, and asking is all that it does
        """The status once the batch is finished; raises `TimeoutError` after so many seconds."""
        async with asyncio.timeout(timeout if math.isfinite(timeout) else None):
            async for one in self.follow():
                if one.finished:
                    return one
        return await self.status()

    async def results(self) -> AsyncGenerator[TaskResult]:
        """Each task exactly once, in the order in which they were submitted, with what is known of it by now."""
        await self.status()
        after = -1
        while found := await batches.results(self._queue.tables, self.id, after=after):
            for one in found:
                yield one
            after = found[-1].place

    async def delete(self) -> int:
        """Remove the batch with its outcomes; gives how many tasks it had. The records of its runs stay in the store.

        Raises `BatchNotFoundError`, and `QueueError` where tasks wait or run.
        """
        return await self._queue.deletions.delete(self.id)

    async def cancel(self) -> BatchStatus:
        """Drop what waits, and ask what runs to end; what is done stays done."""
        tables = self._queue.tables
        task_ids = await batches.cancel(tables, self.id)
        await patiently(partial(self._queue.dispatch.drop, task_ids), patience=_PATIENCE)
        runs = [task_id.run_id for task_id in await batches.begun(tables, self.id, ("cancelled",))]
        await end_runs(tables, runs, drop=False, patience=_PATIENCE)
        return await self.status()

    async def retry(self, *, anew: bool = False) -> int:
        """Send dead letters and cancelled tasks again; gives how many.

        Their runs go on where they stopped, so that nothing is paid for twice. With `anew` they start over, under other
        ids. Use it if the kept steps always lead to the same failure.
        """
        queue = (await self.status()).queue
        sent = await batches.retry(self._queue.tables, self.id, anew=anew)
        task_ids = await batches.waiting(self._queue.tables, self.id)
        await patiently(partial(self._queue.dispatch.put, queue, task_ids), patience=_PATIENCE)
        await batches.mark_enqueued(self._queue.tables, self.id)
        return sent
