"""Takes a wording out of an idea that says something else, as a person decides.

An embedder hardly hears a contradiction, so two texts in like words may have been joined though one says the opposite
of the other. Both sides tell in their histories that a person split them: for that nothing joins them again.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from wisen.cards import MemoryCard, MemoryStatus, Move
from wisen.errors import ConfigError
from wisen.memory_ci.changes import Change, change_card, change_if_there
from wisen.memory_ci.ideas import still_there, wordings_of
from wisen.memory_ci.status import HUMAN, split_off
from wisen.protocols import VectorStore


async def split(store: VectorStore, card: MemoryCard, head: MemoryCard, *, why: str, at: datetime) -> None:
    """Make an idea of this wording, or of all others where it is the idea's head, which keeps the evidence.

    Raises `ConfigError` for a card that is rejected or the only wording of its idea, without a reason, and what the
    store raises. Broken off, it may be called again.
    """
    if not why.strip():
        raise ConfigError(f"card {card.id!r} can't be split from its idea without a reason; say why")
    if card.status is MemoryStatus.REJECTED:
        raise ConfigError(f"card {card.id!r} is rejected: there is nothing left to split")
    leaving = [card] if card.id != head.id else await wordings_of(store, head)
    leaving = [one for one in leaving if one.status is not MemoryStatus.REJECTED]
    if not leaving:
        raise ConfigError(f"card {card.id!r} is the only wording of its idea: there is nothing to split")
    corrections = await still_there(store, [*{one.superseded_by for one in leaving} - {""}])
    corrected = {one.supersedes for one in corrections}
    await change_card(store, head.id, _left(leaving, why=why, at=at))
    for one in leaving:
        idea = "" if one.id == leaving[0].id else leaving[0].id
        await change_if_there(store, one.id, _leaving(one, idea, corrected=one.id in corrected, why=why, at=at))


def _leaving(wording: MemoryCard, idea: str, *, corrected: bool, why: str, at: datetime) -> Change:
    """The wording without its idea, and without the correction that it had as a wording of it alone."""

    def change(card: MemoryCard) -> MemoryCard | None:
        if (card.idea, card.status) != (wording.idea, wording.status):  # decided on meanwhile
            return None
        alone = split_off(card, idea=idea, why=why, at=at)
        return alone if corrected else replace(alone, superseded_by="")

    return change


def _left(gone: Sequence[MemoryCard], *, why: str, at: datetime) -> Change:
    """The head, which was told less often than it seemed."""

    def change(head: MemoryCard) -> MemoryCard:
        told = max(0, head.retold - sum(1 + one.duplicates for one in gone))
        note = f"split, so that {gone[0].id} is an idea of its own: {why}"
        done = Move(at=at, before=head.status, after=head.status, why=note, by=HUMAN)
        return replace(head, retold=told, version=head.version + 1, history=(*head.history, done))

    return change
