"""`wisen serve`: a page over the store, in a browser: what needs a decision, one lesson, one run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wisen.cli.listening import Listening, Tenant, installed
from wisen.cli.option_sets import OptionSet
from wisen.cli.shared_options import EmbeddingStoreOptions
from wisen.cli.store_choice import drive, open_store

TOKENS = "WISEN_SERVE_TOKEN"


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
    tokens: Annotated[
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
    tenant: Tenant = None

    def listening(self) -> Listening:
        """Where to listen, and who may look; raises as `Listening.at`."""
        return Listening.at(self.at, option="--at", tokens=self.tokens, variable=TOKENS, tenant=self.tenant)


def serve(*, page: PageOptions, store: EmbeddingStoreOptions) -> None:
    """Serve a page over the store, until it is stopped: what needs a decision, and why.

    It shows lessons with their evidence, runs with what they recalled, and whether memory helps. You decide there with
    a reason, and may undo it.
    """
    listening = page.listening()
    choice = store.choose().existing()
    with installed("wisen serve", "web", "jinja2", "starlette", "uvicorn"):
        from wisen.web.application import PageAccess, page_application  # noqa: PLC0415 - optional extra
    access = PageAccess(tenant=page.tenant or "", tokens=listening.tokens, names=page.name or ())

    async def serving() -> None:
        async with open_store(choice, store.embedder) as opened:
            pages = page_application(opened, access)
            await listening.serve(pages, lambda at: f"{choice.shown}: http://{at}/ (Ctrl-C ends it)")

    drive(serving())
