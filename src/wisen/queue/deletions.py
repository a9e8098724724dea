"""Removes batches that are finished, with their tasks, outcomes and what DBOS has of them."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from functools import partial

from wisen.errors import BatchNotFoundError, QueueError
from wisen.queue.batches import begun
from wisen.queue.cancelled_runs import end_runs
from wisen.queue.database import QueueConnection, Tables
from wisen.queue.dbos_engine import Dispatch
from wisen.queue.reconnecting import patiently
from wisen.queue.task_ids import TaskId

_FINISHED = """
    SELECT id FROM batches b WHERE submitted < $1 AND ($2::text IS NULL OR queue = $2) AND NOT EXISTS (
        SELECT FROM tasks t WHERE t.batch = b.id AND (t.state IN ('waiting', 'running') OR t.ended >= $1)
    ) ORDER BY submitted
"""


class Deletions:
    """Removes batches.

    A deletion is noted together with the removal of the tasks, so that one that is broken off is ended by the next.
    """

    def __init__(self, tables: Tables, dispatch: Dispatch, *, patience: float) -> None:
        self._tables = tables
        self._dispatch = dispatch
        self._patience = patience

    async def delete(self, batch: str) -> int:
        """Remove a finished batch; gives how many tasks it had. Runs that it didn't end count as cancelled.

        Raises `BatchNotFoundError`, and `QueueError` where tasks wait or run.
        """

        async def work(connection: QueueConnection) -> int | str:
            known = await connection.fetchrow("SELECT tasks FROM batches WHERE id = $1 FOR UPDATE", batch)
            if known is None:
                return -1
            counts = await connection.fetchrow(
                "SELECT count(*) FILTER (WHERE state IN ('waiting', 'running')) AS open, "
                "coalesce(max(round), 0) + 1 AS rounds, coalesce(max(place), -1) + 1 AS tasks "
                "FROM tasks WHERE batch = $1",
                batch,
            )
            if counts is None or counts["open"]:
                return "isn't finished; wait for it, or `wisen batch cancel` it"
            await connection.execute(
                "INSERT INTO deletions (batch, tasks, rounds) VALUES ($1, $2, $3)",
                *(batch, counts["tasks"], counts["rounds"]),
            )
            await connection.execute("DELETE FROM batches WHERE id = $1", batch)
            return counts["tasks"]

        runs = [
            replace(task_id, anew=anew).run_id
            for task_id in await begun(self._tables, batch, ("dead", "cancelled"))
            for anew in range(task_id.anew + 1)
        ]
        found = await self._tables.run(work)
        if isinstance(found, int) and found >= 0:
            # Nobody can send the tasks again, so that what is kept for going on with their runs is of no use.
            await end_runs(self._tables, runs, drop=True, patience=self._patience)
        if isinstance(found, str):
            raise QueueError(f"batch {batch!r} {found}")
        ended = await self.end()
        if found < 0 and batch not in ended:
            raise BatchNotFoundError(batch)
        return ended[batch] if found < 0 else found

    async def prune(self, before: datetime, *, queue: str | None) -> int:
        """Remove the batches whose last task ended before that; gives how many those were."""

        async def work(connection: QueueConnection) -> list[str]:
            return [row["id"] for row in await connection.fetch(_FINISHED, before, queue)]

        pruned = 0
        for batch in await self._tables.run(work):
            try:
                await self.delete(batch)
            except QueueError:
                continue  # somebody sent its dead letters again, or removed it
            pruned += 1
        await self.end()
        return pruned

    async def end(self) -> dict[str, int]:
        """End all deletions that were begun; gives how many tasks each batch had."""

        async def begun(connection: QueueConnection) -> list[tuple[str, int, int]]:
            rows = await connection.fetch("SELECT batch, tasks, rounds FROM deletions")
            return [(row["batch"], row["tasks"], row["rounds"]) for row in rows]

        found = await self._tables.run(begun)
        for batch, tasks, rounds in found:
            task_ids = [
                TaskId(batch=batch, place=place, round=round_) for round_ in range(rounds) for place in range(tasks)
            ]
            await patiently(partial(self._dispatch.forget, task_ids), patience=self._patience)
            await self._tables.run(_noted(batch))
        return {batch: tasks for batch, tasks, _ in found}


def _noted(batch: str) -> Callable[[QueueConnection], Awaitable[None]]:
    async def work(connection: QueueConnection) -> None:
        await connection.execute("DELETE FROM deletions WHERE batch = $1", batch)

    return work
