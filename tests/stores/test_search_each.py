"""Several searches at once: each store gives what a plain comparison of all cards gives, and what one by one gives."""

import math
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from wisen.advice.rankers import BySimilarity
from wisen.cards import MemoryCard, MemoryKind, MemoryScope, MemoryStatus, Provenance, Situation
from wisen.embedders.hashing import HashEmbedder
from wisen.errors import ConfigError
from wisen.identity import standing
from wisen.memory_ci.pipeline import MemoryCI
from wisen.protocols import VectorStore
from wisen.recall import RECALLABLE, CardFilter, RecallHit, RecallQuery
from wisen.stores.in_process.store import InMemoryVectorStore
from wisen.stores.index.lexical import MOST_POSTINGS, WordIndex, distinct_words, word_hash
from wisen.stores.index.nearness import cosines_of
from wisen.stores.index.vectors import pack, packed_dtype
from wisen.stores.markdown.store import MarkdownStore
from wisen.stores.postgres.store import PostgresVectorStore
from wisen.stores.sqlite.store import SQLiteVectorStore

pytestmark = pytest.mark.anyio

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
WORDS = "invoice|north|table|sum|depot|van|sort|paint|rope|lamp|Nordic|12|40|the|of|not"
KINDS = ((MemoryKind.LESSON, MemoryKind.PRINCIPLE), (MemoryKind.SKILL_CARD,))
STATUSES = (MemoryStatus.PROMOTED, MemoryStatus.QUARANTINED, MemoryStatus.ARCHIVED)

_Store = InMemoryVectorStore | SQLiteVectorStore | MarkdownStore | PostgresVectorStore
_READ = 16
"""How many hits at least have their texts compared with the query's."""
Shown = tuple[str, float, float, int]
"""A hit's card, relevance, lexical share, and how its content fits."""


def said(draws: Random, most: int) -> str:
    return " ".join(draws.choices(WORDS.split("|"), k=draws.randint(1, most)))


def drawn(draws: Random, number: int) -> MemoryCard:
    """A card that is much like others: few words, few days, and all that a filter or a ranking might look at."""
    return MemoryCard(
        kind=draws.choice((MemoryKind.LESSON, MemoryKind.LESSON, MemoryKind.PRINCIPLE, MemoryKind.SKILL_CARD)),
        content=said(draws, 4),
        situation=Situation(prompt=said(draws, 4) if draws.random() < 0.9 else ""),
        scope=MemoryScope(
            agent_roles=draws.choice(((), (), ("clerk",), ("clerk", "pilot"))),
            task_types=draws.choice(((), (), (f"type {draws.randrange(3)}",))),
        ),
        status=draws.choice(STATUSES),
        provenance=Provenance(
            run_id=draws.choice(("", f"run {draws.randrange(4)}")),
            owner=draws.choice(("", "ann", "bob")),
            created_at=NOON + timedelta(days=draws.randrange(3)),
        ),
        pinned=draws.random() < 0.1,
        idea=draws.choice(("", "", "card-1")) if number > 1 else "",
        rivals=draws.choice(((), ("card-0",))),
        superseded_by="other" if draws.random() < 0.1 else "",
        id=f"card-{number}",
    )


def asked(draws: Random, cards: Sequence[MemoryCard]) -> list[RecallQuery]:
    """A situation as a recall asks for it, status by status and kind by kind, and for all at once."""
    known = draws.choice(cards).situation.prompt
    situation = Situation(prompt=draws.choice((known, said(draws, 6))))
    where = CardFilter(
        tenant="",
        agent_role=draws.choice(("", "clerk", "gardener")),
        task_type=draws.choice(("", "type 1")),
        run_id=draws.choice(("", "", "run 2")),
        circle=draws.choice(("", "", cards[0].circle, draws.choice(cards).circle)),
    )
    every = RecallQuery(
        situation=situation, filter=where, k=draws.choice((1, 3, 8)), floor=draws.choice((None, 0.0, 0.4))
    )
    parts = [
        replace(every, filter=replace(where, statuses=(status,), kinds=kinds), k=draws.choice((1, 4, 20)))
        for status, kinds in product(STATUSES[:2], KINDS)
    ]
    return [*parts, every]


class Plain:
    """Searches by comparing the situation with each card, one after the other."""

    def __init__(self, cards: Sequence[MemoryCard]) -> None:
        self.cards = cards
        self.embedder = HashEmbedder()
        self.words = [set(distinct_words(f"{card.situation.text}\n{card.text}")) for card in cards]
        self.keys = [(card.situation.key, card.situation.content) for card in cards]
        self.packed: Any = None

    async def near(self, text: str) -> Any:
        if self.packed is None:
            texts = [text for card in self.cards for text in (card.situation.text, card.text)]
            vectors = (await self.embedder.embed(texts)).reshape(len(self.cards), 2, -1)
            self.packed = np.frombuffer(b"".join(pack(vectors)), dtype=packed_dtype(self.embedder.dimension))
        vector = (await self.embedder.embed([text]))[0]
        return cosines_of(self.packed["codes"], self.packed["inverse"], vector).max(axis=1).tolist()

    def weights(self, text: str) -> dict[str, float]:
        known = len(self.cards) + 20
        counts = {word: sum(word in some for some in self.words) for word in distinct_words(text)}
        return {word: math.log1p((known - count + 0.5) / (count + 0.5)) for word, count in counts.items()}

    async def search(self, query: RecallQuery) -> list[Shown]:
        near, weights = await self.near(query.situation.text), self.weights(query.situation.text)
        key, content = query.situation.key, query.situation.content
        fitting = [at for at, card in enumerate(self.cards) if query.filter.accepts(card) and not card.superseded_by]
        alike = [at for at in fitting if key and self.keys[at][0] == key]
        newest = sorted(alike, key=lambda at: (-self.age(at), self.cards[at].id))[: query.k]
        found: list[tuple[float, float, str, float, int]] = []
        for at in fitting:
            lexical = sum(weight for word, weight in weights.items() if word in self.words[at])
            lexical /= sum(weights.values()) or 1.0
            vector = min(max((near[at] - self.embedder.floor) / (1.0 - self.embedder.floor), 0.0), 1.0)
            vector = vector if near[at] else 0.0
            same = at in newest
            relevance = 1.0 if same else min(round(1.0 - (1.0 - vector) * (1.0 - 0.5 * lexical), 4), 0.999)
            if same or relevance >= (0.25 if query.floor is None else query.floor):
                found.append((-relevance, -self.age(at), self.cards[at].id, round(lexical, 6), at))
        found.sort()
        read = max(query.k, _READ) if query.situation.prompt else query.k
        best = {*found[:read], *[one for one in found if content and self.keys[one[-1]][1] == content][:read]}
        hits = [(one[2], -one[0], one[3], self.fit(query, one[-1])) for one in found if one in best]
        hits.sort(key=lambda hit: (hit[1] < 1.0, -hit[3]))
        return hits[: query.k]

    def fit(self, query: RecallQuery, at: int) -> int:
        stands = standing(query.situation.prompt, self.cards[at].situation.prompt)
        return {"agrees": 1, "contradicts": -1, "": 0}[stands]

    def age(self, at: int) -> float:
        return self.cards[at].provenance.created_at.timestamp()


def shown(hits: Sequence[RecallHit]) -> list[Shown]:
    return [(hit.card.id, round(hit.relevance, 4), round(hit.lexical, 6), hit.fit) for hit in hits]


@asynccontextmanager
async def opened(kind: str, folder: Path, url: str) -> AsyncGenerator[_Store]:
    stores = {
        "memory": InMemoryVectorStore,
        "sqlite": lambda: SQLiteVectorStore(folder / "cards.db"),
        "markdown": lambda: MarkdownStore(folder / "cards", fsync=False),
        "postgres": lambda: PostgresVectorStore(url),
    }
    async with stores[kind]() as store:
        yield store


async def checked(store: _Store, cards: Sequence[MemoryCard], draws: Random, times: int) -> int:
    """Compare, and count the hits."""
    plain, found = Plain(cards), 0
    for _ in range(times):
        queries = asked(draws, cards)
        together = [shown(hits) for hits in await store.search_each(queries)]
        assert together == [await plain.search(query) for query in queries]
        assert together == [shown(await store.search(query)) for query in queries]
        found += sum(map(len, together))
    return found


@pytest.mark.no_cover
@pytest.mark.parametrize("kind", ["memory", "sqlite", "markdown", "postgres"])
async def test_each_store_finds_what_a_plain_comparison_finds(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue("postgres_url") if kind == "postgres" else ""
    draws = Random(3)
    cards = list({card.duplicate_key: card for card in (drawn(draws, number) for number in range(68))}.values())
    async with opened(kind, tmp_path, url) as store:
        await store.add_unscreened(cards)
        kept = await store.list(CardFilter())
        assert len(kept) == len(cards)
        assert await checked(store, kept, draws, 25) > 150


@pytest.mark.no_cover
async def test_whatever_the_cards_memory_and_sqlite_find_what_a_plain_comparison_finds(tmp_path: Path) -> None:
    draws, found = Random(4), 0
    for number in range(10):
        some = [drawn(draws, number) for number in range(draws.choice((2, 20, 65)))]
        cards = list({card.duplicate_key: card for card in some}.values())
        for kind in ("memory", "sqlite"):
            async with opened(kind, tmp_path / f"{number}", "") as store:
                await store.add_unscreened(cards)
                found += await checked(store, cards, draws, 6)
    assert found > 400


@pytest.mark.no_cover
async def test_among_many_cards_each_search_finds_what_it_finds_alone() -> None:
    """More cards than are compared one by one, of which a word may be in nearly all."""
    draws = Random(5)
    some = [drawn(draws, number) for number in range(1_500)]
    some = [replace(card, content=f"{card.content} {card.id}", superseded_by="") for card in some]
    plain, first, nothing = Plain(some), 0, 0
    async with InMemoryVectorStore() as store:
        await store.add_unscreened(some)
        for _ in range(20):
            queries = asked(draws, some)
            together = [shown(hits) for hits in await store.search_each(queries)]
            assert together == [shown(await store.search(query)) for query in queries]
            expected = await plain.search(queries[0])
            assert set(together[0]) <= set(await plain.search(replace(queries[0], k=len(some))))
            first += together[0][:1] == expected[:1]
            nothing += not expected
    assert first >= 19
    assert nothing < 10


class OneByOne(InMemoryVectorStore):
    """A store with a search of its own, which counts."""

    searches = 0

    async def search(self, query: RecallQuery) -> list[RecallHit]:
        self.searches += 1
        return await super().search(query)


class Picky(BySimilarity):
    """A ranker with hits of its own."""

    async def hits(self, store: VectorStore, query: RecallQuery) -> list[RecallHit]:
        return [hit for hit in await super().hits(store, query) if hit.card.pinned]


@pytest.mark.no_cover
async def test_a_recall_gives_what_four_searches_give_and_asks_a_search_of_ones_own() -> None:
    draws = Random(6)
    cards = [drawn(draws, number) for number in range(400)]
    cards = list({card.duplicate_key: card for card in cards}.values())
    found = 0
    async with InMemoryVectorStore() as store, OneByOne() as other:
        for one in (store, other):
            await one.add_unscreened(cards)
        for number in range(30):
            query = asked(draws, cards)[-1]
            together = await MemoryCI(store).recall(query.situation, query.filter, k=query.k)
            assert together == await MemoryCI(other).recall(query.situation, query.filter, k=query.k)
            assert other.searches == 4 * (number + 1)
            found += len(together)
        everything = CardFilter(tenant="")
        picked = await MemoryCI(store, ranker=Picky()).recall(Situation(prompt="sum of the table"), everything, k=50)
    assert found > 60
    assert picked
    assert all(one.hit.card.pinned for one in picked)


async def test_queries_of_several_tenants_are_refused() -> None:
    situation = Situation(prompt="sum")
    queries = [RecallQuery(situation=situation, filter=CardFilter(tenant=tenant)) for tenant in ("", "north")]
    async with InMemoryVectorStore() as store:
        assert await store.search_each([]) == []
        with pytest.raises(ConfigError, match="one tenant"):
            await store.search_each(queries)


async def test_queries_on_several_situations_are_answered_each() -> None:
    draws = Random(8)
    cards = [replace(drawn(draws, number), status=RECALLABLE[number % 2], superseded_by="") for number in range(60)]
    cards = list({card.duplicate_key: card for card in cards}.values())
    async with InMemoryVectorStore() as store:
        await store.add_unscreened(cards)
        queries = [query for _ in range(3) for query in asked(draws, cards)]
        draws.shuffle(queries)
        together = [shown(hits) for hits in await store.search_each(queries)]
        plain = Plain(cards)
        assert together == [await plain.search(query) for query in queries]


async def test_a_prompt_that_changes_without_its_text_is_found_again() -> None:
    card = replace(drawn(Random(1), 1), situation=Situation(prompt="Sort the lamps\nby depot"), superseded_by="")
    moved = replace(card, situation=Situation(prompt="Sort the lamps", task_type="by depot"), version=2)
    query = RecallQuery(situation=moved.situation, filter=CardFilter(tenant=""))
    async with InMemoryVectorStore() as store:
        await store.add_unscreened([card])
        before = await store.search(query)
        await store.update(moved)
        assert (before[0].relevance, (await store.search(query))[0].relevance) == (0.999, 1.0)


def test_what_is_read_of_common_words_bounds_what_cards_have_of_a_query() -> None:
    """Some words have more entries than are read, the first of them and the last."""
    draws, rows = Random(9), np.arange(MOST_POSTINGS + 4_000)
    index = WordIndex()
    rates = {"van": 0.95, "lamp": 0.6, "rope": 0.3, "sum": 0.01}
    index.extend(
        [
            np.array(
                sorted(word_hash(word) for word, rate in rates.items() if draws.random() < rate), dtype="<u4"
            ).tobytes()
            for _ in rows
        ]
    )
    for text in ("van", "van sum", "van lamp rope", "sum rope", "unheard", ""):
        query = index.question(text)
        worth = index.worth(query)
        share, (least, most) = index.coverage(query, rows)[0], worth.share(rows)
        assert (least <= share).all()
        assert (share <= most).all()
        found = worth.heaviest(rows[-500:], 30)
        assert len(found) == min(30, int((least[-500:] > 0).sum()))
        # The heaviest, and of equal ones the last.
        order = sorted(rows[-500:].tolist(), key=lambda row: (-float(least[row]), -row))
        assert sorted(found.tolist()) == sorted(order[: len(found)])
