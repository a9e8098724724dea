"""How a card's two vectors are kept: 8-bit codes for exact scores and sign bits for finding candidates.

A card has a vector of its situation and one of its own text; a missing text is a row of zeros.
"""

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wisen.cards import MemoryCard
from wisen.errors import EmbedderError
from wisen.protocols import Embedder

BITS = 512
BIT_WORDS = BITS // 64
_SEED = 20_260_101


@cache
def packed_dtype(dimension: int) -> np.dtype[Any]:
    """One card's vectors as stored: inverse lengths of the codes, codes, sign bits; situation first, then text."""
    return np.dtype([("inverse", "<f4", (2,)), ("codes", "i1", (2, dimension)), ("bits", "<u8", (2, BIT_WORDS))])


@cache
def _directions(dimension: int) -> NDArray[np.float32]:
    # Stored bits must mean the same in every process and version, so this relies on Random.randbytes alone. Sign bits of the
    # plain coordinates would say nothing of sparse vectors, whose coordinates are mostly zero.
    drawn = np.frombuffer(Random(_SEED).randbytes(dimension * BITS), dtype=np.uint8)
    return (drawn.astype(np.float32) - 127.5).reshape(dimension, BITS)


def sign_bits(vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Which side of `BITS` fixed random planes each row lies on: shape `(rows, BIT_WORDS)`."""
    sides = vectors @ _directions(vectors.shape[-1]) > 0
    return np.packbits(sides, axis=-1).view("<u8")


def pack(vectors: NDArray[np.float32]) -> list[bytes]:
    """One entry per card from an array of shape `(cards, 2, dimension)`."""
    count, _, dimension = vectors.shape
    packed = np.zeros(count, dtype=packed_dtype(dimension))
    peak = np.abs(vectors).max(axis=2, initial=0.0, keepdims=True)
    codes = np.rint(vectors * (127.0 / np.where(peak > 0, peak, 1.0))).astype(np.int8)
    lengths = np.sqrt(np.square(codes, dtype=np.float32).sum(axis=2))
    packed["codes"] = codes
    packed["inverse"] = np.where(lengths > 0, 1.0 / np.where(lengths > 0, lengths, 1.0), 0.0)
    packed["bits"] = sign_bits(vectors.reshape(count * 2, dimension)).reshape(count, 2, BIT_WORDS)
    return [entry.tobytes() for entry in packed]


async def embed_cards(embedder: Embedder, cards: Sequence[MemoryCard]) -> NDArray[np.float32]:
    """Both vectors of each card, shape `(cards, 2, dimension)`; each distinct text is embedded once.

    Raises `EmbedderError`.
    """
    texts = [text for card in cards for text in (card.situation.text, card.text)]
    distinct = [text for text in dict.fromkeys(texts) if text.strip()]
    vectors = np.zeros((len(texts), embedder.dimension), dtype=np.float32)
    if distinct:
        rows = await embed_texts(embedder, distinct)
        place = {text: row for row, text in enumerate(distinct)}
        filled = [position for position, text in enumerate(texts) if text in place]
        vectors[filled] = rows[[place[texts[position]] for position in filled]]
    return vectors.reshape(len(cards), 2, embedder.dimension)


async def embed_texts(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """What the embedder says, checked: one finite row per text, else `EmbedderError`."""
    rows = np.asarray(await embedder.embed(texts), dtype=np.float32)
    expected = (len(texts), embedder.dimension)
    if rows.shape != expected:
        msg = f"embedder {embedder.name!r} gave an array of shape {rows.shape!r} instead of {expected!r}"
        raise EmbedderError(msg)
    if not np.isfinite(rows).all():
        msg = f"embedder {embedder.name!r} gave vectors that aren't finite numbers"
        raise EmbedderError(msg)
    return rows


def label(embedder: Embedder) -> str:
    """`name/dimension`: what a store keeps beside its vectors."""
    return f"{embedder.name}/{embedder.dimension}"
