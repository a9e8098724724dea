"""What fits into a prompt's bound on tokens: the own run's words first, then the block, then cards."""

from bisect import bisect
from collections.abc import Callable, Sequence
from itertools import zip_longest

from wisen.advice.frame import FRAME, LESSONS_HEADING, REJECTED_HEADING, OwnRun, block_sample, item, quoted
from wisen.advice.token_counts import TokenCounter

_FIRST_TRY = 16


class TokenBound:
    """Counts down as texts are taken in; the frame is paid for by the first text that stands in it."""

    def __init__(self, tokens: int, count: TokenCounter) -> None:
        self._left = tokens
        self._count = count
        self._frame = count(FRAME)

    def fits(self, *texts: str, framed: bool) -> bool:
        """Whether there is room for these texts; takes it, if there is."""
        size = sum(map(self._count, texts)) + (self._frame if framed else 0)
        if size > self._left:
            return False
        self._left -= size
        self._frame = 0 if framed else self._frame
        return True

    def own(self, own: OwnRun) -> OwnRun:
        """What fits of the own run's words, the newest first."""
        corrected = tuple(turn for turn in own.corrected if self.fits(*turn, framed=False))
        lessons, rejected = list[str](), list[str]()
        for lesson, answer in zip_longest(reversed(own.lessons), reversed(own.rejected)):
            for text, kept, heading in ((lesson, lessons, LESSONS_HEADING), (answer, rejected, REJECTED_HEADING)):
                if text is not None and self.fits(*_line(text, heading if not kept else ""), framed=True):
                    kept.insert(0, text)
        return OwnRun(lessons=tuple(lessons), rejected=tuple(rejected), corrected=corrected)

    def block(self, text: str) -> str:
        """The newest lines of a block that fit; of a last line that doesn't, its beginning."""
        room = self._left - self._frame
        lines = quoted(text).split("\n")

        def fits(part: str) -> bool:
            return self._count(block_sample(part)) <= room

        newest = most_that(lambda count: fits("\n".join(lines[len(lines) - count :])), len(lines))
        kept = "\n".join(lines[len(lines) - newest :])
        if not newest:
            kept = lines[-1][: most_that(lambda length: fits(lines[-1][:length]), len(lines[-1]))]
        return kept if kept and self.fits(block_sample(kept), framed=True) else ""


def most_that(holds: Callable[[int], bool], most: int) -> int:
    """The highest number from 0 to `most` of which `holds` is true, where it is of all below one that it is true of."""
    least, reach = 0, _FIRST_TRY  # in ever longer steps: a try costs the more, the higher its number
    while reach < most and holds(reach):
        least, reach = reach, 2 * reach
    if reach >= most:
        if holds(most):
            return most
        reach = most
    return least + bisect(range(least + 1, reach), False, key=lambda number: not holds(number))


def _line(text: str, heading: str) -> Sequence[str]:
    line = f"{item(text)}\n"
    return (f"{heading}\n", line) if heading else (line,)
