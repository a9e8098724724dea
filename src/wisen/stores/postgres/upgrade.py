"""Brings a Postgres store's tables up to date, and what they hold that follows from the cards."""

from collections.abc import Sequence
from importlib.resources import files

from wisen.stores.derived import Derived, derived
from wisen.stores.postgres.cards import hold_all
from wisen.stores.postgres.client import Connection
from wisen.stores.postgres.lexical import change_words

_PAGE = 1_000
_KEYED_SINCE = 6
"""The first version whose keys and words follow from the cards as they do now; it rises with a migration."""
_SPELT = 2
"""The version from which on only the same words are counted on a card."""
_AT_LEISURE = "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SET LOCAL wisen.tenant = '*'"
_CARDS = (
    "SELECT b.number, b.tenant, b.card, r.words FROM bodies b LEFT JOIN recall r USING (number)"
    " WHERE b.number > $1 ORDER BY b.number LIMIT $2"
)
_KEYS = """
    UPDATE cards c SET situation_key = n.key, content_key = n.content, circle = n.circle,
        duplicate_key = n.duplicate, alike = n.alike
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::int[])
        AS n (number, key, content, circle, duplicate, alike)
    WHERE c.number = n.number
"""
_Row = tuple[int, str, str, bytes | None]


def migrations() -> list[str]:
    """The numbered migrations in order. A released one is never changed: a later one follows it."""
    folder = files("wisen.stores.postgres").joinpath("migrations")
    found = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
    return [file.read_text(encoding="utf-8") for file in found]


async def upgrade(connection: Connection, version: int, steps: Sequence[str]) -> None:
    """Run the steps that tables of this version lack, in a transaction whose search path is their schema."""
    if version:
        await connection.execute(_AT_LEISURE)
        await hold_all(connection)  # before the tables are locked, which those who write cards do after it
    for number, step in enumerate(steps[version:], version + 1):
        await connection.execute(step)
        await connection.execute("INSERT INTO migrations (number) VALUES ($1)", number)
    if 0 < version < _KEYED_SINCE:
        await _derive(connection, by_spelling=version < _SPELT)


async def _derive(connection: Connection, *, by_spelling: bool) -> None:
    """Compute again what follows from a card: keys, and the words that it is found by."""
    after = 0
    while rows := [tuple(row) for row in await connection.fetch(_CARDS, after, _PAGE)]:
        after = rows[-1][0]
        made = [(row, derived(row[2], by_spelling=by_spelling)) for row in rows]
        await _put(connection, [(row, one) for row, one in made if one is not None])


async def _put(connection: Connection, made: Sequence[tuple[_Row, Derived]]) -> None:
    rows = [(row[0], one.key, one.content, one.circle, one.duplicate_key, one.alike) for row, one in made]
    await connection.execute(_KEYS, *(list(column) for column in zip(*rows, strict=True)) if rows else ([],) * 6)
    changed = [(row[0], one.json) for row, one in made if one.json != row[2]]
    await connection.executemany("UPDATE bodies SET card = $2 WHERE number = $1", changed)
    for (number, tenant, _, words), one in made:
        if words is not None and words != one.words:
            await connection.execute("UPDATE recall SET words = $2 WHERE number = $1", number, one.words)
            await change_words(connection, tenant, number, words, one.words)
