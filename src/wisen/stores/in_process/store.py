"""The store for tests, notebooks and single processes: everything in memory, gone with the process."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from typing import Literal, TypeVar

from wisen import forks
from wisen.cards import MemoryCard
from wisen.errors import CardNotFoundError
from wisen.forks import ForkLock
from wisen.protocols import Embedder, Screen
from wisen.recall import CardFilter, RecallHit, Written
from wisen.stores.block_text import DEFAULT_BLOCK_LIMIT
from wisen.stores.card_store import CardStore
from wisen.stores.in_process.ledger import InMemoryLedger
from wisen.stores.index.pending import TenantRows
from wisen.stores.index.prepared import PreparedCard, are_short, check_successor, prepare, same_texts
from wisen.stores.index.ranking import Match, Probe
from wisen.stores.index.vectors import embed_cards, label
from wisen.stores.maintenance import StoreFacts, tally_cards, tally_merged
from wisen.stores.ordering import moment
from wisen.stores.transfer_items import card_item, cursor, position, prepare_items
from wisen.stores.transfer_protocol import Part, TransferItem

_Result = TypeVar("_Result")
_FEW = 8
_FEW_TO_SEARCH = 500
"""Searched in less time than a hop to a thread and back takes."""


class InMemoryVectorStore(CardStore, InMemoryLedger):
    """A `VectorStore`, `Blocks`, `RunLog` and `CallLog` in memory.

    Recall is the same as that of `SQLiteVectorStore`. Searching, and adding many cards, happens in a thread. Counting a
    duplicate doesn't change a card's version. A forked process goes on with a copy of its own.
    """

    def __init__(
        self,
        *,
        embedder: Embedder | None = None,
        floor: float | None = None,
        block_limit: int = DEFAULT_BLOCK_LIMIT,
        screen: Screen | None = None,
    ) -> None:
        """Begin empty.

        Args:
            embedder: Makes the vectors; `None` takes `HashEmbedder`.
            floor: Relevance in [0, 1] below which a search returns nothing; `None` takes `scoring.DEFAULT_FLOOR`.
            block_limit: Characters that one memory block holds.
            screen: What `add` lets in; `None` takes `DefaultScreen`.

        Raises:
            ConfigError: If `floor` isn't in [0, 1] or `block_limit` is below 1.
        """
        CardStore.__init__(self, embedder, floor, screen)
        InMemoryLedger.__init__(self, block_limit)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="wisen-memory")
        self._cards: dict[int, MemoryCard] = {}
        self._number_of: dict[str, int] = {}
        self._duplicates: dict[str, list[int]] = {}
        self._refused: dict[str, set[int]] = {}
        self._tenants: dict[str, TenantRows] = {}
        self._last_number = 0
        self._searching = ForkLock()
        forks.joins(self)

    def before_fork(self, until: float) -> None:
        """See `Forkable.before_fork`."""
        for lock in (self._searching, self._lock):
            lock.before_fork(until)

    def after_fork_in_parent(self) -> None:
        """See `Forkable.after_fork_in_parent`."""
        for lock in (self._lock, self._searching):
            lock.after_fork_in_parent()

    def after_fork_in_child(self) -> None:
        """See `Forkable.after_fork_in_child`: it goes on with a copy, and neither sees what the other adds."""
        forks.leave(self._thread)
        for lock in (self._lock, self._searching):
            lock.after_fork_in_child()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="wisen-memory")

    async def open(self) -> None:
        """Nothing to open."""
        self._refuse_closed()

    async def close(self) -> None:
        """Let go of everything kept. Closing twice is fine."""
        self._closed = True
        await asyncio.to_thread(self._thread.shutdown)
        for kept in (self._cards, self._number_of, self._duplicates, self._refused, self._tenants):
            kept.clear()

    async def add_unscreened(self, cards: Sequence[MemoryCard]) -> list[Written]:
        """See `VectorStore.add_unscreened`. Where the vectors can't be made (`EmbedderError`), nothing is stored."""
        self._refuse_closed()
        vectors = await embed_cards(self._embedder, cards)

        def write() -> list[Written]:
            ready = prepare(cards, vectors)
            with self._lock:
                return [self._insert(prepared) for prepared in ready]

        if len(cards) <= _FEW and are_short(cards):
            self._refuse_closed()
            return write()
        return await self._in_thread(write)

    async def get(self, card_ids: Sequence[str]) -> list[MemoryCard]:
        """See `VectorStore.get`."""
        self._refuse_closed()
        with self._lock:
            return [self._cards[self._number(card_id)] for card_id in card_ids]

    async def ids_beginning(self, what: Literal["card", "run"], beginning: str) -> Sequence[str]:
        """Ids of cards or runs that begin so, in the order of listings; none for an empty beginning."""
        if what == "run":
            found = [record.run_id for record in await self.runs(limit=len(self._runs))]
        else:
            found = [card.id for card in await self.list(CardFilter(), limit=len(self._cards))]
        return [one for one in found if beginning and one.startswith(beginning)]

    async def _answers(self, probes: Sequence[Probe]) -> Sequence[Sequence[RecallHit]]:
        self._refuse_closed()
        if len(self._cards) <= _FEW_TO_SEARCH:
            return self._search(probes)
        return await self._in_thread(lambda: self._search(probes))

    async def update(self, card: MemoryCard) -> None:
        """See `VectorStore.update`. A card stays in its tenant, and its count of duplicates never falls."""
        kept = (await self.get([card.id]))[0]
        check_successor(kept, card)
        vectors = None if same_texts(kept, card) else await embed_cards(self._embedder, [card])
        prepared = prepare([card], vectors)[0]
        self._refuse_closed()
        with self._lock:
            self._replace(prepared)

    async def delete(self, card_ids: Sequence[str]) -> int:
        """See `VectorStore.delete`."""
        self._refuse_closed()
        with self._lock:
            return sum(self._remove(card_id) for card_id in card_ids)

    async def list(self, where: CardFilter, *, limit: int = 100, offset: int = 0) -> list[MemoryCard]:
        """See `VectorStore.list`."""

        def select() -> list[MemoryCard]:
            ordered = sorted(self._accepted(where), key=lambda card: (moment(card.provenance.created_at), card.id))
            return ordered[offset : offset + limit]

        return await self._in_thread(select)

    async def count(self, where: CardFilter) -> int:
        """See `VectorStore.count`."""
        return await self._in_thread(lambda: len(self._accepted(where)))

    async def vectors_label(self) -> str:
        """See `Transferable.vectors_label`."""
        self._refuse_closed()
        return label(self._embedder) if self._cards else ""

    async def export_page(self, part: Part, *, after: str = "", limit: int = 200) -> tuple[Sequence[TransferItem], str]:
        """See `Transferable.export_page`."""
        if part != "cards":
            return await super().export_page(part, after=after, limit=limit)
        start = int(position(after, [0])[0])

        def select() -> tuple[Sequence[TransferItem], str]:
            with self._lock:
                kept = list(islice(((at, self._cards[at]) for at in sorted(self._cards) if at > start), limit))
            return self._with_vectors(kept), cursor(kept[-1][0]) if kept else after

        return await self._in_thread(select)

    async def held(self, part: Part, keys: Sequence[tuple[str, ...]]) -> Mapping[tuple[str, ...], TransferItem]:
        """See `Transferable.held`."""
        if part != "cards":
            return await super().held(part, keys)

        def select() -> Mapping[tuple[str, ...], TransferItem]:
            with self._lock:
                numbers = [self._number_of[key[0]] for key in keys if key[0] in self._number_of]
                kept = [(number, self._cards[number]) for number in numbers]
            return {item.key: item for item in self._with_vectors(kept)}

        return await self._in_thread(select)

    async def take(
        self, part: Part, items: Sequence[TransferItem], *, replace: bool = False
    ) -> Mapping[tuple[str, ...], str]:
        """See `Transferable.take`. Raises `EmbedderError` where a card has to be embedded and can't be."""
        if part != "cards":
            return await super().take(part, items, replace=replace)
        self._refuse_closed()
        ready = await prepare_items(self._embedder, items)
        self._refuse_closed()
        with self._lock:
            for prepared in ready:
                if prepared.card.id not in self._number_of:
                    self._keep_new(prepared)
                elif replace:
                    self._exchange(prepared)
        return {}

    async def facts(self) -> StoreFacts:
        """See `Describes.facts`."""
        self._refuse_closed()
        blocks = sum(map(bool, self._blocks.values()))
        with self._lock:
            cards, merged = tally_cards(self._cards.values()), tally_merged(self._cards.values())
        return StoreFacts(
            kind="memory",
            cards=cards,
            merged=merged,
            blocks=blocks,
            runs=len(self._runs),
            calls=len(self._calls),
            embedder=await self.vectors_label(),
        )

    def _with_vectors(self, kept: Sequence[tuple[int, MemoryCard]]) -> Sequence[TransferItem]:
        with self._searching:
            wanted: dict[str, Sequence[int]] = {}
            for number, card in kept:
                wanted[card.scope.tenant] = [*wanted.get(card.scope.tenant, ()), number]
            found: dict[int, bytes] = {}
            for tenant, numbers in wanted.items():
                with self._lock:
                    rows = self._tenants[tenant]
                    changes = rows.take()
                found |= rows.fresh(*changes).vectors(numbers)
        return [card_item(card, found.get(number, b"")) for number, card in kept]

    async def _in_thread(self, work: Callable[[], _Result]) -> _Result:
        self._refuse_closed()
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _accepted(self, where: CardFilter) -> Sequence[MemoryCard]:
        with self._lock:
            refused = self._refused.get(where.refused, ())
            kept = [self._cards[number] for number in refused] if where.refused else list(self._cards.values())
        return [card for card in kept if where.accepts(card)]

    def _number(self, card_id: str) -> int:
        number = self._number_of.get(card_id)
        if number is None:
            raise CardNotFoundError(card_id)
        return number

    def _insert(self, prepared: PreparedCard) -> Written:
        card = prepared.card
        if card.id in self._number_of:
            return Written(card_id=card.id, outcome="unchanged")
        alike = self._duplicates.get(prepared.duplicate_key)
        if alike:
            first = self._cards[min(alike)]
            self._cards[min(alike)] = replace(first, duplicates=first.duplicates + 1)
            return Written(card_id=first.id, outcome="duplicate")
        self._keep_new(prepared)
        return Written(card_id=card.id, outcome="added")

    def _keep_new(self, prepared: PreparedCard) -> None:
        self._last_number += 1
        self._number_of[prepared.card.id] = self._last_number
        self._keep(self._last_number, prepared)

    def _keep(self, number: int, prepared: PreparedCard) -> None:
        card = prepared.card
        self._cards[number] = card
        self._duplicates.setdefault(prepared.duplicate_key, []).append(number)
        if card.refused:
            self._refused.setdefault(card.refused, set()).add(number)
        tenant = self._tenants.get(card.scope.tenant)
        if tenant is None:
            tenant = self._tenants[card.scope.tenant] = TenantRows(card.scope.tenant, self._embedder.dimension)
        tenant.put(prepared.row(number))

    def _replace(self, prepared: PreparedCard) -> None:
        number = self._number(prepared.card.id)
        kept = self._cards[number]
        check_successor(kept, prepared.card)
        self._forget_keys(kept, number)
        self._keep(number, prepared)
        if kept.duplicates > prepared.card.duplicates:
            self._cards[number] = replace(prepared.card, duplicates=kept.duplicates)

    def _exchange(self, prepared: PreparedCard) -> None:
        """Put a card in the place of the one with its id, whatever that one is like."""
        number = self._number(prepared.card.id)
        kept = self._cards[number]
        if kept.scope.tenant != prepared.card.scope.tenant:
            self._remove(kept.id)
            self._keep_new(prepared)
        else:
            self._forget_keys(kept, number)
            self._keep(number, prepared)

    def _remove(self, card_id: str) -> int:
        number = self._number_of.pop(card_id, None)
        if number is None:
            return 0
        card = self._cards.pop(number)
        self._forget_keys(card, number)
        self._tenants[card.scope.tenant].drop(number)
        return 1

    def _forget_keys(self, card: MemoryCard, number: int) -> None:
        alike = self._duplicates[card.duplicate_key]
        alike.remove(number)
        if not alike:
            del self._duplicates[card.duplicate_key]
        if card.refused:
            self._refused[card.refused].discard(number)

    def _search(self, probes: Sequence[Probe]) -> Sequence[Sequence[RecallHit]]:
        with self._searching:
            with self._lock:
                tenant = self._tenants.get(probes[0].query.filter.tenant or "")
                changes = tenant.take() if tenant else None
            if tenant is None or changes is None:
                return [[] for _ in probes]
            matches = tenant.fresh(*changes).search_each(probes)
        with self._lock:
            return [self._hits(*one) for one in zip(probes, matches, strict=True)]

    def _hits(self, probe: Probe, matches: Sequence[Match]) -> Sequence[RecallHit]:
        # A card may have changed since its row was found.
        found = [(match, self._cards.get(match.number)) for match in matches]
        return [match.hit(card) for match, card in found if card is not None and probe.query.accepts(card)]
