"""How alike cards are, which of equal ones to show, and in which order alike ones are worth showing.

Maximal marginal relevance: Carbonell, Goldstein (1998), "The use of MMR, diversity-based reranking for reordering
documents and producing summaries". Likeness is the share of words and pairs of words that two texts have in common
(Jaccard), which costs microseconds and needs no model.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from math import inf

from wisen.advice.rank import effect, uses
from wisen.cards import MemoryCard, MemoryStatus
from wisen.identity import same_form

_WORD = re.compile(r"\w+")
_MOST_CHARACTERS = 1_000
_FEW = 3

Features = frozenset[str]


# The same few cards are recalled again and again.
@lru_cache(maxsize=512)
def features(text: str) -> Features:
    """The words and pairs of neighbouring words of a text's beginning, whatever their case."""
    words = _WORD.findall(text[:_MOST_CHARACTERS].casefold())
    return frozenset((*words, *map(" ".join, pairwise(words))))


def likeness(one: Features, other: Features) -> float:
    """The share in [0, 1] of what either has that both have; 1 for two that have nothing."""
    if one == other:
        return 1.0
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)


def said(card: MemoryCard) -> str:
    """Equal for cards of which a prompt would hold the same words: of examples, with the same task too."""
    own = same_form(card.content if card.is_episode else card.text)
    return f"{card.situation.key}\x1f{own}" if card.is_episode else own


def best_of_equals_first(cards: Sequence[MemoryCard], *, model: str, layout: str) -> list[int]:
    """The places of the cards as given; only those that say the same change places, so that the best comes first.

    That is a promoted or pinned one, then the one that has helped more, then the one with more uses: so what they say
    is tried as one card, and not as several.
    """
    places: dict[str, list[int]] = {}
    for place, card in enumerate(cards):
        places.setdefault(said(card), []).append(place)
    order = list(range(len(cards)))
    for alike in places.values():

        def worth(place: int) -> tuple[bool, float, int]:
            card = cards[place]
            lasting = card.pinned or card.status is MemoryStatus.PROMOTED
            return lasting, effect(card, model=model, layout=layout), uses(card, model=model, layout=layout)

        for place, better in zip(alike, sorted(alike, key=worth, reverse=True), strict=True):
            order[place] = better
    return order


class Likeness:
    """How alike some notes are, by their own words.

    What all of them have in common (where there are three or more) is no likeness: lessons of one kind begin alike.
    Episodes are like nothing. They are examples: near ones are what helps, and alike ones bear each other out.
    """

    def __init__(self, cards: Sequence[MemoryCard]) -> None:
        self._cards = cards

    @cached_property
    def _features(self) -> Sequence[frozenset[str] | None]:
        """Made once they are asked for: with one card, or without `diversity`, nothing is compared."""
        found = [None if card.is_episode else features(card.text) for card in self._cards]
        notes = [one for one in found if one is not None]
        common = frozenset[str].intersection(*notes) if len(notes) >= _FEW else frozenset[str]()
        return [one and (one - common or one) for one in found]

    def __call__(self, one: int, other: int) -> float:
        """Likeness in [0, 1] of the cards at these places."""
        a, b = self._features[one], self._features[other]
        return 0.0 if a is None or b is None else likeness(a, b)


class MarginalRelevance:
    """Gives places in the order of `(1 - diversity) · relevance - diversity · likeness to the nearest one taken`.

    Iterate over it, and say `take(place)` of each place that is taken. Among equals the earlier place comes first. Only
    places of one kind compete, so that the order given says when one of each kind is next. That order may rest on more
    than relevance: no place counts as more relevant than an earlier one of its kind.
    """

    def __init__(
        self,
        relevance: Sequence[float],
        alike: Callable[[int, int], float],
        *,
        kinds: Sequence[object],
        diversity: float,
    ) -> None:
        self._relevance = _falling(relevance, kinds)
        self._alike = alike
        self._kinds = kinds
        self._diversity = diversity
        self._waiting = list(range(len(relevance)))
        self._nearest = [(0.0, -1)] * len(relevance)

    def __iter__(self) -> Iterator[int]:
        """The places, each once."""
        for kind in self._kinds:
            rivals = (at for at in self._waiting if self._kinds[at] == kind)
            best = max(rivals, key=lambda at: (self._worth(at), -at))
            self._waiting.remove(best)
            yield best

    def take(self, place: int) -> None:
        """Count this place among those taken."""
        if self._diversity:
            for at in self._waiting:
                if (now := self._alike(at, place)) > self._nearest[at][0]:
                    self._nearest[at] = (now, place)

    def nearest(self, place: int) -> tuple[float, int]:
        """How like the nearest one taken before it a place is, and which that is; -1 for none."""
        return self._nearest[place]

    def _worth(self, at: int) -> float:
        return (1.0 - self._diversity) * self._relevance[at] - self._diversity * self._nearest[at][0]


def _falling(relevance: Sequence[float], kinds: Sequence[object]) -> list[float]:
    """Each relevance, but no more than that of an earlier place of its kind."""
    least = dict.fromkeys(kinds, inf)
    fallen: list[float] = []
    for value, kind in zip(relevance, kinds, strict=True):
        least[kind] = min(least[kind], value)
        fallen.append(least[kind])
    return fallen
