"""Turns samples into tables, and says which of the goals were reached."""

import platform
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

Samples = Mapping[str, Any]

BEGIN = "<!-- figures: written by benchmarks/run.py --write-docs -->"
_END = "<!-- end of figures -->"

_ATTEMPTS = 3
_MODES = {
    "single": ("one answer", 1),
    "block": ("Reflexion, block", _ATTEMPTS),
    "recall": ("Reflexion, recall", _ATTEMPTS),
}
_LARGE = 10_000
"""Stores from this size on are shown; below, every store is quick."""
_STORES = {"in_memory": "wisen, in memory", "sqlite": "wisen, SQLite"}


@dataclass(frozen=True)
class Goal:
    """Something to reach, and whether it was."""

    says: str
    measured: str
    reached: bool | None
    """`None`: not measured."""

    def __str__(self) -> str:
        """One line."""
        verdict = {True: "reached", False: "not reached", None: "not measured"}[self.reached]
        return f"{verdict:12}  {self.says}: {self.measured}"


def machine() -> dict[str, str]:
    """What the figures were taken on."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
        cores = str(sum(line.startswith("processor") for line in lines))
    except (OSError, StopIteration):
        model, cores = platform.processor() or "unknown", "?"
    return {
        "processor": model,
        "cores": cores,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share of the others doesn't exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def markdown(results: Samples) -> str:
    """All tables that there are samples for."""
    writers = {
        "overhead": _overhead,
        "concurrent": _concurrent,
        "recall": _recall,
        "hold": _hold,
        "imports": _imports,
    }
    parts = [_machine(results)]
    for name, write in writers.items():
        if name in results:
            parts.append(write(results[name]))
            if name == "recall":
                parts.append(_ingest(results[name]))
    return "\n\n".join(parts)


def goals(results: Samples) -> list[Goal]:
    """What is to be reached, with what was measured."""
    found = [_overhead_goal(results.get("overhead", {}), mode) for mode in _MODES]
    recalled: Samples = results.get("recall", {}).get("wisen", {})
    for size, limit in (("10000", 1.0), ("100000", 15.0)):
        found.append(_recall_goal(recalled, size, "all", limit))
    found.append(
        _recall_goal(
            recalled, max((size for size in recalled if size != "0"), key=int, default="100000"), "tenant", 1.0
        )
    )
    found += [_ingest_goal(recalled), _import_goal(results.get("imports", {}))]
    return found


def _overhead_goal(samples: Samples, mode: str) -> Goal:
    label, attempts = _MODES[mode]
    medians = {
        name: _ms(_cpu(found[mode])) / attempts
        for name, found in samples.items()
        if found.get(mode) and name != "bare loop"
    }
    says = f"{label}: no more overhead than the fastest other"
    if len(medians) <= 1 or "wisen" not in medians:
        return Goal(says=says, measured="", reached=None)
    own = medians.pop("wisen")
    name, fastest = min(medians.items(), key=lambda item: item[1])
    return Goal(says=says, measured=f"{own:.3f} ms, {name} {fastest:.3f} ms", reached=own <= fastest)


def _recall_goal(samples: Samples, size: str, what: str, limit: float) -> Goal:
    among = f"{int(size):,} cards" + (", one tenant" if what == "tenant" else "")
    says = f"recall of 5 among {among}: {limit:g} ms"
    taken = {kind: found[what] for kind, found in samples.get(size, {}).items() if what in found}
    if not taken:
        return Goal(says=says, measured="", reached=None)
    medians = {kind: _ms(seconds) for kind, seconds in taken.items()}
    measured = ", ".join(f"{_STORES[kind].partition(', ')[2]} {value:.2f} ms" for kind, value in medians.items())
    return Goal(says=says, measured=measured, reached=max(medians.values()) <= limit)


def _ingest_goal(samples: Samples) -> Goal:
    says = "at least 2,000 durable cards/s, in bulk"
    rates = {
        int(size): statistics.median(found["sqlite"]["ingest_bulk"])
        for size, found in samples.items()
        if "sqlite" in found
    }
    if not rates:
        return Goal(says=says, measured="", reached=None)
    size, rate = min(rates.items(), key=lambda one: one[1])
    return Goal(says=says, measured=f"{rate:,.0f}/s into {size:,}", reached=rate >= 2_000)  # noqa: PLR2004 - the goal


def _import_goal(samples: Samples) -> Goal:
    says = "`import wisen` within twice `import asyncio`"
    seconds = samples.get("seconds")
    if not seconds:
        return Goal(says=says, measured="", reached=None)
    ratio = statistics.median(seconds["import wisen"]) / statistics.median(seconds["import asyncio"])
    return Goal(says=says, measured=f"{ratio:.2f} times", reached=ratio <= 2)  # noqa: PLR2004 - the goal


def _machine(results: Samples) -> str:
    known = results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    return (
        f"{known['processor']}, {known['cores']} cores, {known['system']}, Python {known['python']}; {versions}. "
        f"Load before the run: {results['load']}. Command: `{results['command']}`; {results['seconds']:.0f} s."
    )


def _overhead(samples: Samples) -> str:
    rows: list[list[str]] = []
    for name, found in samples.items():
        cells = [name, *(_taken(found.get(mode), attempts) for mode, (_, attempts) in _MODES.items())]
        calls = [f"{found[f'{mode}_calls']:.0f}" for mode in _MODES if f"{mode}_calls" in found]
        rows.append([*cells, " / ".join(calls)])
    count = max((len(found.get("single", ())) for found in samples.values()), default=0)
    title = f"Overhead per attempt: CPU ms (wall ms), medians of {count} batches of 10 runs"
    return _table(title, ["", *(label for label, _ in _MODES.values()), "model calls a run"], rows)


def _taken(taken: Sequence[Sequence[float]] | None, attempts: int) -> str:
    if not taken:
        return "-"
    return f"{_ms(_cpu(taken)) / attempts:.3f} ({_ms([wall for _, wall in taken]) / attempts:.3f})"


def _cpu(taken: Sequence[Sequence[float]]) -> list[float]:
    return [one for one, _ in taken]


def _concurrent(samples: Samples) -> str:
    limits: Samples = samples.get("bare loop", {})
    most = max((int(key.rpartition("_")[2]) for key in limits), default=1_000)
    columns = [(mode, most) for mode in ("single", "block")]
    rows: list[list[str]] = []
    for name, found in samples.items():
        cells = [name]
        for mode, runs in columns:
            if name == "bare loop":
                seconds = [one["seconds"] for one in limits.get(f"{1 if mode == 'single' else 8}_{runs}", ())]
                cells.append(f"{statistics.median(seconds):.2f} s" if seconds else "-")
                continue
            taken = [one for one in found.get(f"{mode}_{runs}", ()) if "seconds" in one]
            cells.append(_concurrent_cell(taken, limits, runs))
        if any(cell != "-" for cell in cells[1:]):
            rows.append(cells)
    title = "Runs at once, each model call waiting 50 ms: wall time, times a bare loop with as many calls, peak memory"
    return _table(title, ["", *(f"{runs:,} x {_MODES[mode][0]}" for mode, runs in columns)], rows)


def _concurrent_cell(taken: Sequence[Samples], limits: Samples, runs: int) -> str:
    if not taken:
        return "-"
    seconds = statistics.median(one["seconds"] for one in taken)
    calls = round(taken[0]["calls"])
    bare = [one["seconds"] for one in limits.get(f"{calls}_{runs}", ()) if "seconds" in one]
    ratio = f", x{seconds / statistics.median(bare):.2f}" if bare else ""
    return f"{seconds:.2f} s{ratio}, {max(one['peak_mb'] for one in taken):.0f} MB"


def _recall(samples: Samples) -> str:
    rows: list[list[str]] = []
    for size, label, found in _filled(samples):
        timed = [_times(found.get(what)) for what in ("all", "tenant")]
        agreed = found.get("recall_relevance", found.get("recall_cosine"))
        exact = "-" if agreed is None else f"{agreed:.2f}"
        rows.append([f"{size:,}", label, *timed, exact, f"{found['memory_mb']:.0f}"])
    title = "Recall of 5, ms: p50 (p99)"
    return _table(title, ["cards", "", "all", "one tenant (1 %)", "recall@5", "memory, MB"], rows)


def _ingest(samples: Samples) -> str:
    rows: list[list[str]] = []
    empty = [
        (0, _STORES[kind], found) for kind, found in samples.get("wisen", {}).get("0", {}).items() if kind in _STORES
    ]
    for size, label, found in [*empty, *_filled(samples)]:
        if "ingest_bulk" in found:
            rates = [found.get(key) for key in ("ingest_bulk", "ingest_single")]
            into = f"{size:,}" if label.startswith("wisen") else f"0, up to {size:,}"
            rows.append([into, label, *(f"{statistics.median(rate):,.0f}" if rate else "-" for rate in rates)])
    head = ["cards there", "", "in bulk", "one after the other"]
    return _table("Ingest, cards per second, embedding included (only SQLite is durable)", head, rows)


def _filled(samples: Samples) -> Iterable[tuple[int, str, Samples]]:
    found = [
        (int(size), label, store)
        for name, sizes in samples.items()
        for size, result in sizes.items()
        for label, store in _stores_of(name, result)
        if int(size) >= _LARGE
    ]
    return sorted(found, key=lambda one: one[0])


def _stores_of(name: str, result: Samples) -> Iterable[tuple[str, Samples]]:
    if name == "wisen":
        return [(_STORES[kind], found) for kind, found in result.items() if kind in _STORES]
    return [] if "failed" in result else [(f"{name}, in memory", result)]


def _hold(samples: Samples) -> str:
    labels = {**_STORES, "idle": "nothing (what the machine does to an idle loop)"}
    rows = [
        [labels[kind] if name in ("wisen", "bare loop") else f"{name}, in memory", f"{_ms(taken):.1f}"]
        for name, found in samples.items()
        for kind, taken in found.items()
        if kind in labels
    ]
    return _table(
        "Longest hold of the event loop during 100 recalls at once among 1,000 cards, ms", ["", "median"], rows
    )


def _imports(samples: Samples) -> str:
    seconds, memory = samples["seconds"], samples["memory"]
    packages = {"from wisen import Agent, Reflexion": "wisen", "import purpose_agent": "purpose-agent"}
    rows: list[list[str]] = []
    for label, taken in seconds.items():
        name = packages.get(label, label.removeprefix("import "))
        used = memory.get(name, {}).get("rss_mb") if label != "import wisen" else None
        rows.append([f"`{label}`", f"{_ms(taken):.0f}", "-" if used is None else f"{used:.0f}"])
    title = f"Import: whole processes, median of {len(seconds['python'])}"
    return _table(title, ["", "ms", "memory of a process with an agent's modules, MB"], rows)


def _times(taken: Sequence[float] | None) -> str:
    return "-" if not taken else f"{_ms(taken):.2f} ({percentile(taken, 0.99) * 1e3:.2f})"


def _ms(seconds: Sequence[float]) -> float:
    return statistics.median(seconds) * 1e3


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows)]
    return "\n".join([f"**{title}**", "", *lines])


def failures(results: Samples) -> list[str]:
    """What could not be measured, and why, each once."""
    found: list[str] = []

    def look(where: str, value: object) -> None:
        if isinstance(value, Mapping):
            for key, inner in cast("Mapping[object, object]", value).items():
                if key == "failed":
                    found.append(f"{where}: {inner}")
                else:
                    look(f"{where}, {key}" if where else str(key), inner)
        elif isinstance(value, list):
            for inner in cast("list[object]", value):
                look(where, inner)

    look("", results)
    return list(dict.fromkeys(found))


def write_docs(path: Path, tables: str, *, begin: str = BEGIN) -> None:
    """Replace what stands on the page from the mark `begin` to the next end of figures, which both have to be there."""
    before, rest = path.read_text(encoding="utf-8").split(begin)
    _, after = rest.split(_END, 1)
    path.write_text(f"{before}{begin}\n\n{tables}\n\n{_END}{after}", encoding="utf-8")
