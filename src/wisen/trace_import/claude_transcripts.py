"""Claude Code's transcripts: messages as Anthropic's interface has them, each in an envelope of the agent's own."""

import json
import re
from dataclasses import dataclass, field
from typing import Final, Literal

from wisen.trace_import.foreign_formats import Record, as_list, as_record
from wisen.trace_import.session_turns import TurnBuilder

_EXIT: Final = re.compile(r"\A(?:Error: )?Exit code (-?\d+)\s*")
_MARKUP: Final = re.compile(r"\A\s*<([\w-]+)>.*</[\w-]+>\s*\Z", re.DOTALL)
_REFUSED: Final = "User rejected tool use"
"""What the envelope holds in place of a result where a person refused the call."""
_SHELL: Final = "Bash"


@dataclass(slots=True, kw_only=True)
class ClaudeReader:
    """Reads the records of one transcript, in order."""

    agent: Literal["claude"] = "claude"
    side: bool | None = None
    """Whether it is a worker's own transcript; `None` before the first message."""
    commands: dict[str, None] = field(default_factory=dict[str, None])
    """Calls of the shell whose end is awaited, and which therefore have an exit code."""

    def __call__(self, turns: TurnBuilder, record: object, line: int) -> None:
        """Tell `turns` what a record says."""
        whole = as_record(record)
        kind = whole.get("type")
        if kind not in ("user", "assistant"):
            return
        side = whole.get("isSidechain") is True
        # A worker's own file is all side chain; within a session's file, a worker's messages aren't the session's.
        self.side = side if self.side is None else self.side
        if side != self.side:
            return
        turns.session_id = turns.session_id or str(whole.get("sessionId") or "")
        turns.cwd = turns.cwd or str(whole.get("cwd") or "")
        message = as_record(whole.get("message"))
        content = message.get("content")
        parts = [as_record(part) for part in as_list(content)] or [{"type": "text", "text": content or ""}]
        if kind == "assistant":
            self._said(turns, parts, line)
            return
        for part in parts:
            if part.get("type") == "tool_result":
                self._result(turns, part, whole)
        if whole.get("isMeta") is not True and whole.get("isCompactSummary") is not True:
            text = _text(parts)
            turns.prompted(text, line, certain=not _MARKUP.match(text))

    def _said(self, turns: TurnBuilder, parts: list[Record], line: int) -> None:
        for part in parts:
            match part.get("type"):
                case "text":
                    turns.answered(str(part.get("text") or ""))
                case "tool_use":
                    tool, given, call_id = str(part.get("name") or "?"), part.get("input"), str(part.get("id") or "")
                    arguments = as_record(given)
                    command = arguments.get("command")
                    if tool == _SHELL and arguments.get("run_in_background") is not True:
                        self.commands[call_id] = None
                    said = command if isinstance(command, str) else json.dumps(given, ensure_ascii=False)
                    turns.called(tool, said, line, call_id, shell=tool == _SHELL and isinstance(command, str))
                case _:
                    pass

    def _result(self, turns: TurnBuilder, part: Record, envelope: Record) -> None:
        call_id = str(part.get("tool_use_id") or "")
        text = _text([as_record(one) for one in as_list(part.get("content"))] or [{"text": part.get("content") or ""}])
        wrong = part.get("is_error") is True
        shell = call_id in self.commands
        self.commands.pop(call_id, None)
        if wrong and envelope.get("toolUseResult") == _REFUSED:
            turns.resulted(call_id, output=text)
            return
        told = _EXIT.match(text) if wrong else None
        # Whatever a command ends with but 0 is told as an error, with its number.
        code = int(told[1]) if told else 0 if shell and not wrong else None
        turns.resulted(call_id, output=text[told.end() :] if told else text, exit_code=code, failed=wrong)


def _text(parts: list[Record]) -> str:
    return "\n".join(str(part["text"]) for part in parts if part.get("text") and part.get("type", "text") == "text")
