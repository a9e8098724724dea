"""Writes sessions as Codex does into its `rollout-*.jsonl`, as far as the records tell of prompts and calls."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from coding_world import Ran


def write_rollout(path: Path, *, session: str, cwd: Path, at: datetime, prompt: str, ran: Sequence[Ran]) -> None:
    """A session with one prompt; the calls' ids are c1, c2 and so on."""
    stamp = at.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    kept = [*_begun(session, cwd, stamp, prompt)]
    for number, one in enumerate(ran, 1):
        kept += _called(f"c{number}", one, cwd)
    kept += [
        _item("message", role="assistant", id="m1", content=[{"type": "output_text", "text": "done"}]),
        ("event_msg", {"type": "task_complete", "turn_id": f"{session}-t", "last_agent_message": "done"}),
    ]
    lines = [
        json.dumps({"timestamp": stamp, "ordinal": place, "type": kind, "payload": payload})
        for place, (kind, payload) in enumerate(kept)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


_Record = tuple[str, dict[str, Any]]


def _begun(session: str, cwd: Path, stamp: str, prompt: str) -> Iterator[_Record]:
    turn = f"{session}-t"
    about = {"session_id": session, "id": session, "timestamp": stamp, "cwd": str(cwd), "originator": "codex_exec"}
    yield "session_meta", {**about, "cli_version": "0.169.0", "source": "exec", "model_provider": "loop", "git": {}}
    yield "event_msg", {"type": "task_started", "turn_id": turn, "model_context_window": 258400}
    yield "turn_context", {"turn_id": turn, "cwd": str(cwd), "approval_policy": "never", "model": "probe"}
    who = {"content_item_kinds": ["user.text"], "content_item_metadata": [{"provenance": {"type": "user"}}]}
    content = [{"type": "input_text", "text": prompt}]
    yield _item("message", role="user", id="msg_1", content=content, internal_chat_message_metadata_passthrough=who)
    item: dict[str, Any] = {
        "type": "UserMessage",
        "id": "u1",
        "content": [{"type": "text", "text": prompt, "text_elements": []}],
    }
    yield "event_msg", {"type": "item_completed", "turn_id": turn, "item": item}


def _called(call: str, one: Ran, cwd: Path) -> Iterator[_Record]:
    if one.edited:
        yield _item("custom_tool_call", name="apply_patch", input=one.command, call_id=call, status="completed")
        yield _item("custom_tool_call_output", call_id=call, output=one.output)
        return
    yield _item("function_call", name="exec_command", arguments=json.dumps({"cmd": one.command}), call_id=call)
    item = {
        "type": "CommandExecution",
        "id": call,
        "command": ["/bin/bash", "-lc", one.command],
        "cwd": f"file://{cwd}",
        "status": "failed" if one.code else "completed",
        "aggregated_output": one.output,
        "exit_code": one.code,
    }
    yield "event_msg", {"type": "item_completed", "item": item}
    head = (
        f"Chunk ID: {call}\nWall time: 0.0000 seconds\nProcess exited with code {one.code}\nOriginal token count: 12\n"
    )
    yield _item("function_call_output", call_id=call, output=f"{head}Output:\n{one.output}")


def _item(kind: str, **payload: Any) -> _Record:
    return "response_item", {"type": kind, **payload}
