"""Replays recorded runs: rules and ideas without a verdict are tried on the tasks of earlier runs, within a budget."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from wisen.agent import Agent
from wisen.cards import ANYONE, MemoryCard, MemoryStatus
from wisen.errors import ConfigError
from wisen.memory_ci.pipeline import MemoryCI
from wisen.protocols import Evaluator, RunLog
from wisen.recall import CardFilter
from wisen.records import ENDED, RunRecord, Task
from wisen.replay.attempts import AgentAttempt, Attempt, Condition, Conditioned, Fitting, agent_attempt
from wisen.replay.card_tests import ReplayReport, ReplayTest, untestable
from wisen.replay.clusters import Clusters
from wisen.replay.log import task_key
from wisen.replay.pairs import ReplayBudget
from wisen.replay.replay_options import ReplayOptions
from wisen.replay.rule_tests import RuleReport, RuleTest
from wisen.replay.stages import Replayed
from wisen.stores.paging import every_card

_RUNS_READ = 2_000
_MOST_TASKS = 300
"""Memory is asked about each of them."""

EvaluatorOf = Callable[[Task], Evaluator | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedOptions:
    """Finer choices in replaying recorded runs."""

    tenants: Collection[str] | None = None
    """Whose runs and ideas; by default the agent's own tenant."""
    evaluator_of: EvaluatorOf | None = None
    """Gives the evaluator of a task, or `None` for the agent's; for runs that were judged by another one."""
    tools_too: bool = False
    """Whether an agent may be replayed that has tools, or runs somebody else's code, which may have some. They act
    again then, with all that they change."""
    parallel: int = 1
    """Most attempts at a time."""
    copies: int = 3
    """How many near-copies of a task are tried; together they count once."""
    tries: int = 3
    """How often a pair is made at most, each time with another seed, while it makes no difference."""
    watch: Callable[[Replayed], None] | None = None
    """Hears of each pair."""


async def replay_recorded(
    agent: Agent, ci: MemoryCI, *, budget: ReplayBudget, options: RecordedOptions | None = None
) -> ReplayReport:
    """Try ideas in quarantine on the tasks of recorded runs, with and without, while the budget lasts.

    Before them come the agent's standing rules without a finished test, with half of the budget at most while there
    are ideas: see `RuleTest`.

    What it finds stands on each idea beside its live trial, whose rule decides on both together (see
    `wisen.account.counts.weigh`). It can be broken off at any time, and the next call goes on. Only runs are used that
    this agent made, for the same tenant, and whose evaluator can be applied again: the same one as judged them. Raises
    `ConfigError` for an agent with tools, unless they may be called again; `StoreError` where the store fails or keeps
    no runs; `UnreachableModelError` where a model is gone.
    """
    options = options or RecordedOptions()
    check_repeatable(agent, options)
    attempt = agent_attempt(agent, evaluator_of=options.evaluator_of)
    return await replay_with(attempt, agent, ci, budget=budget, options=options, local=attempt)


def check_repeatable(agent: Agent, options: RecordedOptions) -> None:
    """Raises `ConfigError` for an agent that might act again without anybody's having said so."""
    if agent.has_tools and not options.tools_too:
        said = "replays call its tools again, and code of others that it runs may have some"
        where = "RecordedOptions(tools_too=True), of a worker WorkerOptions(tools_too=True)"
        raise ConfigError(f"agent {agent.name!r}: {said}; pass {where}, if that does no harm")


async def replay_with(
    attempt: "Conditioned | Fitting",
    agent: Agent,
    ci: MemoryCI,
    *,
    budget: ReplayBudget,
    options: RecordedOptions,
    local: AgentAttempt,
) -> ReplayReport:
    """`replay_recorded`, with attempts that are made by something else than the `local` one."""
    log, condition = ci.store, local.condition
    if not isinstance(log, RunLog):
        raise ConfigError(f"{type(log).__name__} keeps no runs that could be replayed")
    tenants = sorted({agent.tenant} if options.tenants is None else set(options.tenants))
    tasks, ideas = list[Task](), list[str]()
    for tenant in tenants:
        runs = await log.runs(tenant=tenant, limit=_RUNS_READ)
        tasks += varied([run.task for run in runs if _repeatable(run, local, condition)], copies=options.copies)
        ideas += await _ideas(ci, tenant, condition)
    calls: Attempt = attempt  # pyright: ignore[reportAssignmentType] - both protocols are of things that are called so
    finer = replace(_options(agent), copies=options.copies, tries=options.tries, condition=condition)
    rules, share = list[RuleReport](), budget.half() if ideas else budget
    for tenant in tenants:  # first, since rules stand in every run
        rule_test = RuleTest(ci, calls, budget=share, parallel=options.parallel, options=finer)
        rules.append(done := await rule_test.run(tasks, tenant=tenant))
        spent = {"attempts": done.attempts, "calls": done.calls, "tokens": done.tokens, "seconds": done.seconds}
        share, budget = share.less(**spent), budget.less(**spent)
    test = ReplayTest(
        ci, calls, rule=ci.rule, budget=budget, parallel=options.parallel, options=finer, watch=options.watch
    )
    report = await test.run(tasks, ideas)
    return replace(
        report,
        attempts=report.attempts + sum(done.attempts for done in rules),
        tokens=report.tokens + sum(done.tokens for done in rules),
        seconds=report.seconds + sum(done.seconds for done in rules),
        exhausted=report.exhausted or next((done.exhausted for done in rules if done.exhausted), ""),
        rules=tuple(rule for done in rules for rule in done.rules),
    )


def varied(tasks: Sequence[Task], *, copies: int, most: int = _MOST_TASKS) -> list[Task]:
    """So many of these tasks in their order, each once, and few of those that are near-copies of each other."""
    distinct = {task_key(task): task for task in reversed(tasks)}
    clusters, taken, chosen = Clusters.found(distinct).of, Counter[str](), list[Task]()
    for key, task in reversed(distinct.items()):
        if taken[clusters[key]] < copies and len(chosen) < most:
            taken[clusters[key]] += 1
            chosen.append(task)
    return chosen


async def _ideas(ci: MemoryCI, tenant: str, condition: Condition) -> list[str]:
    """Ideas on trial, and those that wait for it: what the agent's own runs taught, and what a person let in."""

    def own(card: MemoryCard) -> bool:
        return card.circle == ANYONE or (bool(card.circle) and card.provenance.agent == condition.role)

    where = CardFilter(tenant=tenant, statuses=(MemoryStatus.QUARANTINED,), agent_role=condition.role)
    found = [card async for card in every_card(ci.store, where) if own(card)]
    return [card.id for card in found if not card.idea and not untestable(card, condition)]


def _repeatable(run: RunRecord, attempt: AgentAttempt, condition: Condition) -> bool:
    """Whether the run was this agent's, came to a score, and would be judged by the same evaluator again."""
    if run.agent != condition.role or run.status not in ENDED or run.score is None:
        return False
    judge = attempt.judge(run.task)
    judged_by = {one.evaluation.evaluator for one in run.attempts if one.evaluation is not None}
    return judge is not None and judge.name in judged_by


def _options(agent: Agent) -> ReplayOptions:
    """A replay is good when the agent's own runs are."""
    options = ReplayOptions(order="with the trial")
    threshold: object = getattr(agent.architecture, "threshold", None)
    good_from = float(threshold) if isinstance(threshold, int | float) and threshold > 0 else options.threshold
    return replace(options, threshold=good_from)
