"""Says of runs that were broken off, and that nobody goes on with, that they were cancelled.

It stands apart because submitters and workers both do it, and a submitter imports no worker.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from wisen.errors import RunNotFoundError, StoreError
from wisen.protocols import RunLog
from wisen.queue.database import QueueConnection, Tables
from wisen.stores.pruning import call_scope

_BLOCK_LIMIT = 1
"""No block is written here."""


async def say_cancelled(runs: RunLog, ids: Sequence[str]) -> None:
    """Say it of those that haven't ended; all of them can still be gone on with."""
    for one in ids:
        with suppress(RunNotFoundError):
            record = await runs.run(one)
            if record.status == "unfinished":
                await runs.save_run(replace(record, status="cancelled"))


async def end_runs(tables: Tables, ids: Sequence[str], *, drop: bool, patience: float) -> None:
    """Say it of runs that are kept in the queue's database; `drop` also forgets their steps, so that none goes on.

    Where somebody may use the queue and not the runs, nothing is said.
    """
    if not ids or not await tables.run(_has_runs):
        return
    from wisen.stores.postgres.connection import Pool  # noqa: PLC0415 - as above
    from wisen.stores.postgres.ledger import PostgresLedger  # noqa: PLC0415 - optional extra

    pool = Pool(tables.url, size=1, patience=patience)
    try:
        with suppress(StoreError):
            ledger = PostgresLedger(pool, _BLOCK_LIMIT)
            await say_cancelled(ledger, ids)
            if drop:
                await ledger.drop_calls([call_scope(one) for one in ids])
    finally:
        await pool.close()


async def _has_runs(connection: QueueConnection) -> bool:
    # Who may not use the schema may look whether there is one.
    return await connection.fetchval(
        "SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = 'wisen' AND c.relname = 'runs')"
    )
