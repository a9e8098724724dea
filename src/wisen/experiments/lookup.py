"""What a lookup without any model would answer: a sceptic's controls.

TF-IDF finds the earlier task that shares most of its rare words with the new one. A smart copy takes an earlier answer
and puts the new task's words in the place of their counterparts.
"""

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from math import log, sqrt

from wisen.cards import MemoryCard

_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"[.!?:;]\s*$")


class TfIdf:
    """Cards by the words of their tasks, weighed by how rare these are among all of them."""

    def __init__(self, cards: Sequence[MemoryCard]) -> None:
        """The cards to look among."""
        self._cards = list(cards)
        counted = [_counted(card.situation.prompt) for card in cards]
        found = Counter(word for words in counted for word in words)
        self._rarity = {word: log((1 + len(counted)) / (1 + often)) + 1 for word, often in found.items()}
        self._vectors = [self._weighed(words) for words in counted]

    def nearest(self, prompt: str, k: int) -> list[MemoryCard]:
        """The `k` cards of the highest cosine, best first; of equals the one that came first. None where it is 0."""
        asked = self._weighed(_counted(prompt))
        likeness = [sum(weight * vector.get(word, 0.0) for word, weight in asked.items()) for vector in self._vectors]
        order = sorted(range(len(likeness)), key=lambda at: -likeness[at])
        return [self._cards[at] for at in order[:k] if likeness[at] > 0.0]

    def _weighed(self, words: Counter[str]) -> dict[str, float]:
        weights = {word: often * self._rarity.get(word, 0.0) for word, often in words.items()}
        length = sqrt(sum(weight * weight for weight in weights.values()))
        return {word: weight / length for word, weight in weights.items()} if length else {}


def smart_copy(card: MemoryCard, prompt: str) -> str:
    """The card's answer with each word that its task has replaced by its counterpart in `prompt`.

    A word that both tasks have stays. For any other word, the two tasks are aligned by the words that they share. Its
    counterpart is the new word of the same look (digits, a name in the middle of a sentence, another word) in the same
    gap. If the gap has none, it is the one at the most similar place in the whole task.
    """
    pairs = _counterparts(card.situation.prompt, prompt)
    return _WORD.sub(lambda word: pairs.get(word[0], word[0]), card.content)


def _counterparts(old_text: str, new_text: str) -> dict[str, str]:
    old, new = _words(old_text), _words(new_text)
    old_forms, new_forms = ([word.casefold() for word, _ in words] for words in (old, new))
    blocks = SequenceMatcher(None, old_forms, new_forms, autojunk=False).get_opcodes()
    shared = set(old_forms) & set(new_forms)
    fresh = [at for at, form in enumerate(new_forms) if form not in shared]
    pairs: dict[str, str] = {}
    for at, (word, look) in enumerate(old):
        if old_forms[at] in shared or word in pairs:
            continue
        _, first, last, begin, end = next(block for block in blocks if block[1] <= at < block[2])
        alike = [place for place in fresh if new[place][1] == look]
        near = [place for place in alike if begin <= place < end]
        target = begin + (at - first + 0.5) / (last - first) * (end - begin) - 0.5
        if not near:
            target = (at + 0.5) / len(old) * len(new) - 0.5
        if near or alike:
            pairs[word] = new[min(near or alike, key=lambda place: abs(place - target))][0]
    return pairs


def _words(text: str) -> list[tuple[str, str]]:
    """The words with their looks."""
    found = list(_WORD.finditer(text))
    before = [0, *(word.end() for word in found)]
    gaps = [text[end : word.start()] for end, word in zip(before, found, strict=False)]
    first = [not at or bool(_SENTENCE_END.search(gap)) for at, gap in enumerate(gaps)]
    return [(word[0], _look(word[0], begins=begins)) for word, begins in zip(found, first, strict=True)]


def _look(word: str, *, begins: bool) -> str:
    if word.isdigit():
        return f"{len(word)} digits"
    return "name" if word[0].isupper() and not begins else "word"


def _counted(text: str) -> Counter[str]:
    return Counter(word.casefold() for word in _WORD.findall(text))
