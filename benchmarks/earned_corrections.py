"""Corrections: a lesson is stored, its rival with a verified source comes later, and nobody calls `correct()`."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from earned_material import Idea, Kind, Material
from earned_session import Note, Session, Setting
from earned_stores import embedder
from earned_tables import median, table
from earned_world import Effects, World

from wisen.stores.in_process.store import InMemoryVectorStore

_BEFORE = 10
"""Runs of each situation between the first lesson and its correction."""
_WORDINGS = 10


@dataclass(frozen=True, kw_only=True)
class Sort:
    """What is corrected by what."""

    name: str
    old: Kind
    new: Kind
    verified: bool
    """Whether a check taught the old one; the new one is always verified."""
    same_words: bool
    """Whether they differ in what they claim alone, or are told in other words, too."""


_SORTS = (
    Sort(name="right, of an opinion, in like words", old="wrong", new="right", verified=False, same_words=True),
    Sort(name="right, of a verified lesson, in like words", old="wrong", new="right", verified=True, same_words=True),
    Sort(name="right, of a verified lesson, in other words", old="wrong", new="right", verified=True, same_words=False),
    Sort(name="wrong, of a verified lesson, in like words", old="right", new="wrong", verified=True, same_words=True),
)


@dataclass(frozen=True, kw_only=True)
class Corrected:
    """What became of one pair of rivals."""

    first: bool
    """Whether the first run of the situation that was shown either was shown the later one."""
    new_promoted: int | None
    """Runs of the situation after the correction."""
    new_archived: bool
    old_promoted: bool
    old_archived: int | None


async def corrected(material: Material, kind: Sort, *, runs: int, embedded: str, seed: str) -> list[Corrected]:
    """Store the old one of each situation, by a check or by an opinion, then the new one by a check, and run on."""
    old, new = kind.old, kind.new
    vectors, count = embedder(embedded), len(material)
    effects = {Idea(situation, "right"): 0.3 for situation in range(count)}
    effects |= {Idea(situation, "wrong"): -0.2 for situation in range(count)}
    world = World(material=material, effects=Effects(of=effects), seed=seed, tasks=400)
    session = Session(world, Setting(open_store=lambda: InMemoryVectorStore(embedder=vectors), simulated_clock=True))
    mixed = Random(f"{seed} order")
    for situation in range(count):
        world.wording = situation % _WORDINGS
        await session.teach(Idea(situation, old), verifiable=kind.verified)
    for _ in range(min(_BEFORE, runs) * count):
        await session.run(mixed.randrange(count))
    for situation in range(count):
        world.wording = (situation + (0 if kind.same_words else 1)) % _WORDINGS
        await session.teach(Idea(situation, new))
    began = len(session.notes)
    for _ in range(runs * count):
        await session.run(mixed.randrange(count))
    await session.close()
    return [_corrected(session, situation, (old, new), began) for situation in range(count)]


def _corrected(session: Session, situation: int, kinds: tuple[Kind, Kind], began: int) -> Corrected:
    old, new = (Idea(situation, kind) for kind in kinds)
    notes = [note for note in session.notes[began:] if note.situation == situation]
    either = [note for note in notes if {old, new} & note.shown]
    fates = session.fates
    was, now = fates[old], fates.get(new)
    return Corrected(
        first=bool(either) and new in either[0].shown,
        new_promoted=_until(notes, now.promoted if now else None),
        new_archived=now is not None and now.archived is not None,
        old_promoted=was.promoted is not None,
        old_archived=_until(notes, was.archived),
    )


def _until(notes: Sequence[Note], moved: int | None) -> int | None:
    return None if moved is None else sum(note.number <= moved for note in notes) if moved >= 0 else len(notes)


async def report(material: Material, *, runs: int, embedded: str, seed: str) -> str:
    """The table."""
    rows: list[list[str]] = []
    for kind in _SORTS:
        found = await corrected(material, kind, runs=runs, embedded=embedded, seed=f"{seed} {kind.name}")
        rows.append([kind.name, *_cells(found)])
    head = "correction|shown first|promoted|after runs (median)|archived|old one archived|old one promoted"
    return table(f"Corrections: 12 of each sort, about {runs} runs per situation after it", head.split("|"), rows)


def _cells(found: Sequence[Corrected]) -> list[str]:
    return [
        str(sum(one.first for one in found)),
        str(sum(one.new_promoted is not None for one in found)),
        median([one.new_promoted for one in found if one.new_promoted is not None]),
        str(sum(one.new_archived for one in found)),
        str(sum(one.old_archived is not None for one in found)),
        str(sum(one.old_promoted for one in found)),
    ]
