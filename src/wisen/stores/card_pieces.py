"""What the SQLite store gives and takes of cards when a store is copied as it is: one function per question."""

import sqlite3
from collections.abc import Mapping, Sequence

from wisen.stores import statements
from wisen.stores.copies import Piece
from wisen.stores.ledger_pieces import readable_pieces
from wisen.stores.pieces import held_piece, stored_card_piece
from wisen.stores.prepared import PreparedCard


def next_cards(connection: sqlite3.Connection, after: str, limit: int) -> tuple[list[Piece], str]:
    """Cards in the order in which they came."""
    return readable_pieces(
        lambda last: connection.execute(
            "SELECT number, CAST(card AS BLOB), vectors FROM cards LEFT JOIN recall USING (number) WHERE number > ?"
            " ORDER BY number LIMIT ?",
            (last, limit),
        ).fetchall(),
        lambda row: stored_card_piece(row[1], bytes(row[2] or b"")),
        after,
    )


def held_cards(connection: sqlite3.Connection, keys: Sequence[tuple[str, ...]]) -> Mapping[tuple[str, ...], Piece]:
    """Those of these cards that are there."""
    found: dict[tuple[str, ...], Piece] = {}
    for key in keys:
        row = connection.execute(
            "SELECT CAST(card AS BLOB), vectors FROM cards LEFT JOIN recall USING (number) WHERE id = ?", key
        ).fetchone()
        if row is not None:
            vectors = bytes(row[1] or b"")
            found[key] = held_piece(key, row[0], lambda text, vectors=vectors: stored_card_piece(text, vectors))
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
