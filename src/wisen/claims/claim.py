"""A text as what it claims: hard content, and words with whether they are affirmed."""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import takewhile

from wisen.claims.lexer import Token, is_foreign, tokens
from wisen.claims.numbers_in_words import with_numbers
from wisen.claims.order import Meant, Part, Place, order_of
from wisen.claims.phrases import with_dates, with_phrases
from wisen.claims.vocabulary import stem, vocabulary

_REACH = 3
"""Tokens between a comparison and the number that it bounds."""
_FORMS_OF_BE = frozenset(("be", "is", "are", "was", "were", "been", "being"))
_FLOATING = frozenset(("first", "only", "then", "always", "ever", "again"))
_FRONTED = frozenset(("since", "before", "after", "until", "unless", "for", "in", "on"))
"""Words besides links with which a clause begins that may stand in front or at the end."""
_SENTENCE_ENDS = frozenset((".", "!", "?"))
_FIRST_PICTURE = 0x2600
_NAMED = 3
"""Letters of a unit's name at least, unlike its sign, which may be anything without a number: ms, x."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word that carries something, or a number, code or the like in its place."""

    stem: str
    negated: bool
    left_out: bool = False
    """Whether a verb such as "omit" negates it: other wordings may deny it by other means."""
    meant: Meant = "rule"
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
    parts: tuple[Part, ...]
    """The text in order."""
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
    def negations(self) -> Mapping[tuple[str, Meant], frozenset[bool]]:
        """Of each stem, as it is meant, whether it stands negated, affirmed, or both."""
        found: dict[tuple[str, Meant], frozenset[bool]] = {}
        for word in self.words:
            key = word.stem, word.meant
            found[key] = found.get(key, frozenset()) | {word.negated}
        return found

    @cached_property
    def left_out(self) -> frozenset[str]:
        """What is denied by a verb of leaving out."""
        return frozenset(word.stem for word in self.words if word.left_out)

    @cached_property
    def order(self) -> Mapping[str, Place]:
        """What comes first, and what later."""
        return order_of(self.parts)

    @cached_property
    def denied(self) -> frozenset[str]:
        """All that stands in a clause that denies something."""
        return frozenset(stem for clause in self.clauses if clause.denies for stem in clause.stems)

    def clauses_with(self, stem: str) -> Iterator[frozenset[str]]:
        """What else stands in each clause that a word or value is in."""
        return (clause.stems - {stem} for clause in self.clauses if stem in clause.stems)

    def own_words(self, common: AbstractSet[str]) -> str:
        """Its words and values besides some that it has in common with another text, as they stand."""
        return " ".join(part.said for part in self.parts if part.stem and part.stem not in common)

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
    return _Reader(list(with_numbers(with_dates(with_phrases(list(tokens(text))))))).claim()


class _Reader:
    """Collects what the tokens of one text claim."""

    def __init__(self, items: list[Token]) -> None:
        self.items = items
        self.words: list[Word] = []
        self.values: dict[str, set[str]] = {}
        self.counts: set[str] = set()
        self.said: set[str] = set()
        self.directions: set[tuple[str, str]] = set()
        self.parts: list[Part] = []
        self.owners: set[str] = set()
        self.units: set[str] = set()
        self.ways: set[tuple[str, str]] = set()
        self._way = ""
        self._clause: list[str] = []
        self._denies = False
        self._clauses: list[Clause] = []
        self._negated = False
        self._denial: int | None = None
        self._condition: int | None = None
        self._object: int | None = None
        self._subject_ended = False
        self._meant: Meant = "rule"
        self._fronted = False
        self._after_be = False
        self._direction, self._reach = "", -1

    def claim(self) -> Claim:
        for place, token in enumerate(self.items):
            self.parts.append(Part("", token.value, self._meant, is_stop=token.kind == "stop"))
            if token.kind == "stop":
                self._stop(token.value)
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

    def _stop(self, sign: str) -> None:
        self._object = None
        self._negated, self._direction, self._way = False, "", ""
        self._end_clause()
        if sign != ",":
            self._denial = self._condition = None
        if sign != "," or self._fronted:
            self._meant = "rule"
            self._fronted = False

    def _word(self, token: Token, place: int) -> None:
        table, value = vocabulary(), token.value
        self._begin(value, place)
        if value in table.negators or value in table.exceptives:
            self._deny(value, place)
        self.said.add(value)
        if value in table.negators:
            return
        self.said.add(stem(value))
        if value in table.links:
            self._end_object()
            self._end_clause()
            self.words.append(Word(stem=table.links[value], negated=False, is_link=True))
            return
        if value in table.owners:
            self.owners.add(table.owners[value])
        if value in table.function:
            self._after_be = value in _FORMS_OF_BE
            self._end_object()
            self._subject_ended = bool(self._clause) and (self._subject_ended or value not in table.auxiliaries)
            self._way = table.ways.get(value, self._way)
        else:
            self._content(token, place)

    def _content(self, token: Token, place: int) -> None:
        table, value, root = vocabulary(), token.value, stem(token.value)
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
        self._carried(root, value, floats=floats, is_participle=self._after_be)
        self._negated = self._negated and (floats or self._object is not None)
        if root in table.excluding:
            self._exclude()
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
        self._negated = self._object is not None

    def _begin(self, value: str, place: int) -> None:
        """Take a word that says how the next ones are meant."""
        table, stop = vocabulary(), self._stop_before(place)
        if value in table.unreal or (value in table.unreal_behind_stop and stop and place):
            self._meant = "unreal"
        elif value in table.reasons or (value in table.reasons_behind_stop and stop):
            self._meant, self._fronted = "reason", stop in _SENTENCE_ENDS

    def _deny(self, value: str, place: int) -> None:
        """Negate what comes next, or take back a denial that this one turns into a condition.

        "Never pay without a receipt" and "without a receipt, don't pay" say "pay with a receipt".
        """
        exceptive, turned = value in vocabulary().exceptives, self._condition
        if exceptive:
            turned = self._denial if self._goes_on(place) else None
        if turned is not None:
            self.words[turned:] = [replace(word, negated=False, left_out=False) for word in self.words[turned:]]
            self._denial = self._condition = self._object = None
            self._negated = False
        elif value in vocabulary().negators:
            self._negated = self._denies = True
            if self._object == len(self.words):
                # "Leave no warning out" says "never leave a warning out".
                self._negated = False
                self.words[-1] = replace(self.words[-1], negated=True)
            self._object = None
            if not exceptive:
                self._denial = len(self.words)
            elif self._stop_before(place) not in {"", ","}:
                self._condition = len(self.words)

    def _exclude(self) -> None:
        """Negate what the verb just read is said of: the words that come next, or its subject in the passive.

        A subject is denied where nothing but its words stands before the verb in its clause.
        """
        verb = len(self.words) - 1
        if self.words[verb].negated:
            self._negated, self._object = False, None
            return
        self._denies = True
        if not self._after_be:
            self._negated = True
            self._denial = self._object = len(self.words)
        elif not self._subject_ended:
            begins = len(self.words) - len(self._clause)
            subject = self.words[begins:verb]
            left_out = not any(word.negated for word in subject)
            self.words[begins:verb] = [replace(word, negated=left_out, left_out=left_out) for word in subject]
            if not left_out:
                self.words[verb] = replace(self.words[verb], negated=True)

    def _stop_before(self, place: int) -> str:
        """The stop that a token follows, "" where it follows none; a text begins like a sentence."""
        before = self.items[place - 1] if place else Token("stop", ".")
        return before.value or "." if before.kind == "stop" else ""

    def _goes_on(self, place: int) -> bool:
        """Whether a word that carries something follows before the next stop."""
        function = vocabulary().function
        following = takewhile(lambda token: token.kind != "stop", self.items[place + 1 :])
        return any(token.kind != "word" or token.value not in function for token in following)

    def _carried(self, what: str, said: str, *, floats: bool = False, is_participle: bool = False) -> None:
        """Note a word or value that carries something, as it was said."""
        word = Word(
            stem=what,
            negated=self._negated,
            left_out=self._object is not None,
            meant=self._meant,
            floats=floats,
            is_participle=is_participle,
        )
        self.words.append(word)
        self.parts[-1] = Part(what, said, self._meant)
        self._clause.append(what)
        if self._way:
            self.ways.add((what, self._way))
        self._way = ""

    def _end_object(self) -> None:
        """Stop denying what is left out, where something of it has been read."""
        if self._object is not None and len(self.words) > self._object:
            self._object, self._negated = None, False

    def _end_clause(self) -> None:
        self._subject_ended = False
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
