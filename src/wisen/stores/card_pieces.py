"""What the SQLite store gives and takes of cards when a store is copied as it is: one function per question."""

import sqlite3
from collections.abc import Mapping, Sequence

from wisen.stores import statements
from wisen.stores.copies import Piece
from wisen.stores.pieces import cursor, position, stored_card_piece
from wisen.stores.prepared import PreparedCard


def next_cards(connection: sqlite3.Connection, after: str, limit: int) -> tuple[list[Piece], str]:
    """Cards in the order in which they came."""
    rows = connection.execute(
        "SELECT number, card, vectors FROM cards LEFT JOIN recall USING (number) WHERE number > ?"
        " ORDER BY number LIMIT ?",
        (*position(after, [0]), limit),
    ).fetchall()
    pieces = [stored_card_piece(text, bytes(vectors or b"")) for _, text, vectors in rows]
    return pieces, cursor(rows[-1][0]) if rows else after


def held_cards(connection: sqlite3.Connection, keys: Sequence[tuple[str, ...]]) -> Mapping[tuple[str, ...], Piece]:
    """Those of these cards that are there."""
    found: dict[tuple[str, ...], Piece] = {}
    for key in keys:
        row = connection.execute(
            "SELECT card, vectors FROM cards LEFT JOIN recall USING (number) WHERE id = ?", key
        ).fetchone()
        if row is not None:
            found[key] = stored_card_piece(row[0], bytes(row[1] or b""))
    return found


def take_cards(connection: sqlite3.Connection, cards: Sequence[PreparedCard], *, replace: bool) -> None:
    """Keep cards as they are; those that are there stay, or are replaced."""
    generation = statements.next_generation(connection)
    for prepared in cards:
        found = connection.execute("SELECT tenant FROM cards WHERE id = ?", (prepared.card.id,)).fetchone()
        if found is None:
            statements.keep(connection, prepared, generation)
        elif replace:
            if found[0] == prepared.card.scope.tenant:
                statements.overwrite(connection, prepared, generation)
            else:
                statements.remove(connection, [prepared.card.id])
                statements.keep(connection, prepared, statements.next_generation(connection))
