"""Finds official numbers of persons and companies by form, check digit and context.

A run of letters and digits with single separators is cut into windows of a few tokens. The tables are indexed by how
many letters and digits a window has, so a text without such runs costs next to nothing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from wisen.screening.rules.id_rules import IdRule, Needs, id_rules, words
from wisen.screening.rules.marks import Marks
from wisen.screening.rules.sightings import Sighting, in_context, is_list_of_ids

_SEPARATORS = r"[ ./:\u00a0\u2010-\u2013-]"
_RUN = re.compile(
    r"(?<![A-Za-z0-9ÄÖÜäöü])(?<![A-Za-z0-9ÄÖÜäöü]_)[A-Za-zÄÖÜäöü]{0,8}+[0-9][A-Za-z0-9ÄÖÜäöü]*+"
    rf"(?:(?:{_SEPARATORS}|_(?=[0-9]))(?:[A-Za-zÄÖÜäöü]{{0,8}}+[0-9][A-Za-z0-9ÄÖÜäöü]*+|[A-Za-zÄÖÜäöü]{{1,4}}+(?![A-Za-z0-9ÄÖÜäöü_])))*+"
)
_HEAD = re.compile(rf"(?<![A-Za-z0-9ÄÖÜäöü_])(?:[A-Za-zÄÖÜäöü]{{1,5}}{_SEPARATORS}){{1,2}}\Z")
_HEAD_LENGTH = 12
_DIGITS = re.compile(r"[0-9](?:[^0-9]{0,40}[0-9]){3}")
_TOKEN = re.compile(r"[A-Za-z0-9ÄÖÜäöü]+")
_FEW = Marks(
    (
        *("plate", "vehicle", " car", "regist", " reg", "kennzeichen", "kfz", "nummernschild", "plaka", "araç"),
        *("hra", "hrb", "postc"),
    )
)
"""Where plates and the like are spoken of, windows with few digits count."""
_SOME_ID = words(
    "identity identification national_id id_number id_no id_code personal_number personal_code citizen identificación"
)
"""What may stand beside any number that has a check digit."""
_FEW_DIGITS, _MANY_DIGITS = 1, 4
_MOST_TOKENS, _LONGEST = 7, 18
_FEWEST_SIGNS, _SHORTEST = 3, 8
"""A long number of one or two different digits is made up."""
_PLAIN = str.maketrans(dict.fromkeys(" ./:_-", ""))
_SPELLED = str.maketrans({"\u00a0": " ", **dict.fromkeys("\u2010\u2011\u2012\u2013", "-")})
_DATE = re.compile(
    r"(?:19|20)\d\d([./-])(?:0\d|1[0-2])\1[0-3]\d|[0-3]?\d([./-])[01]?\d\2(?:19|20)\d\d|(?:19|20)\d\d-(?:19|20)\d\d"
)
_OWN_GROUP = re.compile(r"\\([1-9])")
_JOINED = re.compile(r"[./:-][0-9]")
_JOINING = re.compile(r"[0-9][./:-]\Z")


class _Tables(NamedTuple):
    """The rules by length."""

    plain: Mapping[int, tuple[IdRule, ...]]
    """For digits alone."""
    lettered: Mapping[int, tuple[IdRule, ...]]
    """Those that have letters."""
    forms: Mapping[int, re.Pattern[str]]
    """Any of the forms, so that most windows are asked about once."""


@cache
def _tables() -> _Tables:
    plain: dict[int, tuple[IdRule, ...]] = {}
    lettered: dict[int, tuple[IdRule, ...]] = {}
    for rule in id_rules():
        has_letters = any(character.isupper() for character in rule.form.pattern)
        for size in rule.sizes:
            plain[size] = (*plain.get(size, ()), rule)
            if has_letters:
                lettered[size] = (*lettered.get(size, ()), rule)
    forms = {size: _any_of([rule.form for rule in rules]) for size, rules in plain.items()}
    return _Tables(plain=plain, lettered=lettered, forms=forms)


def _any_of(forms: Sequence[re.Pattern[str]]) -> re.Pattern[str]:
    """One form that matches what any of them does; what they say of their own groups is renumbered."""
    parts: list[str] = []
    groups = 0
    for form in forms:
        shifted = _OWN_GROUP.sub(lambda match, before=groups: rf"(?:\{int(match[1]) + before})", form.pattern)
        parts.append(f"(?:{shifted})")
        groups += form.groups
    return re.compile("|".join(parts))


def sight_ids(text: str, folded: str) -> Iterator[Sighting]:
    """All readings of all windows as an official number; overlapping.

    Args:
        text: The text, in which positions count.
        folded: The same in lower case.
    """
    least = _FEW_DIGITS if _FEW.are_in(folded) else _MANY_DIGITS
    alone = is_list_of_ids(text)
    if alone:
        least = _FEW_DIGITS
    for run in _RUN.finditer(text):
        start, end = run.span()
        if end - start < least:
            continue
        if least > _FEW_DIGITS and _DIGITS.search(text, start, end) is None:
            continue
        head = _HEAD.search(text, max(0, start - _HEAD_LENGTH), start)
        yield from _sight_run(text, head.start() if head else start, end, alone=alone)


def _sight_run(text: str, start: int, end: int, *, alone: bool) -> Iterator[Sighting]:
    plain, lettered, forms = _tables()
    run = text[start:end].translate(_SPELLED).upper()
    if len(run) != end - start:
        return
    spans = [token.span() for token in _TOKEN.finditer(run)]
    for first, (begin, _) in enumerate(spans):
        if _JOINING.search(text, max(0, start + begin - 2), start + begin):
            continue
        size = 0
        for token_start, token_end in spans[first : first + _MOST_TOKENS]:
            size += token_end - token_start
            if size > _LONGEST:
                break
            if size not in forms or forms[size].fullmatch(run, begin, token_end) is None:
                continue
            written = run[begin:token_end]
            value = written.translate(_PLAIN)
            place = start + begin, start + token_end
            if _is_part(text, *place, written):
                continue
            for rule in plain[size] if value.isdigit() else lettered.get(size, ()):
                if rule.form.fullmatch(written):
                    yield from _judge(rule, value, text, place, alone=alone)


def _is_part(text: str, start: int, end: int, written: str) -> bool:
    """Whether the window is the beginning of a longer number, decimal, version or address."""
    if _JOINED.match(text, end):
        return True
    if " " not in written:
        return False
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    return (before[-1:] == " " and before[:1].isdigit()) or (after[:1] == " " and after[1:].isdigit())


def _judge(rule: IdRule, value: str, text: str, span: tuple[int, int], *, alone: bool) -> Iterator[Sighting]:
    if rule.check is None and value.isdigit() and _DATE.fullmatch(text, *span):
        return
    if (value.isdigit() and len(set(value)) < _FEWEST_SIGNS and len(value) >= _SHORTEST) or (
        rule.check is not None and not rule.check(value)
    ):
        return
    spoken_of = in_context(rule.context, text, *span) or (
        rule.check is not None and rule.needs is Needs.ALONE and in_context(_SOME_ID, text, *span)
    )
    written = text[span[0] : span[1]]
    as_typed = written.isupper() or (written.islower() and " " not in written)
    if rule.check is None and not as_typed and any(map(str.isalpha, written)):
        alone = False  # a short sentence ("It is 30.", "it is 25 %"), not a number as one writes it
    enough = rule.needs is Needs.NOTHING or spoken_of or (rule.needs is Needs.ALONE and alone)
    if enough or (rule.needs is Needs.WHOLE and alone and text.strip() == written):
        rank = 3 * spoken_of + 2 * (rule.check is not None) + (Needs.CONTEXT - rule.needs)
        yield Sighting(rank, *span, rule.name, rule.label)
