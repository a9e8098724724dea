"""Which ideas take part in a run: those in use, and of the others the few that have a place on trial."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from wisen.cards import REPORT_KINDS, CardEvidence, MemoryCard, MemoryKind, MemoryStatus
from wisen.identity import may_agree, quoted_beyond
from wisen.memory_ci.ideas import agree, is_example, still_there
from wisen.memory_ci.pipeline import Found, MemoryCI, shown_to_all
from wisen.memory_ci.trial import base_rate, is_ahead, priority, propensity
from wisen.memory_ci.trust import POLICIES
from wisen.memory_ci.verdicts import promoted_for, replay_verdict
from wisen.recall import CardFilter
from wisen.stores.ordering import moment
from wisen.trial_records import Trial

_NEAR = 0.5
"""Of the relevance of the best idea, what another one needs for a place on trial."""
_SIDE_BY_SIDE = 16
HURTS = "hurts (evidence)"
WAITS = "waits for a place on trial"
_BENCHED = "made no difference on trial"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A found card, and whether the run is shown it."""

    found: Found
    propensity: float = 1.0
    """The probability of showing it."""
    drawn: bool = False
    """Whether the outcome of the run counts on its idea."""
    barred: str = ""
    """Why it isn't shown; "" where it may be."""
    beside: str = ""
    """The newer rival that it is shown with, and never without; "" where it is drawn by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Eligibility:
    """Says which of the cards that were found take part in one run, and which of them are drawn."""

    ci: MemoryCI
    model: str
    layout: str
    circle: str = ""
    """The run's, as `CardFilter.circle` has it."""

    async def assignments(self, found: Sequence[Found], *, first: bool) -> list[Assignment]:
        """The assignment of each found card, in order. Later attempts than the `first` draw nothing.

        Raises what the store raises.
        """
        found, rivals = await self._with_rivals(found)
        hidden = self._behind_rivals(rivals)
        agreeing = {one.head.id for one in found if one.hit.agrees}
        assignments = [self._assignment(one, hidden, agreeing) for one in found]
        if self.ci.trust != "trial":
            return assignments
        waiting = [one for one in assignments if one.drawn and not self._in_use(one.found.head)]
        ideas = {one.found.head.id: one for one in reversed(waiting)}
        behind: dict[str, list[Assignment]] = {}
        for one in assignments:
            if one.found.head.id in hidden:
                behind.setdefault(hidden[one.found.head.id], []).append(one)
        chosen = self._chosen(list(ideas.values()), behind) if first else set[str]()
        return [
            Assignment(found=one.found, barred=WAITS) if one in waiting and one.found.head.id not in chosen else one
            for one in assignments
        ]

    def _chosen(self, ideas: Sequence[Assignment], behind: Mapping[str, Sequence[Assignment]]) -> set[str]:
        """The ideas that have a place on trial. A correction is worth what it takes the place of.

        Examples have places of their own: they are tried as groups.
        """
        base = base_rate(self.trial(one.found.head) for one in ideas)

        def worth(assignment: Assignment) -> tuple[int, float, float, int]:
            return max(self._rank(one, base) for one in (assignment, *behind.get(assignment.found.head.id, ())))

        chosen: set[str] = set()
        for examples in (False, True):
            some = _near([one for one in ideas if is_example(one.found.head) is examples])
            some.sort(key=worth, reverse=True)
            some = _unlike(some) if not examples else some
            chosen |= {one.found.head.id for one in some[: self.ci.trial.at_once]}
        return chosen

    def trial(self, head: MemoryCard) -> Trial:
        """The idea's trial for this model and layout."""
        return trial_of(head, self.model, self.layout)

    def _assignment(self, found: Found, hidden: Mapping[str, str], agreeing: AbstractSet[str]) -> Assignment:
        head, trust = found.head, self.ci.trust
        newer, refuted = hidden.get(head.id, ""), self._refuted(head)
        # What was learned in this very case, unlike the newer one, is shown beside it.
        if newer and (refuted or head.id not in agreeing or newer in agreeing):
            return Assignment(found=found, barred=behind(newer))
        if newer or shown_to_all(found):
            return Assignment(found=found, beside=newer)
        if refuted or trust == "replayed":
            return Assignment(found=found, barred=refuted)
        trial = self.trial(head)
        share = propensity(trial, self.ci.trial, open_draws=head.open_draws, screened=trust == "screened")
        return Assignment(found=found, propensity=share, drawn=True)

    def _refuted(self, head: MemoryCard) -> str:
        """Why the evidence keeps an idea out of prompts; "" where it doesn't."""
        trial, (gained, lost) = self.trial(head), replayed(head, self.model, self.layout)
        # Once a trial has begun, it decides on runs and replays together.
        by_replays = not trial.number and replay_verdict(gained, lost, self.ci.rule) == "hurts"
        if by_replays or trial.stage == "archived":
            return HURTS
        return _BENCHED if trial.stage == "benched" else ""

    def _in_use(self, head: MemoryCard) -> bool:
        return promoted_for(head, model=self.model, layout=self.layout)

    def _rank(self, assignment: Assignment, base: float) -> tuple[int, float, float, int]:
        head, hit = assignment.found.head, assignment.found.hit
        gained, lost = replayed(head, self.model, self.layout)
        worth = priority(
            self.trial(head),
            base=base,
            told=assignment.found.told,
            verified=head.provenance.verified,
            gained=gained,
            lost=lost,
            open_draws=head.open_draws,
        )
        return hit.fit, worth, hit.relevance, moment(head.provenance.created_at)

    async def _with_rivals(self, found: Sequence[Found]) -> tuple[list[Found], dict[str, MemoryCard]]:
        """What was found, each with the newest of its rivals that comes before it."""
        heads = {one.head.id: one.head for one in found}
        missing = [rival for head in heads.values() for rival in head.rivals if rival not in heads]
        rivals = {card.id: card for card in await still_there(self.ci.store, list(dict.fromkeys(missing)))}
        known = rivals | heads
        result: list[Found] = []
        for one in found:
            newest = self._newest_before(one.head, rivals)
            if newest is not None:
                agrees = one.hit.agrees and agree(one.hit.card.situation, newest.situation)
                said = (*one.hit.reasons, f"rival of card {one.hit.card.id}")
                hit = replace(one.hit, card=newest, reasons=said, agrees=agrees)
                result.append(Found(hit=hit, head=newest))
                del rivals[newest.id]
            result.append(one)
        return result, known

    def _behind_rivals(self, known: Mapping[str, MemoryCard]) -> dict[str, str]:
        """Ideas that stay behind, each with the newest of those that are shown instead."""
        newest = {head.id: self._newest_before(head, known) for head in known.values()}
        return {old: new.id for old, new in newest.items() if new is not None}

    def _newest_before(self, head: MemoryCard, among: Mapping[str, MemoryCard]) -> MemoryCard | None:
        """The newest of an idea's rivals that comes before it; `None` where none does."""
        rivals = [among[rival] for rival in head.rivals if rival in among]
        first = [other for other in rivals if self._comes_first(other, head)]
        return max(first, key=_taught_at, default=None)

    def _comes_first(self, new: MemoryCard, old: MemoryCard) -> bool:
        """Whether an idea is tried, or used, instead of its rival: the one that a check has taught last.

        Evidence goes before that: what is in use, or ahead on trial, isn't put back by what somebody says later. And
        what a person has pinned stays in use, whatever a trial says of its rival.
        """
        circle = "" if self.ci.across_circles else self.circle
        may_be_shown = CardFilter(statuses=POLICIES[self.ci.trust], circle=circle)
        if not may_be_shown.accepts(new) or new.held or new.superseded_by:
            return False
        if self._refuted(new) or (old.pinned and old.status is MemoryStatus.PROMOTED):
            return False
        if not self._in_use(new) and (self._in_use(old) or is_ahead(self.trial(old))):
            return False
        later = _taught_at(new), not _by_a_check(old)
        return _by_a_check(new) and later > (_taught_at(old), False)


def _by_a_check(head: MemoryCard) -> bool:
    """Whether a check taught an idea, in any wording."""
    return head.provenance.verified or head.taught_at is not None


def _taught_at(head: MemoryCard) -> int:
    """When an idea was taught last, by a check where one taught it, as far as that matters for its rivals."""
    source, known = head.provenance, head.taught_at
    own = moment(source.created_at)
    return own if known is None else max(moment(known), own if source.verified else 0)


def behind(newer: str) -> str:
    """Why an idea isn't shown whose newer rival is tried, or used."""
    return f"its newer rival {newer} is tried first"


def _near(assignments: Sequence[Assignment]) -> list[Assignment]:
    """Those whose situation the task is in. Tried in a neighbouring one, an idea would seem to do less than it does.

    Reports come by task type and tool, and their relevance says how they came.
    """
    least = _NEAR * max((one.found.hit.relevance for one in assignments), default=0.0)
    return [one for one in assignments if one.found.head.kind in REPORT_KINDS or one.found.hit.relevance >= least]


def _unlike(assignments: Sequence[Assignment]) -> list[Assignment]:
    """Those that can be tried side by side: of some that may say the same, the first. Reports are read as they are."""
    kept: list[Assignment] = []
    for assignment in assignments:
        head = assignment.found.head
        report = head.kind in REPORT_KINDS
        others = [one.found.head for one in kept[:_SIDE_BY_SIDE] if one.found.head.id not in head.rivals]
        if report or not any(_may_agree(other, head) for other in others):
            kept.append(assignment)
    return kept


def _may_agree(one: MemoryCard, other: MemoryCard) -> bool:
    """Whether two ideas may say the same. Failures are told in like words: there the remedies that they quote count."""
    if one.kind is other.kind is MemoryKind.FAILURE_PATTERN:
        mine, theirs = (quoted_beyond(card.text, card.situation.prompt) for card in (one, other))
        if mine and theirs:
            return not mine.isdisjoint(theirs)
    return may_agree(one.text, other.text)


def trial_of(head: MemoryCard, model: str, layout: str) -> Trial:
    """The idea's trial for a model and layout; where it is promoted for them without one, a trial in that stage."""
    known = next((one for one in head.trials if (one.model, one.layout) == (model, layout)), None)
    known = known or Trial(model=model, layout=layout)
    if known.stage == "waiting" and promoted_for(head, model=model, layout=layout):
        return replace(known, stage="promoted")
    return known


def replayed(head: MemoryCard, model: str, layout: str) -> tuple[int, int]:
    """Pairs of replays that were gained and lost, under the terms with the most pairs."""
    mine = [one for one in head.evidence if (one.model, one.layout) == (model, layout)]
    most = max(mine, key=lambda one: one.gained + one.lost, default=CardEvidence())
    return most.gained, most.lost
