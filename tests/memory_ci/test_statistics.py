import random
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from math import comb, exp, inf, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisen.advice.rank import estimated_effect
from wisen.memory_ci.statistics import (
    ALTERNATIVES,
    PairedOutcome,
    _alternative,
    bounded_e_value,
    compare_pairs,
    e_bh,
    fisher_p,
    harm_bet,
    mcnemar_p,
    shrunken_rate,
    sign_e_value,
    trial_e_value,
    wilson_interval,
)
from wisen.trial_records import DrawCounts

Counts = tuple[int, int, int, int]
"""Shown and good, shown and bad, held out and good, held out and bad."""
counts_of_a_trial = st.tuples(*[st.integers(0, 80)] * 4)
propensities = st.floats(0.05, 0.95)


def trial(counts: Counts, propensity: float) -> float:
    return trial_e_value([as_counts(counts, propensity)])


def as_counts(counts: Counts, propensity: float = 0.5) -> DrawCounts:
    a, b, c, d = counts
    return DrawCounts(propensity=propensity, shown=a + b, shown_good=a, held_out=c + d, held_out_good=c)


def one_more(counts: Counts) -> Iterator[Counts]:
    for kind in range(4):
        a, b, c, d = (count + (one == kind) for one, count in enumerate(counts))
        yield a, b, c, d


def integrated(gained: int, lost: int, steps: int = 20_000) -> float:
    """The mixture's integral, summed by the midpoint rule."""
    total = 0.0
    for step in range(steps):
        p = 0.5 + (step + 0.5) / (2 * steps)
        total += (2 * p) ** gained * (2 * (1 - p)) ** lost
    return total / steps


@pytest.mark.parametrize(("gained", "lost"), [(0, 0), (1, 0), (0, 1), (5, 2), (2, 5), (30, 3), (12, 12)])
def test_e_value_is_the_integral_of_its_mixture(gained: int, lost: int) -> None:
    assert sign_e_value(gained, lost) == pytest.approx(integrated(gained, lost), rel=1e-6)


@given(gained=st.integers(0, 60), lost=st.integers(0, 60))
def test_e_value_is_a_fair_bet(gained: int, lost: int) -> None:
    """Under "no effect" the next pair changes the evidence by nothing on average."""
    ahead = (sign_e_value(gained + 1, lost) + sign_e_value(gained, lost + 1)) / 2
    assert ahead == pytest.approx(sign_e_value(gained, lost), rel=1e-9)


def test_looking_after_every_pair_rarely_certifies_a_coin() -> None:
    rng, certified = random.Random(7), 0
    for _ in range(500):
        gained = 0
        for pairs in range(1, 201):
            gained += rng.random() < 0.5
            if sign_e_value(gained, pairs - gained) >= 20:
                certified += 1
                break
    assert certified <= 25


def test_mcnemar_is_exact_and_two_sided() -> None:
    assert mcnemar_p(0, 0) == 1.0
    assert mcnemar_p(5, 5) == 1.0
    assert mcnemar_p(8, 1) == pytest.approx(2 * (comb(9, 0) + comb(9, 1)) / 2**9)
    assert mcnemar_p(1, 8) == mcnemar_p(8, 1)


def test_pairs_are_compared_task_by_task() -> None:
    both_right, gains, losses, both_wrong = (
        [(True, True)] * 3,
        [(True, False)] * 2,
        [(False, True)],
        [(False, False)] * 4,
    )
    found = compare_pairs(*zip(*both_right, *gains, *losses, *both_wrong, strict=True))
    assert found == PairedOutcome(gained=2, lost=1, e_value=sign_e_value(2, 1), p_value=mcnemar_p(2, 1))
    with pytest.raises(ValueError, match="argument 2"):
        compare_pairs([True], [True, False])


def test_rates_are_pulled_towards_the_prior() -> None:
    assert shrunken_rate(0, 0) == 0.5
    assert shrunken_rate(3, 3) == pytest.approx(5 / 7)
    assert shrunken_rate(3, 3, prior=0.2, weight=1.0) == pytest.approx(3.2 / 4)
    assert 0.5 < shrunken_rate(3, 3) < 1.0
    assert shrunken_rate(300, 300) > shrunken_rate(3, 3)


@given(trials=st.integers(1, 200), data=st.data())
def test_interval_holds_the_rate(trials: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, trials))
    low, high = wilson_interval(successes, trials)
    assert 0.0 <= low <= successes / trials + 1e-12
    assert successes / trials - 1e-12 <= high <= 1.0
    assert wilson_interval(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("successes", "trials"), [(8, 10), (1, 7), (50, 100), (0, 10), (1, 1)])
@pytest.mark.parametrize("z", [1.96, 1.0])
def test_interval_ends_where_the_rate_is_as_far_away_as_chance_goes(successes: int, trials: int, z: float) -> None:
    """So Wilson has it: the ends are rates of which what was seen is `z` standard deviations away."""
    low, high = wilson_interval(successes, trials, z=z)
    assert (low, high) == wilson_interval(successes, trials) or z != 1.96
    rate = successes / trials
    for end in (low, high):
        assert (rate - end) ** 2 == pytest.approx(z * z * end * (1 - end) / trials, abs=1e-12)
    assert low <= rate <= high
    assert low < high


def test_overwhelming_evidence_is_infinite_and_no_error() -> None:
    assert sign_e_value(5_000, 0) > 1e300


@pytest.mark.parametrize(("gained", "lost"), [(60, 41), (251, 200), (400, 333)])
def test_e_value_is_exact_up_to_the_last_division(gained: int, lost: int) -> None:
    n = gained + lost
    exact = Fraction(sum(comb(n + 1, i) for i in range(gained + 1)), (n + 1) * comb(n, gained))
    assert sign_e_value(gained, lost) == float(exact)


@pytest.mark.parametrize(("middle", "odds_ratio"), [(0.4, 2.3), (0.15, 3.5), (0.5, 2.3)])
def test_an_alternative_lies_evenly_around_its_middle(middle: float, odds_ratio: float) -> None:
    def odds(rate: float) -> float:
        return rate / (1 - rate)

    made = _alternative(0.4, middle, odds_ratio)
    assert made.weight == 0.4
    assert odds(made.with_it) / odds(middle) == pytest.approx(odds_ratio**0.5)
    assert odds(middle) / odds(made.without_it) == pytest.approx(odds_ratio**0.5)


def chance_of_ever_convincing(win: float, pairs: int) -> float:
    """The exact probability that the evidence reaches 20 at any of the first pairs that differ."""
    running, convinced = {0: 1.0}, 0.0
    for differ in range(1, pairs + 1):
        ahead: dict[int, float] = defaultdict(float)
        for gained, chance in running.items():
            ahead[gained + 1] += chance * win
            ahead[gained] += chance * (1 - win)
        running = {}
        for gained, chance in ahead.items():
            if sign_e_value(gained, differ - gained) >= 20:
                convinced += chance
            else:
                running[gained] = chance
    return convinced


@pytest.mark.parametrize(("win", "least", "most"), [(0.5, 0.02, 0.05), (0.45, 0.0, 0.01), (0.69, 0.97, 1.0)])
def test_chance_of_ever_convincing_is_bounded_however_often_one_looks(win: float, least: float, most: float) -> None:
    assert least <= chance_of_ever_convincing(win, 150) <= most


@given(counts=counts_of_a_trial, propensity=propensities, good=st.booleans())
def test_trial_is_a_fair_bet_on_who_is_shown_the_card(counts: Counts, propensity: float, good: bool) -> None:
    """Whatever the next run's outcome, if showing the card doesn't change it, the evidence stays on average."""
    ahead = [trial(after, propensity) for after in one_more(counts)]
    shown, held_out = (ahead[0], ahead[2]) if good else (ahead[1], ahead[3])
    expected = propensity * shown + (1 - propensity) * held_out
    assert expected == pytest.approx(trial(counts, propensity), rel=1e-9)


@given(counts=counts_of_a_trial, propensity=propensities, rates=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_trial_expects_no_gain_from_a_card_that_hurts(
    counts: Counts, propensity: float, rates: tuple[float, float]
) -> None:
    with_card, without = sorted(rates)
    ahead = [trial(after, propensity) for after in one_more(counts)]
    shown = with_card * ahead[0] + (1 - with_card) * ahead[1]
    held_out = without * ahead[2] + (1 - without) * ahead[3]
    expected = propensity * shown + (1 - propensity) * held_out
    assert expected <= trial(counts, propensity) * (1 + 1e-9)


def chance_of_ever_believing(propensity: float, with_card: float, without: float, runs: int) -> float:
    """The exact probability that a trial's evidence reaches 20 after any of the first runs."""
    running: dict[Counts, float] = {(0, 0, 0, 0): 1.0}
    chances = (
        propensity * with_card,
        propensity * (1 - with_card),
        (1 - propensity) * without,
        (1 - propensity) * (1 - without),
    )
    believed = 0.0
    for _ in range(runs):
        ahead: dict[Counts, float] = defaultdict(float)
        for counts, chance in running.items():
            for after, likely in zip(one_more(counts), chances, strict=True):
                ahead[after] += chance * likely
        running = {}
        for counts, chance in ahead.items():
            if trial(counts, propensity) >= 20:
                believed += chance
            else:
                running[counts] = chance
    return believed


@pytest.mark.parametrize(
    ("with_card", "without", "least", "most"), [(0.5, 0.5, 0.001, 0.05), (0.4, 0.6, 0.0, 0.01), (0.95, 0.15, 0.9, 1.0)]
)
def test_chance_of_ever_believing_a_trial_is_bounded(
    with_card: float, without: float, least: float, most: float
) -> None:
    assert least <= chance_of_ever_believing(0.5, with_card, without, 28) <= most


@given(counts=counts_of_a_trial, propensity=propensities)
def test_trial_says_more_the_better_the_shown_runs_are(counts: Counts, propensity: float) -> None:
    shown_good, shown_bad, held_out_good, held_out_bad = counts
    better = (shown_good + 1, shown_bad, held_out_good, held_out_bad)
    worse = (shown_good, shown_bad + 1, held_out_good, held_out_bad)
    assert trial(better, propensity) > trial(worse, propensity)


def test_trial_without_runs_is_no_evidence_and_needs_a_coin() -> None:
    assert trial((0, 0, 0, 0), 0.85) == pytest.approx(1.0)
    assert trial((20_000, 0, 0, 20_000), 0.5) == inf
    assert trial((85, 85, 15, 15), 0.85) < 1
    for certain in (0.0, 1.0, float("nan")):
        with pytest.raises(ValueError, match="strictly") as refused:
            trial((1, 0, 0, 0), certain)
        assert str(refused.value) == f"trial_e_value: propensity {certain} isn't strictly between 0 and 1"


@given(gained=st.integers(0, 60), lost=st.integers(0, 60), ties=st.integers(0, 20))
def test_bets_on_scores_of_0_and_1_are_the_sign_test(gained: int, lost: int, ties: int) -> None:
    found = bounded_e_value([1.0] * gained + [0.0] * ties + [-1.0] * lost)
    assert found == pytest.approx(sign_e_value(gained, lost), rel=0.02)


@given(
    seen=st.lists(st.floats(-1, 1), max_size=20),
    up=st.floats(0.01, 1),
    down=st.floats(0.01, 1),
)
def test_bets_on_scores_are_fair(seen: list[float], up: float, down: float) -> None:
    """A next difference of `up` or `-down` whose mean is 0 changes the evidence by nothing on average."""
    rises = down / (up + down)
    expected = rises * bounded_e_value([*seen, up]) + (1 - rises) * bounded_e_value([*seen, -down])
    assert expected == pytest.approx(bounded_e_value(seen), rel=1e-9)


def test_bets_on_scores_tell_small_steady_gains_from_noise() -> None:
    rng = random.Random(3)
    noise = [rng.uniform(-0.3, 0.3) for _ in range(200)]
    assert bounded_e_value([one + 0.1 for one in noise]) >= 20
    assert bounded_e_value([one - 0.1 for one in noise]) < 0.1
    assert bounded_e_value([]) == pytest.approx(1.0)
    assert bounded_e_value([1.0] * 2_000) == inf
    for outside in (1.5, -1.5):
        with pytest.raises(ValueError, match="isn't in") as refused:
            bounded_e_value([outside])
        assert str(refused.value) == f"bounded_e_value: difference {outside} isn't in [-1, 1]"
    assert bounded_e_value([1.0, -1.0]) < 1.0


def test_many_hypotheses_are_rejected_together() -> None:
    assert e_bh([]) == []
    assert e_bh([20.0]) == [True]
    assert e_bh([20.0, 1.0]) == [False, False]
    assert e_bh([40.0, 1.0]) == [True, False]
    assert e_bh([1.0, 25.0, inf, 30.0]) == [False, False, True, False]
    assert e_bh([1.0, 27.0, inf, 30.0]) == [False, True, True, True]
    assert e_bh([10.0, 1.0], alpha=0.2) == [True, False]
    assert e_bh([2.0]) == [False]


@given(st.lists(st.floats(0, 1e6), max_size=30), st.data())
def test_more_evidence_never_unselects(e_values: list[float], data: st.DataObject) -> None:
    chosen = e_bh(e_values)
    grown = [
        one if is_chosen else one + data.draw(st.floats(0, 1e6))
        for one, is_chosen in zip(e_values, chosen, strict=True)
    ]
    assert all(after for before, after in zip(chosen, e_bh(grown), strict=True) if before)
    selected = [one for one, is_chosen in zip(e_values, chosen, strict=True) if is_chosen]
    assert all(one >= len(e_values) / (0.05 * len(selected)) * (1 - 1e-12) for one in selected)


def test_fisher_is_exact_and_two_sided() -> None:
    assert fisher_p(shown_good=8, shown_bad=2, held_out_good=1, held_out_bad=5) == pytest.approx(0.034965, rel=1e-4)
    assert fisher_p(shown_good=3, shown_bad=1, held_out_good=1, held_out_bad=3) == pytest.approx(0.485714, rel=1e-4)
    assert fisher_p(shown_good=5, shown_bad=5, held_out_good=5, held_out_bad=5) == 1.0
    assert fisher_p(shown_good=0, shown_bad=0, held_out_good=3, held_out_bad=4) == 1.0


@given(counts=counts_of_a_trial)
def test_effect_lies_between_nothing_and_what_was_seen(counts: Counts) -> None:
    a, b, c, d = counts
    found = estimated_effect([as_counts(counts)])
    seen = a / (a + b) - c / (c + d) if a + b and c + d else 0.0
    assert min(0.0, seen) <= found <= max(0.0, seen)
    assert estimated_effect([as_counts((b, a, d, c))]) == pytest.approx(-found)


def test_effect_seen_often_counts_more_than_one_seen_seldom() -> None:
    often = estimated_effect([as_counts((60, 40, 40, 60))])
    seldom = estimated_effect([as_counts((6, 4, 4, 6))])
    assert 0.17 < often < 0.2
    assert 0.05 < seldom < often
    assert estimated_effect([as_counts((6, 4, 0, 0))]) == 0.0


def test_effect_weighs_propensities_by_what_each_of_them_knows() -> None:
    """Many runs at 0.9 know little, since few of them held it out."""
    even = as_counts((60, 40, 40, 60))
    lucky = as_counts((900, 0, 0, 2), 0.9)
    assert abs(estimated_effect([even, lucky]) - estimated_effect([even])) < 0.1
    assert estimated_effect([even, as_counts((60, 40, 40, 60), 0.6)]) > estimated_effect([even])


def test_alternatives_are_few_and_their_shares_sum_to_one() -> None:
    assert sum(one.weight for one in ALTERNATIVES) == pytest.approx(1.0)
    assert len(ALTERNATIVES) <= 5
    assert all(one.with_it > one.without_it for one in ALTERNATIVES)


@given(first=counts_of_a_trial, second=counts_of_a_trial, hurts=st.booleans())
def test_one_bet_holds_for_all_propensities(first: Counts, second: Counts, hurts: bool) -> None:
    """The mixture is over alternatives and not anew for each propensity: splitting a count changes nothing."""
    whole = [as_counts(tuple(map(sum, zip(first, second, strict=True))), 0.6)]  # type: ignore[arg-type]
    split = [as_counts(first, 0.6), as_counts(second, 0.6)]
    assert trial_e_value(split, hurts=hurts) == pytest.approx(trial_e_value(whole, hurts=hurts), rel=1e-9)


@given(counts=counts_of_a_trial, gained=st.integers(0, 40), lost=st.integers(0, 40), hurts=st.booleans())
def test_a_pair_of_replays_is_a_fair_bet_beside_any_runs(counts: Counts, gained: int, lost: int, hurts: bool) -> None:
    """So the chance that a useless idea ever reaches 20 stays 1 in 20, whichever of both come, and in which order."""
    runs = [as_counts(counts, 0.6)]
    won = trial_e_value(runs, gained=gained + 1, lost=lost, hurts=hurts)
    missed = trial_e_value(runs, gained=gained, lost=lost + 1, hurts=hurts)
    assert (won + missed) / 2 == pytest.approx(trial_e_value(runs, gained=gained, lost=lost, hurts=hurts), rel=1e-9)
    assert (won > missed) is not hurts


@given(counts=counts_of_a_trial, gained=st.integers(0, 40), lost=st.integers(0, 40), propensity=propensities)
def test_a_run_is_a_fair_bet_beside_any_pairs(counts: Counts, gained: int, lost: int, propensity: float) -> None:
    def after(one: Counts) -> float:
        return trial_e_value([as_counts(one, propensity)], gained=gained, lost=lost)

    shown_good, shown_bad, held_good, held_bad = (after(one) for one in one_more(counts))
    for shown, held_out in ((shown_good, held_good), (shown_bad, held_bad)):
        assert propensity * shown + (1 - propensity) * held_out == pytest.approx(after(counts), rel=1e-9)


def test_pairs_and_runs_tell_together_how_large_the_effect_is() -> None:
    """Where both speak for a large effect, their evidence is more than the product of each by itself."""
    large, small = [as_counts((30, 10, 10, 30))], [as_counts((22, 18, 18, 22))]
    assert trial_e_value(large, gained=20, lost=2) > 2 * trial_e_value(large) * trial_e_value((), gained=20, lost=2)
    assert trial_e_value(small, gained=20, lost=2) < trial_e_value(small) * trial_e_value((), gained=20, lost=2)


@pytest.mark.parametrize(("without_it", "with_it"), [(0.35, 0.65), (0.35, 0.55), (0.15, 0.35), (0.5, 0.8)])
def test_bets_on_pairs_expect_the_odds_ratio_of_bets_on_runs(without_it: float, with_it: float) -> None:
    """A pair that differs is gained with `p1 (1 - p0)` against `p0 (1 - p1)`, which is the odds ratio."""
    gained, lost = with_it * (1 - without_it), without_it * (1 - with_it)
    ratio = with_it / (1 - with_it) / (without_it / (1 - without_it))
    one = _alternative(1.0, 0.5, ratio)
    assert one.wins == pytest.approx(gained / (gained + lost))
    assert all(_alternative(1.0, middle, 2.3).wins == pytest.approx(2.3 / 3.3) for middle in (0.1, 0.5, 0.9))


def test_evidence_of_pairs_alone() -> None:
    bets = [(one.weight, 2 * one.wins, 2 * (1 - one.wins)) for one in ALTERNATIVES]
    by_hand = sum(weight * won**9 * missed**2 for weight, won, missed in bets)
    assert trial_e_value((), gained=9, lost=2) == pytest.approx(by_hand)
    assert trial_e_value((), gained=2, lost=9, hurts=True) == pytest.approx(by_hand)
    assert trial_e_value(()) == pytest.approx(1.0)


def test_harm_mirrors_benefit() -> None:
    assert trial_e_value([as_counts((40, 20, 20, 40))]) > 20
    assert trial_e_value([as_counts((20, 40, 40, 20))], hurts=True) == pytest.approx(
        trial_e_value([as_counts((40, 20, 20, 40))])
    )


@given(propensity=propensities, good=st.booleans())
def test_a_bet_on_harm_is_fair(propensity: float, good: bool) -> None:
    shown, held_out = (exp(harm_bet(propensity, shown=one, good=good)) for one in (True, False))
    assert propensity * shown + (1 - propensity) * held_out == pytest.approx(1.0)
    assert (shown > held_out) is not good


def test_a_bet_on_harm_is_on_one_in_which_harm_mirrors_benefit() -> None:
    """At one half, rates of about 60 % and 40 %: what is likelier by a fifth wins a fifth."""
    root = 2.3**0.5
    likely, unlikely = log(2 * root / (1 + root)), log(2 / (1 + root))
    for shown, good, won in (
        (True, False, likely),
        (True, True, unlikely),
        (False, True, likely),
        (False, False, unlikely),
    ):
        assert harm_bet(0.5, shown=shown, good=good) == pytest.approx(won)
