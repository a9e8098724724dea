"""Search in Postgres: a few hundred cards that may answer by SQL, then the same exact ranking as in every store."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field

import asyncpg
import numpy as np

from wisen.recall import CardFilter, RecallHit
from wisen.stores.damaged_rows import Damage
from wisen.stores.index import scoring
from wisen.stores.index.lexical import WordQuery, covered
from wisen.stores.index.nearness import cosines_of
from wisen.stores.index.ranking import KEPT, CardName, Contenders, Match, Probe, nearest_by_cosine
from wisen.stores.index.vectors import BITS, packed_dtype, sign_bits
from wisen.stores.postgres.client import Connection
from wisen.stores.postgres.filter import Conditions, conditions, fitting_scopes
from wisen.stores.postgres.lexical import ask, by_worth
from wisen.stores.postgres.text import restored, stored
from wisen.yielding import LoopShare

_MOST_NEAR = 512
_MOST_HERE = 32
_FEW = 4_096
"""Cards of a tenant up to which the queries that come together look at all of them in one statement, one at a time."""
_MOST_BY_INDEX = 120
# One row of columns: a row for each card would be that many objects, and a pause for whoever collects garbage. All
# columns take the cards in the same order.
_COLUMNS = (
    "SELECT array_agg(c.number), array_agg(c.id), array_agg(c.created), array_agg(c.content_key), array_agg(r.words),"
    " string_agg(r.vectors, '')"
    " FROM cards c JOIN recall r USING (number) WHERE c.number = ANY($1::bigint[])"
)
_SCAN = f"SET LOCAL hnsw.iterative_scan = relaxed_order; SET LOCAL hnsw.ef_search = {_MOST_BY_INDEX}"


@dataclass(frozen=True, slots=True)
class Columns:
    """What cards are ranked by, each column in the same order."""

    numbers: Sequence[int]
    ids: Sequence[str]
    created: Sequence[int]
    contents: Sequence[int]
    """Hashes of the hard content of each card's prompt."""
    words: Sequence[bytes]
    """The hashes of each card's words."""
    vectors: bytes
    """Both vectors of all cards, packed, one after another."""


_NO_COLUMNS = Columns((), (), (), (), (), b"")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Cards that may answer one query."""

    words: WordQuery
    cards: Columns
    at: Sequence[int]
    """Where in the columns they stand."""
    same: frozenset[int]
    """Numbers of those with the same prompt."""
    worded: frozenset[int]
    """Numbers of those found by their words."""


async def label_and_tuned(connection: Connection, tenant: str) -> tuple[str, bool]:
    """Whose vectors these are, and whether the tenant has an index of its own."""
    rows = await connection.fetch("SELECT embedder, EXISTS (SELECT FROM tuned WHERE tenant = $1) FROM state", tenant)
    return tuple(rows[0])


async def search(
    connection: Connection,
    probes: Sequence[Probe],
    vectors: str,
    *,
    tuned: bool,
    aside: Executor,
    share: LoopShare,
    damage: Damage,
) -> list[list[RecallHit]]:
    """The hits of each query, best first; what takes long is done `aside`, and what takes less in rounds of the loop.

    All are of one tenant, whose transaction this is; pgvector is in schema `vectors`.
    """
    found = await _candidates(connection, probes, vectors, tuned=tuned, share=share)
    await share.take()
    many, loop = sum(len(one.at) for one in found) > _MOST_HERE, asyncio.get_running_loop()
    matches = await loop.run_in_executor(aside, _all_ranked, probes, found) if many else _all_ranked(probes, found)
    numbers = list({match.number for some in matches for match in some})
    if not numbers:
        return [[] for _ in probes]
    texts = await connection.fetch(
        "SELECT number, c.id, b.card FROM bodies b JOIN cards c USING (number) WHERE number = ANY($1::bigint[])",
        numbers,
    )
    return await loop.run_in_executor(aside, _hits, matches, texts, damage) if many else _hits(matches, texts, damage)


def _hits(matches: Sequence[Sequence[Match]], texts: Iterable[asyncpg.Record], damage: Damage) -> list[list[RecallHit]]:
    cards = {row[0]: card for row in texts for card in damage.cards([(row[0], restored(row[1]), row[2])])}
    return [[match.hit(cards[match.number]) for match in some if match.number in cards] for some in matches]


async def _candidates(
    connection: Connection, probes: Sequence[Probe], vectors: str, *, tuned: bool, share: LoopShare
) -> list[Candidates]:
    """Cards of the same prompt, those whose content agrees, those nearest by sign bits, and those with rare words."""
    filters = [probe.query.filter for probe in probes]
    tenant = stored(filters[0].tenant or "")
    words, cards = await ask(connection, tenant, [probe.query.situation.text for probe in probes])
    if not cards:
        return [_without(one.query) for one in words]
    await share.take()
    scopes = await fitting_scopes(connection, filters)
    worth = await by_worth(connection, tenant, words)
    await share.take()
    found = [_Numbers() for _ in probes]
    alike: defaultdict[tuple[CardFilter, int, bool], list[int]] = defaultdict(list)
    for place, probe in enumerate(probes):
        alike[probe.query.filter, probe.query.k, probe.query.superseded].append(place)
    for (_, k, _), places in alike.items():
        fitting = FittingNumbers(connection, probes[places[0]], scopes[places[0]], vectors)
        few = not tuned and cards <= _FEW
        own = [(probes[place], worth[place], found[place]) for place in places]
        await fitting.find(own, _most_near(cards, k) if few else 0)
        for probe, _, numbers in [] if few else own:
            numbers.near.update(await fitting.nearest(probe, _most_near(cards, k), tuned=tuned))
    await share.take()
    every = set[int]().union(*(one.every for one in found))
    row = (await connection.fetch(_COLUMNS, list(every)))[0]
    columns = Columns(*row) if row[0] else _NO_COLUMNS
    place = {number: at for at, number in enumerate(columns.numbers)}
    return [
        Candidates(
            words=one.query,
            cards=columns,
            at=[place[number] for number in of.every if number in place],
            same=frozenset(of.same),
            worded=frozenset(of.worded),
        )
        for one, of in zip(words, found, strict=True)
    ]


def _without(words: WordQuery) -> Candidates:
    return Candidates(words=words, cards=_NO_COLUMNS, at=(), same=frozenset(), worded=frozenset())


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Numbers of cards, by why they may answer."""

    same: set[int] = field(default_factory=set[int])
    near: set[int] = field(default_factory=set[int])
    worded: set[int] = field(default_factory=set[int])
    agreeing: set[int] = field(default_factory=set[int])

    def add(self, why: int, numbers: Iterable[int]) -> None:
        """Take in what a statement has found; `why` counts from 0, as they stand here."""
        (self.same, self.near, self.worded, self.agreeing)[why].update(numbers)

    @property
    def every(self) -> set[int]:
        """All of them."""
        return self.same | self.near | self.worded | self.agreeing


def _most_near(cards: int, k: int) -> int:
    """How many of a tenant's cards are looked at because they are near."""
    return max(min(_MOST_NEAR, 128 + cards // 64), KEPT + k)


class FittingNumbers:
    """Asks for numbers of the cards that a filter accepts, for queries that share it and want as many hits."""

    def __init__(self, connection: Connection, probe: Probe, scopes: Sequence[str] | None, vectors: str) -> None:
        """`probe` is one of the queries."""
        self._connection = connection
        self._query = probe.query
        self._scopes = scopes
        self._distance = f"OPERATOR({vectors}.<~>)"
        self._least = KEPT + probe.query.k

    def _where(self) -> Conditions:
        found = conditions(self._query.filter, self._scopes)
        if not self._query.superseded:
            found.add("NOT c.superseded")
        return found

    async def find(self, asked: Sequence[tuple[Probe, Sequence[int], _Numbers]], near: int) -> None:
        """For each query the newest `k` of its prompt, the first that fit of its heaviest, and so many of the nearest.

        Also the nearest of those whose content agrees. Each query comes with the heaviest by its words, and takes what
        is found.
        """
        pages = [heaviest[: 4 * self._least] for _, heaviest, _ in asked]
        where = self._where()
        rows: list[tuple[int, int, list[int]]] = await self._connection.fetch(
            self._find(where),
            *where.values,
            [probe.key for probe, _, _ in asked],
            [probe.content for probe, _, _ in asked],
            _bits([probe for probe, _, _ in asked]),
            [place for place, page in enumerate(pages, 1) for _ in page],
            [number for page in pages for number in page],
            self._query.k,
            near,
            self._least,
        )
        for place, why, numbers in rows:
            asked[place - 1][2].add(why, numbers)
        for (_, heaviest, numbers), page in zip(asked, pages, strict=True):
            if len(numbers.worded) < self._least:
                numbers.worded.update(await self._first_of(heaviest, len(page), self._least - len(numbers.worded)))

    def _find(self, where: Conditions) -> str:
        # OFFSET keeps the server from looking at all cards for each number, as it may where it has counted none yet.
        fits, first = where.text, len(where.values) + 1
        keys, contents, bits, places, numbers, k, near, least = (f"${number}" for number in range(first, first + 8))
        return f"""
            SELECT q.place, f.why, array_agg(f.number)
            FROM unnest({keys}::bigint[], {contents}::bigint[], {bits}::bit({BITS})[])
                WITH ORDINALITY AS q (key, content, bits, place)
            CROSS JOIN LATERAL (
                (SELECT 0 AS why, c.number FROM cards c WHERE {fits} AND c.situation_key = q.key AND q.key <> 0
                    ORDER BY c.created DESC, c.id LIMIT {k}::int)
                UNION ALL
                (SELECT 1, c.number FROM cards c WHERE {fits} AND {near}::int > 0
                    ORDER BY {self._nearness("q.bits")} LIMIT {near}::int)
                UNION ALL
                (SELECT 2, c.number
                    FROM unnest({places}::int[], {numbers}::bigint[]) WITH ORDINALITY AS p (of, number, at)
                    CROSS JOIN LATERAL (SELECT c.number FROM cards c WHERE c.number = p.number AND {fits} OFFSET 0) AS c
                    WHERE p.of = q.place ORDER BY p.at LIMIT {least}::int)
                UNION ALL
                (SELECT 3, c.number FROM cards c WHERE {fits} AND c.content_key = q.content AND q.content <> 0
                    ORDER BY {self._nearness("q.bits")}, c.created DESC, c.id LIMIT {_MOST_NEAR})
            ) AS f GROUP BY q.place, f.why
        """  # noqa: S608 - fixed conditions

    def _nearness(self, bits: str) -> str:
        return f"least(c.situation {self._distance} {bits}, c.text {self._distance} {bits})"

    async def nearest(self, probe: Probe, limit: int, *, tuned: bool) -> list[int]:
        """The nearest of a large tenant; by its index where it has one and that finds enough, else by a look at all."""
        if tuned:
            by_index = max(_MOST_BY_INDEX, self._least)
            await self._connection.execute(_SCAN)
            by_situation = await self._numbers(*self.by_column("situation", probe, by_index))
            by_text = await self._numbers(*self.by_column("text", probe, by_index))
            if min(len(by_situation), len(by_text)) == by_index:
                return [*by_situation, *by_text]
        where = self._where()
        near = self._nearness(where.value(_bits([probe])[0]))
        return await self._numbers(
            where,
            f"SELECT c.number FROM cards c WHERE {where.text} ORDER BY {near} LIMIT {limit}",  # noqa: S608 - fixed conditions
        )

    async def _numbers(self, where: Conditions, question: str) -> list[int]:
        return [row[0] for row in await self._connection.fetch(question, *where.values)]

    def by_column(self, column: str, probe: Probe, limit: int) -> tuple[Conditions, str]:
        """The question for which a tenant may have an index; it may find fewer than there are."""
        where = self._where()
        bits = where.value(_bits([probe])[0])
        return where, (
            f"SELECT c.number FROM cards c WHERE {where.text} ORDER BY c.{column} {self._distance} {bits} LIMIT {limit}"  # noqa: S608 - fixed conditions
        )

    async def _first_of(self, numbers: Sequence[int], start: int, wanted: int) -> list[int]:
        """The first of these cards from a place on, as many as are wanted."""
        found = list[int]()
        while len(found) < wanted and start < len(numbers):
            page = numbers[start : start + 4 * (self._least + start)]
            start += len(page)
            where = self._where()
            where.add("c.number = ANY({}::bigint[])", page)
            fitting = set(await self._numbers(where, f"SELECT c.number FROM cards c WHERE {where.text}"))  # noqa: S608 - fixed conditions
            found += [number for number in page if number in fitting]
        return found[:wanted]


def _bits(probes: Sequence[Probe]) -> list[asyncpg.BitString]:
    return [as_bits(bits.tobytes()) for bits in sign_bits(np.stack([probe.vector for probe in probes]))]


def as_bits(packed: bytes) -> asyncpg.BitString:
    """Sign bits as Postgres takes them; which bit stands where doesn't matter, as long as it is always there."""
    return asyncpg.BitString.frombytes(packed, bitlength=BITS)


def _all_ranked(probes: Sequence[Probe], found: Sequence[Candidates]) -> list[list[Match]]:
    return [ranked(probe, one) if one.at else [] for probe, one in zip(probes, found, strict=True)]


def ranked(probe: Probe, found: Candidates) -> list[Match]:
    """The best of the candidates, exactly as `CardIndex` ranks them."""
    cards = found.cards
    numbers = [cards.numbers[at] for at in found.at]
    packed = np.frombuffer(cards.vectors, dtype=packed_dtype(len(probe.vector)))[found.at]
    near = cosines_of(packed["codes"], packed["inverse"], probe.vector)
    words = [cards.words[at] for at in found.at]
    lengths = np.array([len(one) // 4 for one in words], dtype=np.int64)
    coverage = covered(found.words, np.frombuffer(b"".join(words), dtype="<u4"), lengths)
    same = np.array([number in found.same for number in numbers])
    keyed = (np.array([cards.contents[at] == probe.content for at in found.at]) | same) & (probe.content != 0)
    chosen = same | keyed | np.array([number in found.worded for number in numbers])
    chosen[nearest_by_cosine(near, np.arange(len(numbers)), KEPT + probe.query.k)] = True
    places = chosen.nonzero()[0]
    vector = scoring.rescaled(near.max(axis=1), probe.cosine_floor)
    every = Contenders(cosines=near, vector=vector, same=same, keyed=keyed)
    names = [CardName(numbers[at], cards.created[found.at[at]], cards.ids[found.at[at]]) for at in places.tolist()]
    return every.at(places).ranked(probe, found.words, (coverage[0][places], coverage[1][places]), names)
