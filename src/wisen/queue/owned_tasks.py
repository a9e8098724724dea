"""A worker's statements on the tasks that it does: each holds only as long as the task is the worker's own."""

from dataclasses import dataclass, replace
from typing import Literal

from wisen.queue.database import QueueConnection, Tables
from wisen.queue.jobs import JobOutcome, to_json
from wisen.queue.task_ids import TaskId

_REASON = 500
"""How much is kept of why a task failed."""
_GIVEN_UP = (
    "UPDATE tasks t SET state = CASE WHEN b.cancelled IS NULL THEN 'waiting' ELSE 'cancelled' END, "
    "holder = NULL, ended = b.cancelled FROM batches b WHERE b.id = t.batch"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskHistory:
    """What is known of a task before it is done."""

    tries: int
    most_tries: int
    deaths: int
    """How often it was lost together with its worker."""

    @property
    def suspect(self) -> bool:
        """Whether it is given up if it is lost once more, so that nothing else may run beside it."""
        return self.deaths > 0 and self.tries + 1 >= self.most_tries


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedTask:
    """A task that is the worker's now."""

    body: str
    """The job as JSON."""
    anew: int
    """See `TaskId.anew`."""


class OwnedTasks:
    """The statements of one holder."""

    def __init__(self, tables: Tables, queue: str, holder: str) -> None:
        self._tables = tables
        self._queue = queue
        self.holder = holder

    async def history(self, task_id: TaskId) -> TaskHistory | None:
        """What is known of the task; `None` where it needn't be done any more."""

        async def work(connection: QueueConnection) -> TaskHistory | None:
            row = await connection.fetchrow(
                "SELECT tries, most_tries, deaths FROM tasks t JOIN batches b ON b.id = t.batch "
                "WHERE batch = $1 AND place = $2 AND round = $3 AND state IN ('waiting', 'running')",
                *_key(task_id),
            )
            return None if row is None else TaskHistory(**dict(row))

        return await self._tables.run(work)

    async def begin(self, task_id: TaskId) -> ClaimedTask | Literal["over", "lost"]:
        """Take the task; "over" where it needn't be done, "lost" where this worker is held for dead."""

        async def work(connection: QueueConnection) -> ClaimedTask | Literal["over", "lost"]:
            row = await connection.fetchrow(
                "UPDATE tasks SET state = 'running', holder = $4, started = now() "
                "WHERE batch = $1 AND place = $2 AND round = $3 "
                "AND (state = 'waiting' OR (state = 'running' AND holder = $4)) "
                "AND EXISTS (SELECT FROM workers WHERE queue || '/' || id || '#' || epoch = $4 AND ended IS NULL) "
                "RETURNING body, anew",
                *(*_key(task_id), self.holder),
            )
            if row is not None:
                return ClaimedTask(**dict(row))
            return "lost" if await _unended(connection, task_id) else "over"

        return await self._tables.run(work)

    async def finish(self, task_id: TaskId, outcome: JobOutcome) -> bool:
        """Keep what the task came to; gives whether it was this worker's to keep."""

        async def work(connection: QueueConnection) -> str:
            # The holder stays, so that a commit whose answer was lost can be made again.
            return await connection.execute(
                "UPDATE tasks SET state = 'done', outcome = $5, ended = coalesce(ended, now()) "
                "WHERE batch = $1 AND place = $2 AND round = $3 AND holder = $4 AND state IN ('running', 'done')",
                *(*_key(task_id), self.holder, to_json(outcome)),
            )

        return await self._tables.run(work) == "UPDATE 1"

    async def fail(self, task_id: TaskId, reason: str, *, tries: int, final: bool) -> Literal["again", "dead", "lost"]:
        """Count a try that failed, the `tries`-th; `final` gives the task up whatever is left."""

        async def work(connection: QueueConnection) -> str | None:
            return await connection.fetchval(
                "UPDATE tasks t SET tries = $5, reason = $6, "
                "state = CASE WHEN $7 OR $5 >= b.most_tries THEN 'dead' ELSE 'running' END, "
                "ended = CASE WHEN $7 OR $5 >= b.most_tries THEN now() END "
                "FROM batches b WHERE b.id = t.batch AND batch = $1 AND place = $2 AND round = $3 AND holder = $4 "
                "AND state IN ('running', 'dead') RETURNING state",
                *(*_key(task_id), self.holder, tries, short(reason), final),
            )

        state = await self._tables.run(work)
        return "lost" if state is None else "dead" if state == "dead" else "again"

    async def drop(self, task_id: TaskId) -> TaskId | None:
        """Note that the task was broken off; gives it with its run where its batch is cancelled, which ends it.

        `None` where others are to have it, such as where the batch was sent again meanwhile.
        """

        async def work(connection: QueueConnection) -> TaskId | None:
            row = await connection.fetchrow(
                "UPDATE tasks t SET state = CASE WHEN b.cancelled IS NULL THEN 'waiting' ELSE 'cancelled' END, "
                "holder = CASE WHEN b.cancelled IS NOT NULL THEN holder END, "
                "ended = CASE WHEN b.cancelled IS NOT NULL THEN now() END "
                "FROM batches b WHERE b.id = t.batch AND batch = $1 AND place = $2 AND round = $3 AND holder = $4 "
                "AND state = 'running' RETURNING state, anew",
                *(*_key(task_id), self.holder),
            )
            if row is None:
                # A commit whose answer was lost is made again; and a worker may come too late.
                return None if await _unended(connection, task_id) else task_id
            return None if row["state"] == "waiting" else replace(task_id, anew=row["anew"])

        return await self._tables.run(work)

    async def let_go(self, task_id: TaskId) -> None:
        """Let others have one task, unless its batch is cancelled."""

        async def work(connection: QueueConnection) -> None:
            await connection.execute(
                f"{_GIVEN_UP} AND batch = $1 AND place = $2 AND round = $3 AND holder = $4 AND state = 'running'",
                *(*_key(task_id), self.holder),
            )

        await self._tables.run(work)

    async def release(self) -> None:
        """Let others have all tasks of this holder; being handed back isn't a failure."""

        async def work(connection: QueueConnection) -> None:
            await connection.execute(f"{_GIVEN_UP} AND t.holder = $1 AND t.state = 'running'", self.holder)

        await self._tables.run(work)


def _key(task_id: TaskId) -> tuple[str, int, int]:
    return (task_id.batch, task_id.place, task_id.round)


async def _unended(connection: QueueConnection, task_id: TaskId) -> bool:
    found = await connection.fetchval(
        "SELECT 1 FROM tasks WHERE batch = $1 AND place = $2 AND round = $3 AND state IN ('waiting', 'running')",
        *_key(task_id),
    )
    return found is not None


def short(reason: str) -> str:
    """A reason as it is kept: one line, and of a long one the beginning."""
    flat = " ".join(reason.split()).replace("\0", "")
    return flat if len(flat) <= _REASON else f"{flat[: _REASON - 1]}…"
