"""Two hundred ideas at once in one store: false ones among the promoted, and how well measured effects rank them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from earned_material import Idea, Material
from earned_rules import RULES, auc
from earned_session import Session, Setting
from earned_stores import embedder
from earned_tables import table
from earned_world import Effects, World

from wisen.advice.rank import effect, uses
from wisen.cards import MemoryCard
from wisen.stores.in_process.store import InMemoryVectorStore

_OF_A_SITUATION = 17
_DEALT = (0.3, 0.2, 0.1, -0.1, -0.2)
"""Of each situation's ideas; the others have no effect."""
_SMALL = 0.1
"""The effect that a trial of two hundred runs mostly misses."""
_TRIED = 30
"""Runs after which an idea is ranked."""


@dataclass(frozen=True, kw_only=True)
class Many:
    """What one store came to."""

    effects: dict[Idea, float]
    decided: dict[str, set[Idea]]
    """What each rule promoted."""
    area: float | None
    """How well recall's own estimates rank ideas that help above the others."""
    without_small: float | None
    """The same, but for ideas that help by 10 points."""


async def many(material: Material, *, runs: int, in_points: bool, embedded: str, seed: str) -> Many:
    """Submit all ideas at once, and run."""
    vectors, draw = embedder(embedded), Random(seed)
    effects: dict[Idea, float] = {}
    for situation in range(len(material)):
        # Equal texts of two situations are one idea to wisen, and have one effect at most.
        own = [idea for idea in material.useless(situation, 40) if not material.told_elsewhere(idea)]
        ideas = own[:_OF_A_SITUATION]
        draw.shuffle(ideas)
        effects |= dict(zip(ideas, (*_DEALT, *[0.0] * (len(ideas) - len(_DEALT))), strict=True))
    world = World(material=material, effects=Effects(of=effects, in_points=in_points), seed=seed, tasks=400)
    setting = Setting(
        open_store=lambda: InMemoryVectorStore(embedder=vectors), keep_answers=False, simulated_clock=True
    )
    session = Session(world, setting)
    ideas = list(effects)
    draw.shuffle(ideas)
    await session.submit(ideas, draw)
    for _ in range(runs):
        await session.run(draw.randrange(len(material)))
    estimated = _estimates(await session.close(), session.cards)
    by_situation = [[note for note in session.notes if note.situation == number] for number in range(len(material))]
    decided = {"wisen": {idea for idea, fate in session.fates.items() if fate.promoted is not None}}
    for name, rule in RULES.items():
        decided[name] = {idea for idea in effects if rule(idea, by_situation[idea.situation])}
    return Many(
        effects=effects,
        decided=decided,
        area=auc(estimated, lambda idea: effects[idea] > 0),
        without_small=auc(
            {idea: value for idea, value in estimated.items() if effects[idea] != _SMALL},
            lambda idea: effects[idea] > 0,
        ),
    )


def _estimates(cards: Sequence[MemoryCard], ideas: Mapping[str, Idea]) -> dict[Idea, float]:
    """What recall takes each idea's effect to be, of those that were tried often enough."""
    found: dict[Idea, float] = {}
    for card in cards:
        for trial in card.trials if card.id in ideas else ():
            if uses(card, model=trial.model, layout=trial.layout) >= _TRIED:
                found[ideas[card.id]] = effect(card, model=trial.model, layout=trial.layout)
    return found


async def report(material: Material, *, trials: int, runs: int, embedded: str, seed: str) -> str:
    """The table."""
    rows: list[list[str]] = []
    for in_points in (True, False):
        adds = "points" if in_points else "log-odds"
        found = [
            await many(material, runs=runs, in_points=in_points, embedded=embedded, seed=f"{seed} {adds} {number}")
            for number in range(trials)
        ]
        rows += [[adds, *_row(found, name)] for name in found[0].decided if in_points or name == "wisen"]
    head = (
        f"effects add in|rule|+30 promoted of {12 * trials}|+20|+10|useless of {144 * trials}|harmful of {24 * trials}|"
        "false|AUC|AUC without +10"
    )
    return table(f"Some 200 ideas at once: {trials} stores of {runs:,} runs", head.split("|"), rows)


def _row(found: Sequence[Many], name: str) -> list[str]:
    effects = [(one, idea, effect) for one in found for idea, effect in one.effects.items()]

    def promoted(wanted: Sequence[float]) -> str:
        return str(sum(idea in one.decided[name] for one, idea, effect in effects if effect in wanted))

    chosen = [effect for one, idea, effect in effects if idea in one.decided[name]]
    false = sum(effect <= 0 for effect in chosen)
    areas = [[one.area for one in found], [one.without_small for one in found]]
    return [
        name,
        *(promoted((effect,)) for effect in (0.3, 0.2, 0.1, 0.0)),
        promoted((-0.1, -0.2)),
        f"{false / len(chosen):.0%}" if chosen else "-",
        *(_mean(some) if name == "wisen" else "" for some in areas),
    ]


def _mean(areas: Sequence[float | None]) -> str:
    known = [area for area in areas if area is not None]
    return f"{sum(known) / len(known):.3f}" if known else "-"
