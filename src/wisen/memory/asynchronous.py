"""Defines `AsyncMemory`, the memory for code that has its own loop: advice, outcomes and lessons of its attempts."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, cast

from wisen.account.attempt import Account
from wisen.account.attempt_score import good_enough
from wisen.account.outcomes import Reported, report_outcome
from wisen.advice.blocks import BlockMemory
from wisen.advice.compiler import PromptCompiler
from wisen.cards import MemoryCard, MemoryKind, MemoryScope, Provenance, Situation
from wisen.deadlines import RunTime, calling, named
from wisen.errors import ConfigError, RunNotFoundError
from wisen.evaluation.build import EvaluatorLike, as_evaluator
from wisen.events import Degraded, Event, described
from wisen.memory.open_attempt import Attempt
from wisen.memory.told import UNKNOWN, CallersModel, NamedModels, ToldOutcome, evaluation_of, refuted, wanted_by
from wisen.memory_ci.intake import Submission
from wisen.memory_ci.pipeline import MemoryCI
from wisen.protocols import Reflector, RunLog, VectorStore
from wisen.records import Advice, Budget, Clockwork, RunRecord, Task, TokenUsage
from wisen.reflection.feedback import FeedbackReflector
from wisen.reflexion.learner import Learner
from wisen.reflexion.options import LearningOptions, LearningParts
from wisen.screening.taint import UNSEEN
from wisen.session import AgentSession, Dependencies, Meter, Recorder
from wisen.stores.connect import connect
from wisen.watchers import Watchers

_Result = TypeVar("_Result")


class AsyncMemory:
    """Memory for an agent that you run yourself.

    Around each attempt it recalls lessons that fit, draws lots on those still on trial, counts the outcome, and keeps
    what the attempt taught. It calls no model, unless you name one for lessons or verdicts. If the store or a part
    fails, the attempt goes on without memory: `Attempt.degradations` and `watch` say so.

    Args:
        store: A store, a `MemoryCI` with its policy, or what `connect` takes: a file, a folder of Markdown that ends
            in "/", a URL.
        agent: The agent's role. Its lessons are tried on its own tasks first.
        tenant: Whose memory it is.
        owner: The person or project whose tasks these are, within the tenant.
        model: The name of the model that your code calls; evidence is kept separately for each model.
        evaluator: Judges the answers of attempts that end without an outcome; see `wisen.evaluation`.
        reflector: Writes the lessons of bad attempts. By default the feedback is the lesson, word for word;
            `SentenceReflector(model="…")` asks a model.
        threshold: The score from which an attempt is good.
        top_k: The most lessons that an attempt is shown.
        options: Finer choices. By default all advice comes as one text, examples included.
        timeout: Seconds that a step of memory may take before the attempt goes on without it.
        watch: Called with every event; an error in it stops nothing.
        clockwork: Clock, ids and randomness.

    Raises:
        ConfigError: If an option or the store is invalid, or a part asks for the run's model.
    """

    def __init__(  # noqa: PLR0913 - the small front door: most calls name the store alone
        self,
        store: str | Path | VectorStore | MemoryCI,
        *,
        agent: str = "agent",
        tenant: str = "",
        owner: str = "",
        model: str = "",
        evaluator: EvaluatorLike | None = None,
        reflector: Reflector | None = None,
        threshold: float = 0.8,
        top_k: int = 5,
        options: LearningOptions | None = None,
        timeout: float = 30.0,
        watch: Callable[[Event], None] | None = None,
        clockwork: Clockwork | None = None,
    ) -> None:
        if not 0.0 <= threshold <= 1.0 or top_k < 1 or timeout <= 0:
            said = f"Memory(threshold={threshold!r}, top_k={top_k!r}, timeout={timeout!r})"
            raise ConfigError(f"{said}: must be in [0, 1], 1 or more, and more than 0 seconds")
        self._own_store = connect(store) if isinstance(store, str | Path) else None
        given = self._own_store or cast("VectorStore | MemoryCI", store)
        self.ci = given if isinstance(given, MemoryCI) else MemoryCI(given)
        self.agent, self.tenant, self.owner, self.model = agent, tenant, owner, model
        self.threshold = threshold
        self._evaluator = None if evaluator is None else as_evaluator(evaluator)
        self._parts = LearningParts(
            evaluator=ToldOutcome(),
            reflector=reflector if reflector is not None else FeedbackReflector(),
            ci=self.ci,
            block="",
            top_k=top_k,
            options=options or LearningOptions(compiler=PromptCompiler(episodes="section")),
        )
        self._timeout = timeout
        self._watch = watch
        self._clockwork = clockwork if clockwork is not None else Clockwork()
        self._opened(Task(prompt="is anything missing?"), "")  # a reflector without a model, say

    async def __aenter__(self) -> Self:
        """Itself; nothing is opened before the first use."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """See `close`."""
        await self.close()

    async def close(self) -> None:
        """Close the store, if it was opened here. Closing twice is fine."""
        if self._own_store is not None:
            await self._own_store.close()

    @asynccontextmanager
    async def attempt(
        self, task: str | Task, *, tools: Sequence[str] = (), task_type: str = ""
    ) -> AsyncGenerator[Attempt]:
        """One try at a task. An error that leaves the block counts as its outcome, and is raised further.

        Args:
            task: What is to be done, in the user's words.
            tools: Names of the available tools; lessons about others aren't shown.
            task_type: Lessons can be scoped by it.

        Raises:
            ConfigError: If the task is empty.
        """
        attempt = await self.begin(task, tools=tools, task_type=task_type)
        try:
            yield attempt
        except BaseException as error:
            attempt.failed(error)
            await self.end(attempt)
            raise
        await self.end(attempt)

    async def begin(
        self, task: str | Task, *, tools: Sequence[str] = (), task_type: str = "", attempt_id: str = ""
    ) -> Attempt:
        """Begin an attempt that `end` ends, for code whose attempts don't fit into a block. Raises as `attempt` does.

        Your own `attempt_id` names one try only; by default a new one is made.
        """
        asked = task if isinstance(task, Task) else Task(prompt=task, tools=tuple(tools), type=task_type)
        if not asked.prompt.strip():
            raise ConfigError("the attempt's task is empty; say what is to be done")
        asked = asked.owned_by(self.tenant, self.owner)
        attempt = self._opened(asked, attempt_id or self._clockwork.new_id())
        try:
            with RunTime(seconds=None, step_seconds=self._timeout) as time:
                attempt.account = await time.spend("memory", attempt.learner.begin(1))
        except Exception as error:  # noqa: BLE001 - a store may be anybody's code; the attempt goes on without memory
            attempt.watchers(Degraded(stage="recall", error=described(error), skipped="lessons of earlier runs"))
        return attempt

    async def on_error(self, attempt: Attempt, *, tool: str, error: str) -> str:
        """Memory's advice on an error that a tool of the attempt has met; "" if there is none. Never raises.

        It holds lessons of attempts that had this tool, if they fit the error and weren't recalled at the beginning.
        Nothing is drawn within an attempt, so lessons still on trial are left out.
        """
        account = attempt.account
        try:
            with RunTime(seconds=None, step_seconds=self._timeout) as time:
                said = await time.spend("memory", attempt.learner.on_error(account.advice, tool=tool, error=error))
        except Exception as failure:  # noqa: BLE001 - a store may be anybody's code; the attempt goes on without it
            attempt.watchers(Degraded(stage="recall", error=described(failure), skipped=f"lessons on {tool!r}"))
            return ""
        if said.text:
            account.advice = replace(account.advice, injections=(*account.advice.injections, *said.injections))
            account.delivered()
        return said.text

    async def end(self, attempt: Attempt) -> None:
        """Count an attempt's outcome, and keep its lessons and its record. Never raises; ending twice is fine.

        Without an outcome nothing is counted yet: `outcome` may bring one later, within the trial's time of grace.
        """
        if attempt.ended:
            return
        attempt.ended = True
        try:
            with RunTime(seconds=None, step_seconds=self._timeout) as time:
                attempt.watchers.time = time
                await time.spend("memory", self._ended(attempt))
        except Exception as error:  # noqa: BLE001 - the answer matters more
            attempt.watchers(Degraded(stage="persist", error=described(error), skipped="what this attempt came to"))

    async def outcome(
        self,
        attempt_id: str,
        score: float,
        *,
        feedback: str = "",
        expected: str = "",
        verified: bool = True,
        unseen: bool = False,
    ) -> Reported:
        """Report an attempt's outcome once it is known, from any process; its feedback becomes a lesson.

        An outcome that was reported before stays, and so does what it counted for. Where it says the opposite, and was
        as well founded, the feedback of another one teaches nothing; an event says so.

        Args:
            attempt_id: The attempt's `id`.
            score: From 0 to 1.
            feedback: What was wrong, or what to do instead.
            expected: What would have been right, if known.
            verified: Whether a check or a person decided, rather than a model's opinion.
            unseen: Whether the attempt may have read others' text that memory hasn't seen. Feedback that names a new
                address or command is then held until a person decides.

        Raises:
            RunNotFoundError: If it isn't an attempt of this tenant.
            ConfigError: If the score isn't in [0, 1], or the store keeps no attempts.
            StoreError: If the store fails.
        """
        record = await self._record(attempt_id)
        evaluation = evaluation_of(score, feedback, expected=expected, verified=verified, threshold=self.threshold)
        reported = await report_outcome(self.ci, attempt_id, score=score, threshold=self.threshold, verified=verified)
        first = record.attempts[0] if record.attempts else None
        if first is None or not feedback.strip():
            return reported
        attempt = self._opened(record.task, record.run_id)
        if refuted(evaluation, by=reported.record.attempts[0], threshold=self.threshold):
            said = "ConfigError: an outcome that was reported before says the opposite"
            attempt.watchers(Degraded(stage="reflect", error=said, skipped="the lesson of this feedback"))
            return reported
        if unseen or first.used:
            attempt.session.recorder.add("observation", **{UNSEEN: True})
        attempt.account = Account(
            attempt=1,
            advice=Advice(injections=first.injections),
            spent_before=TokenUsage(),
            output=record.output,
            failure=first.failure,
            used=first.used,
            did=first.did,
        )
        attempt.account.met = good_enough(first.failure, evaluation, self.threshold)
        async for event in attempt.learner.learn(attempt.account, evaluation, met=attempt.account.met):
            attempt.watchers(event)
        return reported

    async def lesson(
        self,
        text: str,
        *,
        task: str = "",
        task_type: str = "",
        tools: Sequence[str] = (),
        kind: MemoryKind = MemoryKind.LESSON,
        by: str = "human",
    ) -> Submission:
        """Keep a lesson that no attempt taught, through the screen; it is on trial like any other.

        Args:
            text: What it says.
            task: A task that it helps with; similar ones recall it.
            task_type: Not for tasks of another type; a task without a type may be of any.
            tools: Only if one of these tools is available, as far as a task says which are.
            kind: What sort of card it is.
            by: "human" for a person's word, which is for all agents. "import" for text from elsewhere, which waits for
                a person. Otherwise the name of a program, whose word this agent tries first. What a program had read is
                unknown: if its text names a new address or command, it is held until a person decides.

        Raises:
            StoreError: If the store fails.
        """
        if not text.strip():
            raise ConfigError("the lesson is empty; say what it teaches")
        # The circle of runs that may try a card is that of the run it comes from: a program's word is such a run.
        program = by not in ("human", "import")
        card = MemoryCard(
            kind=kind,
            content=text,
            situation=Situation(prompt=task, task_type=task_type, tools=tuple(tools)),
            scope=MemoryScope(
                tenant=self.tenant, tool_names=tuple(tools), task_types=(task_type,) if task_type else ()
            ),
            provenance=Provenance(
                run_id=self._clockwork.new_id() if program else "",
                created_by=by,
                agent=self.agent,
                owner=self.owner,
                created_at=self._clockwork.now(),
                tainted=by != "human",
            ),
        )
        return await self.ci.submit(card)

    def learns(
        self, *, tools: Sequence[str] = (), task_type: str = ""
    ) -> Callable[[Callable[..., Awaitable[_Result]]], Callable[..., Coroutine[Any, Any, _Result]]]:
        """Make each call of an async function an attempt: a decorator; see `Memory.learns`."""

        def decorated(function: Callable[..., Awaitable[_Result]]) -> Callable[..., Coroutine[Any, Any, _Result]]:
            wanted = wanted_by(function, asynchronous=True)

            @wraps(function)
            async def attempted(task: str, *args: object, **keywords: object) -> _Result:
                async with self.attempt(task, tools=tools, task_type=task_type) as attempt:
                    return attempt.returned(await function(task, *args, **attempt.given(wanted), **keywords))

            return attempted

        return decorated

    async def _record(self, attempt_id: str) -> RunRecord:
        log = self.ci.store
        if not isinstance(log, RunLog):
            raise ConfigError(f"outcome({attempt_id!r}): this store keeps no attempts")
        record = await log.run(attempt_id)
        if record.task.tenant != self.tenant:
            raise RunNotFoundError(attempt_id)
        return record

    def _opened(self, task: Task, attempt_id: str) -> Attempt:
        clockwork = self._clockwork
        session = AgentSession(
            id=attempt_id,
            instructions="",
            task=task,
            meter=Meter(Budget(), clockwork.monotonic),
            recorder=Recorder(attempt_id, task.prompt, clockwork.monotonic),
        )
        watchers, told = Watchers(self._watch), ToldOutcome(self._evaluator)
        deps = Dependencies(
            model=cast("Any", CallersModel(self.model)),
            bind=NamedModels(session),
            memory=BlockMemory(),
            emit=watchers,
            clockwork=clockwork,
            evaluator=told,
            agent=self.agent,
        )
        return Attempt(
            session=session,
            learner=Learner(self._parts, session, deps, task.prompt, tools=task.tools or None),
            account=Account(attempt=1, advice=Advice(), spent_before=TokenUsage()),
            watchers=watchers,
            told=told,
            threshold=self.threshold,
            agent=self.agent,
            model=self.model,
            started_at=clockwork.now(),
        )

    async def _ended(self, attempt: Attempt) -> None:
        account, learner = attempt.account, attempt.learner
        learner.ended(account)
        if account.failure or attempt.told.known:
            evaluation = await learner.evaluate(account)
            account.met = good_enough(account.failure, evaluation, self.threshold)
            for told in await learner.settle(account, self.threshold):
                attempt.watchers(told)
            async for event in learner.learn(account, evaluation, met=account.met):
                attempt.watchers(event)
        async for event in learner.keep(attempt.lessons, account, account.evaluation or UNKNOWN):
            attempt.watchers(event)
        log = self.ci.store
        if isinstance(log, RunLog):
            with calling(named("store", log)):
                await log.save_run(attempt.record())
