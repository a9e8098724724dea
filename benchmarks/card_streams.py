"""Simulated outcomes with and without planted cards, whose effects are known: pairs of replays, and runs of a trial."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TOPICS, OF_A_TOPIC = 10, 5
_EASIEST, _HARDEST = 0.75, 0.15
_MARGIN = 0.05
PLANTED = {0.3: 8, 0.2: 8, 0.1: 8, 0.0: 14, -0.1: 6, -0.2: 6}


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Outcomes of the same tasks without and with each card: a row for each card, a column for each pair."""

    control: Bools
    treated: Bools

    @property
    def gained(self) -> Ints:
        """Pairs that only the run with the card solved, counted up to each pair."""
        return np.cumsum(self.treated & ~self.control, axis=1, dtype=np.int64)

    @property
    def lost(self) -> Ints:
        """Pairs that only the run without the card solved, counted up to each pair."""
        return np.cumsum(self.control & ~self.treated, axis=1, dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class Trial:
    """Runs of one agent; each recalls the cards of its topic, and each of them is held out at random."""

    effects: Floats
    """What was planted: a row for each topic, a column for each of its cards."""
    in_context: Floats
    """What showing the card really changes, beside the others and on these tasks."""
    topics: Ints
    """Of each run."""
    shown: Bools
    """A row for each run, a column for each card of its topic."""
    good: Bools
    known: Bools
    """Whether there is a score that says so."""


def room(base: float, effect: float) -> float:
    """What is left of an effect where rates end at 0 and 1."""
    return min(1.0, max(0.0, base + effect)) - base


def replayed(rng: np.random.Generator, bases: Floats, effects: Floats, *, correlation: float, pairs: int) -> Pairs:
    """Replay pairs; both arms of a pair share a part of their luck, as runs of the same task do.

    Each arm is solved where a normal variable falls below what gives it its rate; `correlation` is between the two.
    """
    rates = np.clip(np.stack([bases, bases + effects]), 0.0, 1.0)
    limits = np.array([[_limit(rate) for rate in arm] for arm in rates.round(6).tolist()])[:, :, None]
    size = (len(bases), pairs)
    task = np.sqrt(correlation) * rng.standard_normal(size, dtype=np.float32)
    luck = [np.sqrt(1 - correlation) * rng.standard_normal(size, dtype=np.float32) for _ in range(2)]
    return Pairs(control=task + luck[0] < limits[0], treated=task + luck[1] < limits[1])


def tried(
    rng: np.random.Generator,
    *,
    runs: int,
    propensity: float,
    in_points: bool = True,
    unknown: tuple[float, float] = (0.0, 0.0),
) -> Trial:
    """Runs of a trial with 50 planted cards, five to a topic; topics differ in how often they are solved anyway.

    With `in_points` effects add up as they are, and each topic's base rate is drawn from what leaves room for all of
    them. Else they add up in log-odds, +20 being what takes 50 % to 70 %: where other cards help already, little of it
    is left. `unknown` are the shares of good and of bad runs that end without a score.
    """
    effects = _dealt(rng)
    topics = rng.integers(TOPICS, size=runs)
    shown = rng.random((runs, OF_A_TOPIC)) < propensity
    if in_points:
        lowest = _MARGIN - np.minimum(effects, 0.0).sum(axis=1)
        highest = 1 - _MARGIN - np.maximum(effects, 0.0).sum(axis=1)
        bases = lowest + (highest - lowest) * rng.random(TOPICS)
        rates = bases[topics] + (effects[topics] * shown).sum(axis=1)
        changes = effects[topics]
    else:
        own = np.log((0.5 + effects) / (0.5 - effects))[topics]
        bases = np.linspace(_HARDEST, _EASIEST, TOPICS)
        odds = np.log(bases / (1 - bases))[topics] + (own * shown).sum(axis=1)
        without = odds[:, None] - own * shown
        rates, changes = _rate(odds), _rate(without + own) - _rate(without)
    in_context = np.stack([changes[topics == topic].mean(axis=0) for topic in range(TOPICS)])
    good = rng.random(runs) < rates
    known = rng.random(runs) >= np.where(good, *unknown)
    return Trial(effects=effects, in_context=in_context, topics=topics, shown=shown, good=good, known=known)


def _dealt(rng: np.random.Generator) -> Floats:
    """The planted effects, dealt to topics so that each topic has room for its own."""
    planted = np.array([effect for effect, count in PLANTED.items() for _ in range(count)])
    while True:
        effects = rng.permutation(planted).reshape(TOPICS, OF_A_TOPIC)
        if np.abs(effects).sum(axis=1).max() <= 1 - 2 * _MARGIN:
            return effects


def _rate(odds: Floats) -> Floats:
    return 1 / (1 + np.exp(-odds))


def _limit(rate: float) -> float:
    if rate in (0.0, 1.0):
        return -np.inf if rate == 0.0 else np.inf
    return NormalDist().inv_cdf(rate)
