"""Whether an embedder has a say on meaning.

It stands apart because it needs the protocol alone: who asks imports no embedder.
"""

from wisen.protocols import Embedder, KnowsMeaning


def meaning_of(embedder: Embedder, *texts: str) -> float | None:
    """The cosine from which two texts whose content agrees say the same.

    `None` where the embedder can't tell: it only compares words, nobody measured it, or it doesn't know one of `texts`.
    """
    if not isinstance(embedder, KnowsMeaning) or embedder.same_meaning is None:
        return None
    return embedder.same_meaning if all(embedder.knows(text) for text in texts) else None
