"""Turns what outside code reports of its attempts into the forms that runs use."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from wisen import models
from wisen.account.attempt_score import good_enough
from wisen.account.outcomes import OUTSIDE
from wisen.errors import ConfigError
from wisen.protocols import Evaluator, ModelBinder, bound_to_run
from wisen.records import AttemptRecord, ReflectionEvaluation, Task, Trace
from wisen.session import AgentSession

if TYPE_CHECKING:
    from pydantic_ai.models import Model

UNKNOWN = ReflectionEvaluation(overall_score=None, confidence=0.0)


@dataclass(frozen=True, slots=True)
class CallersModel:
    """Stands for the model that the caller's code calls by itself: evidence is kept apart by its name."""

    model_name: str
    system: str = "caller"


@dataclass(frozen=True, slots=True)
class NamedModels:
    """Lends a reflector or evaluator the model that it names; implements `ModelBinder`."""

    session: AgentSession

    def __call__(self, model: "Model | str | None", purpose: str) -> "Model":
        """The named model, on the attempt's meter. Raises `ConfigError` for `None`: there is no model of the run."""
        if model is None:
            raise ConfigError(f"Memory has no model of its own to {purpose} with; give the part that does a model=…")
        return models.MeteredModel(
            models.resolve_model(model), meter=self.session.meter, recorder=self.session.recorder, purpose=purpose
        )

    def keeping(self, evaluator: Evaluator) -> Evaluator:
        """The evaluator itself: nothing is kept to be resumed."""
        return evaluator


class ToldOutcome:
    """An evaluator that says what the caller said; where the caller said nothing, it asks the memory's own."""

    name = "caller"

    def __init__(self, otherwise: Evaluator | None = None) -> None:
        self.told: ReflectionEvaluation | None = None
        self._otherwise = otherwise

    @property
    def known(self) -> bool:
        """Whether there is anybody who can judge."""
        return self.told is not None or self._otherwise is not None

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:
        """See `Evaluator.evaluate`."""
        if self.told is not None:
            return self.told
        return UNKNOWN if self._otherwise is None else await self._otherwise.evaluate(task, output, trace)

    def bound(self, bind: ModelBinder) -> "ToldOutcome":
        """Itself, whose memory's evaluator calls models through `bind`: there is one for each attempt."""
        self._otherwise = None if self._otherwise is None else bound_to_run(self._otherwise, bind)
        return self


def evaluation_of(
    score: float | None, feedback: str, *, expected: str, verified: bool, threshold: float
) -> ReflectionEvaluation:
    """A caller's word on an attempt. Raises `ConfigError` for a score outside of [0, 1]."""
    return replace(
        ReflectionEvaluation(overall_score=score),
        satisfactory=score is not None and score >= threshold,
        issues=(feedback,) if feedback.strip() else (),
        expected=expected,
        verifiable=verified,
        evaluator=ToldOutcome.name,
    )


def refuted(told: ReflectionEvaluation, *, by: AttemptRecord, threshold: float) -> bool:
    """Whether an outcome that was reported of the attempt before, and is as well founded, says the opposite."""
    before = by.evaluation
    if before is None or before.evaluator not in (OUTSIDE, ToldOutcome.name):
        return False
    opposite = good_enough(by.failure, before, threshold) is not good_enough(by.failure, told, threshold)
    return opposite and before.known and (before.verifiable or not told.verifiable)


def wanted_by(function: Callable[..., object], *, asynchronous: bool) -> frozenset[str]:
    """What of an attempt a function takes: "advice", "attempt" or both. Raises `ConfigError`."""
    name: str = getattr(function, "__name__", "function")
    if inspect.iscoroutinefunction(function) is not asynchronous:
        said = "isn't async; use Memory.learns" if asynchronous else "is async; use AsyncMemory.learns"
        raise ConfigError(f"learns: {name}() {said}")
    wanted = frozenset({"advice", "attempt"} & set(inspect.signature(function).parameters))
    if not wanted:
        raise ConfigError(f"learns: {name}() takes no `advice` and no `attempt`, so nothing could reach it")
    return wanted
