"""Takes away the code that each row of docs/requirements.md names, and sees whether the row's test fails.

A row whose test passes all the same pins nothing: its test, or the code that it names, is the wrong one. Each row is
tried in a process of its own. Usage: `python tools/requirements.py [SOURCE …]`
"""

import contextlib
import importlib
import io
import os
import pkgutil
import signal
import sys
from collections.abc import Iterator
from enum import EnumType
from pathlib import Path
from types import FunctionType
from typing import Any, NoReturn

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "src")]

import pytest  # noqa: E402 - found after the path is set
from documented import found, node_of  # noqa: E402
from requirements import PAGE, Row, rows  # noqa: E402

import wisen  # noqa: E402

SECONDS = 120
"""For which one test may run; what hangs without its code has noticed."""


class Gone(BaseException):
    """Stands where code was taken away; a `BaseException`, so that nothing goes on without it."""


def _gone(*_: object, **__: object) -> NoReturn:
    raise RuntimeError("this code was taken away")


class _Nothing:
    """Stands for a value that was taken away."""

    def __getattr__(self, name: str) -> object:
        _gone(name)

    __call__ = __iter__ = __getitem__ = __contains__ = _gone


def take_away(path: str) -> None:
    """Let nothing named by this path within `wisen` work any more, wherever it was imported."""
    thing: Any = found(f"wisen.{path}")
    if isinstance(thing, EnumType) or not isinstance(thing, type):
        functions = list(_functions(thing)) if not isinstance(thing, EnumType) else []
    else:
        functions = [one for value in vars(thing).values() for one in _functions(value)]
    for function in functions:
        free = function.__code__.co_freevars
        function.__code__ = _gone.__code__.replace(co_freevars=free)
    if functions:
        return
    left = type(thing)() if isinstance(thing, str | tuple | dict | int) else _Nothing()
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "wisen":
            for key in [key for key, value in vars(module).items() if value is thing]:
                setattr(module, key, left)


def _functions(value: Any) -> Iterator[FunctionType]:
    match value:
        case FunctionType():
            yield value
        case classmethod() | staticmethod():
            yield from _functions(value.__func__)
        case property():
            yield from _functions(value.fget)
        case _:
            if (inner := getattr(value, "__wrapped__", None)) is not None:
                yield from _functions(inner)
            elif isinstance(inner := getattr(value, "__func__", None), FunctionType):
                yield inner


def passes(row: Row, *, without: bool) -> bool:
    """Whether the row's test passes, in a process of its own, with its code or without."""
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        code = 1
        with contextlib.suppress(BaseException), contextlib.redirect_stdout(io.StringIO()):
            if without:
                take_away(row.code)
            signal.alarm(SECONDS)
            code = int(pytest.main(["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", node_of(row.test)]))
        os._exit(code)
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return status == 0


def main(sources: list[str]) -> int:
    """Try all rows, and say which tests pass without their code."""
    os.chdir(ROOT)
    for module in pkgutil.walk_packages(wisen.__path__, "wisen."):
        with contextlib.suppress(ImportError):
            importlib.import_module(module.name)
    every = [row for row in rows(PAGE.read_text("utf-8")) if not sources or str(row.source) in sources]
    failing = [row for row in {row.test: row for row in every}.values() if not passes(row, without=False)]
    for row in failing:
        print(f"fails as it is: {row.test}", flush=True)
    tried = {(row.code, row.test): row for row in every}
    survivors = [row for row in tried.values() if row not in failing and passes(row, without=True)]
    for row in survivors:
        print(f"passes without {row.code}: {row.test} ({row.source}, {row.section}: {row.what})", flush=True)
    print(f"{len(every)} rows, {len(tried)} tried, {len(survivors)} pin nothing, {len(failing)} fail as they are")
    return 1 if survivors or failing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
