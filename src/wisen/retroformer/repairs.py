"""Lessons without a model: a call that failed, and what made it pass later in the same session.

`wisen learn` and the hooks of coding agents both use it, so what either takes from a transcript is the same card.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, cast

from wisen.cards import MemoryCard, MemoryKind, MemoryScope, Provenance, Situation
from wisen.records import TraceEvent
from wisen.reflection.traced import TracedRun
from wisen.retroformer.shell_words import alike, program_of
from wisen.screening.card_names import may_be_a_name
from wisen.screening.sinks import find_sinks, words_of
from wisen.trace_text import clipped

COMMAND: Final = "command"
"""The type of a task that is a command line about to run, at which lessons on commands are recalled."""
AWAITED: Final = 30
"""Calls after which a failed one is no longer waited for."""
_OPEN: Final = 20
"""Failed calls that are waited for at once."""
_LONGEST: Final = 300
"""Characters of a call that a lesson repeats; a longer one is a script, and of its session alone."""
_LONGEST_ERROR: Final = 200
_PASSED: Final = 200
"""The last calls that passed: what these name is known."""
_TOLD: Final = 1_000
"""Lessons of one session that aren't given twice."""
_ERROR: Final = re.compile(r"error|exception|fatal|fail", re.IGNORECASE)
_OPENS: Final = re.compile(r"\W*\w*(?:error|exception)\b", re.IGNORECASE)
"""How a tool's answer begins that calls itself an error, where nothing else says that it failed."""
_SHELL_SAYS: Final = re.compile(r"\A(?:/\S*/)?(?:ba|da|k|z)?sh: (?:line \d+: |\d+: )?")
"""What a shell puts before its own errors: which shell it was, and where it read."""
_NOTHING: Final = "(nothing)"
"""What a trace has in place of an answer without text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedCall:
    """One call of a tool with its result."""

    tool: str
    command: str
    """The command line of a shell; of other tools, the name and what was given."""
    program: str = ""
    """What a shell was to run; "" for other tools."""
    exit_code: int | None = None
    failed: bool = False
    passed: bool = False
    """Whether it is known to have passed."""
    error: str = ""
    """The line that says what went wrong; "" where nothing did, or nothing is said."""
    place: str = ""
    """The file and line that it stands in."""

    @property
    def teaches(self) -> bool:
        """Whether a lesson may repeat it: it is short, and what it runs can be named."""
        return len(self.command) <= _LONGEST and bool(self.command.strip()) and may_be_a_name(self.program)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """A call that failed, and the call that passed in its place, or before it was tried again."""

    failed: TriedCall
    passed: TriedCall
    again: bool
    """Whether the same call passed, once `passed` had been run."""
    run: TracedRun
    """The run that failed, without its events."""
    known: str
    """What its session had run with success by then."""

    @property
    def text(self) -> str:
        """The lesson.

        The error's words are the program's, or those of any text that it printed. They are left out where they name an
        address, a command or the like that the session hadn't run with success.
        """
        failed, sinks = self.failed, list(find_sinks(self.failed.error))
        used = words_of(f"{self.known}\n{failed.command}") if sinks else ()
        error = "" if any(sink.value not in used for sink in sinks) else failed.error
        code = "" if failed.exit_code is None else f" with exit code {failed.exit_code}"
        then = "It passed after" if self.again else "What passed instead:"
        return f"`{failed.command}` failed{code}{f': {error}' if error else ''}\n{then} `{self.passed.command}`"

    def card(self, *, agent_role: str = "", at: datetime) -> MemoryCard:
        """The lesson as a candidate card: of a shell's command for its program, else for the tool."""
        task, failed, run = self.run.asked, self.failed, self.run
        roles = (agent_role,) if agent_role else ()
        if failed.program:
            tools = (failed.program,)
            situation = Situation(prompt=failed.command, task_type=COMMAND, tools=tools)
            scope = MemoryScope(tenant=task.tenant, agent_roles=roles, tool_names=tools, task_types=(COMMAND,))
        else:
            tools = (failed.tool,) if may_be_a_name(failed.tool) else ()
            situation = Situation(prompt=task.prompt, task_type=task.type, tools=tools, error=failed.error)
            scope = MemoryScope(tenant=task.tenant, agent_roles=roles, tool_names=tools)
        checked = failed.exit_code is not None
        return MemoryCard(
            kind=MemoryKind.FAILURE_PATTERN,
            content=self.text,
            situation=situation,
            scope=scope,
            provenance=Provenance(
                run_id=run.session or run.trace.trace_id,
                trace_id=run.trace.trace_id,
                created_by="import" if run.foreign else "template",
                created_at=at,
                agent=agent_role or run.agent,
                owner=task.owner,
                evaluator="exit code" if checked else "",
                verified=checked and not run.foreign,
                source=failed.place,
                # What a command printed is others' text, and the lesson quotes it.
                tainted=True,
            ),
        )

    @property
    def used(self) -> str:
        """What is no new sink: what an own session ran with success. Of others' runs nothing is known to be good."""
        return "" if self.run.foreign else self.known


@dataclass(slots=True, kw_only=True)
class WaitingCall:
    """A failed call whose repair may still come."""

    call: TriedCall
    run: TracedRun
    age: int = 0
    between: TriedCall | None = None
    clear: bool = True
    """Whether only the same tool has been used since, so that what was run can be what helped."""


@dataclass(slots=True, kw_only=True)
class Repairs:
    """Finds repairs in runs that are told one after the other, and holds little of them."""

    session: str = ""
    waiting: list[WaitingCall] = field(default_factory=list[WaitingCall])
    passed: list[str] = field(default_factory=list[str])
    told: list[str] = field(default_factory=list[str])

    def copied(self) -> "Repairs":
        """Another one, which knows the same, and goes on by itself."""
        return Repairs(
            session=self.session,
            waiting=[replace(one) for one in self.waiting],
            passed=[*self.passed],
            told=[*self.told],
        )

    def found(self, run: TracedRun) -> Iterator[Repair]:
        """The repairs that a run completes. A run may repair what an earlier one of its session failed at."""
        if not run.session or run.session != self.session:
            self.waiting, self.passed, self.told = [], [], []
        self.session = run.session
        bare = replace(run, trace=replace(run.trace, events=()))
        for call in steps_of(run):
            for one in self.waiting:
                one.age += 1
                one.clear = one.clear and one.call.tool == call.tool
            if call.passed:
                if call.teaches:
                    self.passed = [*self.passed[1 - _PASSED :], call.command]
                yield from filter(self._is_new, self._repaired(call))
            elif call.failed and call.error and call.teaches:
                again = [one for one in self.waiting if one.call.command != call.command]
                self.waiting = [*again[1 - _OPEN :], WaitingCall(call=call, run=bare)]
            self.waiting = [one for one in self.waiting if one.age < AWAITED]

    def _repaired(self, call: TriedCall) -> list[Repair]:
        found, left = list[Repair](), list[WaitingCall]()
        for one in self.waiting:
            failed = one.call
            if failed.tool != call.tool:
                left.append(one)
            elif failed.command == call.command:
                if one.between is not None and one.clear:
                    found.append(self._repair(one, one.between, again=True))
            elif not call.teaches:
                left.append(one)
            elif alike(failed.command, call.command, failed.program or failed.tool):
                found.append(self._repair(one, call, again=False))
            else:
                one.between = call
                left.append(one)
        self.waiting = left
        return found

    def _repair(self, one: WaitingCall, passed: TriedCall, *, again: bool) -> Repair:
        return Repair(failed=one.call, passed=passed, again=again, run=one.run, known="\n".join(self.passed))

    def _is_new(self, repair: Repair) -> bool:
        """Whether its session hasn't taught this before."""
        key = hashlib.sha256(repair.text.encode(errors="replace")).hexdigest()[:16]
        if key in self.told:
            return False
        self.told = [*self.told[1 - _TOLD :], key]
        return True


def steps_of(run: TracedRun) -> Iterator[TriedCall]:
    """The calls of a run with their results, in the order of the results."""
    called: list[TraceEvent] = []
    for event in run.trace.events:
        if event.kind == "action":
            called.append(event)
        elif event.kind in ("observation", "error") and called:
            name = event.data.get("name")
            action = next((one for one in called if one.data.get("name") == name), None)
            if action is not None:
                called.remove(action)
                yield _step(run, action, event)


def named_by_program(run: TracedRun) -> TracedRun:
    """The run with the programs that a shell ran in the place of its tool, so that rules are for a program, too."""
    events, name = list[TraceEvent](), ""
    for event in run.trace.events:
        if event.kind == "action":
            name = program_of(_command(event)) if event.data.get("shell") else ""
        named = bool(name) and event.kind in ("action", "observation", "error")
        events.append(replace(event, data={**event.data, "name": name}) if named else event)
    return replace(run, trace=replace(run.trace, events=tuple(events)))


def first_error_line(output: str) -> str:
    """The line that says what went wrong: the first that names an error, else the last one; "" where there is none."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    said = next((line for line in lines if _ERROR.search(line)), lines[-1] if lines else "")
    return " ".join(clipped(_SHELL_SAYS.sub("", said), _LONGEST_ERROR).split())


def _step(run: TracedRun, action: TraceEvent, result: TraceEvent) -> TriedCall:
    text, code = str(result.data.get("text") or ""), result.data.get("exit_code")
    line = action.data.get("line")
    failed = result.kind == "error" or bool(_OPENS.match(text)) if code is None else code != 0
    # A coding agent's call without an exit code is no command, or hasn't ended.
    known = code is not None or line is None
    command, shell = _command(action), bool(action.data.get("shell"))
    program = program_of(command) if shell else ""
    known = known and (bool(program) or not shell)
    file, _, _ = run.source.rpartition(":")
    return TriedCall(
        tool=str(action.data.get("name") or ""),
        command=command,
        program=program,
        exit_code=code if isinstance(code, int) else None,
        failed=known and failed,
        passed=known and not failed,
        error=first_error_line(text) if known and failed and text != _NOTHING else "",
        place=run.source if line is None else f"{file}:{line}",
    )


def _command(action: TraceEvent) -> str:
    params = action.data.get("params")
    if isinstance(params, Mapping) and set(given := cast("Mapping[str, object]", params)) == {"command"}:
        return str(given["command"])
    told = params if isinstance(params, str) else json.dumps(params, ensure_ascii=False, default=str)
    return f"{action.data.get('name')} {told}" if params else str(action.data.get("name"))
