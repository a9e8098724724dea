"""What workers do while there are no tasks: one of them tries lessons without a verdict on recorded runs."""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from wisen.agent import Agent
from wisen.cards import MemoryCard
from wisen.errors import ConfigError
from wisen.memory_ci.pipeline import MemoryCI
from wisen.operations.logs import log
from wisen.protocols import Evaluator, KeepsFirst
from wisen.records import Task
from wisen.replay.attempts import AgentAttempt, agent_attempt
from wisen.replay.background import Counting
from wisen.replay.pairs import ReplayBudget
from wisen.replay.recorded_runs import RecordedOptions, check_repeatable, replay_with

_HOUR = 3_600.0
_MOST_JUDGES = 4_096
_SCOPE = "replay turns"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayable:
    """An agent of a worker with what its recorded runs can be replayed by."""

    agent: Agent
    ci: MemoryCI
    judges: "Judges"
    tools_too: bool = False
    """See `RecordedOptions`."""


@dataclass(slots=True)
class Judges:
    """Whose tasks a worker has done, and what judged them: that isn't part of a run's record."""

    tenants: set[str] = field(default_factory=set[str])
    _known: OrderedDict[tuple[str, str], Evaluator | None] = field(
        default_factory=OrderedDict[tuple[str, str], Evaluator | None]
    )

    def saw(self, task: Task, agent: Agent, evaluator: Evaluator | None) -> None:
        """Remember a task; the oldest are forgotten. Without a tenant of its own it is the agent's, as in records."""
        tenant = task.tenant or agent.tenant
        self.tenants.add(tenant)
        self._known[(tenant, task.prompt)] = evaluator
        while len(self._known) > _MOST_JUDGES:
            self._known.popitem(last=False)

    def of(self, task: Task) -> Evaluator | None:
        """What judged the task, where that wasn't the agent's own."""
        return self._known.get((task.tenant, task.prompt))


class IdleWork:
    """The replays of one worker. Of all workers of a queue, the first to ask has the hour.

    Args:
        queue: Whose workers take turns.
        holder: Names this worker.
        budget: Most attempts in an hour, of all workers together.
        idle: Returns when there are no tasks in hand.
        agents: Whose recorded runs can be replayed now.
        every: Seconds between two sessions.
        clock: Seconds since 1970.
    """

    def __init__(
        self,
        *,
        queue: str,
        holder: str,
        budget: int,
        idle: Callable[[], Awaitable[None]],
        agents: Callable[[], Sequence[Replayable]],
        every: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._queue = queue
        self._holder = holder
        self._budget = budget
        self._idle = idle
        self._agents = agents
        self._every = every
        self._clock = clock
        self._hour = -1
        self._made = 0
        self._refused = False

    async def use(self) -> None:
        """Replay whenever there are no tasks, until cancelled; what fails is told, and tried again later."""
        while True:
            await asyncio.sleep(self._every)
            await self._idle()
            for one in self._agents():
                try:
                    await self._session(one)
                except Exception as error:  # noqa: BLE001 - stores and agents are anybody's code; the worker goes on
                    log("replays.failed", level=logging.WARNING, error=error)

    async def _session(self, one: Replayable) -> None:
        hour = int(self._clock() // _HOUR)
        if hour != self._hour:
            self._hour, self._made = hour, 0
        if self._made >= self._budget or not await self._has(one.ci, hour):
            return
        tenants = frozenset(one.judges.tenants)
        options = RecordedOptions(tenants=tenants, evaluator_of=one.judges.of, tools_too=one.tools_too)
        try:
            check_repeatable(one.agent, options)
        except ConfigError as error:
            log("replays.refused", level=logging.DEBUG if self._refused else logging.WARNING, error=error)
            self._refused = True
            return
        local = agent_attempt(one.agent, evaluator_of=one.judges.of)
        attempt = _Yielding(local, self._idle)
        left = ReplayBudget(attempts=self._budget - self._made, seconds=_HOUR - self._clock() % _HOUR)
        try:
            report = await replay_with(attempt, one.agent, one.ci, budget=left, options=options, local=local)
        finally:
            self._made += attempt.made
        if attempt.made:
            moved = sum(card.status.value != "quarantined" for card in report.cards)
            log("replays.ended", attempts=attempt.made, ideas=len(report.cards), decided=moved)

    async def _has(self, ci: MemoryCI, hour: int) -> bool:
        """Whether this worker is the one that replays in this hour; another one may be next time."""
        calls, me = ci.store, self._holder.encode()
        return isinstance(calls, KeepsFirst) and await calls.keep_call(_SCOPE, self._queue, hour, me) == me


class _Yielding(Counting):
    """Attempts that begin only while there are no tasks in hand."""

    def __init__(self, attempt: AgentAttempt, idle: Callable[[], Awaitable[None]]) -> None:
        super().__init__(attempt)
        self._idle = idle

    async def __call__(self, task: Task, cards: Sequence[MemoryCard], repetition: int) -> float | None:
        """See `Attempt`."""
        await self._idle()
        return await super().__call__(task, cards, repetition)
