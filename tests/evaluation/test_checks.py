"""Functions, patterns, schemas, references and commands as evaluators."""

# ruff: noqa: ARG001, ARG005 - a check may ignore what it is given
# Checks are written as lambdas, whose parameters have no types:
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import asyncio
import functools
import re
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from wisen.errors import BudgetExceededError, ConfigError, EvaluationError
from wisen.evaluation.checks import (
    CommandEvaluator,
    FunctionEvaluator,
    JsonSchemaEvaluator,
    ReferenceEvaluator,
    RegexEvaluator,
)
from wisen.protocols import Evaluator
from wisen.records import ReflectionEvaluation, Task, Trace
from wisen.sandbox.sandbox import SandboxLimits

pytestmark = pytest.mark.anyio

TASK = Task(prompt="a capital", reference="Paris")
TRACE = Trace(trace_id="t", purpose=TASK.prompt)


async def verdict(evaluator: Evaluator, output: str = "Paris") -> ReflectionEvaluation:
    return await evaluator.evaluate(TASK, output, TRACE)


@pytest.mark.parametrize(
    ("returned", "score", "satisfactory", "issues"),
    [
        (True, 1.0, True, ()),
        (False, 0.0, False, ()),
        (0.5, 0.5, False, ()),
        (0.8, 0.8, True, ()),
        (1, 1.0, True, ()),
        (np.float32(0.5), 0.5, False, ()),
        (np.bool_(True), 1.0, True, ()),
        ((True, "fine"), 1.0, True, ()),
        ((False, "wrong"), 0.0, False, ("wrong",)),
        ((0.25, "meagre"), 0.25, False, ("meagre",)),
        ((0.25, ""), 0.25, False, ()),
    ],
)
async def test_what_a_function_may_return(returned: object, score: float, satisfactory: bool, issues: tuple[str, ...]):
    found = await verdict(FunctionEvaluator(lambda output: returned, name="check"))
    assert found == ReflectionEvaluation(
        overall_score=score, satisfactory=satisfactory, issues=issues, verifiable=True, evaluator="check"
    )


@pytest.mark.parametrize(
    "returned", [None, "yes", float("nan"), -0.1, 1.1, (True,), (True, 3), (None, "x"), (1, "a", "b"), 1j, float("inf")]
)
async def test_what_it_may_not_return(returned: object):
    with pytest.raises(EvaluationError, match="'check'"):
        await verdict(FunctionEvaluator(lambda output: returned, name="check"))


async def test_a_whole_evaluation_is_kept():
    own = ReflectionEvaluation(overall_score=0.5, confidence=0.5, suggestions=("try",))
    assert await verdict(FunctionEvaluator(lambda output: own, name="check")) == ReflectionEvaluation(
        overall_score=0.5, confidence=0.5, suggestions=("try",), evaluator="check"
    )
    with pytest.raises(EvaluationError, match="unknown"):
        await verdict(FunctionEvaluator(lambda output: ReflectionEvaluation(overall_score=None)))


def takes_all(task: Task, output: str, trace: Trace) -> bool:
    return task is TASK and output == "Paris" and trace is TRACE


class Checker:
    async def __call__(self, output: str) -> bool:
        return output == "Paris"


async def asynchronous(task: Task, output: str) -> bool:
    await asyncio.sleep(0)
    return task.reference == output


def anything(*arguments: object) -> bool:
    return arguments == (TASK, "Paris", TRACE)


FUNCTIONS: list[Callable[..., Any]] = [
    takes_all,
    Checker(),
    asynchronous,
    anything,
    "Paris".__eq__,
    lambda output: output == "Paris",
    lambda text, strict=True: text == "Paris" and strict,
    lambda output, task: output == "Paris" and task is TASK,
    lambda a, b: a is TASK and b == "Paris",
    lambda a, b, c: takes_all(a, b, trace=c),
    lambda output, trace=None: trace is TRACE,
    lambda output, *, task: task is TASK,
    lambda text="": text == "Paris",
    functools.partial(lambda wanted, output: wanted == output, "Paris"),
    functools.partial(takes_all, trace=TRACE),
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=range(len(FUNCTIONS)))
@pytest.mark.parametrize("inline", [False, True])
async def test_what_a_function_may_take(function: Callable[..., Any], inline: bool):
    assert (await verdict(FunctionEvaluator(function, inline=inline))).overall_score == 1.0


@pytest.mark.parametrize(
    "function", [lambda a, b, c, d: True, lambda: True, lambda output, *, model: True], ids=range(3)
)
async def test_what_it_may_not_take(function: Callable[..., Any]):
    with pytest.raises(ConfigError):
        FunctionEvaluator(function)


async def test_its_exceptions_are_unknown_scores_without_their_text():
    def check(output: str) -> bool:
        raise ValueError(f"cannot read {output}")

    with pytest.raises(EvaluationError) as caught:
        await verdict(FunctionEvaluator(check))
    assert str(caught.value) == "evaluator 'check' failed with ValueError; the score is unknown"
    assert isinstance(caught.value.__cause__, ValueError)


async def test_errors_of_a_run_pass_through():
    def check(output: str) -> bool:
        raise BudgetExceededError("requests", 1, 1)

    with pytest.raises(BudgetExceededError):
        await verdict(FunctionEvaluator(check))


async def test_a_plain_function_runs_off_the_loop_unless_inline():
    here = threading.get_ident()
    assert (await verdict(FunctionEvaluator(lambda output: threading.get_ident() != here))).satisfactory
    assert (await verdict(FunctionEvaluator(lambda output: threading.get_ident() == here, inline=True))).satisfactory


async def test_names_and_thresholds():
    assert FunctionEvaluator(takes_all).name == "takes_all"
    assert FunctionEvaluator(Checker()).name == "Checker"
    assert (await verdict(FunctionEvaluator(lambda output: 0.5, threshold=0.5, verifiable=False))).satisfactory
    with pytest.raises(ConfigError, match="threshold"):
        FunctionEvaluator(takes_all, threshold=2)


@pytest.mark.parametrize(
    ("evaluator", "output", "passes"),
    [
        (RegexEvaluator(r"\d+"), "about 42", True),
        (RegexEvaluator(r"\d+"), "none", False),
        (RegexEvaluator(r"\d+", full=True), " 42\n", True),
        (RegexEvaluator(r"\d+", full=True), "about 42", False),
        (RegexEvaluator("PARIS", flags=re.IGNORECASE), "paris", True),
        (RegexEvaluator(re.compile("PARIS", re.IGNORECASE)), "paris", True),
        (ReferenceEvaluator(), "**paris**.", True),
        (ReferenceEvaluator(), "It is Paris", False),
        (ReferenceEvaluator("New  York"), "\uff4eew\nyork!", True),
        (ReferenceEvaluator(normalise=False), "Paris", True),
        (ReferenceEvaluator(normalise=False), "paris", False),
        (ReferenceEvaluator(normalise=lambda text: text[0]), "Pisa", True),
        (JsonSchemaEvaluator({"type": "object", "required": ["a"]}), '{"a": 1}', True),
        (JsonSchemaEvaluator({"type": "object", "required": ["a"]}), 'So:\n```json\n{"a": 1}\n```\n', True),
        (JsonSchemaEvaluator({"type": "object"}), 'So:\n```\nno\n```\n```\n{"a": 1}\n```', True),
        (JsonSchemaEvaluator({"type": "object"}), "[1]", False),
        (JsonSchemaEvaluator(False), "[1]", False),
        (JsonSchemaEvaluator({}), "not json", False),
        (JsonSchemaEvaluator({}), "[" * 100_000, False),
    ],
    ids=range(19),
)
async def test_checks(evaluator: Evaluator, output: str, passes: bool):
    found = await verdict(evaluator, output)
    assert (found.overall_score, found.satisfactory) == (float(passes), passes)
    assert found.verifiable
    assert bool(found.issues) is not passes


@pytest.mark.parametrize(
    ("full", "issue"),
    [
        (False, "the output doesn't contain a match of /[0-9]+/"),
        (True, "the output doesn't match as a whole /[0-9]+/"),
    ],
)
async def test_an_issue_names_the_pattern_and_how_it_was_asked_for(full: bool, issue: str):
    assert (await verdict(RegexEvaluator("[0-9]+", full=full), "none")).issues == (issue,)


async def test_every_violation_of_a_schema_is_an_issue():
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["c"]}
    found = await verdict(JsonSchemaEvaluator(schema), '{"a": "x", "b": 1}')
    assert found.issues == (
        "$: 'c' is a required property",
        "$.a: 'x' is not of type 'integer'",
        "$.b: 1 is not of type 'string'",
    )


async def test_foreign_references_are_not_fetched():
    with pytest.raises(EvaluationError, match="reference"):
        await verdict(JsonSchemaEvaluator({"$ref": "http://127.0.0.1:9/schema.json"}), "1")


@pytest.mark.parametrize(
    "make",
    [
        lambda: RegexEvaluator("("),
        lambda: JsonSchemaEvaluator({"type": "thing"}),
        lambda: CommandEvaluator("ls -l"),
        lambda: CommandEvaluator([]),
        lambda: CommandEvaluator(["ls", 3]),  # pyright: ignore[reportArgumentType] - what the check is for
    ],
    ids=range(5),
)
async def test_bad_options_are_refused(make: Callable[[], Evaluator]):
    with pytest.raises(ConfigError, match=r"Evaluator\("):
        make()


async def test_no_reference_is_no_judgement():
    with pytest.raises(EvaluationError, match="reference"):
        await ReferenceEvaluator().evaluate(Task(prompt="p"), "x", TRACE)
    with pytest.raises(EvaluationError, match="IndexError"):
        await verdict(ReferenceEvaluator(normalise=lambda text: text[10]))


async def test_the_answer_is_not_given_away():
    assert "Paris" not in "".join((await verdict(ReferenceEvaluator(), "Lyon")).issues)


PYTHON = [sys.executable, "-I", "-S", "-c"]


async def test_a_command_reads_the_output_from_stdin_or_a_file():
    assert (
        await verdict(CommandEvaluator([*PYTHON, "import sys; sys.exit(sys.stdin.read() != 'Paris')"]))
    ).satisfactory
    by_file = CommandEvaluator([*PYTHON, "import sys; sys.exit(open(sys.argv[1]).read() != 'Paris')", "{output}"])
    assert (await verdict(by_file)).satisfactory
    assert not (await verdict(by_file, "Lyon")).satisfactory


async def test_why_a_command_failed():
    found = await verdict(CommandEvaluator([*PYTHON, "import sys; print('a\\nb'); sys.exit('no')"], name="lint"))
    assert (found.issues, found.evaluator) == (("exit code 1: no",), "lint")
    found = await verdict(CommandEvaluator([*PYTHON, "import time; time.sleep(600)"], timeout=0.2))
    assert found.issues == ("stopped at the limit of wall",)
    flood = CommandEvaluator([*PYTHON, "while True: print(1)"], limits=SandboxLimits(output_bytes=1000))
    assert (await verdict(flood)).issues[0].startswith("stopped at the limit of output")


async def test_a_command_that_does_not_exist_says_nothing_about_the_output():
    with pytest.raises(EvaluationError, match="no-such-program"):
        await verdict(CommandEvaluator(["no-such-program-anywhere"]))
