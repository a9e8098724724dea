"""The part of the in-memory store that isn't about cards: memory blocks, run records and recorded calls."""

from collections.abc import Mapping, Sequence
from heapq import nsmallest
from itertools import islice
from typing import assert_never

from wisen.errors import RunNotFoundError, StoreError
from wisen.forks import ForkLock
from wisen.records import RunMark, RunRecord
from wisen.stores.block_text import appended, bounded, checked_limit
from wisen.stores.ordering import moment
from wisen.stores.transfer_items import (
    block_item,
    block_text,
    call_item,
    call_key,
    cursor,
    position,
    run_item,
    run_of,
)
from wisen.stores.transfer_protocol import LedgerPart, TransferItem


class InMemoryLedger:
    """A `Blocks`, `RunLog` and `CallLog` in dictionaries; operations take microseconds and stay on the event loop."""

    def __init__(self, block_limit: int) -> None:
        """Keep blocks of at most `block_limit` characters."""
        self._block_limit = checked_limit(block_limit)
        self._lock = ForkLock()
        self._blocks: dict[tuple[str, str], str] = {}
        self._runs: dict[str, RunRecord] = {}
        self._calls: dict[tuple[str, str, int], bytes] = {}
        self._closed = False

    def _refuse_closed(self) -> None:
        if self._closed:
            msg = "the in-memory store is closed; make a new one"
            raise StoreError(msg)

    async def append_block(self, name: str, line: str, *, tenant: str = "") -> None:
        """See `Blocks.append_block`."""
        self._refuse_closed()
        with self._lock:
            before = self._blocks.get((tenant, name), "")
            self._blocks[tenant, name] = appended(before, line, self._block_limit)

    async def block(self, name: str, *, tenant: str = "") -> str:
        """See `Blocks.block`."""
        self._refuse_closed()
        return self._blocks.get((tenant, name), "")

    async def update_block(self, name: str, text: str, *, tenant: str = "") -> None:
        """See `Blocks.update_block`; a text past the bound loses its oldest lines."""
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

    async def run_marks(self, *, tenant: str | None = None) -> Sequence[RunMark]:
        """See `SurveysRuns.run_marks`."""
        found = (record.mark for record in await self.runs(tenant=tenant, limit=len(self._runs)))
        return [mark for mark in found if mark is not None][::-1]

    async def runs_with(self, card_id: str, *, tenant: str | None = None, limit: int = 50) -> Sequence[RunRecord]:
        """See `SurveysRuns.runs_with`."""
        every = await self.runs(tenant=tenant, limit=len(self._runs))
        return list(islice((record for record in every if record.concerns(card_id)), limit))

    async def save_call(self, scope: str, key: str, ordinal: int, response: bytes) -> None:
        """See `CallLog.save_call`; the same call saved again replaces the response."""
        self._refuse_closed()
        self._calls[scope, key, ordinal] = bytes(response)

    async def call(self, scope: str, key: str, ordinal: int) -> bytes | None:
        """See `CallLog.call`."""
        self._refuse_closed()
        return self._calls.get((scope, key, ordinal))

    async def keep_call(self, scope: str, key: str, ordinal: int, response: bytes) -> bytes:
        """See `KeepsFirst.keep_call`."""
        self._refuse_closed()
        return self._calls.setdefault((scope, key, ordinal), bytes(response))

    async def keep_call_while(self, scope: str, key: str, ordinal: int, response: bytes, *, head: str) -> bytes | None:
        """See `KeepsWhile.keep_call_while`."""
        self._refuse_closed()
        return await self.keep_call(scope, key, ordinal, response) if (scope, head, 0) in self._calls else None

    async def drop_calls(self, scopes: Sequence[str]) -> int:
        """See `DropsCalls.drop_calls`."""
        self._refuse_closed()
        wanted = set(scopes)
        gone = [at for at in self._calls if at[0] in wanted]
        for at in gone:
            del self._calls[at]
        return len(gone)

    async def erase(self, part: LedgerPart, keys: Sequence[tuple[str, ...]]) -> int:
        """See `Erases.erase`."""
        self._refuse_closed()
        with self._lock:
            match part:
                case "blocks":
                    return sum(bool(self._blocks.pop((key[0], key[1]), "")) for key in keys)
                case "runs":
                    return sum(self._runs.pop(key[0], None) is not None for key in keys)
                case "calls":
                    return sum(self._calls.pop(call_key(key), None) is not None for key in keys)
                case _:
                    assert_never(part)

    async def export_page(
        self, part: LedgerPart, *, after: str = "", limit: int = 200
    ) -> tuple[Sequence[TransferItem], str]:
        """See `Transferable.export_page`."""
        self._refuse_closed()
        behind = tuple(position(after, []))
        with self._lock:
            if part == "runs":
                start = int(behind[0]) if behind else 0
                runs = [run_item(record) for record in islice(self._runs.values(), start, start + limit)]
                return runs, cursor(start + len(runs))
            if part == "blocks":
                filled = {at for at, text in self._blocks.items() if text}
                names = nsmallest(limit, (at for at in filled if at > behind))
                return [block_item(*at, self._blocks[at]) for at in names], cursor(*names[-1]) if names else after
            calls = nsmallest(limit, (at for at in self._calls if at > behind))
            return [call_item(*at, self._calls[at]) for at in calls], cursor(*calls[-1]) if calls else after

    async def held(self, part: LedgerPart, keys: Sequence[tuple[str, ...]]) -> Mapping[tuple[str, ...], TransferItem]:
        """See `Transferable.held`."""
        self._refuse_closed()
        found = ((key, self._item(part, key)) for key in keys)
        return {key: item for key, item in found if item is not None}

    async def take(
        self, part: LedgerPart, items: Sequence[TransferItem], *, replace: bool = False
    ) -> Mapping[tuple[str, ...], str]:
        """See `Transferable.take`."""
        self._refuse_closed()
        with self._lock:
            for item in items:
                if replace or self._item(part, item.key) is None:
                    self._put(part, item)
        return {}

    def _item(self, part: LedgerPart, key: tuple[str, ...]) -> TransferItem | None:
        match part:
            case "blocks":
                text = self._blocks.get((key[0], key[1]), "")
                return block_item(key[0], key[1], text) if text else None
            case "runs":
                record = self._runs.get(key[0])
                return None if record is None else run_item(record)
            case "calls":
                response = self._calls.get(call_key(key))
                return None if response is None else call_item(*call_key(key), response)
            case _:
                assert_never(part)

    def _put(self, part: LedgerPart, item: TransferItem) -> None:
        match part:
            case "blocks":
                self._blocks[item.key[0], item.key[1]] = block_text(item)
            case "runs":
                self._runs[item.key[0]] = run_of(item)
            case "calls":
                self._calls[call_key(item.key)] = item.content
            case _:
                assert_never(part)
