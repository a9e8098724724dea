"""What the Postgres store asks of its tables of cards: one function per question, each given a transaction."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Literal

import asyncpg
import numpy as np

from wisen.cards import MemoryCard
from wisen.errors import CardNotFoundError
from wisen.recall import CardFilter, Written
from wisen.stores.damaged_rows import Damage, named_card
from wisen.stores.index.prepared import PreparedCard, check_successor
from wisen.stores.index.search import IndexRow
from wisen.stores.index.vectors import BIT_WORDS
from wisen.stores.postgres.client import Connection
from wisen.stores.postgres.filter import conditions, fitting_scopes
from wisen.stores.postgres.lexical import add_words, change_words, remove_words
from wisen.stores.postgres.search import as_bits
from wisen.stores.postgres.text import restored, stored
from wisen.stores.serialization import card_to_json

_STRIPES = 1024
_DUPLICATES = 0x7769_7301
_VECTORS = 0x7769_7302
_PAGE = 1_000
_COLUMNS = (
    ("id", "text"),
    ("tenant", "text"),
    ("status", "text"),
    ("kind", "text"),
    ("run_id", "text"),
    ("scope", "text"),
    ("situation_key", "bigint"),
    ("content_key", "bigint"),
    ("circle", "bigint"),
    ("duplicate_key", "text"),
    ("alike", "int"),
    ("idea", "text"),
    ("superseded", "boolean"),
    ("refused", "text"),
    ("created", "bigint"),
    ("version", "int"),
    ("situation", "bit(512)"),
    ("text", "bit(512)"),
)
_NAMES = ", ".join(name for name, _ in _COLUMNS)
_BESIDE = len(_COLUMNS)
_INSERT = f"""
    WITH c AS (
        INSERT INTO cards ({_NAMES})
        SELECT * FROM unnest({", ".join(f"${place}::{kind}[]" for place, (_, kind) in enumerate(_COLUMNS, 1))})
        RETURNING number, id, tenant
    ), new AS (
        SELECT * FROM c
        JOIN unnest($1::text[], ${_BESIDE + 1}::text[], ${_BESIDE + 2}::bytea[], ${_BESIDE + 3}::bytea[])
            AS beside (id, card, words, vectors) USING (id)
    ), b AS (INSERT INTO bodies (number, tenant, card) SELECT number, tenant, card FROM new
    ), r AS (INSERT INTO recall (number, tenant, words, vectors) SELECT number, tenant, words, vectors FROM new)
    SELECT id, number FROM c
"""  # noqa: S608 - constants
_CHANGE = (
    "UPDATE cards SET "  # noqa: S608 - constants
    + ", ".join(f"{name} = ${place}" for place, (name, _) in enumerate(_COLUMNS[1:-2], 2))
    + " WHERE number = $1"
)
_SHARE = f"SELECT pg_advisory_xact_lock_shared({_VECTORS}, hashtext(current_schema()))"
_HOLD = f"""
    {_SHARE}
    UNION ALL SELECT pg_advisory_xact_lock({_DUPLICATES} # hashtext(current_schema()), stripe)
    FROM unnest($1::int[]) AS stripe
"""  # noqa: S608 - constants


async def hold(connection: Connection, cards: Sequence[PreparedCard]) -> None:
    """Until the transaction ends, keep others from writing cards with these ids and duplicate keys, or reembedding.

    Keys share a fixed number of locks, so that a large batch doesn't fill the server's table; all take them in order.
    """
    texts = {text for prepared in cards for text in (prepared.card.id, prepared.duplicate_key)}
    await connection.execute(_HOLD, sorted({_number(text) % _STRIPES for text in texts}))


async def hold_all(connection: Connection) -> None:
    """Until the transaction ends, let nobody write cards."""
    await connection.execute(f"SELECT pg_advisory_xact_lock({_VECTORS}, hashtext(current_schema()))")


def _number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "big")


async def insert_all(connection: Connection, cards: Sequence[PreparedCard]) -> list[Written]:
    """Add cards that are held, in order, counting duplicates."""
    plan = await _plan(connection, cards)
    written = [plan.place(prepared) for prepared in cards]
    await _count_duplicates(connection, plan.counts)
    await keep(connection, plan.counted_new())
    return written


async def _plan(connection: Connection, cards: Sequence[PreparedCard]) -> "_Plan":
    rows = await connection.fetch(
        "SELECT id, duplicate_key FROM cards WHERE id = ANY($1::text[]) OR duplicate_key = ANY($2::text[])"
        " ORDER BY number FOR UPDATE",  # as in `remove`, so that neither waits for the other
        [stored(prepared.card.id) for prepared in cards],
        list({prepared.duplicate_key for prepared in cards}),
    )
    found = [(restored(card_id), key) for card_id, key in reversed(rows)]
    return _Plan({card_id for card_id, _ in found}, {key: card_id for card_id, key in found})


@dataclass(slots=True)
class _Plan:
    """Decides for each card of a batch, in order, what becomes of it."""

    ids: set[str]
    keys: dict[str, str]
    """The id of the first card with each duplicate key."""
    new: dict[str, PreparedCard] = field(default_factory=dict[str, PreparedCard])
    counts: dict[str, int] = field(default_factory=dict[str, int])
    """How often each stored card is met again."""
    again: dict[str, int] = field(default_factory=dict[str, int])
    """How often each new card is met again."""

    def place(self, prepared: PreparedCard) -> Written:
        card_id = prepared.card.id
        if card_id in self.ids:
            return Written(card_id=card_id, outcome="unchanged")
        first = self.keys.get(prepared.duplicate_key)
        if first is not None:
            counts = self.again if first in self.new else self.counts
            counts[first] = counts.get(first, 0) + 1
            return Written(card_id=first, outcome="duplicate")
        self.ids.add(card_id)
        self.keys[prepared.duplicate_key] = card_id
        self.new[card_id] = prepared
        return Written(card_id=card_id, outcome="added")

    def counted_new(self) -> list[PreparedCard]:
        for card_id, count in self.again.items():
            prepared = self.new[card_id]
            card = replace(prepared.card, duplicates=prepared.card.duplicates + count)
            self.new[card_id] = replace(prepared, card=card, json=card_to_json(card))
        return list(self.new.values())


async def _count_duplicates(connection: Connection, counts: dict[str, int]) -> None:
    if not counts:
        return
    rows = await connection.fetch(
        "SELECT b.number, c.id, b.card FROM cards c JOIN bodies b USING (number) WHERE c.id = ANY($1::text[])",
        [stored(card_id) for card_id in counts],
    )
    changed: list[tuple[int, str]] = []
    for number, card_id, text in rows:
        kept = named_card(restored(card_id), text)
        changed.append((number, card_to_json(replace(kept, duplicates=kept.duplicates + counts[kept.id]))))
    await connection.executemany("UPDATE bodies SET card = $2 WHERE number = $1", changed)


async def keep(connection: Connection, cards: Sequence[PreparedCard]) -> None:
    """Store cards whose ids aren't there, whatever they are like."""
    for start in range(0, len(cards), _PAGE):
        await _keep_page(connection, cards[start : start + _PAGE])


async def _keep_page(connection: Connection, cards: Sequence[PreparedCard]) -> None:
    rows = [prepared.row(0) for prepared in cards]
    columns = zip(*(_values(row, prepared) for row, prepared in zip(rows, cards, strict=True)), strict=True)
    values = [list(column) for column in columns]
    beside = [prepared.json for prepared in cards], [row.words for row in rows], [row.vectors for row in rows]
    await note_scopes(connection, {(tenant, scope) for tenant, scope in zip(values[1], values[5], strict=True)})
    numbers = dict(map(tuple, await connection.fetch(_INSERT, *values, *beside)))
    own = [(row.words, card_id, tenant) for row, card_id, tenant in zip(rows, values[0], values[1], strict=True)]
    await add_words(connection, [(tenant, numbers[card_id], words) for words, card_id, tenant in own])


def _values(row: IndexRow, prepared: PreparedCard) -> tuple[Any, ...]:
    card = prepared.card
    return (
        stored(row.card_id),
        stored(card.scope.tenant),
        row.status,
        row.kind,
        stored(row.run_id),
        stored(row.scope),
        row.key,
        row.content,
        row.circle,
        prepared.duplicate_key,
        card.alike,
        stored(card.idea),
        bool(row.superseded),
        stored(card.refused),
        row.created,
        card.version,
        *bit_columns(row.vectors),
    )


def bit_columns(packed: bytes) -> tuple[asyncpg.BitString | None, asyncpg.BitString | None]:
    """The sign bits of a card's two vectors; one that is empty is stood in for by the other, if there is one."""
    if not packed:
        return None, None
    size = BIT_WORDS * 8
    inverse = np.frombuffer(packed[:8], dtype="<f4")
    situation, text = as_bits(packed[-2 * size : -size]), as_bits(packed[-size:])
    if not inverse.any():
        return None, None
    return (situation if inverse[0] else text), (text if inverse[1] else situation)


async def note_scopes(connection: Connection, scopes: Iterable[tuple[str, str]]) -> None:
    """Remember which scopes a tenant's cards have, for filters."""
    ordered = sorted((tenant, hashlib.sha256(scope.encode()).hexdigest()[:32], scope) for tenant, scope in scopes)
    tenants, codes, texts = zip(*ordered, strict=True)
    await connection.execute(
        "INSERT INTO scopes (tenant, code, scope)"
        " SELECT * FROM unnest($1::text[], $2::text[], $3::text[]) AS new (t, c, s)"
        " WHERE NOT EXISTS (SELECT FROM scopes WHERE tenant = t AND code = c) ORDER BY 1, 2 ON CONFLICT DO NOTHING",
        tenants,
        codes,
        texts,
    )


async def replace_card(connection: Connection, prepared: PreparedCard) -> None:
    """Write the next version of a stored card; without vectors, the stored ones still hold."""
    card = prepared.card
    rows = await connection.fetch(
        "SELECT c.number, b.card FROM cards c JOIN bodies b USING (number) WHERE c.id = $1 FOR UPDATE", stored(card.id)
    )
    if not rows:
        raise CardNotFoundError(card.id)
    number, text = rows[0]
    kept = named_card(card.id, text)
    check_successor(kept, card)
    if kept.duplicates > card.duplicates:
        card = replace(card, duplicates=kept.duplicates)
        prepared = replace(prepared, card=card, json=card_to_json(card))
    await overwrite(connection, number, prepared)


async def overwrite(connection: Connection, number: int, prepared: PreparedCard) -> None:
    """Put a card in the place of the one with this number, which is of the same tenant."""
    row, tenant = prepared.row(number), stored(prepared.card.scope.tenant)
    await note_scopes(connection, {(tenant, stored(row.scope))})
    values = _values(row, prepared)
    await connection.execute(_CHANGE, number, *values[1:-2])
    await connection.execute("UPDATE bodies SET card = $2 WHERE number = $1", number, prepared.json)
    if row.vectors:
        old: bytes = await connection.fetchval("SELECT words FROM recall WHERE number = $1", number)
        await connection.execute("UPDATE cards SET situation = $2, text = $3 WHERE number = $1", number, *values[-2:])
        await connection.execute(
            "UPDATE recall SET words = $2, vectors = $3 WHERE number = $1", number, row.words, row.vectors
        )
        await change_words(connection, tenant, number, old, row.words)


async def fetch(connection: Connection, card_ids: Sequence[str]) -> list[MemoryCard]:
    """Cards by id, in order; raises `CardNotFoundError`."""
    rows = await connection.fetch(
        "SELECT c.id, b.card FROM cards c JOIN bodies b USING (number) WHERE c.id = ANY($1::text[])",
        [stored(card_id) for card_id in card_ids],
    )
    found = {restored(card_id): named_card(restored(card_id), text) for card_id, text in rows}
    for card_id in card_ids:
        if card_id not in found:
            raise CardNotFoundError(card_id)
    return [found[card_id] for card_id in card_ids]


async def ids_beginning(connection: Connection, what: Literal["card", "run"], beginning: str) -> list[str]:
    """Ids that begin so, in the order of listings: cards oldest first, runs newest first; none for "" itself."""
    question = {
        "card": "SELECT id FROM cards WHERE id >= $1 AND starts_with(id, $1) ORDER BY created, id",
        "run": "SELECT run_id FROM runs WHERE run_id >= $1 AND starts_with(run_id, $1)"
        " ORDER BY started DESC, number DESC",
    }
    rows = await connection.fetch(question[what], stored(beginning)) if beginning else []
    return [restored(found) for (found,) in rows]


async def remove(connection: Connection, card_ids: Sequence[str]) -> int:
    """Delete cards; says how many there were."""
    await connection.execute(_SHARE)
    locked = await connection.fetch(
        "SELECT number FROM cards WHERE id = ANY($1::text[]) ORDER BY number FOR UPDATE",
        [stored(card_id) for card_id in card_ids],
    )
    numbers = [number for (number,) in locked]
    # Only now: a statement that has waited for a lock still sees the words that were there before.
    rows = await connection.fetch(
        "SELECT c.number, c.tenant, coalesce(r.words, '') FROM cards c LEFT JOIN recall r USING (number)"
        " WHERE c.number = ANY($1::bigint[])",
        numbers,
    )
    await connection.execute("DELETE FROM cards WHERE number = ANY($1::bigint[])", numbers)
    by_tenant = sorted(((tenant, number, words) for number, tenant, words in rows), key=lambda row: row[:2])
    for tenant, own in groupby(by_tenant, key=lambda row: row[0]):
        await remove_words(connection, tenant, [(number, words) for _, number, words in own])
    return len(rows)


async def select(
    connection: Connection, where: CardFilter, limit: int, offset: int, damage: Damage
) -> list[MemoryCard]:
    """Cards that the filter accepts and that can be read, oldest first."""
    while True:
        before = damage.known("card")
        found = await _page_of(connection, where, (limit, offset), before, damage)
        if damage.known("card") == before:
            return found


async def _page_of(
    connection: Connection, where: CardFilter, span: tuple[int, int], without: Sequence[int], damage: Damage
) -> list[MemoryCard]:
    fitting = conditions(where, *await fitting_scopes(connection, [where]))
    if without:
        fitting.add("c.number <> ALL ({}::bigint[])", list(without))
    limit, offset = span
    rows = await connection.fetch(
        f"SELECT c.number, c.id, b.card FROM (SELECT c.number, c.created, c.id FROM cards c WHERE {fitting.text}"  # noqa: S608 - fixed conditions
        f" ORDER BY c.created, c.id LIMIT {fitting.value(limit)} OFFSET {fitting.value(offset)}) c"
        " JOIN bodies b USING (number) ORDER BY c.created, c.id",
        *fitting.values,
    )
    return damage.cards((number, restored(card_id), text) for number, card_id, text in rows)


async def refused_among(connection: Connection, where: CardFilter, keys: Iterable[str]) -> set[str]:
    """Which of these `MemoryCard.refused` the cards have that the filter accepts, but for its own."""
    fitting = conditions(replace(where, refused=""), *await fitting_scopes(connection, [where]))
    fitting.add("c.status = 'rejected' AND c.refused <> '' AND c.refused = ANY({}::text[])", list(map(stored, keys)))
    rows = await connection.fetch(f"SELECT DISTINCT c.refused FROM cards c WHERE {fitting.text}", *fitting.values)  # noqa: S608 - fixed conditions
    return {restored(refused) for (refused,) in rows}


async def tally(connection: Connection, where: CardFilter) -> int:
    """How many cards the filter accepts."""
    fitting = conditions(where, *await fitting_scopes(connection, [where]))
    return await connection.fetchval(f"SELECT count(*) FROM cards c WHERE {fitting.text}", *fitting.values)  # noqa: S608 - fixed conditions
