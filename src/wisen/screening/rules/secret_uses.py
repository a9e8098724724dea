"""Secrets known by where they stand: in the columns of tables, and codes that are spoken of."""

import re
from collections.abc import Iterator

from wisen.protocols import Finding
from wisen.screening.rules.marks import Marks
from wisen.screening.rules.secret_forms import is_odd
from wisen.screening.rules.secret_shapes import has_digit

_CODES = Marks(("pin", "otp", "code", "puk", "one-time", "one time"))
_CODE = re.compile(
    r"(?<![\w-])(?:otp|puk|(?:mfa|2fa|sms|verification|security|confirmation|access|login|auth(?:entication)?|door|gate|"
    r"alarm|unlock|safe|reset|backup) code|one[- ]time (?:password|passcode|code|pin)|pin(?: ?code| number)?|passcode)"
    r"(?:\s(?:for|of|to)\s[^\n.:=]{1,40}?)?\s{0,2}(?:\b(?:is|was|ist|war|lautet)\b|[:=#])\s{0,2}[\"'`]?(\d{4,8})"
    r"(?![\w-]|[.,]\d)"
)
_COLUMN = re.compile(
    r"(?:\w{1,20}[ _-])?(?:pass(?:word|wd|phrase|code)?|pwd|passwort|kennwort|mot de passe|contraseñas?|senha|"
    r"wachtwoord|api[ _-]?keys?|secrets?|tokens?)(?:s|\s?\(\w{1,20}\))?"
)
"""What a column of secrets is called, in lower case."""
_SEPARATORS = ("|", "\t", ";", ",")
_MOST_CELLS = 40


def find_uses(text: str, folded: str) -> Iterator[Finding]:
    """What tables and spoken codes tell; `folded` is the text in lower case, as long as the text."""
    if has_digit(text) and _CODES.are_in(folded):
        for match in _CODE.finditer(folded):
            yield _finding("spoken-code", *match.span(1), "code")
    if "\n" in text:
        yield from _columns(text, folded)


def _finding(rule: str, start: int, end: int, label: str) -> Finding:
    return Finding(rule=rule, family="secret", start=start, end=end, label=label)


def _columns(text: str, folded: str) -> Iterator[Finding]:
    """The values in columns of tables, in Markdown or with separators, that have a secret's name at their head."""
    head: tuple[str, int, tuple[int, ...]] | None = None
    start = 0
    for line in folded.split("\n"):
        if head is not None:
            separator, size, columns = head
            cells = _cells(line, separator)
            if len(cells) == size:
                for column in columns:
                    first, last = cells[column]
                    value = text[start + first : start + last]
                    if last - first > 3 and " " not in value and is_odd(value):  # noqa: PLR2004 - shorter ones say little
                        yield _finding("table-secret", start + first, start + last, "password")
            else:
                head = None
        if head is None:
            head = _head(line)
        start += len(line) + 1


def _head(line: str) -> tuple[str, int, tuple[int, ...]] | None:
    """The separator, the number of cells and the columns of secrets, where a line is the head of a table."""
    for separator in _SEPARATORS:
        if separator in line:
            cells = _cells(line, separator)
            columns = tuple(n for n, (first, last) in enumerate(cells) if _COLUMN.fullmatch(line, first, last))
            return (separator, len(cells), columns) if columns and len(cells) <= _MOST_CELLS else None
    return None


def _cells(line: str, separator: str) -> list[tuple[int, int]]:
    """Where the cells' texts begin and end, without blanks and quotes."""
    cells: list[tuple[int, int]] = []
    at = 0
    for cell in line.split(separator):
        inner = cell.strip(" \t\r\"'`")
        first = at + (cell.index(inner) if inner else 0)
        cells.append((first, first + len(inner)))
        at += len(cell) + 1
    return cells
