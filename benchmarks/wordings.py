"""Counts which wordings of a lesson find their idea, and which lessons are joined that say something else.

`python benchmarks/wordings.py [--write-docs]`

Seventeen times 50 lessons in five wordings each, of which any two differ in half of their words (from the sixth set on)
or in nearly all of them (first to fifth), with 100 pairs of opposites and 100 pairs of different rules beside thirteen
of them; 50 pairs of each of nine kinds; and lessons of one situation: 20 of each of four, and short ones. Each file has
one writer, who hadn't read the rule. The wordings of a set are taught to a store in a random order.
"""

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from itertools import chain, combinations
from pathlib import Path
from random import Random
from statistics import mean
from typing import Any

from earned_material import Material, Texts
from earned_stores import embedder
from earned_tables import share, table
from report import machine, write_docs

from wisen import CardFilter, InMemoryVectorStore, MemoryCard, MemoryCI, MemoryKind
from wisen.cards import Provenance
from wisen.claims.claim import claim_of
from wisen.memory_ci.comparing import Comparer
from wisen.stores.paging import every_card

_HERE = Path(__file__).parent
_DOCS = _HERE.parent / "docs" / "measured" / "trust.md"
_SETS = {
    "first": _HERE.parent / "tests" / "identity" / "data",
    **{
        name: _HERE / "wording_texts" / name
        for name in (
            *("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
            *("eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth"),
        )
    },
}
_KINDS = {
    "a": "two rules for one thing",
    "b": "with and without a condition",
    "c": "one more number, name or date",
    "d": "opposites",
    "e": "for other objects or people",
    "f": "another unit, direction, order or actor",
    "g": "paraphrases",
    "h": "opposites that share half of their words",
    "i": "other rules that share half of their words",
}
_ORDERS = 3
_FEW = 10
"""Words of a short lesson, at most."""
_SHORT, _WORDINGS = 17, 3
"""Of the short lessons of a situation, and of the wordings of each."""
_JOINED = ("same", "idea")


def _read(place: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (place / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


class Lessons:
    """All wordings of a set, each with the number of its lesson."""

    def __init__(self, texts: Sequence[tuple[int, str]]) -> None:
        self.texts = texts
        self._embedder = embedder("minilm")

    async def submitted(self, order: Sequence[int]) -> tuple[int, int]:
        """How many wordings found their idea, and how many another one, if they are taught in this order.

        An idea is that of its first wording.
        """
        ci = MemoryCI(InMemoryVectorStore(embedder=self._embedder))
        taught = [await _taught(ci, self.texts[text][1], run=str(text)) for text in order]
        heads = {card.id: card.idea or card.id async for card in every_card(ci.store, CardFilter())}
        ideas = dict[str, int]()
        for text, card in zip(order, taught, strict=True):
            ideas.setdefault(heads[card], self.texts[text][0])
        right = sum(self.texts[text][0] == ideas[heads[card]] for text, card in zip(order, taught, strict=True))
        await ci.store.close()
        return right - len(ideas), len(order) - right

    async def in_orders(self) -> tuple[float, float]:
        """Of several random orders: the share of wordings that found their idea, and of texts that found another."""
        orders = [Random(number).sample(range(len(self.texts)), len(self.texts)) for number in range(_ORDERS)]
        counts = [await self.submitted(order) for order in orders]
        later = len(self.texts) - len({lesson for lesson, _ in self.texts})
        found, wrong = (sum(one) / len(counts) for one in zip(*counts, strict=True))
        return found / later, wrong / len(self.texts)


async def _taught(ci: MemoryCI, text: str, *, run: str) -> str:
    """The id of the card that a lesson became, or was counted on."""
    source = Provenance(run_id=run, agent="agent", created_by="reflexion")
    return (await ci.submit(MemoryCard(kind=MemoryKind.LESSON, content=text, provenance=source))).card_id


async def _row(name: str, place: Path) -> list[str]:
    lessons = [row["wordings"] for row in _read(place, "ideas")]
    texts = [(lesson, wording) for lesson, wordings in enumerate(lessons) for wording in wordings]
    pairs = {
        kind: [(row["a"], row["b"]) for row in _read(place, kind)]
        for kind in ("opposites", "different")
        if (place / f"{kind}.jsonl").exists()
    }
    relations = (await Comparer().compare(embedder("minilm"), chain(*pairs.values()))).relations
    found, wrong = await Lessons(texts).in_orders()
    joined = {kind: str(sum(relations[pair] in _JOINED for pair in some)) for kind, some in pairs.items()}
    short = [(lesson, text) for lesson, text in texts if max(len(one.split()) for one in lessons[lesson]) <= _FEW]
    common = [_in_common(*pair) for wordings in lessons for pair in combinations(wordings, 2)]
    return [
        name,
        share(mean(common)),
        share(found),
        share((await Lessons(short).in_orders())[0]) if short else "-",
        share(wrong),
        *(joined.get(kind, "-") for kind in ("opposites", "different")),
    ]


def _in_common(one: str, other: str) -> float:
    """Which share of the content words of two texts is common to both."""
    mine, others = claim_of(one).stems, claim_of(other).stems
    return 2 * len(mine & others) / (len(mine) + len(others))


async def _joined_of_a_kind() -> list[list[str]]:
    rows = _read(_HERE / "wording_texts", "pairs")
    pairs = [(row["a"], row["b"]) for row in rows]
    relations = (await Comparer().compare(embedder("minilm"), pairs)).relations
    joined = Counter(row["group"] for row, pair in zip(rows, pairs, strict=True) if relations[pair] in _JOINED)
    return [[kind, str(joined[name])] for name, kind in _KINDS.items()]


def _written(name: str) -> list[list[tuple[int, str]]]:
    """By situation, the texts of a file with the numbers of their lessons."""
    found: dict[int, list[tuple[int, str]]] = {}
    for row in _read(_HERE / "wording_texts", name):
        found.setdefault(row["situation"], []).extend((row["lesson"], text) for text in row["wordings"])
    return [*found.values()]


def _useless(texts: Texts) -> list[list[tuple[int, str]]]:
    """By situation, some of the useless lessons of earned_trust.py."""
    material, draw = Material(texts), Random("short lessons")
    return [
        [
            (idea.number, text)
            for idea in material.useless(situation, 40)[:_SHORT]
            for text in draw.sample(material.wordings(idea), _WORDINGS)
        ]
        for situation in range(len(material))
    ]


async def _of_one_situation() -> list[list[str]]:
    rows: list[list[str]] = []
    kinds = {
        "20 lessons in four wordings": _written("like_situations"),
        "15 short ones in four wordings": _written("short_lessons"),
        "17 short ones in three wordings": _useless("forms"),
        "17 short ones in three wordings, all on the same two objects": _useless("second"),
    }
    for name, situations in kinds.items():
        shares = [await Lessons(texts).in_orders() for texts in situations]
        found, wrong = (sum(one) / len(shares) for one in zip(*shares, strict=True))
        rows.append([name, str(len(situations)), share(found), share(wrong)])
    return rows


async def measured() -> str:
    """The tables."""
    rows = [await _row(name, place) for name, place in _SETS.items()]
    head = (
        "set|words in common|found their idea|of ten words at most|falsely joined|"
        "opposites of 100 joined|different of 100 joined"
    )
    sets = table("Wordings: 50 lessons of five", head.split("|"), rows)
    pairs = table("Pairs: 50 of each kind", ["pairs", "joined"], await _joined_of_a_kind())
    head = "of one situation|situations|found their idea|falsely joined"
    near = table("Lessons of one situation", head.split("|"), await _of_one_situation())
    return f"{sets}\n\n{pairs}\n\n{near}"


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write-docs", action="store_true", help=f"put the table into {_DOCS.name}")
    given = parser.parse_args()
    known = machine()
    setting = f"{known['processor']}, one core, Python {known['python']}. Command: `python benchmarks/wordings.py`."
    text = f"{setting}\n\n{asyncio.run(measured())}"
    print(text)
    if given.write_docs:
        write_docs(_DOCS, text, begin="<!-- figures: wordings.py -->")


if __name__ == "__main__":
    main()
