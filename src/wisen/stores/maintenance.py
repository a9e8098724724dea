"""What a store can be asked about itself: how much is in it, how large it is, whether its files are whole."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from wisen.cards import MemoryCard
from wisen.stores.transfer_protocol import LedgerPart


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFacts:
    """How much a store holds, and how."""

    kind: str
    """"sqlite", "postgres", "markdown" or "memory"."""
    cards: Mapping[tuple[str, str, str], int]
    """How many cards there are by tenant, status and kind, in the order of these."""
    blocks: int
    """Memory blocks that aren't empty."""
    runs: int
    calls: int
    embedder: str = ""
    """`name/dimension` of the embedder that the kept vectors come from; "" where none are kept."""
    schema: int = 0
    """The version of its tables; 0 where it has none."""
    size: int | None = None
    """Bytes on the disk, where they can be known."""
    indexes: tuple[str, ...] = ()
    """Approximate indexes over vectors, by name."""
    merged: tuple[int, int] = (0, 0)
    """How many cards an earlier version counted others on by spelling, and how many others (`MemoryCard.alike`)."""

    @property
    def total(self) -> int:
        """All cards."""
        return sum(self.cards.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """What there is to know of the store's past that nothing can mend, a sentence each."""
        cards, lessons = self.merged
        if not cards:
            return ()
        of = f"{cards:,} card{'' if cards == 1 else 's'} counted {lessons:,} other lesson{'' if lessons == 1 else 's'}"
        return (f"{of} by spelling under an earlier version; what those said wasn't kept",)


@runtime_checkable
class Describes(Protocol):
    """What a store adds that can say how much it holds."""

    async def facts(self) -> StoreFacts:
        """Count what is there."""
        ...


@runtime_checkable
class Inspects(Protocol):
    """What a store adds that keeps its things in files or tables which can be damaged."""

    async def problems_found(self) -> Sequence[str]:
        """What is wrong with them, a line each; never a card's text."""
        ...


@runtime_checkable
class Omits(Protocol):
    """What a store adds that may hold things which it can't read, and therefore can't give either."""

    async def unreadable(self) -> Sequence[str]:
        """What they are and why, a line each; never a card's text."""
        ...


@runtime_checkable
class RemakesVectors(Protocol):
    """What a store adds that keeps no vectors of others, and makes them where they are needed."""

    remakes_vectors: Literal[True]


@runtime_checkable
class DropsCalls(Protocol):
    """What a store adds that can let go of recorded calls."""

    async def drop_calls(self, scopes: Sequence[str]) -> int:
        """Remove all calls of these scopes for good; says how many there were."""
        ...


@runtime_checkable
class Erases(Protocol):
    """What a store adds that can let go of single blocks, runs and recorded calls."""

    async def erase(self, part: LedgerPart, keys: Sequence[tuple[str, ...]]) -> int:
        """Remove what has these keys, as `TransferItem.key` has them, for good; says how many there were."""
        ...


def counted_cards(rows: Iterable[tuple[str, str, str, int]]) -> Mapping[tuple[str, str, str], int]:
    """Rows of tenant, status, kind and number as `StoreFacts.cards` has them."""
    return {(tenant, status, kind): count for tenant, status, kind, count in sorted(rows)}


def tally_cards(cards: Iterable[MemoryCard]) -> Mapping[tuple[str, str, str], int]:
    """The cards as `StoreFacts.cards` counts them."""
    found = Counter((card.scope.tenant, card.status.value, card.kind.value) for card in cards)
    return dict(sorted(found.items()))


def tally_merged(cards: Iterable[MemoryCard]) -> tuple[int, int]:
    """The cards as `StoreFacts.merged` counts them."""
    counts = [card.alike for card in cards if card.alike]
    return len(counts), sum(counts)


def sqlite_facts(connection: sqlite3.Connection, path: Path) -> StoreFacts:
    """What a store's SQLite file holds."""

    def number(question: str) -> int:
        return connection.execute(question).fetchone()[0]

    files = (path, path.with_name(f"{path.name}-wal"))
    return StoreFacts(
        kind="sqlite",
        cards=counted_cards(
            connection.execute("SELECT tenant, status, kind, count(*) FROM cards GROUP BY tenant, status, kind")
        ),
        blocks=number("SELECT count(*) FROM blocks WHERE text != ''"),
        runs=number("SELECT count(*) FROM runs"),
        calls=number("SELECT count(*) FROM calls"),
        embedder=connection.execute("SELECT embedder FROM state").fetchone()[0],
        schema=number("PRAGMA user_version"),
        merged=connection.execute("SELECT count(*), coalesce(sum(alike), 0) FROM cards WHERE alike > 0").fetchone(),
        size=sum(file.stat().st_size for file in files if file.exists()),
    )


def sqlite_problems(connection: sqlite3.Connection) -> list[str]:
    """What SQLite's own check says of the file, and cards that lack what they are found by."""
    said = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(10)")]
    problems = [f"integrity check: {one}" for one in said if one != "ok"]
    bare = connection.execute("SELECT id FROM cards LEFT JOIN recall USING (number) WHERE vectors IS NULL LIMIT 10")
    return problems + [
        f"card {card_id!r} has no words and vectors; restore the store from a backup" for (card_id,) in bare
    ]
