"""Scores an attempt that ran out of turns or ended with an error.

It stands apart because loops compare by it, and so do architectures and runs, which need no draw.

It has failed. What it left is judged anyway, since part of an answer may be better than none. An attempt that left
nothing scores 0. That it failed was seen, and isn't anybody's opinion: only a check can find its output good enough.
"""

from dataclasses import replace

from wisen.events import described
from wisen.json_values import encodable
from wisen.records import ReflectionEvaluation
from wisen.screening.redaction import redact

_LONGEST = 500
_MOST_READ = 8_000
"""Characters of an error that are looked at."""


def failure_of(error: BaseException) -> str:
    """An error as an attempt's failure: its type and message, in one line, without secrets and personal data."""
    return one_line(described(error), _LONGEST)


def one_line(text: str, longest: int) -> str:
    """The beginning of a text in one line, without secrets and personal data; it is cut only when they are out."""
    line = " ".join(encodable(text[:_MOST_READ]).split())
    return redact(line).text[:longest]


def evaluation_of_failure(failure: str, judged: ReflectionEvaluation | None = None) -> ReflectionEvaluation:
    """What a failed attempt is worth.

    Args:
        failure: Why it failed.
        judged: What the evaluator says of the output that it left; `None` where it left none.
    """
    said = f"the attempt failed: {failure}"
    if judged is None or not judged.known:
        return ReflectionEvaluation(overall_score=0.0, issues=(said,), verifiable=True, evaluator="execution")
    return replace(judged, satisfactory=judged.satisfactory and judged.verifiable, issues=(said, *judged.issues))


def good_enough(failure: str, evaluation: ReflectionEvaluation | None, threshold: float) -> bool:
    """Whether an attempt solved its task; of one that failed, a model's opinion doesn't say so."""
    if evaluation is None or evaluation.overall_score is None or (failure and not evaluation.verifiable):
        return False
    return evaluation.overall_score >= threshold
