"""wisen: LLM agents that learn from their own runs, without fine-tuning, and with proof.

The public names below are resolved when first used, so that `import wisen` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wisen.agent import Agent as Agent
    from wisen.agent import RunResult as RunResult

_HOMES = {
    "wisen.agent": ("Agent", "RunResult"),
    "wisen.architectures.react": ("ReAct",),
    "wisen.architectures.reflexion": ("DEFAULT_EVALUATOR_PROMPT", "DEFAULT_REFLECTOR_PROMPT", "Reflexion"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)  # pyright: ignore[reportUnsupportedDunderAll] - the names are in _HOMES


def __getattr__(name: str) -> object:
    """Import the module that defines `name`."""
    home = _HOME_OF.get(name)
    if home is None:
        msg = f"module 'wisen' has no attribute {name!r}"
        raise AttributeError(msg)
    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Only the public names."""
    return list(__all__)
