"""Cuts a text into what may be claimed: words, numbers with their units, dates, names, codes and quotations."""

# ruff: noqa: RUF001 - signs that look alike are what is read here
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final, Literal

from wisen.claims.normal_form import folded, same_form
from wisen.claims.vocabulary import vocabulary

Kind = Literal["word", "number", "date", "code", "quote", "name", "sign", "stop"]

_LONGEST: Final = 20_000
"""Characters of a text that are read; no lesson is longer."""
_LONGEST_WORD: Final = 80
MARKS: Final = (
    r"\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff\u0e31-\u0e4e\u0eb1-\u0ecd\u1000-\u109f"
    r"\u17b4-\u17d3\u200c\u200d"
)
"""Vowel signs and the like of other scripts than Latin, which belong to a word and aren't letters."""
PICTOGRAPHS: Final = r"\u2600-\u27bf\U0001f000-\U0001faff"
_LATIN_MARKS: Final = r"\u0300-\u036f"
_FRACTIONS: Final = (
    r"\u00bc-\u00be\u2150-\u215e\u2189\u2cfd"
    r"\u09f4-\u09f8\u0b72-\u0b77\u0d58-\u0d5e\u0d73-\u0d78\u0f2a-\u0f33\ua830-\ua835"
)
"""Signs that are a fraction by themselves."""
_PATTERN: Final = r"""
    (?P<quote>(?<![\w)\]"'])(?:"[^"\n]{1,200}"|`[^`\n]{1,200}`|'[^'\n]{1,80}')(?![\w]))
    |(?P<code>
        \b[A-Za-z][\w+-]{0,16}://[^\s<>"')\]]{1,500}
        |[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+
        |(?<![\w.])(?:YYYY|YY|yyyy|DD|dd|HH|hh)(?:[-/.:T\ ]?(?:YYYY|YY|yyyy|MM|DD|dd|mm|HH|hh|ss|SS)){1,6}(?!\w)
        |(?<![\w.])(?:MM)(?:[-/.:T\ ]?(?:YYYY|YY|yyyy|DD|dd|mm|ss|SS)){1,6}(?!\w)
        |(?<![\w/])(?:~|\.{1,2})?/\w[\w./*-]{0,200}
        |(?<=\s)\.{1,2}/?(?=\s|$)
        |(?<![\w-])--?[A-Za-z][\w-]{0,64}
        |[#@][A-Za-z][\w-]{0,64}
        |\$\{?[A-Za-z_]\w{0,64}\}?
        |\b[A-Za-z]\w{0,64}(?:::|->|\.|_|:)\w[\w.:]{0,128}(?:\(\))?
        |\b\w{1,64}\(\)
        |\b[A-Za-z](?:\+\+|\#)(?!\w)
        |(?<![\w.])\d+(?:\.\d+)?(?:\s?[+*/^=<>×÷]\s?\d+(?:\.\d+)?){1,32}(?![\w/])
    )
    |(?P<date>(?<![\w.])\d{1,4}(?P<between>[-/.])\d{1,2}(?P=between)\d{1,4}(?!\w)
        |(?<![\w.])\d{1,2}:\d{2}(?::\d{2})?(?!\w)|(?<!\w)\d{2}/\d{2}(?!\w))
    |(?P<ratio>(?<![\w.:])\d{1,9}(?:\.\d{1,9})?(?::\d{1,9}(?:\.\d{1,9})?){1,8}(?!\w|[.:]\d))
    |(?P<factorial>(?<!\w)(?:[A-Za-z]|\d{1,9})!(?!\w))
    |(?P<number>
        (?P<before>[$€£¥]\s?)?(?P<minus>(?<![\w)\]])-)?
        (?P<digits>(?:\d{1,9}\ ?)?[FRACTIONS]
            |\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w,])|\d{1,3}(?:\.\d{3})+,\d+(?!\w)|\d+(?:[.,]\d+)*)
        (?!(?i:st|nd|rd|th)(?!\w))(?:(?P<power>[²³¹⁰-⁹])|(?P<after>\s?(?:[%€$£¥°×]|°[cCfF]|[A-Za-z]{1,14}(?!\w)|['"](?!\w))|))
        (?![\w])
    )
    |(?P<mixed>(?:[A-Za-z]{1,40}-){0,8}[^\W\d]{0,80}\d[\w-]*(?:[.+*^]\w+)*)
    |(?P<word>(?:[^\W\d_]|[MARKS])+(?:'[^\W\d_]+)*)
    |(?P<stop>[.,;:!?()\n…—–]|\s-\s)
    |(?P<sign>[\U0001f1e6-\U0001f1ff]{2}|[<>]=?|[+*/^=≤≥≠×÷|&~%€$£¥²³]
        |[\u2600-\u27bf\U0001f000-\U0001faff](?:[\U0001f3fb-\U0001f3ff]|\u200d[\u2600-\u27bf\U0001f000-\U0001faff]){0,8})
"""
_TOKEN: Final = re.compile(_PATTERN.replace("MARKS", _LATIN_MARKS + MARKS).replace("FRACTIONS", _FRACTIONS), re.VERBOSE)
_PLAIN: Final = re.compile(r" ?(?!dd|hh|yy)([a-z]+)(?= |\Z)")
"""A word that `_TOKEN` would read as one, and take longer. Those left out may begin a form of dates."""
_ABBREVIATIONS: Final = re.compile(r"\b(?:i\.e|e\.g|a\.m|p\.m|etc|vs)\.", re.IGNORECASE)
_DIGIT: Final = re.compile(r"\d")
_SIGNS_OF_NUMBERS: Final = str.maketrans({"\u066b": ".", "\u066c": ",", "\u066a": "%", "\u2044": "/"})
_THOUSANDS: Final = 3
"""Digits behind a point that may be thousands as well: 1.000."""
_VERSION: Final = re.compile(r"\d\.\d+\.\d|\bv\d", re.IGNORECASE)
_ORDINAL: Final = re.compile(r"(\d+)(?:st|nd|rd|th)")
_SENTENCE_STOPS: Final = frozenset((".", "!", "?", ":", "", "...", "(", "-"))
_CAMEL: Final = re.compile(r"[a-z][A-Z]|[A-Z]{2,}[a-z]{2,}|[A-Z][a-z]+[A-Z]")
_HEADER: Final = re.compile(r"[A-Z][A-Za-z]+(?:-[A-Z][A-Za-z]+)+")


@dataclass(frozen=True, slots=True)
class Token:
    """One piece of a text; `value` is its normal form, such as "500 eur" for €500."""

    kind: Kind
    value: str
    in_words: bool = False
    """Of a number: whether it was written as words."""


def tokens(text: str) -> Iterator[Token]:
    """The pieces of a text in their order."""
    text = _ABBREVIATIONS.sub(lambda match: match[0].replace(".", "") + " ", _western(folded(text[:_LONGEST])))
    begins = True
    place = 0
    while True:
        if plain := _PLAIN.match(text, place):
            yield Token("word", plain[1])
            begins, place = False, plain.end()
            continue
        match = _TOKEN.search(text, place)
        if match is None:
            return
        token, place = _read(text, match, begins=begins)
        yield token
        begins = (token.kind == "stop" and token.value in _SENTENCE_STOPS) or (begins and token.kind == "sign")


def written(number: Fraction) -> str:
    """A number as a decimal where it is one, else as a fraction: 2, 0.5, 2/3."""
    decimal = Decimal(number.numerator) / number.denominator
    return f"{decimal.normalize():f}" if Fraction(decimal) == number else str(number)


def _western(text: str) -> str:
    """The text with the digits of other scripts, and their signs, as ASCII writes them."""
    if text.isascii():
        return text
    return _DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), text.translate(_SIGNS_OF_NUMBERS))


def _read(text: str, match: re.Match[str], *, begins: bool) -> tuple[Token, int]:
    """The token that was matched, and where to go on."""
    start, end = match.span()
    found, group = match[0], match.lastgroup
    if group == "number":
        return _number(match), end if not match["after"] or _unit(match["after"]) else end - len(match["after"])
    if group == "word":
        header = _HEADER.match(text, start)
        if header:
            return Token("code", header[0].lower()), header.end()
        return Token(_kind(found, begins=begins), found.lower()), end
    if group == "mixed" and (ordinal := _ORDINAL.fullmatch(found.lower())):
        return Token("number", ordinal[1] + " th"), end
    if group == "quote" and (inner := _quoted_code(found[1:-1])):
        return inner, end
    kinds: dict[str | None, tuple[Kind, str]] = {
        "quote": ("quote", same_form(found[1:-1])),
        "date": ("date", found),
        "stop": ("stop", found.strip()),
        "sign": ("sign", found),
    }
    return Token(*kinds.get(group, ("code", _code(found)))), end


def _quoted_code(inner: str) -> Token | None:
    """What a quotation holds where that is one code or date, which is the same without its quotes."""
    if len(inner) > _LONGEST_WORD or " " in inner:
        return None
    match = _TOKEN.fullmatch(inner)
    return Token("code", _code(inner)) if match and match.lastgroup in {"code", "mixed", "ratio"} else None


def _code(found: str) -> str:
    bare = re.sub(r"\s", "", found).lower()
    return bare.rstrip(".:-") or bare


def _number(match: re.Match[str]) -> Token:
    digits = match["digits"]
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", digits):
        digits = digits.replace(",", "")
    elif re.fullmatch(r"\d{1,3}(\.\d{3})+,\d+", digits):
        digits = digits.replace(".", "").replace(",", ".")
    unit = _unit(match["before"] or match["after"] or "")
    digits = _quantity(digits, is_version=not unit and _names_versions(match.string), is_measured=bool(unit))
    value = f"{match['minus'] or ''}{digits}{match['power'] or ''}"
    return Token("number", f"{value} {unit}".strip())


def _quantity(digits: str, *, is_version: bool, is_measured: bool) -> str:
    """The number without zeros that add nothing: 1.0 is 1, and 2.50 EUR are 2.5 EUR, but Python 3.10 isn't 3.1."""
    if unicodedata.category(digits[-1]) != "Nd":
        return written(int(digits[:-1] or "0") + Fraction(unicodedata.numeric(digits[-1])).limit_denominator(1_000))
    whole, _, behind = digits.partition(".")
    if is_version or not whole.isdecimal() or not behind.isdecimal() or len(behind) == _THOUSANDS:
        return digits
    kept = behind.rstrip("0")
    if not kept:
        return whole
    return f"{whole}.{kept}" if is_measured else digits


@lru_cache(maxsize=8)
def _names_versions(text: str) -> bool:
    """Whether a text has versions in it, such as 1.0.2 and v2, so that other numbers may be versions, too."""
    return _VERSION.search(text) is not None


def _unit(text: str) -> str:
    return vocabulary().units.get(text.strip().lower(), "")


def _kind(word: str, *, begins: bool) -> Kind:
    if len(word) > _LONGEST_WORD:
        return "word"
    if _CAMEL.search(word) and not word.endswith("s"):
        return "name"
    if len(word) > 1 and word.rstrip("s").isupper():
        return "name"
    if word[0].isupper() and not begins and word != "I" and not word.startswith("I'"):
        return "name"
    return "word"


def is_foreign(word: str) -> bool:
    """Whether a word has letters of another script than Latin, of which the word tables know nothing."""
    return not word.isascii() and any(
        char.isalpha() and not unicodedata.name(char, "").startswith("LATIN") for char in word
    )
