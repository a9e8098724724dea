"""Judges code by running it against tests in the sandbox."""

import ast
import asyncio
import json
import os
import re
import sys
from collections.abc import Sequence

from wisen.errors import ConfigError, EvaluationError, SandboxError
from wisen.records import ReflectionEvaluation, Task, Trace
from wisen.sandbox.sandbox import FULL, Sandbox, SandboxLimits, SandboxResult
from wisen.sandbox.sandbox_root import PROGRAMS, SOURCES, interpreter, python_room
from wisen.sandbox.sandboxed.proxies import ENDED

_MAIN = "import sys; sys.path[:0] = sys.argv.pop(1).split(':'); from wisen.sandbox.sandboxed.{} import main; main()"
_FENCE = re.compile(r"^```[ \t]*(\w*)[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_NAME_CHARACTERS = 80


class PythonTestsEvaluator:
    """Runs the output's Python code with tests, in the sandbox; the score is the share of tests that pass.

    The code is the output's fenced block (the first that defines `entry`, else the longest Python one), or the whole
    output. For each test it is executed afresh, in a process that knows nothing of the tests: an empty root with a
    Python interpreter and its standard library, and nothing else. The tests run in another process, in the ordinary
    sandbox, and see the code's objects through a pipe. Calls and their results cross it as data.

    Results that are plain values (numbers, texts, bytes, dates, and containers of these) are compared where the tests
    are. An object of the code can be called and looked into; no comparison and no operator with a value of the test is
    left to it, and a test that tries has failed. So has one that uses nothing of the code.

    A verdict is `verifiable` only if the kernel granted the whole isolation; `isolation` says what it granted.

    Args:
        tests: Snippets, each a test; or one script, of which each top-level `assert` (with the statements before it)
            and each `test_…` function is a test.
        entry: A name that the code has to define; tests can call it `candidate`. Then no other name of the code hides a
            builtin from the tests.
        partial: False scores 0 unless all tests pass.
        limits: The sandboxes' limits, for all tests together; the code's process and the tests' have them each.
        require_isolation: If the kernel doesn't grant the whole isolation, run nothing: the score is then unknown.
        name: The judge's name.
    """

    def __init__(
        self,
        tests: str | Sequence[str],
        *,
        entry: str | None = None,
        partial: bool = True,
        limits: SandboxLimits | None = None,
        require_isolation: bool = False,
        name: str = "python_tests",
    ) -> None:
        self._tests = _split(tests) if isinstance(tests, str) else [(_title(test), _parsed(test)[1]) for test in tests]
        if not self._tests:
            raise ConfigError(
                "PythonTestsEvaluator(tests=…): there is no test in it; write `assert`s or `test_…` functions"
            )
        self._entry = entry
        self._partial = partial
        required = FULL if require_isolation else ()
        self._code = Sandbox(limits, room=python_room(), required=required)
        self._tests_sandbox = Sandbox(limits)
        self._name = name

    @property
    def name(self) -> str:
        """The judge's name."""
        return self._name

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:  # noqa: ARG002 - protocol
        """Run all tests; each that fails is an issue, with the last line of its error."""
        job = {"code": code_of(output, self._entry), "tests": self._tests, "entry": self._entry}
        try:
            tests, code = await self._run(json.dumps(job).encode())
        except SandboxError as error:
            raise EvaluationError(f"evaluator {self._name!r}: {error}") from error
        problems = self._problems(tests, code)
        failed = [f"{title}: {problem}" for (title, _), problem in zip(self._tests, problems, strict=True) if problem]
        share = 1 - len(failed) / len(self._tests)
        return ReflectionEvaluation(
            overall_score=share if self._partial or not failed else 0.0,
            satisfactory=not failed,
            issues=tuple(failed),
            verifiable=set(FULL) <= set(code.isolation),
            isolation=code.isolation,
            evaluator=self._name,
        )

    async def _run(self, job: bytes) -> tuple[SandboxResult, SandboxResult]:
        """Run tests and code side by side, joined by two pipes; how each of them ended."""
        answers, answering = os.pipe()
        calls, calling = os.pipe()
        places = f"{PROGRAMS}:{SOURCES}"  # in the room, and where there is none
        python = [interpreter(), "-I", "-S", "-c", _MAIN.format("guest"), places, str(calls), str(answering)]
        tests = [sys.executable, "-I", "-c", _MAIN.format("examiner"), str(SOURCES), str(answers), str(calling)]
        running = (
            asyncio.ensure_future(self._code.run(python, channel=(calls, answering))),
            asyncio.ensure_future(self._tests_sandbox.run(tests, stdin=job, channel=(answers, calling))),
        )
        try:
            code, judged = await asyncio.gather(*running)
        finally:
            for one in running:
                one.cancel()
            await asyncio.gather(*running, return_exceptions=True)
        return judged, code

    def _problems(self, tests: SandboxResult, code: SandboxResult) -> list[str]:
        """What went wrong in each test, in order; "" where nothing did."""
        ended = next((result.ending for result in (code, tests) if result.killed), "not run: the code's process ended")
        problems = [ended] * len(self._tests)
        for line in tests.stdout.splitlines():
            number, problem = json.loads(line)
            problems[number] = ended if code.killed and problem == ENDED else problem
        return problems


def code_of(output: str, entry: str | None = None) -> str:
    """The code in an output: a fenced block, the first that defines `entry`, else the longest; or all of the text."""
    blocks = [(block[1].lower(), block[2]) for block in _FENCE.finditer(output)]
    python = [code for language, code in blocks if language in ("python", "py", "python3", "")]
    if not python:
        return output
    if entry:
        defines = re.compile(
            rf"^(?:async\s+def|def|class)\s+{re.escape(entry)}\b|^{re.escape(entry)}\s*[:=]", re.MULTILINE
        )
        python = [code for code in python if defines.search(code)][:1] or python
    return max(python, key=len)


def _parsed(source: str) -> tuple[ast.Module, str]:
    try:
        return ast.parse(source), source
    except (SyntaxError, ValueError) as error:
        where = f" in line {error.lineno}" if isinstance(error, SyntaxError) else ""
        raise ConfigError(f"PythonTestsEvaluator(tests=…): a test isn't Python{where}: {_title(source)!r}") from error


def _title(source: str) -> str:
    lines = source.strip().splitlines()
    return lines[-1].strip()[:_NAME_CHARACTERS] if lines else ""


def _split(script: str) -> list[tuple[str, str]]:
    """The tests of a script, as names and sources; each source begins with the statements that come before it."""
    setup: list[str] = []
    functions: list[str] = []
    tests: list[tuple[str, str]] = []
    for statement in _parsed(script)[0].body:
        source = ast.unparse(statement)
        if isinstance(statement, ast.Assert):
            tests.append((_title(source), "\n".join([*setup, source])))
            continue
        setup.append(source)
        if isinstance(statement, ast.FunctionDef) and statement.name.startswith("test_"):
            functions.append(statement.name)
    return tests + [(name, "\n".join([*setup, f"{name}()"])) for name in functions]
