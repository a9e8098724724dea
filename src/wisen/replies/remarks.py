"""Reads what a judge says beside its score: one remark a line, or the texts of its JSON.

It stands apart from `score` because it reads prose, which decides nothing.
"""

from collections.abc import Mapping
from typing import cast

from wisen.replies.answer import answer_in
from wisen.replies.asked_line import is_asked_line
from wisen.replies.lines import lines_of
from wisen.replies.numbers import western
from wisen.replies.reply_words import folded
from wisen.replies.score import score_in
from wisen.replies.structured_scores import json_in
from wisen.replies.verdict import word_verdict

_MOST = 20
_SCORE_LINE_CHARACTERS = 40


def remarks_in(reply: str) -> tuple[str, ...]:
    """The remarks of a reply, without thoughts, markup and the line that states the score; 20 at most."""
    answer = answer_in(reply)
    if len(answer) <= _SCORE_LINE_CHARACTERS and "\n" not in answer:
        return ()  # nothing but the score
    parsed = json_in(answer)
    if isinstance(parsed, Mapping):
        return tuple(_texts(cast("Mapping[str, object]", parsed)))[:_MOST]
    lines = (line.strip().lstrip("-*•> ").strip() for line in answer.splitlines())
    said = [line for line in lines if line and not line.startswith("```")]
    short = [line for line in said if len(line) <= _SCORE_LINE_CHARACTERS]
    asked = {line for line in short if _has_asked_form(line)}
    stating = asked or {line for line in short if score_in(line) is not None}
    return tuple(line for line in said if line not in stating)[:_MOST]


def _has_asked_form(line: str) -> bool:
    """Whether a line is the one that was asked for, or a verdict, and says no more."""
    return any(is_asked_line(each) for each in lines_of(folded(western(line)))) or word_verdict(line) is not None


def _texts(parsed: Mapping[str, object]) -> list[str]:
    texts: list[str] = []
    for key, value in parsed.items():
        several = cast("list[object]", value) if isinstance(value, list) else [value]
        texts += [text for text in several if isinstance(text, str) and text and "score" not in key]
    return texts
