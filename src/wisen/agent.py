"""Defines `Agent`, the front door: instructions, a model, an architecture and a memory.

`run` returns the answer with its record, `stream` yields events on the way, and `run_sync` is `run` for code without an
event loop.
"""

import asyncio
import inspect
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from wisen import models
from wisen.advice.blocks import BlockMemory
from wisen.architectures.introspection import memory_of, store_of, threshold_of, workers_of
from wisen.architectures.react import ReAct
from wisen.architectures.wrapped import as_architecture, own_model, runs_others_code, warn_of_bundled_model
from wisen.deadlines import ending_others
from wisen.errors import ConfigError
from wisen.evaluation.build import EvaluatorLike, as_evaluator
from wisen.events import Degraded, Event, described
from wisen.models.journal import Journal
from wisen.protocols import Blocks, CallLog, Evaluator, KeepsLessons, RunLog
from wisen.records import Budget, Clockwork, Task
from wisen.run import Run, RunBinder, RunResult
from wisen.session import AgentSession, Architecture, Dependencies, Meter, Recorder, Replaying
from wisen.watchers import Watchers

if TYPE_CHECKING:
    from pydantic_ai.models import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiring:
    """Who watches an agent's runs, what keeps them and their steps, and what wraps their models."""

    watch: Callable[[Event], None] | None = None
    run_log: RunLog | None = None
    call_log: CallLog | None = None
    guard: "Callable[[Model], Model] | None" = None
    """Wraps every model of a run: the agent's own, its judges' and its workers'."""

    @classmethod
    def to(cls, *stores: object, watch: Callable[[Event], None] | None = None) -> "Wiring":
        """Keep runs in the first of the stores that can, and their steps likewise."""
        return cls(
            watch=watch,
            run_log=next((one for one in stores if isinstance(one, RunLog)), None),
            call_log=next((one for one in stores if isinstance(one, CallLog)), None),
        )

    def kept_in(self, store: object) -> "Wiring":
        """Let this store keep runs and their steps, unless something keeps both already."""
        if self.run_log is not None and self.call_log is not None:
            return self
        other = Wiring.to(store)
        return replace(self, run_log=other.run_log, call_log=other.call_log)


_Value = TypeVar("_Value")


class Agent:
    """An agent that can learn from its own runs.

    Making one does nothing yet: models are looked up, and files opened, when it first runs.

    Args:
        instructions: The system prompt.
        model: A pydantic-ai `Model` or a name ("openai:gpt-5", "claude-opus-4-7", "local"); by default the bundled
            local model.
        architecture: `ReAct()` by default; also an async function or another framework's agent.
        pattern: Another name for `architecture`, as descriptions of agent patterns call it.
        system_prompt: Another name for `instructions`.
        tools: Functions, or pydantic-ai `Tool`s and toolsets (MCP servers among them).
        memory: Keeps memory blocks and, if it can (the stores do), the records of runs. By default the architecture's
            lesson store; without one, blocks that live as long as the agent.
        evaluator: Judges answers: an `Evaluator`, or a function of the output; see `wisen.evaluation`.
        budget: The limits of a run.
        tenant: Whose runs these are; a task's own tenant comes first.
        owner: The person or project whose tasks these are, within the tenant; a task's own owner comes first.
        name: The agent's role in records and in the scopes of cards.
        watch: Called with every event of every run, and with every move that replays decide. An error in it becomes an
            event and stops nothing.
        clockwork: Clock, ids and randomness. `Clockwork.seeded(n)` makes runs repeatable.
        replay: Tries lessons on recorded runs in the background, within a budget:
            `wisen.replay.background.BackgroundReplays`.

    """

    def __init__(  # noqa: PLR0913 - the front door: each stands for one part of an agent, and most calls name two
        self,
        instructions: str = "",
        *,
        model: "Model | str | None" = None,
        architecture: object = None,
        pattern: object = None,
        system_prompt: str | None = None,
        tools: Sequence[Any] = (),
        memory: Blocks | None = None,
        evaluator: EvaluatorLike | None = None,
        budget: Budget | None = None,
        tenant: str = "",
        owner: str = "",
        name: str = "agent",
        watch: Callable[[Event], None] | None = None,
        clockwork: Clockwork | None = None,
        replay: "Replaying[Agent] | None" = None,
    ) -> None:
        if inspect.iscoroutinefunction(watch):
            raise ConfigError(
                "Agent(watch=…): an async function would never be awaited; pass a plain one, or use stream()"
            )
        given = _either("architecture", architecture, "pattern", pattern)
        self.instructions = _either("instructions", instructions or None, "system_prompt", system_prompt) or ""
        self.model = model
        self.architecture: Architecture = ReAct() if given is None else as_architecture(given)
        self.evaluator = None if evaluator is None else as_evaluator(evaluator)
        if model is None:
            warn_of_bundled_model(self.architecture, self.evaluator)
        self.budget = budget if budget is not None else Budget()
        self.tenant = tenant
        self.owner = owner
        self.name = name
        self.memory: Blocks = memory if memory is not None else memory_of(self.architecture)
        self.tools, self.toolsets = _sorted_tools(tools)
        self.wiring = Wiring.to(self.memory, store_of(self.architecture), watch=watch)
        self._resolved: Model | None = None
        self._own_clockwork = clockwork is None
        self._clockwork = clockwork if clockwork is not None else Clockwork()
        self._replay = replay
        if replay is not None:
            replay.joins(self)

    @property
    def has_tools(self) -> bool:
        """Whether running it again might act again: the agent or a worker has tools, or runs somebody else's code."""
        workers = self.declared_workers().values()
        mine = bool(self.tools or self.toolsets) or runs_others_code(self.architecture)
        return mine or any(getattr(one, "has_tools", True) for one in workers)

    def declared_workers(self) -> Mapping[str, object]:
        """The agents that the architecture, or what it is built on, delegates to, by role."""
        return workers_of(self.architecture)

    async def run(
        self,
        prompt: str | Task,
        *,
        model: "Model | str | None" = None,
        evaluator: EvaluatorLike | None = None,
        budget: Budget | None = None,
        run_id: str | None = None,
    ) -> RunResult:
        """Work on a task and give the answer with its record.

        `model`, `evaluator` and `budget` replace the agent's for this run. If the budget runs out, or a judge, store or
        reflector fails, the run returns the best answer it has. Raises `ModelError` if the first attempt gives no
        answer at all.

        With your own `run_id` the store keeps the run's steps. Passing the same id again resumes a run that was cut off
        or failed, and returns the kept result of one that has ended; no finished step is repeated. Raises
        `RunMismatchError` for another task, `ConfigError` if no store keeps steps, and `StoreError` if the earlier
        steps can't be read.
        """
        return await self._driven(self._begin(prompt, model, evaluator, budget, run_id=run_id))

    def run_sync(
        self,
        prompt: str | Task,
        *,
        model: "Model | str | None" = None,
        evaluator: EvaluatorLike | None = None,
        budget: Budget | None = None,
        run_id: str | None = None,
    ) -> RunResult:
        """`run` for code without an event loop; due replays follow at its end."""

        async def run() -> RunResult:
            async with ending_others():
                result = await self.run(prompt, model=model, evaluator=evaluator, budget=budget, run_id=run_id)
                if self._replay is not None:
                    await self._replay.settled()
                return result

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(run())
        raise ConfigError("run_sync() was called where an event loop runs; await agent.run() there")

    async def stream(
        self,
        prompt: str | Task,
        *,
        model: "Model | str | None" = None,
        evaluator: EvaluatorLike | None = None,
        budget: Budget | None = None,
        run_id: str | None = None,
    ) -> AsyncIterator[Event]:
        """The run's events as they happen; the last one is `RunCompleted`. Stopping early cancels the run.

        `run_id` works as in `run`. A resumed run first repeats its earlier events, all at once, and then goes on.
        """
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        run = self._begin(prompt, model, evaluator, budget, sink=queue.put_nowait, run_id=run_id)

        async def drive() -> RunResult:
            try:
                return await self._driven(run)
            finally:
                queue.put_nowait(None)

        task = asyncio.create_task(drive())
        try:
            while (event := await queue.get()) is not None:
                yield event
            await task
        finally:
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    def without_memory(self) -> "Agent":
        """The same agent for one attempt without memory: it recalls, learns and records nothing.

        Its architecture is the base of the one that keeps lessons, with the same evaluator. Raises `ConfigError` if the
        memory sits deeper inside and can't be removed.
        """
        bare = copy(self)
        while isinstance(bare.architecture, KeepsLessons):
            own: Evaluator | None = getattr(bare.architecture, "evaluator", None)
            bare.evaluator = bare.evaluator or own
            base: object = getattr(bare.architecture, "base", None)
            if base is None:
                raise ConfigError(f"architecture {bare.architecture.name!r}: has no base to run without its memory")
            bare.architecture = as_architecture(base)
        if store_of(bare.architecture) is not None:
            raise ConfigError(f"architecture {bare.architecture.name!r}: what is inside can't be run without memory")
        bare.memory, bare.wiring = BlockMemory(), replace(bare.wiring, run_log=None, call_log=None)
        bare._replay = None  # noqa: SLF001 - a copy of this object
        return bare

    def rewired(self, wiring: Wiring) -> "Agent":
        """The same agent, whose runs are connected to something else: another store, watcher or guard."""
        other = copy(self)
        other.wiring = wiring
        return other

    def own_model(self) -> "Model | None":
        """The agent's model, looked up; `None` if it has none of its own. Raises as `run` does."""
        return None if self.model is None else self._model(None)

    async def _driven(self, run: Run) -> RunResult:
        result = await run.drive()
        if self._replay is not None and result.trace.run_mode == "live":
            self._replay.ran(self, result.record)
        return result

    def _begin(
        self,
        prompt: str | Task,
        model: "Model | str | None",
        evaluator: EvaluatorLike | None,
        budget: Budget | None,
        *,
        sink: Callable[[Event], None] | None = None,
        run_id: str | None = None,
    ) -> Run:
        task = prompt if isinstance(prompt, Task) else Task(prompt=prompt)
        if not task.prompt.strip():
            raise ConfigError("the task's prompt is empty; say what the agent is to do")
        clockwork = self._clockwork
        session_id = clockwork.new_id() if run_id is None else run_id
        session = AgentSession(
            id=session_id,
            instructions=self.instructions,
            task=task.owned_by(self.tenant, self.owner),
            meter=Meter(budget if budget is not None else self.budget, clockwork.monotonic),
            recorder=Recorder(session_id, task.prompt, clockwork.monotonic),
        )
        watchers = Watchers(self.wiring.watch, sink)
        journal = None if run_id is None else self._journal(run_id, watchers)
        bind = RunBinder(
            model=self._model(model), session=session, watchers=watchers, journal=journal, guard=self.wiring.guard
        )
        deps = Dependencies(
            model=bind(None, "attempt"),
            bind=bind,
            memory=self.memory,
            emit=watchers,
            clockwork=clockwork,
            evaluator=self.evaluator if evaluator is None else as_evaluator(evaluator),
            agent=self.name,
            streaming=sink is not None,
            tools=self.tools,
            toolsets=self.toolsets,
            steps=journal,
        )
        return Run(
            architecture=self.architecture,
            session=session,
            deps=deps,
            watchers=watchers,
            run_log=self.wiring.run_log,
            threshold=threshold_of(self.architecture),
            journal=journal,
            seed="" if journal is None else self._seed(),
        )

    def _journal(self, run_id: str, watchers: Watchers) -> Journal:
        calls = self.wiring.call_log
        if calls is None or self.wiring.run_log is None:
            raise ConfigError(
                f"run_id={run_id!r}: nothing here keeps what a run does; pass Agent(memory=SQLiteVectorStore(…))"
            )

        def failed(error: Exception) -> None:
            watchers(Degraded(stage="record", error=described(error), skipped="keeping the steps of this run"))

        return Journal(calls, run_id, failed=failed)

    def _seed(self) -> str:
        """A text that can't be guessed; if a clockwork was given, it follows from that."""
        return secrets.token_hex(16) if self._own_clockwork else f"{self._clockwork.random.getrandbits(128):032x}"

    def _model(self, given: "Model | str | None") -> "Model":
        if given is not None:
            return models.resolve_model(given)
        if self._resolved is None:
            own = cast("Model | str | None", own_model(self.architecture))
            self._resolved = models.resolve_model(own if self.model is None else self.model)
        return self._resolved


def _either(name: str, value: _Value | None, other: str, given: _Value | None) -> _Value | None:
    """What was given by one of two names."""
    if value is not None and given is not None:
        raise ConfigError(f"Agent({name}=…, {other}=…): two names for one thing; give one")
    return given if value is None else value


def _sorted_tools(tools: object) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Functions and tools, and toolsets."""
    given = cast("Sequence[Any]", tools) if isinstance(tools, list | tuple) else (None,)
    toolsets = tuple(tool for tool in given if hasattr(tool, "get_tools"))
    functions = tuple(tool for tool in given if not hasattr(tool, "get_tools"))
    if not all(callable(tool) or hasattr(tool, "function") for tool in functions):
        raise ConfigError(f"Agent(tools={tools!r}): must be a list of functions, pydantic-ai tools or toolsets")
    return functions, toolsets
