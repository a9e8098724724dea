"""The live trial as a state machine: each rule that the docs promise."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from math import exp, inf, log, nextafter
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from wisen.errors import ConfigError
from wisen.memory_ci.sequence_numbers import COHORT, cohort_of
from wisen.memory_ci.statistics import shrunken_rate, trial_e_value, trial_log_e_value, wilson_interval
from wisen.memory_ci.trial import (
    TrialRule,
    again,
    base_rate,
    began,
    begins,
    counted,
    decided,
    expired,
    is_losing,
    priority,
    propensity,
    unjudged,
    with_open,
    with_score,
    without,
)
from wisen.memory_ci.verdicts import bar, evidence_of, progress, verdict
from wisen.trial_records import DrawCounts, OpenDraw, Stage, Trial

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "trial_rules.py"
RULE = TrialRule()
WELL = DrawCounts(propensity=0.6, shown=60, shown_good=42, held_out=40, held_out_good=12)
BADLY = DrawCounts(propensity=0.6, shown=60, shown_good=18, held_out=40, held_out_good=28)
LEVEL = DrawCounts(propensity=0.6, shown=120, shown_good=60, held_out=80, held_out_good=40)

LOSING = DrawCounts(propensity=0.6, shown=12, shown_good=4, held_out=8, held_out_good=4)


def on_trial(*counts: DrawCounts, stage: Stage = "on trial", **more: Any) -> Trial:
    return Trial(number=1, stage=stage, first=3, counts=counts, **more)


def drawn(*, shown: bool = True, share: float = 0.6, **more: Any) -> OpenDraw:
    return OpenDraw(shown=shown, propensity=share, **more)


def one_run(trial: Trial, rates: tuple[float, float], chance: Random) -> Trial:
    """One more run, good by the first rate without the idea, and by the second with it."""
    share = propensity(trial)
    if share < 1.0 and not trial.number:
        trial = began(trial, 1)
    shown = chance.random() < share
    return counted(trial, drawn(shown=shown, share=share), chance.random() < rates[shown])


def side_by_side(chance: Random, rates: tuple[float, float], *, slow: bool | None = None, outcome: bool = True) -> str:
    """The first verdict of 40 runs at once, of which some are slow: with an outcome, and the idea shown or not."""
    trial, ends, number = began(Trial(), 1), list[tuple[float, int, OpenDraw, bool]](), 0
    open_draws, now = tuple[OpenDraw, ...](), 0.0
    while number < 200:
        while len(ends) < 40:
            share = propensity(trial)
            draw = drawn(id=str(number := number + 1), shown=chance.random() < share, share=share)
            good = chance.random() < rates[draw.shown]
            lasts = chance.uniform(0.8, 1.2) * (3.0 if draw.shown is slow and good is outcome else 1.0)
            heappush(ends, (now + lasts, number, draw, good))
            open_draws = (*open_draws, draw)
        now, _, draw, good = heappop(ends)
        trial = counted(trial, draw, good)
        open_draws = without(open_draws, next(one for one in open_draws if one.id == draw.id))
        if (said := verdict(trial, at=20.0, open_draws=open_draws)) != "undecided":
            return said
    return "undecided"


def tried(rates: tuple[float, float], chance: Random, *, runs: int = 1_000) -> tuple[str, int]:
    """The first verdict of an idea that is alone in its store, and after how many runs."""
    trial = Trial()
    for run in range(1, runs + 1):
        trial = one_run(trial, rates, chance)
        if (said := verdict(trial, at=bar(trial.number, 0))) != "undecided":
            return said, run
    return "undecided", runs


class TestPropensity:
    def test_the_first_three_deliveries_are_not_held_out(self) -> None:
        trial = Trial()
        for _ in range(3):
            assert propensity(trial) == 1.0
            assert not begins(trial)
            trial = counted(trial, drawn(share=1.0), good=False)
        assert propensity(trial) == 0.6
        assert begins(trial)
        assert trial.runs == 0, "what was certain is no evidence"
        assert (trial.first, trial.first_good) == (3, 0)

    def test_deliveries_whose_outcome_is_open_are_deliveries(self) -> None:
        trial = Trial(model="m", layout="l", first=1)
        mine = [drawn(share=1.0, model="m", layout="l"), drawn(share=1.0, model="m", layout="l")]
        assert propensity(trial, open_draws=mine) == 0.6
        assert propensity(trial, open_draws=mine[:1]) == 1.0
        assert propensity(trial, open_draws=[mine[0], replace(mine[1], model="other")]) == 1.0
        assert propensity(trial, open_draws=[mine[0], replace(mine[1], layout="other")]) == 1.0
        assert propensity(trial, open_draws=[mine[0], replace(mine[1], propensity=0.6)]) == 1.0

    def test_each_stage_has_its_own(self) -> None:
        shares = {
            stage: propensity(on_trial(stage=stage))
            for stage in ("on trial", "promoted", "recheck", "archived", "benched")
        }
        assert shares == {"on trial": 0.6, "promoted": 0.9, "recheck": 0.5, "archived": 0.0, "benched": 0.0}
        rule = TrialRule(holdout=0.2, recheck=0.05, first_shown=0)
        assert propensity(Trial(), rule) == 0.8
        assert propensity(on_trial(stage="promoted"), rule) == 0.95

    @pytest.mark.parametrize("screened", [False, True])
    def test_what_is_losing_is_shown_less_before_the_verdict(self, screened: bool) -> None:
        losing = on_trial(LOSING)
        assert is_losing(losing)
        assert verdict(losing, at=20.0) == "undecided"
        assert propensity(losing, screened=screened) == 0.25
        assert propensity(on_trial(WELL), screened=screened) == (0.9 if screened else 0.6)

    def test_without_a_hold_out_nothing_begins(self) -> None:
        rule = TrialRule(holdout=0.0)
        assert propensity(on_trial(), rule) == 1.0
        assert not begins(Trial(first=3), rule)

    def test_a_trial_begins_with_the_draw_that_may_hold_it_out(self) -> None:
        """It goes by the probability that the draw will have."""
        two = Trial(first=2)
        assert not begins(two)
        assert begins(two, open_draws=[drawn(share=1.0)])
        shows_all = TrialRule(recheck=0.0)
        assert begins(Trial(first=3), shows_all)
        assert not begins(Trial(first=3), shows_all, screened=True)
        assert not begins(Trial(stage="archived")), "what no run is shown has no trial"


class TestCounting:
    @pytest.mark.parametrize("shown", [True, False])
    def test_what_is_unknown_is_not_good_on_either_side(self, shown: bool) -> None:
        unknown = counted(on_trial(WELL), drawn(shown=shown), None)
        bad = counted(on_trial(WELL), drawn(shown=shown), good=False)
        (seen,) = unknown.counts
        assert (seen.shown_unknown, seen.held_out_unknown) == ((1, 0) if shown else (0, 1))
        assert (seen.shown_good, seen.held_out_good) == (WELL.shown_good, WELL.held_out_good)
        for hurts in (False, True):
            assert trial_e_value(unknown.counts, hurts=hurts) == trial_e_value(bad.counts, hurts=hurts)

    def test_a_run_counts_by_the_coin_that_was_tossed_for_it(self) -> None:
        """The idea began to lose between draw and outcome: the draw's probability holds."""
        losing = on_trial(LOSING)
        assert propensity(losing) == 0.25
        (seen,) = counted(losing, drawn(share=0.6), good=True).counts
        assert (seen.propensity, seen.shown, seen.shown_good) == (0.6, 13, 5)
        both = counted(losing, drawn(share=0.25, shown=False), good=True).counts
        assert [(one.propensity, one.runs) for one in both] == [(0.6, 20), (0.25, 1)]

    def test_a_coin_is_a_coin_whoever_judges(self) -> None:
        checked, judged = (counted(on_trial(WELL), drawn(), good=True, judged=one) for one in (False, True))
        assert judged.counts[0].judged == 1
        assert trial_e_value(judged.counts) == trial_e_value(checked.counts)
        assert checked.counts[0].judged == counted(on_trial(WELL), drawn(), good=True).counts[0].judged == 0
        unseen = counted(on_trial(WELL), drawn(shown=False), good=True, judged=True)
        assert (unseen.counts[0].held_out, unseen.counts[0].judged) == (41, 1)

    def test_first_deliveries_count_with_their_outcome_and_apart(self) -> None:
        trial = Trial(first=1, first_good=1)
        outcomes = [counted(trial, drawn(share=1.0), good) for good in (True, False, None)]
        assert [(one.first, one.first_good) for one in outcomes] == [(2, 2), (2, 1), (2, 1)]

    def test_what_was_certain_is_no_evidence_either_way(self) -> None:
        for certain in (drawn(share=1.0), drawn(share=0.0, shown=False)):
            assert counted(on_trial(WELL), certain, good=True).counts == (WELL,)
            assert with_open(on_trial(WELL), [certain]) == (WELL,)

    def test_a_draw_that_is_open_counts_against_what_is_claimed(self) -> None:
        """Its outcome isn't unknown, nor judged by a model: it has none yet."""
        open_draws = [drawn(shown=one, overtaken=True) for one in (True, False, False)]
        helps = replace(WELL, shown=61, held_out=42, held_out_good=WELL.held_out_good + 2)
        hurts = replace(WELL, shown=61, shown_good=WELL.shown_good + 1, held_out=42)
        assert with_open(on_trial(WELL), open_draws) == (helps,)
        assert with_open(on_trial(WELL), open_draws, hurts=True) == (hurts,)
        unknown = [replace(one, unknown=True, overtaken=False) for one in open_draws]
        for against in (False, True):
            ended = with_open(on_trial(WELL), unknown, hurts=against)
            (seen,) = ended
            assert seen == replace(WELL, shown=61, shown_unknown=1, held_out=42, held_out_unknown=2), "no judge"
            assert with_score(ended) == [WELL]
            newest = [replace(one, overtaken=False) for one in open_draws]
            assert with_open(on_trial(WELL), newest, hurts=against) == (WELL,), "the evidence is that of those before"

    def test_a_draw_overtakes_those_before_it_of_its_trial(self) -> None:
        draws = tuple(drawn(id=name, model=model) for name, model in (("a", "m"), ("b", "n"), ("c", "m"), ("d", "m")))
        assert without(draws, draws[2]) == (replace(draws[0], overtaken=True), draws[1], draws[3])
        assert without(draws, draws[0]) == draws[1:]

    def test_once_an_unknown_outcome_was_told_the_others_are_open(self) -> None:
        unknown = [drawn(shown=one, unknown=True, overtaken=True) for one in (True, False, False)]
        last = drawn(shown=False, unknown=True)
        told = counted(on_trial(WELL), drawn(unknown=True), good=False)
        seen = replace(WELL, shown=61)
        assert told.told_later
        helps = replace(seen, shown=62, held_out=42, held_out_good=WELL.held_out_good + 2)
        hurts = replace(seen, shown=62, shown_good=WELL.shown_good + 1, held_out=42)
        assert with_open(told, [*unknown, last]) == (helps,)
        assert with_open(told, [*unknown, last], hurts=True) == (hurts,)
        assert verdict(on_trial(WELL), at=20.0, open_draws=unknown * 8) == "helps", "nothing was told, on either side"
        assert verdict(told, at=20.0, open_draws=unknown * 8) == "undecided"
        assert counted(told, drawn(), good=True).told_later
        for draw, good in ((drawn(), True), (drawn(unknown=True), None)):
            assert not counted(on_trial(WELL), draw, good).told_later, "it was known at once, or is unknown for good"
        assert counted(Trial(), drawn(share=1.0, unknown=True), good=True).told_later

    def test_without_a_judge_a_draw_keeps_its_place_and_overtakes_others_until_one_was_told(self) -> None:
        draws = tuple(drawn(id=name) for name in "abc")
        unknown = replace(draws[1], unknown=True)
        overtaken = replace(draws[0], overtaken=True)
        assert unjudged(draws, draws[1], on_trial()) == (overtaken, unknown, draws[2])
        assert unjudged(draws, draws[1], on_trial(told_later=True)) == (draws[0], unknown, draws[2])

    @given(
        counts=st.tuples(*[st.integers(0, 30)] * 8),
        good=st.booleans(),
        screened=st.booleans(),
        hurts=st.booleans(),
    )
    def test_the_next_run_is_a_fair_bet_whatever_was_seen(
        self, counts: Sequence[int], good: bool, screened: bool, hurts: bool
    ) -> None:
        trial = on_trial(*(self.some(share, counts[at : at + 4]) for at, share in ((0, 0.6), (4, 0.25))))
        share = propensity(trial, screened=screened)
        shown, held_out = (
            trial_e_value(counted(trial, drawn(shown=one, share=share), good).counts, hurts=hurts)
            for one in (True, False)
        )
        before = trial_e_value(trial.counts, hurts=hurts)
        assert share * shown + (1 - share) * held_out == pytest.approx(before, rel=1e-9)

    @staticmethod
    def some(share: float, counts: Sequence[int]) -> DrawCounts:
        a, b, c, d = counts
        return DrawCounts(propensity=share, shown=a + b, shown_good=a, held_out=c + d, held_out_good=c)

    def test_draws_without_an_outcome_expire_after_the_grace(self) -> None:
        now = datetime(2026, 1, 2, 12, tzinfo=UTC)
        late, just = drawn(at=now - timedelta(hours=24)), drawn(at=now - timedelta(hours=23, minutes=59))
        assert expired([late, just], now) == [late]
        short = drawn(at=now - timedelta(hours=1), grace=timedelta(hours=1))
        assert expired([late, just, short], now) == [late, short]


class TestBar:
    def test_the_first_trial_needs_no_more_than_an_idea_alone(self) -> None:
        assert bar(1, 0) == pytest.approx(20.0)
        assert bar(0, 5) == inf

    def test_no_trial_needs_less_than_an_idea_alone(self) -> None:
        assert all(bar(number, promoted) >= 20.0 for number in range(1, 70) for promoted in (0, 5, 10_000))
        assert bar(7, 10**9) == 20.0
        assert bar(7, 10**9, TrialRule(promote_at=100.0)) == 100.0

    @pytest.mark.parametrize("cohort", [1, 2, 40])
    def test_the_trials_of_a_cohort_together_spend_the_permitted_share(self, cohort: int) -> None:
        """FDR is at most the sum of `false_discoveries * share`, since each e-value is 1 on average if it is null."""
        rule = TrialRule(promote_at=1.0001, false_discoveries=0.1)
        members = [number for number in range(1, 1_300) if cohort_of(number) == cohort]
        assert len(members) == (1 if cohort == 1 else COHORT)
        assert sum(1 / bar(number, 0, rule) for number in members) == pytest.approx(0.1)

    def test_each_promotion_makes_the_next_one_easier_and_age_makes_none_harder(self) -> None:
        assert bar(30, 4) == pytest.approx(bar(30, 0) / 5)
        assert bar(2, 0) == bar(31, 0) == bar(32, 0) == bar(100_000, 0) == pytest.approx(300.0)
        assert bar(30, 0, TrialRule(false_discoveries=0.05)) == pytest.approx(2 * bar(30, 0))
        assert [cohort_of(number) for number in (0, 1, 2, 31, 32, 61, 62)] == [0, 1, 2, 2, 3, 3, 4]


class TestVerdict:
    def test_what_helps_hurts_and_makes_no_difference(self) -> None:
        assert verdict(on_trial(WELL), at=20.0) == "helps"
        assert verdict(on_trial(LEVEL), at=20.0) == "no difference"
        assert verdict(on_trial(BADLY), TrialRule(no_difference_at=1e9), at=20.0) == "hurts"
        assert verdict(on_trial(BADLY), at=20.0) in ("hurts", "no difference")
        assert verdict(on_trial(), at=20.0) == "undecided"

    def test_only_what_is_on_trial_is_promoted_and_only_over_its_bar(self) -> None:
        e_value = trial_e_value(on_trial(WELL).counts)
        assert verdict(on_trial(WELL), at=e_value * 1.01) == "undecided"
        assert verdict(on_trial(WELL), at=e_value * 0.99) == "helps"
        assert verdict(on_trial(WELL)) == "undecided", "without a bar nothing is promoted"
        stages: tuple[Stage, ...] = ("waiting", "promoted", "archived", "benched")
        assert {verdict(on_trial(WELL, stage=stage), at=1.5) for stage in stages} == {"undecided"}

    def test_late_failures_and_early_successes_can_not_win(self) -> None:
        """Until an outcome is reported, it counts against what would be decided."""
        trial = on_trial(WELL)
        for shown in (True, False):
            hanging = [drawn(shown=shown, overtaken=True) for _ in range(20)]
            assert verdict(trial, at=20.0, open_draws=hanging) == "undecided"
            assert verdict(trial, at=20.0, open_draws=[replace(one, model="other") for one in hanging]) == "helps"
            assert verdict(trial, at=20.0, open_draws=[replace(one, propensity=1.0) for one in hanging]) == "helps"

    @pytest.mark.parametrize("shown", [True, False])
    def test_early_failures_and_late_successes_can_not_lose(self, *, shown: bool) -> None:
        hanging = [drawn(shown=shown, overtaken=True) for _ in range(20)]
        weak = replace(LEVEL, shown=84, shown_good=42, held_out=56, held_out_good=28)
        assert verdict(on_trial(weak), at=20.0) == "no difference"
        assert verdict(on_trial(weak), at=20.0, open_draws=hanging) == "undecided"
        for stage in ("on trial", "promoted"):
            assert verdict(on_trial(BADLY, stage=stage), at=20.0) == "hurts"
            assert verdict(on_trial(BADLY, stage=stage), at=20.0, open_draws=hanging) != "hurts"

    @pytest.mark.no_cover
    @pytest.mark.parametrize("slow", ["shown", "held out"])
    @pytest.mark.parametrize("outcome", [True, False])
    def test_how_long_a_run_takes_proves_nothing(self, *, slow: str, outcome: bool) -> None:
        """40 runs at once, of which some take three times as long, and no outcome that rests on the idea."""
        promoted = [
            side_by_side(Random(f"{slow} {outcome} {trial}"), (0.5, 0.5), slow=slow == "shown", outcome=outcome)
            for trial in range(20)
        ]
        assert promoted.count("helps") <= 2

    @pytest.mark.no_cover
    def test_what_helps_is_found_beside_as_many_runs_at_once(self) -> None:
        found = [side_by_side(Random(f"at once {trial}"), (0.35, 0.65)) for trial in range(20)]
        assert found.count("helps") >= 12

    def test_replays_and_runs_are_one_e_value(self) -> None:
        some = on_trial(replace(WELL, shown=30, shown_good=20, held_out=20, held_out_good=8))
        assert verdict(some, at=20.0) == "undecided"
        assert verdict(some, at=20.0, gained=6) == "helps"
        both = trial_log_e_value(some.counts, gained=6, lost=1)
        assert verdict(some, at=at_exactly(both), gained=6, lost=1) == "helps"
        assert verdict(some, at=at_exactly(both) * 1.01, gained=6, lost=1) == "undecided"
        assert evidence_of(some, gained=6, lost=1) == both
        open_draws = [drawn(overtaken=True)] * 3
        late = trial_log_e_value(with_open(some, open_draws), gained=6, lost=1)
        assert evidence_of(some, gained=6, lost=1, open_draws=open_draws) == late < both
        assert verdict(some, at=20.0, lost=20) in ("hurts", "no difference")
        fading = on_trial(replace(LEVEL, shown=66, shown_good=33, held_out=44, held_out_good=22))
        assert verdict(fading, at=20.0) == "undecided"
        assert verdict(fading, at=20.0, gained=1, lost=4) == "no difference"

    def test_a_recheck_is_no_new_discovery_and_asks_for_more_before_it_gives_up(self) -> None:
        again_good = on_trial(WELL, stage="recheck")
        assert verdict(again_good) == "helps"
        assert verdict(again_good, open_draws=[drawn(overtaken=True)] * 20) == "undecided"
        weak = replace(LEVEL, shown=84, shown_good=42, held_out=56, held_out_good=28)
        assert 20 < 1 / trial_e_value(on_trial(weak).counts) < 50
        assert verdict(on_trial(weak), at=20.0) == "no difference"
        assert verdict(on_trial(weak, stage="recheck")) == "undecided"
        assert verdict(on_trial(LEVEL, stage="recheck"), gained=30) == "no difference", "its own runs alone count"
        assert verdict(on_trial(weak, stage="recheck"), gained=30) == "undecided"
        assert verdict(on_trial(weak, stage="recheck"), lost=30) == "undecided"

    def test_a_promoted_idea_can_only_be_said_to_hurt(self) -> None:
        few_held_out = replace(BADLY, propensity=0.9, shown=300, shown_good=120, held_out=34, held_out_good=28)
        assert verdict(on_trial(few_held_out, stage="promoted")) == "hurts"
        assert verdict(on_trial(LEVEL, stage="promoted")) == "undecided"


class TestStages:
    def test_a_trial_begins_with_its_number_and_keeps_it(self) -> None:
        trial = began(Trial(first=3), 7)
        assert (trial.number, trial.stage) == (7, "on trial")
        assert not begins(trial)
        with pytest.raises(ValueError, match="start at 1"):
            began(Trial(), 0)
        with pytest.raises(ValueError, match="trial 7 can't begin as 8"):
            began(trial, 8)
        assert began(Trial(number=7), 7) == began(Trial(), 7)
        assert began(Trial(stage="recheck"), 7).stage == "recheck"

    def test_what_a_verdict_changes(self) -> None:
        for said, stage in (("helps", "promoted"), ("hurts", "archived"), ("no difference", "benched")):
            done = decided(on_trial(WELL), said)
            assert (done.stage, done.counts, done.before) == (stage, (), (WELL,))
        assert decided(on_trial(WELL), "undecided") == on_trial(WELL)
        assert decided(on_trial(WELL), "helps").expected == pytest.approx(wilson_interval(42, 60, z=1.0)[0])
        assert decided(on_trial(LEVEL, stage="recheck"), "no difference").stage == "archived"

    def test_trying_again_is_a_new_hypothesis(self) -> None:
        benched = decided(on_trial(LEVEL, model="m", layout="l"), "no difference")
        new = again(benched)
        assert new == Trial(model="m", layout="l", before=(LEVEL,), rounds=1)
        assert bar(new.number, 3) == inf
        assert again(new).rounds == 2

    def test_states_are_stored_and_fields_that_are_missing_have_defaults(self) -> None:
        trial = on_trial(WELL, BADLY, model="m", sagging=1.5, before=(LEVEL,))
        draw = drawn(id="n", at=datetime(2026, 1, 1, tzinfo=UTC), run_id="r", unknown=True)
        for kind, value in ((Trial, trial), (OpenDraw, draw)):
            adapter = TypeAdapter[Any](kind)
            assert adapter.validate_json(adapter.dump_json(value)) == value
            assert adapter.validate_python({}) == kind()

    @pytest.mark.parametrize(
        "wrong",
        [
            {"holdout": -0.1},
            {"holdout": 0.6},
            {"recheck": 0.6},
            {"promote_at": 1.0},
            {"archive_at": float("nan")},
            {"no_difference_at": 0.5},
            {"false_discoveries": 0.0},
            {"false_discoveries": 1.1},
            {"first_shown": -1},
            {"at_once": 0},
            {"grace": timedelta(0)},
        ],
    )
    def test_rules_that_decide_without_evidence_are_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            TrialRule(**wrong)

    def test_the_ends_of_what_is_permitted_are_permitted(self) -> None:
        rule = TrialRule(holdout=0.5, recheck=0.5, false_discoveries=1.0, at_once=1)
        assert propensity(on_trial(), rule) == propensity(on_trial(stage="promoted"), rule) == 0.5


class TestPlaces:
    def test_what_is_taught_more_often_is_tried_first(self) -> None:
        assert priority(Trial(), told=3) > priority(Trial(), told=2) > priority(Trial(), told=1)
        assert priority(Trial(), verified=True) > priority(Trial())
        assert priority(Trial(), gained=6) > priority(Trial(), told=7) > priority(Trial(), gained=6, lost=1)

    def test_what_is_on_trial_keeps_its_place_for_a_while(self) -> None:
        begun = Trial(number=1, stage="on trial")
        assert priority(begun) > priority(Trial(), told=9)
        assert priority(begun) < priority(Trial(), told=11)

    def test_what_waits_for_the_outcome_of_its_first_deliveries_keeps_its_place_too(self) -> None:
        delivered = priority(Trial(model="m"), open_draws=[drawn(share=1.0, model="m")])
        assert delivered == priority(Trial(number=1, stage="on trial"))
        assert priority(Trial(model="m"), open_draws=[drawn(share=1.0, model="n")]) == priority(Trial())

    def test_first_deliveries_say_which_idea_is_worth_a_trial(self) -> None:
        well, badly = Trial(first=3, first_good=3), Trial(first=3)
        assert priority(well) > priority(Trial(first=3, first_good=2)) > priority(badly)
        assert priority(badly) < priority(Trial()) < priority(well), "in hard tasks others get their turn"
        assert trial_log_e_value(well.counts) == trial_log_e_value(badly.counts), "but they are no evidence"

    def test_first_deliveries_are_measured_against_the_situations_own_rate(self) -> None:
        """Where nearly everything goes well, a good run says little for an idea, and a bad one much against it."""
        well, badly = Trial(first=1, first_good=1), Trial(first=1)
        easy, hard = (base_rate([Trial(first=100, first_good=good)]) for good in (95, 5))
        assert priority(well, base=hard) > priority(well) > priority(well, base=easy)
        assert priority(badly, base=easy) < priority(badly) < priority(badly, base=hard)
        assert base_rate([]) == 0.5

    def test_the_situations_rate_is_of_all_runs_of_all_its_ideas(self) -> None:
        some = [Trial(first=3, first_good=2), on_trial(WELL, BADLY), Trial(first=1)]
        good, runs = 2 + (42 + 12) + (18 + 28), 3 + (3 + 100 + 100) + 1
        assert base_rate(some) == pytest.approx(shrunken_rate(good, runs))

    def test_each_hint_moves_the_odds_by_what_it_says(self) -> None:
        """With an idea worth trying, one half of good runs becomes five sixths."""
        assert priority(Trial(first=1, first_good=1)) == pytest.approx(log(10) + log(5 / 3))
        assert priority(Trial(first=1)) == pytest.approx(log(10) + log(1 / 3))
        assert priority(Trial(), gained=2, lost=3) == pytest.approx(trial_log_e_value((), gained=2, lost=3))

    def test_evidence_outweighs_how_often_it_was_taught(self) -> None:
        assert priority(on_trial(WELL)) > priority(on_trial(LEVEL), told=100)
        assert priority(on_trial(LEVEL), told=3) < priority(Trial())


class TestAlarm:
    def test_each_run_moves_the_sum_by_how_much_likelier_it_is_of_an_idea_that_sags(self) -> None:
        """The odds have fallen to 0.4 times what was expected."""
        trial = on_trial(stage="promoted", expected=0.65)
        odds = 0.4 * 0.65 / 0.35
        worse = odds / (1 + odds)
        bad = counted(trial, drawn(share=1.0), good=False)
        assert bad.sagging == pytest.approx(log((1 - worse) / 0.35))
        assert counted(bad, drawn(share=1.0), good=True).sagging == pytest.approx(bad.sagging + log(worse / 0.65))
        assert bad.harming == 0.0, "without a coin there is no bet"

    def test_good_runs_leave_no_credit_and_no_suspicion(self) -> None:
        trial = on_trial(stage="promoted", expected=0.65)
        for _ in range(5):
            trial = counted(trial, drawn(share=0.9), good=True)
        assert (trial.sagging, trial.harming) == (0.0, 0.0)

    def test_a_row_of_failures_raises_suspicion_also_after_many_good_runs(self) -> None:
        trial = on_trial(stage="promoted", expected=0.65)
        for run in range(500):
            trial = counted(trial, drawn(share=0.9), good=run % 3 != 0)
        assert (trial.stage, trial.runs) == ("promoted", 500)
        for _ in range(12):
            trial = counted(trial, drawn(share=0.9), good=False)
        assert (trial.stage, trial.rechecks) == ("recheck", 1)
        assert (trial.sagging, trial.harming) == (0.0, 0.0)
        assert sum(one.runs for one in trial.before) >= 500
        assert trial.runs < 12, "the recheck has counts of its own"

    def test_failures_of_runs_that_did_not_see_it_raise_none(self) -> None:
        trial = on_trial(stage="promoted", expected=0.65)
        for _ in range(30):
            trial = counted(trial, drawn(share=0.9, shown=False), good=False)
        assert trial.stage == "promoted"

    def test_coins_raise_suspicion_where_its_own_rate_is_not_known_or_stays(self) -> None:
        trial = on_trial(stage="promoted")
        for run in range(200):
            held_out = run % 10 == 0
            trial = counted(trial, drawn(share=0.9, shown=not held_out), good=held_out or run % 2 == 0)
            if trial.stage != "promoted":
                break
        assert trial.stage == "recheck"

    def test_without_a_hold_out_its_own_rate_is_watched(self) -> None:
        trial = on_trial(stage="promoted", expected=0.9)
        for _ in range(6):
            trial = counted(trial, drawn(share=1.0), good=False)
        assert trial.stage == "recheck"

    @pytest.mark.parametrize("quiet", [0, 500])
    def test_harm_is_noticed_within_two_hundred_runs(self, quiet: int) -> None:
        chance, needed = Random(f"harm {quiet}"), list[int]()
        for _ in range(15):
            trial = on_trial(stage="promoted", expected=0.65)
            for run in range(quiet + 1_000):
                trial = one_run(trial, (0.35, 0.65) if run < quiet else (0.65, 0.45), chance)
                trial = decided(trial, verdict(trial))
                if trial.stage == "archived":
                    needed.append(run - quiet)
                    break
        assert median(needed) <= 200
        assert min(needed) > 0

    def test_an_idea_that_stays_good_stays(self) -> None:
        chance = Random("stays")
        for _ in range(10):
            trial = on_trial(stage="promoted", expected=0.65)
            for _ in range(1_000):
                trial = one_run(trial, (0.35, 0.65), chance)
                trial = decided(trial, verdict(trial))
            assert trial.stage in ("promoted", "recheck")


class TestMeasured:
    """What the docs say of the defaults, on fewer trials than the benchmark."""

    def test_an_idea_that_lifts_by_thirty_is_decided_within_120_runs(self) -> None:
        chance = Random("thirty")
        found = [tried((0.35, 0.65), chance) for _ in range(100)]
        assert median(runs for _, runs in found) <= 90
        assert sum(said == "helps" for said, _ in found) >= 95

    @pytest.mark.no_cover
    @pytest.mark.parametrize("rates", [(0.35, 0.55), (0.3, 0.5), (0.4, 0.6)])
    def test_an_idea_that_lifts_by_twenty_is_found_within_300_runs(self, rates: tuple[float, float]) -> None:
        chance = Random(f"twenty {rates}")
        found = [tried(rates, chance, runs=300)[0] for _ in range(100)]
        assert found.count("helps") >= 78

    @pytest.mark.no_cover
    @pytest.mark.parametrize(("rates", "most"), [((0.35, 0.35), 0.05), ((0.9, 0.9), 0.05), ((0.35, 0.15), 0.01)])
    def test_what_does_not_help_is_seldom_promoted_however_often_one_looks(
        self, rates: tuple[float, float], most: float
    ) -> None:
        chance = Random(f"useless {rates} 1")
        found = [tried(rates, chance)[0] for _ in range(1_000)]
        assert found.count("helps") <= most * 1_000
        assert found.count("undecided") <= 50, "each trial ends"


def test_progress_is_told_in_words() -> None:
    counts = DrawCounts(propensity=0.6, shown=20, shown_good=13, held_out=14, held_out_good=5)
    said = progress(on_trial(counts), at=20.0)
    assert (said.runs, said.standing) == (37, "ahead")
    assert said.text == f"on trial, 37 of about {said.of_about} runs, ahead"
    assert 60 <= said.of_about <= 120
    assert progress(Trial()).standing == "level"
    assert 80 <= progress(Trial()).of_about <= 100
    assert progress(on_trial(BADLY)).standing == "behind"
    assert progress(on_trial(counts), at=1_000.0).of_about > said.of_about


def test_progress_goes_by_the_evidence_so_far_the_rule_and_the_bar() -> None:
    well = on_trial(DrawCounts(propensity=0.6, shown=20, shown_good=13, held_out=14, held_out_good=5))
    badly = on_trial(DrawCounts(propensity=0.6, shown=12, shown_good=3, held_out=8, held_out_good=5))
    patient = TrialRule(no_difference_at=1_000.0, holdout=0.2)
    told = [
        progress(Trial()),
        progress(well),
        progress(replace(well, first=1)),
        progress(well, at=100.0),
        progress(on_trial(WELL)),
        progress(badly),
        progress(badly, at=100.0),
        progress(badly, patient),
    ]
    assert [(one.runs, one.of_about, one.standing) for one in told] == [
        (0, 92, "level"),
        (37, 94, "ahead"),
        (35, 94, "ahead"),
        (37, 143, "ahead"),
        (103, 104, "ahead"),
        (23, 38, "behind"),
        (23, 38, "behind"),
        (23, 129, "behind"),
    ]


def test_progress_counts_replays_while_they_decide() -> None:
    level = DrawCounts(propensity=0.6, shown=20, shown_good=10, held_out=14, held_out_good=7)
    assert progress(on_trial(level)).standing == "level"
    ahead = progress(on_trial(level), gained=6)
    assert (ahead.standing, progress(on_trial(level), lost=6).standing) == ("ahead", "behind")
    made = trial_log_e_value((level,), gained=6)
    assert ahead.of_about == 37 + round((log(20.0) - made) / (0.035 * 4 * 0.6 * 0.4 * 60 / 94)), "at the pace of runs"
    assert progress(on_trial(level, stage="recheck"), gained=6).standing == "level"


def test_progress_ends_with_the_deliveries_where_nothing_is_ever_held_out() -> None:
    shows_all = TrialRule(holdout=0.0)
    assert progress(Trial(), shows_all).text == "on trial, 0 of about 3 runs, level"
    assert progress(on_trial(WELL), shows_all).text == "on trial, 103 of about 103 runs, ahead"


def at_exactly(logarithm: float) -> float:
    """A number whose logarithm is this one, to the last bit."""
    found = exp(logarithm)
    while log(found) < logarithm:
        found = nextafter(found, inf)
    while log(found) > logarithm:
        found = nextafter(found, 0.0)
    assert log(found) == logarithm
    return found


def test_evidence_at_the_threshold_decides_a_trial() -> None:
    well, badly, level = on_trial(WELL), on_trial(BADLY), on_trial(LEVEL)
    assert verdict(well, at=at_exactly(trial_log_e_value(well.counts))) == "helps"
    enough = at_exactly(trial_log_e_value(badly.counts, hurts=True))
    assert verdict(badly, TrialRule(archive_at=enough, no_difference_at=1e9)) == "hurts"
    assert verdict(replace(badly, stage="promoted"), TrialRule(archive_at=enough)) == "hurts"
    enough = at_exactly(-trial_log_e_value(level.counts))
    assert verdict(level, TrialRule(no_difference_at=enough)) == "no difference"


def test_the_benchmark_runs(tmp_path: Path) -> None:
    sizes = ["--trials", "2", "--runs", "60"]
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), *sizes], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    for name in ("alone", "holdout", "stores", "turning", "estimates", "others"):
        assert f"**{name}**" in done.stdout
    assert "nan" not in done.stdout
