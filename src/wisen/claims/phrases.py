"""Tokens as words that stand for phrases, contractions taken apart, and dates, times and versions in one form."""

import re
from collections.abc import Iterable, Iterator

from wisen.claims.lexer import Token
from wisen.claims.vocabulary import vocabulary

_OBJECT = 9
"""Tokens of an object and the particle behind it, at most."""
_ENDS_OBJECT = frozenset(("and", "or", "but", "to", "on", "in", "before", "after", "until", "that", "which", "who"))
_DAY = re.compile("0?[1-9]|[12][0-9]|3[01]")
_YEAR = re.compile("[12][0-9]{3}")
_YEAR_FIRST = re.compile(r"([12]\d{3})[-.](\d{1,2})[-.](\d{1,2})")
_TIME = re.compile("([01]?[0-9]|2[0-3]):([0-5][0-9](?::[0-5][0-9])?)")
_VERSION = re.compile(r"v(\d{1,4}\.\d{1,2}\.\d{1,4})")
"""Of three parts, which reads like a date without its letter."""
_HALVES = {"am": 0, "pm": 12}
_NOTHING = Token("stop", "")


def with_phrases(found: list[Token]) -> Iterator[Token]:
    """Tokens with phrases replaced by the word that they stand for, and contractions taken apart."""
    table = vocabulary()
    found = list(_apart(found))
    taken = set[int]()
    place = 0
    while place < len(found):
        longest = table.phrase_starts.get(found[place].value, 1)
        for length in range(min(longest, len(found) - place), 1, -1):
            part = found[place : place + length]
            stands = table.phrases.get(tuple(token.value for token in part))
            if stands is not None and all(token.kind in {"word", "name"} for token in part):
                if stands:
                    yield Token("word", stands)
                place += length
                break
        else:
            if particle := _particle_behind(found, place):
                taken.add(particle)
                yield Token("word", table.phrases[found[place].value, found[particle].value])
            elif place not in taken:
                yield found[place]
            place += 1


def _particle_behind(found: list[Token], place: int) -> int:
    """Where the particle of a verb stands that has its object between them: "leave the number out"; 0 for none."""
    table, verb = vocabulary(), found[place]
    if verb.kind != "word" or verb.value not in table.phrase_starts:
        return 0
    for at, token in enumerate(found[place + 1 : place + _OBJECT], place + 1):
        if token.kind == "word" and token.value in table.particles and (verb.value, token.value) in table.phrases:
            return at
        if token.kind == "stop" or token.value in _ENDS_OBJECT or token.value in table.links:
            return 0
    return 0


def _apart(found: Iterable[Token]) -> Iterator[Token]:
    for token in found:
        if token.kind in {"word", "name"} and "'" in token.value:
            if token.value in {"don't", "doesn't"}:
                yield Token("word", "do")
            head, _, tail = token.value.partition("'")
            if tail == "t":
                yield Token("word", "not")
                head = head.removesuffix("n")
                if head in vocabulary().duty:
                    yield Token("word", head)
            elif head:
                yield Token(token.kind, head)
        elif token.value == "cannot":
            yield Token("word", "can")
            yield Token("word", "not")
        else:
            yield token


def with_dates(found: Iterable[Token]) -> Iterator[Token]:
    """Dates, times and versions in one form, each as one token; the third of April is left as words."""
    items = list(found)
    place = 0
    while place < len(items):
        date, taken = _date_at(items, place)
        yield Token("date", date) if date else items[place]
        place += taken


def _date_at(items: list[Token], place: int) -> tuple[str, int]:
    """The date, time or version that begins here, "" where none does, and how many tokens it takes.

    3 April, April 3rd, 3 April 2024, 2024-04-03, 5:30 pm, v1.2.3.
    """
    table, token = vocabulary(), items[place]
    following = items[place + 1] if place + 1 < len(items) else _NOTHING
    if token.kind == "date":
        return _in_figures(token.value, following)
    if token.kind == "code" and (version := _VERSION.fullmatch(token.value)):
        return version[1], 1
    if (day := _day(token)) and _is_month(following):
        month = table.months[following.value]
    elif token.value in table.months and token.kind != "quote" and (day := _day(following)):
        month = table.months[token.value]
    elif token.value in table.months and token.kind == "name":
        return token.value, 1
    elif token.value in table.weekdays and token.kind in {"name", "word"}:
        return f"weekday {table.weekdays[token.value]}", 1
    else:
        return "", 1
    year, taken = _year(items[place + 2 : place + 4])
    return f"{month}/{day}{year}", 2 + taken


def _in_figures(found: str, following: Token) -> tuple[str, int]:
    """As `_date_at`, of a date or time written in figures; one that may be read in several ways stays as it is."""
    if date := _YEAR_FIRST.fullmatch(found):
        return f"{int(date[2])}/{int(date[3])} {date[1]}", 1
    time = _TIME.fullmatch(found)
    if time is None:
        return found, 1
    hour, behind = int(time[1]), time[2]
    if following.value not in _HALVES:
        return f"{hour}:{behind}", 1
    return f"{hour % 12 + _HALVES[following.value]}:{behind}", 2


def _is_month(token: Token) -> bool:
    """Whether it names a month behind a day: "may" and the like only where they are written as names."""
    table = vocabulary()
    return token.value in table.months and (token.kind == "name" or token.value not in table.function)


def _year(items: list[Token]) -> tuple[str, int]:
    """The year behind a day and its month, "" where there is none, and how many tokens it takes."""
    taken = 2 if items and items[0].value == "," else 1
    year = items[taken - 1] if taken <= len(items) else _NOTHING
    return (f" {year.value}", taken) if _YEAR.fullmatch(year.value) else ("", 0)


def _day(token: Token) -> str:
    value = token.value.removesuffix(" th")
    return value.lstrip("0") if token.kind == "number" and _DAY.fullmatch(value) else ""
