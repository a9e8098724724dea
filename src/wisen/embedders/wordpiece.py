"""Splits text into BERT's word pieces, so that the local embedder needs no tokenizer package."""

import gzip
import re
import unicodedata
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Final

VOCABULARY: Final = "bert-uncased-vocab.txt.gz"
"""Package data beside this module: 30,522 pieces, one a line; the line number from 0 is the id."""

_CLS: Final = "[CLS]"
_SEP: Final = "[SEP]"
_UNKNOWN: Final = "[UNK]"
_LONGEST_WORD: Final = 100
_REMEMBERED_WORDS: Final = 50_000
_JUDGED: Final = 4_000
_CJK: Final = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f"
    "\U0002b820-\U0002ceaf\U0002f800-\U0002fa1f]"
)
_ASCII_PUNCTUATION: Final = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


class WordPiece:
    """BERT's uncased tokenisation (Devlin et al. 2019): clean, lower-case, split, then the longest pieces first.

    Marker names in a text, such as "[SEP]", are ordinary words: no text can forge a marker.
    """

    def __init__(self, pieces: Mapping[str, int]) -> None:
        """Take the vocabulary, piece to id; it must hold "[CLS]", "[SEP]" and "[UNK]"."""
        self._pieces = pieces
        self._words: dict[str, tuple[int, ...]] = {}
        self._first, self._last, self._unknown = (pieces[mark] for mark in (_CLS, _SEP, _UNKNOWN))

    @classmethod
    def bundled(cls) -> "WordPiece":
        """Read the vocabulary that ships with wisen."""
        lines = gzip.decompress(files("wisen.embedders").joinpath(VOCABULARY).read_bytes()).decode().splitlines()
        return cls({piece: number for number, piece in enumerate(lines)})

    def ids(self, text: str, *, limit: int) -> list[int]:
        """The ids of `text` between the markers of beginning and end; at most `limit`, markers included."""
        ids = [self._first]
        for word in _words(text):
            ids.extend(self._word(word))
            if len(ids) >= limit - 1:
                del ids[limit - 1 :]
                break
        ids.append(self._last)
        return ids

    def count(self, text: str) -> int:
        """How many pieces the text has, without markers."""
        return sum(len(self._word(word)) for word in _words(text))

    def known(self, text: str) -> float:
        """Which share of the text's letters and signs, up to 4,000, is in words made of learned pieces; 0 for none.

        A word spelt letter by letter, as most Cyrillic ones are, was not learned. Punctuation doesn't count.
        """
        known = total = 0
        for word in _words(text[:_JUDGED]):
            if word.isascii() and not word.isalnum():
                continue
            pieces = self._word(word)
            total += len(word)
            if self._unknown not in pieces and (word.isascii() or 2 * len(pieces) <= len(word) or len(pieces) == 1):
                known += len(word)
        return known / total if total else 0.0

    def _word(self, word: str) -> tuple[int, ...]:
        known = self._words.get(word)
        if known is None:
            known = tuple(self._split(word))
            if len(self._words) >= _REMEMBERED_WORDS:
                self._words.clear()
            self._words[word] = known
        return known

    def _split(self, word: str) -> list[int]:
        if len(word) > _LONGEST_WORD:
            return [self._unknown]
        found: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(len(word), start, -1):
                piece = self._pieces.get(prefix + word[start:end])
                if piece is not None:
                    found.append(piece)
                    start = end
                    break
            else:
                return [self._unknown]
        return found


def _words(text: str) -> Iterator[str]:
    """Words and single punctuation marks, lower-case and without accents."""
    if not text.isascii():
        text = _CJK.sub(r" \g<0> ", _cleaned(text))
        text = "".join(char for char in unicodedata.normalize("NFD", text) if unicodedata.category(char) != "Mn")
        # BERT lowers letter by letter; `lower` has another sigma at the end of a word.
        text = text.replace("\N{GREEK CAPITAL LETTER SIGMA}", "\N{GREEK SMALL LETTER SIGMA}")
    elif not text.isprintable():
        text = _cleaned(text)
    for chunk in text.lower().split():
        if chunk.isalnum():
            yield chunk
        else:
            yield from _at_punctuation(chunk)


def _cleaned(text: str) -> str:
    """Without control and private characters, but for those that count as white space."""
    return "".join(
        char
        for char in text
        if char in "\t\n\r" or not (unicodedata.category(char) in {"Cc", "Cf", "Co", "Cs"} or char == "\ufffd")
    )


def _at_punctuation(chunk: str) -> Iterator[str]:
    start = 0
    for index, char in enumerate(chunk):
        if char in _ASCII_PUNCTUATION or unicodedata.category(char).startswith("P"):
            if start < index:
                yield chunk[start:index]
            yield char
            start = index + 1
    if start < len(chunk):
        yield chunk[start:]
