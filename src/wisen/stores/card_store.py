"""What all stores of cards have in common: embedder, floor, the screen in front of `add`, and `async with`."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

from wisen.cards import MemoryCard
from wisen.embedders.hashing import HashEmbedder
from wisen.errors import ConfigError, EmbedderMismatchError
from wisen.forks import Forkable
from wisen.protocols import Embedder, Screen, VectorStore
from wisen.recall import RecallHit, RecallQuery, Written
from wisen.stores.index.agreeing import by_content
from wisen.stores.index.prepared import make_probe, off_the_loop
from wisen.stores.index.ranking import Probe
from wisen.stores.index.vectors import label
from wisen.stores.store_screen import StoreScreen


class CardStore(Forkable):
    """Base of the stores."""

    def __init__(self, embedder: Embedder | None, floor: float | None, screen: Screen | None = None) -> None:
        """Raises `ConfigError` if `floor` isn't in [0, 1]."""
        if floor is not None and not 0.0 <= floor <= 1.0:
            raise ConfigError(f"{type(self).__name__}(floor={floor!r}): must be in [0, 1], or None for the default")
        self._embedder: Embedder = embedder or HashEmbedder()
        self._floor = floor
        self._screen = StoreScreen(screen)

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
        admissions = await self._screen.admissions(cards)
        written = await self.add_unscreened([one.card for one in admissions])
        return [
            replace(one, outcome="rejected") if admission.outcome == "rejected" else one
            for one, admission in zip(written, admissions, strict=True)
        ]

    @abstractmethod
    async def add_unscreened(self, cards: Sequence[MemoryCard]) -> list[Written]:
        """See `VectorStore.add_unscreened`."""

    async def search(self, query: RecallQuery) -> list[RecallHit]:
        """See `VectorStore.search`. Raises `EmbedderError` where a text can't be embedded."""
        return [*(await self.search_each([query]))[0]]

    async def search_each(self, queries: Sequence[RecallQuery]) -> Sequence[Sequence[RecallHit]]:
        """What `search` gives for each of these queries of one tenant, as of one moment; alike ones cost little more.

        Raises what `search` raises, and `ConfigError` for queries of several tenants.
        """
        if len({query.filter.tenant for query in queries}) > 1:
            raise ConfigError(f"{type(self).__name__}.search_each(): the queries must be of one tenant")
        probes = [await make_probe(self._embedder, query, self._floor) for query in queries]
        if not probes:
            return []
        found = await self._answers(probes)
        size = sum(len(hit.card.situation.asked) for hits in found for hit in hits)
        return await off_the_loop(size, lambda: [*map(by_content, queries, found)])

    @abstractmethod
    async def _answers(self, probes: Sequence[Probe]) -> Sequence[Sequence[RecallHit]]:
        """The best of each probe, as `Contenders.ranked` gives them; there is one, and all are of one tenant."""

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


async def search_each(store: VectorStore, queries: Sequence[RecallQuery]) -> Sequence[Sequence[RecallHit]]:
    """What `store.search` gives for each query of one tenant: at once by a store whose `search` nobody has changed."""
    if isinstance(store, CardStore) and type(store).search is CardStore.search:
        return await store.search_each(queries)
    return [await store.search(query) for query in queries]
