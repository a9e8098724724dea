"""A text as what it claims: hard content, and words with whether they are affirmed."""

import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, lru_cache

from wisen.claims.lexer import Token, is_foreign, tokens
from wisen.claims.numbers_in_words import with_numbers
from wisen.claims.vocabulary import stem, vocabulary

_REACH = 3
"""Tokens between a comparison and the number that it bounds."""
_DAY = re.compile("0?[1-9]|[12][0-9]|3[01]")
_FORMS_OF_BE = frozenset(("be", "is", "are", "was", "were", "been", "being"))
_FLOATING = frozenset(("first", "only", "then", "always", "ever", "again"))
_FRONTED = frozenset(("since", "before", "after", "until", "unless", "for", "in", "on"))
"""Words besides links with which a clause begins that may stand in front or at the end."""
_FIRST_PICTURE = 0x2600
_NAMED = 3
"""Letters of a unit's name at least, unlike its sign, which may be anything without a number: ms, x."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word that carries something, or a number, code or the like in its place."""

    stem: str
    negated: bool
    floats: bool = False
    """Whether it may stand in other places of its sentence for the same, as many adverbs may."""
    is_participle: bool = False
    """Whether it is a verb in the passive, which stands behind what it is done to."""
    is_link: bool = False
    """Whether it joins clauses: it counts for the order only."""


@dataclass(frozen=True, slots=True)
class Clause:
    """The words and values between two stops or links."""

    stems: frozenset[str]
    denies: bool
    """Whether something in it is negated: "no refund leaves early" denies the leaving, too."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a text says."""

    words: tuple[Word, ...]
    """In their order."""
    numbers: frozenset[str]
    """With their units: "500 eur"."""
    counts: frozenset[str]
    """Numbers written as words without a unit, such as "both of the two": other wordings may leave them out."""
    dates: frozenset[str]
    codes: frozenset[str]
    quotes: frozenset[str]
    names: frozenset[str]
    units: frozenset[str]
    """Named in the plural without a number: "in milliseconds", unlike "the second item" and "the last day"."""
    foreign: frozenset[str]
    """Words in scripts other than Latin, and pictures such as flags."""
    directions: frozenset[tuple[str, str]]
    """Numbers that are limits: the value, and "above" or "below"."""
    said: frozenset[str]
    """All that occurs, hard or not, as it stands and as stems."""
    parts: tuple[tuple[str, str], ...]
    """The text in order, each word or value behind its stem, or behind "" where it carries nothing."""
    clauses: tuple[Clause, ...]
    ways: frozenset[tuple[str, str]]
    """Words and values that "from" or "to" stands before."""
    owners: frozenset[str]
    """Of "ours" and "theirs", whose things are spoken of."""
    duties: frozenset[str]
    """Of "may" and "must", which are said."""
    begins_with_link: bool

    @cached_property
    def stems(self) -> frozenset[str]:
        """The words and values without their order."""
        return frozenset(word.stem for word in self.words if not word.is_link)

    @cached_property
    def first(self) -> str:
        """The first word, mostly the verb of what is to be done."""
        return next((word.stem for word in self.words if not word.is_link and not word.floats), "")

    @cached_property
    def negations(self) -> Mapping[str, frozenset[bool]]:
        """Of each stem, whether it stands negated, affirmed, or both."""
        found: dict[str, frozenset[bool]] = {}
        for word in self.words:
            found[word.stem] = found.get(word.stem, frozenset()) | {word.negated}
        return found

    @cached_property
    def denied(self) -> frozenset[str]:
        """All that stands in a clause that denies something."""
        return frozenset(stem for clause in self.clauses if clause.denies for stem in clause.stems)

    def clauses_with(self, stem: str) -> Iterator[frozenset[str]]:
        """What else stands in each clause that a word or value is in."""
        return (clause.stems - {stem} for clause in self.clauses if stem in clause.stems)

    def own_words(self, common: AbstractSet[str]) -> str:
        """Its words and values besides some that it has in common with another text, as they stand."""
        return " ".join(said for what, said in self.parts if what and what not in common)

    @property
    def key(self) -> str:
        """The hard content as one text; "" where there is none."""
        numbers = self.numbers | self.counts
        parts = (("n", numbers), ("d", self.dates), ("c", self.codes), ("q", self.quotes), ("p", self.names))
        found = [f"{kind}:{value}" for kind, values in (*parts, ("f", self.foreign)) for value in sorted(values)]
        found += [f"l:{number} {direction}" for number, direction in sorted(self.directions)]
        return "\x1f".join(found)


@lru_cache(maxsize=4_096)
def claim_of(text: str) -> Claim:
    """Read a text; the last few thousand are remembered."""
    return _Reader(list(with_numbers(_with_dates(_with_phrases(list(tokens(text))))))).claim()


def _with_phrases(found: list[Token]) -> Iterator[Token]:
    """Tokens with phrases replaced by the word that they stand for, and contractions taken apart."""
    table = vocabulary()
    found = list(_apart(found))
    place = 0
    while place < len(found):
        longest = table.phrase_starts.get(found[place].value, 1)
        for length in range(min(longest, len(found) - place), 1, -1):
            part = found[place : place + length]
            stands = table.phrases.get(tuple(token.value for token in part))
            if stands is not None and all(token.kind in {"word", "name"} for token in part):
                if stands:
                    yield Token("word", stands)
                place += length
                break
        else:
            yield found[place]
            place += 1


def _apart(found: Iterable[Token]) -> Iterator[Token]:
    for token in found:
        if token.kind in {"word", "name"} and "'" in token.value:
            if token.value in {"don't", "doesn't"}:
                yield Token("word", "do")
            head, _, tail = token.value.partition("'")
            if tail == "t":
                yield Token("word", "not")
                head = head.removesuffix("n")
                if head in vocabulary().duty:
                    yield Token("word", head)
            elif head:
                yield Token(token.kind, head)
        elif token.value == "cannot":
            yield Token("word", "can")
            yield Token("word", "not")
        else:
            yield token


def _with_dates(found: Iterable[Token]) -> Iterator[Token]:
    """Days with their month as one token: 3 April, April 3rd, the third of April is left as words."""
    table = vocabulary()
    items = list(found)
    place = 0
    while place < len(items):
        token = items[place]
        following = items[place + 1] if place + 1 < len(items) else None
        if following and (day := _day(token)) and following.value in table.months and following.kind == "name":
            yield Token("date", f"{table.months[following.value]}/{day}")
            place += 2
        elif following and token.value in table.months and token.kind != "quote" and (day := _day(following)):
            yield Token("date", f"{table.months[token.value]}/{day}")
            place += 2
        elif token.value in table.months and token.kind == "name":
            yield Token("date", token.value)
            place += 1
        elif token.value in table.weekdays and token.kind in {"name", "word"}:
            yield Token("date", f"weekday {table.weekdays[token.value]}")
            place += 1
        else:
            yield token
            place += 1


def _day(token: Token) -> str:
    value = token.value.removesuffix(" th")
    return value if token.kind == "number" and _DAY.fullmatch(value) else ""


class _Reader:
    """Collects what the tokens of one text claim."""

    def __init__(self, items: list[Token]) -> None:
        self.items = items
        self.words: list[Word] = []
        self.values: dict[str, set[str]] = {}
        self.counts: set[str] = set()
        self.said: set[str] = set()
        self.directions: set[tuple[str, str]] = set()
        self.parts: list[tuple[str, str]] = []
        self.owners: set[str] = set()
        self.units: set[str] = set()
        self.ways: set[tuple[str, str]] = set()
        self._way = ""
        self._clause: list[str] = []
        self._denies = False
        self._clauses: list[Clause] = []
        self._negated = False
        self._after_be = False
        self._direction, self._reach = "", -1

    def claim(self) -> Claim:
        for place, token in enumerate(self.items):
            self.parts.append(("", token.value))
            if token.kind == "stop":
                self._negated, self._direction, self._way = False, "", ""
                self._end_clause()
            elif token.kind in {"word", "name"}:
                self._word(token, place)
            else:
                self._value(token, place)
        self._end_clause()
        kinds = ("number", "date", "code", "quote", "name", "foreign")
        numbers, dates, codes, quotes, names, foreign = (frozenset(self.values.get(kind, ())) for kind in kinds)
        return Claim(
            words=tuple(self.words),
            numbers=numbers,
            counts=frozenset(self.counts),
            dates=dates,
            codes=codes,
            quotes=quotes,
            names=names,
            units=frozenset(self.units),
            foreign=foreign,
            directions=frozenset(self.directions),
            said=frozenset(self.said),
            parts=tuple(self.parts),
            clauses=tuple(self._clauses),
            ways=frozenset(self.ways),
            owners=frozenset(self.owners),
            duties=self._duties(),
            begins_with_link=bool(self.items)
            and (self.items[0].value in _FRONTED or self.items[0].value in vocabulary().links),
        )

    def _word(self, token: Token, place: int) -> None:
        table, value = vocabulary(), token.value
        if value in table.negators:
            self._negated = self._denies = True
            self.said.add(value)
            return
        root = stem(value)
        self.said |= {value, root}
        if value in table.links:
            self._end_clause()
            self.words.append(Word(stem=table.links[value], negated=False, is_link=True))
            return
        if value in table.owners:
            self.owners.add(table.owners[value])
        if value in table.function:
            self._after_be = value in _FORMS_OF_BE
            self._way = table.ways.get(value, self._way)
            return
        if value in table.directions:
            self._limit(value, place)
        if value in table.units and value.endswith("s") and len(value) >= _NAMED:
            self.units.add(table.units[value])
        if is_foreign(value):
            self._keep("foreign", value)
        elif token.kind == "name":
            self._keep("name", root)
        if root in table.multiples:
            self.counts.add(table.multiples[root])
        floats = value in _FLOATING or (value.endswith("ly") and value not in table.not_adverbs)
        self._carried(root, value)
        self.words.append(Word(stem=root, negated=self._negated, floats=floats, is_participle=self._after_be))
        self._negated = self._negated and floats
        self._after_be = self._after_be and floats

    def _value(self, token: Token, place: int) -> None:
        value = token.value
        self.said.add(value)
        if token.kind == "number":
            if token.in_words and " " not in value:
                self.counts.add(value)
            else:
                self._keep("number", value)
            if self._direction and place <= self._reach:
                self.directions.add((value, self._direction))
                self._direction = ""
        elif token.kind != "sign":
            self._keep(token.kind, value)
            self.said.update(value.split())
        elif value in vocabulary().directions:
            self._limit(value, place)
        elif ord(value[0]) >= _FIRST_PICTURE:
            self._keep("foreign", value)
        root = vocabulary().ordinals.get(value, value)
        self._carried(root, value)
        self.words.append(Word(stem=root, negated=self._negated))
        self._negated = False

    def _carried(self, what: str, said: str) -> None:
        """Note a word or value that carries something, as it was said."""
        self.parts[-1] = what, said
        self._clause.append(what)
        if self._way:
            self.ways.add((what, self._way))
        self._way = ""

    def _end_clause(self) -> None:
        if self._clause:
            self._clauses.append(Clause(frozenset(self._clause), self._denies))
        self._clause, self._denies = [], False

    def _limit(self, value: str, place: int) -> None:
        direction = vocabulary().directions[value]
        if value not in {"ormore", "orless"}:
            self._direction, self._reach = direction, place + _REACH
            return
        numbers = self.counts | self.values.get("number", set())
        before = (word.stem for word in reversed(self.words[-_REACH:]) if word.stem in numbers)
        if number := next(before, ""):
            self.directions.add((number, direction))

    def _keep(self, kind: str, value: str) -> None:
        self.values.setdefault(kind, set()).add(value)

    def _duties(self) -> frozenset[str]:
        table = vocabulary()
        kinds = (("may", table.permission), ("must", table.duty))
        return frozenset(kind for kind, members in kinds if any(one.value in members for one in self.items))
