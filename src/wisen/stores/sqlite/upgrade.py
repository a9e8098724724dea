"""Brings a SQLite store up to date: its tables, and what they hold that follows from the cards."""

import sqlite3

from wisen.stores.derived import Derived, derived
from wisen.stores.sqlite.cards import next_generation
from wisen.stores.sqlite.schema import APPLICATION_ID, KEYED_SINCE, MIGRATIONS

_PAGE = 500
_SPELT = 3
"""The schema from which on only the same words are counted on a card."""


def upgrade(connection: sqlite3.Connection, version: int) -> None:
    """Run the migrations that a store of this version lacks; the transaction is the caller's."""
    for migration in MIGRATIONS[version:]:
        for statement in migration.split(";"):
            connection.execute(statement)
    if 0 < version < KEYED_SINCE:
        _derive(connection, by_spelling=version < _SPELT)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


def _derive(connection: sqlite3.Connection, *, by_spelling: bool) -> None:
    """Compute again what follows from a card: keys, and the words that it is found by."""
    generation, after = next_generation(connection), 0
    while page := connection.execute(
        "SELECT number, card, words FROM cards LEFT JOIN recall USING (number) WHERE number > ?"
        " ORDER BY number LIMIT ?",
        (after, _PAGE),
    ).fetchall():
        after = page[-1][0]
        made = [(number, words, derived(text, by_spelling=by_spelling)) for number, text, words in page]
        found = [(number, words, one) for number, words, one in made if one is not None]
        connection.executemany(
            "UPDATE cards SET situation_key = ?, content_key = ?, circle = ?, duplicate_key = ?, alike = ?, card = ?,"
            " changed = ? WHERE number = ?",
            (_row(one, generation, number) for number, _, one in found),
        )
        connection.executemany(
            "UPDATE recall SET words = ? WHERE number = ?",
            ((one.words, number) for number, words, one in found if words is not None and words != one.words),
        )


def _row(one: Derived, generation: int, number: int) -> tuple[object, ...]:
    return one.key, one.content, one.circle, one.duplicate_key, one.alike, one.json, generation, number
