"""The seal on a card's file: what it says of its card's origin and standing holds for the text that the store wrote.

A text that a person edits in its file becomes that person's, whatever the lines above it say of runs and checks. A seal
is a hash without a key: it tells edited and typed files from written ones, in every clone, and can't stop anyone who
computes it.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC
from typing import cast

from wisen.cards import MemoryCard, MemoryStatus
from wisen.stores.markdown.card_counts import without_counts
from wisen.stores.serialization import card_to_values

_FORM = "wisen card 1"
_OPEN = ("version", "duplicates", "alike", "retold")
"""What files hold that is believed without a seal."""
_WITHDRAWN = (MemoryStatus.ARCHIVED, MemoryStatus.REJECTED)
"""Statuses that anybody may give a card by hand: they take it out of use."""
_IMPORT = "import"


def seal_of(card: MemoryCard) -> str:
    """A hash of all that a card says and claims; the same in later versions of wisen, whose cards may hold more.

    What was counted on the card isn't part of it.
    """
    return _hashed(without_counts(card))


def _hashed(card: MemoryCard) -> str:
    when = card.provenance.created_at
    if when.tzinfo is not None:
        with suppress(OverflowError):  # the first and last hours that there are have no other zone
            card = replace(card, provenance=replace(card.provenance, created_at=when.astimezone(UTC)))
    values = card_to_values(card)
    said = _said({key: value for key, value in values.items() if key not in _OPEN})
    text = json.dumps([_FORM, said], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def believed(card: MemoryCard, seal: object) -> MemoryCard:
    """The card as far as its file can be believed: as it is where the seal fits, else as `by_hand`.

    Earlier versions wrote counts into files, and sealed them; counts that were typed into a later file aren't believed.
    """
    plain = by_hand(card)
    if plain == card or any(seal == _hashed(one) for one in _as_sealed(card)):
        return card
    bare = replace(card, evidence=(), trials=(), open_draws=(), observed=())
    return bare if any(seal == _hashed(one) for one in _as_sealed(bare)) else plain


def by_hand(card: MemoryCard) -> MemoryCard:
    """The card as a person's who wrote its file: quarantined, unless it is withdrawn, and without a run's evidence."""
    told = card.provenance
    source = replace(told, created_by=_IMPORT if told.created_by == _IMPORT else "human", verified=False)
    return replace(
        card,
        status=card.status if card.status in _WITHDRAWN else MemoryStatus.QUARANTINED,
        provenance=source,
        evidence=(),
        history=(),
        observed=(),
        idea="",
        rivals=(),
        trials=(),
        open_draws=(),
        pinned=False,
        held=(),
        released=False,
        supersedes="",
    )


def _as_sealed(card: MemoryCard) -> Iterator[MemoryCard]:
    """The card as the store may have sealed it: one that a person takes out of use stays what it was."""
    yield card
    if card.status in _WITHDRAWN:
        yield from (replace(card, status=status) for status in MemoryStatus if status is not card.status)


def _said(value: object) -> object:
    """A value without what is empty in it, which a card says nothing by."""
    if isinstance(value, dict):
        inner = {key: _said(one) for key, one in cast("dict[str, object]", value).items()}
        return {key: one for key, one in inner.items() if one}
    return [_said(one) for one in cast("list[object]", value)] if isinstance(value, list) else value
