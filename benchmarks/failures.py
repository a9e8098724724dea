"""Says what a lesson from an attempt that ran out of turns or raised is worth, beside a blind retry and a wrong lesson.

`python benchmarks/failures.py --help` lists the options; `docs/measured/failures.md` explains what is measured.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from failing_tasks import ARMS, Arm, FailingTask, Saying, attempts_at, failing_tasks, obedient_model
from report import machine, write_docs

from wisen import LocalModel
from wisen.protocols import Reflector
from wisen.records import AttemptRecord

_DOCS = Path(__file__).parents[1] / "docs" / "measured" / "failures.md"
_BEGIN = "<!-- figures: written by benchmarks/failures.py --write-docs -->"
_EACH = 12
_EACH_LOCAL = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One task under one arm."""

    model: str
    arm: str
    kind: str
    first: str
    """What became of the first attempt: "solved", "wrong", or why it failed."""
    second: str
    """The same of the second; "" where none was made."""


def main() -> None:
    """Measure and report."""
    asked = _arguments()
    began = time.perf_counter()
    tried = asyncio.run(_measured(asked.each, asked.local, began))
    given = (f" --each {asked.each}" * (asked.each != _EACH)) + (
        f" --local {asked.local}" * (asked.local != _EACH_LOCAL)
    )
    text = _markdown(tried, f"python benchmarks/failures.py{given}", time.perf_counter() - began)
    print(text)
    if asked.json:
        Path(asked.json).write_text(json.dumps([asdict(one) for one in tried], indent=1), encoding="utf-8")
    if asked.write_docs:
        write_docs(_DOCS, text, begin=_BEGIN)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=_EACH, metavar="N", help="tasks of each kind (%(default)s)")
    parser.add_argument(
        "--local",
        type=int,
        default=_EACH_LOCAL,
        metavar="N",
        help="the same for the bundled model; 0 for none (%(default)s)",
    )
    parser.add_argument("--json", metavar="FILE", help="write what became of each attempt there too")
    parser.add_argument("--write-docs", action="store_true", help=f"put the tables into {_DOCS.name}")
    return parser.parse_args()


async def _measured(each: int, each_local: int, began: float) -> list[Tried]:
    tried = [await _tried("scripted", one, arm, obedient_model(one)) for arm in ARMS for one in failing_tasks(each)]
    if not each_local:
        return tried
    model = LocalModel(context=4096)
    arms: Sequence[tuple[Arm, str, Callable[[FailingTask], Reflector | None]]] = (
        ("lesson", "own lesson", lambda _: None),
        ("lesson", "given the right lesson", lambda one: Saying(one.kind.lesson)),
        ("blind retry", "blind retry", lambda _: None),
        ("wrong lesson", "wrong lesson", lambda _: None),
    )
    for arm, name, reflector in arms:
        for one in failing_tasks(each_local):
            tried.append(await _tried("bundled", one, arm, model, name=name, reflector=reflector(one)))
            print(f"{time.perf_counter() - began:5.0f} s  {name}, {one.task.id}: {tried[-1].first}", file=sys.stderr)
    return tried


async def _tried(
    model_name: str, one: FailingTask, arm: Arm, model: Any, *, name: str = "", reflector: Reflector | None = None
) -> Tried:
    attempts = await attempts_at(one, arm, model, reflector)
    first, second = (*map(_came_to, attempts), "", "")[:2]
    return Tried(model=model_name, arm=name or arm, kind=one.kind.name, first=first, second=second)


def _came_to(attempt: AttemptRecord) -> str:
    score = attempt.evaluation.overall_score if attempt.evaluation else None
    return "solved" if score == 1.0 else attempt.failure or "wrong"


def _markdown(tried: Sequence[Tried], command: str, seconds: float) -> str:
    setting = machine()
    models = {name: [one for one in tried if one.model == name] for name in dict.fromkeys(one.model for one in tried)}
    counts = ", ".join(f"{len(found)} runs of the {name} model" for name, found in models.items())
    said = (
        f"{setting['processor']}, {setting['cores']} cores, {setting['system']}, Python {setting['python']}. "
        f"{counts}. Command: `{command}`, {seconds / 60:.0f} minutes."
    )
    return f"{said}\n\n{_table(models)}"


def _table(models: Mapping[str, Sequence[Tried]]) -> str:
    rows = [
        "| model | second attempt with | runs | first one failed | first one wrong | second one solves |",
        "|---|---|---|---|---|---|",
    ]
    for model, arm in dict.fromkeys((one.model, one.arm) for tried in models.values() for one in tried):
        found = [one for one in models[model] if one.arm == arm]
        failed = [one for one in found if one.first not in ("solved", "wrong")]
        retried = [one for one in found if one.second]
        solved = sum(one.second == "solved" for one in retried)
        rows.append(
            f"| {model} | {arm} | {len(found)} | {len(failed)} | {sum(one.first == 'wrong' for one in found)} "
            f"| {solved} of {len(retried)} |"
        )
    return "\n".join(rows)


if __name__ == "__main__":
    main()
