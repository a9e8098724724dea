"""The tables of the rules: data, in files beside this module.

It stands apart because the rules share it, and it knows none of them.
"""

from typing import Any

from wisen.data_files import read_table


def table_of(name: str) -> dict[str, Any]:
    """One of the tables, by the name of its file."""
    return read_table("wisen.screening.rules", f"data/{name}")
