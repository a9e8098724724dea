"""Reads a session's transcript from where it was read to before, so that a turn's end costs no more than that turn."""

import hashlib
import os
import tempfile
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from wisen.reflection.traced import TracedRun
from wisen.retroformer.repairs import Repair, Repairs
from wisen.trace_import.coding_sessions import SessionStream, StreamMark
from wisen.trace_import.session_runs import run_of_turn
from wisen.trace_import.session_turns import SessionCall, SessionTurn

MARKS: Final = "transcripts"
"""The folder of the marks, in the state folder."""
_COMPARED: Final = 4_096
"""Bytes that are compared of a file's beginning, and of what ends at the mark."""
_KEPT: Final = 500
"""Marks; the oldest go first."""
FAILED_TURNS: Final = 3
"""The last turns with a failed command that are looked back at."""
_FOLLOWING: Final = 100
"""Calls that are given of those that follow one."""
_REPAIRS: Final = 100
"""Repairs after which reading stops at the end of a turn, so that no more are held."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptMark:
    """How far a transcript was read, and what was known there: the beginning of the turn that may go on."""

    beginning: int
    """Bytes of the file's beginning that `digest` is of."""
    digest: str
    """Of the beginning, and of what ends at the mark: another file has another one."""
    stream: StreamMark | None
    """`None` while the first turn is under way."""
    repairs: Repairs
    looked_at: str = ""
    """The turn that was looked back at last, by its run's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionNews:
    """What a transcript has told since its mark, the turn under way included."""

    repairs: Sequence[Repair]
    calls: dict[str, list[SessionCall]]
    """The calls that were asked for, by their ids, each with those that follow it."""
    turn: SessionTurn | None
    """The last one."""
    failed: Sequence[TracedRun]
    """The last turns with a failed command, but for one that was looked back at before."""
    mark: TranscriptMark
    whole: bool
    """Whether the file was read to its end. If not, it goes on from the mark, once that is kept."""


@dataclass(slots=True, kw_only=True)
class _News:
    """What the turns of one reading tell."""

    repairs: Repairs
    wanted: Collection[str]
    looked_at: str
    found: list[Repair] = field(default_factory=list[Repair])
    calls: dict[str, list[SessionCall]] = field(default_factory=dict[str, list[SessionCall]])
    failed: deque[TracedRun] = field(default_factory=lambda: deque[TracedRun](maxlen=FAILED_TURNS))
    turn: SessionTurn | None = None

    def add(self, turn: SessionTurn, run: TracedRun) -> None:
        self.turn = turn
        self.found += self.repairs.found(run)
        for call in turn.calls:
            for following in self.calls.values():
                if len(following) < _FOLLOWING:
                    following.append(call)
            if call.call_id in self.wanted:
                self.calls[call.call_id] = [call]
        if run.trace.trace_id == self.looked_at:
            self.failed.clear()
        elif any(call.shell and call.exit_code for call in turn.calls):
            self.failed.append(run)


class TranscriptMarks:
    """Keeps the marks, one for each transcript, over the end of the process.

    Args:
        folder: The state folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / MARKS

    def read(self, path: Path, calls: Collection[str]) -> SessionNews:
        """What is new, these calls among it. Raises `TracesFileError`.

        Nothing is remembered of it until `keep` is called. A file that is shorter than it was, or another one, is read
        from its beginning.
        """
        mark = self._mark(path)
        stream = SessionStream(path, mark=None if mark is None else mark.stream)
        repairs = Repairs() if mark is None else mark.repairs
        news = _News(repairs=repairs, wanted=calls, looked_at="" if mark is None else mark.looked_at)
        known, behind, whole = repairs.copied(), stream.mark, True
        for turn in stream.turns():
            if stream.mark is not behind:
                known, behind = repairs.copied(), stream.mark
                if len(news.found) >= _REPAIRS:
                    whole = False
                    break
            news.add(turn, run_of_turn(turn, session_id=stream.session_id, name=path.name, foreign=False))
        if stream.mark is not behind:
            known, behind = repairs.copied(), stream.mark
        beginning = min(_COMPARED, path.stat().st_size)
        new = TranscriptMark(
            beginning=beginning,
            digest=_digest(path, beginning, 0 if behind is None else behind.offset),
            stream=behind,
            repairs=replace(known, session=repairs.session, told=repairs.told),
            looked_at=news.failed[-1].trace.trace_id if news.failed else news.looked_at,
        )
        return SessionNews(
            repairs=news.found, calls=news.calls, turn=news.turn, failed=tuple(news.failed), mark=new, whole=whole
        )

    def keep(self, path: Path, mark: TranscriptMark) -> None:
        """Go on from here the next time. Raises `OSError`."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self._folder, prefix=".")
        with os.fdopen(handle, "wb") as out:
            out.write(_MARK.dump_json(mark))
        Path(name).replace(self._file(path))
        marks = sorted(self._folder.glob("*.json"), key=lambda one: one.stat().st_mtime_ns)
        for old in marks[:-_KEPT]:
            old.unlink(missing_ok=True)

    def _mark(self, path: Path) -> TranscriptMark | None:
        try:
            mark = _MARK.validate_json(self._file(path).read_bytes())
            offset = 0 if mark.stream is None else mark.stream.offset
            return mark if _digest(path, mark.beginning, offset) == mark.digest else None
        except (OSError, ValueError):  # where nothing is known of it, it is read from its beginning
            return None

    def _file(self, path: Path) -> Path:
        return self._folder / f"{hashlib.sha256(os.fsencode(path.resolve())).hexdigest()}.json"


def _digest(path: Path, beginning: int, offset: int) -> str:
    """Of a file's beginning, and of what ends at `offset`; of less, where the file is shorter."""
    told = hashlib.sha256()
    with path.open("rb") as file:
        told.update(file.read(beginning))
        file.seek(max(offset - _COMPARED, 0))
        told.update(file.read(min(offset, _COMPARED)))
    return told.hexdigest()


_MARK: Final = TypeAdapter(TranscriptMark)
