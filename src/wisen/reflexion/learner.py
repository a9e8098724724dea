"""Does memory's work around an attempt: recall before it, evaluation after it, and lessons from it.

Nothing here loses a finished answer: whatever fails (store, evaluator, reflector, screen) is skipped, and an event says
so. Only an exhausted budget passes through, since it ends the run.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from wisen import models
from wisen.account.attempt import LONGEST_ERROR, Account
from wisen.account.attempt_score import evaluation_of_failure
from wisen.account.draws import Draws
from wisen.advice.compiler import OwnRun, Recalled
from wisen.cards import MemoryCard, MemoryKind, MemoryStatus, Provenance, Situation, circle_key
from wisen.deadlines import calling, named
from wisen.errors import BudgetExceededError, CardNotFoundError, DeadlineError, WisenError
from wisen.evaluation.asking import judgement_of
from wisen.events import CardMoved, Degraded, Escalated, Event, LessonProduced, TrialAdvanced, described
from wisen.memory_ci.pipeline import MemoryCI
from wisen.protocols import BoundToRun, Reflector, Reports, bound_to_run, lent_models
from wisen.records import Advice, AttemptRecord, ReflectionEvaluation, Task
from wisen.reflexion.attempt_cards import DERIVED, as_card, chain, provenance_of, shown_ids, without_draws
from wisen.reflexion.options import LearningParts, call_back
from wisen.reflexion.recalling import RecallRequest
from wisen.reflexion.resuming import KeptSteps
from wisen.reflexion.writing import LessonWriter, WrittenLesson, block_of
from wisen.session import AgentSession, Dependencies

_Stage = Literal["recall", "attempt", "evaluate", "reflect", "screen", "persist", "escalate", "trial"]
_NEAR_LESSONS = ("reflect", "screen", "persist", "trial")
"""Stages that see a lesson before it is screened, which the errors of others' code may quote."""


class Learner:
    """The memory's side of one run of `Reflexion`."""

    def __init__(
        self,
        parts: LearningParts,
        session: AgentSession,
        deps: Dependencies,
        prompt: str,
        *,
        tools: tuple[str, ...] | None,
    ) -> None:
        self.prompt = prompt
        self._tools = tools
        """What the run can call, by name; `None` where that isn't known beforehand."""
        self._parts = parts
        self._session = session
        self._deps = deps
        self._task: Task = session.task
        self._own_cards: dict[str, MemoryCard] = {}
        self._report_ids: list[str] = []
        self._drawn: Advice | None = None
        """The first attempt's, whose draws hold for the whole run."""
        self._met: Account | None = None
        """The attempt that has ended last."""
        self._expected = ""
        """What a verifiable evaluator has said to be right."""
        self._seen: int
        """Events of the trace before this attempt; `begin` sets it."""
        self._draws = None if parts.ci is None else self._drawing(parts.ci)
        self._store_called = named("store", deps.memory if parts.ci is None else parts.ci.store)
        self._told_before: frozenset[str] = frozenset()
        self._attempt: int
        self._judge = deps.evaluator or parts.evaluator
        self._evaluator = bound_to_run(self._judge, deps.bind)
        # Asked once a run: whether an object has a protocol's methods takes longer than the steps that depend on it.
        self._reflector, self._reports = self._reflectors(lent_models(parts.reflector, deps.bind))
        self._repeats = isinstance(self._reflector, BoundToRun)
        self._kept_steps = KeptSteps(steps=deps.steps, agent=deps.agent, task=session.task)
        self._writer = LessonWriter(
            ci=parts.ci,
            screen=parts.screen,
            memory=deps.memory,
            block=block_of(parts.block, session.task.owner),
            tenant=session.task.tenant,
            known=lambda: "\n".join((session.task.prompt, *session.task.tools, *sorted(session.offered))),
            degraded=self.degraded,
        )

    def _drawing(self, ci: MemoryCI) -> Draws:
        model, layout = self._deps.model.model_name, self._parts.options.compiler.layout
        nonce, now = self._deps.clockwork.new_id(), self._deps.clockwork.now
        circle = circle_key(self._task.tenant, self._deps.agent, self._task.owner)
        run_id = self._session.id
        return Draws(ci=ci, model=model, layout=layout, run_id=run_id, nonce=nonce, now=now, circle=circle)

    def _reflectors(self, reflector: Reflector) -> tuple[Reflector, Reports | None]:
        """The reflector, which says where it goes on with less, if it can; and the same where it writes reports."""
        if not isinstance(reflector, Reports):
            return reflector, None
        told = reflector.telling(lambda error, skipped: self.degraded("reflect", error, skipped, self._attempt))
        return told, told if isinstance(told, Reports) else None

    async def begin(self, attempt: int) -> Account:
        """Recall what fits, draw and write that down, compile it, and clear the conversation of the attempt before."""
        self._attempt = attempt
        advice = await self._kept_steps.advice(attempt, lambda: self._advice(attempt), self._holds, self._unused)
        self._drawn = advice if attempt == 1 else self._drawn
        self._told_before = frozenset(one.card_id for one in advice.injections)
        self._session.messages = []
        self._session.output = self._session.failure = ""
        self._session.structured = None
        self._session.judged = None
        meter = self._session.meter
        self._seen = len(self._session.recorder.trace().events)
        return Account(attempt=attempt, advice=advice, spent_before=meter.spent, began=meter.seconds)

    async def _holds(self, advice: Advice) -> bool:
        """Whether advice of before may still be shown: what was withdrawn meanwhile reaches no prompt."""
        try:
            ids = shown_ids(advice)
            with calling(self._store_called):
                cards = await self._parts.ci.store.get(ids) if self._parts.ci and ids else []
        except CardNotFoundError:
            return False
        except Exception as error:  # noqa: BLE001 - a store may be anybody's code; the advice has passed the screen
            self.degraded("recall", error, "asking whether the cards are still there", self._attempt)
            return True
        return all(card.status is not MemoryStatus.REJECTED for card in cards)

    async def _advice(self, attempt: int) -> Advice:
        advice = await self._recall(attempt)
        if self._draws is None or attempt > 1:
            return advice
        try:
            return await self._draws.write(advice)
        except Exception as error:  # noqa: BLE001 - a store may be anybody's code; the run goes on, and counts for nothing
            self.degraded("trial", error, "counting this run on the ideas that it tries", attempt)
        return without_draws(advice)

    async def _unused(self, made: Advice, used: Advice) -> None:
        """Take back what was drawn here, where another process works on this very run and was first."""
        try:
            if self._draws is not None and self._attempt == 1:
                await self._draws.withdraw(made, used=used)
        except Exception as error:  # noqa: BLE001 - a store may be anybody's code; then it counts later, as not good
            self.degraded("trial", error, "taking back what another process has drawn, too", 1)

    async def _recall(self, attempt: int) -> Advice:
        parts, recalled, block = self._parts, list[Recalled](), ""
        try:
            with calling(self._store_called):
                if self._draws is None:
                    block = await self._deps.memory.block(self._writer.block, tenant=self._task.tenant)
                else:
                    recalled = await self._recalled(self._draws, attempt)
        except Exception as error:  # noqa: BLE001 - a store may be anybody's code; the attempt goes on without memory
            self.degraded("recall", error, "lessons of earlier runs", attempt)
        own = OwnRun(
            lessons=chain(list(self._own_cards.values())),
            rejected=self._rejections_to_name(),
            corrected=((self._task.prompt, self._expected),) if self._expected else (),
        )
        try:
            with calling("the prompt compiler"):
                return await parts.options.compiler.compile_for(
                    self._deps.model, recalled, own=own, block=block, most=parts.top_k
                )
        except Exception as error:  # noqa: BLE001 - a screen may be anybody's code; an earlier answer matters more
            self.degraded("screen", error, "all advice from memory", attempt)
        return Advice()

    def _rejections_to_name(self) -> tuple[str, ...]:
        """Rejected answers, unless a constraint keeps the model from repeating them: then the prompt stays as it is."""
        constrained = self._task.choices and models.constrained_settings(self._deps.model, self._task.choices)
        if constrained or not self._parts.options.exclude_rejected:
            return ()
        return tuple(self._session.rejected)

    async def _recalled(self, draws: Draws, attempt: int) -> list[Recalled]:
        """The agent's rules; then what fits the task, and what earlier attempts of this run have met, best first."""
        return await self._request(draws).recalled(
            self._situation(),
            own=self._own_cards,
            told_before=self._told_before,
            first=attempt == 1,
            drawn=self._drawn,
        )

    def _request(self, draws: Draws) -> RecallRequest:
        tools = tuple(sorted(self._session.offered)) or None if self._tools is None else self._tools
        return RecallRequest(draws=draws, parts=self._parts, deps=self._deps, task=self._task, tools=tools)

    async def on_error(self, before: Advice, *, tool: str, error: str) -> Advice:
        """As `RecallRequest.on_error`; nothing in block mode."""
        if self._draws is None:
            return Advice()
        met = error[:LONGEST_ERROR]
        return await self._request(self._draws).on_error(before, tool=tool, error=met, own=self._own_cards)

    def judged(self) -> ReflectionEvaluation | None:
        """The same evaluator's judgement of the output, where the base asked for one and got it."""
        judged = self._session.judged
        known = judged is not None and judged.by is self._judge and judged.evaluation.known
        return judged.evaluation if judged and known else None

    async def evaluate(self, account: Account) -> ReflectionEvaluation:
        """The judgement of the attempt; a score of `None` where none could be had."""
        evaluation = await self._judgement(account) if account.output or not account.failure else None
        if evaluation is None or account.failure:
            evaluation = evaluation_of_failure(account.failure, evaluation)
        self._session.recorder.add("score", score=evaluation.overall_score, issues=list(evaluation.issues))
        account.evaluation = evaluation
        return evaluation

    async def _judgement(self, account: Account) -> ReflectionEvaluation:
        session, judge = self._session, self._evaluator
        unknown = ReflectionEvaluation(overall_score=None, confidence=0.0, evaluator=judge.name)
        try:
            evaluation = self.judged()
            if evaluation is None:
                with calling(f"evaluator {judge.name!r}"):
                    evaluation = await judgement_of(judge, self._task, session.output, session.recorder.trace())
            evaluation = replace(evaluation, evaluator=evaluation.evaluator or judge.name)
            if evaluation.overall_score is None:
                self.degraded("evaluate", None, "the score, and lessons from it", account.attempt)
        except BudgetExceededError as error:  # out of time, it may have answered, and the judge hasn't
            account.evaluation = unknown if isinstance(error, DeadlineError) and not account.failure else None
            raise
        except Exception as error:  # noqa: BLE001 - may be anybody's code; its failure isn't the attempt's
            self.degraded("evaluate", error, "the score, and lessons from it", account.attempt)
            return unknown
        return evaluation

    async def settle(self, account: Account, threshold: float) -> Sequence[CardMoved | TrialAdvanced]:
        """Count what a first attempt came to on the ideas that were drawn for it; says what became of them.

        It is done as soon as the outcome is known, so that nothing later in the run can lose it.
        """
        if self._draws is None or account.attempt > 1 or account.settled:
            return ()
        try:
            told = await self._draws.settle(account.advice, account.outcome(threshold))
        except Exception as error:  # noqa: BLE001 - a store may be anybody's code; the answer matters more
            if not account.uncounted:
                self.degraded("trial", error, "counting this run on the ideas that it tried", account.attempt)
            account.uncounted = True
            return ()
        account.settled = True
        return told

    def ended(self, account: Account) -> None:
        """Note what the attempt did: the tools that it called, the last error that it met, and its answer."""
        if account.failure:
            self._session.recorder.add("error", stage="attempt", text=account.failure)
        account.acted(self._session.recorder.trace(), since=self._seen)
        account.output = self._session.output
        self._met = account

    async def learn(self, account: Account, evaluation: ReflectionEvaluation, *, met: bool) -> AsyncIterator[Event]:
        """Keep what an attempt taught: a good answer itself, a lesson of a bad one, nothing of an unknown score."""
        if evaluation.known:
            taught = self._keep_success(account, evaluation) if met else self._reflect(account, evaluation)
            async for event in taught:
                yield event

    async def _reflect(self, account: Account, evaluation: ReflectionEvaluation) -> AsyncIterator[Event]:
        """Reflect on an attempt that wasn't good enough, and keep what passes the screen."""
        session = self._session
        refused = evaluation.verifiable and not account.failure and session.output not in session.rejected
        if refused and self._parts.options.exclude_rejected:
            session.rejected.append(session.output)
        self._expected = evaluation.expected if evaluation.verifiable else self._expected
        cards = await self._reflected(self._reflector.reflect, account, evaluation)
        async for event in self.keep(cards, account, evaluation):
            yield event
        if self._reports is not None and not account.taught:
            async for event in self._keep_plain(self._reports, account, evaluation):
                yield event

    async def _keep_plain(
        self, reflector: Reports, account: Account, evaluation: ReflectionEvaluation
    ) -> AsyncIterator[Event]:
        """Keep the fullest report that the screen lets pass; the last one owes nothing to anybody's text."""
        plain = reflector.plain(self._task, evaluation, self._session.recorder.trace())
        for place, card in enumerate(plain, 1):
            situation = Situation(task_type=self._task.type, tools=self._task.tools) if place == len(plain) else None
            async for event in self.keep([card], account, evaluation, situation):
                yield event
            if account.taught:
                return

    async def _reflected(
        self,
        reflect: Callable[..., Awaitable[Sequence[MemoryCard]]],
        account: Account,
        evaluation: ReflectionEvaluation,
    ) -> list[MemoryCard]:
        """What the reflector says, nothing where it fails."""
        session = self._session

        async def cards() -> list[MemoryCard]:
            with calling(named("reflector", self._parts.reflector)):
                reflected = await reflect(self._task, session.output, evaluation, session.recorder.trace())
            return [as_card(one) for one in reflected]

        try:
            return await self._kept_steps.cards(account.attempt, session.output, cards, repeats=self._repeats)
        except BudgetExceededError:
            raise
        except Exception as error:  # noqa: BLE001 - may be anybody's code; the run goes on without its lesson
            self.degraded("reflect", error, "the lesson of this attempt", account.attempt)
        return []

    async def _keep_success(self, account: Account, evaluation: ReflectionEvaluation) -> AsyncIterator[Event]:
        """Keep a good answer as a skill card, where there is one and the options say so, and the reflector's word."""
        keep = self._parts.options.keep_successes
        passed = evaluation.satisfactory or evaluation.overall_score == 1.0
        wanted = keep == "all" or (keep == "verified" and evaluation.verifiable and passed)
        if self._parts.ci and wanted and self._session.output.strip():
            card = MemoryCard(kind=MemoryKind.SKILL_CARD, content=self._session.output)
            async for event in self.keep([card], account, evaluation, accepted=True):
                yield event
        if self._reports is not None:
            cards = await self._reflected(self._reports.on_success, account, evaluation)
            async for event in self.keep(cards, account, evaluation):
                yield event

    async def keep(
        self,
        cards: Sequence[MemoryCard],
        account: Account,
        evaluation: ReflectionEvaluation,
        situation: Situation | None = None,
        *,
        accepted: bool = False,
    ) -> AsyncIterator[Event]:
        """Screen and write cards; events tell of them only then."""
        for card in cards:
            provenance = provenance_of(card, account, evaluation, self._session, self._deps, accepted=accepted)
            signed = _signed(card, self._task.tenant, situation or self._situation(), provenance)
            kept = await self._kept_steps.lesson(signed, partial(self._write, signed, account.attempt))
            account.taught |= kept.card is not None
            if kept.card is not None and not accepted:
                yield LessonProduced(attempt=account.attempt, lesson=kept.card.text)
            if kept.persisted is not None:
                if kept.card is not None:
                    account.lesson_ids.append(kept.persisted.card_id)
                    self._report_ids += [] if card.kind in DERIVED else [kept.persisted.card_id]
                yield kept.persisted
            if kept.card is not None and (self._parts.ci or kept.persisted is None):
                # What is in the block already reaches the next attempt with the block.
                self._own_cards[kept.persisted.card_id if kept.persisted else kept.card.id] = kept.card

    async def _write(self, card: MemoryCard, attempt: int, again: bool) -> WrittenLesson:
        return await self._writer.keep(card, attempt, again=again)

    async def escalate(self, accounts: Sequence[Account]) -> AsyncIterator[Event]:
        """If no retry is left, hand the task to the orchestrator by status, event and callback."""
        options, last = self._parts.options, accounts[-1]
        raised = last.fatal and not any(one.answered for one in accounts)
        if not options.escalates or raised or (last.over and not last.stuck):
            return
        self._session.escalated = True
        score = next((one.score for one in reversed(accounts) if one.score is not None), None)
        ids = tuple(dict.fromkeys(self._report_ids))
        escalated = Escalated(run_id=self._session.id, attempts=len(accounts), final_score=score, report_ids=ids)
        yield escalated
        if options.on_escalation is None:
            return
        try:
            await self._kept_steps.tell_once(partial(call_back, options.on_escalation, escalated))
        except Exception as error:  # noqa: BLE001 - the callback is the user's code; the answer matters more
            self.degraded("escalate", error, "what the callback was to do", len(accounts))

    def _situation(self) -> Situation:
        """The task, and what the attempt before has met: its tools, and its last error."""
        met, task = self._met, self._task
        tools = task.tools or (met.tools if met else ())
        return Situation(prompt=task.prompt, task_type=task.type, tools=tools, error=met.error if met else "")

    def record(self, account: Account) -> AttemptRecord:
        """The attempt as far as it came, for the run record."""
        meter = self._session.meter
        account.output = self._session.output
        return account.recorded(spent=meter.spent, seconds=meter.seconds)

    def broken_off(self, account: Account, why: str, skipped: str) -> None:
        """Say that an attempt ended without a final answer, or that none follows it."""
        self._deps.emit(Degraded(stage="attempt", error=why, skipped=skipped, attempt=account.attempt))

    def degraded(self, stage: _Stage, error: Exception | None, skipped: str, attempt: int) -> None:
        """Tell the watchers what the run goes without."""
        said = "no score could be read" if error is None else described(error)
        if stage in _NEAR_LESSONS and type(error).__module__ != WisenError.__module__:
            said = type(error).__name__
        self._session.recorder.add("error", stage=stage, error=said.partition(":")[0])
        self._deps.emit(Degraded(stage=stage, error=said, skipped=skipped, attempt=attempt))


def _signed(card: MemoryCard, tenant: str, situation: Situation, provenance: Provenance) -> MemoryCard:
    """The card as this run's, whatever a reflector says of it."""
    scope = replace(card.scope, tenant=tenant)
    return replace(card, id="", situation=situation, scope=scope, provenance=provenance)
