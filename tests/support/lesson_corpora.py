"""Six families of 200 lessons that differ in one slot, and the corpora of wordings, opposites and other rules."""

import json
from itertools import product
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent.parent / "identity" / "data"


def families() -> dict[str, list[str]]:
    """Of each kind of slot, 200 lessons."""
    slots: dict[str, list[str]] = json.loads((DATA / "slots.json").read_text())
    places = product(slots["names"], ("", " North", " South", " East", " West"))
    services = [
        f"{name.lower()}-{kind}" for name, kind in product(slots["names"][:20], ("api", "db", "ci", "log", "web"))
    ]
    fields = slots["fields"]
    return {
        "number": [f"For policy {10_000 + n}, the surcharge is {100 + 7 * n} units." for n in range(200)],
        "name": [f"Route invoices from {name}{part} to the regional team." for name, part in places],
        "code": [f"For the account use tax code {chr(65 + n % 20)}{10 + n // 20}." for n in range(200)],
        "unit": [f"Set the limit of the {field} to 30 {unit}." for field, unit in product(fields, slots["units"])],
        "negation": [text for one in services for text in (f"Retry calls to {one}.", f"Don't retry calls to {one}.")],
        "format": [f"Write the {field} date as {form}." for field, form in product(fields, slots["formats"])],
    }


def corpus(name: str) -> list[dict[str, Any]]:
    """The lines of a corpus."""
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text().splitlines()]
