"""`wisen mcp`: lessons for whatever speaks the Model Context Protocol, over standard streams or HTTP."""

import logging
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wisen.cli.listening import Listening, Tenant, installed
from wisen.cli.option_sets import OptionSet
from wisen.cli.shared_options import EmbeddingStoreOptions
from wisen.cli.store_choice import drive, open_store
from wisen.errors import ConfigError

VARIABLE = "WISEN_MCP_TOKENS"


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
    tenant: Tenant = None
    agent: Annotated[
        str, typer.Option("--agent", metavar="NAME", help="The agents' role: they try their own lessons first.")
    ] = "agent"

    def listening(self) -> Listening | None:
        """Where to listen, and who may ask; `None` for standard input. Raises as `Listening.at`."""
        if self.http is not None:
            return Listening.at(self.http, option="--http", tokens=self.tokens, variable=VARIABLE, tenant=self.tenant)
        if self.tokens is not None:
            raise ConfigError("--tokens: standard input has one client; name its tenant with --tenant, or pass --http")
        return None


def mcp(*, serve: ServeOptions, store: EmbeddingStoreOptions) -> None:
    """Serve lessons to agents that speak the Model Context Protocol, until standard input ends or it is stopped."""
    listening = serve.listening()
    choice = store.writable()
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    with installed("wisen mcp", "mcp", "mcp", "mcp_types", "starlette", "uvicorn"):
        from wisen.integrations.mcp_server import PATH, LessonServer  # noqa: PLC0415 - optional extra
    from wisen.memory_ci.pipeline import MemoryCI  # noqa: PLC0415 - imports the screen and its tables

    async def serving() -> None:
        async with open_store(choice, store.embedder) as opened:
            tokens = None if listening is None else listening.tokens
            server = LessonServer(MemoryCI(opened), agent=serve.agent, tenant=serve.tenant or "", tokens=tokens)
            if listening is None:
                # A read of standard input can't be interrupted, so Ctrl-C ends the process as SIGTERM does.
                signal.signal(signal.SIGINT, signal.SIG_DFL)
                await server.run_stdio_async()
            else:
                application = server.web_application(listening.address.host)
                await listening.serve(application, lambda at: f"serving lessons at http://{at}{PATH}")

    drive(serving())
