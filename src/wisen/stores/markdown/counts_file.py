"""The file beside a folder's cards that holds their counts: a line for each change, the last one of a card counts.

A writer holds the folder's lock. Everything here blocks and belongs to one thread.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from pydantic import TypeAdapter, ValidationError

from wisen.cards import MemoryCard
from wisen.stores.folder import HIDDEN, FileSignature, Folder
from wisen.stores.markdown.card_counts import CardCounts, said_by

NAME = "counts.jsonl"
_PATH = f"{HIDDEN}/{NAME}"
_SPARE = 100_000
"""Bytes of lines that no longer count, beyond as many as do: with more, the file is written again without them."""
_ABSENT = FileSignature(0, 0, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountsLine:
    """The counts of a card, from this line on."""

    id: str = ""
    counts: CardCounts | None = None
    file: str = ""
    """Of a change of both counts and file: the digest of the new file. The counts hold for that file alone."""
    made: str = ""
    """Of the first line, which has no card: names the file as it was written as a whole."""


@cache
def _lines() -> TypeAdapter[CountsLine]:
    return TypeAdapter(CountsLine)


class CountsFile:
    """Follows the file, and writes it."""

    def __init__(self, folder: Folder) -> None:
        """Know nothing yet."""
        self._folder = folder
        self._signature = _ABSENT
        self._changed: set[str] = set()
        self._begin()

    def _begin(self) -> None:
        self._made = ""
        self._number = 0
        self._most = _SPARE
        self._read_to = 0
        self._kept = dict[str, dict[str, CountsLine]]()
        self._coming = dict[str, dict[str, CountsLine]]()
        self._problems = list[str]()

    @property
    def problems(self) -> Sequence[str]:
        """Lines that can't be read."""
        return self._problems

    def of(self, card: MemoryCard, digest: bytes) -> CardCounts | None:
        """What was counted for a card, as its file has it, while it said what it says; `digest` is its file's."""
        if not self.has(card.id):
            return None
        said = said_by(card)
        coming = self._coming.get(card.id, {}).get(said)
        if coming is not None and coming.file == digest.hex():
            return coming.counts
        kept = self._kept.get(card.id, {}).get(said)
        return None if kept is None else kept.counts

    def has(self, card_id: str) -> bool:
        """Whether anything is kept of a card with this id."""
        return card_id in self._kept or card_id in self._coming

    def look(self) -> set[str]:
        """Take in what was written since the last look; gives the ids of the cards that it is about."""
        self._follow()
        changed, self._changed = self._changed, set[str]()
        return changed

    def _follow(self) -> None:
        try:
            signature = self._folder.signature(_PATH)
        except FileNotFoundError:
            signature = _ABSENT
        if signature == self._signature:
            return
        data = self._folder.read(_PATH) if signature is not _ABSENT else b""
        made = data.partition(b"\n")[0].decode("utf-8", "replace")
        if made != self._made or len(data) < self._read_to:
            self._changed |= {*self._kept, *self._coming}
            self._begin()
            self._made = made
        # A line without an end is being written, or was when its process died.
        new = data[self._read_to : data.rfind(b"\n") + 1]
        self._read_to += len(new)
        self._signature = signature
        for text in new.split(b"\n")[:-1]:
            self._number += 1
            self._take(text)

    def write(self, lines: Iterable[CountsLine]) -> None:
        """Append lines. Once this returns, they are on the disk."""
        written = list(lines)
        if not written:
            return
        self._follow()
        there = self._read_to
        if not there:
            self._put(written)
            return
        data = b"".join(map(_packed, written))
        self._folder.append(_PATH, data, after=there)
        self._follow()
        if self._read_to > self._most:
            self._most = 2 * sum(len(_packed(line)) for line in self._live()) + _SPARE
            if self._read_to > self._most:
                self._put(self._live())

    def forget(self, card_ids: Iterable[str]) -> None:
        """Write the file again without these cards, and without lines that no longer count."""
        self._follow()
        gone = set(card_ids)
        if self._read_to:
            self._put([line for line in self._live() if line.id not in gone])

    def _live(self) -> list[CountsLine]:
        return [line for one in (*self._kept.values(), *self._coming.values()) for line in one.values()]

    def _put(self, lines: Sequence[CountsLine]) -> None:
        first = CountsLine(made=os.urandom(8).hex())
        self._folder.replace(_PATH, b"".join(map(_packed, (first, *lines))).decode())
        self._follow()

    def _take(self, text: bytes) -> None:
        try:
            line = _lines().validate_json(text)
        except ValidationError:
            self._problems.append(f"{_PATH}: line {self._number} can't be read")
            return
        if line.counts is None:
            return
        if line.file:
            self._coming.setdefault(line.id, {})[line.counts.of] = line
        else:
            self._coming.pop(line.id, None)
            self._kept.setdefault(line.id, {})[line.counts.of] = line
        self._changed.add(line.id)


def _packed(line: CountsLine) -> bytes:
    return _lines().dump_json(line, exclude_defaults=True) + b"\n"
