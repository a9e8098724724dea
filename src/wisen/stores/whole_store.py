"""All that commands and pages use of a store, whichever it is.

It stands apart because it is a type for all that open a store, and imports no backend.
"""

from collections.abc import Sequence
from types import TracebackType
from typing import Literal, Protocol

from wisen.protocols import Blocks, CallLog, Embedder, RunLog, SurveysRuns, VectorStore


class Store(VectorStore, Blocks, RunLog, CallLog, SurveysRuns, Protocol):
    """What commands and pages use of a store."""

    @property
    def embedder(self) -> Embedder:
        """What makes the vectors."""
        ...

    async def ids_beginning(self, what: Literal["card", "run"], beginning: str) -> Sequence[str]:
        """Ids of cards or runs that begin so; none for an empty beginning."""
        ...

    async def __aenter__(self) -> object:
        """Open it now."""
        ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        ...
