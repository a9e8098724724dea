"""The texts of a card: which a prompt could show, and how a cleaned set of them becomes a card again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from wisen.cards import MemoryCard, MemoryKind, Situation


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One text of a card."""

    field: str
    """"content", "steps[2]", "situation.prompt"."""
    text: str
    shown: bool
    """Whether a prompt could show it."""


def parts_of(card: MemoryCard) -> list[Part]:
    """All texts of a card that somebody wrote, empty ones left out; names of agents and tenants aren't among them.

    The situation comes first, so that it is cleaned alike whatever was learned from it, and is found again.
    """
    situation, episode = card.situation, card.kind is MemoryKind.SKILL_CARD
    texts = [
        Part(field="situation.prompt", text=situation.prompt, shown=episode),
        Part(field="situation.task_type", text=situation.task_type, shown=False),
        *(Part(field=f"situation.tools[{n}]", text=tool, shown=False) for n, tool in enumerate(situation.tools)),
        Part(field="situation.error", text=situation.error, shown=False),
        Part(field="pattern", text=card.pattern, shown=True),
        Part(field="content", text=card.content, shown=True),
        Part(field="strategy", text=card.strategy, shown=True),
        *(Part(field=f"steps[{number}]", text=step, shown=True) for number, step in enumerate(card.steps)),
        Part(field="note", text=card.note, shown=False),
    ]
    return [part for part in texts if part.text]


def with_parts(card: MemoryCard, parts: Sequence[Part]) -> MemoryCard:
    """The card with these texts in place of its own.

    An accepted answer that had to be changed isn't the answer that was accepted, so the card is no verified episode any
    more.
    """
    texts = {part.field: part.text for part in parts}
    content = texts.get("content", card.content)
    altered = card.kind is MemoryKind.SKILL_CARD and content != card.content
    return replace(
        card,
        content=content,
        pattern=texts.get("pattern", card.pattern),
        strategy=texts.get("strategy", card.strategy),
        steps=_several("steps", card.steps, texts),
        note=texts.get("note", card.note),
        situation=Situation(
            prompt=texts.get("situation.prompt", card.situation.prompt),
            task_type=texts.get("situation.task_type", card.situation.task_type),
            tools=_several("situation.tools", card.situation.tools, texts),
            error=texts.get("situation.error", card.situation.error),
        ),
        provenance=replace(card.provenance, verified=False) if altered else card.provenance,
    )


def _several(field: str, old: Sequence[str], texts: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(texts.get(f"{field}[{number}]", text) for number, text in enumerate(old))
