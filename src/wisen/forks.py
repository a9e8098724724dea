"""What a fork leaves behind: threads that are gone, locks that nobody opens, connections that two processes share.

Whatever has such things joins here. Before a fork it finishes what is under way and rests. Afterwards the parent goes
on, and the child starts over. `subprocess` and `multiprocessing` with "spawn" fork nothing of this.
"""

import os
import threading
import time
from abc import ABC, abstractmethod
from functools import cache
from weakref import WeakSet

_SECONDS = 5.0
"""How long a fork waits for everything to be at rest."""
_LEFT: list[object] = []
"""What the parent uses on. It is never freed here: that would take leave of a server or a file in the parent's name."""


class Forkable(ABC):
    """Has threads, locks or connections, which a forked process can't use."""

    def before_fork(self, until: float) -> None:  # noqa: B027 - not everything has something to wait for
        """Before a fork: finish what is under way and begin nothing more; give up at `until`, of `time.monotonic`."""

    def after_fork_in_parent(self) -> None:  # noqa: B027 - as above
        """In the parent, after the fork."""

    @abstractmethod
    def after_fork_in_child(self) -> None:
        """In the child: take new threads, locks and connections, and forget callers that wait in the parent."""


def joins(one: Forkable) -> None:
    """From now on, for as long as it lives, this hears of forks."""
    _everyone().add(one)


def leave(what: object) -> None:
    """In a child: keep what belongs to the parent from being freed, which would end it there, too."""
    _LEFT.append(what)


class ForkLock:
    """A lock that is held while something works that a fork mustn't cut in two."""

    def __init__(self) -> None:
        """Begin open."""
        self._lock = threading.Lock()
        self.rested = False
        """Whether the fork that is under way, or was, has it."""

    def __enter__(self) -> None:
        """Work, once no fork is under way."""
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        """Rest."""
        self._lock.release()

    def before_fork(self, until: float) -> None:
        """Wait until nothing works."""
        self.rested = self._lock.acquire(timeout=max(0.0, until - time.monotonic()))

    def after_fork_in_parent(self) -> None:
        """Let it work again."""
        if self.rested:
            self._lock.release()

    def after_fork_in_child(self) -> None:
        """In the child, which doesn't have the thread that held it."""
        self._lock = threading.Lock()


@cache
def _everyone() -> "WeakSet[Forkable]":
    everyone: WeakSet[Forkable] = WeakSet()

    def before() -> None:
        until = time.monotonic() + _SECONDS
        for one in list(everyone):
            one.before_fork(until)

    def in_parent() -> None:
        for one in list(everyone):
            one.after_fork_in_parent()

    def in_child() -> None:
        for one in list(everyone):
            one.after_fork_in_child()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=before, after_in_parent=in_parent, after_in_child=in_child)
    return everyone
