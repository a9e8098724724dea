"""Rejections that last: a lesson that a person or a test refused isn't taken in again because another run taught it."""

from contextlib import aclosing

from wisen.cards import MemoryCard, MemoryStatus
from wisen.protocols import VectorStore
from wisen.recall import CardFilter
from wisen.stores.paging import every_card


async def refused_before(store: VectorStore, card: MemoryCard) -> MemoryCard | None:
    """The rejected card that said the same; `None` where there is none, and for what a person says again.

    A store that doesn't know the filter's `refused` gives all rejected cards, which are looked through.
    """
    key = card.refusal_key
    if not key or card.provenance.origin == "human":
        return None
    where = CardFilter(tenant=card.scope.tenant, kinds=(card.kind,), statuses=(MemoryStatus.REJECTED,), refused=key)
    async with aclosing(every_card(store, where)) as cards:
        async for rejected in cards:
            if rejected.refused == key:
                return rejected
    return None
