"""What the store contracts are made of: cards and queries with as few words as a test needs.

It stands apart because the contracts share it, and each can be inherited alone.
"""

from datetime import UTC, datetime, timedelta
from typing import Protocol

from wisen.cards import MemoryCard, MemoryKind, MemoryScope, MemoryStatus, Provenance, Situation
from wisen.protocols import Blocks, CallLog, KeepsFirst, RunLog, VectorStore
from wisen.recall import CardFilter, RecallQuery
from wisen.records import RunRecord, Task

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
"""When the first card was made."""
ANY_RUN = MemoryScope()
NAMELESS = CardFilter(tenant="")
"""The tenant without a name."""


class FullStore(VectorStore, Blocks, RunLog, CallLog, KeepsFirst, Protocol):
    """A store with all the abilities that the whole contract is about."""


def card(
    content: str,
    *,
    prompt: str = "",
    scope: MemoryScope = ANY_RUN,
    status: MemoryStatus = MemoryStatus.PROMOTED,
    kind: MemoryKind = MemoryKind.LESSON,
    run_id: str = "run",
    minute: int = 0,
) -> MemoryCard:
    """A card, `minute` minutes after noon."""
    return MemoryCard(
        kind=kind,
        content=content,
        situation=Situation(prompt=prompt),
        scope=scope,
        status=status,
        provenance=Provenance(run_id=run_id, agent="agent", created_at=NOON + timedelta(minutes=minute)),
    )


def query(prompt: str, *, where: CardFilter = NAMELESS, k: int = 5, floor: float | None = None) -> RecallQuery:
    """A query for a prompt; without more, of the tenant without a name."""
    return RecallQuery(situation=Situation(prompt=prompt), filter=where, k=k, floor=floor)


def run_record(run_id: str, *, tenant: str = "", minute: int = 0, output: str = "") -> RunRecord:
    """A record of a run that began `minute` minutes after noon."""
    return RunRecord(
        run_id=run_id,
        task=Task(prompt="Count the chairs.", tenant=tenant, metadata={"row": [1, {"seat": "a"}]}),
        output=output,
        started_at=NOON + timedelta(minutes=minute),
    )
