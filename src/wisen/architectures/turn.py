"""The forms in which cards come into an attempt and out of it."""

from collections.abc import Sequence
from dataclasses import replace

from wisen.cards import MemoryCard, MemoryKind
from wisen.errors import ReflectionError
from wisen.records import Advice
from wisen.reports import card_to_report, to_markdown

DERIVED = (MemoryKind.PRINCIPLE, MemoryKind.PROCEDURE)
"""Kinds of cards that a report of a failure feeds, and that say nothing which it doesn't."""


def as_card(reflected: object) -> MemoryCard:
    """What a reflector gave, as a card; raises `ReflectionError` for what can't be one."""
    if isinstance(reflected, MemoryCard):
        return reflected
    if isinstance(reflected, str):
        return MemoryCard(kind=MemoryKind.LESSON, content=reflected)
    raise ReflectionError(f"the reflector gave a {type(reflected).__name__}; it has to give MemoryCards or texts")


def chain(cards: Sequence[MemoryCard]) -> tuple[str, ...]:
    """What a run's next attempt is told of those before it: reports whole, and no principle that one of them holds."""
    reported = {card.provenance.attempt for card in cards if card.kind is MemoryKind.REFLECTION}
    texts: list[str] = []
    for card in cards:
        if card.is_episode or (card.kind in DERIVED and card.provenance.attempt in reported):
            continue
        report = card_to_report(card)
        texts.append(card.text if report is None else to_markdown(report).strip().replace("\n\n", "\n"))
    return tuple(texts)


def shown_ids(advice: Advice) -> tuple[str, ...]:
    """Ids of the cards that are shown by an advice."""
    return tuple(one.card_id for one in advice.injections if one.shown)


def without_draws(advice: Advice) -> Advice:
    """The advice, counting for no idea."""
    return replace(advice, injections=tuple(replace(one, draw="") for one in advice.injections))
