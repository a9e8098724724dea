"""Characters that nobody sees: where they are, and the text without them."""

import re

from wisen.protocols import Finding
from wisen.screening.invisible import FLAG, UNSEEN, unneeded

_CONTROL = re.compile("\x1b\\[[0-9;?]{0,20}[A-Za-z]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_ROUNDS = 4
"""Times that what is left is looked at again: a comment taken out can leave another."""


def hidden(text: str) -> list[Finding]:
    """What of a text a reader wouldn't see, apart from what a script or an emoji needs to be written right."""
    places = [(start, end, "hidden-characters") for start, end in unneeded(text)]
    places += [(*match.span(), "control-characters") for match in _CONTROL.finditer(text)]
    places += [(start, end, "html-comment") for start, end in _comments(text)]
    return [
        Finding(rule=rule, family="hidden", start=start, end=end, label="hidden text")
        for start, end, rule in sorted(places)
    ]


def visible(text: str) -> str:
    """The text without what `hidden` finds; the same object where there is nothing."""
    for _ in range(_ROUNDS):
        places = sorted([*unneeded(text), *(match.span() for match in _CONTROL.finditer(text)), *_comments(text)])
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
    return _CONTROL.sub("", UNSEEN.sub("", text))


def carried(text: str) -> list[tuple[int, int, str]]:
    """Text that is written in characters that aren't seen: its place, and what it says."""
    if text.isascii():
        return []
    flags = {match.start() + 1 for match in FLAG.finditer(text)}
    return [(*match.span(), _said(match.group())) for match in _CARRIERS.finditer(text) if match.start() not in flags]


_CARRIERS = re.compile("[\U000e0020-\U000e007e]{3,}|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")


def _said(run: str) -> str:
    if "\U000e0020" <= run[0] <= "\U000e007e":
        return "".join(chr(ord(one) - 0xE0000) for one in run)
    numbers = [ord(one) - 0xFE00 if one <= "\ufe0f" else ord(one) - 0xE0100 + 16 for one in run]
    return bytes(numbers).decode("utf-8", "replace")


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
