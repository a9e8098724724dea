"""What a Markdown store keeps that isn't a card: memory blocks as text files, runs and recorded calls out of git."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from wisen import forks
from wisen.errors import RunNotFoundError, StoreError
from wisen.forks import Forkable, ForkLock
from wisen.records import RunMark, RunRecord
from wisen.stores.block_text import appended, bounded, checked_limit
from wisen.stores.folder import HIDDEN, Folder
from wisen.stores.markdown.cards import CardWriter
from wisen.stores.markdown.catalog import BLOCKS, Catalog
from wisen.stores.markdown.file_names import folder_name
from wisen.stores.one_look import look_since
from wisen.stores.sqlite.cards import ids_beginning
from wisen.stores.sqlite.connection import Database
from wisen.stores.sqlite.file import SHARED, StoreFile
from wisen.stores.sqlite.ledger import SQLiteLedger
from wisen.stores.transfer_items import block_item, block_text, cursor, encodable, position
from wisen.stores.transfer_protocol import LedgerPart, TransferItem

_Result = TypeVar("_Result")


def runs_file(root: Path) -> Path:
    """The hidden database of a folder's runs and calls."""
    return root / HIDDEN / "runs.db"


class FileLedger(Forkable):
    """A `Blocks` in Markdown files, and a `RunLog` and `CallLog` in a hidden database; the thread for a folder."""

    def __init__(
        self, root: Path, *, fsync: bool, block_limit: int, read_only: bool, patience: float, keep_reports: int | None
    ) -> None:
        """Keep blocks of at most `block_limit` characters."""
        self._root = root
        self._keep_reports = keep_reports
        self._block_limit = checked_limit(block_limit)
        self._folder = Folder(root, fsync=fsync, read_only=read_only, patience=patience)
        self._runs_path = runs_file(root)
        # Beside files that git and the umask say who may read, and for the same people.
        database = Database(
            StoreFile(self._runs_path, read_only=read_only, fsync=fsync, patience=patience, mode=SHARED)
        )
        self._ledger, self._database = SQLiteLedger(database, block_limit), database
        self._working = ForkLock()
        self._closed = False
        self._start()
        forks.joins(self)

    def _start(self) -> None:
        """Take a thread, and know nothing of the files yet."""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="wisen-files")
        self._since = 0.0
        self._catalog = Catalog(self._folder)
        self._writer = CardWriter(self._folder, self._catalog, self._keep_reports)

    def before_fork(self, until: float) -> None:
        """See `Forkable.before_fork`."""
        self._working.before_fork(until)

    def after_fork_in_parent(self) -> None:
        """See `Forkable.after_fork_in_parent`."""
        self._working.after_fork_in_parent()

    def after_fork_in_child(self) -> None:
        """See `Forkable.after_fork_in_child`."""
        forks.leave(self._thread)
        self._folder.after_fork_in_child()
        self._working.after_fork_in_child()
        self._start()

    async def append_block(self, name: str, line: str, *, tenant: str = "") -> None:
        """See `Blocks.append_block`; atomic between processes too."""
        await self._in_thread(lambda: self._change(name, tenant, lambda text: appended(text, line, self._block_limit)))

    async def block(self, name: str, *, tenant: str = "") -> str:
        """See `Blocks.block`."""
        return await self._in_thread(lambda: self._block(self._block_path(name, tenant)))

    async def update_block(self, name: str, text: str, *, tenant: str = "") -> None:
        """See `Blocks.update_block`; a text past the bound loses its oldest lines."""
        kept = bounded(text, self._block_limit)
        await self._in_thread(lambda: self._change(name, tenant, lambda _: kept))

    async def save_run(self, record: RunRecord) -> None:
        """See `RunLog.save_run`."""
        await self._in_thread(self._make_hidden)
        await self._ledger.save_run(record)

    async def run(self, run_id: str) -> RunRecord:
        """See `RunLog.run`."""
        if not await self._in_thread(self._runs_path.exists):
            raise RunNotFoundError(run_id)
        return await self._ledger.run(run_id)

    async def runs(self, *, tenant: str | None = None, limit: int = 50, offset: int = 0) -> list[RunRecord]:
        """See `RunLog.runs`; runs that started together come last saved first."""
        if not await self._in_thread(self._runs_path.exists):
            return []
        return await self._ledger.runs(tenant=tenant, limit=limit, offset=offset)

    async def run_marks(self, *, tenant: str | None = None) -> Sequence[RunMark]:
        """See `SurveysRuns.run_marks`."""
        if not await self._in_thread(self._runs_path.exists):
            return []
        return await self._ledger.run_marks(tenant=tenant)

    async def runs_with(self, card_id: str, *, tenant: str | None = None, limit: int = 50) -> Sequence[RunRecord]:
        """See `SurveysRuns.runs_with`."""
        if not await self._in_thread(self._runs_path.exists):
            return []
        return await self._ledger.runs_with(card_id, tenant=tenant, limit=limit)

    async def _runs_beginning(self, beginning: str) -> list[str]:
        if not beginning or not await self._in_thread(self._runs_path.exists):
            return []
        return await self._database.read(lambda connection: ids_beginning(connection, "run", beginning))

    async def save_call(self, scope: str, key: str, ordinal: int, response: bytes) -> None:
        """See `CallLog.save_call`; the same call saved again replaces the response."""
        await self._in_thread(self._make_hidden)
        await self._ledger.save_call(scope, key, ordinal, response)

    async def keep_call(self, scope: str, key: str, ordinal: int, response: bytes) -> bytes:
        """See `KeepsFirst.keep_call`."""
        await self._in_thread(self._make_hidden)
        return await self._ledger.keep_call(scope, key, ordinal, response)

    async def keep_call_while(self, scope: str, key: str, ordinal: int, response: bytes, *, head: str) -> bytes | None:
        """See `KeepsWhile.keep_call_while`."""
        if not await self._in_thread(self._runs_path.exists):
            return None
        return await self._ledger.keep_call_while(scope, key, ordinal, response, head=head)

    async def call(self, scope: str, key: str, ordinal: int) -> bytes | None:
        """See `CallLog.call`."""
        if not await self._in_thread(self._runs_path.exists):
            return None
        return await self._ledger.call(scope, key, ordinal)

    async def drop_calls(self, scopes: Sequence[str]) -> int:
        """See `DropsCalls.drop_calls`."""
        if not await self._in_thread(self._runs_path.exists):
            return 0
        return await self._ledger.drop_calls(scopes)

    async def export_page(
        self, part: LedgerPart, *, after: str = "", limit: int = 200
    ) -> tuple[Sequence[TransferItem], str]:
        """See `Transferable.export_page`."""
        if part == "blocks":
            return await self._in_thread(lambda: self._next_blocks(after, limit))
        if not await self._in_thread(self._runs_path.exists):
            return [], after
        return await self._ledger.export_page(part, after=after, limit=limit)

    async def erase(self, part: LedgerPart, keys: Sequence[tuple[str, ...]]) -> int:
        """See `Erases.erase`."""
        if part == "blocks":
            return await self._in_thread(lambda: sum(self._writer.remove_block(*key) for key in keys))
        if not await self._in_thread(self._runs_path.exists):
            return 0
        return await self._ledger.erase(part, keys)

    async def scrub(self) -> None:
        """See `Scrubs.scrub`: vectors that were kept, folders of tenants that have nothing left, and the runs' log."""
        await self._in_thread(self._writer.tidy)
        if await self._in_thread(self._runs_path.exists):
            await self._database.truncate_log()

    async def held(self, part: LedgerPart, keys: Sequence[tuple[str, ...]]) -> Mapping[tuple[str, ...], TransferItem]:
        """See `Transferable.held`."""
        if part == "blocks":
            return await self._in_thread(lambda: self._held_blocks(keys))
        if not await self._in_thread(self._runs_path.exists):
            return {}
        return await self._ledger.held(part, keys)

    async def take(
        self, part: LedgerPart, items: Sequence[TransferItem], *, replace: bool = False
    ) -> Mapping[tuple[str, ...], str]:
        """See `Transferable.take`."""
        fitting, refused = encodable(part, items)
        if part == "blocks":
            await self._in_thread(lambda: self._take_blocks(fitting, replace=replace))
        else:
            await self._in_thread(self._make_hidden)
            await self._ledger.take(part, fitting, replace=replace)
        return refused

    async def close(self) -> None:
        """Finish what is under way. Closing twice is fine."""
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._thread.shutdown)
            await self._database.close()

    async def _in_thread(self, work: Callable[[], _Result]) -> _Result:
        self._refuse_closed()
        since = look_since()

        def alone() -> _Result:
            with self._working:
                self._since = since
                return work()

        return await asyncio.get_running_loop().run_in_executor(self._thread, alone)

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StoreError(f"store {str(self._root)!r} is closed; open a new one")

    def _make_hidden(self) -> None:
        with self._folder.explained(writing=True):
            self._folder.hidden()

    def _block_path(self, name: str, tenant: str) -> str:
        return f"{self._catalog.base(tenant)}{BLOCKS}/{folder_name(name)}.md"

    def _block(self, path: str) -> str:
        with self._folder.explained():
            try:
                return self._folder.read(path).decode().removesuffix("\n")
            except FileNotFoundError:
                return ""
            except UnicodeDecodeError:
                raise StoreError(f"store {str(self._root)!r}: {path!r} isn't UTF-8") from None

    def _next_blocks(self, after: str, limit: int) -> tuple[list[TransferItem], str]:
        behind = tuple(position(after, []))
        with self._folder.explained():
            places = [(tenant, name) for tenant, name, _ in self._catalog.blocks() if (tenant, name) > behind][:limit]
        found = self._held_blocks(places)
        return [found[place] for place in places if place in found], cursor(*places[-1]) if places else after

    def _held_blocks(self, keys: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], TransferItem]:
        texts = ((tenant, name, self._block(self._block_path(name, tenant))) for tenant, name in keys)
        return {(tenant, name): block_item(tenant, name, text) for tenant, name, text in texts if text}

    def _take_blocks(self, items: Sequence[TransferItem], *, replace: bool) -> None:
        for item in items:
            tenant, name = item.key
            new = block_text(item)
            self._change(name, tenant, lambda text, new=new: new if replace or not text else text)

    def _change(self, name: str, tenant: str, change: Callable[[str], str]) -> None:
        path = self._block_path(name, tenant)
        with self._folder.locked():
            text = change(self._block(path))
            self._writer.name_tenant(tenant)
            self._writer.name_block(tenant, name)
            self._folder.replace(path, f"{text}\n" if text else "")
