"""What is counted on a card: kept beside its file, which people review, and not in it.

It stands apart from `counts_file` because it opens no file.
"""

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Self

from wisen.cards import CardEvidence, MemoryCard
from wisen.stores.ordering import moment
from wisen.trial_records import OpenDraw, Trial

COUNTED = ("duplicates", "alike", "retold", "taught_at", "evidence", "trials", "open_draws", "observed")
"""The parts of a card that change with its uses, whatever it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardCounts:
    """The counts of one card, as long as it says what it said when they were counted."""

    of: str
    """The `said_by` of the card."""
    changes: int = 0
    """How many of the card's changes are in no file: the card's version is its file's and these."""
    duplicates: int = 0
    alike: int = 0
    retold: int = 0
    taught_at: datetime | None = None
    evidence: tuple[CardEvidence, ...] = ()
    trials: tuple[Trial, ...] = ()
    open_draws: tuple[OpenDraw, ...] = ()
    observed: tuple[str, ...] = ()

    @classmethod
    def on(cls, card: MemoryCard, *, changes: int = 0) -> Self:
        """The counts that a card holds."""
        return cls(of=said_by(card), changes=changes, **{name: getattr(card, name) for name in COUNTED})

    def onto(self, card: MemoryCard) -> MemoryCard:
        """The card of a file with its counts."""
        counts = {name: getattr(self, name) for name in COUNTED}
        return replace(card, version=card.version + self.changes, **counts)

    @property
    def empty(self) -> bool:
        """Whether nothing was counted."""
        return self == CardCounts(of=self.of)


def without_counts(card: MemoryCard) -> MemoryCard:
    """The card as its file has it."""
    bare = replace(card, duplicates=0, alike=0, retold=0, taught_at=None)
    return replace(bare, evidence=(), trials=(), open_draws=(), observed=())


def said_by(card: MemoryCard) -> str:
    """A hash of what a card says and where it comes from: what is counted for one text is nothing to another."""
    source = card.provenance
    parts = (card.content_hash, moment(source.created_at), source.run_id, source.attempt, source.trace_id, source.agent)
    parts += (source.created_by, source.model, source.evaluator, source.verified, source.owner, source.tainted)
    text = "\x1f".join(map(str, (*parts, source.source)))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
