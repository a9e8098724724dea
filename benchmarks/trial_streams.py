"""Runs with and without an idea, and rules of other systems that decide on it without leaving it out at random."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from statistics import mean

_WINDOW = 10
_LIFT = 0.05
_LEAD = 3

Stream = Callable[[Random, int], Iterator["Run"]]


@dataclass(frozen=True, kw_only=True)
class Run:
    """What one run would come to with the idea, and without it."""

    with_it: bool
    without_it: bool
    unknown: bool = False
    """Whether nobody could judge it."""


def steady(without_it: float, with_it: float) -> Stream:
    """Runs whose rates of good ones stay. Where the idea makes runs raise, these aren't good."""

    def runs(chance: Random, count: int) -> Iterator[Run]:
        for _ in range(count):
            luck = chance.random()
            yield Run(with_it=luck < with_it, without_it=luck < without_it)

    return runs


def drifting(low: float, high: float) -> Stream:
    """Runs whose rate rises over the first 300 of them."""

    def runs(chance: Random, count: int) -> Iterator[Run]:
        for number in range(count):
            base = low + (high - low) * min(1.0, number / 300)
            luck = chance.random()
            yield Run(with_it=luck < base, without_it=luck < base)

    return runs


def _score_rose(runs: Sequence[Run]) -> str:
    """The mean score of the runs after the idea was taken in against that of those before, as SkillOpt-Sleep's gate."""
    before = mean(one.without_it for one in runs[:_WINDOW])
    after = mean(one.with_it for one in runs[_WINDOW : 2 * _WINDOW])
    return "helps" if after > before else "hurts"


def _given_the_lesson(runs: Sequence[Run]) -> str:
    """Success of runs that saw it against the average of all runs, as NeuramineRL: half of the runs recall it."""
    for end in range(2 * _WINDOW, len(runs) + 1):
        saw = [one.with_it for one in runs[1:end:2]]
        average = mean([*saw, *(one.without_it for one in runs[0:end:2])])
        if mean(saw) > average + _LIFT:
            return "helps"
        if mean(saw) < average - _LIFT:
            return "hurts"
    return "undecided"


def _counters(runs: Sequence[Run]) -> str:
    """A counter of helpful runs and one of harmful runs: what leads by three either way is decided."""
    lead = 0
    for one in runs:
        lead += 1 if one.with_it else -1
        if abs(lead) >= _LEAD:
            return "helps" if lead > 0 else "hurts"
    return "undecided"


BASELINES: dict[str, Callable[[Sequence[Run]], str]] = {
    "accept if the score rose": _score_rose,
    "success given the lesson against the average": _given_the_lesson,
    "helpful and harmful counters": _counters,
}


def baseline(name: str, runs: Sequence[Run]) -> str:
    """What a rule says of an idea. Runs that nobody could judge are left out, as these systems do."""
    known = [one for one in runs if not one.unknown]
    return BASELINES[name](known)
