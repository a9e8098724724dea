"""Says that a server is waited for, so that nobody sits before a program that seems to hang.

It stands apart from the pool because it knows no connection, only a wait.
"""

import asyncio
import logging

_SOON = 2.0
_LOG = logging.getLogger("wisen.stores")


class WaitNotice:
    """From the first try to connect until one succeeds or is given up; told once, when it has lasted."""

    def __init__(self, loop: asyncio.AbstractEventLoop, shown: str, patience: float) -> None:
        """`shown` names the store; `patience` is for how many seconds it is waited for."""
        self._loop = loop
        self._shown = shown
        self._patience = patience
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """A connection is tried; further tries change nothing."""
        if self._timer is None and self._patience > _SOON:
            self._timer = self._loop.call_later(_SOON, self._tell)

    def end(self) -> None:
        """It is there, or nobody waits any longer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _tell(self) -> None:
        _LOG.warning("store %r doesn't answer; waiting, %g s at most", self._shown, self._patience)
