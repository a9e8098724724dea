"""What a card's evidence says: that it helps, that it hurts, or nothing yet.

A verdict is a function of counts, so that nothing else has to be stored. It may be asked after every pair and every
run: of the cards that don't help, at most one in `promote_at` is ever said to help by replays, and as many by a trial.
Act on the first verdict that isn't "undecided"; later data may weaken what it rested on, and don't undo it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from wisen.cards import CardEvidence, MemoryCard, MemoryStatus
from wisen.errors import ConfigError
from wisen.memory_ci.statistics import sign_e_value, trial_e_value

Verdict = Literal["helps", "hurts", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How much evidence decides, and how many replays it may cost."""

    promote_at: float = 20.0
    """The e-value for "helps" from which a card helps: 20 lets at most 5 % of useless cards through."""
    archive_at: float = 20.0
    """The e-value for "hurts" from which a card hurts."""
    max_pairs: int = 300
    """After so many replayed pairs, ties among them, an undecided card stays undecided."""

    def __post_init__(self) -> None:
        """Refuse limits that would decide without evidence."""
        for name, limit in (("promote_at", self.promote_at), ("archive_at", self.archive_at)):
            if not limit > 1.0:
                raise ConfigError(f"Rule({name}={limit!r}): must be above 1, which is no evidence at all")
        if self.max_pairs < 1:
            raise ConfigError(f"Rule(max_pairs={self.max_pairs!r}): must be at least 1")


DEFAULT_RULE = Rule()


def replay_verdict(gained: int, lost: int, rule: Rule = DEFAULT_RULE) -> Verdict:
    """What pairs of runs with and without the card say; pairs that agree don't count."""
    return _verdict(sign_e_value(gained, lost), sign_e_value(lost, gained), rule)


def replay_finished(gained: int, lost: int, ties: int, rule: Rule = DEFAULT_RULE) -> bool:
    """Whether no further pair is worth its cost.

    So it is once there is a verdict, once the pairs are used up, and once even the rest all alike couldn't decide.
    """
    left = rule.max_pairs - gained - lost - ties
    if left <= 0 or replay_verdict(gained, lost, rule) != "undecided":
        return True
    possible = {replay_verdict(gained + left, lost, rule), replay_verdict(gained, lost + left, rule)}
    return possible == {"undecided"}


def trial_verdict(
    evidence: CardEvidence, propensity: float, rule: Rule = DEFAULT_RULE, *, beside: Sequence[CardEvidence] = ()
) -> Verdict:
    """What the runs of a trial say in which the card was shown with this probability, and held out otherwise.

    A run is good or it isn't; one without a score isn't. Undecided where nothing was drawn (a propensity of 0 or 1
    leaves no control), and where no run has a score.

    Give all of the card's evidence as `beside` where checks and opinions may both have decided on its runs: a card
    helps only if it does so over the runs of both as well. Which of the two decided may depend on the card, and runs
    without a score are counted under both; so the counts of one alone could speak for a card that makes no run good.
    """
    if evidence.shown + evidence.held_out == evidence.shown_unknown + evidence.held_out_unknown:
        return "undecided"
    verdict = _verdict(_trial(evidence, propensity), _trial(evidence, propensity, hurts=True), rule)
    if verdict == "helps" and _trial(_whoever_judged(evidence, beside), propensity) < rule.promote_at:
        return "undecided"
    return verdict


def promoted_for(card: MemoryCard, *, model: str, layout: str) -> bool:
    """Whether what promoted the card holds for this model and layout: their own evidence, or a person's word.

    Also where it isn't known who promoted it, or on which evidence.
    """
    if card.status is not MemoryStatus.PROMOTED:
        return False
    made = next((one for one in reversed(card.history) if one.before is not one.after is MemoryStatus.PROMOTED), None)
    if made is None or made.evidence is None:
        return True
    return (made.evidence.model, made.evidence.layout) == (model, layout)


def helps_here(card: MemoryCard, *, model: str, layout: str, rule: Rule = DEFAULT_RULE) -> bool:
    """Whether evidence for this model and layout says that the card helps, whatever promoted it."""
    return any(
        "helps"
        in (
            replay_verdict(seen.gained, seen.lost, rule),
            trial_verdict(seen, seen.propensity, rule, beside=card.evidence),
        )
        for seen in card.evidence
        if (seen.model, seen.layout) == (model, layout)
    )


def trial_e_value_of(evidence: CardEvidence, *, hurts: bool = False) -> float:
    """The e-value that `trial_verdict` rests on, but for what it asks of the runs `beside`."""
    return _trial(evidence, evidence.propensity, hurts=hurts)


def e_value_of(evidence: CardEvidence, *, hurts: bool = False) -> float:
    """One e-value of replays and trial together, against "doesn't help": their mean, which holds however they depend.

    A kind without data counts as 1. With `hurts`, against "doesn't hurt". For many cards at once, give theirs to
    `statistics.e_bh`.
    """
    gained, lost = (evidence.lost, evidence.gained) if hurts else (evidence.gained, evidence.lost)
    return (sign_e_value(gained, lost) + _trial(evidence, evidence.propensity, hurts=hurts)) / 2


def _trial(evidence: CardEvidence, propensity: float, *, hurts: bool = False) -> float:
    if not 0.0 < propensity < 1.0:
        return 1.0
    shown = evidence.shown_successes, evidence.shown - evidence.shown_successes
    held_out = evidence.held_out_successes, evidence.held_out - evidence.held_out_successes
    if hurts:
        shown, held_out = shown[::-1], held_out[::-1]
    return trial_e_value(
        shown_good=shown[0],
        shown_bad=shown[1],
        held_out_good=held_out[0],
        held_out_bad=held_out[1],
        propensity=propensity,
    )


def _whoever_judged(evidence: CardEvidence, beside: Sequence[CardEvidence]) -> CardEvidence:
    """All runs under the same conditions, whether a check or an opinion decided; those without a score once."""
    here = evidence.model, evidence.layout, evidence.propensity, evidence.terms
    for other in beside:
        there = other.model, other.layout, other.propensity, other.terms
        if here == there and evidence.judged is not other.judged:
            evidence = replace(
                evidence,
                shown=evidence.shown + other.shown - other.shown_unknown,
                shown_successes=evidence.shown_successes + other.shown_successes,
                held_out=evidence.held_out + other.held_out - other.held_out_unknown,
                held_out_successes=evidence.held_out_successes + other.held_out_successes,
            )
    return evidence


def _verdict(helps: float, hurts: float, rule: Rule) -> Verdict:
    """Undecided where both sides have evidence: then the coin wasn't the one that was stated, or runs went missing."""
    if helps >= rule.promote_at and hurts < 1.0:
        return "helps"
    return "hurts" if hurts >= rule.archive_at and helps < 1.0 else "undecided"
