"""What people decide on ideas: promote, archive, reject, pin, split. All wordings of an idea follow its head."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Final, Literal, get_args

from wisen.cards import MemoryCard, MemoryStatus, Move
from wisen.errors import CardNotFoundError
from wisen.memory_ci.changes import Change, change_card, change_if_there
from wisen.memory_ci.corrections import corrected_by, holding_again
from wisen.memory_ci.ideas import agree, head_of, still_there, wordings_of
from wisen.memory_ci.orphans import times_told
from wisen.memory_ci.reasons import kept_reason
from wisen.memory_ci.splitting import split
from wisen.memory_ci.status import HUMAN, move, pinned, released, tried_again
from wisen.memory_ci.trial import is_ahead
from wisen.protocols import Scrubs, VectorStore
from wisen.recall import RECALLABLE, UNREVIEWED

Act = Literal["promote", "release", "archive", "quarantine", "reject", "pin", "unpin", "split"]
ACTS: Final[Mapping[str, Act]] = {one: one for one in get_args(Act)}
"""What a person may decide on a card, as commands and pages name it."""


class Decisions:
    """A person's word on the cards of one store.

    It holds for the idea: whichever wording is named, its head is moved, and all wordings with it. `split` is on the
    wording itself. So is what is decided on a wording that waits for a person, as it is held or imported. `release` and
    `promote` let it follow its idea into use, and `reject` withdraws it alone.
    """

    def __init__(self, store: VectorStore, now: Callable[[], datetime]) -> None:
        self.store = store
        self.now = now

    async def decide(self, act: Act, card_id: str, why: str) -> MemoryCard:
        """Do one of `ACTS`; gives the card as it is then. Raises as the act's own method does."""
        acts: dict[Act, Callable[[str, str], Awaitable[MemoryCard]]] = {
            "promote": self.promote,
            "release": self.release,
            "archive": self.archive,
            "quarantine": self.quarantine,
            "reject": self.reject,
            "pin": self.pin,
            "unpin": self.unpin,
            "split": self.split,
        }
        return await acts[act](card_id, why)

    async def promote(self, card_id: str, why: str) -> MemoryCard:
        """Show a quarantined card to every run, by a person's decision; its rivals are archived: see `archive_rivals`.

        Raises `ConfigError` as `move` does.
        """
        at, note = self.now(), kept_reason(why)
        card, head = await self._with_head(card_id)
        waits = card.id != head.id and (card.held or card.status is MemoryStatus.QUARANTINED)
        if not (waits and head.status is MemoryStatus.PROMOTED):
            await self._move(card_id, MemoryStatus.PROMOTED, why)
            head = (await self.store.get([head.id]))[0]
            await archive_rivals(self.store, head, head.history[-1])

        def read(card: MemoryCard) -> MemoryCard | None:  # it is this wording that the person has read
            if card.status is MemoryStatus.PROMOTED:
                return replace(card, held=()) if card.held else None
            return replace(move(card, MemoryStatus.PROMOTED, note=note, at=at, by=HUMAN), held=())

        await change_card(self.store, card_id, read)
        return (await self.store.get([card_id]))[0]

    async def archive(self, card_id: str, why: str) -> MemoryCard:
        """Keep a card and show it no more. Raises `ConfigError` as `move` does."""
        return await self._move(card_id, MemoryStatus.ARCHIVED, why)

    async def quarantine(self, card_id: str, why: str) -> MemoryCard:
        """Put a promoted, archived or benched card on trial again, with new counts.

        Raises `ConfigError` as `move` does.
        """
        at, why = self.now(), kept_reason(why)
        return await self._decide(card_id, lambda card: tried_again(card, why=why, at=at))

    async def release(self, card_id: str, why: str) -> MemoryCard:
        """Let all of its tenant's runs try a card in quarantine: one that is held, imported, or of another circle.

        A person's word. Raises `ConfigError` for a card that isn't in quarantine, or without a reason.
        """
        at, why = self.now(), kept_reason(why)
        card, head = await self._with_head(card_id)
        if card.id == head.id or head.status is not MemoryStatus.PROMOTED:
            return await self._decide(card_id, lambda card: released(card, why=why, at=at), also=True)

        def following(card: MemoryCard) -> MemoryCard | None:
            return _followed(released(card, why=why, at=at) or card, head, at)

        await change_card(self.store, card_id, following)
        return (await self.store.get([card_id]))[0]

    async def reject(self, card_id: str, why: str) -> MemoryCard:
        """Withdraw a card for good, text and all; what its idea had corrected holds again. Raises as `move` does."""
        _, head = await self._with_head(card_id)
        idea = [card_id, head.id, *(one.id for one in await wordings_of(self.store, head))]
        rejected = await self._rejected(card_id, why)
        there = await still_there(self.store, list(dict.fromkeys(idea)))
        gone = [one.id for one in there if one.status is MemoryStatus.REJECTED]
        for old in await corrected_by(self.store, head.scope.tenant, gone):
            await change_if_there(self.store, old.id, holding_again(gone))
        if isinstance(self.store, Scrubs):
            await self.store.scrub()
        return rejected

    async def pin(self, card_id: str, why: str) -> MemoryCard:
        """Keep rules and trials from moving a card. Raises `ConfigError` for a rejected one, or without a reason."""
        return await self._pin(card_id, why, on=True)

    async def unpin(self, card_id: str, why: str) -> MemoryCard:
        """Let rules and trials move the card again."""
        return await self._pin(card_id, why, on=False)

    async def split(self, card_id: str, why: str) -> MemoryCard:
        """Take a wording out of an idea that says something else: from then on it is one of its own, on trial.

        Evidence stays with the idea's first card; where that one is named, the other wordings become another idea. What
        a person has split is never joined again. Raises `ConfigError` for a card that is rejected or the only wording
        of its idea, and without a reason.
        """
        at, why = self.now(), kept_reason(why)
        card, head = await self._with_head(card_id)
        await split(self.store, card, head, why=why, at=at)
        return (await self.store.get([card_id]))[0]

    async def _with_head(self, card_id: str) -> tuple[MemoryCard, MemoryCard]:
        """A card, and the head of its idea."""
        card = (await self.store.get([card_id]))[0]
        return card, await head_of(self.store, card)

    async def _rejected(self, card_id: str, why: str) -> MemoryCard:
        """The card, rejected with its whole idea, or alone where it is a wording that nobody has seen yet.

        What its idea goes on saying isn't refused to others.
        """
        card, head = await self._with_head(card_id)
        if card.id == head.id or not UNREVIEWED.accepts(card):
            return await self._move(card_id, MemoryStatus.REJECTED, why)
        at, note = self.now(), kept_reason(why)
        others = [one for one in (head, *await wordings_of(self.store, head)) if one.id != card_id]
        said = {one.refusal_key for one in others}

        def alone(card: MemoryCard) -> MemoryCard:
            gone = move(card, MemoryStatus.REJECTED, note=note, at=at, by=HUMAN)
            return replace(gone, refused="") if gone.refused in said else gone

        await change_card(self.store, card_id, alone)
        told = times_told([card])
        await change_if_there(self.store, head.id, lambda head: replace(head, retold=max(0, head.retold - told)))
        return (await self.store.get([card_id]))[0]

    async def _move(self, card_id: str, status: MemoryStatus, why: str) -> MemoryCard:
        at, why = self.now(), kept_reason(why)
        return await self._decide(card_id, lambda card: move(card, status, note=why, at=at, by=HUMAN))

    async def _pin(self, card_id: str, why: str, *, on: bool) -> MemoryCard:
        at, why = self.now(), kept_reason(why)
        return await self._decide(card_id, lambda card: pinned(card, on=on, why=why, at=at))

    async def _decide(self, card_id: str, change: Change, *, also: bool = False) -> MemoryCard:
        """Change an idea's head; with `also`, the card that was named, too."""
        _, head = await self._with_head(card_id)
        await change_card(self.store, head.id, change)
        if also and head.id != card_id:
            await change_card(self.store, card_id, change)
        await follow(self.store, head.id, at=self.now())
        return (await self.store.get([card_id]))[0]


async def follow(store: VectorStore, head_id: str, *, at: datetime) -> None:
    """Give all wordings of an idea the status of its head. Raises what the store raises; it may be called again.

    A held wording isn't used with its idea: it waits in quarantine, where a person reviews it.
    """
    head = (await store.get([head_id]))[0]

    def followed(card: MemoryCard) -> MemoryCard | None:
        waits = card.held and head.status is MemoryStatus.PROMOTED
        return None if waits or card.idea != head.id else _followed(card, head, at)

    for wording in await wordings_of(store, head):
        await change_if_there(store, wording.id, followed)


async def archive_rivals(store: VectorStore, promoted: MemoryCard, made: Move) -> list[MemoryCard]:
    """Archive what can't be right beside an idea that a trial or a person has promoted by `made`; gives these cards.

    What a person has pinned or put in use stays. So does what was learned from a task with other numbers or names and
    is in use or ahead on trial, which may be right there, and what came, or was moved, after the promotion. Raises what
    the store raises; it may be called again.
    """

    def archived(card: MemoryCard) -> MemoryCard | None:
        last, in_use = card.history[-1] if card.history else None, card.status is MemoryStatus.PROMOTED
        if card.status not in RECALLABLE or card.pinned:
            return None
        if last is not None and (last.at > made.at or (in_use and last.by == HUMAN)):
            return None
        if not agree(card.situation, promoted.situation) and (in_use or any(map(is_ahead, card.trials))):
            return None
        why = f"its rival {promoted.id} is promoted, and both can't be right"
        return move(card, MemoryStatus.ARCHIVED, note=why, at=made.at, by=made.by)

    gone: list[MemoryCard] = []
    for rival in promoted.rivals:
        with suppress(CardNotFoundError):
            changed = await change_card(store, rival, archived)
            await follow(store, rival, at=made.at)
            gone += [] if changed is None else [changed]
    return gone


def _followed(card: MemoryCard, head: MemoryCard, at: datetime) -> MemoryCard | None:
    """A wording with the status of its idea; `None` where it has that already, or is rejected."""
    if card.status is head.status or card.status is MemoryStatus.REJECTED:
        return None
    if head.status is MemoryStatus.REJECTED:
        rejected = replace(card, pinned=False)
        return move(rejected, MemoryStatus.REJECTED, note=head.note, at=at, by=head.history[-1].by)
    why = f"as {head.id}, which says the same: {head.note}"
    done = Move(at=at, before=card.status, after=head.status, why=why, by="idea")
    return replace(card, status=head.status, history=(*card.history, done))
