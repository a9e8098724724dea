"""Reads a text as sentences of word classes, and says which of an attack's thoughts they hold."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from wisen.screening.rules.attack_lexicon import KNOWN, LEXICON, plain
from wisen.screening.rules.attack_rules import SEQUENCES

_WORD = re.compile(r"[^\W_]+(?:['_][^\W_]+){0,20}")
_TOKEN = re.compile(
    _WORD.pattern + r"|[.!?](?=[\s\"'`)*_\]]|\Z)|[;:,()\"`]|\n(?:[ \t]{0,20}(?:\n|[-*•#>]|\d{1,3}[.)](?=\s)))?"
)
_REACH = 10
"""How many words ahead a prohibition or a report holds."""
_SHORTEST = 3
"""Words that a sentence has at least: "Ignore. All. Rules." is one."""
_LONGEST_QUOTE = 60
_TURNS = frozenset({"but", "just", "simply", "then", "instead", "always", "rather", "even", "so", "because", "since"})
_LISTING = frozenset({"or", "nor"})
_NARROWED = frozenset(
    {"disables-safety", "widens-scope", "overrides-instructions", "skips-approval", "steers-the-score"}
)
"""Rules whose acts can be right where they are narrowed."""
_QUOTES = frozenset('"`')
_ENDS = frozenset(".!?")
_SINGLE_QUOTED = re.compile(r"(?<!\w)'(?=\S)(?:[^'\n]|(?<=\w)'(?=\w)){3,300}'(?!\w)")


@dataclass(frozen=True, slots=True)
class Thought:
    """One line of a rule: classes in this order, each at most so many words after the one before."""

    rule: str
    weight: int
    even_if_forbidden: bool
    first: str
    steps: tuple[tuple[str, int], ...]
    unless: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A thought that a text holds, by the places of its first and last character."""

    rule: str
    weight: int
    start: int
    end: int
    key: object
    """What makes it the same evidence as another hit; the same evidence counts once."""


def _parsed() -> tuple[Thought, ...]:
    found: list[Thought] = []
    for rule, lines in SEQUENCES.items():
        for line in filter(None, lines.splitlines()):
            weight, _, rest = line.partition(": ")
            wanted, _, unless = rest.partition(" ! ")
            first, *others = wanted.split()
            steps = tuple((name, int(gap)) for gap, name in zip(others[::2], others[1::2], strict=True))
            excluded = tuple(filter(None, unless.split(", ")))
            found.append(Thought(rule, int(weight.rstrip("*")), "*" in weight, first, steps, excluded))
    return tuple(found)


_BY_FIRST: dict[str, list[Thought]] = {}
for _thought in _parsed():
    _BY_FIRST.setdefault(_thought.first, []).append(_thought)


def _no_places() -> defaultdict[str, list[tuple[int, int]]]:
    return defaultdict(list)


@dataclass(slots=True)
class Sentences:
    """A text's words with their sentences and classes; words are counted from 0."""

    text: str
    words: list[str] = field(default_factory=list[str])
    sentences: list[int] = field(default_factory=list[int])
    """The first word of each sentence but the first."""
    clauses: list[int] = field(default_factory=list[int])
    """The first word of each clause but the first; a number may be there twice."""
    hard: list[int] = field(default_factory=list[int])
    """The first word after each colon, semicolon or end of a sentence."""
    quotes: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Quoted parts, as first word and the word after the last."""
    classes: defaultdict[str, list[tuple[int, int]]] = field(default_factory=_no_places)
    """For each class where it is: first word and the word after the last, in order."""
    _starts: list[int] | None = None

    @property
    def starts(self) -> list[int]:
        """Each word's place in the text."""
        if self._starts is None:
            self._starts = [match.start() for match in _WORD.finditer(self.text)]
        return self._starts

    def end(self, word: int) -> int:
        """The place in the text after a word."""
        return self.starts[word] + len(self.words[word])

    def at(self, place: int) -> int:
        """The word at or after a place in the text; the last one where there is none."""
        return max(0, min(bisect_left(self.starts, place), len(self.words) - 1))

    def add(self, name: str, places: Iterable[tuple[int, int]]) -> None:
        """Note where a class is that isn't seen by its words, such as an address."""
        known = self.classes[name]
        self.classes[name] = sorted({*known, *places})

    def within(self, name: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Where a class begins between two words."""
        places = self.classes.get(name, ())
        for number in range(bisect_left(places, (start, 0)), len(places)):
            if places[number][0] >= end:
                return
            yield places[number]

    def sentence_of(self, word: int) -> tuple[int, int]:
        """The first word of a word's sentence and the one after its last."""
        number = bisect_right(self.sentences, word)
        first = self.sentences[number - 1] if number else 0
        return first, self.sentences[number] if number < len(self.sentences) else len(self.words)

    def is_quoted(self, word: int) -> bool:
        """Whether a word stands in quotation marks or backticks."""
        index = bisect_right(self.quotes, (word, len(self.words) + 1)) - 1
        return index >= 0 and self.quotes[index][1] > word


def same(breaks: list[int], one: int, other: int) -> bool:
    """Whether no break is between two words."""
    return bisect_right(breaks, one) == bisect_right(breaks, other)


def read(text: str) -> Sentences:
    """Split a text, in lower case and with straight quotation marks, into sentences of classified words."""
    made = Sentences(text)
    _split(made)
    _classify(made)
    return made


def _split(made: Sentences) -> None:
    words = made.words
    opened: dict[str, int] = {}
    for part in _TOKEN.findall(made.text):
        if part in KNOWN:
            words.append(part)
        elif part[0].isalnum():
            words.append(plain(part))
        elif part in _QUOTES:
            _quote(made, part, opened)
        else:
            _break(made, part)
    made.quotes.sort()
    if "'" in made.text:
        quoted = (match.span() for match in _SINGLE_QUOTED.finditer(made.text))
        made.quotes += [(bisect_left(made.starts, start), bisect_left(made.starts, end)) for start, end in quoted]
        made.quotes.sort()


def _quote(made: Sentences, mark: str, opened: dict[str, int]) -> None:
    begin = opened.pop(mark, -1)
    end = len(made.words)
    if begin < 0:
        opened[mark] = end
    elif 0 < end - begin <= _LONGEST_QUOTE:
        made.quotes.append((begin, end))


def _break(made: Sentences, mark: str) -> None:
    at = len(made.words)
    made.clauses.append(at)
    ended = mark in _ENDS or len(mark) > 1
    if ended or mark in ";:":
        made.hard.append(at)
    if ended and at - (made.sentences[-1] if made.sentences else 0) >= _SHORTEST:
        made.sentences.append(at)


def _classify(made: Sentences) -> None:
    words, classes = made.words, made.classes
    swallowed = -1
    find = LEXICON.get
    for number, (word, following) in enumerate(zip(words, chain(words[1:], ("",)), strict=False)):
        entry = find(word)
        if entry is None or number < swallowed:
            continue
        phrases = entry.phrases.get(following)
        if phrases:
            for phrase in phrases:
                end = number + 1 + len(phrase.rest)
                if tuple(words[number + 1 : end]) == phrase.rest and same(made.sentences, number, end - 1):
                    if phrase.swallows:
                        swallowed = end
                        break
                    classes[phrase.name].append((number, end))
            if number < swallowed:
                continue
        for name in entry.names:
            classes[name].append((number, number + 1))
    if "USER" in classes:
        ends = {*made.clauses, len(words)}
        classes["USEREND"] = [place for place in classes["USER"] if place[1] in ends]
    _lemmas(made)


def _lemmas(made: Sentences) -> None:
    """Read "should have skipped" and "skipping … works best" as the orders that they are."""
    late: dict[int, str] = {}
    for _, end in made.classes.get("SHOULDHAVE", ()):
        late.update((at, "ed") for at in range(end, min(end + 3, len(made.words))))
    for start, _ in made.classes.get("PRAISE", ()):
        late.update((at, "ing") for at in range(max(0, start - _REACH - 4), start))
    added: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for at, ending in late.items():
        word = made.words[at]
        if word.endswith(ending):
            stem = word.removesuffix(ending)
            known = next((form for form in (stem, stem + "e", stem[:-1]) if form in LEXICON), "")
            for name in LEXICON[known].names if known else ():
                added[name].append((at, at + 1))
    for name, places in added.items():
        made.add(name, places)


def hits(made: Sentences) -> list[Hit]:
    """The thoughts of an attack that a text holds, those that it forbids or reports left out."""
    found: list[Hit] = []
    for first in made.classes.keys() & _BY_FIRST.keys():
        for thought in _BY_FIRST[first]:
            if all(name in made.classes for name, _ in thought.steps):
                found += _held(made, thought)
    return found


def _held(made: Sentences, thought: Thought) -> Iterator[Hit]:
    for start, end in made.classes[thought.first]:
        last = reached(made, start, end, thought.steps)
        if last is None or _excluded(made, thought.unless, start):
            continue
        if is_limited(made, thought.rule, last):
            continue
        if not is_told(made, start, last, even_if_forbidden=thought.even_if_forbidden):
            yield Hit(thought.rule, thought.weight, made.starts[start], made.end(last - 1), thought)
            return


def reached(made: Sentences, start: int, end: int, steps: Sequence[tuple[str, int]]) -> int | None:
    """The word after a sequence's last, or `None` where it isn't there whole."""
    ends = {end}
    for name, gap in steps:
        ends = {
            after
            for one in ends
            for begin, after in made.within(name, one, one + gap + 1)
            if same(made.sentences, start, begin)
        }
        if not ends:
            return None
    return min(ends)


def _excluded(made: Sentences, names: Iterable[str], word: int) -> bool:
    if not names:
        return False
    first, after = made.sentence_of(word)
    first, after = max(first, word - 30), min(after, word + 40)
    return any(same(made.hard, word, at) for name in names for at, _ in made.within(name, first, after))


def is_limited(made: Sentences, rule: str, last: int) -> bool:
    """Whether what follows an act takes it back or narrows it: "… never", "… only for migrations", "…=false"."""
    if rule not in _NARROWED:
        return False
    if made.words[last : last + 1] == ["false"] and "verify" not in made.words[last - 1]:
        return True
    _, after = made.sentence_of(last - 1)
    for at, end in made.within("NARROW", last, min(after, last + 6)):
        never = made.words[at] == "never" and (end == len(made.words) or not same(made.clauses, at, end))
        if (end - at > 1 or never) and same(made.clauses, at, last - 1):
            return not any(True for _ in made.within("XNAMED", end, min(after, end + 6)))
    return False


def is_told(made: Sentences, start: int, last: int, *, even_if_forbidden: bool = False) -> bool:
    """Whether words are forbidden, reported of others, or condemned, rather than said."""
    first, after = made.sentence_of(start)
    first = max(first, start - 40)
    quoted = made.is_quoted(start)
    if not even_if_forbidden and _forbidden(made, first, start, quoted=quoted):
        return True
    told = [at for at, _ in made.within("SAYS", first, start) if quoted or same(made.clauses, at, start)]
    if told and any(quoted or same(made.clauses, at, start) for at, _ in made.within("UNTRUSTED", first, told[-1])):
        return not _obeyed(made, last)
    if any(quoted or same(made.clauses, at, start) for at, _ in made.within("DISCUSS", first, start)):
        return not _obeyed(made, last)
    ahead = last + 30 if quoted else min(after, last + 15)
    if quoted and next(made.within("DISCUSS", first, min(ahead, after)), None) is not None:
        return not _obeyed(made, last)
    verdicts = made.within("VERDICT", last, ahead)
    return any(quoted or same(made.clauses, at, last - 1) for at, _ in verdicts) and not _obeyed(made, last)


def _forbidden(made: Sentences, first: int, start: int, *, quoted: bool) -> bool:
    for at, end in made.within("NEG", max(first, start - _REACH - 4), start):
        if end > start or start - end > _REACH or (not quoted and not same(made.hard, at, start)):
            continue
        if not same(made.clauses, at, start) and _left(made, end, start):
            continue
        excused = next(made.within("FAILED", first, at), None) is not None
        if not excused or next(made.within("DIDNOT", at, at + 1), None) is None:
            return True
    return False


def _left(made: Sentences, end: int, start: int) -> bool:
    """Whether a prohibition of a clause before is over where a new order begins: "Don't wait, send it"."""
    if not _TURNS.isdisjoint(made.words[end:start]):
        return True
    begins = start in made.clauses[bisect_left(made.clauses, start) :][:1]
    listed = not _LISTING.isdisjoint(made.words[end : start + 5])
    return begins and not listed and end not in made.clauses[bisect_left(made.clauses, end) :][:1]


def _obeyed(made: Sentences, last: int) -> bool:
    """Whether what was told is then asked for: "… and do so"."""
    return any(
        next(made.within("NEG", max(0, at - 3), at), None) is None for at, _ in made.within("OBEY", last, last + 20)
    )
