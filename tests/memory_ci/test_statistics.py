import random
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisen.memory_ci.statistics import compare_pairs, mcnemar_p, shrunken_rate, sign_e_value, wilson_interval


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
    for _ in range(2_000):
        gained = 0
        for pairs in range(1, 201):
            gained += rng.random() < 0.5
            if sign_e_value(gained, pairs - gained) >= 20:
                certified += 1
                break
    assert certified <= 100


def test_mcnemar_is_exact_and_two_sided() -> None:
    assert mcnemar_p(0, 0) == 1.0
    assert mcnemar_p(5, 5) == 1.0
    assert mcnemar_p(8, 1) == pytest.approx(2 * (comb(9, 0) + comb(9, 1)) / 2**9)
    assert mcnemar_p(1, 8) == mcnemar_p(8, 1)


def test_pairs_are_compared_task_by_task() -> None:
    found = compare_pairs([True, True, False, True], [True, False, True, False])
    assert (found.gained, found.lost) == (2, 1)
    with pytest.raises(ValueError, match="argument 2"):
        compare_pairs([True], [True, False])


def test_rates_are_pulled_towards_the_prior() -> None:
    assert shrunken_rate(0, 0) == 0.5
    assert 0.5 < shrunken_rate(3, 3) < 1.0
    assert shrunken_rate(300, 300) > shrunken_rate(3, 3)


@given(trials=st.integers(1, 200), data=st.data())
def test_interval_holds_the_rate(trials: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, trials))
    low, high = wilson_interval(successes, trials)
    assert 0.0 <= low <= successes / trials + 1e-12
    assert successes / trials - 1e-12 <= high <= 1.0
    assert wilson_interval(0, 0) == (0.0, 1.0)


def test_overwhelming_evidence_is_infinite_and_no_error() -> None:
    assert sign_e_value(5_000, 0) > 1e300
