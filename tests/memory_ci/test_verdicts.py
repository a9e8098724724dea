import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisen.cards import CardEvidence, MemoryCard, MemoryKind
from wisen.errors import ConfigError
from wisen.memory_ci.statistics import sign_e_value
from wisen.memory_ci.verdicts import (
    Rule,
    e_value_of,
    helps_here,
    replay_finished,
    replay_verdict,
    trial_e_value_of,
    trial_verdict,
)

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


def test_trial_compares_shown_runs_with_held_out_ones() -> None:
    assert trial_verdict(LIVE, 0.85) == "helps"
    assert trial_verdict(MIRRORED, 0.85) == "hurts"
    few = CardEvidence(shown=17, shown_successes=11, held_out=3, held_out_successes=1)
    assert trial_verdict(few, 0.85) == "undecided"
    assert trial_verdict(LIVE, 0.85, Rule(promote_at=1_000.0)) == "undecided"


def test_good_runs_alone_say_nothing_about_the_card() -> None:
    """Tags would promote it: nine of ten runs were good, but so were those without it."""
    popular = CardEvidence(shown=850, shown_successes=765, held_out=150, held_out_successes=135)
    assert trial_verdict(popular, 0.85) == "undecided"


def test_a_coin_other_than_the_stated_one_decides_nothing() -> None:
    """Half of the runs were held out, not 15 %, and they were as good: that speaks for both sides."""
    lopsided = CardEvidence(shown=100, shown_successes=50, held_out=100, held_out_successes=50)
    assert trial_verdict(lopsided, 0.85) == "undecided"
    assert trial_verdict(lopsided, 0.5) == "undecided"


def test_a_run_without_a_score_is_not_good_on_either_side() -> None:
    unknown = replace(LIVE, shown_unknown=40, held_out_unknown=10)
    assert trial_verdict(unknown, 0.85) == "helps"
    assert trial_e_value_of(unknown) == trial_e_value_of(LIVE)
    assert trial_e_value_of(unknown, hurts=True) == trial_e_value_of(LIVE, hurts=True)


def test_runs_that_all_lack_a_score_decide_nothing() -> None:
    alone = CardEvidence(propensity=0.85, shown=10, shown_unknown=10, held_out=40, held_out_unknown=40)
    assert trial_e_value_of(alone) > 20
    assert trial_verdict(alone, 0.85) == "undecided"


def test_what_helps_by_checks_alone_has_to_help_whoever_judged() -> None:
    """Under checks the card looks good, since runs that only opinions would have judged count there without a score."""
    checked = replace(LIVE, judged=False, held_out=60, held_out_unknown=30)
    opinions = CardEvidence(
        propensity=0.85, judged=True, shown=200, shown_successes=100, held_out=60, held_out_successes=60
    )
    unknown = replace(opinions, shown=0, shown_successes=0, held_out=30, held_out_successes=0, held_out_unknown=30)
    assert trial_verdict(checked, 0.85) == "helps"
    assert trial_verdict(checked, 0.85, beside=(checked, opinions)) == "undecided"
    assert trial_verdict(checked, 0.85, beside=(checked, replace(opinions, model="other"))) == "helps"
    assert trial_verdict(checked, 0.85, beside=(checked, unknown)) == "helps"
    for evidence, helps in (((checked, unknown), True), ((checked, opinions), False)):
        assert helps_here(MemoryCard(kind=MemoryKind.LESSON, evidence=evidence), model="", layout="") is helps


def test_opinions_do_not_outweigh_harm_that_checks_show() -> None:
    pleased = CardEvidence(propensity=0.85, judged=True, shown=850, shown_successes=800, held_out=150)
    assert trial_verdict(MIRRORED, 0.85, beside=(MIRRORED, pleased)) == "hurts"


@pytest.mark.parametrize("certain", [0.0, 1.0])
def test_runs_that_nothing_was_drawn_for_are_no_evidence(certain: float) -> None:
    always = CardEvidence(shown=500, shown_successes=500)
    assert trial_verdict(always, certain) == "undecided"
    assert e_value_of(always) == 1.0


def test_replays_and_trial_make_one_e_value() -> None:
    replays = CardEvidence(gained=12, lost=1, ties=30)
    assert e_value_of(CardEvidence()) == 1.0
    assert e_value_of(replays) == pytest.approx((sign_e_value(12, 1) + 1) / 2)
    assert e_value_of(replays, hurts=True) < 1.0
    assert e_value_of(LIVE) > 20
    assert e_value_of(MIRRORED, hurts=True) == pytest.approx(e_value_of(LIVE), rel=0.2)
    both = CardEvidence(propensity=0.85, shown=170, shown_successes=110, held_out=30, held_out_successes=9, lost=12)
    assert e_value_of(both) == pytest.approx(e_value_of(LIVE) - 0.5, rel=0.01)
    assert e_value_of(both, hurts=True) > 20


@pytest.mark.parametrize(
    "wrong", [{"promote_at": 1.0}, {"archive_at": 0.0}, {"promote_at": float("nan")}, {"max_pairs": 0}]
)
def test_a_rule_that_decides_without_evidence_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        Rule(**wrong)  # type: ignore[arg-type]


def test_the_benchmark_runs(tmp_path: Path) -> None:
    sizes = ["--cards", "20", "--collections", "1", "--trials", "1"]
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), *sizes], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    for part in ("One card at a time", "by base rate", "Many cards at once", "AUC", "first verdict"):
        assert f"{part}" in done.stdout
    assert "nan" not in done.stdout
