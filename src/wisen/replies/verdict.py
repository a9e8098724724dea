"""Reads verdicts, such as PASS: alone, at the head of a line, or after a label; never in the middle of a sentence."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wisen.replies.following import changed_in, following
from wisen.replies.lines import Line
from wisen.replies.numbers import OUT_OF, share, states_fraction, value
from wisen.replies.reply_words import any_of, folded, words

_PASS, _FAIL = words("verdict", "pass"), words("verdict", "fail")
_YES, _NO = words("verdict", "yes"), words("verdict", "no")
_STRONG = any_of(_PASS | _FAIL)
_ANY = any_of(_PASS | _FAIL | _YES | _NO)
_LABELS = any_of(words("verdict", "labels"))
_ASKS = any_of(words("verdict", "asks"))
_AFTER = (
    r"(?=\s{0,2}(?:$|[.,;!(\[\u2013\u2014✅❌]|-\s|because\b|since\b|as\b|with\s(?:an?\s)?(?:score|rating|grade)\b))"
)
_SIGN = r"(?:[✅❌✔✘✗✖👍👎☑]\s?){0,2}"

_ALONE = re.compile(rf"{_SIGN}(?P<said>{_ANY})\s?[.!]{{0,3}}\s?{_SIGN}$")
_LABELLED = re.compile(
    rf"(?:^|[.!?]\s{{1,3}})(?:(?:so|therefore|thus|hence|my|the)[\s,]{{1,2}}){{0,2}}(?P<final>(?:overall|final)\s)?(?:{_LABELS})"
    rf"\s{{0,2}}(?:[:=|]|[-\u2013\u2014]\s|(?<!result\s)(?<!outcome\s)is:?\s)\s{{0,2}}(?:a\s)?{_SIGN}(?P<said>{_ANY}){_AFTER}"
)
_ANSWERED = re.compile(
    rf"^(?:my\s|the\s)?(?:final\s)?(?:answer|status)\s?[:=|]\s{{0,2}}{_SIGN}(?P<said>{_STRONG}){_AFTER}"
)
_ASKED = re.compile(rf"^(?:{_ASKS})\s{{0,2}}[:=?|]\s{{0,2}}(?P<said>{any_of(_YES | _NO)}){_AFTER}")
_LEADING = re.compile(
    rf"{_SIGN}(?P<said>{_STRONG})\s{{0,2}}(?:[:.!(\u2013\u2014]|-\s)(?!\s{{0,3}}(?:[\d/]|(?:yes|no|true|false)\b))"
)
_BESIDE = re.compile(
    r"[\s,.;:(\[\u2013\u2014-]{0,4}(?:(?:with|at|and|a|my|the)\s){0,2}"
    rf"(?P<noun>(?:{any_of(words('score', 'english'))})(?:\s?(?:[:=]|is|of))?\s{{0,2}})?{value(OUT_OF)}"
)
_GRADED = re.compile(rf"{_SIGN}(?P<said>{_STRONG})(?=\s?[,;(\[\u2013\u2014]|\s-\s)")
_CLOSING = re.compile(rf"(?P<mark>[.!?:])\s{{1,3}}(?P<said>{_STRONG})\s?[.!]{{0,3}}$")
_LAST = 200
"""Characters at the end of a line in which a closing verdict is looked for, and behind one in which numbers are."""
_YES_NO = _YES | _NO


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a line says of the whole."""

    passed: bool
    final: bool = False
    """Whether it is called the overall or final one."""
    weak: bool = False
    """A bare yes or no: an answer to some question, not necessarily to the one that was asked."""
    quoted: bool = False
    beside: tuple[float | None, ...] = ()
    """The scores that are given beside it, as in "PASS (9/10)"; `None` is one outside [0, 1]."""


def word_verdict(text: str) -> bool | None:
    """What a text means that is a verdict and nothing else."""
    word = folded(text).strip(" .!")
    return True if word in _PASS | _YES else False if word in _FAIL | _NO else None


def verdicts_in(lines: Sequence[Line]) -> Iterator[Verdict]:
    """Every verdict, in order. The lines are lower-case."""
    for line in lines:
        if line.plain.isdecimal():
            continue
        alone = _ALONE.match(line.plain)
        if alone:
            weak = alone["said"] in _YES_NO
            if not weak or line.at_edge:
                yield _verdict(line, alone, weak=weak)
            continue
        labelled = [*_LABELLED.finditer(line.plain)]
        for match in labelled or [*_ASKED.finditer(line.plain), *_ANSWERED.finditer(line.plain)]:
            yield _verdict(line, match, final=bool(match.groupdict().get("final")))
        if not labelled and line.at_edge:
            yield from _at_edge(line)


def _at_edge(line: Line) -> Iterator[Verdict]:
    """The verdict with which a reply begins or ends; among shortcomings it is a sentence of its own."""
    graded = _GRADED.match(line.plain)
    if graded and (verdict := _verdict(line, graded)).beside:
        yield verdict
        return
    leading = _LEADING.match(line.plain)
    closing = _CLOSING.search(line.plain, max(0, len(line.plain) - _LAST))
    if leading and not (line.below and line.plain[leading.end("said") :].lstrip()[:1] not in (".", "!")):
        yield _verdict(line, leading)
    elif closing and not (line.below and closing["mark"] == ":"):
        yield _verdict(line, closing)


def verdict_of(verdicts: Sequence[Verdict], *, beside_number: bool) -> tuple[float | None, bool]:
    """What the verdicts come to, as a score, and whether they contradict each other."""
    heard = [one for one in verdicts if not (beside_number and one.weak)]
    heard = [one for one in heard if not one.quoted] or heard
    heard = [one for one in heard if not one.weak] or heard
    heard = [one for one in heard if one.final] or heard
    said = {one.passed for one in heard}
    return (float(said.pop()), False) if len(said) == 1 else (None, bool(said))


def _verdict(line: Line, match: re.Match[str], *, final: bool = False, weak: bool = False) -> Verdict:
    said = match["said"]
    beside = tuple(_numbers_beside(line.plain, match.end("said")))
    return Verdict(passed=said in _PASS or said in _YES, final=final, weak=weak, quoted=line.quoted, beside=beside)


def _numbers_beside(line: str, at: int) -> Iterator[float | None]:
    rest = line[at : at + _LAST]
    number = _BESIDE.match(rest)
    is_score = number and following(rest, number.end()) == "end" and (number["noun"] or states_fraction(number))
    if number and is_score and (number["noun"] or number["number"] not in ("0", "1") or number["scale"]):
        yield share(number)
    yield from changed_in(rest, number.end() if number else 0)
