"""Logs of a worker, one event a line: what happened when and how long it took, never what was asked, said or learned.

Every record passes through here, those of other libraries too. Of what isn't wisen's own, only the constant parts of
the message are kept: a provider's error may quote the prompt that it refused.
"""

import json
import logging
import re
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from math import isfinite
from operator import attrgetter
from typing import Final, Literal, TextIO, cast, get_args

from wisen import events
from wisen.errors import ConfigError
from wisen.events import Event
from wisen.operations.safe_text import chain, raised_at, source_of, template

Form = Literal["json", "text"]
LEVELS: Final = ("debug", "info", "warning", "error")
NAME: Final = "wisen.worker"
"""The logger of all that is told here."""

_FIELDS = "wisen_fields"
_ERROR: Final = re.compile(r"([A-Z]\w{0,60}(?:Error|Exception|Group)|Interrupted|UnknownPrice)(?::|$)", re.ASCII)
_WORD = 120
"""Longest value of a field: ids, names and places are shorter, and texts mostly aren't."""

Value = str | int | float | bool | None | list[str]
Fields = Mapping[str, Value]

_CONTEXT: ContextVar[Fields] = ContextVar("wisen_log", default={})  # noqa: B039 - is never changed in place


def log(event: str, /, *, level: int = logging.INFO, error: BaseException | None = None, **fields: Value) -> None:
    """Tell of an event, with whatever `log_context` has set for this task of the loop.

    `fields` are ids, names, counts and seconds. Of `error` its type and place are told.
    """
    _log(event, level, error, fields)


def log_context(**fields: Value) -> None:
    """Set what belongs to each further line of this task of the loop and of those that it starts."""
    _CONTEXT.set({**_CONTEXT.get(), **fields})


def event_log(**fields: Value) -> Callable[[Event], None]:
    """A watcher that tells the events of runs, each with its run's id, what `log_context` has set, and `fields`.

    Several runs at once may share it, if each is made in a task of the loop of its own.
    """

    def watch(event: Event) -> None:
        depth = 0
        while isinstance(event, events.WorkerEvent):
            event, depth = event.event, depth + 1
        if isinstance(event, events.RunStarted):
            log_context(run=event.run_id)
        told = _told(event)
        if told is not None:
            level, more = told
            _log(event.name, level, None, {**fields, **({"depth": depth} if depth else {}), **more})

    return watch


def _log(event: str, level: int, error: BaseException | None, fields: Fields) -> None:
    logger = logging.getLogger(NAME)
    if logger.isEnabledFor(level):
        known = {name: value for name, value in {**_CONTEXT.get(), **fields}.items() if value is not None}
        raised = (type(error), error, error.__traceback__) if error is not None else None
        logger.log(level, event, extra={_FIELDS: known}, exc_info=raised)


def set_up_logs(form: Form = "text", level: str = "info", *, stream: TextIO | None = None) -> None:
    """Send all records of this process, of every library, to `stream` (stderr) in this form, and nowhere else.

    For programs, not for libraries: it replaces the handlers that there are. Raises `ConfigError`.
    """
    if form not in get_args(Form):
        raise ConfigError(f"log form {form!r}: must be one of {', '.join(get_args(Form))}")
    if level not in LEVELS:
        raise ConfigError(f"log level {level!r}: must be one of {', '.join(LEVELS)}")
    handler = _QuietHandler(sys.stderr if stream is None else stream, JsonLines() if form == "json" else PlainLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    # Other libraries' chatter is of no use here, and what they say below warnings is for their developers.
    root.setLevel(logging.WARNING)
    logging.getLogger("wisen").setLevel(level.upper())
    for name in list(root.manager.loggerDict):
        one = logging.getLogger(name)
        one.handlers.clear()
        one.propagate = True
    # This library gives its logger a handler of its own unless it has one.
    dbos = logging.getLogger("dbos")
    dbos.handlers[:], dbos.propagate = [handler], False
    logging.captureWarnings(capture=True)
    sys.excepthook = lambda _kind, error, _traceback: log("crashed", level=logging.CRITICAL, error=error)
    threading.excepthook = lambda crash: log("crashed", level=logging.CRITICAL, error=crash.exc_value)
    sys.unraisablehook = lambda crash: log("ignored", level=logging.ERROR, error=crash.exc_value)


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON, in ASCII, without any text that isn't the program's own."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        return self.line(_entry(record))

    def line(self, entry: dict[str, Value]) -> str:
        """An entry as a line."""
        return json.dumps(entry)


class PlainLines(JsonLines):
    """The same for people: `time LEVEL event name=value …`."""

    def line(self, entry: dict[str, Value]) -> str:
        """An entry as a line."""
        head = f"{entry.pop('at')} {str(entry.pop('level')).upper():7} {entry.pop('event')}"
        return " ".join([head, *(f"{name}={_plain(value)}" for name, value in entry.items())])


class _QuietHandler(logging.StreamHandler[TextIO]):
    """Of a record that can't be formatted it tells the place, in the form of all lines.

    The standard library's handler would print it as it is, values and all. A stream that is closed costs the lines, and
    nothing else.
    """

    def __init__(self, stream: TextIO, form: JsonLines) -> None:
        super().__init__(stream)
        self._form = form
        self.setFormatter(form)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            super().flush()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is the standard library's
        try:
            line = self._form.line({**_head(record), "event": "log.unwritten", "source": source_of(record)})
            self.stream.write(f"{line}\n")
        except (OSError, ValueError):
            return


def _head(record: logging.LogRecord) -> dict[str, Value]:
    at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"at": at, "level": record.levelname.lower()}


def _entry(record: logging.LogRecord) -> dict[str, Value]:
    fields = cast("Fields | None", getattr(record, _FIELDS, None))
    entry = _head(record)
    if fields is not None and record.name == NAME:
        entry["event"] = record.msg
        entry.update({name: _short(value) for name, value in fields.items()})
    else:
        said = template(record)
        entry.update({"event": "log", "logger": record.name, "source": source_of(record)})
        entry.update({"says": _short(said)} if said else {})
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        entry.update({"error": chain(error), "raised": raised_at(error)})
    return entry


def _short(value: Value) -> Value:
    if isinstance(value, float):
        return round(value, 6) if isfinite(value) else str(value)  # JSON has no infinity
    return value if not isinstance(value, str) or len(value) <= _WORD else f"{value[: _WORD - 1]}…"


def _plain(value: Value) -> str:
    return json.dumps(value) if not isinstance(value, str) or not value or set(value) & set(' "=\n\t\\') else value


_NOTHING: Final = ""
_USAGE: Final = "requests=usage.requests input_tokens=usage.input_tokens output_tokens=usage.output_tokens"
_TOLD: Final[Mapping[type, tuple[int, str]]] = {
    events.RunStarted: (logging.INFO, "agent architecture model"),
    events.BudgetExhausted: (logging.WARNING, "limit allowed spent"),
    events.AdviceUndelivered: (logging.WARNING, "attempt cards=card_ids"),
    events.ModelCalled: (logging.DEBUG, f"model purpose seconds advised recorded {_USAGE} cost_usd=usage.cost_usd"),
    events.ToolCalled: (logging.DEBUG, _NOTHING),
    events.ToolReturned: (logging.DEBUG, "failed"),
    events.WorkerStarted: (logging.DEBUG, _NOTHING),
    events.WorkerCompleted: (logging.DEBUG, _NOTHING),
    events.Degraded: (logging.WARNING, "stage attempt"),
    events.AttemptStarted: (logging.DEBUG, "attempt"),
    events.LessonsRecalled: (logging.INFO, "attempt shown=n_recalled"),
    events.LessonsBlocked: (logging.WARNING, "attempt"),
    events.Evaluated: (logging.INFO, "attempt score evaluator=evaluation.evaluator verifiable=evaluation.verifiable"),
    events.LessonPersisted: (logging.INFO, "attempt card=card_id kind outcome rules"),
    events.CardMoved: (logging.INFO, "card=card_id before after by"),
    events.TrialAdvanced: (logging.INFO, "card=card_id runs of_about standing"),
    events.MaxAttemptsReached: (logging.INFO, "attempts score=final_score"),
    events.Escalated: (logging.WARNING, "attempts score=final_score"),
    events.Reflected: (logging.DEBUG, "iteration score=evaluation.overall_score"),
    events.Revised: (logging.DEBUG, "iteration strategy edits=edits_applied"),
    events.FailureModeSeen: (logging.WARNING, "mode iteration"),
    events.Converged: (logging.INFO, "reason iterations score"),
}
"""The level of each event that is told, and those of its fields that are no texts, as `name` or `name=path`."""
_RECORD: Final = f"outcome=status score seconds turns {_USAGE} cost_usd=usage.cost_usd"


def _told(event: Event) -> tuple[int, dict[str, Value]] | None:
    """The level and the fields of an event; `None`: nothing to tell."""
    if isinstance(event, events.RunCompleted):
        record = event.record
        counts: dict[str, Value] = {"attempts": len(record.attempts), "degradations": len(record.degradations)}
        return logging.INFO, {**_taken(record, _RECORD), **counts}
    if (found := _TOLD.get(type(event))) is None:
        return None
    level, names = found
    fields = _taken(event, names)
    if isinstance(event, events.Degraded):
        fields["error"] = [_kind(event.error)]
    if isinstance(event, events.LessonsBlocked):
        fields["cards"] = [one.card_id for one in event.blocked]
        fields["rules"] = sorted({rule for one in event.blocked for rule in one.rules})
    return level, fields


def _taken(source: object, names: str) -> dict[str, Value]:
    fields: dict[str, Value] = {}
    for one in names.split():
        name, _, path = one.partition("=")
        value: object = attrgetter(path or name)(source)
        if isinstance(value, tuple):
            fields[name] = [str(part) for part in cast("tuple[object, ...]", value)]
        else:
            fields[name] = value if isinstance(value, int | float | None) else str(value)
    return fields


def _kind(error: str) -> str:
    """The type of an error that an event describes."""
    found = _ERROR.match(error)
    return found[1] if found else "other"
