"""What makes two texts the same, two wordings of one idea, or rivals."""

import re
from typing import Literal

from wisen.claims.form import same_form as same_form  # noqa: PLC0414 - part of this module's interface

Relation = Literal["same", "idea", "rivals", "other"]


def content_key(text: str) -> str:
    """Equal for texts whose hard content agrees; "" for a text without any."""
    return " ".join(sorted(set(re.findall(r"\S*\d\S*", same_form(text)))))


def relation(one: str, other: str, *, cosine: float | None = None, same_meaning: float | None = None) -> Relation:
    """How two texts stand to each other."""
    if same_form(one) == same_form(other):
        return "same"
    words, others = set(same_form(one).split()), set(same_form(other).split())
    alike = len(words & others) >= 0.6 * max(1, min(len(words), len(others)))
    agree = content_key(one) == content_key(other)
    if alike:
        return "rivals"
    if agree and cosine is not None and same_meaning is not None and cosine >= same_meaning:
        return "idea"
    return "other"
