"""Forgetting: deletes all that a store keeps of a person, a tenant or a run, looks again, and gives a receipt."""

import hashlib
import json
import re
import unicodedata
from collections.abc import AsyncGenerator, Collection, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Protocol, TypeAlias, runtime_checkable

from wisen.cards import MemoryCard
from wisen.errors import ConfigError
from wisen.memory_ci.changes import change_if_there
from wisen.memory_ci.orphans import reheaded
from wisen.memory_ci.rules import rules_scope
from wisen.protocols import Scrubs, VectorStore
from wisen.records import RunRecord
from wisen.stores.maintenance import Erases, Omits
from wisen.stores.pruning import call_scope
from wisen.stores.serialization import card_from_json
from wisen.stores.transfer_items import block_item, block_text, run_of
from wisen.stores.transfer_protocol import LedgerPart, Part, Transferable, TransferItem

_Json: TypeAlias = "str | float | list[_Json] | dict[str, _Json] | None"
_FEWEST = 3
_AT_ONCE = 200
_PAGE = 200
_ELSEWHERE = (
    "backups, copies and exports of this store, the server's archive, and a Markdown folder's git history keep what "
    "was in them; files of traces, logs and the tasks of a queue's batches (`wisen batch delete`) do, too"
)


@runtime_checkable
class _ForgettingStore(VectorStore, Transferable, Erases, Protocol):
    """Can be looked through, and lets go of anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Whom:
    """Selects what to forget; if several conditions are given, all must hold."""

    person: tuple[str, ...] = ()
    """How texts name someone: name, address, account. Any of them is enough, in any case, as whole words."""
    tenant: str | None = None
    """`None` means all tenants; "" is the one without a name."""
    run_id: str = ""

    def __post_init__(self) -> None:
        """Refuse to mean everything, and names that are in most texts, with `ConfigError`."""
        if not self.person and self.tenant is None and not self.run_id:
            raise ConfigError("forget: name a person, a tenant or a run; it doesn't forget everything")
        for name in self.person:
            if len(_plain(name)) < _FEWEST:
                raise ConfigError(f"forget(person={name!r}): must have at least {_FEWEST} characters")

    def __str__(self) -> str:
        """What a receipt says of it: a person's name only as a hash, since a receipt is kept."""
        parts = [f"person sha256:{hashlib.sha256(_plain(name).encode()).hexdigest()[:16]}" for name in self.person]
        parts += [] if self.tenant is None else [f"tenant {self.tenant!r}"]
        return ", ".join([*parts, *([f"run {self.run_id!r}"] if self.run_id else [])])

    def mentioned(self, text: str) -> bool:
        """Whether a text names the person."""
        plain = _plain(text)
        return any(re.search(rf"(?<!\w){re.escape(_plain(name))}(?!\w)", plain) for name in self.person)

    def mentioned_in(self, data: bytes) -> bool:
        """Whether the person is named in what a store keeps: JSON, or a text."""
        try:
            return any(map(self.mentioned, _texts(json.loads(data))))
        except (ValueError, RecursionError):
            return self.mentioned(data.decode("utf-8", "replace"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What was forgotten, or would be in a dry run."""

    about: str
    """Whom; a person's name as a hash."""
    at: datetime
    done: bool
    """Whether anything was deleted: not so in a dry run."""
    cards: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    blocks: tuple[tuple[str, str], ...] = ()
    """Tenant and name of memory blocks that lost lines, or all of them."""
    calls: int = 0
    """Recorded calls, those of other runs that had been shown one of the cards among them."""
    changed: tuple[str, ...] = ()
    """Cards that stay and no longer point at a forgotten one: its correction, rival, or other wording."""
    remaining: int = 0
    """What a second look still found, such as from a run under way: forget again when it has ended."""
    left: tuple[str, ...] = ()
    """What isn't reached, a sentence each."""


@dataclass(slots=True)
class _ToForget:
    """What belongs to whom is to be forgotten."""

    cards: dict[str, MemoryCard] = field(default_factory=dict[str, MemoryCard])
    others: dict[str, MemoryCard] = field(default_factory=dict[str, MemoryCard])
    runs: set[str] = field(default_factory=set[str])
    shown: set[str] = field(default_factory=set[str])
    """Other runs that were shown one of the cards."""
    blocks: dict[tuple[str, ...], str] = field(default_factory=dict[tuple[str, ...], str])
    """What stays of each block."""
    calls: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])

    @property
    def pointing(self) -> tuple[str, ...]:
        """Other cards that point at one of these."""
        others = self.others.values()
        found = (card.id for card in others if card.idea in self.cards or _unlinked(card, self.cards) is not None)
        return tuple(sorted(found))

    @property
    def count(self) -> int:
        return len(self.cards) + len(self.runs) + len(self.blocks) + len(self.calls)


async def forget(store: VectorStore, whom: Whom, *, dry_run: bool = False, at: datetime | None = None) -> Receipt:
    """Delete cards, runs, memory blocks and recorded calls of a person, a tenant or a run, for good.

    For a tenant, everything goes. For a run, its record, its calls and the cards learned from it go. For a person, the
    runs and calls that name them go, the cards that name them or were learned from such runs, and the lines of blocks.
    Recorded calls of other runs go if they hold a forgotten card; such a run can't be resumed.

    Args:
        store: The store: a `Transferable` that `Erases`, as all of wisen's are. All of it is read.
        whom: Whose data to forget.
        dry_run: Whether to look only.
        at: When it happens, for the receipt and the histories of cards that stay; now by default.

    A call that was cut off can be repeated.

    Raises:
        ConfigError: If the store can't do it.
        StoreError: If the store fails; also if everything is deleted, and old pages stay since another process reads.
    """
    when = at if at is not None else datetime.now(UTC)
    if not isinstance(store, _ForgettingStore):
        raise ConfigError(
            f"{type(store).__name__} can't forget: it has to be a Transferable and an Erases (wisen.stores)"
        )
    found = await _look(store, whom)
    remaining = 0
    if not dry_run:
        await _unlink(store, found, when)
        await _delete(store, found)
        if isinstance(store, Scrubs):
            await store.scrub()
        remaining = (await _look(store, whom)).count
    return Receipt(
        about=str(whom),
        at=when,
        done=not dry_run,
        cards=tuple(sorted(found.cards)),
        runs=tuple(sorted(found.runs)),
        blocks=tuple((key[0], key[1]) for key in sorted(found.blocks)),
        calls=len(found.calls),
        changed=found.pointing,
        remaining=remaining,
        left=tuple([line async for line in _left(store, whom, found)]),
    )


async def _look(store: _ForgettingStore, whom: Whom) -> _ToForget:
    found = _ToForget()
    records: dict[str, RunRecord] = {}
    async for item in _every(store, "runs"):
        record = records[item.key[0]] = run_of(item)
        named = not whom.person or whom.mentioned_in(item.content)
        if named and whom.run_id in ("", record.run_id) and whom.tenant in (None, record.task.tenant):
            found.runs.add(record.run_id)
    # Of a run that isn't recorded here, there may be cards all the same; whose its calls are, nothing says.
    taught = found.runs if whom.person or whom.run_id in records else found.runs | {whom.run_id}
    async for item in _every(store, "cards"):
        card = card_from_json(item.content)
        (found.cards if _belongs(whom, card, item, taught) else found.others)[card.id] = card
    found.shown = {one.run_id for one in records.values() if _was_shown(one, found.cards)} - found.runs
    async for item in _every(store, "blocks"):
        if whom.tenant in (None, item.key[0]) and not whom.run_id:
            lines = block_text(item).split("\n")
            kept = [line for line in lines if whom.person and not whom.mentioned(line)]
            if len(kept) < len(lines):
                found.blocks[item.key] = "\n".join(kept)
    scopes = {call_scope(run) for run in (found.runs if whom.tenant is not None else taught) | found.shown}
    if whom.tenant is not None and not (whom.person or whom.run_id):
        scopes.add(rules_scope(whom.tenant))
    own = {call_scope(one.run_id) for one in records.values() if one.task.tenant == whom.tenant}
    async for item in _every(store, "calls"):
        may = (whom.tenant is None or item.key[0] in own) and not whom.run_id
        if item.key[0] in scopes or (may and whom.person and whom.mentioned_in(item.content)):
            found.calls.append(item.key)
    return found


def _belongs(whom: Whom, card: MemoryCard, item: TransferItem, runs: Collection[str]) -> bool:
    if whom.tenant not in (None, card.scope.tenant):
        return False
    told = card.provenance
    # Where two runs were seen together, the trace's id is both of theirs.
    learned = {told.run_id, told.trace_id, told.trace_id.removeprefix(f"{told.run_id}+")}
    if not learned.isdisjoint(runs) or not (whom.person or whom.run_id):
        return True
    return not whom.run_id and whom.mentioned_in(item.content)


def _was_shown(record: RunRecord, cards: Collection[str]) -> bool:
    return any(one.card_id in cards for attempt in record.attempts for one in attempt.injections if one.shown)


async def _unlink(store: _ForgettingStore, found: _ToForget, at: datetime) -> None:
    """Let the cards that stay point at none that goes."""
    await reheaded(store, {**found.cards, **found.others}, found.cards.keys(), at)
    for one in found.pointing:
        await change_if_there(store, one, lambda card: _unlinked(card, found.cards))


def _unlinked(card: MemoryCard, gone: Collection[str]) -> MemoryCard | None:
    bare = replace(
        card,
        supersedes="" if card.supersedes in gone else card.supersedes,
        superseded_by="" if card.superseded_by in gone else card.superseded_by,
        rivals=tuple(one for one in card.rivals if one not in gone),
    )
    return None if bare == card else bare


async def _delete(store: _ForgettingStore, found: _ToForget) -> None:
    """The records of runs last: broken off before, they still tell what else belongs to them."""
    for some in _parts(sorted(found.cards)):
        await store.delete(some)
    for some in _parts(found.calls):
        await store.erase("calls", some)
    for key, kept in found.blocks.items():
        await store.erase("blocks", [key])
        if kept:
            await store.take("blocks", [block_item(key[0], key[1], kept)])
    for some in _parts([(one,) for one in sorted(found.runs)]):
        await store.erase("runs", some)


async def _left(store: _ForgettingStore, whom: Whom, found: _ToForget) -> AsyncGenerator[str]:
    if whom.run_id:
        yield "lines that this run wrote to a memory block keep no origin; read the blocks"
    if found.shown:
        yield f"the records and answers of {len(found.shown)} runs that were shown one of the cards stay"
    bad = await store.unreadable() if isinstance(store, Omits) else ()
    if bad:
        yield f"{len(bad)} rows or files can't be read, and may belong here: `wisen store check` names them"
    yield _ELSEWHERE


async def _every(store: Transferable, part: Part | LedgerPart) -> AsyncGenerator[TransferItem]:
    after = ""
    while True:
        page, after = await store.export_page(part, after=after, limit=_PAGE)
        if not page:
            return
        for item in page:
            yield item


def _parts(keys: list[Any]) -> Iterable[list[Any]]:
    return (keys[start : start + _AT_ONCE] for start in range(0, len(keys), _AT_ONCE))


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _texts(value: _Json) -> Iterable[str]:
    """All texts in JSON, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
