"""What can go wrong between a store and its Postgres server: which failures pass, and one clear line for the others."""

import asyncio
import ssl

import asyncpg

from wisen.errors import ForeignDatabaseError, StoreError, StoreReadOnlyError
from wisen.stores.postgres.client import Wire
from wisen.stores.postgres.pooler import SHARED

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
LOGIN = "the password is missing or wrong, or there is no such user; put it into the URL, PGPASSWORD or ~/.pgpass"
_REFUSED: tuple[tuple[type[Exception], str], ...] = (
    (asyncpg.InvalidPasswordError, LOGIN),
    (asyncpg.InvalidAuthorizationSpecificationError, "the server doesn't let this user in; check the URL"),
    (asyncpg.InvalidCatalogNameError, "the server has no such database; make it with CREATE DATABASE"),
    (asyncpg.UndefinedFileError, "the server has no pgvector; install it there (package postgresql-NN-pgvector)"),
    (asyncpg.DiskFullError, "the server's disk is full; make room"),
    (asyncpg.LockNotAvailableError, "whether the last change was kept isn't known, since it still holds a lock"),
    (asyncpg.DuplicatePreparedStatementError, SHARED),
    (asyncpg.InvalidSQLStatementNameError, SHARED),
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
    """Whether no server answered at all, or none that may write; one may start later."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return False
    return isinstance(error, OSError) or passes(error, None)


def not_opened(shown: str, error: Exception) -> StoreError:
    """What the client refuses to begin with; its own words may quote the password."""
    problem = "check the URL: postgresql://user:password@host:port/database"
    if isinstance(error, asyncpg.ClientConfigurationError) and "root certificate" in str(error):
        problem = "its sslmode asks for a root certificate: pass sslrootcert=FILE, or have ~/.postgresql/root.crt"
    return StoreError(f"store {shown!r} can't be opened; {problem}")


class UnreachableError(StoreError):
    """A server didn't answer in time; the next try waits as long."""


def given_up(shown: str, patience: float, error: Exception) -> UnreachableError:
    """What is said after so many seconds, the last of them with this error."""
    why, remedy = type(error).__name__, "check that the server runs"
    if isinstance(error, asyncpg.TooManyConnectionsError):
        remedy = "raise the server's max_connections, or run fewer processes"
    if isinstance(error, asyncpg.TargetServerAttributeNotMatched):
        remedy = "check which server is the primary, and the URL's target_session_attrs"
    if isinstance(error, asyncpg.PostgresError):
        why = str(error).partition("\n")[0]
    return UnreachableError(f"store {shown!r} couldn't be reached for {patience:g} s ({why}); {remedy}")


def explained(shown: str, error: Exception) -> StoreError:
    """An error of the server or its client in one line; `shown` is the URL without its password."""
    for kind, said in _REFUSED:
        if isinstance(error, kind):
            return StoreError(f"store {shown!r} can't be used: {said}")
    if isinstance(error, ssl.SSLCertVerificationError):
        why = getattr(error, "verify_message", "unknown")  # only the TLS library gives it
        problem = f"the server's certificate isn't trusted ({why}); check the host and sslrootcert"
        return StoreError(f"store {shown!r} can't be used: {problem}")
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
