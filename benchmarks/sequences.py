"""What stopping rules are tried on: recorded runs, and simulated ones whose true quality is known."""

import csv
import gzip
import json
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

_SIMULATED_BUDGET = 10
_THRESHOLD = 0.8
_FAMILIES_SEED = 20261


@dataclass(frozen=True, kw_only=True)
class Run:
    """All iterations that one loop makes within its fixed budget, or up to its first accepted one."""

    source: str
    task: str
    budget: int
    """The fixed budget, in attempts."""
    scores: tuple[float | None, ...]
    """What the loop sees."""
    right: tuple[bool | None, ...]
    """Whether each version really solves the task; `None` where that wasn't recorded, never for the last."""
    quality: tuple[float, ...] = ()
    """True quality; empty: the scores are taken for it."""
    outputs: tuple[str, ...] = field(default=(), repr=False)
    issues: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    threshold: float = 1.0
    tuning: bool = False
    """Which half it belongs to: options are chosen on one, and the other is reported."""


def recorded(folder: Path) -> list[Run]:
    """The recorded runs below `folder` that have a score for each attempt; none if there is no such folder."""
    readers: tuple[Callable[[Path], Iterator[Run]], ...] = (_alfworld, _leetcode, _visible_tests, _programming)
    return [run for read in readers for run in read(folder / "runs")] if (folder / "runs").is_dir() else []


def _half(task: str) -> bool:
    return zlib.crc32(task.encode()) % 2 == 0


def _json_lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _alfworld(runs: Path) -> Iterator[Run]:
    """The environment says whether a trial succeeded: score and truth are the same."""
    for source, folder in (("ALFWorld, reflection", "reflexion_run_logs"), ("ALFWorld, retry only", "base_run_logs")):
        paths = sorted((runs / "reflexion/alfworld" / folder).glob("*.json.gz"), key=_trial)
        solved: dict[str, list[bool]] = defaultdict(list)
        for path in paths:
            for one in json.loads(gzip.decompress(path.read_bytes())):
                solved[one["name"]].append(one["is_success"])
        for task, trials in solved.items():
            made = trials.index(True) + 1 if True in trials else len(trials)
            yield Run(
                source=source,
                task=task,
                budget=len(paths),
                scores=tuple(float(one) for one in trials[:made]),
                right=tuple(trials[:made]),
                tuning=_half(task),
            )


def _trial(path: Path) -> int:
    return int(path.name.removesuffix(".json.gz").rpartition("_")[2])


def _leetcode(runs: Path) -> Iterator[Run]:
    """Scores are the share of visible tests passed; a version that fails one is wrong. Hidden tests judged the last."""
    for path in sorted((runs / "textgrad").glob("reflexion_leetcode_hard_*.jsonl.gz")):
        for one in _json_lines(path):
            scores = tuple(_share_passed(feedback) for feedback in one["test_feedback"])
            yield Run(
                source="LeetCode-Hard, Reflexion",
                task=one["task_id"],
                budget=5,
                scores=scores,
                right=(*[False] * (len(scores) - 1), one["is_solved"]),
                outputs=tuple(one["implementations"]),
                issues=tuple(tuple(_failed(feedback)) for feedback in one["test_feedback"]),
                tuning=_half(one["task_id"]),
            )


def _failed(feedback: str) -> list[str]:
    return [line for line in feedback.partition("Tests failed:")[2].splitlines() if line.strip()]


def _share_passed(feedback: str) -> float:
    passed, _, failed = feedback.partition("Tests failed:")
    good, bad = passed.count("assert "), failed.count("assert ")
    return good / (good + bad)


def _visible_tests(runs: Path) -> Iterator[Run]:
    """Two versions of each solution; both were judged by visible and by hidden tests."""
    csv.field_size_limit(1 << 24)
    versions: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    with gzip.open(runs / "textgrad/textgrad_run.csv.gz", "rt", encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            versions[row["task_id"], row["seed"]].append(row)
    for (task, _), rows in versions.items():
        states = [row["local_test_state"] for row in rows]
        yield Run(
            source="LeetCode-Hard, TextGrad",
            task=task,
            budget=len(rows),
            scores=tuple(
                state.count("True") / (state.count("True") + state.count("False")) if state else None
                for state in states
            ),
            right=tuple(row["success"] == "True" for row in rows),
            outputs=tuple(row["problem"] for row in rows),
            tuning=_half(task),
        )


def _programming(runs: Path) -> Iterator[Run]:
    """A reflection stands for an attempt that the model's own tests refused. Truth is known of the last one only."""
    folder = runs / "reflexion/programming"
    for source, pattern, most in (
        ("HumanEval", "reflexion_humaneval*/*.gz", 9),
        ("MBPP", "reflexion_mbpp*/*.gz", 4),
    ):
        for one in _json_lines(next(folder.glob(pattern))):
            refused = len(one["reflections"])
            scores = (0.0,) * (refused + 1) if refused >= most else (*(0.0,) * refused, 1.0)
            task = str(one.get("task_id") or one["name"])
            yield Run(
                source=source,
                task=task,
                budget=most + 1,
                scores=scores,
                right=(*[None] * (len(scores) - 1), one["is_solved"]),
                tuning=_half(task),
            )


def _improving(draw: Random) -> tuple[list[float], float]:
    start, best, rate = draw.uniform(0.3, 0.6), draw.uniform(0.82, 0.98), draw.uniform(0.15, 0.6)
    return [best - (best - start) * (1 - rate) ** step for step in range(_SIMULATED_BUDGET)], 0.02


def _plateau(draw: Random) -> tuple[list[float], float]:
    start, rise = draw.uniform(0.3, 0.6), draw.uniform(0.0, 0.18)
    rate = draw.uniform(0.4, 0.8)
    return [start + rise * (1 - (1 - rate) ** step) for step in range(_SIMULATED_BUDGET)], 0.02


def _oscillating(draw: Random) -> tuple[list[float], float]:
    levels = draw.uniform(0.55, 0.74), draw.uniform(0.2, 0.45)
    first = draw.randrange(2)
    return [levels[(step + first) % 2] for step in range(_SIMULATED_BUDGET)], 0.02


def _noisy(draw: Random) -> tuple[list[float], float]:
    qualities, _ = (_improving if draw.random() < 0.5 else _plateau)(draw)  # noqa: PLR2004 - half of them
    return qualities, 0.1


def _late(draw: Random) -> tuple[list[float], float]:
    flat, low, high = draw.randint(2, 6), draw.uniform(0.2, 0.6), draw.uniform(0.82, 0.95)
    return [low if step < flat else high for step in range(_SIMULATED_BUDGET)], 0.02


def _degrading(draw: Random) -> tuple[list[float], float]:
    start, fall = draw.uniform(0.5, 0.75), draw.uniform(0.02, 0.1)
    return [max(0.0, start - fall * step) for step in range(_SIMULATED_BUDGET)], 0.02


def _pass_fail(draw: Random) -> tuple[list[float], float]:
    chance = 0.0 if draw.random() < 0.4 else draw.uniform(0.15, 0.7)  # noqa: PLR2004 - two of five are beyond reach
    solved = next((step for step in range(_SIMULATED_BUDGET) if draw.random() < chance), _SIMULATED_BUDGET)
    return [float(step >= solved) for step in range(_SIMULATED_BUDGET)], 0.0


FAMILIES: Mapping[str, Callable[[Random], tuple[list[float], float]]] = {
    "improving": _improving,
    "plateau": _plateau,
    "oscillating": _oscillating,
    "noisy evaluator": _noisy,
    "late bloomer": _late,
    "degrading": _degrading,
    "pass or fail": _pass_fail,
}
"""Each draws the true qualities of one run and says how large the standard error of its evaluator is."""


def simulated(each: int) -> list[Run]:
    """`each` runs of every family, always the same ones."""
    runs: list[Run] = []
    for place, (name, make) in enumerate(FAMILIES.items()):
        draw = Random(_FAMILIES_SEED + place)
        for number in range(each):
            quality, error = make(draw)
            runs.append(
                Run(
                    source=name,
                    task=str(number),
                    budget=_SIMULATED_BUDGET,
                    scores=tuple(min(1.0, max(0.0, one + draw.gauss(0.0, error))) if error else one for one in quality),
                    right=tuple(one >= _THRESHOLD for one in quality),
                    quality=tuple(quality),
                    threshold=_THRESHOLD,
                    tuning=number % 2 == 0,
                )
            )
    return runs
