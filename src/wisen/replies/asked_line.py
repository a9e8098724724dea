"""Reads the line that a judge is asked for, `score: 0.7`: label, value and nothing else.

It stands apart because it is read first: where it stands, prose beside it says nothing of the score.
"""

import re
from collections.abc import Sequence

from wisen.replies.following import following, said_again
from wisen.replies.lines import Line
from wisen.replies.numbers import OF, share_on, value
from wisen.replies.reply_words import any_of, words

NOUN = rf"(?:{any_of(words('score', 'english'))})"
"""What a score is called."""
BRACKET = r"(?:\s?[(\[](?P<bracket>[^()\[\]\n]{0,40})[)\]])?"
"""What may stand in brackets behind that, such as the scale."""
SPAN = r"(?:\s(?:between\s\S{1,6}\sand|from\s\S{1,6}\sto)\s[\d.,]{1,6})?"
"""The scale in words."""
_LINE = re.compile(
    rf"(?:(?P<whole>(?:overall|final|total)\s{NOUN}|overall|final)|{NOUN}){BRACKET}{SPAN}"
    rf"\s{{0,3}}(?:[:=|]|[-\u2013\u2014](?=\s)|is\b:?)\s{{0,3}}{value(OF)}"
)
_END = re.compile(r"\s?[.!]?(?:\s?\(\s?\))?\s?$")


def asked_scores(lines: Sequence[Line]) -> tuple[int, list[float | None]]:
    """Where the first asked line stands, or -1, and what it says, with all lines that say so of the whole."""
    at, scores = -1, list[float | None]()
    for index, line in enumerate(lines):
        match = None if line.quoted else _LINE.match(line.plain)
        if match is None:
            continue
        again, end = said_again(line.plain, match.end())
        if _END.match(line.plain, end):
            at = index if at < 0 and match["whole"] is None else at
            scores += [share_on(match, line.scale), *again]
    return at, scores


def opens_with_score(line: Line) -> bool:
    """Whether a line begins with the asked form and goes on with a reason."""
    match = None if line.quoted else _LINE.match(line.plain)
    return match is not None and match["whole"] is None and following(line.plain, match.end()) == "end"


def is_asked_line(line: Line) -> bool:
    """Whether a line has the asked form, quoted or not, and says no more."""
    match = _LINE.match(line.plain)
    return match is not None and _END.match(line.plain, said_again(line.plain, match.end())[1]) is not None
