"""How sure we are that one thing beats another: exact tests and anytime-valid evidence, as pure functions.

An *e-value* is evidence that may be looked at at any time: under "no effect" the chance that it ever reaches 20 is at
most 1/20 (Ville's inequality), however often one looks. Paired outcomes count only where they differ: `gained` pairs
were solved with the card and not without it, `lost` pairs the other way round.

| data | evidence | for a report, after one look |
|---|---|---|
| pairs, solved or not | `sign_e_value` | `mcnemar_p` |
| pairs of scores in [0, 1] | `bounded_e_value` | |
| runs with the card shown or held out at random | `trial_e_value` | `fisher_p`, `estimated_effect` |
| many cards at once | `e_bh` | |

Papers: Ramdas, Grünwald, Vovk, Shafer (2023), "Game-theoretic statistics and safe anytime-valid inference";
Turner, Ly, Grünwald (2024), "Generic E-variables for exact sequential k-sample tests that allow for optional stopping";
Waudby-Smith, Ramdas (2024), "Estimating means of bounded random variables by betting";
Wang, Ramdas (2022), "False discovery rate control with e-values";
McNemar (1947), "Note on the sampling error of the difference between correlated proportions or percentages";
Fisher (1935), "The logic of inductive inference"; Wilson (1927), "Probable inference, the law of succession, and
statistical inference"; Efron, Morris (1975), "Data analysis using Stein's estimator and its generalizations".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb, exp, inf, log, sqrt

_MIDDLES = (0.1, 0.25, 0.5, 0.75, 0.9)
_ODDS_RATIOS = (2.0, 4.0)
_STAKES = 128
_PRIOR_TRIALS = 4.0


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
    at_most = ways = 1
    for i in range(gained):  # from C(n+1, i) to the next one: much cheaper than computing each
        ways = ways * (n + 1 - i) // (i + 1)
        at_most += ways
    # B(g+1, l+1) = 1 / ((n+1) · C(n, g)); the powers of two cancel, and integers keep it exact up to the last division.
    try:
        return at_most / ((n + 1) * comb(n, gained))
    except OverflowError:
        return inf  # more than 1e308


def bounded_e_value(differences: Sequence[float]) -> float:
    """The e-value of paired score differences (with the card minus without it) against "no better on average".

    Each difference lies in [-1, 1]. A gambler stakes the same share of the wealth on every pair; the result is the
    average wealth over evenly spread shares between 0 and 1. For differences of -1, 0 and 1 it is `sign_e_value`, as
    near as 128 shares come.

    Raises `ValueError` for a difference outside [-1, 1].
    """
    for difference in differences:
        if not -1.0 <= difference <= 1.0:
            raise ValueError(f"bounded_e_value: difference {difference!r} isn't in [-1, 1]")
    stakes = [(step + 0.5) / _STAKES for step in range(_STAKES)]
    return _mean_of_exp([sum(log(1.0 + stake * difference) for difference in differences) for stake in stakes])


def trial_e_value(
    *, shown_good: int, shown_bad: int, held_out_good: int, held_out_bad: int, propensity: float
) -> float:
    """The e-value of a trial in which each run showed the card with probability `propensity`, against "doesn't help".

    It rests on the design alone: if showing the card changes nothing, then whether a run showed it is a coin of known
    bias, whatever the run's outcome, however hard its task, and whatever else was shown (if that was drawn
    independently). With a card that helps, good runs are shown ones more often than the coin says. Holds for base rates
    that drift, and for cards that hurt. The alternative is a mixture over rates without and with the card whose odds
    differ by a factor of 2 or 4, around five base rates.

    For "hurts", swap good and bad. Runs of another propensity go into a call of their own; the product of both is an
    e-value. Runs that show the card for certain say nothing: don't count them.

    Raises `ValueError` for a propensity that isn't strictly between 0 and 1.
    """
    if not 0.0 < propensity < 1.0:
        raise ValueError(f"trial_e_value: propensity {propensity!r} isn't strictly between 0 and 1")
    return _mean_of_exp(
        [
            shown_good * bet[0] + shown_bad * bet[1] + held_out_good * bet[2] + held_out_bad * bet[3]
            for bet in trial_bets(propensity)
        ]
    )


@lru_cache(maxsize=64)
def trial_bets(propensity: float) -> tuple[tuple[float, float, float, float], ...]:
    """The equally weighted alternatives of `trial_e_value`: by what each kind of run adds to the logarithm.

    In the order of its arguments: shown and good, shown and bad, held out and good, held out and bad.
    """
    bets: list[tuple[float, float, float, float]] = []
    for middle in _MIDDLES:
        for ratio in _ODDS_RATIOS:
            odds, root = middle / (1.0 - middle), sqrt(ratio)
            treated, control = odds * root / (1.0 + odds * root), odds / root / (1.0 + odds / root)
            pooled = propensity * treated + (1.0 - propensity) * control
            bets.append(
                (
                    log(treated / pooled),
                    log((1.0 - treated) / (1.0 - pooled)),
                    log(control / pooled),
                    log((1.0 - control) / (1.0 - pooled)),
                )
            )
    return tuple(bets)


def e_bh(e_values: Sequence[float], alpha: float = 0.05) -> list[bool]:
    """Which of many hypotheses to reject so that at most `alpha` of the rejected ones are wrong, on average.

    The k largest e-values are taken, for the largest k at which each of them is at least `n / (alpha · k)`. Holds
    whatever the dependence between them. It may be repeated as evidence comes in if the e-value of what was once
    selected stays as it was then.
    """
    ranked = sorted(range(len(e_values)), key=lambda one: e_values[one], reverse=True)
    passing = (k for k in range(len(ranked), 0, -1) if e_values[ranked[k - 1]] * alpha * k >= len(ranked))
    chosen = set(ranked[: next(passing, 0)])
    return [one in chosen for one in range(len(e_values))]


def mcnemar_p(gained: int, lost: int) -> float:
    """Two-sided exact p-value for paired yes/no outcomes; 1 where no pair differs."""
    n = gained + lost
    if n == 0:
        return 1.0
    tail = sum(comb(n, i) for i in range(min(gained, lost) + 1))
    return min(1.0, 2 * tail / 2**n)


def fisher_p(*, shown_good: int, shown_bad: int, held_out_good: int, held_out_bad: int) -> float:
    """Fisher's exact test of two rates, two-sided: all tables of the same margins that are no likelier than this."""
    shown, good = shown_good + shown_bad, shown_good + held_out_good
    held_out = held_out_good + held_out_bad
    ways = [
        comb(shown, one) * comb(held_out, good - one) for one in range(max(0, good - held_out), min(shown, good) + 1)
    ]
    own = comb(shown, shown_good) * comb(held_out, held_out_good)
    return sum(one for one in ways if one <= own) / sum(ways)


def compare_pairs(treated: Sequence[bool], control: Sequence[bool]) -> PairedOutcome:
    """Compare outcomes on the same tasks in the same order; the sequences must be of one length."""
    pairs = list(zip(treated, control, strict=True))
    gained = sum(t and not c for t, c in pairs)
    lost = sum(c and not t for t, c in pairs)
    return PairedOutcome(gained=gained, lost=lost, e_value=sign_e_value(gained, lost), p_value=mcnemar_p(gained, lost))


def shrunken_rate(successes: int, trials: int, *, prior: float = 0.5, weight: float = 4.0) -> float:
    """A success rate pulled towards `prior` as if `weight` further trials had come out at it (beta-binomial mean)."""
    return (successes + prior * weight) / (trials + weight)


def estimated_effect(
    *, shown_good: int, shown_bad: int, held_out_good: int, held_out_bad: int, spread: float = 0.2
) -> float:
    """By how much showing the card raised the rate of good runs, pulled towards 0 the less is known.

    The difference of the two rates in a trial whose propensity never changed, which is its inverse-propensity estimate
    with normalised weights, times the share of its variance that isn't chance if effects vary by `spread` (standard
    deviation) between cards. So it ranks a large effect seen seldom below the same one seen often. 0 where one side is
    empty. For certainty see `trial_e_value`: this is an estimate.
    """
    shown, held_out = shown_good + shown_bad, held_out_good + held_out_bad
    if not shown or not held_out:
        return 0.0
    pooled = shrunken_rate(shown_good + held_out_good, shown + held_out, weight=_PRIOR_TRIALS)
    chance = pooled * (1.0 - pooled) * (1.0 / shown + 1.0 / held_out)
    return (shown_good / shown - held_out_good / held_out) * spread**2 / (spread**2 + chance)


def wilson_interval(successes: int, trials: int, *, z: float = 1.96) -> tuple[float, float]:
    """Wilson's score interval of a rate; (0, 1) without trials."""
    if trials == 0:
        return 0.0, 1.0
    rate = successes / trials
    centre = rate + z * z / (2 * trials)
    spread = z * sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    return max(0.0, (centre - spread) / (1 + z * z / trials)), min(1.0, (centre + spread) / (1 + z * z / trials))


def _mean_of_exp(logarithms: Sequence[float]) -> float:
    """The mean of `exp` of each, or infinity beyond what a float holds."""
    largest = max(logarithms)
    try:
        return exp(largest) * (sum(exp(one - largest) for one in logarithms) / len(logarithms))
    except OverflowError:
        return inf
