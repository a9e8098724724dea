"""One look at a folder for several reads: what a page or a search asks for in turn."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

_SINCE: ContextVar[float | None] = ContextVar("wisen_one_look", default=None)


@contextmanager
def one_look() -> Generator[None]:
    """Let reads inside share a look at a folder, which is not older than this moment or the outer block's."""
    token = _SINCE.set(look_since())
    try:
        yield
    finally:
        _SINCE.reset(token)


def look_since() -> float:
    """The monotonic time from which a look is fresh enough for a read that is asked for now."""
    since = _SINCE.get()
    return time.monotonic() if since is None else since
