"""Counts which wordings of a lesson find their idea, and which lessons are joined that say something else.

`python benchmarks/wordings.py [--write-docs]`

Three times 50 lessons in five wordings each, of which any two differ in half of their words, 100 pairs of opposites and
100 pairs of different rules, each set by a writer who hadn't read the rule. The rule was made with the first set. Each
wording is compared with all that came before it, as a store would, in an order drawn anew.
"""

import argparse
import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from earned_tables import share, table
from report import machine, write_docs

from wisen.embedders.local import LocalEmbedder
from wisen.identity import relation

_HERE = Path(__file__).parent
_DOCS = _HERE.parent / "docs" / "measured" / "trust.md"
_SETS = {
    "first": _HERE.parent / "tests" / "identity" / "data",
    **{name: _HERE / "wording_texts" / name for name in ("second", "third", "fourth", "fifth")},
}
_COSINES = (0.65,)
_ORDERS = 3
_JOINED = ("same", "idea")


def _read(place: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (place / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


class Lessons:
    """All wordings of a set, and how they stand to each other at one threshold."""

    def __init__(self, texts: Sequence[tuple[int, str]], cosines: Any, threshold: float) -> None:
        self.texts = texts
        self._cosines = cosines
        self._threshold = threshold
        self._known: dict[tuple[int, int], bool] = {}

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
        nearest = sorted(((self._cosines[new, old], at, old) for at, idea in enumerate(ideas) for old in idea))
        return next((at for _, at, old in reversed(nearest) if self._one_idea(new, old)), None)

    def _one_idea(self, one: int, other: int) -> bool:
        pair = min(one, other), max(one, other)
        if pair not in self._known:
            cosine = float(self._cosines[pair])
            said = relation(self.texts[one][1], self.texts[other][1], cosine=cosine, same_meaning=self._threshold)
            self._known[pair] = said in _JOINED
        return self._known[pair]


async def _rows(embedder: LocalEmbedder, name: str, place: Path) -> list[list[str]]:
    texts = [(row["lesson"], wording) for row in _read(place, "ideas") for wording in row["wordings"]]
    vectors = await embedder.embed([text for _, text in texts])
    pairs = {kind: _read(place, kind) for kind in ("opposites", "different")}
    near = {
        kind: [float(one @ other) for one, other in [await embedder.embed([row["a"], row["b"]]) for row in rows]]
        for kind, rows in pairs.items()
    }
    rows: list[list[str]] = []
    for threshold in _COSINES:
        lessons = Lessons(texts, vectors @ vectors.T, threshold)
        orders = [Random(number).sample(range(len(texts)), len(texts)) for number in range(_ORDERS)]
        counts = [lessons.submitted(order) for order in orders]
        joined = [
            sum(
                relation(row["a"], row["b"], cosine=cosine, same_meaning=threshold) in _JOINED
                for row, cosine in zip(pairs[kind], near[kind], strict=True)
            )
            for kind in pairs
        ]
        later = len(texts) - len({lesson for lesson, _ in texts})
        rows.append(
            [
                name,
                f"{threshold:.2f}" + (" (default)" if threshold == embedder.same_meaning else ""),
                share(sum(found for found, _ in counts) / len(counts) / later),
                share(sum(wrong for _, wrong in counts) / len(counts) / len(texts)),
                *map(str, joined),
            ]
        )
    return rows


async def measured() -> str:
    """The table."""
    embedder = LocalEmbedder()
    rows = [row for name, place in _SETS.items() for row in await _rows(embedder, name, place)]
    head = "set|same_meaning|found their idea|falsely joined|opposites of 100 joined|different of 100 joined"
    return table("Wordings: 50 lessons of five", head.split("|"), rows)


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
