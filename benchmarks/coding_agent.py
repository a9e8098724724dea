"""A coding agent that makes the same mistakes again, unless the right lesson has reached it."""

import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from coding_rollouts import write_rollout
from coding_world import Kind, Ran, Repository

from wisen.advice.token_counts import estimated

UNTOLD, TOLD = 0.8, 0.4
"""With which probability a call fails. Of the kind with a harmful lesson it is the other way round."""
MOST = 6
"""Calls after which the agent has found out by itself."""

Answer = Callable[[str, bytes], Awaitable[str]]
"""What a hook says at an event, of its payload."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What one session is to be, the same in all arms."""

    number: int
    kind: Kind
    luck: tuple[float, ...]
    """One number for each call: it fails if that is below its probability."""
    looks: bool = True
    """Whether the agent asks the program something else first. It passes after its first failure then; otherwise it
    tries on.
    """
    noise: bool = False
    """Whether something fails by chance and passes by chance."""


@dataclass(kw_only=True)
class Session:
    """What came of one."""

    plan: Plan
    failures: int = 0
    """Failed calls of the kind."""
    right: bool = False
    harmful: bool = False
    """Whether these lessons had reached the agent before a call."""
    tokens: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    """Which each hook added, by event."""
    seconds: float = 0.0
    """Of processor time that the hooks took."""


@dataclass(kw_only=True)
class Agent:
    """Works through sessions."""

    repository: Repository
    transcripts: Path
    hooks: Mapping[str, Answer]
    """Those that are installed, by event."""

    async def work(self, plan: Plan, at: datetime) -> Session:
        """One session, from its start to the end of its turn."""
        path = self.transcripts / f"rollout-{at:%Y-%m-%dT%H-%M-%S}-s{plan.number:06}.jsonl"
        work = _Work(agent=self, plan=plan, path=path, session=Session(plan=plan))
        self.repository.begin()
        await work.begins()
        await work.tries()
        name, cwd = work.name, self.repository.folder
        write_rollout(path, session=name, cwd=cwd, at=at, prompt=plan.kind.prompt, ran=work.ran)
        await work.hears("Stop", stop_hook_active=False, last_assistant_message="done")
        return work.session


@dataclass(kw_only=True)
class _Work:
    """One session under way."""

    agent: Agent
    plan: Plan
    path: Path
    session: Session
    ran: list[Ran] = field(default_factory=list[Ran])
    context: str = ""
    """All that hooks have said, as far as the model has seen it."""

    @property
    def name(self) -> str:
        """The session's."""
        return f"s{self.plan.number:06}"

    async def begins(self) -> None:
        """What comes before the call that may fail."""
        plan = self.plan
        self.context += await self.hears("SessionStart", source="startup")
        self.context += await self.hears("UserPromptSubmit", prompt=plan.kind.prompt)
        await self._calls("pwd")
        if plan.noise:
            await self._noise()
        elif plan.looks:
            await self._calls(plan.kind.looks)

    async def tries(self) -> None:
        """The call that may fail, until it passes."""
        kind, session = self.plan.kind, self.session
        for luck in self.plan.luck[:MOST]:
            session.right |= bool(kind.cure) and kind.cure in self.context
            session.harmful |= bool(kind.harm) and kind.harm in self.context
            if luck >= self._chance():
                break
            command = kind.harmful if session.harmful else kind.fails
            await self._calls(command, fails=True)
            session.failures += 1
            if self.plan.looks:
                break
        if kind.first:
            await self._calls(kind.first, fails=False)
        if kind.edits:
            self.ran.append(self.agent.repository.edit(kind.edits))
        await self._calls(kind.harmful if session.harmful else kind.passes, fails=False)

    async def hears(self, event: str, **given: Any) -> str:
        """What a hook says; "" where none is installed."""
        answer = self.agent.hooks.get(event)
        if answer is None:
            return ""
        payload = {
            "session_id": self.name,
            "transcript_path": str(self.path),
            "cwd": str(self.agent.repository.folder),
            "hook_event_name": event,
            "model": "probe",
            "permission_mode": "bypassPermissions",
            **given,
        }
        begun = time.process_time()
        text = await answer(event, json.dumps(payload).encode())
        self.session.seconds += time.process_time() - begun
        self.session.tokens.setdefault(event, []).append(estimated(text) if text else 0)
        return text

    def _chance(self) -> float:
        """With which the next call fails."""
        if self.plan.kind.harmful:
            return UNTOLD if self.session.harmful else TOLD
        return TOLD if self.session.right else UNTOLD

    async def _noise(self) -> None:
        """Something fails by chance, and passes by chance in another form."""
        kind, repository = self.plan.kind, self.agent.repository
        if kind.harmful:
            await self._calls(kind.passes, fails=True)
            repository.edit(kind.edits)  # somebody else does
            await self._calls(kind.harmful, fails=False)
            repository.begin()
            return
        repository.lock(on=True)
        await self._calls(kind.looks, fails=True)
        repository.lock(on=False)
        await self._calls(kind.noise, fails=False)

    async def _calls(self, command: str, *, fails: bool | None = None) -> None:
        """Run a command. What a hook says before it reaches the model with its result, as in the real Codex."""
        call, given = f"c{len(self.ran) + 1}", {"command": command}
        said = await self.hears("PreToolUse", tool_name="Bash", tool_input=given, tool_use_id=call)
        one = self.agent.repository.run(command)
        if fails is not None and fails is not bool(one.code):
            raise AssertionError(f"{command!r} ended with {one.code}: {one.output}")
        self.ran.append(one)
        await self.hears("PostToolUse", tool_name="Bash", tool_input=given, tool_response=one.output, tool_use_id=call)
        self.context += said
