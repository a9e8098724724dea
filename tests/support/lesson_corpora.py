"""Six families of 200 lessons that differ in one slot, and the corpora of wordings, opposites and other rules."""

import json
from itertools import islice, product
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent.parent / "identity" / "data"

NAMES = ["Norway", "Sweden", "Denmark", "Finland", "Iceland", "Estonia", "Latvia", "Lithuania", "Poland", "Austria", "Hungary", "Romania", "Bulgaria", "Greece", "Turkey", "Italy", "France", "Spain", "Portugal", "Ireland", "Belgium", "Malta", "Cyprus", "Croatia", "Serbia", "Albania", "Ukraine", "Georgia", "Armenia", "Egypt", "Harbour", "Beacon", "Meridian", "Summit", "Cascade", "Orchard", "Granite", "Willow", "Falcon", "Juniper"]
STREETS = ["", " North", " South", " East", " West"]
UNITS = ["seconds", "minutes", "hours", "days", "weeks", "EUR", "USD", "GBP", "percent", "kg", "pounds", "km", "miles", "MB", "GB", "litres", "metres", "feet", "watts", "degrees"]
FORMATS = ["DD.MM.YYYY", "MM/DD/YYYY", "YYYY-MM-DD", "DD/MM/YYYY", "YYYY/MM/DD", "YYYYMMDD", "DD-MM-YYYY", "MM-DD-YYYY", "DD.MM.YY", "MM/DD/YY", "YY-MM-DD", "DD/MM/YY", "YYYY-MM", "MM/YYYY", "YYYY.MM.DD", "HH:MM", "HH:MM:SS", "DD MM YYYY", "YYYY-MM-DDTHH:MM", "MM.DD.YYYY"]
FIELDS = ["invoice", "delivery", "order", "birth", "expiry", "start", "end", "payment", "report", "contract"]
SERVICES = [f"{name.lower()}-{kind}" for name, kind in product(NAMES[:20], ("api", "db", "queue", "cache", "web"))]


def families() -> dict[str, list[str]]:
    """Of each kind of slot, 200 lessons."""
    names = [name + street for name, street in product(NAMES, STREETS)]
    negations = [text for one in SERVICES for text in (f"Retry calls to {one}.", f"Don't retry calls to {one}.")]
    return {
        "number": [f"For policy {10_000 + n}, the surcharge is {100 + 7 * n} units." for n in range(200)],
        "name": [f"Route invoices from {name} to the regional team." for name in names],
        "code": [f"For the account use tax code {chr(65 + n % 20)}{10 + n // 20}." for n in range(200)],
        "unit": [f"Set the limit of the {field} to 30 {unit}." for field, unit in product(FIELDS, UNITS)],
        "negation": negations,
        "format": list(islice((f"Write the {a} date as {b}." for a, b in product(FIELDS, FORMATS)), 200)),
    }


def corpus(name: str) -> list[dict[str, Any]]:
    """The lines of a corpus."""
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text().splitlines()]
