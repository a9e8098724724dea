"""The screen in front of a store's `add`: loaded at its first use, and at rest while a process forks."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from wisen import forks
from wisen.cards import MemoryCard
from wisen.forks import Forkable, ForkLock
from wisen.protocols import Screen
from wisen.stores.index.prepared import are_short
from wisen.yielding import LoopShare

if TYPE_CHECKING:
    from wisen.screening.admission import Admission

_FEW = 8
_AT_ONCE = 4
"""Screenings of a few cards in one round of the event loop."""


class StoreScreen(Forkable):
    """Says what of a card its store may keep."""

    def __init__(self, screen: Screen | None) -> None:
        """Ask `screen`; `None` makes a `DefaultScreen` when the first card comes."""
        self._screen = screen
        self._ready = False
        self._share = LoopShare(_AT_ONCE)
        self._working = ForkLock()
        forks.joins(self)

    def before_fork(self, until: float) -> None:
        """See `Forkable.before_fork`: a thread that is cut off in an import would leave the module locked."""
        self._working.before_fork(until)

    def after_fork_in_parent(self) -> None:
        """See `Forkable.after_fork_in_parent`."""
        self._working.after_fork_in_parent()

    def after_fork_in_child(self) -> None:
        """See `Forkable.after_fork_in_child`."""
        self._working.after_fork_in_child()

    async def admissions(self, cards: Sequence[MemoryCard]) -> "list[Admission]":
        """What may be kept of the cards, in order; raises as `admission_of` does."""
        if not cards:
            return []
        work = partial(self._admit, cards, datetime.now(UTC))
        if not self._ready or len(cards) > _FEW or not are_short(cards):
            return await asyncio.to_thread(work)
        await self._share.take()
        return work()

    def _admit(self, cards: Sequence[MemoryCard], at: datetime) -> "list[Admission]":
        admissions: list[Admission] = []
        for card in cards:
            with self._working:  # for each by itself, so that nobody waits for a whole batch
                admissions.append(self._admission(card, at))
        return admissions

    def _admission(self, card: MemoryCard, at: datetime) -> "Admission":
        from wisen.screening.admission import admission_of  # noqa: PLC0415 - its rules take a while to load
        from wisen.screening.screens import DefaultScreen  # noqa: PLC0415 - as above

        if self._screen is None:
            self._screen = DefaultScreen()
        self._ready = True
        return admission_of(self._screen, card, at=at)
