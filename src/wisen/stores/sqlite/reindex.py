"""Embeds a whole store again, so that it can change its embedder without losing a card."""

import sqlite3
from collections.abc import Callable
from contextlib import suppress

from wisen.cards import MemoryCard
from wisen.protocols import Embedder
from wisen.stores.index.vectors import embed_cards, label, pack
from wisen.stores.serialization import UnreadableError, card_from_json
from wisen.stores.sqlite.connection import Database

_PAGE = 500


async def reindex(database: Database, embedder: Embedder, progress: Callable[[int, int], None]) -> int:
    """Make vectors of all cards, then swap them in within one transaction; says how many cards there are.

    Cards that others write meanwhile are taken in before the swap.
    """
    ready: dict[int, bytes] = {}
    seen = 0
    while True:
        generation = await database.read(_generation)
        stale = await database.read(lambda connection, since=seen: _changed(connection, since))
        for start in range(0, len(stale), _PAGE):
            page = stale[start : start + _PAGE]
            cards = await database.read(lambda connection, numbers=page: _cards(connection, numbers))
            vectors = await embed_cards(embedder, list(cards.values()))
            packed = await database.compute(lambda vectors=vectors: pack(vectors))
            ready.update(zip(cards, packed, strict=True))
            progress(start + len(page), len(stale))
        seen = generation
        swapped = await database.write(lambda connection, at=seen: _swap(connection, ready, at, label(embedder)))
        if swapped is not None:
            return swapped


def _generation(connection: sqlite3.Connection) -> int:
    return connection.execute("SELECT generation FROM state").fetchone()[0]


def _changed(connection: sqlite3.Connection, since: int) -> list[int]:
    rows = connection.execute("SELECT number FROM cards WHERE changed > ? ORDER BY number", (since,))
    return [number for (number,) in rows]


def _cards(connection: sqlite3.Connection, numbers: list[int]) -> dict[int, MemoryCard]:
    rows = connection.execute(
        "SELECT number, CAST(card AS BLOB) FROM cards WHERE number BETWEEN ? AND ? ORDER BY number",
        (numbers[0], numbers[-1]),
    )
    wanted = set(numbers)
    found: dict[int, MemoryCard] = {}
    for number, text in rows:
        with suppress(UnreadableError):  # it is left out of searches, too
            if number in wanted:
                found[number] = card_from_json(text)
    return found


def _swap(connection: sqlite3.Connection, ready: dict[int, bytes], seen: int, name: str) -> int | None:
    """Put the new vectors in place; `None` where the cards have changed since `seen`."""
    if _generation(connection) != seen:
        return None
    connection.executemany(
        "UPDATE recall SET vectors = ? WHERE number = ?", ((packed, number) for number, packed in ready.items())
    )
    connection.execute("UPDATE state SET embedder = ?, epoch = epoch + 1, generation = generation + 1", (name,))
    return connection.execute("SELECT count(*) FROM cards").fetchone()[0]
