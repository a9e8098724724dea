"""How likeness of vectors and shared words become one relevance, with its reasons. Pure functions.

```text
vector    = (cosine - embedder.floor) / (1 - embedder.floor), cut to [0, 1]
lexical   = weight of the query's words that the card has / weight of all the query's words
relevance = 1 - (1 - vector) * (1 - WORDS_WEIGH * lexical)
```

Either side can carry a hit alone; words alone reach `WORDS_WEIGH` at most. A card of the same prompt has relevance 1.
Without a vector, of the query or of the card, the cosine is exactly 0, and only words count. Cards of the same prompt
come first. Which of the others agree in content is decided on their texts: see `agreeing`.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

DEFAULT_FLOOR = 0.25
"""Relevance below which a card has nothing to do with the situation."""
WORDS_WEIGH = 0.5
_PRIOR_CARDS = 20
_NAMED_WORDS = 3
_MOST_UNLESS_SAME = 0.999


def rarity(counts: NDArray[np.float64], cards: int) -> NDArray[np.float64]:
    """What each word is worth: the logarithm of how rare it is among `cards` cards, `counts` of which have it.

    A few imagined cards without the word keep a young store from taking every word it has for a common one.
    """
    known = cards + _PRIOR_CARDS
    return np.log1p((known - counts + 0.5) / (counts + 0.5))


def rescaled(cosines: NDArray[np.float64], floor: float) -> NDArray[np.float64]:
    """Cosines in terms of the embedder's own floor: 0 at the floor and below and without a vector, 1 for the same."""
    share = np.minimum(np.maximum((cosines - floor) / max(1.0 - floor, 1e-9), 0.0), 1.0)
    return np.where(cosines == 0.0, 0.0, share)


def relevance(
    vector: NDArray[np.float64], lexical: NDArray[np.float64], same_prompt: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """The formula above, rounded so that equal cards are equal however the sums were ordered."""
    either = 1.0 - (1.0 - vector) * (1.0 - WORDS_WEIGH * lexical)
    return np.where(same_prompt, 1.0, np.minimum(np.round(either, 4), _MOST_UNLESS_SAME))


def highest(values: NDArray[np.generic], limit: int) -> NDArray[np.intp]:
    """The places of at most `limit` values, the highest ones; of equal ones the last."""
    if len(values) <= limit:
        return np.arange(len(values))
    least = np.partition(values, len(values) - limit)[len(values) - limit]
    above, equal = (values > least).nonzero()[0], (values == least).nonzero()[0]
    return np.concatenate((above, equal[len(above) - limit :]))


def reasons(
    *, same_prompt: bool, situation: float, text: float, floor: float, shared: Sequence[str]
) -> tuple[str, ...]:
    """Why a card was recalled, most telling first; `shared` are the shared words, rarest first."""
    said: list[str] = []
    if same_prompt:
        said.append("same prompt")
    elif max(situation, text) > floor:
        said.append(
            f"similar situation ({situation:.2f})" if situation >= text else f"its text fits the situation ({text:.2f})"
        )
    if shared:
        said.append("shares rare words: " + ", ".join(shared[:_NAMED_WORDS]))
    return tuple(said)
