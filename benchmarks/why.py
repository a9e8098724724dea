"""Measures `wisen why RUN` over a store with many cards: its work in a warm process, and a whole process from start.

`python benchmarks/why.py --cards 100000`; the store is made anew, in a temporary folder.
"""

import argparse
import asyncio
import contextlib
import hashlib
import io
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from wisen import MemoryCard, MemoryKind, MemoryStatus, RunRecord, Situation, SQLiteVectorStore, Task
from wisen.cards import CardEvidence, Provenance
from wisen.cli.main import main as wisen
from wisen.records import AttemptRecord, Injection

_RECALLED = 5
_ATTEMPTS = 3
_AT_ONCE = 1_000


class _AnyVectors:
    """Vectors without meaning: what is measured asks for cards by id."""

    name = "any"
    dimension = 384
    floor = 0.2

    async def embed(self, texts: Any) -> Any:
        made = np.random.default_rng(len(texts)).standard_normal((len(texts), self.dimension)).astype(np.float32)
        return made / np.linalg.norm(made, axis=1, keepdims=True)


def _card(number: int) -> MemoryCard:
    counts = CardEvidence(model="m", layout="l", propensity=0.85, shown=number, held_out=number // 6)
    return MemoryCard(
        kind=MemoryKind.LESSON,
        content=f"Lesson {number}: what a ticket like this needs, in about as many words as lessons have.",
        situation=Situation(prompt=f"Route ticket {number}, which is about an invoice."),
        status=MemoryStatus.QUARANTINED,
        provenance=Provenance(run_id=f"run-{number}", attempt=1, evaluator="reference", verified=True),
        evidence=(counts,),
    )


def _run(number: int, cards: int) -> RunRecord:
    step = cards // _RECALLED
    drawn = tuple(
        Injection(
            card_id=_card(number + place * step).id, kind="lesson", reasons=("same prompt",), score=1.0, propensity=0.85
        )
        for place in range(_RECALLED)
    )
    attempts = tuple(AttemptRecord(attempt=at + 1, output="x", injections=drawn) for at in range(_ATTEMPTS))
    return RunRecord(run_id=_run_id(number), task=Task(prompt="Route it."), attempts=attempts)


def _run_id(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()[:32]


async def _fill(path: Path, cards: int, runs: int) -> None:
    async with SQLiteVectorStore(path, embedder=_AnyVectors()) as store:
        for first in range(0, cards, _AT_ONCE):
            await store.add_unscreened([_card(number) for number in range(first, min(cards, first + _AT_ONCE))])
        await asyncio.gather(*(store.save_run(_run(number, cards)) for number in range(runs)))


def _in_process(arguments: list[str]) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        wisen(arguments)


def _whole(arguments: list[str]) -> None:
    subprocess.run([sys.executable, "-m", "wisen", *arguments], check=True, capture_output=True)


def _median_ms(call: Callable[[list[str]], None], arguments: list[str], times: int) -> str:
    call(arguments)
    taken: list[float] = []
    for _ in range(times):
        began = time.perf_counter()
        call(arguments)
        taken.append((time.perf_counter() - began) * 1_000)
    return f"{statistics.median(taken):.0f} ms (slowest {max(taken):.0f})"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cards", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=5_000)
    parser.add_argument("--times", type=int, default=20)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        asyncio.run(_fill(path, asked.cards, asked.runs))
        run_id = _run_id(asked.runs // 2)
        print(f"{asked.cards} cards, {asked.runs} runs of {_ATTEMPTS} attempts with {_RECALLED} cards each")
        for what, given in (("whole id", run_id), ("beginning of an id", run_id[:12])):
            arguments = ["why", given, "--store", str(path)]
            print(f"{what:<20} the work: {_median_ms(_in_process, arguments, asked.times)}", end="; ")
            print(f"a whole process: {_median_ms(_whole, arguments, max(3, asked.times // 4))}")


if __name__ == "__main__":
    main()
