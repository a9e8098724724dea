"""What `wisen learn` reads: files and folders, what of them is new to the store, and what was left out."""

import hashlib
import json
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from wisen.errors import TracesFileError
from wisen.protocols import CallLog
from wisen.trace_import.coding_agents import repository_of

if TYPE_CHECKING:
    from wisen.reflection.traced import TracedRun
    from wisen.trace_import.trace_files import Kind, Skipped
    from wisen.trace_import.traces import Form

STANDARD_INPUT: Final = "standard input"
_TOLD: Final = 20
"""Places that are told one by one of what was left out."""
_SCOPE: Final = "wisen learn"
"""Under which a store keeps what was learned from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One file that is to be read."""

    path: Path
    name: str
    kind: "Kind"
    size: int
    changed: int
    """When its content was changed last, in nanoseconds."""

    @property
    def session(self) -> str:
        """Names the session that all its runs belong to; "" where each stands for itself."""
        return self.name if self.kind in ("codex", "claude") else ""


@dataclass(slots=True, kw_only=True)
class TraceReading:
    """Reads the runs of what was given, and counts what was read and what wasn't."""

    form: "Form" = "auto"
    trusted: bool = False
    files: Counter[str] = field(default_factory=Counter[str])
    """Files that were read, by kind."""
    runs: int = 0
    calls: int = 0
    failed: int = 0
    """Of the calls, those that failed."""
    unchanged: int = 0
    """Files that were left alone, since they had been learned from."""
    skipped: "list[Skipped]" = field(default_factory=list["Skipped"])
    """The first places that were left out."""
    skips: int = 0

    def skip(self, one: "Skipped") -> None:
        """Note what is left out."""
        self.skips += 1
        if len(self.skipped) < _TOLD:
            self.skipped.append(one)

    def sources(self, given: Sequence[str]) -> "Iterator[Source]":
        """The files that are meant, by name; what can't be read is noted and left out."""
        from wisen.trace_import.trace_files import Skipped, files_in, kind_of  # noqa: PLC0415 - imports pydantic

        for name in given:
            try:
                if name == "-":
                    with _kept_input() as path:
                        yield _source(path, STANDARD_INPUT, kind_of(path))
                    continue
                for path in files_in([name], on_skip=self.skip):
                    try:
                        yield _source(path, str(path), kind_of(path))
                    except TracesFileError as error:
                        self.skip(Skipped(place=error.path, reason=error.problem))
            except TracesFileError as error:
                self.skip(Skipped(place=error.path, reason=error.problem))

    def of(self, source: Source) -> "Iterator[TracedRun]":
        """The runs of a file, one at a time."""
        from wisen.trace_import.trace_files import Skipped, file_runs  # noqa: PLC0415 - as above

        found, skips = 0, self.skips
        try:
            for run in file_runs(
                source.path,
                source.kind,
                name=source.name,
                form=self.form,
                trusted=self.trusted,
                own_folder=repository_of(Path.cwd()) or Path.cwd(),
                on_skip=self.skip,
            ):
                found += 1
                yield run
        except TracesFileError as error:
            place = error.path if error.line is None else f"{error.path}:{error.line}"
            where = "" if error.field is None else f"field {error.field!r}: "
            self.skip(Skipped(place=place, reason=f"{where}{error.problem}"))
        if found:
            self.files[source.kind] += 1
        elif skips == self.skips:
            self.skip(Skipped(place=source.name, reason="holds no traces"))

    def count(self, run: "TracedRun") -> None:
        """Count a run that is learned from."""
        from wisen.retroformer.repairs import steps_of  # noqa: PLC0415 - imports the screen and its tables

        self.runs += 1
        self.calls += sum(event.kind == "action" for event in run.trace.events)
        self.failed += sum(step.failed for step in steps_of(run))

    @property
    def empty(self) -> bool:
        """Whether nothing could be read at all."""
        return not self.runs and not self.unchanged and not self.files and bool(self.skips)

    def as_json(self) -> dict[str, object]:
        """The counts, under plain names."""
        return {
            "files": dict(sorted(self.files.items())),
            "unchanged": self.unchanged,
            "runs": self.runs,
            "calls": self.calls,
            "failed_calls": self.failed,
            "skipped": self.skips,
        }


class LearnedFiles:
    """Which files a store has learned from, and how far.

    A store that keeps no calls remembers nothing; then all is read again, and what comes of it is known to the store.
    """

    def __init__(self, store: object, how: str) -> None:
        """`how` names the way of learning: another way learns from the same files once more."""
        self._log = store if isinstance(store, CallLog) else None
        self._how = how

    async def line(self, source: Source) -> int | None:
        """The line of the last run that was learned from, 0 for none; `None` where the file hasn't changed since."""
        kept = None if self._log is None else await self._log.call(_SCOPE, self._key(source), 0)
        if kept is None:
            return 0
        told = cast("dict[str, int]", json.loads(kept))
        if (told["size"], told["changed"]) == (source.size, source.changed):
            return None
        # What has become shorter was written anew.
        return told["line"] if told["size"] <= source.size else 0

    async def keep(self, source: Source, line: int) -> None:
        """Note that a file was learned from, up to the run that begins in this line."""
        if self._log is not None and source.name != STANDARD_INPUT:
            told = json.dumps({"size": source.size, "changed": source.changed, "line": line})
            await self._log.save_call(_SCOPE, self._key(source), 0, told.encode())

    def _key(self, source: Source) -> str:
        return hashlib.sha256(f"{source.path.resolve()}\0{self._how}".encode(errors="replace")).hexdigest()


def line_of(run: "TracedRun") -> int:
    """The line that a run begins in; 0 where it is in no line."""
    _, _, line = run.source.rpartition(":")
    return int(line) if line.isdecimal() else 0


def _source(path: Path, name: str, kind: "Kind") -> Source:
    about = path.stat()
    return Source(path=path, name=name, kind=kind, size=about.st_size, changed=about.st_mtime_ns)


@contextmanager
def _kept_input() -> Generator[Path]:
    """Standard input as a file, which can be looked at twice and needn't be held."""
    with tempfile.TemporaryDirectory(prefix="wisen-learn-") as folder:
        path = Path(folder) / "input"
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield path
