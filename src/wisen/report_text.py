"""Markdown in sections: known headings with any text below them, so that nothing of the text is lost or mistaken."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_LONGEST_HEADING = 80
_HEADING = re.compile(r"( {0,3})(\\*)(#{1,6})(.*)", re.DOTALL)
_STEP = re.compile(r"(\d{1,9}[.)]|[-*+])[ \t]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading with the text below it."""

    heading: str
    """As it is known; "" for what stands before the first one."""
    text: str
    line: int
    """The heading's line, from 1."""


class Headings:
    """The headings that divide a text; every other line, other headings included, is text.

    A line of text that reads like one of them is written with a backslash in front (with one more, if it has some).
    """

    def __init__(self, headings: Iterable[str], *, also: Iterable[tuple[str, str]] = ()) -> None:
        """Know `headings`, and the other wordings in `also`, each with the heading that it stands for."""
        self._known = {_key(heading): heading for heading in headings}
        self._known |= {_key(wording): heading for wording, heading in also}

    def render(self, sections: Iterable[tuple[str, str]]) -> str:
        """The sections below one another, one with the heading "" without, and no line break at the end."""
        return "\n\n".join(
            (f"## {heading}\n\n" if heading else "") + "\n".join(map(self._escaped, text.split("\n")))
            for heading, text in sections
        )

    def split(self, lines: Sequence[str], first: int = 0) -> list[Section]:
        """The sections of `lines[first:]`, in order and trimmed, the one without a heading first."""
        found: list[tuple[str, int, list[str]]] = [("", first + 1, [])]
        for number, line in enumerate(lines[first:], first + 1):
            known = self._find(line)
            if known is not None and not known[0][2]:
                found.append((known[1], number, []))
            else:
                found[-1][2].append(self._unescaped(line))
        return [Section(heading=heading, text=trimmed("\n".join(texts)), line=at) for heading, at, texts in found]

    def _find(self, line: str) -> tuple[re.Match[str], str] | None:
        parts = _HEADING.fullmatch(line) if len(line) <= _LONGEST_HEADING else None
        heading = None if parts is None else self._known.get(_key(parts[4]))
        return None if parts is None or heading is None else (parts, heading)

    def _escaped(self, line: str) -> str:
        known = self._find(line)
        return line if known is None else f"{known[0][1]}\\{line[len(known[0][1]) :]}"

    def _unescaped(self, line: str) -> str:
        known = self._find(line)
        return line if known is None or not known[0][2] else f"{known[0][1]}{line[len(known[0][1]) + 1 :]}"


def after_front_matter(lines: Sequence[str]) -> int:
    """The index of the line after a block between two lines of `---`; 0 where there is none."""
    if lines and lines[0].rstrip() == "---":
        for number, line in enumerate(lines[1:], 2):
            if line.rstrip() == "---":
                return number
    return 0


def numbered(steps: Iterable[str]) -> str:
    """A numbered list; further lines of a step are indented."""
    return "\n".join(_indented(f"{number}. ", step) for number, step in enumerate(steps, 1))


def listed(text: str) -> tuple[str, ...]:
    """The items of a list; without one, the lines."""
    steps: list[list[str]] = []
    width = 0
    lines = text.split("\n")
    for line in lines:
        marker = _STEP.match(line)
        if marker is not None:
            width = marker.end()
            steps.append([line[width:]])
        elif steps:
            steps[-1].append(line[min(width, len(line) - len(line.lstrip(" "))) :])
        elif line.strip():
            return tuple(filter(None, map(str.strip, lines)))
    return tuple("\n".join(step) for step in steps)


def unified(text: str) -> str:
    """The text with line feeds alone at the ends of lines."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def trimmed(text: str) -> str:
    """The text with line feeds alone between lines and nothing blank at either end."""
    return unified(text).strip()


def without(text: str, opening: str) -> str:
    """The text without these words at its beginning, in whatever case."""
    return text[len(opening) :].strip() if text[: len(opening)].casefold() == opening.casefold() else text


def _key(heading: str) -> str:
    return " ".join(heading.casefold().split()).strip("#*_`:?.! ")


def _indented(marker: str, step: str) -> str:
    first, *others = step.split("\n")
    return "\n".join((f"{marker}{first}", *(f"{' ' * len(marker)}{other}" if other else "" for other in others)))
