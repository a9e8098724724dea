"""Small words that commands and pages share: times, scores, counts, and texts with what is invisible shown.

It stands apart because `wisen` itself imports it, before any command.
"""

from datetime import datetime

from wisen.records import NEVER
from wisen.screening.invisible import unveiled

_READ = 20
"""Of a text, so many times what a line holds is read: to look for what is invisible in all of it takes a while."""


def clean(text: str) -> str:
    """The text with what is invisible, or steers a terminal, shown as its code point; line breaks stay."""
    return unveiled(text).replace("\t", " ")


def line(text: str, limit: int) -> str:
    """The text as one line of at most `limit` characters."""
    beginning = text[: _READ * limit]
    flat = " ".join(clean(beginning).split())
    whole = len(flat) <= limit and len(beginning) == len(text)
    return flat if whole else f"{flat[: limit - 1]}…"


def counted(number: object, thing: str) -> str:
    """A number of things, in the plural where there isn't just one."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def when(moment: datetime) -> str:
    """A time to the second, in UTC; "" for one that isn't known."""
    return "" if moment == NEVER else f"{moment:%Y-%m-%d %H:%M:%S}"


def score(value: float | None) -> str:
    """A score, or that it is unknown."""
    return "unknown" if value is None else f"{value:.2f}"
