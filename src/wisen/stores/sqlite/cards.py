"""What the SQLite store asks of its tables: one function per question, each given an open connection."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Literal, TypeVar

from wisen.cards import ANYONE, MemoryCard
from wisen.errors import CardNotFoundError
from wisen.recall import CardFilter, Written
from wisen.stores.damaged_rows import Damage, Row, named_card
from wisen.stores.index.codes import hash_code, sample_card
from wisen.stores.index.prepared import PreparedCard, check_successor
from wisen.stores.index.search import IndexRow
from wisen.stores.serialization import card_to_json

_Record = TypeVar("_Record")
# A quote within a text is escaped, so that these are names and values of the card itself.
_AWAITED = {
    "release": "status = 'quarantined' AND circle = 0",
    "verdict": (
        "status IN ('quarantined', 'promoted')"
        """ AND (instr(card, '"stage":"on trial"') OR instr(card, '"stage":"recheck"'))"""
    ),
    "choice": """status IN ('quarantined', 'promoted') AND instr(card, '"rivals":["')""",
}
_INDEX_COLUMNS = """
    number, id, status, kind, superseded_by != '', scope, run_id, situation_key, content_key, circle,
    created, words, vectors
"""


def next_generation(connection: sqlite3.Connection) -> int:
    """Count a change to the cards, by which every process notices it."""
    return connection.execute("UPDATE state SET generation = generation + 1 RETURNING generation").fetchone()[0]


def insert_all(connection: sqlite3.Connection, cards: Sequence[PreparedCard]) -> list[Written]:
    """Add cards in order, counting duplicates."""
    generation = next_generation(connection)
    return [_insert(connection, prepared, generation) for prepared in cards]


def _insert(connection: sqlite3.Connection, prepared: PreparedCard, generation: int) -> Written:
    card_id = prepared.card.id
    if connection.execute("SELECT 1 FROM cards WHERE id = ?", (card_id,)).fetchone():
        return Written(card_id=card_id, outcome="unchanged")
    first = connection.execute(
        "SELECT number, id, CAST(card AS BLOB) FROM cards WHERE duplicate_key = ? ORDER BY number LIMIT 1",
        (prepared.duplicate_key,),
    ).fetchone()
    if first is not None:
        number, first_id, text = first
        kept = named_card(first_id, text)
        counted = card_to_json(replace(kept, duplicates=kept.duplicates + 1))
        connection.execute("UPDATE cards SET card = ? WHERE number = ?", (counted, number))
        return Written(card_id=kept.id, outcome="duplicate")
    keep(connection, prepared, generation)
    return Written(card_id=card_id, outcome="added")


def keep(connection: sqlite3.Connection, prepared: PreparedCard, generation: int) -> None:
    """Store a card whose id isn't there, whatever it is like."""
    row = prepared.row(0)
    number = connection.execute(
        "INSERT INTO cards (id, tenant, status, kind, run_id, scope, situation_key, content_key, circle,"
        " duplicate_key, alike, idea, superseded_by, created, version, changed, card)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (row.card_id, prepared.card.scope.tenant, *_columns(prepared, row), generation, prepared.json),
    ).lastrowid
    connection.execute("INSERT INTO recall VALUES (?, ?, ?)", (number, row.words, row.vectors))


def _columns(prepared: PreparedCard, row: IndexRow) -> tuple[object, ...]:
    return (
        row.status,
        row.kind,
        row.run_id,
        row.scope,
        row.key,
        row.content,
        row.circle,
        prepared.duplicate_key,
        prepared.card.alike,
        prepared.card.idea,
        prepared.card.superseded_by,
        row.created,
        prepared.card.version,
    )


def replace_card(connection: sqlite3.Connection, prepared: PreparedCard) -> None:
    """Write the next version of a stored card; without vectors, the stored ones still hold."""
    card = prepared.card
    kept = fetch(connection, [card.id])[0]
    check_successor(kept, card)
    duplicates = max(kept.duplicates, card.duplicates)
    text = prepared.json if duplicates == card.duplicates else card_to_json(replace(card, duplicates=duplicates))
    overwrite(connection, replace(prepared, json=text), next_generation(connection))


def overwrite(connection: sqlite3.Connection, prepared: PreparedCard, generation: int) -> None:
    """Put a card in the place of the stored one of its id and tenant; without vectors, the stored ones still hold."""
    row = prepared.row(0)
    number = connection.execute(
        "UPDATE cards SET status = ?, kind = ?, run_id = ?, scope = ?, situation_key = ?, content_key = ?,"
        " circle = ?, duplicate_key = ?, alike = ?, idea = ?, superseded_by = ?, created = ?, version = ?, changed = ?,"
        " card = ?"
        " WHERE id = ? RETURNING number",
        (*_columns(prepared, row), generation, prepared.json, row.card_id),
    ).fetchone()[0]
    if row.vectors:
        connection.execute(
            "UPDATE recall SET words = ?, vectors = ? WHERE number = ?", (row.words, row.vectors, number)
        )


def fetch(connection: sqlite3.Connection, card_ids: Sequence[str]) -> list[MemoryCard]:
    """Cards by id, in order; raises `CardNotFoundError`."""
    rows = connection.execute(
        "SELECT id, CAST(card AS BLOB) FROM cards WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(card_ids)),),
    )
    found = {card_id: named_card(card_id, text) for card_id, text in rows}
    for card_id in card_ids:
        if card_id not in found:
            raise CardNotFoundError(card_id)
    return [found[card_id] for card_id in card_ids]


def ids_beginning(connection: sqlite3.Connection, what: Literal["card", "run"], beginning: str) -> list[str]:
    """Ids that begin so, in the order of listings: cards oldest first, runs newest first; none for "" itself."""
    question = {
        "card": "SELECT id FROM cards WHERE id >= ? AND id < ? ORDER BY created, id",
        "run": "SELECT run_id FROM runs WHERE run_id >= ? AND run_id < ? ORDER BY started DESC, number DESC",
    }
    rows = connection.execute(question[what], (beginning, f"{beginning}\U0010ffff"))
    return [found for (found,) in rows] if beginning else []


def fetch_numbers(connection: sqlite3.Connection, numbers: Sequence[int], damage: Damage) -> dict[int, MemoryCard]:
    """Cards by the store's own number, as far as they can be read."""
    marks = ", ".join("?" * len(numbers))
    rows = connection.execute(f"SELECT number, id, CAST(card AS BLOB) FROM cards WHERE number IN ({marks})", numbers)  # noqa: S608 - only question marks
    return {row[0]: card for row in rows for card in damage.cards([row])}


def remove(connection: sqlite3.Connection, card_ids: Sequence[str]) -> int:
    """Delete cards, leaving a note for other processes' indexes."""
    generation = next_generation(connection)
    gone = connection.execute(
        "DELETE FROM cards WHERE id IN (SELECT value FROM json_each(?)) RETURNING tenant, number",
        (json.dumps(list(card_ids)),),
    ).fetchall()
    notes = [(tenant, generation, number) for tenant, number in gone]
    connection.executemany("INSERT INTO removed VALUES (?, ?, ?)", notes)
    return len(gone)


def select(
    connection: sqlite3.Connection, where: CardFilter, limit: int, offset: int, damage: Damage
) -> list[MemoryCard]:
    """Cards that the filter accepts and that can be read, oldest first."""
    condition, values = _condition(connection, where)

    def page(known: str) -> Iterable[Row]:
        return connection.execute(
            f"SELECT number, id, CAST(card AS BLOB) FROM cards WHERE {condition} {known}"  # noqa: S608 - fixed conditions
            " ORDER BY created, id LIMIT ? OFFSET ?",
            (*values, limit, offset),
        )

    return whole_page(page, damage.cards, lambda: damage.known("card"))


def whole_page(
    page: Callable[[str], Iterable[Row]], read: Callable[[Iterable[Row]], list[_Record]], known: Callable[[], list[int]]
) -> list[_Record]:
    """A page of rows that can be read: asked for again, without those that can't, until there are no more of these."""
    while True:
        before = known()
        found = read(page(f"AND number NOT IN ({', '.join(map(str, before))})" if before else ""))
        if known() == before:
            return found


def tally(connection: sqlite3.Connection, where: CardFilter) -> int:
    """How many cards the filter accepts."""
    condition, values = _condition(connection, where)
    return connection.execute(f"SELECT count(*) FROM cards WHERE {condition}", values).fetchone()[0]  # noqa: S608 - fixed conditions


def _condition(connection: sqlite3.Connection, where: CardFilter) -> tuple[str, list[object]]:
    parts, values = ["1"], list[object]()
    if where.tenant is not None:
        # With the plus, an index on the tenant isn't taken for better than that on what is refused, or on ideas.
        parts.append("+tenant = ?" if where.refused or where.idea else "tenant = ?")
        values.append(where.tenant)
    for condition, text in (
        ("run_id = ? AND run_id != ''", where.run_id),
        ("status = 'rejected' AND json_extract(card, '$.refused') = ?", where.refused),
        ("idea = ? AND idea != ''", where.idea),
    ):
        if text:
            parts.append(condition)
            values.append(text)
    if where.corrected:
        parts.append("superseded_by != ''")
    if where.awaits:
        parts.append(_AWAITED[where.awaits])
    if where.circle:
        parts.append("(status = 'promoted' OR circle IN (?, ?))")
        values += [hash_code(where.circle), hash_code(ANYONE)]
    for condition, wanted in (
        ("status IN (SELECT value FROM json_each(?))", where.statuses),
        ("kind IN (SELECT value FROM json_each(?))", where.kinds),
    ):
        if wanted:
            parts.append(condition)
            values.append(json.dumps([item.value for item in wanted]))
    if where.agent_role or where.task_type or where.tools is not None:
        parts.append("scope IN (SELECT value FROM json_each(?))")
        values.append(json.dumps(_fitting_scopes(connection, where)))
    return " AND ".join(parts), values


def _fitting_scopes(connection: sqlite3.Connection, where: CardFilter) -> list[str]:
    """Which of the stored scopes the filter's own definition accepts."""
    rest = CardFilter(agent_role=where.agent_role, task_type=where.task_type, tools=where.tools)
    stored = connection.execute("SELECT DISTINCT scope FROM cards").fetchall()
    return [code for (code,) in stored if rest.accepts(sample_card(code))]


def changes(connection: sqlite3.Connection, tenant: str, since: int) -> tuple[list[IndexRow], list[int]]:
    """A tenant's cards written, and the numbers of those removed, after generation `since`."""
    written: list[IndexRow] = connection.execute(
        f"SELECT {_INDEX_COLUMNS} FROM cards JOIN recall USING (number) WHERE tenant = ? AND changed > ?",  # noqa: S608 - a constant
        (tenant, since),
    ).fetchall()
    gone = connection.execute("SELECT number FROM removed WHERE tenant = ? AND changed > ?", (tenant, since))
    return written, [number for (number,) in gone]
