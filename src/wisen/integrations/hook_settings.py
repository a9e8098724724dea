"""What a person has set for the hooks of their coding agents, in one file of the state folder.

It stands apart because a command writes what the reflection on sessions reads.
"""

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from wisen.errors import ConfigError

SETTINGS: Final = "hooks.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class HookSettings:
    """The settings; what the file doesn't say is as it is without a file."""

    model: str = ""
    """Which model looks back at a session's failures; "" for none."""


def read_settings(folder: Path) -> HookSettings:
    """The settings. Raises `ConfigError` for a file that can't be read."""
    path = folder / SETTINGS
    try:
        model: object = tomllib.loads(path.read_text("utf-8")).get("model", "")
    except FileNotFoundError:
        return HookSettings()
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: can't be read ({error}); mend it, or remove it") from None
    if not isinstance(model, str):
        raise ConfigError(f'{path}: model = {model!r}: must be a name in quotes, such as "anthropic:claude-opus-4-7"')
    return HookSettings(model=model)


def write_settings(folder: Path, settings: HookSettings) -> None:
    """Keep the settings. Raises `OSError`."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / SETTINGS
    if settings == HookSettings():
        path.unlink(missing_ok=True)
    else:
        path.write_text(f"model = {json.dumps(settings.model)}\n", "utf-8")
