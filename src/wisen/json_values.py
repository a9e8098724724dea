"""What JSON can hold and gives back as it was: texts, finite numbers, true and false, nothing, lists and mappings."""

import math
from collections.abc import Mapping
from numbers import Real
from typing import NoReturn, TypeVar, cast

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

_DEEPEST = 100
_LONGEST = 60


class ReadOnly(dict[_Key, _Value]):
    """A dict that refuses changes, for the fields of frozen records: it can be pickled, copied and written as JSON."""

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("this mapping is part of a record, which doesn't change; make a dict of it first")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse  # pyright: ignore[reportAssignmentType] - whatever is given is refused

    def __reduce__(self) -> tuple[type["ReadOnly[_Key, _Value]"], tuple[dict[_Key, _Value]]]:
        """Copies are made whole, since nothing can be put into them."""
        return type(self), (dict(self),)


def text_problem(value: object) -> str:
    """Why a value isn't a text that can be kept and sent; "" for one that is."""
    if not isinstance(value, str):
        return f"must be a text, not {kind_of(value)}"
    try:
        value.encode()
    except UnicodeEncodeError:
        return "holds half of a surrogate pair, which can't be kept or sent"
    return ""


def share_problem(value: object) -> str:
    """Why a value is no share of 1, such as a score; "" for one that is."""
    if not isinstance(value, Real):
        return f"must be a number in [0, 1], not {kind_of(value)}"
    return "" if 0.0 <= float(value) <= 1.0 else "must be in [0, 1]"


def encodable(text: str) -> str:
    """The text with lone surrogates, which no file can keep, replaced by question marks."""
    return text.encode(errors="replace").decode()


def plain_problem(value: object) -> str:
    """Why JSON can't hold a value, with the place in it; "" where it can."""
    return _problem(value, "", 0)


def _problem(value: object, place: str, depth: int) -> str:
    if depth > _DEEPEST:
        return "is nested too deeply, or refers to itself"
    items: Mapping[object, object] = {}
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value)
    elif isinstance(value, list | tuple):
        items = dict(enumerate(cast("list[object]", value)))
    elif said := _scalar_problem(value):
        return f"{place} {said}".lstrip()
    for key, item in items.items():
        if isinstance(value, Mapping) and (said := text_problem(key)):
            return f"{place} the key {shortened(key)} {said}".lstrip()
        if said := _problem(item, f"{place}[{shortened(key)}]", depth + 1):
            return said
    return ""


def shortened(value: object) -> str:
    """A value in one short line."""
    try:
        said = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001 - a user's value, which is about to be refused anyway
        return "…"
    return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"


def kind_of(value: object) -> str:
    """The type of a value, as Python names it."""
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _scalar_problem(value: object) -> str:
    if isinstance(value, str):
        return text_problem(value)
    if value is None or isinstance(value, int):
        return ""
    if isinstance(value, float):
        return "" if math.isfinite(value) else f"is {value!r}, and JSON has finite numbers only"
    hint = "; pass value.tolist()" if hasattr(value, "tolist") else ""
    return f"is of type {kind_of(value)}, which JSON can't hold{hint}"
