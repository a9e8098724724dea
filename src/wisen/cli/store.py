"""`wisen store`: copies, shows, tunes, checks, prunes and backs up whole stores, whatever they are."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol, cast, runtime_checkable

import typer

from wisen.cli.output import Column, print_fields, print_json, print_table
from wisen.cli.progress import bars
from wisen.cli.shared_options import EmbedderOptions, OutputOptions, StoreOptions
from wisen.cli.store_choice import StoreChoice, drive, open_store, reading
from wisen.errors import ConfigError, EmbedderMismatchError, StoreError
from wisen.explain.wording import counted
from wisen.stores.store_urls import is_url, shown_url
from wisen.stores.whole_store import Store

if TYPE_CHECKING:
    from wisen.stores.copying import CheckReport, CopyReport, PartReport
    from wisen.stores.maintenance import StoreFacts
    from wisen.stores.pruning import PrunableStore, Pruned
    from wisen.stores.transfer_protocol import Transferable

_NOT_WHOLE = 1
_LISTED = 10
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}

Url = Annotated[
    str | None,
    typer.Argument(
        metavar="[STORE]",
        help="The store, as for --store. Default: the one that all commands use.",
        show_default=False,
    ),
]


@runtime_checkable
class Tunes(Protocol):
    """What a store adds that has indexes to be built once it is large."""

    async def tune(self) -> object:
        """Build or rebuild what makes searches of large tenants quick; says what was done."""
        ...


def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="A file, a folder with a Markdown store, or a URL.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="Another one; it is made when missing.")],
    *,
    reembed: Annotated[
        bool, typer.Option("--reembed", help="Embed all cards again, with the target's embedder or --embedder.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Where both have a card or record, and not the same, take the source's.")
    ] = False,
    vectors: EmbedderOptions,
    output: OutputOptions,
) -> None:
    """Copy everything: cards with history and evidence, blocks, runs, recorded calls. Run it again to go on."""
    report = drive(_copy(_choice(source), _choice(target), vectors.embedder, reembed=reembed, replace=replace))
    if output.as_json:
        print_json(_copy_json(report))
    else:
        _print_copy(report)
    if not report.whole:
        raise typer.Exit(_NOT_WHOLE)


def show(url: Url = None, *, store: StoreOptions, output: OutputOptions) -> None:
    """Say what is in a store: how many cards of which tenant, status and kind, runs, size, embedder, indexes."""
    choice = _chosen(url, store)
    facts = drive(_facts(choice))
    if output.as_json:
        print_json(_facts_json(choice, facts))
        return
    print_fields(
        [
            ("store", choice.shown),
            ("kind", facts.kind),
            ("cards", str(facts.total)),
            ("blocks", str(facts.blocks)),
            ("runs", str(facts.runs)),
            ("recorded calls", str(facts.calls)),
            ("embedder", facts.embedder or "none yet"),
            ("schema", str(facts.schema or "")),
            ("size", "" if facts.size is None else _bytes(facts.size)),
            ("indexes", ", ".join(facts.indexes)),
            ("note", "\n".join(facts.notes)),
        ]
    )
    if facts.cards:
        typer.echo("")
        columns = (
            Column(heading="tenant"),
            Column(heading="status"),
            Column(heading="kind"),
            Column(heading="cards", number=True),
        )
        print_table(columns, [(*of, str(number)) for of, number in facts.cards.items()])


def tune(url: Url = None, *, store: StoreOptions, output: OutputOptions) -> None:
    """Build the indexes that make searches in large tenants fast, if the store has any."""

    async def work() -> str:
        async with open_store(_chosen(url, store), None) as opened:
            if not isinstance(opened, Tunes):
                return "nothing to tune: this store searches exactly, and needs no indexes"
            done = await opened.tune()
            return "tuned" if done is None else f"tuned: {_told(done)}"

    said = drive(work())
    if output.as_json:
        print_json({"said": said})
    else:
        typer.echo(said)


def check(url: Url = None, *, store: StoreOptions, output: OutputOptions) -> None:
    """Read everything back and check that it is whole; equal hashes mean equal contents, whatever the store."""
    report = drive(_check(_chosen(url, store)))
    if output.as_json:
        print_json(
            {
                "whole": report.whole,
                "counts": dict(report.counts),
                "hashes": dict(report.hashes),
                "problems": [*report.problems],
                "notes": [*report.notes],
            }
        )
    else:
        columns = (Column(heading="part"), Column(heading="count", number=True), Column(heading="hash"))
        print_table(columns, [(part, str(count), report.hashes[part]) for part, count in report.counts.items()])
        for note in report.notes:
            typer.echo(f"note: {note}", err=True)
        for problem in report.problems:
            typer.echo(f"problem: {problem}", err=True)
        typer.echo("whole" if report.whole else f"not whole: {counted(len(report.problems), 'problem')}", err=True)
    if not report.whole:
        raise typer.Exit(_NOT_WHOLE)


def prune(
    url: Url = None,
    *,
    older_than: Annotated[
        str, typer.Option("--older-than", metavar="AGE", help="How long ago a run must have ended: 12h, 30d, 8w.")
    ],
    resumable: Annotated[
        bool,
        typer.Option(
            "--resumable", help="Also those of runs that were cut off or failed so long ago: they would start over."
        ),
    ] = False,
    store: StoreOptions,
    output: OutputOptions,
) -> None:
    """Drop the recorded calls of runs that ended long ago; runs that can be resumed keep theirs."""
    before = datetime.now(UTC) - age(older_than)
    pruned = drive(_prune(_chosen(url, store), before, resumable=resumable))
    if output.as_json:
        print_json({"before": before.isoformat(timespec="seconds"), "runs": pruned.runs, "calls": pruned.calls})
    else:
        typer.echo(
            f"{counted(pruned.calls, 'recorded call')} dropped; runs that ended before "
            f"{before:%Y-%m-%d %H:%M} UTC: {pruned.runs}"
        )


def backup(
    source: Annotated[str, typer.Argument(metavar="FROM", help="A SQLite store's file.")],
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The copy; there is no such file yet.")],
    *,
    output: OutputOptions,
) -> None:
    """Copy a SQLite store's file while others use it. For Postgres use pg_dump, for Markdown git."""
    from wisen.stores.sqlite.backup import backup_file  # noqa: PLC0415 - keeps `wisen --help` quick

    choice = _choice(source)
    if choice.kind != "sqlite" or choice.path is None:
        instead = "pg_dump" if choice.kind == "postgres" else "git, or a copy of the folder"
        raise ConfigError(f"store {choice.shown!r} isn't a SQLite file; back it up with {instead}")
    with bars() as tell:
        size = backup_file(choice.path, target.expanduser(), progress=lambda done, of: tell("pages", done, of))
    if output.as_json:
        print_json({"from": choice.shown, "to": str(target), "bytes": size})
    else:
        typer.echo(f"{choice.shown} is in {target} ({_bytes(size)})")


def _chosen(url: str | None, store: StoreOptions) -> StoreChoice:
    """The store that is named in either way, else the one that all commands use."""
    if url is not None and store.store is not None:
        raise ConfigError(f"{shown_url(url)!r} and --store name a store each; name one")
    return store.choose() if url is None else _choice(url)


def _choice(given: str) -> StoreChoice:
    if not given:
        raise ConfigError("'' names no store; pass a path or a URL")
    choice = StoreChoice(url=given if is_url(given) else str(Path(given).expanduser()), why="as it was named")
    _ = choice.path  # refuses what can't be understood
    return choice


def _there(choice: StoreChoice) -> StoreChoice:
    if not choice.exists:
        raise StoreError(f"no store at {choice.shown!r}; pass the path or URL of an existing one")
    return choice.existing()


async def _copy(
    source: StoreChoice, target: StoreChoice, embedder: str | None, *, reembed: bool, replace: bool
) -> "CopyReport":
    from wisen.stores.copying import copy_store  # noqa: PLC0415 - imports numpy

    if embedder is not None and not reembed:
        raise ConfigError("--embedder says what --reembed embeds cards with; give --reembed, too")
    if source.url == target.url or _same_file(source.path, target.path):
        raise ConfigError(f"{source.shown!r} can't be copied to itself")
    with bars() as tell:
        async with reading(_there(source)) as given:
            label = "" if reembed else await cast("Transferable", given).vectors_label()
            async with _taking(target, label, embedder) as taker:
                return await copy_store(given, taker, reembed=reembed, replace=replace, progress=tell)


def _same_file(one: Path | None, other: Path | None) -> bool:
    return one is not None and other is not None and one.exists() and other.exists() and one.samefile(other)


@asynccontextmanager
async def _taking(target: StoreChoice, label: str, embedder: str | None) -> AsyncGenerator[Store]:
    """The target, for vectors of the embedder with this label; with one of its own where there are none."""
    from wisen.embedders.absent import AbsentEmbedder  # noqa: PLC0415 - as above

    if not label:
        async with open_store(target, embedder) as store:
            yield store
        return
    try:
        async with target.connect(AbsentEmbedder(label)) as store:
            yield cast("Store", store)
    except EmbedderMismatchError as error:
        raise StoreError(
            f"the source's vectors come from embedder {error.given!r}, the target's from {error.stored!r}; "
            "pass --reembed to embed all cards again"
        ) from None


async def _facts(choice: StoreChoice) -> "StoreFacts":
    from wisen.stores.maintenance import Describes  # noqa: PLC0415 - keeps `wisen --help` quick

    async with reading(_there(choice)) as store:
        return await cast("Describes", store).facts()


async def _check(choice: StoreChoice) -> "CheckReport":
    from wisen.stores.copying import check_store  # noqa: PLC0415 - imports numpy

    with bars() as tell:
        async with reading(_there(choice)) as store:
            return await check_store(store, progress=tell)


async def _prune(choice: StoreChoice, before: datetime, *, resumable: bool) -> "Pruned":
    from wisen.stores.pruning import prune_calls  # noqa: PLC0415 - imports pydantic

    with bars() as tell:
        store = _there(choice).connect()
        try:
            return await prune_calls(
                cast("PrunableStore", store),
                before,
                resumable=resumable,
                progress=lambda done: tell("runs", done, 0),
            )
        finally:
            await store.close()


def age(text: str) -> timedelta:
    """The time that --older-than gives; raises `ConfigError`."""
    found = re.fullmatch(r"(\d{1,6})([smhdw])", text.strip())
    if found is None:
        raise ConfigError(f"--older-than {text!r}: write a number and one of s, m, h, d, w, as in 30d")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def _print_copy(report: "CopyReport") -> None:
    columns = (
        Column(heading="part"),
        Column(heading="read", number=True),
        Column(heading="written", number=True),
        Column(heading="there", number=True),
        Column(heading="conflicts", number=True),
        Column(heading="refused", number=True),
        Column(heading="hash", spare=1),
    )
    print_table(columns, [_part_row(part) for part in report.parts])
    for part in report.parts:
        for key in part.conflicts[:_LISTED]:
            typer.echo(f"conflict: {part.part} {_named(key)}: the target has it otherwise, and keeps that", err=True)
        for key, why in [*(part.refused or {}).items()][:_LISTED]:
            typer.echo(f"refused: {part.part} {_named(key)}: {why}", err=True)
    for one in report.unreadable[:_LISTED]:
        typer.echo(f"not copied: {one}", err=True)
    if report.whole:
        typer.echo(f"whole: read back from the target, with equal hashes; vectors {report.vectors}", err=True)
    else:
        typer.echo("not whole: what is named above isn't in the target as it is in the source", err=True)


def _part_row(part: "PartReport") -> tuple[str, ...]:
    numbers = (part.read, part.written, part.there, part.conflicting, len(part.refused or {}))
    return (part.part, *map(str, numbers), part.target_hash)


def _copy_json(report: "CopyReport") -> dict[str, object]:
    parts = {
        part.part: {
            "read": part.read,
            "written": part.written,
            "there": part.there,
            "conflicts": part.conflicting,
            "conflicting": [[*key] for key in part.conflicts],
            "refused": [{"key": [*key], "why": why} for key, why in (part.refused or {}).items()],
            "source_hash": part.source_hash,
            "target_hash": part.target_hash,
        }
        for part in report.parts
    }
    return {"whole": report.whole, "vectors": report.vectors, "parts": parts, "unreadable": [*report.unreadable]}


def _facts_json(choice: StoreChoice, facts: "StoreFacts") -> dict[str, object]:
    return {
        "store": choice.shown,
        "kind": facts.kind,
        "cards": facts.total,
        "by": [
            {"tenant": tenant, "status": status, "kind": kind, "cards": number}
            for (tenant, status, kind), number in facts.cards.items()
        ],
        "blocks": facts.blocks,
        "runs": facts.runs,
        "calls": facts.calls,
        "embedder": facts.embedder,
        "schema": facts.schema,
        "bytes": facts.size,
        "indexes": [*facts.indexes],
        "notes": [*facts.notes],
    }


def _named(key: tuple[str, ...]) -> str:
    return " ".join(repr(one) for one in key)


def _told(done: object) -> str:
    if isinstance(done, str | int):
        return str(done)
    return ", ".join(map(str, cast("list[object]", done))) if isinstance(done, list | tuple) else str(done)


def _bytes(number: int) -> str:
    size, unit = float(number), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if size < 1_000:  # noqa: PLR2004 - decimal units
            break
        size, unit = size / 1_000, larger
    return f"{number} bytes" if unit == "bytes" else f"{size:.1f} {unit}"
