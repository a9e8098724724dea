"""`wisen reflect`: lists, shows and archives the reports in a folder of Markdown files."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wisen.cards import MemoryCard
from wisen.cli.lessons import card_json
from wisen.cli.output import AsJson, Column, clean, line, print_json, print_table
from wisen.cli.stores import Tenant, drive, whole_id
from wisen.errors import StoreError
from wisen.reports import card_to_report

if TYPE_CHECKING:
    from wisen.stores.catalog import Problem, Stored

_DEFAULT = Path("memory")
_KEEP = 30

RootPath = Annotated[
    Path | None,
    typer.Option(
        "--root",
        metavar="PATH",
        help=f"The folder with `reflections` in it. Default: {_DEFAULT} in the working directory.",
        show_default=False,
    ),
]
Agent = Annotated[str | None, typer.Option("--agent", metavar="NAME", help="Only this agent's.", show_default=False)]


def choose_root(given: Path | None, *, must_exist: bool = True) -> Path:
    """`--root`, else `memory` in the working directory; raises `StoreError` where it has to exist and doesn't."""
    root = (given or _DEFAULT).expanduser()
    if must_exist and not root.is_dir():
        why = "--root" if given else "the default"
        raise StoreError(f"no folder {str(root)!r} ({why}); pass --root, or write a first report into it")
    return root


def list_reports(
    *,
    agent: Agent = None,
    tenant: Tenant = None,
    root: RootPath = None,
    as_json: AsJson = False,
) -> None:
    """List reports, oldest first; files that can't be read are named on standard error."""
    found, problems = drive(_reports(choose_root(root), agent, tenant))
    if as_json:
        print_json(
            {
                "reports": [_json(one) for one in found],
                "problems": [{"path": one.path, "problem": one.problem} for one in problems],
            }
        )
        return
    columns = (
        Column(heading="id", id=True, spare=1),
        Column(heading="date"),
        Column(heading="agent", spare=2),
        Column(heading="report", spare=3),
        Column(heading="status", spare=4),
        Column(heading="tenant", spare=5),
        Column(heading="task", wide=True),
        Column(heading="file", wide=True),
    )
    print_table(columns, [_row(one) for one in found])
    if not found:
        typer.echo("no report fits these options" if agent or tenant is not None else "no reports yet", err=True)
    for one in problems:
        typer.echo(line(f"can't be read: {one.path}: {one.problem}", 400), err=True)


def show(
    report: Annotated[
        str, typer.Argument(metavar="REPORT", help="Its id, a beginning that no other has, or its file's name or path.")
    ],
    *,
    root: RootPath = None,
    as_json: AsJson = False,
) -> None:
    """Show one report whole, as its file has it."""
    folder = choose_root(root)
    stored = drive(_find(folder, report))
    if as_json:
        print_json(_json(stored))
        return
    typer.echo(clean((folder / stored.path).read_text(encoding="utf-8-sig")).removesuffix("\n"))


def archive(
    *,
    keep: Annotated[int, typer.Option(metavar="N", min=0, help="How many of each agent's stay.")] = _KEEP,
    agent: Agent = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would move, and move nothing.")] = False,
    root: RootPath = None,
    as_json: AsJson = False,
) -> None:
    """Move all but the last reports of each agent into archive/<year>; nothing is deleted."""
    from wisen.stores.markdown import MarkdownStore  # noqa: PLC0415 - imports numpy

    async def move() -> "Sequence[dict[str, str]]":
        async with MarkdownStore(folder) as store:
            moved = await store.archive(keep, agent=agent, dry_run=dry_run)
        return [{"id": one.card_id, "agent": one.agent, "from": one.source, "to": one.target} for one in moved]

    folder = choose_root(root)
    moved = drive(move())
    if as_json:
        print_json({"moved": moved, "dry_run": dry_run})
        return
    for one in moved:
        typer.echo(line(f"{one['from']} -> {one['to']}", 1000))
    typer.echo(f"{'would move' if dry_run else 'moved'}: {len(moved)}", err=True)


async def _reports(root: Path, agent: str | None, tenant: str | None) -> "tuple[Sequence[Stored], Sequence[Problem]]":
    from wisen.stores.markdown import MarkdownStore  # noqa: PLC0415 - imports numpy

    async with MarkdownStore(root) as store:
        return await store.reports(agent=agent, tenant=tenant), await store.problems()


async def _find(root: Path, report: str) -> "Stored":
    """The report of this id or file."""
    every, _ = await _reports(root, None, None)
    named = [one for one in every if report in _names(root, one)]
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
    return {"path": stored.path, "archived": stored.archived, "report": _word(stored.card), "card": card}


def _word(card: MemoryCard) -> str:
    report = card_to_report(card)
    return card.kind.value if report is None else type(report).__name__.removesuffix("Report").lower()


def _row(stored: "Stored") -> tuple[str, ...]:
    card = stored.card
    source = card.provenance
    day = f"{source.created_at:%Y-%m-%d}"
    return card.id, day, source.agent, _word(card), card.status, card.scope.tenant, card.pattern, stored.path
