"""What one run carries with it: its session, its meter and recorder, and the dependencies lent to architectures.

These are the only mutable objects of a run; each belongs to one run and is never shared between runs.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from wisen.errors import BudgetExceededError
from wisen.events import Event
from wisen.protocols import Blocks, Evaluator, ModelBinder
from wisen.records import (
    Advice,
    AttemptRecord,
    Budget,
    Clockwork,
    ReflectionEvaluation,
    RunRecord,
    Task,
    TokenUsage,
    Trace,
    TraceEvent,
)

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model


_Agent_contra = TypeVar("_Agent_contra", contravariant=True)


class Step(Protocol):
    """A step of a run that is taken once, however often the run is resumed."""

    value: bytes | None
    """Its kept value; `None` if it hasn't been taken yet."""

    async def keep(self, value: bytes) -> bytes:
        """Keep its value; returns the one that counts, which is another process's if that came first."""
        ...


class Steps(Protocol):
    """What a run has done so far, in this process and in those before it."""

    def step(self, key: str) -> AbstractAsyncContextManager[Step]:
        """The next step of this key: the n-th of a key is the same one each time the run is made.

        A step left without a value counts as not taken, and the next one of its key takes its place.
        """
        ...

    async def once(self, key: str, make: Callable[[], Awaitable[bytes]]) -> bytes:
        """The kept value of the next step of this key, or what `make` gives, which is then kept."""
        ...

    async def first(self, key: str) -> bool:
        """Whether this is the first time that the run comes to the next step of this key; notes that it has."""
        ...

    def within(self, place: str) -> AbstractContextManager[None]:
        """Tell steps inside of `place` from equal ones elsewhere, such as in workers that run side by side."""
        ...


class Meter:
    """Counts what a run spends, workers, evaluators and reflectors included, and stops it at the budget."""

    def __init__(self, budget: Budget, monotonic: Callable[[], float]) -> None:
        """Start the clock of `budget.seconds` now."""
        self.budget = budget
        self._limited = replace(budget, step_seconds=None) != Budget(step_seconds=None)
        self.spent = TokenUsage()
        self._monotonic = monotonic
        self._started = monotonic()
        self._pending = 0
        self.unpriced = 0
        """Calls that used tokens and had no price: a limit in dollars doesn't see them."""

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return self._monotonic() - self._started

    def admit(self) -> None:
        """Call before each model call, and `settle` after it. Raises `BudgetExceededError` when a limit is reached."""
        self._pending += 1
        if not self._limited:
            return
        checks = (
            ("requests", self.budget.requests, float(self.spent.requests + self._pending - 1)),
            ("tokens", self.budget.tokens, float(self.spent.total_tokens)),
            ("cost_usd", self.budget.cost_usd, self.spent.cost_usd),
            ("seconds", self.budget.seconds, self.seconds),
        )
        for limit, allowed, spent in checks:
            if allowed is not None and spent >= allowed:
                self._pending -= 1
                raise BudgetExceededError(limit, allowed, spent)

    def settle(self, usage: TokenUsage) -> None:
        """Record what an admitted call used; a failed call records an empty `TokenUsage(requests=1)`."""
        self._pending -= 1
        self.spent = self.spent + usage
        if usage.total_tokens and not usage.cost_usd:
            self.unpriced += 1


class Recorder:
    """Builds the append-only trace of a run."""

    def __init__(
        self,
        trace_id: str,
        purpose: str,
        monotonic: Callable[[], float],
        *,
        whole: "Recorder | None" = None,
        worker: str = "",
    ) -> None:
        """Begin an empty trace. With `whole`, it is a worker's part, which that recorder keeps too."""
        self._trace_id = trace_id
        self._purpose = purpose
        self._monotonic = monotonic
        self._started = monotonic()
        self._events: list[TraceEvent] = []
        self._whole = whole
        self._worker = worker
        self.step = 0

    def part(self, worker: str, purpose: str) -> "Recorder":
        """A recorder for a worker. What the worker did goes into its trace and, with its name, into this one."""
        return Recorder(self._trace_id, purpose, self._monotonic, whole=self, worker=worker)

    def next_step(self) -> int:
        """Begin the next step and give its number."""
        self.step = self._whole.next_step() if self._whole is not None else self.step + 1
        return self.step

    def add(self, kind: Any, **data: object) -> None:  # noqa: ANN401 - checked by TraceEvent's own literal
        """Append an event to the current step."""
        self.keep(TraceEvent(kind=kind, step=max(self.step, 1), at=self._monotonic() - self._started, data=data))

    def keep(self, event: TraceEvent) -> None:
        """Append a finished event."""
        self._events.append(event)
        if self._whole is not None:
            at = event.at + self._started - self._whole.started
            self._whole.keep(replace(event, at=at, data={"worker": self._worker, **event.data}))

    @property
    def started(self) -> float:
        """When the trace began, by the run's clock."""
        return self._started

    def trace(self) -> Trace:
        """The trace up to now."""
        return Trace(
            trace_id=self._trace_id,
            purpose=self._purpose,
            events=tuple(self._events),
            duration_s=self._monotonic() - self._started,
        )


MADE_AGAIN = "wisen_made_again"
"""Marks a tool function that only passes on to what keeps its own steps: a resumed run calls it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """An evaluator's judgement of a run's output, kept so that it needn't be asked again."""

    by: Evaluator
    """As the user gave it."""
    evaluation: ReflectionEvaluation


@dataclass(slots=True, kw_only=True)
class AgentSession:
    """The mutable state of one run, shared by the agent and its architecture."""

    id: str
    instructions: str
    task: Task
    meter: Meter
    recorder: Recorder
    messages: "list[ModelMessage]" = field(default_factory=list)
    """The conversation of the current attempt; an architecture that retries clears it."""
    turns: int = 0
    """Model calls so far, over all attempts."""
    output: str = ""
    structured: object = None
    """The validated object, if the architecture was asked for structured output."""
    failure: str = ""
    """Why the attempt failed although its base raised nothing: it ran out of turns, say. A learner tries again."""
    interrupted: bool = False
    """Whether the architecture ends the run here: nothing is judged, and no attempt follows."""
    interruption_reason: str | None = None
    offered: set[str] = field(default_factory=set[str])
    """Tools that its models could call, by name; a supervisor's workers share them."""
    unrepeatable: list[str] = field(default_factory=list[str])
    """Tools that aren't repeatable and that the run or a worker has called: no attempt follows."""
    rejected: list[str] = field(default_factory=list)
    """Answers that a verifiable evaluator rejected in this run: the next attempt may not repeat them."""
    attempts: list[AttemptRecord] = field(default_factory=list)
    """Finished attempts, if the architecture makes several."""
    returned: AttemptRecord | None = None
    """The attempt whose output is the answer, if the architecture makes several."""
    escalated: bool = False
    """Whether all retries are used up, and the task is back with the orchestrator."""
    satisfied: bool | None = None
    """Whether the architecture considers the answer good enough; `None` leaves it to score and threshold."""
    judged: Judged | None = None
    """The judgement of `output`, if the architecture has one."""
    settled: bool = False
    """Whether the user said that it ends here: no architecture makes another attempt. `satisfied` tells whether the
    output was accepted."""
    metadata: dict[str, object] = field(default_factory=dict)

    @property
    def broken_off(self) -> str:
        """Why the architecture ended without a final answer; "" if it gave one."""
        reason = self.interruption_reason or "no reason given"
        return self.failure or (reason if self.interrupted else "")

    @property
    def cumulative_usage(self) -> TokenUsage:
        """The run's usage so far, over all attempts, workers, evaluators and reflectors."""
        return self.meter.spent


def told_unrepeatable(session: AgentSession) -> str:
    """Why no attempt follows one that called a tool that isn't repeatable."""
    return f"Interrupted: tool {session.unrepeatable[0]!r} was called, which isn't repeatable"


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundAdvice:
    """Advice on its way to model calls, and the callback for when a call carried it."""

    advice: Advice
    delivered: Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependencies:
    """What an agent lends its architecture for one run."""

    model: "Model"
    """The run's model: metered, traced and carrying the attempt's advice."""
    bind: ModelBinder
    """Gives out other models, metered and traced for this run, without advice."""
    memory: Blocks
    emit: Callable[[Event], None]
    """Shows an event to the run's watchers from inside a tool or a callback."""
    clockwork: Clockwork
    evaluator: Evaluator | None = None
    agent: str = ""
    """The agent's name: its role in scopes."""
    streaming: bool = False
    """Whether the answer is streamed to a reader."""
    tools: Sequence[Any] = ()
    """Functions or pydantic-ai tools."""
    toolsets: Sequence[Any] = ()
    """pydantic-ai toolsets, MCP servers among them."""
    steps: Steps | None = None
    """The run's steps, if it can be resumed."""
    bound_advice: tuple[BoundAdvice, ...] = ()
    """The advice that `model` carries, outermost first; workers' models get the same."""

    async def once(self, name: str, make: Callable[[], Awaitable[str]]) -> str:
        """Take a step of your own, such as sending a letter. A resumed run gets its result and doesn't repeat it.

        Steps of one `name` are told apart by their order. Without a `run_id` this is `make()`.
        """
        if self.steps is None:
            return await make()

        async def made() -> bytes:
            return (await make()).encode(errors="surrogatepass")

        return (await self.steps.once(f"own {name}", made)).decode(errors="surrogatepass")


class Replaying(Protocol[_Agent_contra]):
    """Replays recorded runs beside an agent's own; none of its methods delays or fails a run."""

    def joins(self, agent: _Agent_contra) -> None:
        """Take the agent whose runs are replayed. Raises `ConfigError` if its runs can't be repeated."""
        ...

    def ran(self, agent: _Agent_contra, record: RunRecord) -> None:
        """Called when a run has ended with an answer. Never raises; slow work belongs in its own task."""
        ...

    async def settled(self) -> None:
        """Wait for the work under way. Never raises."""
        ...


class Architecture(Protocol):
    """A way to drive a model through one task."""

    @property
    def name(self) -> str:
        """A short lower-case name, such as "react"."""
        ...

    def run(self, session: AgentSession, deps: Dependencies, prompt: str) -> AsyncIterator[Event]:
        """Work on `prompt`; yield events as they happen; leave the answer in `session.output`.

        Every model call goes through `deps.model` (or a model from `deps.bind`), so that advice, budget and trace
        apply.
        `BudgetExceededError` passes through; `session.output` then holds the best answer so far.
        """
        ...

    def declared_workers(self) -> Mapping[str, object]:
        """The agents it delegates to, by role; empty for a single agent."""
        ...


async def events_of(
    architecture: Architecture, session: AgentSession, deps: Dependencies, prompt: str
) -> AsyncIterator[Event]:
    """The architecture's events; its generator is closed even if the reader stops early."""
    events = architecture.run(session, deps, prompt)
    try:
        async for event in events:
            yield event
    finally:
        if isinstance(events, AsyncGenerator):
            await events.aclose()
