"""Finds a card or run by its id, or by a beginning of it, within a tenant.

It stands apart because all that take an id from people ask it, and most of them explain nothing.
"""

from collections.abc import Iterable
from contextlib import suppress

from wisen.cards import MemoryCard
from wisen.errors import CardNotFoundError, RunNotFoundError, StoreError
from wisen.records import RunRecord
from wisen.stores.whole_store import Store

_LISTED = 5
_WHERE = " (those of a Markdown store aren't in git)"


async def find_card(store: Store, card_id: str, tenant: str | None = None) -> MemoryCard:
    """The card of this id, or the one whose id begins with it; raises `StoreError`.

    With a `tenant`, cards of others aren't there.
    """
    with suppress(CardNotFoundError):
        card = (await store.get([card_id]))[0]
        if tenant in (None, card.scope.tenant):
            return card
    near = await store.ids_beginning("card", card_id)
    if tenant is not None:
        near = [card.id for card in await store.get(near) if card.scope.tenant == tenant]
    return (await store.get([whole_id(card_id, near, CardNotFoundError(card_id))]))[0]


async def find_run(store: Store, run_id: str, tenant: str | None = None) -> RunRecord:
    """The run of this id, or the one that begins with it; raises `StoreError`.

    With a `tenant`, runs of others aren't there.
    """
    with suppress(RunNotFoundError):
        record = await store.run(run_id)
        if tenant in (None, record.task.tenant):
            return record
    if not await store.runs(tenant=tenant, limit=1):
        raise RunNotFoundError(run_id, f"the store has no runs{_WHERE if tenant is None else ' of this tenant'}")
    near = await store.ids_beginning("run", run_id)
    if tenant is not None:
        near = [one for one in near if (await store.run(one)).task.tenant == tenant]
    return await store.run(whole_id(run_id, near, RunNotFoundError(run_id)))


def whole_id(given: str, ids: Iterable[str], missing: StoreError) -> str:
    """The one of the ids that begins with what is given; raises `missing` where none does.

    Raises `StoreError` where several do.
    """
    found = [one for one in ids if given and one.startswith(given)]
    if not found:
        raise missing
    if len(found) > 1:
        more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
        raise StoreError(f"{given!r} begins several ids: {', '.join(found[:_LISTED])}{more}; write more of it")
    return found[0]
