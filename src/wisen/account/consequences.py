"""What follows from a trial's verdict: wordings follow their idea, its rivals give way, and a promotion is numbered."""

from datetime import datetime

from wisen.account.eligibility import trial_of
from wisen.cards import MemoryCard, MemoryStatus, Move
from wisen.events import CardMoved
from wisen.memory_ci.decisions import archive_rivals, follow
from wisen.memory_ci.pipeline import MemoryCI


async def carry_out(ci: MemoryCI, card: MemoryCard, *, at: datetime) -> list[CardMoved]:
    """Do what follows from the verdict that moved an idea last, as far as it isn't done; says which rivals moved.

    It follows from the card alone, so the next count on the idea goes on where a store has failed. A promotion is
    numbered last: by its number one knows that the rest is done. Raises what the store raises.
    """
    made = next((one for one in reversed(card.history) if one.before is not one.after), None)
    if made is None or made.by != "trial" or made.evidence is None:
        return []
    if made.after is not MemoryStatus.PROMOTED:
        await follow(ci.store, card.id, at=at)
        return []
    trial = trial_of(card, made.evidence.model, made.evidence.layout)
    promotions = ci.promotions.in_cohort_of(trial.number, trial.family)
    name = "\x1f".join((card.id, trial.model, trial.layout, str(trial.number)))
    if not trial.number or await promotions.has(name):  # without one, an earlier version has promoted it
        return []
    await follow(ci.store, card.id, at=at)
    archived = await archive_rivals(ci.store, card, made)
    await ci.standing.became(card)
    await promotions.of(name)
    return [moved_event(one.id, one.history[-1]) for one in archived]


def moved_event(card_id: str, done: Move) -> CardMoved:
    """A move, as it is told."""
    return CardMoved(card_id=card_id, before=done.before.value, after=done.after.value, why=done.why, by=done.by)
