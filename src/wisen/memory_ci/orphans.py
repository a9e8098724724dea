"""What becomes of an idea of which cards are withdrawn: other wordings lead it, and it is as its own cards told it."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial

from wisen.cards import MemoryCard, MemoryStatus, Move
from wisen.memory_ci.changes import Change, change_if_there
from wisen.memory_ci.status import move
from wisen.protocols import VectorStore
from wisen.stores.ordering import latest, moment


async def reheaded(
    store: VectorStore, cards: Mapping[str, MemoryCard], withdrawn: Collection[str], at: datetime
) -> None:
    """Let other wordings of a withdrawn card's idea take its place, on trial again: its evidence is gone.

    The idea's rivals are theirs then. Nothing joins them to another idea: people may have decided on the one that they
    stand for. What a withdrawn wording taught no longer says when a check taught its idea.
    """
    families: dict[str, list[MemoryCard]] = {}
    for card in cards.values():
        if card.idea:
            families.setdefault(card.idea, []).append(card)
    for idea, wordings in families.items():
        left = [one for one in wordings if one.id not in withdrawn and one.status is not MemoryStatus.REJECTED]
        left.sort(key=lambda card: (moment(card.provenance.created_at), card.id))
        gone = [one for one in wordings if one.id in withdrawn]
        if idea not in withdrawn and gone:
            await change_if_there(store, idea, partial(_told_by, left=_checked(left), gone=_checked(gone)))
        elif idea in withdrawn and left:
            await _led(store, cards[idea], left, [one for one in cards[idea].rivals if one not in withdrawn], at)


async def _led(store: VectorStore, old: MemoryCard, left: list[MemoryCard], rivals: list[str], at: datetime) -> None:
    """Put these wordings of a withdrawn head under the first of them, which its rivals face from then on."""
    first = left[0]

    def headed(card: MemoryCard) -> MemoryCard | None:
        taught = latest(card.taught_at, *_checked(left[1:])) if rivals else None
        led = replace(card, rivals=tuple(rivals), taught_at=taught, retold=card.retold + times_told(left[1:]))
        return None if led == card else led

    for one in left:
        await change_if_there(store, one.id, partial(_under, old=old.id, head=first.id, at=at))
    await change_if_there(store, first.id, headed)
    for one in rivals:
        await change_if_there(store, one, facing(first.id, instead_of=(old.id,)))


def _under(card: MemoryCard, *, old: str, head: str, at: datetime) -> MemoryCard | None:
    """The card under a new head, which may be itself; in quarantine, where the old head's status was in use."""
    under = replace(card, idea="" if card.id == head else head)
    if card.status is MemoryStatus.PROMOTED:
        return move(
            under, MemoryStatus.QUARANTINED, note="what its evidence stood on was withdrawn", at=at, by="rollback"
        )
    if not under.idea:
        why = f"stands for the idea of {old}, which was withdrawn"
        done = Move(at=at, before=card.status, after=card.status, why=why, by="rollback")
        return replace(under, history=(*card.history, done))
    return under


def _told_by(head: MemoryCard, *, left: Iterable[datetime], gone: Collection[datetime]) -> MemoryCard | None:
    if head.taught_at not in gone:
        return None
    return replace(head, taught_at=latest(*left))


def _checked(wordings: Iterable[MemoryCard]) -> list[datetime]:
    """When checks taught these."""
    return [one.provenance.created_at for one in wordings if one.provenance.verified]


def facing(head: str, *, instead_of: Collection[str]) -> Change:
    """A rival that faces the head of an idea in the place of others, which don't lead it any more."""

    def faces(rival: MemoryCard) -> MemoryCard | None:
        rivals = tuple(dict.fromkeys(head if one in instead_of else one for one in rival.rivals))
        return None if rivals == rival.rivals else replace(rival, rivals=rivals)

    return faces


def times_told(wordings: Iterable[MemoryCard]) -> int:
    """How often these wordings were taught."""
    return sum(1 + one.duplicates for one in wordings)
