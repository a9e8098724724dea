"""Judges code by running it against tests in the sandbox."""

import ast
import json
import re
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path

from wisen.errors import ConfigError, EvaluationError, SandboxError
from wisen.evaluation.sandbox import Sandbox, SandboxLimits, SandboxResult
from wisen.records import ReflectionEvaluation, Task, Trace

_HARNESS = Path(__file__).with_name("harness.py")
_FENCE = re.compile(r"^```[ \t]*(\w*)[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_NAME_CHARACTERS = 80


class PythonTestsEvaluator:
    """Runs the output's Python code with tests, in the sandbox; the score is the share of tests that pass.

    The code is the output's fenced block (the first that defines `entry`, else the longest Python one), or the whole
    output. Each test runs in a process of its own with the code freshly executed. It has passed when it came to its
    end without an exception: `sys.exit(0)`, `os._exit(0)`, printed text and a changed `builtins` don't pass for that.

    Not covered: code that searches the interpreter's own frames or memory for the secret that reports a pass, and
    objects that claim to equal everything. Tests that check types and several values are the remedy for the latter.

    Args:
        tests: Snippets, each a test; or one script, of which each top-level `assert` (with the statements before it)
            and each `test_…` function is a test.
        entry: A name that the code has to define; tests can call it `candidate`. Then no other name of the code hides a
            builtin from the tests.
        partial: False scores 0 unless all tests pass.
        limits: The sandbox's limits, for all tests together.
        name: Who judges.
    """

    def __init__(
        self,
        tests: str | Sequence[str],
        *,
        entry: str | None = None,
        partial: bool = True,
        limits: SandboxLimits | None = None,
        name: str = "python_tests",
    ) -> None:
        self._tests = _split(tests) if isinstance(tests, str) else [(_title(test), _parsed(test)[1]) for test in tests]
        if not self._tests:
            raise ConfigError(
                "PythonTestsEvaluator(tests=…): there is no test in it; write `assert`s or `test_…` functions"
            )
        self._entry = entry
        self._partial = partial
        self._sandbox = Sandbox(limits)
        self._name = name

    @property
    def name(self) -> str:
        """Who judges."""
        return self._name

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:  # noqa: ARG002 - protocol
        """Run all tests; each that fails is an issue, with the last line of its error."""
        nonce = secrets.token_hex(16)
        job = {"code": code_of(output, self._entry), "tests": self._tests, "entry": self._entry, "nonce": nonce}
        try:
            result = await self._sandbox.run([sys.executable, "-I", str(_HARNESS)], stdin=json.dumps(job).encode())
        except SandboxError as error:
            raise EvaluationError(f"evaluator {self._name!r}: {error}") from error
        problems = self._problems(result, nonce)
        failed = [f"{title}: {problem}" for (title, _), problem in zip(self._tests, problems, strict=True) if problem]
        share = 1 - len(failed) / len(self._tests)
        return ReflectionEvaluation(
            overall_score=share if self._partial or not failed else 0.0,
            satisfactory=not failed,
            issues=tuple(failed),
            verifiable=True,
            evaluator=self._name,
        )

    def _problems(self, result: SandboxResult, nonce: str) -> list[str]:
        """What went wrong in each test, in order; "" where nothing did."""
        problems = [result.ending if result.killed else "not run: the tests' process ended"] * len(self._tests)
        for line in result.stdout.splitlines():
            if line.startswith(nonce):
                number, problem = json.loads(line[len(nonce) :])
                problems[number] = problem
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
