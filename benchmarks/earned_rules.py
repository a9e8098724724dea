"""Other projects' rules on the same streams of outcomes, and how well measured effects rank ideas."""

from collections.abc import Callable, Mapping, Sequence

from earned_material import Idea
from earned_session import Note

_VALIDATION = 20
_LEAD = 3
_USED = 5

Rule = Callable[[Idea, Sequence[Note]], bool]
"""Whether an idea would be accepted, after the runs of its situation."""


def score_rose(idea: Idea, runs: Sequence[Note]) -> bool:
    """Accept if the score rose, as SkillOpt-Sleep does: 20 tasks with the lesson did better than 20 without it."""
    shown = [bool(note.good) for note in runs if idea in note.shown][:_VALIDATION]
    others = [bool(note.good) for note in runs if idea not in note.shown][:_VALIDATION]
    return len(shown) == len(others) == _VALIDATION and sum(shown) > sum(others)


def above_average(idea: Idea, runs: Sequence[Note]) -> bool:
    """Success given the lesson is above the average of all runs, as NeuramineRL asks; after five uses or more."""
    shown = [bool(note.good) for note in runs if idea in note.shown]
    average = sum(bool(note.good) for note in runs) / max(1, len(runs))
    return len(shown) >= _USED and sum(shown) / len(shown) > average


def counters(idea: Idea, runs: Sequence[Note]) -> bool:
    """A counter of helpful uses and one of harmful ones: accepted as soon as the helpful ones lead by three."""
    lead = 0
    for note in runs:
        if idea in note.shown:
            lead += 1 if note.good else -1
            if abs(lead) >= _LEAD:
                return lead > 0
    return False


RULES: Mapping[str, Rule] = {
    "the score rose": score_rose,
    "above the average": above_average,
    "counters": counters,
}


def auc(scores: Mapping[Idea, float], helps: Callable[[Idea], bool]) -> float | None:
    """The chance that an idea that helps ranks before one that doesn't; ties count half. `None` without both."""
    above = [score for idea, score in scores.items() if helps(idea)]
    below = [score for idea, score in scores.items() if not helps(idea)]
    if not above or not below:
        return None
    wins = sum((one > other) + (one == other) / 2 for one in above for other in below)
    return wins / (len(above) * len(below))
