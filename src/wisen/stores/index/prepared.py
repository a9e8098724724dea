"""What every store computes before it writes a card or searches, apart from where it keeps things."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from wisen.cards import MemoryCard, Situation
from wisen.errors import StoreError
from wisen.protocols import Embedder
from wisen.recall import RecallQuery
from wisen.screening.redaction import without_placeholders
from wisen.stores.index.codes import hash_code, scope_code
from wisen.stores.index.lexical import card_words
from wisen.stores.index.ranking import Probe
from wisen.stores.index.scoring import DEFAULT_FLOOR
from wisen.stores.index.search import IndexRow
from wisen.stores.index.vectors import embed_texts, knows, pack
from wisen.stores.ordering import moment

_Result = TypeVar("_Result")
_SHORT = 1_000
"""Characters of situations whose content is read in about the time that a hop to a thread and back takes."""


_REMEMBERED = 128
"""Situations whose vectors and keys are remembered, for each embedder."""
_ASKED: "WeakKeyDictionary[Embedder, OrderedDict[Situation, _KnownSituation]]" = WeakKeyDictionary()


@dataclass(frozen=True, slots=True, kw_only=True)
class _KnownSituation:
    """What is computed of a situation that is searched for, whatever the filter."""

    vector: NDArray[np.float32]
    key: int
    content: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedCard:
    """A card with everything that a store keeps of it, computed before the write begins."""

    card: MemoryCard
    json: str
    """The card as JSON; empty where the store keeps objects."""
    duplicate_key: str
    words: bytes
    vectors: bytes

    def row(self, number: int) -> IndexRow:
        """What the index needs, once the store has given the card its number."""
        card = self.card
        return IndexRow(
            number=number,
            card_id=card.id,
            status=card.status.value,
            kind=card.kind.value,
            superseded=int(bool(card.superseded_by)),
            scope=scope_code(card.scope),
            run_id=card.provenance.run_id,
            key=hash_code(card.situation.key),
            content=hash_code(card.situation.content),
            circle=hash_code(card.circle),
            created=moment(card.provenance.created_at),
            words=self.words,
            vectors=self.vectors,
        )


def prepare(
    cards: Sequence[MemoryCard],
    vectors: NDArray[np.float32] | None,
    to_json: Callable[[MemoryCard], str] = lambda _: "",
    packing: Callable[[NDArray[np.float32]], list[bytes]] = pack,
) -> list[PreparedCard]:
    """Compute what is kept of the cards, given both vectors for each: shape `(cards, 2, dimension)`.

    `vectors=None` leaves words and vectors empty: the cards are new versions with the texts that are stored.
    """
    packed = [b""] * len(cards) if vectors is None else packing(vectors)
    return [
        PreparedCard(
            card=card,
            json=to_json(card),
            duplicate_key=card.duplicate_key,
            words=card_words(card) if vectors is not None else b"",
            vectors=entry,
        )
        for card, entry in zip(cards, packed, strict=True)
    ]


async def make_probe(embedder: Embedder, query: RecallQuery, floor: float | None) -> Probe:
    """Embed a query and settle its floor: the query's own, else the store's, else the default."""
    asked = await _asked(embedder, query.situation)
    chosen = floor if query.floor is None else query.floor
    return Probe(
        query=query,
        vector=asked.vector,
        floor=DEFAULT_FLOOR if chosen is None else chosen,
        cosine_floor=embedder.floor,
        key=asked.key,
        content=asked.content,
    )


async def _asked(embedder: Embedder, situation: Situation) -> _KnownSituation:
    """What is known of a situation; a recall asks for the same one several times."""
    known = _ASKED.setdefault(embedder, OrderedDict())
    if (found := known.get(situation)) is not None:
        return found
    text = situation.text
    if text.strip() and knows(embedder, text):
        vector = (await embed_texts(embedder, [text]))[0]
    else:
        vector = np.zeros(embedder.dimension, dtype=np.float32)
    key = content = 0
    if without_placeholders(situation.prompt) == situation.prompt:  # else nobody knows whose values they were
        key, content = await off_the_loop(len(text), lambda: (hash_code(situation.key), hash_code(situation.content)))
    known[situation] = found = _KnownSituation(vector=vector, key=key, content=content)
    while len(known) > _REMEMBERED:
        known.popitem(last=False)
    return found


async def off_the_loop(characters: int, work: Callable[[], _Result]) -> _Result:
    """What `work` on so much text gives, from a thread where that takes longer than the hop there and back."""
    return work() if characters <= _SHORT else await asyncio.to_thread(work)


def are_short(cards: Sequence[MemoryCard]) -> bool:
    """Whether these cards can be prepared on the spot, without a thread."""
    return sum(len(card.situation.prompt) + len(card.text) for card in cards) <= _SHORT


def check_successor(kept: MemoryCard, card: MemoryCard) -> None:
    """Refuse, with `StoreError`, a card that isn't the next version of the one that is kept."""
    if card.version != kept.version + 1:
        msg = (
            f"card {card.id!r} is stored with version {kept.version}, so version {card.version} can't follow it; "
            "read it again and repeat the change"
        )
        raise StoreError(msg)
    if card.scope.tenant != kept.scope.tenant:
        msg = f"card {card.id!r} belongs to tenant {kept.scope.tenant!r} and stays there; add a new card instead"
        raise StoreError(msg)


def same_texts(kept: MemoryCard, card: MemoryCard) -> bool:
    """Whether a new version says the same, so that its vectors still hold."""
    return kept.text == card.text and kept.situation.text == card.situation.text
