"""Rows that a store can't read: each is named once in the log, and left out of listings, searches and copies."""

import logging
from collections.abc import Callable, Iterable
from typing import Literal, TypeVar

from wisen.cards import MemoryCard
from wisen.errors import StoreError
from wisen.records import RunRecord
from wisen.stores.serialization import UnreadableError, card_from_json, run_from_json

_LOG = logging.getLogger("wisen.stores")
_Kind = Literal["card", "run", "vectors"]
_WHAT = {"vectors": "vectors of card"}
_Record = TypeVar("_Record")
Row = tuple[int, str, bytes | str]
"""The store's own number of a card or run, its id, and what is kept of it."""


class Damage:
    """What one open store couldn't read so far, by number."""

    def __init__(self, where: str) -> None:
        """`where` names the store in the log."""
        self._where = where
        self._found: dict[_Kind, set[int]] = {"card": set(), "run": set(), "vectors": set()}

    def known(self, kind: _Kind) -> list[int]:
        """The numbers of rows that are to be passed over."""
        return sorted(self._found[kind])

    def forget(self) -> None:
        """Rows were written without being read first: they may be whole now."""
        for numbers in self._found.values():
            numbers.clear()

    def cards(self, rows: Iterable[Row]) -> list[MemoryCard]:
        """Those that can be read."""
        return self._read("card", rows, card_from_json)

    def runs(self, rows: Iterable[Row]) -> list[RunRecord]:
        """Those that can be read."""
        return self._read("run", rows, run_from_json)

    def note(self, kind: _Kind, number: int, name: str, problem: str) -> None:
        """Name a row, unless it was."""
        if number not in self._found[kind]:
            self._found[kind].add(number)
            what, hint = _WHAT.get(kind, kind), "`wisen store check` names all such"
            _LOG.warning("store %r leaves out %s %r: can't be read (%s); %s", self._where, what, name, problem, hint)

    def _read(self, kind: _Kind, rows: Iterable[Row], read: Callable[[bytes | str], _Record]) -> list[_Record]:
        found: list[_Record] = []
        for number, name, text in rows:
            try:
                found.append(read(text))
            except UnreadableError as error:
                self.note(kind, number, name, error.problem)
        return found


def named_card(name: str, text: bytes | str) -> MemoryCard:
    """The card of this id; raises a `StoreError` that names it."""
    try:
        return card_from_json(text)
    except UnreadableError as error:
        raise _of("card", name, error) from None


def named_run(name: str, text: bytes | str) -> RunRecord:
    """The run of this id; raises a `StoreError` that names it."""
    try:
        return run_from_json(text)
    except UnreadableError as error:
        raise _of("run", name, error) from None


def all_named(kind: Literal["card", "run"], rows: Iterable[tuple[str, bytes | str]]) -> list[str]:
    """A line for each of these ids and texts that can't be read."""
    said: list[str] = []
    for name, text in rows:
        try:
            (named_card if kind == "card" else named_run)(name, text)
        except StoreError as error:
            said.append(str(error))
    return said


def _of(kind: str, name: str, error: UnreadableError) -> StoreError:
    return StoreError(f"{kind} {name!r} can't be read: {error.problem}; restore the store from a backup")
