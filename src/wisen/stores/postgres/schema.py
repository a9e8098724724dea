"""Makes a Postgres database ready for a store: extension, tables, and the role that can't look past its tenant."""

from dataclasses import dataclass

import asyncpg

from wisen.errors import ForeignDatabaseError, OutdatedStoreError, StoreError
from wisen.stores.postgres.client import Wire
from wisen.stores.postgres.upgrade import migrations, upgrade

_LOCK = 0x7769_7365_6E00
_OLDEST_VECTOR = (0, 8)
_SET_OPTION = 16
"""The server's version from which on a role's members may or may not take it."""


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as an SQL literal, for sessions with standard strings; it has no NUL."""
    return "'" + text.replace("'", "''") + "'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """What there is to know of a schema that is ready."""

    first: str
    """What comes first in each transaction."""
    path: str
    """The setting of where names are found: in this schema alone, since others may write to the extension's."""
    vectors: str
    """The extension's schema, as an identifier."""


class Setup:
    """Brings one schema up to date, or says why it can't be used."""

    def __init__(self, connection: Wire, schema: str, shown: str, *, read_only: bool) -> None:
        """`shown` names the store in errors."""
        self._connection = connection
        self._schema = schema
        self._shown = shown
        self._read_only = read_only

    async def run(self) -> Ready:
        """Do what is missing."""
        steps = migrations()
        if await self._version(len(steps)) < len(steps):
            await self._migrate(steps)
        there = await self._vector_schema()
        role = await self._role(there)
        path = f"search_path TO {quoted(self._schema)}"
        first = f"SET LOCAL {path}; {f'SET LOCAL ROLE {quoted(role)}; ' if role else ''}"
        return Ready(first=first, path=path, vectors=quoted(there))

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
                raise StoreError(f"store {self._shown!r} has no tables yet; the first run, copy or worker makes them")
            return 0
        version: int = await self._connection.fetchval(f"SELECT count(*) FROM {quoted(self._schema)}.migrations")  # noqa: S608 - quoted
        if version > known:
            problem = f"schema {version} of a newer wisen; this one knows {known}"
            raise ForeignDatabaseError(self._shown, problem)
        if self._read_only and version < known:
            raise OutdatedStoreError(self._shown, version)
        return version

    async def _migrate(self, steps: list[str]) -> None:
        connection = self._connection
        async with connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
            if await connection.fetchval("SHOW server_encoding") != "UTF8":
                problem = "the database isn't encoded as UTF8; make one that is: CREATE DATABASE … ENCODING 'UTF8'"
                raise StoreError(f"store {self._shown!r} can't be used: {problem}")
            if not await connection.fetchval("SELECT true FROM pg_namespace WHERE nspname = $1", self._schema):
                await connection.execute(f"CREATE SCHEMA {quoted(self._schema)}")
            await self._make_extension()
            await connection.execute(f"SET LOCAL search_path TO {quoted(self._schema)}")
            await upgrade(connection, await self._version(len(steps)), steps)

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
        rows = await self._connection.fetch(
            "SELECT nspname, extversion FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace"
            " WHERE extname = 'vector'"
        )
        if not rows:
            return "public"
        schema, version = rows[0]
        if tuple(int(part) for part in version.split(".")[:2]) < _OLDEST_VECTOR:
            problem = f"pgvector {version} is too old; install a later one and run: ALTER EXTENSION vector UPDATE"
            raise StoreError(f"store {self._shown!r} can't be used: {problem}")
        return schema

    async def _role(self, vectors: str) -> str:
        """The role that transactions take: none for a user whom row-level security holds anyway."""
        connection = self._connection
        if not await connection.fetchval("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"):
            return ""
        role = f"{self._schema}_rows"
        if await self._role_ready(role, vectors):
            return role
        if self._read_only:
            problem = f"this user passes row-level security, and role {role!r} may not read; open it once for writing"
            raise StoreError(f"store {self._shown!r} can't be used: {problem}")
        try:
            async with connection.transaction():
                await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
                await self._make_role(role, vectors)
        except asyncpg.InsufficientPrivilegeError:
            problem = "this user passes row-level security, and may not take or make a role that doesn't"
            remedy = f"CREATE ROLE {quoted(role)} NOLOGIN; GRANT {quoted(role)} TO its user, or use a plain user"
            raise StoreError(f"store {self._shown!r} can't be used: {problem}; let a superuser run: {remedy}") from None
        if not await self._role_ready(role, vectors):
            problem = f"role {role!r} is somebody else's: it passes row-level security, can log in, or can't be taken"
            raise StoreError(f"store {self._shown!r} can't be used: {problem}; pass another schema, or drop that role")
        return role

    async def _role_ready(self, role: str, vectors: str) -> bool:
        """Whether it may be taken, is held by row-level security, is nobody's login, and may do what a store does."""
        rights = ["SELECT"] if self._read_only else ["SELECT", "INSERT", "UPDATE", "DELETE"]
        return await self._connection.fetchval(
            "SELECT coalesce((SELECT pg_has_role(current_user, r.oid, 'MEMBER')"
            " AND NOT rolsuper AND NOT rolbypassrls AND NOT rolcanlogin"
            " AND has_schema_privilege(r.oid, $2, 'USAGE') AND has_schema_privilege(r.oid, $3, 'USAGE')"
            " AND (SELECT bool_and(has_table_privilege(r.oid, c.oid, needed)) FROM unnest($4::text[]) AS needed,"
            " pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $2 AND relkind = 'r')"
            " FROM pg_roles r WHERE rolname = $1), false)",
            role,
            self._schema,
            vectors,
            rights,
        )

    async def _make_role(self, role: str, vectors: str) -> None:
        connection, schema, name = self._connection, quoted(self._schema), quoted(role)
        if not await connection.fetchval("SELECT 1 FROM pg_roles WHERE rolname = $1", role):
            try:
                async with connection.transaction():
                    await connection.execute(f"CREATE ROLE {name} NOLOGIN")
            except (asyncpg.DuplicateObjectError, asyncpg.UniqueViolationError):
                pass  # made at this moment from another database of the server, whose lock this isn't
        elif await connection.fetchval(
            "SELECT rolsuper OR rolbypassrls OR rolcanlogin FROM pg_roles WHERE rolname = $1", role
        ):
            return  # not ours: it gets no rights
        superuser = await connection.fetchval("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        if not superuser:
            await self._join(role)
        await connection.execute(
            f"GRANT USAGE ON SCHEMA {schema} TO {name};"
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {name};"
            f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {name}"
        )
        if not await connection.fetchval("SELECT has_schema_privilege($1, $2, 'USAGE')", role, vectors):
            await connection.execute(f"GRANT USAGE ON SCHEMA {quoted(vectors)} TO {name}")

    async def _join(self, role: str) -> None:
        """Let this user take the role; a server tells by its version what that needs."""
        connection = self._connection
        version: int = await connection.fetchval("SELECT current_setting('server_version_num')::int / 10000")
        needed, option = ("SET", " WITH SET TRUE") if version >= _SET_OPTION else ("MEMBER", "")
        if not await connection.fetchval("SELECT pg_has_role(current_user, $1, $2)", role, needed):
            await connection.execute(f"GRANT {quoted(role)} TO current_user{option}")
