"""Finds the scores that prose states, where the asked line isn't there.

A score of the whole outranks one of a part, such as "accuracy score: 0.9"; nothing else outranks anything. What stands
after words such as "e.g." is an example. A value that counts things, as in "overall: 2 of 10 tests", is no score.

Every pattern runs in time linear in the text: repetitions are bounded and none is nested in an unbounded one.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wisen.replies.asked_line import BRACKET, NOUN, SPAN
from wisen.replies.following import CUE, changed_in, counts_things, ends_sentence, following, said_again, stated_anew
from wisen.replies.lines import ALONE, EXAMPLE, Line
from wisen.replies.numbers import OF, OUT_OF, share_on, states_fraction, value
from wisen.replies.reply_words import any_of, words

WHOLE, PART = 2, 1
"""Ranks of candidates."""

_LABELLED_VALUE = value(OF)
_LOOSE_VALUE = value(OUT_OF)
_VERDICT = r"(?:score|rating|grade|mark|verdict|assessment|evaluation|quality|judge?ment|result)"
_FOREIGN_OVERALL = any_of(words("score", "overall"))
_FOREIGN_NOUN = any_of(words("score", "nouns"))
_IS = any_of(words("score", "is"))
_JOIN = r"\s{0,3}(?:[:=|]|[-\u2013\u2014](?=\s)|\b(?:is|of|would\sbe|was)\b)(?:\s?[:=|]|\sa\b)?\s{0,3}"
_FOREIGN_JOIN = rf"\s{{0,3}}(?:[:=|]|[-\u2013\u2014](?=\s)|\b(?:is|of|{_IS})\b|[は是为為])(?:\s?[:=|])?\s{{0,3}}"

_OVERALL_LINE = re.compile(
    rf"\b(?:(?:overall|final)(?:\s{_VERDICT})?|total\s{_VERDICT}|{NOUN}\soverall)"
    rf"{BRACKET}{SPAN}{_JOIN}{_LABELLED_VALUE}"
)
_FOREIGN_OVERALL_LINE = re.compile(rf"^(?:{_FOREIGN_OVERALL}){BRACKET}{_FOREIGN_JOIN}{_LABELLED_VALUE}")
_SCORE_LINE = re.compile(rf"\b(?P<before>\w{{1,20}}\s)?{NOUN}{BRACKET}{SPAN}{_JOIN}{_LABELLED_VALUE}")
_FOREIGN_LINE = re.compile(rf"^(?:{_FOREIGN_NOUN}){BRACKET}{_FOREIGN_JOIN}{_LABELLED_VALUE}")
_UNJOINED = re.compile(rf"^(?:(?:overall|final|total)\s)?{NOUN}\s{_LABELLED_VALUE}")
_VALUE_FIRST = re.compile(
    rf"(?<![\w.,/\-]){_LOOSE_VALUE}\s(?:is|as|would\sbe|for)\s(?:(?:my|the|a|an|its)\s)?(?:overall\s|final\s)?{NOUN}\b"
)
_GIVES = (
    r"(?:i|we)(?:'d|'ll|'m|\swould|\swill|\sam|\shave|\smust|\scan)?(?:\s\w{1,15})?\s"
    r"(?:give|gave|giving|assign|assigned|award|awarded|rate|rated|score|scored|grade|graded|say|call|judge|judged)"
    r"(?:\s[a-z']{1,20}){0,6}?[\s:]{1,2}"
)
_SAID = re.compile(rf"\b(?:{_GIVES}|(?:deserves|earns|merits)(?:\s[a-z']{{1,20}}){{0,6}}?[\s:]{{1,2}}){_LOOSE_VALUE}")
_ANSWER = re.compile(rf"^(?:my\s|the\s)?(?:final\s)?answer\s?[:=]\s?{_LABELLED_VALUE}[.!]?$")
_GETS = re.compile(rf"\b(?:gets|receives|scores|comes\sto)\s(?:an?\s)?{_LOOSE_VALUE}\s?(?:[.!,;)]|$)")
_LEADING = re.compile(rf"{_LOOSE_VALUE}(?:\s?[-\u2013\u2014:;,.(]\s?|\sbecause\s)(?=[^\W\d_]|\()")
_TAKEN_BACK = re.compile(
    rf"(?:^|[.!?\u2026]{{1,3}}\s{{1,3}}){CUE}(?:my\s(?:\w{{1,12}}\s)?{NOUN}{_JOIN}(?:now\s)?|{_GIVES}){_LABELLED_VALUE}"
)
_LETTER = re.compile(r"[^\W\d_]")
_STARS = re.compile(r"(?<![★⭐])(?P<full>[★⭐]{0,10})(?P<empty>☆{0,10})(?![★⭐☆])")
_LEAST_STARS, _ALL_STARS = 3, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedScore:
    """A value that may be the score."""

    rank: int
    score: float | None
    """`None`: it says it is a score, and it isn't one in [0, 1]."""
    quoted: bool = False


def candidates_in(lines: Sequence[Line]) -> Iterator[StatedScore]:
    """Every candidate, in order. A sentence that is a value contradicts a score; by itself it is one at an end only."""
    found = False
    for line in lines:
        here = list(_in_line(line))
        if not here and (found or line.at_edge):
            here = [StatedScore(rank=WHOLE, score=score, quoted=line.quoted) for score in stated_anew(line.plain)]
        found = found or bool(here)
        yield from here


def taken_back_in(line: Line) -> Iterator[float | None]:
    """What a line below the asked one puts in its place: a value alone, a correction, or what "I" or "my" gives."""
    yield from stated_anew(line.plain)
    for sentence in _TAKEN_BACK.finditer(line.plain):
        if states_fraction(sentence) and ends_sentence(line.plain, sentence.end()):
            yield share_on(sentence, line.scale)


def _in_line(line: Line) -> Iterator[StatedScore]:
    if any(map(str.isdigit, line.plain)):
        yield from _from_numbers(line)
    elif line.at_edge and (stars := _stars(line.plain)) is not None:
        yield StatedScore(rank=WHOLE, score=stars, quoted=line.quoted)


def _stars(line: str) -> float | None:
    found = [one for one in _STARS.finditer(line) if len(one[0]) >= _LEAST_STARS]
    if len(found) != 1 or not (found[0]["empty"] or len(found[0][0]) == _ALL_STARS):
        return None
    return len(found[0]["full"]) / len(found[0][0])


def _from_numbers(line: Line) -> Iterator[StatedScore]:
    text = line.plain
    worded = _LETTER.search(text) is not None
    cue = EXAMPLE.search(text)
    example_from = cue.start() if cue else len(text)
    matches = [*_labelled(text, scaled=line.scale > 0)] if worded else []
    labelled = [(rank, match) for rank, match in matches if _is_whole(text, match)]
    loose = list(_loose(line, {match.start("number") for _, match in matches})) if worded else []
    stated = [(rank, match) for rank, match in (*labelled, *loose) if match.start() < example_from]
    for rank, match in stated:
        yield from _said(line, match, rank)
    if stated:
        yield from _changed(line, stated[0][0], stated[0][1].end())
    if not labelled:
        yield from _bare(line)


def _loose(line: Line, read: set[int]) -> Iterator[tuple[int, re.Match[str]]]:
    """Scores in sentences, but for the numbers that were read with a label."""
    for pattern in (_VALUE_FIRST, _SAID, _GETS, _ANSWER):
        for match in pattern.finditer(line.plain):
            is_share = states_fraction(match) or line.scale > 0
            if is_share and match.start("number") not in read and following(line.plain, match.end()) != "thing":
                yield WHOLE, match


def _bare(line: Line) -> Iterator[StatedScore]:
    """Values alone in a line, or at the head of the first or last one."""
    alone = ALONE.match(line.plain)
    if alone and (line.at_edge or states_fraction(alone)):
        yield StatedScore(rank=WHOLE, score=share_on(alone, line.scale), quoted=line.quoted)
    leading = _LEADING.match(line.plain)
    if leading and line.at_edge and not alone and leading["number"] not in ("0", "1") and states_fraction(leading):
        yield StatedScore(rank=WHOLE, score=share_on(leading, line.scale), quoted=line.quoted)
        yield from _changed(line, WHOLE, leading.end("number"))


def _is_whole(line: str, match: re.Match[str]) -> bool:
    """Whether nothing behind the value makes it another thing's.

    Behind a label at the head of a line, a decimal counts nothing, so any word may follow it.
    """
    if match.start() == 0:
        return not counts_things(line, match)
    return following(line, match.end()) != "thing"


def _said(line: Line, match: re.Match[str], rank: int) -> Iterator[StatedScore]:
    again, end = said_again(line.plain, match.end())
    unclear = following(line.plain, end) == "sum"
    for each in (None if unclear else share_on(match, line.scale), *again):
        yield StatedScore(rank=rank, score=each, quoted=line.quoted)


def _changed(line: Line, rank: int, at: int) -> Iterator[StatedScore]:
    for score in changed_in(line.plain, at):
        yield StatedScore(rank=rank, score=score, quoted=line.quoted)


def _labelled(line: str, *, scaled: bool) -> Iterator[tuple[int, re.Match[str]]]:
    """Scores with their label in front, each with its rank; a value is read under one label only."""
    taken: set[int] = set()
    for pattern in (_OVERALL_LINE, _FOREIGN_OVERALL_LINE):
        for match in pattern.finditer(line):
            taken.add(match.end())
            yield WHOLE, match
    for match in _SCORE_LINE.finditer(line):
        before = (match["before"] or "").strip()
        if match.end() not in taken and before not in words("score", "others"):
            taken.add(match.end())
            yield (WHOLE if not before or before in words("score", "own") else PART), match
    for pattern in (_UNJOINED, _FOREIGN_LINE):
        match = pattern.match(line)
        if match and match.end() not in taken and (scaled or states_fraction(match)):
            yield WHOLE, match
