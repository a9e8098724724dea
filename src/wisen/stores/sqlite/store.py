"""The default store: one SQLite file, safe for several processes, with an exact index derived in memory."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from wisen import forks
from wisen.cards import MemoryCard
from wisen.errors import StoreError, StoreReadOnlyError
from wisen.protocols import Embedder, Screen
from wisen.recall import CardFilter, RecallHit, Written
from wisen.stores.block_text import DEFAULT_BLOCK_LIMIT
from wisen.stores.card_store import CardStore
from wisen.stores.index.prepared import PreparedCard, prepare, same_texts
from wisen.stores.index.ranking import Probe
from wisen.stores.index.search import CardIndex, IndexRow
from wisen.stores.index.vectors import PackLine, embed_cards, label, packed_dtype
from wisen.stores.maintenance import StoreFacts, sqlite_facts, sqlite_problems
from wisen.stores.serialization import card_to_json
from wisen.stores.sqlite import cards as sql
from wisen.stores.sqlite import transfer
from wisen.stores.sqlite.connection import Database
from wisen.stores.sqlite.file import StoreFile
from wisen.stores.sqlite.ledger import SQLiteLedger
from wisen.stores.sqlite.reindex import reindex
from wisen.stores.transfer_items import prepare_items
from wisen.stores.transfer_protocol import Part, TransferItem

_MOST_INDEXES = 1_024


class SQLiteVectorStore(CardStore, SQLiteLedger):
    """A `VectorStore`, `Blocks`, `RunLog` and `CallLog` in one SQLite file.

    The file opens at the first use, in a thread; `await store.open()` or `async with store` opens it at once. Nothing
    blocks the event loop. What a call has returned from outlives the process, and with `fsync=True` a power cut to
    the machine. Several processes may use one file: each keeps an index of the tenants it was asked for, and takes in
    what others have changed before each search. Counting a duplicate doesn't change a card's version.
    """

    def __init__(  # noqa: PLR0913 - options, by keyword
        self,
        path: str | Path,
        *,
        embedder: Embedder | None = None,
        floor: float | None = None,
        read_only: bool = False,
        fsync: bool = False,
        patience: float = 60.0,
        block_limit: int = DEFAULT_BLOCK_LIMIT,
        screen: Screen | None = None,
    ) -> None:
        """Remember the options; nothing is read or written yet.

        Args:
            path: The file; it and its directory are made when missing. A new one only its owner may read (0600).
            embedder: Makes the vectors; `None` takes `HashEmbedder`.
            floor: Relevance in [0, 1] below which a search returns nothing; `None` takes `scoring.DEFAULT_FLOOR`.
            read_only: Never write; every writing method raises `StoreReadOnlyError`.
            fsync: Wait at each commit until the disk has it, so that a power cut loses nothing either.
            patience: Seconds for which a lock of another process is waited for, before that is an error.
            block_limit: Characters that one memory block holds.
            screen: What `add` lets in; `None` takes `DefaultScreen`.

        Raises:
            ConfigError: If `floor` isn't in [0, 1], `patience` is negative or `block_limit` is below 1.
        """
        CardStore.__init__(self, embedder, floor, screen)
        file = StoreFile(Path(path).expanduser(), read_only=read_only, fsync=fsync, patience=patience)
        SQLiteLedger.__init__(self, Database(file), block_limit)
        self._read_only = read_only
        self._indexes: dict[str, _TenantIndex] = {}
        self._packing = PackLine()
        forks.joins(self)

    def after_fork_in_child(self) -> None:
        """See `Forkable.after_fork_in_child`: the index may have been half changed."""
        self._indexes = {}
        self._packing = PackLine()

    @property
    def path(self) -> Path:
        """The file that holds everything."""
        return self._database.path

    async def open(self) -> None:
        """Open the file now.

        Raises:
            ForeignDatabaseError: If it isn't a store this wisen can open.
            EmbedderMismatchError: If its vectors come from another embedder.
            StoreError: If it can't be opened.
        """
        if self._read_only:
            await self._database.read(self._check_embedder)
        else:
            await self._database.write(self._check_embedder)

    async def close(self) -> None:
        """Finish the writes under way and release the file. Closing twice is fine."""
        await self._database.close()
        self._indexes.clear()

    async def add_unscreened(self, cards: Sequence[MemoryCard]) -> list[Written]:
        """See `VectorStore.add_unscreened`. Where the vectors can't be made (`EmbedderError`), nothing is stored."""
        if not cards:
            return []
        if self._read_only:
            raise StoreReadOnlyError(str(self.path))
        vectors = await embed_cards(self._embedder, cards)
        packing = self._packing.join(vectors)
        ready: list[PreparedCard] = []

        def before() -> None:
            ready.extend(prepare(cards, vectors, card_to_json, lambda _: packing.entries()))

        def insert(connection: sqlite3.Connection) -> list[Written]:
            self._claim_embedder(connection)
            return sql.insert_all(connection, ready)

        return await self._database.write(insert, before=before)

    async def get(self, card_ids: Sequence[str]) -> list[MemoryCard]:
        """See `VectorStore.get`."""
        return await self._database.read(lambda connection: sql.fetch(connection, card_ids))

    async def ids_beginning(self, what: Literal["card", "run"], beginning: str) -> Sequence[str]:
        """Ids of cards or runs that begin so, in the order of listings; none for an empty beginning."""
        return await self._database.read(lambda connection: sql.ids_beginning(connection, what, beginning))

    async def _answers(self, probes: Sequence[Probe]) -> Sequence[Sequence[RecallHit]]:
        return await self._database.read(lambda connection: self._search(connection, probes))

    async def update(self, card: MemoryCard) -> None:
        """See `VectorStore.update`. A card stays in its tenant, and its count of duplicates never falls."""
        if self._read_only:
            raise StoreReadOnlyError(str(self.path))
        kept = (await self.get([card.id]))[0]
        vectors = None if same_texts(kept, card) else await embed_cards(self._embedder, [card])
        ready: list[PreparedCard] = []

        def write(connection: sqlite3.Connection) -> None:
            self._check_embedder(connection)
            sql.replace_card(connection, ready[0])

        await self._database.write(write, before=lambda: ready.extend(prepare([card], vectors, card_to_json)))

    async def delete(self, card_ids: Sequence[str]) -> int:
        """See `VectorStore.delete`."""
        gone = await self._database.write(lambda connection: sql.remove(connection, card_ids))
        if gone:
            with suppress(StoreError):  # they are deleted; a reader elsewhere only keeps their text in the log for now
                await self.scrub()
        return gone

    async def scrub(self) -> None:
        """See `Scrubs.scrub`: the pages of withdrawn cards are overwritten, and the log that held them is emptied."""
        await self._database.truncate_log()

    async def list(self, where: CardFilter, *, limit: int = 100, offset: int = 0) -> list[MemoryCard]:
        """See `VectorStore.list`."""
        return await self._database.read(lambda connection: sql.select(connection, where, limit, offset, self._damage))

    async def count(self, where: CardFilter) -> int:
        """See `VectorStore.count`."""
        return await self._database.read(lambda connection: sql.tally(connection, where))

    async def reindex(self, *, progress: Callable[[int, int], None] = lambda _done, _of: None) -> int:
        """Embed all cards again with this store's embedder, which the file then belongs to; returns how many.

        Until the end the file keeps its old vectors. `progress` hears how many cards of how many are embedded.
        """
        return await reindex(self._database, self._embedder, progress)

    async def vectors_label(self) -> str:
        """See `Transferable.vectors_label`."""
        return await self._database.read(_stored_label)

    async def export_page(self, part: Part, *, after: str = "", limit: int = 200) -> tuple[Sequence[TransferItem], str]:
        """See `Transferable.export_page`."""
        if part != "cards":
            return await super().export_page(part, after=after, limit=limit)
        return await self._database.read(lambda connection: transfer.next_cards(connection, after, limit))

    async def held(self, part: Part, keys: Sequence[tuple[str, ...]]) -> Mapping[tuple[str, ...], TransferItem]:
        """See `Transferable.held`."""
        if part != "cards":
            return await super().held(part, keys)
        return await self._database.read(lambda connection: transfer.held_cards(connection, keys))

    async def take(
        self, part: Part, items: Sequence[TransferItem], *, replace: bool = False
    ) -> Mapping[tuple[str, ...], str]:
        """See `Transferable.take`. Raises `EmbedderError` where a card has to be embedded and can't be."""
        if part != "cards":
            return await super().take(part, items, replace=replace)
        ready = await prepare_items(self._embedder, items)

        def keep(connection: sqlite3.Connection) -> None:
            self._claim_embedder(connection)
            transfer.take_cards(connection, ready, replace=replace)

        await self._database.write(keep)
        self._damage.forget()
        return {}

    async def facts(self) -> StoreFacts:
        """See `Describes.facts`."""
        return await self._database.read(lambda connection: sqlite_facts(connection, self.path))

    async def problems_found(self) -> Sequence[str]:
        """See `Inspects.problems_found`: what SQLite's own check of the file says."""
        return await self._database.read(sqlite_problems)

    def _check_embedder(self, connection: sqlite3.Connection) -> None:
        self._check_label(str(self.path), _stored_label(connection))

    def _claim_embedder(self, connection: sqlite3.Connection) -> None:
        self._check_embedder(connection)
        connection.execute("UPDATE state SET embedder = ? WHERE embedder = ''", (label(self._embedder),))

    def _search(self, connection: sqlite3.Connection, probes: Sequence[Probe]) -> Sequence[Sequence[RecallHit]]:
        index = self._fresh_index(connection, probes[0].query.filter.tenant or "")
        while True:
            found = index.search_each(probes)
            numbers = list({match.number for matches in found for match in matches})
            cards = sql.fetch_numbers(connection, numbers, self._damage)
            if len(cards) == len(numbers):
                return [[match.hit(cards[match.number]) for match in matches] for matches in found]
            index.drop([number for number in numbers if number not in cards])

    def _has_vectors(self, row: IndexRow) -> bool:
        fits = len(row[-1]) == packed_dtype(self._embedder.dimension).itemsize
        if not fits:
            self._damage.note("vectors", row[0], row[1], f"{len(row[-1])} bytes")
        return fits

    def _fresh_index(self, connection: sqlite3.Connection, tenant: str) -> CardIndex:
        """The tenant's index with all that the snapshot holds; only the reading thread calls this."""
        generation, epoch, stored = connection.execute("SELECT generation, epoch, embedder FROM state").fetchone()
        self._check_label(str(self.path), stored)
        known = self._indexes.pop(tenant, None)
        if known is None or known.epoch != epoch or known.rows.wasteful:
            known = _TenantIndex(tenant, self._embedder.dimension, epoch)
        if known.seen != generation:
            written, gone = sql.changes(connection, tenant, known.seen)
            known.rows.drop(gone)
            known.rows.put([row for row in written if self._has_vectors(row)])
            known.seen = generation
        self._indexes[tenant] = known
        if len(self._indexes) > _MOST_INDEXES:
            del self._indexes[next(iter(self._indexes))]
        return known.rows


def _stored_label(connection: sqlite3.Connection) -> str:
    return connection.execute("SELECT embedder FROM state").fetchone()[0]


class _TenantIndex:
    """An index and the state of the file that it shows."""

    def __init__(self, tenant: str, dimension: int, epoch: int) -> None:
        self.rows = CardIndex(tenant, dimension)
        self.epoch = epoch
        self.seen = 0
