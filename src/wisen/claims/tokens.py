"""Cuts a text into what may be claimed: words, numbers with their units, dates, names, codes and quotations."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from wisen.claims.form import folded, same_form
from wisen.claims.vocabulary import vocabulary

Kind = Literal["word", "number", "date", "code", "quote", "name", "sign", "stop"]

_LONGEST: Final = 20_000
"""Characters of a text that are read; no lesson is longer."""
_TOKEN: Final = re.compile(
    r"""
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
        |(?<![\w.])\d+(?:\.\d+)?(?:\s?[+*/^=<>×÷]\s?\d+(?:\.\d+)?)+(?![\w/])
    )
    |(?P<date>(?<![\w.])\d{1,4}(?P<between>[-/.])\d{1,2}(?P=between)\d{1,4}(?!\w)
        |(?<![\w.])\d{1,2}:\d{2}(?::\d{2})?(?!\w)|(?<!\w)\d{2}/\d{2}(?!\w))
    |(?P<number>
        (?P<before>[$€£¥]\s?)?(?P<sign>(?<![\w)\]])-)?
        (?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w,])|\d{1,3}(?:\.\d{3})+,\d+(?!\w)|\d+(?:[.,]\d+)*)
        (?:(?P<power>[²³¹⁰-⁹])|(?P<after>\s?(?:[%€$£¥°×]|°[cCfF]|[A-Za-z]{1,14}(?!\w)|['"](?!\w))|))
        (?![\w])
    )
    |(?P<mixed>(?:[A-Za-z]+-)*\w*\d[\w-]*(?:[.+*^]\w+)*)
    |(?P<word>[^\W\d_]+(?:['’][^\W\d_]+)*)
    |(?P<stop>[.,;:!?()\n…—–]|\s-\s)
    |(?P<sign2>[+*/^=<>≤≥≠×÷|&~%€$£¥²³\u2600-\u27bf\U0001f000-\U0001faff])
    """,
    re.VERBOSE,
)
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
    while (match := _TOKEN.search(text, place)) is not None:
        token, place = _read(text, match, begins=begins)
        yield token
        begins = token.kind == "stop" and token.value in _SENTENCE_STOPS or (begins and token.kind == "sign")


def _read(text: str, match: re.Match[str], *, begins: bool) -> tuple[Token, int]:
    start, end = match.span()
    found = match[0]
    if match["quote"]:
        return Token("quote", same_form(found[1:-1])), end
    if match["code"]:
        return Token("code", re.sub(r"\s", "", found).rstrip(".:").lower()), end
    if match["date"]:
        return Token("date", found), end
    if match["number"]:
        return _number(match), end if not match["after"] or _unit(match["after"]) else end - len(match["after"])
    if match["mixed"]:
        ordinal = _ORDINAL.fullmatch(found.lower())
        if ordinal:
            return Token("number", ordinal[1] + " th"), end
        return Token("code", found.rstrip("-").lower()), end
    if match["word"]:
        header = _HEADER.match(text, start)
        if header:
            return Token("code", header[0].lower()), header.end()
        return Token(_kind(found, begins=begins), found.lower()), end
    if match["stop"]:
        return Token("stop", found.strip()), end
    return Token("sign", found), end


def _number(match: re.Match[str]) -> Token:
    digits = match["digits"]
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", digits):
        digits = digits.replace(",", "")
    elif re.fullmatch(r"\d{1,3}(\.\d{3})+,\d+", digits):
        digits = digits.replace(".", "").replace(",", ".")
    unit = _unit(match["before"] or match["after"] or "")
    value = f"{match['sign'] or ''}{digits}{match['power'] or ''}"
    return Token("number", f"{value} {unit}".strip())


def _unit(text: str) -> str:
    return vocabulary().units.get(text.strip().lower(), "")


def _kind(word: str, *, begins: bool) -> Kind:
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
