"""The words by which replies are read: data, in a file beside this module.

It stands apart because every reader of replies asks for words, and it needs none of them.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

from wisen.data_files import read_table


@cache
def words(section: str, name: str) -> frozenset[str]:
    """The entries of one list in `words.toml`, as replies are compared with them."""
    return frozenset(map(folded, _lists()[section][name]))


@cache
def in_order(section: str, name: str) -> tuple[str, ...]:
    """The entries of one list as they stand there, for lists in which the order counts."""
    return tuple(_lists()[section][name])


def folded(text: str) -> str:
    """A text as words are compared: NFKC, lower case, one kind of apostrophe, no variation selectors."""
    return unicodedata.normalize("NFKC", text).lower().replace("\u2019", "'").replace("\ufe0f", "")


def any_of(entries: Iterable[str]) -> str:
    """A pattern for any of the entries, the longest first."""
    return "|".join(re.escape(entry) for entry in sorted(entries, key=lambda entry: (-len(entry), entry)))


def _lists() -> dict[str, dict[str, list[str]]]:
    return read_table("wisen.replies", "words.toml")
