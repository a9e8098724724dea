"""Takes a person's last decision on a card back: the cards that it could change become what they were before it.

What runs have counted since stays counted. A card that a trial, a replay or somebody else has moved since isn't changed
any more: that is a new state of affairs, on which one decides again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from wisen.cards import MemoryCard, MemoryStatus, Move
from wisen.errors import ConfigError
from wisen.memory_ci.changes import Change, change_if_there
from wisen.memory_ci.decisions import Decisions
from wisen.memory_ci.ideas import head_of, still_there, wordings_of
from wisen.memory_ci.status import HUMAN, is_benched
from wisen.protocols import VectorStore

_FOLLOWS = (HUMAN, "idea", "promotion")
"""Who writes into histories what a person's decision entails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """What a decision on a card can change, as it was before; it holds texts: keep it in memory, and not long."""

    card_id: str
    cards: tuple[MemoryCard, ...]
    """The idea's head first, then its wordings, and what the card corrects."""
    added: str = ""
    """The card that the decision wrote: a correction."""


async def before_decision(store: VectorStore, card_id: str) -> Before:
    """Remember what a decision on this card can change. Raises what the store raises."""
    card = (await store.get([card_id]))[0]
    head = await head_of(store, card)
    found = [head, card, *await wordings_of(store, head)]
    for old in await still_there(store, [one.supersedes for one in found if one.supersedes]):
        old_head = await head_of(store, old)
        found += [old, old_head, *await wordings_of(store, old_head)]
    return Before(card_id=card_id, cards=tuple({one.id: one for one in found}.values()))


async def take_back(decisions: Decisions, before: Before) -> MemoryCard:
    """Undo the decision that came after `before`; gives the card as it is then.

    Raises `ConfigError` where the idea has been moved since, `CardNotFoundError` where it is gone, and what the store
    raises.
    """
    store, at = decisions.store, decisions.now()
    now = (await store.get([before.cards[0].id]))[0]
    since = now.history[len(before.cards[0].history) :]
    if [one.by for one in since if one.by not in _FOLLOWS] or sum(one.by == HUMAN for one in since) > 1:
        raise ConfigError(f"card {now.id!r} has been moved since by {since[-1].by!r}; decide on it as it is now")
    for one in before.cards:
        await change_if_there(store, one.id, _as_it_was(one, at=at))
    if before.added:
        await store.delete([before.added])
    return (await store.get([before.card_id]))[0]


def _as_it_was(kept: MemoryCard, *, at: datetime) -> Change:
    """The card as it was, but for what was counted on it since."""

    def restored(card: MemoryCard) -> MemoryCard | None:
        whole = kept if card.status is MemoryStatus.REJECTED else card
        again = card.status is MemoryStatus.QUARANTINED and (kept.status is not card.status or is_benched(kept))
        anew = again or card.idea != kept.idea
        counts = kept if anew or whole is kept else card
        back = replace(
            whole,
            status=kept.status,
            note=kept.note,
            pinned=kept.pinned,
            held=kept.held,
            released=kept.released,
            superseded_by=kept.superseded_by,
            idea=kept.idea,
            retold=max(kept.retold, card.retold),
            evidence=counts.evidence,
            observed=counts.observed,
            trials=counts.trials,
            open_draws=counts.open_draws,
        )
        if back == card:
            return None
        why = _undone(card.history[len(kept.history) :])
        done = Move(at=at, before=card.status, after=kept.status, why=why, by=HUMAN)
        return replace(back, history=(*card.history, done))

    return restored


def _undone(since: Sequence[Move]) -> str:
    return f"undone: {since[0].why}" if since else "undone, with the decision on another card"
