"""Transcripts that coding agents leave on disk: Codex's rollouts and Claude Code's sessions, read line by line.

A file is read in one pass, and no more than one turn of it is held. What can't be read is skipped with its line and a
reason: the last line of a session under way is often half-written.
"""

import json
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, cast

from wisen.errors import TracesFileError
from wisen.trace_import.claude_transcripts import ClaudeReader
from wisen.trace_import.codex_rollouts import CodexReader
from wisen.trace_import.coding_agents import CodingAgent
from wisen.trace_import.foreign_formats import Record, as_record
from wisen.trace_import.numbered_lines import LONGEST_LINE, TOO_LONG, numbered_lines
from wisen.trace_import.session_turns import (
    CodingSession,
    SessionCall,
    SessionTurn,
    SkippedLine,
    TurnBuilder,
)

__all__ = [
    "CodingAgent",
    "CodingSession",
    "SessionCall",
    "SessionStream",
    "SessionTurn",
    "SkippedLine",
    "StreamMark",
    "agent_of",
    "read_session",
]

_LOOKED_AT: Final = 50
"""Lines in which a transcript shows whose it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamMark:
    """How far a transcript was read: to the end of a line that ended a turn, and what was known there."""

    offset: int
    """In bytes."""
    line: int
    reader: CodexReader | ClaudeReader
    turns: TurnBuilder


class SessionStream:
    """One transcript, turn by turn.

    Args:
        path: The file.
        on_skip: Hears of each line that can't be read.
        mark: Where reading goes on; the file must be as it was up to there.

    Raises:
        TracesFileError: There is no such file, it can't be read, or it is no coding agent's transcript.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        on_skip: Callable[[SkippedLine], None] = lambda _: None,
        mark: StreamMark | None = None,
    ) -> None:
        self.path = Path(path)
        agent = agent_of(path) if mark is None else mark.reader.agent
        if agent is None:
            raise TracesFileError(str(path), "is neither a rollout of Codex nor a transcript of Claude Code")
        self.agent: CodingAgent = agent
        self.mark = mark
        """Behind the last turn that is known to have ended."""
        self._on_skip = on_skip
        self._turns = TurnBuilder()

    @property
    def session_id(self) -> str:
        """The session, by the agent's own name for it, as far as it has been read; else the file's name."""
        return self._turns.session_id or self.path.stem

    @property
    def cwd(self) -> str:
        """The folder that the agent works in, as far as it has been read."""
        return self._turns.cwd

    def turns(self) -> Iterator[SessionTurn]:
        """The turns, in order, each as soon as it has ended, and the one under way last.

        Raises `TracesFileError` where the file can't be read.
        """
        reader = CodexReader() if self.agent == "codex" else ClaudeReader()
        offset = after = 0
        if self.mark is not None:
            offset, after = self.mark.offset, self.mark.line
            reader, self._turns = deepcopy((self.mark.reader, self.mark.turns))
        with _opened(self.path) as file:
            file.seek(offset)
            for number, line in numbered_lines(file, after=after):
                record = self._record(line, number)
                if record is None:
                    continue
                reader(self._turns, record, number)
                ended = list(self._turns.ended())
                yield from ended
                if ended and line.endswith(b"\n"):
                    known = deepcopy((reader, self._turns))
                    self.mark = StreamMark(offset=file.tell(), line=number, reader=known[0], turns=known[1])
        yield from self._turns.ended(whole=True)

    def _record(self, line: bytes, number: int) -> Record | None:
        """What a line holds; `None` where that is nothing."""
        if not line.strip():
            return None
        if len(line) > LONGEST_LINE:
            self._on_skip(SkippedLine(line=number, reason=TOO_LONG))
            return None
        record = _parsed(line)
        if not isinstance(record, str):
            return record
        ends = "" if line.endswith(b"\n") else "; the file ends in it, so it may be half-written"
        self._on_skip(SkippedLine(line=number, reason=f"{record}{ends}"))
        return None


def read_session(path: str | Path) -> CodingSession:
    """A whole session. `SessionStream` gives the turns of a large one without holding them all.

    Raises:
        TracesFileError: There is no such file, it can't be read, or it is no coding agent's transcript.
    """
    skipped: list[SkippedLine] = []
    stream = SessionStream(path, on_skip=skipped.append)
    turns = tuple(stream.turns())
    return CodingSession(
        agent=stream.agent, session_id=stream.session_id, cwd=stream.cwd, turns=turns, skipped=tuple(skipped)
    )


def agent_of(path: str | Path) -> CodingAgent | None:
    """Whose transcript a file is, by its content; `None` where it is none. Raises `TracesFileError`."""
    with _opened(path) as file:
        for number, line in numbered_lines(file):
            if number > _LOOKED_AT:
                return None
            record = as_record(_parsed(line) if len(line) <= LONGEST_LINE else None)
            if isinstance(record.get("payload"), dict) and "timestamp" in record and "type" in record:
                return "codex"
            if isinstance(record.get("message"), dict) and "sessionId" in record and "uuid" in record:
                return "claude"
    return None


def _parsed(line: bytes) -> Record | str:
    """The object that a line holds, or why it holds none."""
    try:
        value: object = json.loads(line)
    except json.JSONDecodeError as error:
        return f"isn't valid JSON: {error.msg} (column {error.colno})"
    except UnicodeDecodeError:
        return "isn't UTF-8 text"
    except RecursionError:
        return "is nested too deeply"
    except ValueError:
        return "isn't valid JSON: a number is too long"
    return cast("Record", value) if isinstance(value, dict) else "isn't a JSON object"


@contextmanager
def _opened(path: str | Path) -> Generator[BinaryIO]:
    try:
        with Path(path).open("rb") as file:
            yield file
    except FileNotFoundError:
        raise TracesFileError(str(path), "no such file") from None
    except OSError as error:
        raise TracesFileError(str(path), f"can't be read: {error.strerror}") from None
