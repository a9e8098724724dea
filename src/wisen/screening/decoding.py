"""Texts as a model could read them: hidden characters out, look-alikes folded, encoded layers decoded."""

import base64
import html
import re
import sys
import unicodedata
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from wisen.screening.hidden import bare, carried, hidden, visible
from wisen.screening.lookalikes import folded

__all__ = ["Reading", "hidden", "readings", "visible"]

_DEPTH = 6
_APART = 200
"""Decoded parts of a text that are readings of their own; more of them are read together."""
_TIMES = 8
"""Characters that all readings have at most, as a multiple of the text's."""
_SLACK = 4_096
_PRINTED = 0.9
_SHORTEST = 6
_DIGITS = 6
"""Digits that a text has at least that is written in numbers."""

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}+(?:\r?\n[ \t]{0,8}[A-Za-z0-9+/_-]{4,}+)*+={0,2}")
_HEX = re.compile(
    r"(?:[0-9A-Fa-f]{2}){10,}+|\b(?:0x|\\x)?[0-9A-Fa-f]{2}(?:[ :,]{1,2}(?:0x|\\x)?[0-9A-Fa-f]{2}(?![^\W_])){9,}+"
)
_ESCAPES = re.compile(
    r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|U([0-9A-Fa-f]{8})|([0-3]?[0-7]{2}))"
)
_PERCENT = re.compile(r"%[0-9A-Fa-f]{2}")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,20});?")
_SPACED = re.compile(r"(?<![^\W_])[^\W_](?:[ \t._*|-]{1,3}[^\W_](?![^\W_])){4,}+")
_LONG_FORMS = re.compile("[\ufdfa\ufdfb]")
"""Single characters that are whole sentences when they are normalised."""
_OVERRIDES = re.compile("[\u202d\u202e]([^\u202a-\u202e\u2066-\u2069\n]{2,2000})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A text as a model could read it, or a part of it decoded."""

    text: str
    how: str
    """"visible", "folded", "base64", "comment" and the like."""
    start: int
    """The part of the original that it stands for."""
    end: int


def readings(text: str) -> list[Reading]:
    """What a text says: as it is seen, and decoded layer by layer; bounded by a multiple of its length.

    The first is the text as it is seen, with hidden characters taken out and letters in their usual form. Where there
    are more layers than that, the last has no text and says "unread".
    """
    seen = _seen(text)
    whole = Reading(text=seen, how="visible", start=0, end=len(text))
    found = [whole]
    left = _TIMES * len(text) + _SLACK
    queue = deque([(whole, 0, len(seen) == len(text))])
    for one in _few(_unseen(text), 0, len(text)):
        queue.append((one, 1, False))
        found.append(one)
    unread = Reading(text="", how="unread", start=0, end=len(text))
    while queue:
        reading, depth, in_place = queue.popleft()
        for made in _layers(reading, in_place=in_place):
            left -= len(made.text)
            if left < 0 or depth >= _DEPTH:
                return [*found, unread]
            found.append(made)
            queue.append((made, depth + 1, False))
    return found


def _seen(text: str) -> str:
    plain = bare(text)
    plain = plain if plain.isascii() else _LONG_FORMS.sub(" ", plain)
    return plain if unicodedata.is_normalized("NFKC", plain) else unicodedata.normalize("NFKC", plain)


def _unseen(text: str) -> list[Reading]:
    """What only hidden characters say, and what overridden writing direction shows."""
    made = [Reading(text=said, how="tags", start=start, end=end) for start, end, said in carried(text)]
    for match in _OVERRIDES.finditer(text) if not text.isascii() else ():
        turned = bare(match.group(1))[::-1]
        made.append(Reading(text=turned, how="reordered", start=match.start(), end=match.end()))
    return made


def _layers(reading: Reading, *, in_place: bool) -> Iterator[Reading]:
    """The readings one layer below."""
    text = reading.text
    whole = reading.start, reading.end
    parts = [
        Reading(text=said, how=how, start=start if in_place else whole[0], end=end if in_place else whole[1])
        for how, start, end, said in _parts(text)
    ]
    yield from _few(parts, *whole)
    for how, said, first, last in _wholes(text, reading.how):
        if said != text:
            start, end = _words_around(text, first, last) if in_place else (reading.start, reading.end)
            yield Reading(text=said, how=how, start=start, end=end)


def _few(made: list[Reading], start: int, end: int) -> list[Reading]:
    """The readings, those beyond the first few hundred as one."""
    if len(made) <= _APART:
        return made
    rest = "\n\n".join(one.text for one in made[_APART:])
    return [*made[:_APART], Reading(text=rest, how="several", start=start, end=end)]


def _words_around(text: str, start: int, end: int) -> tuple[int, int]:
    while start > 0 and not text[start - 1].isspace():
        start -= 1
    while end < len(text) and not text[end].isspace():
        end += 1
    return start, end


def _parts(text: str) -> Iterator[tuple[str, int, int, str]]:
    """Parts that stand for a text of their own: encoding, place, what they say."""
    digits = sum(map(text.count, "0123456789"))
    yield from _decoded(text, "base64", _BASE64, _base64)
    if digits >= _DIGITS:
        yield from _decoded(text, "hex", _HEX, _hex)
    at = text.find("<!--")
    while at >= 0:
        end = text.find("-->", at + 4)
        close = len(text) if end < 0 else end
        yield "comment", at, min(len(text), close + 3), text[at + 4 : close].strip()
        at = text.find("<!--", close)


def _decoded(
    text: str, how: str, form: re.Pattern[str], decode: Callable[[str], str]
) -> Iterator[tuple[str, int, int, str]]:
    for match in form.finditer(text):
        written = match.group().rstrip(" :,")
        said = decode(written)
        if said:
            yield how, match.start(), match.start() + len(written), said


def _wholes(text: str, how: str) -> Iterator[tuple[str, str, int, int]]:
    """The whole text in another form: which, the form, and the place of what is changed."""
    if how == "visible" and not text.isascii():
        yield "folded", folded(text), 0, len(text)
    inline = [
        (name, span, decode)
        for name, mark, form, decode in _INLINE
        if mark in text and (span := _span(form, text)) is not None
    ]
    if inline:
        said = text
        for _, _, decode in inline:
            said = decode(said)
        yield inline[0][0], said, min(span[0] for _, span, _ in inline), max(span[1] for _, span, _ in inline)
    if found := _span(_SPACED, text):
        yield "spaced", _SPACED.sub(_joined, text), *found


def _span(form: re.Pattern[str], text: str) -> tuple[int, int] | None:
    first = form.search(text)
    return None if first is None else (first.start(), max(match.end() for match in form.finditer(text)))


def _text_of(data: bytes) -> str:
    """Bytes as text, "" where they aren't any."""
    if len(data) >= _SHORTEST and data[1::2].count(0) > len(data) * 0.4:
        said = data.decode("utf-16-le", "replace")
    else:
        try:
            said = data.decode()
        except UnicodeDecodeError:
            return ""
    if len(said) < _SHORTEST or not any(map(str.isalnum, said)):
        return ""
    printed = sum(one.isprintable() or one in "\n\t\r" for one in said)
    return said if printed >= len(said) * _PRINTED else ""


def _base64(written: str) -> str:
    letters = "".join(written.split()).rstrip("=")
    if letters.isalpha() and (letters.islower() or letters.isupper()):
        return ""
    letters = letters.replace("-", "+").replace("_", "/")
    for offset in range(min(4, len(letters) - 15)):
        part = letters[offset:]
        part = part[: len(part) - 1] if len(part) % 4 == 1 else part
        said = _text_of(base64.b64decode(part + "=" * (-len(part) % 4)))
        if said:
            return said
    return ""


def _hex(written: str) -> str:
    digits = re.sub(r"0x|\\x|[ :,]", "", written)
    for offset in range(4):
        said = _text_of(bytes.fromhex(digits[offset : offset + (len(digits) - offset) // 2 * 2]))
        if said:
            return said
    return ""


def _escaped(match: re.Match[str]) -> str:
    braced, short, byte, long, octal = match.groups()
    number = int(octal, 8) if octal else int(braced or short or byte or long, 16)
    return chr(number) if number <= sys.maxunicode else match.group()


def _without_percent(text: str) -> str:
    return unquote(text, errors="replace")


def _without_escapes(text: str) -> str:
    return _ESCAPES.sub(_escaped, text)


def _joined(match: re.Match[str]) -> str:
    """Spaced letters as words: a wider gap ends one."""
    run = match.group()
    wide = re.compile(r"[ \t._*|-]{2,}") if re.search(r"\w[ \t._*|-]\w", run) else re.compile(r"(?!)")
    return " ".join(re.sub(r"[\W_]", "", word) for word in wide.split(run))


_INLINE = (
    ("url", "%", _PERCENT, _without_percent),
    ("entities", "&", _ENTITY, html.unescape),
    ("escapes", "\\", _ESCAPES, _without_escapes),
)
"""Encodings of single characters: name, mark, form, and what takes them out. All are read at once."""
