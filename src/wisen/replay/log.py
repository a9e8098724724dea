"""What replay tests have bought, in the store's call log: no attempt is paid for twice, and a killed test goes on.

There are three sorts of entries. An attempt is stored under its condition, task and evaluator, cards shown, and
repetition, with its time, and with its score or that it gave none. So attempts without a card are shared by all cards
that are tested within `SAME_TIME`: a pair compares what models and data were at one time. Each finished pair is one
more line of its card's list, which holds for one condition, threshold and control; the card's evidence is recounted
from that list, so writing it twice changes nothing. A cluster of near-copies is one unit of evidence: see `settled`. A
task that was bet on leaves hashes of its words with its cluster, so that later copies are recognised.
"""

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Literal

from wisen.cards import MemoryCard
from wisen.errors import StoreError
from wisen.memory_ci.status import begins_trial
from wisen.protocols import CallLog, KeepsFirst
from wisen.records import Task
from wisen.replay.attempts import Condition
from wisen.replay.clusters import Clusters, Known, Marks, marks_of

Side = Literal["gained", "lost", "tie"]
SAME_TIME = timedelta(hours=6)
"""The two attempts of a pair lie no further apart. Models change under their name, and so do the data behind tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """An attempt that was made."""

    score: float | None
    """`None` where it gave none: it isn't made again for that, or trying would pay."""
    at: datetime

    def near(self, at: datetime) -> bool:
        """Whether that is about the same time."""
        return abs(self.at - at) <= SAME_TIME


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One task with and without."""

    key: str
    """Of the task alone; "" where a cluster was closed with fewer pairs than were planned."""
    side: Side
    without: str = ""
    """Of what was shown on the side without, and who judged. A tie may be tried again beside other cards or with
    another evaluator, and is then replaced."""
    cluster: str = ""
    """Of the tasks that are near-copies of this one; "" in lists from before clusters were kept."""
    of: int = 1
    """How many pairs of the cluster were planned when this one was bought."""
    number: int = 1
    """Which try of the task it is: a tie may be tried again, and is then replaced, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many clusters of near-copies came out how; of tasks that differ, each is a cluster."""

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


def settled(pairs: Iterable[Pair], clusters: Mapping[str, str] | None = None) -> dict[str, Side]:
    """How clusters came out, by cluster, in the order in which they were settled.

    A cluster counts once its planned pairs are in, or as soon as the rest can't change the result. It is gained if more
    of its pairs are gained than lost, lost if fewer are, and otherwise a tie. What is gained or lost stays so, however
    many copies come later; a tie may still change. Neither which pairs are planned nor when a cluster is settled
    prefers a side. So if a card changes nothing, each cluster is as likely gained as lost, whatever came before.

    `clusters` gives those of pairs from before clusters were kept, by task.
    """
    inside = defaultdict[str, dict[str, Side]](dict)
    found: dict[str, Side] = {}
    for pair in pairs:
        name = pair.cluster or (clusters or {}).get(pair.key, pair.key)
        if found.get(name, "tie") != "tie":
            continue
        sides = inside[name]
        if pair.key:
            sides[pair.key] = pair.side
        lead = sum((side == "gained") - (side == "lost") for side in sides.values())
        left = max(0, pair.of - len(sides))
        if abs(lead) > left:
            found[name] = "gained" if lead > 0 else "lost"
        elif not left:
            found[name] = "tie"
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """Cards that went into use together, and what their common test showed."""

    number: int = 0
    """Counts from 1 for each store; given when it is kept."""
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
    scope: str = ""
    """Under what the pairs stand that it rests on."""
    stays: tuple[str, ...] = ()
    """Of its cards, in their order: each card's stay in quarantine."""


class ReplayLog:
    """Scores, pairs and releases of one condition in one store.

    Several processes may write at once where the store is one that `KeepsFirst`; else one at a time has to.

    Args:
        calls: Where all is kept.
        condition: Under what attempts are made.
        terms: From which score an attempt is good enough, and what stands on the side without.
        judged_by: Tells the evaluators of tasks apart, where each may have its own.
    """

    def __init__(
        self, calls: CallLog, condition: Condition, *, terms: str = "", judged_by: Callable[[Task], str] | None = None
    ) -> None:
        self._calls = calls
        self._judged_by = judged_by or _nobody
        self.scope = _digest(condition.model, condition.layout, str(condition.judged), terms)
        self._attempts = f"replay attempts {_digest(condition.model, condition.layout, condition.setup)}"
        self._pairs = f"replay pairs {self.scope}"
        self.clusters = Clusters()
        """Of the tasks under test."""
        self._known: dict[str, list[Pair]] = {}
        self._bet_on: dict[str, list[Known]] = {}
        self._counting = asyncio.Lock()

    def score_key(self, task: Task, cards: Sequence[MemoryCard], repetition: int) -> str:
        """Under which the score of such an attempt stands."""
        shown = [part for card in cards for part in (stay_of(card), card.content_hash)]
        return _digest(task_key(task), self._judged_by(task), str(repetition), *shown)

    def without_key(self, task: Task, cards: Sequence[MemoryCard]) -> str:
        """Equal for the same cards on the side without, and the same evaluator."""
        return _digest(self._judged_by(task), *(card.id for card in cards))

    async def made(self, key: str, at: datetime) -> Made | None:
        """Such an attempt that was made about this time, or `None`."""
        return next((one for one in await self._made(key) if one.near(at)), None)

    async def made_together(self, treated: str, control: str) -> tuple[Made, Made] | None:
        """Two attempts that were made about the same time, whenever that was; `None` if no score without is known."""
        without = [one for one in await self._made(control) if one.score is not None]
        both = ((one, other) for one in await self._made(treated) for other in without if other.near(one.at))
        return next(both, None)

    async def keep_made(self, key: str, new: Made) -> Made:
        """Keep an attempt; gives the one of that time that counts: another process may have been first to keep one."""
        known = await self._made(key)
        if (first := next((one for one in known if one.near(new.at)), None)) is not None:
            return first
        line = json.dumps({"score": new.score, "at": new.at.isoformat()}).encode()
        return _attempt(await _keep(self._calls, self._attempts, key, len(known), line))

    async def _made(self, key: str) -> list[Made]:
        return [_attempt(line) async for line in _lines(self._calls, self._attempts, key)]

    async def pairs(self, stay: str) -> dict[str, Pair]:
        """All pairs of a card's stay in quarantine, by task."""
        return {pair.key: pair for pair in await self._lines(stay) if pair.key}

    async def settled(self, stay: str, *more: Pair) -> dict[str, Side]:
        """How the clusters of a card's stay came out that are settled; with `more`, as if these were counted, too."""
        return settled([*await self._lines(stay), *more], self.clusters.of)

    async def counts(self, stay: str) -> Counts:
        """How many of them came out how."""
        return Counts.of((await self.settled(stay)).values())

    async def keep_pair(self, stay: str, pair: Pair) -> None:
        """Count a pair, in place of an earlier one of its task; what other processes have counted is taken in."""
        line = json.dumps(asdict(pair)).encode()
        async with self._counting:
            known = await self._lines(stay)
            while (kept := await _keep(self._calls, self._pairs, stay, len(known), line)) != line:
                known.append(Pair(**json.loads(kept)))
            known.append(pair)

    async def keep_outage(self, stay: str) -> None:
        """Count a time that a model couldn't be reached with the card, nor without it at once after that."""
        number = await self.outages(stay)
        await _keep(self._calls, _OUTAGES, stay, number, b"")

    async def outages(self, stay: str) -> int:
        """How often that was so."""
        return len([one async for one in _lines(self._calls, _OUTAGES, stay)])

    async def cluster(self, tasks: Iterable[Task]) -> None:
        """Find the clusters of these tasks, each tenant's apart; tasks that were bet on before keep theirs."""
        of, marks = dict[str, str](), dict[str, Marks]()
        by_tenant = defaultdict[str, dict[str, Task]](dict)
        for task in tasks:
            by_tenant[task.tenant][task_key(task)] = task
        for tenant, mine in by_tenant.items():
            known = await self._bets(tenant)
            found = await asyncio.to_thread(Clusters.found, mine, list(known))
            of |= found.of
            marks |= found.marks
        self.clusters = Clusters(of=of, marks=marks)

    async def bet_on(self, task: Task) -> str:
        """Remember the task's cluster for good, before evidence rests on it; gives the cluster."""
        key = task_key(task)
        async with self._counting:
            known = await self._bets(task.tenant)
            if (before := next((one for one in known if one.key == key), None)) is not None:
                return before.cluster
            name = self.clusters.of.get(key, key)
            one = Known(key=key, cluster=name, marks=marks_of(task.prompt))
            line = json.dumps({"key": key, "cluster": name, "marks": sorted(one.marks)}).encode()
            while (kept := await _keep(self._calls, _CLUSTERS, _digest(task.tenant), len(known), line)) != line:
                known.append(_known(kept))
            known.append(one)
            return name

    async def _bets(self, tenant: str) -> list[Known]:
        if tenant not in self._bet_on:
            lines = _lines(self._calls, _CLUSTERS, _digest(tenant))
            self._bet_on[tenant] = [_known(line) async for line in lines]
        return self._bet_on[tenant]

    async def _lines(self, stay: str) -> list[Pair]:
        if stay not in self._known:
            self._known[stay] = [Pair(**json.loads(line)) async for line in _lines(self._calls, self._pairs, stay)]
        return self._known[stay]

    async def keep_release(self, release: Release) -> Release:
        """Keep the record of a release under the next free number; gives it with that."""
        number = len(await self.releases())
        while True:
            numbered = replace(release, number=number + 1)
            line = json.dumps(asdict(numbered)).encode()
            if await _keep(self._calls, _RELEASES, "", number, line) == line:
                return numbered
            number += 1

    async def releases(self) -> list[Release]:
        """All releases of the store, under whatever condition, in order."""
        return await releases(self._calls)


_RELEASES = "replay releases"
_CLUSTERS = "replay clusters"
_OUTAGES = "replay outages"


async def releases(calls: CallLog) -> list[Release]:
    """All releases of a store, in order."""
    found = [Release(**json.loads(line)) async for line in _lines(calls, _RELEASES, "")]
    return [
        replace(one, cards=tuple(one.cards), withdrawn=tuple(one.withdrawn), stays=tuple(one.stays)) for one in found
    ]


def call_log(store: object) -> CallLog:
    """The store's call log; raises `StoreError` where it has none."""
    if not isinstance(store, CallLog):
        raise StoreError(f"{type(store).__name__} keeps no calls, which replay tests need to go on after a crash")
    return store


def task_key(task: Task) -> str:
    """Equal for tasks that ask the same and accept the same."""
    return _digest(task.tenant, task.type, task.prompt, task.reference or "", *task.tools, "\x1e", *task.choices)


def stay_of(card: MemoryCard) -> str:
    """The card and its stay in quarantine: one that comes back, or is tried again there, is tested again."""
    return f"{card.id} {sum(map(begins_trial, card.history))}"


def _nobody(_: Task) -> str:
    return ""


def _attempt(line: bytes) -> Made:
    kept = json.loads(line)
    return Made(score=kept["score"], at=datetime.fromisoformat(kept["at"]))


def _known(line: bytes) -> Known:
    kept = json.loads(line)
    return Known(key=kept["key"], cluster=kept["cluster"], marks=frozenset(kept["marks"]))


async def _keep(calls: CallLog, scope: str, key: str, ordinal: int, line: bytes) -> bytes:
    """Keep a line unless there is one; gives the one that is there then."""
    if isinstance(calls, KeepsFirst):
        return await calls.keep_call(scope, key, ordinal, line)
    kept = await calls.call(scope, key, ordinal)
    if kept is not None:
        return kept
    await calls.save_call(scope, key, ordinal, line)
    return line


async def _lines(calls: CallLog, scope: str, key: str) -> AsyncIterator[bytes]:
    number = 0
    while (line := await calls.call(scope, key, number)) is not None:
        yield line
        number += 1


def _digest(*parts: str) -> str:
    return sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
