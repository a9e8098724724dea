"""Calls functions in a process that `isolated_call` starts. It runs by itself, and imports wisen only on demand."""

import faulthandler
import importlib
import importlib.util
import inspect
import os
import pickle
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

_LENGTH = 8


def read(pipe: BinaryIO) -> bytes | None:
    """The next message; `None` at the end."""
    head = pipe.read(_LENGTH)
    if len(head) < _LENGTH:
        return None
    body = pipe.read(int.from_bytes(head, "big"))
    return body if len(body) == int.from_bytes(head, "big") else None


def write(pipe: BinaryIO, body: bytes) -> None:
    """Send a message."""
    pipe.write(len(body).to_bytes(_LENGTH, "big"))
    pipe.write(body)
    pipe.flush()


def _found(module: str, name: str, file: str) -> Callable[..., Any]:
    try:
        if module != "__main__":
            return _named(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        pass  # such as a test's module, which no path leads to
    apart = "__mp_main__" if module == "__main__" else module
    spec = importlib.util.spec_from_file_location(apart, file)
    if spec is None or spec.loader is None:
        raise ImportError(file)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[apart] = loaded
    if module == "__main__":
        sys.modules["__main__"] = loaded
    spec.loader.exec_module(loaded)
    return _named(loaded, name)


def _named(found: object, name: str) -> Any:  # noqa: ANN401 - whatever has that name
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _awaited(given: Any) -> Any:  # noqa: ANN401 - whatever the function gives
    if not inspect.isawaitable(given):
        return given
    import asyncio  # noqa: PLC0415 - hardly ever needed

    async def whole() -> object:
        return await given

    return asyncio.run(whole())


def _answer(
    known: dict[tuple[str, str, str], Callable[..., Any]], target: tuple[str, str, str], arguments: bytes
) -> bytes:
    try:
        if target not in known:
            known[target] = _found(*target)
        positional, keywords = pickle.loads(arguments)  # noqa: S301 - from the process that started this one
        given = _awaited(known[target](*positional, **keywords))
        return pickle.dumps((True, given))
    except BaseException as error:  # noqa: BLE001 - the other side hears of it, whatever it is
        return pickle.dumps((False, type(error).__name__))


def main() -> None:
    """Answer until there is nobody to ask."""
    os.environ["WISEN_APART"] = "1"
    asked, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(2, 1)  # what a function prints isn't an answer
    silent = os.fdopen(nowhere, "w")
    known: dict[tuple[str, str, str], Callable[..., Any]] = {}
    while (head := read(asked)) is not None and (arguments := read(asked)) is not None:
        path, target, seconds = pickle.loads(head)  # noqa: S301 - as above
        sys.path[:] = path
        # It ends this process also while a function holds the interpreter, and where nobody is left to kill it.
        faulthandler.dump_traceback_later(seconds, exit=True, file=silent)
        answer = _answer(known, target, arguments)
        faulthandler.cancel_dump_traceback_later()
        write(answers, answer)


if __name__ == "__main__":
    main()
