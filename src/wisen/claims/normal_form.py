"""The form that texts share which are the same, whatever their Unicode form, case, spacing, quotes and full stop.

What carries meaning stays: signs, digits, operators, accents, emoji. So this folds less than NFKC and `casefold`: 10²
isn't 102, and Maße aren't Masse.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache

_FOLDED_TAGS = frozenset(
    ("<wide>", "<narrow>", "<noBreak>", "<small>", "<vertical>", "<initial>", "<medial>", "<final>", "<isolated>")
)
_FOLDED_RANGES = ((0x00A0, 0x00A0), (0x0F0C, 0x0F0C), (0x2007, 0x202F), (0x3000, 0x3000), (0xFB00, 0xFFEF))
_LATIN_LIGATURES = range(0xFB00, 0xFB18)
_INVISIBLE = "\N{SOFT HYPHEN}\N{ZERO WIDTH SPACE}\N{WORD JOINER}\N{ZERO WIDTH NO-BREAK SPACE}\ufe0e\ufe0f"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212"
_DOUBLE = "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\u300c\u300d\u300e\u300f\u301d\u301e\u301f"
_SINGLE = "\u2018\u2019\u201a\u201b\u2039\u203a\u2032\u02bc\u02b9"
_QUOTES = re.compile("[\"'`]+")
_TEXT_OPENERS = frozenset("-/\u2026")
_BRACKETS = frozenset("([{")
_CODE_OPENERS = frozenset("([{=,:|<>+&@#$!~^%*?")
_BARE = re.compile(r"[-+]?\d[\d.,]*|true|false|null|none|nil|yes|no", re.IGNORECASE)
_LONGEST_BARE = 40
_FULL_STOPS = frozenset(".\u3002\uff61\u0964\u06d4\u1362")
_MARKS = frozenset("!?\u061f\u203d")
_SHORT = 1_000
"""Characters of texts whose form is remembered."""
_PASSES = 8
"""So often quotes are looked through. Where they don't settle, all stay."""
_NO_STOP_BEHIND = frozenset("./\\*[({^|-~:=<&@,;!?$")


def same_form(text: str) -> str:
    """Equal for texts that are the same: up to Unicode form, case, white space, quotes and closing punctuation.

    Idempotent, for any text, in time proportional to its length.
    """
    return _remembered(text) if len(text) <= _SHORT else _same_form(text)


@lru_cache(maxsize=8_192)
def _remembered(text: str) -> str:
    """Lines of memory come again with every prompt."""
    return _same_form(text)


def _same_form(text: str) -> str:
    form = plain = " ".join(unicodedata.normalize("NFC", folded(text).lower()).split())
    for _ in range(_PASSES):  # quotes that are gone, or written as others are, may leave others that are a pair
        before, form = form, unicodedata.normalize("NFC", _without_end(_without_quotes(form)))
        if form == before or not _QUOTES.search(form):
            return form
    return plain


def folded(text: str) -> str:
    """The text in one Unicode form, with one form of each dash and quotation mark, and nothing invisible."""
    return unicodedata.normalize("NFC", text.translate(_folding()))


@cache
def _folding() -> dict[int, str]:
    """What each character is written as."""
    table: dict[int, str] = {ord("\N{HORIZONTAL ELLIPSIS}"): "..."}
    for first, last in _FOLDED_RANGES:
        for code in range(first, last + 1):
            tag, _, _ = unicodedata.decomposition(chr(code)).partition(" ")
            if tag in _FOLDED_TAGS or code in _LATIN_LIGATURES:
                table[code] = unicodedata.normalize("NFKC", chr(code))
    table |= dict.fromkeys(map(ord, _INVISIBLE), "") | dict.fromkeys(map(ord, _DASHES), "-")
    return table | dict.fromkeys(map(ord, _DOUBLE), '"') | dict.fromkeys(map(ord, _SINGLE), "'")


def _without_quotes(text: str) -> str:
    """The text without pairs of quotation marks; those around a bare number, of code and of feet and inches stay."""
    dropped: set[int] = set()
    written: dict[int, str] = {}
    waiting: dict[str, list[tuple[int, bool]]] = {'"': [], "'": [], "`": []}
    for start, end in (match.span() for match in _QUOTES.finditer(text)):
        if end - start > 3 or (set(text[start:end]) == {"`"} and end - start > 1):  # noqa: PLR2004 - a fence, or a rule of signs
            continue
        opens, is_code = _opens(text, start, end)
        closes = _closes(text, start, end)
        for place in range(start, end):
            mark = text[place]
            if closes and waiting[mark]:
                first, code = waiting[mark].pop()
                if code or _counts(text, first, place):
                    written |= dict.fromkeys((first, place), '"' if mark == "'" else mark)
                else:
                    dropped |= {first, place}
            elif opens:
                waiting[mark].append((place, is_code))
    if not dropped and not written:
        return text
    return "".join(_kept(text, dropped, written))


def _kept(text: str, dropped: set[int], written: dict[int, str]) -> Iterator[str]:
    last = 0
    for place in sorted(dropped | written.keys()):
        yield text[last:place]
        yield written.get(place, "")
        last = place + 1
    yield text[last:]


def _opens(text: str, start: int, end: int) -> tuple[bool, bool]:
    """Whether a quotation may begin with these marks, and whether it belongs to code, such as `name("x")`."""
    after = text[end : end + 1]
    if not after or after == " " or unicodedata.category(after)[0] == "M":
        return False, False
    before = text[start - 1 : start] if start else " "
    if before == " " or before in _TEXT_OPENERS or _is_ideographic(before):
        return True, False
    if before in _BRACKETS and (start == 1 or text[start - 2] == " "):
        return True, False
    return before in _CODE_OPENERS, True


def _closes(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start] if start else " ", text[end : end + 1]
    if before == " ":
        return False
    return not after or after == " " or unicodedata.category(after)[0] in "PS" or _is_ideographic(after)


def _counts(text: str, first: int, last: int) -> bool:
    """Whether quotes say more than where words begin and end: "5" is a text, 5 a number."""
    if last == first + 1:
        return True
    if text[first] == "`" and text[last - 1] in _MARKS:
        return True
    return last - first <= _LONGEST_BARE and _BARE.fullmatch(text, first + 1, last) is not None


def _is_ideographic(char: str) -> bool:
    return "\u3000" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7a3" or "\U00020000" <= char <= "\U0003ffff"


def _without_end(text: str) -> str:
    end = len(text)
    while end > 1:
        last = text[end - 1]
        if last == ".":
            dots = end - len(text[:end].rstrip(".")) if text[end - 2] == "." else 1
            cut = end - dots
            if dots == 2 or not cut or text[cut - 1] == " " or text[cut - 1] in _NO_STOP_BEHIND:  # noqa: PLR2004 - `..` is a path or a range
                break
            end = cut
        elif (last in _FULL_STOPS and (text[end - 2].isalnum() or unicodedata.category(text[end - 2])[0] == "M")) or (
            last in _MARKS and _ends_word(text, end - 1, question=last != "!")
        ):
            end -= 1
        else:
            break
    return text[:end]


def _ends_word(text: str, end: int, *, question: bool) -> bool:
    """Whether a sentence may end here: behind a word, a bracket or a quote; n! and 5! are products."""
    while end > 1 and text[end - 1] in _MARKS:
        end -= 1
    before = text[end - 1]
    if before.isdigit():
        return question
    if before.isalpha():
        return _is_ideographic(before) or (end > 1 and text[end - 2].isalnum()) or unicodedata.category(before) == "Lo"
    return before in ")]}\"'%" or unicodedata.category(before) in {"Mn", "Mc", "Sc"}
