"""The queue's own tables in Postgres: a pool that waits for a server that is away, and numbered migrations."""

import asyncio
import math
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from wisen.errors import ConfigError, MissingExtraError, QueueError
from wisen.queue.reconnecting import waits
from wisen.stores.postgres.pooler import SHARED, is_shared
from wisen.stores.store_urls import POSTGRES_SCHEMES, is_url, scheme_of, shown_url

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from wisen.stores.postgres.client import Wire

_Result = TypeVar("_Result")

SCHEMA = "wisen_queue"
INSTALL = "pip install 'wisen[durable]'"
_LOCK = 0x77697365_6E71
"""Migrations of one database are made by one process at a time."""
_PAUSE = 0.5
_LONGEST_PAUSE = 5.0
_STATEMENT_SECONDS = 60.0


class QueueConnection(Protocol):
    """What is used of an asyncpg connection, inside of a transaction."""

    async def execute(self, query: str, *args: object) -> str:
        """Run statements; gives the last one's tag, such as "UPDATE 3"."""
        ...

    async def executemany(self, query: str, args: Sequence[Sequence[object]]) -> None:
        """Run one statement for each of the arguments."""
        ...

    async def fetch(self, query: str, *args: object) -> list[Mapping[str, Any]]:
        """All rows."""
        ...

    async def fetchrow(self, query: str, *args: object) -> Mapping[str, Any] | None:
        """The first row."""
        ...

    async def fetchval(self, query: str, *args: object) -> Any:  # noqa: ANN401 - whatever the column holds
        """The first column of the first row."""
        ...

    async def copy_records_to_table(
        self, table: str, *, records: Sequence[Sequence[object]], columns: Sequence[str], schema_name: str
    ) -> str:
        """Add many rows."""
        ...

    def transaction(self) -> "AbstractAsyncContextManager[object]":
        """A transaction."""
        ...


Work = Callable[[QueueConnection], Awaitable[_Result]]


def checked_url(url: str) -> str:
    """The URL, if it names a Postgres database; raises `ConfigError`, or `MissingExtraError` without the extra."""
    if not is_url(url) or scheme_of(url) not in POSTGRES_SCHEMES:
        raise ConfigError(f"queue in {shown_url(url)!r}: queues need Postgres; pass a URL postgresql://…")
    if find_spec("asyncpg") is None or find_spec("dbos") is None:
        raise MissingExtraError("a queue", INSTALL)
    return url


class Tables:
    """Runs work on the tables, each in a transaction of its own.

    Work must be safe to be done twice: where a connection breaks at the end of a transaction, it is.

    Args:
        url: The database.
        patience: Seconds for which a server that can't be reached is waited for; `math.inf` is for ever.
        size: Most connections.
    """

    def __init__(self, url: str, *, patience: float = 30.0, size: int = 4) -> None:
        self.url = checked_url(url)
        self._patience = patience
        self._size = size
        self._pool: Any = None
        self._opening = asyncio.Lock()

    async def run(self, work: Work[_Result]) -> _Result:
        """Do the work; raises `QueueError` where the server stays away, or refuses a statement."""
        deadline = time.monotonic() + self._patience
        pause, told = _PAUSE, False
        while True:
            try:
                return await self._once(work)
            except Exception as error:  # noqa: BLE001 - what it means is looked at below
                if not _is_away(error):
                    raise _refused(self.url, error) if _is_servers(error) else error from None
                left = deadline - time.monotonic()
                if left <= 0 or (self._pool is None and _is_wrong(error)):
                    raise _away(self.url, error) from None
                told = told or waits(error, self._patience)
                await asyncio.sleep(min(pause, left if math.isfinite(left) else pause))
                pause = min(2 * pause, _LONGEST_PAUSE)

    async def close(self) -> None:
        """Close all connections."""
        pool, self._pool = self._pool, None
        if pool is not None:
            try:
                async with asyncio.timeout(5.0):
                    await pool.close()
            except TimeoutError:
                pool.terminate()

    async def _once(self, work: Work[_Result]) -> _Result:
        pool = await self._opened()
        async with pool.acquire() as connection:
            held = cast("QueueConnection", connection)
            async with held.transaction():
                return await work(held)

    async def _opened(self) -> Any:  # noqa: ANN401 - asyncpg has no types
        async with self._opening:
            if self._pool is None:
                import asyncpg  # noqa: PLC0415 - optional extra

                pool = cast("Any", asyncpg).create_pool(
                    self.url,
                    min_size=1,
                    max_size=self._size,
                    command_timeout=_STATEMENT_SECONDS,
                    max_inactive_connection_lifetime=60.0,
                    # Poolers that share connections among clients can't keep prepared statements.
                    statement_cache_size=0,
                    # Poolers refuse other settings, so they come after the greeting, and stay.
                    server_settings={"application_name": "wisen"},
                    init=_settle,
                    reset=_keep,
                )
                try:
                    await pool
                    async with pool.acquire() as connection:
                        await _migrate(cast("QueueConnection", connection), self.url)
                except BaseException:
                    pool.terminate()
                    raise
                self._pool = pool
            return self._pool


async def _settle(connection: QueueConnection) -> None:
    await connection.execute(f"SET search_path TO {SCHEMA}")


async def _keep(_: QueueConnection) -> None:
    """Leave a connection as it is: its next user works under the same settings."""


async def _dial(url: str) -> "Wire":
    import asyncpg  # noqa: PLC0415 - optional extra

    return await cast("Any", asyncpg).connect(url, server_settings={"application_name": "wisen"})


async def _migrate(connection: QueueConnection, url: str) -> None:
    if await is_shared(cast("Wire", connection), partial(_dial, url)):
        raise QueueError(f"the queue's database {shown_url(url)!r} can't be used: {SHARED}")
    steps = sorted(
        (one for one in files("wisen.queue").joinpath("queue_schema").iterdir() if one.name.endswith(".sql")),
        key=lambda one: one.name,
    )
    known = await connection.fetchval("SELECT to_regclass($1)::text", f"{SCHEMA}.migrations")
    done = await connection.fetchval("SELECT coalesce(max(number), 0) FROM migrations") if known else 0
    if done > len(steps):
        raise QueueError(f"queues in {shown_url(url)!r} were made by a newer wisen; update this one")
    if done == len(steps):
        return
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
        await connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        await connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (number integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())"
        )
        done = await connection.fetchval("SELECT coalesce(max(number), 0) FROM migrations")
        for number, step in enumerate(steps[done:], done + 1):
            await connection.execute(step.read_text())
            await connection.execute("INSERT INTO migrations (number) VALUES ($1)", number)


def _is_servers(error: Exception) -> bool:
    import asyncpg  # noqa: PLC0415 - optional extra

    return isinstance(error, asyncpg.PostgresError)


def _is_away(error: Exception) -> bool:
    """Whether trying again may help: the server stops, starts, or can't be reached, or another one came in between."""
    import asyncpg  # noqa: PLC0415 - optional extra

    return isinstance(
        error,
        (
            OSError,
            TimeoutError,
            asyncpg.InterfaceError,
            asyncpg.PostgresConnectionError,
            asyncpg.OperatorInterventionError,
            asyncpg.TooManyConnectionsError,
            asyncpg.SerializationError,
            asyncpg.DeadlockDetectedError,
        ),
    )


def _is_wrong(error: Exception) -> bool:
    """Whether the address is what's wrong, so that waiting is of no use."""
    import asyncpg  # noqa: PLC0415 - optional extra

    return isinstance(error, asyncpg.ClientConfigurationError)


def _away(url: str, error: Exception) -> QueueError:
    said = " ".join(str(error).split()) or type(error).__name__
    return QueueError(f"the queue's database {shown_url(url)!r} can't be reached: {shown_url(said)}")


def _refused(url: str, error: Exception) -> QueueError:
    from asyncpg import InvalidPasswordError  # noqa: PLC0415 - optional extra

    from wisen.stores.postgres.server_errors import LOGIN  # noqa: PLC0415 - needs the extra

    if isinstance(error, InvalidPasswordError):
        return QueueError(f"the queue's database {shown_url(url)!r} can't be used: {LOGIN}")
    return QueueError(f"the queue's database {shown_url(url)!r} refused: {type(error).__name__}: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    # The rest, such as the detail, quotes values: a task's prompt among them.
    return str(error).partition("\n")[0]


_SEVERAL = re.compile(
    r"(?P<scheme>\w+)://(?:(?P<user>[^/?#]*)@)?(?P<hosts>[^/?#@]*,[^/?#@]*)(?P<path>(?:/[^?#]*)?)(?:\?(?P<rest>.*))?"
)


def hosts_as_options(url: str) -> str:
    """`//user@a:1,b:2/x` as `//user@/x?host=a,b&port=1,2`; others as they are: the engine's URLs have one host."""
    found = _SEVERAL.fullmatch(url)
    if found is None:
        return url
    hosts, ports = zip(*(_parted(one) for one in found["hosts"].split(",")), strict=True)
    user = f"{found['user']}@" if found["user"] is not None else ""
    rest = f"&{found['rest']}" if found["rest"] else ""
    return f"{found['scheme']}://{user}{found['path'] or '/'}?host={','.join(hosts)}&port={','.join(ports)}{rest}"


def _parted(host: str) -> tuple[str, str]:
    """A host without brackets, and its port."""
    name, _, port = host.rpartition(":") if re.search(r":\d+$", host) else (host, "", "5432")
    return name.strip("[]"), port
