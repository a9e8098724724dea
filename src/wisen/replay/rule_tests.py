"""Standing rules are tested as releases are: recorded tasks with the new rules and without them, beside what is in use.

A rule was promoted for what it did in the tasks that it fits. As a rule it stands in all of the agent's tasks, so these
are what it is tested on, whatever they are about.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from wisen.cards import MemoryCard
from wisen.errors import BudgetExceededError, ConfigError
from wisen.memory_ci.pipeline import MemoryCI
from wisen.memory_ci.rules import StandingRule, in_use, why_no_rule
from wisen.memory_ci.verdicts import replay_finished
from wisen.records import Clockwork, Task
from wisen.replay.attempts import Attempt, Condition, Conditioned, Fitting
from wisen.replay.clusters import clusters_text, planned
from wisen.replay.log import ReplayLog, call_log, task_key
from wisen.replay.pairs import ReplayBudget, Replays, Withdrawn
from wisen.replay.plan import Recalls, standing_rules
from wisen.replay.releases import ReleaseFindings, ReleaseTest
from wisen.replay.replay_options import ReplayOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOutcome:
    """What the test has to say of one rule."""

    card_id: str
    verdict: Literal["helps", "hurts", "undecided", "untested"]
    """"hurts": with it the others regress, and it isn't a rule any more. The others are one verdict of all of them
    together; "untested" where no pair was to be had, or the budget ended before."""
    why: str = ""
    """The counts in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleReport:
    """What a test of one agent's rules came to."""

    rules: tuple[RuleOutcome, ...] = ()
    """Those that were tested."""
    version: int = 0
    """Of the rules in force after it."""
    attempts: int = 0
    """Made now; attempts that were known from before cost nothing."""
    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    exhausted: str = ""
    """Why it stopped before all was tried; "" where it didn't."""


class RuleTest:
    """Tests an agent's standing rules, by default those whose test isn't finished, and cards that wait to become some.

    Verdicts are for the attempt's model, and its agent is the attempt's: `Condition.role`. A rule with which the others
    regress is found by halving, and stands no more. What waits becomes a rule unless more is lost with it than gained.
    Killed or out of budget, nothing has changed, and the next test goes on where it was.

    Args:
        ci: Whose store's rules are tested; its `rule` says how much evidence decides.
        attempt: Makes one attempt; `agent_attempt(agent)` for a real agent.
        budget: What the test may use.
        parallel: Most attempts at a time.
        options: Finer choices; rounds, neighbours and control are for cards.
        clockwork: The clock; by default that of `ci`.
    """

    def __init__(
        self,
        ci: MemoryCI,
        attempt: Attempt,
        *,
        budget: ReplayBudget | None = None,
        parallel: int = 1,
        options: ReplayOptions | None = None,
        clockwork: Clockwork | None = None,
    ) -> None:
        if parallel < 1:
            raise ConfigError(f"RuleTest(parallel={parallel!r}): must be 1 or more")
        self._ci = ci
        self._attempt = attempt
        self._budget = budget or ReplayBudget()
        self._parallel = parallel
        self._options = options or ReplayOptions()
        self._clockwork = clockwork or Clockwork(now=ci.now)
        known = attempt.condition if isinstance(attempt, Conditioned) else Condition()
        self._condition = self._options.condition or known

    async def run(
        self, tasks: Sequence[Task], *, tenant: str = "", cards: Sequence[str] | None = None, why: str = "replays"
    ) -> RuleReport:
        """Test rules on these tasks, and write a version of the agent's rules with what was found.

        With `cards`, these and no others, whether they are rules already or are to become some; `why` is then kept in
        their histories. Raises `ConfigError` for a card that can't be a rule, `CardNotFoundError`, `StoreError` where
        the store fails or keeps no calls, and `UnreachableModelError` where a model is gone.
        """
        standing = await standing_rules(self._ci, [tenant], self._condition)
        new = await self._new(tenant, standing) if cards is None else await self._given(cards)
        mine = [task for task in tasks if task.tenant == tenant]
        if not new or not mine:
            return await self._report(tenant, new, ReleaseFindings(kept=tuple(card.id for card in new)), None)
        ids = {card.id for card in new}
        every = (*(card for card in standing if card.id not in ids), *new)
        replays, log = self._replays()
        options, role = self._options, self._condition.role
        recalls = await Recalls.of(self._ci, mine, top_k=options.top_k, role=role, rules=every)
        await log.cluster(recalls.tasks)
        test = ReleaseTest(
            replays,
            recalls,
            recalls.in_use - ids,
            plan=lambda some: planned(some, task_key, log.clusters, copies=options.copies, tried=()),
            rule=self._ci.rule,
            threshold=options.threshold,
            repetitions=options.repetitions,
        )
        findings, exhausted = ReleaseFindings(kept=tuple(card.id for card in new)), ""
        try:
            with suppress(Withdrawn):  # somebody has decided on one of the cards meanwhile; the next test sees it
                findings = await test.run([card.id for card in new])
        except BudgetExceededError as error:
            exhausted = str(error)
        await self._write(tenant, findings, why)
        return replace(await self._report(tenant, new, findings, replays), exhausted=exhausted)

    async def _new(self, tenant: str, standing: Sequence[MemoryCard]) -> list[MemoryCard]:
        """Rules without a finished test, and cards that wait to become some."""
        rules, condition = self._ci.standing, self._condition
        known = {rule.card_id: rule for rule in (await rules.current(tenant, condition.role)).rules}
        waiting = await rules.waiting(tenant, condition.role)
        new = [card for card in standing if not self._finished(known[card.id])]
        return [*new, *(card for card in waiting if in_use(card, condition.model, condition.layout))]

    async def _given(self, cards: Sequence[str]) -> list[MemoryCard]:
        found = await self._ci.store.get(list(dict.fromkeys(cards)))
        for card in found:
            if problem := why_no_rule(card, self._condition.role):
                raise ConfigError(f"card {card.id!r} can't be a rule of agent {self._condition.role!r}: {problem}")
        return found

    def _finished(self, rule: StandingRule) -> bool:
        here = (rule.model, rule.layout) == (self._condition.model, self._condition.layout)
        tested = here and rule.verdict != "untested"
        return tested and replay_finished(rule.gained, rule.lost, rule.ties, self._ci.rule)

    def _replays(self) -> tuple[Replays, ReplayLog]:
        store, attempt = self._ci.store, self._attempt
        judged_by = attempt.judged_by if isinstance(attempt, Fitting) else None
        log = ReplayLog(call_log(store), self._condition, terms=self._options.terms, judged_by=judged_by)
        clock, budget = self._clockwork, self._budget
        replays = Replays(attempt, log, budget=budget, parallel=self._parallel, clockwork=clock, store=store)
        return replays, log

    async def _write(self, tenant: str, findings: ReleaseFindings, why: str) -> None:
        condition, counts = self._condition, findings.counts
        rules = self._ci.standing
        if findings.culprits:
            await rules.refuse(tenant, condition.role, findings.culprits)
        if findings.verdict in ("helps", "undecided") and counts.pairs:
            tested = StandingRule(
                card_id="",
                verdict=findings.verdict,
                gained=counts.gained,
                lost=counts.lost,
                ties=counts.ties,
                model=condition.model,
                layout=condition.layout,
            )
            there = (await rules.current(tenant, condition.role)).cards
            # What leans towards harm doesn't become a rule, and isn't taken out without a verdict.
            kept = [one for one in findings.kept if one in there or counts.gained >= counts.lost]
            await rules.tested(tenant, condition.role, {one: replace(tested, card_id=one) for one in kept}, why)

    async def _report(
        self, tenant: str, new: Sequence[MemoryCard], findings: ReleaseFindings, replays: Replays | None
    ) -> RuleReport:
        current = await self._ci.standing.current(tenant, self._condition.role)
        report = RuleReport(rules=tuple(_outcome(card.id, findings) for card in new), version=current.number)
        if replays is None:
            return report
        spent = {"attempts": replays.made, "calls": replays.calls, "tokens": replays.tokens}
        return replace(report, **spent, seconds=replays.seconds)


def _outcome(card_id: str, findings: ReleaseFindings) -> RuleOutcome:
    if card_id in findings.culprits:
        return RuleOutcome(card_id=card_id, verdict="hurts", why="replays came out worse with it")
    counts = findings.counts
    if findings.verdict not in ("helps", "undecided") or not counts.pairs:
        return RuleOutcome(card_id=card_id, verdict="untested")
    said = f"{clusters_text(counts.pairs)} replayed, {counts.gained} gained, {counts.lost} lost"
    return RuleOutcome(card_id=card_id, verdict=findings.verdict, why=said)
