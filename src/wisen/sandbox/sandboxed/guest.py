"""Runs code under test and answers calls that come through a pipe; it knows nothing of the tests.

Each test gets a process of its own with pipes of its own, in which the code is executed afresh; nothing of it is left
for the next. Nothing here is trusted: the other side
takes what comes as data, whatever the code has done to this process.
"""

import asyncio
import builtins
import ctypes
import operator
import os
import select
import signal
import sys
import time
import types
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from wisen.sandbox.sandboxed.clearing import clear
from wisen.sandbox.sandboxed.wire import Incoming, Outgoing, Pipe, Relay, WireError

_NOT_DUMPABLE = 4
_AT_ONCE = 1 << 20
_PROGRAMS = "/wisen-sandboxed"
_PLACES = ("/tmp", "/dev/shm")  # noqa: S108 - a room's own
_ERRORS = {
    name: kind for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, BaseException)
}
_BASES: tuple[tuple[Any, Callable[[Any, Any], Any]], ...] = (
    (int, lambda base, value: base.__index__(value)),
    (float, lambda base, value: base.__float__(value)),
    (str, lambda base, value: base.__getitem__(value, slice(None))),
    (bytes, lambda base, value: base.__getitem__(value, slice(None))),
    *((base, lambda base, value: base(base.__iter__(value))) for base in (tuple, list, set, frozenset)),
    (dict, lambda base, value: base(base.items(value))),
)
"""Plain types, and what takes the content of a subclass without asking the subclass."""


def _plain(value: Any) -> Any:
    for base, take in _BASES:
        if isinstance(value, base):
            return take(base, value)
    raise TypeError(f"{type(value).__name__} is no plain value")


def _call(target: Any, /, *args: Any, **named: Any) -> Any:
    return target(*args, **named)


def _binary(left: Any, name: str, right: Any) -> Any:
    return getattr(operator, name)(left, right)


def _is_instance(kind: Any, value: Any) -> bool:
    return isinstance(value, kind)


def _is_subclass(kind: Any, value: Any) -> bool:
    return issubclass(value, kind)


def _enter(manager: Any) -> Any:
    return manager.__enter__()


def _exit(manager: Any) -> Any:
    return manager.__exit__(None, None, None)


def _await(thing: Any) -> Any:
    return asyncio.run(_awaited(thing))


async def _awaited(thing: Any) -> Any:
    return await thing


_DO: dict[str, Callable[..., Any]] = {
    "call": _call, "get": getattr, "set": setattr, "del": delattr, "item": operator.getitem,
    "set_item": operator.setitem, "del_item": operator.delitem, "len": len, "iter": iter, "next": next, "bool": bool,
    "str": str, "repr": repr, "format": format, "int": int, "float": float, "index": operator.index,
    "complex": complex, "round": round, "abs": abs, "reversed": reversed, "plain": _plain, "isinstance": _is_instance,
    "issubclass": _is_subclass, "enter": _enter, "exit": _exit, "await": _await, "binary": _binary,
}  # fmt: skip


class Session:
    """One test's side of the code: its objects, by the numbers under which the other side knows them."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}

    def serve(self, code: str) -> None:
        """Execute the code and answer until this process is ended."""
        module = types.ModuleType("solution")
        sys.modules["solution"] = module
        try:
            exec(compile(code, "<output>", "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - what it is for
        except BaseException as error:  # noqa: BLE001 - an exit is a failure too
            self._answer(["error", self._error(error)], [])
            self._pipe.receive()
            return
        self._answer(["names", list(map(str, module.__dict__))], [])
        while True:
            message = self._pipe.receive()
            if message[0] == "name":
                self._answer_with(lambda name=message[1]: module.__dict__[name], [])
            else:
                incoming = Incoming(message[2], [], self._read)
                self._answer_with(
                    lambda message=message, incoming=incoming: self._do(message, incoming), incoming.table
                )

    def _do(self, message: list[Any], incoming: Incoming) -> Any:
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

    def _number(self, thing: Any) -> int:
        number = self._numbers.setdefault(id(thing), len(self._objects))
        if number == len(self._objects):
            self._objects.append(thing)
        return number

    def _write(self, thing: Any) -> list[Any]:
        if isinstance(thing, _Callback):
            return ["callback", thing.number]
        kind = str(type(thing).__name__)
        if isinstance(thing, type) and issubclass(thing, BaseException):
            base = next(kind.__name__ for kind in thing.__mro__ if _ERRORS.get(kind.__name__) is kind)
            return ["error_class", self._number(thing), thing.__name__, base]
        sort = (
            "coroutine"
            if isinstance(thing, types.CoroutineType)
            else "module"
            if isinstance(thing, types.ModuleType)
            else "object"
        )
        return ["object", self._number(thing), kind, sort]

    def _read(self, data: list[Any]) -> Any:
        if data[0] == "object":
            return self._objects[data[1]]
        if data[0] == "callback":
            return _Callback(self, data[1])
        raise WireError(f"unknown kind of value {data[0]!r}")

    def call_back(self, number: int, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
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

    def __call__(self, *args: Any, **named: Any) -> Any:
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


def _serve_one_test(relay: Relay, outer: tuple[int, int], code: str) -> None:
    """Run the code in a child, and hand on what it and the tests say to each other until it has ended."""
    calls, calling = os.pipe()
    answers, answering = os.pipe()
    child = os.fork()
    if not child:
        for number in (*outer, calling, answers):
            os.close(number)
        _child(Pipe(calls, answering), code)
    os.close(calls)
    os.close(answering)
    poll = select.poll()
    poll.register(relay.reading, select.POLLIN)
    poll.register(answers, select.POLLIN)
    while not os.waitpid(child, os.WNOHANG)[0]:
        for number, event in poll.poll(1):
            if number == relay.reading:
                letter, data = relay.receive()
                if letter == Relay.END:
                    os.kill(child, signal.SIGKILL)
                with suppress(BrokenPipeError):
                    _hand_on(data, calling)
            elif event & select.POLLIN:
                relay.send(Relay.DATA, os.read(answers, _AT_ONCE))
            else:
                poll.unregister(answers)
    os.set_blocking(answers, False)
    with suppress(BlockingIOError):
        while rest := os.read(answers, _AT_ONCE):
            relay.send(Relay.DATA, rest)
    os.close(calling)
    os.close(answers)


def _hand_on(data: bytes, number: int) -> None:
    while data:
        data = data[os.write(number, data) :]


def _forget(places: tuple[str, ...]) -> None:
    """End all processes of this namespace besides its first and this one, and remove what they wrote."""
    with suppress(ProcessLookupError):
        while True:
            os.kill(-1, signal.SIGKILL)
            time.sleep(0.001)
    for place in places:
        clear(place)
        if os.listdir(place):  # noqa: PTH208 - pathlib is slow to import
            raise OSError(f"{place} could not be emptied")


def main() -> None:
    """Serve one test after the other: the code comes first, then for each test `BEGIN`."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_NOT_DUMPABLE, 0, 0, 0, 0)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    # Only the first process of a room's namespace starts this one: elsewhere, these would be the machine's.
    in_room = __file__.startswith(f"{_PROGRAMS}/") and os.getppid() == 1
    outer = (int(sys.argv[1]), int(sys.argv[2]))
    relay = Relay(*outer)
    try:
        code = relay.receive()[1].decode(errors="surrogatepass")
        while True:
            if relay.receive()[0] != Relay.BEGIN:
                continue  # it was for a process that has ended
            _serve_one_test(relay, outer, code)
            if in_room:
                _forget(_PLACES)
            relay.send(Relay.END)
    except EOFError:
        return
