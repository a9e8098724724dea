"""In which order recalled cards are worth showing: relevance first, then what their uses have shown, then scope."""

from collections.abc import Iterable, Iterator, Sequence

from wisen.cards import CardEvidence, MemoryCard, MemoryStatus
from wisen.recall import CardFilter, RecallHit
from wisen.trial_records import DrawCounts

_PRIOR_USES = 4.0
_TRUSTED_BONUS = 0.02
_SCOPE_BONUS = 0.01


def rank(hits: Sequence[RecallHit], *, model: str, layout: str, where: CardFilter | None = None) -> list[RecallHit]:
    """Order hits by relevance times (1 + measured effect) for this model and prompt layout; equals keep their order.

    A card whose situation agrees in content comes before those that only sound alike, whatever these are worth, and one
    whose situation contradicts the query's comes after them.
    Promoted cards come before equals, and so do cards that are meant for the role, the task type or a tool that `where`
    names, before those meant for any. A card never comes before one that corrects it.
    """
    corrections = {hit.card.supersedes: hit for hit in hits if hit.card.supersedes}

    def worth(hit: RecallHit) -> tuple[int, float]:
        trusted = _TRUSTED_BONUS if hit.card.status is MemoryStatus.PROMOTED else 0.0
        meant = _SCOPE_BONUS * _named(hit.card, where) if where is not None else 0.0
        return hit.fit, hit.relevance * (1.0 + effect(hit.card, model=model, layout=layout)) + trusted + meant

    def place(hit: RecallHit) -> tuple[tuple[int, float], int]:
        row = [hit]
        while (later := corrections.get(row[-1].card.id)) is not None and later not in row:
            row.append(later)
        return min(map(worth, row)), -len(row)

    return sorted(hits, key=place, reverse=True)


def effect(card: MemoryCard, *, model: str, layout: str) -> float:
    """How much more often runs succeeded with the card than without it, in [-1, 1]; 0 without evidence.

    Of trials it is `estimated_effect`, and of replays the difference, pulled towards 0 by four imagined pairs: so a few
    lucky uses move little. Both count by the number of their runs. Evidence from another model or layout doesn't count:
    the same card helps one and harms another.
    """
    weighed = list(_weighed(card, model, layout))
    runs = sum(weight for weight, _ in weighed)
    return sum(weight * difference for weight, difference in weighed) / runs if runs else 0.0


def uses(card: MemoryCard, *, model: str, layout: str) -> int:
    """How many runs `effect` rests on."""
    return sum(weight for weight, _ in _weighed(card, model, layout))


def estimated_effect(counts: Iterable[DrawCounts], *, spread: float = 0.2) -> float:
    """By how much showing an idea raised the rate of good runs, in [-1, 1], pulled towards 0 the less is known.

    For each propensity, take the difference of the two rates: its inverse-propensity estimate with normalised weights.
    Average these by their precision. Multiply by the share of the variance that isn't chance if effects vary by
    `spread` (standard deviation) between ideas. See Efron, Morris 1975, "Data analysis using Stein's estimator and its
    generalizations". So it ranks a large effect seen seldom below the same one seen often. A run without a score isn't
    good. 0 where one side is empty. For certainty see `memory_ci.statistics.trial_e_value`: this is an estimate.
    """
    known = [one for one in counts if one.shown and one.held_out]
    runs, good = sum(one.runs for one in known), sum(one.shown_good + one.held_out_good for one in known)
    pooled = (good + _PRIOR_USES / 2) / (runs + _PRIOR_USES)
    precision = weighted = 0.0
    for one in known:
        sure = 1.0 / (pooled * (1.0 - pooled) * (1.0 / one.shown + 1.0 / one.held_out))
        precision += sure
        weighted += sure * (one.shown_good / one.shown - one.held_out_good / one.held_out)
    return weighted / (precision + spread**-2)


def _weighed(card: MemoryCard, model: str, layout: str) -> Iterator[tuple[int, float]]:
    """What trials show, and what replays show, each with its number of runs."""
    seen = [one for one in card.evidence if (one.model, one.layout) == (model, layout)]
    counts = [_as_drawn(one) for one in seen]
    for trial in card.trials:
        if (trial.model, trial.layout) == (model, layout):
            counts += [*trial.before, *trial.counts]
    if runs := sum(one.runs for one in counts):
        yield runs, estimated_effect(counts)
    for one in seen:
        if pairs := one.gained + one.lost + one.ties:
            yield 2 * pairs, (one.gained - one.lost) / (pairs + _PRIOR_USES)


def _as_drawn(seen: CardEvidence) -> DrawCounts:
    """Runs that were counted on a card before it had trials."""
    return DrawCounts(
        propensity=seen.propensity,
        shown=seen.shown,
        shown_good=seen.shown_successes,
        held_out=seen.held_out,
        held_out_good=seen.held_out_successes,
    )


def _named(card: MemoryCard, where: CardFilter) -> int:
    """How many of role, task type and tools are named by both."""
    scope = card.scope
    return sum(
        (
            where.agent_role in scope.agent_roles,
            where.task_type in scope.task_types,
            not set(where.tools or ()).isdisjoint(scope.tool_names),
        )
    )
