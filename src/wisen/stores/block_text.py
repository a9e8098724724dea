"""What a shared memory block is: lines of text, bounded, the oldest going first. Pure functions.

It stands apart from the backends because all keep to it, and none knows another.
"""

from wisen.errors import ConfigError

DEFAULT_BLOCK_LIMIT = 8_000
"""Characters."""


def checked_limit(limit: int) -> int:
    """The same limit; raises `ConfigError` for one that no block can keep to."""
    if limit < 1:
        raise ConfigError(f"block_limit={limit!r}: must be 1 or more characters")
    return limit


def appended(text: str, line: str, limit: int) -> str:
    """The block with one more line; line breaks within `line` become spaces, so that an append is one line."""
    flat = " ".join(line.splitlines())
    return bounded(f"{text}\n{flat}" if text else flat, limit)


def bounded(text: str, limit: int) -> str:
    """The newest whole lines that fit in `limit` characters; a last line longer than that is cut at its end."""
    if len(text) <= limit:
        return text
    last = text.rsplit("\n", 1)[-1]
    if len(last) >= limit:
        return last[:limit]
    start = len(text) - limit
    return text[start:] if text[start - 1] == "\n" else text[text.index("\n", start) + 1 :]
