"""`wisen forget`: deletes all that a store keeps of a person, a tenant or a run, and prints a receipt."""

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated

import typer

from wisen.cli.output import print_fields, print_json
from wisen.cli.rollback import whole_run
from wisen.cli.shared_options import EmbeddingStoreOptions, OutputOptions, TenantOptions
from wisen.cli.store_choice import StoreChoice, drive, open_store
from wisen.explain.wording import counted, when

if TYPE_CHECKING:
    from wisen.memory_ci.forgetting import Receipt, Whom

_STILL_THERE = 1


def forget(
    *,
    person: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="Someone, as texts name them: a name, address or account; may be given again.",
            show_default=False,
        ),
    ] = None,
    run: Annotated[
        str,
        typer.Option("--run", metavar="ID", help="A run's id, or its beginning.", show_default=False),
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do it; without this, only say what would go.")] = False,
    whose: TenantOptions,
    store: EmbeddingStoreOptions,
    output: OutputOptions,
) -> None:
    """Delete cards, runs, blocks and recorded calls of a person, a tenant or a run, for good; prints a receipt.

    Exit code: 0 if nothing of it is left in the store, 1 if a second look still found something.
    """
    from wisen.memory_ci.forgetting import Whom  # noqa: PLC0415 - imports pydantic

    whom = Whom(person=tuple(person or ()), tenant=whose.tenant, run_id=run)
    receipt = drive(_forget(store.choose().existing(), store.embedder, whom, dry_run=not yes))
    if output.as_json:
        print_json({**asdict(receipt), "at": receipt.at.isoformat()})
    else:
        _print(receipt)
    if receipt.remaining:
        typer.echo("something came meanwhile; run this again when no run is under way", err=True)
        raise typer.Exit(_STILL_THERE)


async def _forget(choice: StoreChoice, embedder_name: str | None, whom: "Whom", *, dry_run: bool) -> "Receipt":
    from wisen.memory_ci.forgetting import forget as delete  # noqa: PLC0415 - imports pydantic

    async with open_store(choice, embedder_name, read_only=dry_run) as store:
        if whom.run_id:
            whom = replace(whom, run_id=await whole_run(store, whom.run_id))
        return await delete(store, whom, dry_run=dry_run)


def _print(receipt: "Receipt") -> None:
    print_fields(
        [
            ("forgotten" if receipt.done else "to forget", receipt.about),
            ("at", f"{when(receipt.at)} UTC"),
            ("cards", "\n".join(receipt.cards)),
            ("runs", "\n".join(receipt.runs)),
            ("blocks", "\n".join(f"{name} of {tenant!r}" if tenant else name for tenant, name in receipt.blocks)),
            ("calls", str(receipt.calls)),
            ("changed", "\n".join(receipt.changed)),
            ("not reached", "\n".join(receipt.left)),
        ]
    )
    parts = (("card", receipt.cards), ("run", receipt.runs), ("block", receipt.blocks))
    said = ", ".join([*(counted(len(found), name) for name, found in parts), counted(receipt.calls, "call")])
    if receipt.done:
        typer.echo(f"deleted: {said}; a second look found {receipt.remaining}", err=True)
    else:
        typer.echo(f"nothing was changed ({said}); add --yes to do it", err=True)
