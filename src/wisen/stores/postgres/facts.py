"""What a Postgres store says about itself.

It stands apart from the store because only those who run it ask.
"""

from wisen.stores.maintenance import StoreFacts, counted_cards
from wisen.stores.postgres.client import Connection
from wisen.stores.postgres.text import restored

_SIZE = (
    "SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace"
    " WHERE nspname = current_schema() AND relkind = 'r'"
)
_NEAR = (
    "SELECT relname, indisvalid FROM pg_index JOIN pg_class ON oid = indexrelid"
    " WHERE indrelid = 'cards'::regclass AND relname LIKE 'cards\\_near\\_%' ORDER BY relname"
)
_MERGED = "SELECT count(*), coalesce(sum(alike), 0)::bigint FROM cards WHERE alike > 0"
_BARE = (
    "SELECT c.id FROM cards c LEFT JOIN bodies b USING (number) LEFT JOIN recall r USING (number)"
    " WHERE b.number IS NULL OR r.number IS NULL ORDER BY c.number LIMIT 10"
)


async def facts(connection: Connection) -> StoreFacts:
    """Count what is there; `connection` sees all tenants."""

    async def number(question: str) -> int:
        return await connection.fetchval(question)

    cards = await connection.fetch("SELECT tenant, status, kind, count(*) FROM cards GROUP BY tenant, status, kind")
    return StoreFacts(
        kind="postgres",
        cards=counted_cards((restored(tenant), status, kind, count) for tenant, status, kind, count in cards),
        blocks=await number("SELECT count(*) FROM blocks WHERE text <> ''"),
        runs=await number("SELECT count(*) FROM runs"),
        calls=await number("SELECT count(*) FROM calls"),
        embedder=await connection.fetchval("SELECT embedder FROM state"),
        schema=await number("SELECT count(*) FROM migrations"),
        size=await number(_SIZE),
        merged=tuple((await connection.fetch(_MERGED))[0]),
        indexes=tuple(name for name, whole in await connection.fetch(_NEAR) if whole),
    )


async def problems(connection: Connection) -> list[str]:
    """Cards that lack what they are read or found by, and indexes that were left unfinished."""
    bare = await connection.fetch(_BARE)
    return [
        *(
            f"card {restored(card_id)!r} has no text or no words; restore the store from a backup"
            for (card_id,) in bare
        ),
        *(
            f"index {name} is unfinished; `wisen store tune` rebuilds it"
            for name, ok in await connection.fetch(_NEAR)
            if not ok
        ),
    ]
