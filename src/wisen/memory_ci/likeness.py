"""How alike two cards are, in time that a submission can spend."""

from collections import Counter
from dataclasses import replace
from difflib import SequenceMatcher

from wisen.cards import MemoryCard, MemoryKind

_COMPARED_BY_LETTER = 600
_COMPARED_WORDS = 1_000


def near_duplicates(old: MemoryCard, new: MemoryCard, limit: float) -> bool:
    """Whether a new card says no more than a stored one, so that it is to be counted there; `limit` as of `ratio`."""
    if old.kind is not new.kind or old.scope != new.scope or new.provenance.verified > old.provenance.verified:
        return False  # a verified card is worth more than an opinion that reads like it
    if old.reporter != new.reporter:
        return False  # each agent owes its own reports, and is shown its own
    if new.kind is MemoryKind.SKILL_CARD and not (old.strategy or new.strategy):
        # Alike tasks with the same answer show where it holds, and with another one where it ends: both are worth
        # having.
        return old.content == new.content and old.situation.key == new.situation.key
    return ratio(old.text, new.text, limit) >= limit and ratio(old.situation.text, new.situation.text, limit) >= limit


def as_told_again(stored: MemoryCard, new: MemoryCard) -> MemoryCard:
    """What a store takes for one more telling of `stored`, with nothing but its words: no status and no evidence."""
    verified = replace(new.provenance, verified=stored.provenance.verified, agent=stored.provenance.agent)
    return replace(
        new,
        content=stored.content,
        pattern=stored.pattern,
        strategy=stored.strategy,
        steps=stored.steps,
        situation=stored.situation,
        provenance=verified,
    )


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
        # What is matched stands in the same order in both, so it can't be more than the most that does.
        if 2 * _in_order(old, new) < enough * length:
            return 0.0
        return SequenceMatcher(None, old, new, autojunk=False).ratio()
    # The comparison's time grows with the square of what is compared: long texts go word by word, very long ones not
    # at all.
    words = old.split(), new.split()
    return SequenceMatcher(None, *words, autojunk=False).ratio() if max(map(len, words)) <= _COMPARED_WORDS else 0.0


def _in_order(old: str, new: str) -> int:
    """How many letters the longest common subsequence of two texts has.

    Whole rows of the table that is filled in for it are bits of one number each (Hyyrö 2004), which makes it several
    times as fast as a comparison that looks for the longest pieces.
    """
    places: dict[str, int] = {}
    for place, letter in enumerate(old):
        places[letter] = places.get(letter, 0) | 1 << place
    whole = (1 << len(old)) - 1
    unmatched = whole
    for letter in new:
        met = unmatched & places.get(letter, 0)
        unmatched = (unmatched + met) | (unmatched - met)
    return len(old) - (unmatched & whole).bit_count()
