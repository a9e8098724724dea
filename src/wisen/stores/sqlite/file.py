"""A SQLite store's file: how it is made, opened and checked, and what SQLite's errors about it mean."""

import os
import sqlite3
import stat
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from wisen.errors import ForeignDatabaseError, OutdatedStoreError, StoreError, StoreReadOnlyError
from wisen.stores.sqlite.schema import APPLICATION_ID, MIGRATIONS
from wisen.stores.sqlite.upgrade import upgrade

_CACHE_KIB = 65_536
_FIRST_PAUSE = 0.005
_WAIT_MS = 2
PRIVATE = 0o600
"""The mode of files that nobody but their owner may read."""
SHARED = 0o666
"""The mode of files that the umask says who may read of."""
_LEFT: set[tuple[int, int]] = set()
"""Files that were at work when this process was forked off, by device and inode: SQLite takes the parent's locks on
them for its own here."""


class StoreFile:
    """Where a store is, and how to open it. Nothing is touched before."""

    def __init__(self, path: Path, *, read_only: bool, fsync: bool, patience: float, mode: int = PRIVATE) -> None:
        """`patience` is how many seconds a lock of others is waited for; a file that is made gets this `mode`."""
        self.path = path
        self.read_only = read_only
        self.patience = patience
        self._fsync = fsync
        self._mode = mode
        self._opened_as: tuple[int, int] | None = None

    def open(self, *, write: bool) -> sqlite3.Connection:
        """A connection to a store of this version, which is made or brought up to date where it may be."""
        self._refuse_others()
        if self._opened_as is not None:
            self.check()
        elif not self.read_only:
            self._make()
        try:
            connection = self._open(write=write, query="")
        except sqlite3.OperationalError as error:
            if not self._left_whole(error):
                raise
            # A directory that can't be written has no place for the shared memory of WAL; nobody else writes there.
            connection = self._open(write=write, query="&immutable=1")
        with suppress(OSError):
            self._opened_as = _identity(self.path.stat())
        return connection

    def check(self) -> None:
        """Raise `StoreError` where the path is no longer the file that was opened: a write would be lost with that."""
        problem = ""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            problem = "was deleted"
        except OSError as error:
            raise StoreError(f"store {str(self.path)!r} can't be reached: {error.strerror}") from None
        else:
            if _identity(found) != self._opened_as:
                problem = "was replaced by another file"
            elif not found.st_size:
                problem = "was emptied"
        if problem:
            hint = "put the file back, or make a new store"
            raise StoreError(f"store {str(self.path)!r} {problem} while it was open; {hint}")

    def left_at_work(self) -> None:
        """In a forked process: the parent was using it, so it can't be used here."""
        if self._opened_as is not None:
            _LEFT.add(self._opened_as)

    def explained(self, error: sqlite3.Error | UnicodeError) -> StoreError:
        """What an error of SQLite means to a user of the store."""
        path, code = str(self.path), getattr(error, "sqlite_errorcode", 0) & 0xFF
        missing = self.read_only and not self.path.exists()
        detail = getattr(error, "sqlite_errorname", "")
        said = error if isinstance(error, sqlite3.Error) else "a name or id isn't valid Unicode"
        known: dict[int, StoreError] = {
            sqlite3.SQLITE_READONLY: StoreReadOnlyError(path),
            sqlite3.SQLITE_NOTADB: ForeignDatabaseError(path, "not a database"),
            sqlite3.SQLITE_CORRUPT: StoreError(f"store {path!r} is damaged; restore it from a backup"),
            sqlite3.SQLITE_FULL: StoreError(f"store {path!r} is on a full disk, so nothing was written; make room"),
            sqlite3.SQLITE_IOERR: StoreError(
                f"store {path!r}: the disk failed ({said}, {detail}); check it, and its free space"
            ),
            sqlite3.SQLITE_CANTOPEN: StoreError(
                f"no store at {path!r}; pass the path of an existing one"
                if missing
                else f"store {path!r} can't be opened; check that it is a file in a directory that can be written"
            ),
            sqlite3.SQLITE_BUSY: StoreError(
                f"store {path!r} was locked by another process for {self.patience:g} s; try again"
            ),
        }
        return known.get(code, StoreError(f"store {path!r} failed: {said}"))

    def _refuse_others(self) -> None:
        """Only a plain file can be a store; to open a pipe waits for ever."""
        try:
            found = self.path.stat()
        except OSError:  # what can't be looked at, SQLite fails to open, and says why
            return
        if stat.S_ISDIR(found.st_mode):
            raise StoreError(f"store {str(self.path)!r} is a directory; pass a file's path")
        if not stat.S_ISREG(found.st_mode):
            raise StoreError(f"store {str(self.path)!r} is a pipe, socket or device; pass a file's path")
        if _identity(found) in _LEFT:
            hint = "fork when no store is at work, or start processes by 'spawn'"
            raise StoreError(f"store {str(self.path)!r} was in use when this process was forked; {hint}")

    def _make(self) -> None:
        """Make the directory and the file, as far as they aren't there; SQLite's files beside it follow its mode."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if not self.path.exists():
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, self._mode))
        except PermissionError:
            raise StoreReadOnlyError(str(self.path)) from None
        except OSError as error:
            msg = f"store {str(self.path)!r} can't be made: {error.strerror}; pass another path"
            raise StoreError(msg) from None

    def _left_whole(self, error: sqlite3.OperationalError) -> bool:
        """Whether the file only lacks a writable place beside it, and all that was written is in the file itself."""
        stopped = error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
        log = self.path.with_name(f"{self.path.name}-wal")
        return self.read_only and stopped and self.path.exists() and not (log.exists() and log.stat().st_size)

    def _open(self, *, write: bool, query: str) -> sqlite3.Connection:
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

    def _connect(self, query: str) -> sqlite3.Connection:
        # A connection that may not write leaves WAL's files behind when it is the last one; this one takes them away.
        mode = "rw" if self.read_only else "rwc"
        uri = f"file:{quote(str(self.path))}?mode={mode}{query}"
        return sqlite3.connect(uri, uri=True, timeout=self.patience, isolation_level=None, check_same_thread=False)

    def _settle(self, connection: sqlite3.Connection) -> None:
        """Check that the file is a store of a version we know, and bring a new or older one up to date."""
        version = self._version(connection)
        if self.read_only or version == len(MIGRATIONS):
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
            if self.read_only:
                raise ForeignDatabaseError(str(self.path), "an empty file")
        if version > len(MIGRATIONS):
            problem = f"schema {version} of a newer wisen; this one knows {len(MIGRATIONS)}"
            raise ForeignDatabaseError(str(self.path), problem)
        if self.read_only and version < len(MIGRATIONS):
            raise OutdatedStoreError(str(self.path), version)
        return version

    def _use_wal(self, connection: sqlite3.Connection) -> None:
        # The switch needs the file alone for a moment and doesn't wait for it by itself.
        deadline, pause = time.monotonic() + self.patience, _FIRST_PAUSE
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


def bring_up_to_date(path: Path, *, patience: float = 60.0) -> None:
    """Upgrade the file of a store that an earlier version has written. Any other file is left as it is."""
    try:
        StoreFile(path, read_only=True, fsync=True, patience=patience).open(write=False).close()
    except OutdatedStoreError:
        StoreFile(path, read_only=False, fsync=True, patience=patience).open(write=True).close()
    except (StoreError, sqlite3.Error):  # whoever reads it is told
        return


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


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
