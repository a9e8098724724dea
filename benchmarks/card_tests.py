"""Tries wisen's tests of cards on planted ones, whose effects are known, beside other rules on the same streams.

`python benchmarks/card_tests.py --help` lists the options; `docs/measured/evidence.md` explains what is measured.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from card_rules import RULES, e_values
from card_streams import Floats, Ints, Pairs, replayed, room
from report import machine, write_docs

from wisen.memory_ci.statistics import e_bh

_ROOT = Path(__file__).parents[1]
_DOCS = _ROOT / "docs" / "measured" / "evidence.md"
_BEGIN = "<!-- figures: written by benchmarks/card_tests.py --write-docs -->"
_BASES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_SHOWN = (0.05, 0.1, 0.3, 0.5, 0.9)
"""Base rates that have a row of their own."""
_EFFECTS = (0.0, 0.1, 0.2, 0.3, -0.1, -0.2)
_CORRELATIONS = (0.0, 0.6)
_PAIRS = 300
_CARDS, _COLLECTIONS = 2000, 100
_COLLECTION, _USEFUL, _LOOK = 200, (0.1, 0.3, 0.5), 10
_HARMFUL = 0.3
_SEED = 5


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What a rule did to the cards of one base rate, effect and correlation."""

    base: float
    effect: float
    promoted: float
    archived: float
    median: float
    """Pairs until the promoted ones were."""

    @property
    def capped(self) -> bool:
        """Whether the rate's end at 0 or 1 left less than the effect."""
        return abs(room(self.base, self.effect) - self.effect) > 1e-9  # noqa: PLR2004 - floats


Cells = dict[str, list[Cell]]


def main() -> None:
    """Measure and report."""
    asked = _arguments()
    began = time.perf_counter()
    parts = [_setting(asked)]
    arms = [planted(asked.cards, correlation) for correlation in _CORRELATIONS]
    parts += [
        f"**One card at a time: independent arms, correlated arms (worst base rate of both)**\n\n{_by_rule(arms)}"
    ]
    parts += [f"**wisen by base rate: independent arms, correlated arms**\n\n{_by_base(arms)}"]
    shares = ", ".join(f"{useful:.0%}" for useful in _USEFUL)
    parts += [f"**Many cards at once, {shares} of them useful**\n\n{_collections(asked.collections)}"]
    text = "\n\n".join(parts)
    print(text)
    print(f"\n{time.perf_counter() - began:.0f} s", file=sys.stderr)
    if asked.write_docs:
        write_docs(_DOCS, text, begin=_BEGIN)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default, what in (
        ("cards", _CARDS, "cards for each base rate and effect"),
        ("collections", _COLLECTIONS, f"collections of {_COLLECTION} cards for each share of useful ones"),
    ):
        parser.add_argument(f"--{name}", type=int, default=default, metavar="N", help=f"{what} (%(default)s)")
    parser.add_argument("--write-docs", action="store_true", help=f"put the tables into {_DOCS.name}")
    return parser.parse_args()


def _setting(asked: argparse.Namespace) -> str:
    machinery = machine()
    sizes = {"cards": _CARDS, "collections": _COLLECTIONS}
    changed = "".join(
        f" --{name} {getattr(asked, name)}" for name, usual in sizes.items() if getattr(asked, name) != usual
    )
    return (
        f"{machinery['processor']}, one core, Python {machinery['python']}. {asked.cards:,} cards for each base rate "
        f"and effect, {_PAIRS} pairs each. Command: `python benchmarks/card_tests.py{changed}`."
    )


def planted(cards: int, correlation: float) -> Cells:
    """Every rule on every base rate and effect."""
    cells: Cells = {name: [] for name in RULES}
    for number, base in enumerate(_BASES):
        rng = np.random.default_rng((_SEED, number, round(100 * correlation)))
        effects = np.repeat(np.array(_EFFECTS), cards)
        pairs = replayed(rng, np.full(len(effects), base), effects, correlation=correlation, pairs=_PAIRS)
        for name, decide in RULES.items():
            decisions = decide(pairs).reshape(len(_EFFECTS), cards)
            cells[name] += [_cell(base, effect, found) for effect, found in zip(_EFFECTS, decisions, strict=True)]
    return cells


def _cell(base: float, effect: float, decisions: Ints) -> Cell:
    taken = decisions[decisions > 0]
    return Cell(
        base=base,
        effect=effect,
        promoted=float((decisions > 0).mean()),
        archived=float((decisions < 0).mean()),
        median=float(np.median(taken)) if len(taken) else 0.0,
    )


def _by_rule(arms: Sequence[Cells]) -> str:
    rows: list[list[str]] = []
    for name in RULES:
        found = [_shares(cells[name]) for cells in arms]
        row = [name]
        for number, worst in enumerate((max, max, min, min, max)):
            column = [shares[number] for shares in found]
            means = ", ".join(f"{np.mean(cells):.1%}" for cells in column)
            row.append(f"{means} ({worst(worst(cells) for cells in column):.1%})")
        rows.append(row)
    head = "rule|useless promoted|harmful promoted|+10 promoted|+20 promoted|helpful archived"
    return _table(head.split("|"), rows)


def _shares(found: Sequence[Cell]) -> list[list[float]]:
    """For each column, the shares of all base rates; of those with room for the effect, where it is to be found."""
    full = [one for one in found if not one.capped]
    return [
        [one.promoted for one in found if one.effect == 0],
        [one.promoted for one in found if one.effect < 0],
        *([one.promoted for one in full if one.effect == effect] for effect in (0.1, 0.2)),
        [one.archived for one in full if one.effect > 0],
    ]


def _by_base(arms: Sequence[Cells]) -> str:
    rows: list[list[str]] = []
    for base in _SHOWN:
        own = [[one for one in next(iter(cells.values())) if one.base == base] for cells in arms]
        by_effect: list[Mapping[float, Cell]] = [{one.effect: one for one in cells} for cells in own]
        rows.append(
            [
                f"{base:.0%}",
                *(", ".join(f"{cells[effect].promoted:.1%}" for cells in by_effect) for effect in (0.0, 0.1)),
                *(", ".join(f"{cells[effect].median:.0f}" for cells in by_effect) for effect in (0.1, 0.2)),
            ]
        )
    head = "base rate|useless promoted|+10 promoted|median pairs for +10|for +20"
    return _table(head.split("|"), rows)


def _collections(collections: int) -> str:
    evidence = e_values(_PAIRS)
    found: dict[str, list[tuple[str, str]]] = {}
    for useful in _USEFUL:
        rates: dict[str, list[tuple[float, float]]] = {}
        for number in range(collections):
            effects, pairs = _collection(np.random.default_rng((_SEED, number, round(100 * useful))), useful)
            for name, chosen in _selections(pairs, evidence):
                false = float((chosen & (effects <= 0)).sum() / max(1, chosen.sum()))
                power = float((chosen & (effects > 0)).sum() / (effects > 0).sum())
                rates.setdefault(name, []).append((false, power))
        for name, both in rates.items():
            false, power = np.mean(both, axis=0).tolist()
            found.setdefault(name, []).append((f"{false:.1%}", f"{power:.1%}"))
    rows = [[name, *(", ".join(column) for column in zip(*both, strict=True))] for name, both in found.items()]
    return _table(["rule", "false among promoted", "useful ones promoted"], rows)


def _collection(rng: np.random.Generator, useful: float) -> tuple[Floats, Pairs]:
    """200 cards for tasks that are solved at 5 to 70 %; of those without use, three of ten do harm."""
    count = round(_COLLECTION * useful)
    effects = np.where(rng.random(_COLLECTION) < _HARMFUL, -0.1, 0.0)
    effects[:count] = rng.choice(np.array([0.1, 0.2, 0.3]), size=count)
    bases = rng.uniform(0.05, 0.7, size=_COLLECTION)
    return effects, replayed(rng, bases, effects, correlation=_CORRELATIONS[-1], pairs=_PAIRS)


def _selections(pairs: Pairs, evidence: Floats) -> Iterator[tuple[str, Ints]]:
    yield "wisen, e-BH, looked at after every 10 pairs", _selected(evidence[pairs.gained, pairs.lost])
    for name, decide in RULES.items():
        yield name, (decide(pairs) > 0).astype(np.int64)


def _selected(evidence: Floats) -> Ints:
    """By e-BH over all cards at each look; a selected card's evidence stays as it was."""
    kept = np.zeros(len(evidence), dtype=np.int64)
    current = np.ones(len(evidence))
    for look in range(_LOOK - 1, evidence.shape[1], _LOOK):
        current = np.where(kept > 0, current, evidence[:, look])
        kept = np.array(e_bh(current.tolist()), dtype=np.int64)
    return kept


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows))


if __name__ == "__main__":
    main()
