"""Builds evaluators from what tasks files and callers write: a kind with options, a function, a pattern, a list."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from importlib import import_module
from typing import Any, cast

from wisen.errors import ConfigError
from wisen.evaluation.checks import CommandEvaluator, JsonSchemaEvaluator, ReferenceEvaluator, RegexEvaluator
from wisen.evaluation.combine import AllOf, Weighted
from wisen.evaluation.comparison import ComparisonEvaluator
from wisen.evaluation.criteria import CriteriaEvaluator
from wisen.evaluation.function import Check, FunctionEvaluator
from wisen.evaluation.judge import JudgeEvaluator
from wisen.evaluation.unit_tests import PythonTestsEvaluator
from wisen.protocols import Evaluator
from wisen.sandbox.sandbox import SandboxLimits

Options = Mapping[str, object]
EvaluatorLike = Evaluator | Check | re.Pattern[str] | Sequence[Any]
"""An evaluator, a function of the output, a compiled pattern that it has to match, or a list of these."""

_FLAGS = {"ignore_case": re.IGNORECASE, "multiline": re.MULTILINE, "dot_all": re.DOTALL, "verbose": re.VERBOSE}


def as_evaluator(thing: EvaluatorLike) -> Evaluator:
    """Turn what a caller passed into an evaluator.

    An evaluator stays as it is. A compiled pattern becomes a `RegexEvaluator`, a list or tuple an `AllOf` of its
    members, and any other callable a `FunctionEvaluator`. Raises `ConfigError` for anything else.
    """
    if not isinstance(thing, type) and callable(getattr(thing, "evaluate", None)) and hasattr(thing, "name"):
        return cast("Evaluator", thing)
    if isinstance(thing, re.Pattern):
        return RegexEvaluator(thing)
    if isinstance(thing, (list, tuple)):
        return AllOf(*map(as_evaluator, cast("Sequence[Any]", thing)))
    if callable(thing):
        return FunctionEvaluator(thing)
    msg = (
        f"{type(thing).__name__} is no evaluator; pass an evaluator, a function, a compiled pattern, or a list of these"
    )
    raise ConfigError(msg)


def build_evaluator(kind: str, options: Options) -> Evaluator:
    """The evaluator of a tasks file's `kind` with its `options`. Raises `ConfigError` that names the valid ones.

    Options are those of the evaluators' constructors. There are some differences. `flags` of "regex" is a list of names
    ("ignore_case", "multiline", "dot_all", "verbose"). `limits` is a table of `SandboxLimits`' fields. "function" takes
    `function = "module:name"`. "all_of" and "weighted" take `evaluators`, a list of tables with `kind`, the options,
    and for "weighted" a `weight` (1 if not given).
    """
    if kind not in _KINDS:
        raise ConfigError(f"unknown evaluator kind {kind!r}{_hint(kind, _KINDS)}")
    make, types, required = _KINDS[kind]
    for option, value in options.items():
        if option not in types:
            raise ConfigError(f"evaluator {kind!r} has no option {option!r}{_hint(option, types)}")
        wanted = types[option]
        if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
            names = " or ".join(dict.fromkeys(_TYPE_NAMES[each] for each in wanted))
            raise ConfigError(f"evaluator {kind!r}: option {option!r} is {value!r}; it must be {names}")
    for option in required:
        if option not in options:
            raise ConfigError(f"evaluator {kind!r} needs the option {option!r}")
    return make(**_converted(options))


def _hint(given: str, valid: Iterable[str]) -> str:
    names = sorted(valid)
    close = get_close_matches(given, names, n=1)
    return (f"; did you mean {close[0]!r}?" if close else "") + f" (valid: {', '.join(names)})"


def _converted(options: Options) -> dict[str, Any]:
    converted: dict[str, Any] = dict(options)
    if "limits" in converted:
        converted["limits"] = _limits(converted["limits"])
    if "flags" in converted:
        converted["flags"] = _flags(converted["flags"])
    return converted


def _limits(table: Options) -> SandboxLimits:
    valid = {field.name for field in fields(SandboxLimits)}
    for name, value in table.items():
        if name not in valid:
            raise ConfigError(f"limits have no field {name!r}{_hint(name, valid)}")
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ConfigError(f"limits: {name!r} is {value!r}; it has to be a number")
        if not (name.endswith("_seconds") or isinstance(value, int)):
            raise ConfigError(f"limits: {name!r} is {value!r}; it has to be a whole number")
    return SandboxLimits(**cast("dict[str, Any]", dict(table)))


def _flags(names: Iterable[object]) -> int:
    flags = 0
    for name in names:
        if not isinstance(name, str) or name not in _FLAGS:
            raise ConfigError(f"unknown flag {name!r}{_hint(str(name), _FLAGS)}")
        flags |= _FLAGS[name]
    return flags


def _exact(**options: Any) -> Evaluator:  # noqa: ANN401 - options are checked by then
    return ReferenceEvaluator(**options, normalise=False)


def _function(function: str, **options: Any) -> Evaluator:  # noqa: ANN401 - options are checked by then
    module, colon, path = function.partition(":")
    if not (module and colon and path):
        raise ConfigError(f"evaluator 'function': {function!r} must be written as 'module:function'")
    try:
        found: object = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"evaluator 'function': {function!r} can't be imported: {error}") from error
    except (Exception, SystemExit) as error:
        said = " ".join(str(error).split())
        kind = type(error).__name__
        raise ConfigError(f"evaluator 'function': {function!r} can't be imported: {kind}: {said}") from error
    if not callable(found):
        raise ConfigError(f"evaluator 'function': {function!r} isn't a function")
    return FunctionEvaluator(found, **options)


def _members(tables: Iterable[object], owner: str, *, weights: bool) -> list[tuple[Evaluator, float]]:
    members: list[tuple[Evaluator, float]] = []
    for number, table in enumerate(tables, start=1):
        if not isinstance(table, Mapping) or "kind" not in table:
            raise ConfigError(f"evaluator {owner!r}: member {number} has to be a table with a 'kind'")
        options = dict(cast("Mapping[str, object]", table))
        weight = options.pop("weight", 1.0) if weights else 1.0
        if isinstance(weight, bool) or not isinstance(weight, (int, float)):
            raise ConfigError(f"evaluator {owner!r}: weight {weight!r} of member {number} must be a number")
        members.append((build_evaluator(str(options.pop("kind")), options), float(weight)))
    return members


def _all_of(evaluators: list[object], **options: Any) -> Evaluator:  # noqa: ANN401 - options are checked by then
    return AllOf(*(member for member, _ in _members(evaluators, "all_of", weights=False)), **options)


def _weighted(evaluators: list[object], **options: Any) -> Evaluator:  # noqa: ANN401 - options are checked by then
    return Weighted(_members(evaluators, "weighted", weights=True), **options)


_TEXT, _YES, _NUMBER, _LIST, _TABLE = (str,), (bool,), (int, float), (list, tuple), (Mapping,)
_TYPE_NAMES: Mapping[type, str] = {
    str: "text", bool: "true or false", int: "a whole number", float: "a number", list: "a list", tuple: "a list",
    Mapping: "a table",
}  # fmt: skip
_REFERENCE = {"reference": _TEXT, "name": _TEXT}
_KINDS: Mapping[str, tuple[Callable[..., Evaluator], Mapping[str, tuple[type, ...]], tuple[str, ...]]] = {
    "exact": (_exact, _REFERENCE, ()),
    "normalised": (ReferenceEvaluator, _REFERENCE, ()),
    "reference": (ReferenceEvaluator, {**_REFERENCE, "normalise": _YES}, ()),
    "regex": (RegexEvaluator, {"pattern": _TEXT, "full": _YES, "flags": _LIST, "name": _TEXT}, ("pattern",)),
    "json_schema": (JsonSchemaEvaluator, {"schema": (Mapping, bool), "name": _TEXT}, ("schema",)),
    "command": (
        CommandEvaluator,
        {"command": _LIST, "timeout": _NUMBER, "limits": _TABLE, "name": _TEXT},
        ("command",),
    ),
    "python_tests": (
        PythonTestsEvaluator,
        {
            "tests": (str, list),
            "entry": _TEXT,
            "partial": _YES,
            "limits": _TABLE,
            "require_isolation": _YES,
            "name": _TEXT,
        },
        ("tests",),
    ),
    "judge": (JudgeEvaluator, {"model": _TEXT, "prompt": _TEXT, "name": _TEXT, "threshold": _NUMBER}, ()),
    "criteria": (
        CriteriaEvaluator,
        {"criteria": _LIST, "model": _TEXT, "prompt": _TEXT, "name": _TEXT, "threshold": _NUMBER, "structured": _YES},
        (),
    ),
    "comparison": (
        ComparisonEvaluator,
        {"reference": _TEXT, "prior": _YES, "model": _TEXT, "prompt": _TEXT, "name": _TEXT, "threshold": _NUMBER},
        (),
    ),
    "function": (
        _function,
        {"function": _TEXT, "name": _TEXT, "verifiable": _YES, "inline": _YES, "process": _YES, "threshold": _NUMBER},
        ("function",),
    ),
    "all_of": (_all_of, {"evaluators": _LIST, "name": _TEXT}, ("evaluators",)),
    "weighted": (
        _weighted,
        {"evaluators": _LIST, "ignore_unknown": _YES, "threshold": _NUMBER, "name": _TEXT},
        ("evaluators",),
    ),
}
