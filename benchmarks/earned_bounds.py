"""How often a trial is wrong where runs are lost, doubled or late because of what they were shown."""

import asyncio
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from earned_alone import Planted, Trial, alone
from earned_faults import AskedTwice, Cancelled, Fault, IdsComeBack, Killed, Late, NoScores, Raises, Restarts, Resumed
from earned_material import Material
from earned_session import can_tell_outcomes
from earned_stores import all_cards
from earned_tables import quantiles, rate, table

from wisen.cards import MemoryStatus
from wisen.protocols import Embedder
from wisen.stores.sqlite.store import SQLiteVectorStore

_WORKER = Path(__file__).with_name("earned_worker.py")
_EFFECTS = (0.3, 0.0, -0.2)

FAULTS: tuple[Callable[[], Fault], ...] = (
    Fault,
    Raises,
    Cancelled,
    Killed,
    Resumed,
    AskedTwice,
    IdsComeBack,
    Restarts,
    lambda: NoScores("20 % without a score, at random", good=0.2, failed=0.2),
    lambda: NoScores("20 % without a score, mostly failed ones", good=0.05, failed=0.28),
    lambda: NoScores("no score for failures under the idea", caused=1.0),
    Late,
)


async def report(material: Material, embedder: Embedder, *, trials: int, runs: int, seed: str) -> list[str]:
    """The table: every fault, and all of them together."""
    rows: list[list[str]] = []
    pooled: dict[float, list[Trial]] = {effect: [] for effect in _EFFECTS}
    for fault in FAULTS:
        if isinstance(fault(), Late) and not can_tell_outcomes():
            rows.append([Late.name, *["not there"] * len(_head()[1:])])
            continue
        found = await _found(material, embedder, fault, (trials, runs, seed))
        rows.append([fault().name, *_cells(found)])
        for effect, several in found.items():
            pooled[effect] += several
    rows.append(_pooled(pooled))
    return [table(f"Error bounds: one idea in one situation, within {runs} runs", _head(), rows)]


async def _found(
    material: Material, embedder: Embedder, fault: Callable[[], Fault], size: tuple[int, int, str]
) -> dict[float, list[Trial]]:
    trials, runs, seed = size
    found: dict[float, list[Trial]] = {}
    for effect in _EFFECTS:
        for number in range(trials):
            # Of each fault its own luck, so that all together are as many trials as they seem.
            mine = f"{seed} {fault().name} {effect} {number}"
            how = Planted(effect=effect, runs=runs, seed=mine, fault=fault)
            found.setdefault(effect, []).append(await alone(material, embedder, how))
    return found


def _head() -> list[str]:
    return ["fault", *(f"{_name(effect)} promoted" for effect in _EFFECTS)]


def _name(effect: float) -> str:
    return f"{100 * effect:+.0f}" if effect else "useless"


def _cells(found: dict[float, list[Trial]]) -> list[str]:
    return [f"{_promoted(found[effect])}/{len(found[effect])}" for effect in _EFFECTS]


def _pooled(found: dict[float, list[Trial]]) -> list[str]:
    return ["all together", *(rate(_promoted(found[effect]), len(found[effect])) for effect in _EFFECTS)]


def _promoted(trials: Sequence[Trial]) -> int:
    return sum(one.promoted is not None for one in trials)


async def paraphrases(material: Material, embedder: Embedder, *, trials: int, runs: int, seed: str) -> str:
    """How often one useful idea is promoted where it is stored in one, two or five wordings."""
    rows: list[list[str]] = []
    for effect, counts in ((0.3, (1, 2, 5)), (0.0, (5,))):
        for wordings in counts:
            found = [
                await alone(
                    material,
                    embedder,
                    Planted(effect=effect, runs=runs, seed=f"{seed} {effect} {number}", wordings=wordings),
                )
                for number in range(trials)
            ]
            promoted = [one.promoted for one in found]
            hits = sum(one is not None for one in promoted)
            rows.append([_name(effect), str(wordings), rate(hits, len(found)), quantiles(promoted)])
    head = ["effect", "wordings", "promoted", "runs to it: median (10 % to 90 %)"]
    return table(f"Paraphrases: one idea in several wordings, within {runs} runs", head, rows)


async def processes(material: Material, *, trials: int, runs: int, seed: str) -> str:
    """Real processes on one SQLite file: two at once, and one that is killed and started again."""
    del material
    rows: list[list[str]] = []
    for name, workers, kill in (("two processes at once", 2, False), ("killed by SIGKILL", 1, True)):
        for effect in (0.3, 0.0, -0.2):
            found = [await _on_file(workers, runs, effect, f"{seed} {number}", kill=kill) for number in range(trials)]
            promoted = sum(one is MemoryStatus.PROMOTED for one in found)
            archived = sum(one is MemoryStatus.ARCHIVED for one in found)
            rows.append([name, _name(effect), str(len(found)), str(promoted), str(archived)])
    head = ["fault", "effect", "trials", "promoted", "archived"]
    return table(f"Real processes on one SQLite file, {runs} runs", head, rows)


async def _on_file(workers: int, runs: int, effect: float, seed: str, *, kill: bool) -> MemoryStatus:
    """Where the idea stands when all runs are made."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lessons.db"
        await _work(path, effect, 0, seed, "--plant")
        more = ["--kill"] if kill else []
        each = [_work(path, effect, runs // workers, f"{seed} {number}", *more) for number in range(workers)]
        await asyncio.gather(*each)
        store = SQLiteVectorStore(path)
        cards = await all_cards(store)
        await store.close()
    return _furthest([card.status for card in cards])


async def _work(path: Path, effect: float, runs: int, seed: str, *more: str) -> None:
    asked = {"path": path, "effect": effect, "runs": runs, "seed": seed}
    options = [f"--{name}={value}" for name, value in asked.items()]
    process = await asyncio.create_subprocess_exec(sys.executable, _WORKER, *options, *more)
    if await process.wait():
        raise RuntimeError(f"{_WORKER.name} ended with {process.returncode}")


def _furthest(statuses: Sequence[MemoryStatus]) -> MemoryStatus:
    for status in (MemoryStatus.PROMOTED, MemoryStatus.ARCHIVED):
        if status in statuses:
            return status
    return MemoryStatus.QUARANTINED
