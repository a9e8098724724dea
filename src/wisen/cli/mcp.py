"""`wisen mcp`: lessons for whatever speaks the Model Context Protocol, over standard streams or HTTP."""

import asyncio
import logging
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wisen.cli.option_sets import OptionSet
from wisen.cli.shared_options import EmbeddingStoreOptions
from wisen.cli.store_choice import StoreChoice, drive, open_store
from wisen.cli.token_options import tokens_for
from wisen.errors import ConfigError, MissingExtraError

if TYPE_CHECKING:
    from wisen.durable.serving import Address
    from wisen.integrations.bearer_tokens import BearerTokens
    from wisen.integrations.mcp_server import LessonServer

VARIABLE = "WISEN_MCP_TOKENS"
_EXTRA = ("mcp", "mcp_types", "starlette", "uvicorn")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions(OptionSet):
    """How it is reached, and whose memory it gives."""

    http: Annotated[
        str | None,
        typer.Option(
            "--http",
            metavar="HOST:PORT",
            help="Serve streamable HTTP there, at /mcp; a port alone is on 127.0.0.1, and other hosts need tokens. "
            "Default: standard input and output.",
            show_default=False,
        ),
    ] = None
    tokens: Annotated[
        Path | None,
        typer.Option(
            "--tokens",
            metavar="FILE",
            help=f"Each line is a token, a space, and its tenant. Default: the lines in ${VARIABLE}.",
            show_default=False,
        ),
    ] = None
    tenant: Annotated[
        str | None,
        typer.Option("--tenant", help="Whose memory, where no tokens say so. Default: ''.", show_default=False),
    ] = None
    agent: Annotated[
        str, typer.Option("--agent", metavar="NAME", help="The agents' role: they try their own lessons first.")
    ] = "agent"

    @property
    def address(self) -> "Address | None":
        """Where to listen; raises `ConfigError`."""
        from wisen.durable.serving import Address  # noqa: PLC0415 - imports the events

        return None if self.http is None else Address.parse(self.http)

    def bearers(self) -> "BearerTokens | None":
        """The tokens, where clients need one; raises `ConfigError`, or `OSError` for a file that can't be read."""
        if (address := self.address) is None:
            if self.tokens is not None:
                raise ConfigError(
                    "--tokens: standard input has one client; name its tenant with --tenant, or pass --http"
                )
            return None
        return tokens_for(
            address.host,
            file=self.tokens,
            variable=VARIABLE,
            tenant=self.tenant,
            option="--tokens",
            listens=f"--http {self.http}",
        )


def mcp(*, serve: ServeOptions, store: EmbeddingStoreOptions) -> None:
    """Serve lessons to agents that speak the Model Context Protocol, until standard input ends or it is stopped."""
    bearers = serve.bearers()
    choice = store.writable()
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    try:
        from wisen.integrations.mcp_server import LessonServer  # noqa: PLC0415 - optional extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        raise MissingExtraError("`wisen mcp`", "pip install 'wisen[mcp]'") from None
    drive(_serve(LessonServer, serve, choice, store.embedder, bearers))


async def _serve(
    made: "type[LessonServer]",
    options: ServeOptions,
    choice: StoreChoice,
    embedder: str | None,
    bearers: "BearerTokens | None",
) -> None:
    from wisen.memory_ci.pipeline import MemoryCI  # noqa: PLC0415 - imports the screen and its tables

    async with open_store(choice, embedder) as store:
        server = made(MemoryCI(store), agent=options.agent, tenant=options.tenant or "", tokens=bearers)
        if (address := options.address) is None:
            # A read of standard input can't be interrupted, so Ctrl-C ends the process as SIGTERM does.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            await server.run_stdio_async()
        else:
            await _serve_http(server, address)


async def _serve_http(server: "LessonServer", address: "Address") -> None:
    from wisen.durable.serving import hosting  # noqa: PLC0415 - imports the events
    from wisen.integrations.mcp_server import PATH  # noqa: PLC0415 - optional extra

    stopped = asyncio.Event()
    for one in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(one, stopped.set)
    async with hosting(address, server.web_application(address.host), lifespan=True) as listening:
        typer.echo(f"serving lessons at http://{listening}{PATH}", err=True)
        await stopped.wait()
