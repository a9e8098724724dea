"""Simulated outcomes of replays with and without planted cards, whose effects are known."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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


def _limit(rate: float) -> float:
    if rate in (0.0, 1.0):
        return -np.inf if rate == 0.0 else np.inf
    return NormalDist().inv_cdf(rate)
