"""Fits a review in JSON to the schema that was asked for: its keys, numbers and lists as models write them.

It stands apart because the review is read so whether JSON or lines were asked for.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from wisen.replies.reply_words import folded
from wisen.replies.structured_scores import stated_score

_NAME_KEYS = ("name", "criterion", "criteria")


def label(text: str) -> str:
    """A criterion's name as names are compared."""
    return " ".join(folded(text).replace("_", " ").split()).removesuffix(" score")


def fitted(answer: object, names: Sequence[str]) -> object:
    """The answer with scores as numbers under the criteria's own names, and remarks as lists of texts.

    Keys count in any case, scores also without "scores" around them, "7/10" and "90%" as the numbers they are. What
    can't be read is left, so that it is refused.
    """
    members = _agreeing(_members(answer))
    if not members:
        return answer
    stated = _agreeing(_members(members["scores"])) if "scores" in members else members
    wanted = {label(name): name for name in names}
    made: dict[str, object] = {"scores": {wanted[key]: _number(stated[key]) for key in wanted if key in stated}}
    for key in ("issues", "suggestions"):
        if (said := members.get(key)) is not None:
            made[key] = list(_texts(said))
    confidence = _number(members.get("confidence"))
    if isinstance(confidence, int | float):
        made["confidence"] = confidence
    return made


def _agreeing(members: Iterable[tuple[str, object]]) -> dict[str, object]:
    """The members by key; `None` under a key that comes with several values."""
    made: dict[str, object] = {}
    for key, value in members:
        made[key] = value if made.get(key, value) == value else None
    return made


def _members(answer: object) -> Iterator[tuple[str, object]]:
    """The members of an object, or of a list of objects, of which each may name its criterion."""
    for each in cast("list[object]", answer) if isinstance(answer, list) else [answer]:
        if not isinstance(each, Mapping):
            continue
        members = [(label(str(key)), value) for key, value in cast("Mapping[object, object]", each).items()]
        name = next((value for key, value in members if key in _NAME_KEYS and isinstance(value, str)), None)
        if isinstance(answer, list) and isinstance(name, str):
            yield label(name), cast("object", each)
        else:
            yield from members


def _number(stated: object) -> object:
    if isinstance(stated, int | float):
        return stated
    score = stated_score(stated)
    return stated if score is None else score


def _texts(said: object) -> Iterator[str]:
    several = cast("Iterable[object]", said) if isinstance(said, list) else [said]
    for each in several:
        if isinstance(each, str):
            yield each
        elif isinstance(each, Mapping):
            yield ": ".join(text for text in cast("Mapping[str, object]", each).values() if isinstance(text, str))
