"""`wisen serve`: a page over the store, in a browser: what needs a decision, one lesson, one run."""

import asyncio
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wisen.cli.option_sets import OptionSet
from wisen.cli.shared_options import EmbeddingStoreOptions
from wisen.cli.store_choice import StoreChoice, drive, open_store
from wisen.cli.token_options import tokens_for
from wisen.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.applications import Starlette

    from wisen.durable.serving import Address
    from wisen.integrations.bearer_tokens import BearerTokens
    from wisen.stores.whole_store import Store
    from wisen.web.application import PageAccess

TOKENS = "WISEN_SERVE_TOKEN"
_EXTRA = ("jinja2", "starlette", "uvicorn")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOptions(OptionSet):
    """Where the page is, and whose memory it shows."""

    at: Annotated[
        str,
        typer.Option(
            "--at",
            metavar="HOST:PORT",
            help="Where to listen; a port alone is on 127.0.0.1, and other hosts need tokens. Port 0 takes a free one.",
        ),
    ] = "127.0.0.1:8765"
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--tokens",
            metavar="FILE",
            help=f"Lines of a token, a space and the tenant whose it is. Default: the lines in ${TOKENS}.",
            show_default=False,
        ),
    ] = None
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--name",
            metavar="HOST",
            help="A host name that browsers reach it by, beside localhost and addresses; may be given twice.",
            show_default=False,
        ),
    ] = None
    tenant: Annotated[
        str | None,
        typer.Option("--tenant", help="Whose memory, where no tokens say so. Default: ''.", show_default=False),
    ] = None

    @property
    def address(self) -> "Address":
        """Where to listen; raises `ConfigError`."""
        from wisen.durable.serving import Address  # noqa: PLC0415 - imports the events

        return Address.parse(self.at)

    def tokens(self) -> "BearerTokens | None":
        """The tokens, where browsers need one; raises `ConfigError`, or `OSError` for a file that can't be read."""
        return tokens_for(
            self.address.host,
            file=self.token_file,
            variable=TOKENS,
            tenant=self.tenant,
            option="--tokens",
            listens=f"--at {self.at}",
        )


def serve(*, page: PageOptions, store: EmbeddingStoreOptions) -> None:
    """Serve a page over the store, until it is stopped: what needs a decision, and why.

    It shows lessons with their evidence, runs with what they recalled, and whether memory helps. You decide there with
    a reason, and may undo it.
    """
    tokens, address = page.tokens(), page.address
    choice = store.choose().existing()
    try:
        from wisen.web.application import PageAccess, page_application  # noqa: PLC0415 - optional extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        raise MissingExtraError("`wisen serve`", "pip install 'wisen[web]'") from None
    access = PageAccess(tenant=page.tenant or "", tokens=tokens, names=page.name or ())
    drive(_serve(page_application, access, choice, store.embedder, address))


async def _serve(
    made: "Callable[[Store, PageAccess], Starlette]",
    access: "PageAccess",
    choice: StoreChoice,
    embedder: str | None,
    address: "Address",
) -> None:
    from wisen.durable.serving import hosting  # noqa: PLC0415 - imports the events

    stopped = asyncio.Event()
    for one in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(one, stopped.set)
    async with open_store(choice, embedder) as store, hosting(address, made(store, access), lifespan=True) as listening:
        typer.echo(f"{choice.shown}: http://{listening}/ (Ctrl-C ends it)", err=True)
        await stopped.wait()
