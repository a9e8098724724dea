"""Puts a wording to its idea, and makes one of two ideas where a new wording says what both say.

The first wordings of a claim may have too little in common to be recognised, so that each begins an idea. A later one
that either is like shows that they are one. Only an idea joins another one that nothing rests on: no trial has begun on
it, no replay has bet on it, and no person has decided on it. So no evidence changes hands.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from wisen.cards import MemoryCard, MemoryStatus, Move
from wisen.memory_ci.changes import Change, change_if_there
from wisen.memory_ci.decisions import follow
from wisen.memory_ci.ideas import MOST_RIVALS, still_there, wordings_of
from wisen.memory_ci.orphans import facing, times_told
from wisen.protocols import VectorStore
from wisen.stores.ordering import latest, moment

_NOBODY = ("screen", "idea")
"""By whom a card is moved that nobody has decided on."""


def worded(card: MemoryCard, head: MemoryCard | None, at: datetime, *, why: str = "") -> MemoryCard:
    """The card as one more wording of an idea, whose status it follows, and which may have been corrected.

    `why` says why it is one, where it wasn't before.
    """
    if head is None:
        return card
    card = replace(card, superseded_by=card.superseded_by or head.superseded_by)
    status = card.status if stays(card, head) else head.status
    if status is card.status and not why:
        return replace(card, idea=head.id)
    why = why or f"another wording of {head.id}, which is {head.status.value}"
    followed = Move(at=at, before=card.status, after=status, why=why, by="idea")
    return replace(card, idea=head.id, status=status, history=(*card.history, followed))


def stays(card: MemoryCard, head: MemoryCard) -> bool:
    """Whether a wording stays in its circle, though its idea is in use: others' text may have worded it."""
    return head.status is MemoryStatus.PROMOTED and card.provenance.tainted


def can_be_one(one: MemoryCard, other: MemoryCard) -> bool:
    """Whether two ideas, given by their heads, may be made one if they say the same: no evidence would change hands."""
    head, joining = sorted((one, other), key=_rank)
    return _may_join(joining, head)


async def join(store: VectorStore, ids: Sequence[str], *, shown_by: str, at: datetime) -> str:
    """Make one idea of two, given by their heads, as card `shown_by` says what both say; gives the first's head then.

    Both stay where something rests on either that would change hands. Raises what the store raises. Broken off, it
    leaves two ideas, whose wordings are some with the one and some with the other.
    """
    cards = sorted(await still_there(store, list(dict.fromkeys(ids))), key=_rank)
    if len(cards) < len(ids) or not can_be_one(*cards):
        return ids[0]
    head, other = cards
    why = f"card {shown_by} says what both say: another wording of {head.id}"

    def along(card: MemoryCard) -> MemoryCard | None:
        return worded(card, head, at, why=why) if card.status is not MemoryStatus.REJECTED else None

    def itself(card: MemoryCard) -> MemoryCard | None:
        left = replace(card, retold=0, trials=(), rivals=(), taught_at=None)
        return worded(left, head, at, why=why) if _may_join(card, head) else None

    def told(card: MemoryCard) -> MemoryCard:
        rivals = tuple(dict.fromkeys((*other.rivals, *card.rivals)))[-MOST_RIVALS:]
        source, told = other.provenance, card.retold + other.retold + times_told([other])
        checked = source.created_at if source.verified and rivals else None
        return replace(card, rivals=rivals, retold=told, taught_at=latest(card.taught_at, other.taught_at, checked))

    await _change(store, await wordings_of(store, other), along)
    if not await _change(store, [other], itself):
        return ids[0]
    await _change(store, await wordings_of(store, other), along)  # those that came meanwhile
    await _change(store, await still_there(store, other.rivals), facing(head.id, instead_of=(other.id,)))
    await _change(store, [head], told)
    for now in await still_there(store, [head.id]):
        if now.status is not head.status:  # decided meanwhile
            await follow(store, head.id, at=at)
    return head.id


async def _change(store: VectorStore, cards: Sequence[MemoryCard], change: Change) -> bool:
    """Change these cards, unless they are gone; says whether any was changed."""
    return any([await change_if_there(store, card.id, change) for card in cards])


def _rank(card: MemoryCard) -> tuple[bool, bool, int, str]:
    """The lowest is the head, the same for all processes: what something rests on, is of no others' text, is older."""
    source = card.provenance
    return _is_free(card), source.tainted, moment(source.created_at), card.id


def _may_join(card: MemoryCard, head: MemoryCard) -> bool:
    """Whether an idea may become a wording of the other one, which isn't given up."""
    if card.circle != head.circle or not _is_free(card):
        return False
    if head.id in card.rivals or card.id in head.rivals or card.supersedes:
        return False
    if any(one.idea or one.held or one.superseded_by for one in (card, head)):
        return False
    given_up = any(trial.stage in ("archived", "benched") for trial in head.trials)
    tried = head.status is MemoryStatus.QUARANTINED and not head.pinned
    return not given_up and (tried or head.status is MemoryStatus.PROMOTED)


def _is_free(card: MemoryCard) -> bool:
    """Whether nothing rests on an idea: no trial of it has begun, no replay, and no person's decision."""
    begun = any(trial.number or trial.before or trial.rounds for trial in card.trials)
    decided = card.status is not MemoryStatus.QUARANTINED or any(one.by not in _NOBODY for one in card.history)
    return not (begun or decided or card.open_draws or card.evidence)
