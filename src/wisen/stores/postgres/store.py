"""A store for many machines: PostgreSQL with pgvector, whose row-level security keeps tenants apart."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wisen import forks
from wisen.batching import BatchQueue, Request
from wisen.cards import MemoryCard
from wisen.errors import StoreReadOnlyError
from wisen.protocols import Embedder, Screen
from wisen.recall import CardFilter, RecallHit, Written
from wisen.stores.block_text import DEFAULT_BLOCK_LIMIT
from wisen.stores.card_store import CardStore
from wisen.stores.index.prepared import PreparedCard, are_short, prepare, same_texts
from wisen.stores.index.ranking import Probe
from wisen.stores.index.vectors import embed_cards, label
from wisen.stores.maintenance import StoreFacts
from wisen.stores.postgres import cards as sql
from wisen.stores.postgres import facts, search, transfer
from wisen.stores.postgres.client import Connection
from wisen.stores.postgres.connection import Pool
from wisen.stores.postgres.ledger import PostgresLedger
from wisen.stores.postgres.reindex import reindex
from wisen.stores.postgres.server_errors import UnreachableError
from wisen.stores.postgres.text import stored
from wisen.stores.postgres.tune import LARGE, Tuned, tune
from wisen.stores.serialization import card_to_json
from wisen.stores.transfer_items import encodable, prepare_items
from wisen.stores.transfer_protocol import Part, TransferItem
from wisen.yielding import LoopShare

FEW = 4


async def prepared_cards(cards: Sequence[MemoryCard], vectors: NDArray[np.float32] | None) -> list[PreparedCard]:
    """As `prepare` does it, with JSON."""
    if len(cards) <= FEW and are_short(cards):
        return prepare(cards, vectors, card_to_json)
    return await asyncio.to_thread(prepare, cards, vectors, card_to_json)


_Add = Request[tuple[Sequence[MemoryCard], NDArray[np.float32]], list[Written]]
_MOST_ADDED = 64
_MOST_SEARCHED = 4


class PostgresVectorStore(CardStore, PostgresLedger):
    """A `VectorStore`, `Blocks`, `RunLog` and `CallLog` in one schema of a Postgres database.

    Nothing is kept in the process: each search sees what any process has committed. It connects at the first use;
    `await store.open()` or `async with store` does it at once, and makes what is missing in the database. What a call
    has returned from is committed, and a server that goes away is waited for. Counting a duplicate doesn't change a
    card's version. What many ask for at once shares transactions, and each gets an error of its own.

    Each transaction sees the rows of one tenant, by row-level security, except for what is by id or asked of all
    tenants. A user whom row-level security doesn't hold works as the role `SCHEMA_rows`.
    """

    def __init__(  # noqa: PLR0913 - options, by keyword
        self,
        url: str,
        *,
        embedder: Embedder | None = None,
        floor: float | None = None,
        read_only: bool = False,
        block_limit: int = DEFAULT_BLOCK_LIMIT,
        screen: Screen | None = None,
        schema: str = "wisen",
        pool_size: int = 10,
        patience: float = 30.0,
    ) -> None:
        """Remember the options; nothing is read or written yet.

        Args:
            url: The database: `postgresql://user:password@host:port/database`, with options of libpq behind a "?".
            embedder: Makes the vectors; `None` takes `HashEmbedder`.
            floor: Relevance in [0, 1] below which a search returns nothing; `None` takes `scoring.DEFAULT_FLOOR`.
            read_only: Never write; every writing method raises `StoreReadOnlyError`. A standby server will do.
            block_limit: Characters that one memory block holds.
            screen: What `add` lets in; `None` takes `DefaultScreen`.
            schema: Where the tables are; it is made when missing.
            pool_size: The most connections at a time.
            patience: Seconds for which a server that is away, or refuses new connections, is waited for.

        Raises:
            ConfigError: If an option can't be used.
        """
        CardStore.__init__(self, embedder, floor, screen)
        PostgresLedger.__init__(
            self, Pool(url, schema=schema, size=pool_size, patience=patience, read_only=read_only), block_limit
        )
        self._read_only = read_only
        self._adds = BatchQueue(self._add, most=_MOST_ADDED, places=2, shared=UnreachableError)
        self._refusals = BatchQueue(
            self._look_for_refused,
            most=_MOST_ADDED,
            places=2,
            kind=lambda where: replace(where, refused="x"),
            shared=UnreachableError,
        )
        # One thread: more of them would keep the event loop waiting for its turn, and be no faster together.
        self._ranking = ThreadPoolExecutor(1, thread_name_prefix="wisen-ranking")
        self._share = LoopShare(1)
        self._searches = BatchQueue(
            self._search, most=_MOST_SEARCHED, places=pool_size, kind=_tenant, shared=UnreachableError
        )
        forks.joins(self)

    def after_fork_in_child(self) -> None:
        """See `Forkable.after_fork_in_child`."""
        forks.leave(self._ranking)
        self._ranking = ThreadPoolExecutor(1, thread_name_prefix="wisen-ranking")

    @property
    def url(self) -> str:
        """The database, without the password."""
        return self._pool.shown

    @property
    def connections(self) -> tuple[int, int]:
        """How many connections are at work in this process, and how many may be."""
        return self._pool.use

    async def open(self) -> None:
        """Connect now, and make or update the tables.

        Raises:
            ForeignDatabaseError: If the schema isn't a store this wisen can open.
            EmbedderMismatchError: If its vectors come from another embedder.
            StoreError: If the server can't be reached, or refuses.
        """
        await self._pool.read(self._check_embedder, tenant=None)

    async def close(self) -> None:
        """Finish what is under way and disconnect. Closing twice is fine."""
        await self._pool.close()
        self._ranking.shutdown(wait=False)

    async def add_unscreened(self, cards: Sequence[MemoryCard]) -> list[Written]:
        """See `VectorStore.add_unscreened`. Where the vectors can't be made (`EmbedderError`), nothing is stored."""
        if not cards:
            return []
        self._refuse_writing()
        vectors = await embed_cards(self._embedder, cards)
        if len(cards) > FEW:
            return await self._insert(cards, vectors)
        return await self._adds.ask((cards, vectors))

    async def _add(self, some: Sequence[_Add]) -> None:
        cards = [card for one in some for card in one.what[0]]
        written = iter(await self._insert(cards, np.concatenate([one.what[1] for one in some])))
        for one in some:
            one.give([next(written) for _ in one.what[0]])

    async def _insert(self, cards: Sequence[MemoryCard], vectors: NDArray[np.float32]) -> list[Written]:
        ready = await prepared_cards(cards, vectors)

        async def insert(connection: Connection) -> list[Written]:
            await self._claim_embedder(connection, ready)
            return await sql.insert_all(connection, ready)

        return await self._pool.write(insert, tenant=None)

    async def get(self, card_ids: Sequence[str]) -> list[MemoryCard]:
        """See `VectorStore.get`."""
        return await self._pool.read(lambda connection: sql.fetch(connection, card_ids), tenant=None)

    async def ids_beginning(self, what: Literal["card", "run"], beginning: str) -> Sequence[str]:
        """Ids of cards or runs that begin so, in the order of listings; none for an empty beginning."""
        return await self._pool.read(lambda connection: sql.ids_beginning(connection, what, beginning), tenant=None)

    async def _answers(self, probes: Sequence[Probe]) -> Sequence[Sequence[RecallHit]]:
        return await self._searches.ask(probes)

    async def _search(self, some: Sequence[Request[Sequence[Probe], Sequence[Sequence[RecallHit]]]]) -> None:
        probes = [probe for one in some for probe in one.what]
        tenant = _tenant(probes)

        async def find(connection: Connection) -> Sequence[Sequence[RecallHit]]:
            kept, tuned = await search.label_and_tuned(connection, stored(tenant))
            self._check_label(self.url, kept)
            return await search.search(
                connection,
                probes,
                self._pool.vectors,
                tuned=tuned,
                aside=self._ranking,
                share=self._share,
                damage=self._damage,
            )

        hits = iter(await self._pool.read(find, tenant=tenant))
        for one in some:
            one.give([next(hits) for _ in one.what])

    async def _look_for_refused(self, some: Sequence[Request[CardFilter, bool]]) -> None:
        where, keys = some[0].what, {one.what.refused for one in some}
        there = await self._pool.read(
            lambda connection: sql.refused_among(connection, where, keys), tenant=where.tenant
        )
        for one in some:
            one.give(one.what.refused in there)

    async def update(self, card: MemoryCard) -> None:
        """See `VectorStore.update`. A card stays in its tenant, and its count of duplicates never falls."""
        self._refuse_writing()
        kept = (await self.get([card.id]))[0]
        vectors = None if same_texts(kept, card) else await embed_cards(self._embedder, [card])
        ready = await prepared_cards([card], vectors)

        async def write(connection: Connection) -> None:
            await sql.hold(connection, ready)
            await self._check_embedder(connection)
            await sql.replace_card(connection, ready[0])

        await self._pool.write(write, tenant=None)

    async def delete(self, card_ids: Sequence[str]) -> int:
        """See `VectorStore.delete`."""
        return await self._pool.write(lambda connection: sql.remove(connection, card_ids), tenant=None)

    async def list(self, where: CardFilter, *, limit: int = 100, offset: int = 0) -> list[MemoryCard]:
        """See `VectorStore.list`."""
        if where.refused and not await self._refusals.ask(where):
            return []
        return await self._pool.read(
            lambda connection: sql.select(connection, where, limit, offset, self._damage),
            tenant=where.tenant,
        )

    async def count(self, where: CardFilter) -> int:
        """See `VectorStore.count`."""
        return await self._pool.read(lambda connection: sql.tally(connection, where), tenant=where.tenant)

    async def reindex(self, *, progress: Callable[[int, int], None] = lambda _done, _of: None) -> int:
        """Embed all cards again with this store's embedder, which the store then belongs to; returns how many.

        Until the end it keeps its old vectors. `progress` hears how many cards of how many are embedded.
        """
        return await reindex(self._pool, self._embedder, progress)

    async def tune(self, *, large: int = LARGE) -> Tuned:
        """Give tenants of at least `large` cards an approximate index of their own, and small ones none.

        Searches use it from then on, and still find all that fits. Call it now and then, such as once a night, and
        after a large import. Raises `StoreError` for a user who doesn't own the tables.
        """
        self._refuse_writing()
        return await tune(self._pool, large)

    async def vectors_label(self) -> str:
        """See `Transferable.vectors_label`."""
        return await self._pool.read(_stored_label, tenant=None)

    async def export_page(self, part: Part, *, after: str = "", limit: int = 200) -> tuple[Sequence[TransferItem], str]:
        """See `Transferable.export_page`."""
        if part != "cards":
            return await super().export_page(part, after=after, limit=limit)
        return await self._pool.read(lambda connection: transfer.next_cards(connection, after, limit), tenant=None)

    async def held(self, part: Part, keys: Sequence[tuple[str, ...]]) -> Mapping[tuple[str, ...], TransferItem]:
        """See `Transferable.held`."""
        if part != "cards":
            return await super().held(part, keys)
        return await self._pool.read(lambda connection: transfer.held_cards(connection, keys), tenant=None)

    async def take(
        self, part: Part, items: Sequence[TransferItem], *, replace: bool = False
    ) -> Mapping[tuple[str, ...], str]:
        """See `Transferable.take`. Raises `EmbedderError` where a card has to be embedded and can't be."""
        if part != "cards":
            return await super().take(part, items, replace=replace)
        fitting, refused = encodable(part, items)
        ready = await prepare_items(self._embedder, fitting)

        async def keep(connection: Connection) -> None:
            await self._claim_embedder(connection, ready)
            await transfer.take_cards(connection, ready, replace=replace)

        await self._pool.write(keep, tenant=None)
        self._damage.forget()
        return refused

    async def facts(self) -> StoreFacts:
        """See `Describes.facts`."""
        return await self._pool.read(facts.facts, tenant=None)

    async def problems_found(self) -> Sequence[str]:
        """See `Inspects.problems_found`: cards that lack what they are found by, and indexes left unfinished."""
        return await self._pool.read(facts.problems, tenant=None)

    def _refuse_writing(self) -> None:
        if self._read_only:
            raise StoreReadOnlyError(self.url)

    async def _check_embedder(self, connection: Connection) -> str:
        kept = await _stored_label(connection)
        self._check_label(self.url, kept)
        return kept

    async def _claim_embedder(self, connection: Connection, ready: Sequence[PreparedCard]) -> None:
        await sql.hold(connection, ready)
        if await self._check_embedder(connection):
            return
        await connection.execute("UPDATE state SET embedder = $1 WHERE embedder = ''", label(self._embedder))
        await self._check_embedder(connection)


def _tenant(probes: Sequence[Probe]) -> str:
    return probes[0].query.filter.tenant or ""


async def _stored_label(connection: Connection) -> str:
    return await connection.fetchval("SELECT embedder FROM state")
