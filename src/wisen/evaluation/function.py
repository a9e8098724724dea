"""Makes an evaluator of any function, so that a check is written the way it comes to mind."""

import inspect
import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from wisen.errors import ConfigError, EvaluationError, WisenError
from wisen.records import ReflectionEvaluation, Task, Trace
from wisen.sandbox.isolated_call import Apart
from wisen.threads import in_thread

_LENT = ("task", "output", "trace")
_BY_COUNT = {1: ("output",), 2: ("task", "output"), 3: ("task", "output", "trace")}


Check = Callable[[str], Any] | Callable[[Task, str], Any] | Callable[[Task, str, Trace], Any]
"""A function that judges an output."""


class FunctionEvaluator:
    """Judges with a function of `(output)`, `(task, output)` or `(task, output, trace)`.

    Parameters named `task`, `output` and `trace` are matched by name, in any order; others by their number. The
    function returns a bool, a float in [0, 1], either with a reason as `(verdict, reason)`, or a
    `ReflectionEvaluation`. Anything else, an exception and NaN are an `EvaluationError`; errors of wisen's own (a
    budget, say) pass through.

    A plain function runs in a thread, because it may block; that costs about 0.1 ms, and cancelling the run doesn't
    stop it. With `inline=True` it is called directly. A coroutine function is awaited. One that may never finish, such
    as a search with a pattern from outside, belongs in its own process: a thread would hold the interpreter, and no
    deadline could be kept.

    Args:
        function: The check.
        name: The judge's name; the function's own name if not given.
        verifiable: False for a function that guesses or asks a model.
        inline: Call a plain function on the event loop, for those that neither block nor compute for long.
        process: Call the function in another process, which is killed when the time is up. Define it at the top of a
            module or script; its arguments must be picklable. A call costs about 0.2 ms, the first one some 50 ms.
        threshold: The score from which an output counts as satisfactory.
    """

    def __init__(
        self,
        function: Check,
        *,
        name: str | None = None,
        verifiable: bool = True,
        inline: bool = False,
        process: bool = False,
        threshold: float = 0.8,
    ) -> None:
        if not 0.0 <= threshold <= 1.0:
            msg = f"FunctionEvaluator(threshold={threshold!r}): must be in [0, 1]"
            raise ConfigError(msg)
        self._function = cast("Callable[..., Any]", function)
        self._name = name or getattr(function, "__name__", type(function).__name__)
        self._verifiable = verifiable
        self._threshold = threshold
        call = getattr(function, "__call__", None)  # noqa: B004 - its kind is asked, not whether there is one
        self._inline = inline or inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)
        if inline and process:
            raise ConfigError(f"evaluator {self._name!r}: inline=True and process=True exclude each other")
        self._apart = Apart(function, self._name) if process else None
        self._positional, self._keywords = _parameters(function, self._name)

    @property
    def name(self) -> str:
        """The judge's name."""
        return self._name

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:
        """Call the function and read its verdict."""
        lent: dict[str, object] = {"task": task, "output": output, "trace": trace}
        arguments = [lent[name] for name in self._positional]
        keywords = {name: lent[name] for name in self._keywords}
        try:
            if self._apart is not None:
                verdict = await self._apart(arguments, keywords)
            elif self._inline:
                verdict = self._function(*arguments, **keywords)
            else:
                verdict = await in_thread(self._called, arguments, keywords)
            if inspect.isawaitable(verdict):
                verdict = await verdict
        except WisenError:
            raise
        except Exception as error:
            msg = f"evaluator {self._name!r} failed with {type(error).__name__}; the score is unknown"
            raise EvaluationError(msg) from error
        return self._read(verdict)

    def _called(self, arguments: Sequence[object], keywords: Mapping[str, object]) -> object:
        """The verdict; a thread can hand over any error but one, for which its caller would wait for ever."""
        try:
            return self._function(*arguments, **keywords)
        except StopIteration as error:
            msg = f"evaluator {self._name!r} failed with StopIteration; the score is unknown"
            raise EvaluationError(msg) from error

    def _read(self, verdict: object) -> ReflectionEvaluation:
        reason = ""
        if isinstance(verdict, ReflectionEvaluation):
            if not verdict.known:
                raise EvaluationError(f"evaluator {self._name!r} returned an unknown score")
            return replace(verdict, evaluator=verdict.evaluator or self._name)
        if isinstance(verdict, tuple):
            pair = cast("tuple[object, ...]", verdict)
            if len(pair) != 2 or not isinstance(pair[1], str):  # noqa: PLR2004 - a verdict and a reason
                raise EvaluationError(f"evaluator {self._name!r} returned a tuple that isn't (verdict, reason)")
            verdict, reason = pair[0], pair[1]
        score = self._score(verdict)
        passed = score >= self._threshold
        return ReflectionEvaluation(
            overall_score=score,
            satisfactory=passed,
            issues=(reason,) if reason and score < 1.0 else (),
            verifiable=self._verifiable,
            evaluator=self._name,
        )

    def _score(self, verdict: object) -> float:
        if type(verdict).__module__ == "numpy":
            verdict = cast("Any", verdict).item()
        if not isinstance(verdict, numbers.Real):
            kind = type(verdict).__name__
            msg = (
                f"evaluator {self._name!r} returned {kind}; return a bool, a float, (verdict, reason) or an evaluation"
            )
            raise EvaluationError(msg)
        score = float(verdict)
        if math.isnan(score) or not 0.0 <= score <= 1.0:
            raise EvaluationError(f"evaluator {self._name!r} returned {score!r}; a score is in [0, 1]")
        return score


def _parameters(function: Callable[..., Any], name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What to pass by position and what by keyword."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return ("output",), ()
    by_position = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in by_position if p.default is p.empty]
    keyword_only = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    if set(keyword_only) - set(_LENT):
        raise ConfigError(f"evaluator {name!r} requires the keywords {keyword_only}; only {list(_LENT)} can be given")
    named = [p.name for p in by_position if p.kind is p.POSITIONAL_OR_KEYWORD and p.name in _LENT]
    if named and all(p.name in named for p in required):
        return (), (*named, *keyword_only)
    taken = len(required)
    if not taken:
        taken = 1 if by_position else 3 * any(p.kind is p.VAR_POSITIONAL for p in parameters)
    if taken not in _BY_COUNT and not keyword_only:
        raise ConfigError(
            f"evaluator {name!r} takes {taken} arguments; it must take output, task and output, or all of {_LENT}"
        )
    return _BY_COUNT.get(taken, ()), tuple(keyword_only)
