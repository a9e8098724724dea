"""What `wisen doctor` finds on a database server, and for each failing point the line that solves it."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from wisen.errors import StoreError
from wisen.explain.wording import counted

if TYPE_CHECKING:
    from wisen.stores.postgres.client import Connection

SCHEMA = "wisen"
POOL = 10
"""Connections that one process takes at most."""
_SECONDS = 10.0
_OLDEST = 13
_OLDEST_VECTOR = (0, 8)
_SPARE = 0.9
_SKEW = 2.0
"""Seconds by which clocks may differ before the order of cards of several machines suffers."""
_TOP = 5
_LARGE = 20_000
"""Cards of one tenant from which indexes of its own pay off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server as a store sees it; what isn't known yet is empty."""

    version: str
    pgvector: str
    """The extension's version in this database; "" where it isn't added yet."""
    schema: int | None
    """The version of the tables; 0 where there are none yet, `None` where this user may not look."""
    role: str
    """Who works there, and whether row-level security holds."""
    connections: str
    clock: float
    """Seconds by which the server's clock is ahead of this machine's."""
    cards: int = 0
    runs: int = 0
    embedder: str = ""
    tenants: tuple[tuple[str, int], ...] = ()
    """The tenants with most cards."""
    indexes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def lines(self) -> list[tuple[str, str]]:
        """Names and values to print."""
        tenants = ", ".join(f"{name or '(without a name)'}: {count}" for name, count in self.tenants)
        return [
            ("server", self.version),
            ("pgvector", self.pgvector or "not added to this database yet"),
            ("tables", _tables(self.schema)),
            ("role", self.role),
            ("connections", self.connections),
            ("clock", f"{self.clock:+.1f} s against this machine's"),
            ("holds", f"{counted(self.cards, 'card')}, {counted(self.runs, 'run')}" if self.schema else ""),
            ("vectors of", self.embedder),
            ("most cards", tenants),
            ("HNSW indexes", str(len(self.indexes)) if self.schema else ""),
            ("note", "\n".join(self.notes)),
        ]


def _tables(version: int | None) -> str:
    if version is None:
        return "out of reach for this user"
    return f"version {version}" if version else "none yet; the first run makes them"


async def examine_server(url: str, trouble: Callable[[str], None]) -> Server | None:
    """Look at the server behind a URL without changing anything; `trouble` hears of each failing point.

    `None` where it can't be reached.
    """
    import asyncpg  # noqa: PLC0415 - an optional extra

    from wisen.stores.postgres.pooler import SHARED, is_shared  # noqa: PLC0415 - as above
    from wisen.stores.postgres.server_errors import explained, not_opened  # noqa: PLC0415 - needs the extra
    from wisen.stores.store_urls import shown_url  # noqa: PLC0415 - beside the client

    dial = partial(cast("Any", asyncpg).connect, url, timeout=_SECONDS)
    try:
        connection = await asyncio.wait_for(dial(), _SECONDS)
    except (OSError, TimeoutError) as error:
        said = getattr(error, "strerror", None) or str(error) or "no answer"
        trouble(f"store {shown_url(url)!r} can't be reached ({said}); start the server, or check host and port")
        return None
    except asyncpg.ClientConfigurationError as error:
        trouble(str(not_opened(shown_url(url), error)))
        return None
    except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, ValueError) as error:
        trouble(str(explained(shown_url(url), error)))
        return None
    try:
        if await is_shared(connection, dial):
            trouble(f"store {shown_url(url)!r} can't be used: {SHARED}")
            return None
        return await _looked_at(url, connection, trouble)
    except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        trouble(str(explained(shown_url(url), error)))
        return None
    finally:
        await connection.close()


async def _looked_at(url: str, connection: "Connection", trouble: Callable[[str], None]) -> Server:
    schema = await _schema(connection, trouble)
    held = await _held(url, trouble) if schema else {}
    server = Server(
        version=await _version(connection, trouble),
        pgvector=await _pgvector(connection, trouble),
        schema=schema,
        role=await _role(connection, trouble, made=bool(schema)),
        connections=await _connections(connection, trouble),
        clock=await _clock(connection, trouble),
        **held,
    )
    large = [name for name, count in server.tenants if count >= _LARGE]
    if large and not server.indexes:
        trouble(f"{counted(len(large), 'tenant')} with {_LARGE} cards or more, and no index; run: wisen store tune")
    return server


async def _version(connection: "Connection", trouble: Callable[[str], None]) -> str:
    version: str = await connection.fetchval("SHOW server_version")
    if int(await connection.fetchval("SHOW server_version_num")) < _OLDEST * 10_000:
        trouble(f"the server is PostgreSQL {version}; take {_OLDEST} or later")
    if await connection.fetchval("SHOW server_encoding") != "UTF8":
        trouble("the database isn't encoded as UTF8; make one that is: CREATE DATABASE … ENCODING 'UTF8'")
    return f"PostgreSQL {version}"


async def _pgvector(connection: "Connection", trouble: Callable[[str], None]) -> str:
    version: str | None = await connection.fetchval("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    if version is not None:
        if tuple(int(part) for part in version.split(".")[:2]) < _OLDEST_VECTOR:
            trouble(f"pgvector {version} is too old; install a later one and run: ALTER EXTENSION vector UPDATE")
        return version
    if not await connection.fetchval("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"):
        trouble("the server has no pgvector; install it there (package postgresql-NN-pgvector)")
    elif not await connection.fetchval(
        "SELECT rolsuper OR has_database_privilege(current_database(), 'CREATE') AND coalesce(trusted, false)"
        " FROM pg_roles, pg_available_extension_versions WHERE rolname = current_user AND name = 'vector' LIMIT 1"
    ):
        trouble("this user may not add pgvector; let a superuser run: CREATE EXTENSION vector")
    return ""


async def _schema(connection: "Connection", trouble: Callable[[str], None]) -> int | None:
    from wisen.stores.postgres.upgrade import migrations  # noqa: PLC0415 - needs the extra

    if await connection.fetchval("SELECT NOT has_schema_privilege(to_regnamespace($1), 'USAGE')", SCHEMA):
        user: str = await connection.fetchval("SELECT quote_ident(current_user)")
        trouble(
            f"this user may not use the store's tables; let their owner run: GRANT USAGE ON SCHEMA {SCHEMA} TO {user}; "
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {SCHEMA} TO {user}; "
            f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {SCHEMA} TO {user}"
        )
        return None
    if await connection.fetchval("SELECT to_regclass($1)", f"{SCHEMA}.migrations") is None:
        if not await connection.fetchval("SELECT has_database_privilege(current_database(), 'CREATE')"):
            trouble("this user may not make the tables; let the owner run: GRANT CREATE ON DATABASE … TO its user")
        return 0
    version: int = await connection.fetchval(f"SELECT count(*) FROM {SCHEMA}.migrations")  # noqa: S608 - a fixed name
    known = len(migrations())
    if version > known:
        trouble(f"the tables are of a newer wisen (version {version}; this one knows {known}); update wisen")
    return version


async def _role(connection: "Connection", trouble: Callable[[str], None], *, made: bool) -> str:
    user: str = await connection.fetchval("SELECT current_user::text")
    passes = await connection.fetchval(
        "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user",
    )
    if not made:
        return user
    unguarded = await connection.fetch(
        "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace($1) AND relname = ANY($2)"
        " AND NOT (relrowsecurity AND relforcerowsecurity) ORDER BY relname",
        SCHEMA,
        ["cards", "blocks", "runs", "calls"],
    )
    if unguarded:
        names = ", ".join(f"{SCHEMA}.{row[0]}" for row in unguarded)
        trouble(f"row-level security is off for {names}; run: ALTER TABLE … ENABLE, and FORCE, ROW LEVEL SECURITY")
        return f"{user}; row-level security is off"
    if not passes:
        return f"{user}, held by row-level security"
    role = f"{SCHEMA}_rows"
    ready = await connection.fetchval(
        "SELECT NOT rolsuper AND NOT rolbypassrls AND NOT rolcanlogin FROM pg_roles WHERE rolname = $1", role
    )
    if not ready:
        state = "is missing; run something to make it" if ready is None else "is somebody else's; rename that one"
        trouble(f"user {user!r} passes row-level security, and the role {role!r} {state}")
        return f"{user}, held by nothing"
    return f"{user}, who passes row-level security and therefore works as {role}"


async def _connections(connection: "Connection", trouble: Callable[[str], None]) -> str:
    most = int(await connection.fetchval("SHOW max_connections"))
    reserved = int(await connection.fetchval("SHOW superuser_reserved_connections"))
    used: int = await connection.fetchval("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'")
    free = most - reserved - used
    if used > _SPARE * (most - reserved) or free < POOL:
        trouble(
            f"{used} of the server's {most} connections are taken and a process takes up to {POOL}; "
            "raise max_connections, run fewer workers, or put a pooler in session mode before it"
        )
    return f"{used} of {most} taken; room for {max(free, 0) // POOL} more processes with {POOL} each"


async def _clock(connection: "Connection", trouble: Callable[[str], None]) -> float:
    before = datetime.now(UTC)
    there: datetime = await connection.fetchval("SELECT clock_timestamp()")
    after = datetime.now(UTC)
    ahead = (there - before - (after - before) / 2).total_seconds()
    if abs(ahead) > _SKEW:
        trouble(f"the server's clock differs by {ahead:+.1f} s from this machine's; set both by NTP")
    return round(ahead, 3)


async def _held(url: str, trouble: Callable[[str], None]) -> dict[str, Any]:
    """What the tables hold, over all tenants, and what is wrong with them."""
    from wisen.stores.postgres.store import PostgresVectorStore  # noqa: PLC0415 - needs the extra

    store = PostgresVectorStore(url, schema=SCHEMA, read_only=True, patience=_SECONDS)
    try:
        facts = await store.facts()
        for problem in await store.problems_found():
            trouble(problem)
    except StoreError as error:
        trouble(str(error))
        return {}
    finally:
        await store.close()
    tenants = Counter[str]()
    for (tenant, _, _), count in facts.cards.items():
        tenants[tenant] += count
    return {
        "cards": facts.total,
        "runs": facts.runs,
        "embedder": facts.embedder,
        "tenants": tuple(tenants.most_common(_TOP)),
        "indexes": facts.indexes,
        "notes": facts.notes,
    }
