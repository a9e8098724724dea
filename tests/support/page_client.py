"""Asks the page over a socket, as a browser or an attacker would: nothing is put right on the way."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlencode

from page_html import Page
from starlette.applications import Starlette

from wisen.operations.serving import Address, hosting


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def page(self) -> Page:
        """The body as HTML; raises where it isn't UTF-8."""
        return Page(self.body.decode())

    def header(self, name: str) -> str:
        """The header's value; "" without one."""
        return next((value for known, value in self.headers if known == name), "")


@dataclass
class Visitor:
    """A browser at one server, with its cookies."""

    port: int
    cookies: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def origin(self) -> str:
        """The server's own."""
        return f"http://127.0.0.1:{self.port}"

    async def get(self, path: str, **headers: str) -> Reply:
        """Ask for a page."""
        return await self.ask("GET", path, headers)

    async def post(self, path: str, fields: Mapping[str, str], **headers: str) -> Reply:
        """Send a form, as a page of the server does unless `headers` say otherwise; an empty one isn't sent."""
        own = {
            "origin": self.origin,
            "content-type": "application/x-www-form-urlencoded",
            "sec-fetch-site": "same-origin",
        }
        body = urlencode(fields, errors="surrogatepass").encode()
        return await self.ask("POST", path, own | headers, body)

    async def ask(self, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes = b"") -> Reply:
        """Ask for anything; names of headers are written with `_` for `-`."""
        sent = {"host": f"127.0.0.1:{self.port}", "connection": "close", "accept": "text/html"}
        sent |= {name.replace("_", "-").lower(): value for name, value in (headers or {}).items()}
        if self.cookies:
            sent.setdefault("cookie", "; ".join(f"{name}={value}" for name, value in self.cookies.items()))
        if body or method == "POST":
            sent.setdefault("content-length", str(len(body)))
        head = "".join(f"{name}: {value}\r\n" for name, value in sent.items() if value)
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        with contextlib.suppress(ConnectionError):  # an answer may come before all is sent
            writer.write(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode("utf-8", "surrogateescape") + body)
            await writer.drain()
        data = b""
        with contextlib.suppress(ConnectionError):
            data = await reader.read()
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
        reply = _read(data)
        for name, value in reply.headers:
            if name == "set-cookie":
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.partition(";")[0]
        return reply


def _read(data: bytes) -> Reply:
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = tuple((name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines))
    if ("transfer-encoding", "chunked") in headers:
        whole = b""
        while body:
            size, _, rest = body.partition(b"\r\n")
            length = int(size, 16)
            whole, body = whole + rest[:length], rest[length + 2 :]
        body = whole
    return Reply(int(first.split()[1]), headers, body)


@asynccontextmanager
async def visiting(application: Starlette) -> AsyncGenerator[Visitor]:
    """A real server of the application on this machine, as long as the block lasts, and a visitor of it."""
    async with hosting(Address(host="127.0.0.1", port=0), application, lifespan=True) as address:
        yield Visitor(address.port)
