"""Takes away the code that each row of docs/reference/sources names, and sees whether the row's test fails.

A row whose test passes all the same pins nothing: its test, or the code that it names, is the wrong one. Each row is
tried in a process of its own. Usage: `python tools/take_away.py [SOURCE …]`
"""

import contextlib
import importlib
import io
import os
import pkgutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from enum import EnumType
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NoReturn

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "src")]

import pytest  # noqa: E402 - found after the path is set
from documented import found, node_of  # noqa: E402
from requirements import all_rows  # noqa: E402

import wisen  # noqa: E402

SECONDS = 120
"""For which one test may run; what hangs without its code has noticed."""
OPTIONS = ("-q", "-x", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning")


def _gone(*_: object, **__: object) -> NoReturn:
    raise RuntimeError("this code was taken away")


class _Nothing:
    """Stands for a value that was taken away."""

    def __getattr__(self, name: str) -> object:
        _gone(name)

    __call__ = __iter__ = __getitem__ = __contains__ = _gone


EMPTY: Mapping[type, Callable[[], object]] = {one: one for one in (str, tuple, dict, int, float)}
"""What is left of a plain value."""


def take_away(path: str) -> None:
    """Let nothing named by this path within `wisen` work any more, wherever it was imported."""
    thing: object = found(f"wisen.{path}")
    parts: list[object] = [thing]
    if isinstance(thing, type):
        parts = [] if isinstance(thing, EnumType) else list(vars(thing).values())
    functions = [one for part in parts for one in _functions(part)]
    for function in functions:
        function.__code__ = _gone_beside(function.__code__.co_freevars)
    if functions:
        return
    left = EMPTY.get(type(thing), _Nothing)()
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "wisen":
            for key in [key for key, value in vars(module).items() if value is thing]:
                setattr(module, key, left)


def _gone_beside(free: tuple[str, ...]) -> CodeType:
    """The code of a function that raises, and has these names of the functions around it, as its place asks for."""
    around = "; ".join(f"{name} = None" for name in free) or "pass"
    says = f"raise RuntimeError('this code was taken away'); {', '.join(free) or None}"
    made: dict[str, Any] = {}
    exec(f"def outer():\n {around}\n def gone(*_, **__): {says}\n return gone", made)  # noqa: S102 - names from code of ours
    return made["outer"]().__code__


def _functions(value: object) -> Iterator[FunctionType]:
    if isinstance(value, FunctionType):
        if value.__module__.partition(".")[0] == "wisen":  # and not what all protocols share, or all enums
            yield value
        return
    for name in ("fget", "__func__", "__wrapped__"):
        inner: object = getattr(value, name, None)
        if inner is not None:
            yield from _functions(inner)
            return


def passes(*tests: str, without: str = "") -> bool:
    """Whether these tests pass, in a process of their own, as things are or without what a path names."""
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        code = 1
        with contextlib.suppress(BaseException), contextlib.redirect_stdout(io.StringIO()):
            if without:
                take_away(without)
                signal.alarm(SECONDS)
            code = int(pytest.main([*OPTIONS, *map(node_of, tests)]))
        os._exit(code)
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return status == 0


def main(sources: list[str]) -> int:
    """Try all rows, and say which tests pass without their code."""
    os.chdir(ROOT)
    for module in pkgutil.walk_packages(wisen.__path__, "wisen."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)
    every = [row for row in all_rows() if not sources or str(row.source) in sources]
    tests = list(dict.fromkeys(row.test for row in every))
    failing = [] if passes(*tests) else [test for test in tests if not passes(test)]
    for test in failing:
        sys.stdout.write(f"fails as it is: {test}\n")
    tried = {(row.code, row.test): row for row in every if row.test not in failing}
    idle = 0
    for row in tried.values():
        if passes(row.test, without=row.code):
            idle += 1
            sys.stdout.write(f"passes without {row.code}: {row.test} ({row.source}, {row.section}: {row.what})\n")
            sys.stdout.flush()
    sys.stdout.write(f"{len(every)} rows, {len(tried)} tried, {idle} pin nothing, {len(failing)} fail as they are\n")
    return 1 if idle or failing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
