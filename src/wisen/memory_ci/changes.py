"""Changes of stored cards that lose nobody else's: read, change, write, and again where somebody came between."""

from collections.abc import Callable
from dataclasses import replace

from wisen.cards import MemoryCard
from wisen.errors import StoreError
from wisen.protocols import VectorStore

_TRIES = 200
"""Of many who change a card at once, one succeeds in each round."""

Change = Callable[[MemoryCard], MemoryCard | None]
"""Gives the changed card, or `None` where nothing is to be changed; asked again when the card has changed."""


async def change_card(store: VectorStore, card_id: str, change: Change) -> MemoryCard | None:
    """Write what `change` makes of the card, as its next version; `None` where it wants no change.

    Raises `CardNotFoundError` for a card that isn't there, and `StoreError` where the store fails for another reason
    than that the card has changed meanwhile.
    """
    kept = (await store.get([card_id]))[0]
    for _ in range(_TRIES):
        changed = change(kept)
        if changed is None:
            return None
        changed = replace(changed, version=kept.version + 1)
        try:
            await store.update(changed)
        except StoreError:
            seen, kept = kept, (await store.get([card_id]))[0]
            if kept == seen:
                raise
        else:
            return changed
    raise StoreError(f"card {card_id!r} was changed by others {_TRIES} times in a row; try again later")
