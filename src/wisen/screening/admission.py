"""What of a card may be kept: every card that enters a store is looked at here first, whichever way it comes."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from wisen.cards import MemoryCard, MemoryStatus, Move
from wisen.protocols import Finding, Screen
from wisen.screening.card_names import with_clean_names
from wisen.screening.cleaning import cleaned
from wisen.screening.redaction import DETECTORS
from wisen.screening.screens import verdict_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What a screen let through of a card."""

    outcome: Literal["pass", "redacted", "rejected"]
    card: MemoryCard
    """The card as it may be kept: as it came, redacted, or rejected and without a text."""
    findings: tuple[Finding, ...] = ()


def admission_of(screen: Screen, card: MemoryCard, *, at: datetime) -> Admission:
    """The card as it may be kept, by what `screen` says of it; `at` is when it happens, for a rejected card's history.

    Status, evidence and links stay as they came, except that a rejected card becomes rejected. What its history and
    its held phrases say is redacted. A card whose id was computed of a text that isn't kept gets a new one.

    Raises `ConfigError` for names that may not be kept, as `with_clean_names` does, and for a screen that gives no
    verdict.
    """
    card, named = with_clean_names(card)
    card, told = _with_clean_history(card)
    verdict = verdict_of(screen, card)
    findings = (*verdict.findings, *named, *told)
    if verdict.card is None:
        rules = ", ".join(dict.fromkeys(one.rule for one in verdict.findings))
        rejected = _rejected(card, f"screen {screen.name}: {rules}", at)
        return Admission(outcome="rejected", card=rejected, findings=findings)
    kept = replace(verdict.card, id=_id_of(card))
    outcome = "redacted" if verdict.outcome == "pass" and (named or told) else verdict.outcome
    return Admission(outcome=outcome, card=kept, findings=findings)


def _with_clean_history(card: MemoryCard) -> tuple[MemoryCard, tuple[Finding, ...]]:
    if not card.held and not card.history:
        return card, ()
    texts, found = cleaned([*card.held, *(one.why for one in card.history)], DETECTORS)
    if not found:
        return card, ()
    held, whys = texts[: len(card.held)], texts[len(card.held) :]
    history = tuple(replace(one, why=why) for one, why in zip(card.history, whys, strict=True))
    told = tuple(replace(one, field="history") for one in found)
    return replace(card, held=tuple(held), history=history), told


def _rejected(card: MemoryCard, why: str, at: datetime) -> MemoryCard:
    done = Move(at=at, before=card.status, after=MemoryStatus.REJECTED, why=why, by="screen")
    moved = replace(card, status=MemoryStatus.REJECTED, note=why, history=(*card.history, done))
    return moved.without_text(refused=card.refused if card.status is MemoryStatus.REJECTED else "")


def _id_of(card: MemoryCard) -> str:
    """The card's own id, or none where it was computed of the text: that of what isn't kept could be guessed."""
    return "" if card.id == replace(card, id="").id else card.id
