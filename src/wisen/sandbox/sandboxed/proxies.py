"""The code under test as its tests see it: things that pass every operation on as data, and decide nothing.

No comparison is ever left to an object of the code, and none of the test's values reaches it through an operator: such
objects could claim to equal whatever they are asked about. Where the code returned an instance of a subclass of a plain
type, its plain content is fetched and compared here. Everything else raises `UnfairError`, and the test has failed.
"""

import builtins
import operator
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, cast

from wisen.sandbox.sandboxed.wire import EndedError, Incoming, Outgoing, Relayed, WireError

_ERRORS = {
    name: kind for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, BaseException)
}
_NEVER = (StopIteration, StopAsyncIteration, GeneratorExit)
"""Errors that end a loop or a generator quietly; from the code they would end the test's own."""
ENDED = "the process ended before the test was over"
_READABLE = frozenset({"__name__", "__qualname__", "__doc__", "__module__"})
_BINARY = (
    "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()  # noqa: SIM905 - as they are named
)


class UnfairError(BaseException):
    """The test can't go on, whatever it catches; the text is its problem."""


class Code:
    """The process that runs the code, for one test."""

    def __init__(self, pipe: Relayed) -> None:
        self._pipe = pipe
        self._remotes: dict[int, Any] = {}
        self._callbacks: list[Callable[..., Any]] = []
        self.ended = False
        self.problem = ""
        """Why the test has failed, whatever it makes of it; "" where there is no reason."""

    def begin(self) -> list[str]:
        """Execute the code; the names that it defines. Raises its error."""
        self._pipe.begin()
        return [str(name) for name in self._reply([], allow_names=True)]

    def end(self) -> None:
        """End the process, and wait until it is gone."""
        if not self.ended:
            self._pipe.finish()
            self.ended = True

    def name(self, name: str) -> Any:
        """What a name of the code means."""
        self._send(["name", name])
        return self._reply([])

    def do(self, operation: str, /, *args: Any, **named: Any) -> Any:
        """Let the code's process do something with values of the test and objects of its own."""
        outgoing = Outgoing([], self._write)
        try:
            data, names = outgoing.value(args), outgoing.value(tuple(named.items()))
            states = outgoing.states()
        except RecursionError:
            raise self.unfair("a test passed values that are nested too deep") from None
        self._send(["do", operation, states, data, names])
        return self._reply(outgoing.table)

    def unfair(self, problem: str) -> UnfairError:
        """Fail the test for good."""
        self.problem = self.problem or problem
        return UnfairError(problem)

    def _send(self, message: list[Any]) -> None:
        if self.problem:
            raise UnfairError(self.problem)
        try:
            self._pipe.send(message)
        except EOFError:
            raise self._gone() from None

    def _gone(self) -> UnfairError:
        self.ended = True
        return self.unfair(ENDED)

    def _receive(self) -> list[Any]:
        try:
            message: object = self._pipe.receive()
        except EndedError:
            self.ended = True
            raise self.unfair(ENDED) from None
        except EOFError:
            raise self._gone() from None
        except WireError as error:
            raise self.unfair(f"the code's process sent what is no answer: {error}") from None
        if not isinstance(message, list) or not message:
            raise self.unfair("the code's process sent a message that isn't one")
        return cast("list[Any]", message)

    def _reply(self, known: list[Any], *, allow_names: bool = False) -> Any:
        while True:
            message = self._receive()
            try:
                kind = message[0]
                if kind == "callback":
                    self._called_back(*message[1:])
                    continue
                if kind == "names" and allow_names:
                    return list(message[1])
                incoming = Incoming(message[2], known, self._read)
                if kind == "value":
                    return incoming.value(message[1])
                error = self._error(*message[1])
            except (WireError, TypeError, ValueError, IndexError, KeyError) as broken:
                raise self.unfair(f"the code's process sent what is no answer: {broken}") from None
            raise error

    def _called_back(self, number: int, data: object, names: object, states: object) -> None:
        incoming = Incoming(states, [], self._read)
        args, named = incoming.value(data), incoming.value(names)
        if type(number) is not int or not 0 <= number < len(self._callbacks):
            raise WireError("a call of a function that it wasn't given")
        try:
            result = self._callbacks[number](*args, **dict(named))
        except AssertionError as error:
            text = str(error).strip().splitlines()
            raise self.unfair(f"AssertionError: {text[-1][:160]}" if text else "AssertionError") from None
        except Exception as error:  # noqa: BLE001 - it is for the code, which called
            self._send(["error", [type(error).__name__, str(error)], []])
            return
        outgoing = Outgoing([], self._write)
        self._send(["value", outgoing.value(result), outgoing.states()])

    def _error(self, name: str, base: str, args: list[Any], number: int, kinds: list[int]) -> BaseException:
        values = [Incoming([], [], self._read).value(arg) for arg in args]
        known = next((self._remotes[kind] for kind in kinds if isinstance(self._remotes.get(kind), type)), None)
        kind = known or _ERRORS.get(base, Exception)
        if issubclass(kind, _NEVER):
            return _ended(str(name), values)
        if known is None and name != base:
            kind = cast("type[BaseException]", type(str(name), (kind,), {}))
        error = _made(kind, values)
        cast("Any", error).wisen_code = (self, number)
        return error

    def _write(self, thing: Any) -> list[Any]:
        if isinstance(thing, Remote):
            return ["object", _number(thing)]
        if isinstance(thing, type) and hasattr(thing, "wisen_number"):
            return ["object", cast("Any", thing).wisen_number]
        if callable(thing):
            known = next((number for number, one in enumerate(self._callbacks) if one is thing), len(self._callbacks))
            if known == len(self._callbacks):
                self._callbacks.append(thing)
            return ["callback", known]
        raise self.unfair(f"a test can pass plain values and functions to the code, and no {type(thing).__name__}")

    def _read(self, data: list[Any]) -> Any:
        kind, number = data[0], data[1]
        if type(number) is not int:
            raise WireError("a message isn't well formed")
        if kind == "callback":
            return self._callbacks[number]
        if number not in self._remotes:
            if kind == "error_class":
                self._remotes[number] = self._error_class(number, str(data[2]), str(data[3]))
            elif kind == "object":
                self._remotes[number] = _remote(self, number, str(data[2]))
            else:
                raise WireError("a message isn't well formed")
        found = self._remotes[number]
        return _coroutine(self, found) if kind == "object" and data[3] == "coroutine" else found

    def _error_class(self, number: int, name: str, base: str) -> type[BaseException]:
        kind = _ERRORS.get(base, Exception)
        kind = RuntimeError if issubclass(kind, _NEVER) else kind
        made: Any = type(name, (kind,), {"wisen_number": number, "__getattr__": _attribute_of_error})
        return made


def _ended(name: str, values: list[Any]) -> BaseException:
    kind = _StoppedError if name == "StopIteration" else RuntimeError
    return kind(f"the code raised {name}", *values)


class _StoppedError(RuntimeError):
    """The code raised `StopIteration`; only `next` makes one of it."""


def _made(kind: type[BaseException], values: list[Any]) -> BaseException:
    try:
        return kind(*values)
    except Exception:  # noqa: BLE001 - some errors want arguments of their own
        return RuntimeError(f"{kind.__name__}: {' '.join(map(str, values))}")


def _attribute_of_error(error: BaseException, name: str) -> Any:
    if name.startswith("_") or "wisen_code" not in vars(error):
        raise AttributeError(name)
    code, number = vars(error)["wisen_code"]
    return code.do("get", _remote(code, number, type(error).__name__), name)


async def _coroutine(code: Code, thing: "Remote") -> Any:
    return code.do("await", thing)


class Remote:
    """An object of the code."""

    __slots__ = ("_wisen_code", "_wisen_kind", "_wisen_number")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") and name not in _READABLE:
            raise AttributeError(name)
        return _code(self).do("get", self, name)

    def __setattr__(self, name: str, value: object) -> None:
        _code(self).do("set", self, name, value)

    def __delattr__(self, name: str) -> None:
        _code(self).do("del", self, name)

    def __call__(self, *args: Any, **named: Any) -> Any:
        return _code(self).do("call", self, *args, **named)

    def __getitem__(self, key: object) -> Any:
        return _code(self).do("item", self, key)

    def __setitem__(self, key: object, value: object) -> None:
        _code(self).do("set_item", self, key, value)

    def __delitem__(self, key: object) -> None:
        _code(self).do("del_item", self, key)

    def __iter__(self) -> Iterator[Any]:
        made = _code(self).do("iter", self)
        return made if isinstance(made, Remote) else iter(made)

    def __next__(self) -> Any:
        try:
            return _code(self).do("next", self)
        except _StoppedError as error:
            raise StopIteration(*error.args[1:]) from None

    def __await__(self) -> Iterator[Any]:
        return cast("Awaitable[Any]", _coroutine(_code(self), self)).__await__()

    def __enter__(self) -> Any:
        return _code(self).do("enter", self)

    def __exit__(self, *error: object) -> None:
        """Leave; whatever the code says, no error is swallowed, for a failed assertion is one."""
        _code(self).do("exit", self)

    def __instancecheck__(self, thing: object) -> bool:
        return isinstance(thing, Remote) and _code(self).do("isinstance", self, thing) is True

    def __subclasscheck__(self, kind: object) -> bool:
        return isinstance(kind, Remote) and _code(self).do("issubclass", self, kind) is True

    def __contains__(self, item: object) -> bool:
        return item in _plain(self)

    def __hash__(self) -> int:
        return hash(_number(self))

    def __bool__(self) -> bool:
        return _code(self).do("bool", self) is True


def _code(remote: Remote) -> Code:
    return object.__getattribute__(remote, "_wisen_code")


def _number(remote: Remote) -> int:
    return object.__getattribute__(remote, "_wisen_number")


def _remote(code: Code, number: int, kind: str) -> Remote:
    remote = Remote()
    for name, value in (("_wisen_code", code), ("_wisen_number", number), ("_wisen_kind", kind)):
        object.__setattr__(remote, name, value)
    return remote


def _plain(thing: Any) -> Any:
    """The plain content of an object of the code; itself for a value of the test. Anything else ends the test."""
    if not isinstance(thing, Remote):
        return thing
    code = _code(thing)
    try:
        content = code.do("plain", thing)
    except Exception:  # noqa: BLE001 - whatever the code raised, there is none
        content = thing
    if isinstance(content, Remote):
        kind = str(object.__getattribute__(thing, "_wisen_kind"))[:80]
        raise code.unfair(f"the code gave an object of type {kind}, and only plain values can be compared")
    return content


def _compares(name: str) -> Callable[[Remote, Any], Any]:
    compare = getattr(operator, name)
    return lambda self, other: compare(_plain(self), _plain(other))


def _computes(name: str, *, swapped: bool = False) -> Callable[[Remote, Any], Any]:
    compute = getattr(operator, f"__{name}__")

    def method(self: Remote, other: Any) -> Any:
        if isinstance(other, Remote):
            return _code(self).do("binary", self, f"__{name}__", other)
        return compute(other, _plain(self)) if swapped else compute(_plain(self), other)

    return method


def _asks(operation: str, *kinds: type) -> Callable[..., Any]:
    def method(self: Remote, *args: Any) -> Any:
        said = _code(self).do(operation, self, *args)
        if kinds and type(said) not in kinds:
            raise TypeError(f"{operation} gave {type(said).__name__}")
        return said

    return method


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Remote, f"__{_name}__", _compares(_name))
for _name in _BINARY:
    setattr(Remote, f"__{_name}__", _computes(_name))
    setattr(Remote, f"__r{_name}__", _computes(_name, swapped=True))
for _name, _kinds in {
    "len": (int,), "str": (str,), "repr": (str,), "format": (str,), "int": (int,), "float": (float,), "index": (int,),
    "complex": (complex,), "round": (), "abs": (), "reversed": (),
}.items():  # fmt: skip
    setattr(Remote, f"__{_name}__", _asks(_name, *_kinds))
