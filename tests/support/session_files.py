"""Transcripts in the forms that Codex and Claude Code write, for tests of what is read from them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Ran = tuple[str, int, str]
"""A command, its exit code and what it wrote."""


def rollout(path: Path, *turns: tuple[str, Sequence[Ran]], session: str = "s-1", cwd: str = "/project") -> Path:
    """A rollout of Codex's: each turn a prompt and what the agent ran; the calls' ids are c1, c2 and so on."""
    lines = [_line("session_meta", id=session, cwd=cwd)]
    number = 0
    for prompt, calls in turns:
        lines.append(_line("event_msg", type="user_message", message=prompt))
        for command, code, output in calls:
            number += 1
            given, said = json.dumps({"cmd": command}), f"Process exited with code {code}\nOutput:\n{output}"
            lines.append(_item("function_call", number, name="exec_command", arguments=given))
            lines.append(_item("function_call_output", number, output=said))
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def edit(path: Path, place: int) -> Path:
    """The same rollout, in which a file was edited at a line, counted from 0."""
    lines = path.read_text().splitlines(keepends=True)
    call = _line("response_item", type="custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="e1")
    lines.insert(place, json.dumps(call) + "\n")
    path.write_text("".join(lines))
    return path


def claude(path: Path, prompt: str, call_id: str, command: str, code: int) -> Path:
    """A transcript of Claude Code's with one prompt and one command."""
    call = {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": command}}
    text = f"Exit code {code}\nno" if code else "done"
    result = {"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": bool(code)}
    messages: list[tuple[str, Any]] = [("user", prompt), ("assistant", [call]), ("user", [result])]
    lines = [
        {"type": role, "uuid": str(number), "sessionId": "c-1", "message": {"role": role, "content": content}}
        for number, (role, content) in enumerate(messages)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def _line(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-11-22T14:31:17.579Z", "type": kind, "payload": payload}


def _item(kind: str, number: int, **payload: Any) -> dict[str, Any]:
    return _line("response_item", type=kind, call_id=f"c{number}", **payload)
