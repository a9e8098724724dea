"""The tests' own provider ends when a test does, also where a client of it doesn't."""

import asyncio

import pytest
from local_provider import LocalProvider

pytestmark = pytest.mark.anyio

REQUEST = b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"


def port_of(model: str) -> int:
    return int(model.partition("/v1")[0].rpartition(":")[2])


@pytest.mark.parametrize("hangs", [False, True], ids=["kept alive", "never answered"])
async def test_its_end_closes_what_a_client_holds_open(hangs: bool) -> None:
    provider = LocalProvider(hangs=hangs)
    async with asyncio.timeout(20):
        async with provider.running() as model:
            reader, writer = await asyncio.open_connection("127.0.0.1", port_of(model))
            writer.write(REQUEST)
            await provider.called.wait()
            if not hangs:
                assert (await reader.readline()).startswith(b"HTTP/1.1 200")
            assert provider.open_connections == 1
        await reader.read()
    assert reader.at_eof()
    assert provider.open_connections == 0
    writer.close()
