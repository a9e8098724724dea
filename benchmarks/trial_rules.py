"""What the rules of a live trial are worth: simulated runs, decided by the functions that decide on real ones.

Prints Markdown tables. `--trials` sets how many ideas or stores each row rests on, `--runs` how many runs a store has.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from statistics import mean, median

import trial_at_once
from trial_store import World, lived
from trial_streams import BASELINES, Run, baseline, drifting, steady

from wisen.advice.rank import estimated_effect
from wisen.memory_ci.trial import DEFAULT_TRIAL_RULE, TrialRule, began, counted, decided, propensity
from wisen.memory_ci.verdicts import bar, verdict
from wisen.trial_records import OpenDraw, Trial

_LONGEST = 1_000
_PATIENCE = 300
_SITUATIONS = 12
_QUIET = 500
"""Good runs of a promoted idea before it turns."""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """What became of one idea that is alone in its store."""

    verdict: str
    runs: int
    """Until the verdict, first deliveries too."""
    missed: float
    """Good runs that holding it out has cost until then; negative of an idea that hurts."""


def alone(stream: Iterator[Run], rule: TrialRule, chance: Random) -> Ended:
    """Try one idea until its verdict, or to the end of the stream."""
    trial, runs, missed = Trial(), 0, 0.0
    for runs, run in enumerate(stream, 1):
        share = propensity(trial, rule)
        if share < 1.0 and not trial.number:
            trial = began(trial, 1)
        shown = chance.random() < share
        missed += (run.with_it - run.without_it) * (not shown)
        good = run.with_it if shown else run.without_it
        trial = counted(trial, OpenDraw(shown=shown, propensity=share), None if run.unknown else good)
        said = verdict(trial, rule, at=bar(trial.number, 0, rule))
        if said != "undecided":
            return Ended(verdict=said, runs=runs, missed=missed)
    return Ended(verdict="undecided", runs=runs, missed=missed)


def ideas_alone(trials: int, seed: int) -> str:
    """How one idea fares with all defaults."""
    rows: list[list[str]] = []
    for name, stream in _KINDS.items():
        chance = Random(f"{seed} {name}")
        ended = [alone(stream(chance, _LONGEST), DEFAULT_TRIAL_RULE, chance) for _ in range(trials)]
        helped = sum(one.verdict == "helps" and one.runs <= _PATIENCE for one in ended)
        ever = sum(one.verdict == "helps" for one in ended)
        runs = f"{median(one.runs for one in ended):.0f}"
        rows.append([name, runs, *(_percent(one, trials) for one in (helped, ever))])
    return table(["one idea alone", "median runs", f"helps within {_PATIENCE}", "helps"], rows)


def holdouts_alone(trials: int, seed: int) -> str:
    """What the hold-out costs one idea, and what it buys."""
    rows: list[list[str]] = []
    for holdout in (0.5, 0.4, 0.2, 0.1):
        rule, row = TrialRule(holdout=holdout), [f"{holdout:g}"]
        for rates in ((0.35, 0.65), (0.35, 0.55)):
            chance = Random(f"{seed} {rates}")
            ended = [alone(steady(*rates)(chance, _LONGEST), rule, chance) for _ in range(trials)]
            row += [f"{median(one.runs for one in ended):.0f}", f"{mean(one.missed for one in ended):.0f}"]
        rows.append(row)
    head = [f"{lift}: {what}" for lift in ("+30", "+20") for what in ("median runs", "good runs lost")]
    return table(["hold-out", *head], rows)


def stores(trials: int, runs: int, seed: int) -> str:
    """How a store with 12 situations fares, by rule and by what the reflector writes."""
    world = World()
    rows = [
        ("all defaults", DEFAULT_TRIAL_RULE, world),
        ("200 useless lessons, not 20", DEFAULT_TRIAL_RULE, World(pool=200)),
        *((f"hold-out {share:g}", TrialRule(holdout=share), world) for share in (0.5, 0.1)),
        ("1 at once", TrialRule(at_once=1), world),
        ("3 at once", TrialRule(at_once=3), world),
        ("2 at once, also wordings of one idea", DEFAULT_TRIAL_RULE, World(side_by_side=True)),
        ("order: first come", DEFAULT_TRIAL_RULE, World(order="first")),
        ("order: newest", DEFAULT_TRIAL_RULE, World(order="newest")),
        ("each idea at e = 20", TrialRule(false_discoveries=1.0), World(alike=True)),
        ("a fifth of the runs without a score", DEFAULT_TRIAL_RULE, World(unknown=0.2)),
        ("no useful idea at all", DEFAULT_TRIAL_RULE, World(right=0.0)),
        ("nothing held out, nothing decided", TrialRule(holdout=0.0), world),
    ]
    told, harmful = list[list[str]](), 0
    for name, rule, kind in rows:
        lives = [lived(kind, rule, runs, Random(f"{seed} {number}")) for number in range(trials)]
        when = [run for one in lives for run in one.promoted_after]
        harmful += sum(one.harmful for one in lives)
        told.append(
            [
                name,
                f"{mean(one.useful for one in lives):.1f}",
                f"{median(when):.0f}" if when else "",
                f"{mean(one.false / max(1, one.promoted) for one in lives):.1%}",
                f"{mean(one.good for one in lives):,.0f}",
            ]
        )
    head = ["useful ideas promoted, of 12", "median runs until then", "false among promoted", "good runs"]
    found = table([f"{_SITUATIONS} situations, {runs:,} runs", *head], told)
    return f"{found}\n\nHarmful ideas promoted, in all these stores: {harmful}."


def turning(trials: int, seed: int) -> str:
    """How soon a promoted idea that has come to hurt is archived, and how often one that hasn't."""
    rows: list[list[str]] = []
    for name, before, after in _TURNS:
        chance = Random(f"{seed} {name} {_QUIET}")
        found = [_turned(before, after, _QUIET, chance) for _ in range(trials)]
        late = [runs for runs in found if runs >= 0]
        row = [f"{median(late):.0f}" if late else "", _percent(sum(runs <= 200 for runs in late), len(late))]  # noqa: PLR2004 - asked for
        rows.append([name, *row])
    kept = [["an idea that stays", "archived within 1,000 runs", "rechecks"]]
    for lift in (0.3, 0.2):
        chance = Random(f"{seed} {lift}")
        ends = [_stays(0.35, 0.35 + lift, chance) for _ in range(trials)]
        kept.append(
            [f"+{100 * lift:.0f}", _percent(sum(end for end, _ in ends), trials), f"{mean(n for _, n in ends):.2f}"]
        )
    return table(["a promoted idea turns", "median runs", "within 200"], rows) + "\n\n" + table(kept[0], kept[1:])


def _promoted(rates: tuple[float, float], chance: Random) -> Trial:
    """An idea as its trial promoted it."""
    while True:
        trial, rule = began(Trial(), 1), DEFAULT_TRIAL_RULE
        while verdict(trial, rule, at=20.0) == "undecided":
            trial = _one_run(trial, rates, chance)
        if verdict(trial, rule, at=20.0) == "helps":
            return decided(trial, "helps")


def _one_run(trial: Trial, rates: tuple[float, float], chance: Random) -> Trial:
    share = propensity(trial)
    shown = chance.random() < share
    good = chance.random() < rates[shown]
    return counted(trial, OpenDraw(shown=shown, propensity=share), good)


def _turned(before: tuple[float, float], after: tuple[float, float], quiet: int, chance: Random) -> int:
    """Runs until it is archived since it turned; -1 where it was archived before."""
    trial = _promoted(before, chance)
    for runs in range(quiet + _LONGEST):
        trial = _one_run(trial, before if runs < quiet else after, chance)
        trial = decided(trial, verdict(trial))
        if trial.stage == "archived":
            return runs + 1 - quiet if runs >= quiet else -1
    return _LONGEST


def _stays(without_it: float, with_it: float, chance: Random) -> tuple[bool, int]:
    trial = _promoted((without_it, with_it), chance)
    for _ in range(_LONGEST):
        trial = _one_run(trial, (without_it, with_it), chance)
        trial = decided(trial, verdict(trial))
        if trial.stage == "archived":
            return True, trial.rechecks
    return False, trial.rechecks


def estimates(trials: int, seed: int) -> str:
    """Whether what trials leave behind tells ideas that help from others."""
    rows: list[list[str]] = []
    for scale in ("points", "log-odds"):
        chance, above, below = Random(f"{seed} {scale}"), list[float](), list[float]()
        for _ in range(trials):
            for lift in (-20, -10, 0, 0, 0, 10, 20, 30):
                (above if lift > 0 else below).append(_left_behind(_rates(lift, scale, chance), chance))
        pairs = [(one > other) + (one == other) / 2 for one in above for other in below[:: max(1, len(below) // 500)]]
        rows.append([scale, f"{mean(pairs):.3f}"])
    return table(["effects of -20 to +30 that add in", "AUC of `estimated_effect` for an effect above 0"], rows)


def _rates(lift: int, scale: str, chance: Random) -> tuple[float, float]:
    base = chance.uniform(0.25, 0.6)
    if scale == "points":
        return base, min(0.98, max(0.02, base + lift / 100))
    odds = base / (1 - base) * 2.718281828 ** (lift / 25)
    return base, odds / (1 + odds)


def _left_behind(rates: tuple[float, float], chance: Random) -> float:
    trial, rule = began(Trial(), 1), DEFAULT_TRIAL_RULE
    for _ in range(_PATIENCE):
        trial = _one_run(trial, rates, chance)
        trial = decided(trial, verdict(trial, rule, at=20.0))
        if trial.stage not in ("on trial", "recheck"):
            break
    return estimated_effect((*trial.before, *trial.counts))


def at_once(trials: int, seed: int) -> str:
    """What many runs at once cost a trial, and whether an idea wins by how long its runs take."""
    slow = [f"{what}, {how}: slow" for what in ("shown", "held out") for how in ("good", "not good")]
    head = ["runs at once", "+30: median runs", "useless: promoted", *slow]
    return table(head, trial_at_once.rows(trials, seed))


def others(trials: int, seed: int) -> str:
    """What other rules say of the same streams."""
    rows: list[list[str]] = []
    for name, stream in _KINDS.items():
        said: dict[str, list[str]] = {rule: [] for rule in ("wisen", *BASELINES)}
        for number in range(trials):
            runs = list(stream(Random(f"{seed} {name} {number}"), _PATIENCE))
            said["wisen"].append(alone(iter(runs), DEFAULT_TRIAL_RULE, Random(f"{seed} {number}")).verdict)
            for rule in BASELINES:
                said[rule].append(baseline(rule, runs))
        rows.append([name, *(_percent(found.count("helps"), trials) for found in said.values())])
    return table([f"promoted within {_PATIENCE} runs", "wisen", *BASELINES], rows)


_KINDS: dict[str, Callable[[Random, int], Iterator[Run]]] = {
    "+30: 35 % to 65 %": steady(0.35, 0.65),
    "+20: 35 % to 55 %": steady(0.35, 0.55),
    "+10: 85 % to 95 %": steady(0.85, 0.95),
    "useless: 35 %": steady(0.35, 0.35),
    "useless: 90 %": steady(0.9, 0.9),
    "useless, tasks get easier: 20 % to 80 %": drifting(0.2, 0.8),
    "harmful: 35 % to 15 %": steady(0.35, 0.15),
    "harmful: 3 in 10 runs that see it raise": steady(0.5, 0.35),
}
_TURNS = (
    ("35 % to 65 %, then 35 % to 15 %", (0.35, 0.65), (0.35, 0.15)),
    ("35 % to 65 %, then 65 % to 45 %", (0.35, 0.65), (0.65, 0.45)),
    ("35 % to 55 %, then 75 % to 55 %: its own rate stays", (0.35, 0.55), (0.75, 0.55)),
    ("35 % to 65 %, then useless at 35 %", (0.35, 0.65), (0.35, 0.35)),
)


def _percent(part: float, whole: int) -> str:
    return f"{part / max(1, whole):.1%}"


@lru_cache
def _rule(cells: int) -> str:
    return "|" + "---|" * cells


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(row) + " |" for row in (head, *rows)]
    return "\n".join((lines[0], _rule(len(head)), *lines[1:]))


def main() -> None:
    """Print all tables, or the one that is asked for."""
    tables: dict[str, Callable[[argparse.Namespace], str]] = {
        "alone": lambda said: ideas_alone(said.trials, said.seed),
        "holdout": lambda said: holdouts_alone(said.trials, said.seed),
        "stores": lambda said: stores(max(1, said.trials // 20), said.runs, said.seed),
        "turning": lambda said: turning(said.trials, said.seed),
        "estimates": lambda said: estimates(max(2, said.trials // 10), said.seed),
        "others": lambda said: others(said.trials, said.seed),
        "at once": lambda said: at_once(max(2, said.trials // 5), said.seed),
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1_000)
    parser.add_argument("--runs", type=int, default=3_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=tables, action="append")
    said = parser.parse_args()
    for name in said.only or tables:
        print(f"**{name}**\n\n{tables[name](said)}\n", flush=True)


if __name__ == "__main__":
    main()
