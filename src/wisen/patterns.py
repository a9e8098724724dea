"""The agent patterns under one roof: `from wisen.patterns import ReflectionPattern, QualityCriterion`."""

from wisen.architectures.reflection import ReflectionPattern
from wisen.architectures.reflection_records import (
    ReflectionCallbacks,
    ReflectionDecision,
    ReflectionHistory,
    ReflectionResult,
    ReflectionVersion,
)
from wisen.convergence import ConvergenceReason
from wisen.evaluation.criteria import QualityCriterion
from wisen.protocols import Architecture as AgentPattern
from wisen.records import ReflectionEvaluation

__all__ = [
    "AgentPattern",
    "ConvergenceReason",
    "QualityCriterion",
    "ReflectionCallbacks",
    "ReflectionDecision",
    "ReflectionEvaluation",
    "ReflectionHistory",
    "ReflectionPattern",
    "ReflectionResult",
    "ReflectionVersion",
]
