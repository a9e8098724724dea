"""The statements on batches and their tasks. Each is safe to be done twice, and none touches what another holds."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from wisen.errors import BatchNotFoundError, ConfigError, IncapableWorkerError, QueueError, QueueFullError
from wisen.operations.metrics import QueueDepth
from wisen.queue.capabilities import why_waiting
from wisen.queue.database import SCHEMA, QueueConnection, Tables
from wisen.queue.dbos_engine import CHANNEL, cancelled_in
from wisen.queue.jobs import (
    BatchOptions,
    Job,
    JobOutcome,
    TaskResult,
    TaskState,
    fingerprint,
    job_from_json,
    options_from_json,
    outcome_from_json,
    to_json,
)
from wisen.queue.task_ids import TaskId

_PAGE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStatus:
    """How many tasks of a batch are where."""

    id: str
    queue: str
    submitted: datetime
    called_off: bool
    """Whether it was cancelled, and not sent again since."""
    tasks: int
    waiting: int
    running: int
    done: int
    dead: int
    """Given up after too many tries; `retry` sends them again."""
    cancelled: int
    """Cancelled before they ended; `retry` sends them again, too."""
    why: str = ""
    """Why it waits, where tasks wait, none runs, and that others are before them isn't the reason."""

    @property
    def finished(self) -> bool:
        """Whether nothing more will happen by itself."""
        return not self.waiting and not self.running


async def store(
    tables: Tables, batch: str, queue: str, jobs: Sequence[Job], options: BatchOptions, *, tries: int, most: int | None
) -> bool:
    """Store a batch; gives whether it is new.

    Raises `QueueFullError` where more than `most` tasks would wait, and `ConfigError` where there is such a batch with
    other tasks or options.
    """
    bodies, said, mark = await asyncio.to_thread(_written, jobs, options)

    async def work(connection: QueueConnection) -> bool:
        await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 1))", f"wisen_queue {queue}")
        known = await connection.fetchrow("SELECT fingerprint, queue FROM batches WHERE id = $1", batch)
        if known is not None:
            if (known["fingerprint"], known["queue"]) != (mark, queue):
                raise ConfigError(f"batch {batch!r} holds other tasks or options already; give this one another id")
            return False
        if await connection.fetchval("SELECT 1 FROM deletions WHERE batch = $1", batch):
            raise QueueError(f"batch {batch!r} is being removed; `wisen batch delete {batch}` ends that")
        if most is not None:
            waiting = await connection.fetchval(
                "SELECT count(*) FROM tasks WHERE queue = $1 AND state = 'waiting'", queue
            )
            if waiting + len(jobs) > most:
                raise QueueFullError(queue, waiting, len(jobs), most)
        await connection.execute(
            "INSERT INTO batches (id, queue, options, most_tries, tasks, fingerprint) VALUES ($1, $2, $3, $4, $5, $6)",
            *(batch, queue, said, tries, len(jobs), mark),
        )
        await connection.copy_records_to_table(
            "tasks",
            records=[(batch, place, queue, body) for place, body in enumerate(bodies)],
            columns=("batch", "place", "queue", "body"),
            schema_name=SCHEMA,
        )
        return True

    return await tables.run(work)


def _written(jobs: Sequence[Job], options: BatchOptions) -> tuple[list[str], str, str]:
    bodies, said = [to_json(job) for job in jobs], to_json(options)
    return bodies, said, fingerprint(bodies, said)


async def add(tables: Tables, task_id: TaskId, queue: str, job: Job, options: BatchOptions, *, tries: int) -> TaskId:
    """Add a task to a batch that grows, which is made with the first; the caller lets workers know of it."""
    body, said = to_json(job), to_json(options)

    async def work(connection: QueueConnection) -> TaskId:
        await connection.execute(
            "INSERT INTO batches AS b (id, queue, options, most_tries, tasks, fingerprint, enqueued) "
            "VALUES ($1, $2, $3, $4, $5, '', true) ON CONFLICT (id) DO UPDATE SET tasks = greatest(b.tasks, $5)",
            *(task_id.batch, queue, said, tries, task_id.place + 1),
        )
        rank = await connection.fetchval(
            "INSERT INTO tasks (batch, place, queue, body) VALUES ($1, $2, $3, $4) "
            "ON CONFLICT (batch, place) DO UPDATE SET queue = excluded.queue RETURNING rank",
            *(task_id.batch, task_id.place, queue, body),
        )
        return replace(task_id, rank=rank)

    return await tables.run(work)


async def waiting(tables: Tables, batch: str) -> list[TaskId]:
    """The tasks of a batch that wait to be done."""

    async def work(connection: QueueConnection) -> list[TaskId]:
        rows = await connection.fetch(
            "SELECT place, round, rank FROM tasks WHERE batch = $1 AND state = 'waiting' ORDER BY place", batch
        )
        return [TaskId(batch=batch, **row) for row in rows]

    return await tables.run(work)


async def mark_enqueued(tables: Tables, batch: str) -> None:
    """Note that workers have been told of all tasks."""

    async def work(connection: QueueConnection) -> None:
        await connection.execute("UPDATE batches SET enqueued = true WHERE id = $1", batch)

    await tables.run(work)


async def forgotten(tables: Tables, queue: str, seconds: float) -> list[str]:
    """Batches that were stored but never announced to workers, because the process that submitted them died."""

    async def work(connection: QueueConnection) -> list[str]:
        rows = await connection.fetch(
            "SELECT id FROM batches WHERE queue = $1 AND NOT enqueued "
            "AND submitted < now() - make_interval(secs => $2)",
            *(queue, seconds),
        )
        return [row["id"] for row in rows]

    return await tables.run(work)


async def options_of(tables: Tables, batch: str) -> BatchOptions:
    """The batch's options; raises `BatchNotFoundError`, and `IncapableWorkerError` for those of another wisen."""

    async def work(connection: QueueConnection) -> str | None:
        return await connection.fetchval("SELECT options FROM batches WHERE id = $1", batch)

    found = await tables.run(work)
    if found is None:
        raise BatchNotFoundError(batch)
    try:
        return options_from_json(found)
    except QueueError as error:
        raise IncapableWorkerError(str(error)) from None


_NEWEST = """
    SELECT id FROM batches WHERE $1::text IS NULL OR queue = $1 ORDER BY submitted DESC, id DESC LIMIT $2
"""
_COUNTS = """
    SELECT b.id, b.queue, b.submitted, b.cancelled IS NOT NULL AS called_off, b.tasks,
        count(*) FILTER (WHERE t.state = 'waiting') AS waiting,
        count(*) FILTER (WHERE t.state = 'running') AS running,
        count(*) FILTER (WHERE t.state = 'done') AS done,
        count(*) FILTER (WHERE t.state = 'dead') AS dead,
        count(*) FILTER (WHERE t.state = 'cancelled') AS cancelled
    FROM batches b JOIN tasks t ON t.batch = b.id
"""


async def statuses(tables: Tables, *, queue: str | None, limit: int) -> list[BatchStatus]:
    """The newest batches, of one queue or all, newest first."""

    async def work(connection: QueueConnection) -> list[BatchStatus]:
        newest = [row["id"] for row in await connection.fetch(_NEWEST, queue, limit)]
        found = await _counted(connection, newest)
        return [found[one] for one in newest]

    return await tables.run(work)


async def status(tables: Tables, batch: str) -> BatchStatus:
    """One batch; raises `BatchNotFoundError`."""

    async def work(connection: QueueConnection) -> BatchStatus | None:
        return (await _counted(connection, [batch])).get(batch)

    found = await tables.run(work)
    if found is None:
        raise BatchNotFoundError(batch)
    return found


async def _counted(connection: QueueConnection, batches: Sequence[str]) -> dict[str, BatchStatus]:
    rows = await connection.fetch(_COUNTS + "WHERE b.id = ANY($1) GROUP BY b.id", list(batches))
    found = {row["id"]: BatchStatus(**dict(row)) for row in rows}
    still = {one.id: one.queue for one in found.values() if one.waiting and not one.running}
    for batch, why in (await why_waiting(connection, still) if still else {}).items():
        found[batch] = replace(found[batch], why=why)
    return found


async def depth(tables: Tables, queue: str) -> QueueDepth:
    """How many tasks of a queue wait, run and were given up."""

    async def work(connection: QueueConnection) -> QueueDepth:
        row = await connection.fetchrow(
            "SELECT (SELECT count(*) FROM tasks WHERE queue = $1 AND state = 'waiting') AS waiting,"
            " (SELECT count(*) FROM tasks WHERE queue = $1 AND state = 'running') AS running,"
            " (SELECT count(*) FROM tasks WHERE queue = $1 AND state = 'dead') AS dead",
            queue,
        )
        counts = row or {}
        return QueueDepth(queue=queue, waiting=counts["waiting"], running=counts["running"], dead=counts["dead"])

    return await tables.run(work)


async def results(tables: Tables, batch: str, *, after: int = -1) -> list[TaskResult]:
    """Up to a page of the batch's tasks, in order, from behind the place `after`."""

    async def work(connection: QueueConnection) -> list[TaskResult]:
        rows = await connection.fetch(
            "SELECT place, body, state, outcome, reason, tries, holder FROM tasks WHERE batch = $1 AND place > $2 "
            "ORDER BY place LIMIT $3",
            *(batch, after, _PAGE),
        )
        return [
            TaskResult(
                place=row["place"],
                task=job_from_json(row["body"]).task,
                state=row["state"],
                outcome=None if row["outcome"] is None else outcome_from_json(row["outcome"]),
                reason=row["reason"],
                tries=row["tries"],
                worker=worker_of(row["holder"] or ""),
            )
            for row in rows
        ]

    return await tables.run(work)


def worker_of(holder: str) -> str:
    """The worker's id in the name of a holder."""
    return holder.partition("/")[2].rpartition("#")[0]


async def outcomes(tables: Tables, batch: str, places: Sequence[int]) -> dict[int, JobOutcome | str]:
    """Of these tasks those that ended: what they came to, or why they didn't."""

    async def work(connection: QueueConnection) -> dict[int, JobOutcome | str]:
        rows = await connection.fetch(
            "SELECT place, outcome, reason, state FROM tasks WHERE batch = $1 AND place = ANY($2::int[]) "
            "AND state IN ('done', 'dead', 'cancelled')",
            *(batch, list(places)),
        )
        return {
            row["place"]: row["reason"] or row["state"] if row["outcome"] is None else outcome_from_json(row["outcome"])
            for row in rows
        }

    return await tables.run(work)


async def cancel(tables: Tables, batch: str) -> list[TaskId]:
    """Cancel a batch: what waits ends now, what runs is asked to. Gives what waited. Raises `BatchNotFoundError`."""

    async def work(connection: QueueConnection) -> list[TaskId] | None:
        queue = await connection.fetchval(
            "UPDATE batches SET cancelled = coalesce(cancelled, now()) WHERE id = $1 RETURNING queue", batch
        )
        if queue is None:
            return None
        await connection.execute("SELECT pg_notify($1, $2)", CHANNEL, cancelled_in(queue))
        rows = await connection.fetch(
            "UPDATE tasks SET state = 'cancelled', ended = now() WHERE batch = $1 AND state = 'waiting' "
            "RETURNING place, round",
            batch,
        )
        return [TaskId(batch=batch, place=row["place"], round=row["round"]) for row in rows]

    found = await tables.run(work)
    if found is None:
        raise BatchNotFoundError(batch)
    return found


async def begun(tables: Tables, batch: str, states: Sequence[TaskState]) -> list[TaskId]:
    """The tasks of a batch in these states whose runs have begun."""

    async def work(connection: QueueConnection) -> list[TaskId]:
        rows = await connection.fetch(
            "SELECT place, round, anew FROM tasks WHERE batch = $1 AND state = ANY($2) AND started IS NOT NULL",
            *(batch, list(states)),
        )
        return [TaskId(batch=batch, **row) for row in rows]

    return await tables.run(work)


async def retry(tables: Tables, batch: str, *, anew: bool) -> int:
    """Let dead letters and cancelled tasks wait again; gives how many. Raises `BatchNotFoundError`.

    They go on with their runs; `anew`: with other ones, from the beginning.
    """

    async def work(connection: QueueConnection) -> int | None:
        # Both marks in one transaction: a worker that finds the tasks must find the batch going on.
        known = await connection.execute("UPDATE batches SET cancelled = NULL, enqueued = false WHERE id = $1", batch)
        if known == "UPDATE 0":
            return None
        sent = await connection.execute(
            "UPDATE tasks SET state = 'waiting', round = round + 1, anew = anew + $2, tries = 0, deaths = 0, "
            "reason = '', holder = NULL, ended = NULL WHERE batch = $1 AND state IN ('dead', 'cancelled')",
            *(batch, int(anew)),
        )
        return int(sent.split()[1])

    found = await tables.run(work)
    if found is None:
        raise BatchNotFoundError(batch)
    return found
