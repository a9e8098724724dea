"""What a correction of a card has to be, and what is said of one that can't be."""

from dataclasses import replace

from wisen.cards import MemoryCard, MemoryStatus
from wisen.errors import ConfigError


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
