"""Synthetic memory for the Postgres benchmark: tenants of uneven size, clustered vectors, short texts of a language."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wisen import CardFilter, MemoryCard, MemoryKind, MemoryScope, MemoryStatus, RecallQuery, Situation
from wisen.cards import Provenance
from wisen.stores.index import scoring

DIMENSION = 384
LARGEST = 0.2
"""Share of the largest tenant; the others' sizes follow Zipf's law."""
_TENANTS = 2_000
_TOPICS = 2_000
_WORDS = 20_000
_PROMPT, _LESSON, _QUERY = 12, 14, 10
_NOISE, _QUERY_NOISE = 0.04, 0.05
_SEED = 6
_AS_GOOD = 0.002
"""What 8-bit codes may take off or add."""
_START = datetime(2026, 1, 1, tzinfo=UTC)

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


class Known:
    """An embedder that looks up the synthetic vectors of the texts it was shown."""

    name = "synthetic"
    dimension = DIMENSION
    floor = 0.2

    def __init__(self) -> None:
        """Know nothing."""
        self.vectors: dict[str, Floats] = {}

    async def embed(self, texts: Sequence[str]) -> Any:
        """Look up."""
        return np.stack([self.vectors[text] for text in texts])


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Cards with their vectors, situation and text, and their words as numbers."""

    cards: list[MemoryCard]
    vectors: Floats
    words: Ints


@dataclass(kw_only=True)
class Tenant:
    """What an exact scan of one tenant needs."""

    ids: list[str] = field(default_factory=list[str])
    vectors: list[Floats] = field(default_factory=list[Floats])
    words: list[Ints] = field(default_factory=list[Ints])


class Material:
    """Cards and queries, the same for each run."""

    def __init__(self, size: int) -> None:
        """For a store of `size` cards."""
        self.size = size
        self._draw = np.random.default_rng(_SEED)
        syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "ar", "en", "il")]
        made = dict.fromkeys(
            "".join(self._draw.choice(syllables, self._draw.integers(2, 5))) for _ in range(2 * _WORDS)
        )
        self._words = np.array(list(itertools.islice(made, _WORDS)))
        self._place = {word: number for number, word in enumerate(self._words.tolist())}
        natural = 1 / np.arange(1, len(self._words) + 1)
        self._chance = np.cumsum(natural / natural.sum())
        self._topics = self._draw.integers(0, len(self._words), (_TOPICS, 12))
        centres = self._draw.standard_normal((_TOPICS, DIMENSION)).astype(np.float32)
        self._centres = centres / np.linalg.norm(centres, axis=1, keepdims=True)
        shares = 1 / np.arange(1, _TENANTS)
        shares = np.concatenate([[LARGEST], (1 - LARGEST) * shares / shares.sum()])
        self._shares = np.cumsum(shares)
        self.expected = np.round(size * shares).astype(int)

    def batches(self, count: int, each: int, beginning: int = 0) -> Iterator[Batch]:
        """The next `count` cards, numbered from `beginning`."""
        for first in range(beginning, beginning + count, each):
            yield self._batch(first, min(each, beginning + count - first))

    def _batch(self, first: int, count: int) -> Batch:
        topics = self._draw.integers(0, _TOPICS, count)
        tenants = np.searchsorted(self._shares, self._draw.random(count))
        words = np.concatenate([self._text(topics, 6, _PROMPT), self._text(topics, 5, _LESSON)], axis=1)
        vectors = np.stack([self._near(topics, _NOISE), self._near(topics, _NOISE)], axis=1)
        texts = self._words[words]
        cards = [
            MemoryCard(
                kind=MemoryKind.LESSON,
                status=MemoryStatus.QUARANTINED,
                content=" ".join(text[_PROMPT:]),
                situation=Situation(prompt=" ".join(text[:_PROMPT])),
                scope=MemoryScope(tenant=tenant_name(tenant)),
                provenance=Provenance(run_id=f"run-{first + at}", created_at=_START + timedelta(seconds=first + at)),
            )
            for at, (text, tenant) in enumerate(zip(texts.tolist(), tenants.tolist(), strict=True))
        ]
        return Batch(cards=cards, vectors=vectors, words=words)

    def _text(self, topics: Ints, own: int, whole: int) -> Ints:
        mine = np.take_along_axis(self._topics[topics], self._draw.integers(0, 12, (len(topics), own)), axis=1)
        others = np.searchsorted(self._chance, self._draw.random((len(topics), whole - own)))
        return self._draw.permuted(np.concatenate([mine, others], axis=1), axis=1)

    def _near(self, topics: Ints, noise: float) -> Floats:
        made = self._centres[topics]
        made = made + noise * self._draw.standard_normal((len(topics), DIMENSION), dtype=np.float32)
        return made / np.linalg.norm(made, axis=1, keepdims=True)

    def queries(self, tenants: Sequence[str], count: int) -> list[tuple[RecallQuery, Floats]]:
        """Situations like those of the cards, with their vectors."""
        topics = self._draw.integers(0, _TOPICS, count)
        texts = self._words[self._text(topics, 6, _QUERY)]
        vectors = self._near(topics, _QUERY_NOISE)
        found: list[tuple[RecallQuery, Floats]] = []
        for at, (text, vector) in enumerate(zip(texts.tolist(), vectors, strict=True)):
            where = CardFilter(tenant=tenants[at % len(tenants)])
            situation = Situation(prompt=" ".join(text))
            found.append((RecallQuery(situation=situation, filter=where, k=5, floor=0.0), vector))
        return found

    def words_of(self, prompt: str) -> Ints:
        """The numbers of a prompt's words, each once."""
        return np.array(list(dict.fromkeys(self._place.get(word, -1) for word in prompt.split())))


def tenant_name(number: int) -> str:
    """The name of the tenant of this rank; 0 is the largest."""
    return f"tenant-{number:04}"


def best(tenant: Tenant, words: Ints, vector: Floats, floor: float) -> tuple[set[str], set[str]]:
    """The exact best five of a tenant, and those as good as the fifth: by wisen's relevance, and by a cosine alone."""
    both = np.concatenate(tenant.vectors) @ vector
    cosines = both.max(axis=1).astype(np.float64)
    mine = np.concatenate(tenant.words)
    has = np.stack([(mine == word).any(axis=1) for word in words.tolist()], axis=1)
    weights = scoring.rarity(has.sum(axis=0).astype(np.float64), len(mine))
    relevance = scoring.relevance(
        scoring.rescaled(cosines, floor), has @ weights / weights.sum(), np.zeros(len(mine), dtype=np.bool_)
    )
    return _top(tenant, relevance), _top(tenant, both[:, 1])


def _top(tenant: Tenant, scores: NDArray[Any]) -> set[str]:
    fifth = np.sort(scores)[-5:].min() - _AS_GOOD
    return {tenant.ids[at] for at in np.flatnonzero(scores >= fifth).tolist()}
