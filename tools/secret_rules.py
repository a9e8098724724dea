"""Write the table of secrets, `secrets.json` of the screen, from maintained rule sets in the format of Nosey Parker.

    python tools/secret_rules.py src/wisen/embedders/bert-uncased-vocab.txt.gz ORIGIN,LICENCE,COMMIT,FOLDER ...

Each folder is a local copy of a set's rules. Of each rule's pattern two things are taken: how its secrets begin, with
the signs and the length that follow, and the name of the service. The patterns themselves aren't: they are written for
another engine, and a thousand of them would be run over each text.
"""

import gzip
import json
import re
import sys
import textwrap
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple

import yaml

TARGET = Path(__file__).parent.parent / "src/wisen/screening/rules/data/secrets.json"
FLAGS = re.compile(r"\(\?[a-z]+\)")
COMMENT = re.compile(r"\(\?#[^)]*\)")
COUNT = re.compile(r"\{(\d+)(?:(,)(\d*))?\}|([?*+])")
GROUP = re.compile(r"\((?:\?(?:[a-z]*:|P?<\w+>))?")
LETTERS, DIGITS = "abcdefghijklmnopqrstuvwxyz", "0123456789"
CLASSES = {"d": DIGITS, "w": LETTERS + LETTERS.upper() + DIGITS + "_"}
MOST = 1000
"""Of a part that has no upper bound."""
WAYS = 64
"""How many ways to write a secret are looked at."""
LEAST_BODY = 8
ALPHABETS = {
    "hex": DIGITS + "abcdefABCDEF",
    "upper": LETTERS.upper() + DIGITS,
    "lower": LETTERS + DIGITS,
    "alnum": LETTERS + LETTERS.upper() + DIGITS,
    "word": LETTERS + LETTERS.upper() + DIGITS + "_",
    "dash": LETTERS + LETTERS.upper() + DIGITS + "_-",
    "dots": LETTERS + LETTERS.upper() + DIGITS + "_-.=",
    "base64": LETTERS + LETTERS.upper() + DIGITS + "+/=_-",
    "wide": LETTERS + LETTERS.upper() + DIGITS + "+/=_.:!~%-",
}
"""The names that the tables use, the narrowest first."""
SERVICE = re.compile(r"(?<![\\a-z0-9])[a-z][a-z0-9]{2,24}(?![a-z0-9])")
BETWEEN = re.compile(r"\(\?:\.\|\[\\n\\r\]\)|\.\{|\.\?")
"""What stands between a service's name and its secret."""
PREFIX = re.compile(r"(?=.{2})(?=.*[A-Za-z])[A-Za-z0-9_.-]+")
FEW = 8
"""Choices of that many signs belong to a prefix."""
LEAST_TELLING, LEAST_DIFFERENT = 4, 3


class Rest(NamedTuple):
    """What follows a prefix."""

    alphabet: str
    least: int


@dataclass(frozen=True)
class Part:
    """One sign or more of an alphabet."""

    signs: frozenset[str]
    least: int = 1
    most: int = 1


Sequence = tuple[Part, ...]


class Pattern:
    """Reads a pattern's ways: what it matches, as sequences of parts."""

    def __init__(self, pattern: str) -> None:
        flags = "".join(FLAGS.findall(pattern))
        self.folded = "i" in flags
        self.text = COMMENT.sub("", FLAGS.sub("", pattern))
        if "x" in flags:
            self.text = re.sub(r"\\ ", r"\\x20", self.text)
            self.text = re.sub(r"(?<!\\)#[^\n]*(?=\n|\Z)", "", self.text)
            self.text = re.sub(r"\s+", "", self.text)
        self.text = self.text.strip()
        self.groups: list[list[Sequence]] = []
        self.at = 0
        self.ways = self._either()

    def _either(self) -> list[Sequence]:
        ways = self._row()
        while self._sees("|"):
            self.at += 1
            ways += self._row()
        return ways

    def _row(self) -> list[Sequence]:
        ways: list[Sequence] = [()]
        while self.at < len(self.text) and not self._sees("|") and not self._sees(")"):
            one = self._counted(self._atom())
            ways = [first + second for first, second in islice(product(ways, one), WAYS)]
        return ways

    def _sees(self, sign: str) -> bool:
        return self.text.startswith(sign, self.at)

    def _atom(self) -> list[Sequence]:
        sign = self.text[self.at]
        group = GROUP.match(self.text, self.at)
        if group:
            self.at = group.end()
            ways = self._either()
            self.at += 1
            if not group[0].endswith(":"):
                self.groups.append(ways)
            return ways
        self.at += 1
        if sign in "^$":
            return [()]
        if sign == "[":
            return [(Part(self._class()),)]
        if sign == ".":
            return [(Part(frozenset(CLASSES["w"] + " ")),)]
        if sign != "\\":
            return [(Part(frozenset(sign)),)]
        signs = self._escaped()
        return [(Part(signs),)] if signs else [()]

    def _escaped(self) -> frozenset[str]:
        sign = self.text[self.at]
        self.at += 1
        if sign in "xu":
            begin, self.at = self.at, self.at + (2 if sign == "x" else 4)
            return frozenset(chr(int(self.text[begin : self.at], 16)))
        if sign in "bBAzZ":
            return frozenset()
        return frozenset(CLASSES.get(sign, " " if sign in "snrtSWD" else sign))

    def _class(self) -> frozenset[str]:
        signs: set[str] = set()
        inverse = self._sees("^")
        begin = self.at = self.at + inverse
        while not self._sees("]") or self.at == begin:
            first = self._sign()
            if self._sees("-") and not self._sees("-]") and len(first) == 1 and self.text[self.at + 1] != "\\":
                self.at += 1
                last = self._sign()
                signs |= {chr(code) for code in range(ord(min(first)), ord(min(last)) + 1)}
            else:
                signs |= first
        self.at += 1
        return frozenset(CLASSES["w"] + " ") if inverse else frozenset(signs)

    def _sign(self) -> frozenset[str]:
        self.at += 1
        return self._escaped() if self.text[self.at - 1] == "\\" else frozenset(self.text[self.at - 1])

    def _counted(self, ways: list[Sequence]) -> list[Sequence]:
        count = COUNT.match(self.text, self.at)
        if not count:
            return ways
        self.at = count.end()
        if self._sees("?") or self._sees("+"):
            self.at += 1
        least = int(count[1]) if count[1] else int(count[4] == "+")
        most = {"?": 1, "*": MOST, "+": MOST}.get(count[4] or "", least)
        most = int(count[3] or MOST) if count[2] else most
        if (least, most) == (0, 1):
            return [*ways, ()]
        signs = frozenset(sign for way in ways for part in way for sign in part.signs)
        lengths = [[part.least for part in way] for way in ways], [[part.most for part in way] for way in ways]
        return [(Part(signs, least * min(map(sum, lengths[0])), most * max(map(sum, lengths[1]))),)]


def prefixes(pattern: Pattern) -> Iterator[tuple[str, Rest]]:
    """How the secrets of a pattern begin, and what follows."""
    for ways in pattern.groups or [pattern.ways]:
        for prefix, rest in (begun for way in ways for begun in _beginnings(way)):
            least = sum(part.least for part in rest)
            signs = {sign for part in rest for sign in part.signs}
            if pattern.folded:
                signs |= {other for sign in signs for other in (sign.lower(), sign.upper())}
            alphabet = next((name for name, known in ALPHABETS.items() if signs <= set(known)), "")
            if alphabet and least >= LEAST_BODY and PREFIX.fullmatch(prefix):
                yield prefix, Rest(alphabet, least)


def _beginnings(way: Sequence) -> Iterator[tuple[str, Sequence]]:
    """The signs that a way begins with, and the rest of it; a choice of a few single signs counts among them."""
    begun = [""]
    for number, part in enumerate(way):
        if part.least != part.most or len(part.signs) > FEW or (part.least > 1 and len(part.signs) > 1):
            yield from ((prefix, way[number:]) for prefix in begun)
            return
        begun = [prefix + sign * part.least for prefix in begun for sign in sorted(part.signs)][:WAYS]


def services(rule: Mapping[str, Any], pattern: Pattern) -> Iterator[str]:
    """The rule's service, as its id has it and as it has to stand before the secret."""
    family = re.sub("[^a-z0-9]", "", rule["id"].split(".")[1].lower())
    head = BETWEEN.split(re.sub(r"\\[bsB]", " ", pattern.text), maxsplit=1)[0]
    for name in (family, *SERVICE.findall(head.lower())):
        if SERVICE.fullmatch(name) and (name.startswith(family) or family.startswith(name)):
            yield name


def words(vocabulary: Path) -> frozenset[str]:
    """Common words: those that a language model's vocabulary holds whole."""
    return frozenset(gzip.decompress(vocabulary.read_bytes()).decode().split())


def is_telling(prefix: str, common: frozenset[str]) -> bool:
    """Whether nothing but a secret begins so: a prefix of several different signs, and not of words alone."""
    signs = [sign for sign in prefix if sign.isalnum()]
    spelled = common.issuperset(re.findall("[a-z]+", prefix.lower())) and sum(map(str.isdigit, signs)) < LEAST_DIFFERENT
    return len(signs) >= LEAST_TELLING and len(set(signs)) >= LEAST_DIFFERENT and not spelled


def main(vocabulary: Path, sources: list[str], target: Path = TARGET) -> None:
    """Write the table."""
    common = words(vocabulary)
    rows: dict[str, set[tuple[str, Rest]]] = defaultdict(set)
    names: set[str] = set()
    origins: list[dict[str, str]] = []
    for source in sources:
        origin, licence, version, folder = source.split(",")
        origins.append({"origin": origin, "licence": licence, "version": version})
        for file in sorted(Path(folder).glob("*.y*ml")):
            for rule in yaml.safe_load(file.read_text("utf-8"))["rules"]:
                if "public key" in rule["name"].lower():
                    continue  # some sets list what only looks like a secret
                pattern = Pattern(rule["pattern"])
                rows[rule["name"].replace(".", " ")].update(prefixes(pattern))  # a name, and no host
                names.update(services(rule, pattern))
    table = {
        "sources": origins,
        "services": _filled(sorted(names - common)),
        "prefixes": [line for name in sorted(rows) for line in _lines(name, rows[name], common)],
    }
    target.write_text(_written(table), "utf-8")


def _filled(words: Collection[str]) -> list[str]:
    return textwrap.wrap(" ".join(words), 116)


def _written(table: Mapping[str, Collection[object]]) -> str:
    """JSON with one entry a line, so that a new version of a set changes few lines."""
    parts: list[str] = []
    for name, rows in table.items():
        entries = ",\n".join(f"  {json.dumps(one)}" for one in rows)
        parts.append(f" {json.dumps(name)}: [\n{entries}\n ]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _lines(name: str, rows: Collection[tuple[str, Rest]], common: frozenset[str]) -> Iterator[list[str | int]]:
    """The rows of a rule: its name, what follows the prefixes, whether they are telling, and the prefixes."""
    groups: dict[tuple[Rest, bool], list[str]] = defaultdict(list)
    for prefix, rest in sorted(rows):
        groups[rest, is_telling(prefix, common)].append(prefix)
    for (rest, telling), known in sorted(groups.items()):
        yield [name, *rest, "telling" if telling else "plain", " ".join(known)]


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
