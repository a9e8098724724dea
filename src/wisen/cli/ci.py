"""`wisen ci`: puts cards to the test, says where they stand, and how they came there."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from wisen.cards import MemoryCard, MemoryStatus
from wisen.cli.ci_ledger import print_ledger, print_summary, release_line, report_json
from wisen.cli.lessons import card_json
from wisen.cli.option_sets import OptionSet
from wisen.cli.output import Column, print_json, print_table
from wisen.cli.replay_budget import progress
from wisen.cli.run import read_entries, read_jobs
from wisen.cli.shared_options import (
    MOST,
    AgentModels,
    AgentOptions,
    EffortOptions,
    EmbeddingStoreOptions,
    OutputOptions,
    StoreOptions,
    TasksFile,
    TenantOptions,
    told_by_option,
)
from wisen.cli.store_choice import StoreChoice, drive, open_store, reading
from wisen.errors import ConfigError
from wisen.explain.by_id import find_card
from wisen.explain.wording import when
from wisen.recall import CardFilter
from wisen.stores.paging import every_card
from wisen.stores.whole_store import Store

if TYPE_CHECKING:
    from wisen.cli.batch_runner import BatchTask
    from wisen.queue.jobs import BatchOptions
    from wisen.replay.attempts import AgentAttempt, Attempt
    from wisen.replay.card_tests import ReplayReport
    from wisen.replay.log import Release
    from wisen.replay.pairs import ReplayBudget
    from wisen.replay.replay_options import ReplayOptions

Control = Literal["nothing", "placebo"]
MakesAttempts = Callable[["AgentAttempt"], AbstractAsyncContextManager["Attempt"]]
"""Gives what makes the attempts instead of this process."""
_BUDGET_ENDED = 1
_OPTIONS = {
    "attempts": "--budget",
    "tokens": "--budget-tokens",
    "seconds": "--budget-seconds",
    "threshold": "--threshold",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CardTestOptions(OptionSet):
    """How cards are tested."""

    cards: Annotated[
        list[str] | None,
        typer.Option(
            "--cards",
            metavar="ID",
            help="Test this card, by id or its beginning; may be given again. Default: all in quarantine.",
            show_default=False,
        ),
    ] = None
    budget_tokens: Annotated[int | None, typer.Option(metavar="N", help="Most tokens.", show_default=False)] = None
    budget_seconds: Annotated[float | None, typer.Option(metavar="X", help="Most seconds.", show_default=False)] = None
    threshold: Annotated[float, typer.Option(metavar="X", help="Score in (0, 1] that is good enough.")] = 0.8
    top_k: Annotated[int, typer.Option(metavar="N", min=1, max=MOST, help="Most cards that an attempt is shown.")] = 5
    repetitions: Annotated[
        int,
        typer.Option(metavar="N", min=1, max=MOST, help="How often each task is used, for models that sample."),
    ] = 1
    control: Annotated[
        Control, typer.Option(help="What stands in for the card on the other side: nothing or placebo.")
    ] = "nothing"
    max_pairs: Annotated[int, typer.Option(metavar="N", min=1, max=MOST, help="Most pairs of attempts for a card.")] = (
        300
    )
    seed: Annotated[
        int, typer.Option(metavar="N", help="Where the seeds of attempts begin, for models that sample.")
    ] = 0
    queue: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Let the workers of this queue make the attempts; in Postgres.", show_default=False
        ),
    ] = None

    def replay(self) -> "ReplayOptions":
        """How pairs of attempts are made; raises `ConfigError` by the option's name."""
        from wisen.replay.replay_options import ReplayOptions  # noqa: PLC0415 - imports the agent

        with told_by_option(**_OPTIONS):
            return ReplayOptions(
                top_k=self.top_k, repetitions=self.repetitions, control=self.control, threshold=self.threshold
            )

    def budget(self, attempts: int | None) -> "ReplayBudget":
        """What the whole test may take; raises `ConfigError` by the option's name."""
        from wisen.replay.pairs import ReplayBudget  # noqa: PLC0415 - imports the agent

        with told_by_option(**_OPTIONS):
            return ReplayBudget(attempts=attempts, tokens=self.budget_tokens, seconds=self.budget_seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Terms:
    """What cards are tested with."""

    jobs: "list[BatchTask]"
    models: AgentModels
    instructions: str
    tenant: str | None
    parallel: int
    budget: "ReplayBudget"
    replay: "ReplayOptions"
    options: CardTestOptions


def run(
    tasks: TasksFile,
    *,
    options: CardTestOptions,
    agent: AgentOptions,
    effort: EffortOptions,
    whose: TenantOptions,
    store: EmbeddingStoreOptions,
    output: OutputOptions,
) -> None:
    """Test lessons in quarantine: the same tasks with and without each, until it is clear whether it helps.

    What helps is promoted, what hurts archived; what isn't decided stays where it is. It may be broken off: the next
    run goes on from there.

    Exit code: 0 if everything was tried, 1 if the budget ended before, 2 if nothing could be run.
    """
    budget, replay, models = options.budget(effort.budget), options.replay(), agent.find()
    terms = _Terms(
        jobs=read_jobs(tasks, models.judge),
        models=models,
        instructions=agent.instructions,
        tenant=whose.tenant,
        parallel=effort.parallel,
        budget=budget,
        replay=replay,
        options=options,
    )
    store.choose().existing()
    choice = store.writable()
    made: MakesAttempts = nullcontext
    if options.queue is not None:
        made = made_in_queue(options.queue, choice, tasks, agent_options(agent, options.seed, store.embedder))
    report, tested = drive(_run(terms, choice, store.embedder, made))
    if output.as_json:
        print_json(report_json(report))
    else:
        print_ledger(report, {card.id: card for card in tested}, {})
        print_summary(report)
    if report.exhausted:
        raise typer.Exit(_BUDGET_ENDED)


async def _run(
    terms: _Terms, choice: StoreChoice, embedder_name: str | None, made: MakesAttempts
) -> "tuple[ReplayReport, list[MemoryCard]]":
    from wisen.memory_ci.pipeline import MemoryCI  # noqa: PLC0415 - as above
    from wisen.memory_ci.verdicts import Rule  # noqa: PLC0415 - as above
    from wisen.replay.card_tests import ReplayTest, untestable  # noqa: PLC0415 - imports the agent

    jobs, options, ids = terms.jobs, terms.options, terms.options.cards
    async with open_store(choice, embedder_name) as store:
        own = attempt_of(jobs, store, terms.models, instructions=terms.instructions, seed=options.seed)
        chosen = None if ids is None else [(await find_card(store, one, terms.tenant)).id for one in ids]
        if ids is None and terms.tenant is not None:
            waiting = CardFilter(tenant=terms.tenant, statuses=(MemoryStatus.QUARANTINED,))
            chosen = [one.id async for one in every_card(store, waiting) if not untestable(one, own.condition)]
        with progress() as watch:
            async with made(own) as attempt:
                test = ReplayTest(
                    MemoryCI(store),
                    attempt,
                    rule=Rule(max_pairs=options.max_pairs),
                    budget=terms.budget,
                    parallel=terms.parallel,
                    options=terms.replay,
                    watch=watch,
                )
                for card in [] if chosen is None else await store.get(chosen):
                    if problem := untestable(card, own.condition):
                        raise ConfigError(f"card {card.id!r} isn't tested: {problem}")
                report = await test.run([job.task for job in jobs], chosen)
        return report, await store.get([one.card_id for one in report.cards])


def attempt_of(
    jobs: "list[BatchTask]",
    store: Store,
    models: AgentModels,
    *,
    instructions: str,
    seed: int = 0,
    name: str = "agent",
) -> "AgentAttempt":
    """The agent of `wisen run`, one attempt at a time and without its memory."""
    from wisen.agent import Agent  # noqa: PLC0415 - imports pydantic-ai
    from wisen.protocols import BoundToRun  # noqa: PLC0415 - as above
    from wisen.reflexion.loop import Reflexion  # noqa: PLC0415 - as above
    from wisen.replay.attempts import agent_attempt  # noqa: PLC0415 - as above

    reflexion = Reflexion(lesson_store=store, evaluator_model=models.judge)
    evaluators = {(job.task.id, job.task.prompt): job.evaluator for job in jobs}
    return agent_attempt(
        Agent(instructions, name=name, model=models.agent, architecture=reflexion),
        evaluator_of=lambda task: evaluators.get((task.id, task.prompt)),
        judged=any(job.evaluator is None or isinstance(job.evaluator, BoundToRun) for job in jobs),
        seed=seed,
    )


def history(
    card: Annotated[str | None, typer.Argument(metavar="CARD", help="A card's id, or its beginning.")] = None,
    *,
    whose: TenantOptions,
    store: StoreOptions,
    output: OutputOptions,
) -> None:
    """Print how lessons came to their status: each move with its reason and evidence, and the releases."""
    cards, released = drive(_history(store.choose(), card, whose.tenant))
    if output.as_json:
        listed = [
            {"card": one.id, **move}
            for one in cards
            for move in cast("list[dict[str, object]]", card_json(one)["history"])
        ]
        print_json({"moves": listed, "releases": [asdict(one) for one in released]})
        return
    moves = sorted(((move, one.id) for one in cards for move in one.history), key=lambda found: found[0].at)
    columns = (
        Column(heading="at", spare=1),
        Column(heading="card", id=True),
        Column(heading="from", spare=2),
        Column(heading="to"),
        Column(heading="by"),
        Column(heading="why", wide=True),
    )
    print_table(columns, [(when(move.at), one, move.before, move.after, move.by, move.why) for move, one in moves])
    for release in released:
        typer.echo(f"{release.at[:19].replace('T', ' ')}  {release_line(release)}")


async def _history(
    choice: StoreChoice, card: str | None, tenant: str | None
) -> "tuple[list[MemoryCard], list[Release]]":
    from wisen.replay.log import releases  # noqa: PLC0415 - imports the agent

    async with reading(choice) as store:
        if card is None:
            cards = [card async for card in every_card(store, CardFilter(tenant=tenant))]
        else:
            cards = [await find_card(store, card, tenant)]
        every = await releases(store)
        ids = {one.id for one in cards}
        whole = card is None and tenant is None
        return cards, [one for one in every if whole or not ids.isdisjoint((*one.cards, *one.withdrawn))]


def agent_options(agent: AgentOptions, seed: int, embedder: str | None) -> "BatchOptions":
    """The agent of `wisen ci run`, as workers make it."""
    from wisen.queue.jobs import BatchOptions  # noqa: PLC0415 - imports pydantic

    return BatchOptions(
        model=agent.model,
        judge_model=agent.judge_model,
        instructions=agent.instructions,
        seed=seed or None,
        embedder=embedder,
    )


def made_in_queue(name: str, choice: StoreChoice, tasks: Path, described: "BatchOptions") -> MakesAttempts:
    """Attempts made in the queue of this name, in the store's database."""

    @asynccontextmanager
    async def made(attempt: "AgentAttempt") -> "AsyncGenerator[Attempt]":
        from wisen.queue.queue import Queue  # noqa: PLC0415 - optional extra
        from wisen.queue.replay_attempts import QueuedAttempt  # noqa: PLC0415 - as above

        specs = {
            (entry.task.id, entry.task.prompt): entry.evaluator for entry in read_entries(tasks, lambda spec: spec)
        }
        async with (
            Queue(choice.url, name) as queue,
            QueuedAttempt(
                queue, attempt, described, evaluator_of=lambda task: specs.get((task.id, task.prompt))
            ) as queued,
        ):
            yield queued

    return made
