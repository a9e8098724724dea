"""Which tasks are near-copies of each other: a card's evidence bets once for each cluster of them.

A card changes near-copies in the same way, for better or worse. Counted one by one, a handful of copies makes a chance
effect look certain. Clusters follow from the tasks' prompts alone, never from what came of them.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import count
from math import ceil

from wisen.memory_ci.statistics import sign_e_value
from wisen.memory_ci.verdicts import DEFAULT_RULE, Rule
from wisen.records import Task

LIKE = 0.8
"""The share of words, of all that two prompts use, from which they are near-copies."""
_MOST_MARKS = 256
_NAMES = 1 / 3
"""With more capitals than that, capitals don't tell names from other words, as in German."""
_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]+")
"""Lao, Thai, Burmese, Khmer, Japanese and Chinese put no spaces between words."""
_ENDS = re.compile(r"[.!?:\n\"'(\[]\s*$")

Marks = frozenset[int]
"""Hashes of a prompt's words; of a long prompt, the 256 smallest, which are a fair sample of them."""


def marks_of(prompt: str) -> Marks:
    """The prompt's words without case, order and repetition; numbers, codes and names are all alike."""
    text = unicodedata.normalize("NFKC", prompt)
    hashes = sorted({int.from_bytes(blake2b(word.encode(), digest_size=4).digest()) for word in _words(text)})
    return frozenset(hashes[:_MOST_MARKS])


def alike(one: Marks, other: Marks) -> bool:
    """Whether two prompts are near-copies: they share at least four in five of the words that they use."""
    return len(one & other) >= LIKE * len(one | other)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A task that a test has bet on, and its cluster, which stays."""

    key: str
    cluster: str
    marks: Marks


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """The clusters of some tasks."""

    of: Mapping[str, str] = field(default_factory=dict[str, str])
    """A task's cluster, by the task's key."""
    marks: Mapping[str, Marks] = field(default_factory=dict[str, Marks])

    @classmethod
    def found(cls, tasks: Mapping[str, Task], known: Iterable[Known] = ()) -> "Clusters":
        """Join what is alike, and what is joined by others that are alike (single linkage).

        In whatever order the tasks come, the clusters are the same. A cluster that was bet on keeps its name, and
        takes in new tasks; two of them are never joined, since both bets are made. Of several, a new task belongs to
        the one that was known first.
        """
        settled = {one.key: one for one in known}
        marks = {key: marks_of(task.prompt) for key, task in tasks.items() if key not in settled}
        marks |= {key: one.marks for key, one in settled.items()}
        names = {key: one.cluster for key, one in settled.items()}
        order = {key: number for number, key in enumerate(settled)}
        for group in _linked(marks):
            first = min(group & order.keys(), key=order.__getitem__, default=None)
            name = min(group) if first is None else names[first]
            names |= {key: name for key in group if key not in settled}
        return cls(of=names, marks=marks)

    def near(self, prompt: str) -> frozenset[str]:
        """The clusters of tasks that a prompt is a near-copy of."""
        mine = marks_of(prompt)
        least, most = LIKE * len(mine), len(mine) / LIKE
        near = (key for key, marks in self.marks.items() if least <= len(marks) <= most and alike(mine, marks))
        return frozenset(self.of[key] for key in near)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A task to be tried for a cluster."""

    task: Task
    cluster: str
    of: int
    """With so many pairs the cluster is complete."""
    number: int = 1
    """Which try of the task it is."""


def planned(
    tasks: Sequence[Task], key_of: Callable[[Task], str], clusters: Clusters, *, copies: int, tried: Collection[str]
) -> list[Planned]:
    """Of each cluster at most `copies` tasks, cluster by cluster in the order of the first task of each.

    Those in `tried` are among them, and count: what is already there is tried again only where that says something.
    """
    chosen: dict[str, list[Task]] = {}
    had = Counter(clusters.of[key] for key in tried if key in clusters.of)
    for task in tasks:
        key = key_of(task)
        name = clusters.of.get(key, key)
        mine = chosen.setdefault(name, [])
        if key in tried:
            mine.append(task)
        elif had[name] < copies:
            had[name] += 1
            mine.append(task)
    return [Planned(task=task, cluster=name, of=had[name]) for name, mine in chosen.items() for task in mine]


def fewest_clusters(rule: Rule = DEFAULT_RULE) -> int:
    """With fewer clusters of near-copies than this no card can be decided, even if all come out alike."""
    least = min(rule.promote_at, rule.archive_at)
    return next(number for number in count(1) if sign_e_value(number, 0) >= least)


def clusters_text(number: int) -> str:
    """A number of clusters in words."""
    return f"{number} cluster{'' if number == 1 else 's'} of like tasks"


def _words(text: str) -> Iterable[str]:
    found = list(_WORD.finditer(text))
    named = {match.start() for match in found if _is_named(match, text)}
    names = len(named) <= _NAMES * len(found)
    for match in found:
        word = match.group()
        if any(letter.isdigit() for letter in word):
            yield "#"
        elif names and match.start() in named:
            yield "@"
        elif _UNSPACED.search(word):
            yield from (word[at : at + 2] for at in range(max(1, len(word) - 1)))
        else:
            yield word.casefold()


def _is_named(match: re.Match[str], text: str) -> bool:
    """Whether a capital stands where no sentence begins."""
    before = text[: match.start()].rstrip(" \t")
    return match.group()[0].isupper() and bool(before.strip()) and not _ENDS.search(before)


def _linked(marks: Mapping[str, Marks]) -> list[set[str]]:
    """Groups of tasks that are alike, directly or through others.

    Two sets that share four in five of their marks share one among each one's rarest fifth (Bayardo, Ma, Srikant
    (2007), "Scaling up all pairs similarity search"), so only what meets there is compared.
    """
    same = defaultdict[Marks, list[str]](list)
    for key in sorted(marks):
        same[marks[key]].append(key)
    often = Counter(mark for one in same for mark in one)
    group = {keys[0]: keys[0] for keys in same.values()}

    def root(key: str) -> str:
        while group[key] != key:
            group[key] = key = group[group[key]]
        return key

    meeting = defaultdict[int, list[Marks]](list)
    for one, keys in same.items():
        rare = sorted(one, key=lambda mark: (often[mark], mark))[: len(one) - ceil(LIKE * len(one)) + 1]
        for mark in rare:
            for other in meeting[mark]:
                ours, theirs = root(keys[0]), root(same[other][0])
                if ours != theirs and alike(one, other):
                    group[max(ours, theirs)] = min(ours, theirs)
            meeting[mark].append(one)
    groups = defaultdict[str, set[str]](set)
    for keys in same.values():
        groups[root(keys[0])].update(keys)
    return list(groups.values())
