"""A folder that several processes and people change: whole files or none, never one over another, and a lock.

Everything here blocks; stores call it from a thread.
"""

import errno
import fcntl
import os
import shutil
import stat
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from wisen.errors import StoreError, StoreReadOnlyError

HIDDEN = ".wisen"
"""The folder for what can be made again, which git is told to ignore."""
_PART = ".part"
_FIRST_PAUSE = 0.001
_LONGEST_PAUSE = 0.05
_MOST_SUFFIXES = 100_000
_NO_LINKS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK)
"""What file systems say that have no second names for a file."""


class FileSignature(NamedTuple):
    """What changes when a file does."""

    modified: int
    changed: int
    size: int
    inode: int


_CLOSED = FileSignature(0, 0, 0, 0)


class Folder:
    """A folder below which text files are found, written, replaced, moved and removed."""

    def __init__(self, root: Path, *, fsync: bool, read_only: bool = False, patience: float = 60.0) -> None:
        """Remember the folder; it is made by the first write, which `read_only` refuses as it does any other.

        `patience` is how many seconds a lock of others is waited for.
        """
        self.root = root
        self.read_only = read_only
        self._fsync = fsync
        self._patience = patience
        self._lock: int | None = None

    @contextmanager
    def locked(self) -> Generator[None]:
        """Keep other writers out. Makes the folder, and says `StoreError`s for what the system refuses."""
        with self.explained(writing=True):
            hidden = self.hidden()
            descriptor = self._lock = os.open(hidden / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                self._wait_for(descriptor)
                for left in hidden.glob(f"*{_PART}"):  # by a process that was killed: nobody else writes now
                    left.unlink(missing_ok=True)
                yield
            finally:
                self._lock = None
                os.close(descriptor)

    def after_fork_in_child(self) -> None:
        """In a forked process: a lock that the parent had is its own, and lasts until nobody has its descriptor."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _wait_for(self, descriptor: int) -> None:
        deadline, pause = time.monotonic() + self._patience, _FIRST_PAUSE
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    msg = f"store {str(self.root)!r} was locked by another process for {self._patience:g} s; try again"
                    raise StoreError(msg) from None
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                return

    def hidden(self, *, make: bool = True) -> Path:
        """The folder for what can be made again, with the file that keeps it out of git."""
        if make and self.read_only:
            raise StoreReadOnlyError(str(self.root))
        hidden = self.root / HIDDEN
        ignore = hidden / ".gitignore"
        if make and not ignore.exists():
            hidden.mkdir(parents=True, exist_ok=True)
            ignore.write_text("*\n", encoding="utf-8")
        return hidden

    @contextmanager
    def explained(self, *, writing: bool = False) -> Generator[None]:
        """Turn the system's refusals into `StoreError`s."""
        try:
            yield
        except (NotADirectoryError, FileExistsError):
            problem = "a file stands where a folder has to be; move it away, or pass another path"
            raise StoreError(f"store {str(self.root)!r}: {problem}") from None
        except OSError as error:
            if writing and error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise StoreReadOnlyError(str(self.root)) from None
            raise StoreError(f"store {str(self.root)!r}: {error.strerror or error}") from None

    def files(self, below: str) -> Iterator[tuple[str, FileSignature]]:
        """Markdown files below a folder, as paths from the root, with their signatures; links aren't followed.

        A folder that may not be looked into is named like a file, so that reading it says why.
        """
        waiting = [below]
        while waiting:
            folder = waiting.pop()
            try:
                found = list(os.scandir(self.root / folder))
            except FileNotFoundError:
                continue
            except PermissionError:
                yield folder, _CLOSED
                continue
            for entry in found:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(f"{folder}/{entry.name}")
                elif entry.name.lower().endswith(".md") and entry.name.lower() != "readme.md":
                    with suppress(FileNotFoundError):
                        yield f"{folder}/{entry.name}", _signature(entry.stat(follow_symlinks=False))

    def folders(self, below: str) -> list[str]:
        """The names of the folders in a folder."""
        try:
            found = list(os.scandir(self.root / below))
        except FileNotFoundError:
            return []
        return sorted(one.name for one in found if one.is_dir(follow_symlinks=False) and not one.name.startswith("."))

    def signature(self, path: str) -> FileSignature:
        """The signature of one file."""
        return _signature(os.lstat(self.root / path))

    def read(self, path: str) -> bytes:
        """A file's bytes; raises `OSError` for a link, a pipe or a device."""
        # To open a pipe would wait for whoever writes into it.
        descriptor = os.open(self.root / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(errno.EINVAL, "is a pipe, socket or device, and no file")
            return file.read()

    def create(self, folder: str, stem: str, text: str) -> str:
        """Write a new file under this name or, where that is taken, with a number behind it; gives its path."""
        part = self._part(folder, text)
        try:
            return self._settle(part, folder, stem)
        finally:
            part.unlink(missing_ok=True)
            self._sync_folder(folder)

    def replace(self, path: str, text: str) -> None:
        """Put a text in the place of a file's, whole."""
        folder = path.rpartition("/")[0]
        part = self._part(folder, text)
        try:
            with suppress(FileNotFoundError):
                part.chmod((self.root / path).stat().st_mode & 0o777)
            part.replace(self.root / path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        self._sync_folder(folder)

    def write_once(self, path: str, text: str) -> None:
        """Write a file unless there is one."""
        if not os.path.lexists(self.root / path):
            self._make(path.rpartition("/")[0])
            self.replace(path, text)

    def append(self, path: str, data: bytes, *, after: int) -> None:
        """Write data into a file behind its first `after` bytes, in the place of what is there."""
        descriptor = os.open(self.root / path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, "wb") as file:
            file.truncate(after)
            file.seek(after)
            file.write(data)
            file.flush()
            if self._fsync:
                os.fsync(descriptor)

    def note(self, name: str, lines: str) -> None:
        """Append lines to a hidden file that can be done without."""
        if lines:
            with (self.hidden() / name).open("a", encoding="utf-8") as file:
                file.write(lines)

    def move(self, path: str, folder: str) -> str:
        """Move a file to another folder, beside what is there; gives its new path."""
        self._make(folder)
        old = self.root / path
        new = self._settle(old, folder, old.stem)
        old.unlink(missing_ok=True)
        self._sync_folder(folder)
        self._sync_folder(path.rpartition("/")[0])
        return new

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""
        return os.path.lexists(self.root / path)

    def holds_nothing(self, path: str) -> bool:
        """Whether a folder has no files but hidden ones, at any depth."""
        return all(one.is_dir() or one.name.startswith(".") for one in (self.root / path).rglob("*"))

    def remove_tree(self, path: str) -> None:
        """Remove a folder with all that is in it."""
        shutil.rmtree(self.root / path, ignore_errors=True)
        self._sync_folder(path.rpartition("/")[0])

    def remove(self, path: str) -> None:
        """Remove a file."""
        (self.root / path).unlink(missing_ok=True)
        self._sync_folder(path.rpartition("/")[0])

    def _settle(self, source: Path, folder: str, stem: str) -> str:
        for number in range(1, _MOST_SUFFIXES):
            name = f"{stem}.md" if number == 1 else f"{stem}-{number}.md"
            if self._moved(source, self.root / folder / name):
                return f"{folder}/{name}"
        raise StoreError(f"store {str(self.root)!r} has too many files of one name in {folder!r}")

    def _moved(self, source: Path, target: Path) -> bool:
        """Whether the file is there now; a link can't be made where something is, but a rename would take its place."""
        try:
            os.link(source, target)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            if os.path.lexists(target):
                return False
            source.rename(target)
        return True

    def _part(self, folder: str, text: str) -> Path:
        self._make(folder)
        part = self.hidden() / f"{os.getpid()}-{os.urandom(8).hex()}{_PART}"
        try:
            with part.open("wb") as file:
                file.write(text.encode())
                file.flush()
                if self._fsync:
                    os.fsync(file.fileno())
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        return part

    def _make(self, folder: str) -> None:
        """Make a folder below the root; one that a link stands for could lead out of it."""
        at = self.root
        for name in folder.split("/"):
            at /= name
            if at.is_symlink():
                raise StoreError(f"store {str(self.root)!r}: {folder!r} leads through a link; replace it by a folder")
        at.mkdir(parents=True, exist_ok=True)

    def _sync_folder(self, folder: str) -> None:
        if self._fsync:
            descriptor = os.open(self.root / folder, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _signature(status: os.stat_result) -> FileSignature:
    return FileSignature(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
