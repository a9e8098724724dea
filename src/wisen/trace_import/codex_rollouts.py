"""Codex's rollouts: what the model was shown and answered, and beside it what the screen showed, in one file.

Both logs tell of prompts and results. The first has the calls; the exit codes stand in either.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, cast

from wisen.trace_import.foreign_formats import Record, arguments_of, as_list, as_record
from wisen.trace_import.session_turns import TurnBuilder

_EXIT: Final = re.compile(r"(?:Process exited with code|Exit code:) (-?\d+)")
_RUNNING: Final = re.compile(r"Process running with session ID (\d+)")
_OUTPUT: Final = re.compile(r"^Output:\n", re.MULTILINE)
_HEAD: Final = 2_000
"""Characters in which an output's own header ends."""


@dataclass(slots=True, kw_only=True)
class CodexReader:
    """Reads the records of one rollout, in order."""

    agent: Literal["codex"] = "codex"
    running: dict[str, str] = field(default_factory=dict[str, str])
    """By the number of a running process, the call that began it."""
    asked: dict[str, str] = field(default_factory=dict[str, str])
    """By the call that asks a running process how it goes, the process's number."""

    def __call__(self, turns: TurnBuilder, record: object, line: int) -> None:
        """Tell `turns` what a record says."""
        whole = as_record(record)
        payload = as_record(whole.get("payload"))
        kind = str(payload.get("type", ""))
        match whole.get("type"):
            case "session_meta":
                turns.session_id = turns.session_id or str(payload.get("id") or payload.get("session_id") or "")
                turns.cwd = turns.cwd or str(payload.get("cwd") or "")
            case "event_msg":
                self._shown(turns, payload, kind, line)
            case "response_item":
                self._exchanged(turns, payload, kind, line)
            case _:
                pass

    def _shown(self, turns: TurnBuilder, payload: Record, kind: str, line: int) -> None:
        item = as_record(payload.get("item")) if kind == "item_completed" else payload
        match item.get("type"):
            case "user_message":
                turns.prompted(str(item.get("message") or ""), line, certain=True)
            case "UserMessage":
                turns.prompted(_text(item.get("content")), line, certain=True)
            case "exec_command_end" | "CommandExecution":
                code = item.get("exit_code")
                if isinstance(code, int):
                    call_id = str(item.get("call_id") or item.get("id") or "")
                    turns.resulted(call_id, exit_code=code, failed=code != 0)
            case _:
                pass

    def _exchanged(self, turns: TurnBuilder, payload: Record, kind: str, line: int) -> None:
        call_id = str(payload.get("call_id") or payload.get("id") or "")
        match kind:
            case "message" if payload.get("role") == "user":
                wrote = _who(payload)
                if wrote in ("user", ""):
                    turns.prompted(_text(payload.get("content")), line, certain=wrote == "user")
            case "message" if payload.get("role") == "assistant":
                turns.answered(_text(payload.get("content")))
            case "function_call" | "custom_tool_call":
                given = arguments_of(payload.get("arguments", payload.get("input")))
                if process := as_record(given).get("session_id"):
                    self.asked[call_id] = str(process)
                command, shell = _command(given)
                turns.called(str(payload.get("name") or "?"), command, line, call_id, shell=shell)
            case "local_shell_call":
                command, shell = _command(payload.get("action"))
                turns.called("shell", command, line, call_id, shell=shell)
            case "function_call_output" | "custom_tool_call_output":
                self._result(turns, payload.get("output"), call_id)
            case _:
                pass

    def _result(self, turns: TurnBuilder, output: object, call_id: str) -> None:
        text, code, failed = _output(output)
        turns.resulted(call_id, output=text, exit_code=code, failed=failed)
        process = self.asked.pop(call_id, "")
        if found := _RUNNING.search(_header(_body(output))):
            self.running.setdefault(found[1], call_id)
        elif process and (began := self.running.pop(process, "")):
            turns.resulted(began, exit_code=code, failed=failed)


def _who(message: Record) -> str:
    """Who wrote a message in the user's role: "user", another party, or "" where the rollout doesn't say it."""
    about = as_record(message.get("internal_chat_message_metadata_passthrough"))
    parts = [as_record(as_record(part).get("provenance")) for part in as_list(about.get("content_item_metadata"))]
    return next((str(part["type"]) for part in parts if part.get("type")), "")


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) for part in map(as_record, as_list(content)) if part.get("text"))


def _command(given: object) -> tuple[str, bool]:
    """What a call's arguments say is run, and whether that is a command line."""
    record = as_record(given)
    command = next((record[name] for name in ("cmd", "command") if record.get(name)), given)
    if isinstance(command, list):
        words = [str(word) for word in cast("Sequence[object]", command)]
        # `bash -lc "…"` stands around whatever is run.
        whole = words[2] if len(words) == 3 and words[1] in ("-lc", "-c") else " ".join(words)  # noqa: PLR2004 - as above
        return whole, command is not given
    if isinstance(command, str):
        return command, command is not given
    return json.dumps(command, ensure_ascii=False), False


def _output(value: object) -> tuple[str, int | None, bool | None]:
    """What a call gave: its text, its exit code, and whether it failed, as far as each is said."""
    if isinstance(value, str) and value.startswith("{"):
        inner = as_record(arguments_of(value))
        code = as_record(inner.get("metadata")).get("exit_code")
        if "output" in inner and isinstance(code, int):
            return str(inner["output"]), code, code != 0
    record = as_record(value)
    success = record.get("success")
    text = _body(value)
    head = _header(text)
    found = _EXIT.search(head)
    code = int(found[1]) if found else None
    failed = not success if isinstance(success, bool) else None
    body = text[len(head) :] if _OUTPUT.search(head) else text
    return body, code, failed if code is None else code != 0


def _body(output: object) -> str:
    record = as_record(output)
    return _text(record.get("content") if record else output)


def _header(text: str) -> str:
    """What the agent itself wrote above a command's output, so that no output can pose as an exit code."""
    found = _OUTPUT.search(text[:_HEAD])
    return text[: found.end()] if found else ""
