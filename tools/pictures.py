"""Draws the pictures of the documentation into `docs/pictures/`: one function for each, and the same bytes each time.

Run it as `make drawings`. What the pictures show comes from the package: names of statuses, the trial's rule, and the
statistics that decide on real runs. They follow the reader's colour scheme.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import log10
from pathlib import Path
from random import Random

from wisen.cards import MemoryStatus
from wisen.experiments.charts import COLOURS, Axes, Series, chart, figure, label
from wisen.memory_ci.statistics import trial_e_value
from wisen.memory_ci.trial import DEFAULT_TRIAL_RULE, began, counted, propensity
from wisen.memory_ci.verdicts import TrialVerdict, bar, verdict
from wisen.trial_records import OpenDraw, Trial

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
SEED = 155
"""Its trials end after about as many runs as the median trial of their kind."""
RUNS = 200
IDEAS = (
    ("+30 points: 35 % to 65 %", 2, 0.35, 0.65),
    ("useless: 35 % with it and without", 0, 0.35, 0.35),
    ("harmful: 35 % to 15 %", 1, 0.35, 0.15),
)
"""What the simulated ideas do: a name, the look of its line, the rate of good runs without the idea, and with it."""
_LEFT, _WIDE, _STEP = 12, 124, 152
"""Of the boxes on a lesson's path: the first one's place, their width, and how far apart they begin."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One run of a simulated trial, and what the trial says after it."""

    run: int
    shown: bool
    certain: bool
    """Whether the run was one of the first, which nothing is held out from."""
    good: bool
    e_value: float
    said: TrialVerdict


def main() -> None:
    """Write every picture."""
    FOLDER.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        (FOLDER / name).write_text(draw(), encoding="utf-8")


def simulated(without_it: float, with_it: float, chance: Random) -> Iterator[Step]:
    """A trial of one idea alone with all defaults, until its verdict."""
    rule, trial = DEFAULT_TRIAL_RULE, Trial()
    for run in range(1, RUNS + 1):
        share = propensity(trial, rule)
        if share < 1.0 and not trial.number:
            trial = began(trial, 1)
        shown = chance.random() < share
        good = chance.random() < (with_it if shown else without_it)
        trial = counted(trial, OpenDraw(shown=shown, propensity=share), good)
        said = verdict(trial, rule, at=bar(trial.number, 0, rule))
        value = trial_e_value(trial.counts)
        yield Step(run=run, shown=shown, certain=share == 1.0, good=good, e_value=value, said=said)
        if said != "undecided":
            return


def trials() -> list[tuple[str, int, list[Step]]]:
    """The simulated trials: name, look and steps of each idea."""
    return [
        (name, look, list(simulated(without_it, with_it, Random(f"{SEED} {name}"))))
        for name, look, without_it, with_it in IDEAS
    ]


def lesson_path() -> str:
    """The way of a lesson from the attempt that taught it to every prompt, with the gates where it may end."""
    rule = DEFAULT_TRIAL_RULE
    status = {one.name: one.value for one in MemoryStatus}
    across = [
        ("attempt", "a run fails", "or passes a check"),
        (status["CANDIDATE"], "the lesson", "as written"),
        (status["QUARANTINED"], "serves its own run;", "waits for a place"),
        ("on trial", f"{rule.first_shown} runs see it, then", f"{rule.holdout:.0%} go without"),
        (status["PROMOTED"], "shown; 1 run in", f"{1 / rule.recheck:.0f} goes without"),
    ]
    gates = ["reflect", "screen", f"{rule.at_once} at once", f"e ≥ {rule.promote_at:.0f}"]
    below = [
        (1, status["REJECTED"], "an order, or", "no lesson", "no"),
        (2, "held", "tainted, new sink:", "a person decides", "tainted"),
        (3, "benched", "no difference,", "or harm", f"e ≤ 1/{rule.no_difference_at:.0f}"),
        (4, status["ARCHIVED"], "it hurts, or its", "recheck failed", f"e ≥ {rule.archive_at:.0f}"),
    ]
    drawn: list[str] = []
    for at, (head, *lines) in enumerate(across):
        left = _LEFT + _STEP * at
        drawn += _box(left, 30, head, lines)
        if at:
            drawn += [_arrow(left + _WIDE - _STEP, 65, left - 2, 65)]
            drawn += [label(left + (_WIDE - _STEP) / 2, 20, gates[at - 1], anchor="middle")]
    for at, head, first, second, why in below:
        middle = _LEFT + _STEP * at + _WIDE / 2
        drawn += _box(middle - _WIDE / 2, 165, head, (first, second))
        drawn += [_arrow(middle, 102, middle, 163), label(middle + 8, 138, why)]
    return _picture(
        (2 * _LEFT + 4 * _STEP + _WIDE, 245),
        "The path of a lesson",
        "From an attempt a lesson becomes a candidate, is screened into quarantine, goes on trial, and is promoted. It "
        "may end as rejected, held, benched or archived.",
        drawn,
    )


def trial_evidence() -> str:
    """The e-value of three ideas over their runs, on a logarithmic scale, up to each one's verdict."""
    rule, told = DEFAULT_TRIAL_RULE, trials()
    longest = -(-max(len(steps) for *_, steps in told) // 20) * 20
    ends = ((rule.promote_at, f"{rule.promote_at:.0f}"), (1.0, "1"), (1 / rule.no_difference_at, "1/20"))
    axes = Axes(
        width=470,
        height=250,
        x=(0, longest),
        y=(-2, 2),  # from 1/100 to 100
        x_labels=[(run, str(run)) for run in range(0, longest + 1, 20)],
        y_labels=[(log10(value), shown) for value, shown in ends],
        marks=[(log10(value), "") for value, _ in ends],
    )
    lines = [
        Series(name=name, points=[(one.run, log10(one.e_value)) for one in steps], look=look)
        for name, look, steps in told
    ]
    drawn = [chart(axes, lines), label(-6, -14, "e-value", anchor="end"), label(470, 284, "runs", anchor="end")]
    for name, look, steps in told:
        x, y = map(float, axes.at((steps[-1].run, log10(steps[-1].e_value))).split(","))
        drawn += [f'<circle class="dot-{look + 1}" cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{COLOURS[look]}"/>']
        down = 18 if steps[-1].e_value < 1.0 else -24
        drawn += [label(x + 8, y + down, name, look=look)]
        drawn += [label(x + 8, y + down + 15, f"{steps[-1].said}, run {steps[-1].run}", look=look)]
    return _picture(
        (700, 350),
        "Three trials and their e-values",
        "; ".join(f"{name}: {steps[-1].said} after run {steps[-1].run}" for name, _, steps in told)
        + f". Simulated with seed {SEED}; the trial's own rule decides.",
        ['<g transform="translate(60 40)">', *drawn, "</g>"],
    )


def hold_out_arms() -> str:
    """Each run of one trial: who saw the idea, who was held out, and which runs were good."""
    name, look, steps = trials()[0]
    arms = (
        ("first", [one for one in steps if one.certain], "shown for certain: no evidence"),
        ("shown", [one for one in steps if one.shown and not one.certain], "the coin showed it"),
        ("held out", [one for one in steps if not one.shown], "the coin held it out"),
    )
    left, cell = 76, max(6, 640 // len(steps))
    filled, empty = f'class="dot-{look + 1}" fill="{COLOURS[look]}"', 'class="axis" fill="none" stroke="#666"'
    drawn = [label(20, 24, f"{name}, {len(steps)} runs in order; filled: the first attempt was good")]
    for row, (arm, those, why) in enumerate(arms):
        y = 48 + 62 * row
        good = sum(one.good for one in those)
        drawn += [_ink(left - 12, y + 16, arm, "end")]
        for one in those:
            x = left + cell * (one.run - 1)
            kind = filled if one.good else empty
            drawn += [f'<rect {kind} x="{x + 0.5:.1f}" y="{y + 0.5:.1f}" width="{cell - 2}" height="21"/>']
        drawn += [label(left, y + 39, f"{why}; good in {good} of {len(those)}")]
    last = steps[-1]
    drawn += [_ink(left, 252, f"After run {last.run}: e = {last.e_value:.1f}, {last.said}")]
    return _picture(
        (left + cell * len(steps) + 30, 270),
        "The two arms of a trial",
        "; ".join(f"{arm}: good in {sum(one.good for one in those)} of {len(those)} runs" for arm, those, _ in arms)
        + f". Simulated with seed {SEED}.",
        drawn,
    )


def _picture(size: tuple[int, int], title: str, described: str, drawn: Sequence[str]) -> str:
    return figure("\n".join((*drawn, "")), size=size, title=title, described=described, background=True)


def _box(x: float, y: float, head: str, lines: Sequence[str]) -> list[str]:
    middle = x + _WIDE / 2
    drawn = [
        f'<rect class="axis" x="{x:.0f}" y="{y:.0f}" width="{_WIDE}" height="72" rx="6" fill="none" stroke="#666"/>'
    ]
    drawn += [_ink(middle, y + 24, head, "middle", weight="bold")]
    return drawn + [label(middle, y + 43 + 16 * at, one, anchor="middle") for at, one in enumerate(lines)]


def _arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    head = "m-7 -4l7 4l-7 4" if y == to_y else "m-4 -7l4 7l4 -7"
    return f'<path class="axis" d="M{x:.0f} {y:.0f}L{to_x:.0f} {to_y:.0f}{head}" fill="none" stroke="#666"/>'


def _ink(x: float, y: float, text: str, anchor: str = "start", *, weight: str = "normal") -> str:
    """A text that isn't beside something else."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}">{escape(text)}</text>'


PICTURES: dict[str, Callable[[], str]] = {
    "lesson-path.svg": lesson_path,
    "trial-evidence.svg": trial_evidence,
    "hold-out-arms.svg": hold_out_arms,
}

if __name__ == "__main__":
    main()
