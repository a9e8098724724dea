"""How alike two texts are, in time that a submission can spend."""

from collections import Counter
from difflib import SequenceMatcher

_COMPARED_BY_LETTER = 600
_COMPARED_WORDS = 1_000


def ratio(old: str, new: str, enough: float) -> float:
    """How alike two texts are, in [0, 1]; 0 as soon as it can't be `enough`."""
    if old == new:
        return 1.0
    length = len(old) + len(new)
    if 2 * min(len(old), len(new)) < enough * length:
        return 0.0
    if 2 * sum((Counter(old) & Counter(new)).values()) < enough * length:
        return 0.0  # not even the letters are the same, so the costly comparison can be spared
    if length <= 2 * _COMPARED_BY_LETTER:
        return SequenceMatcher(None, old, new, autojunk=False).ratio()
    # The comparison's time grows with the square of what is compared: long texts go word by word, very long ones not
    # at all.
    words = old.split(), new.split()
    return SequenceMatcher(None, *words, autojunk=False).ratio() if max(map(len, words)) <= _COMPARED_WORDS else 0.0
