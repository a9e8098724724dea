"""What can go wrong between a store and its Postgres server: which failures pass, and one clear line for the others."""

import asyncio

import asyncpg

from wisen.errors import ForeignDatabaseError, StoreError, StoreReadOnlyError
from wisen.stores.postgres_connection import Wire

_PASSING: tuple[type[BaseException], ...] = (
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.TooManyConnectionsError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.InvalidCachedStatementError,
    asyncpg.InternalClientError,  # the server has said that it goes, at a moment when nobody was asking
    ConnectionError,
    TimeoutError,
    asyncio.IncompleteReadError,
)
_POOLER = "a pooler shares its connections among clients; set it to session mode"
_REFUSED: tuple[tuple[type[Exception], str], ...] = (
    (asyncpg.InvalidPasswordError, "the password or user is wrong; check the URL"),
    (asyncpg.InvalidAuthorizationSpecificationError, "the server doesn't let this user in; check the URL"),
    (asyncpg.InvalidCatalogNameError, "the server has no such database; make it with CREATE DATABASE"),
    (asyncpg.UndefinedFileError, "the server has no pgvector; install it there (package postgresql-NN-pgvector)"),
    (asyncpg.DiskFullError, "the server's disk is full; make room"),
    (asyncpg.LockNotAvailableError, "whether the last change was kept isn't known, since it still holds a lock"),
    (asyncpg.DuplicatePreparedStatementError, _POOLER),
    (asyncpg.InvalidSQLStatementNameError, _POOLER),
    (asyncpg.UntranslatableCharacterError, "the database isn't encoded as UTF8; make one that is"),
)


def passes(error: BaseException, connection: Wire | None) -> bool:
    """Whether the same work may succeed on another connection: nothing of it was kept, or its commit was unclear."""
    if isinstance(error, _PASSING):
        return True
    if isinstance(error, asyncpg.InterfaceError):
        return connection is not None and connection.is_closed()
    return isinstance(error, OSError) and connection is not None


def unreachable(error: BaseException) -> bool:
    """Whether no server answered at all; one may start later."""
    return isinstance(error, OSError) or passes(error, None)


def explained(shown: str, error: Exception) -> StoreError:
    """An error of the server or its client in one line; `shown` is the URL without its password."""
    for kind, said in _REFUSED:
        if isinstance(error, kind):
            return StoreError(f"store {shown!r} can't be used: {said}")
    if isinstance(error, asyncpg.ReadOnlySQLTransactionError):
        return StoreReadOnlyError(shown)
    if isinstance(error, asyncpg.UndefinedTableError | asyncpg.InvalidSchemaNameError):
        return ForeignDatabaseError(shown, "its tables are missing")
    if not isinstance(error, asyncpg.PostgresError):
        return StoreError(f"store {shown!r} failed ({type(error).__name__}); check the URL and the server")
    # The lines behind the first one, such as the detail, quote values.
    said = str(error).partition("\n")[0]
    hint = "; grant the right, or pass another user" if isinstance(error, asyncpg.InsufficientPrivilegeError) else ""
    return StoreError(f"store {shown!r} failed: {said}{hint}")
