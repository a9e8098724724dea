"""`wisen rules`: the standing rules of agents, which of them were tested, and a person's word on them."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from wisen.cards import MemoryCard
from wisen.cli.card_decisions import CardId
from wisen.cli.ci import attempt_of
from wisen.cli.output import print_json
from wisen.cli.rule_views import Listed, as_json_of, print_rules, print_versions, tested
from wisen.cli.run import read_jobs
from wisen.cli.shared_options import (
    MOST,
    AgentModels,
    AgentOptions,
    EffortOptions,
    EmbeddingStoreOptions,
    OutputOptions,
    StoreOptions,
    TenantOptions,
)
from wisen.cli.store_choice import drive, open_store, reading
from wisen.errors import ConfigError
from wisen.explain.by_id import find_card
from wisen.recall import CardFilter
from wisen.stores.paging import every_card
from wisen.stores.whole_store import Store

if TYPE_CHECKING:
    from wisen.cli.batch_runner import BatchTask
    from wisen.memory_ci.pipeline import MemoryCI
    from wisen.memory_ci.rules import RuleSet
    from wisen.replay.rule_tests import RuleReport

_NOT_ADDED = 1
_DEFAULT_AGENT = "agent"
Why = Annotated[
    str, typer.Option("--why", metavar="TEXT", help="The reason; it is kept in the histories of the rules' cards.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOptions(TenantOptions):
    """Whose rule a card becomes, or no longer is, and why."""

    PANEL: ClassVar[str] = ""

    why: Why
    agent: Annotated[
        str,
        typer.Option(
            "--agent", metavar="NAME", help="The agent. Default: the one whose run taught it.", show_default=False
        ),
    ] = ""


def list_rules(
    *,
    agent: Annotated[
        str, typer.Option("--agent", metavar="NAME", help="Only this agent's rules.", show_default=False)
    ] = "",
    versions: Annotated[bool, typer.Option("--versions", help="List the versions of each agent's rules.")] = False,
    whose: TenantOptions,
    store: StoreOptions,
    output: OutputOptions,
) -> None:
    """List each agent's standing rules in their order, and promoted cards that wait to become rules.

    A rule stands in the system prompt of every run of its agent, whatever the task, as long as its card is promoted.
    """

    async def listed() -> list[Listed]:
        async with reading(store.choose()) as opened:
            return await _listed(opened, whose.tenant, agent)

    found = drive(listed())
    if output.as_json:
        print_json([as_json_of(one) for one in found])
    elif versions:
        print_versions(found)
    else:
        print_rules(found)
    if not output.as_json and not any(one.rules or one.waiting for one in found):
        typer.echo("no rules: a promoted principle or procedure becomes one", err=True)


def add(
    card_id: CardId,
    *,
    tasks: Annotated[
        Path | None,
        typer.Option(
            "--tasks",
            metavar="TASKS",
            help="Test it first, on these tasks: a .toml, .yaml or .jsonl file, as for `wisen run`. "
            "Default: it is added untested.",
            show_default=False,
        ),
    ] = None,
    rule: RuleOptions,
    agent: AgentOptions,
    effort: EffortOptions,
    store: EmbeddingStoreOptions,
    output: OutputOptions,
) -> None:
    """Make a promoted principle or procedure a standing rule of its agent.

    With --tasks it is tested first: the same tasks with it and without it, beside the agent's other rules. One with
    which they come out worse isn't added, and doesn't become a rule by itself either. The options of agent and effort
    are for that test.

    Exit code: 0 if it is a rule now, 1 if it isn't, 2 if nothing could be done.
    """
    tester = None if tasks is None else _Tester.of(tasks, agent, effort)

    async def added() -> "tuple[MemoryCard, str, RuleSet, RuleReport | None]":
        async with open_store(store.choose().existing(), store.embedder) as opened:
            card, ci = await find_card(opened, card_id, rule.tenant), _ci(opened)
            name, report = rule.agent or card.provenance.agent, None
            if tester is None or not name:
                current = await ci.standing.add(card.id, rule.why, agent=name)
            else:
                report = await tester.test(ci, opened, card, name, rule.why)
                current = await ci.standing.current(card.scope.tenant, name)
            return card, name, current, report

    card, name, current, report = drive(added())
    standing = next((one for one in current.rules if one.card_id == card.id), None)
    stands = standing is not None
    said = tested(standing) if report is None and standing else _verdict(report)
    hint = "; --tasks TASKS tests it" if said == "untested" else ""
    if output.as_json:
        print_json({"card_id": card.id, "agent": name, "version": current.number, "stands": stands, "test": said})
    elif stands:
        typer.echo(f"card {card.id}: a standing rule of agent {name!r} (version {current.number}); {said}{hint}")
    else:
        typer.echo(f"card {card.id}: no rule of agent {name!r}; {said}")
    if not stands:
        raise typer.Exit(_NOT_ADDED)


def drop(card_id: CardId, *, rule: RuleOptions, store: EmbeddingStoreOptions, output: OutputOptions) -> None:
    """Retire a rule, from the agent's next run on.

    Its card stays promoted, and is recalled for tasks that it fits; `wisen lessons archive` ends that, too.
    """

    async def dropped() -> "tuple[MemoryCard, str, RuleSet]":
        async with open_store(store.choose().existing(), store.embedder) as opened:
            card = await find_card(opened, card_id, rule.tenant)
            name = rule.agent or card.provenance.agent
            made = await _ci(opened).standing.drop(card.id, rule.why, tenant=card.scope.tenant, agent=name)
            return card, name, made

    card, name, made = drive(dropped())
    if output.as_json:
        print_json({"card_id": card.id, "agent": name, "version": made.number, "rules": list(made.cards)})
    else:
        typer.echo(f"card {card.id}: no rule of agent {name!r} any more (version {made.number})")


def rollback(
    *,
    why: Why,
    to: Annotated[
        int | None,
        typer.Option(
            "--to",
            metavar="N",
            min=0,
            max=MOST,
            help="To this version; 0 is no rules. Default: the last one with other rules.",
            show_default=False,
        ),
    ] = None,
    agent: Annotated[str, typer.Option("--agent", metavar="NAME", help="Whose rules.")] = _DEFAULT_AGENT,
    tenant: Annotated[str, typer.Option("--tenant", help="Whose agent; '' is the tenant without a name.")] = "",
    store: EmbeddingStoreOptions,
    output: OutputOptions,
) -> None:
    """Go back to an earlier version of an agent's rules; that makes a new version. `list --versions` shows them."""

    async def back() -> "RuleSet":
        async with open_store(store.choose().existing(), store.embedder) as opened:
            return await _ci(opened).standing.rollback(why, tenant=tenant, agent=agent, to=to)

    made = drive(back())
    if output.as_json:
        print_json({"agent": agent, "tenant": tenant, "version": made.number, "rules": list(made.cards)})
    else:
        typer.echo(f"rules of agent {agent!r}: version {made.number}, with {len(made.rules)} of them")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tester:
    """Tests a card as a rule, on the tasks of a file."""

    jobs: "list[BatchTask]"
    models: AgentModels
    instructions: str
    effort: EffortOptions

    @classmethod
    def of(cls, tasks: Path, agent: AgentOptions, effort: EffortOptions) -> "_Tester":
        """What the options say; raises what reading them raises."""
        models = agent.find()
        jobs = read_jobs(tasks, models.judge)
        return cls(jobs=jobs, models=models, instructions=agent.instructions, effort=effort)

    async def test(self, ci: "MemoryCI", store: Store, card: MemoryCard, agent: str, why: str) -> "RuleReport":
        """The test's report; what it found is written."""
        from wisen.replay.pairs import ReplayBudget  # noqa: PLC0415 - imports the agent
        from wisen.replay.rule_tests import RuleTest  # noqa: PLC0415 - as above

        attempt = attempt_of(self.jobs, store, self.models, instructions=self.instructions, name=agent)
        budget = ReplayBudget(attempts=self.effort.budget)
        test = RuleTest(ci, attempt, budget=budget, parallel=self.effort.parallel)
        tenant = card.scope.tenant
        mine = [job.task for job in self.jobs if job.task.tenant == tenant]
        if not mine:
            raise ConfigError(f"--tasks: none of these tasks is of tenant {tenant!r}, whose card {card.id!r} is")
        return await test.run(mine, tenant=tenant, cards=[card.id], why=why)


async def _listed(store: Store, tenant: str | None, agent: str) -> list[Listed]:
    from wisen.memory_ci.rules import RULE_KINDS  # noqa: PLC0415 - imports the compiler

    where = CardFilter(tenant=tenant, kinds=RULE_KINDS)
    cards = [card async for card in every_card(store, where)]
    names = {(card.scope.tenant, one) for card in cards for one in (card.provenance.agent, *card.scope.agent_roles)}
    if agent:
        names = {(tenant or "", agent), *(one for one in names if one[1] == agent)}
    rules, found = _ci(store).standing, list[Listed]()
    for whose, name in sorted(names):
        versions = await rules.versions(whose, name)
        waiting = await rules.waiting(whose, name)
        if name and (versions or waiting):
            known = {card.id: card for card in cards if card.scope.tenant == whose}
            found.append(Listed(tenant=whose, agent=name, versions=tuple(versions), waiting=waiting, cards=known))
    return found


def _verdict(report: "RuleReport | None") -> str:
    """What the test of one rule showed, in words."""
    if report is None:
        return "untested"
    found = report.rules[0]
    if found.verdict == "untested":
        ended = "the budget ended before its test did, and the next test goes on from there"
        return ended if report.exhausted else "none of the tasks could be tried with it and without it"
    return f"{found.verdict}: {found.why}"


def _ci(store: Store) -> "MemoryCI":
    from wisen.memory_ci.pipeline import MemoryCI  # noqa: PLC0415 - imports the screen and its tables

    return MemoryCI(store)
