"""One lesson alone in one situation: how many runs it takes to a verdict, and how often the verdict is wrong."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from earned_faults import Fault
from earned_material import Idea, Material
from earned_rules import RULES
from earned_session import Session, Setting
from earned_stores import MortalStore
from earned_tables import quantiles, rate, table
from earned_world import PLAIN, Effects, World

from wisen.protocols import Embedder

EFFECTS = (0.3, 0.2, 0.0, -0.2)
_TASKS = 400
"""Of each situation, the same in all trials, so that each is embedded once."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What became of one planted idea."""

    effect: float
    promoted: int | None
    """Runs after it was stored; `None`: not promoted."""
    archived: int | None
    good: int
    """First attempts that were right, of all runs."""
    rules: tuple[bool, ...]
    """What the other rules would have done on the same runs."""
    benched: bool = False
    """Whether its trial has ended without either."""
    shown: int = 0
    held: int = 0


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
    stop: bool = True
    """End with the verdict."""


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
    for _ in range(how.runs):
        await session.run(situation)
        if how.stop and (fate.promoted is not None or fate.archived is not None):
            break
    await session.close()
    notes = session.notes[taught:]
    draws = [draw for note in notes for draw in note.draws if draw.idea == idea]
    return Trial(
        effect=how.effect,
        promoted=_after(fate.promoted, taught, len(notes)),
        archived=_after(fate.archived, taught, len(notes)),
        good=sum(bool(note.good) for note in notes),
        rules=tuple(rule(idea, notes) for rule in RULES.values()),
        benched=fate.benched,
        shown=sum(draw.shown for draw in draws),
        held=sum(not draw.shown for draw in draws),
    )


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
                for number in range(trials if not keep else max(1, trials // 2))
            ]
            rows.append(_row(effect, beside, found))
    head = (
        "effect|beside it|trials|promoted|runs to it: median (10 % to 90 %)|archived|runs to it|"
        "ended without a verdict|shown : held out"
    )
    return table(f"One situation: verdicts within {runs} runs", head.split("|"), rows)


def _row(effect: float, beside: str, found: Sequence[Trial]) -> list[str]:
    promoted = [one.promoted for one in found if one.promoted is not None]
    archived = [one.archived for one in found if one.archived is not None]
    shown, held = sum(one.shown for one in found), sum(one.held for one in found)
    return [
        f"{100 * effect:+.0f}" if effect else "0",
        beside,
        str(len(found)),
        rate(len(promoted), len(found)),
        # Undecided ones count as later than every verdict, so that the median isn't that of the lucky ones.
        quantiles([one.promoted for one in found]) if promoted else "-",
        rate(len(archived), len(found)),
        quantiles([one.archived for one in found]) if archived else "-",
        f"{sum(one.benched for one in found) / len(found):.0%}",
        f"{shown / len(found):.0f} : {held / len(found):.0f}",
    ]
