"""What may be told of errors and log records outside of a run: nothing that could quote a prompt, lesson or answer."""

import ast
import linecache
import logging
import traceback
from functools import lru_cache

from wisen.errors import BudgetExceededError, MissingExtraError, ModelError, QueueError, SandboxError, StoreError
from wisen.stores.store_urls import shown_url

_QUOTE_NOBODY = (StoreError, QueueError, BudgetExceededError, MissingExtraError, SandboxError)
"""Errors whose messages are written in wisen, about addresses, ids and limits."""
_FRAMES = 8
_MOST_CHAINED = 5
_PARSES = 3
_GAP = "…"
_LOGS = frozenset({"debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log"})


def safe_message(error: BaseException) -> str:
    """The error's type, with its message where that can't hold anybody's text; one line."""
    name = type(error).__name__
    if isinstance(error, _QUOTE_NOBODY):
        return f"{name}: {' '.join(str(error).split())}"
    if isinstance(error, ModelError):
        return f"{name}: model {shown_url(error.model)!r}"
    status: object = getattr(error, "status_code", None)  # of a provider's answer; the rest of it may quote a prompt
    return f"{name}: status {status}" if isinstance(status, int) else name


def chain(error: BaseException) -> list[str]:
    """The error and what led to it, each as by `told`."""
    said: list[str] = []
    at: BaseException | None = error
    while at is not None and len(said) < _MOST_CHAINED:
        said.append(safe_message(at))
        at = at.__cause__ or (None if at.__suppress_context__ else at.__context__)
    return said


def raised_at(error: BaseException) -> list[str]:
    """Where it was raised, the innermost frames last; of source code, only the places."""
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    return [f"{_short(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames]


def safe_summary(error: BaseException) -> str:
    """The type of an error of anybody's code, and where it was raised: its message may quote a prompt."""
    return " at ".join([type(error).__name__, *raised_at(error)[-1:]])


def source_of(record: logging.LogRecord) -> str:
    """Where something was logged."""
    return f"{_short(record.pathname)}:{record.lineno}"


def template(record: logging.LogRecord) -> str:
    """What a record says as far as the program's source code says it, with "…" for every value put in.

    "" where the source can't be found: values may hold anybody's text, and can't be told from the rest afterwards.
    """
    source = "".join(linecache.getlines(record.pathname))
    return _messages(source).get(record.lineno, "") if source else ""


@lru_cache(maxsize=64)
def _messages(source: str) -> dict[int, str]:
    """The constant parts of the first argument of each call that logs, by the lines of the call."""
    tree = _parsed(source)
    if tree is None:
        return {}
    found: dict[int, str] = {}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _LOGS
            and node.args
        ):
            values = node.args[1] if node.func.attr == "log" and len(node.args) > 1 else node.args[0]
            if said := _constants(values):
                found.update(
                    dict.fromkeys(range(node.lineno, (node.end_lineno or node.lineno) + 1), " ".join(said.split()))
                )
    return found


def _parsed(source: str) -> ast.Module | None:
    """The source as a tree; `None` where it can't be parsed.

    Before Python 3.11.8 a parse fails if another one happens within it: what the garbage collector frees then may warn,
    and a warning is logged too. By the next attempt it is free.
    """
    for _ in range(_PARSES):
        try:
            return ast.parse(source)
        except SystemError:
            continue
        except (SyntaxError, ValueError, RecursionError):
            return None
    return None


def _constants(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_constants(part) or _GAP for part in parts)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return f"{_constants(left) or _GAP}{_constants(right) or _GAP}"
        case _:
            return ""


def _short(path: str) -> str:
    """The last two parts of a path, which tell the module without telling whose machine it is."""
    return "/".join(path.replace("\\", "/").split("/")[-2:])
