"""What is used of a connection to Postgres, with types, which the client itself lacks."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol


class Connection(Protocol):
    """A connection inside of a transaction; every `asyncpg.Connection` is one."""

    async def execute(self, query: str, *args: object) -> str:
        """Run a statement; gives what the server says of it, such as "DELETE 3"."""
        ...

    async def executemany(self, command: str, args: Sequence[Sequence[object]]) -> None:
        """Run a statement once for each sequence of values."""
        ...

    async def fetch(self, query: str, *args: object) -> list[Any]:
        """The rows that a query finds."""
        ...

    async def fetchval(self, query: str, *args: object) -> Any:  # noqa: ANN401 - whatever the column holds
        """The first value of the first row, or `None`."""
        ...


class Wire(Connection, Protocol):
    """A connection as it is kept and opened: not in a transaction yet."""

    def transaction(self) -> AbstractAsyncContextManager[object]:
        """A transaction, or a savepoint in one."""
        ...

    def get_server_pid(self) -> int:
        """The number of the server's process, or what a pooler gives out in its place."""
        ...

    def is_closed(self) -> bool:
        """Whether it is known to be lost."""
        ...

    def terminate(self) -> None:
        """Let go of it at once."""
        ...

    async def close(self, *, timeout: float | None = None) -> None:  # noqa: ASYNC109 - the client's own
        """Take leave of the server."""
        ...
