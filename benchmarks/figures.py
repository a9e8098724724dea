"""Where the figures of the Postgres and worker benchmarks go: Markdown tables between marks of pages."""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from report import machine

ROOT = Path(__file__).resolve().parents[1]
MEASURED = ROOT / "docs" / "measured" / "postgres.md"


Figures = dict[str, Any]
Part = tuple[Path, str, str]
"""A page, the name of a place in it, and what goes there."""


def options(about: str) -> argparse.ArgumentParser:
    """What is to be done with the figures; each benchmark adds what to measure."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", default="", help="keep all samples in this file")
    parser.add_argument("--load", metavar="FILE", default="", help="measure nothing; report what --json kept")
    parser.add_argument("--write-docs", action="store_true", help="put the tables into the pages")
    return parser


def tell(
    asked: argparse.Namespace,
    measured: Callable[[argparse.Namespace], Figures],
    report: Callable[[Figures], str],
    parts: Callable[[Figures, str], Sequence[Part]],
) -> None:
    """Measure, or load what was measured, and report it; `parts` says what of both goes into pages."""
    figures: Figures = json.loads(Path(asked.load).read_text(encoding="utf-8")) if asked.load else measured(asked)
    if asked.json:
        Path(asked.json).write_text(json.dumps(figures, indent=1), encoding="utf-8")
    text = report(figures)
    print(text)
    for page, name, part in parts(figures, text) if asked.write_docs else ():
        if not put(page, name, part):
            print(f"{page.name} has no place for {name!r}", file=sys.stderr)


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table under a title."""
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows)]
    return "\n".join([f"**{title}**", "", *lines])


def setting(command: str, *more: str) -> str:
    """The machine, its load now, and how to repeat what was measured."""
    known = machine()
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    parts = [
        f"{known['processor']}, {known['cores']} cores, {known['system']}, Python {known['python']}",
        f"a loop of a million additions takes {_speed() * 1e3:.0f} ms here",
        *more,
        f"Load before the run: {load}",
        f"Command: `{command}`",
    ]
    return ". ".join(parts) + "."


def _speed() -> float:
    """How fast the machine is just now: shared ones vary by a factor of three."""
    taken: list[float] = []
    for _ in range(5):
        began, total = time.perf_counter(), 0
        for number in range(1_000_000):
            total += number
        taken.append(time.perf_counter() - began)
    return min(taken)


def put(page: Path, name: str, text: str) -> bool:
    """Replace what stands between the marks of this name; says whether the page has them."""
    begin, end = f"<!-- postgres: {name} -->", f"<!-- end of postgres: {name} -->"
    old = page.read_text(encoding="utf-8") if page.exists() else ""
    before, found, rest = old.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        return False
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")
    return True


def milliseconds(seconds: Sequence[float], share: float = 0.5) -> str:
    """The value in milliseconds that this share of the others doesn't exceed."""
    if not seconds:
        return "-"
    ordered = sorted(seconds)
    value = ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1e3
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"  # noqa: PLR2004 - three digits are enough
