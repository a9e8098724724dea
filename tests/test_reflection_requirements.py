"""Each row of the table of requirements names code and a test that exist."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from documented import found, is_test

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reflection-pattern.md"
ROW = re.compile(r"^\| (?P<section>[\d.]+) \| (?P<what>.+) \| `(?P<code>[\w.]+)` \| `(?P<test>[\w/.]+::\w+)` \|$")
SECTIONS = """
2.1.1 2.1.2 2.2 2.3 2.4.1 2.4.2 2.4.3 2.5.1 2.5.2 2.6.1 2.6.2 2.7.1 2.7.2
3.1 3.2 3.3 3.4 4.1 4.2 4.3 4.4 5.1 5.2 5.3 6
""".split()  # noqa: SIM905 - the table of contents, as one reads it


def table() -> list[str]:
    lines = PAGE.read_text("utf-8").partition("## Requirements")[2].splitlines()
    return [line for line in lines if line.startswith("|")][2:]


def rows() -> Iterator[Any]:
    for line in table():
        row = ROW.match(line)
        yield pytest.param(line, row, id=line.split("|")[2].strip() + f" ({line.split('|')[1].strip()})")


@pytest.mark.parametrize(("line", "row"), list(rows()))
def test_row_points_to_code_and_test(line: str, row: re.Match[str] | None) -> None:
    assert row, f"not a row of section, requirement, code and test: {line}"
    found(row["code"] if row["code"].startswith("wisen.") else f"wisen.architectures.{row['code']}")
    assert is_test(row["test"])


def test_every_section_has_a_row() -> None:
    assert not set(SECTIONS) - {line.split("|")[1].strip() for line in table()}


def test_a_row_that_points_to_nothing_is_noticed() -> None:
    with pytest.raises((ImportError, AttributeError)):
        found("wisen.architectures.reflection.ReflectionPattern.forget")
