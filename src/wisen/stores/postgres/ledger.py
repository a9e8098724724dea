"""The part of the Postgres store that isn't about cards: memory blocks, run records and recorded calls."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from wisen.batching import BatchQueue, Request
from wisen.errors import RunNotFoundError, StoreError
from wisen.records import RunMark, RunRecord
from wisen.stores.block_text import appended, bounded, checked_limit
from wisen.stores.damaged_rows import Damage, named_run
from wisen.stores.ordering import moment, moment_of
from wisen.stores.paging import every_run
from wisen.stores.postgres import transfer
from wisen.stores.postgres.client import Connection
from wisen.stores.postgres.connection import Pool
from wisen.stores.postgres.ledger_sql import (
    MARKS,
    CallKey,
    NewCall,
    RunRow,
    drop_scopes,
    find_calls,
    find_runs,
    keep_first,
    save_runs,
)
from wisen.stores.postgres.server_errors import UnreachableError
from wisen.stores.postgres.text import restored, stored
from wisen.stores.serialization import run_to_json
from wisen.stores.transfer_items import encodable, encodable_keys
from wisen.stores.transfer_protocol import LedgerPart, TransferItem

_MOST = 64
"""Callers who share a transaction."""


class PostgresLedger:
    """A `Blocks`, `RunLog` and `CallLog` in a `Pool`'s database."""

    def __init__(self, pool: Pool, block_limit: int) -> None:
        """Keep blocks of at most `block_limit` characters."""
        self._pool = pool
        self._block_limit = checked_limit(block_limit)
        self._damage = Damage(pool.shown)
        self._run_writes = BatchQueue(self._save_runs, most=_MOST, shared=UnreachableError)
        self._run_reads = BatchQueue(self._find_runs, most=_MOST, places=2, shared=UnreachableError)
        self._call_writes = BatchQueue(self._keep_calls, most=_MOST, shared=UnreachableError)
        self._call_reads = BatchQueue(self._find_calls, most=_MOST, places=2, shared=UnreachableError)
        self._drops = BatchQueue(self._drop_calls, most=_MOST, shared=UnreachableError)

    async def append_block(self, name: str, line: str, *, tenant: str = "") -> None:
        """See `Blocks.append_block`; atomic between processes too."""

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
        """See `Blocks.block`."""

        async def find(connection: Connection) -> str | None:
            return await connection.fetchval(
                "SELECT text FROM blocks WHERE tenant = $1 AND name = $2", stored(tenant), stored(name)
            )

        return restored(await self._pool.read(find, tenant=tenant) or "")

    async def update_block(self, name: str, text: str, *, tenant: str = "") -> None:
        """See `Blocks.update_block`; a text past the bound loses its oldest lines."""
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
        row = (stored(record.run_id), stored(record.task.tenant), moment(record.started_at), run_to_json(record))
        await self._run_writes.ask(row)

    async def run(self, run_id: str) -> RunRecord:
        """See `RunLog.run`."""
        found = await self._run_reads.ask(stored(run_id))
        if found is None:
            raise RunNotFoundError(run_id)
        return named_run(run_id, found)

    async def runs(self, *, tenant: str | None = None, limit: int = 50, offset: int = 0) -> list[RunRecord]:
        """See `RunLog.runs`; runs that started together come last saved first."""
        where, values = ("true", ()) if tenant is None else ("tenant = $4", (stored(tenant),))

        async def select(connection: Connection, without: Sequence[int]) -> list[Any]:
            return await connection.fetch(
                f"SELECT number, run_id, record FROM runs WHERE {where} AND number <> ALL ($3::bigint[])"  # noqa: S608 - fixed conditions
                " ORDER BY started DESC, number DESC LIMIT $1 OFFSET $2",
                limit,
                offset,
                without,
                *values,
            )

        while True:
            before = self._damage.known("run")
            rows = await self._pool.read(lambda connection, known=before: select(connection, known), tenant=tenant)
            found = self._damage.runs((number, restored(run_id), record) for number, run_id, record in rows)
            if self._damage.known("run") == before:
                return found

    async def run_marks(self, *, tenant: str | None = None) -> Sequence[RunMark]:
        """See `SurveysRuns.run_marks`."""
        where, values = ("true", ()) if tenant is None else ("tenant = $1", (stored(tenant),))

        try:
            rows = await self._pool.read(
                lambda connection: connection.fetch(MARKS.format(where), *values), tenant=tenant
            )
        except StoreError:  # a record is no JSON; read one by one, it is named and left out
            marks = [record.mark async for record in every_run(self, tenant=tenant)]
            return [mark for mark in reversed(marks) if mark is not None]
        return [RunMark(moment_of(started), advised, good) for started, advised, good in rows]

    async def runs_with(self, card_id: str, *, tenant: str | None = None, limit: int = 50) -> Sequence[RunRecord]:
        """See `SurveysRuns.runs_with`."""
        where, values = ("true", ()) if tenant is None else ("tenant = $3", (stored(tenant),))
        named = stored(json.dumps(card_id, ensure_ascii=False))

        async def select(connection: Connection) -> list[Any]:
            return await connection.fetch(
                f"SELECT number, run_id, record FROM runs WHERE {where} AND strpos(record, $1) > 0"  # noqa: S608 - fixed conditions
                " ORDER BY started DESC, number DESC LIMIT $2",
                named,
                limit,
                *values,
            )

        rows = await self._pool.read(select, tenant=tenant)
        found = self._damage.runs((number, restored(run_id), record) for number, run_id, record in rows)
        return [record for record in found if record.concerns(card_id)]

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
        return await self._call_reads.ask((stored(scope), stored(key), ordinal))

    async def keep_call(self, scope: str, key: str, ordinal: int, response: bytes) -> bytes:
        """See `KeepsFirst.keep_call`."""
        call = NewCall(at=(stored(scope), stored(key), ordinal), response=response)
        while (kept := await self._call_writes.ask(call)) is None:
            pass  # the one that was there before has gone at this very moment
        return kept

    async def keep_call_while(self, scope: str, key: str, ordinal: int, response: bytes, *, head: str) -> bytes | None:
        """See `KeepsWhile.keep_call_while`."""
        call = NewCall(at=(stored(scope), stored(key), ordinal), response=response, head=stored(head))
        return await self._call_writes.ask(call)

    async def drop_calls(self, scopes: Sequence[str]) -> int:
        """See `DropsCalls.drop_calls`."""
        return await self._drops.ask([stored(one) for one in scopes])

    async def _save_runs(self, some: Sequence[Request[RunRow, None]]) -> None:
        # A run that is saved again may have been another tenant's.
        await self._pool.write(lambda connection: save_runs(connection, [one.what for one in some]), tenant=None)
        for one in some:
            one.give(None)

    async def _find_runs(self, some: Sequence[Request[str, str | None]]) -> None:
        ids = [one.what for one in some]
        found = await self._pool.read(lambda connection: find_runs(connection, ids), tenant=None)
        for one in some:
            one.give(found.get(one.what))

    async def _keep_calls(self, some: Sequence[Request[NewCall, bytes | None]]) -> None:
        calls = [one.what for one in some]
        kept = await self._pool.write(lambda connection: keep_first(connection, calls), tenant=None)
        for one, response in zip(some, kept, strict=True):
            one.give(response)

    async def _find_calls(self, some: Sequence[Request[CallKey, bytes | None]]) -> None:
        calls = [one.what for one in some]
        found = await self._pool.read(lambda connection: find_calls(connection, calls), tenant=None)
        for one in some:
            one.give(found.get(one.what))

    async def _drop_calls(self, some: Sequence[Request[Sequence[str], int]]) -> None:
        scopes = [scope for one in some for scope in one.what]
        gone = await self._pool.write(lambda connection: drop_scopes(connection, scopes), tenant=None)
        for one in some:
            one.give(sum(gone.pop(scope, 0) for scope in one.what))

    async def erase(self, part: LedgerPart, keys: Sequence[tuple[str, ...]]) -> int:
        """See `Erases.erase`."""
        fitting = encodable_keys(keys)
        return await self._pool.write(lambda connection: transfer.erase_items(connection, part, fitting), tenant=None)

    async def unreadable(self) -> Sequence[str]:
        """See `Omits.unreadable`: cards and runs, by id."""
        return await self._pool.read(transfer.unreadable, tenant=None)

    async def export_page(
        self, part: LedgerPart, *, after: str = "", limit: int = 200
    ) -> tuple[Sequence[TransferItem], str]:
        """See `Transferable.export_page`."""
        return await self._pool.read(
            lambda connection: transfer.next_items(connection, part, after, limit), tenant=None
        )

    async def held(self, part: LedgerPart, keys: Sequence[tuple[str, ...]]) -> Mapping[tuple[str, ...], TransferItem]:
        """See `Transferable.held`."""
        fitting = encodable_keys(keys)
        return await self._pool.read(lambda connection: transfer.held_items(connection, part, fitting), tenant=None)

    async def take(
        self, part: LedgerPart, items: Sequence[TransferItem], *, replace: bool = False
    ) -> Mapping[tuple[str, ...], str]:
        """See `Transferable.take`."""
        fitting, refused = encodable(part, items)
        self._damage.forget()
        await self._pool.write(
            lambda connection: transfer.take_items(connection, part, fitting, replace=replace), tenant=None
        )
        return refused
