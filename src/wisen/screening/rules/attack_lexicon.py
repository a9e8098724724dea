"""Looks words and phrases up: which classes of an attack's rules they are, and which cues of a persona."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from wisen.screening.rules.attack_concepts import FOURTH
from wisen.screening.rules.attack_concepts_more import FIFTH
from wisen.screening.rules.attack_personas import CUES
from wisen.screening.rules.attack_words import FIRST
from wisen.screening.rules.attack_words_acts import SECOND
from wisen.screening.rules.attack_words_more import THIRD

_SHORTEST_SCRAMBLED = 6
_LONGEST_SCRAMBLED = 40
_MOST_REMEMBERED = 16_384
"""Words that aren't in the lexicon and needn't be asked about again: texts have few that others haven't had."""
_LEET = str.maketrans("01345789", "oieastbg")


@dataclass(frozen=True, slots=True)
class Phrase:
    """Several words in a row that are of a class."""

    rest: tuple[str, ...]
    """The words after the first."""
    name: str
    swallows: bool
    """Whether its words are of no other class."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a word can be: of classes by itself, and the beginning of phrases, by their second word."""

    names: tuple[str, ...]
    swallows: bool
    phrases: Mapping[str, tuple[Phrase, ...]]


def cue(kind: str, weight: int, phrase: str) -> str:
    """The class that a persona's cue is; each is one of its own."""
    return f"{kind}~{weight}~{phrase}"


def _expanded(entry: str) -> tuple[str, ...]:
    if entry.endswith("~"):
        return _inflected(entry[:-1])
    if not entry.endswith("+"):
        return (entry,)
    noun = entry[:-1]
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun, noun[:-1] + "ies"
    return noun, noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


def _inflected(verb: str) -> tuple[str, ...]:
    """A verb's order, its "-ing" and its passive."""
    if verb.endswith("e"):
        return verb, verb[:-1] + "ing", f"be {verb}d"
    past = verb[:-1] + "ied" if verb.endswith("y") and verb[-2] not in "aeiou" else verb + "ed"
    return verb, verb + "ing", f"be {past}"


def _listed() -> Iterator[tuple[str, tuple[str, ...], bool]]:
    """Class, words and whether they are swallowed, for all forms."""
    for line in filter(None, (FIRST + SECOND + THIRD + FOURTH + FIFTH).replace("\n    ", " ").splitlines()):
        name, _, entries = line.partition(": ")
        for entry in entries.split(", "):
            for form in _expanded(entry):
                yield name.lstrip("-"), tuple(form.replace("s' ", "s ").split()), name.startswith("-")
    for kind, weights in CUES.items():
        for line in filter(None, weights.replace("\n    ", " ").splitlines()):
            weight, _, phrases = line.partition(": ")
            for phrase in phrases.split(", "):
                yield cue(kind, int(weight), phrase), tuple(phrase.split()), False


def _loaded() -> dict[str, Entry]:
    names: dict[str, list[str]] = {}
    alone: set[str] = set()
    phrases: dict[str, dict[str, list[Phrase]]] = {}
    for name, words, swallows in _listed():
        if len(words) == 1:
            if name not in names.setdefault(words[0], []):
                names[words[0]].append(name)
            if swallows:
                alone.add(words[0])
        else:
            phrases.setdefault(words[0], {}).setdefault(words[1], []).append(Phrase(words[1:], name, swallows))
    return {
        word: Entry(
            tuple(names.get(word, ())),
            word in alone,
            {
                second: tuple(sorted(some, key=lambda phrase: (not phrase.swallows, -len(phrase.rest))))
                for second, some in phrases.get(word, {}).items()
            },
        )
        for word in names.keys() | phrases.keys()
    }


LEXICON = _loaded()
CUED = {
    name: (name.split("~")[0], int(name.split("~")[1])) for name in {name for name, _, _ in _listed()} if "~" in name
}
"""Kind and weight of each cue of a persona."""


def _signature(word: str) -> str:
    return word[0] + "".join(sorted(word[1:-1])) + word[-1]


KNOWN = frozenset(
    (
        *LEXICON,
        *(word for entry in LEXICON.values() for some in entry.phrases.values() for one in some for word in one.rest),
    )
)
_SCRAMBLED = {_signature(word): word for word in sorted(KNOWN) if len(word) >= _SHORTEST_SCRAMBLED and word.isalpha()}
_SHAPES = frozenset((word[0], word[-1], len(word)) for word in _SCRAMBLED.values())


def plain(word: str) -> str:
    """A word as it is meant: without digits that stand for letters, and its letters in order."""
    if word in KNOWN:
        return word
    if len(word) < _LONGEST_SCRAMBLED:
        return _meant(word)
    return word if word.isalpha() else _spelled(word)


@lru_cache(_MOST_REMEMBERED)
def _meant(word: str) -> str:
    if not word.isalpha():
        return _spelled(word)
    if len(word) >= _SHORTEST_SCRAMBLED and (word[0], word[-1], len(word)) in _SHAPES:
        return _SCRAMBLED.get(_signature(word), word)
    return word


def _spelled(word: str) -> str:
    meant = word.translate(_LEET)
    return meant if meant in KNOWN and not word.isdigit() else word
