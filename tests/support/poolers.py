"""Stands before a Postgres server as a pooler does: with greetings and process numbers of its own."""

import asyncio
import struct
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

KNOWN_TO_POOLERS = {
    *("user", "database", "client_encoding", "datestyle", "timezone"),
    *("standard_conforming_strings", "application_name"),
}
_NUMBER = 7
_KEY = b"K\0\0\0\x0c"
"""How the message begins that gives the number of the server's process."""
_GOODBYE = b"X\0\0\0\x04"


class Pooler:
    """Gives each client a connection of its own, or all of them the same one; notes what they ask for."""

    def __init__(self, url: str, folder: Path, *, shares: bool) -> None:
        self.there = f"{url.rpartition('=')[2]}/.s.PGSQL.5432"
        self.here = folder / ".s.PGSQL.5432"
        self.url = f"{url.rpartition('=')[0]}={folder}"
        self.asked: set[str] = set()
        self._shares = shares
        self._shared: _Shared | None = None

    async def join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        size = await reader.readexactly(4)
        greeting = await reader.readexactly(struct.unpack("!i", size)[0] - 4)
        self.asked |= {name.decode() for name in greeting[4:].split(b"\0")[:-2:2]}
        shared = self._shared
        if shared is None:
            shared = _Shared(*await asyncio.open_unix_connection(self.there))
            await shared.greet(size + greeting)
            self._shared = shared if self._shares else None
        await shared.serve(reader, writer)
        if not self._shares:
            shared.end()


class _Shared:
    """A connection to the server, whose answers go to the client that asked last."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._hello = b""
        self._asker: asyncio.StreamWriter | None = None
        self._answering: asyncio.Task[None] | None = None

    async def greet(self, greeting: bytes) -> None:
        self._writer.write(greeting)
        kind = b""
        while kind != b"Z":
            head = await self._reader.readexactly(5)
            kind, body = head[:1], await self._reader.readexactly(struct.unpack("!i", head[1:])[0] - 4)
            self._hello += head + (struct.pack("!i", _NUMBER) + body[4:] if head == _KEY else body)
        self._answering = asyncio.create_task(self._answer())

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(self._hello)
        with suppress(ConnectionError):
            while (data := await reader.read(65_536)) and data != _GOODBYE:
                self._asker = writer
                self._writer.write(data)
        writer.close()

    def end(self) -> None:
        self._writer.close()

    async def _answer(self) -> None:
        while data := await self._reader.read(65_536):
            if self._asker is not None:
                self._asker.write(data)
        self._writer.close()


@asynccontextmanager
async def pooler(url: str, *, shares: bool = False) -> AsyncGenerator[Pooler]:
    """One before the server of a URL, for as long as the block lasts."""
    with TemporaryDirectory() as folder:
        made = Pooler(url, Path(folder), shares=shares)
        server = await asyncio.start_unix_server(made.join, made.here)
        yield made
        server.close()
