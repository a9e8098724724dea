import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisen.cards import CardEvidence
from wisen.errors import ConfigError
from wisen.memory_ci.verdicts import Rule, replay_finished, replay_verdict, trial_e_value_of

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "card_tests.py"
LIVE = CardEvidence(propensity=0.85, shown=170, shown_successes=110, held_out=30, held_out_successes=9)
MIRRORED = CardEvidence(propensity=0.85, shown=170, shown_successes=60, held_out=30, held_out_successes=21)


def test_seven_pairs_of_seven_decide_a_replay() -> None:
    assert replay_verdict(6, 0) == "undecided"
    assert replay_verdict(7, 0) == "helps"
    assert replay_verdict(0, 7) == "hurts"
    assert replay_verdict(0, 0) == "undecided"
    assert replay_verdict(60, 55) == "undecided"


def test_the_rule_says_how_much_evidence_decides() -> None:
    strict = Rule(promote_at=100.0, archive_at=5.0)
    assert replay_verdict(7, 0, strict) == "undecided"
    assert replay_verdict(9, 0, strict) == "helps"
    assert replay_verdict(0, 4, strict) == "hurts"
    assert replay_verdict(0, 4) == "undecided"


@given(gained=st.integers(0, 150), lost=st.integers(0, 150))
def test_replay_verdicts_are_symmetric_and_side_with_the_larger_count(gained: int, lost: int) -> None:
    found, mirrored = replay_verdict(gained, lost), replay_verdict(lost, gained)
    swapped = {"helps": "hurts", "hurts": "helps", "undecided": "undecided"}
    assert mirrored == swapped[found]
    assert found != "helps" or gained > lost


def test_replay_ends_with_a_verdict_its_pairs_or_its_prospects() -> None:
    assert not replay_finished(0, 0, 0)
    assert not replay_finished(3, 2, 100)
    assert replay_finished(7, 0, 0)
    assert replay_finished(0, 7, 0)
    assert replay_finished(3, 2, 295)
    assert replay_finished(0, 0, 294)  # six pairs all alike decide nothing
    assert not replay_finished(0, 0, 293)
    assert replay_finished(0, 0, 0, Rule(max_pairs=6))
    assert not replay_finished(0, 5, 293)  # the two that are left might still show harm


@given(gained=st.integers(0, 20), lost=st.integers(0, 20), ties=st.integers(0, 20), further=st.lists(st.integers(0, 2)))
def test_no_verdict_is_missed_by_ending(gained: int, lost: int, ties: int, further: list[int]) -> None:
    rule = Rule(max_pairs=40)
    if not replay_finished(gained, lost, ties, rule) or replay_verdict(gained, lost, rule) != "undecided":
        return
    counts = [gained, lost, ties]
    for kind in further[: max(0, 40 - sum(counts))]:
        counts[kind] += 1
        assert replay_verdict(counts[0], counts[1], rule) == "undecided"


def test_what_was_counted_before_trials_has_an_e_value_still() -> None:
    assert trial_e_value_of(LIVE) > 20
    assert trial_e_value_of(LIVE, hurts=True) < 1
    assert trial_e_value_of(MIRRORED, hurts=True) > 20
    assert trial_e_value_of(replace(LIVE, shown_unknown=40)) == trial_e_value_of(LIVE)
    for certain in (0.0, 1.0):
        assert trial_e_value_of(replace(LIVE, propensity=certain)) == 1.0


@pytest.mark.parametrize(
    "wrong", [{"promote_at": 1.0}, {"archive_at": 0.0}, {"promote_at": float("nan")}, {"max_pairs": 0}]
)
def test_a_rule_that_decides_without_evidence_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        Rule(**wrong)  # type: ignore[arg-type]


def test_the_benchmark_runs(tmp_path: Path) -> None:
    sizes = ["--cards", "20", "--collections", "1"]
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), *sizes], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    for part in ("One card at a time", "by base rate", "Many cards at once"):
        assert f"{part}" in done.stdout
    assert "nan" not in done.stdout
