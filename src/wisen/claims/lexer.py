"""Cuts a text into what may be claimed: words, numbers with their units, dates, names, codes and quotations."""

# ruff: noqa: RUF001 - signs that look alike are what is read here
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from wisen.claims.normal_form import folded, same_form
from wisen.claims.vocabulary import vocabulary

Kind = Literal["word", "number", "date", "code", "quote", "name", "sign", "stop"]

_LONGEST: Final = 20_000
"""Characters of a text that are read; no lesson is longer."""
_LONGEST_WORD: Final = 80
_MARKS: Final = (
    r"\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0dff\u0e31-\u0e4e\u0eb1-\u0ecd\u1000-\u109f"
    r"\u17b4-\u17d3\u200c\u200d"
)
"""Vowel signs and the like, which belong to a word and aren't letters."""
_PATTERN: Final = r"""
    (?P<quote>(?<![\w)\]"'])(?:"[^"\n]{1,200}"|`[^`\n]{1,200}`|'[^'\n]{1,80}')(?![\w]))
    |(?P<code>
        https?://[^\s<>"')\]]{1,500}
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
    |(?P<factorial>(?<!\w)(?:[A-Za-z]|\d{1,9})!(?!\w))
    |(?P<number>
        (?P<before>[$€£¥]\s?)?(?P<minus>(?<![\w)\]])-)?
        (?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w,])|\d{1,3}(?:\.\d{3})+,\d+(?!\w)|\d+(?:[.,]\d+)*)
        (?:(?P<power>[²³¹⁰-⁹])|(?P<after>\s?(?:[%€$£¥°×]|°[cCfF]|[A-Za-z]{1,14}(?!\w)|['"](?!\w))|))
        (?![\w])
    )
    |(?P<mixed>(?:[A-Za-z]{1,40}-){0,8}[^\W\d]{0,80}\d[\w-]*(?:[.+*^]\w+)*)
    |(?P<word>(?:[^\W\d_]|[MARKS])+(?:'[^\W\d_]+)*)
    |(?P<stop>[.,;:!?()\n…—–]|\s-\s)
    |(?P<sign>[\U0001f1e6-\U0001f1ff]{2}|[<>]=?|[+*/^=≤≥≠×÷|&~%€$£¥²³]
        |[\u2600-\u27bf\U0001f000-\U0001faff](?:[\U0001f3fb-\U0001f3ff]|\u200d[\u2600-\u27bf\U0001f000-\U0001faff]){0,8})
"""
_TOKEN: Final = re.compile(_PATTERN.replace("MARKS", _MARKS), re.VERBOSE)
_PLAIN: Final = re.compile(r" ?(?!dd|hh|yy)([a-z]+)(?= |\Z)")
"""A word that `_TOKEN` would read as one, and take longer. Those left out may begin a form of dates."""
_ABBREVIATIONS: Final = re.compile(r"\b(?:i\.e|e\.g|a\.m|p\.m|etc|vs)\.", re.IGNORECASE)
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
    text = _ABBREVIATIONS.sub(lambda match: match[0].replace(".", "") + " ", folded(text[:_LONGEST]))
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
    return Token("code", _code(inner)) if match and match.lastgroup in {"code", "mixed"} else None


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
    value = f"{match['minus'] or ''}{digits}{match['power'] or ''}"
    return Token("number", f"{value} {unit}".strip())


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
