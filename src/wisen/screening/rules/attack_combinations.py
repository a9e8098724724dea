"""Finds concepts that make an attack together, in whatever order a sentence has them."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from wisen.screening.rules.attack_sentences import Hit, Sentences, is_told, reached, same
from wisen.screening.rules.attack_thoughts import MADE, THOUGHTS

_BEFORE = frozenset(
    {"and", "then", "always", "just", "please", "should", "must", "will", "i'll", "we'll", "simply", "better"}
    | {"can", "may", "also", "to", "instead", "now", "could", "or", "you"}
)
"""Words after which a verb is an order or a plan."""
_UNDENIED = frozenset({"NORULES", "NOTDELETE"})
"""Made classes that a prohibition before doesn't undo: it belongs to them."""
_PLACES = 30
"""Places of a concept that are looked at; more of them say no more."""


@dataclass(frozen=True, slots=True)
class Combination:
    """One line of a rule: concepts, how far they may be apart, and what must not be beside them."""

    rule: str
    weight: int
    even_if_forbidden: bool
    concepts: tuple[str, ...]
    reach: int
    across: bool
    """Whether the sentences beside count, too."""
    """The concepts, as a set."""
    needed: frozenset[str]
    """The concepts, as a set."""
    ordered: frozenset[str]
    """The concepts that have to be orders."""
    unless: tuple[str, ...]


def _parsed() -> tuple[Combination, ...]:
    found: list[Combination] = []
    for rule, lines in THOUGHTS.items():
        for line in filter(None, lines.splitlines()):
            weight, _, rest = line.partition(": ")
            wanted, _, unless = rest.partition(" ! ")
            concepts, _, reach = wanted.partition(" / ")
            found.append(
                Combination(
                    rule,
                    int(weight.rstrip("*")),
                    "*" in weight,
                    tuple(concepts.replace("@", "").split(" & ")),
                    int(reach.rstrip("+") or 0),
                    reach.endswith("+"),
                    frozenset(concepts.replace("@", "").split(" & ")),
                    frozenset(name[1:] for name in concepts.split(" & ") if name[0] == "@"),
                    tuple(filter(None, unless.split(", "))),
                )
            )
    return tuple(found)


def _made() -> dict[str, list[tuple[str, tuple[tuple[str, int], ...]]]]:
    found: defaultdict[str, list[tuple[str, tuple[tuple[str, int], ...]]]] = defaultdict(list)
    for line in filter(None, MADE.splitlines()):
        name, _, rest = line.partition(" = ")
        first, *others = rest.split()
        steps = tuple((after, int(gap)) for gap, after in zip(others[::2], others[1::2], strict=True))
        found[first].append((name, steps))
    return found


COMBINATIONS = _parsed()
EXCUSES = frozenset(name for one in COMBINATIONS for name in one.unless)
"""Classes that excuse what stands beside them."""
_MADE = _made()
_NAMES = frozenset(name for some in _MADE.values() for name, _ in some)
"""Made classes; they may share words with others."""
_BY_FIRST: defaultdict[str, list[Combination]] = defaultdict(list)
for _one in COMBINATIONS:
    _BY_FIRST[_one.concepts[0]].append(_one)


def combined(made: Sentences) -> Iterator[Hit]:
    """The combinations that a text holds, those that it forbids or reports left out."""
    _make(made)
    for first in made.classes.keys() & _BY_FIRST.keys():
        for one in _BY_FIRST[first]:
            if made.classes.keys() >= one.needed:
                yield from _held(made, one)


def _make(made: Sentences) -> None:
    """Add the classes that are made of others, where no prohibition undoes them."""
    added: defaultdict[str, set[tuple[int, int]]] = defaultdict(set)
    for first in made.classes.keys() & _MADE.keys():
        for name, steps in _MADE[first]:
            if not all(step in made.classes for step, _ in steps):
                continue
            for start, end in made.classes[first][:_PLACES]:
                last = reached(made, start, end, steps)
                if last is not None and not is_told(made, start, last, even_if_forbidden=name in _UNDENIED):
                    added[name].add((start, last))
    for name, places in added.items():
        made.add(name, places)


def _held(made: Sentences, one: Combination) -> Iterator[Hit]:
    for anchor in _places(made, one, one.concepts[0])[:_PLACES]:
        span = _span(made, one, anchor)
        if span is None:
            continue
        start, last = span
        first, after = made.sentence_of(anchor[0])
        if any(next(made.within(name, min(first, start), max(after, last)), None) for name in one.unless):
            continue
        if not is_told(made, start, last, even_if_forbidden=one.even_if_forbidden):
            yield Hit(one.rule, one.weight, made.starts[start], made.end(last - 1), one)
            return


def _places(made: Sentences, one: Combination, name: str) -> list[tuple[int, int]]:
    places = made.classes[name]
    if name not in one.ordered:
        return places
    return [place for place in places if _is_ordered(made, place[0])]


def _is_ordered(made: Sentences, word: int) -> bool:
    """Whether a verb stands where an order does: at a clause's start or after such words as "and" or "always"."""
    return word == 0 or made.words[word - 1] in _BEFORE or not same(made.clauses, word - 1, word)


def _span(made: Sentences, one: Combination, anchor: tuple[int, int]) -> tuple[int, int] | None:
    """From the first to the last word of the concepts nearest to the first named, `None` where one isn't near."""
    first, after = made.sentence_of(anchor[0])
    if one.across:
        first = made.sentence_of(max(0, first - 1))[0]
        after = made.sentence_of(after)[1] if after < len(made.words) else after
    first, after = max(first, anchor[0] - one.reach), min(after, anchor[1] + one.reach)
    taken = [] if one.concepts[0] in _NAMES else [anchor]
    for name in one.concepts[1:]:
        place = _nearest(_places(made, one, name), [] if name in _NAMES else taken, anchor[0], first, after)
        if place is None:
            return None
        taken.append(place)
    taken.append(anchor)
    return min(start for start, _ in taken), max(end for _, end in taken)


def _nearest(
    places: list[tuple[int, int]], taken: list[tuple[int, int]], at: int, first: int, after: int
) -> tuple[int, int] | None:
    best: tuple[int, int] | None = None
    for place in places[bisect_left(places, (first, 0)) : bisect_left(places, (after, 0))]:
        clear = all(place[1] <= start or place[0] >= end for start, end in taken)
        if clear and (best is None or abs(place[0] - at) < abs(best[0] - at)):
            best = place
    return best
