"""Asks a server on this machine over HTTP, as an orchestrator's probe would."""

import asyncio
import contextlib
import json
from dataclasses import dataclass
from typing import Any

from wisen.operations.serving import Address


@dataclass(frozen=True)
class Answer:
    status: int
    head: str
    body: str

    @property
    def json(self) -> Any:
        return json.loads(self.body)


async def get(address: Address, path: str, method: str = "GET") -> Answer:
    reader, writer = await asyncio.open_connection(address.host, address.port)
    writer.write(f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    data = (await reader.read()).decode()
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()
    head, _, body = data.partition("\r\n\r\n")
    return Answer(int(head.split()[1]), head.lower(), body)
