"""Holds the parts of a `ReflectionPattern`, and its finer choices."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from wisen import models
from wisen.architectures.selection import SELECTIONS, Selection
from wisen.architectures.triggers import Triggers
from wisen.errors import ConfigError
from wisen.evaluation.build import EvaluatorLike
from wisen.evaluation.criteria import CriteriaEvaluator
from wisen.protocols import Evaluator
from wisen.reflection_pattern.convergence import ConvergenceOptions
from wisen.reflection_pattern.history import ReflectionCallbacks
from wisen.reflection_pattern.revision import STRATEGIES, RevisionOptions, Strategy

if TYPE_CHECKING:
    from pydantic_ai.models import Model

_FIRST_DRAFTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SafeguardOptions:
    """Safeguards against a loop that misbehaves."""

    revert_on_regression: bool = True
    """Take up the better version again when a revision scores lower, and go about it in another way."""
    validator: EvaluatorLike | None = None
    """Asked to confirm each version that the pattern's own evaluation is content with, and after its first refusal
    about all later versions too, whose scores are then the lower of both. By default the agent's evaluator, if the
    pattern has one of its own. Without a verdict (it failed, say) nothing is confirmed, and the loop ends without
    success."""
    lowered_threshold: float | None = None
    """If no version has met the threshold when the loop ends, the best one still counts as a success from this score
    on, since an overcritical evaluator is never content. A version that was left unconfirmed doesn't count."""
    undercritical_after: int = _FIRST_DRAFTS
    """So many runs in a row whose first draft a model's opinion alone accepted are reported as undercritical."""

    def __post_init__(self) -> None:
        """Refuse values out of range with `ConfigError`."""
        if self.lowered_threshold is not None:
            check_share("SafeguardOptions", "lowered_threshold", self.lowered_threshold)
        check_count("SafeguardOptions", "undercritical_after", self.undercritical_after)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionParts:
    """What a `ReflectionPattern` works with."""

    judge: Evaluator
    validator: Evaluator | None
    critic: CriteriaEvaluator
    """Says what is wrong with a version that the judge refuses without a word, where there is a reflection model."""
    explicit: bool
    """Whether the pattern was given criteria, an evaluator or a prompt; otherwise the agent's evaluator comes first."""
    threshold: float
    max_iterations: int
    strategy: Strategy
    selection: Selection
    structured: bool
    preserve_all: bool
    reflection_model: "Model | str | None"
    callbacks: ReflectionCallbacks
    revision: RevisionOptions
    triggers: Triggers
    convergence: ConvergenceOptions
    safeguards: SafeguardOptions

    def __post_init__(self) -> None:
        """Refuse values of wrong types with `ConfigError`, before a run has paid for anything."""
        for field, (parameter, valid, said) in _TYPES.items():
            value: object = getattr(self, field)
            if not isinstance(value, valid):
                raise ConfigError(f"ReflectionPattern({parameter}={value!r}): must be {said}")
        model = cast("object", self.reflection_model)
        named = model is None or isinstance(model, str)
        if not named and not isinstance(model, models.Model):
            raise ConfigError(f"ReflectionPattern(reflection_model={model!r}): must be a model or the name of one")
        for parameter, value, choices in (
            ("revision_strategy", self.strategy, STRATEGIES),
            ("best_version_selection", self.selection, SELECTIONS),
        ):
            if value not in choices:
                raise ConfigError(f"ReflectionPattern({parameter}={value!r}): must be one of {', '.join(choices)}")


_TYPES: Mapping[str, tuple[str, type, str]] = {
    "structured": ("structured_reflection", bool, "True or False"),
    "preserve_all": ("preserve_all_versions", bool, "True or False"),
    "revision": ("revision", RevisionOptions, "RevisionOptions(…)"),
    "convergence": ("convergence", ConvergenceOptions, "ConvergenceOptions(…)"),
    "safeguards": ("safeguards", SafeguardOptions, "SafeguardOptions(…)"),
}


def check_count(owner: str, name: str, value: object) -> None:
    """Refuse anything but a whole number from 1 with `ConfigError`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigError(f"{owner}({name}={value!r}): must be a whole number, 1 or more")


def check_share(owner: str, name: str, value: object) -> None:
    """Refuse anything but a number in [0, 1] with `ConfigError`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
        raise ConfigError(f"{owner}({name}={value!r}): must be a number in [0, 1]")
