"""Secrets known by the form around them: key files, and what `data/forms.toml` lists, such as headers and commands."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, assert_never

from wisen.protocols import Finding
from wisen.screening.rules.marks import Marked
from wisen.screening.rules.secret_names import WORDS
from wisen.screening.rules.secret_shapes import is_mixed, is_scrambled, is_stand_in, randomness
from wisen.screening.rules.tables import table_of

Counts = Literal["any", "unknown", "odd", "drawn", "pair", "typed pair"]
"""Which values count; the table says what these mean."""

_KEY_BEGINS = re.compile(
    r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?(?: ?-{4,5})?"
    r"|PuTTY-User-Key-File-\d|<RSAKeyValue>"
)
_KEY_ENDS = re.compile(
    r"-{4,5} ?END [A-Z0-9 ]{0,40}(?:KEY|BLOCK)(?: BLOCK)?(?: ?-{4,5})?|Private-MAC: [0-9a-f]{8,128}|</RSAKeyValue>"
)
_KEY_BODY = re.compile(r"(?:[\s\\+\"',.:;#>|*/-]{0,40}+[A-Za-z0-9+/=]{16,20000}+){0,400}+")
_MANIFEST = re.compile(r"\bkind[\"']?:\s{0,3}[\"']?secret\b")
_DATA_BLOCK = re.compile(
    r"^[ \t]{0,12}+(?:stringData|data):[ \t]{0,9}\n((?:[ \t]{1,16}+[^\n]{1,4000}+(?:\n|\Z)){1,60}+)", re.MULTILINE
)
_ENTRY = re.compile(
    r"^[ \t]{1,16}+[\w.-]{1,80}+:[ \t]{1,4}[\"']?([^\s\"'|>{#&*!-][^\s\"']{3,3000}+)[\"']?[ \t]{0,9}$", re.MULTILINE
)
_LONGEST_KEY = 20_000
_REQUEST = re.compile(r"curl|wget|https?\b|api")
_BEFORE = 80
_LIKE_NAMES, _LETTERS, _LEAST_LETTERS = -2.0, 2.0, 16


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """A pattern, of whose match the last group that takes part is the secret."""

    rule: str
    label: str
    pattern: re.Pattern[str]
    counts: Counts


@cache
def _forms() -> Marked[_Form]:
    """The forms; each text that a pattern can match holds one of its marks, in lower case."""
    rows: list[dict[str, Any]] = table_of("forms.toml")["form"]
    return Marked((_form(row), row["marks"].split()) for row in rows)


def _form(row: dict[str, Any]) -> _Form:
    pattern = re.compile(row["pattern"], re.IGNORECASE | re.MULTILINE)
    return _Form(rule=row["rule"], label=row["label"], pattern=pattern, counts=row["counts"])


def find_forms(text: str, folded: str) -> Iterator[Finding]:
    """What the forms tell; `folded` is the text in lower case, as long as the text itself."""
    if "key" in folded:
        yield from _key_files(text)
    if "data:" in folded and _MANIFEST.search(folded):
        yield from _manifests(text)
    for form in _forms().concerned(folded):
        for match in form.pattern.finditer(text):
            start, end = match.span(match.lastindex or 0)
            if _counts(form.counts, text[start:end], folded[max(0, start - _BEFORE) : start]):
                yield Finding(rule=form.rule, family="secret", start=start, end=end, label=form.label)


def _counts(which: Counts, value: str, before: str) -> bool:
    match which:
        case "any":
            return not is_stand_in(value)
        case "unknown":
            return not is_word(value)
        case "odd":
            return is_odd(value)
        case "drawn":
            value = value.rstrip(".:")
            chance = randomness(value)
            drawn = (is_mixed(value) and chance > _LIKE_NAMES) or (len(value) >= _LEAST_LETTERS and chance > _LETTERS)
            return drawn and not is_word(value)
        case "pair" | "typed pair":
            user, _, password = value.partition(":")
            if is_stand_in(password) or (password.isdigit() and user.isdigit()):
                return False
            return which == "pair" or bool(_REQUEST.search(before)) or not password.isalpha()
        case _:
            assert_never(which)


def is_word(value: str) -> bool:
    """Whether a value is a word that stands where a secret would."""
    return value.lower() in WORDS or is_stand_in(value)


def is_odd(value: str) -> bool:
    """Whether a value isn't a word, a placeholder or a path, but has what passwords have."""
    if is_word(value) or value.startswith(("/", "./", "../", "--")) or "://" in value:
        return False
    marked = any(sign in value for sign in "!#$%^*") and any(map(str.isalpha, value))
    return is_mixed(value) or is_scrambled(value) or marked


def _manifests(text: str) -> Iterator[Finding]:
    """The values of a Kubernetes secret."""
    for block in _DATA_BLOCK.finditer(text):
        for entry in _ENTRY.finditer(text, block.start(1), block.end(1)):
            if not is_stand_in(entry[1]):
                yield Finding(
                    rule="manifest-secret", family="secret", start=entry.start(1), end=entry.end(1), label="secret"
                )


def _key_files(text: str) -> Iterator[Finding]:
    ends: list[int] | None = None
    done = 0
    for begin in _KEY_BEGINS.finditer(text):
        if begin.start() < done or (begin[0][0] == "<" and text.find("<D>", begin.end(), begin.end() + 3_000) < 0):
            continue
        if ends is None:
            ends = [match.end() for match in _KEY_ENDS.finditer(text)]
        place = bisect_left(ends, begin.end())
        if place < len(ends) and ends[place] - begin.start() <= _LONGEST_KEY:
            done = ends[place]
        else:
            body = _KEY_BODY.match(text, begin.end())
            done = body.end() if body else begin.end()
        yield Finding(rule="private-key", family="secret", start=begin.start(), end=done, label="private key")
