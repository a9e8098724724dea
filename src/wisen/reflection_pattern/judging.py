"""Judges the versions of a run: by the pattern's evaluator, and by a second one that confirms what it is content with.

Nothing here loses a version: an evaluator that fails leaves an unknown score, and the loop's caller hears of it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from wisen.deadlines import calling
from wisen.errors import BudgetExceededError
from wisen.evaluation.asking import judgement_of
from wisen.evaluation.comparison import ComparisonEvaluator
from wisen.evaluation.criteria import CriteriaEvaluator
from wisen.protocols import Evaluator, ModelBinder, bound_to_run
from wisen.records import ReflectionEvaluation, Task, Trace, shared_isolation
from wisen.reflection_pattern.options import ReflectionParts

_TIE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What was said of one version."""

    evaluation: ReflectionEvaluation
    """What the pattern makes of it."""
    own: ReflectionEvaluation
    """What its judge said."""
    confirmed: bool = True
    """False: the judge is content, and whether the validator is could not be had."""


class Judging:
    """Judges the versions of one run.

    An output is good enough from the pattern's threshold on; what an evaluator itself calls satisfactory counts only
    of a `CriteriaEvaluator`, whose criteria have thresholds of their own. The validator is asked about outputs that
    the judge is content with, and once it has refused one, about all that come after it: scores have to compare.

    Args:
        parts: Of the pattern.
        lent: The evaluator of the agent or the run.
        bind: Gives out models.
        failed: Told of an error, and of what goes without; `None` lets errors out.
    """

    def __init__(
        self,
        parts: ReflectionParts,
        lent: Evaluator | None,
        bind: ModelBinder,
        failed: Callable[[Exception | str, str], None] | None = None,
    ) -> None:
        self.judge: Evaluator = parts.judge if parts.explicit or lent is None else lent
        """As it was given, before a run lent it models."""
        validator = parts.validator or (lent if parts.explicit else None)
        self.validated = validator is not None
        """Whether there is a validator."""
        self._asked_judge = bound_to_run(self.judge, bind)
        self._validator = None if validator is None else bound_to_run(validator, bind)
        criticises = parts.reflection_model is not None and self.judge is not parts.critic
        self._critic = bound_to_run(parts.critic, bind) if criticises else None
        self._threshold = parts.threshold
        self._failed = failed
        self._refused = False

    @property
    def name(self) -> str:
        """The judge's name."""
        return getattr(self.judge, "name", "")

    async def judged(self, task: Task, output: str, trace: Trace, *, first: bool = True) -> Judgement:
        """Judge a version; `first` if there is none before it."""
        own = await self._own(task, output, trace, first=first)
        content = self._is_content(self._asked_judge, own)
        evaluation = replace(own, satisfactory=content)
        if self._validator is None or not own.known or not (content or self._refused):
            return Judgement(evaluation=evaluation, own=own)
        verdict = await self._asked(self._validator, task, output, trace, "the confirmation of a satisfactory version")
        if not verdict.known:
            return Judgement(evaluation=replace(evaluation, satisfactory=False), own=own, confirmed=not content)
        if not self._is_content(self._validator, verdict):
            self._refused = True
            return Judgement(evaluation=_refused(own, verdict), own=own)
        if content:
            evaluation = replace(
                evaluation,
                verifiable=own.verifiable or verdict.verifiable,
                isolation=shared_isolation((own, verdict)),
            )
        return Judgement(evaluation=evaluation, own=own)

    async def criticised(
        self, evaluation: ReflectionEvaluation, task: Task, output: str, trace: Trace
    ) -> ReflectionEvaluation:
        """The evaluation, with what the reflection model finds wrong where it refuses an output without a word."""
        silent = evaluation.known and not evaluation.satisfactory and not (evaluation.issues or evaluation.suggestions)
        if self._critic is None or not silent:
            return evaluation
        said = await self._asked(self._critic, task, output, trace, "saying what is wrong with a version")
        return replace(evaluation, issues=said.issues, suggestions=said.suggestions)

    def _is_content(self, evaluator: Evaluator, evaluation: ReflectionEvaluation) -> bool:
        score = evaluation.overall_score
        by_criteria = isinstance(evaluator, CriteriaEvaluator)
        return score is not None and score >= self._threshold and (evaluation.satisfactory or not by_criteria)

    async def _own(self, task: Task, output: str, trace: Trace, *, first: bool) -> ReflectionEvaluation:
        if first and isinstance(self._asked_judge, ComparisonEvaluator) and self._asked_judge.prior:
            return ReflectionEvaluation(overall_score=_TIE, confidence=0.0, evaluator=self.name)
        return await self._asked(self._asked_judge, task, output, trace, "the score of this version")

    async def _asked(
        self, evaluator: Evaluator, task: Task, output: str, trace: Trace, skipped: str
    ) -> ReflectionEvaluation:
        try:
            with calling(f"evaluator {getattr(evaluator, 'name', '')!r}"):
                evaluation = await judgement_of(evaluator, task, output, trace)
            if evaluation.overall_score is None and self._failed is not None:
                self._failed("no score could be read", skipped)
            return evaluation if evaluation.evaluator else replace(evaluation, evaluator=evaluator.name)
        except BudgetExceededError:
            raise
        except Exception as error:
            if self._failed is None:
                raise
            self._failed(error, skipped)
            return unknown_quality(getattr(evaluator, "name", ""))


def unknown_quality(evaluator: str) -> ReflectionEvaluation:
    """Stands for a judgement that could not be had."""
    return ReflectionEvaluation(overall_score=None, confidence=0.0, evaluator=evaluator)


def _refused(own: ReflectionEvaluation, verdict: ReflectionEvaluation) -> ReflectionEvaluation:
    """What a judgement is worth after a validator's refusal; both have scores."""
    name, score = verdict.evaluator or "validator", verdict.overall_score or 0.0
    return replace(
        own,
        overall_score=min(own.overall_score or 0.0, score),
        satisfactory=False,
        criteria_scores={**own.criteria_scores, name: score},
        issues=(*verdict.issues, *own.issues) or (f"{name} does not accept the output",),
        suggestions=(*verdict.suggestions, *own.suggestions),
        confidence=verdict.confidence,
        verifiable=verdict.verifiable,
        isolation=shared_isolation((own, verdict)),
    )
