"""How commands tell what runs taught, and what speaks for a card: what its uses showed, how it came to its status.

It stands apart because commands share it, and a command imports no other command's module.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from wisen.cards import MemoryCard
from wisen.cli.output import glance
from wisen.errors import CardNotFoundError, StoreError
from wisen.explain.card_facts import Idea
from wisen.explain.wording import counted
from wisen.protocols import VectorStore
from wisen.records import RunRecord


async def count_new(store: VectorStore, records: Sequence[RunRecord]) -> int | None:
    """How many cards these runs brought into the store; `None` where it can't be asked.

    Their other lessons were counted on cards of earlier runs, or of one another.
    """
    told = {(card_id, record.run_id) for record in records for card_id in lesson_ids(record)}
    ids = list({card_id for card_id, _ in told})
    kept = list[MemoryCard]()
    try:
        kept = await store.get(ids)
    except CardNotFoundError:
        for card_id in ids:
            with suppress(CardNotFoundError):  # deleted since
                kept += await store.get([card_id])
    except StoreError:
        return None
    return sum((card.id, card.provenance.run_id) in told for card in kept)


def lesson_ids(record: RunRecord) -> set[str]:
    """The cards that a run's lessons are kept on."""
    return {card_id for attempt in record.attempts for card_id in attempt.lesson_ids}


def lessons_line(totals: Mapping[str, object]) -> str:
    """How many lessons there were, and how many of them the store didn't have."""
    lessons, new = totals["lessons"], totals["new_lessons"]
    said = counted(lessons, "lesson")
    if not isinstance(lessons, int) or not isinstance(new, int) or not lessons:
        return said
    return f"{said} ({new} new, {lessons - new} seen again)" if new < lessons else f"{said} (all new)"


def idea_fields(card: MemoryCard, idea: "Idea") -> list[tuple[str, str]]:
    """What stands for the card's idea, its other wordings, and what can't be right beside it."""
    others = [one for one in idea.wordings if one.id != card.id]
    lines = [f"{one.id}: {glance(one.text)}" for one in others]
    rivals = [f"{one.id}, {one.status}: {glance(one.text)}" for one in idea.rivals]
    return [
        ("idea of", card.idea),
        ("joined by", idea.joined_by),
        ("other wordings", "\n".join(lines)),
        ("rivals", "\n".join(rivals)),
    ]
