"""Makes a worker's runs: with the agent that the worker was given, or with the one that a batch's options describe."""

import asyncio
import hashlib
import inspect
import itertools
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Self, cast

from wisen.agent import Agent
from wisen.embedders.names import explain_embedder, name_of
from wisen.errors import (
    ConfigError,
    EmbedderMismatchError,
    IncapableWorkerError,
    MissingExtraError,
    ModelError,
    QueueError,
    StoreError,
    UnknownModelError,
)
from wisen.evaluation.build import build_evaluator
from wisen.evaluation.judged_by import judged_by
from wisen.events import Event
from wisen.memory_ci.pipeline import MemoryCI
from wisen.operations.safe_text import safe_summary
from wisen.protocols import Blocks, Evaluator, KeepsLessons, RunLog, VectorStore
from wisen.queue.cancelled_runs import say_cancelled
from wisen.queue.idle_work import Judges, Replayable
from wisen.queue.jobs import BatchOptions, Job, JobOutcome, Replay
from wisen.queue.task_ids import TaskId
from wisen.records import Clockwork, Task
from wisen.reflexion.loop import Reflexion
from wisen.replay.attempts import agent_attempt, not_made
from wisen.replay.recorded_runs import RecordedOptions, check_repeatable
from wisen.run import RunResult
from wisen.stores.serialization import card_from_json
from wisen.tasks.files import EvaluatorSpec

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from pydantic_ai.models import Model

OpenStore = Callable[[str | None], AbstractAsyncContextManager[VectorStore]]
"""Opens the store of lessons, with the embedder of this name."""
Makes = Agent | Callable[[], Agent] | Callable[[VectorStore], Agent]
"""An agent, or a function that makes it, perhaps with the store of lessons."""
_MOST_BATCHES = 64
_LACKS = (ModelError, MissingExtraError, StoreError, OSError)
"""What is raised where a key, a package, a file such as a model's weights, or the store isn't here, or not yet."""
_WRONG = (UnknownModelError, EmbedderMismatchError)
"""Of these, what is wrong with the batch itself."""
_PATIENCE = 86_400.0
"""Seconds that runs wait for a database that is away: nothing is lost by waiting."""


def store_connections(concurrency: int) -> int:
    """How many connections the runs of so many tasks at a time need: each asks for a moment between its model calls."""
    return 3 + concurrency // 8


def store_at(url: str, *, connections: int = 4) -> OpenStore:
    """The store in a Postgres database, with the embedder that is named, else the one that its vectors come from."""

    @asynccontextmanager
    async def opened(embedder: str | None) -> "AsyncGenerator[VectorStore]":
        from wisen.stores.postgres.store import PostgresVectorStore  # noqa: PLC0415 - optional extra

        def named(name: str) -> PostgresVectorStore:
            embedder = explain_embedder(name)[0]
            return PostgresVectorStore(url, embedder=embedder, patience=_PATIENCE, pool_size=connections)

        store = named("auto" if embedder is None else embedder)
        try:
            await store.open()
        except EmbedderMismatchError as error:
            await store.close()
            if embedder is not None:
                raise
            store = named(name_of(error.stored))
        async with store:
            yield store

    return opened


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSetup:
    """What a worker's runs are made with."""

    agent: Makes | None
    """The worker's own, for the tasks of all batches; `None` makes one for each batch by its options."""
    open_store: OpenStore
    """Opens the store of lessons."""
    find_model: "Callable[[str | None], Model]"
    """The model that a name means."""
    watch: Callable[[Event], None] | None = None
    """Shown the events of all runs."""
    tools_too: bool = False
    """Whether replays may run an agent that might act again."""


class Runs:
    """The runs of one worker. Use it as a context: leaving it closes the stores.

    Args:
        setup: What they are made with.
        guard: What each model is wrapped in.
        options_of: Gives a batch's options.
    """

    def __init__(
        self,
        setup: RunSetup,
        *,
        guard: "Callable[[Model], Model]",
        options_of: Callable[[str], Awaitable[BatchOptions]],
    ) -> None:
        self._setup = setup
        self._guard = guard
        self._options_of = options_of
        self._own: Agent | None = None
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._stores: dict[str | None, VectorStore] = {}
        self._described: dict[str, _Described] = {}
        self._judges = Judges()

    async def __aenter__(self) -> Self:
        """Make the worker's own agent, so that what's wrong with it is known at once."""
        if self._setup.agent is not None:
            made = watched(await self._made(self._setup.agent), self._setup.watch)
            made = made.rewired(replace(made.wiring, guard=self._guard))
            made.model = self._model_of(made)
            self._own = made
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the stores."""
        await self._stack.aclose()

    async def run(self, task_id: TaskId, job: Job) -> JobOutcome:
        """Make the run, or go on with it where it was begun elsewhere; raises what ended it without an answer."""
        described = None if self._own is not None else await self._by_options(task_id.batch)
        agent = self._own if described is None else described.agent(task_id)
        evaluator = _evaluator(job.evaluator, None if described is None else described.judge)
        if agent is None:
            raise ConfigError("Runs.run(): enter the context first")
        if job.replay is not None:
            seed = 0 if described is None else described.options.seed or 0
            return await self._attempt(agent, evaluator, job.task, job.replay, seed)
        (self._judges if described is None else described.judges).saw(job.task, agent, evaluator)
        return outcome_of(await agent.run(job.task, evaluator=evaluator, run_id=task_id.run_id))

    def replayable(self) -> list[Replayable]:
        """The agents of tasks that were done here, as far as they keep lessons; the newest batch's last."""
        found = [
            Replayable(agent=one.agent(TaskId(batch=batch, place=0)), ci=one.ci, judges=one.judges)
            for batch, one in self._described.items()
        ]
        own = self._own
        if own is not None and isinstance(own.architecture, KeepsLessons) and own.architecture.lesson_store:
            given: MemoryCI | None = getattr(own.architecture, "memory_ci", None)
            ci, tools_too = given or MemoryCI(own.architecture.lesson_store), self._setup.tools_too
            found.append(Replayable(agent=own, ci=ci, judges=self._judges, tools_too=tools_too))
        return [one for one in found if one.judges.tenants]

    async def prepare(self, batch: str) -> None:
        """Look up what a batch's runs need; raises `IncapableWorkerError` for what another worker may have."""
        if self._own is None:
            try:
                await self._by_options(batch)
            except QueueError:
                raise
            except Exception as error:
                # With whatever nobody can do, the tasks fail; that is counted.
                if isinstance(error, _LACKS) and not isinstance(error, _WRONG):
                    raise IncapableWorkerError(" ".join(str(error).split())) from error

    async def call_off(self, task_id: TaskId) -> None:
        """Say of a task's run that it was cancelled, if it has begun; raises what the store raises."""
        if self._own is not None:
            log: object = self._own.wiring.run_log
        else:
            log = (await self._by_options(task_id.batch)).store
        if isinstance(log, RunLog):
            await say_cancelled(log, [task_id.run_id])

    async def _attempt(
        self, agent: Agent, evaluator: Evaluator | None, task: Task, replay: Replay, seed: int
    ) -> JobOutcome:
        check_repeatable(agent, RecordedOptions(tools_too=self._setup.tools_too))
        attempt = agent_attempt(agent, evaluator_of=lambda _: evaluator, seed=seed)
        cards = [card_from_json(card) for card in replay.cards]
        score, failure = None, ""
        try:
            score = await attempt(task, cards, replay.repetition)
        except Exception as error:
            if not_made(error):
                raise
            failure = safe_summary(error)  # the agent's own, which tells of the cards
        used = attempt.spent
        return JobOutcome(
            status="failed" if failure else "unevaluated" if score is None else "satisfied",
            score=score,
            error=failure,
            attempts=1,
            requests=used.requests,
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            cost_usd=used.cost_usd,
        )

    def _model_of(self, agent: Agent) -> "Model":
        model = agent.model
        return self._setup.find_model(model) if model is None or isinstance(model, str) else model

    async def _by_options(self, batch: str) -> "_Described":
        if batch not in self._described:
            options = await self._options_of(batch)
            store = await self._store(options.embedder)
            while len(self._described) >= _MOST_BATCHES:
                self._described.pop(next(iter(self._described)))
            find = self._setup.find_model
            # A provider's package may take seconds to import.
            model = await asyncio.to_thread(find, options.model)
            judge = None if options.judge_model is None else await asyncio.to_thread(find, options.judge_model)
            described = _Described(
                options=options,
                model=model,
                judge=judge,
                store=store,
                ci=(ci := MemoryCI(store, trust=options.trust)),
                guard=self._guard,
                watch=self._setup.watch,
                reflexion=Reflexion(
                    max_attempts=options.max_attempts,
                    threshold=options.threshold,
                    lesson_store=ci,
                    evaluator_model=judge,
                ),
            )
            # Tasks that begin a batch at once come here together, and are to know of one another's lessons.
            return self._described.setdefault(batch, described)
        return self._described[batch]

    async def _made(self, given: Makes) -> Agent:
        if isinstance(given, Agent):
            return given.rewired(given.wiring.kept_in(await self._store(None)))
        wants = [
            one
            for one in inspect.signature(given).parameters.values()
            if one.default is one.empty and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
        ]
        made: object = cast("Callable[..., object]", given)(*([await self._store(None)] if wants else []))
        if not isinstance(made, Agent):
            raise ConfigError(f"Worker(agent=…): the function gave a {type(made).__name__}, and must give an Agent")
        return made.rewired(made.wiring.kept_in(await self._store(None)))

    async def _store(self, embedder: str | None) -> VectorStore:
        async with self._opening:
            if embedder not in self._stores:
                self._stores[embedder] = await self._stack.enter_async_context(self._setup.open_store(embedder))
            return self._stores[embedder]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Described:
    """What the agents of one batch are made of."""

    options: BatchOptions
    model: "Model"
    judge: "Model | None"
    store: VectorStore
    ci: MemoryCI
    reflexion: Reflexion
    guard: "Callable[[Model], Model]"
    watch: Callable[[Event], None] | None
    judges: Judges = field(default_factory=Judges)

    def agent(self, task_id: TaskId) -> Agent:
        """The agent for a task; where there is a seed, its ids and draws follow from it and the task's place."""
        seed = self.options.seed
        made = Agent(
            self.options.instructions,
            model=self.model,
            architecture=self.reflexion,
            memory=self.store if isinstance(self.store, Blocks) else None,
            budget=self.options.budget,
            watch=self.watch,
            clockwork=None if seed is None else _clockwork(seed, task_id.place),
        )
        return made.rewired(replace(made.wiring, guard=self.guard))


def _clockwork(seed: int, place: int) -> Clockwork:
    numbers = itertools.count()
    return Clockwork(
        new_id=lambda: hashlib.sha256(f"{seed}:{place}:{next(numbers)}".encode()).hexdigest()[:32],
        random=Random(f"{seed}:{place}"),
    )


def outcome_of(result: RunResult) -> JobOutcome:
    """What a run came to, as the queue keeps it."""
    unanswered = not result.output and (not result.attempts or result.status == "budget_exhausted")
    judged = [one.evaluation for one in result.attempts if one.output == result.output]
    known = next((one for one in judged if one is not None and one.known), None)
    return JobOutcome(
        run_id=result.run_id,
        status=result.status,
        output=result.output,
        score=result.score,
        verified=None if known is None else known.verifiable,
        attempts=len(result.attempts),
        lessons=len({card for attempt in result.attempts for card in attempt.lesson_ids}),
        requests=result.usage.requests,
        input_tokens=result.usage.input_tokens,
        output_tokens=result.usage.output_tokens,
        cost_usd=result.usage.cost_usd,
        seconds=result.record.seconds,
        error=f"no answer: {result.status.replace('_', ' ')}" if unanswered else "",
    )


def _evaluator(spec: EvaluatorSpec | None, judge: "Model | None") -> Evaluator | None:
    return None if spec is None else judged_by(build_evaluator(spec.kind, spec.options), judge)


def together(*watchers: Callable[[Event], None] | None) -> Callable[[Event], None]:
    """One watcher that shows each event to all of these, in order."""
    every = [one for one in watchers if one is not None]

    def watch(event: Event) -> None:
        for one in every:
            one(event)

    return watch


def watched(agent: Agent, watch: Callable[[Event], None] | None) -> Agent:
    """The same agent, whose runs are shown to `watch`, too."""
    if watch is None:
        return agent
    return agent.rewired(replace(agent.wiring, watch=together(watch, agent.wiring.watch)))
