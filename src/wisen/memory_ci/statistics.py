"""How sure we are that one thing beats another: exact tests and anytime-valid evidence, as pure functions.

An *e-value* is evidence that may be looked at at any time: under "no effect" the chance that it ever reaches 20 is at
most 1/20 (Ville's inequality), however often one looks. Paired outcomes count only where they differ: `gained` pairs
were solved with the card and not without it, `lost` pairs the other way round.

| data | evidence | for a report, after one look |
|---|---|---|
| pairs, solved or not | `sign_e_value` | `mcnemar_p` |
| pairs of scores in [0, 1] | `bounded_e_value` | |
| runs that saw the idea or not, by a coin, and replays beside them | `trial_e_value` | `fisher_p` |
| many cards at once | `e_bh` | |

Papers:

- Ramdas, Grünwald, Vovk, Shafer (2023), "Game-theoretic statistics and safe anytime-valid inference"
- Turner, Ly, Grünwald (2024), "Generic E-variables for exact sequential k-sample tests that allow for optional
  stopping"
- Shin, Ramdas, Rinaldo (2024), "E-detectors: a nonparametric framework for sequential change detection"
- Waudby-Smith, Ramdas (2024), "Estimating means of bounded random variables by betting"
- Wang, Ramdas (2022), "False discovery rate control with e-values"
- McNemar (1947), "Note on the sampling error of the difference between correlated proportions or percentages"
- Fisher (1935), "The logic of inductive inference"
- Wilson (1927), "Probable inference, the law of succession, and statistical inference"
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb, exp, inf, log, sqrt

from wisen.trial_records import DrawCounts

_STAKES = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """Rates of good runs with an idea and without it, on which a share of the wealth is bet."""

    weight: float
    without_it: float
    with_it: float

    @property
    def wins(self) -> float:
        """How often a pair of replays that differs is gained, whatever the rate of its task: it is the odds ratio."""
        without, with_it = (rate / (1.0 - rate) for rate in (self.without_it, self.with_it))
        return with_it / (with_it + without)


def _alternative(weight: float, middle: float, odds_ratio: float) -> Alternative:
    odds, root = middle / (1.0 - middle), sqrt(odds_ratio)
    return Alternative(
        weight=weight, without_it=odds / root / (1.0 + odds / root), with_it=odds * root / (1.0 + odds * root)
    )


_MODERATE = _alternative(1.0, 0.5, 2.3)
ALTERNATIVES = (
    _alternative(0.36, 0.4, 2.3),
    _alternative(0.36, 0.6, 2.3),
    _alternative(0.09, 0.15, 3.5),
    _alternative(0.09, 0.85, 3.5),
    _alternative(0.1, 0.5, 16.0),
)
"""On what `trial_e_value` bets: an idea that lifts the middle rates by 20 points, two for rates near 0 and 1, and one
that turns a failure into a success, as 20 % to 80 %.

Each further alternative costs evidence. A lift of 30 points wins such a bet nearly as fast as its own.
"""
_PAIR_BETS = tuple((log(2.0 * one.wins), log(2.0 * (1.0 - one.wins))) for one in ALTERNATIVES)
"""Of each of them: by what a pair that was gained, and one that was lost, adds to the logarithm of the wealth."""


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


def trial_e_value(counts: Iterable[DrawCounts], *, gained: int = 0, lost: int = 0, hurts: bool = False) -> float:
    """The e-value of runs that a coin let see an idea or not, against "doesn't help"; with `hurts`, "doesn't hurt".

    It rests on the design alone. If showing the idea changes nothing, whether a run showed it is a coin of known bias.
    That holds for every outcome and every task, and whatever else was shown (if that was drawn independently). If an
    idea helps, it was shown in good runs more often than the coin says. So it holds for rates that drift, and for ideas
    that hurt. The bias may depend on anything seen before. Each run multiplies the wealth of a bet by `P(coin |
    outcome) / propensity`, which is fair given the past (Turner, Ly, Grünwald 2024; Ramdas et al. 2023). The
    alternative is a mixture, the same for all propensities, so that the evidence follows from counts, and the order of
    the runs doesn't matter.

    `gained` and `lost` are pairs of replays that differ, one for each cluster of near-copies. If the idea does nothing,
    such a pair is a fair coin. Each alternative bets on them with its own odds ratio, so that runs and pairs tell
    together how large the effect is.

    Runs that show the idea for certain say nothing: don't count them. Raises `ValueError` for a propensity that isn't
    strictly between 0 and 1.
    """
    return _exp(trial_log_e_value(counts, gained=gained, lost=lost, hurts=hurts))


def trial_log_e_value(counts: Iterable[DrawCounts], *, gained: int = 0, lost: int = 0, hurts: bool = False) -> float:
    """The natural logarithm of `trial_e_value`, which doesn't overflow."""
    if hurts:
        gained, lost = lost, gained
    wealth = [
        log(one.weight) + gained * bet[0] + lost * bet[1] for one, bet in zip(ALTERNATIVES, _PAIR_BETS, strict=True)
    ]
    for one in counts:
        goods, bads = (one.shown_good, one.held_out_good), (one.shown_bad, one.held_out_bad)
        if hurts:
            goods, bads = bads, goods
        for at, bet in enumerate(trial_bets(one.propensity)):
            wealth[at] += goods[0] * bet[0] + bads[0] * bet[1] + goods[1] * bet[2] + bads[1] * bet[3]
    largest = max(wealth)
    return largest + log(sum(exp(one - largest) for one in wealth))


@lru_cache(maxsize=64)
def trial_bets(propensity: float) -> tuple[tuple[float, float, float, float], ...]:
    """Of each of `ALTERNATIVES`: by what each kind of run adds to the logarithm of the wealth.

    In this order: shown and good, shown and bad, held out and good, held out and bad.
    """
    if not 0.0 < propensity < 1.0:
        raise ValueError(f"trial_e_value: propensity {propensity!r} isn't strictly between 0 and 1")
    return tuple(_bets(one.with_it, one.without_it, propensity) for one in ALTERNATIVES)


def harm_bet(propensity: float, *, shown: bool, good: bool) -> float:
    """What one run adds to the logarithm of a bet that showing the idea turns good runs bad."""
    bets = _bets(_MODERATE.with_it, _MODERATE.without_it, propensity)
    return bets[good] if shown else bets[2 + good]


def _bets(treated: float, control: float, propensity: float) -> tuple[float, float, float, float]:
    pooled = propensity * treated + (1.0 - propensity) * control
    return (
        log(treated / pooled),
        log((1.0 - treated) / (1.0 - pooled)),
        log(control / pooled),
        log((1.0 - control) / (1.0 - pooled)),
    )


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
    tail = sum(comb(n, i) for i in range(min(gained, lost) + 1))
    return min(1.0, 2 * tail / 2**n)


def fisher_p(*, shown_good: int, shown_bad: int, held_out_good: int, held_out_bad: int) -> float:
    """Fisher's exact test of two rates, two-sided: all tables of the same margins that are no likelier than this."""
    shown, good = shown_good + shown_bad, shown_good + held_out_good
    held_out = held_out_good + held_out_bad
    ways = [comb(shown, one) * comb(held_out, good - one) for one in range(min(shown, good) + 1)]
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
    return _exp(largest + log(sum(exp(one - largest) for one in logarithms) / len(logarithms)))


def _exp(logarithm: float) -> float:
    """`exp`, or infinity beyond what a float holds."""
    try:
        return exp(logarithm)
    except OverflowError:
        return inf
