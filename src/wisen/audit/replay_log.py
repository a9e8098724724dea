"""What replay tests have bought, in the store's call log: no attempt is paid for twice, and a killed test goes on.

Two sorts of entries. Each attempt's score stands under what it was an attempt at: condition, task, cards shown,
repetition; so attempts without a card are shared by all cards. Each finished pair is one more line of its card's list;
the card's evidence is recounted from that list, so writing it twice changes nothing.
"""

import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Literal

from wisen.audit.attempts import Condition
from wisen.cards import MemoryCard, MemoryStatus
from wisen.errors import StoreError
from wisen.protocols import CallLog
from wisen.records import Task

Side = Literal["gained", "lost", "tie"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One task with and without, both scores known."""

    key: str
    """Of the task, the repetition and what was shown on the side without."""
    side: Side


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many pairs came out how."""

    gained: int = 0
    lost: int = 0
    ties: int = 0

    @property
    def pairs(self) -> int:
        """All together."""
        return self.gained + self.lost + self.ties

    @classmethod
    def of(cls, sides: Iterable[Side | None]) -> "Counts":
        """Count how pairs came out; `None` counts as nothing."""
        found = Counter(sides)
        return cls(gained=found["gained"], lost=found["lost"], ties=found["tie"])


NONE = Counts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """Cards that went into use together, and what their common test showed."""

    number: int
    """Counts from 1 for each store."""
    at: str
    """When, in ISO 8601."""
    cards: tuple[str, ...]
    """Promoted by it."""
    withdrawn: tuple[str, ...] = ()
    """Belonged to it at first, and were found out as the ones it regressed with."""
    verdict: Literal["helps", "hurts", "undecided", "untested"] = "untested"
    """Of the cards that are left, together, against none of them; "untested" where the budget ended before."""
    gained: int = 0
    lost: int = 0
    ties: int = 0
    searches: int = 0
    """How many sets of cards were tried to find those withdrawn."""
    model: str = ""
    layout: str = ""


class ReplayLog:
    """Scores, pairs and releases of one condition in one store. One process at a time writes a card's pairs."""

    def __init__(self, calls: CallLog, condition: Condition) -> None:
        self._calls = calls
        self._condition = condition
        self._scores = f"replay scores {_digest(condition.model, condition.layout, condition.setup)}"
        self._pairs = f"replay pairs {_digest(condition.model, condition.layout)}"
        self._known: dict[str, list[Pair]] = {}

    def score_key(self, task: Task, cards: Sequence[MemoryCard], repetition: int) -> str:
        """Under which the score of such an attempt stands."""
        shown = [part for card in cards for part in (card.id, card.content_hash)]
        return _digest(task_key(task), str(repetition), *shown)

    def pair_key(self, task: Task, without: Sequence[MemoryCard], repetition: int) -> str:
        """Under which a pair counts once."""
        return _digest(self._condition.setup, self.score_key(task, without, repetition))

    async def score(self, key: str) -> float | None:
        """The kept score, or `None`."""
        kept = await self._calls.call(self._scores, key, 0)
        return None if kept is None else float(kept)

    async def keep_score(self, key: str, score: float) -> None:
        """Keep a score that is known."""
        await self._calls.save_call(self._scores, key, 0, repr(score).encode())

    async def pairs(self, card: MemoryCard) -> list[Pair]:
        """All counted pairs of a card since it was last put into quarantine, in order."""
        key = _stay(card)
        if key not in self._known:
            self._known[key] = [Pair(**json.loads(line)) async for line in _lines(self._calls, self._pairs, key)]
        return self._known[key]

    async def keep_pair(self, card: MemoryCard, pair: Pair) -> None:
        """Count a pair."""
        known = await self.pairs(card)
        await self._calls.save_call(self._pairs, _stay(card), len(known), json.dumps(asdict(pair)).encode())
        known.append(pair)

    async def keep_release(self, release: Release) -> None:
        """Keep the record of a release."""
        await self._calls.save_call(_RELEASES, "", release.number - 1, json.dumps(asdict(release)).encode())

    async def releases(self) -> list[Release]:
        """All releases of the store, under whatever condition, in order."""
        return await releases(self._calls)


_RELEASES = "replay releases"


async def releases(calls: CallLog) -> list[Release]:
    """All releases of a store, in order."""
    found = [Release(**json.loads(line)) async for line in _lines(calls, _RELEASES, "")]
    return [replace(one, cards=tuple(one.cards), withdrawn=tuple(one.withdrawn)) for one in found]


def call_log(store: object) -> CallLog:
    """The store's call log; raises `StoreError` where it has none."""
    if not isinstance(store, CallLog):
        raise StoreError(f"{type(store).__name__} keeps no calls, which replay tests need to go on after a crash")
    return store


def task_key(task: Task) -> str:
    """Equal for tasks that ask the same and accept the same."""
    return _digest(task.tenant, task.type, task.prompt, task.reference or "", *task.tools, "\x1e", *task.choices)


def _stay(card: MemoryCard) -> str:
    """The card and its stay in quarantine: one that comes back is tested anew."""
    returns = [done for done in card.history if done.after is MemoryStatus.QUARANTINED is not done.before]
    return f"{card.id} {len(returns)}"


async def _lines(calls: CallLog, scope: str, key: str) -> AsyncIterator[bytes]:
    number = 0
    while (line := await calls.call(scope, key, number)) is not None:
        yield line
        number += 1


def _digest(*parts: str) -> str:
    return sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
