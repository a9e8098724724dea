"""Letters that pass for Latin ones, and the text as it looks.

It stands apart because cleaning and decoding share it, and neither builds on the other.
"""

import re
import unicodedata
from functools import cache

from wisen.data_files import read_table

_ACCENTS = re.compile("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+")


def folded(text: str) -> str:
    """The text in plain Latin letters where its letters look like them, without accents."""
    if text.isascii():
        return text
    apart = _ACCENTS.sub("", unicodedata.normalize("NFKD", text).translate(_table()))
    return unicodedata.normalize("NFKC", apart).translate(_table())


@cache
def _table() -> dict[int, str]:
    """What stands for each character: `data/lookalikes.toml`, and the signs of regions."""
    rows = read_table("wisen.screening", "data/lookalikes.toml")
    table = {ord(like): latin for latin, alike in rows.items() for like in alike}
    return table | {0x1F1E6 + number: chr(97 + number) for number in range(26)}
