"""Goes through all that a store holds, a page at a time, so that no listing has to be large.

It stands apart because it needs the protocols alone, so it serves any store.
"""

from collections.abc import AsyncGenerator

from wisen.cards import MemoryCard
from wisen.protocols import RunLog, VectorStore
from wisen.recall import CardFilter
from wisen.records import RunRecord

_PAGE = 500


async def every_card(store: VectorStore, where: CardFilter) -> AsyncGenerator[MemoryCard, None]:
    """The cards that `where` accepts, oldest first."""
    read = 0
    while page := await store.list(where, limit=_PAGE, offset=read):
        for card in page:
            yield card
        read += len(page)


async def every_run(log: RunLog, *, tenant: str | None) -> AsyncGenerator[RunRecord, None]:
    """The records of runs, newest first; `tenant=None` means all tenants."""
    read = 0
    while page := await log.runs(tenant=tenant, limit=_PAGE, offset=read):
        for record in page:
            yield record
        read += len(page)
