"""The derived index over cards that live in files: follows them card by card, one set of rows per tenant.

It stands apart from the store because what it holds is derived, and can be made again.
"""

from collections.abc import Iterable, Sequence

from wisen.cards import MemoryCard
from wisen.recall import RecallHit
from wisen.stores.index.lexical import card_words
from wisen.stores.index.pending import TenantRows
from wisen.stores.index.prepared import PreparedCard
from wisen.stores.index.ranking import Probe
from wisen.stores.index.vector_cache import VectorCache

_AT_ONCE = 100
"""Changed cards that are taken in before other calls get their turn."""


class FileIndex:
    """What a search looks through. Belongs to one thread."""

    def __init__(self, dimension: int) -> None:
        """Begin empty, for vectors of `dimension`."""
        self._dimension = dimension
        self._shown: dict[int, MemoryCard] = {}
        self._tenants: dict[str, TenantRows] = {}

    def follow(self, cards: Iterable[tuple[int, MemoryCard]], vectors: VectorCache) -> tuple[list[MemoryCard], bool]:
        """Take in some of what changed: other calls of the store get their turn between.

        Gives cards that first have to be embedded, and whether the index has all cards as they are now.
        """
        missing: list[MemoryCard] = []
        numbers: set[int] = set()
        taken = 0
        for number, card in cards:
            numbers.add(number)
            if self._shown.get(number) is card:
                continue
            taken += 1
            if taken > _AT_ONCE:
                return missing, False
            packed = vectors.get(card)
            if packed is None:
                missing.append(card)
            else:
                self._put(number, card, packed)
        for number in self._shown.keys() - numbers:
            self._tenants[self._shown.pop(number).scope.tenant].drop(number)
        return missing, not missing

    def search_each(self, probes: Sequence[Probe]) -> Sequence[Sequence[RecallHit]]:
        """The hits of each; all are of one tenant."""
        tenant = self._tenants.get(probes[0].query.filter.tenant or "")
        if tenant is None:
            return [[] for _ in probes]
        found = tenant.fresh(*tenant.take()).search_each(probes)
        return [[match.hit(self._shown[match.number]) for match in matches] for matches in found]

    def _put(self, number: int, card: MemoryCard, packed: bytes) -> None:
        tenant = self._tenants.get(card.scope.tenant)
        if tenant is None:
            tenant = self._tenants[card.scope.tenant] = TenantRows(card.scope.tenant, self._dimension)
        self._shown[number] = card
        prepared = PreparedCard(card=card, json="", duplicate_key="", words=card_words(card), vectors=packed)
        tenant.put(prepared.row(number))
