"""How sure we are that one thing beats another: exact tests and anytime-valid evidence, as pure functions.

An *e-value* is evidence that may be looked at at any time: under "no effect" the chance that it ever reaches 20 is at
most 1/20 (Ville's inequality), however often one looks. Paired outcomes count only where they differ: `gained` pairs
were solved with the card and not without it, `lost` pairs the other way round.

Papers: Ramdas, Grünwald, Vovk, Shafer (2023), "Game-theoretic statistics and safe anytime-valid inference";
McNemar (1947), "Note on the sampling error of the difference between correlated proportions or percentages".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, inf, sqrt


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedOutcome:
    """What a paired comparison of two conditions on the same tasks shows."""

    gained: int
    lost: int
    e_value: float
    """Evidence for "better"; 20 or more is convincing."""
    p_value: float
    """McNemar's exact test, two-sided."""


def sign_e_value(gained: int, lost: int) -> float:
    """The e-value of a sign test after `gained` and `lost` discordant pairs, against "no better than a coin".

    The alternative is a mixture, uniform over win probabilities from 1/2 to 1. Its integral has a closed form:
    `2^(n+1) · B(gained+1, lost+1) · P(Bin(n+1, 1/2) ≤ gained)` with `n = gained + lost`.
    """
    n = gained + lost
    at_most = sum(comb(n + 1, i) for i in range(gained + 1))
    # B(g+1, l+1) = 1 / ((n+1) · C(n, g)); the powers of two cancel, and integers keep it exact up to the last division.
    try:
        return at_most / ((n + 1) * comb(n, gained))
    except OverflowError:
        return inf  # more than 1e308


def mcnemar_p(gained: int, lost: int) -> float:
    """Two-sided exact p-value for paired yes/no outcomes; 1 where no pair differs."""
    n = gained + lost
    if n == 0:
        return 1.0
    tail = sum(comb(n, i) for i in range(min(gained, lost) + 1))
    return min(1.0, 2 * tail / 2**n)


def compare_pairs(treated: Sequence[bool], control: Sequence[bool]) -> PairedOutcome:
    """Compare outcomes on the same tasks in the same order; the sequences must be of one length."""
    pairs = list(zip(treated, control, strict=True))
    gained = sum(t and not c for t, c in pairs)
    lost = sum(c and not t for t, c in pairs)
    return PairedOutcome(gained=gained, lost=lost, e_value=sign_e_value(gained, lost), p_value=mcnemar_p(gained, lost))


def shrunken_rate(successes: int, trials: int, *, prior: float = 0.5, weight: float = 4.0) -> float:
    """A success rate pulled towards `prior` as if `weight` further trials had come out at it (beta-binomial mean)."""
    return (successes + prior * weight) / (trials + weight)


def wilson_interval(successes: int, trials: int, *, z: float = 1.96) -> tuple[float, float]:
    """Wilson's score interval of a rate; (0, 1) without trials."""
    if trials == 0:
        return 0.0, 1.0
    rate = successes / trials
    centre = rate + z * z / (2 * trials)
    spread = z * sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    return max(0.0, (centre - spread) / (1 + z * z / trials)), min(1.0, (centre + spread) / (1 + z * z / trials))
