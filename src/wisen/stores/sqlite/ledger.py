"""The part of the SQLite store that isn't about cards: memory blocks, run records and recorded calls."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from wisen.errors import RunNotFoundError
from wisen.records import RunMark, RunRecord
from wisen.stores.block_text import appended, bounded, checked_limit
from wisen.stores.damaged_rows import Damage, Row, named_run
from wisen.stores.ordering import moment, moment_of
from wisen.stores.serialization import run_to_json
from wisen.stores.sqlite import transfer
from wisen.stores.sqlite.cards import whole_page
from wisen.stores.sqlite.connection import Database
from wisen.stores.transfer_items import encodable, encodable_keys
from wisen.stores.transfer_protocol import LedgerPart, TransferItem


class SQLiteLedger:
    """A `Blocks`, `RunLog` and `CallLog` in a `Database`."""

    def __init__(self, database: Database, block_limit: int) -> None:
        """Keep blocks of at most `block_limit` characters."""
        self._database = database
        self._block_limit = checked_limit(block_limit)
        self._damage = Damage(str(database.path))

    async def append_block(self, name: str, line: str, *, tenant: str = "") -> None:
        """See `Blocks.append_block`; atomic between processes too."""

        def append(connection: sqlite3.Connection) -> None:
            _put_block(connection, tenant, name, appended(_block(connection, tenant, name), line, self._block_limit))

        await self._database.write(append)

    async def block(self, name: str, *, tenant: str = "") -> str:
        """See `Blocks.block`."""
        return await self._database.read(lambda connection: _block(connection, tenant, name))

    async def update_block(self, name: str, text: str, *, tenant: str = "") -> None:
        """See `Blocks.update_block`; a text past the bound loses its oldest lines."""
        kept = bounded(text, self._block_limit)
        await self._database.write(lambda connection: _put_block(connection, tenant, name, kept))

    async def save_run(self, record: RunRecord) -> None:
        """See `RunLog.save_run`."""
        text = run_to_json(record)
        row = (record.run_id, record.task.tenant, moment(record.started_at), text)
        await self._database.write(lambda connection: _put_run(connection, row))

    async def run(self, run_id: str) -> RunRecord:
        """See `RunLog.run`."""

        def find(connection: sqlite3.Connection) -> RunRecord:
            found = connection.execute("SELECT CAST(record AS BLOB) FROM runs WHERE run_id = ?", (run_id,)).fetchone()
            if found is None:
                raise RunNotFoundError(run_id)
            return named_run(run_id, found[0])

        return await self._database.read(find)

    async def runs(self, *, tenant: str | None = None, limit: int = 50, offset: int = 0) -> list[RunRecord]:
        """See `RunLog.runs`; runs that started together come last saved first."""

        def select(connection: sqlite3.Connection) -> list[RunRecord]:
            where, values = ("1", ()) if tenant is None else ("tenant = ?", (tenant,))

            def page(known: str) -> Iterable[Row]:
                return connection.execute(
                    f"SELECT number, run_id, CAST(record AS BLOB) FROM runs WHERE {where} {known}"  # noqa: S608 - fixed conditions
                    " ORDER BY started DESC, number DESC LIMIT ? OFFSET ?",
                    (*values, limit, offset),
                )

            return whole_page(page, self._damage.runs, lambda: self._damage.known("run"))

        return await self._database.read(select)

    async def run_marks(self, *, tenant: str | None = None) -> Sequence[RunMark]:
        """See `SurveysRuns.run_marks`."""

        def survey(connection: sqlite3.Connection) -> list[RunMark]:
            where, values = ("1", ()) if tenant is None else ("tenant = ?", (tenant,))
            rows = connection.execute(
                "SELECT started, coalesce(json_extract(record, '$.attempts[0].advice_delivered'), 0),"  # noqa: S608 - fixed conditions
                " json_extract(record, '$.status') = 'satisfied' AND json_array_length(record, '$.attempts') = 1"
                f" FROM runs WHERE {where} AND json_valid(record)"
                " AND json_extract(record, '$.status') NOT IN ('unfinished', 'unevaluated') ORDER BY started, number",
                values,
            )
            return [RunMark(moment_of(started), bool(advised), bool(good)) for started, advised, good in rows]

        return await self._database.read(survey)

    async def runs_with(self, card_id: str, *, tenant: str | None = None, limit: int = 50) -> Sequence[RunRecord]:
        """See `SurveysRuns.runs_with`."""

        def select(connection: sqlite3.Connection) -> list[RunRecord]:
            where, values = ("1", ()) if tenant is None else ("tenant = ?", (tenant,))
            rows = connection.execute(
                f"SELECT number, run_id, CAST(record AS BLOB) FROM runs WHERE {where} AND instr(record, ?)"  # noqa: S608 - fixed conditions
                " ORDER BY started DESC, number DESC LIMIT ?",
                (*values, json.dumps(card_id, ensure_ascii=False), limit),
            )
            return [record for record in self._damage.runs(rows) if record.concerns(card_id)]

        return await self._database.read(select)

    async def save_call(self, scope: str, key: str, ordinal: int, response: bytes) -> None:
        """See `CallLog.save_call`; the same call saved again replaces the response."""

        def save(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?)", (scope, key, ordinal, response))

        await self._database.write(save)

    async def call(self, scope: str, key: str, ordinal: int) -> bytes | None:
        """See `CallLog.call`."""

        def find(connection: sqlite3.Connection) -> bytes | None:
            found = connection.execute(
                "SELECT response FROM calls WHERE scope = ? AND key = ? AND ordinal = ?", (scope, key, ordinal)
            ).fetchone()
            return None if found is None else bytes(found[0])

        return await self._database.read(find)

    async def keep_call(self, scope: str, key: str, ordinal: int, response: bytes) -> bytes:
        """See `KeepsFirst.keep_call`."""
        row = (scope, key, ordinal, response)
        return await self._database.write(lambda connection: _keep_call(connection, row))

    async def keep_call_while(self, scope: str, key: str, ordinal: int, response: bytes, *, head: str) -> bytes | None:
        """See `KeepsWhile.keep_call_while`."""
        row = (scope, key, ordinal, response)

        def keep(connection: sqlite3.Connection) -> bytes | None:
            found = connection.execute("SELECT 1 FROM calls WHERE scope = ? AND key = ? AND ordinal = 0", (scope, head))
            return None if found.fetchone() is None else _keep_call(connection, row)

        return await self._database.write(keep)

    async def drop_calls(self, scopes: Sequence[str]) -> int:
        """See `DropsCalls.drop_calls`."""

        def drop(connection: sqlite3.Connection) -> int:
            return sum(connection.execute("DELETE FROM calls WHERE scope = ?", (scope,)).rowcount for scope in scopes)

        return await self._database.write(drop)

    async def erase(self, part: LedgerPart, keys: Sequence[tuple[str, ...]]) -> int:
        """See `Erases.erase`."""
        fitting = encodable_keys(keys)
        return await self._database.write(lambda connection: transfer.erase_items(connection, part, fitting))

    async def unreadable(self) -> Sequence[str]:
        """See `Omits.unreadable`: cards and runs, by id."""
        return await self._database.read(transfer.unreadable)

    async def export_page(
        self, part: LedgerPart, *, after: str = "", limit: int = 200
    ) -> tuple[Sequence[TransferItem], str]:
        """See `Transferable.export_page`."""
        return await self._database.read(lambda connection: transfer.next_items(connection, part, after, limit))

    async def held(self, part: LedgerPart, keys: Sequence[tuple[str, ...]]) -> Mapping[tuple[str, ...], TransferItem]:
        """See `Transferable.held`."""
        fitting = encodable_keys(keys)
        return await self._database.read(lambda connection: transfer.held_items(connection, part, fitting))

    async def take(
        self, part: LedgerPart, items: Sequence[TransferItem], *, replace: bool = False
    ) -> Mapping[tuple[str, ...], str]:
        """See `Transferable.take`."""
        fitting, refused = encodable(part, items)
        self._damage.forget()
        await self._database.write(lambda connection: transfer.take_items(connection, part, fitting, replace=replace))
        return refused


def _block(connection: sqlite3.Connection, tenant: str, name: str) -> str:
    found = connection.execute("SELECT text FROM blocks WHERE tenant = ? AND name = ?", (tenant, name)).fetchone()
    return "" if found is None else found[0]


def _put_block(connection: sqlite3.Connection, tenant: str, name: str, text: str) -> None:
    connection.execute("INSERT OR REPLACE INTO blocks VALUES (?, ?, ?)", (tenant, name, text))


def _keep_call(connection: sqlite3.Connection, row: tuple[str, str, int, bytes]) -> bytes:
    if connection.execute("INSERT OR IGNORE INTO calls VALUES (?, ?, ?, ?)", row).rowcount:
        return row[3]
    found = connection.execute(
        "SELECT response FROM calls WHERE scope = ? AND key = ? AND ordinal = ?", row[:3]
    ).fetchone()
    return bytes(found[0])


def _put_run(connection: sqlite3.Connection, row: tuple[str, str, int, str]) -> None:
    connection.execute(
        "INSERT INTO runs (run_id, tenant, started, record) VALUES (?, ?, ?, ?) ON CONFLICT (run_id)"
        " DO UPDATE SET tenant = excluded.tenant, started = excluded.started, record = excluded.record",
        row,
    )
