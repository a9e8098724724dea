"""What other backends test with: the store contract and its model test; needs pytest, anyio and hypothesis."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wisen.testing.contract import VectorStoreContract as VectorStoreContract
    from wisen.testing.model import check_against_model as check_against_model

_HOMES = {"VectorStoreContract": "wisen.testing.contract", "check_against_model": "wisen.testing.model"}


def __getattr__(name: str) -> object:
    """Import the module that defines `name`."""
    if name not in _HOMES:
        raise AttributeError(f"module 'wisen.testing' has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    return value
