"""The one table of moves between a card's statuses."""

from dataclasses import replace

from wisen.cards import MemoryCard, MemoryStatus
from wisen.errors import ConfigError

MOVES: dict[MemoryStatus, frozenset[MemoryStatus]] = {
    MemoryStatus.CANDIDATE: frozenset({MemoryStatus.QUARANTINED, MemoryStatus.REJECTED}),
    MemoryStatus.QUARANTINED: frozenset({MemoryStatus.PROMOTED, MemoryStatus.ARCHIVED, MemoryStatus.REJECTED}),
    MemoryStatus.PROMOTED: frozenset({MemoryStatus.QUARANTINED, MemoryStatus.ARCHIVED, MemoryStatus.REJECTED}),
    MemoryStatus.ARCHIVED: frozenset({MemoryStatus.QUARANTINED, MemoryStatus.REJECTED}),
    MemoryStatus.REJECTED: frozenset(),
}
"""From each status, those that a card may be moved to."""


def move(card: MemoryCard, status: MemoryStatus, *, note: str) -> MemoryCard:
    """The card one version later in `status`; `note` says why.

    Raises `ConfigError` for a move that isn't in the table.
    """
    if status not in MOVES[card.status]:
        allowed = ", ".join(sorted(MOVES[card.status])) or "none, it is final"
        msg = f"card {card.id!r} is {card.status.value!r} and can't become {status.value!r}; possible: {allowed}"
        raise ConfigError(msg)
    return replace(card, status=status, note=note, version=card.version + 1)


def reject(card: MemoryCard, *, note: str) -> MemoryCard:
    """What is kept of a rejected card: its id (a hash), scope, provenance and the reason, and none of its text."""
    return MemoryCard(
        kind=card.kind,
        scope=card.scope,
        status=MemoryStatus.REJECTED,
        provenance=card.provenance,
        note=note,
        id=card.id,
        version=card.version,
    )
