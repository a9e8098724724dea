"""pgvector used bare, as the limit: one table, one vector a row, an index on the tenant and one HNSW over all."""

import importlib
import time
from collections.abc import Sequence
from typing import Any

from pg_cards import Batch, Floats

_EF = (40, 200)
_TABLE = "CREATE TABLE items (id text PRIMARY KEY, tenant text NOT NULL, body text NOT NULL, embedding vector(384))"
_NEAREST = "SELECT id, body FROM items WHERE tenant = $1 ORDER BY embedding <=> $2 LIMIT 5"


async def connected(url: str) -> Any:
    """A connection without a pool; the driver has no types."""
    driver: Any = importlib.import_module("asyncpg")
    return await driver.connect(url)


class Bare:
    """A table of one's own."""

    def __init__(self, url: str) -> None:
        """In this database."""
        self._url = url
        self._connection: Any = None
        self.copying = 0.0
        """Seconds spent on COPY."""

    async def open(self) -> None:
        """Connect and make the table."""
        codec: Any = importlib.import_module("pgvector.asyncpg")
        self._connection = await connected(self._url)
        await self._connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        await codec.register_vector(self._connection)
        await self._connection.execute(_TABLE)

    async def close(self) -> None:
        """Disconnect."""
        await self._connection.close()

    async def fill(self, batch: Batch) -> None:
        """Add the cards' texts, each with the vector of its text."""
        rows = [
            (card.id, card.scope.tenant, card.content, vector)
            for card, vector in zip(batch.cards, batch.vectors[:, 1], strict=True)
        ]
        began = time.perf_counter()
        await self._connection.copy_records_to_table("items", records=rows)
        self.copying += time.perf_counter() - began

    async def index(self) -> dict[str, float]:
        """Build both indexes; seconds of each."""
        taken: dict[str, float] = {}
        for name, statement in (
            ("tenant", "CREATE INDEX items_tenant ON items (tenant)"),
            ("hnsw", "CREATE INDEX items_near ON items USING hnsw (embedding vector_cosine_ops)"),
            ("analyze", "ANALYZE items"),
        ):
            began = time.perf_counter()
            await self._connection.execute(statement)
            taken[name] = time.perf_counter() - began
        return taken

    async def sizes(self) -> dict[str, int]:
        """Bytes of the table and its indexes."""
        rows = await self._connection.fetch(
            "SELECT relname, pg_relation_size(oid) FROM pg_class WHERE relname LIKE 'items%'"
            " UNION ALL SELECT 'items, apart', pg_table_size('items') - pg_relation_size('items')"
        )
        return {name: size for name, size in rows if size}

    async def search(
        self, queries: Sequence[tuple[str, Floats]], ef: int, *, iterative: bool
    ) -> tuple[list[float], list[list[str]]]:
        """Seconds of each query, and the ids that it gave."""
        await self._connection.execute(f"SET hnsw.ef_search = {ef}")
        await self._connection.execute(f"SET hnsw.iterative_scan = {'relaxed_order' if iterative else 'off'}")
        taken: list[float] = []
        found: list[list[str]] = []
        for tenant, vector in queries:
            began = time.perf_counter()
            rows = await self._connection.fetch(_NEAREST, tenant, vector)
            taken.append(time.perf_counter() - began)
            found.append([row[0] for row in rows])
        return taken, found
