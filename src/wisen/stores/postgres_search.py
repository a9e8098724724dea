"""Search in Postgres: a few hundred cards that may answer by SQL, then the same exact ranking as in every store."""

import asyncio
import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import asyncpg
import numpy as np
from numpy.typing import NDArray

from wisen.recall import RecallHit
from wisen.stores import hybrid
from wisen.stores.index import Match, Probe, prompt_code
from wisen.stores.postgres_connection import Connection
from wisen.stores.postgres_filter import Conditions, conditions, fitting_scopes
from wisen.stores.postgres_text import stored
from wisen.stores.postgres_words import ask, by_worth
from wisen.stores.serial import card_from_json
from wisen.stores.vectors import BITS, packed_dtype, sign_bits
from wisen.stores.words import WordQuery, covered

_KEPT = 64
_MOST_NEAR = 512
_MOST_HERE = 32
_MOST_BY_INDEX = 120
_SCAN = f"SET LOCAL hnsw.iterative_scan = relaxed_order; SET LOCAL hnsw.ef_search = {_MOST_BY_INDEX}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Cards that may answer."""

    words: WordQuery
    rows: Sequence[asyncpg.Record]
    """Number, id, time, words and vectors of each."""
    same: frozenset[int]
    """Numbers of those with the same prompt."""
    worded: frozenset[int]
    """Numbers of those found by their words."""


async def search(connection: Connection, probe: Probe, vectors: str) -> list[RecallHit]:
    """The hits, best first; `connection` is in a transaction of the query's tenant, pgvector in schema `vectors`."""
    found = await candidates(connection, probe, vectors)
    if not found.rows:
        return []
    if len(found.rows) > _MOST_HERE:
        matches = await asyncio.to_thread(ranked, probe, found)
    else:
        matches = ranked(probe, found)
    texts = await connection.fetch(
        "SELECT number, card FROM bodies WHERE number = ANY($1::bigint[])", [match.number for match in matches]
    )
    cards = {number: card_from_json(text) for number, text in texts}
    return [match.hit(cards[match.number]) for match in matches]


async def candidates(connection: Connection, probe: Probe, vectors: str) -> Candidates:
    """Cards of the same prompt, those nearest by sign bits, and those with the rarest words of the query."""
    where = probe.query.filter
    tenant = stored(where.tenant or "")
    scopes = await fitting_scopes(connection, where)
    words, counts, cards = await ask(connection, tenant, probe.query.situation.text)
    if not cards:
        return Candidates(words=words, rows=(), same=frozenset(), worded=frozenset())
    fitting = Fitting(connection, probe, scopes, vectors)
    same = await fitting.same_prompt()
    near = await fitting.nearest(cards)
    worded = await fitting.first_of(await by_worth(connection, tenant, words, counts))
    rows = await connection.fetch(
        "SELECT c.number, c.id, c.created, r.words, r.vectors FROM cards c JOIN recall r USING (number)"
        " WHERE c.number = ANY($1::bigint[])",
        list({*same, *near, *worded}),
    )
    return Candidates(words=words, rows=rows, same=frozenset(same), worded=frozenset(worded))


class Fitting:
    """Asks for numbers of the cards that the query's filter accepts."""

    def __init__(self, connection: Connection, probe: Probe, scopes: Sequence[str] | None, vectors: str) -> None:
        self._connection = connection
        self._probe = probe
        self._scopes = scopes
        self._distance = f"OPERATOR({vectors}.<~>)"

    def _where(self) -> Conditions:
        found = conditions(self._probe.query.filter, self._scopes)
        found.add("NOT c.superseded")
        return found

    async def _numbers(self, where: Conditions, question: str) -> list[int]:
        return [row[0] for row in await self._connection.fetch(question, *where.values)]

    async def same_prompt(self) -> list[int]:
        """The newest `k` of the same prompt."""
        key = prompt_code(self._probe.query.situation.key)
        if not key:
            return []
        where = self._where()
        where.add("c.situation_key = {}", key)
        return await self._numbers(
            where,
            f"SELECT c.number FROM cards c WHERE {where.text} ORDER BY c.created DESC, c.id"  # noqa: S608 - fixed conditions
            f" LIMIT {where.value(self._probe.query.k)}",
        )

    async def nearest(self, cards: int) -> list[int]:
        """The nearest of a tenant with this many cards; by its index where it has one, else by looking at all."""
        least = _KEPT + self._probe.query.k
        tenant = stored(self._probe.query.filter.tenant or "")
        if await self._connection.fetchval("SELECT true FROM tuned WHERE tenant = $1", tenant):
            limit = max(_MOST_BY_INDEX, least)
            await self._connection.execute(_SCAN)
            by_situation = await self._numbers(*self.by_column("situation", limit))
            by_text = await self._numbers(*self.by_column("text", limit))
            if min(len(by_situation), len(by_text)) == limit:
                return [*by_situation, *by_text]
        return await self._numbers(*self.by_both(max(min(_MOST_NEAR, 128 + cards // 64), least)))

    def by_column(self, column: str, limit: int) -> tuple[Conditions, str]:
        """The question for which a tenant may have an index; it may find fewer than there are."""
        where = self._where()
        bits = where.value(self._bits())
        return where, (
            f"SELECT c.number FROM cards c WHERE {where.text} ORDER BY c.{column} {self._distance} {bits} LIMIT {limit}"  # noqa: S608 - fixed conditions
        )

    def by_both(self, limit: int) -> tuple[Conditions, str]:
        """The question that looks at all cards."""
        where = self._where()
        bits = where.value(self._bits())
        return where, (
            f"SELECT c.number FROM cards c WHERE {where.text}"  # noqa: S608 - fixed conditions
            f" ORDER BY least(c.situation {self._distance} {bits}, c.text {self._distance} {bits}) LIMIT {limit}"
        )

    def _bits(self) -> asyncpg.BitString:
        return as_bits(sign_bits(self._probe.vector[np.newaxis])[0].tobytes())

    async def first_of(self, numbers: Sequence[int]) -> list[int]:
        """The first of these cards, as many as are looked at."""
        wanted, found, start = _KEPT + self._probe.query.k, list[int](), 0
        while len(found) < wanted and start < len(numbers):
            page = numbers[start : start + 4 * (wanted + start)]
            start += len(page)
            where = self._where()
            where.add("c.number = ANY({}::bigint[])", page)
            fitting = set(await self._numbers(where, f"SELECT c.number FROM cards c WHERE {where.text}"))  # noqa: S608 - fixed conditions
            found += [number for number in page if number in fitting]
        return found[:wanted]


def as_bits(packed: bytes) -> asyncpg.BitString:
    """Sign bits as Postgres takes them; which bit stands where doesn't matter, as long as it is always there."""
    return asyncpg.BitString.frombytes(packed, bitlength=BITS)


def ranked(probe: Probe, found: Candidates) -> list[Match]:
    """The best `k` of the candidates, exactly as `CardIndex` ranks them."""
    numbers: list[int] = [row[0] for row in found.rows]
    packed = np.frombuffer(b"".join(row[4] for row in found.rows), dtype=packed_dtype(len(probe.vector)))
    cosines = _cosines(packed["codes"], packed["inverse"], probe.vector)
    lengths = np.array([len(row[3]) // 4 for row in found.rows], dtype=np.int64)
    lexical, has = covered(found.words, np.frombuffer(b"".join(row[3] for row in found.rows), dtype="<u4"), lengths)
    same = np.array([number in found.same for number in numbers])
    vector = hybrid.rescaled(cosines.max(axis=1), probe.cosine_floor)
    relevance = hybrid.relevance(vector, lexical, same)
    considered = same | np.array([number in found.worded for number in numbers]) | _nearest(cosines, probe)
    passing = np.flatnonzero(considered & (same | (relevance >= probe.floor))).tolist()
    order = heapq.nsmallest(
        probe.query.k, passing, key=lambda at: (-relevance[at], -found.rows[at][2], found.rows[at][1])
    )
    return [
        Match(
            number=numbers[at],
            relevance=float(relevance[at]),
            vector=min(1.0, max(0.0, float(cosines[at].max()))),
            lexical=float(lexical[at]),
            reasons=hybrid.reasons(
                same_prompt=bool(same[at]),
                situation=float(cosines[at, 0]),
                text=float(cosines[at, 1]),
                floor=probe.cosine_floor,
                shared=[word for word, shared in zip(found.words.words, has[at].tolist(), strict=True) if shared],
            ),
        )
        for at in order
    ]


def _cosines(codes: NDArray[np.int8], inverse: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float64]:
    # Not `@`: its sums depend on the number of rows.
    return (np.einsum("rpd,d->rp", codes.astype(np.float32), vector) * inverse).astype(np.float64)


def _nearest(cosines: NDArray[np.float64], probe: Probe) -> NDArray[np.bool_]:
    best, limit = cosines.max(axis=1), _KEPT + probe.query.k
    chosen = np.ones(len(best), dtype=np.bool_)
    if len(best) > limit:
        chosen[:] = False
        chosen[np.argpartition(-best, limit - 1)[:limit]] = True
    return chosen
