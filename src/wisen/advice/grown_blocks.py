"""Screens blocks that grow line by line, without reading all of them again each time."""

from collections import deque

from wisen.protocols import Screen
from wisen.screening.screens import admitted

_REMEMBERED = 32
_TOGETHER = 500
"""Characters beside a block's new lines, and of its new beginning, that are screened with them."""


class GrownBlocks:
    """Knows the last few blocks that passed a screen whole, those of all tenants: a verdict rests on the text alone."""

    def __init__(self) -> None:
        self._passed: deque[str] = deque(maxlen=_REMEMBERED)

    def admitted(self, screen: Screen, block: str) -> str:
        """What of a block may be shown. Of one that has passed and has grown, the new lines are screened.

        With some of the old ones, since lines can say together what none says alone. A full block loses its oldest
        lines as it grows: then those that are its first now are screened, too, since nothing stands before them.
        """
        parts = self._unread(block)
        if block and all(admitted(screen, part) == part for part in parts):
            self._passed.append(block)
            return block
        return admitted(screen, block)

    def _unread(self, block: str) -> list[str]:
        for known in reversed(tuple(self._passed)):
            if same := _same(known, block):
                new = block[len(block[: max(same - _TOGETHER, 0)].rpartition("\n")[0]) :]
                end = block.find("\n", _TOGETHER)
                if same == len(known):
                    return [new]
                return [block[:end], new] if end >= 0 else [block]
        return [block]


def _same(known: str, block: str) -> int:
    """How many characters a grown block begins with that a known one ends with, in whole lines; 0 for none."""
    if block.startswith(f"{known}\n"):
        return len(known)
    first = "\n{}\n".format(block.partition("\n")[0])
    start = known.find(first) + 1
    return len(known) - start if start and block.startswith(f"{known[start:]}\n") else 0
