"""What needs a decision: what is held, what is about to be promoted or is losing, and rivals side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

from wisen.cards import MemoryCard
from wisen.explain.card_facts import origin, trial_word, why_waiting
from wisen.explain.idea_evidence import e_values_of, replays_of
from wisen.memory_ci.sequence_numbers import promoted_by_trials
from wisen.memory_ci.verdicts import needed
from wisen.protocols import VectorStore
from wisen.recall import CardFilter
from wisen.trial_records import Cohort, Trial

_ROWS = 8
_PAIRS = 6
_MOST = 1_000
"""Ideas on trial, the oldest, that are weighed for the page."""
_NEAR = 0.5
"""Of the evidence that promotes, on a logarithmic scale."""
_SAYS = 2.0
"""The e-value from which runs say something."""
_LEAST = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldCard:
    """A card that no run may try until a person decides."""

    card: MemoryCard
    why: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """An idea on trial, and how it does."""

    card: MemoryCard
    trial: Trial
    word: str
    helps: float
    """The e-value for "helps"."""
    hurts: float
    promotes_at: float

    @property
    def nearness(self) -> float:
        """How much of the evidence that promotes it has; 1 is all, negative is against it."""
        return log(max(self.helps, _LEAST)) / log(self.promotes_at)

    @property
    def loses(self) -> bool:
        """Whether its runs speak against it."""
        return self.hurts > max(self.helps, _SAYS) or self.helps < 1.0 / _SAYS


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """The view, with how many there are of each."""

    held: Sequence[HeldCard]
    held_count: int
    ahead: Sequence[Standing]
    ahead_count: int
    losing: Sequence[Standing]
    losing_count: int
    rivals: Sequence[tuple[MemoryCard, MemoryCard]]
    rivals_count: int
    on_trial: int


async def look_at_desk(store: VectorStore, tenant: str) -> Desk:
    """Look up what a tenant's person may decide on. Raises what the store raises."""
    release = CardFilter(tenant=tenant, awaits="release")
    held = await store.list(release, limit=_ROWS)
    held_count = len(held) if len(held) < _ROWS else await store.count(release)
    verdict = CardFilter(tenant=tenant, awaits="verdict")
    trying = await store.list(verdict, limit=_MOST)
    promoted = await promoted_by_trials(store)
    standing = [one for card in trying for one in standings(card, promoted)]
    ahead = sorted((one for one in standing if one.nearness >= _NEAR), key=lambda one: -one.nearness)
    losing = sorted((one for one in standing if one.loses), key=lambda one: one.nearness)
    pairs = await _rivals(store, tenant)
    return Desk(
        held=[HeldCard(card=card, why=why_waiting(card), source=origin(card.provenance)) for card in held],
        held_count=held_count,
        ahead=ahead[:_ROWS],
        ahead_count=len(ahead),
        losing=losing[:_ROWS],
        losing_count=len(losing),
        rivals=pairs[:_PAIRS],
        rivals_count=len(pairs),
        on_trial=len(trying) if len(trying) < _MOST else await store.count(verdict),
    )


def standings(card: MemoryCard, promoted: Mapping[Cohort, int]) -> list[Standing]:
    """How an idea does in each of its trials that is under way."""
    found: list[Standing] = []
    for trial in card.trials:
        values = e_values_of(trial, replays_of(card, trial)) if trial.stage in ("on trial", "recheck") else None
        if values is not None:
            found.append(
                Standing(
                    card=card,
                    trial=trial,
                    word=trial_word(trial, promoted, replays_of(card, trial)),
                    helps=values[0],
                    hurts=values[1],
                    promotes_at=needed(trial, promoted),
                )
            )
    return found


async def _rivals(store: VectorStore, tenant: str) -> list[tuple[MemoryCard, MemoryCard]]:
    """Pairs of ideas that can't both be right, each once."""
    found = await store.list(CardFilter(tenant=tenant, awaits="choice"), limit=_MOST)
    known = {card.id: card for card in found}
    pairs: dict[frozenset[str], tuple[MemoryCard, MemoryCard]] = {}
    for card in found:
        for rival in card.rivals:
            if rival in known:
                pairs.setdefault(frozenset((card.id, rival)), (card, known[rival]))
    return list(pairs.values())
