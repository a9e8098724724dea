"""Reads tasks files, the input of `wisen run`; every mistake is reported with file, line and field."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, cast

from wisen.errors import ConfigError, TasksFileError
from wisen.records import Task
from wisen.tasks.file_parser import Lines, Place, WrongPlaceError, read_jsonl, read_toml, read_yaml


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorSpec:
    """An evaluator as a file names it; `wisen.evaluation.build.build_evaluator` makes the evaluator of it."""

    kind: str
    options: Mapping[str, object] = field(default_factory=dict[str, object])
    """Everything else in the evaluator's table, unchecked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEntry:
    """One task of a tasks file."""

    task: Task
    evaluator: EvaluatorSpec | None
    line: int
    """Where the task begins, from 1."""


def load_tasks(path: str | Path, *, check: Callable[[EvaluatorSpec], object] | None = None) -> list[TaskEntry]:
    """Read a tasks file; the ending says its form.

    - `.toml`: a `[[tasks]]` table for each task, and perhaps `[defaults]` with fields for all of them
    - `.yaml`, `.yml`: the same as a mapping with `tasks` and `defaults`, or just a list of tasks
    - `.jsonl`, `.ndjson`: one task as a JSON object on each line

    Fields of a task: `prompt` (required), `id`, `type`, `tenant`, `owner`, `reference` (strings), `tools`, `choices`
    (lists of strings), `metadata` (a table) and `evaluator`. An evaluator is a kind, a table with `kind` and the
    evaluator's options, or a list of these that must all pass. The list means the kind "all_of", with the tables as its
    option `evaluators`.

    Args:
        path: The file, in UTF-8. It is read at once: call this before the event loop is busy.
        check: Called with each evaluator; a `ConfigError` from it is reported with its place in the file.

    Raises:
        TasksFileError: The first mistake, with file, line and field.
    """
    lines: dict[Place, int] = {}
    try:
        root = _form(Path(path))(_text(Path(path)), lines)
        return _entries(root, lines, check)
    except WrongPlaceError as wrong:
        line = _line(lines, wrong.place) if wrong.line is None else wrong.line
        raise TasksFileError(str(path), wrong.problem, line=line, field=_field(wrong.place)) from wrong.__cause__
    except RecursionError as error:
        raise TasksFileError(str(path), "is nested too deeply") from error


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise WrongPlaceError((), "no such file") from error
    except OSError as error:
        raise WrongPlaceError((), f"can't be read: {error.strerror}") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = f"isn't UTF-8 text (byte {data[error.start]:#04x}); save it as UTF-8"
        raise WrongPlaceError((), problem, line=data.count(b"\n", 0, error.start) + 1) from error


def _form(path: Path) -> Callable[[str, dict[Place, int]], object]:
    forms = {".toml": read_toml, ".yaml": read_yaml, ".yml": read_yaml, ".jsonl": read_jsonl, ".ndjson": read_jsonl}
    try:
        return forms[path.suffix.lower()]
    except KeyError:
        raise WrongPlaceError(
            (), f"its ending {path.suffix!r} says no known form; use .toml, .yaml or .jsonl"
        ) from None


def _entries(root: object, lines: Lines, check: Callable[[EvaluatorSpec], object] | None) -> list[TaskEntry]:
    if not isinstance(root, dict):
        raise WrongPlaceError((), f"must be a list of tasks, or a table with `tasks`, not {_kind(root)}", line=1)
    top = cast("dict[object, object]", root)
    _known(top, ("tasks", "defaults"), ())
    tasks = _list(top.get("tasks", []), ("tasks",), "tables")
    if not tasks:
        raise WrongPlaceError((), "holds no tasks")
    shared = tuple(name for name in _FIELDS if name not in _OWN)
    defaults = _fields(top.get("defaults", {}), ("defaults",), shared, check)
    entries: list[TaskEntry] = []
    first: dict[str, int] = {}
    for number, item in enumerate(tasks):
        place: Place = ("tasks", number)
        own = _fields(item, place, tuple(_FIELDS), check)
        entry = _entry({**defaults, **own}, place, _line(lines, place) or 1)
        if entry.task.id in first:
            problem = f"{entry.task.id!r} is also the id of the task on line {first[entry.task.id]}"
            raise WrongPlaceError((*place, "id"), problem)
        if entry.task.id:
            first[entry.task.id] = entry.line
        entries.append(entry)
    return entries


def _entry(values: dict[str, object], place: Place, line: int) -> TaskEntry:
    if "prompt" not in values:
        raise WrongPlaceError((*place, "prompt"), "is missing")
    evaluator = cast("EvaluatorSpec | None", values.pop("evaluator", None))
    return TaskEntry(task=Task(**cast("dict[str, Any]", values)), evaluator=evaluator, line=line)


def _fields(
    item: object, place: Place, allowed: tuple[str, ...], check: Callable[[EvaluatorSpec], object] | None
) -> dict[str, object]:
    if not isinstance(item, dict):
        raise WrongPlaceError(place, f"must be a table, not {_kind(item)}")
    table = cast("dict[object, object]", item)
    _known(table, allowed, place)
    fields = {str(key): _FIELDS[str(key)](value, (*place, str(key))) for key, value in table.items()}
    if check is not None and "evaluator" in fields:
        try:
            check(cast("EvaluatorSpec", fields["evaluator"]))
        except ConfigError as error:
            raise WrongPlaceError((*place, "evaluator"), str(error)) from error
    return fields


def _known(table: Mapping[object, object], allowed: tuple[str, ...], place: Place) -> None:
    for key in table:
        if key not in allowed:
            close = get_close_matches(str(key), allowed, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"the fields are {', '.join(allowed)}"
            raise WrongPlaceError((*place, str(key)), f"is unknown here; {hint}")


def _string(value: object, place: Place) -> str:
    if not isinstance(value, str):
        kind = _kind(value)
        quotes = "; put it in quotes" if isinstance(value, bool | int | float | date | time) else ""
        raise WrongPlaceError(place, f"must be a string, not {kind}{quotes}")
    return value


def _filled(value: object, place: Place) -> str:
    text = _string(value, place)
    if not text.strip():
        raise WrongPlaceError(place, "must not be empty")
    return text


def _strings(value: object, place: Place) -> tuple[str, ...]:
    return tuple(_filled(item, (*place, number)) for number, item in enumerate(_list(value, place, "strings")))


def _list(value: object, place: Place, of: str) -> list[object]:
    if not isinstance(value, list):
        raise WrongPlaceError(place, f"must be a list of {of}, not {_kind(value)}")
    return cast("list[object]", value)


def _metadata(value: object, place: Place) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise WrongPlaceError(place, f"must be a table, not {_kind(value)}")
    table = cast("dict[str, object]", value)
    _check_plain(table, place, [_MOST_VALUES])
    return table


def _evaluator(value: object, place: Place) -> EvaluatorSpec:
    if isinstance(value, list):
        items = cast("list[object]", value)
        specs = [_evaluator(item, (*place, number)) for number, item in enumerate(items)]
        if not specs:
            raise WrongPlaceError(place, "must name at least one evaluator")
        return EvaluatorSpec(
            kind="all_of", options={"evaluators": [{"kind": one.kind, **one.options} for one in specs]}
        )
    if isinstance(value, str):
        return EvaluatorSpec(kind=_filled(value, place))
    options = dict(_metadata(value, place))
    if "kind" not in options:
        raise WrongPlaceError((*place, "kind"), "is missing")
    return EvaluatorSpec(kind=_filled(options.pop("kind"), (*place, "kind")), options=options)


_FIELDS: Final[dict[str, Callable[[object, Place], object]]] = {
    "prompt": _filled,
    "id": _filled,
    "type": _string,
    "tools": _strings,
    "tenant": _string,
    "owner": _string,
    "choices": _strings,
    "reference": _string,
    "evaluator": _evaluator,
    "metadata": _metadata,
}
_OWN: Final = ("prompt", "id")
"""The fields for which a default would make no sense."""

_MOST_VALUES: Final = 100_000
_DEEPEST: Final = 40


def _check_plain(value: object, place: Place, left: list[int]) -> None:
    """Refuse what JSON can't hold, and what aliases have blown up; `left` counts down the values still allowed."""
    left[0] -= 1
    if left[0] < 0 or len(place) > _DEEPEST:
        raise WrongPlaceError(place[:3], "holds too much, or refers to itself")
    if isinstance(value, dict):
        for key, item in cast("dict[object, object]", value).items():
            if not isinstance(key, str):
                raise WrongPlaceError(place, f"has {_kind(key)} for a key; put it in quotes")
            _check_plain(item, (*place, key), left)
    elif isinstance(value, list):
        for number, item in enumerate(cast("list[object]", value)):
            _check_plain(item, (*place, number), left)
    elif not (value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))):
        raise WrongPlaceError(place, f"must be a string, number, list or table, not {_kind(value)}")


def _kind(value: object) -> str:
    names: dict[type, str] = {
        bool: "true or false", int: "a number", float: "a number", str: "a string", list: "a list", dict: "a table",
        type(None): "nothing", date: "a date", datetime: "a date", time: "a time",
    }  # fmt: skip
    if isinstance(value, float) and not math.isfinite(value):
        return "a number that isn't finite"
    return names.get(type(value), "a value of another type")


def _line(lines: Lines, place: Place) -> int | None:
    while place and place not in lines:
        place = place[:-1]
    return lines.get(place)


def _field(place: Place) -> str | None:
    """The place as a user would write it: within the task, indexes from 1."""
    within = place[2:] if place[:1] == ("tasks",) and len(place) > 1 else place
    return re.sub(r"\.\[", "[", ".".join(f"[{part + 1}]" if isinstance(part, int) else part for part in within)) or None
