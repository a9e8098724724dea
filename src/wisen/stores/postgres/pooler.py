"""Tells a pooler that shares connections among its clients, behind which no store can work, from one that doesn't.

It stands apart from the pool because the queue's connections ask it, too.
"""

import asyncio
from collections.abc import Awaitable, Callable

from wisen.stores.postgres.client import Wire

SHARED = "a pooler shares its connections among clients; set it to session mode"
_LONGEST = 5.0
_OF_OTHERS = ("42P05", "26000")
"""What a server says of prepared statements that another client made there, or that were made on another server."""
_WHO = "SELECT pg_backend_pid()"


async def is_shared(connection: Wire, another: Callable[[], Awaitable[Wire]]) -> bool:
    """Whether a second client, who is made by `another`, is served by what serves this idle one.

    Only where there is a pooler, which gives itself away by a number that isn't the server's, is there a second one.
    """
    try:
        mine = await connection.fetchval(_WHO)
    except Exception as error:
        if getattr(error, "sqlstate", "") in _OF_OTHERS:
            return True
        raise
    if mine == connection.get_server_pid():
        return False
    try:
        async with asyncio.timeout(_LONGEST):
            other = await another()
    except (TimeoutError, OSError):  # it lets the second wait for a connection of its own
        return False
    try:
        return await other.fetchval(_WHO) == mine
    except Exception as error:
        if getattr(error, "sqlstate", "") in _OF_OTHERS:
            return True
        raise
    finally:
        other.terminate()
