"""Embeds a whole Postgres store again, so that it can change its embedder without losing a card."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import count

from wisen.cards import MemoryCard
from wisen.protocols import Embedder
from wisen.stores.index.vectors import embed_cards, label, pack
from wisen.stores.postgres.cards import bit_columns, hold_all
from wisen.stores.postgres.client import Connection
from wisen.stores.postgres.connection import Pool
from wisen.stores.serialization import UnreadableError, card_from_json

_PAGE = 500
_TRIES = 3
_STAMPS = "SELECT number, xmin::text FROM bodies ORDER BY number"


async def reindex(pool: Pool, embedder: Embedder, progress: Callable[[int, int], None]) -> int:
    """Make vectors of all cards, then swap them in within one transaction; says how many cards there are.

    Cards that others write meanwhile are taken in before the swap; they have to wait for it where they never pause.
    """
    ready: dict[int, tuple[str, bytes]] = {}

    async def make(stamps: Mapping[int, str], fetch: Callable[[list[int]], Awaitable[dict[int, str]]]) -> None:
        stale = _stale(stamps, ready)
        for start in range(0, len(stale), _PAGE):
            numbers = stale[start : start + _PAGE]
            texts = await fetch(numbers)
            cards = await asyncio.to_thread(_read, texts)
            packed = await asyncio.to_thread(pack, await embed_cards(embedder, list(cards.values())))
            ready.update({number: (stamps[number], b"") for number in numbers})
            ready.update({number: (stamps[number], one) for number, one in zip(cards, packed, strict=True)})
            progress(start + len(numbers), len(stale))

    async def swap(connection: Connection, *, last: bool) -> int | None:
        await hold_all(connection)
        stamps = await _stamps(connection)
        if last:
            await make(stamps, lambda numbers: _texts(connection, numbers))
        elif _stale(stamps, ready):
            return None
        await _put(connection, {number: ready[number][1] for number in stamps if ready[number][1]})
        await connection.execute("UPDATE state SET embedder = $1", label(embedder))
        return len(stamps)

    async def fetch(numbers: list[int]) -> dict[int, str]:
        return await pool.read(lambda connection: _texts(connection, numbers), tenant=None)

    for tried in count(1):
        await make(await pool.read(_stamps, tenant=None), fetch)
        swapped = await pool.write(partial(swap, last=tried >= _TRIES), tenant=None)
        if swapped is not None:
            return swapped
    raise AssertionError  # the count doesn't end


def _stale(stamps: Mapping[int, str], ready: Mapping[int, tuple[str, bytes]]) -> list[int]:
    return [number for number, stamp in stamps.items() if number not in ready or ready[number][0] != stamp]


async def _stamps(connection: Connection) -> dict[int, str]:
    return dict(map(tuple, await connection.fetch(_STAMPS)))


def _read(texts: Mapping[int, str]) -> dict[int, MemoryCard]:
    """Those that can be read; searches leave the others out, too."""
    found: dict[int, MemoryCard] = {}
    for number, text in texts.items():
        with suppress(UnreadableError):
            found[number] = card_from_json(text)
    return found


async def _texts(connection: Connection, numbers: Sequence[int]) -> dict[int, str]:
    rows = await connection.fetch(
        "SELECT number, card FROM bodies WHERE number = ANY($1::bigint[]) ORDER BY number", numbers
    )
    return dict(map(tuple, rows))


async def _put(connection: Connection, packed: Mapping[int, bytes]) -> None:
    numbers = list(packed)
    for start in range(0, len(numbers), _PAGE):
        page = numbers[start : start + _PAGE]
        situations, texts = zip(*(bit_columns(packed[number]) for number in page), strict=True)
        await connection.execute(
            "UPDATE recall r SET vectors = new.vectors FROM unnest($1::bigint[], $2::bytea[]) AS new (number, vectors)"
            " WHERE r.number = new.number",
            page,
            [packed[number] for number in page],
        )
        await connection.execute(
            "UPDATE cards c SET situation = new.situation, text = new.text"
            " FROM unnest($1::bigint[], $2::bit(512)[], $3::bit(512)[]) AS new (number, situation, text)"
            " WHERE c.number = new.number",
            page,
            situations,
            texts,
        )
