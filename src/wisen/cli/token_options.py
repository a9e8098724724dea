"""Who may reach what a command serves: everybody on this machine, or those with a token, which is a tenant's."""

import os
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from wisen.errors import ConfigError

if TYPE_CHECKING:
    from wisen.integrations.bearer_tokens import BearerTokens


def tokens_for(
    host: str, *, file: Path | None, variable: str, tenant: str | None, option: str, listens: str
) -> "BearerTokens | None":
    """The tokens that a file or else an environment variable holds; `None` where only this machine reaches the host.

    Args:
        host: Where the command listens.
        file: What the `option` names.
        variable: The environment variable with the lines of such a file.
        tenant: What `--tenant` says: tokens say it themselves.
        option: The option that names the file.
        listens: The option that names the host, with its value.

    Raises `ConfigError`, and `OSError` for a file that can't be read.
    """
    from wisen.integrations.bearer_tokens import BearerTokens  # noqa: PLC0415 - for commands that serve alone

    told = os.environ.get(variable, "")
    if file is not None:
        tokens = BearerTokens.parse(_text(file, option), str(file))
    elif told:
        tokens = BearerTokens.parse(told, variable)
    elif not _is_loopback(host):
        raise ConfigError(f"{listens}: others can reach it; pass {option} FILE or set {variable}")
    else:
        return None
    if tenant is not None:
        raise ConfigError("--tenant: each token names its tenant; pass --tenant or tokens, not both")
    return tokens


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _text(path: Path, option: str) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"{option} {str(path)!r}: isn't UTF-8 text") from None
