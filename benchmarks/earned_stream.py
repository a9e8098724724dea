"""The stream: twelve situations in varying words, mixed, and a reflector that is right once in three failures."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from earned_material import Idea, Material
from earned_session import Fate, Note, Session, Setting
from earned_stores import embedder
from earned_tables import median, share, table
from earned_world import PLAIN, Effects, World, Write

from wisen.stores.in_process.store import InMemoryVectorStore

RIGHT, HARMFUL = 0.3, -0.2
_HARMFUL_ONE_IN = 20
_RIGHT_ONE_IN = 3
_BLOCK = 1_000


@dataclass(kw_only=True)
class Streamed:
    """What a stream came to."""

    embedder: str
    pool: int
    notes: list[Note]
    fates: dict[Idea, Fate]
    heads: int
    """Ideas as wisen counts them: cards that aren't a wording of another one."""

    def promoted(self, kind: str) -> list[Fate]:
        """Of this kind."""
        return [fate for idea, fate in self.fates.items() if idea.kind == kind and fate.promoted is not None]


def planted(material: Material) -> dict[Idea, float]:
    """What the right and the harmful lesson of each situation change."""
    effects = {Idea(situation, "right"): RIGHT for situation in range(len(material))}
    return effects | {Idea(situation, "harmful"): HARMFUL for situation in range(len(material))}


def writer(material: Material, pool: int) -> Write:
    """One lesson in twenty is harmful; of the others one in three is right, and the rest is useless."""

    def write(situation: int, draw: Random) -> Idea | None:
        if draw.random() < 1 / _HARMFUL_ONE_IN:
            return Idea(situation, "harmful")
        if draw.random() < 1 / _RIGHT_ONE_IN:
            return Idea(situation, "right")
        return draw.choice(material.useless(situation, pool))

    return write


async def stream(
    material: Material, *, runs: int, pool: int, embedded: str, seed: str, tools: bool = False, replays: bool = False
) -> Streamed:
    """One stream, with every default of the real agent; with tools, two are called in every run, and a model judges."""
    vectors = embedder(embedded)
    effects = Effects(of=planted(material), worst=True)
    world = World(material=material, effects=effects, seed=seed, write=writer(material, pool))
    session = Session(
        world, Setting(open_store=lambda: InMemoryVectorStore(embedder=vectors), tools=tools, replays=replays)
    )
    mixed = Random(f"{seed} order")
    for _ in range(runs):
        await session.run(mixed.randrange(len(material)))
    cards = await session.close()
    return Streamed(
        embedder=embedded,
        pool=pool,
        notes=session.notes,
        fates=session.fates,
        heads=sum(not getattr(card, "idea", "") for card in cards),
    )


def report(streams: Sequence[Streamed]) -> list[str]:
    """The tables."""
    rows = [_row(one) for one in streams]
    head = (
        "embedder|useless ideas per situation|right promoted of 12|promoted after run (median)|"
        "runs of the situation to the verdict (median)|useless promoted|harmful promoted|"
        "runs shown a harmful lesson|ideas"
    )
    curves = [_curve(one) for one in streams] + _without(streams[0])
    blocks = max(len(one.notes) for one in streams) // _BLOCK or 1
    heads = ["first attempts that are right", *(f"runs to {_BLOCK * (n + 1):,}" for n in range(blocks))]
    return [
        table("Stream: what was promoted", head.split("|"), rows),
        table("Stream: success by block of runs", heads, curves),
    ]


def _row(one: Streamed) -> list[str]:
    right = [fate.promoted for fate in one.promoted("right") if fate.promoted is not None]
    waits = [
        _situation_runs(one.notes, idea.situation, fate)
        for idea, fate in one.fates.items()
        if idea.kind == "right" and fate.promoted is not None
    ]
    harmed = statistics.mean(any(idea.kind == "harmful" for idea in note.shown) for note in one.notes)
    return [
        one.embedder,
        str(one.pool),
        str(len(right)),
        median(right),
        median(waits),
        *(str(len(one.promoted(kind))) for kind in ("useless", "harmful")),
        share(harmed),
        f"{one.heads:,}",
    ]


def _situation_runs(notes: Sequence[Note], situation: int, fate: Fate) -> int:
    last = len(notes) if fate.promoted in (None, -1) else fate.promoted
    return sum(note.situation == situation for note in notes[fate.stored : last])


def _curve(one: Streamed) -> list[str]:
    means = [statistics.mean(bool(note.good) for note in block) for block in _blocks(one)]
    return [f"{one.embedder}, {one.pool} useless ideas", *map(share, means)]


def _without(one: Streamed) -> list[list[str]]:
    """What the same luck comes to without memory, and with the right lesson in each prompt: one for all streams."""
    lines = {"without memory": PLAIN, "right lesson always shown": PLAIN + RIGHT}
    return [
        [name, *(share(statistics.mean(note.luck < chance for note in block)) for block in _blocks(one))]
        for name, chance in lines.items()
    ]


def _blocks(one: Streamed) -> list[list[Note]]:
    return [one.notes[start : start + _BLOCK] for start in range(0, len(one.notes), _BLOCK)]
