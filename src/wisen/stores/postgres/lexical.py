"""Which of a tenant's cards have which words, in Postgres: counts for rarity, and cards by their words.

The table is only ever added to, so that writers never wait for one another: a card brings a row for each word, a
removed one a row that counts less. Once a word has many rows of a level, they become one row of the next. So a word has
at most about fifty rows besides full ones, and each entry is rewritten three times in its life.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from wisen.stores.index.lexical import MOST_POSTINGS, WordQuery, distinct_words, weighed, word_hash
from wisen.stores.postgres.client import Connection

EVERY_CARD = -1
"""Stands for a word that all cards have."""
_MERGED = 16
_TOP_LEVEL = 3
_FOLD_EACH = 8
_HEADER = 20

_NONE = "0, '{}'::bigint[]"
_ADD = f"""
    INSERT INTO postings (tenant, word, level, cards, newest, numbers)
    SELECT tenant, word, least({_TOP_LEVEL}, floor(log({_MERGED}, count(*)))), count(*), max(number),
        array_agg(number ORDER BY number)
    FROM unnest($1::bigint[], $2::text[]) AS card (number, tenant)
    JOIN unnest($3::bigint[], $4::bigint[]) AS new (word, number) USING (number) GROUP BY tenant, word
    UNION ALL SELECT tenant, {EVERY_CARD}, 0, count(*), {_NONE} FROM unnest($2::text[]) AS card (tenant)
    WHERE $5 GROUP BY tenant
"""  # noqa: S608 - constants
_TAKE_OFF = f"""
    INSERT INTO postings (tenant, word, level, cards, newest, numbers)
    SELECT $1, word, 0, -count(*), {_NONE} FROM unnest($2::bigint[]) AS word GROUP BY word
    UNION ALL SELECT $1, {EVERY_CARD}, 0, -$3::bigint, {_NONE} WHERE $3 > 0
"""  # noqa: S608 - constants
_FOLD = f"""
    WITH free AS MATERIALIZED (
        SELECT tenant FROM (SELECT DISTINCT tenant FROM unnest($1::text[]) AS asked (tenant)) AS each
        WHERE pg_try_advisory_xact_lock(hashtextextended(tenant, 1718579300))
    ), due AS MATERIALIZED (
        SELECT a.tenant, a.word, p.level FROM unnest($1::text[], $2::bigint[]) AS a (tenant, word)
        JOIN free f ON f.tenant = a.tenant CROSS JOIN LATERAL (
            SELECT level FROM postings WHERE tenant = a.tenant AND word = a.word AND level < {_TOP_LEVEL}
            GROUP BY level HAVING count(*) >= {_MERGED}
        ) AS p
    ), gone AS (
        DELETE FROM postings p USING due d WHERE p.tenant = d.tenant AND p.word = d.word AND p.level = d.level
        RETURNING p.tenant, p.word, p.level, p.cards, p.newest, p.numbers
    ), sums AS (
        SELECT tenant, word, level, sum(cards) AS cards, max(newest) AS newest FROM gone GROUP BY tenant, word, level
    ), lists AS (
        SELECT tenant, word, level, array_agg(DISTINCT entry) AS numbers FROM gone, unnest(numbers) AS entry
        WHERE EXISTS (SELECT FROM cards WHERE number = entry) GROUP BY tenant, word, level
    )
    INSERT INTO postings (tenant, word, level, cards, newest, numbers)
    SELECT tenant, word, level + 1, cards, CASE WHEN numbers IS NULL THEN 0 ELSE newest END,
        coalesce(numbers, '{{}}'::bigint[])
    FROM sums LEFT JOIN lists USING (tenant, word, level)
"""  # noqa: S608 - constants
# Sent as bytes, since Python takes long to make numbers of so many.
_ENTRIES = f"""
    SELECT word, array_send(numbers) FROM (
        SELECT word, numbers, cards, sum(cards) OVER (PARTITION BY word ORDER BY newest DESC, level, ctid) AS up_to
        FROM postings WHERE tenant = $1 AND word = ANY($2::bigint[]) AND newest > 0
    ) AS rows WHERE up_to - cards < {MOST_POSTINGS}
"""  # noqa: S608 - constants
_COUNTS = """
    SELECT word, sum(cards)::bigint FROM postings WHERE tenant = $1 AND word = ANY($2::bigint[]) GROUP BY word
"""


def hashes(words: bytes) -> list[int]:
    """The hashes in a card's entry."""
    return np.frombuffer(words, dtype="<u4").tolist()


async def add_words(connection: Connection, cards: Sequence[tuple[str, int, bytes]]) -> None:
    """Take in new cards, each with its tenant, number and words; merge rows for some of the words, now and then."""
    await _add(connection, cards, counted=True)
    due = {tenant: words for tenant, number, words in cards if number % _FOLD_EACH == 0}
    if due:
        await fold(connection, [(tenant, word) for tenant, of in due.items() for word in (*hashes(of), EVERY_CARD)])


async def _add(connection: Connection, cards: Sequence[tuple[str, int, bytes]], *, counted: bool) -> None:
    pairs = [(word, number) for _, number, words in cards for word in hashes(words)]
    await connection.execute(
        _ADD,
        [number for _, number, _ in cards],
        [tenant for tenant, _, _ in cards],
        [word for word, _ in pairs],
        [number for _, number in pairs],
        counted,
    )


async def remove_words(connection: Connection, tenant: str, cards: Sequence[tuple[int, bytes]]) -> None:
    """Take off cards that are removed, given their numbers and words; merge rows as `add_words` does."""
    await connection.execute(_TAKE_OFF, tenant, [word for _, words in cards for word in hashes(words)], len(cards))
    due = next((words for number, words in cards if number % _FOLD_EACH == 0), None)
    if due is not None:
        await fold(connection, [(tenant, word) for word in (*hashes(due), EVERY_CARD)])


async def change_words(connection: Connection, tenant: str, number: int, old: bytes, new: bytes) -> None:
    """A card has other words than before."""
    before, after = set(hashes(old)), set(hashes(new))
    await _add(connection, [(tenant, number, np.array(sorted(after - before), dtype="<u4").tobytes())], counted=False)
    await connection.execute(_TAKE_OFF, tenant, sorted(before - after), 0)
    if number % _FOLD_EACH == 0:
        await fold(connection, [(tenant, word) for word in before ^ after])


async def fold(connection: Connection, words: Sequence[tuple[str, int]]) -> None:
    """Merge the rows of those of these tenants' words that have many, unless another transaction is at it."""
    await connection.execute(_FOLD, [tenant for tenant, _ in words], [word for _, word in words])


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of one query."""

    query: WordQuery
    """What each is worth."""
    counts: Mapping[int, int]
    """How many cards have each, by hash."""


async def ask(connection: Connection, tenant: str, texts: Sequence[str]) -> tuple[list[Words], int]:
    """The words of each of these texts, and how many cards the tenant has."""
    words = [distinct_words(text) for text in texts]
    hashed = [list(map(word_hash, some)) for some in words]
    asked = list({EVERY_CARD, *chain.from_iterable(hashed)})
    counts: dict[int, int] = dict(map(tuple, await connection.fetch(_COUNTS, tenant, asked)))
    cards = counts.pop(EVERY_CARD, 0)
    return [
        Words(query=weighed(some, [counts.get(word, 0) for word in hashes], cards), counts=counts)
        for some, hashes in zip(words, hashed, strict=True)
    ], cards


def affordable(query: WordQuery, counts: Mapping[int, int]) -> tuple[list[int], list[float]]:
    """The rarest words of which cards are read, bounded in all, and what they are worth."""
    chosen: list[int] = []
    worth: list[float] = []
    total = 0
    for hashed, weight in zip(query.hashes.tolist(), query.weights.tolist(), strict=True):
        if not counts.get(hashed):
            continue
        total += counts[hashed]
        if total > MOST_POSTINGS and chosen:
            break
        chosen.append(hashed)
        worth.append(weight)
    return chosen, worth


async def by_worth(connection: Connection, tenant: str, asked: Sequence[Words]) -> list[list[int]]:
    """For each query, numbers of cards by the weight of its rare words that they have, the most first.

    Some of the cards may be gone.
    """
    chosen = [affordable(words.query, words.counts) for words in asked]
    read = list(set(chain.from_iterable(some for some, _ in chosen)))
    lists: dict[int, list[NDArray[np.int64]]] = {word: [] for word in read}
    for word, sent in await connection.fetch(_ENTRIES, tenant, read) if read else ():
        lists[word].append(_numbers(sent))
    return [_heaviest([lists[word] for word in some], worth) for some, worth in chosen]


def _heaviest(lists: Sequence[Sequence[NDArray[np.int64]]], worth: Sequence[float]) -> list[int]:
    parts = [numbers for some in lists for numbers in some]
    if not parts:
        return []
    numbers, place = np.unique(np.concatenate(parts), return_inverse=True)
    each = np.repeat(worth, [sum(map(len, some)) for some in lists])
    sums = np.round(np.bincount(place, weights=each, minlength=len(numbers)), 9)
    return numbers[np.lexsort((-numbers, -sums))].tolist()


def _numbers(sent: bytes) -> NDArray[np.int64]:
    """The numbers of an array in Postgres' binary form: each with its length before it, behind a header."""
    pairs = np.frombuffer(sent, dtype=[("length", ">i4"), ("number", ">i8")], offset=_HEADER)
    return pairs["number"].astype(np.int64)
