"""`wisen lessons review`: what is kept and shown to no run, with the phrases that hold it, and a person's decision."""

import sys
from typing import Annotated, Literal

import typer

from wisen.cards import MemoryCard
from wisen.cli.card_decisions import Why, decide
from wisen.cli.lessons import card_json
from wisen.cli.output import print_json
from wisen.cli.shared_options import EmbeddingStoreOptions, OutputOptions, TenantOptions
from wisen.cli.store_choice import drive, reading
from wisen.explain.by_id import find_card
from wisen.explain.card_facts import origin, why_waiting
from wisen.explain.wording import clean, counted
from wisen.recall import CardFilter
from wisen.stores.paging import every_card

Decision = Literal["release", "promote", "reject"]
_MARKS = "\u27e6", "\u27e7"
_ASKED = "release it to the trial, promote it, reject it, or decide later?"
_FOR_NOTHING = "for no review"


def review(
    card_id: Annotated[
        str, typer.Argument(metavar="ID", help="A card's id, or a beginning that no other has. Default: all.")
    ] = "",
    *,
    decision: Annotated[
        Decision | None,
        typer.Option("--decide", help="What becomes of card ID; needs --why. On a terminal you are asked."),
    ] = None,
    why: Why = "",
    whose: TenantOptions,
    store: EmbeddingStoreOptions,
    output: OutputOptions,
) -> None:
    """Show lessons that no run may try yet, each with its reason, and decide: release, promote or reject.

    A lesson is held if its run had read others' text, such as a tool's result, a page or a mail, and it names
    something new to its circle: a host, an account, a command. Imported lessons wait here, too.
    """
    choice = store.choose()
    if decision is not None:
        if not card_id:
            raise typer.BadParameter("name the card that is decided on", param_hint="--decide")
        decide(decision, card_id, why, whose=whose, store=store, as_json=output.as_json)
        return

    async def waiting() -> list[MemoryCard]:
        async with reading(choice) as opened:
            if card_id:
                return [await find_card(opened, card_id, whose.tenant)]
            where = CardFilter(tenant=whose.tenant, awaits="release")
            return [card async for card in every_card(opened, where)]

    cards = drive(waiting())
    if output.as_json:
        print_json([card_json(card) for card in cards])
        return
    if not cards:
        typer.echo("nothing waits for a review", err=True)
    asked = asks()
    for card in cards:
        typer.echo("\n".join(reviewer_text(card)))
        if asked and (chosen := _asked()):
            decide(chosen[0], card.id, chosen[1], whose=whose, store=store, as_json=False)
        typer.echo()
    waits = sum(bool(why_waiting(card)) for card in cards)
    if waits and not asked:
        said = "wisen lessons review ID --decide release|promote|reject --why TEXT"
        typer.echo(f"{counted(waits, 'lesson')} to review; decide with: {said}", err=True)


def asks() -> bool:
    """Whether a person sits at a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def reviewer_text(card: MemoryCard) -> list[str]:
    """A card for its reviewer: where it comes from, why it waits, and its text with the phrases marked."""
    owner = f", for {clean(card.provenance.owner)}" if card.provenance.owner else ""
    text = "\n          ".join(marked(clean(card.text), card.held).splitlines())
    return [
        typer.style(f"{card.id}  {card.kind}, {origin(card.provenance)}{owner}", bold=True),
        f"  waits   {why_waiting(card) or _FOR_NOTHING}",
        f"  says    {text}",
        *([f"  learned from  {clean(card.situation.text.splitlines()[0])[:200]}"] if card.situation.text else []),
    ]


def marked(text: str, phrases: tuple[str, ...]) -> str:
    """The text with each of these phrases between marks."""
    for phrase in sorted(map(clean, phrases), key=len, reverse=True):
        text = text.replace(phrase, phrase.join(_MARKS))
    return text


def _asked() -> tuple[Decision, str] | None:
    answers: dict[str, Decision] = {"r": "release", "release": "release", "p": "promote", "promote": "promote"}
    answers |= {"x": "reject", "reject": "reject"}
    answer = typer.prompt(f"{_ASKED} [r/p/x/l]", default="l").strip().lower()
    return (answers[answer], typer.prompt("why")) if answer in answers else None
