"""`wisen lessons promote`, `reject` and their like: a person decides on a card, with a reason that is kept."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from wisen.cards import MemoryCard
from wisen.cli.card_views import idea_fields
from wisen.cli.lessons import card_json
from wisen.cli.output import glance, print_fields, print_json
from wisen.cli.shared_options import EmbeddingStoreOptions, OutputOptions, StoreOptions, TenantOptions
from wisen.cli.store_choice import drive, embedder_of_vectors, open_store, reading
from wisen.explain.by_id import find_card
from wisen.explain.card_facts import (
    Idea,
    archived_rivals,
    decided,
    evidence_lines,
    find_idea,
    history_lines,
    judge,
    origin,
    seen,
    status_of,
    trial_lines,
)
from wisen.memory_ci.sequence_numbers import promoted_by_trials
from wisen.trial_records import Cohort

if TYPE_CHECKING:
    from wisen.memory_ci.decisions import Act

CardId = Annotated[str, typer.Argument(metavar="ID", help="The card's id, or a beginning that no other has.")]
Why = Annotated[str, typer.Option("--why", metavar="TEXT", help="The reason; it is kept in the card's history.")]


def _command(act: "Act", says: str) -> Callable[..., None]:
    """The command that decides so on one card."""

    def command(
        card_id: CardId, *, why: Why, whose: TenantOptions, store: EmbeddingStoreOptions, output: OutputOptions
    ) -> None:
        decide(act, card_id, why, whose=whose, store=store, as_json=output.as_json)

    command.__doc__ = says
    return command


promote = _command("promote", "Show a quarantined card to every run from now on, and archive its rivals.")
release = _command("release", "Let all of a tenant's runs try a card that is held, imported, or of another circle.")
archive = _command("archive", "Keep a card, but stop showing it.")
quarantine = _command("quarantine", "Put a promoted, archived or benched card on trial again, with new counts.")
reject = _command("reject", "Withdraw a card for good: none of its text is kept, and what it corrected holds again.")
pin = _command("pin", "Keep trials and rules from changing a card's status; people still may.")
unpin = _command("unpin", "Let trials and rules change a card's status again.")
split = _command("split", "Take a wording out of an idea that says something else; it goes on trial by itself.")


def why_card(card_id: CardId, *, whose: TenantOptions, store: StoreOptions, output: OutputOptions) -> None:
    """Say why a card has its status: where it comes from, what its uses showed, and each of its moves."""

    async def get() -> tuple[MemoryCard, Idea, dict[Cohort, int]]:
        choice = store.choose()
        async with reading(choice) as opened:
            card = await find_card(opened, card_id, whose.tenant)
            idea = await find_idea(opened, card, await embedder_of_vectors(choice))
            return card, idea, await promoted_by_trials(opened)

    card, idea, promoted = drive(get())
    said = trial_lines(idea.head, promoted, of=card)
    if output.as_json:
        found = card_json(card)
        wordings = [one.id for one in idea.wordings]
        rivals = [one.id for one in idea.rivals]
        told = {"head": idea.head.id, "wordings": wordings, "rivals": rivals, "said": said}
        print_json({**{name: found[name] for name in _TOLD}, "trials": card_json(idea.head)["trials"], "idea": told})
        return
    print_fields(
        [
            ("id", card.id),
            ("status", status_of(card)),
            ("says", glance(card.text)),
            ("from", origin(card.provenance)),
            ("judged by", judge(card.provenance)),
            ("seen", seen(card)),
            *idea_fields(card, idea),
            ("supersedes", card.supersedes),
            ("superseded by", card.superseded_by),
            ("trial", "\n".join(said)),
            ("evidence", "\n".join(evidence_lines(idea.head))),
            ("history", "\n".join(history_lines(card)) or "none is kept"),
        ]
    )


_TOLD = (
    "id",
    "kind",
    "status",
    "pinned",
    "note",
    "provenance",
    "duplicates",
    "alike",
    "supersedes",
    "superseded_by",
    "evidence",
    "history",
)


def decide(
    act: "Act",
    card_id: str,
    why: str,
    *,
    whose: TenantOptions,
    store: EmbeddingStoreOptions,
    as_json: bool,
) -> None:
    """Do what a person decided on a card, and say what changed."""

    async def done() -> tuple[MemoryCard, MemoryCard, str]:
        from wisen.memory_ci.pipeline import MemoryCI  # noqa: PLC0415 - imports the screen and its tables

        async with open_store(store.choose().existing(), store.embedder) as opened:
            before, ci = await find_card(opened, card_id, whose.tenant), MemoryCI(opened)
            gone = await archived_rivals(opened, before) if act == "promote" else []
            after = await ci.decide(act, before.id, why)
            if act != "promote":
                return before, after, ""
            rules = await ci.standing.current(after.scope.tenant, after.provenance.agent)
            rule_too = f", and a standing rule of agent {after.provenance.agent!r}" if after.id in rules.cards else ""
            rivals = [one for one in await archived_rivals(opened, after) if one not in gone]
            return before, after, rule_too + (f"; archived its rivals: {', '.join(rivals)}" if rivals else "")

    before, after, too = drive(done())
    if as_json:
        print_json(card_json(after))
        return
    typer.echo(f"card {after.id}: {decided(act, before, after)}{too}")
