"""What is measured: each function runs the drivers of all alternatives in turn and collects their samples.

Rounds alternate between the alternatives (A B C, A B C), so that a machine that slows down slows all of them.
"""

import json
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from environments import ALTERNATIVES, DRIVERS, Alternative, python_of

Samples = dict[str, Any]

_WAIT = 0.05
_TIMEOUT = 600
_SMALL = 10_000


@dataclass(frozen=True)
class Scale:
    """How much is measured."""

    rounds: int
    batches: int
    sizes: tuple[int, ...]
    queries: int
    slow_queries: tuple[tuple[int, int], ...]
    """For alternatives that scan in Python: from which number of cards, how many queries."""
    imports: int


FULL = Scale(
    rounds=5,
    batches=12,
    sizes=(1_000, 10_000, 100_000),
    queries=300,
    slow_queries=((50_000, 2), (5_000, 6), (0, 30)),
    imports=15,
)
QUICK = Scale(rounds=1, batches=12, sizes=(10_000,), queries=100, slow_queries=((0, 2),), imports=3)


@dataclass(frozen=True)
class Bench:
    """The alternatives of one run of the benchmarks, and its scale."""

    scale: Scale
    names: Sequence[str]

    def all(self, *, limit: bool = False) -> Iterator[Alternative]:
        """Those that were asked for; the bare loop only with `limit`."""
        for alternative in ALTERNATIVES:
            if alternative.name in self.names and (limit or alternative.package):
                yield alternative

    def ask(self, alternative: Alternative, driver: str, **options: Any) -> Samples:
        """What a driver prints, or `{"failed": reason}`."""
        asked = json.dumps({"package": alternative.package, **options})
        command = [str(python_of(alternative)), str(DRIVERS / driver), asked]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
        except subprocess.TimeoutExpired:
            return _failed(alternative, f"no result within {_TIMEOUT} s")
        if done.returncode:
            return _failed(alternative, (done.stderr.strip().splitlines() or ["nothing said"])[-1])
        result: Samples = json.loads(done.stdout.splitlines()[-1])
        return result


def _failed(alternative: Alternative, reason: str) -> Samples:
    print(f"  {alternative.name}: {reason}", file=sys.stderr)
    return {"failed": reason}


def overhead(bench: Bench) -> Samples:
    """Seconds of a run around instant model calls: a single attempt, and Reflexion's three in both modes."""
    found: dict[str, Samples] = defaultdict(dict)
    for _ in range(bench.scale.rounds):
        for alternative in bench.all(limit=True):
            modes = ["single", "block", "recall"]
            result = bench.ask(
                alternative, alternative.runs, measure="overhead", modes=modes, batches=bench.scale.batches, runs=10
            )
            _merge(found[alternative.name], result)
    return dict(found)


def concurrent(bench: Bench) -> Samples:
    """Wall time and peak memory of 100 and 1,000 runs at once, each of whose model calls waits 50 ms."""
    found: dict[str, Samples] = defaultdict(dict)
    cases = [(mode, runs) for mode in ("single", "block") for runs in (100, 1_000)]
    for mode, runs in cases:
        for _ in range(min(3, bench.scale.rounds)):
            calls: set[int] = set()
            for alternative in bench.all():
                if alternative.name == "purpose-agent" and runs > 100:  # noqa: PLR2004 - a thread for each
                    continue
                result = bench.ask(
                    alternative, alternative.runs, measure="concurrent", mode=mode, runs=runs, sleep=_WAIT
                )
                calls.add(round(result.get("calls", 0)))
                _merge(found[alternative.name], {f"{mode}_{runs}": [result]})
            for count in sorted(calls - {0}):
                limit = ALTERNATIVES[-1]
                result = bench.ask(limit, limit.runs, measure="concurrent", calls=count, runs=runs, sleep=_WAIT)
                _merge(found[limit.name], {f"{count}_{runs}": [result]})
    return dict(found)


def recall(bench: Bench) -> Samples:
    """Seconds of single searches among 1,000 to 100,000 cards, and what filling the store took."""
    found: dict[str, Samples] = defaultdict(dict)
    rounds = [
        bench.scale.sizes,
        *[tuple(size for size in bench.scale.sizes if size <= _SMALL)] * (bench.scale.rounds // 2),
    ]
    for sizes in rounds:
        for size in sizes:
            for alternative in bench.all():
                result = bench.ask(
                    alternative, alternative.recalls, measure="recall", **_recall_options(bench, alternative, size)
                )
                _merge(found[alternative.name].setdefault(str(size), {}), result)
        for alternative in bench.all():
            if alternative.name == "wisen":
                empty = bench.ask(alternative, alternative.recalls, measure="empty", bulk=4_000, singles=300)
                _merge(found[alternative.name].setdefault("0", {}), empty)
    return dict(found)


def _recall_options(bench: Bench, alternative: Alternative, size: int) -> Samples:
    if alternative.name == "wisen":
        return {"size": size, "queries": bench.scale.queries, "compared": 20, "bulk": 4_000, "singles": 300}
    queries = next(count for least, count in bench.scale.slow_queries if size >= least)
    return {"size": size, "queries": queries, "hashed_up_to": _SMALL, "singles": 100}


def hold(bench: Bench) -> Samples:
    """For how long 100 recalls at once keep the event loop from anything else."""
    found: dict[str, Samples] = defaultdict(dict)
    for _ in range(min(3, bench.scale.rounds)):
        for alternative in bench.all(limit=True):
            if alternative.name == "purpose-agent":
                continue
            driver = alternative.recalls or alternative.runs
            result = bench.ask(alternative, driver, measure="hold", size=1_000, recalls=100, seconds=0.5)
            _merge(found[alternative.name], {name: [value] for name, value in result.items()})
    return dict(found)


def imports(bench: Bench) -> Samples:
    """Seconds of whole processes that import something and end; and what the import leaves in memory."""
    statements = {
        "python": ("wisen", "pass"),
        "import asyncio": ("wisen", "import asyncio"),
        "import wisen": ("wisen", "import wisen"),
        "from wisen import Agent, Reflexion": ("wisen", "from wisen import Agent, Reflexion"),
    }
    others = [one for one in bench.all() if one.name != "wisen"]
    statements |= {f"import {one.package}": (one.name, f"import {one.package}") for one in others}
    pythons = {
        one.name: str(python_of(one)) for one in ALTERNATIVES if one.name in {name for name, _ in statements.values()}
    }
    taken: dict[str, list[float]] = defaultdict(list)
    for _ in range(bench.scale.imports):
        for label, (name, statement) in statements.items():
            began = time.perf_counter()
            subprocess.run([pythons[name], "-c", statement], capture_output=True, check=False)
            taken[label].append(time.perf_counter() - began)
    memory = {one.name: bench.ask(one, one.runs, measure="imported") for one in bench.all()}
    return {"seconds": dict(taken), "memory": memory}


MEASURES: dict[str, Callable[[Bench], Samples]] = {
    "imports": imports,
    "overhead": overhead,
    "concurrent": concurrent,
    "hold": hold,
    "recall": recall,
}


def _merge(into: Samples, more: Samples) -> None:
    """Put samples together: lists grow, and of anything else the newest stays."""
    for name, value in more.items():
        if isinstance(value, list):
            into.setdefault(name, []).extend(value)
        elif isinstance(value, dict):
            _merge(into.setdefault(name, {}), cast("Samples", value))
        else:
            into[name] = value
