"""Who is alive: each worker holds a lease that it renews, and lets others have the tasks of those that didn't.

The renewing is done in a thread with a connection of its own, so that neither a busy event loop nor a full pool makes a
worker look dead.
"""

import asyncio
import logging
import re
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wisen.errors import ConfigError
from wisen.operations.logs import log
from wisen.queue.database import SCHEMA
from wisen.queue.dbos_engine import CHANNEL, Dispatch, cancelled_in
from wisen.queue.reconnecting import full
from wisen.queue.task_ids import TaskId

if TYPE_CHECKING:
    from psycopg import Connection

BEATS = 8
"""How often a lease is renewed within its length."""
_TRUSTED = 0.8
"""The part of its length for which a worker trusts its lease; the rest covers clocks that run differently."""
_INDEXES = 10_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_LOOK = 0.05
_SLICE = 0.25
"""Seconds after which a keeper sees that it is to end."""
_SELDOM = 2
"""Of so many beats, one compares what DBOS has with who lives, where nothing else tells to."""


def checked_name(name: str, what: str) -> str:
    """The name of a queue, worker or batch; raises `ConfigError` for one that can't be."""
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{what} {name!r}: must begin with a letter or digit, with . _ - besides, and up to 100")
    return name


def passed() -> float:
    """Seconds on a clock that goes on while the process, or the machine, is paused."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


@dataclass(slots=True, kw_only=True)
class Lease:
    """That a worker is held for alive, until when it knows."""

    queue: str
    worker: str
    epoch: int
    takeover: float
    clock: Callable[[], float] = passed
    renewed: float = field(default_factory=passed)
    """When the database was last asked to renew it, and did."""

    @property
    def holder(self) -> str:
        """Names the worker from this start to its end."""
        return f"{self.queue}/{self.worker}#{self.epoch}"

    @property
    def age(self) -> float:
        """Seconds since it was renewed."""
        return self.clock() - self.renewed

    async def held(self) -> None:
        """Return if no other worker can have taken over; if in doubt, wait until that is known.

        If another worker has, this never returns: the worker cancels the tasks that wait here.
        """
        while self.age >= _TRUSTED * self.takeover:  # noqa: ASYNC110 - time itself ends it, and a thread renews it
            await asyncio.sleep(_LOOK)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseListener:
    """Who hears of what a `LeaseKeeper` finds, each in the keeper's thread."""

    lost: Callable[[str], None]
    """The lease is gone; told is why."""
    cancelled: Callable[[list[TaskId]], None]
    """Tasks of this worker whose batch is cancelled."""
    doing: Callable[[], frozenset[str]]
    """The workflows that are being done here."""
    took_over: Callable[[int], None] = lambda _: None
    """So many tasks of a dead worker can be had again."""
    tasks_wait: Callable[[], None] = lambda: None
    """There may be tasks."""


class LeaseKeeper(threading.Thread):
    """Renews a worker's lease, and takes from dead workers what they had."""

    def __init__(self, url: str, dispatch: Dispatch, lease: Lease, listener: LeaseListener) -> None:
        super().__init__(name="wisen-keeper", daemon=True)
        self._url = url
        self._dispatch = dispatch
        self._lease = lease
        self._listener = listener
        self._over = threading.Event()
        self._steady = float("-inf")
        self._unclaimed: frozenset[str] = frozenset()
        self._beats = 0
        self._ahead = float("inf")
        """How far the server's clock is ahead; where that leaps, all signs of life look old at once."""
        self._looked = float("-inf")

    def run(self) -> None:
        """Renew until `end`, or until the lease is lost; a database that is away is waited for."""
        connection: Connection | None = None
        every = self._lease.takeover / BEATS
        while not self._over.is_set():
            try:
                if connection is None:
                    connection = _connected(self._url)
                    connection.execute(f"LISTEN {CHANNEL}")
                if not self._beat(connection):
                    break
                self._check_tasks(connection)
                self._listen(connection, every)
            except Exception as error:  # noqa: BLE001 - whatever it was, a worker that stops renewing is lost
                log("keeper.failed", level=logging.WARNING, error=error, **full(error))
                connection = _closed(connection)
                self._over.wait(min(every, 1.0))
        _closed(connection)

    def end(self) -> None:
        """Stop renewing."""
        self._over.set()

    def _listen(self, connection: "Connection", seconds: float) -> None:
        """Pass on notifications of the queue for that long, or until a batch was cancelled."""
        until = time.monotonic() + seconds
        while not self._over.is_set() and (left := until - time.monotonic()) > 0:
            for note in connection.notifies(timeout=min(left, _SLICE), stop_after=1):
                if note.payload == self._lease.queue:
                    self._listener.tasks_wait()
                elif note.payload == cancelled_in(self._lease.queue):
                    return

    def _beat(self, connection: "Connection") -> bool:
        lease, asked = self._lease, self._lease.clock()
        renewed = connection.execute(
            "UPDATE workers SET beat = now() WHERE queue = %s AND id = %s AND epoch = %s AND ended IS NULL "
            "RETURNING extract(epoch FROM beat)::float8",
            (lease.queue, lease.worker, lease.epoch),
        ).fetchone()
        if renewed is None:
            row = connection.execute(
                "SELECT epoch FROM workers WHERE queue = %s AND id = %s", (lease.queue, lease.worker)
            ).fetchone()
            if not self._over.is_set():
                self._listener.lost("displaced" if row is not None and row[0] != lease.epoch else "late")
            return False
        jumped = (renewed[0] - asked) - self._ahead > lease.takeover / 4
        self._ahead = renewed[0] - asked
        if lease.age > lease.takeover / 2 or jumped:
            self._steady = asked
        lease.renewed = asked
        return True

    def _check_tasks(self, connection: "Connection") -> None:
        lease = self._lease
        with connection.transaction():
            rows = connection.execute(
                "SELECT t.batch, t.place, t.round FROM tasks t JOIN batches b ON b.id = t.batch "
                "WHERE t.holder = %s AND t.state = 'running' AND b.cancelled IS NOT NULL",
                (lease.holder,),
            ).fetchall()
            # After a time without the database everybody looks dead: give all the time to come back.
            dead = self._end_dead_workers(connection) if lease.clock() - self._steady > lease.takeover else 0
            taken = self._take_over(connection)
            alive = connection.execute(
                "SELECT queue || '/' || id || '#' || epoch FROM workers WHERE queue = %s AND ended IS NULL",
                (lease.queue,),
            ).fetchall()
        if rows:
            self._listener.cancelled([TaskId(batch=row[0], place=row[1], round=row[2]) for row in rows])
        if dead or taken or self._beats % _SELDOM == 0:
            self._give_out({row[0] for row in alive})
        self._beats += 1

    def _end_dead_workers(self, connection: "Connection") -> int:
        dead = connection.execute(
            "UPDATE workers SET ended = now(), why = 'lost' WHERE queue = %s AND ended IS NULL "
            "AND greatest(beat, pg_postmaster_start_time()) + make_interval(secs => takeover) < now() RETURNING id",
            (self._lease.queue,),
        ).fetchall()
        for (worker,) in dead:
            log("worker.lost", level=logging.WARNING, queue=self._lease.queue, lost=worker)
        return len(dead)

    def _take_over(self, connection: "Connection") -> int:
        return connection.execute(
            "UPDATE tasks t SET tries = tries + 1, deaths = deaths + 1, holder = NULL, "
            "reason = 'its worker ' || split_part(split_part(t.holder, '/', 2), '#', 1) || ' was lost while it ran', "
            "state = CASE WHEN b.cancelled IS NOT NULL THEN 'cancelled' "
            "WHEN tries + 1 >= b.most_tries THEN 'dead' ELSE 'waiting' END, "
            "ended = CASE WHEN b.cancelled IS NOT NULL OR tries + 1 >= b.most_tries THEN now() END "
            "FROM batches b WHERE b.id = t.batch AND t.queue = %s AND t.state = 'running' AND t.holder NOT IN "
            "(SELECT queue || '/' || id || '#' || epoch FROM workers WHERE queue = %s AND ended IS NULL)",
            (self._lease.queue, self._lease.queue),
        ).rowcount

    def _give_out(self, alive: set[str]) -> None:
        """Let everybody have the workflows of those who aren't alive, and of this worker what it doesn't know of."""
        queue = self._lease.queue
        holders = self._dispatch.holders(queue)
        for holder, workflows in holders.items():
            if holder not in alive:
                given = self._dispatch.hand_back(queue, holder, workflows)
                log("tasks.taken_over", queue=queue, worker=self._lease.worker, lost=holder, tasks=given)
                self._listener.took_over(given)
        # Not soon after one another: what was given out just now hasn't been heard of here, either.
        if self._lease.clock() - self._looked >= self._lease.takeover / BEATS:
            self._looked = self._lease.clock()
            self._take_back(frozenset(holders.get(self._lease.holder, ())) - self._listener.doing())

    def _take_back(self, idle: frozenset[str]) -> None:
        """Let go of tasks that are this worker's by the database, and that it never heard of.

        A connection that breaks while tasks are given out leaves such.
        """
        stray = idle & self._unclaimed
        self._unclaimed = idle
        if stray:
            self._dispatch.hand_back(self._lease.queue, self._lease.holder, sorted(stray))
            log("tasks.stray", level=logging.WARNING, queue=self._lease.queue, tasks=len(stray))


def claim(url: str, queue: str, worker: str | None, takeover: float) -> Lease:
    """Begin a worker's life under the given id, even if another had it, or under this host's first free one.

    Blocks. Raises `ConfigError` for an invalid id.
    """
    host = re.sub(r"[^A-Za-z0-9._-]", "-", socket.gethostname())[:60].lstrip("._-") or "worker"
    asked = passed()
    with _connected(url) as connection, connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 2))", (f"wisen_queue {queue}",))
        worker = checked_name(worker, "worker") if worker is not None else _free(connection, queue, host)
        row = connection.execute(
            "INSERT INTO workers (queue, id, epoch, host, takeover) VALUES (%s, %s, 1, %s, %s) "
            "ON CONFLICT (queue, id) DO UPDATE SET epoch = workers.epoch + 1, host = excluded.host, "
            "takeover = excluded.takeover, started = now(), beat = now(), ended = NULL, why = '' RETURNING epoch",
            (queue, worker, host, takeover),
        ).fetchone()
    if row is None:
        raise ConfigError(f"worker {worker!r} can't be claimed")
    return Lease(queue=queue, worker=worker, epoch=row[0], takeover=takeover, renewed=asked)


def resign(url: str, lease: Lease) -> None:
    """End a worker's life in order; its tasks are handed back before. Blocks."""
    with _connected(url) as connection:
        connection.execute(
            "UPDATE workers SET ended = now(), why = 'stopped' WHERE queue = %s AND id = %s AND epoch = %s "
            "AND ended IS NULL",
            (lease.queue, lease.worker, lease.epoch),
        )


def _free(connection: "Connection", queue: str, host: str) -> str:
    rows = connection.execute(
        "SELECT id FROM workers WHERE queue = %s AND ended IS NULL AND beat + make_interval(secs => takeover) > now()",
        (queue,),
    ).fetchall()
    taken = {row[0] for row in rows}
    return next(f"{host}-{index}" for index in range(_INDEXES) if f"{host}-{index}" not in taken)


def _connected(url: str) -> "Connection":
    import psycopg  # noqa: PLC0415 - optional extra

    connection = psycopg.connect(
        url,
        autocommit=True,
        connect_timeout=5,
        application_name="wisen worker",
        prepare_threshold=None,
    )
    try:
        # Not in the greeting, where poolers refuse it.
        connection.execute(f"SET search_path TO {SCHEMA}; SET statement_timeout = 15000")
    except BaseException:
        connection.close()
        raise
    return connection


def _closed(connection: "Connection | None") -> None:
    if connection is not None:
        connection.close()
