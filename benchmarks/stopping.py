"""Tries `wisen.reflection_pattern.convergence` on sequences of scores.

What counts is how many attempts it spares, and how many solved tasks that costs.

`python benchmarks/stopping.py --help` lists the options; `docs/measured/stopping.md` explains what is measured.
"""

import argparse
import itertools
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from report import machine, write_docs
from sequences import FAMILIES, Run, recorded, simulated

from wisen.reflection_pattern.convergence import ConvergenceOptions, converged, pass_fail

_ROOT = Path(__file__).parents[1]
_DOCS = _ROOT / "docs" / "measured" / "stopping.md"
_BEGIN = "<!-- figures: written by benchmarks/stopping.py --write-docs -->"
_KEEP = 0.95
_SMALL_GAIN = 0.05
_EACH = 1000
_NEVER = 99
_OF_SHORT_LOOPS = 2
"""The default for loops of up to four versions, tried on longer ones."""


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What a rule did to some runs."""

    runs: int
    attempts: int
    fixed: int
    """Attempts of the same loop without the rule: until the threshold is reached, or the budget used up."""
    budgets: int
    """Attempts if each run used its whole budget."""
    solved: int
    """Runs whose fixed loop returns a right version."""
    kept: int
    """Those of them that also return a right version under the rule."""
    unknown: int
    """Those of them of which the recording doesn't tell."""
    early: int
    late: int

    @property
    def kept_share(self) -> float:
        """The share of solved tasks that surely stay solved."""
        return self.kept / self.solved if self.solved else 1.0

    @property
    def spared(self) -> float:
        """The share of the fixed loop's attempts that the rule doesn't make."""
        return 1 - self.attempts / self.fixed

    @property
    def appropriate(self) -> float:
        """The share of runs that ended neither early nor late."""
        return 1 - (self.early + self.late) / self.runs


def main() -> None:
    """Measure and report."""
    asked = _arguments()
    began = time.perf_counter()
    runs = [*recorded(asked.data), *simulated(asked.each)]
    if len(runs) == asked.each * len(FAMILIES):
        print(f"no recorded runs in {asked.data}: simulated ones only", file=sys.stderr)
    groups = _groups([run for run in runs if not run.tuning])
    tables = [
        _setting(runs, asked.each),
        _by_group(groups),
        _other_values(_groups([run for run in runs if run.tuning])),
    ]
    text = "\n\n".join(tables)
    print(text)
    print(f"\n{time.perf_counter() - began:.0f} s", file=sys.stderr)
    if asked.json:
        found = {name: asdict(measure(group, ConvergenceOptions())) for name, group in groups.items()}
        Path(asked.json).write_text(json.dumps(found, indent=1), encoding="utf-8")
    if asked.write_docs:
        write_docs(_DOCS, text, begin=_BEGIN)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", type=Path, default=_ROOT.parent / "shared" / "data", help="folder of the recorded runs (%(default)s)"
    )
    parser.add_argument(
        "--each", type=int, default=_EACH, metavar="N", help="simulated runs of each family (%(default)s)"
    )
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    parser.add_argument("--write-docs", action="store_true", help=f"put the tables into {_DOCS.name}")
    return parser.parse_args()


def _groups(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """By source, and all recorded and all simulated ones together."""
    groups = {source: [run for run in runs if run.source == source] for source in dict.fromkeys(r.source for r in runs)}
    made_up = [run for run in runs if run.source in FAMILIES]
    groups["all recorded"] = [run for run in runs if run.source not in FAMILIES]
    groups["all simulated"] = made_up
    groups["all but late bloomers"] = [run for run in made_up if run.source != "late bloomer"]
    return groups


def attempts(run: Run, options: ConvergenceOptions) -> int:
    """After how many attempts the rule, the threshold or the end of the budget stops the loop."""
    for made in range(1, len(run.scores)):
        outputs, issues = run.outputs[:made], run.issues[:made]
        if converged(run.scores[:made], outputs, issues, options, threshold=run.threshold, budget=run.budget):
            return made
    return len(run.scores)


def _until_met(run: Run) -> int:
    met = (made for made, score in enumerate(run.scores, 1) if score is not None and score >= run.threshold)
    return next(met, len(run.scores))


def _right(run: Run, made: int) -> bool | None:
    """Whether the version with the highest score among the first `made` is right; of equals, the first counts."""
    if None in run.right:  # such recordings returned, and judged, the last version
        return run.right[-1] if made == len(run.right) else None
    scores = [-1.0 if score is None else score for score in run.scores[:made]]
    return run.right[scores.index(max(scores))]


def _judged(run: Run, made: int, options: ConvergenceOptions) -> str:
    """Early: the fixed budget still held a gain. Late: more than the rule's N iterations were made with none left.

    A score that reached the threshold is taken at its word as long as the quality is at most a small gain below.
    """
    quality = run.quality or tuple(score or 0.0 for score in run.scores)
    known = [score for score in run.scores if score is not None]
    patience = max(options.patience(run.budget), options.pass_fail_iterations if pass_fail(known[:made]) else 0)
    done = [
        max(quality[:count]) >= run.threshold or max(quality) - max(quality[:count]) < _SMALL_GAIN
        for count in range(1, len(quality) + 1)
    ]
    if not done[made - 1]:
        score = run.scores[made - 1]
        near = quality[made - 1] >= run.threshold - _SMALL_GAIN
        return "" if near and score is not None and score >= run.threshold else "early"
    return "late" if made > done.index(True) + 1 + patience else ""


def measure(runs: Sequence[Run], options: ConvergenceOptions) -> Figures:
    """Let the rule end these runs."""
    made = [attempts(run, options) for run in runs]
    fixed = [_until_met(run) for run in runs]
    solved = [_right(run, count) is True for run, count in zip(runs, fixed, strict=True)]
    now = [_right(run, count) for run, count in zip(runs, made, strict=True)]
    judged = Counter(_judged(run, count, options) for run, count in zip(runs, made, strict=True))
    return Figures(
        runs=len(runs),
        attempts=sum(made),
        fixed=sum(fixed),
        budgets=sum(run.budget for run in runs),
        solved=sum(solved),
        kept=sum(before and after is True for before, after in zip(solved, now, strict=True)),
        unknown=sum(before and after is None for before, after in zip(solved, now, strict=True)),
        early=judged["early"],
        late=judged["late"],
    )


def _setting(runs: Sequence[Run], each: int) -> str:
    machinery = machine()
    made_up = sum(run.source in FAMILIES for run in runs)
    command = "python benchmarks/stopping.py" + (f" --each {each}" if each != _EACH else "")
    return (
        f"{machinery['processor']}, {machinery['cores']} cores, {machinery['system']}, Python {machinery['python']}. "
        f"{len(runs) - made_up:,} recorded and {made_up:,} simulated runs; half of the tasks of each source are "
        f"reported, the others were used to choose the defaults. Command: `{command}`."
    )


def _by_group(groups: dict[str, list[Run]]) -> str:
    default = ConvergenceOptions()
    impatient = replace(default, plateau_iterations=_OF_SHORT_LOOPS)
    rows: list[list[str]] = []
    for name, runs in groups.items():
        if not runs:
            continue
        found = measure(runs, default)
        tried = (measure(runs, rule) for rule in _rules())
        best = min((one for one in tried if one.kept_share >= _KEEP), key=lambda one: one.attempts)
        rows.append(
            [
                name,
                _kept(found),
                f"{found.fixed:,} → {found.attempts:,}",
                f"{found.spared:.0%}",
                f"{found.appropriate:.0%}",
                _brief(measure(runs, impatient)),
                f"{best.spared:.0%}",
            ]
        )
    head = f"runs|stay solved|attempts|saved|appropriate|N = {_OF_SHORT_LOOPS}: stay solved, saved|best rule: saved"
    return _table(head.split("|"), rows)


def _kept(found: Figures) -> str:
    if not found.solved:
        return "none to lose"
    unknown = f" (+{found.unknown} not recorded)" if found.unknown else ""
    return f"{found.kept}/{found.solved} = {found.kept_share:.1%}{unknown}"


def _rules() -> Iterable[ConvergenceOptions]:
    for patience, tries, least, swings in itertools.product(
        (*range(1, 10), _NEVER, None), (1, 4, 6), (0.0, 0.05, 0.1), (True, False)
    ):
        yield ConvergenceOptions(
            plateau_iterations=patience,
            pass_fail_iterations=tries,
            improvement_threshold=least,
            detect_oscillation=swings,
        )


def _other_values(groups: dict[str, list[Run]]) -> str:
    graded = ("plateau", "noisy evaluator", "late bloomer", "all but late bloomers")
    coarse = ("ALFWorld, reflection", "HumanEval", "MBPP", "pass or fail")
    default = ConvergenceOptions()
    alone = replace(default, plateau_iterations=1)
    settings: tuple[tuple[str, tuple[str, ...], Callable[[int], ConvergenceOptions], Sequence[int]], ...] = (
        ("plateau_iterations", graded, lambda count: replace(default, plateau_iterations=count), (2, 4, 6)),
        ("pass_fail_iterations", coarse, lambda count: replace(alone, pass_fail_iterations=count), (2, 4, 6)),
    )
    parts = ["**Other values, on the half that the defaults were chosen on: stay solved, saved**"]
    for option, names, build, values in settings:
        shown = [name for name in names if groups.get(name)]
        tried = [(str(value), build(value)) for value in values]
        rows = [[value, *(_brief(measure(groups[name], rule)) for name in shown)] for value, rule in tried]
        parts.append(_table([f"`{option}`", *shown], rows))
    return "\n\n".join(parts)


def _brief(found: Figures) -> str:
    kept = f"{found.kept_share:.0%}" if found.solved else "none"
    return f"{kept}, {found.spared:.0%}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    main()
