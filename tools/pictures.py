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
from wisen.memory_ci.statistics import trial_e_value
from wisen.memory_ci.trial import DEFAULT_TRIAL_RULE, began, counted, propensity
from wisen.memory_ci.verdicts import TrialVerdict, bar, verdict
from wisen.trial_records import OpenDraw, Trial

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
SEED = 9
"""Its trials end after about as many runs as the median trial of their kind."""
RUNS = 200
IDEAS = (
    ("+30 points: 35 % to 65 %", "good", 0.35, 0.65),
    ("useless: 35 % with it and without", "plain", 0.35, 0.35),
    ("harmful: 35 % to 15 %", "bad", 0.35, 0.15),
)
"""What the simulated ideas do: a name, the colour's class, the rate of good runs without the idea, and with it."""
_LEFT, _WIDE, _STEP = 12, 124, 152
"""Of the boxes on a lesson's path: the first one's place, their width, and how far apart they begin."""
_STYLE = """<style>
svg { --paper: #ffffff; --ink: #24292f; --faint: #6e7781; --good: #0a6e4f; --bad: #b3400f; --fill: #eef2f6; }
@media (prefers-color-scheme: dark) {
svg { --paper: #1e2129; --ink: #e6e8eb; --faint: #9aa4af; --good: #56cfa4; --bad: #ff9d66; --fill: #2c313c; }
}
.paper { fill: var(--paper); } text { fill: var(--ink); } .small { font-size: 12px; }
.faint { stroke: var(--faint); fill: none; } text.faint { fill: var(--faint); stroke: none; }
.arrow { stroke: var(--faint); fill: var(--faint); }
.box { fill: var(--fill); stroke: var(--faint); }
.good { stroke: var(--good); } .bad { stroke: var(--bad); } .plain { stroke: var(--ink); }
text.good, circle.good, rect.good { fill: var(--good); stroke: none; }
text.bad, circle.bad, rect.bad { fill: var(--bad); stroke: none; }
text.plain, circle.plain { fill: var(--ink); stroke: none; }
rect.failed { fill: none; stroke: var(--faint); }
</style>"""


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


def trials() -> list[tuple[str, str, list[Step]]]:
    """The simulated trials: name, colour and steps of each idea."""
    return [
        (name, colour, list(simulated(without_it, with_it, Random(f"{SEED} {name}"))))
        for name, colour, without_it, with_it in IDEAS
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
            drawn += [_text(left + (_WIDE - _STEP) / 2, 20, gates[at - 1], "middle")]
    for at, head, first, second, why in below:
        middle = _LEFT + _STEP * at + _WIDE / 2
        drawn += _box(middle - _WIDE / 2, 165, head, (first, second))
        drawn += [_arrow(middle, 102, middle, 163), _text(middle + 8, 138, why)]
    return _svg(
        (2 * _LEFT + 4 * _STEP + _WIDE, 245),
        "The path of a lesson",
        "From an attempt a lesson becomes a candidate, is screened into quarantine, goes on trial, and is promoted. It "
        "may end as rejected, held, benched or archived.",
        drawn,
    )


def trial_evidence() -> str:
    """The e-value of three ideas over their runs, on a logarithmic scale, up to each one's verdict."""
    rule, (left, top, wide, high) = DEFAULT_TRIAL_RULE, (60, 40, 470, 250)
    told = trials()
    longest = -(-max(len(steps) for *_, steps in told) // 20) * 20

    def place(run: float, e_value: float) -> tuple[float, float]:
        share = (log10(e_value) + 2) / 4  # from 1/100 to 100
        return left + wide * run / longest, top + high * (1 - min(max(share, 0.0), 1.0))

    drawn = [f'<path class="faint" d="M{left} {top}V{top + high}H{left + wide}"/>']
    limits = ((rule.promote_at, f"{rule.promote_at:.0f}"), (1.0, "1"), (1 / rule.no_difference_at, "1/20"))
    for value, label in limits:
        x, y = place(0, value)
        drawn += [f'<path class="faint" stroke-dasharray="4 4" d="M{x:.0f} {y:.1f}H{left + wide}"/>']
        drawn += [_text(x - 8, y + 4, label, "end")]
    drawn += [_text(left - 8, top - 16, "e-value", "end"), _text(left + wide, top + high + 34, "runs", "end")]
    drawn += [_text(place(run, 1)[0], top + high + 18, str(run), "middle") for run in range(0, longest + 1, 20)]
    for name, colour, steps in told:
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(one.run, one.e_value) for one in steps))
        x, y = place(steps[-1].run, steps[-1].e_value)
        drawn += [f'<polyline class="{colour}" fill="none" stroke-width="2" points="{points}"/>']
        drawn += [f'<circle class="{colour}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>']
        down = 18 if y > top + high / 2 else -24
        drawn += [_text(x + 8, y + down, name, kind=colour)]
        drawn += [_text(x + 8, y + down + 15, f"{steps[-1].said}, run {steps[-1].run}", kind=colour)]
    return _svg(
        (700, 350),
        "Three trials and their e-values",
        "; ".join(f"{name}: {steps[-1].said} after run {steps[-1].run}" for name, _, steps in told)
        + f". Simulated with seed {SEED}; the trial's own rule decides.",
        drawn,
    )


def hold_out_arms() -> str:
    """Each run of one trial: who saw the idea, who was held out, and which runs were good."""
    name, _, steps = trials()[0]
    arms = (
        ("first", [one for one in steps if one.certain], "shown for certain: no evidence"),
        ("shown", [one for one in steps if one.shown and not one.certain], "the coin showed it"),
        ("held out", [one for one in steps if not one.shown], "the coin held it out"),
    )
    left, cell = 76, max(6, 640 // len(steps))
    drawn = [_text(20, 24, f"{name}, {len(steps)} runs in order; filled: the first attempt was good")]
    for row, (arm, those, why) in enumerate(arms):
        y = 48 + 62 * row
        good = sum(one.good for one in those)
        drawn += [_text(left - 12, y + 16, arm, "end", kind="plain")]
        for one in those:
            kind = "good" if one.good else "failed"
            x = left + cell * (one.run - 1)
            drawn += [f'<rect class="{kind}" x="{x + 0.5:.1f}" y="{y + 0.5:.1f}" width="{cell - 2}" height="21"/>']
        drawn += [_text(left, y + 39, f"{why}; good in {good} of {len(those)}", kind="faint")]
    last = steps[-1]
    drawn += [_text(left, 252, f"After run {last.run}: e = {last.e_value:.1f}, {last.said}", kind="plain")]
    return _svg(
        (left + cell * len(steps) + 30, 270),
        "The two arms of a trial",
        "; ".join(f"{arm}: good in {sum(one.good for one in those)} of {len(those)} runs" for arm, those, _ in arms)
        + f". Simulated with seed {SEED}.",
        drawn,
    )


def _svg(size: tuple[int, int], title: str, about: str, drawn: Sequence[str]) -> str:
    width, height = size
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'aria-labelledby="title about" font-family="system-ui, sans-serif" font-size="14">'
    )
    told = [f'<title id="title">{escape(title)}</title>', f'<desc id="about">{escape(about)}</desc>']
    paper = f'<rect class="paper" width="{width}" height="{height}"/>'
    return "\n".join((head, *told, _STYLE, paper, *drawn, "</svg>")) + "\n"


def _box(x: float, y: float, head: str, lines: Sequence[str]) -> list[str]:
    middle, bold = x + _WIDE / 2, 'text-anchor="middle" font-weight="bold"'
    drawn = [f'<rect class="box" x="{x:.0f}" y="{y:.0f}" width="{_WIDE}" height="72" rx="6"/>']
    drawn += [f'<text x="{middle:.0f}" y="{y + 24:.0f}" {bold}>{escape(head)}</text>']
    return drawn + [_text(middle, y + 43 + 16 * at, one, "middle") for at, one in enumerate(lines)]


def _arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    head = "l-7 -4v8z" if y == to_y else "l-4 -7h8z"
    return f'<path class="arrow" d="M{x:.0f} {y:.0f}L{to_x:.0f} {to_y:.0f}M{to_x:.0f} {to_y:.0f}{head}"/>'


def _text(x: float, y: float, text: str, anchor: str = "start", *, kind: str = "") -> str:
    classes = f"small {kind}".strip()
    return f'<text class="{classes}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


PICTURES: dict[str, Callable[[], str]] = {
    "lesson-path.svg": lesson_path,
    "trial-evidence.svg": trial_evidence,
    "hold-out-arms.svg": hold_out_arms,
}

if __name__ == "__main__":
    main()
