"""Rollback: withdraws everything that came of a run, a source, a tenant or a stretch of time, and lists what stays."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Literal

from wisen.cards import MemoryCard, MemoryStatus, Provenance
from wisen.errors import ConfigError
from wisen.memory_ci.changes import change_if_there
from wisen.memory_ci.corrections import holding_again, is_corrected_by
from wisen.memory_ci.orphans import reheaded
from wisen.memory_ci.reasons import kept_reason
from wisen.memory_ci.status import move
from wisen.protocols import RunLog, Scrubs, VectorStore
from wisen.recall import CardFilter
from wisen.records import NEVER, RunRecord
from wisen.screening.card_names import clean_source
from wisen.stores.maintenance import DropsCalls
from wisen.stores.paging import every_card, every_run
from wisen.stores.pruning import call_scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where the cards to withdraw come from; every condition must hold, and there has to be one."""

    run_id: str = ""
    """A run that the cards were learned from, or the id of a trace; of two runs that were seen together, either one."""
    source: str = ""
    """The provenance's `source`, or who made the card: "import", "human", "reflexion"."""
    tenant: str | None = None
    """`None` means all tenants; "" is the one without a name."""
    since: datetime | None = None
    until: datetime | None = None
    """Cards made from `since` on and before `until`, both with a time zone."""

    def __post_init__(self) -> None:
        """Refuse to mean everything, and times without a zone, with `ConfigError`."""
        if not self._named:
            raise ConfigError("rollback: name a run, a source, a tenant or a time; it doesn't withdraw everything")
        for name, when in (("since", self.since), ("until", self.until)):
            if when is not None and when.tzinfo is None:
                raise ConfigError(f"rollback({name}={when.isoformat()!r}): needs a time zone, such as +00:00")

    @property
    def _named(self) -> bool:
        return bool(self.run_id or self.source or self.since or self.until) or self.tenant is not None

    @property
    def _kept_source(self) -> str:
        """The source as the screen has let it be kept."""
        return _as_kept(self.source)

    def _taught(self, told: Provenance) -> bool:
        # An id may hold a "+" itself, so the trace's id isn't split.
        return self.run_id in (told.run_id, told.trace_id) or told.trace_id == f"{told.run_id}+{self.run_id}"

    def _names(self, source: str) -> bool:
        """Whether it is the source, or the file that the source is a place in."""
        return any(source == one or source.startswith(f"{one}:") for one in (self.source, self._kept_source))

    def accepts(self, card: MemoryCard) -> bool:
        """Whether the card came from there. One whose time isn't known came at no time."""
        told = card.provenance
        when = told.created_at
        return (
            (not self.run_id or self._taught(told))
            and (not self.source or self.source == told.created_by or self._names(told.source))
            and (self.tenant is None or card.scope.tenant == self.tenant)
            and ((self.since is None and self.until is None) or when != NEVER)
            and (self.since is None or when >= self.since)
            and (self.until is None or when < self.until)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Remainder:
    """Something that a withdrawn card has touched, and that a rollback doesn't undo."""

    what: Literal["card", "count", "run", "correction", "block"]
    """"card": learned by a run that was shown a withdrawn card. "count": a card that counts the lessons of a withdrawn
    run as its own. "run": the record of a run that taught, or was shown, a withdrawn card; what the run put out is in
    it. "correction": a card that corrects a withdrawn one. "block": lines of a memory block, which keep no origin."""
    id: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollback:
    """What a rollback did, or would do."""

    withdrawn: tuple[str, ...] = ()
    """Ids of the cards that are rejected now: none of their text is kept."""
    restored: tuple[str, ...] = ()
    """Cards that a withdrawn one had superseded, and that may be recalled again."""
    left: tuple[Remainder, ...] = ()


async def rollback(
    store: VectorStore,
    origin: Origin,
    *,
    note: str = "",
    downstream: bool = False,
    dry_run: bool = False,
    at: datetime | None = None,
) -> Rollback:
    """Withdraw the cards that come from `origin`.

    Args:
        store: Where they are. Where it keeps records of runs as well, these tell who was shown the cards.
        origin: Which cards.
        note: Why; kept with each of them, without secrets and personal data.
        downstream: Whether cards go too that were learned by runs which were shown one of these, and so on.
        dry_run: Whether to look only.
        at: When it happens, for the cards' histories; now by default.

    The runs that they come from let go of what they had kept to be resumed. A rollback that was broken off can be
    repeated. Raises `StoreError` where the store fails, also where the cards are
    withdrawn and it can't let go of their text yet, since another process reads it.
    """
    note = kept_reason(note)
    cards = {card.id: card async for card in every_card(store, CardFilter())}
    live = {one for one, card in cards.items() if card.status is not MemoryStatus.REJECTED}
    log = _RecordedRuns(
        [record async for record in every_run(store, tenant=origin.tenant)] if isinstance(store, RunLog) else []
    )
    chosen = {one for one in live if origin.accepts(cards[one])}
    while downstream and (more := (log.learned_from(chosen) & live) - chosen):
        chosen |= more
    restored = {one for one in live - chosen if is_corrected_by(cards[one], chosen)}
    when = at if at is not None else datetime.now(UTC)
    if not dry_run:
        # The cards themselves first: broken off in the middle, nothing that is to go is shown again.
        for one in sorted(chosen):
            await change_if_there(store, one, lambda card: _withdrawn(card, note, when))
        await reheaded(store, cards, chosen, when)
        restored = {one for one in sorted(restored) if await change_if_there(store, one, holding_again(chosen))}
        if isinstance(store, DropsCalls):  # what such a run has kept to be resumed holds the same texts
            await store.drop_calls([call_scope(run) for run in sorted(_runs_of(cards, chosen, log, origin))])
        if isinstance(store, Scrubs):
            await store.scrub()
    left = _left(cards, chosen, log, origin)
    return Rollback(withdrawn=tuple(sorted(chosen)), restored=tuple(sorted(restored)), left=tuple(left))


@lru_cache(maxsize=16)
def _as_kept(source: str) -> str:
    try:
        return clean_source(source)[0]
    except ConfigError:  # then no card has it
        return source


@dataclass(slots=True)
class _RecordedRuns:
    """What the records of runs say of cards: which were shown, and which were taught."""

    records: list[RunRecord]
    shown: dict[str, set[str]] = field(init=False)
    taught: dict[str, set[str]] = field(init=False)

    def __post_init__(self) -> None:
        self.shown = {
            record.run_id: {one.card_id for attempt in record.attempts for one in attempt.injections if one.shown}
            for record in self.records
        }
        self.taught = {
            record.run_id: {one for attempt in record.attempts for one in attempt.lesson_ids} for record in self.records
        }

    def learned_from(self, cards: set[str]) -> set[str]:
        """Cards that were taught by runs which had been shown one of these."""
        return {one for run, shown in self.shown.items() if shown & cards for one in self.taught[run]}


def _runs_of(cards: dict[str, MemoryCard], chosen: set[str], log: _RecordedRuns, origin: Origin) -> set[str]:
    """Runs that the chosen cards come from, and those that the origin means, though nothing came of them yet."""
    taught = {run for one in chosen for run in (cards[one].provenance.run_id, cards[one].provenance.trace_id)}
    meant = {origin.run_id, *(log.taught if origin == Origin(tenant=origin.tenant or "") else ())}
    return {run for run in taught | meant if run}


def _left(cards: dict[str, MemoryCard], chosen: set[str], log: _RecordedRuns, origin: Origin) -> Iterable[Remainder]:
    kept = {one for one, card in cards.items() if card.status is not MemoryStatus.REJECTED} - chosen
    runs = {cards[one].provenance.run_id for one in chosen} | {origin.run_id}
    for one in sorted(log.learned_from(chosen) & kept):
        if cards[one].provenance.run_id not in runs:
            yield Remainder(what="card", id=one, why="learned by a run that was shown a withdrawn card")
    for run in sorted(log.taught):
        if run in runs:
            yield Remainder(what="run", id=run, why="its record, with task and answers, stays")
            for one in sorted(log.taught[run] & kept):
                yield Remainder(what="count", id=one, why=f"counts what run {run} taught as a lesson seen before")
            if log.taught[run] - cards.keys():
                yield Remainder(what="block", id=run, why="this run wrote to a memory block; its lines keep no origin")
        elif log.shown[run] & chosen:
            yield Remainder(what="run", id=run, why="was shown a withdrawn card")
    for one in sorted(chosen):
        if cards[one].superseded_by in kept:
            yield Remainder(what="correction", id=cards[one].superseded_by, why=f"corrects the withdrawn card {one}")


def _withdrawn(card: MemoryCard, note: str, at: datetime) -> MemoryCard | None:
    if card.status is MemoryStatus.REJECTED:
        return None
    return move(card, MemoryStatus.REJECTED, note=f"withdrawn: {note}" if note else "withdrawn", at=at, by="rollback")
