"""Servers that don't answer or don't let the store in: a line in time, which says what to do."""

import asyncio
import logging
import ssl
import struct
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from wisen.cli.main import noticing
from wisen.errors import QueueError, StoreError
from wisen.operations.logs import log
from wisen.queue.queue import Queue
from wisen.stores.postgres.server_errors import explained, unreachable
from wisen.stores.postgres.store import PostgresVectorStore
from wisen.stores.postgres.wait_notice import WaitNotice

pytestmark = pytest.mark.anyio
NOWHERE = "postgresql://user@127.0.0.1:1/x"


@pytest.fixture
async def refusing() -> AsyncIterator[str]:
    """The URL of a server that wants a password, and takes none."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(struct.unpack("!i", await reader.readexactly(4))[0] - 4)
        said = b"SFATAL\0C28P01\0Mpassword authentication failed\0\0"
        writer.write(b"E" + struct.pack("!i", 4 + len(said)) + said)
        writer.close()

    with TemporaryDirectory() as folder:
        server = await asyncio.start_unix_server(refuse, Path(folder) / ".s.PGSQL.5432")
        yield f"postgresql://user@/x?host={folder}"
        server.close()


async def test_a_missing_password_is_told_with_the_places_for_one(refusing: str) -> None:
    for url in (refusing, refusing.replace("host=", "sslmode=disable&host=")):
        with pytest.raises(StoreError, match=r"password is missing or wrong.*the URL, PGPASSWORD or ~/\.pgpass"):
            await PostgresVectorStore(url).open()
    async with Queue(refusing, "q") as queue:
        with pytest.raises(QueueError, match=r"PGPASSWORD or ~/\.pgpass"):
            await queue.batches()


async def test_a_root_certificate_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(StoreError, match=r"asks for a root certificate: pass sslrootcert=FILE"):
        await PostgresVectorStore(f"{NOWHERE}?sslmode=verify-full").open()


def test_a_certificate_that_is_not_trusted_is_not_waited_for() -> None:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    assert not unreachable(error)
    assert "certificate isn't trusted (unknown); check the host and sslrootcert" in str(explained(NOWHERE, error))


async def test_waiting_for_a_server_is_told_once_and_for_how_long(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(StoreError, match="couldn't be reached for"):
        await PostgresVectorStore(NOWHERE, patience=3.2).open()
    assert caplog.messages == [f"store {NOWHERE!r} doesn't answer; waiting, 3.2 s at most"]


async def test_what_is_soon_over_is_not_told(caplog: pytest.LogCaptureFixture, postgres_url: str) -> None:
    with pytest.raises(StoreError):
        await PostgresVectorStore(NOWHERE, patience=0.1).open()
    async with PostgresVectorStore(postgres_url):
        pass
    notice = WaitNotice(asyncio.get_running_loop(), NOWHERE, 30.0)
    notice.begin()
    notice.end()
    assert notice._timer is None
    assert caplog.messages == []


def test_people_read_what_is_waited_for_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    with noticing():
        logging.getLogger("wisen.stores").warning("store %r doesn't answer", NOWHERE)
        log("database.awaited", level=logging.WARNING, error=OSError("refused"), seconds=30.0)
        log("database.awaited", level=logging.WARNING, error=OSError("refused"))
    assert capsys.readouterr().err == (
        f"wisen: store {NOWHERE!r} doesn't answer\n"
        "wisen: the queue's database doesn't answer; waiting, 30 s at most\n"
        "wisen: the queue's database doesn't answer; waiting\n"
    )
    assert logging.getLogger("wisen").handlers == []
