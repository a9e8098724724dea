"""Which of a few candidates answer a query best: the same for every store, however it found them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wisen.cards import MemoryCard
from wisen.recall import RecallHit, RecallQuery
from wisen.stores.index import scoring
from wisen.stores.index.lexical import WordQuery

KEPT = 64
"""How many more cards than the query asks for are compared, of those near, and of those with its words."""
_READ = 16
"""How many hits are given at least, so that their texts say which of them agree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A query made ready for the index."""

    query: RecallQuery
    vector: NDArray[np.float32]
    floor: float
    """Relevance below which nothing is returned."""
    cosine_floor: float
    """The embedder's own floor."""
    key: int
    """`hash_code` of the prompt's key."""
    content: int
    """`hash_code` of the prompt's hard content."""

    @property
    def reach(self) -> int:
        """How many of the best matches are given, and how many of those with the prompt's hard content."""
        return max(self.query.k, _READ if self.query.situation.prompt else 0)


class Match(NamedTuple):
    """A card that answers a probe."""

    number: int
    relevance: float
    vector: float
    lexical: float
    reasons: tuple[str, ...]
    keyed: bool

    def hit(self, card: MemoryCard) -> RecallHit:
        """The answer, once the store has fetched the card."""
        return RecallHit(
            card=card,
            relevance=self.relevance,
            reasons=self.reasons,
            vector=self.vector,
            lexical=self.lexical,
            agrees=self.keyed,
        )


class CardName(NamedTuple):
    """A card's number in its store, and what decides among equals."""

    number: int
    created: int
    card_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contenders:
    """What is known of candidates before their words are compared, in columns of one order."""

    cosines: NDArray[np.float64]
    """Of the situation and of the text: shape `(cards, 2)`."""
    vector: NDArray[np.float64]
    """The higher one, in terms of the embedder's floor."""
    same: NDArray[np.bool_]
    """Whether the prompt is the query's."""
    keyed: NDArray[np.bool_]
    """Whether the prompt has hard content of the query's key."""

    def at(self, places: NDArray[np.intp]) -> "Contenders":
        """Those at these places."""
        return Contenders(
            cosines=self.cosines[places],
            vector=self.vector[places],
            same=self.same[places],
            keyed=self.keyed[places],
        )

    def _fits(self, probe: Probe, relevance: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether each may be an answer at all, with this relevance."""
        return self.same | (relevance >= probe.floor)

    def in_reach(self, probe: Probe, share: NDArray[np.float64]) -> NDArray[np.intp]:
        """The places of those that can be among the best, given bounds of each one's lexical share: `(2, cards)`."""
        low, high = scoring.relevance(self.vector, share, self.same)
        sure = np.where(self._fits(probe, low), low, -1.0)
        among = np.zeros(len(high), dtype=np.bool_)
        for some in (np.ones_like(self.keyed), self.keyed):
            among |= some & (high >= _least(sure[some], probe.reach))
        return (self._fits(probe, high) & among).nonzero()[0]

    def ranked(
        self,
        probe: Probe,
        words: WordQuery,
        coverage: tuple[NDArray[np.float64], NDArray[np.bool_]],
        names: Sequence[CardName],
    ) -> list[Match]:
        """The best, best first, none below the floor, and of those with the query's key the best, too.

        `coverage` says which of the words each has.
        """
        exact = scoring.relevance(self.vector, coverage[0], self.same)
        order: list[int] = self._fits(probe, exact).nonzero()[0].tolist()
        relevance: list[float] = exact.tolist()
        same: list[bool] = self.same.tolist()
        keyed: list[bool] = self.keyed.tolist()
        order.sort(key=lambda at: (-relevance[at], -names[at].created, names[at].card_id))
        best = {*order[: probe.reach], *[at for at in order if keyed[at]][: probe.reach]}
        found: list[Match] = []
        for at in order:
            if at not in best:
                continue
            situation, text = self.cosines[at].tolist()
            shared = list(compress(words.words, coverage[1][at].tolist()))
            found.append(
                Match(
                    number=names[at].number,
                    relevance=relevance[at],
                    vector=min(1.0, max(0.0, situation, text)),
                    lexical=float(coverage[0][at]),
                    reasons=scoring.reasons(
                        same_prompt=same[at],
                        situation=situation,
                        text=text,
                        floor=probe.cosine_floor,
                        shared=shared,
                    ),
                    keyed=keyed[at],
                )
            )
        return found


def _least(values: NDArray[np.float64], count: int) -> float:
    """The value that so many have at least."""
    return float(np.partition(values, -count)[-count]) if len(values) > count else -1.0


def nearest_by_cosine(cosines: NDArray[np.float64], places: NDArray[np.intp], limit: int) -> NDArray[np.intp]:
    """At most `limit` of these places, those with the highest cosine."""
    return places[scoring.highest(cosines[places].max(axis=1, initial=-1.0), limit)]
