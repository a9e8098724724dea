"""Asks an evaluator, which may be anybody's code, and takes nothing for a judgement that is none."""

from typing import cast

from wisen.errors import EvaluationError
from wisen.json_values import kind_of
from wisen.protocols import Evaluator
from wisen.records import ReflectionEvaluation, Task, Trace


async def judgement_of(evaluator: Evaluator, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:
    """What it says of an output. Raises what it raises, and `EvaluationError` for an answer of another kind."""
    said = cast("object", await evaluator.evaluate(task, output, trace))
    if isinstance(said, ReflectionEvaluation):
        return said
    raise EvaluationError(
        f"evaluator {evaluator.name!r} returned {kind_of(said)}; return a ReflectionEvaluation(overall_score=…)"
    )
