"""Reads docs/reference/requirements.md: a table for each source, a requirement in each row."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "requirements.md"
_SOURCE = re.compile(r"## (?P<number>\d)\. .+")
_ROW = re.compile(
    r"\| (?P<section>[^|]+) \| (?P<what>[^|]+) \| (?P<how>as written|differs: [^|]{20,}) "
    r"\| `(?P<code>[\w.]+)` \| `(?P<test>[\w/.]+::\w+)` \|"
)
_SUMMARY = re.compile(r"\| \[(\d)\]\(#[\w-]+\) \| [^|]+ \| (\d+) \| (\d+) \|")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One requirement of one source."""

    source: int
    section: str
    what: str
    how: str
    """ "as written", or "differs: " and the reason."""
    code: str
    """A dotted path within `wisen`."""
    test: str
    """`path::name` below `tests`."""


def rows(page: str) -> Iterator[Row]:
    """The rows of all sources, in order; raises `ValueError` for a line of a table that isn't one."""
    source, header = 0, 2
    for line in page.splitlines():
        if line.startswith("## "):
            found = _SOURCE.fullmatch(line)
            source, header = int(found["number"]) if found else 0, 2
        elif source and line.startswith("|"):
            header -= 1
            if header >= 0:
                continue
            row = _ROW.fullmatch(line)
            if row is None:
                raise ValueError(f"not a row of section, requirement, how it stands, code and test: {line}")
            yield Row(source=source, **row.groupdict())


def summary(page: str) -> dict[int, tuple[int, int]]:
    """By source, how many requirements the page says are met as written, and how many differ."""
    return {int(found[1]): (int(found[2]), int(found[3])) for found in _SUMMARY.finditer(page)}
