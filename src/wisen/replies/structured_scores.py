"""Reads the score out of JSON and out of Markdown tables."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import cast

from wisen.replies.lines import ALONE, plain_value
from wisen.replies.numbers import bracket_scale, number_in, share, states_fraction, within
from wisen.replies.reply_words import folded, words
from wisen.replies.verdict import word_verdict

_OWN_KEYS = ("overall_score", "overall", "final_score", "final", "total_score", "score", "rating", "grade")
_VERDICT_KEYS = (
    "verdict",
    "pass",
    "passed",
    "passes",
    "correct",
    "is_correct",
    "acceptable",
    "result",
    "judgement",
    "judgment",
)
_SCALE_KEYS = ("max", "max_score", "maximum", "out_of", "scale", "of", "best", "highest")
_DEPTH = 3
_HALF = 0.5
_LONGEST_TABLE = 400
_RULE = re.compile(r"[\s|:\-\u2013]+")
_HEADER = re.compile(r"(?P<noun>[^()\[\]]{1,40}?)\s?(?:[(\[](?P<scale>[^()\[\]]{1,20})[)\]])?")


def json_in(text: str) -> object:
    """What a reply says that is JSON: alone, in a fence or after words that lead to it.

    `None` for any other reply, and for JSON that isn't whole.
    """
    body = re.sub(r"\n\s{0,8}(?:```|~~~)\s*\Z", "", text.strip())
    start = min((at for at in (body.find("{"), body.find("[")) if at >= 0), default=-1)
    if start < 0 or not body.endswith(("}", "]")):
        return None
    before = re.sub(r"(?:```|~~~)\w{0,10}\s*\Z", "", body[:start]).strip()
    if before and not before.endswith((":", "\uff1a")):
        return None
    try:
        return cast("object", json.loads(body[start:]))
    except (ValueError, RecursionError):
        return None


def score_in_json(text: str) -> tuple[bool, float | None]:
    """Whether the whole of `text` is JSON that states a score, and the score."""
    return _from_object(json_in(text), depth=_DEPTH)


def stated_score(stated: object) -> float | None:
    """The score in [0, 1] that a member of JSON states: a number, a text such as "7/10", or an object with a score."""
    if isinstance(stated, (dict, list)):
        return _from_object(cast("object", stated), depth=_DEPTH)[1]
    return _number(stated, 1.0)


def _from_object(parsed: object, *, depth: int) -> tuple[bool, float | None]:
    if isinstance(parsed, list) and depth:
        parsed = dict(enumerate(cast("list[object]", parsed)))
    if not isinstance(parsed, dict) or not depth:
        return False, None
    members = {folded(str(key)): each for key, each in cast("dict[object, object]", parsed).items()}
    verdicts = {word_verdict(str(members[key])) for key in _VERDICT_KEYS if key in members} - {None}
    for keys in (_OWN_KEYS, sorted(words("score", "nouns"))):
        stated = [members[key] for key in keys if key in members and not isinstance(members[key], (dict, list))]
        numbers = [_number(each, _scale(members)) for each in stated]
        if numbers and (keys is _OWN_KEYS or any(number is not None for number in numbers)):
            return True, _agreed(numbers, verdicts)
    nested = [_from_object(each, depth=depth - 1) for each in members.values()]
    scores = [score for found, score in nested if found]
    if not scores:
        scores = [float(one) for one in verdicts if one is not None]
    return bool(scores), _agreed(scores, verdicts)


def _agreed(scores: Sequence[float | None], verdicts: set[bool | None]) -> float | None:
    known = {round(score, 9) for score in scores if score is not None}
    if len(known) != 1 or None in scores or len(verdicts) > 1:
        return None
    score = next(score for score in scores if score is not None)
    return None if (True in verdicts and score < _HALF) or (False in verdicts and score > _HALF) else score


def _number(stated: object, scale: float) -> float | None:
    if isinstance(stated, bool):
        return None
    if isinstance(stated, (int, float)):
        return within(float(stated), scale)
    plain = plain_value(folded(str(stated)))
    match = ALONE.match(plain)
    if match is None:
        verdict = word_verdict(plain)
        return None if verdict is None else float(verdict)
    return share(match) if states_fraction(match) or scale <= 1 else within(number_in(match["number"]), scale)


def _scale(members: Mapping[str, object]) -> float:
    for key in _SCALE_KEYS:
        scale = members.get(key)
        if isinstance(scale, (int, float)) and not isinstance(scale, bool) and scale > 0:
            return float(scale)
    return 1.0


def score_in_tables(text: str) -> Iterator[float | None]:
    """The scores of Markdown tables with a column for them.

    Of several rows only an overall one counts. `text` is lower-case, with western digits.
    """
    lines = [line.strip() for line in text.splitlines()]
    for at, (head, rule) in enumerate(pairwise(lines)):
        if "|" not in head or "-" not in rule or not _RULE.fullmatch(rule) or "|" not in rule:
            continue
        rows = [_cells(line) for line in _rows(lines, at + 2)]
        for column, cell in enumerate(_cells(head)):
            header = _HEADER.fullmatch(cell)
            if header and header["noun"].strip() in words("score", "english") | words("score", "nouns"):
                scale = bracket_scale(header["scale"] or "")
                yield from _in_column(rows, column, scale)


def _rows(lines: Sequence[str], start: int) -> Iterator[str]:
    for line in lines[start : start + _LONGEST_TABLE]:
        if "|" not in line:
            return
        yield line


def _in_column(rows: Sequence[Sequence[str]], column: int, scale: float) -> Iterator[float | None]:
    for row in rows:
        is_overall = (
            bool(row)
            and column > 0
            and (row[0] in words("score", "overall") or row[0].startswith(("overall", "total", "final")))
        )
        if column >= len(row) or not (is_overall or len(rows) == 1):
            continue
        match = ALONE.match(row[column])
        if match is not None:
            bare = not (match["percent"] or match["scale"]) and scale > 1
            yield (within(number_in(match["number"]), scale) if bare else share(match))


def _cells(line: str) -> list[str]:
    return [plain_value(cell.strip()) for cell in line.strip("|").split("|")]
