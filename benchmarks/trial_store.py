"""A store whose reflector teaches useful, useless and harmful lessons after failures, and what becomes of them."""

from collections import Counter
from dataclasses import dataclass, field
from random import Random

from wisen.memory_ci.sequence_numbers import cohort_of
from wisen.memory_ci.trial import (
    TrialRule,
    base_rate,
    began,
    begins,
    counted,
    decided,
    priority,
    propensity,
)
from wisen.memory_ci.verdicts import bar, verdict
from wisen.trial_records import OpenDraw, Trial

_BASE, _LIFT, _HARM = 0.35, 0.3, -0.2


@dataclass(frozen=True, kw_only=True)
class World:
    """What the reflector writes, and how its ideas are put in order."""

    pool: int = 20
    """Useless lessons of a situation that it chooses from."""
    right: float = 1 / 3
    """How often it writes the right lesson."""
    wrong: float = 0.05
    """How often it writes a harmful one."""
    joined: float = 0.3
    """How many of the useful idea's wordings the embedder knows as such."""
    apart: int = 6
    """Its other wordings, which are ideas of their own."""
    unknown: float = 0.0
    order: str = ""
    """"" is `priority`; else "first" or "newest"."""
    side_by_side: bool = False
    """Whether wordings of the useful idea are tried at once, and hide each other; wisen tries none that share words.
    """
    alike: bool = False
    """Whether every idea needs the same e-value, however many are tried."""
    situations: int = 12


@dataclass(kw_only=True)
class Idea:
    """One idea of a situation."""

    kind: str
    taught: int
    """In which run first."""
    last: int = 0
    told: int = 0
    trial: Trial = field(default_factory=Trial)


@dataclass(kw_only=True)
class Life:
    """What became of a store."""

    good: int = 0
    begun: int = 0
    promoted: int = 0
    promoted_of: Counter[int] = field(default_factory=Counter[int])
    """By the cohorts of their trials."""
    false: int = 0
    harmful: int = 0
    useful: int = 0
    promoted_after: list[int] = field(default_factory=list[int])


def lived(world: World, rule: TrialRule, runs: int, chance: Random) -> Life:
    """Let a store live through so many runs."""
    life, ideas = Life(), [dict[str, Idea]() for _ in range(world.situations)]
    useful, order = set[int](), list[int]()
    for run in range(runs):
        if not order:
            order = chance.sample(range(world.situations), world.situations)
        place = order.pop()
        mine = ideas[place]
        shown, drawn = _drawn(mine, world, rule, life, chance)
        kinds = {idea.kind for idea in shown}
        rate = _BASE + _LIFT * ("useful" in kinds) + _HARM * ("harmful" in kinds)
        good = chance.random() < rate
        life.good += good
        outcome = None if chance.random() < world.unknown else good
        for idea, draw in drawn:
            idea.trial = counted(idea.trial, draw, outcome)
            number, cohort = idea.trial.number, cohort_of(idea.trial.number)
            needed = rule.promote_at if world.alike else bar(number, life.promoted_of[cohort], rule)
            said = verdict(idea.trial, rule, at=needed)
            new = said == "helps" and idea.trial.stage == "on trial"
            idea.trial = decided(idea.trial, said)
            if new:
                life.promoted += 1
                life.promoted_of[cohort] += 1
                life.false += idea.kind != "useful"
                life.harmful += idea.kind == "harmful"
                if idea.kind == "useful" and place not in useful:
                    useful.add(place)
                    life.promoted_after.append(run // world.situations)
        if not good:
            _teach(mine, world, run, chance)
    life.useful = len(useful)
    return life


def _drawn(
    mine: dict[str, Idea], world: World, rule: TrialRule, life: Life, chance: Random
) -> tuple[list[Idea], list[tuple[Idea, OpenDraw]]]:
    waiting = [idea for idea in mine.values() if idea.trial.stage in ("waiting", "on trial")]
    base = base_rate(idea.trial for idea in waiting)
    waiting.sort(key=lambda idea: _rank(idea, world, base), reverse=True)
    if not world.side_by_side:
        useful = next((idea for idea in waiting if idea.kind == "useful"), None)
        waiting = [idea for idea in waiting if idea is useful or idea.kind != "useful"]
    taking_part = waiting[: rule.at_once]
    taking_part += [idea for idea in mine.values() if idea.trial.stage in ("promoted", "recheck")]
    shown: list[Idea] = []
    drawn: list[tuple[Idea, OpenDraw]] = []
    for idea in taking_part:
        if begins(idea.trial, rule):
            life.begun += 1
            idea.trial = began(idea.trial, life.begun)
        share = propensity(idea.trial, rule)
        draw = OpenDraw(shown=chance.random() < share, propensity=share)
        drawn.append((idea, draw))
        if draw.shown:
            shown.append(idea)
    return shown, drawn


def _rank(idea: Idea, world: World, base: float) -> tuple[float, int]:
    match world.order:
        case "first":
            return 0.0, -idea.taught
        case "newest":
            return 0.0, idea.last
        case _:
            return priority(idea.trial, told=idea.told, base=base), idea.last


def _teach(mine: dict[str, Idea], world: World, run: int, chance: Random) -> None:
    luck = chance.random()
    if luck < world.right:
        apart = 0 if chance.random() < world.joined else chance.randint(1, world.apart)
        name, kind = f"useful {apart}", "useful"
    elif luck < world.right + world.wrong:
        name, kind = "harmful", "harmful"
    else:
        name, kind = f"useless {chance.randrange(world.pool)}", "useless"
    idea = mine.setdefault(name, Idea(kind=kind, taught=run))
    idea.told, idea.last = idea.told + 1, run
