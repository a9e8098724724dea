"""Characters that nobody sees: where they are, and the text without them."""

import re

from wisen.protocols import Finding

_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
_CONTROL = re.compile("\x1b\\[[0-9;?]{0,20}[A-Za-z]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_FEW = 2
"""Unseen characters in a row that a letter or an emoji can need."""
_ROUNDS = 4
"""Times that what is left is looked at again: a comment taken out can leave another."""
_JOINERS = frozenset("\u200c\u200d")
_MARKS = frozenset("\u200e\u200f\u061c\u2066\u2067\u2068\u2069")
_SELECTORS = frozenset(map(chr, range(0xFE00, 0xFE10)))
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_FLAG = re.compile("\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{2,6}\U000e007f")
_JOINING = re.compile("[\u0600-\u08ff\u0900-\u0dff\u0e00-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc]")


def hidden(text: str) -> list[Finding]:
    """What of a text a reader wouldn't see, apart from what a script or an emoji needs to be written right."""
    places = [(start, end, "hidden-characters") for start, end in _unneeded(text)]
    places += [(*match.span(), "control-characters") for match in _CONTROL.finditer(text)]
    places += [(start, end, "html-comment") for start, end in _comments(text)]
    return [
        Finding(rule=rule, family="hidden", start=start, end=end, label="hidden text")
        for start, end, rule in sorted(places)
    ]


def visible(text: str) -> str:
    """The text without what `hidden` finds; the same object where there is nothing."""
    for _ in range(_ROUNDS):
        places = sorted([*_unneeded(text), *(match.span() for match in _CONTROL.finditer(text)), *_comments(text)])
        if not places:
            return text
        kept: list[str] = []
        at = 0
        for start, end in places:
            kept.append(text[at:start])
            at = max(at, end)
        text = "".join((*kept, text[at:]))
    return bare(text).replace("<!--", "<! --")


def bare(text: str) -> str:
    """The text without any character that isn't seen, needed or not; comments stay."""
    if text.isascii():
        return _CONTROL.sub("", text) if _CONTROL.search(text) else text
    return _CONTROL.sub("", _UNSEEN.sub("", text))


def carried(text: str) -> list[tuple[int, int, str]]:
    """Text that is written in characters that aren't seen: its place, and what it says."""
    if text.isascii():
        return []
    flags = {match.start() + 1 for match in _FLAG.finditer(text)}
    return [(*match.span(), _said(match.group())) for match in _CARRIERS.finditer(text) if match.start() not in flags]


_CARRIERS = re.compile("[\U000e0020-\U000e007e]{3,}|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")


def _said(run: str) -> str:
    if "\U000e0020" <= run[0] <= "\U000e007e":
        return "".join(chr(ord(one) - 0xE0000) for one in run)
    numbers = [ord(one) - 0xFE00 if one <= "\ufe0f" else ord(one) - 0xE0100 + 16 for one in run]
    return bytes(numbers).decode("utf-8", "replace")


def _unneeded(text: str) -> list[tuple[int, int]]:
    if text.isascii():
        return []
    right_to_left = _RIGHT_TO_LEFT.search(text) is not None
    flags = {match.start() + 1: match.end() for match in _FLAG.finditer(text)}
    found: list[tuple[int, int]] = []
    for match in _UNSEEN.finditer(text):
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


def _comments(text: str) -> list[tuple[int, int]]:
    """HTML comments, apart from those shown as code."""
    if "<!--" not in text or "-->" not in text:
        return []
    spans: list[tuple[int, int]] = []
    at = text.find("<!--")
    while at >= 0:
        end = text.find("-->", at + 4)
        if end < 0:
            break
        if text[max(0, at - 1) : at] != "`" and text[end + 3 : end + 4] != "`":
            spans.append((at, end + 3))
        at = text.find("<!--", end + 3)
    return spans
