"""An answer as text, whatever a program, a model or another framework gave for one."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from typing import Any, cast


def output_text(output: object) -> str:
    """A string itself, the JSON of what JSON can hold, and else what the object says of itself or its fields.

    Never raises, and reads nothing from a stream. "" where no text is to be had.
    """
    if isinstance(output, str):
        return output
    if _streams(output):
        return ""
    from pydantic import TypeAdapter  # noqa: PLC0415 - light

    with suppress(Exception):  # an object may be anybody's code, and hold anything
        return TypeAdapter[Any](type(output)).dump_json(output).decode()
    with suppress(Exception):
        return _text_of_parts(output)
    return ""


def _text_of_parts(output: object) -> str:
    """What can be told of an answer that JSON can't hold as a whole; bytes in base 64."""
    from pydantic_core import to_json, to_jsonable_python  # noqa: PLC0415 - light

    told = to_jsonable_python(output, fallback=_told, bytes_mode="base64", inf_nan_mode="strings")
    if told is None:
        return ""
    return told if isinstance(told, str) else to_json(told).decode()


def _told(value: object) -> object:
    """What an object says of itself; its fields where that is but its address; `None` where it has none."""
    said = str(value)
    if f"{id(value):x}" not in said:
        return said
    return dict(cast("Mapping[str, object]", getattr(value, "__dict__", {}))) or None


def _streams(value: object) -> bool:
    """Whether a value gives what it holds only once, and has such parts: to write it would be to use it up."""
    if isinstance(value, Mapping):
        return any(map(_streams, cast("Mapping[object, object]", value).values()))
    if isinstance(value, list | tuple):
        return any(map(_streams, cast("list[object]", value)))
    return isinstance(value, Iterator | AsyncIterator)
