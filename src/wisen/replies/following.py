"""Reads what follows a value in its line: whether the value ends there, counts things, or is corrected.

It stands apart because the asked line, prose and verdicts have to agree on where a value ends.
"""

import re
from collections.abc import Iterator
from typing import Literal

from wisen.replies.numbers import OUT_OF, is_countable, share, states_fraction, value
from wisen.replies.reply_words import any_of, words

Following = Literal["end", "thing", "sum"]

_SUM = re.compile(r"\s{0,3}(?:[+*\u00d7\u00f7=\u00b1^<>\u2264\u2265?]|\d|x\s?\d)")
_REASON = re.compile(rf"\s{{0,3}}(?:{any_of(words('score', 'reasons'))})(?![^\W_])|\s{{0,3}}(?:で|입|이)")
_THING = re.compile(r"\s{0,3}[^\W\d_]")
_ENDED = re.compile(r"\s?[)\]]?\s?(?:[.!]|$)")
_AGAIN = re.compile(
    rf"\s?(?:(?P<open>[(\[])\s?(?:i\.e\.,?|=|that is,?|or|so)?|=)\s?{value(OUT_OF)}(?P<close>\s?[)\]])?"
)
"""A value said once more in another way, such as "0.8 (80%)"."""

_CORRECTIONS = any_of(words("score", "corrections"))
_CORRECTION = re.compile(rf"\b(?:{_CORRECTIONS})\b")
_CUES = any_of(words("score", "corrections") | words("score", "articles"))
CUE = rf"(?P<cue>(?:(?:{_CUES})\b[\s,.:;!\u2026\u2013\u2014-]{{1,4}}){{0,6}})"
"""Words with which a correction may begin."""
_JOINS = any_of(words("score", "joins"))
_BREAK = rf"(?:[.,;!?\u2026]{{1,3}}\s{{1,3}}|[(\[|\u2013\u2014\u2192]\s{{0,2}}|\s-\s|->\s?|\s(?:{_JOINS})\s)"
_CLAUSE = re.compile(rf"{_BREAK}{CUE}{value(OUT_OF)}")
_SENTENCE = re.compile(rf"(?:^|[.!?\u2026]{{1,3}}\s{{1,3}}){CUE}{value(OUT_OF)}")


def following(line: str, at: int) -> Following:
    """What stands behind a value: the end of what is said of it, a thing that it counts, or more of a sum."""
    if _SUM.match(line, at):
        return "sum"
    return "thing" if _THING.match(line, at) and not _REASON.match(line, at) else "end"


def said_again(line: str, at: int) -> tuple[list[float | None], int]:
    """The value that stands there once more in another way, if any, and where that ends."""
    again = _AGAIN.match(line, at)
    if again is None or not states_fraction(again) or bool(again["open"]) != bool(again["close"]):
        return [], at
    return [share(again)], again.end()


def changed_in(line: str, at: int) -> Iterator[float | None]:
    """The values with which clauses behind a value begin: each changes it, or is that of another part."""
    for clause in _CLAUSE.finditer(line, at):
        if following(line, clause.end()) == "end" and (_states_share(clause) or _corrects(clause)):
            yield share(clause)


def stated_anew(line: str) -> Iterator[float | None]:
    """The values of sentences that say nothing but a value, or begin by correcting one."""
    for sentence in _SENTENCE.finditer(line):
        alone = _states_share(sentence) and ends_sentence(line, sentence.end())
        if alone or (_corrects(sentence) and following(line, sentence.end()) == "end"):
            yield share(sentence)


def ends_sentence(line: str, at: int) -> bool:
    """Whether nothing but an end of a sentence stands behind a value."""
    return _ENDED.match(line, at) is not None


def _states_share(match: re.Match[str]) -> bool:
    whole = match["number"].isdecimal() and not (match["percent"] or match["scale"])
    return not whole and share(match) is not None


def _corrects(match: re.Match[str]) -> bool:
    return states_fraction(match) and _CORRECTION.search(match["cue"]) is not None


def counts_things(line: str, match: re.Match[str]) -> bool:
    """Whether a value counts what its line goes on to name, as in "2 of 10 tests"."""
    return is_countable(match) and following(line, match.end()) == "thing"
