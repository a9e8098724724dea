"""Lets a model judge the same outputs twice: part of benchmarks/reflection_quality.py."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings
from reflection_calls import CRITERIA, Counted

from wisen.errors import EvaluationError, ModelError
from wisen.evaluation.criteria import CriteriaEvaluator
from wisen.records import Task, Trace

_CLOSE = 0.1 + 1e-9


@dataclass(frozen=True, kw_only=True)
class Consistency:
    """How far two judgements of the same outputs agree."""

    answers: int
    readable: int
    pairs: int
    """Outputs with two readable answers."""
    close: int
    """Those of them with scores within 0.1."""
    farthest: float
    values: int
    """Different scores given."""
    perfect: int
    """Readable answers that give the full score."""
    with_issues: int
    """Readable answers that name any issue."""
    correlation: float | None
    """With the share of kept constraints; `None` where all scores are equal."""


Judgement = tuple[float, int] | None
"""A score and the number of issues, or nothing that could be read."""


async def judgements(model: Model, outputs: Sequence[tuple[Task, str]], *, seed: int | None = None) -> list[Judgement]:
    """What the model says of each output; with a seed, at a temperature of 0.8."""
    settings = None if seed is None else ModelSettings(temperature=0.8, seed=seed)
    judge = CriteriaEvaluator(CRITERIA, model=Counted(model, settings))
    found: list[Judgement] = []
    for task, output in outputs:
        try:
            verdict = await judge.evaluate(task, output, Trace(trace_id="", purpose=task.prompt))
        except (EvaluationError, ModelError):
            found.append(None)
        else:
            found.append((verdict.overall_score or 0.0, len(verdict.issues)))
    return found


def consistency(first: Sequence[Judgement], second: Sequence[Judgement], kept: Sequence[float]) -> Consistency:
    """Compare two rounds; `kept` is what the checks say of the same outputs."""
    read = [one for one in (*first, *second) if one is not None]
    pairs = [(one[0], other[0]) for one, other in zip(first, second, strict=True) if one and other]
    gaps = [abs(one - other) for one, other in pairs]
    beside = [(one[0], share) for one, share in zip(first, kept, strict=True) if one]
    varied = len({score for score, _ in beside}) > 1 and len({share for _, share in beside}) > 1
    return Consistency(
        answers=len(first) + len(second),
        readable=len(read),
        pairs=len(pairs),
        close=sum(gap <= _CLOSE for gap in gaps),
        farthest=max(gaps, default=0.0),
        values=len({round(score, 3) for score, _ in read}),
        perfect=sum(score >= 1.0 for score, _ in read),
        with_issues=sum(bool(issues) for _, issues in read),
        correlation=statistics.correlation(*zip(*beside, strict=True)) if varied else None,
    )
