"""Moves everything that one store holds to another one, and proves by reading it back that it came.

Pages are read from the source in a fixed order; what the target lacks of a page is written in one transaction, and the
whole page is then read back. So a copy that was interrupted, run again, writes only what is missing.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from wisen.errors import ConfigError, StoreError
from wisen.protocols import Embedder
from wisen.stores.index.vectors import label, packed_dtype
from wisen.stores.maintenance import Describes, Inspects, Omits, RemakesVectors, StoreFacts
from wisen.stores.transfer_items import PARTS, Tally, digest, vectors_digest
from wisen.stores.transfer_protocol import Part, Transferable, TransferItem

_PAGE = 200
_NAMED = 100
"""Conflicts that a report names, at most."""

Progress = Callable[[Part, int, int], None]
"""Hears which part is being copied, how many items of it are done, and of how many, where that is known (else 0)."""
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartReport:
    """What became of one part of a store."""

    part: str
    """"cards", "vectors", "blocks", "runs" or "calls"."""
    read: int
    """Pieces that the source gave."""
    written: int
    """Pieces that the target lacked, or, with `replace`, had otherwise."""
    there: int
    """Pieces that the target had already, the same."""
    source_hash: str
    """Of all that the source gave, in whatever order; `store check` says the same of a whole store."""
    target_hash: str
    """Of the same items, as read back from the target."""
    conflicts: tuple[Key, ...] = ()
    """Keys of items that the target has otherwise, and keeps so; the first of them."""
    conflicting: int = 0
    """How many conflicts there are."""
    refused: Mapping[Key, str] | None = None
    """Pieces that the target can't hold as they are, with the reason."""

    @property
    def whole(self) -> bool:
        """Whether the target has all that the source gave, as it was given."""
        return self.source_hash == self.target_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyReport:
    """What became of a copy."""

    parts: tuple[PartReport, ...]
    vectors: str
    """"copied"; "embedded" if they were computed again; "not kept" by a target that makes them when it needs them."""
    unreadable: tuple[str, ...] = ()
    """What the source holds and can't read, so that it isn't in the target."""

    @property
    def whole(self) -> bool:
        """Whether everything is in the target, as it is in the source."""
        return not self.unreadable and all(part.whole for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """What reading a store back showed."""

    counts: Mapping[str, int]
    """Pieces by part; "vectors" are those of cards that have them at hand."""
    hashes: Mapping[str, str]
    """A hash by part: two stores that hold the same have the same hashes, whatever keeps them."""
    problems: tuple[str, ...]
    """What is damaged or can't be read, a line each."""
    notes: tuple[str, ...] = ()
    """What there is to know besides, such as what an earlier version didn't keep."""

    @property
    def whole(self) -> bool:
        """Whether everything could be read."""
        return not self.problems


async def copy_store(
    source: object,
    target: object,
    *,
    reembed: bool = False,
    replace: bool = False,
    progress: Progress = lambda _part, _done, _of: None,
    page: int = _PAGE,
) -> CopyReport:
    """Copy all cards with their history and vectors, blocks, runs and recorded calls of all tenants.

    Nothing in the source changes, and nothing in the target is overwritten or removed, unless `replace` is given. What
    others write to the source meanwhile may be left out; running the copy again brings it over.

    Args:
        source: A store that is a `Transferable`: all of wisen's are.
        target: Another one. Opened with the embedder that the source's vectors come from, it gets them as they are.
        reembed: Embed all cards again with the target's embedder, if that is another one.
        replace: Where the target has an item of the same key and another content, put the source's in its place.
        progress: Hears how far it is.
        page: How many items are read, and at most written in one transaction, at a time.

    Raises:
        StoreError: If a store fails, or if the vectors come from another embedder than the target's, without `reembed`.
        ConfigError: If one isn't a `Transferable`, or both are the same.
    """
    giver, taker = _copies(source), _copies(target)
    if giver is taker:
        raise ConfigError("a store can't be copied to itself")
    if page < 1:
        raise ConfigError(f"copy_store(page={page!r}): must be 1 or more")
    copied = await _vectors_fit(giver, taker, reembed=reembed)
    facts = await giver.facts() if isinstance(giver, Describes) else None
    job = _Copy(giver, taker, keep_vectors=copied, replace=replace, page=page)
    parts: list[PartReport] = []
    for part in PARTS:
        parts += await job.part(part, lambda done, part=part: progress(part, done, _expected(facts, part)))
    unreadable = tuple(await giver.unreadable()) if isinstance(giver, Omits) else ()
    said = "copied" if copied else "not kept" if isinstance(taker, RemakesVectors) else "embedded"
    return CopyReport(parts=tuple(parts), vectors=said, unreadable=unreadable)


async def check_store(
    store: object, *, progress: Progress = lambda _part, _done, _of: None, deep: bool = True
) -> CheckReport:
    """Read everything that a store holds, and say whether it is whole.

    Args:
        store: A store that is a `Transferable`.
        progress: Hears how far it is.
        deep: Have the store look for damage of its own, too, such as in a file's structure.
    """
    giver = _copies(store)
    problems: list[str] = []
    facts = await giver.facts() if isinstance(giver, Describes) else None
    size = _vector_size(await giver.vectors_label())
    tallies = {name: Tally() for name in (*PARTS, "vectors")}
    for part in PARTS:
        try:
            async with aclosing(_pages(giver, part)) as pages:
                async for page in pages:
                    problems += await asyncio.to_thread(_looked_at, page, tallies[part], tallies["vectors"], size)
                    progress(part, tallies[part].count, _expected(facts, part))
        except StoreError as error:
            problems.append(f"{part}: {error}")
    if isinstance(giver, Omits):
        problems += await giver.unreadable()
    if deep and isinstance(giver, Inspects):
        problems += await giver.problems_found()
    return CheckReport(
        counts={name: tally.count for name, tally in tallies.items()},
        hashes={name: tally.hash for name, tally in tallies.items()},
        problems=tuple(problems),
        notes=() if facts is None else facts.notes,
    )


class _Copy:
    """One copy under way."""

    def __init__(
        self, source: Transferable, target: Transferable, *, keep_vectors: bool, replace: bool, page: int
    ) -> None:
        self._size = page
        self._source = source
        self._target = target
        self._keep_vectors = keep_vectors
        self._replace = replace

    async def part(self, part: Part, tell: Callable[[int], None]) -> list[PartReport]:
        """Copy one part; cards come with a second report, of their vectors, where these are copied."""
        count = _Count(part)
        vectors = _Count("vectors")
        async with aclosing(_pages(self._source, part, self._size)) as pages:
            async for page in pages:
                before = count.written
                kept = await self._page(part, page, count)
                if part == "cards" and self._keep_vectors:
                    packed = [one for one in page if one.vectors]
                    await asyncio.to_thread(vectors.take, packed, kept, vectors_digest)
                    vectors.written += count.written - before
                tell(count.source.count)
        return [count.report(), vectors.report()] if vectors.source.count else [count.report()]

    async def _page(self, part: Part, page: Sequence[TransferItem], count: "_Count") -> Mapping[Key, TransferItem]:
        keys = [item.key for item in page]
        before = await self._target.held(part, keys)
        lacking = [item for item in page if self._wanted(item, before.get(item.key))]
        if lacking:
            given = lacking if self._keep_vectors else [replace(item, vectors=b"") for item in lacking]
            count.refused |= await self._target.take(part, given, replace=self._replace)
        after = await self._target.held(part, keys) if lacking else before
        count.written += sum(item.key not in count.refused for item in lacking)
        await asyncio.to_thread(count.take, page, after, digest)
        return after

    def _wanted(self, item: TransferItem, held: TransferItem | None) -> bool:
        if held is None:
            return True
        vectors = self._keep_vectors and item.vectors not in (b"", held.vectors)
        return self._replace and (item.content != held.content or vectors)


class _Count:
    """What is known so far of one part of a copy."""

    def __init__(self, part: str) -> None:
        self.part = part
        self.source, self.target = Tally(), Tally()
        self.written = 0
        self.refused: dict[Key, str] = {}
        self.conflicts: list[Key] = []
        self.conflicting = 0

    def take(
        self, page: Sequence[TransferItem], kept: Mapping[Key, TransferItem], hashed: Callable[[TransferItem], bytes]
    ) -> None:
        """Compare a page with what was read back of it."""
        given = [hashed(item) for item in page]
        found = [hashed(kept[item.key]) if item.key in kept else None for item in page]
        self.source.add(given)
        self.target.add(one for one in found if one is not None)
        for item, ours, theirs in zip(page, given, found, strict=True):
            if theirs is not None and ours != theirs:
                self.conflicting += 1
                if len(self.conflicts) < _NAMED:
                    self.conflicts.append(item.key)

    def report(self) -> PartReport:
        """The result."""
        there = self.source.count - self.written - len(self.refused) - self.conflicting
        return PartReport(
            part=self.part,
            read=self.source.count,
            written=self.written,
            there=max(0, there),
            source_hash=self.source.hash,
            target_hash=self.target.hash,
            conflicts=tuple(self.conflicts),
            conflicting=self.conflicting,
            refused=self.refused,
        )


async def _pages(store: Transferable, part: Part, size: int = _PAGE) -> AsyncGenerator[Sequence[TransferItem]]:
    after = ""
    while True:
        page, after = await store.export_page(part, after=after, limit=size)
        if not page:
            return
        yield page


async def _vectors_fit(source: Transferable, target: Transferable, *, reembed: bool) -> bool:
    """Whether vectors can be copied; raises if they'd have to be computed again without `reembed`."""
    given = await source.vectors_label()
    embedder: Embedder = getattr(target, "embedder")  # noqa: B009 - `Transferable` doesn't ask for it
    if isinstance(target, RemakesVectors) or not given:
        return False
    if given == label(embedder):
        return not reembed
    if not reembed:
        raise StoreError(
            f"the source's vectors come from embedder {given!r}, the target's from {label(embedder)!r}; "
            "open the target with the source's, or pass reembed=True (--reembed) to embed all cards again"
        )
    return False


def _looked_at(page: Sequence[TransferItem], contents: Tally, vectors: Tally, size: int | None) -> list[str]:
    """Count a page; says which vectors can't be any of the store's embedder."""
    contents.add(map(digest, page))
    packed = [item for item in page if item.vectors]
    vectors.add(map(vectors_digest, packed))
    wrong = [item for item in packed if size is not None and len(item.vectors) != size]
    return [f"card {item.key[0]!r} has vectors of {len(item.vectors)} bytes instead of {size}" for item in wrong]


def _vector_size(embedder: str) -> int | None:
    dimension = embedder.rpartition("/")[2]
    return packed_dtype(int(dimension)).itemsize if dimension.isdecimal() else None


def _expected(facts: StoreFacts | None, part: Part) -> int:
    if facts is None:
        return 0
    return {"cards": facts.total, "blocks": facts.blocks, "runs": facts.runs, "calls": facts.calls}[part]


def _copies(store: object) -> Transferable:
    if not isinstance(store, Transferable):
        raise ConfigError(
            f"{type(store).__name__} can't be copied: it isn't a wisen.stores.transfer_protocol.Transferable"
        )
    return store
