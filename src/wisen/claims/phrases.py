"""Tokens as words that stand for phrases, contractions taken apart, and days with their months."""

import re
from collections.abc import Iterable, Iterator

from wisen.claims.lexer import Token
from wisen.claims.vocabulary import vocabulary

_OBJECT = 9
"""Tokens of an object and the particle behind it, at most."""
_ENDS_OBJECT = frozenset(("and", "or", "but", "to", "on", "in", "before", "after", "until", "that", "which", "who"))
_DAY = re.compile("0?[1-9]|[12][0-9]|3[01]")


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
    """Days with their month as one token: 3 April, April 3rd, the third of April is left as words."""
    table = vocabulary()
    items = list(found)
    place = 0
    while place < len(items):
        token = items[place]
        following = items[place + 1] if place + 1 < len(items) else None
        if following and (day := _day(token)) and following.value in table.months and following.kind == "name":
            yield Token("date", f"{table.months[following.value]}/{day}")
            place += 2
        elif following and token.value in table.months and token.kind != "quote" and (day := _day(following)):
            yield Token("date", f"{table.months[token.value]}/{day}")
            place += 2
        elif token.value in table.months and token.kind == "name":
            yield Token("date", token.value)
            place += 1
        elif token.value in table.weekdays and token.kind in {"name", "word"}:
            yield Token("date", f"weekday {table.weekdays[token.value]}")
            place += 1
        else:
            yield token
            place += 1


def _day(token: Token) -> str:
    value = token.value.removesuffix(" th")
    return value if token.kind == "number" and _DAY.fullmatch(value) else ""
