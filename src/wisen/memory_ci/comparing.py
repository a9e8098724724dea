"""How texts stand to each other: by their content, and by the vectors of a store's embedder."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wisen.embedders.meaning import meaning_of
from wisen.identity import Relation, apart, relation
from wisen.protocols import Embedder
from wisen.stores.index.lexical import words_in_common
from wisen.stores.index.vectors import embed_texts, knows

_REMEMBERED = 4_096
"""Texts whose vectors are remembered."""
_LIKE_WORDS = 0.5
"""Share of common words from which two texts are alike that the embedder doesn't know."""

Vector = NDArray[np.float32]
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Compared:
    """Texts that were compared."""

    relations: Mapping[Pair, Relation]
    """How each pair stands."""
    vectors: Mapping[str, Vector]

    def cosine(self, one: str, other: str) -> float:
        """How near two texts are; 0 where one is empty, unknown to the embedder, or wasn't read."""
        return _cosine(self.vectors, one, other)

    def alike(self, one: str, other: str, floor: float) -> bool:
        """Whether two texts are alike: by a cosine from `floor` on, or by their words where one has no vector."""
        if one in self.vectors and other in self.vectors:
            return self.cosine(one, other) >= floor
        return words_in_common(one, other) >= _LIKE_WORDS


class Comparer:
    """Compares texts, and remembers the vectors of the last few thousand."""

    def __init__(self) -> None:
        self._vectors: OrderedDict[str, Vector] = OrderedDict()

    async def compare(
        self, embedder: Embedder, pairs: Iterable[Pair], *, beside: Mapping[Pair, Iterable[str]] | None = None
    ) -> Compared:
        """How the texts of each pair stand to each other, with their vectors.

        Pairs that have nothing in common by their content alone aren't embedded; of the others, the texts `beside` them
        are as well. The words that two texts don't share are embedded where they are alike as a whole. Raises what the
        embedder raises.
        """
        pairs = [*dict.fromkeys(pairs)]
        meaning = {pair: meaning_of(embedder, *pair) for pair in pairs}
        # A cosine of 1 tells what the content alone says.
        stands: dict[Pair, Relation] = {pair: relation(*pair, cosine=1.0, same_meaning=meaning[pair]) for pair in pairs}
        near = [pair for pair in pairs if stands[pair] != "other"]
        texts = [text for pair in near for text in (*pair, *(beside or {}).get(pair, ()))]
        vectors = await self._embedded(embedder, texts)
        cosine = {pair: _cosine(vectors, *pair) for pair in near}
        near = [pair for pair in near if stands[pair] != "same"]
        for pair in near:
            stands[pair] = relation(*pair, cosine=cosine[pair], same_meaning=meaning[pair])
        # Whose content alone tells how they stand needn't be read any further.
        open_still = [pair for pair in near if stands[pair] != relation(*pair)]
        own = {pair: found for pair in open_still if (found := apart(*pair))}
        vectors_of_own = await self._embedded(embedder, [text for texts in own.values() for text in texts])
        for pair, texts in own.items():
            alike_apart = _cosine(vectors_of_own, *texts)
            stands[pair] = relation(*pair, cosine=cosine[pair], same_meaning=meaning[pair], own=alike_apart)
        return Compared(stands, vectors)

    async def _embedded(self, embedder: Embedder, texts: Iterable[str]) -> dict[str, Vector]:
        """The vector of each text that isn't empty, and that the embedder knows."""
        wanted = [text for text in dict.fromkeys(texts) if text.strip() and knows(embedder, text)]
        found = {text: self._vectors[text] for text in wanted if text in self._vectors}
        unseen = [text for text in wanted if text not in found]
        if unseen:
            new = dict(zip(unseen, await embed_texts(embedder, unseen), strict=True))
            found |= new
            self._vectors.update(new)
        while len(self._vectors) > _REMEMBERED:
            self._vectors.popitem(last=False)
        return found


def _cosine(vectors: Mapping[str, Vector], one: str, other: str) -> float:
    return float(vectors[one] @ vectors[other]) if one in vectors and other in vectors else 0.0
