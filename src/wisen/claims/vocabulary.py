"""What is known of English words: which carry a claim, their forms, and which say the same or the reverse.

Antonyms, synonyms and related forms are WordNet's (`tools/wordnet_tables.py` writes them); closed classes of words and
what WordNet lacks stand in `data/english.toml`.
"""

import gzip
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from wisen.data_files import read_table

_VOWELS = frozenset("aeiouy")
_NEGATING_PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis", "de", "mis")
_SHORTEST_STEM = 3
_NONE: frozenset[str] = frozenset()
_LISTS = ("function", "negators", "exceptives", "auxiliaries", "particles", "not_adverbs", "permission", "duty")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The tables, words as their stems."""

    function: frozenset[str]
    negators: frozenset[str]
    exceptives: frozenset[str]
    """Words that turn a denial before them into a condition: "never pay without a receipt"."""
    excluding: frozenset[str]
    """Verbs, as stems, that deny what they are said of."""
    auxiliaries: frozenset[str]
    """Verbs that stand before another one: must be, has."""
    particles: frozenset[str]
    """Words of phrases that may stand behind the object: "leave it out"."""
    reasons: frozenset[str]
    """Words before why something is to be done."""
    reasons_behind_stop: frozenset[str]
    unreal: frozenset[str]
    """Words before what would happen otherwise."""
    unreal_behind_stop: frozenset[str]
    time_links: Mapping[str, str]
    """Words between what is done earlier and later, and which of them stands behind the word."""
    first: frozenset[str]
    later: frozenset[str]
    owners: Mapping[str, str]
    """Words that say whose something is, and whether it is "ours" or "theirs"."""
    links: Mapping[str, str]
    ways: Mapping[str, str]
    """Words before a source or a destination, and whether they say "from" or "to"."""
    not_adverbs: frozenset[str]
    permission: frozenset[str]
    duty: frozenset[str]
    phrases: Mapping[tuple[str, ...], str]
    phrase_starts: Mapping[str, int]
    """The words with which phrases begin, and how many words the longest of each has."""
    directions: Mapping[str, str]
    """A word of comparison, and whether it means more or less."""
    numbers: Mapping[str, int]
    scales: AbstractSet[str]
    """Those of the numbers that multiply what stands before them."""
    ordinals: Mapping[str, str]
    """A place in a row as the lexer reads it, and its word's stem: third for 3rd."""
    part: Mapping[str, int]
    """A word for one part, and of how many: third."""
    parts: Mapping[str, int]
    """A word for several parts, and of how many: thirds."""
    multiples: Mapping[str, str]
    """Words that say how often or how much, as stems, and the number: twice, 2."""
    units: Mapping[str, str]
    measures: Mapping[str, frozenset[str]]
    """A unit, and what it measures: durations, money; pounds are both money and a mass."""
    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    irregular: Mapping[str, str]
    opposites: Mapping[str, frozenset[str]]
    complements: Mapping[str, frozenset[str]]
    """Opposites of which one denied is the other."""
    alike: Mapping[str, frozenset[str]]


@cache
def vocabulary() -> Vocabulary:
    """The tables of the package, read once."""
    read = read_table("wisen.claims", "data/english.toml")
    irregular: dict[str, str] = read["irregular"]
    phrases = {tuple(phrase.split()): stands for phrase, stands in read["phrases"].items()}
    opposites = [*_groups("antonyms.txt.gz"), *(line.split() for line in read["opposites"]["pairs"].split("\n"))]
    alike = [*_groups("related.txt.gz"), *_groups("synonyms.txt.gz")]
    alike += [line.split() for line in read["alike"]["pairs"].split("\n")]
    tables: dict[str, dict[str, list[str]]] = read["units"]
    units = {word: unit for named in tables.values() for unit, words in named.items() for word in words}
    measures = {unit: frozenset(one for one, named in tables.items() if unit in named) for unit in units.values()}
    named = {_stem(word, irregular): unit for word, unit in units.items()}
    # A minute may be a second in some sense; as units they aren't.
    alike = [[word for word in group if _stem(word, irregular) not in named] for group in alike]
    return Vocabulary(
        **{name: frozenset(read[name].split()) for name in _LISTS},
        **{name: frozenset(words) for name, words in read["meant"].items()},
        time_links=read["order"]["links"],
        first=frozenset(read["order"]["first"]),
        later=frozenset(read["order"]["later"]),
        excluding=frozenset(_stem(word, irregular) for word in read["excluding"].split()),
        owners={word: stands for stands, words in read["owners"].items() for word in words},
        links={word: stands for stands, words in read["links"].items() for word in words},
        ways={word: stands for stands, words in read["ways"].items() for word in words},
        phrases=phrases,
        phrase_starts={phrase[0]: len(phrase) for phrase in sorted(phrases, key=len)},
        directions={word: direction for direction, words in read["comparisons"].items() for word in words},
        numbers=read["numbers"] | read["scales"],
        scales=read["scales"].keys(),
        ordinals={f"{place} th": _stem(word, irregular) for word, place in read["ordinals"].items()},
        part=read["part"],
        parts={f"{word}s": many for word, many in read["part"].items() if many > 2},  # noqa: PLR2004 - not halves
        multiples={_stem(word, irregular): str(times) for word, times in read["multiples"].items()},
        units=units,
        measures=measures,
        months=read["months"],
        weekdays=read["weekdays"],
        irregular=irregular,
        opposites=_neighbours(opposites, irregular),
        complements=_neighbours([line.split() for line in read["complements"]["pairs"].split("\n")], irregular),
        alike=_neighbours(alike, irregular),
    )


def stem(word: str) -> str:
    """What the forms of a lower-case word have in common: written and writes are write."""
    return _stem(word, vocabulary().irregular)


def opposites_of(one: str, among: AbstractSet[str]) -> Iterator[str]:
    """Those of the stems that mean the reverse: decrease of increase, unpinned of pinned, careless of careful."""
    yield from vocabulary().opposites.get(one, _NONE) & among
    if len(one) < _SHORTEST_STEM:
        return
    for prefix in _NEGATING_PREFIXES:
        if prefix + one in among:
            yield prefix + one
        if one.startswith(prefix) and len(one) - len(prefix) >= _SHORTEST_STEM and one.removeprefix(prefix) in among:
            yield one.removeprefix(prefix)
    for ending, other in (("less", "ful"), ("ful", "less")):
        if one.endswith(ending) and one.removesuffix(ending) + other in among:
            yield one.removesuffix(ending) + other


def complements_of(one: str, among: AbstractSet[str]) -> AbstractSet[str]:
    """Those of the stems that are the same as denying it: enable of disable."""
    return vocabulary().complements.get(one, _NONE) & among


def alike_of(one: str, among: AbstractSet[str]) -> Iterator[str]:
    """Those of the stems that say the same in common senses of theirs, or are derived from it or it from them."""
    found = vocabulary().alike.get(one, _NONE) & among
    if found:
        yield from found.difference(opposites_of(one, found))


def _data(name: str) -> bytes:
    return files("wisen.claims").joinpath("data", name).read_bytes()


def _groups(name: str) -> list[list[str]]:
    return [line.split() for line in gzip.decompress(_data(name)).decode().splitlines()]


def _neighbours(groups: Iterable[list[str]], irregular: Mapping[str, str]) -> dict[str, frozenset[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for group in groups:
        stems = {_stem(word, irregular) for word in group}
        for one in stems:
            found[one] |= stems - {one}
    return {one: frozenset(others) for one, others in found.items()}


def _stem(word: str, irregular: Mapping[str, str]) -> str:
    if word in irregular:
        word = irregular[word]
    if not word.isascii() or len(word) < 4:  # noqa: PLR2004 - short words have no endings to lose
        return word
    return _british(_bare(word))


@lru_cache(maxsize=20_000)
def _bare(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:  # noqa: PLR2004 - "ties", "dies"
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    if word.endswith("ied"):
        word = word[:-3] + "y"
    else:
        for ending in ("ing", "ed"):
            base = word.removesuffix(ending)
            if base != word and len(base) > 2 and _VOWELS & set(base):  # noqa: PLR2004 - "sing", "bed"
                word = base[:-1] if base[-1] == base[-2] and base[-1] not in "lsz" else base
                break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word  # noqa: PLR2004 - "the"


def _british(stem: str) -> str:
    """One spelling of -ise and -ize."""
    return stem[:-2] + "is" if stem.endswith("iz") and len(stem) > 4 else stem  # noqa: PLR2004 - "quiz"
