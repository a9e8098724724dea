"""Reflexion: attempt, evaluate, learn, try again.

Shinn et al. 2023, "Reflexion: Language Agents with Verbal Reinforcement Learning" (arXiv:2303.11366). Read
`Reflexion.run` first: it is the whole loop. What memory does on both sides of an attempt is in learning.py beside it.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING
from warnings import warn

from wisen import models
from wisen.account.attempt import Account
from wisen.account.attempt_score import failure_of, good_enough
from wisen.advice.compiler import PromptCompiler
from wisen.architectures.introspection import tools_of
from wisen.architectures.react import ReAct
from wisen.architectures.selection import select
from wisen.architectures.wrapped import Wrapped, as_architecture
from wisen.errors import BudgetExceededError, ConfigError
from wisen.evaluation.build import EvaluatorLike, as_evaluator
from wisen.evaluation.judge import JudgeEvaluator
from wisen.events import (
    AdviceUndelivered,
    AttemptStarted,
    Evaluated,
    Event,
    LessonsBlocked,
    LessonsRecalled,
    MaxAttemptsReached,
    ThresholdMet,
    described,
)
from wisen.memory_ci.pipeline import MemoryCI
from wisen.protocols import Evaluator, Reflector, VectorStore
from wisen.reflection.sentence import SentenceReflector
from wisen.reflexion.attempt_cards import shown_ids
from wisen.reflexion.learner import Learner
from wisen.reflexion.options import LearningOptions, LearningParts
from wisen.session import AgentSession, Architecture, Dependencies, told_unrepeatable

if TYPE_CHECKING:
    from pydantic_ai.models import Model

_NO_MORE = "the attempts after it"


class Reflexion:
    """Wraps a base architecture with evaluation, lessons and retries.

    An attempt that runs out of turns or raises has failed: the run learns from it and tries again. Only what no retry
    can help ends the run: a cancellation, an exhausted budget, a model that can't be reached, or a mistake in the
    setup.

    Args:
        base: What makes an attempt: an architecture, an async function, or another framework's agent. `ReAct()` by
            default.
        max_attempts: Most attempts of one run; 1 or more.
        threshold: Score in [0, 1] from which an attempt is good enough.
        evaluator_prompt: System prompt of the judge, if no other evaluator is given.
        reflector_prompt: System prompt of the model that writes lessons.
        lessons_block_name: The memory block that lessons go to when there is no `lesson_store`. Agents that share a
            memory and shouldn't share lessons need distinct names.
        lesson_store: Keeps lessons as cards and recalls the few that fit; a `MemoryCI` decides who may see what.
        top_k_lessons: The most cards that an attempt is shown; ignored in block mode.
        evaluator: Judges attempts if neither the run nor the agent has an evaluator; by default a model judge.
        reflector: Writes lessons; `SentenceReflector` by default.
        evaluator_model: The judge's model; the run's own by default, which makes the scores self-judged.
        reflector_model: The reflector's model; the run's own by default.
        options: Finer choices on what is kept and how it is shown.

    """

    name: str = "reflexion"

    def __init__(  # noqa: PLR0913 - the sources name these parameters one by one
        self,
        *,
        base: object = None,
        max_attempts: int = 3,
        threshold: float = 0.8,
        evaluator_prompt: str | None = None,
        reflector_prompt: str | None = None,
        lessons_block_name: str = "reflexion_lessons",
        lesson_store: VectorStore | MemoryCI | None = None,
        top_k_lessons: int = 5,
        evaluator: EvaluatorLike | None = None,
        reflector: Reflector | None = None,
        evaluator_model: "Model | str | None" = None,
        reflector_model: "Model | str | None" = None,
        options: LearningOptions | None = None,
    ) -> None:
        _check(max_attempts, threshold, top_k_lessons, lesson_store)
        self.base: Architecture = ReAct() if base is None else as_architecture(base)
        if isinstance(self.base, Wrapped) and not self.base.carries_advice:
            warn(
                f"what {self.base.name!r} learns doesn't reach it: it brings a model of its own, and takes no advice; "
                "let it take `advice`, or pass Wrapped(…, advice_in_prompt=True)",
                stacklevel=2,
            )
        self.max_attempts = max_attempts
        self.threshold = threshold
        self._parts = LearningParts(
            evaluator=(
                JudgeEvaluator(model=evaluator_model, prompt=evaluator_prompt)
                if evaluator is None
                else as_evaluator(evaluator)
            ),
            reflector=reflector or SentenceReflector(model=reflector_model, prompt=reflector_prompt),
            ci=lesson_store if isinstance(lesson_store, MemoryCI) or lesson_store is None else MemoryCI(lesson_store),
            block=lessons_block_name,
            top_k=top_k_lessons,
            options=options or LearningOptions(),
        )

    @property
    def lesson_store(self) -> VectorStore | None:
        """The store for lessons as cards; `None` in block mode."""
        return self._parts.ci.store if self._parts.ci else None

    @property
    def memory_ci(self) -> MemoryCI | None:
        """What decides about those lessons: as it was given, or made for the store."""
        return self._parts.ci

    @property
    def evaluator(self) -> Evaluator:
        """Judges attempts if neither the run nor the agent has an evaluator."""
        return self._parts.evaluator

    @property
    def reflector(self) -> Reflector:
        """Writes lessons."""
        return self._parts.reflector

    @property
    def compiler(self) -> PromptCompiler:
        """Turns recalled cards into advice."""
        return self._parts.options.compiler

    def declared_workers(self) -> Mapping[str, object]:
        """None of its own; the base says which it has, and `Agent.declared_workers` asks it."""
        return {}

    async def run(self, session: AgentSession, deps: Dependencies, prompt: str) -> AsyncIterator[Event]:
        """See `Architecture.run`."""
        learner = Learner(self._parts, session, deps, prompt, tools=tools_of(self.base, deps))
        made, accounts = len(session.attempts), list[Account]()
        try:
            for attempt in range(1, self.max_attempts + 1):
                yield AttemptStarted(attempt=attempt, max_attempts=self.max_attempts)
                accounts.append(account := await learner.begin(attempt))
                try:
                    async for event in self._attempt(learner, account, session, deps):
                        yield event
                except (Exception, asyncio.CancelledError, GeneratorExit):
                    await learner.settle(account, self.threshold)  # it raised, was cancelled, or nobody reads on
                    raise
                finally:  # also where the budget ends in the middle of it
                    session.attempts[made + attempt - 1 :] = [learner.record(account)]
                if account.over:
                    break
            else:
                yield MaxAttemptsReached(attempts=self.max_attempts, final_score=accounts[-1].score)
            async for event in learner.escalate(accounts):
                yield event
            _raise_unanswered(accounts)
        finally:
            best = select(session.attempts[made:], self._parts.options.best_version, threshold=self.threshold)
            accepted = bool(accounts) and accounts[-1].accepted
            best = session.attempts[-1] if accepted else best
            if best is not None:
                account = accounts[best.attempt - 1]
                stands = False if account.failure and not account.met else None
                session.output, session.returned, session.satisfied = best.output, best, accepted or stands
                session.structured, session.failure = account.structured, account.failure
                session.metadata.update(account.metadata)

    async def _attempt(
        self, learner: Learner, account: Account, session: AgentSession, deps: Dependencies
    ) -> AsyncIterator[Event]:
        if account.advice.injections:
            yield LessonsRecalled(attempt=account.attempt, injections=account.advice.injections)
        if account.advice.blocked:
            yield LessonsBlocked(attempt=account.attempt, blocked=account.advice.blocked)
        async for event in self._run_base(learner, account, session, deps):
            yield event
        if account.over:
            for told in await learner.settle(account, self.threshold):
                yield told
            return
        evaluation = await learner.evaluate(account)
        yield Evaluated(attempt=account.attempt, evaluation=evaluation)
        account.met = good_enough(account.failure, evaluation, self.threshold)
        if account.met:
            yield ThresholdMet(attempt=account.attempt, score=account.score or 0.0)
        for told in await learner.settle(account, self.threshold):
            yield told
        account.accepted = session.settled and bool(session.satisfied)
        if account.met or not account.accepted:
            async for event in learner.learn(account, evaluation, met=account.met):
                yield event
        account.over = account.met or account.score is None or session.settled
        self._stop_at_unrepeatable(learner, account, session)

    def _stop_at_unrepeatable(self, learner: Learner, account: Account, session: AgentSession) -> None:
        """Stop after an attempt that called a tool that isn't repeatable, and say so."""
        if session.unrepeatable and not account.over and account.attempt < self.max_attempts:
            account.over = account.stuck = True
            learner.broken_off(account, told_unrepeatable(session), _NO_MORE)

    async def _run_base(
        self, learner: Learner, account: Account, session: AgentSession, deps: Dependencies
    ) -> AsyncIterator[Event]:
        outside = dict(session.metadata)
        session.metadata.clear()
        try:
            lent = models.with_advice(deps, account.advice, account.delivered)
            async for event in self.base.run(session, lent, learner.prompt):
                yield event
            account.failure = session.failure
        except BudgetExceededError:
            account.evaluation = learner.judged()
            raise
        except Exception as error:  # noqa: BLE001 - may be anybody's code; its failure is what is to be learned from
            account.failure, account.error_raised = failure_of(error), error
            account.fatal = account.over = account.stuck = models.ends_run(error)
        finally:  # also of an attempt that the budget cut short
            learner.ended(account)
            account.structured, account.metadata = session.structured, dict(session.metadata)
            session.metadata.clear()
            session.metadata.update(outside)
        if account.advice and not account.carried:
            yield AdviceUndelivered(attempt=account.attempt, card_ids=shown_ids(account.advice))
        if account.error_raised is not None:
            skipped = f"this attempt and {_NO_MORE}" if account.fatal else "the answer of this attempt"
            if not account.fatal or account.attempt > 1:  # else it is what the run comes to
                learner.broken_off(account, described(account.error_raised), skipped)
        elif session.broken_off:
            account.over = session.interrupted
            skipped = f"the rest of this attempt{f' and {_NO_MORE}' if account.over else ''}"
            learner.broken_off(account, f"Interrupted: {session.broken_off}", skipped)


def _raise_unanswered(accounts: Sequence[Account]) -> None:
    """Raise what ended the run, or else the first attempt that raised, where there is no answer.

    An answer that exists is worth more than the error of another try.
    """
    errors = [one.error_raised for one in accounts if one.error_raised is not None]
    if errors and not any(one.answered for one in accounts):
        raise errors[-1] if accounts[-1].fatal else errors[0]


def _check(max_attempts: object, threshold: object, top_k: object, store: object) -> None:
    """Refuse invalid options, whatever their types."""
    for name, count in (("max_attempts", max_attempts), ("top_k_lessons", top_k)):
        if not isinstance(count, int) or count < 1:
            raise ConfigError(f"Reflexion({name}={count!r}): must be 1 or more")
    if not isinstance(threshold, int | float) or not 0.0 <= threshold <= 1.0:
        raise ConfigError(f"Reflexion(threshold={threshold!r}): must be in [0, 1]")
    if store is not None and not isinstance(store, MemoryCI) and not hasattr(store, "search"):
        raise ConfigError(f"Reflexion(lesson_store={store!r}): must be a store, such as SQLiteVectorStore(…)")
