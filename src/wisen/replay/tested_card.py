"""One card under test: what its pairs have shown so far, and how that is written down after each of them."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from wisen.cards import CardEvidence, MemoryCard, MemoryStatus
from wisen.errors import CardNotFoundError
from wisen.memory_ci.changes import change_card
from wisen.memory_ci.decisions import follow
from wisen.memory_ci.ideas import is_example
from wisen.memory_ci.statistics import sign_e_value
from wisen.memory_ci.status import MOVES, move
from wisen.protocols import VectorStore
from wisen.records import Task
from wisen.replay.attempts import Condition, placebo
from wisen.replay.clusters import Planned, clusters_text
from wisen.replay.log import NONE, Counts, Pair, ReplayLog, stay_of, task_key
from wisen.replay.pairs import paired
from wisen.replay.plan import Recalls
from wisen.replay.turns import Turns

OwnTask = Literal["fixed", "broken", "solved anyway", "not solved", "unknown", "not among the tasks", "not tried"]
Control = Literal["nothing", "placebo"]
_ENOUGH_TIES = 6
"""If half of all pairs differ, this many clusters all stay ties on a second try once in 64 cases."""


@dataclass(slots=True, kw_only=True)
class CardUnderTest:
    """A card under test."""

    card: MemoryCard
    stay: str = ""
    """The stay in quarantine that is tested. If a person puts the card there again, that is another stay."""
    deleted: bool = False
    counts: Counts = NONE
    """Of all clusters that count: of related tasks, chosen without regard to what came of them."""
    own: OwnTask = "not tried"
    kept: int = 0
    """Solved neighbours that stay solved with it."""
    broken: int = 0
    """Solved neighbours that it breaks."""
    unknown: int = 0
    """Pairs that count as nothing: of which neither score is known, or which can't be shown."""
    queue: Turns = field(default_factory=Turns)
    """Tasks still to be bought in this round."""
    tasks: int = 0
    """How many tasks it could be tested on."""
    clusters: int = 0
    """How many clusters of near-copies these are."""
    outages: int = 0
    """How often a model went out of reach with it; see `ReplayLog.keep_outage`."""
    served: bool = False
    """Whether most of these tasks have a promoted lesson already."""
    learned_from: tuple[str, ...] = ()
    """The prompts of the tasks that its wordings came from."""
    needed: int = 0
    """How many clusters have to come out for a verdict at least; see `fewest_clusters`."""

    def __post_init__(self) -> None:
        """Remember which stay it is."""
        self.stay = self.stay or stay_of(self.card)

    @property
    def in_test(self) -> bool:
        """Whether nobody has taken the card out of the test."""
        card = self.card
        testable = card.status in (MemoryStatus.QUARANTINED, MemoryStatus.PROMOTED) and not (card.pinned or card.held)
        gone = self.deleted or card.superseded_by or (card.idea and not is_example(card))
        return testable and not gone and stay_of(card) == self.stay

    @property
    def waiting(self) -> bool:
        """Whether the card may still be promoted or archived."""
        return self.in_test and self.card.status is MemoryStatus.QUARANTINED

    @property
    def helps(self) -> float:
        """The e-value for "helps"."""
        return sign_e_value(self.counts.gained, self.counts.lost)

    @property
    def hurts(self) -> float:
        """The e-value for "hurts"."""
        return sign_e_value(self.counts.lost, self.counts.gained)

    @property
    def interest(self) -> tuple[int, bool, int]:
        """Cards that fixed their own task, or broke something, are worth the budget first; after outages, the last."""
        return self.outages, self.own not in ("fixed", "broken"), -self.broken

    @property
    def too_few(self) -> str:
        """That there are too few clusters for a verdict, in words; "" where there may be enough."""
        had = max(self.clusters, self.counts.pairs)
        return "" if had >= self.needed else f"{clusters_text(had)} in all: at least {self.needed} are needed"

    def why(self) -> str:
        """The evidence in a sentence, for people."""
        counts, own = self.counts, self.own
        direction, e_value = ("hurts", self.hurts) if self.hurts > self.helps else ("helps", self.helps)
        said = f"{clusters_text(counts.pairs)} replayed, {counts.gained} gained, {counts.lost} lost"
        neighbours = self.kept + self.broken
        said = [
            f"{said}, e = {e_value:.3g} that it {direction}",
            self.too_few,
            "" if own in ("not tried", "not among the tasks") else f"own task {own}",
            f"{self.broken} of {neighbours} solved neighbours broken" if neighbours else "",
        ]
        return "; ".join(filter(None, said))


class Bench:
    """Where cards are put to the test: their pairs are counted, their evidence and status written."""

    def __init__(
        self,
        store: VectorStore,
        log: ReplayLog,
        condition: Condition,
        *,
        threshold: float,
        control: Control,
        terms: str,
    ) -> None:
        self._store = store
        self._log = log
        self._condition = condition
        self._threshold = threshold
        self._control: Control = control
        self._terms = terms

    def arms(
        self, case: CardUnderTest, recalls: Recalls, task: Task, beside: Collection[str]
    ) -> tuple[tuple[MemoryCard, ...], tuple[MemoryCard, ...]]:
        """What is shown with the card, and what without it."""
        treated = recalls.shown(task, {case.card.id, *beside})
        if case.card.id not in {card.id for card in treated}:  # its own task, for which recall isn't asked
            treated = recalls.shown(task, beside, first=(case.card,))
        beside = {one for one in beside if one != case.card.id}
        if self._control == "placebo":
            empty = placebo(case.card, task)
            return treated, tuple(empty if card.id == case.card.id else card for card in treated)
        return treated, recalls.shown(task, beside)

    async def resume(self, case: CardUnderTest) -> None:
        """Count what an earlier test has found; writes evidence that it didn't come to write.

        To be asked once the clusters of the tasks are known.
        """
        case.outages = await self._log.outages(case.stay)
        case.counts = await self._log.counts(case.stay)
        if case.counts != NONE and self._counted(case.card) != case.counts:
            await self._write(case)

    async def look(self, case: CardUnderTest) -> None:
        """See what has become of the card meanwhile."""
        try:
            case.card = (await self._store.get([case.card.id]))[0]
        except CardNotFoundError:
            case.deleted = True
        if not case.in_test:
            case.queue.clear()

    async def tried(self, case: CardUnderTest) -> Collection[str]:
        """The keys of the tasks that the card has been tried on."""
        return (await self._log.pairs(case.stay)).keys()

    async def next_try(self, case: CardUnderTest, one: Planned, control: tuple[MemoryCard, ...], *, tries: int) -> int:
        """Which try of the task says something new; 0 where none does.

        So it does where its cluster isn't decided, and it hasn't been tried, or made no difference beside other cards.
        Else it is tried again, `tries` times in all at most, unless that seems to change nothing for this card.
        """
        if (await self._log.settled(case.stay)).get(one.cluster, "tie") != "tie":
            return 0
        pairs = await self._log.pairs(case.stay)
        known = pairs.get(task_key(one.task))
        if known is None:
            return 1
        if known.side != "tie":
            return 0
        if known.without != self._log.without_key(one.task, control):
            return 1
        return 0 if known.number >= tries or _does_the_same(pairs.values()) else known.number + 1

    async def count(
        self,
        case: CardUnderTest,
        one: Planned,
        control: tuple[MemoryCard, ...],
        scores: tuple[float | None, float | None],
    ) -> bool:
        """Count a pair, given the scores with and without; says whether there is any.

        The log comes first: what is killed in between is counted again from there.
        """
        side = paired(scores, self._threshold)
        if side is None:
            case.unknown += 1
            return False
        cluster = await self._log.bet_on(one.task)
        without = self._log.without_key(one.task, control)
        await self._keep(
            case,
            Pair(key=task_key(one.task), side=side, without=without, cluster=cluster, of=one.of, number=one.number),
        )
        return True

    async def close(self, case: CardUnderTest, clusters: Collection[str]) -> None:
        """Settle clusters of which no further task has its turn, with the pairs that there are."""
        pairs = Counter(pair.cluster for pair in (await self._log.pairs(case.stay)).values())
        closing = [Pair(key="", side="tie", cluster=one, of=pairs[one]) for one in sorted(clusters & pairs.keys())]
        before, after = await self._log.settled(case.stay), await self._log.settled(case.stay, *closing)
        for pair in closing:
            if after.get(pair.cluster) != before.get(pair.cluster):
                await self._keep(case, pair)

    async def _keep(self, case: CardUnderTest, pair: Pair) -> None:
        await self._log.keep_pair(case.stay, pair)
        case.counts = await self._log.counts(case.stay)
        await self._write(case)

    async def move(self, case: CardUnderTest, status: MemoryStatus, note: str, at: datetime) -> bool:
        """Move the card, unless a person or another process has taken it out of the test; says whether it was.

        All other wordings of its idea follow it. Of an example there are none.
        """

        def change(card: MemoryCard) -> MemoryCard | None:
            if not CardUnderTest(card=card, stay=case.stay).waiting or status not in MOVES[card.status]:
                return None
            return move(card, status, note=note, at=at, by="replay", evidence=self._evidence(case.counts))

        changed = await change_card(self._store, case.card.id, change)
        if changed is not None and not is_example(changed):
            await follow(self._store, changed.id, at=at)
        case.card = changed or (await self._store.get([case.card.id]))[0]
        return changed is not None

    async def _write(self, case: CardUnderTest) -> None:
        def change(card: MemoryCard) -> MemoryCard | None:
            if card.status is MemoryStatus.REJECTED or stay_of(card) != case.stay:
                return None
            mine = [one for one in card.evidence if self._is_mine(one)]
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
            terms=self._terms,
            gained=counts.gained,
            lost=counts.lost,
            ties=counts.ties,
        )

    def _is_mine(self, one: CardEvidence) -> bool:
        condition = self._condition
        wanted = (condition.model, condition.layout, condition.judged, self._terms, 0.0)
        return (one.model, one.layout, one.judged, one.terms, one.propensity) == wanted

    def _counted(self, card: MemoryCard) -> Counts:
        mine = next((one for one in card.evidence if self._is_mine(one)), CardEvidence())
        return Counts(gained=mine.gained, lost=mine.lost, ties=mine.ties)


def _does_the_same(pairs: Iterable[Pair]) -> bool:
    """Whether the agent seems to do the same each time: of these pairs of one card, all that were tried again are ties.

    Only its own pairs may tell: others share the attempts without a card, so they tell which side it can win.
    """
    again = [pair for pair in pairs if pair.number > 1]
    return len({pair.cluster for pair in again}) >= _ENOUGH_TIES and all(pair.side == "tie" for pair in again)
