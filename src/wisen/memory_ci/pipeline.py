"""Defines `MemoryCI`: what a card has to pass before other runs see it, and which cards a run may be shown."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import zip_longest
from typing import TypeVar

from wisen.advice.rankers import BySimilarity
from wisen.cards import MemoryCard, MemoryKind, MemoryStatus, Situation
from wisen.deadlines import calling
from wisen.errors import ConfigError
from wisen.memory_ci.decisions import Decisions
from wisen.memory_ci.ideas import head_of, heads_of, is_example
from wisen.memory_ci.intake import Intake, Submission
from wisen.memory_ci.rules import StandingRules
from wisen.memory_ci.sequence_numbers import Promotions, TrialNumbers
from wisen.memory_ci.trial import DEFAULT_TRIAL_RULE, TrialRule
from wisen.memory_ci.trust import POLICIES, TrustPolicy
from wisen.memory_ci.verdicts import DEFAULT_RULE, Rule
from wisen.protocols import Ranker, Screen, VectorStore
from wisen.recall import CardFilter, RecallHit, RecallQuery
from wisen.screening.screens import DefaultScreen, check_situation
from wisen.threads import reading
from wisen.yielding import LoopShare

_T = TypeVar("_T")
_SKILLS = (MemoryKind.SKILL_CARD,)
_OTHERS = tuple(kind for kind in MemoryKind if kind is not MemoryKind.SKILL_CARD)
_TRIED = 4
_AT_ONCE = 4
"""Recalls in one round of the event loop: each screens a prompt, which computes for up to a millisecond."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A card that fits a situation, and what stands for its idea."""

    hit: RecallHit
    head: MemoryCard
    """The card that holds the idea's status, trials and evidence; the hit's own if it is the first wording."""
    told: int = 1
    """How often the idea was taught in like situations, as far as the recall has seen."""


class MemoryCI(Decisions):
    """Guards one store.

    Args:
        store: Where cards go.
        screen: What may enter; `DefaultScreen()` by default.
        trust: What *other* runs may be shown, inside and outside of their circle (`memory_ci.trust` has the table).
            "trial": promoted ideas, and of those in quarantine a few that are on
            trial, each left out of some runs at random, so that its effect can be told. "replayed": promoted ideas
            only. "screened": everything that passed the screen.
        across_circles: Whether cards in quarantine are tried in all circles of their tenant. Held cards stay held.
        trial: How ideas are tried: what a trial costs, and how much evidence ends it.
        ranker: Which cards `recall` gives, and in which order; `BySimilarity()` by default.
        rule: How much evidence replays need.
        now: The clock, for cards' histories.

    """

    def __init__(  # noqa: PLR0913 - each is a decision about the store
        self,
        store: VectorStore,
        *,
        screen: Screen | None = None,
        trust: TrustPolicy = "trial",
        across_circles: bool = False,
        trial: TrialRule = DEFAULT_TRIAL_RULE,
        ranker: Ranker | None = None,
        rule: Rule = DEFAULT_RULE,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Refuse unknown policies, and stores that can't keep screened cards, with `ConfigError`."""
        if trust not in POLICIES:
            raise ConfigError(f"MemoryCI(trust={trust!r}): must be one of {', '.join(POLICIES)}")
        if not callable(getattr(store, "add_unscreened", None)):
            raise ConfigError(
                f"MemoryCI(store=…): {type(store).__name__} has no method add_unscreened(cards); "
                "give it one that stores cards as they are, as its add(cards) may have done"
            )
        super().__init__(store, now)
        self.screen: Screen = screen if screen is not None else DefaultScreen()
        self.trust: TrustPolicy = trust
        self.across_circles = across_circles
        self.trial = trial
        self.ranker: Ranker = ranker if ranker is not None else BySimilarity()
        self.rule = rule
        self.numbers = TrialNumbers(store)
        """Of the store's trials, in the order in which they began."""
        self.promotions = Promotions(store)
        """Of the ideas that its trials have promoted."""
        self.standing = StandingRules(store, now, untested=trust != "replayed")
        """The rules of its agents; with "replayed", what is promoted becomes one once its test as a rule allows it."""
        self._intake = Intake(store, self.screen, now)
        self._share = LoopShare(_AT_ONCE)

    async def submit(
        self, card: MemoryCard, *, at: datetime | None = None, again: bool = False, known: str = ""
    ) -> Submission:
        """Screen a candidate and store what passes as quarantined; raises `StoreError` when the store fails.

        A card that says the same as a stored one is counted on it. One that makes the same claim in other words is kept
        as another wording of that idea and follows its status: an archived idea stays archived, however often it is
        taught. Ideas that can't both be right are linked as rivals. `at` is when it happens, for the card's history; by
        default the clock's time. What a person, a trial or a replay rejected is rejected again, whatever run it comes
        from, unless a person submits it. The store keeps a rejected card's id, provenance and reason, and none of its
        text. What a card claims of its own status, evidence and history counts for nothing here. Raises `ConfigError`
        for names that may not be kept, as `with_clean_names` does, and then stores nothing.

        A card from a run that had read others' text is held if it names a sink that its circle never used; `known` is
        what the run's own task and tools name. A held card is kept, but no run sees it until a person releases it.

        `again` says that a process that was cut off may have submitted this very card before. If so, nothing is
        counted, and the stored card of that id counts.
        """
        return await self._intake.submit(card, at=at, again=again, known=known)

    async def promote(self, card_id: str, why: str) -> MemoryCard:
        """As `Decisions.promote`; a principle or procedure becomes a rule of its agent: see `StandingRules.became`."""
        promoted = await super().promote(card_id, why)
        head = await head_of(self.store, promoted)
        await self.standing.became(head)
        return (await self.store.get([card_id]))[0]

    async def correct(self, card_id: str, new_card: MemoryCard, why: str) -> Submission:
        """Submit `new_card` in place of a card that is wrong: that idea is recalled no more, and both are kept.

        The correction has to pass the screen, and is on trial as any other card is. Where it rewords another idea that
        holds, it follows that one; its other rivals stay. Raises `ConfigError` without a reason, for a card that is
        rejected or corrected already, for another tenant, or for the same words. If two corrections come at once, the
        later one is refused so; its card stays as one of its own.
        """
        return await self._intake.correct(card_id, new_card, why)

    async def recall(self, situation: Situation, where: CardFilter, *, run_id: str = "", k: int = 5) -> list[Found]:
        """The cards that fit `situation` and that the trust policy lets through, best first; one wording per idea.

        With `where.circle`, only to runs of that circle; without one, as if all of the tenant's cards were of one.
        Nothing is drawn here, and nothing counted: an `Account` does that. Verified episodes of one idea are all given,
        since each is an example of its own. `run_id` is the run that asks.
        """
        await self._share.take()
        query = RecallQuery(
            situation=await self.as_kept(situation),
            filter=replace(where, statuses=POLICIES[self.trust], circle="" if self.across_circles else where.circle),
            k=k,
            without_run=run_id,
        )
        # Whatever a store or ranker gives: what the filter doesn't accept goes no further.
        hits = [hit for hit in await self._hits(query) if query.filter.accepts(hit.card)]
        hits = [hit for hit in hits if not (hit.card.superseded_by or hit.card.held)]
        heads = await heads_of(self.store, [hit.card for hit in hits])
        corrected = {hit.card.supersedes for hit in hits}  # also where a correction's second half is yet to be written
        told = Counter[str]()
        for hit in hits:
            told[heads[hit.card.id].id] += 1 + hit.card.duplicates
        found, seen = list[Found](), set[str]()
        for hit in hits:
            head = heads[hit.card.id]
            wording = "" if is_example(hit.card) else head.id
            if head.superseded_by or head.status not in query.filter.statuses or wording in seen:
                continue
            if hit.card.id in corrected or head.id in corrected:
                continue
            seen |= {wording} if wording else set()
            found.append(Found(hit=hit, head=head, told=told[head.id]))
        return found

    async def as_kept(self, situation: Situation) -> Situation:
        """The situation as the screen would have let it be stored, so that the same prompt is found again."""
        kept = (await reading(len(situation.text), lambda: check_situation(self.screen, situation))).kept
        return situation if kept is None else kept

    async def _hits(self, query: RecallQuery) -> list[RecallHit]:
        """Lessons and examples alternating, so that neither crowds out the other, nor what waits what is in use.

        Of each at most `k` that are in use, and `k` examples in quarantine. Of other cards in quarantine it looks at
        more, so that the ideas on trial are among them however many wordings of others are nearer.
        """
        where = query.filter
        if where.kinds or not isinstance(self.ranker, BySimilarity):
            with calling(f"ranker {self.ranker.name!r}"):
                return await self.ranker.hits(self.store, query)
        found: dict[tuple[MemoryKind, ...], list[RecallHit]] = {_OTHERS: [], _SKILLS: []}
        parts = [(status, kinds) for status in where.statuses for kinds in found]
        asked = [
            replace(
                query,
                filter=replace(where, kinds=kinds, statuses=(status,)),
                k=query.k * (_TRIED if kinds is _OTHERS and status is MemoryStatus.QUARANTINED else 1),
            )
            for status, kinds in parts
        ]
        given = await self.ranker.hits_of_each(self.store, asked)
        for at, (_, kinds) in enumerate(parts):
            found[kinds] += given[at]
        for hits in found.values():
            hits.sort(key=lambda hit: (1 if hit.relevance == 1.0 else hit.fit, hit.relevance), reverse=True)
        return alternating(found[_OTHERS], found[_SKILLS])


def alternating(some: Sequence[_T], others: Sequence[_T]) -> list[_T]:
    """The first of some, the first of the others, the second of some, and so on."""
    return [one for pair in zip_longest(some, others) for one in pair if one is not None]


def shown_to_all(found: Found) -> bool:
    """Whether every run is shown it, by a person's word."""
    return found.head.pinned and found.head.status is MemoryStatus.PROMOTED


def weighed_as_idea(found: Found) -> RecallHit:
    """The hit with its idea's data, for rankers."""
    head = found.head
    known = replace(found.hit.card, status=head.status, pinned=head.pinned, evidence=head.evidence, trials=head.trials)
    return replace(found.hit, card=known)
