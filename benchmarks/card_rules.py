"""Rules that decide on a card from a stream of pairs, wisen's and others', each applied after every pair."""

from collections.abc import Callable
from math import lgamma

import numpy as np
from card_streams import Bools, Floats, Ints, Pairs

from wisen.memory_ci.statistics import mcnemar_p, sign_e_value
from wisen.memory_ci.verdicts import Rule

_LEAD = 3
_CERTAIN = 0.95
_Z = 1.96
_LEVEL = 0.05
_FROM = 10
"""Posterior and z test aren't asked before: on fewer pairs they err even more."""

Decide = Callable[[Pairs], Ints]
"""After how many pairs each card is promoted; negative where it is archived, and 0 where nothing is decided."""


def by_evidence(pairs: Pairs) -> Ints:
    """Wisen's rule: `replay_verdict` after each pair."""
    gained, lost = pairs.gained, pairs.lost
    rule = Rule()
    enough = _least(gained.shape[1], lambda up, down: sign_e_value(up, down) >= rule.promote_at)
    too_bad = _least(gained.shape[1], lambda up, down: sign_e_value(up, down) >= rule.archive_at)
    return _first(gained >= enough[gained + lost], lost >= too_bad[gained + lost])


def by_tags(pairs: Pairs) -> Ints:
    """A counter of good runs with the card and one of bad ones: the card that leads by three either way is decided."""
    lead = np.cumsum(np.where(pairs.treated, 1, -1), axis=1)
    return _first(lead >= _LEAD, lead <= -_LEAD)


def by_posterior(pairs: Pairs) -> Ints:
    """P(better) above 0.95, or below 0.05, for two independent rates with uniform priors.

    Exact, by the recurrence in Cook (2005), "Exact calculation of beta inequalities": one more success or failure
    changes the probability by the same term over the count that grew.
    """
    gammas = np.array([0.0, *(lgamma(n) for n in range(1, 2 * pairs.control.shape[1] + 8))])
    counts = np.ones((4, len(pairs.control)), dtype=np.int64)  # with the card: good, bad; without: good, bad
    better = np.full(len(pairs.control), 0.5)
    promote, archive = np.zeros_like(pairs.control), np.zeros_like(pairs.control)
    for pair in range(pairs.control.shape[1]):
        for offset, outcomes in ((0, pairs.treated), (2, pairs.control)):
            good: Bools = outcomes[:, pair]
            row = offset + (~good).astype(np.int64)
            grew = counts[row, np.arange(len(row))]
            sign = np.where(good, 1.0, -1.0) * (1 if offset == 0 else -1)
            better += sign * _shared(counts, gammas) / grew
            counts[row, np.arange(len(row))] += 1
        if pair + 1 >= _FROM:
            promote[:, pair], archive[:, pair] = better > _CERTAIN, better < 1 - _CERTAIN
    return _first(promote, archive)


def by_z(pairs: Pairs) -> Ints:
    """A z test on the pairs that differ, at |z| > 1.96."""
    gained, lost = pairs.gained, pairs.lost
    z = (gained - lost) / np.sqrt(np.maximum(gained + lost, 1))
    z[:, : _FROM - 1] = 0.0
    return _first(z > _Z, z < -_Z)


def at_the_end(pairs: Pairs) -> Ints:
    """McNemar's exact test at 5 %, once, when all pairs are there: an honest test that can't be stopped early."""
    gained, lost = pairs.gained[:, -1:], pairs.lost[:, -1:]
    least = _least(pairs.control.shape[1], lambda up, down: up > down and mcnemar_p(up, down) <= _LEVEL)
    return _first(gained >= least[gained + lost], lost >= least[gained + lost]) * pairs.control.shape[1]


RULES: dict[str, Decide] = {
    "wisen, e ≥ 20": by_evidence,
    "tags, lead of 3": by_tags,
    "posterior > 0.95": by_posterior,
    "z test, each pair": by_z,
    "McNemar, once": at_the_end,
}


def e_values(pairs: int) -> Floats:
    """`sign_e_value` by gained and lost, up to so many pairs."""
    table = np.zeros((pairs + 1, pairs + 1))
    for up in range(pairs + 1):
        for down in range(pairs + 1 - up):
            table[up, down] = sign_e_value(up, down)
    return table


def _least(pairs: int, enough: Callable[[int, int], bool]) -> Ints:
    """The smallest number of one kind that is enough, by the number of pairs that differ."""
    found: list[int] = []
    for differ in range(pairs + 1):
        least = found[-1] if found else 0
        while least <= differ and not enough(least, differ - least):
            least += 1
        found.append(least)
    return np.array(found)


def _first(promote: Bools, archive: Bools) -> Ints:
    decided = promote | archive
    pair = decided.argmax(axis=1)
    rows = np.arange(len(pair))
    direction = promote[rows, pair].astype(np.int64) - archive[rows, pair]
    return direction * (pair + 1)


def _shared(counts: Ints, gammas: Floats) -> Floats:
    a, b, c, d = counts
    joint = gammas[a + c] + gammas[b + d] - gammas[a + b + c + d]
    own = gammas[a] + gammas[b] - gammas[a + b] + gammas[c] + gammas[d] - gammas[c + d]
    return np.exp(joint - own)
