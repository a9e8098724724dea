"""The live trial: counts what runs with a card, and runs without it by the draw, came to; and acts on the verdict.

Only a run's first attempt counts, since later ones know more than the card. It counts by what was drawn, whatever
became of the advice on its way to the model: so chance alone decides which runs are compared with which. An attempt
is good if it has a score that reaches the threshold; one without a score isn't, whether the card was shown or held
out. Such an outcome is known of every run, so that none is left out for what became of it, and a card can't win by
making failures unknown.
"""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields, replace
from datetime import datetime

from wisen.cards import CardEvidence, MemoryCard, MemoryStatus, Move
from wisen.errors import CardNotFoundError
from wisen.events import CardMoved
from wisen.memory_ci.changes import change_card
from wisen.memory_ci.pipeline import MemoryCI
from wisen.memory_ci.status import move
from wisen.memory_ci.verdicts import Rule, Verdict, promoted_for, trial_e_value_of, trial_verdict
from wisen.records import Injection, RunRecord

_REMEMBERED = 64
_NAMES = ("model", "layout", "propensity", "judged", "terms")
_COUNTS = tuple(field.name for field in fields(CardEvidence) if field.name not in _NAMES)


async def observe(
    ci: MemoryCI, record: RunRecord, *, layout: str, threshold: float = 0.8, at: datetime | None = None
) -> list[CardMoved]:
    """Count a run's first attempt on the cards that were drawn for it, and move those that have a verdict.

    Nothing is counted where there is no trial. A first attempt is good if its score reaches `threshold`; one that ended
    without a score isn't. Counts are kept per model and layout, and apart for attempts that a check and that a model
    decided on, and for each propensity; what has no score counts under both. A run that a card has counted among its
    last 64 isn't counted again. A quarantined card that helps is promoted, and one that hurts is archived,
    promoted ones too; pinned cards are only counted on, and so is one that another model's evidence promoted: its
    own evidence bars it for this model.

    Raises what the store raises; what was written until then stays.
    """
    first = record.attempts[0] if record.attempts else None
    evaluation = first.evaluation if first else None
    if ci.trust != "trial" or first is None or evaluation is None:
        return []
    score = evaluation.overall_score
    # Who would have judged isn't known where nobody has: then it counts in both, and once where both are put together.
    judged = (not evaluation.verifiable,) if score is not None else (False, True)
    conditions = [CardEvidence(model=record.model, layout=layout, judged=one) for one in judged]
    moved: list[CardMoved] = []
    for one in first.injections:
        if not 0.0 < one.propensity < 1.0:
            continue
        good = None if score is None else score >= threshold
        counted = _Observation(one, conditions, good, record.run_id, at if at is not None else ci.now(), ci.rule)
        with suppress(CardNotFoundError):  # deleted in the meantime
            changed = await change_card(ci.store, one.card_id, counted.on)
            if changed is not None and counted.move is not None:
                moved.append(_told(changed.id, counted.move))
    return moved


def added(evidence: Sequence[CardEvidence], more: CardEvidence) -> tuple[CardEvidence, ...]:
    """The evidence with the counts of `more` on the entry of its model, layout and conditions, or on a new one."""
    place = next((at for at, one in enumerate(evidence) if _conditions(one) == _conditions(more)), None)
    if place is None:
        return (*evidence, more)
    sums = {name: getattr(evidence[place], name) + getattr(more, name) for name in _COUNTS}
    return (*evidence[:place], replace(more, **sums), *evidence[place + 1 :])


class _Observation:
    """One run's outcome on its way to one card; asked again where the card changes meanwhile."""

    def __init__(
        self,
        drawn: Injection,
        conditions: Sequence[CardEvidence],
        good: bool | None,
        run_id: str,
        at: datetime,
        rule: Rule,
    ) -> None:
        if drawn.shown:
            side = {"shown": 1, "shown_successes": int(good is True), "shown_unknown": int(good is None)}
        else:
            side = {"held_out": 1, "held_out_successes": int(good is True), "held_out_unknown": int(good is None)}
        self._counts = [replace(one, propensity=drawn.propensity, **side) for one in conditions]
        self._run = hashlib.sha256(run_id.encode()).hexdigest()[:8]
        self._at = at
        self._rule = rule
        self.move: Move | None = None

    def on(self, card: MemoryCard) -> MemoryCard | None:
        """The card with the run on its counts, and moved if these decide; `None` where the run isn't to be counted."""
        self.move = None
        if card.status is MemoryStatus.REJECTED or self._run in card.observed:
            return None
        evidence = card.evidence
        for one in self._counts:
            evidence = added(evidence, one)
        card = replace(card, evidence=evidence, observed=(*card.observed, self._run)[-_REMEMBERED:])
        mine = set(map(_conditions, self._counts))
        for counts in (one for one in evidence if _conditions(one) in mine):
            verdict = trial_verdict(counts, counts.propensity, self._rule, beside=evidence)
            status = _AFTER.get((card.status, verdict))
            if status is not None and not card.pinned and self._may_move(card, counts):
                return self._moved(card, status, verdict, counts)
        return card

    def _moved(self, card: MemoryCard, status: MemoryStatus, verdict: Verdict, counts: CardEvidence) -> MemoryCard:
        card = move(card, status, note=_why(counts, verdict), at=self._at, by="trial", evidence=counts)
        self.move = card.history[-1]
        return card

    @staticmethod
    def _may_move(card: MemoryCard, counts: CardEvidence) -> bool:
        """What another model's evidence promoted, this one's doesn't archive for all: it only bars it for this one."""
        return card.status is not MemoryStatus.PROMOTED or promoted_for(card, model=counts.model, layout=counts.layout)


_AFTER = {
    (MemoryStatus.QUARANTINED, "helps"): MemoryStatus.PROMOTED,
    (MemoryStatus.QUARANTINED, "hurts"): MemoryStatus.ARCHIVED,
    (MemoryStatus.PROMOTED, "hurts"): MemoryStatus.ARCHIVED,
}


def _conditions(evidence: CardEvidence) -> tuple[object, ...]:
    return tuple(getattr(evidence, name) for name in _NAMES)


def _why(counts: CardEvidence, verdict: Verdict) -> str:
    judged = ", as a model judged" if counts.judged else ""
    e_value = trial_e_value_of(counts, hurts=verdict == "hurts")
    shown = f", {counts.shown_unknown} without a score," if counts.shown_unknown else ""
    held_out = f", {counts.held_out_unknown} without a score" if counts.held_out_unknown else ""
    return (
        f"{verdict}{judged}: good in {counts.shown_successes} of {counts.shown} runs with it{shown} "
        f"and {counts.held_out_successes} of {counts.held_out} without{held_out} (e = {e_value:.3g})"
    )


def _told(card_id: str, done: Move) -> CardMoved:
    return CardMoved(card_id=card_id, before=done.before.value, after=done.after.value, why=done.why, by=done.by)
