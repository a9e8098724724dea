"""Checks that decide without a model's opinion: functions, patterns, schemas, references, commands."""

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from wisen.errors import ConfigError, EvaluationError, SandboxError
from wisen.evaluation.function import FunctionEvaluator
from wisen.evaluation.regex_search import found, has_patterns, violations
from wisen.records import ReflectionEvaluation, Task, Trace
from wisen.sandbox.isolated_call import Apart
from wisen.sandbox.sandbox import Sandbox, SandboxLimits
from wisen.threads import in_thread

__all__ = [
    "CommandEvaluator",
    "FunctionEvaluator",
    "JsonSchemaEvaluator",
    "ReferenceEvaluator",
    "RegexEvaluator",
    "normalised",
]

_FENCE = re.compile(r"^```[\w+-]{0,20}[ \t]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_ISSUE_CHARACTERS = 300
_AROUND = " \t\n.,;:!?\"'`*_()[]{}<>"


def _verdict(name: str, issues: Sequence[str], isolation: tuple[str, ...] | None = None) -> ReflectionEvaluation:
    """Passed if there are no issues; verifiable unless a program was run without any isolation."""
    return ReflectionEvaluation(
        overall_score=0.0 if issues else 1.0,
        satisfactory=not issues,
        issues=tuple(issue[:_ISSUE_CHARACTERS] for issue in issues),
        verifiable=isolation is None or bool(isolation),
        isolation=isolation,
        evaluator=name,
    )


class RegexEvaluator:
    """Passes an output in which a pattern is found, or with `full=True` one that it matches from end to end.

    The search runs in another process, so a pattern whose time explodes holds nothing up: the score is then unknown.

    Args:
        pattern: Text of a pattern, or a compiled one (`flags` are then its own).
        full: Match the whole output, without the white space around it.
        flags: Flags of `re`, such as `re.IGNORECASE`.
        name: The judge's name.
    """

    def __init__(
        self, pattern: str | re.Pattern[str], *, full: bool = False, flags: int = 0, name: str = "regex"
    ) -> None:
        try:
            self._pattern = pattern if isinstance(pattern, re.Pattern) else re.compile(pattern, flags)
        except re.error as error:
            raise ConfigError(f"RegexEvaluator(pattern={pattern!r}): {error}") from error
        self._full = full
        self._name = name
        self._found = Apart(found, name)

    @property
    def name(self) -> str:
        """The judge's name."""
        return self._name

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:  # noqa: ARG002 - protocol
        """Search the output."""
        arguments = (self._pattern.pattern, self._pattern.flags & ~re.DEBUG, output)
        passed = await self._found(arguments, {"full": self._full})
        how = "match as a whole" if self._full else "contain a match of"
        return _verdict(self._name, [] if passed else [f"the output doesn't {how} /{self._pattern.pattern}/"])


class JsonSchemaEvaluator:
    """Passes an output that is JSON, bare or in a fenced block, and valid under a schema.

    References to other documents aren't fetched; a schema that needs one makes an `EvaluationError`.

    Args:
        schema: A JSON schema; without `$schema` it is read as draft 2020-12.
        name: The judge's name.
    """

    def __init__(self, schema: Mapping[str, object] | bool, *, name: str = "json_schema") -> None:
        from jsonschema import Draft202012Validator, SchemaError, validators  # noqa: PLC0415 - slow to import

        plain: Any = dict(schema) if isinstance(schema, Mapping) else schema
        kind: Any = cast("Any", validators).validator_for(plain, default=Draft202012Validator)
        try:
            kind.check_schema(plain)
        except SchemaError as error:
            raise ConfigError(f"JsonSchemaEvaluator(schema=…): {error.message}") from error
        self._schema: Any = plain
        self._apart = Apart(violations, name) if has_patterns(plain) else None
        self._name = name

    @property
    def name(self) -> str:
        """The judge's name."""
        return self._name

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:  # noqa: ARG002 - protocol
        """Read and validate; every violation is an issue."""
        try:
            value = _json_of(output)
        except (ValueError, RecursionError) as error:
            problem = f"line {error.lineno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else "not readable"
            return _verdict(self._name, [f"the output isn't JSON: {problem}"])
        asked = (self._schema, value)
        issues = violations(*asked) if self._apart is None else await self._apart(asked)
        if issues is None:
            raise EvaluationError(f"evaluator {self._name!r}: a reference in the schema can't be resolved")
        return _verdict(self._name, issues)


def _json_of(output: str) -> object:
    """The value of a text that is JSON, or of its first fenced block that is. Raises `ValueError`."""
    try:
        return json.loads(output)
    except ValueError:
        for block in _FENCE.finditer(output):
            try:
                return json.loads(block[1])
            except ValueError:
                continue
        raise


def normalised(text: str) -> str:
    """`text` in one case and Unicode form, with single spaces, and without punctuation or Markdown around it."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(_AROUND)


class ReferenceEvaluator:
    """Passes an output that equals the known answer.

    Args:
        reference: The answer; `None` takes the task's own. A task without one makes an `EvaluationError`.
        normalise: Compare `normalised` texts; False compares them as they are; or a function that makes a text
            comparable.
        name: The judge's name; "exact" or "reference" if not given.
    """

    def __init__(
        self,
        reference: str | None = None,
        *,
        normalise: bool | Callable[[str], str] = True,
        name: str | None = None,
    ) -> None:
        self._reference = reference
        plain: Callable[[str], str] = normalised if normalise else str
        self._comparable = plain if isinstance(normalise, bool) else normalise
        self._name = name or ("reference" if normalise else "exact")

    @property
    def name(self) -> str:
        """The judge's name."""
        return self._name

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:  # noqa: ARG002 - protocol
        """Compare. The issue doesn't give the answer away: it may reach a later prompt."""
        reference = task.reference if self._reference is None else self._reference
        if reference is None:
            raise EvaluationError(f"evaluator {self._name!r} has no reference; give it one, or give the task one")
        try:
            if self._comparable in (normalised, str):
                equal = self._comparable(output) == self._comparable(reference)
            else:
                equal = await in_thread(lambda: self._comparable(output) == self._comparable(reference))
        except Exception as error:
            msg = f"evaluator {self._name!r}: its normalising function failed with {type(error).__name__}"
            raise EvaluationError(msg) from error
        return _verdict(self._name, [] if equal else ["the output differs from the expected answer"])


class CommandEvaluator:
    """Passes an output for which a command, run in the sandbox, exits with 0.

    The command gets the output on stdin, and as a file whose path replaces `{output}` in its arguments. It runs in an
    empty directory with a bare environment, so name the files it needs by absolute paths. No shell is involved.

    Args:
        command: Program and arguments.
        timeout: Seconds of wall time, in place of `limits.wall_seconds`.
        limits: The sandbox's limits.
        name: The judge's name; the program's name if not given.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        timeout: float | None = None,
        limits: SandboxLimits | None = None,
        name: str | None = None,
    ) -> None:
        if (
            isinstance(command, str)
            or not command
            or not all(isinstance(part, str) for part in cast("Sequence[object]", command))
        ):
            raise ConfigError(f"CommandEvaluator(command={command!r}): give a list: the program and its arguments")
        limits = limits or SandboxLimits()
        self._sandbox = Sandbox(limits if timeout is None else replace(limits, wall_seconds=timeout))
        self._command = tuple(command)
        self._name = name or self._command[0].rsplit("/", 1)[-1]

    @property
    def name(self) -> str:
        """The judge's name."""
        return self._name

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:  # noqa: ARG002 - protocol
        """Run the command; its last lines become the issue."""
        data = output.encode(errors="replace")
        argv = [part.replace("{output}", "./output.txt") for part in self._command]
        try:
            result = await self._sandbox.run(argv, stdin=data, files={"output.txt": data})
        except SandboxError as error:
            raise EvaluationError(f"evaluator {self._name!r}: {error}") from error
        if result.passed:
            return _verdict(self._name, [], result.isolation)
        said = (result.stderr.strip() or result.stdout.strip()).splitlines()[-3:]
        issue = ": ".join((result.ending, *filter(None, (" / ".join(said),))))
        return _verdict(self._name, [issue], result.isolation)
