"""Changes of stored cards that lose nobody else's: read, change, write, and again where somebody came between.

Runs that end at once count on the same few cards. So changes of one card that are asked for while another is being
written are made together, in one write, in the order in which they were asked for.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from wisen.batching import BatchQueue, Request
from wisen.cards import MemoryCard
from wisen.deadlines import RunTime, detached, named
from wisen.errors import CardNotFoundError, StoreError
from wisen.protocols import VectorStore

_TRIES = 200
"""Of many processes that change a card at once, one succeeds in each round."""
_TOGETHER = 256
"""Most changes in one write."""
_LONGEST = 30.0
"""Seconds that one write, or several that belong together, may take: they end with the time of no run."""

Change = Callable[[MemoryCard], MemoryCard | None]
"""Gives the changed card, or `None` where nothing is to be changed; asked again when the card has changed."""

_Result = TypeVar("_Result")
_UNDER_WAY = set["asyncio.Task[Any]"]()
"""What is being brought to its end: an event loop by itself forgets tasks that nobody holds."""
_Asked = Request[Change, MemoryCard | None]
_QUEUES: WeakValueDictionary[tuple[int, str], BatchQueue[Change, MemoryCard | None]] = WeakValueDictionary()
"""By store and card, as long as a change waits."""


async def change_card(store: VectorStore, card_id: str, change: Change) -> MemoryCard | None:
    """Write what `change` makes of the card, as its next version; `None` where it wants no change.

    The change is made even if the caller is cancelled. Raises `CardNotFoundError` for a card that isn't there, and
    whatever `change` raises. Raises `StoreError` if the store fails, unless the card has only changed in between: then
    it tries again.
    """
    place = (id(store), card_id)
    queue = _QUEUES.get(place)
    if queue is None:
        queue = _QUEUES[place] = BatchQueue(partial(_write, store, card_id), most=_TOGETHER, shared=Exception)
    return await queue.ask(change, shielded=True)


async def change_if_there(store: VectorStore, card_id: str, change: Change) -> bool:
    """As `change_card`; says whether there was anything to change: a card that is gone needs no change."""
    with suppress(CardNotFoundError):
        return await change_card(store, card_id, change) is not None
    return False


async def to_its_end(store: VectorStore, work: Coroutine[Any, Any, _Result]) -> _Result:
    """What several changes that belong together come to; they are made even if the caller is cancelled.

    Raises what the work raises.
    """

    async def whole() -> _Result:
        with RunTime(seconds=None, step_seconds=_LONGEST) as time, time.closing(named("store", store)):
            return await work

    task = asyncio.get_running_loop().create_task(whole(), context=detached())
    _UNDER_WAY.add(task)
    task.add_done_callback(_ended)
    return await asyncio.shield(task)


def _ended(task: "asyncio.Task[Any]") -> None:
    _UNDER_WAY.discard(task)
    if not task.cancelled():
        task.exception()  # whoever waits has heard of it; nobody may


async def _write(store: VectorStore, card_id: str, asked: Sequence[_Asked]) -> None:
    """Make these changes in one write, and answer those who asked."""
    with RunTime(seconds=None, step_seconds=_LONGEST) as time, time.closing(named("store", store)):
        kept = (await store.get([card_id]))[0]
        for _ in range(_TRIES):
            card, made = _changed(kept, asked)
            if card is not kept:
                try:
                    await store.update(card)
                except StoreError:
                    seen, kept = kept, (await store.get([card_id]))[0]
                    if kept == seen:
                        raise
                    continue
            for one, result in made:
                one.give(None if result is None else replace(result, version=card.version))
            return
        raise StoreError(f"card {card_id!r} was changed by others {_TRIES} times in a row; try again later")


def _changed(kept: MemoryCard, asked: Sequence[_Asked]) -> tuple[MemoryCard, list[tuple[_Asked, MemoryCard | None]]]:
    """The card after all these changes, one version later, and what each of them made of it."""
    card, made = kept, list[tuple[_Asked, MemoryCard | None]]()
    for one in asked:
        if one.settled:  # it has failed before, and the others are made again
            continue
        try:
            result = one.what(card)
        except Exception as error:  # noqa: BLE001 - it is of this change alone; the others are made
            one.fail(error)
            continue
        made.append((one, result))
        if result is not None:
            card = replace(result, version=kept.version + 1)
    return card, made
