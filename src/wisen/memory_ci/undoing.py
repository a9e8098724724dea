"""Takes a person's last decision back: the cards that it changed become what they were before it.

What runs have counted and taught since stays. A wording that came meanwhile stays with the idea that it was put to, and
follows it. A card that a trial, a replay or somebody else has moved since isn't changed any more: that is a new state
of affairs, on which one decides again. So where one of the cards has been moved, nothing is undone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from operator import attrgetter

from wisen.cards import MemoryCard, MemoryStatus, Move
from wisen.errors import ConfigError
from wisen.memory_ci.changes import Change, change_if_there
from wisen.memory_ci.corrections import corrected_by
from wisen.memory_ci.decisions import Decisions
from wisen.memory_ci.ideas import MOST_RIVALS, head_of, still_there, wordings_of
from wisen.memory_ci.intake import Submission
from wisen.memory_ci.joining import worded
from wisen.memory_ci.orphans import facing, reheaded
from wisen.memory_ci.status import HUMAN, is_benched
from wisen.protocols import VectorStore
from wisen.stores.ordering import latest
from wisen.trial_records import REMEMBERED, OpenDraw, short_id

_FOLLOWS = (HUMAN, "idea", "promotion")
"""Who writes into histories what a person's decision entails."""
_decided = attrgetter("history", "status", "pinned", "held", "released", "idea", "supersedes", "superseded_by")
"""What only decisions change, and no run that counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """What a decision on a card can change, as it was before; it holds texts: keep it in memory, and not long."""

    card_id: str
    cards: tuple[MemoryCard, ...]
    """The idea's head first, then its wordings, what these correct, and its rivals with their wordings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undoable:
    """A decision that can be taken back."""

    card_id: str
    kept: Mapping[str, MemoryCard]
    """The cards as they were before, by their ids; the idea's head first."""
    left: Mapping[str, MemoryCard]
    """The same cards as the decision left them, and the one that it wrote: a correction."""

    @property
    def head(self) -> MemoryCard:
        """The head of the card's idea, as it was."""
        return next(iter(self.kept.values()))

    @property
    def changed(self) -> Sequence[str]:
        """The cards that the decision changed."""
        both = [(self.kept[one], left) for one, left in self.left.items() if one in self.kept]
        return [left.id for kept, left in both if (_decided(kept), kept.retold) != (_decided(left), left.retold)]

    @property
    def written(self) -> Sequence[str]:
        """The card that the decision added to the store, if it did."""
        return [one for one in self.left if one not in self.kept]

    def parted(self, card_id: str) -> bool:
        """Whether the card leads an idea of its own only by this decision."""
        return bool(self.kept[card_id].idea) and not self.left[card_id].idea

    def check(self, card: MemoryCard) -> None:
        """Refuse with `ConfigError` to change a card on which somebody else has decided since."""
        left = self.left[card.id]
        kept = self.kept.get(card.id, left)
        meanwhile = [one for one in left.history[len(kept.history) :] if one.by not in _FOLLOWS]
        if since := [*meanwhile, *card.history[len(left.history) :]]:
            raise ConfigError(f"card {card.id!r} has been moved since by {since[-1].by!r}; decide on it as it is now")
        if self._is_other(card):
            raise ConfigError(f"card {card.id!r} has been changed since; decide on it as it is now")

    def _is_other(self, card: MemoryCard) -> bool:
        """Whether the card isn't as the decision left it, or the same correction was written again."""
        left = self.left[card.id]
        return _decided(card) != _decided(left) or (card.id not in self.kept and card.duplicates != left.duplicates)

    def as_it_was(self, card_id: str, at: datetime) -> Change:
        """The card as it was, but for what was counted on it since, and unless it has been moved meanwhile."""
        kept, left = self.kept[card_id], self.left[card_id]

        def restored(card: MemoryCard) -> MemoryCard | None:
            if self._is_other(card):
                return None
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
                supersedes=kept.supersedes,
                superseded_by=kept.superseded_by,
                idea=kept.idea,
                retold=card.retold + kept.retold - left.retold,
                evidence=counts.evidence,
                observed=counts.observed,
                trials=counts.trials,
                open_draws=_still_open(kept, card) if counts is kept else card.open_draws,
            )
            if back == card:
                return None
            done = Move(at=at, before=card.status, after=kept.status, why=_undone(kept, left), by=HUMAN)
            return replace(back, history=(*card.history, done))

        return restored


async def before_decision(store: VectorStore, card_id: str) -> Before:
    """Remember what a decision on this card can change. Raises what the store raises."""
    card = (await store.get([card_id]))[0]
    head = await head_of(store, card)
    found = [head, card, *await wordings_of(store, head)]
    found += await corrected_by(store, head.scope.tenant, [one.id for one in found])
    for rival in await still_there(store, head.rivals):
        found += [rival, *await wordings_of(store, rival)]
    return Before(card_id=card_id, cards=tuple({one.id: one for one in found}.values()))


async def after_decision(store: VectorStore, before: Before, correction: Submission | None = None) -> Undoable:
    """Remember how a decision left the cards, and the correction that it made. Raises what the store raises."""
    kept = {one.id: one for one in before.cards}
    ids = list(kept)
    if correction is not None and correction.card_id not in kept:
        ids.append(correction.card_id)
        if correction.stored is not None:
            kept[correction.card_id] = correction.stored
    return Undoable(card_id=before.card_id, kept=kept, left={one.id: one for one in await still_there(store, ids)})


async def take_back(decisions: Decisions, made: Undoable) -> MemoryCard:
    """Undo a decision; gives its card as it is then.

    Raises `ConfigError` where one of its cards has been moved since, `CardNotFoundError` where the idea or the card is
    gone, and what the store raises.
    """
    store, at = decisions.store, decisions.now()
    await store.get([made.head.id, made.card_id])
    for card in await still_there(store, [*made.changed, *made.written]):
        made.check(card)
    await _restore(store, made, at)
    for one in made.changed:
        if not made.left[one].idea:
            await _follow(store, made, one, at)
    for one in made.written:
        await _remove(store, one, at)
    return (await store.get([made.card_id]))[0]


async def _restore(store: VectorStore, made: Undoable, at: datetime) -> None:
    """Make the cards what they were; those that led an idea hand over to the old head what they were told since."""
    head, came = made.head.id, dict[str, MemoryCard]()
    for one in made.changed:
        if one != head:
            back = made.as_it_was(one, at)
            await change_if_there(store, one, _joining(made.kept[one], back, came) if made.parted(one) else back)
    if head in made.changed:
        await change_if_there(store, head, _leading(made, came, at))
    for rival in dict.fromkeys(rival for one in came.values() for rival in one.rivals):
        if rival != head and rival not in came:
            await change_if_there(store, rival, facing(head, instead_of=came))


def _joining(kept: MemoryCard, as_it_was: Change, came: dict[str, MemoryCard]) -> Change:
    """A card that becomes a wording again; `came` is told what it was as the head of an idea."""

    def joined(card: MemoryCard) -> MemoryCard | None:
        back = as_it_was(card)
        if back is None:
            return None
        came[card.id] = card
        return replace(back, retold=kept.retold, rivals=kept.rivals, taught_at=kept.taught_at)

    return joined


def _leading(made: Undoable, came: Mapping[str, MemoryCard], at: datetime) -> Change:
    """The head of those that came back to it, with what they were told since and their rivals."""
    as_it_was = made.as_it_was(made.head.id, at)

    def led(card: MemoryCard) -> MemoryCard | None:
        back = as_it_was(card)
        if back is None or not came:
            return back
        rivals = dict.fromkeys(rival for one in (back, *came.values()) for rival in one.rivals)
        others = [one for one in rivals if one != card.id and one not in came]
        return replace(
            back,
            retold=back.retold + sum(_told_since(one, made.left[one.id]) for one in came.values()),
            rivals=tuple(others[-MOST_RIVALS:]),
            taught_at=latest(back.taught_at, *(one.taught_at for one in came.values())),
        )

    return led


async def _follow(store: VectorStore, made: Undoable, one: str, at: datetime) -> None:
    """Put the wordings that came to an idea since to where it is now, corrected and moved as it is."""
    kept, left = made.kept[one], made.left[one]
    heads = await still_there(store, [made.head.id if made.parted(one) else one])

    def following(card: MemoryCard) -> MemoryCard | None:
        if card.status is MemoryStatus.REJECTED:
            return None
        by = kept.superseded_by if card.superseded_by == left.superseded_by else card.superseded_by
        followed = worded(replace(card, superseded_by=by), next(iter(heads), None), at)
        return None if followed == card else followed

    for wording in await wordings_of(store, left):
        if wording.id not in made.left:
            await change_if_there(store, wording.id, following)


async def _remove(store: VectorStore, card_id: str, at: datetime) -> None:
    """Delete a correction. What others said in its place meanwhile is an idea of its own.

    The idea that it was a wording of is told less often, and its rivals face it no longer.
    """

    def untold(head: MemoryCard) -> MemoryCard:
        return replace(head, retold=max(0, head.retold - 1))

    def alone(rival: MemoryCard) -> MemoryCard | None:
        left = tuple(one for one in rival.rivals if one != card_id)
        return None if left == rival.rivals else replace(rival, rivals=left)

    for card in await still_there(store, [card_id]):
        for _ in range(2):  # also for those that come meanwhile
            came = await wordings_of(store, card)
            await reheaded(store, {one.id: one for one in (card, *came)}, [card_id], at)
            await store.delete([card_id])
        if card.idea:
            await change_if_there(store, card.idea, untold)
        for rival in card.rivals:
            await change_if_there(store, rival, alone)


def _told_since(card: MemoryCard, left: MemoryCard) -> int:
    """How often the idea of a card that led one was told since: in its own words, and in others."""
    return card.retold - left.retold + card.duplicates - left.duplicates


def _still_open(kept: MemoryCard, card: MemoryCard) -> tuple[OpenDraw, ...]:
    """The draws of before whose outcome hasn't come since. Where too many came to remember all of them, none is."""
    if len(card.observed) >= REMEMBERED:
        return ()
    return tuple(one for one in kept.open_draws if short_id(one.id) not in card.observed)


def _undone(kept: MemoryCard, left: MemoryCard) -> str:
    done = left.history[len(kept.history) :]
    return f"undone: {done[0].why}" if done else "undone, with the decision on another card"
