"""Makes the attempts of a replay test: side by side within a bound, within a budget, and none of them twice."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from wisen import models
from wisen.cards import MemoryCard
from wisen.errors import CardNotFoundError, ConfigError, ReplayBudgetExceededError
from wisen.protocols import VectorStore
from wisen.recall import RECALLABLE
from wisen.records import Clockwork, Task, TokenUsage
from wisen.replay.attempts import PLACEBO, Attempt, Conditioned, Fitting, as_stored, not_made
from wisen.replay.log import Made, ReplayLog, Side, stay_of

_Found = TypeVar("_Found")
_Planned = tuple[Task, Sequence[MemoryCard], int]
"""The arguments of an `Attempt`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayBudget:
    """What a replay test may use, without what an earlier test has bought already. `None` means no limit."""

    attempts: int | None = None
    calls: int | None = None
    """Model calls, as far as the `Attempt` tells how many it made; those of attempts that raised count, too. Attempts
    that are being made are still finished."""
    tokens: int | None = None
    """As far as the `Attempt` tells what it used. Attempts that are being made are still finished."""
    seconds: float | None = None
    """From the start; attempts that are being made are still finished."""

    def __post_init__(self) -> None:
        """Refuse negative limits with `ConfigError`."""
        for name in ("attempts", "calls", "tokens", "seconds"):
            value: float | None = getattr(self, name)
            if value is not None and not value >= 0:
                raise ConfigError(f"ReplayBudget({name}={value!r}): must be 0 or more, or None for no limit")

    def half(self) -> "ReplayBudget":
        """Half of it, of what is counted rounded down."""
        halves = {
            name: most // 2 for name in ("attempts", "calls", "tokens") if (most := getattr(self, name)) is not None
        }
        return replace(self, **halves, seconds=None if self.seconds is None else self.seconds / 2)

    def less(self, **spent: float) -> "ReplayBudget":
        """What is left of it after this was spent, by the names of its limits."""
        limits = {name: getattr(self, name) for name in spent}
        return replace(self, **{name: max(0, most - spent[name]) for name, most in limits.items() if most is not None})


class Withdrawn(Exception):  # noqa: N818 - no failure: it tells that somebody has decided meanwhile
    """A card was rejected, archived, changed or put on trial again while it was tested; it isn't shown any more."""


class Replays:
    """The attempts of one test.

    Args:
        attempt: Makes one.
        log: Where scores are looked up and kept.
        budget: What may be used.
        parallel: Most attempts at a time.
        clockwork: The clock.
        store: Whose cards are shown.
    """

    def __init__(
        self,
        attempt: Attempt,
        log: ReplayLog,
        *,
        budget: ReplayBudget,
        parallel: int,
        clockwork: Clockwork,
        store: VectorStore,
    ) -> None:
        self.made = 0
        """Attempts made, without those whose score was known."""
        self.problems: Counter[str] = Counter()
        """Attempts that gave no score, by the type of the error, or "unknown score"."""
        self.withdrawn: set[str] = set()
        """Ids of cards that may not be shown any more."""
        self._attempt = attempt
        self._store = store
        self._log = log
        self._budget = budget
        self._room = asyncio.Semaphore(parallel)
        self._clockwork = clockwork
        self._began = clockwork.monotonic()
        self._before = self._spent()
        self._making: dict[str, asyncio.Task[float | None]] = {}
        self._gone: Exception | None = None
        """Why no further attempt can be made."""

    @property
    def tokens(self) -> int:
        """What the attempts have used, as far as it is known."""
        return self._spent().minus(self._before).total_tokens

    @property
    def calls(self) -> int:
        """As `tokens`, of model calls."""
        return self._spent().minus(self._before).requests

    @property
    def seconds(self) -> float:
        """Seconds since the test began."""
        return self._clockwork.monotonic() - self._began

    async def _score(self, planned: _Planned, beside: _Planned | None = None) -> float | None:
        """The score of such an attempt, made now unless one of about this time is known; `None` where it gave none.

        `beside` is the attempt without the card. Raises `ReplayBudgetExceededError` where it would have to be made and
        nothing is left for it.
        """
        key = self._log.score_key(*planned)
        if key not in self._making:
            self._making[key] = making = asyncio.create_task(self._make(key, planned, beside))
            making.add_done_callback(lambda _: self._making.pop(key))
        return await self._making[key]

    def fit(self, *arms: Sequence[MemoryCard]) -> bool:
        """Whether these cards can be shown together, as far as the `Attempt` knows."""
        fits = self._attempt.fits if isinstance(self._attempt, Fitting) else None
        return fits is None or all(map(fits, arms))

    async def pair(
        self,
        task: Task,
        treated: Sequence[MemoryCard],
        control: Sequence[MemoryCard],
        repetitions: int = 1,
        *,
        number: int = 1,
    ) -> tuple[float | None, float | None]:
        """The scores with and without, each the mean of its repetitions, which are others for each `number`.

        An attempt with the card that ends without a score counts as 0, and one without it that does makes its side
        unknown: so that nothing is won by failing, nor by being made again. Both are of about the same time. Raises
        `ReplayBudgetExceededError` where one can't be bought any more, and `Withdrawn` where a card may not be shown
        any more. An attempt that couldn't be made says nothing of the card: its error is raised, such as
        `UnreachableModelError`. But where only the one with the card can't, that is an attempt without a score.
        """
        own = range((number - 1) * repetitions, number * repetitions)
        found = await _all(*(self._both(task, treated, control, one) for one in own))
        return _mean([score for score, _ in found], 0.0), _mean([score for _, score in found], None)

    async def _both(
        self, task: Task, treated: Sequence[MemoryCard], control: Sequence[MemoryCard], repetition: int
    ) -> tuple[float | None, float | None]:
        shown, bare = (task, treated, repetition), (task, control, repetition)
        known = await self._log.made_together(self._log.score_key(*shown), self._log.score_key(*bare))
        if known is not None:
            return known[0].score, known[1].score
        # Without the card first: what a budget that ends in between has bought serves other cards, too.
        without, score = await _all(self._score(bare), self._score(shown, bare))
        return score, without

    async def _make(self, key: str, planned: _Planned, beside: _Planned | None) -> float | None:
        known = await self._log.made(key, self._clockwork.now())
        if known is not None:
            return known.score
        async with self._room:
            await self._check_shown(planned[1])
            self._check()
            self.made += 1
            score = await self._try(planned, beside)
            made = await self._log.keep_made(key, Made(score=score, at=self._clockwork.now()))
        return made.score

    async def _try(self, planned: _Planned, beside: _Planned | None) -> float | None:
        try:
            score = await self._attempt(*planned)
        except Exception as error:
            if not_made(error) and not (models.ends_run(error) and beside and await self._gets_through(beside)):
                self._gone = error
                if beside is not None:
                    await self._blame(planned[1], beside[1])
                raise
            # An attempt may be anybody's code, and the others go on.
            self.problems[type(error).__name__] += 1
            return None
        if score is None:
            self.problems["unknown score"] += 1
        return score

    async def _gets_through(self, beside: _Planned) -> bool:
        """Whether the attempt without a card can be made where the one with it just couldn't: it's the card's doing."""
        self.made += 1
        try:
            await self._attempt(*beside)
        except Exception as error:  # noqa: BLE001 - an attempt may be anybody's code
            return not not_made(error)
        return True

    async def _blame(self, shown: Sequence[MemoryCard], beside: Sequence[MemoryCard]) -> None:
        """Remember what the outage came with, so that it doesn't end each session before the others have their turn."""
        for card in shown:
            if card not in beside:
                await self._log.keep_outage(stay_of(card))

    async def _check_shown(self, cards: Sequence[MemoryCard]) -> None:
        """What people decide while a test runs holds from the next attempt on."""
        shown = [as_stored(card) for card in cards if not card.id.startswith(PLACEBO)]
        for card in shown:
            try:
                kept = (await self._store.get([card.id]))[0]
            except CardNotFoundError:
                kept = None
            same = kept is not None and kept.status in RECALLABLE and not kept.superseded_by
            if not same or kept is None or (stay_of(kept), kept.content_hash) != (stay_of(card), card.content_hash):
                self.withdrawn.add(card.id)
        if not self.withdrawn.isdisjoint(card.id for card in shown):
            raise Withdrawn

    def _check(self) -> None:
        if self._gone is not None:
            raise self._gone
        budget = self._budget
        for limit, allowed, spent in (
            ("attempts", budget.attempts, self.made),
            ("calls", budget.calls, self.calls),
            ("tokens", budget.tokens, self.tokens),
            ("seconds", budget.seconds, self.seconds),
        ):
            if allowed is not None and spent >= allowed:
                raise ReplayBudgetExceededError(limit, allowed, spent)

    def _spent(self) -> TokenUsage:
        return self._attempt.spent if isinstance(self._attempt, Conditioned) else TokenUsage()


def paired(scores: tuple[float | None, float | None], threshold: float) -> Side | None:
    """How a pair came out, for whatever ended without a score against the card; `None` where neither has one."""
    treated, control = scores
    if control is None:
        return None if treated is None else "tie"
    return side_of(0.0 if treated is None else treated, control, threshold)


async def _all(*works: Awaitable[_Found]) -> list[_Found]:
    """What they give, in order; raises the first one's error when all have ended."""
    found = list[_Found]()
    for one in await asyncio.gather(*works, return_exceptions=True):
        if isinstance(one, BaseException):
            raise one
        found.append(one)
    return found


def _mean(scores: Sequence[float | None], unknown: float | None) -> float | None:
    known = [unknown if score is None else score for score in scores]
    if all(score is None for score in scores) or None in known:
        return None
    return sum(score or 0.0 for score in known) / len(known)


def side_of(treated: float, control: float, threshold: float) -> Side:
    """How a pair came out: which of the two was good enough."""
    solved = treated >= threshold, control >= threshold
    return "gained" if solved == (True, False) else "lost" if solved == (False, True) else "tie"
