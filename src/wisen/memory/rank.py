"""In which order recalled cards are worth showing: relevance first, then what their uses have shown."""

from collections.abc import Sequence

from wisen.cards import MemoryCard, MemoryStatus
from wisen.recall import RecallHit

_PRIOR_USES = 4.0
_TRUSTED_BONUS = 0.02


def rank(hits: Sequence[RecallHit], *, model: str, layout: str) -> list[RecallHit]:
    """Order hits by relevance times (1 + measured effect) for this model and prompt layout; equals keep their order."""

    def worth(hit: RecallHit) -> float:
        trusted = _TRUSTED_BONUS if hit.card.status is MemoryStatus.PROMOTED else 0.0
        return hit.relevance * (1.0 + effect(hit.card, model=model, layout=layout)) + trusted

    return sorted(hits, key=worth, reverse=True)


def effect(card: MemoryCard, *, model: str, layout: str) -> float:
    """How much more often runs succeeded with the card than without it, in [-1, 1]; 0 without evidence.

    Both rates are shrunken towards each other's mean by four imagined runs, so that a few lucky uses move little.
    Evidence from another model or layout doesn't count: the same card helps one and harms another.
    """
    for seen in card.evidence:
        if (seen.model, seen.layout) == (model, layout) and (seen.shown or seen.held_out):
            prior = (seen.shown_successes + seen.held_out_successes) / (seen.shown + seen.held_out)
            shown = (seen.shown_successes + prior * _PRIOR_USES) / (seen.shown + _PRIOR_USES)
            held_out = (seen.held_out_successes + prior * _PRIOR_USES) / (seen.held_out + _PRIOR_USES)
            return shown - held_out
    return 0.0
