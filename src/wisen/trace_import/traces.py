"""Files of traces: wisen's own form, written and read, and the common ones of others, mistakes told with their line."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final, Literal, cast

from pydantic import TypeAdapter, ValidationError

from wisen.errors import TracesFileError
from wisen.json_values import encodable
from wisen.reflection.traced import TracedRun
from wisen.tasks.file_parser import Place, WrongPlaceError
from wisen.trace_import.foreign_formats import (
    Record,
    as_list,
    as_record,
    from_attempts,
    from_messages,
    from_steps,
    looks_like_messages,
)
from wisen.trace_import.spans import runs_of_spans, spans_in
from wisen.trace_import.trajectories import from_trajectory, is_trajectory, trajectory_to_json

Form = Literal["auto", "wisen", "messages", "steps", "attempts", "spans", "atif"]
FORMS: Final[tuple[Form, ...]] = ("auto", "wisen", "messages", "steps", "attempts", "spans", "atif")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """One value of a file."""

    value: object
    line: int
    place: Place = ()


def trace_to_json(run: TracedRun) -> str:
    """A run as one line of a file of traces. The task's reference and metadata aren't part of it.

    What JSON can't hold is written as text.
    """
    task = None if run.task is None else replace(run.task, reference=None, metadata={})
    own = replace(run, task=task, source="")
    return _runs().dump_json(own, fallback=_plain, warnings=False, exclude_defaults=True).decode()


def write_traces(path: str | Path, runs: Iterable[TracedRun], *, form: Literal["wisen", "atif"] = "wisen") -> None:
    """Add runs to the end of a file, one a line; the file is made where there is none."""
    written = trajectory_to_json if form == "atif" else trace_to_json
    with Path(path).open("a", encoding="utf-8", errors="replace") as file:
        file.writelines(f"{written(run)}\n" for run in runs)


def read_traces(path: str | Path, *, form: Form = "auto", trusted: bool = False) -> list[TracedRun]:
    """The runs in a file, in order; see `traces_in`. Raises `TracesFileError`."""
    name = str(path)
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise TracesFileError(name, "no such file") from None
    except OSError as error:
        raise TracesFileError(name, f"can't be read: {error.strerror}") from None
    return traces_in(data, name=name, form=form, trusted=trusted)


def traces_in(data: bytes, *, name: str, form: Form = "auto", trusted: bool = False) -> list[TracedRun]:
    """The runs in what a file holds: one JSON object a line, or a JSON list of them.

    Args:
        data: UTF-8.
        name: The file's name, for errors and, with the line, for the runs' `source`.
        form: "wisen": what `trace_to_json` writes, or a `Trace` alone. "messages": a chat with tool calls, as OpenAI's
            and Anthropic's interfaces have it, under `messages` or `traj`, or as a bare list. "steps": `task`
            and `steps` with `thought`, `action`, `action_input`, `observation`, `error`, `reward`. "attempts": `prompt`
            or `task_id`, `implementations`, `test_feedback`, `reflections`, `solution`, `is_solved`. "spans":
            OpenTelemetry's spans of generative AI. "atif": a trajectory of Harbor's format. "auto" tells them apart,
            record by record.
        trusted: Whether a record in another form than wisen's own may name its tenant, and say that an exact check
            gave its outcome. Without it there is no tenant, and the outcome is an opinion.

    Raises:
        TracesFileError: The first mistake, with file, line and field.
    """
    runs: list[TracedRun] = []
    spans: list[Record] = []
    line = 1
    try:
        for found in _values(_text(data)):
            line = found.line
            kind, record = _kind(found, form)
            if kind == "spans":
                spans += spans_in(record, found.place)
                continue
            try:
                run = replace(_READERS[kind](record), source=f"{name}:{line}")
                runs.append(run if kind == "wisen" else received(run, trusted=trusted))
            except WrongPlaceError as wrong:
                raise WrongPlaceError((*found.place, *wrong.place), wrong.problem) from wrong.__cause__
        runs += [received(replace(run, source=name), trusted=trusted) for run in runs_of_spans(spans)]
    except WrongPlaceError as wrong:
        field = ".".join(f"[{part + 1}]" if isinstance(part, int) else part for part in wrong.place).replace(".[", "[")
        raise TracesFileError(name, wrong.problem, line=wrong.line or line, field=field or None) from wrong.__cause__
    except RecursionError:
        raise TracesFileError(name, "is nested too deeply", line=line) from None
    if not runs:
        raise TracesFileError(name, "holds no traces")
    return runs


def received(run: TracedRun, *, trusted: bool) -> TracedRun:
    """A run that another program recorded, as far as its record's own word counts."""
    run = replace(run, foreign=True)
    if trusted:
        return run
    outcome = None if run.outcome is None else replace(run.outcome, verifiable=False)
    return replace(run, task=replace(run.asked, tenant=""), outcome=outcome)


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = f"isn't UTF-8 text (byte {data[error.start]:#04x}); save it as UTF-8"
        raise WrongPlaceError((), problem, line=data.count(b"\n", 0, error.start) + 1) from None


def _values(text: str) -> Iterator[_Found]:
    """The values of the file: its lines, or the items of the one list that it is."""
    # Only a line feed ends a line: JSON strings may hold the other characters that `splitlines` breaks at.
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        return
    if len(lines) == 1 or _whole(lines[0][1]):
        for number, line in lines:
            value: object = _json(line, number)
            items = as_list(value) if len(lines) == 1 and not looks_like_messages(value) else []
            for index, item in enumerate(items):
                yield _Found(value=item, line=number, place=(index,))
            if not items and value != []:
                yield _Found(value=value, line=number)
    elif text.lstrip()[0] == "[":
        yield from _items(text)
    else:
        yield _Found(value=_json(text, 1), line=lines[0][0])


def _items(text: str) -> Iterator[_Found]:
    """The items of a list that is written over several lines."""
    whole = _json(text, 1)
    if looks_like_messages(whole):
        yield _Found(value=whole, line=1)
        return
    decoder = json.JSONDecoder()
    at = text.index("[") + 1
    for index, value in enumerate(as_list(whole)):
        while text[at].isspace() or text[at] == ",":
            at += 1
        begin = at
        _, at = decoder.raw_decode(text, at)
        yield _Found(value=value, line=text.count("\n", 0, begin) + 1, place=(index,))


def _whole(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        # A first line of an object that is cut off is an error of this line; "[" and "{" alone begin a document.
        return len(line.strip()) > 1
    return True


def _json(text: str, line: int) -> object:
    try:
        value: object = json.loads(text)
        # Half a surrogate pair can be written in JSON, and can't be kept or sent.
        return _encodable(value) if "\\ud" in text.lower() else value
    except json.JSONDecodeError as error:
        problem = f"isn't valid JSON: {error.msg} (column {error.colno})"
        raise WrongPlaceError((), problem, line=line + error.lineno - 1) from None
    except ValueError:
        raise WrongPlaceError((), "isn't valid JSON: a number is too long", line=line) from None


def _encodable(value: object) -> object:
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {encodable(name): _encodable(item) for name, item in cast("dict[str, object]", value).items()}
    items = as_list(value)
    return [_encodable(item) for item in items] if items else value


def _kind(found: _Found, form: Form) -> tuple[str, Record]:
    value = found.value
    if looks_like_messages(value):
        value = {"messages": value}
    if not isinstance(value, dict):
        kind = "a list" if isinstance(value, list) else "a text" if isinstance(value, str) else "none"
        raise WrongPlaceError(found.place, f"must be a JSON object, and is {kind}")
    record = cast("Record", value)
    return (form_of(record, found.place) if form == "auto" else form), record


def form_of(record: Record, place: Place = ()) -> str:
    """Which form a record has; the first that fits. Raises `WrongPlaceError`."""
    first = as_record((as_list(record.get("events")) or [None])[0])
    if isinstance(record.get("trace"), dict) or all(name in record for name in ("trace_id", "purpose", "events")):
        return "wisen"
    if is_trajectory(record):
        return "atif"
    if any(name in record for name in ("resourceSpans", "spans", "span_id", "spanId", "context")):
        return "spans"
    if any(looks_like_messages(record.get(name)) for name in ("messages", "traj", "trajectory", "conversation")):
        return "messages"
    if isinstance(record.get("implementations"), list) or ("solution" in record and "is_solved" in record):
        return "attempts"
    if first or any(isinstance(record.get(name), list) for name in ("steps", "trajectory", "history")):
        return "steps"
    has = ", ".join(map(repr, list(record)[:6])) or "nothing"
    wanted = "messages or traj, steps, implementations, or a trace"
    raise WrongPlaceError(place, f"has {has}, and none of what a trace is told by ({wanted}); --form names its form")


def _own(record: Record) -> TracedRun:
    whole = record if isinstance(record.get("trace"), dict) else {"trace": record}
    try:
        return _runs().validate_json(json.dumps(whole))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        wrong = first["loc"] if whole is record else first["loc"][1:]
        raise WrongPlaceError(wrong, f"can't be used: {first['msg']}") from None


@cache
def _runs() -> TypeAdapter[TracedRun]:
    return TypeAdapter(TracedRun)


def _plain(value: object) -> object:
    return dict(cast("Record", value)) if isinstance(value, Mapping) else str(value)


_READERS: Final[dict[str, Callable[[Record], TracedRun]]] = {
    "wisen": _own,
    "messages": from_messages,
    "steps": from_steps,
    "attempts": from_attempts,
    "atif": from_trajectory,
}
