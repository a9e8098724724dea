"""Numbers in words, and fractions of them, as the numbers that they are."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache

from wisen.claims.lexer import Token, written
from wisen.claims.vocabulary import vocabulary

_TENS = 20
_LARGEST = 10**18
"""No number in words is larger, however many billions follow each other."""
_HUNDRED = 100
_LONGEST_WHOLE = 18
"""Digits of a number that a fraction in words may follow."""
_HALF = 2
_MINUS = "minus"
_ARTICLES = frozenset(("a", "an"))
_ONE = frozenset(("one", *_ARTICLES))


def with_numbers(found: Iterable[Token]) -> Iterator[Token]:
    """Tokens with numbers in words as numbers: twenty-five percent is 25 percent, and two thirds are 2/3."""
    table, begin = vocabulary(), _begin_numbers()
    items = list(found)
    place = 0
    while place < len(items):
        token = items[place]
        if token.kind != "number" and token.value not in begin:
            yield token
            place += 1
            continue
        minus = token.value == _MINUS and _is_sign(items, place)
        start = place + minus
        value, end = _in_words(items, start)
        if end > start:
            takes_unit = value > 1 or value.denominator == 1
            unit = table.units.get(_word_at(items, end), "") if takes_unit else ""
            number = f"{'-' * minus}{written(value)} {unit}".strip()
            yield Token("number", number, in_words=items[start].kind != "number")
            place = end + bool(unit)
        elif minus and start < len(items) and items[start].kind == "number":
            yield Token("number", "-" + items[start].value.removeprefix("-"))
            place = start + 1
        else:
            yield token
            place += 1


@cache
def _begin_numbers() -> frozenset[str]:
    """The words with which a number may begin."""
    table = vocabulary()
    return frozenset((*table.numbers, *table.part, *_ONE, _MINUS))


def _is_sign(items: list[Token], place: int) -> bool:
    """Whether a number behind "minus" is below zero: "at minus five", unlike "the sum minus five"."""
    if not place or items[place - 1].kind == "stop":
        return True
    before = items[place - 1].value
    return before in vocabulary().function or before in vocabulary().directions


def _in_words(items: list[Token], place: int) -> tuple[Fraction, int]:
    """The number in words that begins here, or has a fraction in words, and where it ends: here if there is none."""
    table = vocabulary()
    first = _word_at(items, place)
    if table.part.get(first) == _HALF:
        end = place + 1
        scaled = end + (_word_at(items, end) in _ARTICLES)
        return _scaled(items, Fraction(1, 2), scaled if _word_at(items, scaled) in table.scales else end)
    whole, end = _whole(items, place)
    is_number = end > place
    if not is_number:
        whole, end = _perhaps_whole(items, place)
    if end == place:
        return Fraction(0), place
    behind = _word_at(items, end)
    if whole == 1 and behind in table.part and _may_be_part(items, end + 1, only_of=first in _ARTICLES):
        return Fraction(1, table.part[behind]), end + 1
    if 1 < whole < table.parts.get(behind, 0):
        return Fraction(whole, table.parts[behind]), end + 1
    may_go_on = first not in _ARTICLES and _word_at(items, end - 1) not in table.scales
    if may_go_on and behind == "and" and _word_at(items, end + 1) in _ONE:
        part = table.part.get(_word_at(items, end + 2), 0)
        if part == _HALF or (part and _may_be_part(items, end + 3)):
            return _scaled(items, whole + Fraction(1, part), end + 3)
    return (Fraction(whole), end) if is_number else (Fraction(0), place)


def _perhaps_whole(items: list[Token], place: int) -> tuple[int, int]:
    """A whole number in digits, or "one" and "a", which are numbers where a fraction follows."""
    if place == len(items):
        return 0, place
    token = items[place]
    if token.kind == "number" and token.value.isdecimal() and len(token.value) < _LONGEST_WHOLE:
        return int(token.value), place + 1
    return (1, place + 1) if _word_at(items, place) in _ONE else (0, place)


def _scaled(items: list[Token], value: Fraction, place: int) -> tuple[Fraction, int]:
    """A number with a fraction times the hundred, thousand or dozen that may follow."""
    times = vocabulary().numbers[word] if (word := _word_at(items, place)) in vocabulary().scales else 0
    return (value * times, place + 1) if times else (value, place)


def _may_be_part(items: list[Token], place: int, *, only_of: bool = False) -> bool:
    """Whether a part of something may end here: "one third of it", unlike "one third party"; "a third of it" only."""
    table, value = vocabulary(), _word_at(items, place)
    if only_of:
        return value == "of"
    return not value or value in table.function or value in table.units


def _word_at(items: list[Token], place: int) -> str:
    return items[place].value if place < len(items) and items[place].kind in {"word", "name"} else ""


def _whole(items: list[Token], start: int) -> tuple[int, int]:
    """The whole number in words that begins here, and where it ends."""
    table = vocabulary()
    value, place = 0, start
    while (word := _word_at(items, place)) in table.numbers:
        more = table.numbers[word]
        if word in table.scales:
            value = min(max(value, 1) * more, _LARGEST)
        elif place == start or value % _HUNDRED == 0 or (value % 10 == 0 and more < 10 and value >= _TENS):  # noqa: PLR2004 - twenty-five
            value += more
        else:
            break
        place += 1
    return value, place
