"""Names of files and folders made of any text: readable, and safe on every file system.

It stands apart because cards, blocks and runs are named alike.
"""

import hashlib
import re
import unicodedata
from datetime import date

_WORDS = 5
_LONGEST = 80
"""Bytes of a name's readable part: well below what any file system takes, a date and a suffix included."""
_SAFE = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")
_DATED = re.compile(r"(\d{4}-\d{2}-\d{2})(?:-|$)")
_RESERVED = frozenset(
    ("con", "prn", "aux", "nul", "archive", *(f"{port}{n}" for port in ("com", "lpt") for n in "123456789"))
)
_MARKS = 200
"""Characters of a text that its name is made from, at most."""


def slug(text: str, otherwise: str, *, words: int = _WORDS) -> str:
    """Words of letters and digits, lower case, joined by hyphens; `otherwise` for a text without any."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text[:_MARKS]).casefold())
    spaced = "".join(one if unicodedata.category(one)[0] in "LNM" else " " for one in folded)
    name = "-".join(spaced.split()[:words])
    while len(name.encode()) > _LONGEST:
        name = name[:-1]
    name = name.strip("-") or otherwise
    return f"the-{name}" if name in _RESERVED else name


def file_stem(day: date | None, title: str) -> str:
    """`YYYY-MM-DD-<short-title>`, or the title alone."""
    name = slug(title, "untitled")
    return name if day is None else f"{day.isoformat()}-{name}"


def agent_folder(agent: str) -> str:
    """The folder for an agent's reports, for people to find; the agent's name itself is in each report."""
    return slug(agent, "agent", words=_MARKS)


def folder_name(name: str) -> str:
    """A folder's name for this very name: no two names share a folder, whatever the file system makes of case."""
    if len(name) <= _LONGEST // 2 and _SAFE.fullmatch(name) and name not in _RESERVED:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{slug(name, 'unnamed')}~{digest}"


def day_of(stem: str) -> date | None:
    """The date that a file's name begins with, where it does."""
    found = _DATED.match(stem)
    try:
        return date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None
