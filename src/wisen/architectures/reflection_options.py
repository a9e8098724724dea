"""What a `ReflectionPattern` is made of, and its finer choices."""

from dataclasses import dataclass

from pydantic_ai.models import Model

from wisen.architectures.reflection_records import ReflectionCallbacks
from wisen.architectures.revision import RevisionOptions, Strategy
from wisen.architectures.selection import Selection
from wisen.architectures.triggers import Triggers
from wisen.convergence import ConvergenceOptions
from wisen.errors import ConfigError
from wisen.protocols import Evaluator

_FIRST_DRAFTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SafeguardOptions:
    """What is done about a loop that misbehaves."""

    revert_on_regression: bool = True
    """Take up the better version again when a revision scores lower, and go about it in another way."""
    validator: Evaluator | None = None
    """Asked to confirm each version that the pattern's own evaluation is content with. By default the agent's
    evaluator, where the pattern has one of its own."""
    lowered_threshold: float | None = None
    """Where no version has met the threshold when the loop ends: the score from which the best one counts as a success
    all the same, since an overcritical evaluator never is content."""
    undercritical_after: int = _FIRST_DRAFTS
    """So many runs in a row whose first draft a model's opinion alone accepted are reported as undercritical."""

    def __post_init__(self) -> None:
        """Refuse values out of range with `ConfigError`."""
        lowered = self.lowered_threshold
        if lowered is not None and not 0.0 <= lowered <= 1.0:
            raise ConfigError(f"SafeguardOptions(lowered_threshold={lowered!r}): must be in [0, 1]")
        if self.undercritical_after < 1:
            raise ConfigError(f"SafeguardOptions(undercritical_after={self.undercritical_after!r}): must be 1 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionParts:
    """What a `ReflectionPattern` works with."""

    judge: Evaluator
    explicit: bool
    """Whether the pattern was given criteria, an evaluator or a prompt; otherwise the agent's evaluator comes first."""
    threshold: float
    max_iterations: int
    strategy: Strategy
    selection: Selection
    structured: bool
    preserve_all: bool
    reflection_model: Model | str | None
    callbacks: ReflectionCallbacks
    revision: RevisionOptions
    triggers: Triggers
    convergence: ConvergenceOptions
    safeguards: SafeguardOptions
