"""Replays beside an agent's own runs, within a budget, so that ideas in rare situations get a verdict, too."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter
from types import TracebackType
from typing import Self

from wisen.agent import Agent
from wisen.cards import MemoryCard
from wisen.errors import ConfigError
from wisen.memory_ci.pipeline import MemoryCI
from wisen.records import RunRecord, Task, TokenUsage
from wisen.replay.attempts import AgentAttempt, agent_attempt
from wisen.replay.card_tests import ReplayReport
from wisen.replay.pairs import ReplayBudget
from wisen.replay.recorded_runs import RecordedOptions, check_repeatable, replay_with
from wisen.watchers import Watchers


class BackgroundReplays:
    """Replays recorded runs while an agent works: `Agent(replay=BackgroundReplays(ci))`.

    After a run it begins, beside whatever comes next, as soon as `share` allows for so many calls as are worth it. Runs
    don't wait for it, and its errors are none of theirs. It ends with the event loop, or with `aclose`; what it has
    bought is kept. `Agent.run_sync` has no loop that goes on: there it works at the end of the call. At the end of
    a session the agent's `watch` hears which lessons it moved.

    Args:
        ci: Whose ideas are tried; the agent's.
        budget: What all replays of this object together may use.
        share: Most model calls of replays for each call of the agent's runs: at 1, all together cost twice as much at
            most. Attempts that are being made are finished, so it may be a few more for a while. Runs that raised
            aren't counted.
        options: Finer choices. The tenants are those of the agent's runs.
        least: It begins when so many calls are allowed for, since memory is asked about many tasks first.
        told: Hears how each session ended.
    """

    def __init__(
        self,
        ci: MemoryCI,
        budget: ReplayBudget | None = None,
        *,
        share: float = 1.0,
        options: RecordedOptions | None = None,
        least: int = 20,
        told: Callable[[ReplayReport | Exception], None] | None = None,
    ) -> None:
        if not share > 0.0:
            raise ConfigError(f"BackgroundReplays(share={share!r}): must be more than 0")
        self.live_calls = 0
        """Model calls of the agent's runs."""
        self._ci = ci
        self._budget = budget or ReplayBudget()
        self._share = share
        self._options = options or RecordedOptions()
        self._least = least
        self._told = told
        self._tenants: set[str] = set()
        self._done: list[Counting] = []
        self._seconds = 0.0
        """How long all sessions took."""
        self._session: asyncio.Task[None] | None = None

    @property
    def spent(self) -> TokenUsage:
        """What the replays have used."""
        return sum((one.spent for one in self._done), TokenUsage())

    @property
    def attempts(self) -> int:
        """How many attempts they have made."""
        return sum(one.made for one in self._done)

    async def __aenter__(self) -> Self:
        """Leaving it closes it."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """See `aclose`."""
        await self.aclose()

    def joins(self, agent: Agent) -> None:
        """Hear whose runs they are. Raises `ConfigError` for an agent whose runs can't be repeated."""
        check_repeatable(agent, self._options)

    def ran(self, agent: Agent, record: RunRecord) -> None:
        """Hear that a run has ended; begins a session, if there is none and it is worth it."""
        self.live_calls += record.usage.requests
        self._tenants.add(record.task.tenant)
        running = self._session is not None and not self._session.done()
        if not running and self._allowed() >= self._least:
            self._session = asyncio.get_running_loop().create_task(self._replay(agent), name="wisen-replays")

    async def settled(self) -> None:
        """Wait for the session that is under way."""
        if self._session is not None and not self._session.done():
            await asyncio.wait({self._session})

    async def aclose(self) -> None:
        """Break off what is under way; what was bought is kept."""
        if self._session is not None and not self._session.done():
            self._session.cancel()
            await self.settled()

    def _allowed(self) -> int:
        """How many calls may be made now."""
        left = self._left()
        if 0 in (left.attempts, left.tokens, left.seconds):
            return 0
        share = max(0, int(self._share * self.live_calls - self.spent.requests))
        return share if left.calls is None else min(share, left.calls)

    def _left(self) -> ReplayBudget:
        """What is left of the budget."""
        spent = self.spent
        return self._budget.less(
            attempts=self.attempts, calls=spent.requests, tokens=spent.total_tokens, seconds=self._seconds
        )

    async def _replay(self, agent: Agent) -> None:
        said: ReplayReport | Exception
        began = perf_counter()
        try:
            budget = replace(self._left(), calls=self._allowed())
            options = replace(self._options, tenants=frozenset(self._tenants))
            attempt = Counting(agent_attempt(agent, evaluator_of=options.evaluator_of))
            self._done.append(attempt)
            said = await replay_with(attempt, agent, self._ci, budget=budget, options=options, local=attempt.attempt)
        except Exception as error:  # noqa: BLE001 - stores, models and evaluators are anybody's; runs go on without it
            said = error
        else:
            tell = Watchers(agent.wiring.watch)
            for moved in said.moved:
                tell(moved)
        finally:
            self._seconds += perf_counter() - began
        if self._told is not None:
            self._told(said)


class Counting:
    """The attempts of an agent, counted. Implements `Conditioned` and `Fitting`."""

    def __init__(self, attempt: AgentAttempt) -> None:
        self.attempt = attempt
        self.condition = attempt.condition
        self.made = 0

    @property
    def spent(self) -> TokenUsage:
        """See `Conditioned`."""
        return self.attempt.spent

    def fits(self, cards: Sequence[MemoryCard]) -> bool:
        """See `Fitting`."""
        return self.attempt.fits(cards)

    def judged_by(self, task: Task) -> str:
        """See `Fitting`."""
        return self.attempt.judged_by(task)

    async def __call__(self, task: Task, cards: Sequence[MemoryCard], repetition: int) -> float | None:
        """See `Attempt`."""
        self.made += 1
        return await self.attempt(task, cards, repetition)
