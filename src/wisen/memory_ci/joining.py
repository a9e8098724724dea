"""Puts a wording to its idea, and makes one of two ideas where a new wording says what both say.

The first wordings of a claim may have too little in common to be recognised, so that each begins an idea. A later one
that either is like shows that they are one. The idea that is in use stays the head, then the one whose trial began
first.

The counts of both trials are added. Each run's bet was on a coin of its own, and is fair whichever wording it was about
(see `statistics.trial_e_value`). The number of the other trial stays spent. The next replay
test of the head takes over the other's pairs.
"""

from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import chain

from wisen.cards import MemoryCard, MemoryStatus, Move
from wisen.errors import CardNotFoundError
from wisen.memory_ci.changes import change_card
from wisen.memory_ci.decisions import follow
from wisen.memory_ci.ideas import MOST_RIVALS, comparable, still_there, wordings_of
from wisen.memory_ci.trial import added
from wisen.memory_ci.verdicts import promoted_for
from wisen.protocols import VectorStore
from wisen.stores.ordering import moment
from wisen.trial_records import Stage, Trial

_UNDECIDED: tuple[Stage, ...] = ("waiting", "on trial")
_GIVEN_UP: tuple[Stage, ...] = ("archived", "benched")


def worded(card: MemoryCard, head: MemoryCard | None, at: datetime, *, why: str = "") -> MemoryCard:
    """The card as one more wording of an idea, whose status it follows; `why` it is one, where it wasn't before."""
    if head is None:
        return card
    status = card.status if stays(card, head) else head.status
    if status is card.status and not why:
        return replace(card, idea=head.id)
    why = why or f"another wording of {head.id}, which is {head.status.value}"
    followed = Move(at=at, before=card.status, after=status, why=why, by="idea")
    return replace(card, idea=head.id, status=status, history=(*card.history, followed))


def stays(card: MemoryCard, head: MemoryCard) -> bool:
    """Whether a wording stays in its circle, though its idea is in use: others' text may have worded it."""
    return head.status is MemoryStatus.PROMOTED and card.provenance.tainted


async def join(store: VectorStore, one: str, other: str, *, shown_by: str, at: datetime) -> str:
    """Make one idea of two, given by their heads, since card `shown_by` says what both say; gives the head then.

    Nothing changes, and `one` is given, where a person or a verdict has decided on either, or they are rivals. Raises
    what the store raises. Broken off, it loses counts at worst, and counts nothing twice.
    """
    cards = sorted(await still_there(store, [one, other]), key=_rank)
    if len(cards) != len({one, other}) or one == other or not _can_be_one(*cards):
        return one
    head, joining = cards
    work = _Join(store, head, joining, f"card {shown_by} says what both say: another wording of {head.id}", at)
    taken = await work.with_counts()
    if taken is None:
        return one
    await work.tell_others()
    if taken.status is not head.status:  # decided meanwhile
        await follow(store, head.id, at=at)
    return head.id


class _Join:
    """One idea on its way into another one."""

    def __init__(self, store: VectorStore, head: MemoryCard, joining: MemoryCard, why: str, at: datetime) -> None:
        self._store = store
        self._head = head
        self._joining = joining
        """As it was before."""
        self._why = why
        self._at = at

    async def with_counts(self) -> MemoryCard | None:
        """Make the one head a wording, and give the other its counts; `None` where they stay two."""
        if await change_card(self._store, self._joining.id, self._as_wording) is None:
            return None
        with suppress(CardNotFoundError):
            if taken := await change_card(self._store, self._head.id, self._as_head):
                return taken
        # Another process has joined, decided on, or deleted it meanwhile.
        was = self._joining
        await change_card(self._store, was.id, lambda card: replace(was, version=card.version))
        return None

    def _as_wording(self, card: MemoryCard) -> MemoryCard | None:
        if not _can_be_one(self._head, card):
            return None
        self._joining = card
        return self._worded(replace(card, rivals=(), retold=0, trials=(), open_draws=(), observed=()))

    def _as_head(self, card: MemoryCard) -> MemoryCard | None:
        return _with_what_it_had(card, self._joining) if _can_be_one(card, self._joining) else None

    def _worded(self, card: MemoryCard) -> MemoryCard:
        return worded(card, self._head, self._at, why=self._why)

    async def tell_others(self) -> None:
        """Tell the idea's wordings and rivals that another one is their head, or rival, from now on."""
        head, joined = self._head.id, self._joining.id

        def facing(card: MemoryCard) -> MemoryCard:
            return replace(card, rivals=(*dict.fromkeys(head if one == joined else one for one in card.rivals),))

        wordings = [(card.id, self._worded) for card in await wordings_of(self._store, self._joining)]
        for card_id, change in chain(wordings, ((rival, facing) for rival in self._joining.rivals)):
            with suppress(CardNotFoundError):  # deleted meanwhile
                await change_card(self._store, card_id, change)


def _rank(card: MemoryCard) -> tuple[bool, float, int, str]:
    """The lowest is the head, the same for all processes."""
    numbers = (trial.number for trial in card.trials if trial.number)
    in_use = card.status is MemoryStatus.PROMOTED
    return not in_use, min(numbers, default=float("inf")), moment(card.provenance.created_at), card.id


def _can_be_one(head: MemoryCard, other: MemoryCard) -> bool:
    """Whether nothing was decided on an idea, so that it may join the head; and the head isn't given up."""
    if not comparable(head, other) or head.circle != other.circle or other.id in head.rivals or head.id in other.rivals:
        return False
    if any(card.idea or card.superseded_by or card.held for card in (head, other)):
        return False
    in_use = head.status is MemoryStatus.PROMOTED and all(trial.stage not in _GIVEN_UP for trial in head.trials)
    return _undecided(other) and (in_use or _undecided(head))


def _undecided(card: MemoryCard) -> bool:
    waits = card.status is MemoryStatus.QUARANTINED and not card.pinned
    return waits and all(trial.stage in _UNDECIDED for trial in card.trials)


def _with_what_it_had(head: MemoryCard, joined: MemoryCard) -> MemoryCard:
    theirs = {
        (trial.model, trial.layout): trial
        for trial in joined.trials
        if any((one.model, one.layout) == (trial.model, trial.layout) for one in head.trials)
        or not promoted_for(head, model=trial.model, layout=trial.layout)
    }
    both = [_together(trial, theirs.pop((trial.model, trial.layout), None)) for trial in head.trials]
    rivals = dict.fromkeys((*joined.rivals, *head.rivals))
    return replace(
        head,
        trials=(*both, *theirs.values()),
        open_draws=(*head.open_draws, *joined.open_draws),
        observed=(*joined.observed, *head.observed),
        rivals=tuple(rivals)[-MOST_RIVALS:],
        retold=head.retold + joined.retold + joined.duplicates + 1,
    )


def _together(mine: Trial, theirs: Trial | None) -> Trial:
    """The head's trial with the runs of the other idea's; those of one that has had its verdict decide nothing."""
    if theirs is None:
        return mine
    deciding = mine.stage in _UNDECIDED
    counts, before = mine.counts, mine.before
    for one in theirs.counts:
        counts, before = (added(counts, one), before) if deciding else (counts, added(before, one))
    for one in theirs.before:
        before = added(before, one)
    begun = (
        replace(mine, number=theirs.number, family=theirs.family, stage=theirs.stage)
        if deciding and not mine.number
        else mine
    )
    started = "on trial" if deciding and "on trial" in (mine.stage, theirs.stage) else begun.stage
    return replace(
        begun,
        stage=started,
        first=mine.first + theirs.first,
        first_good=mine.first_good + theirs.first_good,
        counts=counts,
        before=before,
    )
