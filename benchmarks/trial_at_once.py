"""One idea that many runs try side by side, whose outcomes come in another order than the draws."""

from heapq import heappop, heappush
from random import Random
from statistics import median

from wisen.memory_ci.trial import began, counted, propensity, without
from wisen.memory_ci.verdicts import verdict
from wisen.trial_records import OpenDraw, Trial

_HELPS = 20.0
_LONGEST = 300
_SLOW = 3.0


def side_by_side(
    chance: Random, at_once: int, rates: tuple[float, float], *, slow: tuple[bool, bool] | None = None
) -> tuple[str, int]:
    """The first verdict, and how many runs were begun until then.

    Runs last about as long as each other, but for those of `slow`: whether they were shown the idea, and were good.
    """
    trial, ends, open_draws = began(Trial(), 1), list[tuple[float, int, bool]](), dict[str, OpenDraw]()
    now, begun = 0.0, 0
    while begun < _LONGEST:
        while len(ends) < at_once:
            begun += 1
            share = propensity(trial)
            draw = OpenDraw(id=str(begun), shown=chance.random() < share, propensity=share)
            good = chance.random() < rates[draw.shown]
            lasts = chance.uniform(0.5, 1.5) * (_SLOW if (draw.shown, good) == slow else 1.0)
            heappush(ends, (now + lasts, begun, good))
            open_draws[draw.id] = draw
        now, number, good = heappop(ends)
        draw = open_draws[str(number)]
        open_draws = {one.id: one for one in without(tuple(open_draws.values()), draw)}
        trial = counted(trial, draw, good)
        if (said := verdict(trial, at=_HELPS, open_draws=tuple(open_draws.values()))) != "undecided":
            return said, begun
    return "undecided", begun


def rows(trials: int, seed: int) -> list[list[str]]:
    """By how many runs there are at once: +30, and what changes nothing but how long a run takes."""
    found: list[list[str]] = []
    for at_once in (1, 8, 40):
        ended = [side_by_side(Random(f"{seed} {at_once} {one}"), at_once, (0.35, 0.65)) for one in range(trials)]
        row = [str(at_once), f"{median(runs for _, runs in ended):.0f}"]
        for slow in (None, (True, True), (True, False), (False, True), (False, False)):
            said = [
                side_by_side(Random(f"{seed} {at_once} {slow} {one}"), at_once, (0.5, 0.5), slow=slow)[0]
                for one in range(trials)
            ]
            row.append(f"{said.count('helps') / trials:.1%}")
        found.append(row)
    return found
