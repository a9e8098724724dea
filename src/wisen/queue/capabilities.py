"""Which batches a worker leaves to others, because it lacks what they need, and why a batch waits.

A worker takes no task of such a batch, and goes on with the others. The batch keeps its place, so that for a worker
that has what it needs it is next in its turn.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence

from wisen.errors import IncapableWorkerError, QueueError
from wisen.operations.logs import log
from wisen.queue.database import QueueConnection, Tables
from wisen.queue.owned_tasks import short

AGAIN = 15.0
"""Seconds after which a worker looks again whether it has by now what it lacked."""
_NAMED = 3
"""So many reasons are told; there are seldom more."""
_LIVE = "ended IS NULL AND beat + make_interval(secs => takeover) > now()"
_HOLDER = "queue || '/' || id || '#' || epoch"


class SkippedBatches:
    """The batches that one worker leaves to others.

    Args:
        tables: Where it is noted.
        holder: The worker's name as a holder.
        fits: Looks up what a batch needs; raises `IncapableWorkerError`.
        changed: Hears how many batches are left, whenever one more or less is.
        every: Seconds between looks whether that is still so.
    """

    def __init__(
        self,
        tables: Tables,
        holder: str,
        *,
        fits: Callable[[str], Awaitable[None]],
        changed: Callable[[int], None] = lambda _: None,
        every: float = AGAIN,
    ) -> None:
        self._tables = tables
        self._holder = holder
        self._fits = fits
        self._changed = changed
        self._every = every
        self._why: Mapping[str, str] = {}
        """Replaced and never changed, since the engine's thread reads it."""

    def batches(self) -> list[str]:
        """Their ids; safe to ask from another thread."""
        return list(self._why)

    async def skips(self, batch: str) -> bool:
        """Whether the batch is left to others; what it needs is looked up."""
        return batch in self._why or await self._lacks(batch)

    async def skip(self, batch: str, why: str) -> None:
        """Leave a batch to others for what only doing it could show; it is tried again at the next look."""
        why = short(why)
        if self._why.get(batch) != why:
            self._set({**self._why, batch: why})
            log("worker.unfit", level=logging.WARNING, batch=batch, place=None, why=why)
        await self._tables.run(_note(batch, self._holder, why))

    async def recheck(self) -> None:
        """Look from time to time whether something that was lacking is there by now, until this is cancelled."""
        while True:
            await asyncio.sleep(self._every)
            try:
                await self._look()
            except QueueError as error:  # such as of a batch that was just removed
                log("worker.unfit", level=logging.WARNING, error=error)

    async def _look(self) -> None:
        left = self.batches()
        unended = await self._tables.run(_unended(left)) if left else []
        for batch in left:
            if batch not in unended or not await self._lacks(batch):
                await self._tables.run(_forget(batch, self._holder))
                self._set({one: why for one, why in self._why.items() if one != batch})
                log("worker.fit", batch=batch)

    async def _lacks(self, batch: str) -> bool:
        try:
            await self._fits(batch)
        except IncapableWorkerError as error:
            await self.skip(batch, str(error))
            return True
        return False

    def _set(self, why: Mapping[str, str]) -> None:
        self._why = why
        self._changed(len(why))


async def live_workers(connection: QueueConnection, queues: Sequence[str]) -> dict[str, dict[str, str]]:
    """Of each queue the workers that live: their ids by their names as holders."""
    rows = await connection.fetch(
        f"SELECT queue, id, {_HOLDER} AS holder FROM workers WHERE queue = ANY($1) AND {_LIVE} ORDER BY id",  # noqa: S608 - constants
        list(queues),
    )
    found: dict[str, dict[str, str]] = {queue: {} for queue in queues}
    for row in rows:
        found[row["queue"]][row["holder"]] = row["id"]
    return found


async def why_waiting(connection: QueueConnection, batches: Mapping[str, str]) -> dict[str, str]:
    """Why batches, given with their queues, wait: those of which it is known, besides that others are before them."""
    live = await live_workers(connection, sorted(set(batches.values())))
    lacks: dict[str, dict[str, str]] = {}
    for row in await connection.fetch("SELECT batch, holder, why FROM unfit WHERE batch = ANY($1)", list(batches)):
        lacks.setdefault(row["batch"], {})[row["holder"]] = row["why"]
    said = {batch: _why(queue, live[queue], lacks.get(batch, {})) for batch, queue in batches.items()}
    return {batch: why for batch, why in said.items() if why}


def _why(queue: str, live: Mapping[str, str], lacks: Mapping[str, str]) -> str:
    if not live:
        return f"no worker of queue {queue!r} is running"
    if not live.keys() <= lacks.keys():
        return ""
    by_reason: dict[str, list[str]] = {}
    for holder, worker in live.items():
        by_reason.setdefault(lacks[holder], []).append(worker)
    told = [f"{', '.join(workers)}: {reason}" for reason, workers in by_reason.items()]
    more = f"; and {len(told) - _NAMED} more reasons" if len(told) > _NAMED else ""
    return f"no worker can do it: {'; '.join(told[:_NAMED])}{more}"


def _unended(batches: Sequence[str]) -> Callable[[QueueConnection], Awaitable[list[str]]]:
    async def work(connection: QueueConnection) -> list[str]:
        rows = await connection.fetch(
            "SELECT id FROM batches b WHERE id = ANY($1) AND EXISTS "
            "(SELECT FROM tasks t WHERE t.batch = b.id AND t.state IN ('waiting', 'running'))",
            list(batches),
        )
        return [row["id"] for row in rows]

    return work


def _note(batch: str, holder: str, why: str) -> Callable[[QueueConnection], Awaitable[None]]:
    async def work(connection: QueueConnection) -> None:
        # The batch may be gone, and those who noted something before may be, too.
        await connection.execute(
            "INSERT INTO unfit (batch, holder, why) SELECT id, $2, $3 FROM batches WHERE id = $1 "
            "ON CONFLICT (batch, holder) DO UPDATE SET why = excluded.why",
            *(batch, holder, why),
        )
        await connection.execute(
            f"DELETE FROM unfit WHERE batch = $1 AND holder NOT IN (SELECT {_HOLDER} FROM workers WHERE {_LIVE})",  # noqa: S608 - constants
            batch,
        )

    return work


def _forget(batch: str, holder: str) -> Callable[[QueueConnection], Awaitable[None]]:
    async def work(connection: QueueConnection) -> None:
        await connection.execute("DELETE FROM unfit WHERE batch = $1 AND holder = $2", batch, holder)

    return work
