"""What a correction of a card has to be, what is said of one that can't be, and what holds again without it."""

from collections.abc import Collection
from contextlib import aclosing
from dataclasses import replace

from wisen.cards import MemoryCard, MemoryStatus
from wisen.errors import ConfigError
from wisen.memory_ci.changes import Change
from wisen.protocols import VectorStore
from wisen.recall import CardFilter
from wisen.stores.paging import every_card


def check_correction(old: MemoryCard, new: MemoryCard, why: str) -> None:
    """Refuse with `ConfigError` what can't be a correction of `old`."""
    if not why.strip():
        raise ConfigError(f"card {old.id!r} can't be corrected without a reason; say why")
    if old.status is MemoryStatus.REJECTED:
        raise ConfigError(f"card {old.id!r} is rejected: there is nothing left to correct")
    if old.superseded_by:
        raise corrected_already(old)
    if new.scope.tenant != old.scope.tenant:
        raise ConfigError(f"card {old.id!r} belongs to tenant {old.scope.tenant!r}, and so must its correction")
    if replace(new, provenance=old.provenance, held=old.held, released=old.released).duplicate_key == old.duplicate_key:
        raise ConfigError(f"the correction of card {old.id!r} says what the card says; write what is right")


def corrected_already(card: MemoryCard) -> ConfigError:
    """The error for a card that has been corrected."""
    return ConfigError(f"card {card.id!r} is corrected already, by {card.superseded_by!r}; correct that one")


def refused_already(card: MemoryCard) -> ConfigError:
    """The error for a correction that says what was rejected."""
    return ConfigError(f"the correction says what card {card.id!r} said, which is rejected")


async def corrected_by(store: VectorStore, tenant: str, corrections: Collection[str]) -> list[MemoryCard]:
    """The cards that one of these corrects, oldest first. A correction itself names only the last of them."""
    async with aclosing(every_card(store, CardFilter(tenant=tenant, corrected=True))) as cards:
        return [card async for card in cards if is_corrected_by(card, corrections)]


def is_corrected_by(card: MemoryCard, corrections: Collection[str]) -> bool:
    """Whether the card holds again once these are withdrawn: nothing is left of a rejected one."""
    return card.superseded_by in corrections and card.status is not MemoryStatus.REJECTED


def holding_again(withdrawn: Collection[str]) -> Change:
    """Take a card's correction away, unless it has got another one meanwhile."""
    return lambda card: replace(card, superseded_by="") if is_corrected_by(card, withdrawn) else None
