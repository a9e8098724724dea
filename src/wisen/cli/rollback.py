"""`wisen lessons rollback`: withdraws what came of a run, a source, a tenant or a time, and lists what stays."""

from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Annotated

import typer

from wisen.cli.option_sets import OptionSet
from wisen.cli.output import Column, print_json, print_table
from wisen.cli.shared_options import EmbeddingStoreOptions, OutputOptions, TenantOptions
from wisen.cli.store_choice import StoreChoice, drive, open_store
from wisen.errors import ConfigError, RunNotFoundError
from wisen.explain.by_id import whole_id
from wisen.memory_ci.rollback import Origin, Rollback
from wisen.memory_ci.rollback import rollback as withdraw
from wisen.recall import CardFilter
from wisen.stores.paging import every_card
from wisen.stores.whole_store import Store

_TIME = "TIME"


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginOptions(OptionSet):
    """Where what is withdrawn came from."""

    run: Annotated[
        str,
        typer.Option(
            "--run", metavar="ID", help="Lessons from this run; the beginning of its id is enough.", show_default=False
        ),
    ] = ""
    source: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What was taken from this file or address, or made by import, human or reflexion.",
            show_default=False,
        ),
    ] = ""
    since: Annotated[
        str,
        typer.Option(metavar=_TIME, help="What was made then or later, such as 2026-03-01T08:00.", show_default=False),
    ] = ""
    until: Annotated[
        str, typer.Option(metavar=_TIME, help="What was made before then; times are UTC.", show_default=False)
    ] = ""

    def of(self, tenant: str | None) -> Origin:
        """The origin, within a tenant; raises `ConfigError` for what is no time."""
        return Origin(
            run_id=self.run,
            source=self.source,
            tenant=tenant,
            since=_moment("--since", self.since),
            until=_moment("--until", self.until),
        )


def rollback(
    *,
    origin: OriginOptions,
    downstream: Annotated[
        bool, typer.Option("--downstream", help="Also what runs learned that were shown these lessons, and so on.")
    ] = False,
    note: Annotated[str, typer.Option(metavar="TEXT", help="Why; kept with each card.", show_default=False)] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do it; without this, only say what would be done.")] = False,
    whose: TenantOptions,
    store: EmbeddingStoreOptions,
    output: OutputOptions,
) -> None:
    """Withdraw lessons for good; only their ids, their origins and the reason are kept."""
    meant = origin.of(whose.tenant)
    choice = store.choose().existing()
    done = drive(_withdraw(choice, store.embedder, meant, note=note, downstream=downstream, dry_run=not yes))
    if output.as_json:
        print_json({"done": yes, **asdict(done)})
        return
    _print(done, did=yes)


async def _withdraw(
    choice: StoreChoice, embedder_name: str | None, origin: Origin, *, note: str, downstream: bool, dry_run: bool
) -> Rollback:
    async with open_store(choice, embedder_name, read_only=dry_run) as store:
        if origin.run_id:
            origin = replace(origin, run_id=await whole_run(store, origin.run_id))
        return await withdraw(store, origin, note=note, downstream=downstream, dry_run=dry_run)


async def whole_run(store: Store, given: str) -> str:
    """The id that begins so, of a run that is recorded here, or of one elsewhere that cards were learned from."""
    ids = {*await store.ids_beginning("run", given)}
    async for card in every_card(store, CardFilter()):
        told = card.provenance
        # Where two runs were seen together, the trace's id is both of theirs.
        ids |= {told.run_id, told.trace_id.removeprefix(f"{told.run_id}+")}
    return given if given in ids else whole_id(given, sorted(ids), RunNotFoundError(given))


def _print(done: Rollback, *, did: bool) -> None:
    rows = [
        *(("withdrawn", "card", one, "") for one in done.withdrawn),
        *(("restored", "card", one, "what had superseded it is withdrawn") for one in done.restored),
        *(("left", one.what, one.id, one.why) for one in done.left),
    ]
    columns = (
        Column(heading="done" if did else "to do"),
        Column(heading="what"),
        Column(heading="id", id=True),
        Column(heading="why", wide=True),
    )
    if rows:
        print_table(columns, rows)
    if not done.withdrawn:
        typer.echo("nothing came from there, or it is withdrawn already", err=True)
        return
    withdrawn, restored, left = len(done.withdrawn), len(done.restored), len(done.left)
    said = f"{withdrawn} withdrawn, {restored} restored, {left} left as they are"
    typer.echo(said if did else f"nothing was changed ({said}); add --yes to do it", err=True)


def _moment(option: str, text: str) -> datetime | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(f"{option} {text!r}: isn't a time; write it as 2026-03-01 or 2026-03-01T08:00") from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
