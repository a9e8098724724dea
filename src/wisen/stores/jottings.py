"""The part of the in-memory store that isn't about cards: memory blocks, run records and recorded calls."""

import threading

from wisen.errors import ConfigError, RunNotFoundError, StoreError
from wisen.records import RunRecord
from wisen.stores.blocks import appended, bounded
from wisen.stores.ordering import moment


class InMemoryLedger:
    """A `Memory`, `RunLog` and `CallLog` in dictionaries; operations take microseconds and stay on the event loop."""

    def __init__(self, block_limit: int) -> None:
        """Keep blocks of at most `block_limit` characters."""
        if block_limit < 1:
            msg = f"block_limit={block_limit!r}: must be 1 or more characters"
            raise ConfigError(msg)
        self._block_limit = block_limit
        self._lock = threading.Lock()
        self._blocks: dict[tuple[str, str], str] = {}
        self._runs: dict[str, RunRecord] = {}
        self._calls: dict[tuple[str, str, int], bytes] = {}
        self._closed = False

    def _refuse_closed(self) -> None:
        if self._closed:
            msg = "the in-memory store is closed; make a new one"
            raise StoreError(msg)

    async def append_block(self, name: str, line: str, *, tenant: str = "") -> None:
        """See `Memory.append_block`."""
        self._refuse_closed()
        with self._lock:
            before = self._blocks.get((tenant, name), "")
            self._blocks[tenant, name] = appended(before, line, self._block_limit)

    async def block(self, name: str, *, tenant: str = "") -> str:
        """See `Memory.block`."""
        self._refuse_closed()
        return self._blocks.get((tenant, name), "")

    async def update_block(self, name: str, text: str, *, tenant: str = "") -> None:
        """See `Memory.update_block`; a text past the bound loses its oldest lines."""
        self._refuse_closed()
        with self._lock:
            self._blocks[tenant, name] = bounded(text, self._block_limit)

    async def save_run(self, record: RunRecord) -> None:
        """See `RunLog.save_run`."""
        self._refuse_closed()
        with self._lock:
            self._runs[record.run_id] = record

    async def run(self, run_id: str) -> RunRecord:
        """See `RunLog.run`."""
        self._refuse_closed()
        found = self._runs.get(run_id)
        if found is None:
            raise RunNotFoundError(run_id)
        return found

    async def runs(self, *, tenant: str | None = None, limit: int = 50, offset: int = 0) -> list[RunRecord]:
        """See `RunLog.runs`; runs that started together come last saved first."""
        self._refuse_closed()
        with self._lock:
            kept = list(self._runs.values())
        wanted = [record for record in reversed(kept) if tenant is None or record.task.tenant == tenant]
        wanted.sort(key=lambda record: moment(record.started_at), reverse=True)
        return wanted[offset : offset + limit]

    async def save_call(self, scope: str, key: str, ordinal: int, response: bytes) -> None:
        """See `CallLog.save_call`; the same call saved again replaces the response."""
        self._refuse_closed()
        self._calls[scope, key, ordinal] = bytes(response)

    async def call(self, scope: str, key: str, ordinal: int) -> bytes | None:
        """See `CallLog.call`."""
        self._refuse_closed()
        return self._calls.get((scope, key, ordinal))
