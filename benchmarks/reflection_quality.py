"""Measures `ReflectionPattern` on the bundled local model beside retries with as many tokens; and what one costs.

`python benchmarks/reflection_quality.py --help` lists the options; `docs/measured/reflection.md` explains the figures.
"""

import argparse
import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from reflection_arms import PERFECT, Outcome, outcome_of
from reflection_calls import Cost, local_reflections, scripted_loops
from reflection_judge import Consistency, Judgement, consistency, judgements
from reflection_tables import markdown
from reflection_tasks import WritingTask, writing_tasks
from report import write_docs

from wisen import LocalModel

_DOCS = Path(__file__).parents[1] / "docs" / "measured" / "reflection.md"
_BEGIN = "<!-- figures: written by benchmarks/reflection_quality.py --write-docs -->"
_TASKS, _SEED = 40, 0
_JUDGED, _JUDGED_WARM, _CALLED = 40, 12, 6


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=_TASKS, metavar="N", help="how many tasks (%(default)s)")
    parser.add_argument("--seed", type=int, default=_SEED, metavar="N", help="which tasks (%(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    parser.add_argument("--write-docs", action="store_true", help=f"put the tables into {_DOCS.name}")
    asked = parser.parse_args()
    began = time.perf_counter()
    results = asyncio.run(_measured(asked.tasks, asked.seed, began))
    given = (f" --tasks {asked.tasks}" * (asked.tasks != _TASKS)) + (f" --seed {asked.seed}" * (asked.seed != _SEED))
    command = f"python benchmarks/reflection_quality.py{given}"
    text = markdown(results, command, time.perf_counter() - began)
    print(text)
    if asked.json:
        Path(asked.json).write_text(json.dumps(_plain(results), indent=1), encoding="utf-8")
    if asked.write_docs:
        write_docs(_DOCS, text, begin=_BEGIN)


async def _measured(count: int, seed: int, began: float) -> dict[str, Any]:
    """All measurements; two copies of the weights work side by side."""
    models = [LocalModel(slots=1, context=2048, replica=replica) for replica in range(2)]
    work = iter(enumerate(writing_tasks(count, seed), 1))
    found = await asyncio.gather(*(_outcomes(model, work, began) for model in models))
    outcomes = [one for _, one in sorted((pair for pairs in found for pair in pairs), key=lambda pair: pair[0])]
    halves = [outcomes[at::2] for at in range(2)]
    _say(began, "tasks done")
    rounds = await asyncio.gather(*(_judged(model, half) for model, half in zip(models, halves, strict=True)))
    kept = [one.draft_score for half in halves for one in half[: _JUDGED // 2]]
    cold = _rounds(rounds, 0, kept)
    warm = _rounds(rounds, 2, [one.draft_score for half in halves for one in half[: _JUDGED_WARM // 2]])
    _say(began, "judgements done")
    shown = [(one.task, one.draft) for one in halves[0][:_CALLED]]
    calls = {"scripted": await scripted_loops(), "local": await local_reflections(models[0], shown)}
    return {"outcomes": outcomes, "judge": {"cold": cold, "warm": warm}, "calls": calls, "reflections": len(shown)}


async def _outcomes(
    model: LocalModel, work: Iterator[tuple[int, WritingTask]], began: float
) -> list[tuple[int, Outcome]]:
    """Take tasks from what all share, so that no copy of the weights waits for another."""
    found: list[tuple[int, Outcome]] = []
    for number, one in work:
        found.append((number, await outcome_of(model, one)))
        _say(began, f"task {number}: {one.kind}")
    return found


async def _judged(model: LocalModel, half: Sequence[Outcome]) -> list[list[Judgement]]:
    outputs = [(one.task, one.draft) for one in half[: _JUDGED // 2]]
    some = outputs[: _JUDGED_WARM // 2]
    cold = [await judgements(model, outputs) for _ in range(2)]
    return [*cold, *[await judgements(model, some, seed=seed) for seed in (1, 2)]]


def _rounds(rounds: Sequence[Sequence[Sequence[Judgement]]], first: int, kept: Sequence[float]) -> Consistency:
    one, other = ([found for half in rounds for found in half[at]] for at in (first, first + 1))
    return consistency(one, other, kept)


def _say(began: float, what: str) -> None:
    print(f"{time.perf_counter() - began:4.0f} s  {what}", file=sys.stderr)


def _plain(results: dict[str, Any]) -> dict[str, Any]:
    outcomes: list[Outcome] = results["outcomes"]
    calls: dict[str, dict[str, Cost]] = results["calls"]
    return {
        "outcomes": [_outcome(one) for one in outcomes],
        "kinds": Counter(one.kind for one in outcomes),
        "perfect drafts": sum(one.draft_score >= PERFECT for one in outcomes),
        "judge": {name: asdict(found) for name, found in results["judge"].items()},
        "calls": {where: {how: asdict(cost) for how, cost in found.items()} for where, found in calls.items()},
    }


def _outcome(one: Outcome) -> dict[str, Any]:
    loops = {"loop": one.loop, "open end": one.open_end, **one.variants}
    return {
        "kind": one.kind,
        "prompt": one.task.prompt,
        "draft": one.draft,
        "draft tokens": one.draft_tokens,
        **{name: asdict(loop) if loop else None for name, loop in loops.items()},
        "draws": [asdict(draw) for draw in one.draws],
    }


if __name__ == "__main__":
    main()
