"""One SQLite file, opened lazily and used from two threads: one that writes in groups, one that reads.

Nothing here runs on the event loop but the submitting. No object is bound to a loop, so one store serves any
number of `run_sync`s.
"""

import asyncio
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from wisen.errors import ForeignDatabaseError, StoreError, StoreReadOnlyError
from wisen.stores.read_line import Answer, ReadLine
from wisen.stores.schema import APPLICATION_ID, MIGRATIONS
from wisen.stores.upgrade import upgrade

_Result = TypeVar("_Result")
_Work = Callable[[sqlite3.Connection], _Result]
_CACHE_KIB = 65_536
_FIRST_PAUSE = 0.005
_LONGEST_PAUSE = 0.1
_LOG_SECONDS = 5.0
_WAIT_MS = 2
_MOST = 64
"""Writes in one transaction: the first of a thousand don't wait for the last."""


@dataclass(frozen=True, slots=True)
class _Job:
    """A write that waits for its turn."""

    work: _Work[Any]
    before: Callable[[], None] | None
    loop: asyncio.AbstractEventLoop
    waits: asyncio.Future[Any]
    """Belongs to the loop: the writing thread only asks whether it was cancelled."""

    def prepared(self) -> BaseException | None:
        """Do what comes before the transaction; where that fails, say how."""
        try:
            if self.before is not None:
                self.before()
        except BaseException as error:  # noqa: BLE001 - whoever waits for this write has to hear of it
            return error
        return None


class Database:
    """Runs work on the file: `read` in a consistent snapshot, `write` in a transaction that is all or nothing.

    Writes that wait at the same time share one transaction, each in a savepoint of its own, and one way back to the
    event loop, so that many small writes at once cost one commit. Cancelling the wait for a write either keeps it from
    starting or lets it finish whole.
    """

    def __init__(self, path: Path, *, read_only: bool, fsync: bool, busy_seconds: float) -> None:
        """Remember how to open `path`; nothing is touched yet."""
        self.path = path
        self._read_only = read_only
        self._fsync = fsync
        self._busy_seconds = busy_seconds
        self._guard = threading.Lock()
        self._waiting: deque[_Job] = deque()
        self._called = False
        """Whether the writing thread has been asked to look for writes and has yet to do so."""
        self._writer_thread = ThreadPoolExecutor(1, thread_name_prefix="wisen-write")
        self._reader_thread = ThreadPoolExecutor(1, thread_name_prefix="wisen-read")
        self._reads: ReadLine[_Work[Any]] = ReadLine(self._reader_thread, self._answer, self._closed_error)
        self._computing_thread = ThreadPoolExecutor(1, thread_name_prefix="wisen-compute")
        self._writer: sqlite3.Connection | None = None
        self._reader: sqlite3.Connection | None = None
        self._closed = False

    async def read(self, work: _Work[_Result]) -> _Result:
        """Run `work` in the reading thread, in one snapshot of the database, which reads that wait together share."""
        self._refuse_closed()
        return await self._reads.ask(work)

    async def write(self, work: _Work[_Result], *, before: Callable[[], None] | None = None) -> _Result:
        """Run `work` in the writing thread; returns when it is committed.

        `before` runs first, in the same thread and before any lock is taken: there belongs what takes long.
        """
        self._refuse_closed()
        if self._read_only:
            raise StoreReadOnlyError(str(self.path))
        loop = asyncio.get_running_loop()
        waits: asyncio.Future[_Result] = loop.create_future()
        self._waiting.append(_Job(work, before, loop, waits))
        if not self._called:
            self._call()
        return await waits

    async def truncate_log(self) -> None:
        """Take all that is committed over into the file, and empty the log beside it, which holds older pages too.

        Raises `StoreError` where another process reads an older state all the time.
        """
        self._refuse_closed()
        if self._read_only:
            raise StoreReadOnlyError(str(self.path))
        await asyncio.get_running_loop().run_in_executor(self._writer_thread, self._truncate_log)

    async def compute(self, work: Callable[[], _Result]) -> _Result:
        """Run `work`, which doesn't touch the file, in a thread."""
        self._refuse_closed()
        return await asyncio.get_running_loop().run_in_executor(self._computing_thread, work)

    async def close(self) -> None:
        """Finish the writes under way, then let go of the file. Twice is fine."""
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._release)

    def _call(self) -> None:
        # The mark comes first: the thread takes it away before it looks, so whoever still sees it will be seen to.
        self._called = True
        try:
            self._writer_thread.submit(self._drain)
        except RuntimeError:  # closed just now
            self._called = False
            with suppress(IndexError):  # the thread may be taking them too
                while True:
                    _deliver([(self._waiting.popleft(), Answer(error=self._closed_error()))])

    def _refuse_closed(self) -> None:
        if self._closed:
            raise self._closed_error()

    def _closed_error(self) -> StoreError:
        return StoreError(f"store {str(self.path)!r} is closed; open a new one")

    def _release(self) -> None:
        for thread in (self._computing_thread, self._writer_thread, self._reader_thread):
            thread.shutdown(wait=True)
        for connection in (self._reader, self._writer):
            if connection is not None:
                connection.close()
        self._reader = self._writer = None

    def _answer(self, works: Sequence[_Work[Any]], until: float) -> list[Answer]:
        """What the works give, in one snapshot; after one that fails, in another."""
        answers: list[Answer] = []
        for work in works:
            try:
                answers.append(Answer(value=work(self._snapshot())))
            except (sqlite3.Error, UnicodeError) as error:
                answers.append(Answer(error=self._explained(error)))
            except BaseException as error:  # noqa: BLE001 - whoever waits for this read has to hear of it
                answers.append(Answer(error=error))
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
            self._reader.execute("BEGIN")
        return self._reader

    def _leave_snapshot(self) -> None:
        if self._reader is not None and self._reader.in_transaction:
            with suppress(sqlite3.Error):
                self._reader.execute("ROLLBACK")

    def _drain(self) -> None:
        """Do all waiting writes, some at a time in one transaction; whoever comes later calls again."""
        self._called = False
        while self._waiting:
            jobs: list[_Job] = []
            answers: list[tuple[_Job, Answer]] = []
            with suppress(IndexError):
                while len(jobs) < _MOST:
                    job = self._waiting.popleft()
                    if job.waits.cancelled():
                        continue
                    error = job.prepared()
                    if error is None:
                        jobs.append(job)
                    else:
                        answers.append((job, Answer(error=error)))
            _deliver([*answers, *zip(jobs, self._committed(jobs), strict=True)])

    def _truncate_log(self) -> None:
        deadline, pause = time.monotonic() + min(self._busy_seconds, _LOG_SECONDS), _FIRST_PAUSE
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
            raise self._explained(error) from error

    def _committed(self, jobs: list[_Job]) -> list[Answer]:
        """What became of each write, once all are committed, or none is."""
        try:
            return self._commit(jobs) if jobs else []
        except sqlite3.Error as error:
            return [Answer(error=self._explained(error))] * len(jobs)
        except BaseException as error:  # noqa: BLE001 - whoever waits for these writes has to hear of it
            return [Answer(error=error)] * len(jobs)

    def _commit(self, jobs: list[_Job]) -> list[Answer]:
        if self._writer is None:
            self._writer = self._open(write=True)
        writer = self._writer
        done: list[Answer] = []
        self._begin(writer)
        try:
            for job in jobs:
                writer.execute("SAVEPOINT one")
                try:
                    done.append(Answer(value=job.work(writer)))
                except (StoreError, UnicodeError) as error:
                    writer.execute("ROLLBACK TO one")
                    done.append(Answer(error=error if isinstance(error, StoreError) else self._explained(error)))
                writer.execute("RELEASE one")
            writer.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                writer.execute("ROLLBACK")
            raise
        return done

    def _begin(self, writer: sqlite3.Connection) -> None:
        # SQLite's own waiting grows to a tenth of a second a time, which leaves the file idle when several write.
        deadline = time.monotonic() + self._busy_seconds
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
            self._refuse_directory()
            if not self._read_only and self._writer is None and self._reader is None:
                self._make_parent()
            try:
                return self._opened(write=write, query="")
            except sqlite3.OperationalError as error:
                if not self._left_whole(error):
                    raise
                # A directory that can't be written has no place for the shared memory of WAL; nobody else writes there.
                return self._opened(write=write, query="&immutable=1")

    def _left_whole(self, error: sqlite3.OperationalError) -> bool:
        """Whether the file only lacks a writable place beside it, and all that was written is in the file itself."""
        stopped = error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
        log = self.path.with_name(f"{self.path.name}-wal")
        return self._read_only and stopped and self.path.exists() and not (log.exists() and log.stat().st_size)

    def _opened(self, *, write: bool, query: str) -> sqlite3.Connection:
        connection = self._connect(query)
        try:
            connection.execute(f"PRAGMA synchronous = {'FULL' if self._fsync else 'NORMAL'}")
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB if write else _CACHE_KIB // 4}")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA secure_delete = ON")  # what is withdrawn or deleted leaves nothing in the file
            self._settle(connection)
            connection.execute(f"PRAGMA busy_timeout = {_WAIT_MS}" if write else "PRAGMA query_only = ON")
        except BaseException:
            connection.close()
            raise
        return connection

    def _refuse_directory(self) -> None:
        with suppress(OSError):  # what can't be looked at, SQLite fails to open, and says why
            if self.path.is_dir():
                msg = f"store {str(self.path)!r} is a directory; pass a file's path"
                raise StoreError(msg)

    def _make_parent(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except PermissionError:
            raise StoreReadOnlyError(str(self.path)) from None
        except OSError as error:
            msg = f"store {str(self.path)!r} can't be made: {error.strerror}; pass another path"
            raise StoreError(msg) from None

    def _connect(self, query: str) -> sqlite3.Connection:
        # A connection that may not write leaves WAL's files behind when it is the last one; this one takes them away.
        mode = "rw" if self._read_only else "rwc"
        uri = f"file:{quote(str(self.path))}?mode={mode}{query}"
        return sqlite3.connect(uri, uri=True, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False)

    def _settle(self, connection: sqlite3.Connection) -> None:
        """Check that the file is a store of a version we know, and bring a new or older one up to date."""
        version = self._version(connection)
        if self._read_only or version == len(MIGRATIONS):
            return
        self._use_wal(connection)
        connection.execute("BEGIN IMMEDIATE")
        try:
            upgrade(connection, self._version(connection))
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise

    def _version(self, connection: sqlite3.Connection) -> int:
        application, version, used = _marks(connection)
        if application != APPLICATION_ID:
            if application or version or used:
                raise ForeignDatabaseError(str(self.path), "a database of another program")
            if self._read_only:
                raise ForeignDatabaseError(str(self.path), "an empty file")
        if version > len(MIGRATIONS):
            problem = f"schema {version} of a newer wisen; this one knows {len(MIGRATIONS)}"
            raise ForeignDatabaseError(str(self.path), problem)
        if self._read_only and version < len(MIGRATIONS):
            problem = f"schema {version} of an older wisen; open it once for writing to bring it up to date"
            raise ForeignDatabaseError(str(self.path), problem)
        return version

    def _use_wal(self, connection: sqlite3.Connection) -> None:
        # The switch needs the file alone for a moment and doesn't wait for it by itself.
        deadline, pause = time.monotonic() + self._busy_seconds, _FIRST_PAUSE
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(pause)
                pause *= 2
            else:
                return

    def _explained(self, error: sqlite3.Error | UnicodeError) -> StoreError:
        path, code = str(self.path), getattr(error, "sqlite_errorcode", 0) & 0xFF
        missing = self._read_only and not self.path.exists()
        said = error if isinstance(error, sqlite3.Error) else "a name or id isn't valid Unicode"
        known: dict[int, StoreError] = {
            sqlite3.SQLITE_READONLY: StoreReadOnlyError(path),
            sqlite3.SQLITE_NOTADB: ForeignDatabaseError(path, "not a database"),
            sqlite3.SQLITE_CORRUPT: ForeignDatabaseError(path, "a damaged database"),
            sqlite3.SQLITE_CANTOPEN: StoreError(
                f"no store at {path!r}; pass the path of an existing one"
                if missing
                else f"store {path!r} can't be opened; check that it is a file in a directory that can be written"
            ),
            sqlite3.SQLITE_BUSY: StoreError(
                f"store {path!r} was locked by another process for {self._busy_seconds:g} s; try again"
            ),
        }
        return known.get(code, StoreError(f"store {path!r} failed: {said}"))


def _marks(connection: sqlite3.Connection) -> tuple[int, int, int]:
    """Whose file it is, of which version, and how many tables it has: all of one moment, since others may make it."""
    alone = not connection.in_transaction
    if alone:
        connection.execute("BEGIN")
    try:
        asked = ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_schema")
        application, version, used = (connection.execute(one).fetchone()[0] for one in asked)
    finally:
        if alone:
            connection.execute("ROLLBACK")
    return application, version, used


def _deliver(answers: Sequence[tuple[_Job, Answer]]) -> None:
    """Give the answers to those who wait, in one visit to each of their event loops."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], Answer]]] = {}
    for job, answer in answers:
        by_loop.setdefault(job.loop, []).append((job.waits, answer))
    for loop, some in by_loop.items():
        with suppress(RuntimeError):  # the loop has ended, and nobody waits
            loop.call_soon_threadsafe(_settle_all, some)


def _settle_all(answers: Sequence[tuple[asyncio.Future[Any], Answer]]) -> None:
    for waits, answer in answers:
        answer.settle(waits)
