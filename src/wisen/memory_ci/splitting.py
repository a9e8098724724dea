"""Takes a wording out of an idea that says something else, as a person decides.

An embedder hardly hears a contradiction, so two texts in like words may have been joined though one says the opposite
of the other. Both sides tell in their histories that a person split them: for that nothing joins them again.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from wisen.cards import MemoryCard, MemoryStatus, Move
from wisen.errors import CardNotFoundError, ConfigError
from wisen.memory_ci.changes import Change, change_card, change_if_there
from wisen.memory_ci.ideas import still_there, wordings_of
from wisen.memory_ci.orphans import times_told
from wisen.memory_ci.status import HUMAN, split_off
from wisen.protocols import VectorStore


async def split(store: VectorStore, card: MemoryCard, head: MemoryCard, *, why: str, at: datetime) -> None:
    """Make an idea of this wording, or of all others where it is the idea's head, which keeps the evidence.

    A correction stays with the side that has the card which it names. Raises `ConfigError` for a card that is rejected
    or the only wording of its idea, without a reason, and where others have decided otherwise meanwhile; and what the
    store raises. Broken off before anything has left, it may be called again.
    """
    if not why.strip():
        raise ConfigError(f"card {card.id!r} can't be split from its idea without a reason; say why")
    if card.status is MemoryStatus.REJECTED:
        raise ConfigError(f"card {card.id!r} is rejected: there is nothing left to split")
    wordings = [one for one in await wordings_of(store, head) if one.status is not MemoryStatus.REJECTED]
    leaving = [card] if card.id != head.id else wordings
    if not leaving:
        raise ConfigError(f"card {card.id!r} is the only wording of its idea: there is nothing to split")
    going = {one.id for one in leaving}
    staying = [one for one in (head, *wordings) if one.id not in going]
    corrections = await still_there(store, _corrections([*leaving, *staying]))
    along = {one.id for one in corrections if one.supersedes in going}
    # First of all, so that nothing joins the two sides wherever this is broken off.
    await change_card(store, head.id, _told(leaving[0], why=why, at=at))
    left = await _left(store, leaving, without={*_corrections(leaving)} - along, why=why, at=at)
    if not left:
        raise ConfigError(f"card {card.id!r} was decided on while it was to be split; decide on it as it is now")
    for one in staying:
        if one.superseded_by in along:
            await change_if_there(store, one.id, _uncorrected(along))
    await change_if_there(store, head.id, _counted(-times_told(left)))
    if left[1:]:
        await change_if_there(store, left[0].id, _counted(times_told(left[1:])))


def _corrections(cards: Sequence[MemoryCard]) -> list[str]:
    return [*{one.superseded_by for one in cards} - {""}]


async def _left(
    store: VectorStore, leaving: Sequence[MemoryCard], *, without: Collection[str], why: str, at: datetime
) -> list[MemoryCard]:
    """Take these wordings out of their idea, as wordings of the first of them; gives those that have left.

    One that isn't where it was stays as it is: others have decided on it meanwhile.
    """
    left: list[MemoryCard] = []
    for one in leaving:

        def alone(card: MemoryCard, was: MemoryCard = one) -> MemoryCard | None:
            if card.idea != was.idea or card.status is MemoryStatus.REJECTED:
                return None
            apart = split_off(card, idea=left[0].id if left else "", why=why, at=at)
            return replace(apart, superseded_by="") if card.superseded_by in without else apart

        with suppress(CardNotFoundError):
            if (gone := await change_card(store, one.id, alone)) is not None:
                left.append(gone)
    return left


def _told(first: MemoryCard, *, why: str, at: datetime) -> Change:
    """The head, with the split in its history; `first` is the first of those that leave."""

    def told(head: MemoryCard) -> MemoryCard:
        note = f"split, so that {first.id} is an idea of its own: {why}"
        done = Move(at=at, before=head.status, after=head.status, why=note, by=HUMAN)
        return replace(head, history=(*head.history, done))

    return told


def _uncorrected(corrections: Collection[str]) -> Change:
    return lambda card: replace(card, superseded_by="") if card.superseded_by in corrections else None


def _counted(times: int) -> Change:
    """The head of an idea that was taught so many times more."""
    return lambda head: replace(head, retold=max(0, head.retold + times))
