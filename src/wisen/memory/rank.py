"""In which order recalled cards are worth showing: relevance first, then what their uses have shown, then scope."""

from collections.abc import Iterator, Sequence

from wisen.cards import CardEvidence, MemoryCard, MemoryStatus
from wisen.recall import CardFilter, RecallHit

_PRIOR_USES = 4.0
_TRUSTED_BONUS = 0.02
_SCOPE_BONUS = 0.01


def rank(hits: Sequence[RecallHit], *, model: str, layout: str, where: CardFilter | None = None) -> list[RecallHit]:
    """Order hits by relevance times (1 + measured effect) for this model and prompt layout; equals keep their order.

    A card whose situation agrees in content comes before those that only sound alike, whatever these are worth.
    Promoted cards come before equals, and so do cards that are meant for the role, the task type or a tool that `where`
    names, before those meant for any. A card never comes before one that corrects it.
    """
    corrections = {hit.card.supersedes: hit for hit in hits if hit.card.supersedes}

    def worth(hit: RecallHit) -> tuple[bool, float]:
        trusted = _TRUSTED_BONUS if hit.card.status is MemoryStatus.PROMOTED else 0.0
        meant = _SCOPE_BONUS * _named(hit.card, where) if where is not None else 0.0
        return hit.agrees, hit.relevance * (1.0 + effect(hit.card, model=model, layout=layout)) + trusted + meant

    def place(hit: RecallHit) -> tuple[tuple[bool, float], int]:
        row = [hit]
        while (later := corrections.get(row[-1].card.id)) is not None and later not in row:
            row.append(later)
        return min(map(worth, row)), -len(row)

    return sorted(hits, key=place if corrections else worth, reverse=True)


def effect(card: MemoryCard, *, model: str, layout: str) -> float:
    """How much more often runs succeeded with the card than without it, in [-1, 1]; 0 without evidence.

    Of a trial both rates are shrunken towards each other's mean by four imagined runs, and of replays the difference
    towards 0 by four imagined pairs, so that a few lucky uses move little. A run without a score is no success,
    with the card or without. Several kinds of evidence count by the number of their runs. Evidence from another model
    or layout doesn't count: the same card helps one and harms another.
    """
    weighed = _weighed(card, model, layout)
    runs = sum(weight for weight, _ in weighed)
    return sum(weight * difference for weight, difference in weighed) / runs if runs else 0.0


def uses(card: MemoryCard, *, model: str, layout: str) -> int:
    """How many runs `effect` rests on."""
    return sum(weight for weight, _ in _weighed(card, model, layout))


def _weighed(card: MemoryCard, model: str, layout: str) -> list[tuple[int, float]]:
    return [one for seen in card.evidence if (seen.model, seen.layout) == (model, layout) for one in _differences(seen)]


def _differences(seen: CardEvidence) -> Iterator[tuple[int, float]]:
    """What trial and replays show, each with its number of runs."""
    if runs := seen.shown + seen.held_out:
        prior = (seen.shown_successes + seen.held_out_successes) / runs
        shown = (seen.shown_successes + prior * _PRIOR_USES) / (seen.shown + _PRIOR_USES)
        held_out = (seen.held_out_successes + prior * _PRIOR_USES) / (seen.held_out + _PRIOR_USES)
        yield runs, shown - held_out
    if pairs := seen.gained + seen.lost + seen.ties:
        yield 2 * pairs, (seen.gained - seen.lost) / (pairs + _PRIOR_USES)


def _named(card: MemoryCard, where: CardFilter) -> int:
    """How many of role, task type and tools are named by both."""
    scope = card.scope
    return sum(
        (
            where.agent_role in scope.agent_roles,
            where.task_type in scope.task_types,
            not set(where.tools).isdisjoint(scope.tool_names),
        )
    )
