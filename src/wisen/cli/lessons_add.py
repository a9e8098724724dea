"""`wisen lessons add`: a person's own lesson, through the screen, into the store."""

import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

import typer

from wisen.cards import MemoryCard, MemoryKind, MemoryScope, Provenance, Situation
from wisen.cli.lessons import card_json
from wisen.cli.option_sets import OptionSet
from wisen.cli.output import print_json
from wisen.cli.shared_options import EmbeddingStoreOptions, OutputOptions
from wisen.cli.store_choice import StoreChoice, drive, open_store
from wisen.errors import ConfigError, ReflectionError


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonScope(OptionSet):
    """What a person's lesson is for."""

    task: Annotated[
        str, typer.Option("--for", metavar="PROMPT", help="A task that it helps with; similar ones recall it.")
    ] = ""
    task_type: Annotated[str, typer.Option("--type", help="Not for tasks of another type.", show_default=False)] = ""
    tool: Annotated[
        list[str] | None, typer.Option(help="Only for agents with this tool; may be given several times.")
    ] = None
    agent: Annotated[str, typer.Option(metavar="NAME", help="Only for this agent.", show_default=False)] = ""
    tenant: Annotated[str, typer.Option(help="Whose memory; '' is the tenant without a name.")] = ""

    def card(self, kind: MemoryKind, text: str) -> MemoryCard:
        """A card of now that says this."""
        tools = tuple(self.tool or ())
        return MemoryCard(
            kind=kind,
            content=text,
            situation=Situation(prompt=self.task, task_type=self.task_type, tools=tools),
            scope=MemoryScope(
                tenant=self.tenant,
                agent_roles=(self.agent,) if self.agent else (),
                tool_names=tools,
                task_types=(self.task_type,) if self.task_type else (),
            ),
            provenance=Provenance(created_by="human", agent=self.agent, created_at=datetime.now(UTC)),
        )


def add(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What the lesson says; - reads it from standard input.")],
    *,
    kind: Annotated[MemoryKind, typer.Option(metavar="KIND", help=f"One of {', '.join(MemoryKind)}.")] = (
        MemoryKind.LESSON
    ),
    scope: LessonScope,
    promote: Annotated[
        str,
        typer.Option(
            "--promote",
            metavar="WHY",
            help="Show it to every run from now on, for this reason. Without it, it waits for `wisen lessons review`.",
            show_default=False,
        ),
    ] = "",
    store: EmbeddingStoreOptions,
    output: OutputOptions,
) -> None:
    """Add a lesson of your own, through the screen; prints its id."""
    said = sys.stdin.read() if text == "-" else text
    if not said.strip():
        raise ConfigError("TEXT is empty; write what the lesson says")
    card = scope.card(kind, said.strip())
    kept, outcome, rules = drive(_added(card, store.choose(), store.embedder, promote))
    if output.as_json:
        print_json({"outcome": outcome, "rules": rules, "card": card_json(kept)})
        return
    typer.echo(kept.id)
    if outcome == "duplicate":
        typer.echo("a lesson that says the same is there already; counted on it", err=True)
    if rules:
        typer.echo(f"the screen took something out: {', '.join(rules)}", err=True)
    if not promote:
        typer.echo(f"{kept.status}; `wisen lessons review {kept.id}` lets runs see it", err=True)


async def _added(
    card: MemoryCard, choice: StoreChoice, embedder: str | None, promote: str
) -> tuple[MemoryCard, str, list[str]]:
    """The card as it is kept, what became of it, and the screen's rules that changed it."""
    from wisen.memory_ci.pipeline import MemoryCI  # noqa: PLC0415 - imports the screen and its tables

    async with open_store(choice, embedder) as store:
        ci = MemoryCI(store)
        submission = await ci.submit(card)
        rules = sorted({finding.rule for finding in submission.findings})
        if submission.card is None:
            raise ReflectionError(f"the screen rejected the lesson ({', '.join(rules)}); its text wasn't kept")
        if promote:
            return await ci.promote(submission.card_id, promote), submission.outcome, rules
        return (await store.get([submission.card_id]))[0], submission.outcome, rules
