"""Runs code under test and answers calls that come through a pipe; it knows nothing of the tests.

Each test gets a process of its own, in which the code is executed afresh. Nothing here is trusted: the other side
takes what comes as data, whatever the code has done to this process.
"""

import asyncio
import builtins
import ctypes
import inspect
import operator
import os
import sys
import types
from collections.abc import Callable
from typing import Any

from wisen.evaluation.sandboxed.wire import Incoming, Outgoing, Pipe, WireError

_NOT_DUMPABLE = 4
_ERRORS = {
    name: kind for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, BaseException)
}
_BASES: dict[type, Callable[[Any], Any]] = {
    int: int.__index__, float: float.__float__, str: lambda v: str.__getitem__(v, slice(None)),
    bytes: lambda v: bytes.__getitem__(v, slice(None)), tuple: lambda v: tuple(tuple.__iter__(v)),
    list: lambda v: list(list.__iter__(v)), set: lambda v: set(set.__iter__(v)),
    frozenset: lambda v: frozenset(frozenset.__iter__(v)), dict: lambda v: dict(dict.items(v)),
}  # fmt: skip


def _plain(value: Any) -> Any:  # noqa: ANN401 - any object
    for base, take in _BASES.items():
        if isinstance(value, base):
            return take(value)
    raise TypeError(f"{type(value).__name__} is no plain value")


_DO: dict[str, Callable[..., Any]] = {
    "call": lambda target, *args, **named: target(*args, **named), "get": getattr, "set": setattr, "del": delattr,
    "item": operator.getitem, "set_item": operator.setitem, "del_item": operator.delitem, "len": len, "iter": iter,
    "next": next, "bool": bool, "str": str, "repr": repr, "format": format, "int": int, "float": float,
    "index": operator.index, "complex": complex, "round": round, "abs": abs, "reversed": reversed, "plain": _plain,
    "isinstance": lambda kind, value: isinstance(value, kind), "issubclass": lambda kind, value: issubclass(value, kind),
    "enter": lambda manager: type(manager).__enter__(manager),
    "exit": lambda manager: type(manager).__exit__(manager, None, None, None),
    "await": lambda awaited: asyncio.run(_awaited(awaited)), "binary": lambda a, name, b: getattr(operator, name)(a, b),
}  # fmt: skip


async def _awaited(thing: Any) -> Any:  # noqa: ANN401 - any awaitable
    return await thing


class Session:
    """One test's side of the code: its objects, by the numbers under which the other side knows them."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}

    def serve(self, code: str) -> None:
        """Execute the code and answer until the other side says that the test is over."""
        module = types.ModuleType("solution")
        sys.modules["solution"] = module
        try:
            exec(compile(code, "<output>", "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - what it is for
        except BaseException as error:  # noqa: BLE001 - an exit is a failure too
            self._answer(["error", self._error(error)], [])
            while self._pipe.receive() != ["end"]:
                pass
            return
        self._answer(["names", [name for name in module.__dict__ if isinstance(name, str)]], [])
        while True:
            message = self._pipe.receive()
            if message == ["end"]:
                return
            if message[0] == "name":
                self._answer_with(lambda name=message[1]: module.__dict__[name], [])
            else:
                incoming = Incoming(message[2], [], self._read)
                self._answer_with(
                    lambda message=message, incoming=incoming: self._do(message, incoming), incoming.table
                )

    def _do(self, message: list[Any], incoming: Incoming) -> Any:  # noqa: ANN401 - what the code returns
        args, named = incoming.value(message[3]), incoming.value(message[4])
        return _DO[message[1]](*args, **dict(named))

    def _answer_with(self, work: Callable[[], Any], table: list[Any]) -> None:
        try:
            value = work()
        except BaseException as error:  # noqa: BLE001 - the other side decides what it means
            self._answer(["error", self._error(error)], table)
            return
        outgoing = Outgoing(list(table), self._write)
        try:
            data = outgoing.value(value)
            self._pipe.send(["value", data, outgoing.states()])
        except (RecursionError, ValueError) as error:
            self._answer(["error", self._error(error)], table)

    def _answer(self, message: list[Any], table: list[Any]) -> None:
        try:
            states = Outgoing(list(table), self._write).states()
        except (RecursionError, ValueError):
            states = []
        self._pipe.send([*message, states])

    def _error(self, error: BaseException) -> list[Any]:
        kinds = type(error).__mro__
        base = next((kind.__name__ for kind in kinds if _ERRORS.get(kind.__name__) is kind), "Exception")
        outgoing = Outgoing([], self._write)
        try:
            args = [outgoing.value(arg) for arg in error.args]
            args = args if not outgoing.table else [str(error)]
        except (RecursionError, ValueError):
            args = []
        own = [self._number(kind) for kind in kinds if kind.__module__ == "solution"]
        return [type(error).__name__, base, args, self._number(error), own]

    def _number(self, thing: Any) -> int:  # noqa: ANN401 - any object
        number = self._numbers.setdefault(id(thing), len(self._objects))
        if number == len(self._objects):
            self._objects.append(thing)
        return number

    def _write(self, thing: Any) -> list[Any]:  # noqa: ANN401 - any object
        if isinstance(thing, _Callback):
            return ["callback", thing.number]
        kind = type(thing).__name__
        if isinstance(thing, type) and issubclass(thing, BaseException):
            base = next(kind.__name__ for kind in thing.__mro__ if _ERRORS.get(kind.__name__) is kind)
            return ["error_class", self._number(thing), thing.__name__, base]
        sort = (
            "coroutine" if inspect.iscoroutine(thing) else "module" if isinstance(thing, types.ModuleType) else "object"
        )
        return ["object", self._number(thing), kind, sort]

    def _read(self, data: list[Any]) -> Any:  # noqa: ANN401 - any object
        if data[0] == "object":
            return self._objects[data[1]]
        if data[0] == "callback":
            return _Callback(self, data[1])
        raise WireError(f"unknown kind of value {data[0]!r}")

    def call_back(self, number: int, args: tuple[Any, ...], named: dict[str, Any]) -> Any:  # noqa: ANN401 - any value
        """Call a function of the tests, which is on the other side."""
        outgoing = Outgoing([], self._write)
        data, names = outgoing.value(args), outgoing.value(tuple(named.items()))
        self._pipe.send(["callback", number, data, names, outgoing.states()])
        kind, said, states = self._pipe.receive()
        if kind == "error":
            raise _ERRORS.get(said[0], Exception)(said[1])
        return Incoming(states, [], self._read).value(said)


class _Callback:
    """A function of the tests, as the code sees it."""

    def __init__(self, session: Session, number: int) -> None:
        self._session = session
        self.number = number

    def __call__(self, *args: Any, **named: Any) -> Any:  # noqa: ANN401 - any values
        return self._session.call_back(self.number, args, named)


def _child(pipe: Pipe, code: str) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    end = os._exit
    try:
        Session(pipe).serve(code)
    except BaseException:  # noqa: BLE001 - the other side is gone, or the code has broken this one
        end(1)
    end(0)


def main() -> None:
    """Serve one test after the other: a frame with the code, then for each test "begin"."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_NOT_DUMPABLE, 0, 0, 0, 0)
    pipe = Pipe(int(sys.argv[1]), int(sys.argv[2]))
    try:
        code = pipe.receive()
        while True:
            if pipe.receive() != ["begin"]:
                continue  # it was for a process that has ended
            child = os.fork()
            if not child:
                _child(pipe, code)
            pipe.send(["ended", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])])
    except EOFError:
        return
