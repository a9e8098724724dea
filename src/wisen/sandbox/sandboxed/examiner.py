"""Runs tests in a process that the code under test can't see; the code answers through a pipe.

`PythonTestsEvaluator` runs `main` and writes one JSON object to its stdin: `code`, `tests` as pairs of name and source,
and `entry`. The arguments are the numbers of two pipes. For each test it prints a line of JSON, `[number, problem]`; no
problem is "". Each test runs in a process of its own.
"""

import ast
import builtins
import ctypes
import importlib
import json
import os
import sys
import types
from collections.abc import Iterator
from typing import Any

from wisen.sandbox.sandboxed.proxies import Code, UnfairError
from wisen.sandbox.sandboxed.wire import Relay, Relayed, WireError

_NOT_DUMPABLE = 4


def _problem(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    if isinstance(error, UnfairError):
        return text[-1][:160] if text else "failed"
    return f"{type(error).__name__}: {text[-1][:160]}" if text else type(error).__name__


def _names_in(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_in(constant)


def _modules_in(test: str) -> set[str]:
    """Names of the standard library of which a test uses nothing but attributes, such as `math` in `math.pi`."""
    tree = ast.parse(test)
    owners = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bare = {node.id for node in names if id(node) not in owners}
    return {node.id for node in names if node.id in sys.stdlib_module_names} - bare


def _namespace(test: str, compiled: types.CodeType, entry: str | None, code: Code) -> dict[str, Any]:
    """What a test finds of the code: its names, except those that hide a builtin or a module of the library.

    Raises `NameError` where the entry isn't defined, and `UnfairError` where the test uses nothing of the code.
    """
    defined = set(code.begin())
    if entry and entry not in defined:
        raise NameError(f"the code doesn't define {entry}")
    modules = _modules_in(test) - {entry}
    wanted = (set(_names_in(compiled)) & defined) - modules - (set(vars(builtins)) - {entry})
    found = {name: code.name(name) for name in sorted(wanted)}
    if entry and "candidate" in _names_in(compiled):
        found["candidate"] = code.name(entry)
    if not found:
        raise code.unfair("the test uses nothing that the code defines")
    return {"__name__": "tests", **{name: importlib.import_module(name) for name in modules}, **found}


def _run_test(test: str, entry: str | None, code: Code) -> str:
    """Run one test; says what went wrong."""
    try:
        compiled = compile(test, "<test>", "exec", dont_inherit=True)
        exec(compiled, _namespace(test, compiled, entry, code))  # noqa: S102 - the tests are the user's own
    except BaseException as error:  # noqa: BLE001 - an exit is a failure too
        return code.problem or _problem(error)
    return code.problem


def _in_child(job: dict[str, Any], number: int, pipe: Relayed) -> str:
    """Run one test in a child, so that it changes nothing for the next; then see to it that the code has ended."""
    told, telling = os.pipe()
    child = os.fork()
    code = Code(pipe)
    if not child:
        os.close(told)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        problem = _run_test(job["tests"][number][1], job["entry"], code)
        os.write(telling, json.dumps([problem, code.ended]).encode()[:60_000])
        os._exit(0)
    os.close(telling)
    with os.fdopen(told, "rb") as reading:
        said = reading.read()
    os.waitpid(child, 0)
    problem, code.ended = json.loads(said) if said else ("the test's process ended before the test was over", False)
    code.end()
    return problem


def main() -> None:
    """Read the job, run its tests, print the results."""
    # Where the kernel isolates nothing, code has the same user: it can't open this process's memory or streams.
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_NOT_DUMPABLE, 0, 0, 0, 0)
    job: dict[str, Any] = json.loads(sys.stdin.buffer.read())
    relay = Relay(int(sys.argv[1]), int(sys.argv[2]))
    pipe = Relayed(relay)
    try:
        relay.send(Relay.DATA, job["code"].encode(errors="surrogatepass"))
        for number in range(len(job["tests"])):
            problem = _in_child(job, number, pipe)
            os.write(1, f"{json.dumps([number, problem])}\n".encode())
    except (EOFError, UnfairError, WireError):
        return  # the code's process is gone: what has not run has failed
