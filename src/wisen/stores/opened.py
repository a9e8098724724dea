"""What all stores of cards have in common: embedder, floor, the screen in front of `add`, and `async with`."""

import asyncio
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Self

from wisen.cards import MemoryCard
from wisen.embedders.hashing import HashEmbedder
from wisen.errors import ConfigError, EmbedderMismatchError
from wisen.forks import Forkable
from wisen.protocols import Embedder, Screen
from wisen.recall import Written
from wisen.stores.prepared import are_short
from wisen.stores.vectors import label
from wisen.turns import Turns

if TYPE_CHECKING:
    from wisen.screening.admission import Admission

_FEW = 8
_AT_ONCE = 4
"""Screenings of a few cards in one turn of the event loop."""


class CardStore(Forkable):
    """Base of the stores."""

    def __init__(self, embedder: Embedder | None, floor: float | None, screen: Screen | None = None) -> None:
        """Raises `ConfigError` if `floor` isn't in [0, 1]."""
        if floor is not None and not 0.0 <= floor <= 1.0:
            raise ConfigError(f"{type(self).__name__}(floor={floor!r}): must be in [0, 1], or None for the default")
        self._embedder: Embedder = embedder or HashEmbedder()
        self._floor = floor
        self._screen = screen
        self._screenings = Turns(_AT_ONCE)

    @property
    def embedder(self) -> Embedder:
        """What makes the vectors."""
        return self._embedder

    @abstractmethod
    async def open(self) -> None:
        """Open the store now, and not at its first use."""

    @abstractmethod
    async def close(self) -> None:
        """Finish what is under way and let go of the store. Closing twice is fine."""

    async def add(self, cards: Sequence[MemoryCard]) -> list[Written]:
        """See `VectorStore.add`. Raises what `add_unscreened` raises."""
        admissions = await self._admissions(cards) if cards else []
        written = await self.add_unscreened([one.card for one in admissions])
        return [
            replace(one, outcome="rejected") if admission.outcome == "rejected" else one
            for one, admission in zip(written, admissions, strict=True)
        ]

    @abstractmethod
    async def add_unscreened(self, cards: Sequence[MemoryCard]) -> list[Written]:
        """See `VectorStore.add_unscreened`."""

    async def _admissions(self, cards: Sequence[MemoryCard]) -> "list[Admission]":
        if self._screen is None:
            self._screen = await asyncio.to_thread(_default_screen)
        work = partial(_screened, self._screen, cards, datetime.now(UTC))
        if len(cards) > _FEW or not are_short(cards):
            return await asyncio.to_thread(work)
        await self._screenings.take()
        return work()

    async def __aenter__(self) -> Self:
        """Open the store now."""
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        await self.close()

    def _check_label(self, where: str, stored: str) -> None:
        """Refuse a store whose vectors, by their label, come from another embedder; an empty label fits any."""
        if stored and stored != label(self._embedder):
            raise EmbedderMismatchError(where, stored, label(self._embedder))


def _default_screen() -> Screen:
    from wisen.screening.screens import DefaultScreen  # noqa: PLC0415 - its rules take a while to load

    return DefaultScreen()


def _screened(screen: Screen, cards: Sequence[MemoryCard], at: datetime) -> "list[Admission]":
    from wisen.screening.admission import admission_of  # noqa: PLC0415 - as above

    return [admission_of(screen, card, at=at) for card in cards]
