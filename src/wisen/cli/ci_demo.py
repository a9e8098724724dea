"""`wisen ci demo`: the test of cards put to the test on the bundled local model, with planted cards of known effect."""

import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wisen.cli.ci_ledger import print_ledger, print_summary, report_json
from wisen.cli.demo import (
    Families,
    OwnEmbedder,
    OwnModel,
    check_families,
    check_new,
    chosen_folder,
    open_stores,
    own_model,
)
from wisen.cli.output import Column, print_json, print_table
from wisen.cli.shared_options import OutputOptions
from wisen.errors import ConfigError

if TYPE_CHECKING:
    from wisen.experiments.planted import PlantedReport
    from wisen.replay.stages import Replayed

_TRAIN = {"tickets": 120, "dates": 60, "notes": 60}
_UNSEEN = {"tickets": 432, "dates": 240, "notes": 240}
"""Before some kinds of tasks are drawn; related tasks are what a card's test consists of."""

_Told = Callable[[str, int, "Replayed | None"], None]
"""Called after every step with the family, the training tasks done and, once testing has begun, the pair."""


def demo(
    *,
    seed: Annotated[int, typer.Option(help="Draws tasks, rules and planted cards; the same seed repeats the run.")] = 1,
    family: Families = None,
    model: OwnModel = "local",
    embedder: OwnEmbedder = "local",
    store: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="New folder to keep the stores in; by default they are temporary."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="So few cards and tasks that hardly any card can be decided: to see it run.")
    ] = False,
    output: OutputOptions,
) -> None:
    """Train on a real local model, plant harmful and empty cards among what was learned, and let the tests judge.

    Exit code: 0 if no harmful card was promoted, 1 if one was.
    """
    kept = chosen_folder(store)
    if kept is not None and kept.is_dir() and any(kept.iterdir()):
        raise ConfigError(f"--store {str(store)!r}: isn't empty; give a new folder for the demo's stores")
    names = list(dict.fromkeys(family or ["tickets", "dates"]))
    check_families(names)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="wisen-ci-") as temporary:
        folder = kept or Path(temporary)
        found = asyncio.run(_try(names, seed, (model, embedder), folder, quick=quick, quiet=output.as_json))
    seconds = time.perf_counter() - began
    if output.as_json:
        print_json(_as_json(found, seed, (model, embedder), seconds))
    else:
        for one in found:
            _print(one)
        again = f"wisen ci demo --json --seed {seed}{' --quick' if quick else ''}"
        typer.echo(f"\nDone in {seconds:.0f} s. The same as JSON: {again}")
    if any(_harmful_promoted(one) for one in found):
        raise typer.Exit(1)


async def _try(
    names: list[str], seed: int, used: tuple[str, str], folder: Path, *, quick: bool, quiet: bool
) -> "list[PlantedReport]":
    from wisen.experiments.family_audit import FAMILIES, machine  # noqa: PLC0415 - keeps `wisen --help` quick
    from wisen.experiments.planted import PlantOptions, try_planted  # noqa: PLC0415 - as above

    options = (
        PlantOptions(seed=seed, groups=2, kept=3, wrong=1, empty=1, nearest=6) if quick else PlantOptions(seed=seed)
    )
    models = [own_model(used[0], number) for number in range(len(names))]
    paths = [folder / f"ci-{name}-{seed}.db" for name in names]
    await check_new(paths)
    async with AsyncExitStack() as opened:
        stores = await open_stores(opened, paths, used[1])
        if not quiet:
            typer.echo(f"wisen ci demo: model {used[0]}, embedder {stores[0].embedder.name}, seed {seed}, {machine()}")
            lasts = "Hardly any card can be decided." if quick else "This takes some minutes."
            typer.echo(f"Task families: {', '.join(names)}, side by side. {lasts}")
        with _progress() as told:
            trials = (
                try_planted(
                    FAMILIES[name](seed, train=_TRAIN[name], test=60 if quick else _UNSEEN[name]),
                    model,
                    store,
                    options,
                    progress=lambda done, _, name=name: told(name, done, None),
                    watch=lambda pair, name=name: told(name, 0, pair),
                )
                for name, model, store in zip(names, models, stores, strict=True)
            )
            return await asyncio.gather(*trials)


@contextmanager
def _progress() -> "Generator[_Told]":
    """A line that says how far each family is, on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _name, _done, _pair: None
        return
    from rich.console import Console  # noqa: PLC0415 - only where it is seen

    said, pairs = dict[str, str](), Counter[str]()
    with Console(stderr=True).status("starting …") as spinner:

        def told(name: str, done: int, pair: "Replayed | None") -> None:
            if pair is None:
                said[name] = f"{name}: training, {done} tasks"
            else:
                pairs[name] += 1
                said[name] = f"{name}: {pairs[name]} pairs, round {pair.round}, {pair.stage}"
            spinner.update("; ".join(said.values()))

        yield told


def _print(found: "PlantedReport") -> None:
    stream = found.stream
    typer.echo(f"\n{found.family}: {stream.solved()} of {len(stream.attempts_to_success)} training tasks solved")
    print_ledger(found.report, found.cards, found.truth)
    print_summary(found.report)
    columns = (
        Column(heading="cards"),
        *(Column(heading=name, number=True) for name in ("promoted", "archived", "undecided")),
    )
    print_table(
        columns, [(sort, *(str(row[name.heading]) for name in columns[1:])) for sort, row in found.counts().items()]
    )
    typer.echo(
        "gained, lost, ties: related tasks solved with the card only, without it only, and alike. An e-value of 20 is "
        "convincing for one card; among many, promotion asks for more (e-BH)."
    )


def _harmful_promoted(found: "PlantedReport") -> bool:
    rows = found.counts()
    return any(rows[sort]["promoted"] for sort in rows if sort in ("wrong answer", "wrong form"))


def _as_json(found: "list[PlantedReport]", seed: int, used: tuple[str, str], seconds: float) -> dict[str, object]:
    from wisen.experiments.family_audit import machine  # noqa: PLC0415 - as above

    families = {
        one.family: {**report_json(one.report), "planted": dict(one.truth), "counts": one.counts()} for one in found
    }
    return {
        "seed": seed,
        "model": used[0],
        "embedder": used[1],
        "machine": machine(),
        "seconds": round(seconds, 1),
        "families": families,
    }
