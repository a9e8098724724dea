"""How values cross the pipe between tests and code: as data, and never as objects that the other side made.

A message is a frame: eight bytes of length, then JSON. A value in it is `null`, a bool, a text, or a list whose first
item says what the rest is. Containers that can be changed are numbered entries of a table, so that two names for one
list stay two names for one list, and what a call does to its arguments comes back.
"""

import builtins
import datetime as dt
import json
import os
import struct
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

MAX_FRAME = 64 << 20
_LENGTH = struct.Struct(">Q")
_PART = struct.Struct(">BQ")
_TEXTUAL: dict[type, tuple[str, Callable[[Any], str], Callable[[str], Any]]] = {
    int: ("int", hex, lambda text: int(text, 16)),
    float: ("float", float.hex, float.fromhex),
    bytes: ("bytes", bytes.hex, bytes.fromhex),
    Decimal: ("decimal", str, Decimal),
    Fraction: ("fraction", str, Fraction),
    dt.datetime: ("datetime", dt.datetime.isoformat, dt.datetime.fromisoformat),
    dt.date: ("date", dt.date.isoformat, dt.date.fromisoformat),
    dt.time: ("time", dt.time.isoformat, dt.time.fromisoformat),
}
_READ = {name: read for name, _, read in _TEXTUAL.values()}
_GROUPS: dict[type, tuple[str, Callable[[Any], Iterable[Any]], Callable[[Iterable[Any]], Any]]] = {
    tuple: ("tuple", tuple, tuple),
    frozenset: ("frozenset", tuple, frozenset),
    complex: ("complex", lambda value: (value.real, value.imag), lambda parts: complex(*parts)),
    range: ("range", lambda value: (value.start, value.stop, value.step), lambda parts: range(*parts)),
    dt.timedelta: (
        "timedelta",
        lambda value: (value.days, value.seconds, value.microseconds),
        lambda parts: dt.timedelta(*parts),
    ),
}
_BUILD = {name: build for name, _, build in _GROUPS.values()}
_CONTAINERS: dict[type, str] = {
    list: "list", set: "set", dict: "dict", bytearray: "bytearray", deque: "deque", Counter: "counter",
    OrderedDict: "ordered",
}  # fmt: skip
_MAPPINGS = ("dict", "counter", "ordered")
_MAKE: dict[str, Callable[[], Any]] = {name: kind for kind, name in _CONTAINERS.items()}
_SHARED: dict[object, str] = {
    thing: name
    for name, thing in vars(builtins).items()
    if name in (
        "int", "float", "complex", "str", "bytes", "bool", "list", "tuple", "dict", "set", "frozenset", "object", "len",
        "sum", "min", "max", "abs", "sorted", "reversed", "any", "all", "range", "round", "ord", "chr", "repr", "pow",
    )
}  # fmt: skip
"""Builtins that go by their name: each side takes its own."""
_BY_NAME = {name: thing for thing, name in _SHARED.items()}


class WireError(Exception):
    """A message that isn't one, or a value that can't be one."""


class Pipe:
    """Frames over two pipes. Raises `EOFError` where the other side is gone, and `WireError` on what is no frame."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading = reading
        self._writing = writing
        self._read, self._write, self._loads, self._dumps = os.read, os.write, json.loads, json.dumps

    def send(self, message: object) -> None:
        """Write one frame."""
        data = self._dumps(message).encode()
        try:
            _write_all(self._write, self._writing, _LENGTH.pack(len(data)) + data)
        except BrokenPipeError as error:
            raise EOFError from error

    def receive(self) -> Any:
        """Read one frame."""
        (length,) = _LENGTH.unpack(self._exactly(_LENGTH.size))
        if length > MAX_FRAME:
            raise WireError("a message is too long")
        try:
            return self._loads(self._exactly(length))
        except (ValueError, RecursionError) as error:
            raise WireError("a message isn't JSON") from error

    def _exactly(self, length: int) -> bytes:
        return _read_all(self._read, self._reading, length)


class EndedError(EOFError):
    """The process that a relay stands for has ended."""


class Relay:
    """Stands between the tests and one process after the other, and alone says when each begins and ends.

    Each process has pipes of its own, so nothing that it leaves in them reaches the next. What passes here is a part: a
    letter, eight bytes of length, and bytes that are only handed on. `BEGIN` and `END` have none. The tests' side says
    `END` to have the process ended, and hears it when the process has ended for whatever reason.
    """

    BEGIN, DATA, END = b"bde"

    def __init__(self, reading: int, writing: int) -> None:
        self.reading = reading
        self._writing = writing

    def send(self, letter: int, data: bytes = b"") -> None:
        """Write one part. Raises `EOFError` where the other side is gone."""
        try:
            _write_all(os.write, self._writing, _PART.pack(letter, len(data)) + data)
        except BrokenPipeError as error:
            raise EOFError from error

    def receive(self) -> tuple[int, bytes]:
        """Read one part. Raises `EOFError` where the other side is gone."""
        letter, length = _PART.unpack(_read_all(os.read, self.reading, _PART.size))
        return letter, _read_all(os.read, self.reading, length)


class Relayed(Pipe):
    """Frames to and from the process behind a relay. Reading raises `EndedError` once that process has ended."""

    def __init__(self, relay: Relay) -> None:
        super().__init__(-1, -1)
        self._relay = relay
        self._held = b""
        self._write = self._hand_over

    def begin(self) -> None:
        """Let the relay start a process."""
        self._held = b""
        self._relay.send(Relay.BEGIN)

    def finish(self) -> None:
        """Let the relay end the process, and pass over all that it still says."""
        self._relay.send(Relay.END)
        while self._relay.receive()[0] != Relay.END:
            pass

    def _hand_over(self, _: int, data: Any) -> int:
        self._relay.send(Relay.DATA, bytes(data))
        return len(data)

    def _exactly(self, length: int) -> bytes:
        parts, size = [self._held], len(self._held)
        while size < length:
            letter, part = self._relay.receive()
            if letter == Relay.END:
                raise EndedError
            parts.append(part)
            size += len(part)
        data = b"".join(parts)
        self._held = data[length:]
        return data[:length]


def _write_all(write: Callable[[int, Any], int], number: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[write(number, left) :]


def _read_all(read: Callable[[int, int], bytes], number: int, length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        more = read(number, min(length - len(data), 1 << 20))
        if not more:
            raise EOFError
        data += more
    return bytes(data)


class Outgoing:
    """Turns values into data; `table` holds the changeable containers met so far.

    `other` writes what is no plain value: it returns the list that stands for it, or raises `WireError`.
    """

    def __init__(self, table: list[Any], other: Callable[[Any], list[Any]]) -> None:
        self.table = table
        self._numbers = {id(container): number for number, container in enumerate(table)}
        self._other = other

    def value(self, value: Any) -> Any:
        """The data of one value; exact types only, so no subclass is taken for what it derives from."""
        kind = cast("type[Any]", type(value))
        if value is None or kind in (bool, str):
            return value
        if kind in _TEXTUAL:
            return [_TEXTUAL[kind][0], _TEXTUAL[kind][1](value)]
        if kind in _GROUPS:
            name, parts, _ = _GROUPS[kind]
            return [name, [self.value(item) for item in parts(value)]]
        if kind in _CONTAINERS:
            number = self._numbers.setdefault(id(value), len(self.table))
            if number == len(self.table):
                self.table.append(value)
            return ["container", number]
        name = _SHARED.get(value) if kind in (type, type(len)) else None
        return ["builtin", name] if name else self._other(value)

    def states(self) -> list[Any]:
        """What all containers of the table hold; grows the table by what they hold in turn."""
        states: list[Any] = []
        while len(states) < len(self.table):
            states.append(self._state(self.table[len(states)]))
        return states

    def _state(self, container: Any) -> list[Any]:
        name = _CONTAINERS[cast("type[Any]", type(container))]
        if name == "bytearray":
            return [name, container.hex()]
        if name in _MAPPINGS:
            return [name, [[self.value(key), self.value(item)] for key, item in container.items()]]
        return [name, [self.value(item) for item in container]]


class Incoming:
    """Turns data into values; `known` are the containers that the other side was given, which are changed in place.

    `other` reads what is no plain value. Raises `WireError` on anything that isn't well formed.
    """

    def __init__(self, states: Any, known: list[Any], other: Callable[[list[Any]], Any]) -> None:
        self._other = other
        try:
            self.table = known + [_MAKE[name]() for name, _ in states[len(known) :]]
            filled = [self._content(name, content) for name, content in states]
            kinds = [_CONTAINERS[cast("type[Any]", type(container))] for container in self.table]
            if kinds != [name for name, _ in states]:
                raise WireError("a container has changed its kind")
            for container, content in zip(self.table, filled, strict=True):
                _fill(container, content)
        except (TypeError, ValueError, KeyError, IndexError, RecursionError, ArithmeticError) as error:
            raise WireError("a message isn't well formed") from error

    def value(self, data: Any) -> Any:
        """The value that data stands for."""
        try:
            return self._value(data)
        except (TypeError, ValueError, KeyError, IndexError, RecursionError, ArithmeticError) as error:
            raise WireError("a message isn't well formed") from error

    def _value(self, data: Any) -> Any:
        if data is None or type(data) in (bool, str):
            return data
        kind, *rest = data
        if kind in _READ:
            return _READ[kind](rest[0])
        if kind in _BUILD:
            return _BUILD[kind](map(self._value, rest[0]))
        if kind == "container":
            return self.table[rest[0]]
        return _BY_NAME[rest[0]] if kind == "builtin" else self._other(data)

    def _content(self, name: str, content: Any) -> Any:
        if name == "bytearray":
            return bytes.fromhex(content)
        if name in _MAPPINGS:
            return {self._value(key): self._value(item) for key, item in content}
        return [self._value(item) for item in content]


def _fill(container: Any, content: Any) -> None:
    container.clear()
    if isinstance(container, dict):
        for key, item in content.items():
            container[key] = item
    elif isinstance(container, set):
        cast("set[Any]", container).update(content)
    else:
        container.extend(content)
