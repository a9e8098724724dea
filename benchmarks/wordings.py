"""Counts which wordings of a lesson find their idea, and which lessons are joined that say something else.

`python benchmarks/wordings.py [--write-docs]`

Five times 50 lessons in five wordings each, of which any two differ in half of their words, 100 pairs of opposites and
100 pairs of different rules; and 50 pairs of each of seven kinds, half of them in like words. Each file has one writer,
who hadn't read the rule. Each wording is compared with all that came before it, as a store would, in a random order.
"""

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from itertools import chain, combinations
from pathlib import Path
from random import Random
from typing import Any

from earned_tables import share, table
from report import machine, write_docs

from wisen.embedders.local import LocalEmbedder
from wisen.memory_ci.comparing import Compared, Comparer

_HERE = Path(__file__).parent
_DOCS = _HERE.parent / "docs" / "measured" / "trust.md"
_SETS = {
    "first": _HERE.parent / "tests" / "identity" / "data",
    **{name: _HERE / "wording_texts" / name for name in ("second", "third", "fourth", "fifth")},
}
_KINDS = {
    "a": "two rules for one thing",
    "b": "with and without a condition",
    "c": "one more number, name or date",
    "d": "opposites",
    "e": "for other objects or people",
    "f": "another unit, direction, order or actor",
    "g": "paraphrases",
}
_COSINES = (0.65,)
_ORDERS = 3
_JOINED = ("same", "idea")


def _read(place: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (place / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


class Lessons:
    """All wordings of a set."""

    def __init__(self, texts: Sequence[tuple[int, str]], compared: Compared) -> None:
        self.texts = texts
        self._compared = compared

    def submitted(self, order: Sequence[int]) -> tuple[int, int]:
        """How many wordings found their idea, and how many another one, if they come in this order."""
        ideas: list[list[int]] = []
        found = wrong = 0
        for new in order:
            best = self._best(new, ideas)
            if best is None:
                ideas.append([new])
                continue
            right = self.texts[ideas[best][0]][0] == self.texts[new][0]
            found, wrong = found + right, wrong + (not right)
            ideas[best].append(new)
        return found, wrong

    def _best(self, new: int, ideas: Sequence[Sequence[int]]) -> int | None:
        near = [(self._cosine(new, old), at) for at, idea in enumerate(ideas) for old in idea if self._joined(new, old)]
        return max(near, default=(0.0, None))[1]

    def _joined(self, one: int, other: int) -> bool:
        first, second = sorted((one, other))
        return self._compared.relations[self.texts[first][1], self.texts[second][1]] in _JOINED

    def _cosine(self, one: int, other: int) -> float:
        return self._compared.cosine(self.texts[one][1], self.texts[other][1])


async def _rows(name: str, place: Path) -> list[list[str]]:
    texts = [(row["lesson"], wording) for row in _read(place, "ideas") for wording in row["wordings"]]
    pairs = {kind: [(row["a"], row["b"]) for row in _read(place, kind)] for kind in ("opposites", "different")}
    rows: list[list[str]] = []
    for threshold in _COSINES:
        embedder = LocalEmbedder(same_meaning=threshold)
        beside = [*combinations([text for _, text in texts], 2), *chain(*pairs.values())]
        compared = await Comparer().compare(embedder, beside)
        lessons = Lessons(texts, compared)
        orders = [Random(number).sample(range(len(texts)), len(texts)) for number in range(_ORDERS)]
        counts = [lessons.submitted(order) for order in orders]
        joined = [sum(compared.relations[pair] in _JOINED for pair in pairs[kind]) for kind in pairs]
        later = len(texts) - len({lesson for lesson, _ in texts})
        rows.append(
            [
                name,
                f"{threshold:.2f}" + (" (default)" if threshold == LocalEmbedder().same_meaning else ""),
                share(sum(found for found, _ in counts) / len(counts) / later),
                share(sum(wrong for _, wrong in counts) / len(counts) / len(texts)),
                *map(str, joined),
            ]
        )
    return rows


async def _joined_of_a_kind() -> list[list[str]]:
    rows = _read(_HERE / "wording_texts", "pairs")
    pairs = [(row["a"], row["b"]) for row in rows]
    relations = (await Comparer().compare(LocalEmbedder(), pairs)).relations
    joined = Counter(row["group"] for row, pair in zip(rows, pairs, strict=True) if relations[pair] in _JOINED)
    return [[kind, str(joined[name])] for name, kind in _KINDS.items()]


async def measured() -> str:
    """The tables."""
    rows = [row for name, place in _SETS.items() for row in await _rows(name, place)]
    head = "set|same_meaning|found their idea|falsely joined|opposites of 100 joined|different of 100 joined"
    sets = table("Wordings: 50 lessons of five", head.split("|"), rows)
    return f"{sets}\n\n{table('Pairs: 50 of each kind', ['pairs', 'joined'], await _joined_of_a_kind())}"


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
