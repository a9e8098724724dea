"""Reads docs/reference/sources: a page for each source, a requirement in each row of its tables."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs" / "reference" / "sources"
_SOURCE = re.compile(r"# (?P<number>\d)\. .+")
_ROW = re.compile(
    r"\| (?P<section>[^|]+) \| (?P<what>[^|]+) \| (?:(?P<differs>[^|]{20,}) \| )?"
    r"`(?P<code>[\w.]+)` \| `(?P<test>[\w/.]+::\w+)` \|"
)
_SUMMARY = re.compile(r"\| \[(\d)\]\([\w-]+\.md\) \| [^|]+ \| (\d+) \| (\d+) \|")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One requirement of one source."""

    source: int
    section: str
    what: str
    differs: str | None
    """What wisen does instead, and why; `None` where it does what the source says."""
    code: str
    """A dotted path within `wisen`."""
    test: str
    """`path::name` below `tests`."""


def rows(page: str) -> Iterator[Row]:
    """The rows of a source's page, in order; raises `ValueError` for a line of a table that isn't one."""
    first, *lines = page.splitlines()
    found = _SOURCE.fullmatch(first)
    if found is None:
        raise ValueError(f"not the title of a source's page: {first}")
    header = 2
    for line in lines:
        if not line.startswith("|"):
            header = 2
        elif header:
            header -= 1
        else:
            row = _ROW.fullmatch(line)
            if row is None:
                raise ValueError(f"not a row of section, requirement, where it differs, code and test: {line}")
            yield Row(source=int(found["number"]), **row.groupdict())


def all_rows() -> tuple[Row, ...]:
    """The rows of all sources, in the order of the sources."""
    pages = [path.read_text("utf-8") for path in FOLDER.glob("*.md") if path.name != "index.md"]
    return tuple(row for page in sorted(pages) for row in rows(page))


def summary(index: str) -> dict[int, tuple[int, int]]:
    """By source, how many requirements the index says are met as written, and how many differ."""
    return {int(found[1]): (int(found[2]), int(found[3])) for found in _SUMMARY.finditer(index)}
