"""`wisen demo`: an agent learns on the bundled local model, and the controls say whether it did."""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from wisen import models
from wisen.cli.model_choice import find_model
from wisen.cli.output import Column, print_table
from wisen.cli.store_choice import StoreChoice, check_embedder, named_embedder, reading
from wisen.errors import ConfigError, StoreError
from wisen.explain.card_facts import trial_word
from wisen.recall import CardFilter

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from rich.console import Console
    from rich.table import Table

    from wisen.experiments.family_audit import FamilyAudit, StepProgress
    from wisen.experiments.one_customer import TrialReport
    from wisen.experiments.stream import AuditOptions
    from wisen.stores.sqlite.store import SQLiteVectorStore

TRIAL: Final = "trial"
_COLUMNS = (
    Column(heading="idea"),
    Column(heading="now"),
    Column(heading="good, shown", number=True),
    Column(heading="good, held out", number=True),
)
_WORDS = {
    "none": "no memory",
    "placebo": "empty placebo",
    "random": "random cards",
    "shuffled": "shuffled",
    "memory": "MEMORY",
    "tfidf_shown": "TF-IDF cards",
    "copy": "copy *",
    "tfidf": "TF-IDF copy *",
    "smart_copy": "smart copy *",
}


Families = Annotated[
    list[str] | None,
    typer.Option(
        "--family",
        metavar="NAME",
        help="Task family: tickets, dates or notes; may be given several times.",
    ),
]
OwnModel = Annotated[
    str, typer.Option("--model", metavar="NAME", help="Model name, such as local, local:gemma3 or local:/path/to.gguf.")
]
OwnEmbedder = Annotated[
    str, typer.Option("--embedder", metavar="NAME", help="Embedder for recall: local, hash, or provider:name@768.")
]


def demo(
    *,
    seed: Annotated[
        int, typer.Option(help="Draws tasks, house rules and controls; the same seed repeats the run.")
    ] = 1,
    family: Families = None,
    model: OwnModel = "local",
    embedder: OwnEmbedder = "local",
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="New folder to keep the demo's SQLite stores in; by default they are temporary."
        ),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where the learning curves go as SVG; by default to a new file, whose path is printed."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> None:
    """Show an agent learning on a real local model, beside controls that say whether memory helped.

    First comes one customer's messages in a row, with harm planted: which ideas earn trust, and when. Then three
    families of tasks, each in all arms. With --family, only the families named are run; the name "trial" stands for the
    one customer.
    """
    folder = chosen_folder(store)
    if svg is not None and not svg.expanduser().parent.is_dir():
        raise ConfigError(f"--svg {str(svg)!r}: its folder doesn't exist; make it, or give another")
    svg = None if svg is None else svg.expanduser()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="wisen-demo-") as temporary:
        trial, audits = asyncio.run(
            _found(
                list(dict.fromkeys(family or [TRIAL, "tickets", "dates", "notes"])),
                seed,
                (model, embedder),
                folder or Path(temporary),
                quiet=as_json,
            )
        )
    seconds = time.perf_counter() - began
    drawn = _drawn(trial, audits, svg, folder)
    if as_json:
        found = {**_as_json(trial, audits, seed, (model, embedder), seconds), "svg": str(drawn)}
        typer.echo(json.dumps(found, indent=2))
    else:
        typer.echo(f"\nThe learning curves as a picture: {drawn}")
        typer.echo(f"\nDone in {seconds:.0f} s. The same figures as JSON: wisen demo --json --seed {seed}")


async def _found(
    names: list[str], seed: int, used: tuple[str, str], folder: Path, *, quiet: bool
) -> "tuple[TrialReport | None, list[FamilyAudit]]":
    """Run all parts side by side, each on a model and a store of its own."""
    from wisen.experiments.family_audit import machine  # noqa: PLC0415 - keeps `wisen --help` quick
    from wisen.experiments.stream import AuditOptions  # noqa: PLC0415 - as above

    check_families(names, besides=(TRIAL,))
    models = [own_model(used[0], number) for number in range(len(names))]
    paths = [folder / f"demo-{name}-{seed}.db" for name in names]
    await check_new(paths)
    async with AsyncExitStack() as opened:
        stores = await open_stores(opened, paths, used[1])
        if not quiet:
            typer.echo(f"wisen demo: model {used[0]}, embedder {stores[0].embedder.name}, seed {seed}, {machine()}")
            typer.echo(f"{', '.join(names)}, side by side. This takes some minutes; verdicts are told as they fall.")
        said = _nothing_said if quiet else typer.echo
        with _progress() as progress:
            parts = [
                _Part(
                    name=name, model=model, store=store, options=AuditOptions(seed=seed), progress=progress, said=said
                )
                for name, model, store in zip(names, models, stores, strict=True)
            ]
            trials = asyncio.gather(*(part.trial() for part in parts if part.name == TRIAL))
            audits = asyncio.gather(*(part.audit() for part in parts if part.name != TRIAL))
            watched, found = await asyncio.gather(trials, audits)
    trial = watched[0] if watched else None
    if not quiet:
        if trial is not None:
            print_trial(trial)
        for one in found:
            _print(one)
    return trial, found


def _nothing_said(_text: str) -> None:
    """Where JSON alone is printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A part of the demo with what it is run on."""

    name: str
    model: "Model"
    store: "SQLiteVectorStore"
    options: "AuditOptions"
    progress: "StepProgress"
    said: Callable[[str], None]

    async def trial(self) -> "TrialReport":
        from wisen.experiments.one_customer import watch_trial  # noqa: PLC0415 - as above

        return await watch_trial(self.model, self.store, self.options, self._step, self._tell)

    async def audit(self) -> "FamilyAudit":
        from wisen.experiments.family_audit import audit_family  # noqa: PLC0415 - as above

        return await audit_family(
            self.name,
            self.model,
            self.store,
            self.options,
            self.progress,
            lambda fallen: self._tell(f"run {fallen.run}: {fallen.text}"),
        )

    def _step(self, label: str) -> Callable[[int, int], None]:
        return lambda done, of: self.progress(f"{self.name}: {label}", done, of)

    def _tell(self, text: str) -> None:
        self.said(f"{self.name}: {text}")


def _drawn(trial: "TrialReport | None", audits: "list[FamilyAudit]", svg: Path | None, folder: Path | None) -> Path:
    """Write the learning curves; gives the file's path."""
    from wisen.experiments.curve import svg as picture  # noqa: PLC0415 - as above

    path = svg or (folder or Path(tempfile.mkdtemp(prefix="wisen-demo-"))) / "learning-curves.svg"
    curves = {} if trial is None else {"one customer": trial.curves}
    path.write_text(picture({**curves, **{audit.family: audit.curves for audit in audits}}), encoding="utf-8")
    return path


def chosen_folder(store: Path | None) -> Path | None:
    """The folder for a demo's stores, where one is asked for; refuses a file."""
    folder = None if store is None else store.expanduser()
    if folder is not None and folder.is_file():
        raise ConfigError(f"--store {str(store)!r}: is a file; give a folder for the demo's stores")
    return folder


def check_families(names: list[str], *, besides: tuple[str, ...] = ()) -> None:
    """Refuse families that there aren't; `besides` are other parts that may be named."""
    from wisen.experiments.family_audit import FAMILIES  # noqa: PLC0415 - as above

    for name in names:
        if name not in FAMILIES and name not in besides:
            there = ", ".join((*besides, *FAMILIES))
            raise ConfigError(f"--family {name!r}: no such task family; there are: {there}")


async def check_new(paths: list[Path]) -> None:
    """Refuse stores that hold cards, which would count as learned."""
    for path in paths:
        choice = StoreChoice(url=str(path), why="--store")
        if choice.exists:
            async with reading(choice) as store:
                filled = await store.count(CardFilter())
            if filled:
                raise StoreError(f"store {str(path)!r} holds cards of an earlier demo; give a new folder")


async def open_stores(opened: AsyncExitStack, paths: list[Path], embedder_name: str) -> "list[SQLiteVectorStore]":
    """The stores, on an embedder that was asked for a vector once."""
    from wisen.stores.sqlite.store import SQLiteVectorStore  # noqa: PLC0415 - as above

    embedder, _ = named_embedder(embedder_name)
    await check_embedder(embedder, embedder_name)
    return [await opened.enter_async_context(SQLiteVectorStore(path, embedder=embedder)) for path in paths]


def own_model(name: str, number: int) -> "Model":
    """A model for one family alone, so that the same seed gives the same answers while others are asked."""
    provider, _, weights = name.partition(":")
    if provider == "local":
        find_model(name)
        return models.LocalModel(weights or None, slots=1, context=2048, replica=number)
    return models.resolve_model(name)


@contextmanager
def _progress() -> "Generator[StepProgress]":
    """A live bar with rate and remaining time on a terminal; nothing where the output goes elsewhere."""
    from rich.console import Console  # noqa: PLC0415 - as above
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    console = Console(file=sys.stderr)
    columns = (TextColumn("{task.description:32}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
        known: dict[str, Any] = {}

        def show(step: str, done: int, of: int) -> None:
            if step not in known:
                known[step] = bars.add_task(step, total=of)
            bars.update(known[step], completed=done)

        yield show


def _print(audit: "FamilyAudit") -> None:
    """Two tables that fit a terminal of 80 columns."""
    from rich.console import Console  # noqa: PLC0415 - as above

    console = Console()
    console.print(f"\n{audit.family}: a stream of tasks, right at the first try")
    stream = _table("", "first third", "second", "last third", "solved", "tokens", "seconds")
    for label, report in (("no memory", audit.stream_without), ("memory", audit.stream_with)):
        third = len(report.attempts_to_success) // 3
        cells = [f"{right}/{third}" for right in report.first_try_by_third()]
        solved = f"{report.solved()}/{len(report.attempts_to_success)}"
        stream.add_row(label, *cells, solved, f"{report.tokens:,}", f"{report.seconds:.0f}")
    console.print(stream)
    tries = audit.stream_with.max_attempts
    console.print(f"With memory a task has up to {tries} tries. Without, it has one, since nothing would be kept.")
    _print_learning(audit, console)
    tasks = len(audit.arms["memory"].outcomes)
    console.print(f"\n{audit.family}: {tasks} unseen tasks, one try each, {audit.cards} cards frozen")
    table = _table("arm", "right", "gains", "loses", "p", "e-value", "tokens", "seconds")
    for name, arm in audit.arms.items():
        against = audit.comparisons.get(name)
        paired = ("", "", "", "")
        if against is not None:
            paired = (str(against.gained), str(against.lost), f"{against.p_value:.2g}", f"{against.e_value:.3g}")
        row = (_WORDS[name], f"{arm.passed}/{tasks}", *paired, f"{arm.tokens:,}", f"{arm.seconds:.0f}")
        table.add_row(*row, style="bold" if name == "memory" else None)
    console.print(table)
    console.print("gains, loses, p, e: memory against this arm, on the tasks where they differ. *: no model is asked.")
    for line in audit.findings():
        console.print(line)


def _print_learning(audit: "FamilyAudit", console: "Console") -> None:
    """The learning curve, and what the live trial did meanwhile."""
    from wisen.experiments.curve import curve_lines  # noqa: PLC0415 - as above

    for line in curve_lines(audit.curves):
        console.print(line)
    trust = audit.stream_with.trust
    fell = f"{len(trust.verdicts)} verdicts fell" if trust.verdicts else "no verdict fell, since situations are many"
    console.print(
        f"On trial, as by default: {trust.shown} draws showed what was kept, {trust.held_out} held it out; {fell}."
    )


def _table(first: str, *others: str) -> "Table":
    from rich import box  # noqa: PLC0415 - as above
    from rich.table import Table  # noqa: PLC0415 - as above

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(first, no_wrap=True)
    for heading in others:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _as_json(
    trial: "TrialReport | None", audits: "list[FamilyAudit]", seed: int, used: tuple[str, str], seconds: float
) -> dict[str, Any]:
    from wisen.experiments.family_audit import machine  # noqa: PLC0415 - as above

    return {
        "seed": seed,
        "model": used[0],
        "embedder": used[1],
        "machine": machine(),
        "seconds": round(seconds, 1),
        TRIAL: None if trial is None else trial.as_json(),
        "families": {audit.family: audit.as_json() for audit in audits},
    }


def print_trial(report: "TrialReport") -> None:
    """The learning curve, the verdicts, and how far each idea came."""
    from wisen.experiments.curve import curve_lines  # noqa: PLC0415 - keeps `wisen --help` quick

    typer.echo(f"\n{TRIAL}: {report.customer}, {len(report.stream_with.first_try)} messages, with harm planted")
    for line in curve_lines(report.curves):
        typer.echo(line)
    for verdict in report.verdicts or ["no verdict fell"]:
        typer.echo(f"Verdict: {verdict}")
    rows = [
        (
            one.what,
            trial_word(one.trial, report.promoted),
            f"{one.shown_good} of {one.shown}",
            f"{one.held_out_good} of {one.held_out}",
        )
        for one in report.ideas
    ]
    print_table(_COLUMNS, rows)
