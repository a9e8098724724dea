"""Characters that nobody sees: which they are, which a script or an emoji needs, and how a reviewer is shown them."""

import re

UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
FLAG = re.compile("\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{2,6}\U000e007f")
_STEERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""What moves a terminal's cursor, ends a line or turns the direction of writing; line feeds and tabs may."""
_OPENS, _CLOSES = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"
_FEW = 2
"""Unseen characters in a row that a letter or an emoji can need."""
_JOINERS = frozenset("\u200c\u200d")
_MARKS = frozenset("\u200e\u200f\u061c\u2066\u2067\u2068\u2069")
_SELECTORS = frozenset(map(chr, range(0xFE00, 0xFE10)))
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_JOINING = re.compile("[\u0600-\u08ff\u0900-\u0dff\u0e00-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc]")


def unneeded(text: str) -> list[tuple[int, int]]:
    """Places of characters that aren't seen and that nothing needs to be written right."""
    if text.isascii():
        return []
    right_to_left = _RIGHT_TO_LEFT.search(text) is not None
    flags = {match.start() + 1: match.end() for match in FLAG.finditer(text)}
    found: list[tuple[int, int]] = []
    for match in UNSEEN.finditer(text):
        start, end = match.span()
        if flags.get(start) == end or (end - start <= _FEW and _needed(text, start, end, right_to_left)):
            continue
        found.append((start, end))
    return found


def _needed(text: str, start: int, end: int, right_to_left: bool) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    if all(one in _MARKS for one in text[start:end]):
        return right_to_left
    for one in text[start:end]:
        if one in _SELECTORS:
            if not before or (before.isascii() and before not in "#*0123456789©®"):
                return False
        elif one in _JOINERS:
            emoji = before > "\u2190" and after > "\u2190" and not before.isalpha() and not after.isalpha()
            script = _JOINING.match(before) or _JOINING.match(after)
            if not emoji and not script:
                return False
        else:
            return False
    return True


def unveiled(text: str) -> str:
    """The text as a reviewer should see it: what is invisible or steers a terminal stands there as its code point.

    Line feeds and tabs stay, and what an emoji or a script needs to be written right, unless it steers.
    """
    places = {place for start, end in unneeded(text) for place in range(start, end)}
    places.update(match.start() for match in _STEERS.finditer(text))
    if not places:
        return text
    return "".join(f"{_OPENS}U+{ord(one):04X}{_CLOSES}" if at in places else one for at, one in enumerate(text))
