"""Reads the numbers of a reply: their patterns, with percentages and scales, and the digits of all scripts."""

import re
import unicodedata

from wisen.replies.reply_words import any_of, words

_DIGIT = re.compile(r"\d")
_SIGNS = str.maketrans(
    {
        "\u066b": ".",  # Arabic decimal separator
        "\u066c": ",",  # Arabic thousands separator
        "\u066a": "%",  # Arabic percent sign
        "\u060c": ",",  # Arabic comma
        "\u2044": "/",  # what NFKC makes of ½ has a fraction slash
        "\u2212": "-",
        "\u2010": "-",
        "\u2011": "-",
        "\u3002": ".",
    }
)
_UNSEEN = re.compile("[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe0e\ufe0f\ufeff]")
_MIDDLE_DOT = re.compile(r"(?<=\d)\u00b7(?=\d)")

_UNIT_WORDS = any_of(words("score", "units"))
_UNITS = rf"(?:\s?(?:{_UNIT_WORDS}))?"
NUMBER = r"[+\-]?(?:\d{1,9}(?:[.,]\d{1,30})?|[.,]\d{1,30})(?![^\W分点점で입이]|[.,]\d)"
_RANGE = (
    r"(?!\s?(?:[-\u2013\u2014~]|->|\u2192|=>|\.{2,3}|to\b|or\b|bis\b|oder\b)\s?"
    r"(?:\d{0,9}[.,]\d|\d{1,9}(?:\s?[%/]|\b(?!\s{0,3}[a-z]))))"
)
_PERCENT = rf"\s{{0,3}}(?:%|per\s?cent\b|(?:{any_of(words('score', 'percent'))})\b)"
OUT_OF = r"/|out\s+of"
OF = rf"{OUT_OF}|of|(?:{any_of(words('score', 'of'))})\b"


def value(between: str) -> str:
    """A number with its scale, where `between` lists the words that may join them; not a range, a date or a version."""
    scale = rf"\s{{0,3}}\(?(?:{between})\s{{0,3}}(?P<scale>{NUMBER}){_UNITS}"
    return (
        rf"(?:~|≈|about\s|around\s|approximately\s|roughly\s|circa\s|ca\.\s)?\s?(?P<number>{NUMBER})(?P<unit>\s?(?:{_UNIT_WORDS}))?"
        rf"(?:(?P<percent>{_PERCENT})|{scale})?(?!\s?/\s?\w){_RANGE}"
    )


def western(text: str) -> str:
    """The text in NFKC, with the digits and number signs of other scripts as ASCII writes them, and nothing unseen."""
    if text.isascii():
        return text
    text = _UNSEEN.sub("", unicodedata.normalize("NFKC", text)).translate(_SIGNS)
    text = _DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), text)
    return _MIDDLE_DOT.sub(".", text)


def is_countable(match: re.Match[str]) -> bool:
    """Whether a number can count things: it is whole, a percentage, a ratio, or has a unit."""
    return bool(match["number"].isdecimal() or match["percent"] or match["scale"] or match["unit"])


def states_fraction(match: re.Match[str]) -> bool:
    """Whether a number carries its own scale: a decimal, percentage or ratio, or a plain 0 or 1."""
    return not match["number"].isdecimal() or bool(match["percent"] or match["scale"]) or match["number"] in ("0", "1")


def share(match: re.Match[str]) -> float | None:
    """The number as a share of its scale; `None` outside [0, 1]. A scale may stand in a bracket of the label."""
    groups = match.groupdict()
    scale = 100.0 if groups["percent"] else 1.0
    if groups["scale"]:
        scale = number_in(groups["scale"])
    elif groups.get("bracket") and not groups["percent"]:
        scale = bracket_scale(groups["bracket"])
    return within(number_in(match["number"]), scale)


def share_on(match: re.Match[str], scale: float) -> float | None:
    """The number as a share of the scale that its line announces, unless it carries its own; 0 announces none."""
    bare = not (match["percent"] or match["scale"]) and match["number"].isdecimal()
    return within(number_in(match["number"]), scale) if bare and scale > 1 else share(match)


def within(number: float, scale: float) -> float | None:
    """The number as a share of the scale, if it is in [0, 1]."""
    if not scale >= 1:
        return None
    score = number / scale
    return score + 0.0 if 0.0 <= score <= 1.0 else None


def bracket_scale(bracket: str) -> float:
    """The scale that a remark such as "(0-10)", "(out of 10)" or "(0 to 1)" announces, else 1."""
    match = re.search(rf"(?:/|out\sof|[\d.]{{1,6}}\s?(?:-|\u2013|to|,|bis|à|a)|max\w{{0,4}}:?)\s?({NUMBER})", bracket)
    return number_in(match[1]) if match else 1.0


def number_in(digits: str) -> float:
    """A number with a decimal point or comma; "1,000" is a thousand."""
    whole, comma, decimals = digits.partition(",")
    if comma and len(decimals) == 3 and whole.lstrip("+-").strip("0"):  # noqa: PLR2004 - a group of thousands
        return float(whole + decimals)
    return float(digits.replace(",", "."))
