"""Patterns of the caller's, which may compute without end: they are searched for in another process.

It stands apart because that process imports it, and mustn't wait for the checks' own imports.
"""

import re
from collections.abc import Mapping
from typing import Any, cast


def found(pattern: str, flags: int, output: str, *, full: bool) -> bool:
    """Whether the pattern is in the output, or with `full` is all of it."""
    compiled = re.compile(pattern, flags)
    return bool(compiled.fullmatch(output.strip()) if full else compiled.search(output))


def violations(schema: Any, value: object) -> list[str] | None:  # noqa: ANN401 - any JSON
    """How a value violates a JSON schema, in order; `None` where a reference in the schema can't be resolved."""
    import referencing  # noqa: PLC0415 - as below
    from jsonschema import Draft202012Validator, validators  # noqa: PLC0415 - slow to import
    from referencing.exceptions import Unresolvable  # noqa: PLC0415 - comes with jsonschema

    kind: Any = cast("Any", validators).validator_for(schema, default=Draft202012Validator)
    validator: Any = kind(schema, registry=cast("Any", referencing).Registry())
    try:
        errors = sorted(validator.iter_errors(value), key=lambda error: str(error.json_path))
    except (Unresolvable, RecursionError):
        return None
    return [f"{error.json_path}: {error.message}"[:_LONGEST] for error in errors]


def has_patterns(schema: object) -> bool:
    """Whether a schema may hold patterns."""
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            table = cast("Mapping[str, object]", one)
            if "pattern" in table or "patternProperties" in table:
                return True
            waiting += table.values()
        elif isinstance(one, list | tuple):
            waiting += cast("list[object]", one)
    return False


_LONGEST = 300
"""Characters of one violation."""
