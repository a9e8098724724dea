"""Waits for a database that is away, for work that blocks.

It stands apart from `database` because DBOS and listeners wait likewise, on connections of their own.
"""

import asyncio
import logging
import math
import time
from collections.abc import Callable
from typing import TypeVar

from wisen.errors import QueueError
from wisen.operations.logs import log
from wisen.stores.store_urls import shown_url

_Result = TypeVar("_Result")
_PAUSE = 0.5
_LONGEST_PAUSE = 5.0
_FULL = ("too many clients", "too many connections", "connection slots are reserved")


async def patiently(work: Callable[[], _Result], *, patience: float = math.inf) -> _Result:
    """Do the work in a thread, again and again for so many seconds while its database can't be reached.

    Work must be safe to be done twice. Raises `QueueError` where the time is over.
    """
    from psycopg import InterfaceError, OperationalError  # noqa: PLC0415 - optional extra
    from sqlalchemy import exc  # noqa: PLC0415 - as above

    deadline, pause, told = time.monotonic() + patience, _PAUSE, False
    while True:
        try:
            return await asyncio.to_thread(work)
        except (OperationalError, InterfaceError, exc.OperationalError, exc.InterfaceError, exc.TimeoutError) as error:
            if time.monotonic() >= deadline:
                said = shown_url(" ".join(str(error).split("\n")[0].split()))
                raise QueueError(f"the queue's database can't be reached: {said}") from None
            told = told or waits(error, patience)
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def full(error: BaseException) -> dict[str, str]:
    """What to do, for a log line, where the server has no connection left."""
    said = str(error).lower()
    if not any(one in said for one in _FULL):
        return {}
    return {"why": "the server has no connection left; lower --concurrency, or raise its max_connections"}


def waits(error: BaseException, patience: float) -> bool:
    """Tell once that the database is waited for, and how many seconds at most; gives that it was told."""
    most = patience if math.isfinite(patience) else None
    log("database.awaited", level=logging.WARNING, error=error, seconds=most, **full(error))
    return True
