import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisen.cards import CardEvidence, MemoryCard, MemoryKind, MemoryStatus, Move
from wisen.errors import ConfigError
from wisen.memory_ci.statistics import sign_e_value, trial_e_value
from wisen.memory_ci.verdicts import Rule, needed, promoted_for, replay_finished, replay_verdict, trial_e_value_of
from wisen.trial_records import DrawCounts, Trial

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "card_tests.py"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
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
    assert not replay_finished(6, 0, 293)  # as the one that is left might decide
    assert replay_finished(6, 0, 294)
    assert replay_finished(10, 10, 280)


def test_replay_ends_as_the_rule_says() -> None:
    strict = Rule(promote_at=100.0, archive_at=100.0, max_pairs=8)
    assert not replay_finished(7, 0, 0, replace(strict, max_pairs=300))
    assert replay_finished(0, 0, 0, strict)  # eight pairs all alike decide nothing
    assert not replay_finished(0, 0, 0, replace(strict, max_pairs=9))


def test_evidence_at_the_threshold_decides_a_replay() -> None:
    enough = sign_e_value(5, 0)
    assert replay_verdict(5, 0, Rule(promote_at=enough)) == "helps"
    assert replay_verdict(0, 5, Rule(archive_at=enough)) == "hurts"


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


def test_what_was_counted_by_a_coin_is_weighed_by_that_coin() -> None:
    counts = DrawCounts(propensity=0.85, shown=170, shown_good=110, held_out=30, held_out_good=9)
    assert trial_e_value_of(LIVE) == trial_e_value([counts])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"promote_at": 1.0}, "Rule(promote_at=1.0): must be above 1, which is no evidence at all"),
        ({"archive_at": 0.0}, "Rule(archive_at=0.0): must be above 1, which is no evidence at all"),
        ({"promote_at": float("nan")}, "Rule(promote_at=nan): must be above 1, which is no evidence at all"),
        ({"max_pairs": 0}, "Rule(max_pairs=0): must be at least 1"),
    ],
)
def test_a_rule_that_decides_without_evidence_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Rule(**wrong)
    assert str(refused.value) == said


def test_little_evidence_is_enough_where_the_rule_says_so() -> None:
    assert replay_verdict(1, 0, Rule(promote_at=1.1, archive_at=1.1, max_pairs=1)) == "helps"


class TestPromotedFor:
    def card(self, *after: MemoryStatus, evidence: CardEvidence | None = None) -> MemoryCard:
        """A card that was moved to these statuses, each time on this evidence."""
        moves, before = list[Move](), MemoryStatus.QUARANTINED
        for status in after:
            moves.append(Move(at=NOON, before=before, after=status, why="so it is", evidence=evidence))
            before = status
        return MemoryCard(kind=MemoryKind.LESSON, status=before, history=tuple(moves))

    def test_a_persons_word_holds_for_all_models_and_evidence_for_its_own(self) -> None:
        promoted = self.card(MemoryStatus.PROMOTED)
        assert promoted_for(promoted, model="m", layout="l")
        shown = self.card(MemoryStatus.PROMOTED, evidence=CardEvidence(model="m", layout="l"))
        assert promoted_for(shown, model="m", layout="l")
        assert not promoted_for(shown, model="other", layout="l")
        assert not promoted_for(shown, model="m", layout="other")

    def test_what_isn_t_promoted_is_so_for_no_model(self) -> None:
        assert not promoted_for(self.card(MemoryStatus.PROMOTED, MemoryStatus.ARCHIVED), model="m", layout="l")

    def test_a_card_without_a_history_is_promoted_for_all(self) -> None:
        assert promoted_for(replace(self.card(MemoryStatus.PROMOTED), history=()), model="m", layout="l")

    def test_the_last_promotion_counts_and_a_pin_is_none(self) -> None:
        shown = self.card(MemoryStatus.PROMOTED, evidence=CardEvidence(model="m", layout="l"))
        pin = Move(at=NOON, before=MemoryStatus.PROMOTED, after=MemoryStatus.PROMOTED, why="pinned: it is so")
        assert not promoted_for(replace(shown, history=(*shown.history, pin)), model="other", layout="l")
        by_person = self.card(MemoryStatus.PROMOTED).history
        assert promoted_for(replace(shown, history=(*shown.history, *by_person)), model="other", layout="l")
        assert not promoted_for(replace(shown, history=(*by_person, *shown.history)), model="other", layout="l")


def test_the_benchmark_runs(tmp_path: Path) -> None:
    sizes = ["--cards", "20", "--collections", "1"]
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), *sizes], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    for part in ("One card at a time", "by base rate", "Many cards at once"):
        assert f"{part}" in done.stdout
    assert "nan" not in done.stdout


@pytest.mark.parametrize(
    ("trial", "at"),
    [
        (Trial(stage="on trial", number=5), 100.0),
        (Trial(stage="on trial", number=5, family="examples"), 300.0),
        (Trial(stage="on trial", number=1), 20.0),
        (Trial(stage="recheck", number=5), 20.0),
        (Trial(stage="promoted", number=5, family="examples"), 20.0),
    ],
    ids=["two promoted", "none of its family", "the first", "recheck", "in use"],
)
def test_what_a_trial_needs_follows_from_its_stage_and_its_cohort(trial: Trial, at: float) -> None:
    assert needed(trial, {("", 2): 2}) == pytest.approx(at)
