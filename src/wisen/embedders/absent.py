"""Stands for an embedder that only has to be named: a store that gets vectors made elsewhere needs no other.

It stands apart because it embeds nothing: no vectors, no model, no numpy.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wisen.errors import ConfigError, EmbedderError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class AbsentEmbedder:
    """An embedder with the name and dimension of another one, which can't embed anything."""

    def __init__(self, label: str) -> None:
        """`label` is `name/dimension`, as stores keep it. Raises `ConfigError` for another text."""
        self._name, _, dimension = label.rpartition("/")
        if not self._name or not dimension.isdecimal():
            raise ConfigError(f"AbsentEmbedder({label!r}): must be name/dimension")
        self._dimension = int(dimension)

    @property
    def name(self) -> str:
        """See `Embedder.name`."""
        return self._name

    @property
    def dimension(self) -> int:
        """See `Embedder.dimension`."""
        return self._dimension

    @property
    def floor(self) -> float:
        """See `Embedder.floor`."""
        return 0.0

    async def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Raises `EmbedderError`."""
        del texts
        raise EmbedderError(f"embedder {self._name!r} isn't loaded; open the store with it, or embed all cards again")
