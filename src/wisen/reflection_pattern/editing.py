"""Applies edits to a text so that whatever they don't touch stays as it was, byte for byte."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_MOST_EDITS = 200
_LINE_END = re.compile(r"\r?\n")
_REST_OF_LINE = re.compile(r"[ \t\r]*\n")


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
    exactly once. If it doesn't occur, one that differs in white space alone will do. The white space around it then
    stays, and the new lines are indented as the old ones were. Of overlapping edits the first one in the list is
    applied. An addition begins a line of its own. New lines end as the text's do, its last one too.
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
    return Edited(
        text=_joined(text, placed),
        applied=tuple(one.edit for one in placed),
        spans=tuple((one.start, one.end) for one in placed),
        failed=tuple(failed),
    )


def _joined(text: str, placed: Sequence[_Placed]) -> str:
    all_end_so = text.count("\r\n") == text.count("\n") > 0
    line_end = "\r\n" if all_end_so else "\n"
    joined, at = "", 0
    for one in placed:
        joined, at = joined + text[at : one.start], one.end
        if isinstance(one.edit, Addition) and joined and not joined.endswith("\n"):
            joined += line_end
        joined += _LINE_END.sub(line_end, one.new) if all_end_so else one.new
    added_last = bool(placed) and at == len(text) and isinstance(placed[-1].edit, Addition)
    return joined + (line_end if added_last and text.endswith("\n") else text[at:])


def _placed(text: str, edit: Edit | Addition) -> _Placed | str:
    """Where an edit goes and what it puts there, or why it can't be applied."""
    if isinstance(edit, Addition):
        return _placed_addition(text, edit)
    if not edit.find.strip():
        return "its passage is empty"
    span = _only_occurrence(text, edit.find)
    if isinstance(span, str):
        return span
    start, end, new = *span, edit.replace
    if text[start:end] != edit.find:
        start, end, new = _fitted(text, start, end, edit)
    if text[start:end] == new:
        return "it changes nothing"
    return _Placed(start=start, end=end, new=new, edit=edit)


def _fitted(text: str, start: int, end: int, edit: Edit) -> tuple[int, int, str]:
    """What to put where, for a passage found without its outer white space and with other white space in it."""
    find, new = edit.find, edit.replace
    before, after = find[: len(find) - len(find.lstrip())], find[len(find.rstrip()) :]
    if not new.strip():  # its lines go as a whole
        while before and start and text[start - 1] in " \t":
            start -= 1
        rest = _REST_OF_LINE.match(text, end)
        return start, rest.end() if rest and "\n" in after else end, ""
    if before:
        new = new[len(before) :] if new.startswith(before) else new.lstrip()
    if after:
        new = new[: -len(after)] if new.endswith(after) else new.rstrip()
    indents = _indents(text, start, end, find)
    first, *others = new.splitlines(keepends=True) or [""]
    return start, end, first + "".join(_reindented(line, indents) for line in others)


def _indents(text: str, start: int, end: int, find: str) -> dict[str, str]:
    """How the text indents the lines of a passage, by how the model wrote them."""
    own = [text[text.rfind("\n", 0, start) + 1 : start], *text[start:end].splitlines()[1:]]
    given = [find[: -len(find.lstrip())].rpartition("\n")[2], *find.strip().splitlines()[1:]]
    pairs = list(zip(given, own, strict=True)) if len(given) == len(own) else []
    if pairs and (not given[0] or own[0].strip()):
        pairs.pop(0)  # the passage begins within its line
    return {_indent(line): _indent(other) for place, (line, other) in enumerate(pairs) if not place or line.strip()}


def _reindented(line: str, indents: Mapping[str, str]) -> str:
    """The line with the indentation that the text has where the model wrote another."""
    indent = _indent(line)
    if not line.strip():
        return line
    if indent in indents:
        return indents[indent] + line[len(indent) :]
    base, left = indents.get("", ""), indent
    fitted = base
    for given in sorted(filter(None, indents), key=len, reverse=True):
        while left.startswith(given):
            fitted, left = fitted + indents[given].removeprefix(base), left[len(given) :]
    return fitted + left + line[len(indent) :]


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


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
    if at < len(text) and text[at - 1 : at] == "\r":
        at -= 1
    return _Placed(start=at, end=at, new=addition.text.rstrip("\r\n") if text else addition.text, edit=addition)


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
