"""Finds the card that says what a new one says, in the store or still on its way there, so that it is counted on it.

A submission looks for such a card and then writes its own, and in between others do the same. So of cards that are
alike one goes first, and those that come meanwhile wait for it: for this one, and for no other. What was submitted a
while ago is remembered, since a recall that a run made before says nothing of it.
"""

import asyncio
import heapq
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary
from zlib import crc32

from wisen.cards import REPORT_KINDS, MemoryCard, MemoryStatus
from wisen.memory_ci.likeness import near_duplicates
from wisen.protocols import VectorStore
from wisen.recall import RECALLABLE, CardFilter, RecallHit, RecallQuery

_COMPARED = 4
"""Cards on their way that a new one is compared with, those that share most words with it: comparing takes long."""
_LAST = 64
"""Of so many that set out last."""
_SHARED = 0.25
"""Cards that share fewer of their words aren't compared: what is alike shares far more."""
_TEXTS = 2_000
"""Texts that are remembered, with the last few cards that say each: a run may have recalled long before it submits."""
_OF_A_TEXT = 8
_BITS = 512


@dataclass(eq=False, slots=True, kw_only=True)
class Turn:
    """One card's way into the store."""

    card: MemoryCard
    words: int
    """A bit for each of its words; some share one."""
    behind: "Turn | None" = None
    """That of a card like it, which came before it."""
    kept: MemoryCard | None = None
    """What cards like it may be counted on: that card as it is stored, or the one that it was counted on itself."""
    done: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def told(self) -> MemoryCard | None:
        """The card that this one repeats, where it is known already."""
        return self.behind.kept if self.behind else None

    def shared(self, other: "Turn") -> float:
        """The share of words that both have."""
        return (self.words & other.words).bit_count() / ((self.words | other.words).bit_count() or 1)

    def vanished(self) -> None:
        """Say that the card which this one repeats is there no more."""
        if self.behind:
            self.behind.kept = None


_Place = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Known:
    """What one event loop knows of submissions; none can wait for what happens in another."""

    coming: dict[_Place, list[Turn]] = field(default_factory=dict[_Place, list[Turn]])
    """Cards on their way, by kind and scope."""
    texts: dict[_Place, deque[Turn]] = field(default_factory=dict[_Place, deque[Turn]])
    """Those and the last ones that have arrived, by their words too."""


class Twins:
    """Looks for near-duplicates in one store; `limit` is the likeness from which cards are."""

    def __init__(self, store: VectorStore, limit: float) -> None:
        self._store = store
        self._limit = limit
        self._known: WeakKeyDictionary[asyncio.AbstractEventLoop, _Known] = WeakKeyDictionary()

    def __reduce__(self) -> "tuple[type[Twins], tuple[VectorStore, float]]":
        """A copy begins with nothing on its way."""
        return Twins, (self._store, self._limit)

    @asynccontextmanager
    async def turn(self, card: MemoryCard) -> AsyncGenerator[Turn]:
        """Wait while a card like this one is on its way; where it got there, `told` is what this one repeats.

        Else this one is on its way until the context ends, and others like it wait. Whoever has the turn sets `kept`.
        """
        known = self._known_here()
        mine, at = Turn(card=card, words=_words(card)), (card.kind.value, card.scope.text, card.reporter)
        text = (*at, card.form)
        while (other := self._like(mine, known.coming.get(at, ()), known.texts.get(text, ()))) is not None:
            await other.done.wait()
            if other.kept is not None and self._first(card, [other.kept]) is not None:
                mine.behind = other
                yield mine
                return
        line = known.coming.setdefault(at, [])
        line.append(mine)
        known.texts.setdefault(text, deque(maxlen=_OF_A_TEXT)).append(mine)
        if len(known.texts) > _TEXTS:
            del known.texts[next(iter(known.texts))]
        try:
            yield mine
        finally:
            mine.done.set()
            line.remove(mine)
            if not line:
                known.coming.pop(at, None)

    def _known_here(self) -> _Known:
        loop = asyncio.get_running_loop()
        if loop not in self._known:
            # A turn that was waited for keeps its loop.
            for one in [ref() for ref in self._known.keyrefs()]:
                if one is not None and one.is_closed():
                    self._known.pop(one, None)
        return self._known.setdefault(loop, _Known())

    def _like(self, mine: Turn, line: Sequence[Turn], same: Iterable[Turn]) -> Turn | None:
        nearest = heapq.nlargest(_COMPARED, line[-_LAST:], key=mine.shared)
        for one in (*same, *(one for one in nearest if mine.shared(one) >= _SHARED)):
            said = one.kept if one.done.is_set() else one.card
            if said is not None and self._first(mine.card, [said]) is not None:
                return one
        return None

    async def of(self, card: MemoryCard, among: Sequence[RecallHit] | None) -> MemoryCard | None:
        """The stored card that says the same, rather one in use than an archived one.

        `among` are the hits of a recall of cards in use for the card's situation, where there was one.
        """
        if among is not None and (twin := self._first(card, [hit.card for hit in among])) is not None:
            return twin
        # Reports are archived by age, which says nothing of them.
        archived = () if card.kind in REPORT_KINDS else (MemoryStatus.ARCHIVED,)
        statuses = archived if among is not None else (*RECALLABLE, *archived)
        if not statuses:
            return None
        where = CardFilter(tenant=card.scope.tenant, kinds=(card.kind,), statuses=statuses)
        hits = await self._store.search(RecallQuery(situation=card.situation, filter=where, k=10))
        found = sorted((hit.card for hit in hits), key=lambda one: one.status is MemoryStatus.ARCHIVED)
        return self._first(card, found)

    def _first(self, card: MemoryCard, others: Sequence[MemoryCard]) -> MemoryCard | None:
        """The first other card that says the same; what has the same id is the card itself."""
        alike = (one for one in others if one.id != card.id and near_duplicates(one, card, self._limit))
        return next(alike, None)


def _words(card: MemoryCard) -> int:
    found = 0
    for word in set(f"{card.text} {card.situation.text}".casefold().split()):
        found |= 1 << crc32(word.encode("utf-8", "surrogatepass")) % _BITS
    return found
