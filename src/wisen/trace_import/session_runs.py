"""Turns of a coding agent's session as runs, so that whatever learns from runs learns from them."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from wisen.records import Task, Trace
from wisen.reflection.traced import TracedRun
from wisen.trace_import.coding_agents import ROLE, CodingAgent, agent_home
from wisen.trace_import.coding_sessions import SessionStream
from wisen.trace_import.foreign_formats import TraceBuilder
from wisen.trace_import.session_turns import SessionTurn, SkippedLine

_TRANSCRIPTS: Final[dict[CodingAgent, str]] = {"codex": "sessions", "claude": "projects"}
"""Where they are in an agent's own folder."""


def session_runs(
    path: str | Path, *, name: str = "", own_folder: Path | None = None, on_skip: Callable[[SkippedLine], None]
) -> Iterator[TracedRun]:
    """The turns of a transcript as runs, each as soon as it is read.

    The trace's id is the session's with the line of the prompt; so is the source, with the file's name. Nobody says how
    a turn came out. An event that calls a tool has the line of the call, and the exit code with its result.

    Args:
        path: The transcript.
        name: What the source calls it; by default its path.
        own_folder: The project whose own sessions count as own runs: those that its agent wrote into its own folder
            while it worked in this one or below. All others are foreign. `None`: all are.
        on_skip: Hears of each line that can't be read.

    Raises:
        TracesFileError: It can't be read, or is no coding agent's transcript.
    """
    stream = SessionStream(path, on_skip=on_skip)
    for turn in stream.turns():
        foreign = own_folder is None or not _is_own(stream, own_folder)
        yield run_of_turn(turn, session_id=stream.session_id, name=name or str(path), foreign=foreign)


def run_of_turn(turn: SessionTurn, *, session_id: str, name: str, foreign: bool) -> TracedRun:
    """A turn of a session as a run; `name` is what the source calls the transcript."""
    tools = tuple(dict.fromkeys(call.tool for call in turn.calls))
    trace = Trace(trace_id=f"{session_id}:{turn.line}", purpose=turn.prompt, events=tuple(_told(turn).events))
    return TracedRun(
        trace=trace,
        task=Task(prompt=turn.prompt, tools=tools),
        agent=ROLE,
        source=f"{name}:{turn.line}",
        session=session_id,
        foreign=foreign,
    )


def sessions_folder(agent: CodingAgent) -> Path:
    """Where an agent keeps its transcripts on this machine."""
    return agent_home(agent, os.environ) / _TRANSCRIPTS[agent]


def _is_own(stream: SessionStream, own_folder: Path) -> bool:
    # What a transcript says of its folder is others' word, unless the agent's own folder holds it.
    kept = stream.path.resolve().is_relative_to(sessions_folder(stream.agent).resolve())
    return kept and bool(stream.cwd) and Path(stream.cwd).resolve().is_relative_to(own_folder.resolve())


def _told(turn: SessionTurn) -> TraceBuilder:
    trace = TraceBuilder()
    for call in turn.calls:
        trace.begin()
        about = {"shell": True} if call.shell else {}
        trace.add("action", name=call.tool, params={"command": call.command}, line=call.line, **about)
        kind = "error" if call.failed else "observation"
        trace.add(kind, name=call.tool, text=call.output or "(nothing)", exit_code=call.exit_code)
    trace.begin()
    trace.add("output", text=turn.answer)
    return trace
