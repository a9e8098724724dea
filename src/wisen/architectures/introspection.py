"""What an architecture has, or what it is built on.

It stands apart from the architectures because it looks into any of them, those built on others too.
"""

from collections.abc import Iterator, Mapping
from typing import cast

from wisen.advice.blocks import BlockMemory
from wisen.architectures.react import ReAct
from wisen.protocols import Blocks, KeepsLessons, VectorStore
from wisen.session import Architecture, Dependencies

_SATISFACTORY = 0.8


def inward(architecture: object) -> Iterator[object]:
    """The architecture, what it is built on, and so on to the innermost."""
    while architecture is not None:
        yield architecture
        architecture = getattr(architecture, "base", None)


def store_of(architecture: object) -> VectorStore | None:
    """The lesson store of the architecture, or of what it is built on."""
    keepers = (one for one in inward(architecture) if isinstance(one, KeepsLessons))
    return next((one.lesson_store for one in keepers if one.lesson_store is not None), None)


def threshold_of(architecture: object) -> float:
    """From which score on the architecture, or what it is built on, is content."""
    thresholds: Iterator[object] = (getattr(one, "threshold", None) for one in inward(architecture))
    return next((float(one) for one in thresholds if isinstance(one, int | float)), _SATISFACTORY)


def workers_of(architecture: Architecture) -> Mapping[str, object]:
    """The agents that the architecture, or what it is built on, delegates to, by role."""
    outward = reversed([*cast("Iterator[Architecture]", inward(architecture))])
    return {role: worker for one in outward for role, worker in one.declared_workers().items()}


def tools_of(architecture: Architecture, deps: Dependencies) -> tuple[str, ...] | None:
    """The tools that a run can call, by name; `None` where a server or others' code decides on them."""
    *_, inner = inward(architecture)
    if deps.toolsets or not (isinstance(inner, ReAct) or hasattr(inner, "base")):  # without a base it is a `ReAct`
        return None
    return tuple(str(getattr(tool, "name", getattr(tool, "__name__", ""))) for tool in deps.tools)


def memory_of(architecture: Architecture) -> Blocks:
    """The architecture's own lesson store, if it keeps blocks; else blocks that live as long as the agent."""
    store = store_of(architecture)
    return store if isinstance(store, Blocks) else BlockMemory()
