"""One card under test: what its pairs have shown so far, and how that is written down after each of them."""

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from wisen.audit.attempts import Condition, placebo
from wisen.audit.replay_log import NONE, Counts, Pair, ReplayLog
from wisen.audit.replay_plan import Recalls
from wisen.audit.replays import side_of
from wisen.cards import CardEvidence, MemoryCard, MemoryStatus
from wisen.memory_ci.changes import change_card
from wisen.memory_ci.statistics import sign_e_value
from wisen.memory_ci.status import MOVES, move
from wisen.protocols import VectorStore
from wisen.records import Task

OwnTask = Literal["fixed", "broken", "solved anyway", "not solved", "unknown", "not among the tasks", "not tried"]
Control = Literal["nothing", "placebo"]


@dataclass(slots=True, kw_only=True)
class Case:
    """A card under test."""

    card: MemoryCard
    counts: Counts = NONE
    """Of all pairs that count: related tasks, chosen without regard to what came of them."""
    own: OwnTask = "not tried"
    kept: int = 0
    """Solved neighbours that stay solved with it."""
    broken: int = 0
    """Solved neighbours that it breaks."""
    unknown: int = 0
    """Pairs of which a score isn't known: they count as neither."""
    queue: deque[tuple[Task, int]] = field(default_factory=deque[tuple[Task, int]])
    """Tasks still to be bought in this round, with the repetition."""
    tasks: int = 0
    """How many tasks it could be tested on."""

    @property
    def helps(self) -> float:
        """The e-value for "helps"."""
        return sign_e_value(self.counts.gained, self.counts.lost)

    @property
    def hurts(self) -> float:
        """The e-value for "hurts"."""
        return sign_e_value(self.counts.lost, self.counts.gained)

    @property
    def interest(self) -> tuple[bool, int]:
        """Cards that fixed their own task, or broke something, are worth the budget first."""
        return self.own not in ("fixed", "broken"), -self.broken

    def why(self) -> str:
        """The evidence in a sentence, for people."""
        counts, own = self.counts, self.own
        direction, e_value = ("hurts", self.hurts) if self.hurts > self.helps else ("helps", self.helps)
        said = f"{counts.pairs} replayed pairs, {counts.gained} gained, {counts.lost} lost"
        neighbours = self.kept + self.broken
        said = [
            f"{said}, e = {e_value:.3g} that it {direction}",
            "" if own in ("not tried", "not among the tasks") else f"own task {own}",
            f"{self.broken} of {neighbours} solved neighbours broken" if neighbours else "",
        ]
        return "; ".join(filter(None, said))


class Bench:
    """Where cards are put to the test: their pairs are counted, their evidence and status written."""

    def __init__(
        self, store: VectorStore, log: ReplayLog, condition: Condition, *, threshold: float, control: Control
    ) -> None:
        self._store = store
        self._log = log
        self._condition = condition
        self._threshold = threshold
        self._control: Control = control

    def arms(
        self, case: Case, recalls: Recalls, task: Task, beside: Collection[str]
    ) -> tuple[tuple[MemoryCard, ...], tuple[MemoryCard, ...]]:
        """What is shown with the card, and what without it."""
        treated = recalls.shown(task, {case.card.id, *beside})
        if case.card.id not in {card.id for card in treated}:  # its own task, for which recall isn't asked
            treated = (case.card, *recalls.shown(task, beside))[: recalls.top_k]
        if self._control == "placebo":
            empty = placebo(case.card, task)
            return treated, tuple(empty if card.id == case.card.id else card for card in treated)
        return treated, recalls.shown(task, beside)

    async def resume(self, case: Case) -> None:
        """Count what an earlier test has found; writes evidence that it didn't come to write."""
        case.counts = Counts.of(pair.side for pair in await self._log.pairs(case.card))
        if case.counts != NONE and _replays(case.card, self._condition) != case.counts:
            await self._write(case)

    async def count(
        self,
        case: Case,
        pair: tuple[Task, int],
        control: tuple[MemoryCard, ...],
        scores: tuple[float | None, float | None],
    ) -> bool:
        """Count a pair, given the scores with and without; says whether it is new.

        The log comes first: what is killed in between is counted again from there.
        """
        treated, untreated = scores
        if treated is None or untreated is None:
            case.unknown += 1
            return False
        key = self._log.pair_key(pair[0], control, pair[1])
        if any(known.key == key for known in await self._log.pairs(case.card)):
            return False
        await self._log.keep_pair(case.card, Pair(key=key, side=side_of(treated, untreated, self._threshold)))
        case.counts = Counts.of(pair.side for pair in await self._log.pairs(case.card))
        await self._write(case)
        return True

    async def move(self, case: Case, status: MemoryStatus, note: str, at: datetime) -> bool:
        """Move the card, unless a person or another process has taken it out of the test; says whether it was."""

        def change(card: MemoryCard) -> MemoryCard | None:
            if card.status is not MemoryStatus.QUARANTINED or card.pinned or status not in MOVES[card.status]:
                return None
            return move(card, status, note=note, at=at, by="replay", evidence=self._evidence(case.counts))

        changed = await change_card(self._store, case.card.id, change)
        case.card = changed or (await self._store.get([case.card.id]))[0]
        return changed is not None

    async def _write(self, case: Case) -> None:
        def change(card: MemoryCard) -> MemoryCard | None:
            if card.status is MemoryStatus.REJECTED:
                return None
            mine = [one for one in card.evidence if _is_replays(one, self._condition)]
            old = mine[0] if mine else self._evidence(NONE)
            counts = case.counts
            new = replace(old, gained=counts.gained, lost=counts.lost, ties=counts.ties)
            others = [one for one in card.evidence if one is not old]
            return replace(card, evidence=(*others, new))

        case.card = await change_card(self._store, case.card.id, change) or case.card

    def _evidence(self, counts: Counts) -> CardEvidence:
        return CardEvidence(
            model=self._condition.model,
            layout=self._condition.layout,
            judged=self._condition.judged,
            gained=counts.gained,
            lost=counts.lost,
            ties=counts.ties,
        )


def _is_replays(one: CardEvidence, condition: Condition) -> bool:
    wanted = (condition.model, condition.layout, condition.judged, 0.0)
    return (one.model, one.layout, one.judged, one.propensity) == wanted


def _replays(card: MemoryCard, condition: Condition) -> Counts:
    mine = next((one for one in card.evidence if _is_replays(one, condition)), CardEvidence())
    return Counts(gained=mine.gained, lost=mine.lost, ties=mine.ties)
