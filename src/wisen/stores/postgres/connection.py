"""Connections to one Postgres server: work in transactions that see one tenant, and that outlive lost connections."""

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar
from uuid import UUID, uuid4

import asyncpg

from wisen import forks
from wisen.batching import BatchQueue, Request
from wisen.errors import ConfigError, StoreError, StoreReadOnlyError
from wisen.forks import Forkable
from wisen.stores.postgres.client import GREETING, SETTINGS, Connection, Wire
from wisen.stores.postgres.pooler import SHARED, is_shared
from wisen.stores.postgres.schema import Ready, Setup, literal
from wisen.stores.postgres.server_errors import UnreachableError, explained, given_up, not_opened, passes, unreachable
from wisen.stores.postgres.text import stored
from wisen.stores.postgres.wait_notice import WaitNotice
from wisen.stores.store_urls import shown_url

_Result = TypeVar("_Result")
_Work = Callable[[Connection], Awaitable[_Result]]
_open: Any = asyncpg.connect  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - the client lacks types
_AT_LEISURE = "SET statement_timeout = 0; SET lock_timeout = 0; SET wisen.tenant = '*'"
_Read = Request[tuple[str | None, _Work[Any]], Any]
_MOST_READS = 16
_FIRST_PAUSE = 0.02
_LONGEST_PAUSE = 1.0
_FORGOTTEN = "7 days"
_EXPLAINED = (asyncpg.PostgresError, asyncpg.InterfaceError, ssl.SSLCertVerificationError, UnicodeError)
_CLIENT_ERRORS = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)


@dataclass(slots=True, eq=False)
class _PooledLine:
    """A connection, and how many transactions it has committed."""

    connection: Wire
    client: UUID = field(default_factory=uuid4)
    registered: bool = False
    writes: int = 0


@dataclass(slots=True, eq=False)
class _Lot:
    """The connections that belong to one event loop."""

    loop: asyncio.AbstractEventLoop
    permits: asyncio.Semaphore
    wait_notice: WaitNotice
    idle: list[_PooledLine] = field(default_factory=list["_PooledLine"])
    shut: bool = False


class _Doing(Protocol):
    async def __call__(self, line: _PooledLine) -> Any: ...  # noqa: ANN401 - whatever the work gives


class Pool(Forkable):
    """Runs work on a database: `read` in a consistent snapshot, `write` in a transaction that is all or nothing.

    What is lost with a connection is done again on another one, so `work` may be called several times; it must do
    nothing outside of its transaction, and begins no transaction of its own. A lost or refused connection is waited for
    up to `patience` seconds. Whether a commit happened whose answer was lost is looked up, so that nothing is done
    twice. Each event loop has its own connections.
    """

    def __init__(
        self, url: str, *, schema: str = "wisen", size: int = 10, patience: float = 30.0, read_only: bool = False
    ) -> None:
        """Remember how to connect; nothing is done yet.

        Raises:
            ConfigError: If an option can't be used.
        """
        if size < 1 or patience < 0:
            msg = f"pool_size={size!r}, patience={patience!r}: must be 1 or more connections, and 0 or more seconds"
            raise ConfigError(msg)
        if not schema or "\x00" in schema or len(schema.encode()) > 50:  # noqa: PLR2004 - a name has 63 bytes, and the role's is longer
            msg = f"schema={schema!r}: must be a name of 1 to 50 bytes"
            raise ConfigError(msg)
        self.shown = shown_url(url)
        """The URL without its password."""
        self._url = url
        self._schema = schema
        self._size = size
        self._patience = patience
        self._read_only = read_only
        self._lots: dict[asyncio.AbstractEventLoop, _Lot] = {}
        forks.joins(self)
        self._reads: BatchQueue[tuple[str | None, _Work[Any]], Any] = BatchQueue(
            self._read, most=_MOST_READS, places=size, kind=lambda read: read[0], shared=UnreachableError
        )
        self._ready: Ready | None = None
        self._closed = False

    def after_fork_in_child(self) -> None:
        """See `Forkable.after_fork_in_child`."""
        forks.leave(self._lots)
        self._lots = {}

    @property
    def vectors(self) -> str:
        """The schema in which pgvector is, as an identifier; known once a connection is open."""
        return self._ready.vectors if self._ready else "public"

    @property
    def use(self) -> tuple[int, int]:
        """How many connections are at work, and how many may be, over all event loops."""
        free = sum(lot.permits._value for lot in list(self._lots.values()))  # noqa: SLF001 - nothing public tells
        most = self._size * max(1, len(self._lots))
        return (most - free if self._lots else 0), most

    async def open(self) -> None:
        """Connect, and bring the tables up to date.

        Raises:
            ForeignDatabaseError: If the schema isn't a store this wisen can open.
            StoreError: If the server can't be reached or refuses.
        """

        async def nothing(_connection: Connection) -> None:
            pass

        await self.read(nothing, tenant=None)

    async def read(self, work: _Work[_Result], *, tenant: str | None) -> _Result:
        """Run `work` in one snapshot that shows the tenant's rows only; all rows for `tenant=None`.

        Where more wait than there are connections, some share a snapshot, which is begun when all of them are there.
        """
        self._refuse_closed()
        return await self._reads.ask((tenant, work))

    async def _read(self, some: Sequence[_Read]) -> None:
        tenant, _ = some[0].what

        async def once(line: _PooledLine) -> list[tuple[_Read, Any, StoreError | None]]:
            await line.connection.execute(self._beginning("REPEATABLE READ READ ONLY", tenant))
            found: list[tuple[_Read, Any, StoreError | None]] = []
            for one in some:
                if not one.settled:  # a caller may have gone
                    try:
                        found.append((one, await one.what[1](line.connection), None))
                    except StoreError as error:
                        found.append((one, None, error))
            await line.connection.execute("COMMIT")
            return found

        for one, value, error in await self._insist(once):
            if error is None:
                one.give(value)
            else:
                one.fail(error)

    async def write(self, work: _Work[_Result], *, tenant: str | None) -> _Result:
        """Run `work` in a transaction that can see and write the tenant's rows only; returns when it is committed."""
        self._refuse_closed()
        if self._read_only:
            raise StoreReadOnlyError(self.shown)
        unclear: list[tuple[UUID, int, _Result]] = []

        async def once(line: _PooledLine) -> _Result:
            while unclear:
                client, number, result = unclear[-1]
                if await self._committed(line, client, number):
                    return result
                unclear.pop()
            number = line.writes + 1
            await self._begin(line, tenant, number)
            result = await work(line.connection)
            try:
                said = await line.connection.execute("COMMIT")
            except Exception as error:
                if passes(error, line.connection):
                    unclear.append((line.client, number, result))
                raise
            if said != "COMMIT":  # what the server says where the work has passed over an error
                raise StoreError(f"store {self.shown!r} failed: the transaction was rolled back")
            line.writes = number
            return result

        return await self._insist(once)

    async def maintain(self, work: _Work[_Result]) -> _Result:
        """Run `work` as the user of the URL, outside of a transaction: for what changes indexes.

        It sees all tenants, may take long, and needs no other connection. What it sets ends with it.
        """
        self._refuse_closed()
        if self._read_only:
            raise StoreReadOnlyError(self.shown)

        async def once(line: _PooledLine) -> _Result:
            path = f"SET {self._ready.path}; " if self._ready else ""
            await line.connection.execute(f"{path}{_AT_LEISURE}")
            return await work(line.connection)

        return await self._insist(once, keep=False)

    async def close(self) -> None:
        """Finish the work under way, then disconnect. Twice is fine."""
        if self._closed:
            return
        self._closed = True
        lots, self._lots = list(self._lots.values()), {}
        here = asyncio.get_running_loop()
        for lot in lots:
            if lot.loop is not here:
                _abandon(lot)
                continue
            held = 0
            try:
                for _ in range(self._size):
                    await lot.permits.acquire()
                    held += 1
                while lot.idle:
                    await self._hang_up(lot.idle.pop())
            finally:  # also when this is cancelled
                lot.shut = True
                _abandon(lot)
                for _ in range(held):
                    lot.permits.release()  # whoever still waits hears that the store is closed

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StoreError(f"store {self.shown!r} is closed; open a new one")

    def _beginning(self, mode: str, tenant: str | None) -> str:
        first = self._ready.first if self._ready else ""
        named = "*" if tenant is None else f"={stored(tenant)}"
        return f"BEGIN ISOLATION LEVEL {mode}; {first}SET LOCAL wisen.tenant = {literal(named)}"

    def _lot(self) -> _Lot:
        here = asyncio.get_running_loop()
        lot = self._lots.get(here)
        if lot is None:
            # Event loops of other threads come and go meanwhile.
            for loop, old in list(self._lots.items()):
                if loop.is_closed() and self._lots.pop(loop, None) is not None:
                    _abandon(old)
            lot = self._lots[here] = _Lot(
                here, asyncio.Semaphore(self._size), WaitNotice(here, self.shown, self._patience)
            )
        return lot

    async def _insist(self, once: _Doing, *, keep: bool = True) -> Any:  # noqa: ANN401 - whatever the work gives
        """Do it on one connection after another, until it is done, refused, or patience is at an end.

        Without `keep`, no connection is used again.
        """
        self._refuse_closed()
        lot = self._lot()
        async with lot.permits:
            if lot.shut:
                self._refuse_closed()
            until, pause = time.monotonic() + self._patience, _FIRST_PAUSE
            while True:
                line: _PooledLine | None = None
                try:
                    line = lot.idle.pop() if lot.idle else await self._connect(lot)
                    result = await once(line)
                except Exception as error:
                    again = unreachable(error) if line is None else passes(error, line.connection)
                    await self._after(error, line, lot, keep=keep)
                    if not again:
                        lot.wait_notice.end()
                        if isinstance(error, _EXPLAINED):
                            raise explained(self.shown, error) from None
                        raise
                    if time.monotonic() + pause > until:
                        lot.wait_notice.end()
                        raise given_up(self.shown, self._patience, error) from None
                except BaseException:
                    lot.wait_notice.end()
                    _drop(line)
                    raise
                else:
                    await self._put_back(line, lot, keep=keep)
                    return result
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

    async def _put_back(self, line: _PooledLine, lot: _Lot, *, keep: bool) -> None:
        if keep and not lot.shut:
            lot.idle.append(line)
        else:
            await self._hang_up(line)

    async def _after(self, error: Exception, line: _PooledLine | None, lot: _Lot, *, keep: bool) -> None:
        """Roll back; a connection that may be broken, and all that were idle beside it, are given up."""
        if line is None:
            return
        broken = line.connection.is_closed() or isinstance(error, asyncpg.InvalidCachedStatementError)
        try:
            if not broken:
                await line.connection.execute("ROLLBACK")
        except _CLIENT_ERRORS:
            broken = True
        except BaseException:
            _drop(line)
            raise
        if broken:
            _drop(line)
            _abandon(lot)
        else:
            await self._put_back(line, lot, keep=keep)

    async def _connect(self, lot: _Lot) -> _PooledLine:
        lot.wait_notice.begin()
        connection = await self._dial()
        try:
            await connection.execute(SETTINGS)
            if self._ready is None:
                await self._refuse_shared(connection)
                self._ready = await Setup(connection, self._schema, self.shown, read_only=self._read_only).run()
                if not self._read_only:
                    await self._forget_old(connection)
        except BaseException:
            connection.terminate()
            raise
        lot.wait_notice.end()
        return _PooledLine(connection)

    async def _dial(self) -> Wire:
        try:
            return await _open(self._url, timeout=max(5.0, self._patience), server_settings=GREETING)
        except (OSError, asyncpg.PostgresError, asyncpg.TargetServerAttributeNotMatched):
            raise
        except Exception as error:  # noqa: BLE001 - which they are, the client doesn't tell
            raise not_opened(self.shown, error) from None

    async def _refuse_shared(self, connection: Wire) -> None:
        if await is_shared(connection, self._dial):
            raise StoreError(f"store {self.shown!r} can't be used: {SHARED}")

    async def _forget_old(self, connection: Connection) -> None:
        # Of connections whose processes are gone; nobody asks for their last commit any more.
        forget = f"DELETE FROM commits WHERE at < now() - interval '{_FORGOTTEN}'"  # noqa: S608 - a constant
        await connection.execute(f"{self._beginning('READ COMMITTED', None)}; {forget}; COMMIT")

    async def _begin(self, line: _PooledLine, tenant: str | None, number: int) -> None:
        """Begin to write. The connection's row is locked from here on, and says afterwards whether it was committed."""
        begin = self._beginning("READ COMMITTED", tenant)
        mark = f"UPDATE commits SET last = {number}, at = now() WHERE client = '{line.client}'"  # noqa: S608 - a number and a UUID
        if line.registered and await line.connection.execute(f"{begin}; {mark}") == "UPDATE 1":
            return
        if line.registered:  # its row was taken for that of a process that is gone
            await line.connection.execute("ROLLBACK")
        note = f"INSERT INTO commits VALUES ('{line.client}', {line.writes})"  # noqa: S608 - a UUID and a number
        await line.connection.execute(f"{self._beginning('READ COMMITTED', None)}; {note}; COMMIT")
        line.registered = True
        await line.connection.execute(f"{begin}; {mark}")

    async def _committed(self, line: _PooledLine, client: UUID, number: int) -> bool:
        """Whether the transaction came through; waits for one that still runs, by the lock that it holds."""
        await line.connection.execute(
            f"{self._beginning('READ COMMITTED', None)}; SET LOCAL lock_timeout = {int(1000 * self._patience) + 1}"
        )
        last: int | None = await line.connection.fetchval(
            "SELECT last FROM commits WHERE client = $1 FOR UPDATE", client
        )
        await line.connection.execute("ROLLBACK")
        return last is not None and last >= number

    async def _hang_up(self, line: _PooledLine) -> None:
        try:
            if line.registered:
                forget = f"DELETE FROM commits WHERE client = '{line.client}'"  # noqa: S608 - a UUID
                await line.connection.execute(f"{self._beginning('READ COMMITTED', None)}; {forget}; COMMIT")
            await line.connection.close(timeout=5)
        except _CLIENT_ERRORS:
            _drop(line)
        except BaseException:
            _drop(line)
            raise


def _drop(line: _PooledLine | None) -> None:
    if line is not None:
        with suppress(RuntimeError):  # its event loop may be closed
            line.connection.terminate()


def _abandon(lot: _Lot) -> None:
    while lot.idle:
        _drop(lot.idle.pop())
