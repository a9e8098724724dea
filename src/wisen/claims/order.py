"""What a text says comes first, and what later: "sign before you send", "sign first, then send"."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from wisen.claims.vocabulary import vocabulary

Meant = Literal["rule", "reason", "unreal"]
"""How words are meant: what is to be done, why, or what would happen otherwise."""
Place = Literal["earlier", "later"]
Placed = tuple[str, Place]

_AND = "and"


class Part(NamedTuple):
    """A word, value or stop of a text."""

    stem: str
    """"" where it carries nothing."""
    said: str
    meant: Meant
    is_stop: bool = False


def order_of(parts: Iterable[Part]) -> Mapping[str, Place]:
    """The place of each word or value of a rule that has one, as far as the text says no other one of it."""
    found: defaultdict[str, set[Place]] = defaultdict(set)
    for sentence in _sentences(parts):
        for stem, place in _around_a_link(sentence) or _in_a_row(sentence):
            found[stem].add(place)
    return {stem: places.pop() for stem, places in found.items() if len(places) == 1}


def _sentences(parts: Iterable[Part]) -> Iterator[list[Part]]:
    """What is said of rules, up to each stop that isn't a comma."""
    begun: list[Part] = []
    for part in parts:
        if part.is_stop and part.said != ",":
            yield begun
            begun = []
        elif part.meant == "rule":
            begun.append(part)
    yield begun


def _around_a_link(parts: Sequence[Part]) -> list[Placed]:
    """What stands on both sides of "before", "until" or "after"; "never send before signing" is "send after it"."""
    table = vocabulary()
    found = {place for place, part in enumerate(parts) if part.said in table.time_links}
    links = [place for place in found if place + 1 not in found]  # "until after" is one
    if len(links) != 1:
        return []
    link = links[0]
    denied = any(part.said in table.negators for part in parts[:link])
    end = next((place for place in range(link, len(parts)) if parts[place].said == ","), len(parts))
    begin = next((place + 1 for place in range(link, 0, -1) if parts[place].said == ","), 0)
    behind, ahead = _stems(parts[link:end]), _stems(parts[begin:link]) or _stems(parts[:begin]) or _stems(parts[end:])
    if not behind:
        return []
    if (table.time_links[parts[link].said] == "later") == denied:
        behind, ahead = ahead, behind
    return [*_all(ahead, "earlier"), *_all(behind, "later")]


def _in_a_row(parts: Sequence[Part]) -> list[Placed]:
    """What clauses in a row say: one comes first and those behind it later, or one later and those before it first."""
    table = vocabulary()
    clauses = [*_clauses(parts)]
    edges = [{clause[0].said, clause[-1].said} for clause in clauses]
    first = next((place for place, words in enumerate(edges) if not words.isdisjoint(table.first)), None)
    later = next((place for place, words in enumerate(edges) if not words.isdisjoint(table.later)), None)
    found: list[Placed] = []
    for place, clause in enumerate(clauses):
        if place == first or (first is None and later is not None and place < later):
            found += _all(_stems(clause), "earlier")
        elif (first is not None and place > first) or place == later:
            found += _all(_stems(clause), "later")
    return found


def _clauses(parts: Sequence[Part]) -> Iterator[list[Part]]:
    begun: list[Part] = []
    for part in parts:
        if part.said in {",", _AND} and begun:
            yield begun
            begun = []
        elif part.said not in {",", _AND}:
            begun.append(part)
    if begun:
        yield begun


def _stems(parts: Iterable[Part]) -> list[str]:
    table = vocabulary()
    of_time = table.time_links.keys() | table.first | table.later
    return [part.stem for part in parts if part.stem and part.said not in of_time]


def _all(stems: Iterable[str], place: Place) -> list[Placed]:
    return [(stem, place) for stem in stems]
