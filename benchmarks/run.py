"""Compares wisen with its alternatives, each in an environment of its own, and with its own goals.

`python benchmarks/run.py --help` lists the options; `docs/measured/benchmarks.md` explains what is measured.
"""

import argparse
import json
import os
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from environments import ALTERNATIVES, ROOT, python_of
from measures import FULL, MEASURES, QUICK, Bench
from report import failures, goals, machine, markdown, write_docs

_DOCS = ROOT / "docs" / "measured" / "benchmarks.md"


def main() -> None:
    """Measure and report."""
    asked = _arguments()
    results = json.loads(Path(asked.load).read_text(encoding="utf-8")) if asked.load else _new_results(asked)
    tables = markdown(results)
    print(tables)
    print()
    for goal in goals(results):
        print(goal)
    if failed := failures(results):
        sys.exit("\n".join(["", *(f"failed        {reason}" for reason in failed)]))
    if asked.write_docs:
        write_docs(_DOCS, tables)


def _new_results(asked: argparse.Namespace) -> dict[str, Any]:
    names = {one.name for one in ALTERNATIVES} if not asked.only else {*asked.only.split(","), "wisen", "bare loop"}
    bench = Bench(scale=QUICK if asked.quick else FULL, names=[one.name for one in ALTERNATIVES if one.name in names])
    for alternative in bench.all():
        python_of(alternative)
    results = _measured(bench, asked.measure.split(",") if asked.measure else list(MEASURES))
    if asked.json:
        Path(asked.json).write_text(json.dumps(results, indent=1), encoding="utf-8")
    return results


def _measured(bench: Bench, names: list[str]) -> dict[str, Any]:
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    results: dict[str, Any] = {
        "machine": machine(),
        "load": load,
        "command": 'make bench ARGS="--quick"' if "--quick" in sys.argv else "make bench",
        "versions": {one.name: one.version or version("wisen") for one in bench.all()},
    }
    began = time.perf_counter()
    for name in names:
        started = time.perf_counter()
        print(f"{name} …", end=" ", file=sys.stderr, flush=True)
        results[name] = MEASURES[name](bench)
        print(f"{time.perf_counter() - started:.0f} s", file=sys.stderr)
    results["seconds"] = time.perf_counter() - began
    return results


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer samples, no store above 10,000 cards")
    parser.add_argument("--only", metavar="NAMES", default="", help="alternatives to compare with, by commas")
    parser.add_argument("--measure", metavar="NAMES", default="", help=f"by commas, of: {', '.join(MEASURES)}")
    parser.add_argument("--json", metavar="FILE", default="", help="keep all samples in this file")
    parser.add_argument(
        "--load", metavar="FILE", default="", help="measure nothing; report what --json kept in this file"
    )
    parser.add_argument("--write-docs", action="store_true", help=f"write the tables into {_DOCS.relative_to(ROOT)}")
    asked = parser.parse_args()
    known = {one.name for one in ALTERNATIVES}
    lists: dict[str, tuple[str, set[str]]] = {
        "--only": (asked.only, known),
        "--measure": (asked.measure, set(MEASURES)),
    }
    for option, (given, allowed) in lists.items():
        if unknown := sorted({name for name in given.split(",") if name} - allowed):
            parser.error(f"{option}: {', '.join(unknown)} is none of {', '.join(sorted(allowed))}")
    return asked


if __name__ == "__main__":
    main()
