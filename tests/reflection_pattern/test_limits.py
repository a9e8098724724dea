"""Whatever an evaluator does, the loop keeps its limits, and the answer is never worse than the draft."""

import math
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wisen import (
    Agent,
    Clockwork,
    ConvergenceOptions,
    ReflectionEvaluation,
    ReflectionPattern,
    ReflectionResult,
    SafeguardOptions,
    ScriptedModel,
    Task,
    Trace,
)
from wisen.errors import EvaluationError

pytestmark = pytest.mark.anyio

RUNS = 10_000


class Moody:
    """An evaluator that behaves in one of many ways."""

    name = "moody"

    def __init__(self, random: Random) -> None:
        self.calls = 0
        self._random = random
        kinds = (self._constant, self._alternating, self._any, self._unreadable, self._raising, self._rising, self._odd)
        self._judge: Callable[[], object] = random.choice(kinds)
        self._base = random.random()

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:
        del task, output, trace
        self.calls += 1
        score = self._judge()
        issues = tuple(self._random.choices(("too long", "too short", "wrong"), k=self._random.randrange(3)))
        return ReflectionEvaluation(
            overall_score=score,  # pyright: ignore[reportArgumentType] - some of these are no scores
            satisfactory=self._random.random() < 0.2,
            issues=issues,
            verifiable=self._random.random() < 0.5,
        )

    def _constant(self) -> object:
        return self._base

    def _alternating(self) -> object:
        return self._base if self.calls % 2 else 1 - self._base

    def _any(self) -> object:
        return self._random.random()

    def _unreadable(self) -> object:
        return None

    def _raising(self) -> object:
        raise self._random.choice([EvaluationError("no"), ValueError("no"), KeyError("no")])

    def _rising(self) -> object:
        return min(1.0, self._base * self.calls / 4)

    def _odd(self) -> object:
        return self._random.choice([math.nan, -1.0, 2.0, "high", None, 0.5])


@pytest.mark.no_cover
async def test_no_evaluator_makes_the_loop_run_past_its_limits() -> None:
    random = Random(20260101)
    made = 0

    async def base(prompt: str) -> str:
        nonlocal made
        made += 1
        return f"{len(prompt)} {made % 3}"

    model = ScriptedModel([])
    clockwork = Clockwork.seeded(1)
    never = ConvergenceOptions(
        plateau_iterations=99, detect_oscillation=False, semantic_similarity=None, repeated_issues=None
    )
    for _ in range(RUNS):
        made, limit, evaluator = 0, random.randint(1, 4), Moody(random)
        pattern = ReflectionPattern(
            base=base,
            evaluator=evaluator,
            max_iterations=limit,
            quality_threshold=random.random(),
            revision_strategy="full_rewrite",
            convergence=never if random.random() < 0.5 else None,
            safeguards=SafeguardOptions(revert_on_regression=random.random() < 0.5),
        )
        run = await Agent(model=model, architecture=pattern, clockwork=clockwork).run("Write.")
        result = run.metadata["reflection"]
        assert isinstance(result, ReflectionResult)
        assert made == result.iterations_used + 1 <= limit + 1
        assert evaluator.calls == made
        assert run.output == result.best_output
        check_best(result)


def check_best(result: ReflectionResult) -> None:
    scores = [version.evaluation.overall_score for version in result.history.versions]
    first, best = scores[0], result.history.best_version.evaluation.overall_score
    if first is not None:
        assert best is not None
        assert best >= first
    known = [score for score in scores if score is not None]
    assert best == max(known, default=None)


@settings(max_examples=200, deadline=None)
@given(
    scores=st.lists(st.none() | st.floats(0, 1), min_size=1, max_size=8),
    revert=st.booleans(),
    threshold=st.floats(0, 1),
)
async def test_the_answer_is_never_worse_than_the_draft(
    scores: list[float | None], revert: bool, threshold: float
) -> None:
    left = list(scores)

    def judge(output: str) -> ReflectionEvaluation:
        del output
        return ReflectionEvaluation(overall_score=left.pop(0) if len(left) > 1 else left[0])

    async def base(prompt: str) -> str:
        return str(len(left)) + prompt[:1]

    pattern = ReflectionPattern(
        base=base,
        evaluator=judge,
        max_iterations=7,
        quality_threshold=threshold,
        safeguards=SafeguardOptions(revert_on_regression=revert),
    )
    run = await Agent(model=ScriptedModel([]), architecture=pattern).run("Write.")
    result = run.metadata["reflection"]
    assert isinstance(result, ReflectionResult)
    check_best(result)
    assert run.score == result.history.best_version.evaluation.overall_score
