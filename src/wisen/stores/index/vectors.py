"""How a card's two vectors are kept: 8-bit codes for exact scores and sign bits for finding candidates.

A card has a vector of its situation and one of its own text; a missing text is a row of zeros.
"""

from collections import deque
from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wisen.cards import MemoryCard
from wisen.deadlines import calling
from wisen.errors import EmbedderError
from wisen.protocols import Embedder, KnowsMeaning

BITS = 512
BIT_WORDS = BITS // 64
_SEED = 20_260_101
_ROUNDS = 2
_PACKED_AT_ONCE = 64


@cache
def packed_dtype(dimension: int) -> np.dtype[Any]:
    """One card's vectors as stored: inverse lengths of the codes, codes, sign bits; situation first, then text."""
    return np.dtype([("inverse", "<f4", (2,)), ("codes", "i1", (2, dimension)), ("bits", "<u8", (2, BIT_WORDS))])


@cache
def _flips(width: int) -> NDArray[np.float32]:
    # Stored bits must mean the same in every process and version, so this relies on Random.randbytes alone.
    drawn = np.frombuffer(Random(_SEED).randbytes(_ROUNDS * width), dtype=np.uint8)
    return ((drawn & 1).astype(np.float32) * 2 - 1).reshape(_ROUNDS, width)


@cache
def _hadamard(size: int) -> NDArray[np.float32]:
    if size == 1:
        return np.ones((1, 1), dtype=np.float32)
    half = _hadamard(size // 2)
    return np.block([[half, half], [half, -half]])


def sign_bits(vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Which side of `BITS` fixed random planes each row lies on: shape `(rows, BIT_WORDS)`.

    The rows are turned first, by rounds of random sign flips and a Hadamard transform (Ailon and Chazelle 2009): signs
    of the plain coordinates would say nothing of sparse vectors. The transform's matrix is the Kronecker product of two
    small ones: products so small start no threads, which would wait for each other on a busy machine.
    """
    count, dimension = vectors.shape
    width = max(BITS, 1 << (dimension - 1).bit_length())
    columns = 1 << (width.bit_length() // 2)
    turned = np.zeros((count, width), dtype=np.float32)
    turned[:, :dimension] = vectors
    for flips in _flips(width):
        turned *= flips
        folded = turned.reshape(count, width // columns, columns)
        turned = (_hadamard(width // columns) @ folded @ _hadamard(columns)).reshape(count, width)
    return np.packbits(turned[:, :BITS] > 0, axis=-1).view("<u8")


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


class PackLine:
    """Packs the vectors of writes that wait together at once: by itself each costs several times as much."""

    def __init__(self) -> None:
        """Begin with none."""
        self._waiting: deque[Packing] = deque()

    def join(self, vectors: NDArray[np.float32]) -> "Packing":
        """Let these, as for `pack`, wait for the first whose turn it is."""
        packing = Packing(self, vectors)
        self._waiting.append(packing)
        return packing

    def advance(self) -> None:
        """Pack what waits, some at a time; one thread at a time may ask."""
        some = [self._waiting.popleft() for _ in range(min(len(self._waiting), _PACKED_AT_ONCE))]
        entries = iter(pack(np.concatenate([one.vectors for one in some])))
        for one in some:
            one.packed = [next(entries) for _ in one.vectors]


class Packing:
    """Vectors that wait to be packed."""

    def __init__(self, line: PackLine, vectors: NDArray[np.float32]) -> None:
        """Belong to a line."""
        self._line = line
        self.vectors = vectors
        self.packed: list[bytes] | None = None

    def entries(self) -> list[bytes]:
        """What `pack` makes of these vectors."""
        while self.packed is None:
            self._line.advance()
        return self.packed


async def embed_cards(embedder: Embedder, cards: Sequence[MemoryCard]) -> NDArray[np.float32]:
    """Both vectors for each card, shape `(cards, 2, dimension)`; each distinct text is embedded once.

    A text that the embedder doesn't know has a row of zeros, as a missing one has. Raises `EmbedderError`.
    """
    texts = [text for card in cards for text in (card.situation.text, card.text)]
    distinct = [text for text in dict.fromkeys(texts) if text.strip() and knows(embedder, text)]
    vectors = np.zeros((len(texts), embedder.dimension), dtype=np.float32)
    if distinct:
        rows = await embed_texts(embedder, distinct)
        place = {text: row for row, text in enumerate(distinct)}
        filled = [position for position, text in enumerate(texts) if text in place]
        vectors[filled] = rows[[place[texts[position]] for position in filled]]
    return vectors.reshape(len(cards), 2, embedder.dimension)


def knows(embedder: Embedder, text: str) -> bool:
    """Whether the embedder's vector says anything of the text: not where it never learned its characters."""
    return not hasattr(embedder, "knows") or not isinstance(embedder, KnowsMeaning) or embedder.knows(text)


async def embed_texts(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """What the embedder says, checked: one finite row per text, else `EmbedderError`."""
    with calling(f"embedder {embedder.name!r}"):
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
