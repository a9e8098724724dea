"""Which trials of a cohort have enough evidence together, so that all of them promote.

By itself, a cohort's first idea needs ten times as much evidence as thirty others together do. Found true at once, each
of them counts for the others.

Paper: Wang, Ramdas (2022), "False discovery rate control with e-values".
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import log

from wisen.account.eligibility import replayed
from wisen.cards import MemoryCard, MemoryStatus
from wisen.memory_ci.ideas import is_example, still_there
from wisen.memory_ci.pipeline import MemoryCI
from wisen.memory_ci.trial import began
from wisen.memory_ci.verdicts import bar, evidence_of
from wisen.trial_records import Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An idea on trial that may be promoted."""

    idea: str
    trial: Trial
    evidence: float
    """See `evidence_of`."""
    rivals: tuple[str, ...] = ()
    """Ideas that give way if it is promoted."""


def trial_name(idea: str, trial: Trial) -> str:
    """What a trial's number is given to: one round of an idea's trial for one model and layout."""
    return "\x1f".join((idea, trial.model, trial.layout, str(trial.rounds)))


def promotion_name(idea: str, trial: Trial) -> str:
    """What a promotion's number is given to."""
    return "\x1f".join((idea, trial.model, trial.layout, str(trial.number)))


async def chosen_together(ci: MemoryCI, idea: str, trial: Trial) -> list[Candidate]:
    """Which ideas of the cohort of one's trial are to be promoted now: the most whose evidence is enough for so many.

    Each has its number among the promotions, so that it is promoted even if this process is cut off: its evidence was
    enough once, and what comes later doesn't undo that. Raises what the store raises.
    """
    promotions = ci.promotions.in_cohort_of(trial.number, trial.family)
    promoted = await promotions.names()
    candidates = await _candidates(ci, idea, trial)
    chosen = [one for one in candidates if promotion_name(one.idea, one.trial) in promoted]
    others = _without_rivals(one for one in candidates if one not in chosen)
    for many in range(len(others), 0, -1):
        if others[many - 1].evidence >= log(bar(trial.number, len(promoted) + many - 1, ci.trial)):
            for one in others[:many]:
                await promotions.of(promotion_name(one.idea, one.trial))
            return [*chosen, *others[:many]]
    return chosen


async def _candidates(ci: MemoryCI, idea: str, trial: Trial) -> list[Candidate]:
    """The ideas on trial in the cohort, this one among them."""
    names = {trial_name(idea, trial), *await ci.numbers.in_cohort_of(trial.number, trial.family)}
    cards = await still_there(ci.store, sorted({name.partition("\x1f")[0] for name in names}))
    return [
        _candidate(card, one)
        for card in cards
        for one in card.trials
        if trial_name(card.id, one) in names and one.stage in ("waiting", "on trial") and may_be_promoted(card)
    ]


def _without_rivals(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Those with the most evidence first; of rivals, which can't both be promoted, the first."""
    kept: list[Candidate] = []
    for one in sorted(candidates, key=lambda one: one.evidence, reverse=True):
        if not any(other.idea in one.rivals for other in kept):
            kept.append(one)
    return kept


def may_be_promoted(card: MemoryCard) -> bool:
    """Whether nobody has taken the idea out of its trial."""
    gone = card.held or card.superseded_by or (card.idea and not is_example(card))
    return card.status in (MemoryStatus.QUARANTINED, MemoryStatus.PROMOTED) and not card.pinned and not gone


def _candidate(card: MemoryCard, trial: Trial) -> Candidate:
    gained, lost = replayed(card, trial.model, trial.layout)
    mine = [one for one in card.open_draws if (one.model, one.layout) == (trial.model, trial.layout)]
    evidence = evidence_of(trial, gained=gained, lost=lost, open_draws=mine)
    return Candidate(idea=card.id, trial=began(trial, trial.number), evidence=evidence, rivals=card.rivals)
