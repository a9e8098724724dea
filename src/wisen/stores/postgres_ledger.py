"""The part of the Postgres store that isn't about cards: memory blocks, run records and recorded calls."""

from collections.abc import Mapping, Sequence
from typing import Any

from wisen.errors import RunNotFoundError
from wisen.records import RunRecord
from wisen.stores import postgres_pieces
from wisen.stores.blocks import appended, bounded, checked_limit
from wisen.stores.copies import LedgerPart, Piece
from wisen.stores.ordering import moment
from wisen.stores.pieces import encodable, encodable_keys
from wisen.stores.postgres_connection import Connection
from wisen.stores.postgres_pool import Pool
from wisen.stores.postgres_text import restored, stored
from wisen.stores.serial import run_from_json, run_to_json


class PostgresLedger:
    """A `Memory`, `RunLog` and `CallLog` in a `Pool`'s database."""

    def __init__(self, pool: Pool, block_limit: int) -> None:
        """Keep blocks of at most `block_limit` characters."""
        self._pool = pool
        self._block_limit = checked_limit(block_limit)

    async def append_block(self, name: str, line: str, *, tenant: str = "") -> None:
        """See `Memory.append_block`; atomic between processes too."""

        async def append(connection: Connection) -> None:
            # The row is made first, so that who comes at the same moment waits for it, and reads what is there then.
            at = (stored(tenant), stored(name))
            await connection.execute("INSERT INTO blocks VALUES ($1, $2, '') ON CONFLICT DO NOTHING", *at)
            text: str = await connection.fetchval(
                "SELECT text FROM blocks WHERE tenant = $1 AND name = $2 FOR UPDATE", *at
            )
            longer = appended(restored(text), line, self._block_limit)
            await connection.execute("UPDATE blocks SET text = $3 WHERE tenant = $1 AND name = $2", *at, stored(longer))

        await self._pool.write(append, tenant=tenant)

    async def block(self, name: str, *, tenant: str = "") -> str:
        """See `Memory.block`."""

        async def find(connection: Connection) -> str | None:
            return await connection.fetchval(
                "SELECT text FROM blocks WHERE tenant = $1 AND name = $2", stored(tenant), stored(name)
            )

        return restored(await self._pool.read(find, tenant=tenant) or "")

    async def update_block(self, name: str, text: str, *, tenant: str = "") -> None:
        """See `Memory.update_block`; a text past the bound loses its oldest lines."""
        kept = bounded(text, self._block_limit)

        async def put(connection: Connection) -> None:
            await connection.execute(
                "INSERT INTO blocks VALUES ($1, $2, $3) ON CONFLICT (tenant, name) DO UPDATE SET text = excluded.text",
                stored(tenant),
                stored(name),
                stored(kept),
            )

        await self._pool.write(put, tenant=tenant)

    async def save_run(self, record: RunRecord) -> None:
        """See `RunLog.save_run`."""
        text = run_to_json(record)

        async def save(connection: Connection) -> None:
            await connection.execute(
                "INSERT INTO runs (run_id, tenant, started, record) VALUES ($1, $2, $3, $4) ON CONFLICT (run_id)"
                " DO UPDATE SET tenant = excluded.tenant, started = excluded.started, record = excluded.record",
                stored(record.run_id),
                stored(record.task.tenant),
                moment(record.started_at),
                text,
            )

        # A run that is saved again may have been another tenant's.
        await self._pool.write(save, tenant=None)

    async def run(self, run_id: str) -> RunRecord:
        """See `RunLog.run`."""

        async def find(connection: Connection) -> str | None:
            return await connection.fetchval("SELECT record FROM runs WHERE run_id = $1", stored(run_id))

        found = await self._pool.read(find, tenant=None)
        if found is None:
            raise RunNotFoundError(run_id)
        return run_from_json(found)

    async def runs(self, *, tenant: str | None = None, limit: int = 50, offset: int = 0) -> list[RunRecord]:
        """See `RunLog.runs`; runs that started together come last saved first."""
        where, values = ("true", ()) if tenant is None else ("tenant = $3", (stored(tenant),))

        async def select(connection: Connection) -> list[Any]:
            return await connection.fetch(
                f"SELECT record FROM runs WHERE {where} ORDER BY started DESC, number DESC LIMIT $1 OFFSET $2",  # noqa: S608 - fixed conditions
                limit,
                offset,
                *values,
            )

        return [run_from_json(row[0]) for row in await self._pool.read(select, tenant=tenant)]

    async def save_call(self, scope: str, key: str, ordinal: int, response: bytes) -> None:
        """See `CallLog.save_call`; the same call saved again replaces the response."""

        async def save(connection: Connection) -> None:
            await connection.execute(
                "INSERT INTO calls VALUES ($1, $2, $3, $4) ON CONFLICT (scope, key, ordinal)"
                " DO UPDATE SET response = excluded.response",
                stored(scope),
                stored(key),
                ordinal,
                response,
            )

        await self._pool.write(save, tenant=None)

    async def call(self, scope: str, key: str, ordinal: int) -> bytes | None:
        """See `CallLog.call`."""

        async def find(connection: Connection) -> bytes | None:
            return await connection.fetchval(
                "SELECT response FROM calls WHERE scope = $1 AND key = $2 AND ordinal = $3",
                stored(scope),
                stored(key),
                ordinal,
            )

        return await self._pool.read(find, tenant=None)

    async def keep_call(self, scope: str, key: str, ordinal: int, response: bytes) -> bytes:
        """See `KeepsFirst.keep_call`."""

        async def keep(connection: Connection) -> bytes:
            at = (stored(scope), stored(key), ordinal)
            # Whoever comes at the same moment waits here, and sees in the next statement what is there then.
            await connection.execute("INSERT INTO calls VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING", *at, response)
            return await connection.fetchval(
                "SELECT response FROM calls WHERE scope = $1 AND key = $2 AND ordinal = $3", *at
            )

        return await self._pool.write(keep, tenant=None)

    async def keep_call_while(self, scope: str, key: str, ordinal: int, response: bytes, *, head: str) -> bytes | None:
        """See `KeepsWhile.keep_call_while`."""

        async def keep(connection: Connection) -> bytes | None:
            at = (stored(scope), stored(key), ordinal)
            written = await connection.fetchval(
                "INSERT INTO calls SELECT $1, $2, $3, $4"
                " WHERE EXISTS (SELECT 1 FROM calls WHERE scope = $1 AND key = $5 AND ordinal = 0)"
                " ON CONFLICT DO NOTHING RETURNING response",
                *at,
                response,
                stored(head),
            )
            if written is not None:
                return written
            # As above: whoever was first at the same moment is seen in a statement of its own.
            return await connection.fetchval(
                "SELECT response FROM calls WHERE scope = $1 AND key = $2 AND ordinal = $3"
                " AND EXISTS (SELECT 1 FROM calls WHERE scope = $1 AND key = $4 AND ordinal = 0)",
                *at,
                stored(head),
            )

        return await self._pool.write(keep, tenant=None)

    async def drop_calls(self, scopes: Sequence[str]) -> int:
        """See `DropsCalls.drop_calls`."""

        async def drop(connection: Connection) -> str:
            return await connection.execute("DELETE FROM calls WHERE scope = ANY($1)", [stored(one) for one in scopes])

        return int((await self._pool.write(drop, tenant=None)).rpartition(" ")[2])

    async def pieces(self, part: LedgerPart, *, after: str = "", limit: int = 200) -> tuple[Sequence[Piece], str]:
        """See `Copies.pieces`."""
        return await self._pool.read(
            lambda connection: postgres_pieces.next_pieces(connection, part, after, limit), tenant=None
        )

    async def held(self, part: LedgerPart, keys: Sequence[tuple[str, ...]]) -> Mapping[tuple[str, ...], Piece]:
        """See `Copies.held`."""
        fitting = encodable_keys(keys)
        return await self._pool.read(
            lambda connection: postgres_pieces.held_pieces(connection, part, fitting), tenant=None
        )

    async def take(
        self, part: LedgerPart, pieces: Sequence[Piece], *, replace: bool = False
    ) -> Mapping[tuple[str, ...], str]:
        """See `Copies.take`."""
        fitting, refused = encodable(part, pieces)
        await self._pool.write(
            lambda connection: postgres_pieces.take_pieces(connection, part, fitting, replace=replace), tenant=None
        )
        return refused
