"""Reads the score out of what a judge wrote, or says that there is none to read.

A reply is read line by line into candidates of three ranks: an *overall* or *final* score, a plain `score:` line,
anything else that says it is a score. The highest rank that has a candidate decides, and only if all its candidates
agree. What stands in quotation marks, code or a block quote, or after words such as "e.g.", is an example and not the
judgement.

Every pattern runs in time linear in the text: repetitions are bounded and none is nested in an unbounded one.
"""

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

_OVERALL, _PLAIN, _LOOSE = 3, 2, 1

_NUMBER = r"[+\-]?(?:\d{1,9}(?:[.,]\d{1,30})?|[.,]\d{1,30})(?!\w|[.,]\d)"
_RANGE = r"(?!\s?(?:[-\u2013\u2014]|\.{2,3}|to\b|or\b)\s?(?:\d{0,9}[.,]\d|\d{1,9}(?:\s?[%/]|\b(?!\s{0,3}[a-z]))))"
_PERCENT = r"\s{0,3}(?:%|per\s?cent\b)"


def _value(between: str) -> str:
    """A number with its scale, where `between` lists the words that may join them; not a range, a date or a version."""
    scale = rf"\s{{0,3}}(?:{between})\s{{0,3}}(?P<scale>{_NUMBER})"
    return (
        rf"(?:~|≈|about\s|around\s|approximately\s|roughly\s)?\s?(?P<number>{_NUMBER})"
        rf"(?:(?P<percent>{_PERCENT})|{scale})?(?!\s?/\s?\w){_RANGE}"
    )


_LABELLED_VALUE = _value(r"/|out\s+of|of")
_LOOSE_VALUE = _value(r"/|out\s+of")
_NOUN = r"(?:score|rating|grade)"
_VERDICT = r"(?:score|rating|grade|mark|verdict|assessment|evaluation|quality|judge?ment|result)"
_BRACKET = r"(?:\s?[(\[](?P<bracket>[^()\[\]\n]{0,40})[)\]])?"
_SPAN = r"(?:\s(?:between\s\S{1,6}\sand|from\s\S{1,6}\sto)\s[\d.,]{1,6})?"
_JOIN = r"\s{0,3}(?:[:=|]|[-\u2013\u2014](?=\s)|\b(?:is|of|would\sbe|was)\b)(?:\s?[:=|]|\sa\b)?\s{0,3}"

_OVERALL_LINE = re.compile(
    rf"\b(?:(?:overall|final|total)(?:\s{_VERDICT})?|{_NOUN}\soverall){_BRACKET}{_SPAN}{_JOIN}{_LABELLED_VALUE}"
)
_SCORE_LINE = re.compile(rf"\b(?P<before>\w{{1,20}}\s)?{_NOUN}{_BRACKET}{_SPAN}{_JOIN}{_LABELLED_VALUE}")
_VALUE_FIRST = re.compile(
    rf"(?<![\w.,/\-]){_LOOSE_VALUE}\s(?:is|as|would\sbe|for)\s(?:(?:my|the|a|an|its)\s)?(?P<overall>overall\s|final\s)?{_NOUN}\b"
)
_SAID = re.compile(
    r"\b(?:(?:i|we)(?:'d|'ll|'m|\swould|\swill|\sam|\shave|\smust|\scan)?(?:\s\w{1,15})?\s"
    r"(?:give|gave|giving|assign|assigned|award|awarded|rate|rated|score|scored|grade|graded|say|judge|judged)"
    rf"|deserves|earns|merits)(?:\s[a-z']{{1,20}}){{0,6}}?[\s:]{{1,2}}{_LOOSE_VALUE}"
)
_ALONE = re.compile(rf"{_LOOSE_VALUE}[.!]?$")
_LEADING = re.compile(rf"{_LOOSE_VALUE}(?:\s?[-\u2013\u2014:;,.(]\s?|\sbecause\s)(?=[a-z(])")
_BARE_LABEL = re.compile(rf"(?:my\s|the\s)?(?:(?:overall|final|total)\s)?{_NOUN}\s?:?$")

_EXAMPLE = re.compile(
    r"\be\.g\b|\bexamples?\b|\bfor instance\b|\bsuch as\b|\bformat\b|\btemplate\b|\bplaceholder\b|\bwould look\b"
)
_NOT_THE_SCORE = frozenset(
    {
        "passing",
        "threshold",
        "previous",
        "maximum",
        "max",
        "minimum",
        "min",
        "target",
        "prior",
        "required",
        "f1",
        "bleu",
    }
)
_OWN_SCORE = frozenset(
    {"", "the", "my", "a", "an", "this", "its", "your", "quality", "judge", "evaluation", "and", "so"}
)

_JSON_KEY = re.compile(r'["\']([\w ]{1,40})["\']\s{0,3}:')
_TAG = re.compile(r"<(/?)([a-z_]{1,30})>")
_QUOTED = re.compile(
    r'"[^"\n]{1,500}"|`[^`\n]{1,500}`|“[^”\n]{1,500}”|«[^»\n]{1,500}»|(?<!\w)\'[^\'\n]{1,200}\'(?!\w)|\u2018[^\u2019\n]{1,200}\u2019(?!\w)'
)
_EDGES = "|[]{} "
_BULLET = re.compile(r"[-+•]\s{1,4}")
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SPELLED = re.compile(rf"\b({'|'.join(_WORDS)})\s(?:out\s)?of\s({'|'.join(_WORDS[1:])})\b")
_MARKUP = str.maketrans(
    {"*": None, "#": None, "_": " ", "\u2212": "-", "\u2010": "-", "\u2011": "-", "\t": " ", "\u2019": "'"}
)
_JSON_KEYS = ("overall_score", "overall", "final_score", "final", "score", "rating", "grade")


_ASKED_FOR = re.compile(r"\s*[Ss]core: (0(?:\.\d{1,6})?|1(?:\.0{1,6})?)\s*")
"""Exactly the line that the default prompt asks for; everything else takes the longer way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    rank: int
    score: float | None
    """`None`: it says it is a score, and it isn't one in [0, 1]."""
    quoted: bool = False


def parse_score(text: str) -> float | None:
    """The score in [0, 1] that `text` states.

    `None` when it states none, one outside, or several that contradict each other.

    Reads a decimal (also `.9` and `0,85`), a percentage, `8/10` and `8 out of 10`, JSON, Markdown and sentences. A
    whole number above 1 needs its scale. Pure; linear in the length of `text`.
    """
    plain = _ASKED_FOR.fullmatch(text)
    if plain is not None:
        return float(plain[1])
    normal = unicodedata.normalize("NFKC", text).strip()
    found, score = _from_json(normal)
    if found:
        return score
    candidates = list(_candidates(normal.lower()))
    stated = [candidate for candidate in candidates if not candidate.quoted] or candidates
    top = max((candidate.rank for candidate in stated), default=0)
    scores = {candidate.score for candidate in stated if candidate.rank == top}
    return scores.pop() if len(scores) == 1 else None


def _candidates(text: str) -> Iterator[_Candidate]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    fenced = example = False
    label = ""
    for index, line in enumerate(lines):
        if line.startswith(("```", "~~~")):
            fenced = not fenced
            continue
        bare = _unquoted_whole(line.lstrip("> "))
        quoted = fenced or line.startswith(">") or bare != line.lstrip("> ")
        if quoted and example:
            continue
        example = example or _EXAMPLE.search(line) is not None
        plain = _plain(bare)
        if label and _ALONE.match(plain):
            plain = f"{label.rstrip(' :')}: {plain}"
        label = plain if _BARE_LABEL.match(plain) else ""
        if any(map(str.isdigit, plain)):
            yield from _in_line(plain, at_edge=index in (0, len(lines) - 1), quoted=quoted)


def _unquoted_whole(line: str) -> str:
    """Drop the quotation marks of a line that is one quotation from end to end."""
    stripped = line.strip("*_ ")
    match = _QUOTED.fullmatch(stripped)
    return stripped[1:-1] if match else line


def _plain(line: str) -> str:
    """The line without Markdown, tags, and quotations other than quoted values."""
    line = _JSON_KEY.sub(r"\1:", line)
    line = _TAG.sub(lambda tag: " " if tag[1] else f"{tag[2]}: ", line)
    line = line.translate(_MARKUP)
    line = _QUOTED.sub(_keep_values, line)
    line = _SPELLED.sub(lambda spelled: f"{_WORDS.index(spelled[1])} out of {_WORDS.index(spelled[2])}", line)
    line = line.strip(_EDGES)
    bullet = _BULLET.match(line)
    return line[bullet.end() :].strip(_EDGES) if bullet else line


def _keep_values(quotation: re.Match[str]) -> str:
    inner = quotation[0][1:-1].strip()
    return inner if _ALONE.match(inner) else " … "


def _in_line(line: str, *, at_edge: bool, quoted: bool) -> Iterator[_Candidate]:
    labelled = False
    cue = _EXAMPLE.search(line)
    example_from = cue.start() if cue else len(line)
    for rank, match in _labelled(line):
        labelled = True
        if match.start() < example_from:
            yield _Candidate(rank=rank, score=_score(match), quoted=quoted)
    if labelled:
        return
    for pattern in (_VALUE_FIRST, _SAID):
        for match in pattern.finditer(line):
            if _states_fraction(match) and match.start() < example_from:
                yield _Candidate(rank=_LOOSE, score=_score(match), quoted=quoted)
    alone = _ALONE.match(line)
    if alone and (at_edge or _states_fraction(alone)):
        yield _Candidate(rank=_LOOSE, score=_score(alone), quoted=quoted)
    leading = _LEADING.match(line)
    if leading and at_edge and not leading["number"].isdecimal():
        yield _Candidate(rank=_LOOSE, score=_score(leading), quoted=quoted)


def _labelled(line: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Scores with their label in front, each with its rank; a value is read under its highest label only."""
    taken: set[int] = set()
    for match in _OVERALL_LINE.finditer(line):
        taken.add(match.end())
        yield _OVERALL, match
    for match in _SCORE_LINE.finditer(line):
        before = (match["before"] or "").strip()
        if match.end() not in taken and before not in _NOT_THE_SCORE:
            yield (_PLAIN if before in _OWN_SCORE else _LOOSE), match


def _states_fraction(match: re.Match[str]) -> bool:
    """Whether a number carries its own scale: a decimal, percentage or ratio, or a plain 0 or 1."""
    return not match["number"].isdecimal() or bool(match["percent"] or match["scale"]) or match["number"] in ("0", "1")


def _score(match: re.Match[str]) -> float | None:
    groups = match.groupdict()
    number = _number(match["number"])
    scale = 100.0 if groups["percent"] else 1.0
    if groups["scale"]:
        scale = _number(groups["scale"])
    elif groups.get("bracket") and not groups["percent"]:
        scale = _bracket_scale(groups["bracket"])
    if not scale > 0:
        return None
    score = number / scale
    return score + 0.0 if 0.0 <= score <= 1.0 else None


def _bracket_scale(bracket: str) -> float:
    """The scale that a remark such as "(0-10)", "(out of 10)" or "(0 to 1)" announces, else 1."""
    match = re.search(rf"(?:/|out\sof|[\d.]{{1,6}}\s?(?:-|\u2013|to|,))\s?({_NUMBER})", bracket)
    return _number(match[1]) if match else 1.0


def _number(digits: str) -> float:
    """A number with a decimal point or comma; "1,000" is a thousand."""
    whole, comma, decimals = digits.partition(",")
    if comma and len(decimals) == 3 and whole.lstrip("+-").strip("0"):  # noqa: PLR2004 - a group of thousands
        return float(whole + decimals)
    return float(digits.replace(",", "."))


def _from_json(text: str) -> tuple[bool, float | None]:
    """Whether the whole of `text` is JSON that states a score, and the score."""
    body = re.sub(r"\A```\w{0,10}\s*\n|\n```\s*\Z", "", text)
    if not body.startswith("{"):
        return False, None
    try:
        parsed: object = json.loads(body)
    except (ValueError, RecursionError):
        return False, None
    return _from_object(parsed, depth=2)


def _from_object(parsed: object, *, depth: int) -> tuple[bool, float | None]:
    if not isinstance(parsed, dict) or not depth:
        return False, None
    members = {str(key).lower(): value for key, value in cast("dict[object, object]", parsed).items()}
    for key in _JSON_KEYS:
        value = members.get(key)
        if isinstance(value, str):
            match = _ALONE.match(_plain(value.lower()))
            return True, _score(match) if match else None
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return True, float(value) if 0 <= value <= 1 else None
    nested = [_from_object(value, depth=depth - 1) for value in members.values()]
    scores = {score for found, score in nested if found}
    return bool(scores), scores.pop() if len(scores) == 1 else None
