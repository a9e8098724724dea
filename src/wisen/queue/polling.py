"""When a worker looks for tasks: often while it has work, seldom while it has none, and at once when it is told.

It stands apart from the engine because it needs no database: a clock and a lock.
"""

import threading
from collections.abc import Callable

_SLOWER = 1.5
_JITTER = 1.1
"""DBOS varies its pauses by less than that; a longer one means that workers got into one another's way."""


class TaskPoll(threading.Event):
    """Stands in for the event that ends DBOS's thread for a queue, which waits for it between its looks.

    Args:
        poll: Seconds between looks while there is work.
        busy: Whether there is.
        longest: Seconds between two looks of a worker that has nothing to do, where nobody tells it of tasks.
    """

    def __init__(self, poll: float, busy: Callable[[], bool], *, longest: float) -> None:
        super().__init__()
        self._poll = poll
        self._busy = busy
        self._bell = threading.Event()
        self._pause = poll
        self._longest = max(longest, poll)
        self._worked = False

    def worked(self) -> None:
        """Note that there was work since the last look, however soon it ended."""
        self._worked = True

    def look(self) -> None:
        """Look now: there may be tasks."""
        self._bell.set()

    def set(self) -> None:
        """End the looking."""
        super().set()
        self._bell.set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the next look; gives whether there is none any more."""
        asked = self._poll if timeout is None else timeout
        crowded = asked > self._poll * _JITTER
        rung = self._bell.wait(max(asked, self._pause)) and not crowded
        self._bell.clear()
        idle = not (rung or self._worked or self._busy())
        self._worked = False
        self._pause = min(_SLOWER * self._pause, self._longest) if idle else self._poll
        return self.is_set()
