"""`wisen reflect`: lists, shows and archives reports, of any store, or of a folder of Markdown files."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wisen.cards import REPORT_KINDS, MemoryCard, MemoryStatus
from wisen.cli.lessons import card_json
from wisen.cli.output import Column, print_json, print_table
from wisen.cli.shared_options import OutputOptions, StoreOptions, TenantOptions
from wisen.cli.store_choice import StoreChoice, choose_store, drive, reading
from wisen.errors import StoreError
from wisen.explain.by_id import whole_id
from wisen.explain.wording import clean, counted, line
from wisen.recall import CardFilter
from wisen.reports import card_to_report, to_markdown
from wisen.stores.paging import every_card
from wisen.stores.store_urls import is_url

if TYPE_CHECKING:
    from wisen.stores.markdown.catalog import Problem, Stored

_KEEP = 30
_UNSEALED = (
    "* {} with a status that the store didn't write: it doesn't count; "
    "`wisen lessons promote ID --store FOLDER` does it"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportStoreOptions(StoreOptions):
    """Which store or folder has the reports."""

    root: Annotated[
        str | None,
        typer.Option(
            "--root",
            metavar="FOLDER",
            help="A folder of Markdown files, as --store markdown:FOLDER; it need not be one yet.",
            show_default=False,
        ),
    ] = None

    def choose(self) -> StoreChoice:
        """The folder that `--root` names, else the store of all commands; raises `StoreError` for both."""
        if self.root is not None and self.store is not None:
            raise StoreError("--store and --root: both name where reports are; give one")
        return self.target()

    def target(self) -> StoreChoice:
        """The same where `--store` may name another one, which is only read."""
        root = self.root
        if root is None:
            return choose_store(self.store)
        choice = choose_store(root) if is_url(root) else StoreChoice(url=f"markdown:{root}", why="--root")
        if choice.kind != "markdown" or (choice.path and choice.path.exists() and not choice.path.is_dir()):
            raise StoreError(f"store {choice.shown!r} is no folder; pass --store for a file or a database")
        return choice


Agent = Annotated[str | None, typer.Option("--agent", metavar="NAME", help="Only this agent's.", show_default=False)]


def list_reports(
    *, agent: Agent = None, whose: TenantOptions, store: ReportStoreOptions, output: OutputOptions
) -> None:
    """List reports, oldest first; files that can't be read are named on standard error."""
    every, problems = drive(_reports(store.choose(), whose.tenant))
    found = [one for one in every if agent is None or _same(agent, one.card.provenance.agent)]
    meant = "" if agent is None else _meant(agent, [one.card.provenance.agent for one in every])
    if output.as_json:
        print_json(
            {
                "reports": [_json(one) for one in found],
                "problems": [{"path": one.path, "problem": one.problem} for one in problems],
            }
        )
        return
    columns = (
        Column(heading="id", id=True),
        Column(heading="date", spare=1),
        Column(heading="agent", spare=2),
        Column(heading="report", spare=4),
        Column(heading="status", spare=3),
        Column(heading="tenant", spare=5),
        Column(heading="task", wide=True),
        Column(heading="file", wide=True, spare=6),
    )
    print_table(columns, [_row(one) for one in found])
    if not found:
        typer.echo(
            f"no report fits these options{meant}" if agent or whose.tenant is not None else "no reports yet", err=True
        )
    if claims := [one for one in found if one.claims]:
        typer.echo(_UNSEALED.format(counted(len(claims), "file")), err=True)
    for one in problems:
        typer.echo(line(f"can't be read: {one.path}: {one.problem}", 400), err=True)


def show(
    report: Annotated[
        str, typer.Argument(metavar="REPORT", help="Its id, a beginning that no other has, or its file's name or path.")
    ],
    *,
    whose: TenantOptions,
    store: ReportStoreOptions,
    output: OutputOptions,
) -> None:
    """Show one report whole, as its file has it, or would have it."""
    choice = store.choose()
    stored = drive(_find(choice, report, whose.tenant))
    if output.as_json:
        print_json(_json(stored))
        return
    folder, told = choice.path, card_to_report(stored.card)
    if stored.path and folder is not None:
        text = (folder / stored.path).read_text(encoding="utf-8-sig")
    else:
        text = stored.card.text if told is None else to_markdown(told)
    typer.echo(clean(text).removesuffix("\n"))


def archive(
    *,
    keep: Annotated[int, typer.Option(metavar="N", min=0, help="How many of each agent's stay.")] = _KEEP,
    agent: Agent = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would move, and move nothing.")] = False,
    store: ReportStoreOptions,
    output: OutputOptions,
) -> None:
    """Move all but each agent's last reports into archive/<year>; nothing is deleted."""
    from wisen.stores.markdown.store import MarkdownStore  # noqa: PLC0415 - imports numpy

    async def move() -> "Sequence[dict[str, str]]":
        async with MarkdownStore(folder) as files:
            whose = {one.card.provenance.agent for one in await files.reports()}
            named = [None] if agent is None else sorted(one for one in whose if _same(agent, one))
            if not named:
                raise StoreError(f"no report by {agent!r}{_meant(str(agent), whose)}")
            moved = [one for name in named for one in await files.archive(keep, agent=name, dry_run=dry_run)]
        return [{"id": one.card_id, "agent": one.agent, "from": one.source, "to": one.target} for one in moved]

    choice = store.choose().existing()
    folder = Path(choice.shown)
    if choice.kind != "markdown":
        said = "has no files to move; `wisen lessons archive ID` takes a report out of use"
        raise StoreError(f"store {choice.shown!r} {said}")
    moved = drive(move())
    if output.as_json:
        print_json({"moved": moved, "dry_run": dry_run})
        return
    for one in moved:
        typer.echo(line(f"{one['from']} -> {one['to']}", 1000))
    typer.echo(f"{'would move' if dry_run else 'moved'}: {len(moved)}", err=True)


def _same(given: str, agent: str) -> bool:
    return given.casefold() == agent.casefold()


def _meant(given: str, agents: Iterable[str]) -> str:
    """A hint at the agent whose name is most like the one that was given."""
    names = {name.casefold(): name for name in agents if name}
    near = get_close_matches(given.casefold(), names, 1)
    return f"; did you mean --agent {names[near[0]]!r}?" if near else f"; agents: {', '.join(sorted(names.values()))}"


async def _reports(choice: StoreChoice, tenant: str | None) -> "tuple[Sequence[Stored], Sequence[Problem]]":
    from wisen.stores.markdown.catalog import Stored  # noqa: PLC0415 - reads files
    from wisen.stores.markdown.store import MarkdownStore  # noqa: PLC0415 - imports numpy

    async with reading(choice) as store:
        if isinstance(store, MarkdownStore):
            return await store.reports(tenant=tenant), await store.problems()
        where = CardFilter(tenant=tenant, kinds=REPORT_KINDS)
        cards = [card async for card in every_card(store, where) if card_to_report(card) is not None]
    archived = MemoryStatus.ARCHIVED
    return [Stored(path="", card=one, report=True, archived=one.status is archived) for one in cards], ()


async def _find(choice: StoreChoice, report: str, tenant: str | None) -> "Stored":
    """The report of this id or file."""
    every, _ = await _reports(choice, tenant)
    named = [one for one in every if one.path and report in _names(choice.path or Path(), one)]
    if len(named) == 1:
        return named[0]
    if named:
        found = ", ".join(one.path for one in named[:5])
        raise StoreError(f"{report!r} names several reports: {found}; write the whole path or the id")
    missing = StoreError(f"no report {report!r}; `wisen reflect list` shows what there is")
    whole = whole_id(report, [one.card.id for one in every], missing)
    return next(one for one in every if one.card.id == whole)


def _names(root: Path, stored: "Stored") -> set[str]:
    path = Path(stored.path)
    return {stored.card.id, stored.path, str(root / path), str((root / path).absolute()), path.name, path.stem}


def _json(stored: "Stored") -> dict[str, object]:
    card = card_json(stored.card)
    return {
        "path": stored.path,
        "archived": stored.archived,
        "report": _word(stored.card),
        "claims": stored.claims,
        "card": card,
    }


def _word(card: MemoryCard) -> str:
    report = card_to_report(card)
    return card.kind.value if report is None else type(report).__name__.removesuffix("Report").lower()


def _row(stored: "Stored") -> tuple[str, ...]:
    card = stored.card
    source = card.provenance
    day = f"{source.created_at:%Y-%m-%d}"
    status = f"{card.status}*" if stored.claims else str(card.status)
    return card.id, day, source.agent, _word(card), status, card.scope.tenant, card.pattern, stored.path
