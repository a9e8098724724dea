"""What follows from a trial's verdict: wordings follow their idea, its rivals give way, and a promotion is numbered."""

from contextlib import suppress
from datetime import datetime

from wisen.account.eligibility import trial_of
from wisen.cards import MemoryCard, MemoryStatus, Move
from wisen.errors import CardNotFoundError
from wisen.events import CardMoved
from wisen.memory_ci.changes import change_card
from wisen.memory_ci.decisions import follow
from wisen.memory_ci.ideas import agree
from wisen.memory_ci.pipeline import MemoryCI
from wisen.memory_ci.status import move
from wisen.memory_ci.trial import is_ahead
from wisen.trial_records import Trial


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
    moved = await _rivals_archived(ci, card, trial, made)
    await ci.standing.became(card)
    await promotions.of(name)
    return moved


async def _rivals_archived(ci: MemoryCI, promoted: MemoryCard, trial: Trial, made: Move) -> list[CardMoved]:
    """Archive what can't be right beside an idea that helps, unless a person has pinned it or put it in use.

    What was learned from a task with other numbers or names, and is ahead in its own trial, may be right there. What
    came, or was moved, after the promotion stays as it is.
    """
    moved: list[CardMoved] = []

    def archived(card: MemoryCard) -> MemoryCard | None:
        last = card.history[-1] if card.history else None
        if card.status not in (MemoryStatus.QUARANTINED, MemoryStatus.PROMOTED) or card.pinned:
            return None
        if last is not None and (last.at > made.at or (card.status is MemoryStatus.PROMOTED and last.by == "human")):
            return None
        own = trial_of(card, trial.model, trial.layout)
        if not agree(card.situation, promoted.situation) and (own.stage == "promoted" or is_ahead(own)):
            return None
        why = f"its rival {promoted.id} helps, and both can't be right"
        return move(card, MemoryStatus.ARCHIVED, note=why, at=made.at, by="trial")

    for rival in promoted.rivals:
        with suppress(CardNotFoundError):
            changed = await change_card(ci.store, rival, archived)
            await follow(ci.store, rival, at=made.at)
            moved += [] if changed is None else [moved_event(rival, changed.history[-1])]
    return moved


def moved_event(card_id: str, done: Move) -> CardMoved:
    """A move, as it is told."""
    return CardMoved(card_id=card_id, before=done.before.value, after=done.after.value, why=done.why, by=done.by)
