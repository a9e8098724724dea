"""Finds the concepts of attacks in sentences of other languages."""

# ruff: noqa: RUF001 - sentences of other scripts end with these marks

# ruff: noqa: RUF001 - sentences of other scripts end with these marks

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator

from wisen.screening.rules.attack_tongues import COMBINED, WORDS

_SENTENCE = re.compile(r"[^.!?。！？\n;；]{2,600}")
_WORD = re.compile(r"[^\W\d_]+")
_MARKS = re.compile("[\u0300-\u036f]+")
_SPACELESS = re.compile("[\u0590-\u05ff\u0600-\u06ff\u0900-\u0e7f\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SHORTEST_STEM = 2


def _plain(text: str) -> str:
    return text if text.isascii() else _MARKS.sub("", unicodedata.normalize("NFKD", text))


_Words = dict[str, set[str]]


def _listed() -> tuple[_Words, _Words, dict[str, str], dict[str, str]]:
    """Words, stems, phrases and words of scripts without spaces; the last two as forms."""
    words: defaultdict[str, set[str]] = defaultdict(set)
    stems: defaultdict[str, set[str]] = defaultdict(set)
    phrases: defaultdict[str, list[str]] = defaultdict(list)
    anywhere: defaultdict[str, list[str]] = defaultdict(list)
    for line in filter(None, WORDS.replace("\n    ", " ").splitlines()):
        name, _, entries = line.partition(": ")
        for one in filter(None, map(str.strip, _plain(entries).split(","))):
            if _SPACELESS.search(one):
                anywhere[name].append(re.escape(one.rstrip("*")))
            elif _WORD.fullmatch(one.rstrip("*")):
                (stems if one.endswith("*") else words)[one.rstrip("*")].add(name)
            else:
                phrases[name].append(re.escape(one).replace(r"\*", r"\w{0,30}"))
    forms = {name: r"(?<!\w)(?:" + "|".join(some) + r")(?!\w)" for name, some in phrases.items()}
    return words, stems, forms, {name: "|".join(some) for name, some in anywhere.items()}


_WORDS, _STEMS, _phrases, _anywhere = _listed()
_PHRASES = tuple((name, re.compile(form)) for name, form in _phrases.items())
_ANYWHERE = tuple((name, re.compile(form)) for name, form in _anywhere.items())
_LENGTHS = sorted({len(stem) for stem in _STEMS})
_RULES = tuple(
    (rule, frozenset(wanted.split(" & ")), frozenset(filter(None, unless.split(", "))))
    for rule, lines in COMBINED.items()
    for wanted, _, unless in (line.partition(" ! ") for line in filter(None, lines.splitlines()))
)


def sentences_against(lower: str) -> Iterator[tuple[str, int, int]]:
    """The rules that sentences of a text in other languages break, and where."""
    for sentence in _SENTENCE.finditer(lower):
        concepts = _concepts(_plain(sentence.group()))
        for rule, wanted, unless in _RULES:
            if wanted <= concepts and not unless & concepts - wanted:
                yield rule, *sentence.span()
                break


def _concepts(sentence: str) -> set[str]:
    found: set[str] = set()
    for word in set(_WORD.findall(sentence)):
        found |= _WORDS.get(word, set())
        for length in _LENGTHS:
            if length > len(word):
                break
            found |= _STEMS.get(word[:length], set())
    found.update(name for name, form in _PHRASES if form.search(sentence))
    if "@" in sentence:
        found.add("OUT")
    if _SPACELESS.search(sentence):
        found.update(name for name, form in _ANYWHERE if form.search(sentence))
    return found
