"""What a coding agent says of an event, in the form that Codex and Claude Code share.

It stands apart because it is a type that the modules of the hooks pass on to each other.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter

from wisen.trace_import.coding_agents import repository_of


@dataclass(frozen=True, slots=True, kw_only=True)
class HookPayload:
    """One event of a session. What an agent leaves out is empty."""

    session_id: str
    cwd: str
    transcript_path: str | None = None
    model: str | None = None
    source: str = ""
    """Of SessionStart: "startup", "resume", "clear" or "compact"."""
    prompt: str = ""
    tool_name: str = ""
    tool_input: Any = None
    tool_use_id: str = ""

    @property
    def command(self) -> str:
        """The command line that a shell is about to run; "" for other tools."""
        tool: object = self.tool_input
        given = cast("dict[str, object]", tool).get("command") if isinstance(tool, dict) else None
        return given if isinstance(given, str) else ""

    @property
    def repository(self) -> Path | None:
        """The root of the git repository that the session works in."""
        return repository_of(Path(self.cwd))


_PAYLOAD = TypeAdapter(HookPayload)


def read_payload(text: bytes) -> HookPayload:
    """The payload. Raises `ValueError` where it isn't one."""
    return _PAYLOAD.validate_json(text)
