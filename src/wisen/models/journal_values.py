"""What the steps of a journal keep: values of the package's own types, as JSON.

It stands apart from `journaled` because it needs no pydantic-ai.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter

_Value = TypeVar("_Value")


def written(value: object, kind: Any) -> bytes | None:  # noqa: ANN401 - a type form
    """A value of this type as JSON; `None` for one that can't be written."""
    try:
        return _form(kind).dump_json(value, fallback=_plain, warnings=False)
    except (ValueError, TypeError):
        return None


def read_as(kind: type[_Value], kept: bytes) -> _Value:
    """The value of this type that was written so. Raises `ValueError` for anything else."""
    return _form(kind).validate_json(kept)


@cache
def _form(kind: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - as above
    return TypeAdapter(kind)


def _plain(value: object) -> dict[str, object]:
    # pydantic doesn't know the mappings of others, that a record may hold.
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))
    raise ValueError(f"can't be kept: {type(value).__name__}")
