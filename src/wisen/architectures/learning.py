"""What memory does around an attempt: recall before it, evaluation after it, and lessons from it.

Nothing here loses a finished answer: whatever fails (store, evaluator, reflector, screen) is skipped, and an event says
so. Only an exhausted budget passes through, since it ends the run.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Literal

from wisen.architectures.selection import SELECTIONS, Selection
from wisen.cards import MemoryCard, MemoryKind, Provenance, Situation
from wisen.errors import BudgetExceededError, ConfigError, ReflectionError
from wisen.events import Degraded, Event, LessonPersisted, LessonProduced, described
from wisen.memory.compiler import OwnRun, PromptCompiler, Recalled
from wisen.memory.rank import rank
from wisen.memory_ci.pipeline import Drawn, MemoryCI
from wisen.memory_ci.screen import BasicScreen
from wisen.models.structured import constrained_settings
from wisen.protocols import Evaluator, Reflector, Screen, bound_to_run
from wisen.recall import CardFilter, RecallHit
from wisen.records import Advice, AttemptRecord, Injection, ReflectionEvaluation, Task, TokenUsage
from wisen.session import AgentSession, Dependencies

_Stage = Literal["recall", "attempt", "evaluate", "reflect", "screen", "persist"]
_KEEPS = ("verified", "all", "none")


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningOptions:
    """Finer choices of `Reflexion`."""

    keep_successes: Literal["verified", "all", "none"] = "verified"
    """Which good answers become skill cards: those that an execution or exact check accepted, all, or none. Needs a
    lesson store."""
    exclude_rejected: bool = True
    """Whether an answer that a verifiable evaluator rejected is ruled out for the rest of the run: by constraint where
    the task has known choices and the model can be constrained, and by the advice otherwise."""
    best_version: Selection = "highest_score"
    compiler: PromptCompiler = field(default_factory=PromptCompiler)
    screen: Screen = field(default_factory=BasicScreen)
    """Screens lessons in block mode; with a store its `MemoryCI` has its own."""

    def __post_init__(self) -> None:
        """Refuse values that don't exist with `ConfigError`."""
        if self.keep_successes not in _KEEPS:
            raise ConfigError(
                f"LearningOptions(keep_successes={self.keep_successes!r}): must be one of {', '.join(_KEEPS)}"
            )
        if self.best_version not in SELECTIONS:
            raise ConfigError(
                f"LearningOptions(best_version={self.best_version!r}): must be one of {', '.join(SELECTIONS)}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningParts:
    """What a `Reflexion` learns with."""

    evaluator: Evaluator
    reflector: Reflector
    ci: MemoryCI | None
    """`None`: block mode."""
    block: str
    top_k: int
    options: LearningOptions

    @property
    def screen(self) -> Screen:
        """The screen that lessons pass."""
        return self.ci.screen if self.ci else self.options.screen


@dataclass(slots=True, kw_only=True)
class Turn:
    """One attempt while it is made."""

    attempt: int
    advice: Advice
    spent_before: TokenUsage
    began: float
    carried: bool = False
    """Whether a model call has carried the advice."""
    failed: bool = False
    """Whether its base raised: there is no answer."""
    over: bool = False
    """Whether no attempt comes after it."""
    evaluation: ReflectionEvaluation | None = None
    structured: object = None
    lesson_ids: list[str] = field(default_factory=list)

    @property
    def score(self) -> float | None:
        """The score, as far as it is known."""
        return self.evaluation.overall_score if self.evaluation else None

    def delivered(self) -> None:
        """Note that a model call carried the advice."""
        self.carried = True


class Learner:
    """The memory's side of one run of `Reflexion`."""

    def __init__(self, parts: LearningParts, session: AgentSession, deps: Dependencies, prompt: str) -> None:
        self.prompt = prompt
        self._parts = parts
        self._session = session
        self._deps = deps
        self._task: Task = session.task
        self._own_cards: dict[str, MemoryCard] = {}
        self._unsaved: list[str] = []
        self._recalled: list[RecallHit] | None = None
        self._evaluator = bound_to_run(deps.evaluator or parts.evaluator, deps.bind)
        self._reflector = bound_to_run(parts.reflector, deps.bind)

    async def begin(self, attempt: int) -> Turn:
        """Recall what fits, compile it, and clear the conversation of the attempt before."""
        advice = await self._recall(attempt)
        self._session.messages = []
        self._session.output = ""
        self._session.structured = None
        meter = self._session.meter
        return Turn(attempt=attempt, advice=advice, spent_before=meter.spent, began=meter.seconds)

    async def _recall(self, attempt: int) -> Advice:
        parts, drawn, block = self._parts, list[Drawn](), ""
        try:
            if parts.ci is None:
                block = await self._deps.memory.block(parts.block, tenant=self._task.tenant)
            else:
                drawn = await self._drawn(parts.ci)
        except Exception as error:  # noqa: BLE001 - a store may be anybody's code; the attempt goes on without memory
            self.degraded("recall", error, "lessons of earlier runs", attempt)
        own = OwnRun(
            lessons=(*(card.text for card in self._own_cards.values() if not card.is_episode), *self._unsaved),
            rejected=self._rejections_to_name(),
        )
        return parts.options.compiler.compile([_recalled(one) for one in drawn], own=own, block=block)

    def _rejections_to_name(self) -> tuple[str, ...]:
        """Rejected answers, unless a constraint keeps the model from repeating them: then the prompt stays as it is."""
        constrained = self._task.choices and constrained_settings(self._deps.model, self._task.choices)
        if constrained or not self._parts.options.exclude_rejected:
            return ()
        return tuple(self._session.rejected)

    async def _drawn(self, ci: MemoryCI) -> list[Drawn]:
        task = self._task
        where = CardFilter(tenant=task.tenant, agent_role=self._deps.agent, task_type=task.type, tools=task.tools)
        room = self._parts.top_k + len(self._own_cards)
        self._recalled = None
        drawn = await ci.recall(self._situation(), where, run_id=self._session.id, k=room)
        self._recalled = [one.hit for one in drawn]
        known = {
            *self._own_cards,
            *(card_id for bound in self._deps.bound_advice for card_id in shown_ids(bound.advice)),
        }
        others = {one.hit.card.id: one for one in drawn if one.hit.card.id not in known}
        layout = self._parts.options.compiler.layout
        ranked = rank([one.hit for one in others.values()], model=self._deps.model.model_name, layout=layout)
        return [others[hit.card.id] for hit in ranked[: self._parts.top_k]]

    async def evaluate(self, turn: Turn) -> ReflectionEvaluation:
        """The judgement of the attempt's output; a score of `None` where none could be had."""
        session = self._session
        try:
            evaluation = await self._evaluator.evaluate(self._task, session.output, session.recorder.trace())
            if not evaluation.evaluator:
                evaluation = replace(evaluation, evaluator=self._evaluator.name)
            if evaluation.overall_score is None:
                self.degraded("evaluate", None, "the score, and lessons from it", turn.attempt)
        except BudgetExceededError:
            raise
        except Exception as error:  # noqa: BLE001 - may be anybody's code; its failure isn't the attempt's
            self.degraded("evaluate", error, "the score, and lessons from it", turn.attempt)
            evaluation = ReflectionEvaluation(overall_score=None, confidence=0.0, evaluator=self._evaluator.name)
        session.recorder.add("score", score=evaluation.overall_score, issues=list(evaluation.issues))
        turn.evaluation = evaluation
        return evaluation

    async def learn(self, turn: Turn, evaluation: ReflectionEvaluation, *, met: bool) -> AsyncIterator[Event]:
        """Keep what an attempt taught: a good answer itself, a lesson of a bad one, nothing of an unknown score."""
        if evaluation.known:
            taught = self._keep_success(turn, evaluation) if met else self._reflect(turn, evaluation)
            async for event in taught:
                yield event

    async def _reflect(self, turn: Turn, evaluation: ReflectionEvaluation) -> AsyncIterator[Event]:
        """Reflect on an attempt that wasn't good enough, and keep the lessons that pass the screen."""
        session = self._session
        if evaluation.verifiable and self._parts.options.exclude_rejected and session.output not in session.rejected:
            session.rejected.append(session.output)
        try:
            trace = session.recorder.trace()
            reflected = await self._reflector.reflect(self._task, session.output, evaluation, trace)
            cards = [_as_card(one) for one in reflected]
        except BudgetExceededError:
            raise
        except Exception as error:  # noqa: BLE001 - may be anybody's code; the run goes on without its lesson
            self.degraded("reflect", error, "the lesson of this attempt", turn.attempt)
            return
        for card in cards:
            yield LessonProduced(attempt=turn.attempt, lesson=card.text)
            persisted = await self._persist(self._signed(card, turn, evaluation), turn)
            if persisted is not None:
                yield persisted

    async def _keep_success(self, turn: Turn, evaluation: ReflectionEvaluation) -> AsyncIterator[Event]:
        """Keep a good answer as a skill card, where the options say so."""
        keep = self._parts.options.keep_successes
        passed = evaluation.satisfactory or evaluation.overall_score == 1.0
        if self._parts.ci is None or keep == "none" or (keep == "verified" and not (evaluation.verifiable and passed)):
            return
        card = MemoryCard(kind=MemoryKind.SKILL_CARD, content=self._session.output)
        persisted = await self._persist(self._signed(card, turn, evaluation, accepted=True), turn)
        if persisted is not None:
            yield persisted

    async def _persist(self, card: MemoryCard, turn: Turn) -> LessonPersisted | None:
        """Screen and write a card; a card that can't be written but is clean still serves this run."""
        try:
            return await self._to_store(card, turn) if self._parts.ci else await self._to_block(card, turn)
        except Exception as error:  # noqa: BLE001 - stores and screens may be anybody's code; the answer matters more
            self.degraded("persist", error, "keeping a lesson for later runs", turn.attempt)
        try:
            screened = self._parts.screen.check(card).card
        except Exception as error:  # noqa: BLE001 - an unscreened lesson may not be used, not even in its own run
            self.degraded("screen", error, "a lesson that could not be screened", turn.attempt)
            screened = None
        if screened is not None and not screened.is_episode:
            self._unsaved.append(screened.text)
        return None

    async def _to_store(self, card: MemoryCard, turn: Turn) -> LessonPersisted:
        ci = self._parts.ci
        if ci is None:
            raise ConfigError("no lesson_store to write to")
        submission = await ci.submit(card, among=self._recalled)
        if submission.card is not None:
            self._own_cards[submission.card_id] = submission.card
            turn.lesson_ids.append(submission.card_id)
        return LessonPersisted(
            attempt=turn.attempt,
            target="lesson_store",
            card_id=submission.card_id,
            kind=card.kind.value,
            outcome=submission.outcome,
        )

    async def _to_block(self, card: MemoryCard, turn: Turn) -> LessonPersisted:
        block, screened = self._parts.block, self._parts.screen.check(card).card
        outcome: Literal["added", "duplicate", "rejected"] = "rejected"
        if screened is not None:
            line = f"- {' '.join(screened.text.split())}"
            known = (await self._deps.memory.block(block, tenant=self._task.tenant)).splitlines()
            outcome = "duplicate" if line in known else "added"
            if outcome == "added":
                await self._deps.memory.append_block(block, line, tenant=self._task.tenant)
            turn.lesson_ids.append(card.id)
        return LessonPersisted(
            attempt=turn.attempt, target=block, card_id=card.id, kind=card.kind.value, outcome=outcome
        )

    def _signed(
        self, card: MemoryCard, turn: Turn, evaluation: ReflectionEvaluation, *, accepted: bool = False
    ) -> MemoryCard:
        """The card with its provenance; only an accepted answer can be a verified skill, whatever a reflector says."""
        provenance = Provenance(
            run_id=self._session.id,
            attempt=turn.attempt,
            trace_id=self._session.id,
            created_by="reflexion",
            model=self._deps.model.model_name,
            evaluator=evaluation.evaluator,
            verified=evaluation.verifiable and (accepted or card.kind is not MemoryKind.SKILL_CARD),
            created_at=self._deps.clockwork.now(),
            agent=self._deps.agent,
        )
        tenant = self._task.tenant
        scope = card.scope if card.scope.tenant == tenant else replace(card.scope, tenant=tenant)
        return replace(card, id="", situation=self._situation(), scope=scope, provenance=provenance)

    def _situation(self) -> Situation:
        return Situation(prompt=self._task.prompt, task_type=self._task.type, tools=self._task.tools)

    def interrupted(self, turn: Turn) -> None:
        """Say that the base broke an attempt off; what it has come to stays, unjudged."""
        reason = self._session.interruption_reason or "no reason given"
        self._tell("attempt", f"Interrupted: {reason}", "the rest of this attempt and those after it", turn.attempt)

    def record(self, turn: Turn) -> AttemptRecord:
        """The attempt as far as it came, for the run record."""
        meter = self._session.meter
        return AttemptRecord(
            attempt=turn.attempt,
            output=self._session.output,
            evaluation=turn.evaluation,
            injections=turn.advice.injections,
            advice_delivered=turn.carried,
            lesson_ids=tuple(turn.lesson_ids),
            usage=meter.spent.minus(turn.spent_before),
            seconds=meter.seconds - turn.began,
        )

    def degraded(self, stage: _Stage, error: Exception | None, skipped: str, attempt: int) -> None:
        """Tell the watchers what the run goes without."""
        said = "no score could be read" if error is None else described(error)
        self._tell(stage, said, skipped, attempt)

    def _tell(self, stage: _Stage, said: str, skipped: str, attempt: int) -> None:
        self._session.recorder.add("error", stage=stage, error=said.partition(":")[0])
        self._deps.emit(Degraded(stage=stage, error=said, skipped=skipped, attempt=attempt))


def _as_card(reflected: object) -> MemoryCard:
    if isinstance(reflected, MemoryCard):
        return reflected
    if isinstance(reflected, str):
        return MemoryCard(kind=MemoryKind.LESSON, content=reflected)
    raise ReflectionError(f"the reflector gave a {type(reflected).__name__}; it has to give MemoryCards or texts")


def _recalled(drawn: Drawn) -> Recalled:
    hit = drawn.hit
    injection = Injection(
        card_id=hit.card.id,
        kind=hit.card.kind.value,
        reasons=hit.reasons,
        score=hit.relevance,
        shown=drawn.shown,
        propensity=drawn.propensity,
    )
    return Recalled(card=hit.card, injection=injection)


def shown_ids(advice: Advice) -> tuple[str, ...]:
    """Ids of the cards that are shown by an advice."""
    return tuple(one.card_id for one in advice.injections if one.shown)
