"""What commands that serve over HTTP share: where they listen, who may reach them, and until when they serve."""

import asyncio
import os
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wisen.errors import ConfigError, MissingExtraError

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from wisen.integrations.bearer_tokens import BearerTokens
    from wisen.operations.serving import Address

Tenant = Annotated[
    str | None,
    typer.Option("--tenant", help="Whose memory, where no tokens say so. Default: ''.", show_default=False),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """Where a command listens, and who may reach it."""

    address: "Address"
    tokens: "BearerTokens | None"
    """`None` where only this machine reaches the address, and needs none."""

    @classmethod
    def at(cls, place: str, *, option: str, tokens: Path | None, variable: str, tenant: str | None) -> "Listening":
        """Read the options.

        Args:
            place: What the `option` says: "host:port", or a port.
            option: The option that names the place.
            tokens: What `--tokens` names.
            variable: The environment variable with the lines of such a file.
            tenant: What `--tenant` says: tokens say it themselves.

        Raises `ConfigError`, and `OSError` for a file that can't be read.
        """
        from wisen.operations.serving import Address  # noqa: PLC0415 - imports the events

        address = Address.parse(place)
        found = _tokens(tokens, variable)
        if found is None and not _is_loopback(address.host):
            raise ConfigError(f"{option} {place}: others can reach it; pass --tokens FILE or set {variable}")
        if found is not None and tenant is not None:
            raise ConfigError("--tenant: each token names its tenant; pass --tenant or tokens, not both")
        return cls(address=address, tokens=found)

    async def serve(self, application: "Starlette", shown: Callable[["Address"], str]) -> None:
        """Serve until SIGINT or SIGTERM; say on standard error what is `shown` once it listens."""
        from wisen.operations.serving import hosting  # noqa: PLC0415 - imports the events

        stopped = asyncio.Event()
        for one in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(one, stopped.set)
        async with hosting(self.address, application, lifespan=True) as listening:
            typer.echo(shown(listening), err=True)
            await stopped.wait()


@contextmanager
def installed(command: str, extra: str, *modules: str) -> Generator[None]:
    """Raise `MissingExtraError` where an import fails for one of these modules, which the extra installs."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in modules:
            raise
        raise MissingExtraError(f"`{command}`", f"pip install 'wisen[{extra}]'") from None


def _tokens(file: Path | None, variable: str) -> "BearerTokens | None":
    from wisen.integrations.bearer_tokens import BearerTokens  # noqa: PLC0415 - for commands that serve alone

    if file is not None:
        return BearerTokens.parse(_text(file), str(file))
    told = os.environ.get(variable, "")
    return BearerTokens.parse(told, variable) if told else None


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"--tokens {str(path)!r}: isn't UTF-8 text") from None
