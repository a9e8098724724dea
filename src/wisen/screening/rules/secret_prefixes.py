"""Which secrets say by their first characters what they are: the prefixes that their issuers publish.

The tables are data: `data/secrets.json`, which `tools/secret_rules.py` makes from maintained rule sets, and
`data/own.json` for what none of them has.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Literal

from wisen.screening.rules.marks import Marks
from wisen.screening.rules.secret_names import label_for
from wisen.screening.rules.tables import table_of

Kind = Literal["telling", "plain", "random"]
"""What a secret's looks have to say besides its prefix: nothing; no words; that it is drawn at random."""

_RUNS = {  # the widest last
    "alnum": re.compile(r"[A-Za-z0-9]++"),
    "upper": re.compile(r"[A-Z0-9]++"),
    "lower": re.compile(r"[a-z0-9]++"),
    "hex": re.compile(r"[0-9a-fA-F]++"),
    "word": re.compile(r"[A-Za-z0-9_]++"),
    "dash": re.compile(r"[A-Za-z0-9_-]++"),
    "dots": re.compile(r"[A-Za-z0-9_.=-]++"),
    "base64": re.compile(r"[A-Za-z0-9+/=_-]++"),
    "wide": re.compile(r"[A-Za-z0-9+/=_.:!~%-]++"),
}
_PADDING = re.compile(r"={1,2}(?![A-Za-z0-9=\"'])")
_LONGEST, _ENOUGH = 8_000, 256
"""No secret is longer; of a run longer than that no more is looked at before it is known to be one."""
_SHORTEST = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixRule:
    """A prefix, and what follows it in one kind of secret."""

    name: str
    label: str
    prefix: str
    run: re.Pattern[str]
    least: int
    """The published length of what follows."""
    kind: Kind

    def begun(self, text: str, start: int) -> tuple[str, Kind] | None:
        """What follows the prefix at a place, and how much it has to show; none where it is too short.

        Issuers change lengths, and texts cut secrets off: half of the published length counts where it looks random.
        """
        place = start + len(self.prefix)
        run = self.run.match(text, place, place + _ENOUGH)
        length = len(run[0]) if run else 0
        if run is None or length < self.shortest:
            return None
        return run[0], self.kind if length >= min(self.least, _ENOUGH) else "random"

    @property
    def shortest(self) -> int:
        """The least that is looked at."""
        least = min(self.least, _ENOUGH)
        return least if self.kind == "random" else min(least, max(_SHORTEST, least // 2))

    def end(self, text: str, start: int) -> int:
        """Where the secret that begins at a place ends: before a full stop, and after what pads it."""
        place = start + len(self.prefix)
        run = self.run.match(text, place, place + _LONGEST)
        end = place + len(run[0].rstrip(".")) if run else place
        padding = _PADDING.match(text, end)
        return padding.end() if padding else end


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixTable:
    """All prefixes."""

    prefixes: Marks
    rules: Mapping[str, tuple[PrefixRule, ...]]
    """For every prefix the kinds that begin with it, and then those that begin with a part of it."""


@cache
def prefix_table() -> PrefixTable:
    """The tables, read when they are first asked for."""
    known: dict[str, list[PrefixRule]] = {}
    for rule in chain.from_iterable(_read(name) for name in ("secrets.json", "own.json")):
        known.setdefault(rule.prefix, []).append(rule)
    widest = list(_RUNS.values())
    for rules in known.values():
        rules.sort(key=lambda rule: widest.index(rule.run), reverse=True)
    beginnings = {
        prefix: tuple(rule for size in range(len(prefix), 0, -1) for rule in known.get(prefix[:size], ()))
        for prefix in known
    }
    return PrefixTable(prefixes=Marks(known), rules=beginnings)


def _read(name: str) -> Iterator[PrefixRule]:
    rows: list[tuple[str, str, int, Kind, str]] = table_of(name)["prefixes"]
    for rule, alphabet, least, kind, prefixes in rows:
        slug = re.sub("[^a-z0-9]+", "-", rule.lower()).strip("-")
        for prefix in prefixes.split():
            yield PrefixRule(
                name=slug,
                label=label_for(rule.lower()),
                prefix=prefix,
                run=_RUNS[alphabet],
                least=least,
                kind=kind,
            )
