"""How many tokens a text has: by the model's own tokenizer where it can be asked, by its characters otherwise."""

import asyncio
import math
import re
from bisect import bisect
from collections.abc import Awaitable, Callable, Sequence
from functools import cache, lru_cache

from wisen.data_files import read_table
from wisen.embedders.wordpiece import WordPiece
from wisen.errors import WisenError

TokenCounter = Callable[[str], int]
"""The number of a text's tokens."""

_PIECES = re.compile(r"(?P<word>[A-Z]?[a-z]{1,40}|[A-Z])(?![a-z])|(?P<rare>[^\x00-\x7f])|\S|\s{2,}|\t")
_BLANKS = " \t\r\v\f"
"""What is one token with the break beside it; other scripts' blanks are tokens of their own."""
_SHORT = 1_000
"""Characters of lines whose tokens are remembered."""
_MORE = 1.05
"""What other vocabularies make of words, in pieces of BERT's."""


def estimated(text: str) -> int:
    """An upper estimate for all scripts, where no tokenizer can be asked.

    Words of Latin letters are counted by BERT's vocabulary, which wisen ships; digits and punctuation by the character,
    and other scripts by a weight for each. It is made to be no less than nine tenths of what SmolLM2's tokenizer
    counts, whose vocabulary is small and mostly English. Large vocabularies of many languages need fewer tokens, for
    Chinese or Thai about half of that.
    """
    first, *others = text.split("\n")
    if not others:
        return math.ceil(_of_line(text))
    # A break is one token, with the blanks around it; lines come again from prompt to prompt.
    lines = [first.rstrip(_BLANKS), *(line.strip(_BLANKS) for line in others[:-1]), others[-1].lstrip(_BLANKS)]
    filled = [line for line in lines if line]
    breaks = max(len(filled) - 1 + (not lines[0]) + (not lines[-1]), 1)
    return math.ceil(breaks + sum(map(_of_line, filled)))


def _of_line(line: str) -> float:
    return _remembered(line) if len(line) <= _SHORT else _counted(line)


@lru_cache(maxsize=8_192)
def _remembered(line: str) -> float:
    return _counted(line)


def _counted(text: str) -> float:
    tokens, in_words = 0.0, 0
    vocabulary = _vocabulary()
    for piece in _PIECES.finditer(text):
        if piece.lastgroup == "word":
            in_words += vocabulary.count(piece[0])
        else:
            tokens += _weight(piece[0]) if piece.lastgroup else 1
    return tokens + _MORE * in_words


@cache
def _vocabulary() -> WordPiece:
    return WordPiece.bundled()


async def ready() -> None:
    """Load what `estimated` needs, in a thread; without it the first estimate does."""
    if not (_vocabulary.cache_info().currsize and _weights.cache_info().currsize):
        await asyncio.to_thread(lambda: (_vocabulary(), _weights()))


@lru_cache(maxsize=20_000)
def _weight(char: str) -> float:
    starts, weights = _weights()
    return weights[bisect(starts, ord(char)) - 1]


@cache
def _weights() -> tuple[Sequence[int], Sequence[float]]:
    """From which code point on a character has how many tokens: `tokens.toml`."""
    rows = read_table("wisen.advice", "tokens.toml")["weights"]
    return [start for start, _ in rows], [weight for _, weight in rows]


def at_most(text: str) -> int:
    """More tokens than that a text can't have, whichever tokenizer counts: one for each byte."""
    return len(text.encode(errors="surrogatepass"))


async def counter_of(model: object) -> TokenCounter | None:
    """The model's own count, where it has one (see `CountsTokens`); `None` where it hasn't, or can't be loaded."""
    ability: Callable[[], Awaitable[TokenCounter | None]] | None = getattr(model, "token_counter", None)
    if ability is None:
        return None
    try:
        return await ability()
    except WisenError:
        return None  # the attempt will say so, if it needs the same
