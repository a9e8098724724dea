"""Makes one verdict of several evaluators: all have to pass, or each has a weight."""

import asyncio
import math
from collections.abc import Iterable, Mapping, Sequence

from wisen.errors import ConfigError, EvaluationError
from wisen.evaluation.asking import judgement_of
from wisen.json_values import ReadOnly
from wisen.protocols import BoundToRun, Evaluator, ModelBinder, bound_to_run
from wisen.records import ReflectionEvaluation, Task, Trace, shared_isolation


def _calls_models(evaluator: Evaluator) -> bool:
    return isinstance(evaluator, BoundToRun)


def _bound(evaluator: Evaluator, bind: ModelBinder) -> Evaluator:
    return bound_to_run(evaluator, bind)


def distinct(values: Iterable[str]) -> tuple[str, ...]:
    """The values in order, each once."""
    return tuple(dict.fromkeys(values))


def weighted_mean(scores: Sequence[tuple[float, float]]) -> float:
    """The mean of (score, weight) pairs, between the extremes, and rounded so that 0.8 three times reaches 0.8."""
    total = sum(weight for _, weight in scores)
    mean = round(sum(weight / total * score for score, weight in scores), 12)
    return min(max(mean, min(score for score, _ in scores)), max(score for score, _ in scores))


async def verdicts_of(
    evaluators: Sequence[Evaluator], task: Task, output: str, trace: Trace
) -> list[ReflectionEvaluation | Exception]:
    """Ask all at once: for each its verdict, or the error why its score is unknown."""
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(_attempt(evaluator, task, output, trace)) for evaluator in evaluators]
    return [asking.result() for asking in asked]


async def _attempt(evaluator: Evaluator, task: Task, output: str, trace: Trace) -> ReflectionEvaluation | Exception:
    """The verdict, or the error, so that one member's failure doesn't hide behind an exception group."""
    try:
        verdict = await judgement_of(evaluator, task, output, trace)
    except Exception as error:  # noqa: BLE001 - raised again by the caller, by itself
        return error
    if not verdict.known:
        return EvaluationError(f"the score of evaluator {evaluator.name!r} is unknown")
    return verdict


def _named(evaluators: Sequence[Evaluator], verdicts: Sequence[ReflectionEvaluation]) -> Mapping[str, float]:
    """Scores by evaluator; a name that comes again gets its number."""
    scores: dict[str, float] = {}
    for evaluator, verdict in zip(evaluators, verdicts, strict=False):
        key, again = evaluator.name, 2
        while key in scores:
            key, again = f"{evaluator.name} {again}", again + 1
        scores[key] = verdict.overall_score or 0.0
    return ReadOnly(scores)


class AllOf:
    """Passes an output that every evaluator passes. The score is the lowest one, halved if the output fails.

    So no threshold above 0.5 lets a failed output pass, and outputs that fail can still be told apart.

    Evaluators that call no model run first, in the given order, then the others. The first failure ends it, so you
    don't pay a judge for an output that a check has refused. The verdict is verifiable if the failed evaluator is; if
    all passed, all must be.

    Args:
        evaluators: One or more.
        name: The judge's name.
    """

    def __init__(self, *evaluators: Evaluator, name: str = "all_of") -> None:
        if not evaluators:
            raise ConfigError("AllOf() needs at least one evaluator")
        self._evaluators = tuple(sorted(evaluators, key=_calls_models))
        self._name = name

    @property
    def name(self) -> str:
        """The judge's name."""
        return self._name

    def bound(self, bind: ModelBinder) -> "AllOf":
        """The same, with the members' models lent by a run."""
        return AllOf(*(_bound(evaluator, bind) for evaluator in self._evaluators), name=self._name)

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:
        """Ask one after the other until one fails."""
        verdicts: list[ReflectionEvaluation] = []
        for evaluator in self._evaluators:
            verdict = await judgement_of(evaluator, task, output, trace)
            if verdict.overall_score is None:
                raise EvaluationError(f"evaluator {self._name!r}: the score of {evaluator.name!r} is unknown")
            verdicts.append(verdict)
            if not verdict.satisfactory:
                break
        failed = [verdict for verdict in verdicts if not verdict.satisfactory]
        deciding = failed or verdicts
        lowest = min(verdict.overall_score or 0.0 for verdict in verdicts)
        return ReflectionEvaluation(
            overall_score=lowest / 2 if failed else lowest,
            satisfactory=not failed,
            criteria_scores=_named(self._evaluators, verdicts),
            issues=distinct([issue for verdict in verdicts for issue in verdict.issues]),
            suggestions=distinct([text for verdict in verdicts for text in verdict.suggestions]),
            expected=next((verdict.expected for verdict in verdicts if verdict.expected), ""),
            confidence=min(verdict.confidence for verdict in deciding),
            verifiable=all(verdict.verifiable for verdict in deciding),
            isolation=shared_isolation(verdicts),
            evaluator=self._name,
        )


class Weighted:
    """Scores with the weighted mean of evaluators that are asked at the same time.

    Args:
        members: Evaluators and their weights, as a mapping or as pairs; weights are positive and need no particular
            sum.
        ignore_unknown: Leave a member whose score is unknown out, and share its weight among the others. Otherwise one
            unknown score makes the whole unknown.
        threshold: The score from which an output counts as satisfactory.
        name: The judge's name.
    """

    def __init__(
        self,
        members: Mapping[Evaluator, float] | Sequence[tuple[Evaluator, float]],
        *,
        ignore_unknown: bool = False,
        threshold: float = 0.8,
        name: str = "weighted",
    ) -> None:
        self._members = tuple(members.items()) if isinstance(members, Mapping) else tuple(members)
        if not self._members:
            raise ConfigError("Weighted() needs at least one evaluator")
        for evaluator, weight in self._members:
            if not 0 < weight < math.inf:
                raise ConfigError(f"Weighted: weight {weight!r} of {evaluator.name!r} must be more than 0, and finite")
        if not 0.0 <= threshold <= 1.0:
            raise ConfigError(f"Weighted(threshold={threshold!r}): must be in [0, 1]")
        self._ignore_unknown = ignore_unknown
        self._threshold = threshold
        self._name = name

    @property
    def name(self) -> str:
        """The judge's name."""
        return self._name

    def bound(self, bind: ModelBinder) -> "Weighted":
        """The same, with the members' models lent by a run."""
        return Weighted(
            [(_bound(evaluator, bind), weight) for evaluator, weight in self._members],
            ignore_unknown=self._ignore_unknown,
            threshold=self._threshold,
            name=self._name,
        )

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:
        """Ask all at once. The first error, in the order of the members, comes out as it is."""
        answers = await verdicts_of([evaluator for evaluator, _ in self._members], task, output, trace)
        for answer in answers:
            if isinstance(answer, Exception) and not (self._ignore_unknown and isinstance(answer, EvaluationError)):
                raise answer
        known = [
            (evaluator, weight, answer)
            for (evaluator, weight), answer in zip(self._members, answers, strict=True)
            if isinstance(answer, ReflectionEvaluation)
        ]
        if not known:
            raise EvaluationError(f"evaluator {self._name!r}: the scores of all its members are unknown")
        verdicts = [verdict for _, _, verdict in known]
        score = weighted_mean([(verdict.overall_score or 0.0, weight) for _, weight, verdict in known])
        return ReflectionEvaluation(
            overall_score=score,
            satisfactory=score >= self._threshold,
            criteria_scores=_named([evaluator for evaluator, _, _ in known], verdicts),
            issues=distinct([issue for verdict in verdicts for issue in verdict.issues]),
            suggestions=distinct([text for verdict in verdicts for text in verdict.suggestions]),
            expected=next((verdict.expected for verdict in verdicts if verdict.expected), ""),
            confidence=weighted_mean([(verdict.confidence, weight) for _, weight, verdict in known]),
            verifiable=all(verdict.verifiable for verdict in verdicts),
            isolation=shared_isolation(verdicts),
            evaluator=self._name,
        )
