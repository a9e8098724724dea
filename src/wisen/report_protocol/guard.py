"""Holds callers with loops of their own to the Reflexion protocol: report a failure before beginning the next task."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from wisen.account.draws import Draws
from wisen.cards import MemoryCard, Provenance, Situation
from wisen.errors import ConfigError, ReflectionError, ReflectionRequiredError, WisenError
from wisen.events import Degraded, Escalated, Event, LessonPersisted, LessonsBlocked, described
from wisen.memory_ci.pipeline import MemoryCI
from wisen.protocols import VectorStore
from wisen.records import Advice, Clockwork, ReflectionEvaluation, Task, Trace
from wisen.reflection.report import ReportReflector
from wisen.reflexion.attempt_cards import DERIVED
from wisen.reflexion.writing import rules_of
from wisen.report_protocol.protocol import OnEscalation, guarded
from wisen.report_protocol.task_advice import advice_for, draws_of, outcome_of, situation_of
from wisen.reports import DecisionReport, FailedReport, PartialReport, Report, SuccessReport, from_markdown
from wisen.screening.card_names import clean_agent

Outcome = Literal["failed", "partial", "success"]

_KINDS: dict[Outcome, type[Report]] = {"failed": FailedReport, "partial": PartialReport, "success": SuccessReport}
_MANDATORY = ("failed", "partial")


@dataclass(slots=True)
class _Tries:
    """How many tries of a chain were begun, whichever of its reports they began from."""

    begun: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunTask:
    """A task that an agent works on."""

    id: str
    agent: str
    task: Task
    advice: Advice
    """The reports that it is to read first."""
    chain_id: str
    """The first try's id: it, and all retries of it, count as one run."""
    model: str = ""
    """Who works on it, for whom evidence is kept; "" where nobody has said."""
    attempt: int = 1
    chain: tuple[MemoryCard, ...] = ()
    """What earlier tries of this chain have reported."""
    tries: _Tries = field(default_factory=_Tries, repr=False, compare=False)
    """Shared by all tries of the chain."""

    @property
    def brief(self) -> str:
        """The section for the agent's system prompt; "" where there is nothing to read."""
        return self.advice.section


@dataclass(frozen=True, slots=True, kw_only=True)
class FiledTask:
    """A task that is over, with what was kept of it."""

    begun: BegunTask
    outcome: Outcome
    cards: tuple[MemoryCard, ...] = ()
    """The report first, then its principle and procedure; as screened."""
    escalated: bool = False
    """Whether this was the last retry, and it failed."""


class ReflexionProtocol:
    """Holds callers with loops of their own to the protocol: no next task before the report of a failed one.

    It is meant to live as long as the program, and for any number of agents and concurrent tasks; what is owed isn't
    kept beyond its life. A task that is begun and never finished owes nothing, and is remembered.

    Args:
        store: Where reports go; a bare store puts them on trial, ranked `ByTaskType`.
        reflector: Writes reports where none is given; `ReportReflector()` by default.
        last: How many reports a task begins with, beside those of its own chain.
        retries: Most retries of one task.
        on_escalation: Hears of tasks whose last retry failed.
        watch: Hears what was kept, and what had to be gone without.
        clockwork: Clock and ids.

    Raises:
        ConfigError: `retries` is negative.

    """

    def __init__(
        self,
        store: VectorStore | MemoryCI,
        *,
        reflector: ReportReflector | None = None,
        last: int = 3,
        retries: int = 3,
        on_escalation: OnEscalation | None = None,
        watch: Callable[[Event], None] | None = None,
        clockwork: Clockwork | None = None,
    ) -> None:
        if retries < 0:
            raise ConfigError(f"ReflexionProtocol(retries={retries!r}): must be 0 or more")
        self._ci = guarded(store, last=last)
        self._reflector = reflector if reflector is not None else ReportReflector()
        self._last = last
        self._retries = retries
        self._on_escalation = on_escalation
        self._watch = watch
        self._clockwork = clockwork if clockwork is not None else Clockwork()
        self._open: dict[str, BegunTask] = {}
        self._owed: dict[tuple[str, str], dict[str, None]] = {}
        self._drafts: dict[str, Report] = {}

    def owed(self, agent: str, *, tenant: str = "") -> tuple[str, ...]:
        """The ids of tasks of which this agent owes a report."""
        return tuple(self._owed.get((tenant, " ".join(agent.split())), ()))

    async def begin(
        self, task: str | Task, agent: str, *, retry_of: FiledTask | None = None, model: str = ""
    ) -> BegunTask:
        """Begin a task, or retry one, with what earlier reports say about it.

        A retry belongs to the agent and tenant of the task before, and counts from its beginning. `model` names the
        model that will work on it; a retry keeps it by default. Reports that are known to hurt that model aren't shown.
        If the store has a trial, the outcome counts for that model.

        Raises `ReflectionRequiredError` while the agent owes a report. Raises `ConfigError` if no retry is left, for
        another agent's or tenant's task, and for an agent's name that may not be kept. Raises `StoreError` if the
        reports can't be read, or the draw of what is shown can't be written.
        """
        task = Task(prompt=task) if isinstance(task, str) else task
        model = model or (retry_of.begun.model if retry_of is not None else "")
        begun = replace(self._numbered(task, clean_agent(agent), retry_of), model=model)
        self._refuse_owing(begun)
        draws, first = self._draws(begun), begun.attempt == 1
        advice = await advice_for(draws, task, begun.agent, first=first, told=begun.chain, last=self._last)
        if self.owed(begun.agent, tenant=task.tenant):  # another task of the agent has failed meanwhile
            await draws.withdraw(advice, used=Advice())
        self._refuse_owing(begun)
        if retry_of is not None:  # another retry may have been begun meanwhile
            begun = replace(begun, attempt=self._next_attempt(retry_of))
            begun.tries.begun = begun.attempt
        begun = replace(begun, advice=advice)
        if advice.blocked:
            self._emit(LessonsBlocked(attempt=begun.attempt, blocked=advice.blocked))
        self._open[begun.id] = begun
        return begun

    async def finish(
        self,
        begun: BegunTask,
        outcome: Outcome,
        *,
        report: Report | str | None = None,
        output: str = "",
        evaluation: ReflectionEvaluation | None = None,
        trace: Trace | None = None,
    ) -> FiledTask:
        """End a task, and keep its report: the one given (a record, or Markdown), or one that is written now.

        Of a failed or partial task there is always one: where no model can write it, or the screen rejects what it
        wrote, it holds the facts alone. Until it is kept the agent may begin nothing else, and `finish` can be called
        again. A success without a report given is reported where the reflector finds it worth it. A first try counts on
        the reports that it began with: by its `evaluation`, good from a score of 0.8, and without one by `outcome`.

        Raises:
            ConfigError: The task isn't open, or the report is of another kind than the outcome.
            ReflectionError: The screen rejected the report that was given, or even one that holds nothing but that the
                task failed.
            StoreError: It can't be kept.
            BudgetExceededError: The reflector's model has no budget left.
        """
        if begun.id not in self._open:
            raise ConfigError(f"task {begun.id!r} isn't open: it was finished already, or begun elsewhere")
        if outcome not in _KINDS:
            raise ConfigError(f"finish(outcome={outcome!r}): must be one of {', '.join(_KINDS)}")
        debts = self._owed.setdefault((begun.task.tenant, begun.agent), {})
        if outcome in _MANDATORY:
            debts[begun.id] = None
        elif begun.id in debts:
            raise ConfigError(f"task {begun.id!r} was finished as failed or partial before; its report is still owed")
        given = self._given(report, begun, outcome)
        del self._open[begun.id]
        try:
            await self._settle(begun, outcome, evaluation)
            evaluation = evaluation or ReflectionEvaluation(overall_score=None)
            cards = await self._filed(begun, outcome, given, output, evaluation, trace)
        except BaseException:
            self._open[begun.id] = begun
            raise
        debts.pop(begun.id, None)
        self._drafts.pop(begun.id, None)
        last = outcome in _MANDATORY and begun.attempt > self._retries
        filed = FiledTask(begun=begun, outcome=outcome, cards=tuple(cards), escalated=last)
        if last:
            await self._escalate(filed, evaluation.overall_score)
        return filed

    async def decide(
        self,
        agent: str,
        decision: str | DecisionReport,
        *,
        context: str = "",
        begun: BegunTask | None = None,
        tenant: str = "",
    ) -> tuple[MemoryCard, ...]:
        """Keep why a choice was made: a report that is given, or one that a model writes from decision and context.

        Raises what `finish` raises, and `ModelError` where the model fails.
        """
        agent, report = clean_agent(agent), decision
        if isinstance(report, str):
            report = await self._writer(agent, begun).decide(report, context=context)
        where = begun or BegunTask(
            id="", agent=agent, task=Task(prompt=report.summary, tenant=tenant), advice=Advice(), chain_id=""
        )
        kept, rules = await self._keep(self._cards(replace(report, agent=agent)), where, None)
        if not kept:
            raise ReflectionError(f"the screen rejected the report ({', '.join(rules)}); write it without that")
        return tuple(kept)

    def _numbered(self, task: Task, agent: str, retry_of: FiledTask | None) -> BegunTask:
        id_ = self._clockwork.new_id()
        if retry_of is None:
            return BegunTask(id=id_, agent=agent, task=task, advice=Advice(), chain_id=id_)
        before = retry_of.begun
        if retry_of.outcome not in _MANDATORY:
            raise ConfigError(f"task {before.id!r} was a success; there is nothing to retry")
        if (before.task.tenant, before.agent) != (task.tenant, agent):
            raise ConfigError(f"task {before.id!r} is another agent's or tenant's; only its own can be retried")
        return BegunTask(
            id=id_,
            agent=agent,
            task=task,
            advice=Advice(),
            chain_id=before.chain_id,
            attempt=self._next_attempt(retry_of),
            chain=(*before.chain, *retry_of.cards),
            tries=before.tries,
        )

    def _next_attempt(self, retry_of: FiledTask) -> int:
        before = retry_of.begun
        attempt = max(before.attempt, before.tries.begun) + 1
        if attempt > self._retries + 1:
            raise ConfigError(f"task {before.chain_id!r} has used up its {self._retries} retries")
        return attempt

    def _refuse_owing(self, begun: BegunTask) -> None:
        if owed := self.owed(begun.agent, tenant=begun.task.tenant):
            raise ReflectionRequiredError(begun.agent, owed)

    def _draws(self, begun: BegunTask) -> Draws:
        ids, now = {"chain_id": begun.chain_id, "nonce": begun.id}, self._clockwork.now
        return draws_of(self._ci, begun.task, begun.agent, model=begun.model, now=now, **ids)

    async def _settle(self, begun: BegunTask, outcome: Outcome, evaluation: ReflectionEvaluation | None) -> None:
        """Count a first try on the ideas that were drawn for it; called again, it counts once."""
        if begun.attempt > 1:
            return
        try:
            told = await self._draws(begun).settle(begun.advice, outcome_of(outcome, evaluation))
        except Exception as error:  # noqa: BLE001 - a store may be anybody's code; the report matters more
            self._degraded("trial", error, "counting this task on the reports that it began with", begun.attempt)
            return
        for one in told:
            self._emit(one)

    def _given(self, report: Report | str | None, begun: BegunTask, outcome: Outcome) -> Report | None:
        if isinstance(report, str):
            report = from_markdown(report, agent=begun.agent, on=self._clockwork.now().date())
        if report is not None and not isinstance(report, _KINDS[outcome]):
            wanted = _KINDS[outcome].__name__
            raise ConfigError(f"finish({outcome!r}): needs a {wanted}, and was given a {type(report).__name__}")
        return None if report is None else replace(report, agent=begun.agent)

    async def _filed(
        self,
        begun: BegunTask,
        outcome: Outcome,
        given: Report | None,
        output: str,
        evaluation: ReflectionEvaluation,
        trace: Trace | None,
    ) -> list[MemoryCard]:
        writer = self._writer(begun.agent, begun)
        trace = trace or Trace(trace_id=begun.chain_id, purpose=begun.task.prompt)
        if given is not None:
            kept, rules = await self._keep(self._cards(given), begun, evaluation)
            if not kept:
                raise ReflectionError(f"the screen rejected the report ({', '.join(rules)}); write it without that")
            return kept
        if outcome == "success":
            try:
                return (await self._keep(await writer.on_success(begun.task, output, evaluation, trace), begun, None))[
                    0
                ]
            except WisenError as error:
                self._degraded("reflect", error, "the report of a success", begun.attempt)
                return []
        written = self._drafts.get(begun.id)  # where a store failed in the middle, the report isn't written anew
        if not isinstance(written, _KINDS[outcome]):
            written = await writer.report(outcome, begun.task, output, evaluation, trace)
            self._drafts[begun.id] = written
        kept, _ = await self._keep(self._cards(written), begun, evaluation)
        if not kept:
            fuller, bare = writer.plain(begun.task, evaluation, trace)
            kept, _ = await self._keep([fuller], begun, evaluation)
            kept = kept or (await self._keep([bare], begun, evaluation, bare=True))[0]
        if not kept:
            name = self._ci.screen.name
            raise ReflectionError(f"screen {name!r} rejects even a report that says nothing but that the task failed")
        return kept

    def _writer(self, agent: str, begun: BegunTask | None) -> ReportReflector:
        attempt = begun.attempt if begun else 0
        return self._reflector.signing(agent, self._clockwork.now).telling(
            lambda error, skipped: self._degraded("reflect", error, skipped, attempt)
        )

    def _cards(self, report: Report) -> list[MemoryCard]:
        return self._reflector.cards(report)

    async def _keep(
        self,
        cards: Sequence[MemoryCard],
        begun: BegunTask,
        evaluation: ReflectionEvaluation | None,
        *,
        bare: bool = False,
    ) -> tuple[list[MemoryCard], tuple[str, ...]]:
        """The cards that passed the screen, and the rules that spoke."""
        kept: list[MemoryCard] = []
        rules: dict[str, None] = {}
        situation = Situation(task_type=begun.task.type, tools=begun.task.tools) if bare else situation_of(begun.task)
        known = "\n".join((begun.task.prompt, *begun.task.tools))
        for card in cards:
            source, scope = self._provenance(card, begun, evaluation), replace(card.scope, tenant=begun.task.tenant)
            signed = replace(card, situation=situation, scope=scope, provenance=source, id="")
            submission = await self._ci.submit(signed, at=self._clockwork.now(), known=known)
            kept += [] if submission.card is None else [replace(submission.card, id=submission.card_id)]
            spoke = rules_of(submission.findings)
            rules |= dict.fromkeys(spoke)
            self._emit(
                LessonPersisted(
                    attempt=begun.attempt,
                    target="lesson_store",
                    card_id=submission.card_id,
                    kind=card.kind.value,
                    outcome=submission.outcome,
                    rules=spoke,
                )
            )
        return kept, tuple(rules)

    def _provenance(self, card: MemoryCard, begun: BegunTask, evaluation: ReflectionEvaluation | None) -> Provenance:
        now, dated = self._clockwork.now(), card.provenance.created_at
        return Provenance(
            run_id=begun.chain_id,
            attempt=begun.attempt,
            trace_id=begun.chain_id,
            created_by="reflexion",
            evaluator=evaluation.evaluator if evaluation else "",
            verified=evaluation.verifiable if evaluation else False,
            created_at=now if now.date() == dated.date() else dated,
            agent=begun.agent,
            owner=begun.task.owner,
            tainted=True,  # who files it works outside: what they read isn't known
        )

    async def _escalate(self, filed: FiledTask, score: float | None) -> None:
        begun = filed.begun
        ids = tuple(card.id for card in (*begun.chain, *filed.cards) if card.kind not in DERIVED)
        escalated = Escalated(run_id=begun.chain_id, attempts=begun.attempt, final_score=score, report_ids=ids)
        self._emit(escalated)
        if self._on_escalation is None:
            return
        try:
            waiting = self._on_escalation(escalated)
            if waiting is not None:
                await waiting
        except Exception as error:  # noqa: BLE001 - the callback is the user's code; the report is kept already
            self._degraded("escalate", error, "what the callback was to do", begun.attempt)

    def _degraded(
        self, stage: Literal["reflect", "escalate", "trial"], error: Exception, skipped: str, attempt: int
    ) -> None:
        said = described(error) if isinstance(error, WisenError) else type(error).__name__
        self._emit(Degraded(stage=stage, error=said, skipped=skipped, attempt=attempt))

    def _emit(self, event: Event) -> None:
        if self._watch is None:
            return
        try:
            self._watch(event)
        except Exception:  # noqa: BLE001 - a watcher is the user's code; what is owed and kept doesn't hang on it
            self._watch = None
