"""Makes the attempts of a replay test: side by side within a bound, within a budget, and none of them twice."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wisen.audit.attempts import Attempt, Conditioned
from wisen.audit.replay_log import ReplayLog, Side
from wisen.cards import MemoryCard
from wisen.errors import BudgetExceededError, ConfigError
from wisen.records import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayBudget:
    """What a replay test may use, without what an earlier test has bought already. `None` means no limit."""

    attempts: int | None = None
    tokens: int | None = None
    """As far as the `Attempt` tells what it used. Attempts that are being made are still finished."""
    seconds: float | None = None
    """From the start; attempts that are being made are still finished."""

    def __post_init__(self) -> None:
        """Refuse negative limits with `ConfigError`."""
        for name in ("attempts", "tokens", "seconds"):
            value: float | None = getattr(self, name)
            if value is not None and not value >= 0:
                raise ConfigError(f"ReplayBudget({name}={value!r}): must be 0 or more, or None for no limit")


class Replays:
    """The attempts of one test.

    Args:
        attempt: Makes one.
        log: Where scores are looked up and kept.
        budget: What may be used.
        parallel: Most attempts at a time.
        monotonic: A clock in seconds.
    """

    def __init__(
        self, attempt: Attempt, log: ReplayLog, *, budget: ReplayBudget, parallel: int, monotonic: Callable[[], float]
    ) -> None:
        self.made = 0
        """Attempts made, without those whose score was known."""
        self.problems: Counter[str] = Counter()
        """Attempts that gave no score, by the type of the error, or "unknown score"."""
        self._attempt = attempt
        self._log = log
        self._budget = budget
        self._room = asyncio.Semaphore(parallel)
        self._monotonic = monotonic
        self._began = monotonic()
        self._tokens_before = self._tokens_in_all()
        self._made: dict[str, asyncio.Task[float | None]] = {}

    @property
    def tokens(self) -> int:
        """What the attempts have used, as far as it is known."""
        return self._tokens_in_all() - self._tokens_before

    @property
    def seconds(self) -> float:
        """Seconds since the test began."""
        return self._monotonic() - self._began

    async def score(self, task: Task, cards: Sequence[MemoryCard], repetition: int = 0) -> float | None:
        """The score of such an attempt, made now unless it is known; `None` where there is none to be had.

        Raises `BudgetExceededError` where it would have to be made and nothing is left for it.
        """
        key = self._log.score_key(task, cards, repetition)
        known = self._made.get(key)
        if known is None or known.cancelled() or (known.done() and known.exception() is not None):
            self._made[key] = known = asyncio.create_task(self._score(key, task, cards, repetition))
        return await known

    async def pair(
        self, task: Task, treated: Sequence[MemoryCard], control: Sequence[MemoryCard], repetition: int = 0
    ) -> tuple[float | None, float | None]:
        """The scores with and without. Raises `BudgetExceededError` where one of them can't be bought any more."""
        found = await asyncio.gather(
            self.score(task, treated, repetition), self.score(task, control, repetition), return_exceptions=True
        )
        for one in found:
            if isinstance(one, BaseException):
                raise one
        return found[0], found[1]  # pyright: ignore[reportReturnType] - no exception is left in it

    async def _score(self, key: str, task: Task, cards: Sequence[MemoryCard], repetition: int) -> float | None:
        known = await self._log.score(key)
        if known is not None:
            return known
        async with self._room:
            self._check()
            self.made += 1
            score = await self._try(task, cards, repetition)
            if score is not None:
                await self._log.keep_score(key, score)
        return score

    async def _try(self, task: Task, cards: Sequence[MemoryCard], repetition: int) -> float | None:
        try:
            score = await self._attempt(task, cards, repetition)
        except ConfigError:
            raise
        except Exception as error:  # noqa: BLE001 - an attempt may be anybody's code, and the others go on
            self.problems[type(error).__name__] += 1
            return None
        if score is None:
            self.problems["unknown score"] += 1
        return score

    def _check(self) -> None:
        budget = self._budget
        for limit, allowed, spent in (
            ("attempts", budget.attempts, self.made),
            ("tokens", budget.tokens, self.tokens),
            ("seconds", budget.seconds, self.seconds),
        ):
            if allowed is not None and spent >= allowed:
                raise BudgetExceededError(limit, allowed, spent)

    def _tokens_in_all(self) -> int:
        return self._attempt.spent.total_tokens if isinstance(self._attempt, Conditioned) else 0


def side_of(treated: float, control: float, threshold: float) -> Side:
    """How a pair came out: which of the two was good enough."""
    solved = treated >= threshold, control >= threshold
    return "gained" if solved == (True, False) else "lost" if solved == (False, True) else "tie"
