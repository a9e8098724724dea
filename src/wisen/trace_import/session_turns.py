"""A coding agent's session as turns: what the person asked, what the agent ran, and how that came out."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from wisen.json_values import encodable
from wisen.trace_import.coding_agents import CodingAgent
from wisen.trace_text import clipped

LONGEST_TEXT: Final = 8_000
"""Characters that are kept of a prompt, a command, an output or an answer: of a longer one, its two ends."""
MOST_CALLS: Final = 1_000
"""Calls of one turn. A turn with more goes on as a further turn with the same prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCall:
    """One call of a tool."""

    tool: str
    command: str
    """What was run: the command line of a shell, else the arguments as JSON."""
    output: str = ""
    exit_code: int | None = None
    """`None` where the transcript doesn't say it, as for tools that aren't commands."""
    failed: bool | None = None
    """Whether the agent was told that it failed; `None` where that isn't said, or where a person refused the call."""
    line: int
    """The line of the call in the transcript, from 1."""
    call_id: str = ""
    shell: bool = False
    """Whether a shell ran it, so that it is a command line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTurn:
    """A prompt, and all that the agent did until the next one."""

    prompt: str
    line: int
    """The line of the prompt, from 1."""
    calls: tuple[SessionCall, ...] = ()
    answer: str = ""
    """The agent's last text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedLine:
    """A line that couldn't be read, and why."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CodingSession:
    """A session, as its transcript tells it."""

    agent: CodingAgent
    session_id: str
    cwd: str
    """The folder that the agent worked in; "" where the transcript doesn't say it."""
    turns: tuple[SessionTurn, ...] = ()
    skipped: tuple[SkippedLine, ...] = ()


@dataclass(slots=True, kw_only=True)
class OpenCall:
    """A call that may still hear of its result."""

    tool: str
    command: str
    line: int
    call_id: str
    shell: bool = False
    output: str | None = None
    exit_code: int | None = None
    failed: bool | None = None

    def ended(self) -> SessionCall:
        """As far as it is known."""
        return SessionCall(
            tool=self.tool,
            command=self.command,
            output=self.output or "",
            exit_code=self.exit_code,
            failed=self.failed,
            line=self.line,
            call_id=self.call_id,
            shell=self.shell,
        )


@dataclass(slots=True)
class TurnBuilder:
    """Collects one turn after the other from what a transcript says in order. Holds one turn at most."""

    session_id: str = ""
    cwd: str = ""
    prompt: str = ""
    line: int = 0
    certain: bool = False
    """Whether a person wrote the prompt."""
    answer: str = ""
    calls: dict[str, OpenCall] = field(default_factory=dict[str, OpenCall])
    _ended: list[SessionTurn] = field(default_factory=list[SessionTurn])

    def prompted(self, text: str, line: int, *, certain: bool) -> None:
        """A message in the person's name begins a turn.

        Args:
            text: The message. A turn that has this prompt, and nothing else as yet, goes on.
            line: Its line.
            certain: Whether the transcript says that a person wrote it. Another one gives way to the next message,
                unless the agent acts on it.
        """
        text = _kept(text)
        if not text:
            return
        idle = not self.calls and not self.answer
        if idle and text == self.prompt:
            self.certain = self.certain or certain
            return
        if not idle or self.certain:
            self._end()
        self.prompt, self.line, self.certain = text, line, certain

    def called(self, tool: str, command: str, line: int, call_id: str, *, shell: bool = False) -> None:
        """The agent calls a tool."""
        waits = any(call.output is None for call in self.calls.values())
        if len(self.calls) >= (2 * MOST_CALLS if waits else MOST_CALLS):
            self._end()
        key = call_id or f"line {line}"
        self.calls[key] = OpenCall(tool=tool, command=_kept(command), line=line, call_id=call_id, shell=shell)

    def resulted(
        self, call_id: str, *, output: str | None = None, exit_code: int | None = None, failed: bool | None = None
    ) -> None:
        """A call's result is told, whole or in part. One whose call isn't known in this turn is left out."""
        call = self.calls.get(call_id)
        if call is None:
            return
        if output is not None:
            call.output = _kept(output)
        if exit_code is not None:
            call.exit_code = exit_code
        if failed is not None:
            call.failed = failed

    def answered(self, text: str) -> None:
        """The agent says something."""
        self.answer = _kept(text) or self.answer

    def ended(self, *, whole: bool = False) -> Iterator[SessionTurn]:
        """The turns that have ended since the last time; with `whole`, as the file has, the one under way too."""
        if whole and (self.certain or self.calls or self.answer):
            self._end()
        if self._ended:
            turns, self._ended = self._ended, []
            yield from turns

    def _end(self) -> None:
        if self.prompt:
            calls = tuple(call.ended() for call in self.calls.values())
            turn = SessionTurn(prompt=self.prompt, line=self.line, calls=calls, answer=self.answer)
            self._ended.append(turn)
        self.calls, self.answer = {}, ""


def _kept(text: str) -> str:
    return clipped(encodable(text), LONGEST_TEXT)
