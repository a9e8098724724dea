"""One SQLite file, opened lazily and used from two threads: one that writes in groups, one that reads.

Nothing here runs on the event loop but the submitting. No object is bound to a loop, so one store serves any
number of `run_sync`s.
"""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from wisen import forks
from wisen.batching import BatchQueue, Request
from wisen.errors import StoreError, StoreReadOnlyError
from wisen.forks import Forkable, ForkLock
from wisen.stores.sqlite.file import StoreFile

_Result = TypeVar("_Result")
_Work = Callable[[sqlite3.Connection], _Result]
_FIRST_PAUSE = 0.005
_LONGEST_PAUSE = 0.1
_LOG_SECONDS = 5.0
_MOST_WRITES = 64
"""In one transaction: the first of a thousand don't wait for the last."""
_MOST_READS = 16
_SECONDS = 0.004
"""After so long, answers that are there don't wait for those of their batch that aren't."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Write:
    """What to do in a transaction, and what comes before it."""

    work: _Work[Any]
    before: Callable[[], None] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Came:
    """What a read or a write came to."""

    value: Any = None
    error: BaseException | None = None

    def settle(self, request: Request[Any, Any]) -> None:
        """Give this to the caller."""
        if self.error is None:
            request.give(self.value)
        else:
            request.fail(self.error)


class Database(Forkable):
    """Runs work on the file: `read` in a consistent snapshot, `write` in a transaction that is all or nothing.

    Writes that wait at the same time share one transaction, each in a savepoint of its own, and one way back to the
    event loop, so that many small writes at once cost one commit. Cancelling the wait for a write either keeps it from
    starting or lets it finish whole.
    """

    def __init__(self, file: StoreFile) -> None:
        """Remember how to open the file; nothing is touched yet."""
        self._file = file
        self._reading, self._writing, self._computing = ForkLock(), ForkLock(), ForkLock()
        self._closed = False
        self._start()
        forks.joins(self)

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._file.path

    def _start(self) -> None:
        """Take threads, none of which is begun yet, and no connection."""
        self._guard = threading.Lock()
        self._writer_thread = ThreadPoolExecutor(1, thread_name_prefix="wisen-write")
        self._reader_thread = ThreadPoolExecutor(1, thread_name_prefix="wisen-read")
        self._reads: BatchQueue[_Work[Any], Any] = BatchQueue(self._serve_reads, most=_MOST_READS, shared=Exception)
        self._writes: BatchQueue[_Write, Any] = BatchQueue(self._serve_writes, most=_MOST_WRITES, shared=Exception)
        self._computing_thread = ThreadPoolExecutor(1, thread_name_prefix="wisen-compute")
        self._writer: sqlite3.Connection | None = None
        self._reader: sqlite3.Connection | None = None

    def before_fork(self, until: float) -> None:
        """See `Forkable.before_fork`. The file is closed: SQLite would take the parent's locks for the child's."""
        for lock in (self._reading, self._writing, self._computing):
            lock.before_fork(until)
        if self._reading.rested and self._writing.rested:
            self._disconnect()

    def after_fork_in_parent(self) -> None:
        """See `Forkable.after_fork_in_parent`; the next use opens the file."""
        for lock in (self._reading, self._writing, self._computing):
            lock.after_fork_in_parent()

    def after_fork_in_child(self) -> None:
        """See `Forkable.after_fork_in_child`. What was at work can't be used here."""
        if self._reader is not None or self._writer is not None:
            self._file.left_at_work()
        forks.leave((self._reader, self._writer, self._writer_thread, self._reader_thread, self._computing_thread))
        for lock in (self._reading, self._writing, self._computing):
            lock.after_fork_in_child()
        self._start()

    async def read(self, work: _Work[_Result]) -> _Result:
        """Run `work` in the reading thread, in one snapshot of the database, which reads that wait together share."""
        self._refuse_closed()
        return await self._reads.ask(work)

    async def write(self, work: _Work[_Result], *, before: Callable[[], None] | None = None) -> _Result:
        """Run `work` in the writing thread; returns when it is committed.

        `before` runs first, in the same thread and before any lock is taken: there belongs what takes long.
        """
        self._refuse_closed()
        if self._file.read_only:
            raise StoreReadOnlyError(str(self.path))
        return await self._writes.ask(_Write(work=work, before=before))

    async def truncate_log(self) -> None:
        """Take all that is committed over into the file, and empty the log beside it, which holds older pages too.

        Raises `StoreError` where another process reads an older state all the time.
        """
        self._refuse_closed()
        if self._file.read_only:
            raise StoreReadOnlyError(str(self.path))
        await asyncio.get_running_loop().run_in_executor(self._writer_thread, self._truncate_log)

    async def compute(self, work: Callable[[], _Result]) -> _Result:
        """Run `work`, which doesn't touch the file, in a thread."""
        self._refuse_closed()

        def alone() -> _Result:
            with self._computing:
                return work()

        return await asyncio.get_running_loop().run_in_executor(self._computing_thread, alone)

    async def close(self) -> None:
        """Finish the writes under way, then let go of the file. Twice is fine."""
        if not self._closed:
            self._closed = True
            await self._writes.rest()
            await self._reads.rest()
            await asyncio.to_thread(self._release)

    def _refuse_closed(self) -> None:
        if self._closed:
            raise self._closed_error()

    def _closed_error(self) -> StoreError:
        return StoreError(f"store {str(self.path)!r} is closed; open a new one")

    def _release(self) -> None:
        for thread in (self._computing_thread, self._writer_thread, self._reader_thread):
            thread.shutdown(wait=True)
        self._disconnect()

    def _disconnect(self) -> None:
        for connection in (self._reader, self._writer):
            if connection is not None:
                connection.close()
        self._reader = self._writer = None

    async def _serve_reads(self, some: Sequence[Request[_Work[Any], Any]]) -> None:
        await self._serve(self._reader_thread, self._read, some)

    async def _serve_writes(self, some: Sequence[Request[_Write, Any]]) -> None:
        await self._serve(self._writer_thread, self._write, some)

    async def _serve(
        self, thread: Executor, work: Callable[[list[Any]], list[_Came]], some: Sequence[Request[Any, Any]]
    ) -> None:
        """Do what some ask for in one of the threads, in order; of the last ones nothing may be done."""
        try:
            done = asyncio.get_running_loop().run_in_executor(thread, work, [one.what for one in some])
        except RuntimeError:  # closed just now
            raise self._closed_error() from None
        for one, answer in zip(some, await done, strict=False):
            answer.settle(one)

    def _read(self, works: Sequence[_Work[Any]]) -> list[_Came]:
        with self._reading:
            return self._answered(works, time.monotonic() + _SECONDS)

    def _answered(self, works: Sequence[_Work[Any]], until: float) -> list[_Came]:
        """What the works give, in one snapshot; after one that fails, in another. Stops once it is too late."""
        answers: list[_Came] = []
        for work in works:
            try:
                answers.append(_Came(value=work(self._snapshot())))
            except (sqlite3.Error, UnicodeError) as error:
                answers.append(_Came(error=self._file.explained(error)))
            except BaseException as error:  # noqa: BLE001 - whoever waits for this read has to hear of it
                answers.append(_Came(error=error))
            if answers[-1].error is not None:
                self._leave_snapshot()
            if time.monotonic() > until:
                break
        self._leave_snapshot()
        return answers

    def _snapshot(self) -> sqlite3.Connection:
        if self._reader is None:
            self._reader = self._open(write=False)
        if not self._reader.in_transaction:
            self._file.check()
            self._reader.execute("BEGIN")
        return self._reader

    def _leave_snapshot(self) -> None:
        if self._reader is not None and self._reader.in_transaction:
            with suppress(sqlite3.Error):
                self._reader.execute("ROLLBACK")

    def _write(self, writes: Sequence[_Write]) -> list[_Came]:
        with self._writing:
            early = [self._prepared(one) for one in writes]
            done = iter(self._committed([one for one, error in zip(writes, early, strict=True) if error is None]))
            return [next(done) if error is None else _Came(error=error) for error in early]

    def _prepared(self, write: _Write) -> BaseException | None:
        """Do what comes before the transaction; where that fails, say how."""
        try:
            if write.before is not None:
                write.before()
        except BaseException as error:  # noqa: BLE001 - whoever waits for this write has to hear of it
            return error
        return None

    def _truncate_log(self) -> None:
        with self._writing:
            self._truncate()

    def _truncate(self) -> None:
        deadline, pause = time.monotonic() + min(self._file.patience, _LOG_SECONDS), _FIRST_PAUSE
        try:
            if self._writer is None:
                self._writer = self._open(write=True)
            while self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                if time.monotonic() > deadline:
                    problem = "is being read by another process, so its log still holds what was withdrawn"
                    raise StoreError(f"store {str(self.path)!r} {problem}; it goes when the last one closes the store")
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
        except sqlite3.Error as error:
            raise self._file.explained(error) from error

    def _committed(self, jobs: list[_Write]) -> list[_Came]:
        """What became of each write, once all are committed, or none is."""
        try:
            return self._commit(jobs) if jobs else []
        except sqlite3.Error as error:
            return [_Came(error=self._file.explained(error))] * len(jobs)
        except BaseException as error:  # noqa: BLE001 - whoever waits for these writes has to hear of it
            return [_Came(error=error)] * len(jobs)

    def _commit(self, jobs: list[_Write]) -> list[_Came]:
        if self._writer is None:
            self._writer = self._open(write=True)
        writer = self._writer
        self._file.check()
        done: list[_Came] = []
        self._begin(writer)
        try:
            for job in jobs:
                writer.execute("SAVEPOINT one")
                try:
                    done.append(_Came(value=job.work(writer)))
                except (StoreError, UnicodeError) as error:
                    writer.execute("ROLLBACK TO one")
                    done.append(_Came(error=error if isinstance(error, StoreError) else self._file.explained(error)))
                writer.execute("RELEASE one")
            writer.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                writer.execute("ROLLBACK")
            raise
        return done

    def _begin(self, writer: sqlite3.Connection) -> None:
        # SQLite's own waiting grows to a tenth of a second a time, which leaves the file idle when several write.
        deadline = time.monotonic() + self._file.patience
        while True:
            try:
                writer.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
            else:
                return

    def _open(self, *, write: bool) -> sqlite3.Connection:
        with self._guard:
            return self._file.open(write=write)
