"""The derived index over one tenant's cards: finds the rows that fit a situation, exactly filtered.

It can be rebuilt from the stored cards at any time, and only ever sees one tenant. One thread at a time may use it.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wisen.cards import ANYONE, MemoryCard, MemoryStatus
from wisen.recall import CardFilter, RecallQuery
from wisen.stores.index import scoring
from wisen.stores.index.codes import hash_code, sample_card
from wisen.stores.index.growth import room_for
from wisen.stores.index.lexical import WordIndex, WordQuery, WordWorth
from wisen.stores.index.nearness import cosines_of, distances_of
from wisen.stores.index.ranking import KEPT, CardName, Contenders, Match, Probe, nearest_by_cosine
from wisen.stores.index.vectors import BIT_WORDS, packed_dtype, sign_bits

_START = 64
_SURE, _NEAR, _NEAR_AGREEING = 1, 2, 4
"""Why a row is a candidate: whatever its cosine, or if that is among the highest."""


class IndexRow(NamedTuple):
    """What the index needs of one card, in the order in which stores select it."""

    number: int
    """The store's own number for the card, never used twice."""
    card_id: str
    status: str
    kind: str
    superseded: int
    """Whether a correction has replaced it."""
    scope: str
    run_id: str
    key: int
    content: int
    circle: int
    created: int
    words: bytes
    vectors: bytes


@dataclass(slots=True, kw_only=True)
class _IndexQuestion:
    """What an index computes of a situation for any filter, until it changes: a recall asks several times."""

    vector: NDArray[np.float32]
    """An array that belongs to this situation alone."""
    words: WordQuery
    worth: WordWorth
    bits: NDArray[np.uint64]
    same: NDArray[np.int64]
    """Rows with its prompt."""
    agreeing: NDArray[np.int64]
    """Rows whose prompt has its hard content."""
    distances: NDArray[np.uint16] | None = None
    """Of all rows, once they were asked for."""


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Candidates for one probe, and why each is one."""

    probe: Probe
    rows: NDArray[np.int64]
    why: NDArray[np.uint8]
    same: NDArray[np.int64]


class CardIndex:
    """One tenant's cards, as growing columns."""

    def __init__(self, tenant: str, dimension: int) -> None:
        """Begin empty, for vectors of `dimension`."""
        self._tenant = tenant
        self._dtype = packed_dtype(dimension)
        self._row_of: dict[int, int] = {}
        self._ids: list[str] = []
        self._words = WordIndex()
        self._classes: dict[tuple[str, str, int, str], int] = {}
        self._samples: list[MemoryCard | None] = [None]
        self._accepted: dict[tuple[CardFilter, bool], NDArray[np.bool_]] = {}
        self._runs: dict[str, int] = {}
        self._last: _IndexQuestion | None = None
        self._number = np.zeros(_START, dtype=np.int64)
        self._class = np.zeros(_START, dtype=np.int32)
        self._run = np.zeros(_START, dtype=np.int32)
        self._key = np.zeros(_START, dtype=np.int64)
        self._content = np.zeros(_START, dtype=np.int64)
        self._circle = np.zeros(_START, dtype=np.int64)
        self._created = np.zeros(_START, dtype=np.int64)
        self._inverse = np.zeros((_START, 2), dtype=np.float32)
        self._codes = np.zeros((_START, 2, dimension), dtype=np.int8)
        self._bits = np.zeros((2 * BIT_WORDS, _START), dtype=np.uint64)
        self._empty = np.zeros((2, _START), dtype=np.bool_)

    @property
    def size(self) -> int:
        """Rows, those of removed and replaced cards included."""
        return len(self._ids)

    @property
    def wasteful(self) -> bool:
        """Whether so many rows are dead that a new index is worth its time."""
        return self.size - len(self._row_of) > max(1024, len(self._row_of))

    def put(self, rows: Sequence[IndexRow]) -> None:
        """Take in cards; a number that is there already is replaced. Numbers must differ.

        Without vectors, words and vectors stay as they are; then the number has to be there.
        """
        self._last = None
        self._restate([row for row in rows if not row[-1]])
        rows = [row for row in rows if row[-1]]
        if not rows:
            return
        self.drop([row[0] for row in rows])
        numbers, ids, statuses, kinds, superseded, scopes, runs, keys, contents, circles, created, words, vectors = zip(
            *rows, strict=True
        )
        first, last = self.size, self.size + len(rows)
        self._grow(last)
        span = slice(first, last)
        self._number[span] = numbers
        self._class[span] = [self._class_of(parts) for parts in zip(statuses, kinds, superseded, scopes, strict=True)]
        self._run[span] = [self._runs.setdefault(run, len(self._runs)) for run in runs]
        self._key[span] = keys
        self._content[span] = contents
        self._circle[span] = circles
        self._created[span] = created
        packed = np.frombuffer(b"".join(vectors), dtype=self._dtype)
        self._inverse[span] = packed["inverse"]
        self._codes[span] = packed["codes"]
        self._bits[:, span] = packed["bits"].reshape(len(rows), 2 * BIT_WORDS).T
        self._empty[:, span] = (packed["inverse"] == 0).T
        self._words.extend(words)
        self._ids.extend(ids)
        self._row_of.update(zip(numbers, range(first, last), strict=True))

    def drop(self, numbers: Sequence[int]) -> None:
        """Forget cards; numbers that aren't there are passed over."""
        self._last = None
        for number in numbers:
            row = self._row_of.pop(number, None)
            if row is not None:
                self._class[row] = 0
                self._words.drop(row)

    def _restate(self, rows: Sequence[IndexRow]) -> None:
        for number, _, status, kind, superseded, scope, run_id, key, content, circle, created, _, _ in rows:
            row = self._row_of[number]
            self._class[row] = self._class_of((status, kind, superseded, scope))
            self._run[row] = self._runs.setdefault(run_id, len(self._runs))
            self._key[row] = key
            self._content[row] = content
            self._circle[row] = circle
            self._created[row] = created

    def rows(self) -> list[IndexRow]:
        """The live cards, from which an index without waste can be made."""
        classes = {code: parts for parts, code in self._classes.items()}
        runs = list(self._runs)
        exported: list[IndexRow] = []
        for number, row in self._row_of.items():
            exported.append(
                IndexRow(
                    number,
                    self._ids[row],
                    *classes[int(self._class[row])],
                    runs[self._run[row]],
                    int(self._key[row]),
                    int(self._content[row]),
                    int(self._circle[row]),
                    int(self._created[row]),
                    self._words.row(row),
                    self._packed(row),
                )
            )
        return exported

    def _packed(self, row: int) -> bytes:
        packed = np.zeros(1, dtype=self._dtype)
        packed["inverse"], packed["codes"] = self._inverse[row], self._codes[row]
        packed["bits"] = self._bits[:, row].reshape(2, BIT_WORDS)
        return packed.tobytes()

    def vectors(self, numbers: Sequence[int]) -> dict[int, bytes]:
        """The packed vectors of those of these cards that are there."""
        return {number: self._packed(self._row_of[number]) for number in numbers if number in self._row_of}

    def search_each(self, probes: Sequence[Probe]) -> list[list[Match]]:
        """For each the best rows, as `Contenders.ranked` gives them; those on one situation share the work."""
        found: list[list[Match]] = []
        for _, alike in groupby(probes, key=lambda probe: probe.query.situation):
            found += self._answers([*alike])
        return found

    def _answers(self, probes: Sequence[Probe]) -> list[list[Match]]:
        allowed = [self._allowed(probe.query) for probe in probes]
        asked = [place for place, some in enumerate(allowed) if some.any()]
        answers: list[list[Match]] = [[] for _ in probes]
        if not asked:
            return answers
        question = self._question(probes[0])
        drawn = [self._drawn(question, probes[place], allowed[place]) for place in asked]
        cosines = self._cosines(np.concatenate([one.rows for one in drawn]), question.vector)
        parts = _parts(cosines, [len(one.rows) for one in drawn])
        kept = [self._kept(question, *one) for one in zip(drawn, parts, strict=True)]
        rows = np.concatenate([rows for rows, _ in kept])
        lexical, has = self._words.coverage(question.words, rows)
        names, first = self._names(rows), 0
        for place, (some, contenders) in zip(asked, kept, strict=True):
            part = slice(first, first := first + len(some))
            answers[place] = contenders.ranked(probes[place], question.words, (lexical[part], has[part]), names[part])
        return answers

    def _question(self, probe: Probe) -> _IndexQuestion:
        last = self._last
        if last is None or last.vector is not probe.vector:
            words = self._words.question(probe.query.situation.text)
            self._last = last = _IndexQuestion(
                vector=probe.vector,
                words=words,
                worth=self._words.worth(words),
                bits=sign_bits(probe.vector[np.newaxis])[0],
                same=self._having(self._key, probe.key),
                agreeing=self._having(self._content, probe.content),
            )
        return last

    def _having(self, column: NDArray[np.int64], code: int) -> NDArray[np.int64]:
        """The rows with this code, none for 0."""
        return (column[: self.size] == code).nonzero()[0] if code else np.empty(0, dtype=np.int64)

    def _drawn(self, question: _IndexQuestion, probe: Probe, allowed: NDArray[np.bool_]) -> _Drawn:
        """Rows that may answer: of the same prompt, near, or with rare words; and of those that agree, the same."""
        rows: NDArray[np.int64] = allowed.nonzero()[0]
        same = self._newest(question.same[allowed[question.same]], probe.query.k)
        limit = KEPT + probe.query.k
        if len(rows) <= limit:  # no more than any way of looking for candidates keeps
            return _Drawn(probe, rows, np.full(len(rows), _SURE, dtype=np.uint8), same)
        why = np.zeros(self.size, dtype=np.uint8)
        why[same] = _SURE
        for some, reason in ((rows, _NEAR), (question.agreeing[allowed[question.agreeing]], _NEAR_AGREEING)):
            if len(some):
                why[question.worth.heaviest(some, limit)] |= _SURE
                why[self._nearest(question, some)] |= reason
        rows = why.nonzero()[0]
        return _Drawn(probe, rows, why[rows], same)

    def _kept(
        self, question: _IndexQuestion, drawn: _Drawn, near: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], Contenders]:
        """Of the candidates those that can be among the best."""
        probe, limit = drawn.probe, KEPT + drawn.probe.query.k
        chosen = (drawn.why & _SURE).astype(np.bool_)
        for reason in (_NEAR, _NEAR_AGREEING):
            chosen[nearest_by_cosine(near, (drawn.why & reason).nonzero()[0], limit)] = True
        rows, near = drawn.rows[chosen], near[chosen]
        same = np.isin(rows, drawn.same) if len(drawn.same) else np.zeros(len(rows), dtype=np.bool_)
        keyed = ((self._content[rows] == probe.content) | same) & (probe.content != 0)
        vector = scoring.rescaled(near.max(axis=1), probe.cosine_floor)
        contenders = Contenders(cosines=near, vector=vector, same=same, keyed=keyed)
        places = contenders.in_reach(probe, question.worth.share(rows))
        return rows[places], contenders.at(places)

    def _names(self, rows: NDArray[np.int64]) -> list[CardName]:
        numbers, created = self._number[rows].tolist(), self._created[rows].tolist()
        return [CardName(*one) for one in zip(numbers, created, map(self._ids.__getitem__, rows.tolist()), strict=True)]

    def _grow(self, needed: int) -> None:
        for name in ("_number", "_class", "_run", "_key", "_content", "_circle", "_created", "_inverse", "_codes"):
            setattr(self, name, room_for(getattr(self, name), needed))
        self._bits = room_for(self._bits, needed, axis=1)
        self._empty = room_for(self._empty, needed, axis=1)

    def _class_of(self, parts: tuple[str, str, int, str]) -> int:
        known = self._classes.get(parts)
        if known is None:
            status, kind, superseded, scope = parts
            known = self._classes[parts] = len(self._samples)
            sample = sample_card(scope, tenant=self._tenant, kind=kind, status=status)
            self._samples.append(replace(sample, superseded_by="another" if superseded else ""))
            self._accepted.clear()
        return known

    def _allowed(self, query: RecallQuery) -> NDArray[np.bool_]:
        """Of each row, whether the query accepts it; nothing where it accepts none of the classes that there are."""
        where = query.filter
        general = replace(query, filter=replace(where, run_id="", circle="")) if where.run_id or where.circle else query
        accepted = self._accepting(general)
        if not accepted.any():
            return np.empty(0, dtype=np.bool_)
        classes = self._class[: self.size]
        allowed: NDArray[np.bool_] = accepted.take(classes)
        if where.run_id:
            allowed &= self._run[: self.size] == self._runs.get(where.run_id, -1)
        if where.circle:
            in_use = replace(general.filter, statuses=(MemoryStatus.PROMOTED,))
            released = self._accepting(replace(general, filter=in_use)).take(classes)
            circle = self._circle[: self.size]
            allowed &= released | (circle == hash_code(where.circle)) | (circle == hash_code(ANYONE))
        return allowed

    def _accepting(self, query: RecallQuery) -> NDArray[np.bool_]:
        """For each class of cards, whether the query accepts it."""
        asked = query.filter, query.superseded
        accepted = self._accepted.get(asked)
        if accepted is None:
            accepted = np.array([sample is not None and query.accepts(sample) for sample in self._samples])
            if len(self._accepted) >= _START:
                self._accepted.clear()
            self._accepted[asked] = accepted
        return accepted

    def _newest(self, rows: NDArray[np.int64], count: int) -> NDArray[np.int64]:
        return rows if len(rows) <= count else np.array(heapq.nsmallest(count, rows.tolist(), key=self._age))

    def _age(self, row: int) -> tuple[int, str]:
        return -int(self._created[row]), self._ids[row]

    def _nearest(self, question: _IndexQuestion, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of the rows that are nearest by their sign bits."""
        enough = min(512, 128 + len(rows) // 64)
        if len(rows) <= enough:
            return rows
        return rows[scoring.highest(~self._distances(question, rows), enough)]

    def _distances(self, question: _IndexQuestion, rows: NDArray[np.int64]) -> NDArray[np.uint16]:
        if question.distances is None and 4 * len(rows) < self.size:
            return distances_of(self._bits[:, rows], self._empty[:, rows], question.bits)
        if question.distances is None:
            question.distances = distances_of(self._bits[:, : self.size], self._empty[:, : self.size], question.bits)
        return question.distances[rows]

    def _cosines(self, rows: NDArray[np.int64], vector: NDArray[np.float32]) -> NDArray[np.float64]:
        return cosines_of(self._codes.take(rows, axis=0), self._inverse[rows], vector)


def _parts(values: NDArray[np.float64], lengths: Sequence[int]) -> list[NDArray[np.float64]]:
    ends = list(accumulate(lengths))
    return [values[end - length : end] for length, end in zip(lengths, ends, strict=True)]
