"""Makes a Postgres database ready for a store: extension, tables, and the role that can't look past its tenant."""

from importlib.resources import files

import asyncpg

from wisen.errors import ForeignDatabaseError, StoreError
from wisen.stores.postgres_connection import Wire

_LOCK = 0x7769_7365_6E00


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as an SQL literal, for sessions with standard strings; it has no NUL."""
    return "'" + text.replace("'", "''") + "'"


def migrations() -> list[str]:
    """The numbered migrations in order. A released one is never changed: a later one follows it."""
    folder = files("wisen.stores").joinpath("postgres_schema")
    found = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
    return [file.read_text(encoding="utf-8") for file in found]


class Setup:
    """Brings one schema up to date, or says why it can't be used."""

    def __init__(self, connection: Wire, schema: str, shown: str, *, read_only: bool) -> None:
        """`shown` names the store in errors."""
        self._connection = connection
        self._schema = schema
        self._shown = shown
        self._read_only = read_only

    async def run(self) -> tuple[str, str]:
        """Do what is missing; gives what comes first in each transaction, and the same without the role."""
        steps = migrations()
        if await self._version(len(steps)) < len(steps):
            await self._migrate(steps)
        role = await self._role()
        path = f"SET LOCAL search_path TO {quoted(self._schema)}, {quoted(await self._vector_schema())}; "
        return (f"{path}SET LOCAL ROLE {quoted(role)}; " if role else path), path

    async def _version(self, known: int) -> int:
        # Not by to_regclass: what another connection has made a moment ago, it may not know yet.
        rows = await self._connection.fetch(
            "SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $1",
            self._schema,
        )
        names = {name for (name,) in rows}
        if "migrations" not in names:
            if names:
                raise ForeignDatabaseError(self._shown, f"schema {self._schema!r} holds another program's tables")
            if self._read_only:
                raise ForeignDatabaseError(self._shown, "an empty database")
            return 0
        version: int = await self._connection.fetchval(f"SELECT count(*) FROM {quoted(self._schema)}.migrations")  # noqa: S608 - quoted
        if version > known:
            problem = f"schema {version} of a newer wisen; this one knows {known}"
            raise ForeignDatabaseError(self._shown, problem)
        if self._read_only and version < known:
            problem = f"schema {version} of an older wisen; open it once for writing to bring it up to date"
            raise ForeignDatabaseError(self._shown, problem)
        return version

    async def _migrate(self, steps: list[str]) -> None:
        connection = self._connection
        async with connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
            if not await connection.fetchval("SELECT true FROM pg_namespace WHERE nspname = $1", self._schema):
                await connection.execute(f"CREATE SCHEMA {quoted(self._schema)}")
            await self._make_extension()
            there = quoted(await self._vector_schema())
            await connection.execute(f"SET LOCAL search_path TO {quoted(self._schema)}, {there}")
            for number in range(await self._version(len(steps)), len(steps)):
                await connection.execute(steps[number])
                await connection.execute("INSERT INTO migrations (number) VALUES ($1)", number + 1)

    async def _make_extension(self) -> None:
        if await self._connection.fetchval("SELECT 1 FROM pg_extension WHERE extname = 'vector'"):
            return
        if not await self._connection.fetchval("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"):
            problem = "the server has no pgvector; install it there (package postgresql-NN-pgvector)"
            raise StoreError(f"store {self._shown!r} can't be used: {problem}")
        try:
            await self._connection.execute("CREATE EXTENSION vector SCHEMA public")
        except asyncpg.InsufficientPrivilegeError:
            problem = "this user may not add pgvector; let a superuser run: CREATE EXTENSION vector"
            raise StoreError(f"store {self._shown!r} can't be used: {problem}") from None

    async def _vector_schema(self) -> str:
        found: str | None = await self._connection.fetchval(
            "SELECT nspname FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'vector'"
        )
        return found or "public"

    async def _role(self) -> str:
        """The role that transactions take: none for a user whom row-level security holds anyway."""
        connection = self._connection
        if not await connection.fetchval("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"):
            return ""
        role = f"{self._schema}_rows"
        if not await self._role_ready(role):
            try:
                async with connection.transaction():
                    await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
                    await self._make_role(role)
            except asyncpg.InsufficientPrivilegeError:
                problem = "this user passes row-level security, and may not take or make a role that doesn't"
                remedy = f"CREATE ROLE {quoted(role)} NOLOGIN; GRANT {quoted(role)} TO its user, or use a plain user"
                raise StoreError(
                    f"store {self._shown!r} can't be used: {problem}; let a superuser run: {remedy}"
                ) from None
        return role

    async def _role_ready(self, role: str) -> bool:
        return await self._connection.fetchval(
            "SELECT coalesce((SELECT pg_has_role(current_user, oid, 'MEMBER') AND NOT rolsuper AND NOT rolbypassrls"
            " AND has_schema_privilege(oid, $2, 'USAGE') AND has_table_privilege(oid, $3, 'SELECT')"
            " FROM pg_roles WHERE rolname = $1), false)",
            role,
            self._schema,
            f"{quoted(self._schema)}.calls",
        )

    async def _make_role(self, role: str) -> None:
        connection, schema, name = self._connection, quoted(self._schema), quoted(role)
        if not await connection.fetchval("SELECT 1 FROM pg_roles WHERE rolname = $1", role):
            try:
                async with connection.transaction():
                    await connection.execute(f"CREATE ROLE {name} NOLOGIN")
            except (asyncpg.DuplicateObjectError, asyncpg.UniqueViolationError):
                pass  # made at this moment from another database of the server, whose lock this isn't
        superuser = await connection.fetchval("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        if not superuser and not await connection.fetchval("SELECT pg_has_role(current_user, $1, 'SET')", role):
            await connection.execute(f"GRANT {name} TO current_user WITH SET TRUE")
        await connection.execute(
            f"GRANT USAGE ON SCHEMA {schema} TO {name};"
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {name};"
            f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {name}"
        )
