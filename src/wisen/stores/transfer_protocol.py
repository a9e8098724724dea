"""What a store has to be able to do so that everything in it can be copied to another one.

It stands apart because backends implement it and copying asks for it, without knowing each other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

Part = Literal["cards", "blocks", "runs", "calls"]
LedgerPart = Literal["blocks", "runs", "calls"]
"""The parts that aren't about cards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferItem:
    """One thing that a store holds, in the form in which it is copied."""

    key: tuple[str, ...]
    """A card's or run's id; a block's tenant and name; a call's scope, key and ordinal."""
    content: bytes
    """A card or run as JSON, a block's text in UTF-8, a call's response."""
    vectors: bytes = b""
    """A card's two vectors, packed as `stores.index.vectors` has it; empty where the store has none at hand."""


@runtime_checkable
class Transferable(Protocol):
    """What a store adds that can give and take everything it holds, as it is."""

    async def vectors_label(self) -> str:
        """`name/dimension` of the embedder that the kept vectors come from; "" where none are kept."""
        ...

    async def export_page(self, part: Part, *, after: str = "", limit: int = 200) -> tuple[Sequence[TransferItem], str]:
        """The next items in a fixed order, and the cursor that stands behind them; none at the end."""
        ...

    async def held(self, part: Part, keys: Sequence[tuple[str, ...]]) -> Mapping[tuple[str, ...], TransferItem]:
        """Those of these items that the store has, read again."""
        ...

    async def take(
        self, part: Part, items: Sequence[TransferItem], *, replace: bool = False
    ) -> Mapping[tuple[str, ...], str]:
        """Keep these items as they are; what has their keys already stays, unless `replace`.

        Gives those that this store can't hold as they are, with the reason; all others are kept, or none. Nothing is
        counted, bounded, screened or embedded; cards without vectors get those of the store's embedder.
        """
        ...


Copies = Transferable
Piece = TransferItem
"""These two by their names before."""
