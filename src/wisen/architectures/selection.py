"""Which of several attempts is the answer.

It stands apart because loops, patterns and records choose by one rule, and it needs records alone.
"""

from collections.abc import Sequence
from typing import Literal

from wisen.records import AttemptRecord

Selection = Literal["highest_score", "latest", "first_satisfactory", "weighted_recency"]
SELECTIONS: tuple[Selection, ...] = ("highest_score", "latest", "first_satisfactory", "weighted_recency")
_RECENCY = 0.9


def select(attempts: Sequence[AttemptRecord], how: Selection, *, threshold: float) -> AttemptRecord | None:
    """The attempt to return, `None` without attempts. An unknown score counts as lower than any known one.

    One that gave no answer is returned only where none did.

    "highest_score": the first of the best. "latest": the last. "first_satisfactory": the first at `threshold` or
    above, else as "highest_score". "weighted_recency": the best by score times 0.9 per later attempt.
    """
    attempts = [one for one in attempts if one.output or (one.evaluation and not one.failure)] or attempts
    if not attempts:
        return None
    if how == "latest":
        return attempts[-1]
    if how == "first_satisfactory":
        satisfactory = next((one for one in attempts if _score(one) >= threshold), None)
        if satisfactory is not None:
            return satisfactory
    if how == "weighted_recency":
        last = len(attempts) - 1
        weighted = [_score(one) * _RECENCY ** (last - place) for place, one in enumerate(attempts)]
        return attempts[max(range(len(attempts)), key=lambda place: (weighted[place], place))]
    return max(attempts, key=_score)


def _score(attempt: AttemptRecord) -> float:
    score = attempt.evaluation.overall_score if attempt.evaluation else None
    return -1.0 if score is None else score
