"""Tables that are data: TOML and JSON files, each in the package that reads it.

It stands apart, below all layers, because packages of every layer have tables.
"""

import json
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def read_table(package: str, name: str) -> dict[str, Any]:
    """The table in a package's file, read once; who asks for it must not change it."""
    text = files(package).joinpath(name).read_text("utf-8")
    return tomllib.loads(text) if name.endswith(".toml") else json.loads(text)
