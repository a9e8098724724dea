"""The lexical side of recall: which words a text has, and which cards have them.

Words are kept as 32-bit hashes, so that a stored card brings its words along without being split again.
"""

import re
import unicodedata
import zlib
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wisen.cards import MemoryCard
from wisen.claims.lexer import MARKS
from wisen.stores.index.growth import room_for
from wisen.stores.index.scoring import highest, rarity

_EVERYDAY = frozenset(
    re.findall(
        r"\w+",
        """
        a about after all also am an and any are as at be been before but by can could did do does doing done each
        for from get given had has have he her here him his how i if in into is it its just let like make me more
        most must my no not now of on one only or other our out over please she should so some such than that the
        their them then there these they this those to too under up us use used using very was we were what when
        where which while who why will with would you your
        """,
    )
)
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003134f"
)
"""Characters of scripts that have no spaces between words: Thai, Lao, Burmese, Khmer, kana and Han."""
_FLAG = "[\U0001f1e6-\U0001f1ff]{2}"
_SIGN = "[\u2190-\u2bff\U0001f000-\U0001faff]"
_TOKEN = re.compile(rf"(?P<run>[{_UNSPACED}]+)|[^\W{_UNSPACED}](?:[^\W{_UNSPACED}]|[{MARKS}])*|{_FLAG}|{_SIGN}")
_MOST_PER_CARD = 512
_MOST_PER_QUERY = 48
MOST_POSTINGS = 16_384
"""How many entries are read to find cards by words."""
_ROUNDING = 1e-9
"""More than sums of the same weights differ by."""


def distinct_words(text: str) -> list[str]:
    """The words of a text, folded, each once, in order of appearance; everyday English words are left out.

    Vowel signs belong to the word that they stand in. Where a script has no spaces between words, each two neighbouring
    characters stand for one. A flag or another pictograph is a word.
    """
    plain = _plain(text)
    words = list(dict.fromkeys(_tokens(plain))) or plain.split()
    return [word for word in words if word not in _EVERYDAY]


def _tokens(plain: str) -> Iterator[str]:
    for found in _TOKEN.finditer(plain):
        if found["run"] and len(found[0]) > 1:
            yield from map("".join, pairwise(found[0]))
        else:
            yield found[0]


def words_in_common(one: str, other: str) -> float:
    """Which share of the words of both texts is common to them; 0 where there are none."""
    mine, others = set(distinct_words(one)), set(distinct_words(other))
    return 2 * len(mine & others) / ((len(mine) + len(others)) or 1)


def folded(text: str) -> str:
    """Case-folded NFKC words joined by single spaces, punctuation dropped (kept where nothing else is left).

    For finding, not for telling apart: what is the same, `identity` says.
    """
    plain = _plain(text)
    return " ".join(re.findall(r"\w+", plain)) or plain.strip()


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def word_hash(word: str) -> int:
    """A 32-bit hash, the same in every process."""
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))


def card_words(card: MemoryCard) -> bytes:
    """Hashes of the words of a card's situation and text, as little-endian unsigned 32-bit integers."""
    found = distinct_words(f"{card.situation.text}\n{card.text}")[:_MOST_PER_CARD]
    return np.array(sorted(set(map(word_hash, found))), dtype="<u4").tobytes()


@dataclass(frozen=True, slots=True, kw_only=True)
class WordQuery:
    """A query's words, rarest first, with what each is worth."""

    words: tuple[str, ...]
    hashes: NDArray[np.uint32]
    weights: NDArray[np.float64]


class WordIndex:
    """Which rows have which words; grows by appending and never shrinks, but counts only rows that aren't dropped."""

    def __init__(self) -> None:
        """Begin empty."""
        self._postings: dict[int, array[int]] = {}
        self._dropped: dict[int, int] = {}
        self._live = 0
        self._flat: NDArray[np.uint32] = np.empty(256, dtype=np.uint32)
        self._ends: NDArray[np.int64] = np.zeros(65, dtype=np.int64)
        self.size = 0

    def extend(self, words: Sequence[bytes]) -> None:
        """Append one row per entry, each as `card_words` made it."""
        lengths = np.fromiter((len(entry) // 4 for entry in words), dtype=np.int64, count=len(words))
        hashes = np.frombuffer(b"".join(words), dtype="<u4")
        first, used = self.size, int(self._ends[self.size])
        self._flat = room_for(self._flat, used + len(hashes))
        self._flat[used : used + len(hashes)] = hashes
        self._ends = room_for(self._ends, first + len(words) + 1)
        self._ends[first + 1 : first + len(words) + 1] = used + np.cumsum(lengths)
        self.size = first + len(words)
        self._live += len(words)
        self._post(hashes, np.repeat(np.arange(first, self.size, dtype=np.uint32), lengths))

    def _post(self, hashes: NDArray[np.uint32], rows: NDArray[np.uint32]) -> None:
        order = np.argsort(hashes, kind="stable")
        ordered, rows = hashes[order], rows[order]
        starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1]))) if len(ordered) else order
        bounds = [*starts.tolist(), len(ordered)]
        for word, start, end in zip(ordered[starts].tolist(), bounds[:-1], bounds[1:], strict=True):
            posting = self._postings.get(word)
            if posting is None:
                posting = self._postings[word] = array("I")
            posting.frombytes(rows[start:end].tobytes())

    def drop(self, row: int) -> None:
        """Count a row no longer: how rare a word is mustn't depend on what was there before."""
        self._live -= 1
        for word in np.frombuffer(self.row(row), dtype=np.uint32).tolist():
            self._dropped[word] = self._dropped.get(word, 0) + 1

    def row(self, row: int) -> bytes:
        """One row's entry, as it was appended."""
        return self._flat[int(self._ends[row]) : int(self._ends[row + 1])].tobytes()

    def question(self, text: str) -> WordQuery:
        """The words of a query text, with their rarity among the live rows; of a long text only the rarest."""
        words = distinct_words(text)
        return weighed(words, [self._count(word_hash(word)) for word in words], self._live)

    def _count(self, hashed: int) -> int:
        return len(self._postings.get(hashed, "")) - self._dropped.get(hashed, 0)

    def worth(self, query: WordQuery) -> "WordWorth":
        """What weight of rare words each row has, as far as that finds it.

        Reads the rarest words first and stops at a bounded number of entries: common words find nothing by themselves.
        """
        lists: list[NDArray[np.uint32]] = []
        weights: list[float] = []
        total, unread = 0, 0.0
        # Each hash once: words that share one are compared as one.
        for hashed, weight in dict(zip(query.hashes.tolist(), query.weights.tolist(), strict=True)).items():
            posting = self._postings.get(hashed)
            if posting is None:
                continue
            total += len(posting)
            if total > MOST_POSTINGS:
                unread += weight
                if lists:
                    continue
            lists.append(np.array(posting[-MOST_POSTINGS:], dtype=np.uint32))
            weights.append(weight)
        worth: NDArray[np.float64] = np.zeros(self.size)
        if lists:
            each = np.repeat(np.array(weights), [len(part) for part in lists])
            counted = np.bincount(np.concatenate(lists), weights=each, minlength=self.size)
            worth = counted.astype(np.float64, copy=False)
        return WordWorth(weights=worth, unread=unread, whole=float(query.weights.sum()))

    def coverage(self, query: WordQuery, rows: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """For each row the share of the query's weight that it has, and which words: shapes `(r,)` and `(r, words)`."""
        starts, ends = self._ends[rows], self._ends[rows + 1]
        lengths = ends - starts
        inner = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return covered(query, self._flat[np.repeat(starts, lengths) + inner], lengths)


class WordWorth:
    """What weight of a query's words each row has, as far as entries were read."""

    def __init__(self, *, weights: NDArray[np.float64], unread: float, whole: float) -> None:
        """Take the weight of each row, that of words of which not all entries were read, and that of all words."""
        self._weights = weights
        self._unread = unread
        self._whole = whole

    def heaviest(self, rows: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
        """At most `limit` of these rows that are worth most, none that is worth nothing; of equal ones the last."""
        best = rows[highest(self._weights[rows], limit)]
        return best[self._weights[best] > 0.0]

    def share(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The least and the most that `coverage` can say of each of these rows: shape `(2, rows)`."""
        if not self._whole:
            return np.zeros((2, len(rows)))
        beyond = np.array([[-_ROUNDING], [self._unread / self._whole + _ROUNDING]])
        return self._weights[rows] / self._whole + beyond


def weighed(words: Sequence[str], counts: Sequence[int], cards: int) -> WordQuery:
    """A query of these words, `counts` of `cards` cards having each; of many words only the rarest."""
    weights = rarity(np.array(counts, dtype=np.float64), cards)
    chosen: NDArray[np.intp] = np.argsort(-weights, kind="stable")[:_MOST_PER_QUERY]
    places: list[int] = chosen.tolist()
    return WordQuery(
        words=tuple(words[place] for place in places),
        hashes=np.array([word_hash(words[place]) for place in places], dtype=np.uint32),
        weights=weights[chosen],
    )


def covered(
    query: WordQuery, found: NDArray[np.uint32], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """What `WordIndex.coverage` says, of cards whose words are `found`, one card's after another's."""
    has = np.zeros((len(lengths), len(query.words)), dtype=np.bool_)
    whole = float(query.weights.sum())
    if not len(lengths) or not whole:
        return np.zeros(len(lengths)), has
    owner = np.repeat(np.arange(len(lengths)), lengths)
    order = np.argsort(query.hashes)
    ordered = query.hashes[order]
    place = np.minimum(np.searchsorted(ordered, found), len(ordered) - 1)
    hit = ordered[place] == found
    has[owner[hit], order[place[hit]]] = True
    return np.where(has, query.weights, 0.0).sum(axis=1) / whole, has
