"""`wisen lessons`: lists, shows, searches and exports the memory cards of a store."""

import json
from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from wisen.cards import MemoryCard, Situation
from wisen.cli.output import Column, print_fields, print_json, print_table
from wisen.cli.shared_options import (
    MOST,
    CardOptions,
    EmbeddingStoreOptions,
    Limit,
    Offset,
    OutputOptions,
    StoreOptions,
    TenantOptions,
)
from wisen.cli.store_choice import StoreChoice, drive, open_store, reading
from wisen.errors import ConfigError
from wisen.explain.by_id import find_card
from wisen.explain.card_facts import evidence_lines, trial_lines
from wisen.explain.wording import clean, when
from wisen.recall import RECALLABLE, CardFilter, RecallHit, RecallQuery
from wisen.stores.paging import every_card

RunId = Annotated[str, typer.Option("--run", metavar="ID", help="Only what came of this run.", show_default=False)]


def list_lessons(
    *,
    run: RunId = "",
    limit: Limit = 100,
    offset: Offset = 0,
    cards: CardOptions,
    whose: TenantOptions,
    store: StoreOptions,
    output: OutputOptions,
) -> None:
    """List cards, oldest first."""
    where = _filter(whose.tenant, cards, run)
    found, total = drive(_page(store.choose(), where, limit, offset))
    if output.as_json:
        print_json({"total": total, "lessons": [card_json(card) for card in found]})
        return
    print_cards(found)
    if not found:
        typer.echo("no lesson fits these options" if where != CardFilter() or offset else "no lessons yet", err=True)
    elif len(found) < total:
        typer.echo(f"{len(found)} of {total}; see --limit and --offset", err=True)


def show(
    card_id: Annotated[str, typer.Argument(metavar="ID", help="The card's id, or a beginning that no other has.")],
    *,
    whose: TenantOptions,
    store: StoreOptions,
    output: OutputOptions,
) -> None:
    """Show one card whole: what it says, when it applies, where it comes from, what its uses showed."""

    async def get() -> MemoryCard:
        async with reading(store.choose()) as opened:
            return await find_card(opened, card_id, whose.tenant)

    card = drive(get())
    if output.as_json:
        print_json(card_json(card))
    else:
        print_fields(_fields(card))


def search(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A task, as an agent would be asked it.")],
    *,
    tenant: Annotated[str, typer.Option(help="Whose memory; '' is the tenant without a name.")] = "",
    task_type: Annotated[str, typer.Option("--type", help="The task's type.", show_default=False)] = "",
    tool: Annotated[list[str] | None, typer.Option(help="A tool of the task; may be given twice.")] = None,
    k: Annotated[int, typer.Option("--k", "-k", help="How many at most.")] = 5,
    store: EmbeddingStoreOptions,
    output: OutputOptions,
) -> None:
    """Show which cards would be recalled for a task, and why. Nothing is a normal answer."""
    if not text.strip():
        raise ConfigError("TEXT is empty; write the task that cards are searched for")
    if not 1 <= k <= MOST:
        raise ConfigError(f"--k {k}: must be {'1 or more' if k < 1 else f'{MOST} or less'}")
    tools = tuple(tool or ())
    query = RecallQuery(
        situation=Situation(prompt=text, task_type=task_type, tools=tools),
        filter=CardFilter(tenant=tenant, statuses=RECALLABLE, task_type=task_type, tools=tools or None),
        k=k,
    )
    hits = drive(_search(store.choose().existing(), store.embedder, query))
    if output.as_json:
        print_json([_hit_json(hit) for hit in hits])
        return
    if not hits:
        typer.echo("no card is relevant enough", err=True)
        return
    columns = (
        Column(heading="relevance", number=True, spare=2),
        Column(heading="id", id=True),
        Column(heading="kind", spare=1),
        Column(heading="why", wide=True),
        Column(heading="text", wide=True),
    )
    print_table(
        columns,
        [(f"{hit.relevance:.2f}", hit.card.id, hit.card.kind, "; ".join(hit.reasons), hit.card.text) for hit in hits],
    )


def export(
    *,
    form: Annotated[Literal["jsonl", "markdown"], typer.Option("--format", help="One JSON object a line, or text.")] = (
        "jsonl"
    ),
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to write; default: standard output.", show_default=False)
    ] = None,
    cards: CardOptions,
    whose: TenantOptions,
    store: StoreOptions,
) -> None:
    """Write cards out, oldest first."""
    from wisen.stores.serialization import card_to_json  # noqa: PLC0415 - imports pydantic

    found = drive(_all(store.choose(), _filter(whose.tenant, cards, "")))
    written = [f"{card_to_json(card)}\n" if form == "jsonl" else f"{_markdown(card)}\n" for card in found]
    if output is None:
        typer.echo("".join(written), nl=False)
        return
    output.write_text("".join(written), encoding="utf-8", newline="\n")
    typer.echo(f"cards written to {output}: {len(found)}", err=True)


def path(*, store: StoreOptions, output: OutputOptions) -> None:
    """Print where the store is, and on standard error what chose it."""
    choice = store.choose()
    if output.as_json:
        print_json({"path": choice.shown, "why": choice.why, "exists": choice.exists})
        return
    typer.echo(choice.shown)
    typer.echo(f"from: {choice.why}{'' if choice.exists else '; it does not exist yet'}", err=True)


def print_cards(cards: list[MemoryCard]) -> None:
    """A table of cards."""
    columns = (
        Column(heading="id", id=True),
        Column(heading="kind", spare=1),
        Column(heading="status", spare=2),
        Column(heading="tenant", spare=3),
        Column(heading="verified", spare=4),
        Column(heading="seen", number=True, spare=5),
        Column(heading="text", wide=True),
    )
    print_table(
        columns,
        [
            (
                card.id,
                card.kind,
                card.status,
                card.scope.tenant,
                "yes" if card.provenance.verified else "no",
                str(card.duplicates + 1),
                card.text,
            )
            for card in cards
        ],
    )


def card_json(card: MemoryCard) -> dict[str, object]:
    """A card as JSON values, in the form of `lessons export`."""
    from wisen.stores.serialization import card_to_json  # noqa: PLC0415 - imports pydantic

    return cast("dict[str, object]", json.loads(card_to_json(card)))


def _filter(tenant: str | None, cards: CardOptions, run: str) -> CardFilter:
    return CardFilter(tenant=tenant, statuses=tuple(cards.status or ()), kinds=tuple(cards.kind or ()), run_id=run)


async def _page(choice: StoreChoice, where: CardFilter, limit: int, offset: int) -> tuple[list[MemoryCard], int]:
    async with reading(choice) as store:
        return await store.list(where, limit=limit, offset=offset), await store.count(where)


async def _all(choice: StoreChoice, where: CardFilter) -> list[MemoryCard]:
    async with reading(choice) as store:
        return [card async for card in every_card(store, where)]


async def _search(choice: StoreChoice, embedder_name: str | None, query: RecallQuery) -> list[RecallHit]:
    async with open_store(choice, embedder_name, read_only=True) as store:
        return await store.search(query)


def _hit_json(hit: RecallHit) -> dict[str, object]:
    return {
        "relevance": hit.relevance,
        "reasons": list(hit.reasons),
        "vector": hit.vector,
        "lexical": hit.lexical,
        "lesson": card_json(hit.card),
    }


def _fields(card: MemoryCard) -> list[tuple[str, str]]:
    scope, source, situation = card.scope, card.provenance, card.situation
    return [
        ("id", card.id),
        ("kind", card.kind),
        ("status", f"{card.status}, pinned" if card.pinned else card.status),
        ("note", card.note),
        ("held for", ", ".join(card.held)),
        ("content", card.content),
        ("pattern", card.pattern),
        ("strategy", card.strategy),
        ("steps", "\n".join(card.steps)),
        ("tenant", scope.tenant),
        ("agent roles", ", ".join(scope.agent_roles)),
        ("tools", ", ".join(scope.tool_names)),
        ("task types", ", ".join(scope.task_types)),
        ("learned from", situation.text),
        ("run", f"{source.run_id}, attempt {source.attempt}" if source.run_id else ""),
        ("created", " ".join(filter(None, (when(source.created_at), f"by {source.created_by or 'unknown'}")))),
        ("agent", source.agent),
        ("owner", source.owner),
        ("had read others' text", "yes" if source.tainted else ""),
        ("model", source.model),
        ("evaluator", f"{source.evaluator} ({'check' if source.verified else 'opinion'})" if source.evaluator else ""),
        ("idea of", card.idea),
        ("trial", "\n".join(trial_lines(card))),
        ("evidence", "\n".join(evidence_lines(card))),
        ("version", str(card.version)),
        ("times seen", str(card.duplicates + 1)),
        ("supersedes", card.supersedes),
        ("superseded by", card.superseded_by),
    ]


def _markdown(card: MemoryCard) -> str:
    """A section with the card's own texts quoted, so that no text of a card becomes a heading."""
    lines = [f"## {card.kind} {card.id}", ""]
    for name, value in _fields(card):
        if value and name not in ("id", "kind"):
            first, *others = clean(value).splitlines() or [""]
            lines += [f"- {name}: {first}" if not others else f"- {name}:"]
            lines += [f"  > {one}" for one in ((first, *others) if others else ())]
    return "\n".join((*lines, ""))
