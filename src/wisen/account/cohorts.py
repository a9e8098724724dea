"""Which trials of a cohort have enough evidence together, so that all of them promote.

By itself, the first idea of a cohort needs e = 300. Two that get so far at the same time need 150 each, since each of
them counts for the other.

Paper: Wang, Ramdas (2022), "False discovery rate control with e-values".
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import log

from wisen.account.eligibility import replayed
from wisen.cards import MemoryCard, MemoryStatus
from wisen.memory_ci.ideas import is_example, still_there
from wisen.memory_ci.pipeline import MemoryCI
from wisen.memory_ci.sequence_numbers import cohort_of
from wisen.memory_ci.trial import began
from wisen.memory_ci.verdicts import bar, evidence_of
from wisen.trial_records import Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An idea on trial that may be promoted."""

    idea: str
    trial: Trial
    evidence: float
    """See `evidence_on`."""
    rivals: tuple[str, ...] = ()
    """Ideas that give way if it is promoted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Ideas that have enough evidence together."""

    together: tuple[Candidate, ...] = ()
    bar: float = 0.0
    """The e-value that each of them has at least."""


def trial_name(idea: str, trial: Trial) -> str:
    """What a trial's number is given to: one round of an idea's trial for one model and layout."""
    return "\x1f".join((idea, trial.model, trial.layout, str(trial.rounds)))


async def chosen_together(ci: MemoryCI, idea: str, trial: Trial, *, tenant: str) -> Chosen:
    """Which ideas of the cohort of one's trial are to be promoted now: the most whose evidence is enough for so many.

    All are of one tenant, whose rule decides. Raises what the store raises.
    """
    promoted = await ci.promotions.in_cohort_of(trial.number, trial.family).last()
    candidates = _without_rivals(await _candidates(ci, idea, trial, tenant))
    for many in range(len(candidates), 0, -1):
        needed = bar(trial.number, promoted + many - 1, ci.trial)
        if candidates[many - 1].evidence >= log(needed):
            return Chosen(together=tuple(candidates[:many]), bar=needed)
    return Chosen()


def may_be_decided(card: MemoryCard) -> bool:
    """Whether evidence may still move the idea: nobody has taken it out of its trial, and it isn't pinned."""
    gone = card.held or card.superseded_by or card.pinned
    return card.status in (MemoryStatus.QUARANTINED, MemoryStatus.PROMOTED) and not gone


def evidence_on(card: MemoryCard, trial: Trial) -> float:
    """The evidence that a trial of the card promotes on: see `evidence_of`."""
    gained, lost = replayed(card, trial.model, trial.layout)
    return evidence_of(trial, gained=gained, lost=lost, open_draws=card.open_draws)


async def _candidates(ci: MemoryCI, idea: str, trial: Trial, tenant: str) -> list[Candidate]:
    """The tenant's ideas on trial in the cohort, this one among them."""
    names = {trial_name(idea, trial), *await ci.numbers.in_cohort_of(trial.number, trial.family)}
    cards = await still_there(ci.store, sorted({name.partition("\x1f")[0] for name in names}))
    cards = [
        card
        for card in cards
        if card.scope.tenant == tenant
        and may_be_decided(card)
        and (card.id == idea or not card.idea or is_example(card))  # a wording is decided with its head
    ]
    return [
        _candidate(card, one)
        for card in cards
        for one in card.trials
        if trial_name(card.id, one) in names and one.stage in ("waiting", "on trial") and _in_cohort(one, trial)
    ]


def _in_cohort(one: Trial, of: Trial) -> bool:
    """Whether a trial is in another one's cohort; one whose number isn't written on its card yet has no evidence."""
    return one.number > 0 and (one.family, cohort_of(one.number)) == (of.family, cohort_of(of.number))


def _without_rivals(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Those with the most evidence first; of rivals, which can't both be promoted, the first."""
    kept: list[Candidate] = []
    for one in sorted(candidates, key=lambda one: one.evidence, reverse=True):
        if not any(other.idea in one.rivals or one.idea in other.rivals for other in kept):
            kept.append(one)
    return kept


def _candidate(card: MemoryCard, trial: Trial) -> Candidate:
    trial = began(trial, trial.number)
    return Candidate(idea=card.id, trial=trial, evidence=evidence_on(card, trial), rivals=card.rivals)
