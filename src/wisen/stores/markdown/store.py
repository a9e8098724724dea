"""The store for teams that keep what agents have learned in git: every card is a Markdown file that people edit."""

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Literal

from wisen.cards import MemoryCard
from wisen.errors import ConfigError
from wisen.protocols import Embedder, Screen
from wisen.recall import CardFilter, RecallHit, Written
from wisen.stores.block_text import DEFAULT_BLOCK_LIMIT
from wisen.stores.card_store import CardStore
from wisen.stores.index.prepared import check_successor
from wisen.stores.index.ranking import Probe
from wisen.stores.index.vector_cache import VectorCache
from wisen.stores.index.vectors import embed_cards, pack
from wisen.stores.maintenance import StoreFacts, sqlite_facts, tally_cards, tally_merged
from wisen.stores.markdown.cards import Moved
from wisen.stores.markdown.catalog import Problem, Stored
from wisen.stores.markdown.file_index import FileIndex
from wisen.stores.markdown.ledger import FileLedger
from wisen.stores.one_look import one_look
from wisen.stores.ordering import moment
from wisen.stores.serialization import card_from_json
from wisen.stores.transfer_items import card_item, cursor, position
from wisen.stores.transfer_protocol import Part, TransferItem

KEEP = 30
"""Reports of an agent that stay where they are when older ones are archived."""


class MarkdownStore(FileLedger, CardStore):
    """A `VectorStore`, `Blocks`, `RunLog` and `CallLog` in a folder.

    ```text
    <root>/reflections/<agent>/YYYY-MM-DD-<short-title>.md      reports, in the protocol's form
    <root>/reflections/<agent>/archive/<year>/…                 older ones, after `archive`
    <root>/cards/<kind>/YYYY-MM-DD-<short-title>.md             other cards
    <root>/blocks/<name>.md                                     memory blocks
    <root>/tenants/<tenant>/…                                   the same for each tenant that has a name
    <root>/.wisen/                                              what can be made again, and runs; git ignores it
    ```

    Each call first takes in what people or other processes have changed; files that haven't changed aren't read again.
    A file without an id in its front matter is a person's: its card is quarantined until it is promoted, and its id
    follows from its path. A file that can't be read is left as it is, and `problems` tells. Reading changes nothing.
    Recall is the same as that of the other stores. What a call has returned from is on the disk. Counting a duplicate
    doesn't change a card's version. A batch that a crash of the process interrupts may be there in part.
    """

    remakes_vectors: Literal[True] = True
    """See `RemakesVectors`."""

    def __init__(  # noqa: PLR0913 - options, by keyword
        self,
        root: str | Path,
        *,
        embedder: Embedder | None = None,
        floor: float | None = None,
        read_only: bool = False,
        fsync: bool = True,
        patience: float = 60.0,
        block_limit: int = DEFAULT_BLOCK_LIMIT,
        keep_reports: int | None = KEEP,
        screen: Screen | None = None,
        fresh: float = 0.0,
    ) -> None:
        """Remember the options; nothing is read or written yet.

        Args:
            root: The folder; it is made by the first write.
            embedder: Makes the vectors; `None` takes `HashEmbedder`. Another one may be given each time.
            floor: Relevance in [0, 1] below which a search returns nothing; `None` takes `scoring.DEFAULT_FLOOR`.
            read_only: Never write; every writing method raises `StoreReadOnlyError`.
            fsync: Wait until the disk has each file, so that a power cut loses nothing either.
            patience: Seconds for which the lock of another process is waited for, before that is an error.
            block_limit: Characters that one memory block holds.
            keep_reports: Reports of an agent that stay when it adds one. Older ones go to the archive, as by `archive`,
                unless they are promoted, pinned or on trial. `None` leaves all where they are.
            screen: What `add` lets in; `None` takes `DefaultScreen`.
            fresh: Seconds for which reading takes what was seen last for what is there; 0 looks at the files each time.
                Writing always looks first.

        Raises:
            ConfigError: If `floor` isn't in [0, 1], `block_limit` is below 1, or `keep_reports` or `fresh` is negative.
        """
        if not fresh >= 0.0:
            raise ConfigError(f"MarkdownStore(fresh={fresh!r}): must be 0 seconds or more")
        self._fresh = fresh
        CardStore.__init__(self, embedder, floor, screen)
        FileLedger.__init__(
            self,
            Path(root).expanduser(),
            fsync=fsync,
            block_limit=block_limit,
            read_only=read_only,
            patience=patience,
            keep_reports=None if keep_reports is None else _checked("MarkdownStore(keep_reports=…)", keep_reports),
        )

    def _start(self) -> None:
        super()._start()
        self._looked = -inf
        self._vectors = VectorCache(self._folder, self._embedder)
        self._index = FileIndex(self._embedder.dimension)

    @property
    def root(self) -> Path:
        """The folder that holds everything."""
        return self._root

    async def open(self) -> None:
        """Look at the files now."""
        await self._in_thread(self._look)

    async def add_unscreened(self, cards: Sequence[MemoryCard]) -> list[Written]:
        """See `VectorStore.add_unscreened`. Where the vectors can't be made (`EmbedderError`), nothing is stored."""
        if not cards:
            self._refuse_closed()
            return []
        await self._embed(cards)
        return await self._in_thread(lambda: self._writer.add(cards))

    async def get(self, card_ids: Sequence[str]) -> list[MemoryCard]:
        """See `VectorStore.get`."""

        def find() -> list[MemoryCard]:
            self._look()
            return [self._catalog.get(card_id) for card_id in card_ids]

        return await self._in_thread(find)

    async def ids_beginning(self, what: Literal["card", "run"], beginning: str) -> Sequence[str]:
        """Ids of cards or runs that begin so, in the order of listings; none for an empty beginning."""
        if what == "run" or not beginning:
            return await self._runs_beginning(beginning)
        cards = await self.list(CardFilter(), limit=sys.maxsize)
        return [card.id for card in cards if card.id.startswith(beginning)]

    async def _answers(self, probes: Sequence[Probe]) -> Sequence[Sequence[RecallHit]]:
        with one_look():
            while True:
                hits, missing = await self._in_thread(lambda: self._find(probes))
                if hits is not None:
                    return hits
                await self._embed(missing)

    async def update(self, card: MemoryCard) -> None:
        """See `VectorStore.update`. A card stays in its tenant, and its count of duplicates never falls."""
        check_successor((await self.get([card.id]))[0], card)
        await self._embed([card])
        await self._in_thread(lambda: self._writer.update(card))

    async def delete(self, card_ids: Sequence[str]) -> int:
        """See `VectorStore.delete`."""
        return await self._in_thread(lambda: self._writer.delete(card_ids))

    async def list(self, where: CardFilter, *, limit: int = 100, offset: int = 0) -> list[MemoryCard]:
        """See `VectorStore.list`."""
        cards = await self._in_thread(lambda: self._accepted(where))
        return [*cards[offset : offset + limit]]

    async def count(self, where: CardFilter) -> int:
        """See `VectorStore.count`."""
        return len(await self._in_thread(lambda: self._accepted(where)))

    async def reports(self, *, agent: str | None = None, tenant: str | None = None) -> Sequence[Stored]:
        """Reports with their files, archived ones too, oldest first; `None` means all agents, or all tenants."""

        def select() -> Sequence[Stored]:
            self._look()
            every = [self._catalog.stored(card.id) for _, card in self._catalog.cards()]
            return [
                one
                for one in every
                if one.report and agent in (None, one.card.provenance.agent) and tenant in (None, one.card.scope.tenant)
            ]

        found = await self._in_thread(select)
        return sorted(found, key=lambda one: (moment(one.card.provenance.created_at), one.path))

    async def path_of(self, card_id: str) -> Path:
        """A card's file; raises `CardNotFoundError`."""

        def find() -> Path:
            self._look()
            return self._root / self._catalog.stored(card_id).path

        return await self._in_thread(find)

    async def archive(self, keep: int = KEEP, *, agent: str | None = None, dry_run: bool = False) -> Sequence[Moved]:
        """Move all but an agent's last `keep` reports to `archive/<year>`; returns which, oldest first.

        Nothing is deleted or rewritten: a card in the archive has the status "archived" by its place, so that recall
        doesn't see it, and gets its own one back with its file. Reports that have the status already go there too.

        Args:
            keep: How many stay, per agent and tenant.
            agent: Only this one's.
            dry_run: Say what would move, and move nothing.

        Raises:
            ConfigError: If `keep` is negative.
        """
        _checked("archive(keep=…)", keep)
        return await self._in_thread(lambda: self._writer.archive(keep, agent, dry_run=dry_run))

    async def problems(self) -> Sequence[Problem]:
        """The files that can't be read as cards, by path."""

        def look() -> Sequence[Problem]:
            self._look()
            return self._catalog.problems

        return await self._in_thread(look)

    async def unreadable(self) -> Sequence[str]:
        """See `Omits.unreadable`: files that aren't cards or blocks that can be read."""

        def look() -> Sequence[str]:
            self._look()
            cards = [f"{one.path}: {one.problem}" for one in self._catalog.problems]
            cards += [f"{path}: no name belongs to this block" for path in self._catalog.nameless_blocks()]
            return [*cards, *self._catalog.counts.problems]

        files = await self._in_thread(look)
        return [*files, *(await self._ledger.unreadable() if await self._in_thread(self._runs_path.exists) else ())]

    async def vectors_label(self) -> str:
        """See `Transferable.vectors_label`: none, since vectors are made again where they are missing."""
        return ""

    async def export_page(self, part: Part, *, after: str = "", limit: int = 200) -> tuple[Sequence[TransferItem], str]:
        """See `Transferable.export_page`."""
        if part != "cards":
            return await super().export_page(part, after=after, limit=limit)

        def select() -> tuple[Sequence[TransferItem], str]:
            self._look()
            behind = int(position(after, [0])[0])
            kept = sorted((number, card.id) for number, card in self._catalog.cards() if number > behind)[:limit]
            found = [card_item(self._catalog.get(card_id)) for _, card_id in kept]
            return found, cursor(kept[-1][0]) if kept else after

        return await self._in_thread(select)

    async def held(self, part: Part, keys: Sequence[tuple[str, ...]]) -> Mapping[tuple[str, ...], TransferItem]:
        """See `Transferable.held`."""
        if part != "cards":
            return await super().held(part, keys)

        def select() -> Mapping[tuple[str, ...], TransferItem]:
            self._look()
            return {key: card_item(self._catalog.get(key[0])) for key in keys if self._catalog.has(key[0])}

        return await self._in_thread(select)

    async def take(
        self, part: Part, items: Sequence[TransferItem], *, replace: bool = False
    ) -> Mapping[tuple[str, ...], str]:
        """See `Transferable.take`. Vectors aren't kept: they are made again where they are needed."""
        if part != "cards":
            return await super().take(part, items, replace=replace)
        refused = await self._in_thread(
            lambda: self._writer.take([card_from_json(item.content) for item in items], overwrite=replace)
        )
        return {(card_id,): why for card_id, why in refused.items()}

    async def facts(self) -> StoreFacts:
        """See `Describes.facts`."""

        def look() -> StoreFacts:
            self._look()
            return StoreFacts(
                kind="markdown",
                cards=tally_cards(card for _, card in self._catalog.cards()),
                merged=tally_merged(card for _, card in self._catalog.cards()),
                blocks=sum(bool(self._block(path)) for _, _, path in self._catalog.blocks()),
                runs=0,
                calls=0,
                size=sum(file.lstat().st_size for file in self._root.rglob("*")),
            )

        facts = await self._in_thread(look)
        if not await self._in_thread(self._runs_path.exists):
            return facts
        kept = await self._database.read(lambda connection: sqlite_facts(connection, self._runs_path))
        return replace(facts, runs=kept.runs, calls=kept.calls, schema=kept.schema)

    def _look(self) -> None:
        began = time.monotonic()
        if self._looked >= self._since or (self._fresh and began < self._looked + self._fresh):
            return
        with self._folder.explained():
            self._catalog.look()
        self._looked = began

    def _accepted(self, where: CardFilter) -> Sequence[MemoryCard]:
        self._look()
        return [card for card in self._catalog.listed() if where.accepts(card)]

    def _find(self, probes: Sequence[Probe]) -> tuple[Sequence[Sequence[RecallHit]] | None, Sequence[MemoryCard]]:
        """The hits of each probe; or `None` with the cards that have to be embedded before the index takes in more."""
        self._look()
        missing, whole = self._index.follow(self._catalog.cards(), self._vectors)
        return (self._index.search_each(probes) if whole else None), missing

    async def _embed(self, cards: Sequence[MemoryCard]) -> None:
        unknown = await self._in_thread(lambda: [card for card in cards if self._vectors.get(card) is None])
        if unknown:
            vectors = await embed_cards(self._embedder, unknown)
            await self._in_thread(lambda: self._vectors.put(unknown, pack(vectors)))


def _checked(name: str, keep: int) -> int:
    if keep < 0:
        raise ConfigError(f"{name.replace('…', repr(keep))}: must be 0 or more")
    return keep
