"""A part of an agent's run that another agent does."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from wisen import models
from wisen.events import Degraded, WorkerEvent
from wisen.protocols import Blocks, Evaluator, ModelBinder, kept_by
from wisen.session import AgentSession, Architecture, Dependencies, events_of

if TYPE_CHECKING:
    from pydantic_ai.models import Model


@runtime_checkable
class Delegate(Protocol):
    """What a supervisor can delegate to; every `Agent` is one."""

    instructions: str
    tenant: str
    owner: str
    architecture: Architecture
    evaluator: Evaluator | None
    memory: Blocks
    tools: tuple[Any, ...]
    toolsets: tuple[Any, ...]

    def own_model(self) -> "Model | None":
        """Its own model; `None` if it works with the delegating agent's."""
        ...


async def delegated(worker: Delegate, instructions: str, session: AgentSession, deps: Dependencies, role: str) -> str:
    """Let a worker do a part of the run that `session` belongs to: on its meter, in its trace and with its advice.

    The run's budget, watchers and tenant apply; the worker's own budget and watcher serve its own runs only.
    """
    bind, model = deps.bind, deps.model
    own = worker.own_model()
    if own is not None:
        bind = _Own(deps.bind, own)
        model = models.with_bound_advice(bind(None, f"worker {role}"), deps.bound_advice)
    task = session.task.owned_by(worker.tenant, worker.owner)
    task = replace(task, prompt=instructions, tools=(), choices=(), reference=None)
    part = AgentSession(
        id=session.id,
        instructions=worker.instructions,
        task=task,
        meter=session.meter,
        recorder=session.recorder.part(role, instructions),
        unrepeatable=session.unrepeatable,
        offered=session.offered,
    )
    lent = replace(
        deps,
        model=model,
        bind=bind,
        evaluator=worker.evaluator,
        agent=role,
        tools=worker.tools,
        toolsets=worker.toolsets,
        memory=worker.memory,
        streaming=False,
    )
    try:
        async for event in events_of(worker.architecture, part, lent, instructions):
            deps.emit(WorkerEvent(worker=role, event=event))
    finally:
        session.turns += part.turns
    if why := part.broken_off:
        deps.emit(Degraded(stage="worker", error=f"Interrupted: {why}", skipped=f"the rest of worker {role!r}"))
    return part.output


@dataclass(frozen=True, slots=True)
class _Own:
    """A run's binder, with the worker's model in place of the run's; implements `ModelBinder`."""

    bind: ModelBinder
    model: "Model"

    def keeping(self, evaluator: Evaluator) -> Evaluator:
        """As the run's binder."""
        return kept_by(self.bind, evaluator)

    def __call__(self, model: "Model | str | None", purpose: str) -> "Model":
        return self.bind(self.model if model is None else model, purpose)
