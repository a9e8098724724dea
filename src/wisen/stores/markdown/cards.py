"""Changing the files of a Markdown store: adding, rewriting, removing and archiving cards, under the folder's lock.

Everything here blocks and belongs to one thread.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from wisen.cards import MemoryCard, MemoryStatus
from wisen.errors import StoreError
from wisen.recall import RECALLABLE, Written
from wisen.records import NEVER
from wisen.reports import card_to_report
from wisen.stores.folder import Folder
from wisen.stores.index.prepared import check_successor
from wisen.stores.markdown.card_counts import CardCounts, without_counts
from wisen.stores.markdown.card_files import day_of_card, render, rewritten, title_of
from wisen.stores.markdown.catalog import (
    ARCHIVE,
    BLOCKS,
    CARDS,
    NAME_ENDING,
    ORDER_FILE,
    REPORTS,
    TENANT_FILE,
    TENANTS,
    Catalog,
    Stored,
    digest_of,
    place_of,
)
from wisen.stores.markdown.counts_file import CountsLine
from wisen.stores.markdown.file_names import agent_folder, file_stem, folder_name
from wisen.stores.ordering import moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A report that went to the archive, or would."""

    card_id: str
    agent: str
    source: str
    """From the store's root, as `target`."""
    target: str


class CardWriter:
    """Writes what a `Catalog` reads."""

    def __init__(self, folder: Folder, catalog: Catalog, keep: int | None) -> None:
        """Change the files in `folder`, which `catalog` follows; of each agent's reports the last `keep` stay."""
        self._keep = keep
        self._folder = folder
        self._catalog = catalog

    def add(self, cards: Sequence[MemoryCard]) -> list[Written]:
        """See `VectorStore.add_unscreened`."""
        with self._folder.locked():
            self._catalog.look()
            new: dict[str, MemoryCard] = {}
            keys: dict[str, str] = {}
            counted: dict[str, int] = {}
            written: list[Written] = []
            for card in cards:
                outcome, card_id = self._outcome(card, new, keys)
                if outcome == "added":
                    new[card.id] = card
                    keys[card.duplicate_key] = card.id
                elif outcome == "duplicate":
                    counted[card_id] = counted.get(card_id, 0) + 1
                written.append(Written(card_id=card_id, outcome=outcome))
            for card_id in new.keys() & counted.keys():
                new[card_id] = replace(new[card_id], duplicates=new[card_id].duplicates + counted.pop(card_id))
            self._write(list(new.values()), counted)
            self._catalog.look()
            if self._keep is not None:
                for agent in {card.provenance.agent for card in new.values()}:
                    outdated = self._outdated(self._keep, agent)
                    self._archive(one for one in outdated if not _is_in_use(one.card))
            return written

    def take(self, cards: Sequence[MemoryCard], *, overwrite: bool) -> dict[str, str]:
        """Keep cards as they are, those that are there only with `overwrite`; gives the ids that can't be, and why."""
        with self._folder.locked():
            self._catalog.look()
            refused = {card.id: why for card in cards if (why := self._refusal(card))}
            fitting = [card for card in cards if card.id not in refused]
            for card in fitting:
                if overwrite and self._catalog.has(card.id) and self._catalog.get(card.id) != card:
                    self._exchange(card)
            self._write([card for card in fitting if not self._catalog.has(card.id)], {})
            self._catalog.look()
            return refused

    def update(self, card: MemoryCard) -> None:
        """See `VectorStore.update`."""
        with self._folder.locked():
            self._catalog.look()
            kept = self._catalog.get(card.id)
            check_successor(kept, card)
            self._rewrite(replace(card, duplicates=max(card.duplicates, kept.duplicates)))
            self._catalog.look()

    def delete(self, card_ids: Sequence[str]) -> int:
        """See `VectorStore.delete`."""
        with self._folder.locked():
            self._catalog.look()
            gone = [card_id for card_id in dict.fromkeys(card_ids) if self._catalog.has(card_id)]
            for card_id in gone:
                self._folder.remove(self._catalog.stored(card_id).path)
            if gone:
                self._catalog.counts.forget(gone)
            self._catalog.look()
            return len(gone)

    def archive(self, keep: int, agent: str | None, *, dry_run: bool) -> list[Moved]:
        """Move all but an agent's last `keep` reports to the archive, and those that have that status."""
        if dry_run:
            with self._folder.explained():
                self._catalog.look()
                return [self._moved(stored, _archive_of(stored)) for stored in self._outdated(keep, agent)]
        with self._folder.locked():
            self._catalog.look()
            return self._archive(self._outdated(keep, agent))

    def _archive(self, reports: Iterable[Stored]) -> list[Moved]:
        moved: list[Moved] = []
        for stored in reports:
            target = self._folder.move(stored.path, _archive_of(stored).rpartition("/")[0])
            moved.append(self._moved(stored, target))
        if moved:
            self._catalog.look()
        return moved

    def _refusal(self, card: MemoryCard) -> str:
        try:
            self._file_of(card)
        except StoreError as error:
            return str(error)
        return ""

    def _exchange(self, card: MemoryCard) -> None:
        if self._catalog.get(card.id).scope.tenant == card.scope.tenant:
            self._rewrite(card)
        else:
            self._folder.remove(self._catalog.stored(card.id).path)
            self._catalog.look()

    def _outcome(
        self, card: MemoryCard, new: dict[str, MemoryCard], keys: dict[str, str]
    ) -> tuple[Literal["added", "duplicate", "unchanged"], str]:
        if card.id in new or self._catalog.has(card.id):
            return "unchanged", card.id
        alike = self._catalog.first_alike(card.duplicate_key) or keys.get(card.duplicate_key)
        return ("added", card.id) if alike is None else ("duplicate", alike)

    def _write(self, new: Sequence[MemoryCard], counted: dict[str, int]) -> None:
        """Write new cards and counts, all or none as far as this process lives."""
        ready = [(folder, stem, text) for card in new for folder, stem, text in (self._file_of(card),)]
        changes = [self._recounted(card_id, by) for card_id, by in counted.items()]
        self._catalog.counts.write(line for card in new if (line := self._beside(card)))
        made: list[str] = []
        try:
            for tenant in {card.scope.tenant for card in new}:
                self.name_tenant(tenant)
            for folder, stem, text in ready:
                made.append(self._folder.create(folder, stem, text))
            self._catalog.counts.write(changes)
        except BaseException:
            for path in made:
                self._folder.remove(path)
            raise
        self._folder.note(ORDER_FILE, "".join(f"{card.id}\n" for card in new if card.id.isascii()))

    def _file_of(self, card: MemoryCard) -> tuple[str, str, str]:
        report = card_to_report(card)
        dated = report is not None or card.provenance.created_at != NEVER
        stem = file_stem(day_of_card(card) if dated else None, title_of(card))
        base = self._catalog.base(card.scope.tenant)
        if report is not None:
            folder = f"{base}{REPORTS}/{agent_folder(report.agent)}"
        else:
            folder = f"{base}{CARDS}/{card.kind.value}"
        return folder, stem, render(card, place_of(f"{folder}/{stem}.md", card.scope.tenant))

    def name_block(self, tenant: str, name: str) -> None:
        """Note the name of a block whose file doesn't say it."""
        file = folder_name(name)
        if file != name:
            self._folder.write_once(
                f"{self._catalog.base(tenant)}{BLOCKS}/.{file}{NAME_ENDING}", f"{json.dumps(name)}\n"
            )

    def remove_block(self, tenant: str, name: str) -> bool:
        """Remove a block's file, and what notes its name; says whether there was one."""
        folder, file = f"{self._catalog.base(tenant)}{BLOCKS}", folder_name(name)
        with self._folder.locked():
            there = self._folder.exists(f"{folder}/{file}.md")
            for path in (f"{folder}/{file}.md", f"{folder}/.{file}{NAME_ENDING}"):
                if self._folder.exists(path):
                    self._folder.remove(path)
            return there

    def tidy(self) -> None:
        """Remove what can be made again and may hold more than is left, and folders of tenants that hold nothing."""
        with self._folder.locked():
            for vectors in self._folder.hidden().glob("vectors-*"):
                vectors.unlink(missing_ok=True)
            self._catalog.counts.forget(())
            for name in self._folder.folders(TENANTS):
                below = f"{TENANTS}/{name}"
                if self._folder.holds_nothing(below):
                    self._folder.remove_tree(below)

    def name_tenant(self, tenant: str) -> None:
        """Note the name of a tenant whose folder doesn't say it."""
        folder = folder_name(tenant)
        if tenant and folder != tenant:
            self._folder.write_once(f"{self._catalog.base(tenant)}{TENANT_FILE}", f"{json.dumps(tenant)}\n")

    def _recounted(self, card_id: str, by: int) -> CountsLine:
        _, counts = self._catalog.parts(card_id)
        return CountsLine(id=card_id, counts=replace(counts, duplicates=counts.duplicates + by))

    def _beside(self, card: MemoryCard) -> CountsLine | None:
        """The counts that come with a new card, also where one that had its id left others."""
        counts = CardCounts.on(card)
        return None if counts.empty and not self._catalog.counts.has(card.id) else CountsLine(id=card.id, counts=counts)

    def _rewrite(self, card: MemoryCard) -> None:
        """Change the file where the card says something else or moves, and the counts where they are others."""
        stored, place, text = self._catalog.current(card.id)
        said, before = self._catalog.parts(card.id)
        bare = without_counts(said)
        if bare == said == replace(without_counts(card), version=said.version):
            counts = CardCounts.on(card, changes=card.version - said.version)
            self._catalog.counts.write([CountsLine(id=card.id, counts=counts)])
            return
        written = replace(card, version=max(1, card.version - before.changes))
        counts = CardCounts.on(written, changes=card.version - written.version)
        back = place.archived and card.status is not MemoryStatus.ARCHIVED
        new = rewritten(text, written, place, replace(place, archived=False) if back else place)
        if (counts == before and bare == said) or (counts.empty and not self._catalog.counts.has(card.id)):
            self._settle(stored, new, back=back)
            return
        digest = digest_of(new.encode()).hex()
        self._catalog.counts.write([CountsLine(id=card.id, counts=counts, file=digest)])
        self._settle(stored, new, back=back)
        self._catalog.counts.write([CountsLine(id=card.id, counts=counts)])

    def _settle(self, stored: Stored, text: str, *, back: bool) -> None:
        """Put a text in the place of a card's file, or back to where it was before it was archived."""
        if back:
            self._folder.create(_home_of(stored.path), stored.path.rpartition("/")[2].removesuffix(".md"), text)
            self._folder.remove(stored.path)
        else:
            self._folder.replace(stored.path, text)

    def _outdated(self, keep: int, agent: str | None) -> list[Stored]:
        """Reports that belong in the archive, oldest first."""
        of: dict[tuple[str, str], list[Stored]] = {}
        for _, card in self._catalog.cards():
            stored = self._catalog.stored(card.id)
            if not stored.report or stored.archived or agent not in (None, card.provenance.agent):
                continue
            of.setdefault((card.scope.tenant, card.provenance.agent), []).append(stored)
        outdated: list[Stored] = []
        for reports in of.values():
            reports.sort(key=_age)
            current = [one for one in reports if one.card.status is not MemoryStatus.ARCHIVED]
            staying = {one.card.id for one in (current[-keep:] if keep else [])}
            outdated += [one for one in reports if one.card.id not in staying]
        return sorted(outdated, key=_age)

    def _moved(self, stored: Stored, target: str) -> Moved:
        agent = stored.card.provenance.agent
        return Moved(card_id=stored.card.id, agent=agent, source=stored.path, target=target)


def _is_in_use(card: MemoryCard) -> bool:
    """Whether a card is promoted, pinned or on trial: what is known of it counts for more than its age."""
    return card.status in RECALLABLE and bool(card.pinned or card.trials or card.status is MemoryStatus.PROMOTED)


def _age(stored: Stored) -> tuple[int, str]:
    return moment(stored.card.provenance.created_at), stored.path


def _archive_of(stored: Stored) -> str:
    home, _, name = stored.path.rpartition("/")
    if home.endswith(REPORTS):
        home = f"{home}/{agent_folder(stored.card.provenance.agent)}"
    return f"{home}/{ARCHIVE}/{day_of_card(stored.card).year:04d}/{name}"


def _home_of(path: str) -> str:
    """The agent's folder of a report in the archive."""
    return path.partition(f"/{ARCHIVE}/")[0]
