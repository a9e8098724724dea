"""The texts of earned_trust.py: tasks in varying words, and lessons each in ten wordings, from the files beside it."""

import tomllib
from calendar import month_name
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal

Kind = Literal["right", "wrong", "harmful", "useless", "answer"]
"""What a lesson is: "wrong" is the right one's rival, and "answer" an accepted answer that was kept as a card."""

Texts = Literal["forms", "requests", "second"]
"""Which texts: the first twelve situations, whose tasks have eight forms each; the same with 36 freely written requests
each; or twelve others, with lessons whose wordings share half of their words, and 24 requests each, all with an aside.
"""

_TEXTS = Path(__file__).parent / "earned_texts"
_PARTS = 3
_BEHIND = 0.5
"""How often an aside stands behind the task."""


@dataclass(frozen=True, slots=True)
class Idea:
    """One claim about one situation; its wordings are `Material.wordings`."""

    situation: int
    kind: Kind
    number: int = 0


class Material:
    """All situations, and the lessons that can be written about them."""

    def __init__(self, texts: Texts = "forms") -> None:
        """Read the texts."""
        place = _TEXTS / "second" if texts == "second" else _TEXTS
        read = _read(place, "situations.toml")
        self._situations: list[Mapping[str, Any]] = read["situation"]
        requests = _read(place, "free_requests.toml") if texts == "requests" else read
        self._forms: list[list[str]] = [situation["tasks"] for situation in requests["situation"]]
        self._names: list[str] = read["names"]
        self._cities: list[str] = read["cities"]
        self._asides: list[str] = read.get("asides", [])
        self._useless: list[Mapping[str, Any]] = _read(place, "useless.toml")["idea"]
        self._known: dict[tuple[int, str], Idea] = {}
        for situation in range(len(self._situations)):
            named = [Idea(situation, kind) for kind in ("right", "wrong", "harmful")]
            for idea in (*named, *self.useless(situation, 40)):
                self._known.update(dict.fromkeys(((situation, text) for text in self.wordings(idea)), idea))

        places = Counter(text for _, text in self._known)
        self._elsewhere = {text for text, count in places.items() if count > 1}

    def __len__(self) -> int:
        """How many situations there are."""
        return len(self._situations)

    def task(self, situation: int, draw: Random) -> str:
        """A task of this situation in one of its forms, with names and numbers drawn anew."""
        day, month, year = draw.randint(1, 12), draw.randint(1, 12), draw.randint(2019, 2026)
        slots = {
            "order": draw.randint(10_000, 99_999),
            "name": draw.choice(self._names),
            "city": draw.choice(self._cities),
            "amount": draw.randint(11, 990),
            "weight": f"{draw.randint(1, 19)}.{draw.randint(1, 9)}",
            "date": f"{day} {month_name[month]} {year}",
            "dotted": f"{day:02}.{month:02}.{year}",
            "month": f"{month_name[month]} {year}",
            "clock": f"{draw.randint(8, 17)}:{draw.choice(('00', '15', '30', '45'))}",
            "stamp": draw.randint(100_000, 999_999),
        }
        task = draw.choice(self._forms[situation]).format(**slots)
        if not self._asides:
            return task
        said = [task, draw.choice(self._asides)]
        return " ".join(said if draw.random() < _BEHIND else reversed(said))

    def useless(self, situation: int, count: int) -> list[Idea]:
        """A situation's plausible lessons without use: up to 40, of which neighbouring situations share some."""
        own = [(2 * situation + place) % len(self._useless) * _PARTS for place in range(len(self._useless))]
        more = [number + part for part in range(1, _PARTS) for number in own if self._has_parts(number)]
        return [Idea(situation, "useless", number) for number in (*own, *more)[:count]]

    def told_elsewhere(self, idea: Idea) -> bool:
        """Whether a lesson of another situation is put in the very words of this idea."""
        return any(text in self._elsewhere for text in self.wordings(idea))

    def wordings(self, idea: Idea) -> list[str]:
        """How different people put it."""
        where = self._situations[idea.situation]
        if idea.kind == "useless":
            number, part = divmod(idea.number, _PARTS)
            words = {"thing": where["thing"], "answer": where["answer"], "part": where["parts"][part]}
            texts: Sequence[str] = self._useless[number]["wordings"]
            return [text.format(**words) for text in texts if not part or "{part}" in text]
        if idea.kind == "harmful":
            return list(where["harmful"])
        value = where["wrong" if idea.kind == "wrong" else "value"]
        return [text.format(value=value) for text in where["right"]]

    def idea(self, situation: int, text: str) -> Idea | None:
        """Whose wording a text is."""
        return self._known.get((situation, text))

    def _has_parts(self, number: int) -> bool:
        return "{part}" in "".join(self._useless[number // _PARTS]["wordings"])


def _read(place: Path, name: str) -> dict[str, Any]:
    return tomllib.loads((place / name).read_text(encoding="utf-8"))
