"""How a card comes into a store: redacted and screened, counted where the same is there, and put to its idea."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal
from weakref import WeakKeyDictionary

from wisen.cards import MemoryCard, MemoryStatus, Move, Provenance
from wisen.errors import CardNotFoundError, ConfigError
from wisen.memory_ci.changes import change_card, change_if_there
from wisen.memory_ci.circles import Circles
from wisen.memory_ci.corrections import check_correction, corrected_already, refused_already
from wisen.memory_ci.decisions import follow
from wisen.memory_ci.ideas import (
    MOST_RIVALS,
    Ideas,
    Relations,
    head_of,
    heads_of,
    still_there,
    submission_key,
    wordings_of,
)
from wisen.memory_ci.joining import can_be_one, join, stays, worded
from wisen.memory_ci.reasons import kept_reason
from wisen.memory_ci.refusals import refused_before
from wisen.memory_ci.splitting import split
from wisen.memory_ci.status import move
from wisen.protocols import Finding, Screen, VectorStore
from wisen.screening.admission import admission_of
from wisen.stores.ordering import latest
from wisen.threads import reading
from wisen.yielding import LoopShare

_AT_ONCE = 4
"""Screenings in one round of the event loop: each computes for up to a millisecond."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What became of a submitted card."""

    outcome: Literal["added", "duplicate", "rejected"]
    card_id: str
    """The stored card: its own, the one that it was counted on, or the one that said the same and was rejected."""
    card: MemoryCard | None
    """The card as screened; `None` when rejected."""
    findings: tuple[Finding, ...] = ()
    """What the screen's rules found; of the rule "rejected-before", that a person or a test had refused the same."""
    known: bool = False
    """Whether this very card was stored before, from the same run, so that nothing has changed."""
    stored: MemoryCard | None = None
    """The card that said the same already, as it was before a correction took it up; `None` where there was none."""
    idea: str = ""
    """The head of the idea that it is a wording of: `card_id` itself where it is the first."""
    rivals: tuple[str, ...] = ()
    """Heads of ideas that can't be right beside it."""
    held: tuple[str, ...] = ()
    """Phrases for which it is shown to no run until a person decides: sinks that its circle never used."""


class Intake:
    """Takes cards into one store.

    Args:
        store: Where they go.
        screen: What may enter.
        now: The clock, for cards' histories.
    """

    def __init__(self, store: VectorStore, screen: Screen, now: Callable[[], datetime]) -> None:
        self._store = store
        self._screen = screen
        self._now = now
        self._ideas = Ideas(store)
        self._circles = Circles(store)
        self._share = LoopShare(_AT_ONCE)
        self._locks = _KeyLocks()

    async def submit(self, card: MemoryCard, *, at: datetime | None, again: bool, known: str) -> Submission:
        """See `MemoryCI.submit`."""
        return await self._take_in(card, at=at, again=again, known=known)

    async def correct(self, card_id: str, new_card: MemoryCard, why: str) -> Submission:
        """See `MemoryCI.correct`."""
        old = (await self._store.get([card_id]))[0]
        check_correction(old, new_card, why)
        submission = await self._take_in(
            _of_a_person(new_card), corrects=card_id, why=f"; corrects {card_id}: {kept_reason(why)}"
        )
        if submission.outcome == "rejected":
            return submission
        if submission.card_id == card_id:
            raise ConfigError(f"the correction of card {card_id!r} says what the card says; write what is right")
        await self._take_up(submission.card_id, instead_of=card_id)
        await self._leave_idea(submission.card_id, of=old, why=why)
        await self._supersede(card_id, by=submission.card_id)
        corrected_by = (await self._store.get([submission.card_id]))[0]
        return replace(submission, idea=_head(corrected_by))

    async def _leave_idea(self, new_id: str, *, of: MemoryCard, why: str) -> None:
        """Take a correction out of the idea that it corrects, where its words were stored as a wording of that."""
        new = (await self._store.get([new_id]))[0]
        heads = await heads_of(self._store, [new, of])
        if heads[new.id] == heads[of.id]:
            await split(self._store, new, heads[new.id], why=kept_reason(why), at=self._now())

    async def _supersede(self, old_id: str, *, by: str) -> None:
        """Say of a card, and of all wordings of its idea, that it is corrected."""

        def superseded(card: MemoryCard) -> MemoryCard:
            if card.superseded_by not in ("", by):
                raise corrected_already(card)
            return replace(card, superseded_by=by)

        await change_card(self._store, old_id, superseded)
        head = await head_of(self._store, (await self._store.get([old_id]))[0])

        def follows(card: MemoryCard) -> MemoryCard | None:
            with suppress(ConfigError):  # it has another correction
                return superseded(card) if head.id in (card.id, card.idea) else None
            return None

        await change_if_there(self._store, head.id, follows)
        for one in await wordings_of(self._store, head):  # a wording that comes later finds its head corrected
            await change_if_there(self._store, one.id, follows)

    async def _take_in(
        self,
        card: MemoryCard,
        *,
        corrects: str = "",
        why: str = "",
        at: datetime | None = None,
        again: bool = False,
        known: str = "",
    ) -> Submission:
        await self._share.take()
        at = at if at is not None else self._now()
        new = _candidate(card, corrects)
        length = len(card.text + card.situation.text)
        admission = await reading(length, lambda: admission_of(self._screen, new, at=at))
        findings = admission.findings
        if admission.outcome == "rejected":
            await self._store.add_unscreened([admission.card])
            return Submission(outcome="rejected", card_id=card.id, card=None, findings=findings)
        passed = _candidate(admission.card, corrects)
        passed = replace(passed, held=await self._circles.held_for(passed, known))
        note = f"passed screen {self._screen.name}{why}"
        moved = move(passed, MemoryStatus.QUARANTINED, note=note, at=at, by="screen")
        screened = replace(moved, note=passed.note, version=passed.version)
        if (refused := await refused_before(self._store, screened)) is not None:
            if corrects:
                raise refused_already(refused)
            return _again(refused, findings)
        if again and await self._holds(screened.id):
            return await self._added(screened, Relations(), findings)
        async with self._locks.held(submission_key(screened)):
            relations = await self._ideas.relations(screened)
            if again and relations.same is not None:  # it may have been counted there already
                return Submission(
                    outcome="duplicate",
                    card_id=relations.same.id,
                    card=screened,
                    findings=findings,
                    stored=relations.same,
                    idea=_head(relations.same),
                    held=screened.held,
                )
            return await self._added(worded(screened, relations.head, at), relations, findings)

    async def _added(self, screened: MemoryCard, relations: Relations, findings: tuple[Finding, ...]) -> Submission:
        written = (await self._store.add_unscreened([screened]))[0]
        kept = screened
        if written.outcome == "added":
            await self._linked(screened, relations)
            if (withdrawn := await self._as_its_idea(screened)) is not None:
                return _again(withdrawn, findings)
            kept = replace(screened, idea=await self._one_idea(screened, relations))
        else:
            kept = (await self._store.get([written.card_id]))[0]
            if kept.status is MemoryStatus.REJECTED and not screened.supersedes:
                return _again(kept, findings)
            if written.outcome == "duplicate":
                await self._taught_again(kept, screened)
        return Submission(
            outcome="duplicate" if written.outcome == "duplicate" else "added",
            card_id=written.card_id,
            card=screened,
            findings=findings,
            known=written.outcome == "unchanged",
            stored=None if written.outcome == "added" else kept,
            idea=_head(kept),
            rivals=tuple(one.id for one in relations.rivals),
            held=kept.held,
        )

    async def _linked(self, card: MemoryCard, relations: Relations) -> None:
        """Tell the idea of its new wording, and it and its rivals of each other."""
        head, rivals = _head(card), [one.id for one in relations.rivals]

        def told(one: MemoryCard) -> MemoryCard:
            more = tuple(dict.fromkeys((*one.rivals, *rivals)))[-MOST_RIVALS:]
            faced = replace(one, rivals=more)
            return _retold(faced, card.provenance) if card.idea == one.id else faced

        if card.idea or rivals:
            await change_if_there(self._store, head, told)
        for rival in rivals:

            def faced(one: MemoryCard) -> MemoryCard | None:
                more = (*one.rivals, head)[-MOST_RIVALS:]
                return None if head in one.rivals else replace(one, rivals=more)

            await change_if_there(self._store, rival, faced)

    async def _as_its_idea(self, card: MemoryCard) -> MemoryCard | None:
        """Put a new wording where its idea is by now, which may have been decided on while the wording was written.

        Gives the wording where it went with an idea that was rejected.
        """
        if not card.idea:
            return None
        at, there = self._now(), await still_there(self._store, [card.idea])
        if there and there[0].idea:  # it has joined another one
            there = [await head_of(self._store, there[0])]
            await change_card(self._store, card.id, lambda one: replace(one, idea=there[0].id))
        if there and there[0].superseded_by != card.superseded_by:
            await change_card(self._store, card.id, lambda one: replace(one, superseded_by=there[0].superseded_by))
        if there and (there[0].refused or there[0].status is not MemoryStatus.REJECTED):
            if there[0].status is card.status or stays(card, there[0]):
                return None
            await follow(self._store, there[0].id, at=at)
            return (await self._store.get([card.id]))[0] if there[0].refused else None

        def alone(one: MemoryCard) -> MemoryCard:
            note = f"its idea {card.idea} is gone"
            done = Move(at=at, before=one.status, after=MemoryStatus.QUARANTINED, why=note, by="idea")
            moved = (*one.history, done) if one.status is not MemoryStatus.QUARANTINED else one.history
            return replace(one, idea="", status=MemoryStatus.QUARANTINED, history=moved)

        await change_card(self._store, card.id, alone)
        return None

    async def _one_idea(self, card: MemoryCard, relations: Relations) -> str:
        """Join the ideas that a new wording shows to be one; gives their head, "" where it is a wording of none."""
        head, at = relations.head, self._now()
        for one in relations.also:
            if head is None or card.held:
                break
            if can_be_one(head, one) and await self._ideas.are_one(head, one):
                joined = await join(self._store, [head.id, one.id], shown_by=card.id, at=at)
                head = one if joined == one.id else head
        return "" if head is None else head.id

    async def _taught_again(self, kept: MemoryCard, screened: MemoryCard) -> None:
        """What was taught by a check is from then on verified; and its idea was taught once more."""
        source = screened.provenance
        if source.verified and not kept.provenance.verified:

            def verified(one: MemoryCard) -> MemoryCard:
                known = replace(one.provenance, verified=True, evaluator=source.evaluator)
                return replace(one, provenance=known)

            await change_card(self._store, kept.id, verified)
        if kept.idea or (kept.rivals and source.verified):
            await change_if_there(
                self._store, _head(kept), lambda one: _retold(one, source, in_other_words=bool(kept.idea))
            )

    async def _holds(self, card_id: str) -> bool:
        with suppress(CardNotFoundError):
            return bool(await self._store.get([card_id]))
        return False

    async def _take_up(self, new_id: str, *, instead_of: str) -> None:
        """Make sure that the correction holds: what it says may have been stored before, and been corrected since."""
        new = (await self._store.get([new_id]))[0]
        if new.status is MemoryStatus.REJECTED:
            raise refused_already(new)
        if new.superseded_by and instead_of not in await self._later_than(new):
            raise ConfigError(f"the correction says what card {new_id!r} says, which {new.superseded_by!r} corrects")

        def holding(card: MemoryCard) -> MemoryCard | None:
            held = replace(card, superseded_by="", supersedes=instead_of)
            return None if held == card else held

        await change_card(self._store, new_id, holding)

    async def _later_than(self, card: MemoryCard) -> list[str]:
        """What corrects the card, what corrects that, and so on, as far as it is stored."""
        later: list[str] = []
        with suppress(CardNotFoundError):
            while card.superseded_by and card.superseded_by not in later:
                later.append(card.superseded_by)
                card = (await self._store.get([card.superseded_by]))[0]
        return later


class _KeyLocks:
    """Lets those who come with the same key go on one after the other, on each event loop by itself."""

    def __init__(self) -> None:
        self._locks: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, tuple[asyncio.Lock, int]]]
        self._locks = WeakKeyDictionary()

    def __reduce__(self) -> "tuple[type[_KeyLocks], tuple[()]]":
        """A copy begins with nobody waiting."""
        return _KeyLocks, ()

    @asynccontextmanager
    async def held(self, key: str) -> AsyncGenerator[None]:
        locks = self._locks.setdefault(asyncio.get_running_loop(), {})
        lock, waiting = locks.get(key, (asyncio.Lock(), 0))
        locks[key] = lock, waiting + 1
        try:
            async with lock:
                yield
        finally:
            lock, waiting = locks[key]
            if waiting > 1:
                locks[key] = lock, waiting - 1
            else:
                del locks[key]


def _head(card: MemoryCard) -> str:
    return card.idea or card.id


def _retold(head: MemoryCard, source: Provenance, *, in_other_words: bool = True) -> MemoryCard:
    """An idea that was taught once more; if a check did so, it is newer than its rivals from then on."""
    taught_at = latest(head.taught_at, source.created_at) if source.verified and head.rivals else head.taught_at
    return replace(head, retold=head.retold + in_other_words, taught_at=taught_at)


def _candidate(card: MemoryCard, corrects: str) -> MemoryCard:
    """The card without what only its store can know of it; quarantine does away with counts."""
    return replace(
        card,
        status=MemoryStatus.CANDIDATE,
        history=(),
        pinned=False,
        idea="",
        rivals=(),
        taught_at=None,
        retold=0,
        duplicates=0,
        alike=0,
        trials=(),
        supersedes=corrects,
        superseded_by="",
        held=(),
        released=False,
    )


def _of_a_person(card: MemoryCard) -> MemoryCard:
    """A correction. Its origin is the person who makes it, unless it names another."""
    source = card.provenance
    unsigned = not (source.created_by or source.run_id)
    return replace(card, provenance=replace(source, created_by="human")) if unsigned else card


def _again(refused: MemoryCard, findings: Sequence[Finding]) -> Submission:
    found = Finding(rule="rejected-before", family="refused", start=0, end=0)
    return Submission(outcome="rejected", card_id=refused.id, card=None, findings=(*findings, found))
