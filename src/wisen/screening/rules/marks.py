"""Finds which of many marks a text holds, all of them in one pass, however many they are.

It stands apart because the rules share it, and it knows none of them.

Aho and Corasick, "Efficient string matching: an aid to bibliographic search", CACM 18(6), 1975. A rule whose mark isn't
there has nothing to find, and most texts hold few marks.
"""

import re
from collections.abc import Iterable
from typing import Generic, TypeVar

from ahocorasick_rs import AhoCorasick, Implementation

_SURROGATE = re.compile("[\ud800-\udfff]")
_Rule = TypeVar("_Rule")


class Marks:
    """Literal texts to be looked for; case counts."""

    def __init__(self, marks: Iterable[str]) -> None:
        self._automaton = AhoCorasick(list(marks), implementation=Implementation.DFA, store_patterns=False)

    def found(self, text: str) -> list[tuple[int, int, int]]:
        """Each place of a mark, overlapping ones too: its number, its start and its end, by end."""
        try:
            return self._automaton.find_matches_as_indexes(text, overlapping=True)
        except UnicodeEncodeError:  # halves of characters, which are in no mark
            return self._automaton.find_matches_as_indexes(_SURROGATE.sub("\ufffd", text), overlapping=True)

    def starts(self, text: str) -> list[int]:
        """Where marks begin, in order; each place once."""
        return sorted({start for _, start, _ in self.found(text)})

    def are_in(self, text: str) -> bool:
        """Whether one of the marks is in the text."""
        return bool(self.found(text))


class Marked(Generic[_Rule]):
    """Rules with the marks of which a text has to hold one for the rule to find anything."""

    def __init__(self, rules: Iterable[tuple[_Rule, Iterable[str]]]) -> None:
        self._rules: list[_Rule] = []
        self._owners: list[int] = []
        marks: list[str] = []
        for number, (rule, own) in enumerate(rules):
            self._rules.append(rule)
            for mark in own:
                self._owners.append(number)
                marks.append(mark)
        self._marks = Marks(marks)

    def concerned(self, text: str) -> list[_Rule]:
        """The rules that may find something in the text, in their order."""
        found = self._marks.found(text)
        if not found:
            return []
        return [self._rules[number] for number in sorted({self._owners[mark] for mark, _, _ in found})]
