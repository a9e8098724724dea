"""Says whether trust is earned by default: useful lessons promoted by the trial alone, useless and harmful ones not.

A scripted agent works through the real `Agent` and `Reflexion(lesson_store=…)`. What its lessons do to it is known, so
that each verdict can be called right or wrong. `python benchmarks/earned_trust.py --help` lists the options;
`docs/measured/trust.md` explains what is measured.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import earned_alone
import earned_bounds
import earned_corrections
import earned_many
import earned_stream
from earned_material import Material, Texts
from earned_stores import embedder
from report import machine, write_docs

_DOCS = Path(__file__).parents[1] / "docs" / "measured" / "trust.md"
_POOLS = (6, 2, 40)


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much of a scenario is run."""

    trials: int
    runs: int


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is to be measured, and how."""

    material: Material
    size: Size
    seed: str
    embedder: str
    quick: bool
    replays: bool = False


Scenario = Callable[[Asked], Coroutine[Any, Any, list[str]]]


async def stream(asked: Asked) -> list[str]:
    """Twelve situations, with every default."""
    pools = _POOLS[:1] if asked.quick else _POOLS
    kinds = [(asked.embedder, pool) for pool in pools]
    if not asked.quick:
        kinds += [("hash" if asked.embedder == "minilm" else "minilm", _POOLS[0])]
    found = [
        await earned_stream.stream(
            asked.material,
            runs=asked.size.runs,
            pool=pool,
            embedded=name,
            seed=f"{asked.seed} {number}",
            replays=asked.replays,
        )
        for name, pool in kinds
        for number in range(asked.size.trials)
    ]
    return earned_stream.report(found)


async def tools(asked: Asked) -> list[str]:
    """The stream, where every attempt calls two tools and a model judges."""
    found = await earned_stream.stream(
        asked.material, runs=asked.size.runs, pool=_POOLS[0], embedded=asked.embedder, seed=asked.seed, tools=True
    )
    return earned_stream.report([found])


async def alone(asked: Asked) -> list[str]:
    """One lesson in one situation."""
    found = await earned_alone.verdicts(
        asked.material, embedder(asked.embedder), trials=asked.size.trials, runs=asked.size.runs, seed=asked.seed
    )
    return [found]


async def corrections(asked: Asked) -> list[str]:
    """Right and wrong ones."""
    found = earned_corrections.report(asked.material, runs=asked.size.runs, embedded=asked.embedder, seed=asked.seed)
    return [await found]


async def bounds(asked: Asked) -> list[str]:
    """Every fault."""
    return await earned_bounds.report(
        asked.material, embedder(asked.embedder), trials=asked.size.trials, runs=asked.size.runs, seed=asked.seed
    )


async def paraphrases(asked: Asked) -> list[str]:
    """One idea in several wordings."""
    found = await earned_bounds.paraphrases(
        asked.material, embedder(asked.embedder), trials=asked.size.trials, runs=asked.size.runs, seed=asked.seed
    )
    return [found]


async def processes(asked: Asked) -> list[str]:
    """Two at once, and killed ones."""
    found = earned_bounds.processes(asked.material, trials=asked.size.trials, runs=asked.size.runs, seed=asked.seed)
    return [await found]


async def many(asked: Asked) -> list[str]:
    """Two hundred ideas."""
    found = earned_many.report(
        asked.material, trials=asked.size.trials, runs=asked.size.runs, embedded=asked.embedder, seed=asked.seed
    )
    return [await found]


SCENARIOS: Mapping[str, tuple[Scenario, Size, Size]] = {
    "stream": (stream, Size(trials=1, runs=3_000), Size(trials=1, runs=600)),
    "tools": (tools, Size(trials=1, runs=3_000), Size(trials=1, runs=600)),
    "alone": (alone, Size(trials=60, runs=300), Size(trials=6, runs=150)),
    "corrections": (corrections, Size(trials=1, runs=300), Size(trials=1, runs=60)),
    "bounds": (bounds, Size(trials=60, runs=300), Size(trials=6, runs=150)),
    "paraphrases": (paraphrases, Size(trials=40, runs=300), Size(trials=6, runs=150)),
    "processes": (processes, Size(trials=10, runs=300), Size(trials=2, runs=60)),
    "many": (many, Size(trials=3, runs=3_000), Size(trials=1, runs=600)),
}
"""What is measured, how much of it, and how much of it with `--quick`."""


def main() -> None:
    """Measure and report."""
    given = _arguments()
    for name in given.scenarios or SCENARIOS:
        scenario, full, quick = SCENARIOS[name]
        usual = quick if given.quick else full
        size = Size(trials=given.trials or usual.trials, runs=given.runs or usual.runs)
        began = time.perf_counter()
        asked = Asked(
            material=Material(given.texts),
            size=size,
            seed=f"{given.seed} {name}",
            embedder=given.embedder,
            quick=given.quick,
        )
        asked = replace(asked, replays=given.replays)
        tables = asyncio.run(scenario(asked))
        text = "\n\n".join([_setting(given, name, size), *tables])
        print(text, flush=True)
        print(f"{name}: {time.perf_counter() - began:.0f} s\n", file=sys.stderr)
        if given.write_docs:
            place = f"{name}, {given.column}" if given.column else name
            write_docs(_DOCS, text, begin=f"<!-- figures: earned_trust.py {place} -->")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=f"{', '.join(SCENARIOS)}; by default all")
    parser.add_argument("--trials", type=int, default=0, metavar="N", help="how often each is repeated")
    parser.add_argument("--runs", type=int, default=0, metavar="N", help="runs of each trial")
    parser.add_argument("--seed", default="1", help="another one gives other tasks and luck (%(default)s)")
    parser.add_argument("--embedder", choices=("minilm", "hash"), default="minilm", help="%(default)s by default")
    parser.add_argument("--quick", action="store_true", help="a small part, to see that it works")
    parser.add_argument("--replays", action="store_true", help="in the stream, let recorded runs be replayed meanwhile")
    parser.add_argument(
        "--texts", choices=get_args(Texts), default="forms", help="what is asked and taught (%(default)s)"
    )
    parser.add_argument("--write-docs", action="store_true", help=f"put the tables into {_DOCS.name}")
    parser.add_argument("--column", default="", metavar="NAME", help='another place for them there, such as "before"')
    return parser.parse_args()


def _setting(given: argparse.Namespace, name: str, size: Size) -> str:
    machinery = machine()
    chosen = f" --embedder {given.embedder}" if given.embedder != "minilm" else ""
    chosen += " --replays" if given.replays else ""
    chosen += f" --texts {given.texts}" if given.texts != "forms" else ""
    chosen += f" --seed {given.seed}" if given.seed != "1" else ""
    return (
        f"{machinery['processor']}, one core, Python {machinery['python']}. Command: `python benchmarks/"
        f"earned_trust.py {name} --trials {size.trials} --runs {size.runs}{chosen}`."
    )


if __name__ == "__main__":
    main()
