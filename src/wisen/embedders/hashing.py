"""Vectors without a model, from hashed words, pairs and parts of words: memory works with nothing installed."""

import asyncio
import math
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from wisen.claims.lexer import MARKS, PICTOGRAPHS
from wisen.errors import ConfigError
from wisen.yielding import LoopShare

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORDS: Final = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}]){{0,31}}|[\U0001f1e6-\U0001f1ff]{{2}}|[{PICTOGRAPHS}]")
"""Words with their vowel signs, flags and other pictographs."""
_SIGNS: Final = re.compile(r"\S{1,32}")
_COMMON: Final = frozenset(
    re.findall(
        r"\w+",
        """
        a an and are as at be been but by can could did do does for from had has have he her his how i if in into is it
        its may me my not of on or our please she should so such than that the their them then there these they this to
        too up us was we were what when where which while who will with would you your
        """,
    )
)
_INLINE_CHARACTERS: Final = 4_000
"""About a millisecond of work; a hop to a thread pays only above."""
_INLINE_AT_ONCE: Final = 4
"""Calls that are served on the spot in one round of the event loop."""
_CACHED_WORDS: Final = 50_000
_CACHED_TEXTS: Final = 4_096
"""Of a thousand runs at once, each has a prompt and a few lessons that it comes back to; 6 MB at 384 dimensions."""


@dataclass(frozen=True, slots=True)
class _Word:
    """What one word adds to a vector: buckets, signed weights, and its hash for building pairs."""

    buckets: "NDArray[np.int64]"
    weights: "NDArray[np.float64]"
    code: int


class HashEmbedder:
    """Lexical vectors by signed feature hashing (Weinberger et al. 2009); equal in every process and on every machine.

    Features are words, pairs of neighbouring words, and runs of letters within a word, so that inflected and misspelt
    words still meet. Repeated words count logarithmically and function words little. Texts that share no words come out
    unrelated, whatever they mean: for meaning, take `wisen.embedders.local.LocalEmbedder`.

    One instance may serve several event loops and threads. Up to 4,000 characters are embedded on the spot, since that
    takes about a millisecond, for a few callers in each round of the loop; larger batches go to a thread.
    """

    def __init__(self, dimension: int = 384, *, floor: float | None = None) -> None:
        """Choose the length of the vectors, at least 16: the longer, the fewer features share a place.

        Args:
            dimension: Length of each vector.
            floor: The cosine below which texts are unrelated; `None` takes the one calibrated for `dimension`.

        Raises:
            ConfigError: If `dimension` is below 16 or `floor` isn't in [-1, 1].
        """
        if dimension < 16:  # noqa: PLR2004 - the bound that the docstring states
            msg = f"HashEmbedder(dimension={dimension!r}): must be 16 or more"
            raise ConfigError(msg)
        if floor is not None and not -1.0 <= floor <= 1.0:
            msg = f"HashEmbedder(floor={floor!r}): must be in [-1, 1]"
            raise ConfigError(msg)
        self._dimension = dimension
        self._floor = _calibrated_floor(dimension) if floor is None else floor
        self._share = LoopShare(_INLINE_AT_ONCE)
        self._words: dict[str, _Word] = {}
        self._texts: dict[str, NDArray[np.float32]] = {}

    @property
    def name(self) -> str:
        """Such as "hash-384-v1"; the version changes whenever a text in Latin script would get another vector."""
        return f"hash-{self._dimension}-v1"

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        return self._dimension

    @property
    def floor(self) -> float:
        """The cosine below which two texts share no more than chance."""
        return self._floor

    async def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """One unit row per text, in order; a row of zeros for a text without any visible character."""
        if sum(map(len, texts)) <= _INLINE_CHARACTERS:
            await self._share.take()
            return self._embed(texts)
        return await asyncio.to_thread(self._embed, texts)

    def _embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        rows = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:] = self._vector(text)
        return rows

    def _vector(self, text: str) -> "NDArray[np.float32]":
        """The text's row, remembered: a task is recalled for, compared and stored under the same words."""
        known = self._texts.get(text)
        if known is None:
            known = np.zeros(self._dimension, dtype=np.float32)
            self._fill(known, text)
            if len(self._texts) >= _CACHED_TEXTS:
                self._texts.clear()
            if len(text) <= _INLINE_CHARACTERS:
                self._texts[text] = known
        return known

    def _fill(self, row: "NDArray[np.float32]", text: str) -> None:
        folded = unicodedata.normalize("NFKC", text).casefold()
        tokens = _WORDS.findall(folded) or _SIGNS.findall(folded)
        if not tokens:
            return
        counts = Counter(tokens)
        words = self._known(counts)
        buckets = [word.buckets for word in words.values()]
        weights = [
            word.weights if (count := counts[token]) == 1 else word.weights * (1.0 + math.log(count))
            for token, word in words.items()
        ]
        # A dict keeps its order in every process, a set doesn't; sums of floats depend on the order.
        pairs = dict.fromkeys(pair for pair in pairwise(tokens) if not _COMMON.issuperset(pair))
        if pairs:
            left = np.fromiter((words[a].code for a, _ in pairs), np.uint64, len(pairs))
            right = np.fromiter((words[b].code for _, b in pairs), np.uint64, len(pairs))
            places, signs = self._places(left * np.uint64(0x9E3779B97F4A7C15) + right)
            buckets.append(places)
            weights.append(signs * _PAIR_WEIGHT)
        total = np.bincount(np.concatenate(buckets), weights=np.concatenate(weights), minlength=self._dimension)
        length = math.sqrt(float(total @ total))
        if length > 0.0:
            row[:] = total / length

    def _known(self, tokens: Iterable[str]) -> dict[str, _Word]:
        """The features of each word, remembered: most words of a text have been seen before."""
        found = {token: self._words.get(token) for token in tokens}
        unseen = [token for token, word in found.items() if word is None]
        if unseen:
            made = self._made(unseen)
            found.update(made)
            if len(self._words) + len(made) > _CACHED_WORDS:
                self._words.clear()
            if len(made) <= _CACHED_WORDS:
                self._words.update(made)
        return cast("dict[str, _Word]", found)

    def _made(self, tokens: Sequence[str]) -> dict[str, _Word]:
        """Words that are new, computed together."""
        codes: list[int] = []
        weights: list[float] = []
        ends: list[int] = []
        for token in tokens:
            parts = [] if token in _COMMON else _parts(token)
            codes += (_code(token), *map(_code, parts))
            weights.append(_COMMON_WEIGHT if token in _COMMON else 1.0)
            weights += [_PARTS_WEIGHT / math.sqrt(max(len(parts), 1))] * len(parts)
            ends.append(len(codes))
        places, signs = self._places(np.array(codes, dtype=np.uint64))
        weighed = signs * np.array(weights)
        return {
            token: _Word(places[start:end].copy(), weighed[start:end].copy(), codes[start])
            for token, start, end in zip(tokens, (0, *ends), ends, strict=False)
        }

    def _places(self, codes: "NDArray[np.uint64]") -> "tuple[NDArray[np.int64], NDArray[np.float64]]":
        """Bucket and sign of each code, mixed first by SplitMix64's finaliser: CRCs of like texts are alike."""
        mixed = (codes ^ (codes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
        places = ((mixed >> np.uint64(1)) % np.uint64(self._dimension)).astype(np.int64)
        return places, 1.0 - 2.0 * (mixed & np.uint64(1)).astype(np.float64)


_PAIR_WEIGHT: Final = 0.5
_PARTS_WEIGHT: Final = 1.3
_COMMON_WEIGHT: Final = 0.15


def _calibrated_floor(dimension: int) -> float:
    """What unrelated texts share by chance: a little wording, and features that fall into one place (~ 1/sqrt(d))."""
    return 0.2 + 1.5 / math.sqrt(dimension)


def _parts(token: str) -> list[str]:
    """Runs of 3 and 4 characters of the word between its edges; also of 2 where letters may be whole words."""
    edged = f"\x02{token}\x03"
    sizes = (3, 4) if token.isascii() else (2, 3, 4)
    return [f"\x01{edged[start : start + size]}" for size in sizes for start in range(len(edged) - size + 1)]


def _code(feature: str) -> int:
    data = feature.encode("utf-8", "surrogatepass")
    return (zlib.crc32(data) << 32) | zlib.crc32(data, 0x5BD1E995)
