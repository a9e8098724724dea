"""The lines of a file of any size, with their numbers, none of them held beyond a bound.

It stands apart because traces and transcripts are read alike, and neither reader builds on the other.
"""

from collections.abc import Iterator
from typing import IO, Final

LONGEST_LINE: Final = 16 * 1024 * 1024
"""Bytes of a line. A longer one, as a picture within the text makes it, isn't read."""
TOO_LONG: Final = f"is longer than {LONGEST_LINE // 1024**2} MiB"


def numbered_lines(file: IO[bytes], *, after: int = 0) -> Iterator[tuple[int, bytes]]:
    """The lines with their numbers; of one that is too long, just enough to see that.

    `after` is the number of the line that the file has been read to.
    """
    number = after
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        yield number, line
        rest = line
        while rest and len(line) > LONGEST_LINE and not rest.endswith(b"\n"):
            rest = file.readline(LONGEST_LINE)
