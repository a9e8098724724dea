"""What an attempt came to, as it is recorded and as it counts."""

from dataclasses import replace
from typing import Any

import pytest
from secret_samples import Samples

from wisen import ReflectionEvaluation
from wisen.account.attempt import Account
from wisen.account.attempt_score import evaluation_of_failure, failure_of, good_enough
from wisen.account.counts import Outcome
from wisen.records import Advice, AttemptRecord, Blocked, Injection, LeftOut, TokenUsage, Trace, TraceEvent

SHOWN = Advice(
    section="Ask first.",
    injections=(Injection(card_id="a", kind="lesson", reasons=(), score=0.5),),
    blocked=(Blocked(card_id="b", rules=("overrides",)),),
    left_out=(LeftOut(card_id="c", why="no room"),),
)
OPINION = ReflectionEvaluation(overall_score=0.8, satisfactory=True, issues=("short",), evaluator="judge")
CHECK = ReflectionEvaluation(overall_score=0.8, satisfactory=True, verifiable=True)


def test_the_record_has_the_attempt_as_far_as_it_came() -> None:
    account = Account(
        attempt=2,
        advice=SHOWN,
        spent_before=TokenUsage(requests=1, input_tokens=3, cost_usd=0.25),
        began=2.5,
        failure="odd",
        output="half",
        evaluation=OPINION,
        used=("fetch",),
        did="action: fetch({})",
        lesson_ids=["d"],
    )
    spent = TokenUsage(requests=4, input_tokens=8, output_tokens=2, cost_usd=0.5)
    first = account.recorded(spent=spent, seconds=4.0)
    assert first == AttemptRecord(
        attempt=2,
        output="half",
        failure="odd",
        evaluation=OPINION,
        injections=SHOWN.injections,
        blocked=SHOWN.blocked,
        left_out=SHOWN.left_out,
        advice_delivered=False,
        lesson_ids=("d",),
        used=("fetch",),
        did="action: fetch({})",
        usage=TokenUsage(requests=3, input_tokens=5, output_tokens=2, cost_usd=0.25),
        seconds=1.5,
    )
    account.delivered()
    assert account.recorded(spent=spent, seconds=4.0).advice_delivered is True


@pytest.mark.parametrize(("draw", "settled", "counted"), [("d", True, True), ("d", False, False), ("", True, False)])
def test_the_record_says_whether_the_outcome_was_counted_on_what_was_drawn(
    draw: str, settled: bool, counted: bool
) -> None:
    advice = Advice(injections=(replace(SHOWN.injections[0], draw=draw),))
    account = Account(attempt=1, advice=advice, spent_before=TokenUsage(), settled=settled)
    assert account.recorded(spent=TokenUsage(), seconds=1.0).counted is counted


def happened(*events: tuple[Any, Any]) -> Trace:
    told = (TraceEvent(kind=kind, step=1, at=0.0, data=data) for kind, data in events)
    return Trace(trace_id="t", purpose="p", events=tuple(told))


BEFORE: list[tuple[Any, Any]] = [("action", {"name": "earlier"}), ("error", {"text": "an earlier one"})]


@pytest.mark.parametrize(
    ("events", "tools", "error"),
    [
        ([], (), ""),
        ([("action", {"name": name}) for name in ("look", "read", "look")], ("look", "read"), ""),
        ([("action", {"params": None}), ("observation", {"name": "look", "text": "closed"})], (), ""),
        ([("error", {"text": "first"}), ("error", {"text": "the\n last\ud800", "error": "x"})], (), "the last?"),
        ([("error", {"stage": "recall", "error": "StoreError"}), ("note", {"text": "y"})], (), "StoreError"),
        ([("error", {"text": "first"}), ("error", {"stage": "recall"})], (), ""),
        ([("error", {"text": "no go " * 100})], (), "no go " * 50),
    ],
)
def test_tools_and_the_last_error_are_those_of_the_attempt(events: list[Any], tools: object, error: str) -> None:
    account = Account(attempt=2, advice=SHOWN, spent_before=TokenUsage(), tools=("old",), error="old")
    account.acted(happened(*BEFORE, *events), since=2)
    assert (account.tools, account.error) == (tools, error)
    assert tuple(filter(None, account.used)) == tools


@pytest.mark.parametrize("near", ["head", "tail"])
@pytest.mark.parametrize(("word", "form"), [("ab ", " {key} "), ('"a",', '"key":"{key}",'), ("<p>", "<b>{key}</b>")])
def test_no_part_of_a_secret_stays_where_a_long_result_is_cut(near: str, word: str, form: str) -> None:
    key = Samples(7).prefixed()["github"]
    parts = {key[at : at + 8] for at in range(len(key) - 7)}
    for size in range(690, 760):
        few, many = (word * 300)[:size], word * 1_000
        said = few + form.format(key=key) + many if near == "head" else many + form.format(key=key) + few
        account = Account(attempt=1, advice=SHOWN, spent_before=TokenUsage())
        account.acted(happened(("action", {"name": "look"}), ("observation", {"name": "look", "text": said})), since=0)
        assert "[…]" in account.did
        assert not any(part in account.did for part in parts), size


def test_the_last_error_is_redacted_before_it_is_cut() -> None:
    secret = Samples(7).prefixed()["github"]
    account = Account(attempt=1, advice=SHOWN, spent_before=TokenUsage())
    account.acted(happened(("error", {"text": f"{'no ' * 95}{secret}"})), since=0)
    assert account.error.startswith("no no ")
    assert secret[:10] not in account.error


def test_an_error_is_told_in_one_line_of_bounded_length() -> None:
    assert failure_of(ValueError("an odd\n  total")) == "ValueError: an odd total"
    assert failure_of(ValueError("no go " * 100)) == f"ValueError: {'no go ' * 82}"[:500]


@pytest.mark.parametrize("judged", [None, ReflectionEvaluation(overall_score=None)])
def test_a_failure_that_left_nothing_to_judge_scores_0(judged: ReflectionEvaluation | None) -> None:
    assert evaluation_of_failure("odd", judged) == ReflectionEvaluation(
        overall_score=0.0, issues=("the attempt failed: odd",), verifiable=True, evaluator="execution"
    )


def test_what_a_failure_left_is_judged_and_only_a_check_is_satisfied_with_it() -> None:
    said = "the attempt failed: odd"
    assert evaluation_of_failure("odd", OPINION) == ReflectionEvaluation(
        overall_score=0.8, satisfactory=False, issues=(said, "short"), evaluator="judge"
    )
    assert evaluation_of_failure("odd", CHECK) == ReflectionEvaluation(
        overall_score=0.8, satisfactory=True, issues=(said,), verifiable=True
    )
    bad = ReflectionEvaluation(overall_score=0.1, satisfactory=False, verifiable=True)
    assert not evaluation_of_failure("odd", bad).satisfactory


@pytest.mark.parametrize(
    ("failure", "evaluation", "good"),
    [
        ("", None, False),
        ("", ReflectionEvaluation(overall_score=None), False),
        ("", OPINION, True),
        ("", CHECK, True),
        ("", ReflectionEvaluation(overall_score=0.79), False),
        ("odd", OPINION, False),
        ("odd", CHECK, True),
        ("odd", ReflectionEvaluation(overall_score=0.79, verifiable=True), False),
    ],
)
def test_of_a_failed_attempt_only_a_check_says_that_it_was_good(
    failure: str, evaluation: ReflectionEvaluation | None, good: bool
) -> None:
    assert good_enough(failure, evaluation, 0.8) is good
    account = Account(attempt=1, advice=SHOWN, spent_before=TokenUsage(), failure=failure, evaluation=evaluation)
    unknown = evaluation is not None and evaluation.overall_score is None
    judged = evaluation is not None and not unknown and not evaluation.verifiable
    assert account.outcome(0.8) == Outcome(good=None if unknown else good, judged=judged)
