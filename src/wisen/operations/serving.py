"""Serves health, readiness and metrics over HTTP, for an orchestrator's probes and Prometheus.

There is no login. Listen on the loopback address, which is the default, or in a network whose users may all see how
much work there is. No answer holds a text, a tenant or an address of the store with its password.
"""

import asyncio
import logging
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from wisen.errors import ConfigError, MissingExtraError
from wisen.operations.health import Health, HealthFinding
from wisen.operations.logs import log
from wisen.operations.metrics import CONTENT_TYPE, INSTALL, Metrics, PoolUse, QueueDepth

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from uvicorn import Server

DEFAULT_ADDRESS: Final = "127.0.0.1:9464"
_PATIENCE = 5.0
"""Seconds that figures for a scrape may take to be looked up."""
_MOST_PORTS = 65_535


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where to listen."""

    host: str
    port: int
    """0 takes any free one."""

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Read "host:port", "[v6]:port", "port" on the loopback address, or ":port" on every one.

        Raises `ConfigError`.
        """
        host, colon, port = text.rpartition(":")
        plain = host.removeprefix("[").removesuffix("]")
        number = int(port) if port.isascii() and port.isdecimal() else _MOST_PORTS + 1
        if number > _MOST_PORTS or (":" in plain and host == plain):
            raise ConfigError(f"address {text!r}: must be host:port, such as {DEFAULT_ADDRESS}")
        every = "0.0.0.0"  # noqa: S104 - asked for by the colon alone
        return cls(host=plain or (every if colon else "127.0.0.1"), port=number)

    def __str__(self) -> str:
        """As `parse` reads it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """What is looked up when metrics are asked for, each where there is such a thing."""

    queues: Callable[[], Awaitable[Sequence[QueueDepth]]] | None = None
    heartbeat_age: Callable[[], float] | None = None
    pool: Callable[[], PoolUse] | None = None


def application(health: Health, metrics: Metrics, readings: Readings | None = None) -> "Starlette":
    """The three pages as an ASGI application, to mount in a server of your own."""
    try:
        from starlette.applications import Starlette  # noqa: PLC0415 - optional extra
        from starlette.responses import JSONResponse, Response  # noqa: PLC0415 - optional extra
        from starlette.routing import Route  # noqa: PLC0415 - optional extra
    except ImportError as error:
        raise MissingExtraError("serving health and metrics", INSTALL) from error

    def answer(findings: Sequence[HealthFinding]) -> Response:
        ok = all(one.ok for one in findings)
        said = {"ok": ok, "checks": [asdict(one) for one in findings]}
        return JSONResponse(said, status_code=200 if ok else 503, headers={"cache-control": "no-store"})

    async def healthz(_: "Request") -> Response:
        return answer([health.alive()])

    async def readyz(_: "Request") -> Response:
        return answer(await health.ready())

    async def prometheus(_: "Request") -> Response:
        await _read(readings or Readings(), health, metrics)
        return Response(metrics.text(), headers={"content-type": CONTENT_TYPE})

    pages = {"/healthz": healthz, "/readyz": readyz, "/metrics": prometheus}
    return Starlette(routes=[Route(path, page, methods=["GET"]) for path, page in pages.items()])


async def _read(readings: Readings, health: Health, metrics: Metrics) -> None:
    """Look up what isn't counted; where that fails, the figures stay as they were, and a check says why."""
    for one in await health.ready():
        metrics.set_check(one.check, ok=one.ok)
    if readings.heartbeat_age is not None:
        metrics.set_heartbeat_age(readings.heartbeat_age())
    if readings.pool is not None:
        metrics.set_pool(readings.pool())
    if readings.queues is None:
        return
    try:
        async with asyncio.timeout(_PATIENCE):
            found = await readings.queues()
    except Exception as error:  # noqa: BLE001 - a database that is away may not take the other figures along
        log("metrics.stale", level=logging.WARNING, error=error)
    else:
        for depth in found:
            metrics.set_depth(depth)


@asynccontextmanager
async def serving(
    address: Address, health: Health, metrics: Metrics, readings: Readings | None = None
) -> AsyncGenerator[Address]:
    """Serve the pages in this event loop for as long as the context lasts; gives the address with its real port.

    Raises `ConfigError` where the address can't be listened on.
    """
    async with hosting(address, application(health, metrics, readings)) as listening:
        yield listening


@asynccontextmanager
async def hosting(address: Address, pages: "Starlette", *, lifespan: bool = False) -> AsyncGenerator[Address]:
    """Serve an application in this event loop for as long as the context lasts; gives the address with its real port.

    Signals are left to the caller. `lifespan` tells the application that it begins and ends. Raises `ConfigError` where
    the address can't be listened on.
    """
    started = asyncio.Event()
    server = _server(pages, started, lifespan=lifespan)
    with _listening(address) as listener:
        port: int = listener.getsockname()[1]
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            waiting = asyncio.create_task(started.wait())
            await asyncio.wait((task, waiting), return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
            yield Address(host=address.host, port=port)
        finally:
            server.should_exit = True
            with suppress(asyncio.CancelledError):
                await task


def _listening(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        listener = socket.create_server((address.host, address.port), family=family)
    except OSError as error:
        raise ConfigError(
            f"address {str(address)!r}: can't be listened on ({error.strerror or error}); pass another one"
        ) from error
    # asyncio does so only for sockets that say they are TCP's. Without it an answer waits 40 ms for the client's word.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _server(pages: "Starlette", started: asyncio.Event, *, lifespan: bool) -> "Server":
    try:
        import uvicorn  # noqa: PLC0415 - optional extra
    except ImportError as error:
        raise MissingExtraError("serving health and metrics", INSTALL) from error

    class Quiet(uvicorn.Server):
        """Leaves signals to the caller, who has more to end than this server."""

        @contextmanager
        def capture_signals(self) -> Generator[None]:
            yield

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            started.set()

    config = uvicorn.Config(
        pages,
        lifespan="on" if lifespan else "off",
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=2,
    )
    return Quiet(config)
