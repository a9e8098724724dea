"""What a rule has seen before it is settled which of several readings of the same characters is reported."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from wisen.protocols import Finding, FindingFamily

_LETTERS = re.compile(r"\w{5,}")
_LITTLE_WORDS = re.compile(
    r"\b(?:of|to|in|at|on|the|for|by|as|or|with|from|not|was|has|got|see|use|than|took|then|when|are|ms|sec|min|MB|GB|KB|px|day|days|rows)\b"
)
_LONGEST_LIST = 80
_BEFORE, _AFTER = 60, 40


class Sighting(NamedTuple):
    """One reading of a span; the higher the rank, the more speaks for it."""

    rank: int
    start: int
    end: int
    rule: str
    label: str


def terms(*lines: str) -> frozenset[str]:
    """The words of the lines, which are parted by spaces."""
    return frozenset(word for line in lines for word in line.split())


def settle(sightings: Iterable[Sighting], family: FindingFamily) -> list[Finding]:
    """One finding for every span: the reading for which most speaks, then the longest."""
    kept: list[Sighting] = []
    ordered = sorted(sightings, key=lambda one: (one.start, -one.end))
    group: list[Sighting] = []
    reach = -1
    for sighting in ordered:
        if sighting.start >= reach:
            kept += _best(group)
            group = []
        group.append(sighting)
        reach = max(reach, sighting.end)
    kept += _best(group)
    return [Finding(rule=one.rule, family=family, start=one.start, end=one.end, label=one.label) for one in kept]


def _best(group: Sequence[Sighting]) -> list[Sighting]:
    """Those of a group of overlapping ones that overlap no better one, by place."""
    if len(group) <= 1:
        return list(group)
    kept: list[Sighting] = []
    for sighting in sorted(group, key=lambda one: (-one.rank, one.start - one.end, one.start, one.rule))[:_MOST]:
        if all(sighting.end <= other.start or sighting.start >= other.end for other in kept):
            kept.append(sighting)
    return sorted(kept, key=lambda one: one.start)


_MOST = 400
"""Of a chain of overlapping readings longer than that the weakest are dropped, so that time stays linear."""


def in_context(words: re.Pattern[str] | None, text: str, start: int, end: int) -> bool:
    """Whether one of the words stands within a line's length before or half of it after."""
    return words is not None and bool(
        words.search(text, max(0, start - _BEFORE), start) or words.search(text, end, end + _AFTER)
    )


def is_list_of_ids(text: str) -> bool:
    """Whether a text consists of numbers and codes alone: no word of five letters without a digit, none that joins.

    A placeholder stands for a word.
    """
    return (
        len(text) <= _LONGEST_LIST
        and "<" not in text
        and "«" not in text
        and all(any(character.isdigit() for character in match.group()) for match in _LETTERS.finditer(text))
        and _LITTLE_WORDS.search(text) is None
    )
