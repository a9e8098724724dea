"""wisen: LLM agents that learn from their own runs, without fine-tuning, and with proof.

The public names are resolved when first used, so that `import wisen` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from wisen.moved import install

if TYPE_CHECKING:
    from wisen.account.outcomes import report_outcome as report_outcome
    from wisen.advice.blocks import BlockMemory as BlockMemory
    from wisen.advice.compiler import PromptCompiler as PromptCompiler
    from wisen.advice.rankers import AcrossAgents as AcrossAgents
    from wisen.advice.rankers import BySimilarity as BySimilarity
    from wisen.advice.rankers import ByTaskType as ByTaskType
    from wisen.agent import Agent as Agent
    from wisen.architectures.react import ReAct as ReAct
    from wisen.architectures.supervisor import Supervisor as Supervisor
    from wisen.architectures.triggers import TriggerOptions as TriggerOptions
    from wisen.architectures.wrapped import Wrapped as Wrapped
    from wisen.cards import MemoryCard as MemoryCard
    from wisen.cards import MemoryKind as MemoryKind
    from wisen.cards import MemoryScope as MemoryScope
    from wisen.cards import MemoryStatus as MemoryStatus
    from wisen.cards import Situation as Situation
    from wisen.embedders.hashing import HashEmbedder as HashEmbedder
    from wisen.embedders.local import LocalEmbedder as LocalEmbedder
    from wisen.embedders.remote import RemoteEmbedder as RemoteEmbedder
    from wisen.errors import WisenError as WisenError
    from wisen.evaluation.checks import CommandEvaluator as CommandEvaluator
    from wisen.evaluation.checks import FunctionEvaluator as FunctionEvaluator
    from wisen.evaluation.checks import JsonSchemaEvaluator as JsonSchemaEvaluator
    from wisen.evaluation.checks import ReferenceEvaluator as ReferenceEvaluator
    from wisen.evaluation.checks import RegexEvaluator as RegexEvaluator
    from wisen.evaluation.combine import AllOf as AllOf
    from wisen.evaluation.combine import Weighted as Weighted
    from wisen.evaluation.comparison import ComparisonEvaluator as ComparisonEvaluator
    from wisen.evaluation.criteria import CriteriaEvaluator as CriteriaEvaluator
    from wisen.evaluation.criteria import QualityCriterion as QualityCriterion
    from wisen.evaluation.judge import DEFAULT_EVALUATOR_PROMPT as DEFAULT_EVALUATOR_PROMPT
    from wisen.evaluation.judge import JudgeEvaluator as JudgeEvaluator
    from wisen.evaluation.unit_tests import PythonTestsEvaluator as PythonTestsEvaluator
    from wisen.events import Event as Event
    from wisen.memory.asynchronous import AsyncMemory as AsyncMemory
    from wisen.memory.front import Memory as Memory
    from wisen.memory.open_attempt import Attempt as Attempt
    from wisen.memory_ci.forgetting import Receipt as Receipt
    from wisen.memory_ci.forgetting import Whom as Whom
    from wisen.memory_ci.forgetting import forget as forget
    from wisen.memory_ci.pipeline import MemoryCI as MemoryCI
    from wisen.memory_ci.trial import TrialRule as TrialRule
    from wisen.models.local import LocalModel as LocalModel
    from wisen.models.recorded import RecordedModel as RecordedModel
    from wisen.models.repeating import not_repeatable as not_repeatable
    from wisen.models.scripted import ScriptedModel as ScriptedModel
    from wisen.models.scripted import ToolCall as ToolCall
    from wisen.protocols import Blocks as Blocks
    from wisen.protocols import Embedder as Embedder
    from wisen.protocols import Evaluator as Evaluator
    from wisen.protocols import Ranker as Ranker
    from wisen.protocols import Reflector as Reflector
    from wisen.protocols import Screen as Screen
    from wisen.protocols import VectorStore as VectorStore
    from wisen.queue.queue import Batch as Batch
    from wisen.queue.queue import Queue as Queue
    from wisen.queue.worker import Worker as Worker
    from wisen.recall import CardFilter as CardFilter
    from wisen.recall import RecallHit as RecallHit
    from wisen.recall import RecallQuery as RecallQuery
    from wisen.records import Advice as Advice
    from wisen.records import Budget as Budget
    from wisen.records import Clockwork as Clockwork
    from wisen.records import ReflectionEvaluation as ReflectionEvaluation
    from wisen.records import RunRecord as RunRecord
    from wisen.records import Task as Task
    from wisen.records import TokenUsage as TokenUsage
    from wisen.records import Trace as Trace
    from wisen.records import TraceEvent as TraceEvent
    from wisen.reflection.report import ReportReflector as ReportReflector
    from wisen.reflection.sentence import DEFAULT_REFLECTOR_PROMPT as DEFAULT_REFLECTOR_PROMPT
    from wisen.reflection.sentence import SentenceReflector as SentenceReflector
    from wisen.reflection_pattern.convergence import ConvergenceOptions as ConvergenceOptions
    from wisen.reflection_pattern.convergence import ConvergenceReason as ConvergenceReason
    from wisen.reflection_pattern.history import ReflectionCallbacks as ReflectionCallbacks
    from wisen.reflection_pattern.history import ReflectionDecision as ReflectionDecision
    from wisen.reflection_pattern.history import ReflectionHistory as ReflectionHistory
    from wisen.reflection_pattern.history import ReflectionResult as ReflectionResult
    from wisen.reflection_pattern.history import ReflectionVersion as ReflectionVersion
    from wisen.reflection_pattern.options import SafeguardOptions as SafeguardOptions
    from wisen.reflection_pattern.pattern import ReflectionPattern as ReflectionPattern
    from wisen.reflection_pattern.revision import RevisionOptions as RevisionOptions
    from wisen.reflexion.loop import Reflexion as Reflexion
    from wisen.reflexion.options import LearningOptions as LearningOptions
    from wisen.report_protocol.guard import ReflexionProtocol as ReflexionProtocol
    from wisen.report_protocol.protocol import reflexion_protocol as reflexion_protocol
    from wisen.reports import DecisionReport as DecisionReport
    from wisen.reports import FailedReport as FailedReport
    from wisen.reports import PartialReport as PartialReport
    from wisen.reports import SuccessReport as SuccessReport
    from wisen.retroformer.retroformer import Retroformer as Retroformer
    from wisen.retroformer.retroformer import RetroformerReflector as RetroformerReflector
    from wisen.run import RunResult as RunResult
    from wisen.screening.screens import DefaultScreen as DefaultScreen
    from wisen.screening.screens import ScreenChain as ScreenChain
    from wisen.session import AgentSession as AgentSession
    from wisen.session import Architecture as Architecture
    from wisen.session import Dependencies as Dependencies
    from wisen.stores.connect import connect as connect
    from wisen.stores.copying import copy_store as copy_store
    from wisen.stores.in_process.store import InMemoryVectorStore as InMemoryVectorStore
    from wisen.stores.markdown.store import MarkdownStore as MarkdownStore
    from wisen.stores.postgres.store import PostgresVectorStore as PostgresVectorStore
    from wisen.stores.sqlite.store import SQLiteVectorStore as SQLiteVectorStore

install()

_HOMES = {
    "account.outcomes": "report_outcome",
    "agent": "Agent",
    "reflexion.options": "LearningOptions",
    "report_protocol.protocol": "reflexion_protocol",
    "report_protocol.guard": "ReflexionProtocol",
    "architectures.react": "ReAct",
    "reflection_pattern.pattern": "ReflectionPattern",
    "reflection_pattern.options": "SafeguardOptions",
    "reflection_pattern.history": (
        "ReflectionCallbacks ReflectionDecision ReflectionHistory ReflectionResult ReflectionVersion"
    ),
    "reflexion.loop": "Reflexion",
    "reflection_pattern.revision": "RevisionOptions",
    "architectures.supervisor": "Supervisor",
    "architectures.wrapped": "Wrapped",
    "architectures.triggers": "TriggerOptions",
    "cards": "MemoryCard MemoryKind MemoryScope MemoryStatus Situation",
    "reflection_pattern.convergence": "ConvergenceOptions ConvergenceReason",
    "queue.queue": "Batch Queue",
    "queue.worker": "Worker",
    "embedders.hashing": "HashEmbedder",
    "embedders.local": "LocalEmbedder",
    "embedders.remote": "RemoteEmbedder",
    "errors": "WisenError",
    "evaluation.checks": "CommandEvaluator FunctionEvaluator JsonSchemaEvaluator ReferenceEvaluator RegexEvaluator",
    "evaluation.combine": "AllOf Weighted",
    "evaluation.comparison": "ComparisonEvaluator",
    "evaluation.criteria": "CriteriaEvaluator QualityCriterion",
    "evaluation.judge": "DEFAULT_EVALUATOR_PROMPT JudgeEvaluator",
    "evaluation.unit_tests": "PythonTestsEvaluator",
    "events": "Event",
    "advice.blocks": "BlockMemory",
    "advice.compiler": "PromptCompiler",
    "advice.rankers": "AcrossAgents BySimilarity ByTaskType",
    "memory_ci.forgetting": "Receipt Whom forget",
    "memory_ci.pipeline": "MemoryCI",
    "memory_ci.trial": "TrialRule",
    "memory.asynchronous": "AsyncMemory",
    "memory.front": "Memory",
    "memory.open_attempt": "Attempt",
    "models.local": "LocalModel",
    "models.recorded": "RecordedModel",
    "models.repeating": "not_repeatable",
    "models.scripted": "ScriptedModel ToolCall",
    "protocols": "Blocks Embedder Evaluator Ranker Reflector Screen VectorStore",
    "recall": "CardFilter RecallHit RecallQuery",
    "records": "Advice Budget Clockwork ReflectionEvaluation RunRecord Task TokenUsage Trace TraceEvent",
    "reflection.report": "ReportReflector",
    "retroformer.retroformer": "Retroformer RetroformerReflector",
    "reflection.sentence": "DEFAULT_REFLECTOR_PROMPT SentenceReflector",
    "reports": "DecisionReport FailedReport PartialReport SuccessReport",
    "run": "RunResult",
    "screening.screens": "DefaultScreen ScreenChain",
    "session": "AgentSession Architecture Dependencies",
    "stores.connect": "connect",
    "stores.copying": "copy_store",
    "stores.markdown.store": "MarkdownStore",
    "stores.in_process.store": "InMemoryVectorStore",
    "stores.postgres.store": "PostgresVectorStore",
    "stores.sqlite.store": "SQLiteVectorStore",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}
_EXTRAS = {"asyncpg": "postgres"}
"""Packages without which a public name can't be had, and the extra that brings them."""


def __getattr__(name: str) -> object:
    """Import the module that defines `name`; for `from wisen import *`, all that can be imported here."""
    if name == "__all__":
        return [public for public in __dir__() if _importable(public)]
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'wisen' has no attribute {name!r}")
    try:
        value: object = getattr(import_module(f"wisen.{home}"), name)
    except ModuleNotFoundError as error:
        if error.name not in _EXTRAS:
            raise
        from wisen.errors import MissingExtraError  # noqa: PLC0415 - nothing else here needs it

        raise MissingExtraError(name, f"pip install 'wisen[{_EXTRAS[error.name]}]'") from None
    globals()[name] = value
    return value


def _importable(name: str) -> bool:
    """Whether the packages that a name needs are installed."""
    from wisen.errors import MissingExtraError  # noqa: PLC0415 - nothing else here needs it

    try:
        __getattr__(name)
    except MissingExtraError:
        return False
    return True


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(_HOME_OF)
