"""One lesson alone in one situation: how many runs it takes to a verdict, and how often the verdict is wrong."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from earned_faults import Fault
from earned_material import Idea, Material
from earned_session import Session, Setting
from earned_stores import MortalStore
from earned_tables import quantiles, rate, table
from earned_world import PLAIN, Effects, World

from wisen.protocols import Embedder

EFFECTS = (0.3, 0.2, 0.0, -0.2)
_TASKS = 400
"""Of each situation, the same in all trials, so that each is embedded once."""
_LOOKED = 20
"""After so many runs again, whether the trial has ended."""
_OFTEN = 5
"""So many times the trials, of a useless idea alone: how rarely it is promoted is what is promised."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What became of one planted idea."""

    effect: float
    promoted: int | None
    """Runs after it was stored; `None`: not promoted."""
    benched: bool = False
    """Whether its trial has ended without either."""


@dataclass(frozen=True, kw_only=True)
class Planted:
    """How one idea is tried."""

    effect: float
    runs: int
    seed: str
    fault: Callable[[], Fault] = Fault
    wordings: int = 1
    """How many failures write it down at the start, each in a wording of its own."""
    keep_answers: bool = False
    base: float = PLAIN


async def alone(material: Material, embedder: Embedder, how: Planted) -> Trial:
    """Plant an idea in one situation, and run."""
    situation = sum(map(ord, how.seed)) % len(material)
    # What it says decides nothing but how it is told from others; the useless ones have no rival.
    idea = Idea(situation, "right")
    world = World(
        material=material,
        effects=Effects(of={idea: how.effect}, base=how.base),
        seed=how.seed,
        fault=how.fault(),
        tasks=_TASKS,
    )
    setting = Setting(
        open_store=lambda: MortalStore(embedder=embedder), keep_answers=how.keep_answers, simulated_clock=True
    )
    session = Session(world, setting)
    while len(session.cards) < how.wordings:
        await session.teach(idea)
    taught, fate = len(session.notes), session.fates[idea]
    for number in range(1, how.runs + 1):
        await session.run(situation)
        if fate.promoted is not None or fate.archived is not None:
            break
        if number % _LOOKED == 0 and await session.benched(idea):  # nothing promotes it any more
            break
    await session.close()
    promoted = _after(fate.promoted, taught, len(session.notes) - taught)
    return Trial(effect=how.effect, promoted=promoted, benched=fate.benched)


def _after(moved: int | None, taught: int, runs: int) -> int | None:
    if moved is None:
        return None
    return runs if moved < 0 else moved - taught + 1


async def verdicts(material: Material, embedder: Embedder, *, trials: int, runs: int, seed: str) -> str:
    """The table."""
    rows: list[list[str]] = []
    for keep, beside in ((False, "nothing"), (True, "accepted answers")):
        for effect in EFFECTS:
            found = [
                await alone(
                    material,
                    embedder,
                    Planted(effect=effect, runs=runs, seed=f"{seed} {effect} {number}", keep_answers=keep),
                )
                for number in range(_trials(trials, effect, keep=keep))
            ]
            rows.append(_row(effect, beside, found))
    head = "effect|beside it|trials|promoted|runs to it: median (10 % to 90 %)"
    return table(f"One situation: verdicts within {runs} runs", head.split("|"), rows)


def _trials(usual: int, effect: float, *, keep: bool) -> int:
    if keep:
        return max(1, usual // 2)
    return usual if effect else _OFTEN * usual


def _row(effect: float, beside: str, found: Sequence[Trial]) -> list[str]:
    promoted = [one.promoted for one in found if one.promoted is not None]
    return [
        f"{100 * effect:+.0f}" if effect else "0",
        beside,
        str(len(found)),
        rate(len(promoted), len(found)),
        # Undecided ones count as later than every verdict, so that the median isn't that of the lucky ones.
        quantiles([one.promoted for one in found]) if promoted else "-",
    ]
