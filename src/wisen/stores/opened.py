"""What all stores of cards have in common: whose vectors they keep, from where on a search finds, and `async with`."""

from abc import abstractmethod
from types import TracebackType
from typing import Self

from wisen.embedders.hashing import HashEmbedder
from wisen.errors import ConfigError, EmbedderMismatchError
from wisen.forks import Forkable
from wisen.protocols import Embedder
from wisen.stores.vectors import label


class CardStore(Forkable):
    """Base of the stores."""

    def __init__(self, embedder: Embedder | None, floor: float | None) -> None:
        """Raises `ConfigError` if `floor` isn't in [0, 1]."""
        if floor is not None and not 0.0 <= floor <= 1.0:
            raise ConfigError(f"{type(self).__name__}(floor={floor!r}): must be in [0, 1], or None for the default")
        self._embedder: Embedder = embedder or HashEmbedder()
        self._floor = floor

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
