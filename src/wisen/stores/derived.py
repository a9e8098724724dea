"""What stores keep of a card besides the card itself; made again for cards that an earlier version has written.

It stands apart from the backends because each fills it in, and none knows another.
"""

from dataclasses import dataclass, replace

from wisen.errors import StoreError
from wisen.stores.index.codes import hash_code
from wisen.stores.index.lexical import card_words
from wisen.stores.serialization import card_from_json, card_to_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """What a card is found by and told apart by, and the card itself as it is kept from now on."""

    key: int
    content: int
    circle: int
    duplicate_key: str
    alike: int
    words: bytes
    json: str


def derived(text: str, *, by_spelling: bool) -> Derived | None:
    """What there is to keep of a stored card; `None` for one that can't be read, which reading it will say.

    With `by_spelling`, the version that wrote it counted cards on it whose words weren't the same: which, nobody knows.
    """
    try:
        card = card_from_json(text)
    except StoreError:
        return None
    if by_spelling and card.duplicates > card.alike:
        card = replace(card, alike=card.duplicates)
        text = card_to_json(card)
    return Derived(
        key=hash_code(card.situation.key),
        content=hash_code(card.situation.content),
        circle=hash_code(card.circle),
        duplicate_key=card.duplicate_key,
        alike=card.alike,
        words=card_words(card),
        json=text,
    )
