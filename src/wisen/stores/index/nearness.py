"""How near cards are to a vector: by their sign bits, which is quick, and by their codes, which is exact."""

import numpy as np
from numpy.typing import NDArray

from wisen.stores.index.vectors import BIT_WORDS

_BLOCK = 16_384
_FAR = np.iinfo(np.uint16).max


def distances_of(source: NDArray[np.uint64], empty: NDArray[np.bool_], bits: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """How many sign bits of each row differ from these: of its nearer vector; an empty one is far.

    `source` has a column for each row: the bits of its situation, then of its text.
    """
    count = source.shape[1]
    nearest = np.empty(count, dtype=np.uint16)
    wanted = np.concatenate((bits, bits))[:, np.newaxis]
    for start in range(0, count, _BLOCK):
        end = min(start + _BLOCK, count)
        ones = np.bitwise_count(np.bitwise_xor(source[:, start:end], wanted)).reshape(2, BIT_WORDS, end - start)
        sums = np.add.reduce(ones, axis=1, dtype=np.uint16)
        sums[empty[:, start:end]] = _FAR
        np.minimum(sums[0], sums[1], out=nearest[start:end])
    return nearest


def cosines_of(
    codes: NDArray[np.int8], inverse: NDArray[np.float32], vector: NDArray[np.float32]
) -> NDArray[np.float64]:
    """The cosine of each card's two vectors with this one, shape `(cards, 2)`; 0 for a missing vector."""
    # Not `@`: its threads wait for each other on a busy machine, and its sums depend on the number of rows.
    return (np.vecdot(codes.astype(np.float32), vector) * inverse).astype(np.float64)
