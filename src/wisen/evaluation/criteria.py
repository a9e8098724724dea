"""Judges an output under several criteria, each with a weight and a least score: checks first, then one model call."""

import copy
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, cast

from wisen.data_files import read_table
from wisen.errors import ConfigError, EvaluationError
from wisen.evaluation.checks import FunctionEvaluator, RegexEvaluator
from wisen.evaluation.combine import distinct, verdicts_of, weighted_mean
from wisen.evaluation.criteria_reply import RESERVED, Review, structured_review, written_form, written_review
from wisen.evaluation.judge_model import AsksModel
from wisen.evaluation.quoting import to_grade
from wisen.json_values import ReadOnly
from wisen.protocols import Evaluator
from wisen.records import ReflectionEvaluation, Task, Trace, shared_isolation
from wisen.trace_text import account_of

if TYPE_CHECKING:
    from pydantic_ai.models import Model

CriterionEvaluator = Literal["llm", "regex", "function"]

DEFAULT_CRITERIA_PROMPT = """\
You review how well an agent's output does the task it was given.

First look for what is wrong. Name each problem as an issue that can be acted on: what is wrong, and where in the
output. For each issue suggest the change that would mend it. An output without problems has no issues: invent none.

Then give every criterion a score of its own from 0.0 to 1.0, and use the whole scale:
- 1.0: under this criterion there is nothing to improve
- 0.7 to 0.9: right in what matters; small things are missing or wrong
- 0.4 to 0.6: something important is missing or wrong
- 0.0 to 0.3: wrong, empty, or beside the point

Last say how sure you are of these scores: 1.0 where you could check them, 0.5 or less where you had to guess."""
"""The reviewer's default system prompt. The criteria are part of the user prompt, whatever the system prompt."""

_MOST_NAME_CHARACTERS = 80
_ALIKE = 0.83
"""From which likeness a name that means nothing is taken for a default one, misspelt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityCriterion:
    """One thing by which an output is judged.

    Raises `ConfigError` for a weight that isn't positive, a threshold outside [0, 1], and a config that doesn't fit.
    """

    name: str
    """Such as "clarity"; one line without a colon."""
    description: str = ""
    """What is measured, in a sentence for the model. The names of the default criteria need none; one that is nearly
    the same does."""
    weight: float = 1.0
    """Share in the overall score, relative to the other criteria."""
    threshold: float = 0.7
    """The least score with which the output can be satisfactory."""
    evaluator: CriterionEvaluator = "llm"
    """Who scores: a model, a pattern, or a function."""
    evaluator_config: Mapping[str, Any] = field(default_factory=ReadOnly[str, Any])
    """None for "llm"; `pattern`, `full` and `flags` of `RegexEvaluator` for "regex"; `function`, `verifiable` and
    `inline` of `FunctionEvaluator` for "function"."""

    def __post_init__(self) -> None:
        """Refuse what can't be used, before a run has paid for anything."""
        name = self.name
        if not name.strip() or len(name.splitlines()) > 1 or ":" in name or len(name) > _MOST_NAME_CHARACTERS:
            raise ConfigError(
                f"QualityCriterion(name={name!r}): give one line of at most {_MOST_NAME_CHARACTERS} characters, no ':'"
            )
        if not 0 < self.weight < math.inf:
            raise ConfigError(f"criterion {name!r}: weight {self.weight!r} must be more than 0, and finite")
        if not 0.0 <= self.threshold <= 1.0:
            raise ConfigError(f"criterion {name!r}: threshold {self.threshold!r} must be in [0, 1]")
        if self.evaluator not in _CONFIGS:
            raise ConfigError(
                f"criterion {name!r}: unknown evaluator {self.evaluator!r} (valid: {', '.join(_CONFIGS)})"
            )
        needed, allowed = _CONFIGS[self.evaluator]
        if needed and needed not in self.evaluator_config:
            raise ConfigError(
                f"criterion {name!r}: evaluator {self.evaluator!r} needs evaluator_config={{{needed!r}: …}}"
            )
        for key in self.evaluator_config:
            if key not in allowed:
                valid = ", ".join(allowed) or "none"
                raise ConfigError(f"criterion {name!r}: evaluator {self.evaluator!r} has no {key!r} (valid: {valid})")
        if self.evaluator == "llm" and name.strip().casefold() in RESERVED:
            raise ConfigError(f"criterion {name!r}: a review has a field of that name; choose another")
        self.check()

    @property
    def meaning(self) -> str:
        """The description, or what the name means among the default criteria; "" for an unknown name without one."""
        return self.description or _MEANINGS.get(self.name.strip().casefold().replace(" ", "_"), "")

    def check(self) -> Evaluator | None:
        """The evaluator that scores this criterion by itself; `None` if a model has to."""
        config = dict(self.evaluator_config)
        if self.evaluator == "regex":
            if not isinstance(config["pattern"], str | re.Pattern):
                raise ConfigError(
                    f"criterion {self.name!r}: pattern {config['pattern']!r} is neither text nor compiled"
                )
            return RegexEvaluator(**config, name=self.name)
        if self.evaluator == "function":
            function: object = config.pop("function")
            if not callable(function):
                raise ConfigError(f"criterion {self.name!r}: {function!r} isn't a function")
            return FunctionEvaluator(function, **config, name=self.name, threshold=self.threshold)
        return None


_CONFIGS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "llm": ("", ()),
    "regex": ("pattern", ("pattern", "full", "flags")),
    "function": ("function", ("function", "verifiable", "inline")),
}

_TABLES = read_table("wisen.evaluation", "criteria.toml")
_MEANINGS: Mapping[str, str] = _TABLES["meanings"]
_TYPES: Mapping[str, Mapping[str, list[str]]] = _TABLES["types"]


def _named(names: Sequence[str]) -> tuple[QualityCriterion, ...]:
    return tuple(QualityCriterion(name=name, description=_MEANINGS[name]) for name in names)


CRITERIA: Mapping[str, tuple[QualityCriterion, ...]] = ReadOnly(
    {task_type: _named(known["criteria"]) for task_type, known in _TYPES.items()}
)
"""The default criteria by task type."""

GENERAL_CRITERIA = _named(_TABLES["general"])
"""The criteria for tasks of any other type."""


def criteria_for(task_type: str) -> tuple[QualityCriterion, ...]:
    """The default criteria for a `Task.type`, such as "Code generation", "coding" or "data_analysis".

    The first word that belongs to one of the types in `CRITERIA` decides; without one it is `GENERAL_CRITERIA`.
    """
    for word in task_type.casefold().replace("_", " ").replace("-", " ").split():
        for name, known in _TYPES.items():
            if word in known["words"]:
                return CRITERIA[name]
    return GENERAL_CRITERIA


def as_criteria(criteria: Sequence[QualityCriterion | str]) -> tuple[QualityCriterion, ...]:
    """The criteria that are meant: a name stands for a criterion of that name that a model scores.

    Raises `ConfigError` for an empty list, anything else in it, a name that comes twice, and one that looks like a
    default criterion's, misspelt, and has no description.
    """
    if isinstance(criteria, str) or not criteria:
        raise ConfigError(f"criteria {criteria!r}: give a list of criteria or their names, at least one")
    made: list[QualityCriterion] = []
    for each in cast("Sequence[object]", criteria):
        if not isinstance(each, QualityCriterion | str):
            raise ConfigError(f"{each!r} is no criterion; give a QualityCriterion or a name")
        made.append(each if isinstance(each, QualityCriterion) else QualityCriterion(name=each))
        _refuse_misspelt(made[-1])
    seen: dict[str, str] = {}
    for criterion in made:
        key = " ".join(criterion.name.casefold().replace("_", " ").split())
        if key in seen:
            raise ConfigError(f"criteria {seen[key]!r} and {criterion.name!r} have the same name; give each its own")
        seen[key] = criterion.name
    return tuple(made)


def _refuse_misspelt(criterion: QualityCriterion) -> None:
    if criterion.evaluator != "llm" or criterion.meaning:
        return
    name = criterion.name.strip().casefold().replace(" ", "_")
    swapped = (known for known in _MEANINGS if sorted(known) == sorted(name))
    nearest = next(swapped, "") or "".join(get_close_matches(name, _MEANINGS, n=1, cutoff=_ALIKE))
    if nearest:
        raise ConfigError(f"criterion {criterion.name!r}: did you mean {nearest!r}? Give one of your own a description")


class CriteriaEvaluator(AsksModel):
    """Scores an output under criteria: patterns and functions first, then one model call for all the others.

    The model's one answer holds the scores, issues, suggestions and its confidence. An answer that can't be read, lacks
    a criterion or has a score outside [0, 1] is asked for once more. A second one raises `EvaluationError`, so the
    score is unknown. `ModelError` and `BudgetExceededError` pass through.

    The overall score is the weighted mean. The output is satisfactory if that reaches `threshold`, and each criterion
    its own. A check that fails can save the model call. The other criteria are then missing from `criteria_scores` and
    count as 0, so the overall score is a lower bound.

    Confidence is the model's own. If a check failed and the model's mean is higher than that check's score, it is
    multiplied by 1 minus the difference: a model that praises what a check refuses can't be trusted. If no model was
    asked, it is the lowest among the checks that decided. The verdict is `verifiable` if verifiable checks alone
    decided: they refused the output, or there are no other criteria.

    Args:
        criteria: Criteria or names of some; `None` takes `criteria_for` each task's type.
        threshold: The overall score from which an output counts as satisfactory.
        model: A pydantic-ai model or a name; `None` is the run's own model, or outside a run the default one.
        prompt: The system prompt; `DEFAULT_CRITERIA_PROMPT` if not given.
        structured: Ask for JSON of a schema, constrained if the model can be; False asks for plain lines.
        spare_model_when_checks_fail: False asks the model even if a check has refused the output.
        name: The judge's name.
    """

    def __init__(
        self,
        criteria: Sequence[QualityCriterion | str] | None = None,
        *,
        threshold: float = 0.8,
        model: "Model | str | None" = None,
        prompt: str | None = None,
        structured: bool = True,
        spare_model_when_checks_fail: bool = True,
        name: str = "criteria",
    ) -> None:
        if not 0.0 <= threshold <= 1.0:
            raise ConfigError(f"CriteriaEvaluator(threshold={threshold!r}): must be in [0, 1]")
        if prompt is not None and not isinstance(prompt, str):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
            raise ConfigError(f"CriteriaEvaluator: the prompt is {prompt!r}; it has to be text")
        self.criteria = None if criteria is None else as_criteria(criteria)
        self.threshold = threshold
        self.model = model
        self.prompt = DEFAULT_CRITERIA_PROMPT if prompt is None else prompt
        self.structured = structured
        self.spare_model_when_checks_fail = spare_model_when_checks_fail
        self._name = name

    @property
    def name(self) -> str:
        """The judge's name."""
        return self._name

    def with_criteria(self, criteria: Sequence[QualityCriterion | str] | None) -> "CriteriaEvaluator":
        """The same evaluator with other criteria; `None` takes those of each task's type."""
        evaluator: CriteriaEvaluator = copy.copy(self)
        evaluator.criteria = None if criteria is None else as_criteria(criteria)
        return evaluator

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:
        """Check, ask if there is something left to ask, and weigh."""
        criteria = criteria_for(task.type) if self.criteria is None else self.criteria
        checks = [(each, check) for each in criteria if (check := each.check()) is not None]
        answers = await verdicts_of([check for _, check in checks], task, output, trace)
        checked: dict[str, ReflectionEvaluation] = {}
        for (criterion, _), answer in zip(checks, answers, strict=True):
            if isinstance(answer, Exception):
                raise answer
            checked[criterion.name] = answer
        refused = any(_score(checked[each.name]) < each.threshold for each, _ in checks)
        asked = [criterion for criterion in criteria if criterion.name not in checked]
        spared = refused and self.spare_model_when_checks_fail
        review = await self._review(asked, task, output, trace) if asked and not spared else None
        return self._weighed(criteria, checked, review)

    async def _review(self, asked: Sequence[QualityCriterion], task: Task, output: str, trace: Trace) -> Review:
        names = [criterion.name for criterion in asked]
        lines = (f"- {each.name}: {each.meaning}" if each.meaning else f"- {each.name}" for each in asked)
        closing = "\n".join(["Grade the output under each of these criteria:", *lines])
        if not self.structured:
            closing = f"{closing}\n\n{written_form(names)}"
        ask = structured_review if self.structured else written_review
        prompt = to_grade(task.prompt, output, closing, account=account_of(trace))
        review = await ask(self.asked_model(), names, system=self.prompt, prompt=prompt)
        if review is None:
            raise EvaluationError(
                f"evaluator {self._name!r}: no score in [0, 1] could be read for each of its criteria in two replies"
            )
        return review

    def _weighed(
        self,
        criteria: Sequence[QualityCriterion],
        checked: Mapping[str, ReflectionEvaluation],
        review: Review | None,
    ) -> ReflectionEvaluation:
        scores = {name: _score(verdict) for name, verdict in checked.items()}
        scores.update({} if review is None else review.scores)
        overall = weighted_mean([(scores.get(each.name, 0.0), each.weight) for each in criteria])
        short = [each for each in criteria if each.name in scores and scores[each.name] < each.threshold]
        refusing = [checked[each.name] for each in short if each.name in checked]
        deciding = refusing or ([] if review else list(checked.values()))
        return ReflectionEvaluation(
            overall_score=overall,
            satisfactory=not short and overall >= self.threshold,
            criteria_scores=ReadOnly({each.name: scores[each.name] for each in criteria if each.name in scores}),
            issues=_issues(short, checked, review),
            suggestions=distinct(
                [text for verdict in checked.values() for text in verdict.suggestions]
                + list(review.suggestions if review else ())
            ),
            confidence=_confidence(criteria, deciding, review),
            verifiable=bool(deciding) and all(verdict.verifiable for verdict in deciding),
            isolation=shared_isolation(checked.values()),
            evaluator=self._name,
        )


def _score(verdict: ReflectionEvaluation) -> float:
    return verdict.overall_score or 0.0  # an unknown one has become an error by then


def _issues(
    short: Sequence[QualityCriterion], checked: Mapping[str, ReflectionEvaluation], review: Review | None
) -> tuple[str, ...]:
    """What checks and model said; for a criterion that fell short without a word, what it asks for."""
    said = [issue for verdict in checked.values() for issue in verdict.issues]
    reviewed = list(review.issues if review else ())
    silent = (each for each in short if not (checked[each.name].issues if each.name in checked else reviewed))
    said += [f"{each.name} falls short: {each.meaning}".removesuffix(": ") for each in silent]
    return distinct([*said, *reviewed])


def _confidence(
    criteria: Sequence[QualityCriterion], deciding: Sequence[ReflectionEvaluation], review: Review | None
) -> float:
    if review is None:
        return min(verdict.confidence for verdict in deciding)
    praise = weighted_mean([(review.scores[each.name], each.weight) for each in criteria if each.name in review.scores])
    worst = min(map(_score, deciding), default=praise)
    return review.confidence * (1.0 - max(0.0, praise - worst))
