"""Reads a review that was written in lines: a score under each name, problems, and how sure the reviewer is.

It stands apart because it reads prose, and `criteria_reply` asks for it and makes a review of it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from wisen.evaluation.criteria_json import label
from wisen.replies.lines import ALONE, plain_value
from wisen.replies.numbers import western
from wisen.replies.reply_words import any_of, folded
from wisen.replies.score import score_in
from wisen.replies.verdict import word_verdict

CONFIDENCE = "confidence"

_MARKUP = " \t-*•>#|`"
_AROUND = " \t*|`"
_LIST_MARK = re.compile(r"\(?\d{1,2}[.)]\s{1,3}")
_HEAD = re.compile(r"(?P<kind>issue|suggestion)s?(?:\s\d{1,2})?\s{0,2}(?::|$)\s{0,3}(?P<rest>.*)")
_BEGINS = re.compile(r"[<\[({\"'~≈\s]{0,4}(?:about\s|approximately\s)?(?:[-+]?[.,]?\d|[★⭐])")
_OWN_LABEL = re.compile(r"score\s{0,2}[:=]\s{0,3}")
"""What stands before a score whose name is the heading above it."""
_REMARK = re.compile(r"\s[-\u2013\u2014]\s|[(;]|\s\|")


@dataclass(slots=True)
class WrittenReview:
    """What the lines said."""

    scores: dict[str, float | None] = field(default_factory=dict[str, float | None])
    """By `label`; `None` where a name has several that differ, or one outside [0, 1]."""
    remarks: dict[str, list[str]] = field(default_factory=lambda: {"issue": [], "suggestion": []})


def read_lines(text: str, names: Sequence[str]) -> WrittenReview:
    """Read "clarity: 0.7", also as "1. Clarity (0-10) = 7", in tables and below a heading.

    A line with a criterion's name and no score is an issue in a list of issues, and behind the criterion's score.
    """
    wanted = _named((*names, CONFIDENCE))
    read = WrittenReview()
    section = heading = ""
    is_list = False
    for line in filter(str.strip, text.splitlines()):
        bare = _LIST_MARK.sub("", line.lstrip(_MARKUP), count=1).lstrip(_MARKUP).rstrip(_AROUND)
        plain = _plain(bare)
        value = _OWN_LABEL.sub("", plain)
        if heading and ALONE.match(plain_value(value)):
            plain = f"{heading}: {value}"
        heading = plain.rstrip(" :") if wanted["alone"].match(plain) else ""
        head = _HEAD.match(plain)
        if head:
            section, is_list = head["kind"], not head["rest"]
            read.remarks[section].append(bare.replace("\uff1a", ":", 1).partition(":")[2])
            continue
        scores = list(_scores(plain, wanted, strict=bool(section) and is_list))
        for name, score in scores:
            read.scores[name] = score if read.scores.get(name, score) == score else None
        if scores:
            section = ""
        elif section or ((named := wanted["valued"].match(plain)) and named["name"] in read.scores):
            read.remarks[section or "issue"].append(bare)
    return read


def _plain(text: str) -> str:
    return " ".join(western(folded(text)).replace("*", "").replace("_", " ").split())


def _named(names: Sequence[str]) -> dict[str, re.Pattern[str]]:
    known = rf"(?P<name>{any_of(_plain(label(name)) for name in names)})(?:\sscore)?"
    bracket = r"(?:\s?[(\[](?P<bracket>[^()\[\]]{0,40})[)\]])?"
    joined = rf"{known}{bracket}\s{{0,3}}(?:[:=|]|[-\u2013\u2014](?=\s)|is\b:?)\s{{0,3}}"
    bare = known.replace("?P<name>", "?:")
    return {
        "alone": re.compile(rf"{known}\s?:?$"),
        "valued": re.compile(rf"{joined}(?P<value>.*)"),
        "parts": re.compile(rf"[,;|]\s{{0,3}}(?={bare}\s{{0,3}}[:=])"),
    }


def _scores(line: str, wanted: dict[str, re.Pattern[str]], *, strict: bool) -> Iterator[tuple[str, float | None]]:
    """The scores of a line; in a list of problems, only of one that is nothing but a score."""
    for part in wanted["parts"].split(line):
        named = wanted["valued"].match(part)
        if named is None:
            continue
        value = named["value"].strip(_AROUND)
        first = _REMARK.split(value)[0]
        is_number = ALONE.match(plain_value(f"score: {first}").removeprefix("score: ").strip()) is not None
        begins = _BEGINS.match(value) or word_verdict(first) is not None
        if not is_number and (strict or not begins):
            continue
        scale = f" ({named['bracket']})" if named["bracket"] else ""
        score = score_in(f"score{scale}: {value.partition('|')[0].strip()}")
        if score is not None or is_number:
            yield named["name"], score
