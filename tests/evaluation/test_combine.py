"""Several evaluators as one, and evaluators made from what people write."""

# ruff: noqa: ARG001, ARG005 - a check may ignore what it is given
# Checks are written as lambdas, whose parameters have no types:
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

import re
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.models import Model

from wisen import Agent, InMemoryVectorStore, ReAct, ReflectionPattern, Reflexion
from wisen.errors import BudgetExceededError, ConfigError, EvaluationError
from wisen.evaluation.build import as_evaluator, build_evaluator
from wisen.evaluation.combine import AllOf, Weighted
from wisen.evaluation.function import FunctionEvaluator
from wisen.evaluation.judge import JudgeEvaluator
from wisen.models.scripted import ScriptedModel
from wisen.protocols import Evaluator
from wisen.records import ReflectionEvaluation, Task, Trace

pytestmark = pytest.mark.anyio

TASK = Task(prompt="a capital", reference="Paris")
TRACE = Trace(trace_id="t", purpose=TASK.prompt)


def says(score: object, name: str = "check", *, verifiable: bool = True) -> FunctionEvaluator:
    return FunctionEvaluator(lambda output: score, name=name, verifiable=verifiable, inline=True)


def fails(error: Exception, name: str = "broken") -> FunctionEvaluator:
    def check(output: str) -> bool:
        raise error

    return FunctionEvaluator(check, name=name, inline=True)


async def verdict(evaluator: Evaluator, output: str = "Paris") -> ReflectionEvaluation:
    return await evaluator.evaluate(TASK, output, TRACE)


async def test_all_pass():
    judge = JudgeEvaluator(model=ScriptedModel(["score: 0.9\nNo source."]))
    found = await verdict(AllOf(judge, says(1.0), says((0.95, "long"))))
    assert found == ReflectionEvaluation(
        overall_score=0.9,
        satisfactory=True,
        criteria_scores={"check": 1.0, "check 2": 0.95, "judge": 0.9},
        issues=("long", "No source."),
        evaluator="all_of",
    )


async def test_a_failed_check_spares_the_judge():
    model = ScriptedModel(["score: 1"])
    found = await verdict(AllOf(JudgeEvaluator(model=model), says(True), says((False, "wrong"), "exact")))
    assert (found.overall_score, found.satisfactory, found.verifiable) == (0.0, False, True)
    assert found.criteria_scores == {"check": 1.0, "exact": 0.0}
    assert found.issues == ("wrong",)
    assert model.calls == []


async def test_only_checks_are_verifiable():
    assert (await verdict(AllOf(says(True), says(True)))).verifiable
    assert not (await verdict(AllOf(says(True), says(True, verifiable=False)))).verifiable


async def test_an_unknown_member_makes_all_unknown():
    with pytest.raises(EvaluationError, match="broken"):
        await verdict(AllOf(says(True), fails(ValueError())))


async def test_weights():
    found = await verdict(Weighted([(says(1.0, "a"), 3), (says((0.0, "wrong"), "b", verifiable=False), 1)]))
    assert found == ReflectionEvaluation(
        overall_score=0.75,
        criteria_scores={"a": 1.0, "b": 0.0},
        issues=("wrong",),
        evaluator="weighted",
    )
    assert (await verdict(Weighted({says(0.5): 0.1}, threshold=0.5))).satisfactory


async def test_an_unknown_member_of_weighted():
    members = [(says(0.5), 1.0), (fails(ValueError()), 9.0)]
    with pytest.raises(EvaluationError, match="broken"):
        await verdict(Weighted(members))
    found = await verdict(Weighted(members, ignore_unknown=True))
    assert (found.overall_score, found.criteria_scores) == (0.5, {"check": 0.5})
    with pytest.raises(EvaluationError, match="all its members"):
        await verdict(Weighted(members[1:], ignore_unknown=True))


async def test_a_budget_is_never_ignored():
    with pytest.raises(BudgetExceededError):
        await verdict(Weighted([(says(1), 1), (fails(BudgetExceededError("requests", 1, 1)), 1)], ignore_unknown=True))


async def test_binding_reaches_every_judge():
    def bind(model: Model | str | None, purpose: str) -> Model:
        return ScriptedModel(["score: 0.5"])

    nested = AllOf(says(True), Weighted([(JudgeEvaluator(), 1), (says(0.5), 1)], threshold=0.4))
    assert (await verdict(nested.bound(bind))).overall_score == 0.5


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.001, 1000)), min_size=1, max_size=6))
async def test_a_weighted_score_lies_between_its_members(members: list[tuple[float, float]]):
    found = await verdict(Weighted([(says(score), weight) for score, weight in members]))
    assert found.overall_score is not None
    assert min(score for score, _ in members) <= found.overall_score <= max(score for score, _ in members)


@pytest.mark.parametrize("weight", [0, -1, float("nan"), float("inf")])
async def test_weights_are_positive(weight: float):
    with pytest.raises(ConfigError, match="weight"):
        Weighted([(says(1), weight)])


async def test_there_has_to_be_a_member():
    with pytest.raises(ConfigError):
        AllOf()
    with pytest.raises(ConfigError):
        Weighted([])
    with pytest.raises(ConfigError):
        Weighted([(says(1), 1)], threshold=7)


async def test_what_counts_as_an_evaluator():
    own = says(True)
    assert as_evaluator(own) is own
    assert (await verdict(as_evaluator(re.compile("Par")))).satisfactory
    assert (await verdict(as_evaluator(lambda output: output == "Paris"))).satisfactory
    assert (await verdict(as_evaluator([re.compile("Par"), lambda output: (False, "no")]))).issues == ("no",)
    with pytest.raises(ConfigError, match="int is no evaluator"):
        as_evaluator(3)  # pyright: ignore[reportArgumentType] - what the check is for


BUILT: list[tuple[str, dict[str, object]]] = [
    ("exact", {}),
    ("exact", {"reference": "Paris"}),
    ("normalised", {"reference": "PARIS"}),
    ("reference", {"normalise": False}),
    ("regex", {"pattern": "p.r", "flags": ["ignore_case"]}),
    ("json_schema", {"schema": True, "name": "x"}),
    ("command", {"command": ["true"], "timeout": 5, "limits": {"processes": 5}}),
    ("python_tests", {"tests": "assert Paris", "entry": "Paris", "limits": {"wall_seconds": 5}}),
    ("function", {"function": "operator:truth"}),
    ("all_of", {"evaluators": [{"kind": "exact"}, {"kind": "regex", "pattern": "s$"}]}),
    ("weighted", {"evaluators": [{"kind": "exact", "weight": 2}, {"kind": "normalised"}], "threshold": 1}),
]


@pytest.mark.parametrize(("kind", "options"), BUILT, ids=range(len(BUILT)))
async def test_kinds_of_a_tasks_file(kind: str, options: Mapping[str, object]):
    output = {"json_schema": "[]", "python_tests": "Paris = 1"}.get(kind, "Paris")
    assert (await verdict(build_evaluator(kind, options), output)).satisfactory


async def test_a_judge_of_a_tasks_file():
    assert isinstance(build_evaluator("judge", {"model": "a:b", "threshold": 0.5}), JudgeEvaluator)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("regx", {}, "did you mean 'regex'"),
        ("zzz", {}, "valid: all_of, command"),
        ("regex", {}, "needs the option 'pattern'"),
        ("regex", {"patern": "x"}, "did you mean 'pattern'"),
        ("regex", {"pattern": 3}, "must be text"),
        ("regex", {"pattern": "x", "full": 1}, "must be true or false"),
        ("regex", {"pattern": "x", "flags": ["ignorecase"]}, "did you mean 'ignore_case'"),
        ("regex", {"pattern": "("}, "pattern="),
        ("judge", {"threshold": True}, "a whole number or a number"),
        ("command", {"command": ["x"], "limits": {"memory": 1}}, "did you mean 'memory_bytes'"),
        ("command", {"command": ["x"], "limits": {"processes": 1.5}}, "whole number"),
        ("command", {"command": ["x"], "limits": {"processes": "1"}}, "a number"),
        ("function", {"function": "nothing"}, "module:function"),
        ("function", {"function": "no_such_module:f"}, "can't be imported"),
        ("function", {"function": "os:nothing"}, "can't be imported"),
        ("function", {"function": "os:sep"}, "isn't a function"),
        ("all_of", {"evaluators": []}, "at least one"),
        ("all_of", {"evaluators": ["exact"]}, "member 1"),
        ("all_of", {"evaluators": [{"kind": "exact", "weight": 1}]}, "no option 'weight'"),
        ("weighted", {"evaluators": [{"kind": "exact", "weight": "2"}]}, "weight '2'"),
    ],
)
async def test_errors_of_a_tasks_file_say_what_is_valid(kind: str, options: dict[str, Any], message: str):
    with pytest.raises(ConfigError) as caught:
        build_evaluator(kind, options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "options", "name"),
    [
        ("criteria", {"criteria": ["clarity", "tone"], "threshold": 0.7}, "criteria"),
        ("comparison", {"reference": "An example.", "name": "against the example"}, "against the example"),
    ],
)
def test_kinds_that_ask_a_model(kind: str, options: dict[str, object], name: str) -> None:
    assert build_evaluator(kind, options).name == name


class Odd:
    """An evaluator that keeps to no protocol."""

    name = "odd"

    def __init__(self, verdict: Any) -> None:
        self.verdict = verdict

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:
        del task, output, trace
        return self.verdict


@pytest.mark.parametrize(("verdict", "kind"), [({"overall_score": 0.9}, "dict"), (0.9, "float"), (None, "NoneType")])
async def test_what_is_no_judgement_is_told_with_what_to_return(verdict: Any, kind: str) -> None:
    said = f"EvaluationError: evaluator 'odd' returned {kind}; return a ReflectionEvaluation(overall_score=…)"
    odd = Odd(verdict)
    for evaluator in (odd, AllOf(odd), Weighted([(odd, 1.0)])):
        for architecture in (ReAct(), Reflexion(max_attempts=1), ReflectionPattern(max_iterations=1)):
            made = Agent(model=ScriptedModel(["yes"]), architecture=architecture, evaluator=evaluator)
            result = await made.run("Hello.")
            assert (result.output, result.status) == ("yes", "unevaluated")
            assert said in [one.partition(": ")[2] for one in result.record.degradations]
    result = await Agent(model=ScriptedModel(["yes"]), evaluator=odd, memory=InMemoryVectorStore()).run(
        "Hi.", run_id="r"
    )
    assert f"evaluate: {said}" in result.record.degradations
