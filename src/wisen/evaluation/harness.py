"""Runs code under test inside the sandbox, each test in a process of its own, and reports what really passed.

`PythonTestsEvaluator` runs this file as `python -I harness.py` and writes one JSON object to its stdin: `code`,
`tests` as pairs of name and source, `entry` and `nonce`. For each test it prints a line of the nonce and JSON
`[number, problem]`; no problem is "". A test has passed only if it came to its end: its process then sends a secret
through a pipe. Exit codes count for nothing, and what the code prints is dropped.
"""

import builtins
import ctypes
import json
import os
import secrets
import sys
from typing import Any

_NOT_DUMPABLE = 4


def _problem(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[-1][:160]}" if text else type(error).__name__


def _names(code: str, entry: str | None) -> dict[str, Any]:
    """What a test sees of the code: its names, and its entry as `candidate`; `builtins` are as before it ran."""
    current = builtins.__dict__
    original = dict(current)
    module: dict[str, Any] = {"__name__": "solution"}
    exec(compile(code, "<output>", "exec", dont_inherit=True), module)  # noqa: S102 - what a sandbox is for
    current.update(original)
    if not entry:
        return module
    if entry not in module:
        raise NameError(f"the code doesn't define {entry}")
    names = {name: value for name, value in module.items() if name == entry or name not in original}
    return {**names, "candidate": module[entry]}


def _run_test(job: dict[str, Any], number: int) -> str:
    """Run one test in a child; says what went wrong."""
    secret = secrets.token_hex(16)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        write, end, dumps, run = os.write, os._exit, json.dumps, exec
        try:
            test = compile(job["tests"][number][1], "<test>", "exec", dont_inherit=True)
            run(test, _names(job["code"], job["entry"]))
            said = secret
        except BaseException as error:  # noqa: BLE001 - an exit is a failure too
            said = _problem(error)
        write(writing, dumps(said).encode()[:4000])
        end(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read(4000)
    os.waitpid(child, 0)
    try:
        said = json.loads(told)
    except ValueError:
        return "the process ended before the test was over"
    return "" if said == secret else str(said) or "failed"


def main() -> None:
    """Read the job, run its tests, print the results."""
    # The tests' processes have the same user: without this they could open this one's memory through /proc.
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_NOT_DUMPABLE, 0, 0, 0, 0)
    job = json.loads(sys.stdin.buffer.read())
    nonce = job.pop("nonce")
    for number in range(len(job["tests"])):
        problem = _run_test(job, number)
        os.write(1, f"{nonce} {json.dumps([number, problem])}\n".encode())


if __name__ == "__main__":
    main()
