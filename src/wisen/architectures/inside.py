"""What an architecture has, or what it is built on."""

from collections.abc import Mapping
from typing import cast

from wisen.architectures.react import ReAct
from wisen.memory.blocks import BlockMemory
from wisen.protocols import Architecture, KeepsLessons, Memory, VectorStore
from wisen.session import Dependencies

_SATISFACTORY = 0.8


def store_of(architecture: object) -> VectorStore | None:
    """The lesson store of the architecture, or of what it is built on."""
    while architecture is not None:
        if isinstance(architecture, KeepsLessons) and architecture.lesson_store is not None:
            return architecture.lesson_store
        architecture = getattr(architecture, "base", None)
    return None


def threshold_of(architecture: object) -> float:
    """From which score on the architecture, or what it is built on, is content."""
    while architecture is not None:
        threshold: object = getattr(architecture, "threshold", None)
        if isinstance(threshold, int | float):
            return float(threshold)
        architecture = getattr(architecture, "base", None)
    return _SATISFACTORY


def workers_of(architecture: Architecture) -> Mapping[str, object]:
    """The agents that the architecture, or what it is built on, delegates to, by role."""
    base: object = getattr(architecture, "base", None)
    inner: Mapping[str, object] = {} if base is None else workers_of(cast("Architecture", base))
    return {**inner, **architecture.declared_workers()}


def tools_of(architecture: Architecture, deps: Dependencies) -> tuple[str, ...] | None:
    """The tools that a run can call, by name; `None` where a server or others' code decides on them."""
    inner: object = architecture
    while (base := getattr(inner, "base", None)) is not None:
        inner = base
    if deps.toolsets or not (isinstance(inner, ReAct) or hasattr(inner, "base")):  # without a base it is a `ReAct`
        return None
    return tuple(str(getattr(tool, "name", getattr(tool, "__name__", ""))) for tool in deps.tools)


def memory_of(architecture: Architecture) -> Memory:
    """The architecture's own lesson store, if it keeps blocks; else blocks that live as long as the agent."""
    store = store_of(architecture)
    return store if isinstance(store, Memory) else BlockMemory()
