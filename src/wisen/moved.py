"""Where public names stood before: `from wisen.architectures.reflexion import Reflexion` goes on working."""

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from importlib.abc import Loader

MOVED: Final = {
    "wisen.architectures.learning_options": "wisen.reflexion.options",
    "wisen.architectures.protocol": "wisen.report_protocol.protocol",
    "wisen.architectures.protocol_guard": "wisen.report_protocol.guard",
    "wisen.architectures.reflection": "wisen.reflection_pattern.pattern",
    "wisen.architectures.reflection_options": "wisen.reflection_pattern.options",
    "wisen.architectures.reflection_records": "wisen.reflection_pattern.history",
    "wisen.architectures.reflexion": "wisen.reflexion.loop",
    "wisen.architectures.revision": "wisen.reflection_pattern.revision",
    "wisen.audit.arms": "wisen.experiments.arms",
    "wisen.audit.attempts": "wisen.replay.attempts",
    "wisen.audit.background": "wisen.replay.background",
    "wisen.audit.clusters": "wisen.replay.clusters",
    "wisen.audit.families.family": "wisen.experiments.families.family",
    "wisen.audit.family_audit": "wisen.experiments.family_audit",
    "wisen.audit.recorded": "wisen.replay.recorded_runs",
    "wisen.audit.releases": "wisen.replay.releases",
    "wisen.audit.replay": "wisen.replay.card_tests",
    "wisen.audit.replay_session": "wisen.replay.stages",
    "wisen.audit.replays": "wisen.replay.pairs",
    "wisen.audit.rule_replays": "wisen.replay.rule_tests",
    "wisen.audit.stream": "wisen.experiments.stream",
    "wisen.config.tasks": "wisen.tasks.files",
    "wisen.config.traces": "wisen.trace_import.traces",
    "wisen.convergence": "wisen.reflection_pattern.convergence",
    "wisen.durable.batches": "wisen.queue.batches",
    "wisen.durable.health": "wisen.operations.health",
    "wisen.durable.jobs": "wisen.queue.jobs",
    "wisen.durable.logs": "wisen.operations.logs",
    "wisen.durable.metrics": "wisen.operations.metrics",
    "wisen.durable.queue": "wisen.queue.queue",
    "wisen.durable.rates": "wisen.queue.rates",
    "wisen.durable.replay_attempts": "wisen.queue.replay_attempts",
    "wisen.durable.serving": "wisen.operations.serving",
    "wisen.durable.worker": "wisen.queue.worker",
    "wisen.durable.worker_runs": "wisen.queue.worker_runs",
    "wisen.evaluation.sandbox": "wisen.sandbox.sandbox",
    "wisen.memory.blocks": "wisen.advice.blocks",
    "wisen.memory.compiler": "wisen.advice.compiler",
    "wisen.memory.rankers": "wisen.advice.rankers",
    "wisen.reflection.retroformer": "wisen.retroformer.retroformer",
    "wisen.reflection_pattern.records": "wisen.reflection_pattern.history",
    "wisen.replay.recorded": "wisen.replay.recorded_runs",
    "wisen.replay.session": "wisen.replay.stages",
    "wisen.stores.copies": "wisen.stores.transfer_protocol",
    "wisen.stores.memory": "wisen.stores.in_process.store",
    "wisen.trials": "wisen.trial_records",
    "wisen.wiring": "wisen.agent",
}
"""Old module, and the one in which its names stand now: those of the public names, and of what the docs have named."""
_GONE: Final = ("wisen.audit", "wisen.audit.families", "wisen.config", "wisen.durable")
"""Packages that are nowhere any more, but for the old modules in them."""


class OldPaths:
    """Gives an old path the module that stands in its place."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of an old path; `None` for any other name."""
        del path, target
        if fullname not in MOVED and fullname not in _GONE:
            return None
        return spec_from_loader(fullname, cast("Loader", self), is_package=fullname in _GONE)

    def create_module(self, spec: ModuleSpec) -> None:
        """An empty module, which `exec_module` puts the real one in the place of."""
        del spec

    def exec_module(self, module: ModuleType) -> None:
        """Import the module that stands there now; a package that is gone stays empty."""
        if module.__name__ in MOVED:
            sys.modules[module.__name__] = import_module(MOVED[module.__name__])


def install() -> None:
    """Have the import system ask here what it finds nowhere else."""
    sys.meta_path.append(OldPaths())


def lent(module: str, **homes: str) -> Callable[[str], object]:
    """A module's `__getattr__` for names that stand in other modules: each is imported when it is first asked for."""

    def get(name: str) -> object:
        if name in homes:
            value: object = getattr(import_module(homes[name]), name)
            setattr(sys.modules[module], name, value)
            return value
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return get
