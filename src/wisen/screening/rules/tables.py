"""Reads the tables of the rules: data, in files beside this module."""

import json
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def table_of(name: str) -> dict[str, Any]:
    """One of the tables, by the name of its file."""
    text = files("wisen.screening.rules").joinpath("data", name).read_text("utf-8")
    return tomllib.loads(text) if name.endswith(".toml") else json.loads(text)
