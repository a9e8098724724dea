"""What the files below a folder say: which card is where, kept fresh by looking at what has changed.

Everything here blocks and belongs to one thread.
"""

import errno
import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from wisen.cards import MemoryCard, MemoryStatus
from wisen.errors import CardNotFoundError, ReportError, StoreError
from wisen.stores.folder import HIDDEN, FileSignature, Folder
from wisen.stores.markdown.card_counts import CardCounts
from wisen.stores.markdown.card_files import LARGEST, Place, read
from wisen.stores.markdown.counts_file import CountsFile
from wisen.stores.markdown.file_names import folder_name
from wisen.stores.ordering import moment

REPORTS = "reflections"
CARDS = "cards"
BLOCKS = "blocks"
NAME_ENDING = ".name"
TENANTS = "tenants"
ARCHIVE = "archive"
TENANT_FILE = ".tenant"
ORDER_FILE = "order"
_LARGEST = 2 * LARGEST
_TICK = 50_000_000
_COARSE_TICK = 2_500_000_000
_SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A file that can't be read as a card; it is left as it is."""

    path: str
    """From the store's root."""
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A card with its file."""

    path: str
    """From the store's root."""
    card: MemoryCard
    report: bool
    """Whether it is among the reports, and not among other cards."""
    archived: bool
    """Whether the file is in an archive folder."""
    claims: MemoryStatus | None = None
    """The status that the file gives its card and that isn't believed; `None` where it is believed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """A file as it was last seen."""

    place: Place
    signature: FileSignature
    digest: bytes
    settled: bool
    """Whether a later change would have another signature."""
    said: MemoryCard | None = None
    """The card as far as the file is believed, without what is counted beside it."""
    card: MemoryCard | None = None
    claims: MemoryStatus | None = None
    problem: str = ""


class Catalog:
    """All cards of a folder by id, in the order in which they came."""

    def __init__(self, folder: Folder) -> None:
        """Know nothing yet."""
        self._folder = folder
        self.counts = CountsFile(folder)
        """What was counted on the cards."""
        self._files: dict[str, _File] = {}
        self._paths: dict[str, str] = {}
        self._numbers: dict[str, int] = {}
        self._alike: dict[str, list[str]] = {}
        self._listed: Sequence[MemoryCard] | None = None
        self._last_number = 0
        self._tenants: dict[str, str] = {"": ""}
        self._tenant_problems: list[Problem] = []

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What couldn't be read when it was last looked at, by path."""
        found = [Problem(path=path, problem=file.problem) for path, file in self._files.items() if file.problem]
        return tuple(sorted((*found, *self._tenant_problems), key=lambda one: one.path))

    def cards(self) -> Iterator[tuple[int, MemoryCard]]:
        """Each card with its number, which no other one ever has."""
        for card_id, number in self._numbers.items():
            card = self._files[self._paths[card_id]].card
            if card is not None:
                yield number, card

    def listed(self) -> Sequence[MemoryCard]:
        """All cards in the order of listings; sorted again only where some changed."""
        if self._listed is None:
            every = (card for _, card in self.cards())
            self._listed = sorted(every, key=lambda card: (moment(card.provenance.created_at), card.id))
        return self._listed

    def get(self, card_id: str) -> MemoryCard:
        """One card; raises `CardNotFoundError`."""
        return self.stored(card_id).card

    def stored(self, card_id: str) -> Stored:
        """One card with its file; raises `CardNotFoundError`."""
        path = self._paths.get(card_id, "")
        file = self._files.get(path)
        if file is None or file.card is None:
            raise CardNotFoundError(card_id)
        place = file.place
        return Stored(path=path, card=file.card, report=place.reports, archived=place.archived, claims=file.claims)

    def has(self, card_id: str) -> bool:
        """Whether there is such a card."""
        return card_id in self._paths

    def first_alike(self, duplicate_key: str) -> str | None:
        """The id of the card that came first of those with this key."""
        alike = self._alike.get(duplicate_key)
        return min(alike, key=self._numbers.__getitem__) if alike else None

    def base(self, tenant: str) -> str:
        """The tenant's folder, with a slash behind it, or "" for the one without a name."""
        return f"{TENANTS}/{folder_name(tenant)}/" if tenant else ""

    def look(self) -> None:
        """Take in what has changed since the last look; unchanged files aren't read."""
        now = time.time_ns()
        found = {path: (tenant, signature) for tenant, path, signature in self._found()}
        for path in self._files.keys() - found.keys():
            self._forget(path)
        fresh: list[tuple[str, _File]] = []
        for path, (tenant, signature) in found.items():
            known = self._files.get(path)
            if known is not None and known.signature == signature and known.settled:
                continue
            file = self._read(path, tenant, signature, now)
            if file is not None and known is not None and known.card is not None and known.digest == file.digest:
                self._files[path] = replace(known, signature=file.signature, settled=file.settled)
            elif file is not None:
                fresh.append((path, file))
        # Behind the files: an old file with newer counts has a version that no change can follow.
        counted = self.counts.look()
        self._take_in(fresh)
        for path in {self._paths[card_id] for card_id in counted if card_id in self._paths}:
            self._listed = None
            self._files[path] = self._with_counts(self._files[path])

    def _found(self) -> Iterator[tuple[str, str, FileSignature]]:
        for tenant, base in self._bases():
            for below in (REPORTS, CARDS):
                for path, signature in self._folder.files(f"{base}{below}"):
                    yield tenant, path, signature

    def blocks(self) -> list[tuple[str, str, str]]:
        """Tenant, name and path of each memory block, by tenant and name, where its name is known."""
        found: list[tuple[str, str, str]] = []
        for tenant, base in self._bases():
            for path, _ in self._folder.files(f"{base}{BLOCKS}"):
                name = self._block_name(path)
                if name is not None:
                    found.append((tenant, name, path))
        return sorted(found)

    def nameless_blocks(self) -> list[str]:
        """Paths of files among the blocks that no name belongs to."""
        every = [path for _, base in self._bases() for path, _ in self._folder.files(f"{base}{BLOCKS}")]
        return sorted(path for path in every if self._block_name(path) is None)

    def _block_name(self, path: str) -> str | None:
        folder, _, file = path.rpartition("/")
        stem = file.removesuffix(".md")
        if folder_name(stem) == stem:
            return stem
        try:
            said: object = json.loads(self._folder.read(f"{folder}/.{stem}{NAME_ENDING}"))
        except (OSError, ValueError, RecursionError):
            return None
        return said if isinstance(said, str) and folder_name(said) == stem else None

    def _bases(self) -> list[tuple[str, str]]:
        self._tenant_problems = []
        bases = [("", "")]
        for name in self._folder.folders(TENANTS):
            tenant = self._tenants.get(name) or self._named(name)
            if tenant and folder_name(tenant) == name:
                self._tenants[name] = tenant
                bases.append((tenant, f"{TENANTS}/{name}/"))
            else:
                problem = f"no tenant has this folder; {TENANT_FILE} in it has to hold the tenant's name as JSON"
                self._tenant_problems.append(Problem(path=f"{TENANTS}/{name}", problem=problem))
        return bases

    def _named(self, name: str) -> str:
        try:
            said: object = json.loads(self._folder.read(f"{TENANTS}/{name}/{TENANT_FILE}"))
        except FileNotFoundError:
            return name
        except (OSError, ValueError, RecursionError):
            return ""
        return said if isinstance(said, str) else ""

    def _read(self, path: str, tenant: str, signature: FileSignature, now: int) -> _File | None:
        tick = _TICK if signature.modified % _SECOND else _COARSE_TICK
        place = place_of(path, tenant)
        file = _File(place=place, signature=signature, digest=b"", settled=now - signature.modified > tick)
        if signature.size > _LARGEST:
            return replace(file, problem=f"has {signature.size} bytes; a card's file has at most {_LARGEST}")
        try:
            data = self._folder.read(path)
            file = replace(file, digest=digest_of(data))
            reading = read(data.decode(), place)
        except FileNotFoundError:
            return None
        except OSError as error:
            linked = "is a link; put the file itself in its place"
            return replace(file, problem=linked if error.errno == errno.ELOOP else f"{error.strerror or error}")
        except UnicodeDecodeError as error:
            return replace(file, problem=f"isn't UTF-8: byte {error.start + 1} can't be read")
        except ReportError as error:
            return replace(file, problem=str(error))
        said = reading.said.status
        claims = None if said in (reading.card.status, MemoryStatus.CANDIDATE) else said  # what every card begins with
        return replace(file, said=reading.card, card=place.seen(reading.card), claims=claims)

    def _with_counts(self, file: _File) -> _File:
        if file.said is None:
            return file
        counts = self.counts.of(file.said, file.digest)
        card = file.place.seen(file.said if counts is None else counts.onto(file.said))
        return file if card == file.card else replace(file, card=card)

    def _take_in(self, fresh: list[tuple[str, _File]]) -> None:
        for path, file in fresh:
            known = self._files.get(path)
            if known is not None and known.card is not None and (file.card is None or file.card.id != known.card.id):
                self._forget(path)
        order = self._order() if len(fresh) > 1 else {}
        fresh.sort(key=lambda one: (*_age(one[1], order), one[0]))
        for path, file in fresh:
            self._put(path, file)

    def _order(self) -> dict[str, int]:
        """When cards were added, for those of which it was noted here."""
        try:
            noted = self._folder.read(f"{HIDDEN}/{ORDER_FILE}").decode("ascii", "replace").split("\n")
        except OSError:
            return {}
        return {card_id: place for place, card_id in enumerate(noted)}

    def _put(self, path: str, file: _File) -> None:
        self._listed = None
        card = file.card
        if card is None:
            self._files[path] = file
            return
        there = self._paths.get(card.id)
        if there is not None and there != path:
            if card.id == file.place.card_id:
                card = replace(card, id=replace(file.place, stem=path).card_id)
                file = replace(file, said=file.said and replace(file.said, id=card.id), card=card)
            else:
                problem = f"has the id of {there}; take the line with the id out"
                self._files[path] = replace(file, said=None, card=None, problem=problem, settled=False)
                return
        known = self._files.get(path)
        if known is not None and known.card is not None and known.card.id == card.id:
            self._part_with_key(known.card)
        else:
            self._last_number += 1
            self._numbers[card.id] = self._last_number
        self._paths[card.id] = path
        self._alike.setdefault(card.duplicate_key, []).append(card.id)
        self._files[path] = self._with_counts(file)

    def _forget(self, path: str) -> None:
        self._listed = None
        card = self._files.pop(path).card
        if card is not None:
            del self._paths[card.id], self._numbers[card.id]
            self._part_with_key(card)

    def _part_with_key(self, card: MemoryCard) -> None:
        alike = self._alike[card.duplicate_key]
        alike.remove(card.id)
        if not alike:
            del self._alike[card.duplicate_key]

    def parts(self, card_id: str) -> tuple[MemoryCard, CardCounts]:
        """A card as its file has it, and its counts: those beside it, or those that an earlier version left in it."""
        file = self._files.get(self._paths.get(card_id, ""))
        if file is None or file.said is None:
            raise CardNotFoundError(card_id)
        return file.said, self.counts.of(file.said, file.digest) or CardCounts.on(file.said)

    def current(self, card_id: str) -> tuple[Stored, Place, str]:
        """A card, its place, and its file's text; raises `StoreError` where that has changed since the last look."""
        stored = self.stored(card_id)
        file = self._files[stored.path]
        data = self._folder.read(stored.path)
        if digest_of(data) != file.digest:
            raise StoreError(f"{stored.path!r} was changed at this very moment; read the card again")
        return stored, file.place, data.decode()


def digest_of(data: bytes) -> bytes:
    """By which a file's contents are known again."""
    return hashlib.blake2b(data, digest_size=16).digest()


def place_of(path: str, tenant: str) -> Place:
    """What a path from the root says."""
    parts = path.split("/")[2 if tenant else 0 :]
    between = parts[1:-1]
    return Place(
        tenant=tenant,
        reports=parts[0] == REPORTS,
        folder=between[0] if between else "",
        stem=parts[-1][: -len(".md")],
        archived=parts[0] == REPORTS and ARCHIVE in between[1:],
    )


def _age(file: _File, order: Mapping[str, int]) -> tuple[int, int]:
    if file.card is None:
        return len(order), 0
    return order.get(file.card.id, len(order)), moment(file.card.provenance.created_at)
