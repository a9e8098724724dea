"""Applies edits to a text so that whatever they don't touch stays as it was, byte for byte."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_MOST_EDITS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Replaces the one passage that reads `find`."""

    find: str
    replace: str
    improves: str = ""
    """What it mends, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """Adds lines after the line in which the passage `after` ends."""

    after: str = ""
    """"" for the end of the text."""
    text: str
    improves: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """A text after its edits."""

    text: str
    applied: tuple[Edit | Addition, ...] = ()
    """In the order of the text."""
    spans: tuple[tuple[int, int], ...] = ()
    """What each applied edit replaced, as start and end in the old text; empty for an addition."""
    failed: tuple[str, ...] = ()
    """Why others could not be applied: their number in the list, from 1, and the reason; never their text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    start: int
    end: int
    new: str
    edit: Edit | Addition


def apply_edits(text: str, edits: Sequence[Edit | Addition]) -> Edited:
    """Apply what can be applied.

    Each edit is looked up in `text` as it was given, not in what earlier edits made of it. Its passage has to occur
    exactly once; if it doesn't occur, one that differs in white space alone will do. Of overlapping edits the first
    one in the list is applied.
    """
    placed: list[_Placed] = []
    failed: list[str] = []
    for number, edit in enumerate(edits[:_MOST_EDITS], start=1):
        place = _placed(text, edit)
        if isinstance(place, str):
            failed.append(f"edit {number}: {place}")
        elif any(_overlap(place, other) for other in placed):
            failed.append(f"edit {number}: overlaps an earlier one")
        else:
            placed.append(place)
    if len(edits) > _MOST_EDITS:
        failed.append(f"{len(edits) - _MOST_EDITS} more edits than the {_MOST_EDITS} that are looked at")
    placed.sort(key=lambda one: (one.start, one.end))
    pieces: list[str] = []
    at = 0
    for one in placed:
        pieces += [text[at : one.start], one.new]
        at = one.end
    pieces.append(text[at:])
    return Edited(
        text="".join(pieces),
        applied=tuple(one.edit for one in placed),
        spans=tuple((one.start, one.end) for one in placed),
        failed=tuple(failed),
    )


def _placed(text: str, edit: Edit | Addition) -> _Placed | str:
    """Where an edit goes and what it puts there, or why it can't be applied."""
    if isinstance(edit, Addition):
        return _placed_addition(text, edit)
    if not edit.find.strip():
        return "its passage is empty"
    span = _only_occurrence(text, edit.find)
    if isinstance(span, str):
        return span
    if text[span[0] : span[1]] == edit.replace:
        return "it changes nothing"
    return _Placed(start=span[0], end=span[1], new=edit.replace, edit=edit)


def _placed_addition(text: str, addition: Addition) -> _Placed | str:
    if not addition.text.strip():
        return "it adds nothing"
    at = len(text)
    if addition.after.strip():
        span = _only_occurrence(text, addition.after.rstrip())
        if isinstance(span, str):
            return span
        line_end = text.find("\n", span[1])
        at = line_end if line_end >= 0 else at
    if at and text[at - 1 : at] == "\r":
        at -= 1
    own_line = addition.text.rstrip("\n") if at < len(text) else addition.text
    starts_line = at == 0 or text[at - 1] == "\n"
    return _Placed(start=at, end=at, new=own_line if starts_line else f"\n{own_line}", edit=addition)


def _only_occurrence(text: str, passage: str) -> tuple[int, int] | str:
    """Start and end of the passage, if there is one such passage; otherwise what is the matter."""
    first = text.find(passage)
    if first >= 0:
        if text.find(passage, first + 1) >= 0:
            return "its passage occurs more than once"
        return first, first + len(passage)
    loosely = re.compile(r"\s+".join(map(re.escape, passage.split())))
    matches = [match.span() for match, _ in zip(loosely.finditer(text), range(2), strict=False)]
    if len(matches) == 1:
        return matches[0]
    return "its passage occurs more than once" if matches else "its passage does not occur"


def _overlap(one: _Placed, other: _Placed) -> bool:
    if one.start == one.end or other.start == other.end:
        return one.start < other.end and other.start < one.end
    return max(one.start, other.start) < min(one.end, other.end)
