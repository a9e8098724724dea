"""Any async function, and any other framework's agent, as an architecture."""

import inspect
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, cast

from wisen.errors import ConfigError
from wisen.events import Event
from wisen.protocols import Architecture
from wisen.session import AgentSession, BoundAdvice, Dependencies, encodable

_LENT = ("model", "deps", "session", "advice")


class Wrapped:
    """Runs a callable as the attempt.

    The callable gets the prompt as its first argument, and of `model`, `deps`, `session` and `advice` those that its
    signature names. Calls through `model` (a pydantic-ai `Model`) carry the attempt's advice, count against its budget
    and stand in its trace. A callable that brings a model of its own can't be reached that way: let it take `advice` (a
    text), or pass `advice_in_prompt=True`; else the run says in an event that its advice wasn't delivered.

    Args:
        target: An async function, or an object with an async method `run` such as another framework's agent.
        output: Reads the answer's text from what the callable returns; by default a string itself, or its `.output`,
            `.final_output`, `.content` or `.text`.
        advice_in_prompt: Put the advice before the prompt.
        name: Name of the architecture; the callable's own by default.

    """

    def __init__(
        self,
        target: object,
        *,
        output: Callable[[Any], str] | None = None,
        advice_in_prompt: bool = False,
        name: str | None = None,
    ) -> None:
        is_agent = not inspect.isroutine(target) and hasattr(target, "run")
        call: object = getattr(target, "run") if is_agent else target  # noqa: B009 - its type is unknown
        if not callable(call):
            raise ConfigError(f"Wrapped({type(target).__name__!r}): neither callable nor an object with an async run()")
        self._call = cast("Callable[..., object]", call)
        # Another framework's `run(deps=…)` means dependencies of its own.
        self._lent = _named_parameters(self._call, ("model",) if is_agent else _LENT)
        self._output = output if output is not None else _text_of_result
        self.advice_in_prompt = advice_in_prompt
        self.name: str = name if name is not None else str(getattr(target, "__name__", type(target).__name__))

    def declared_workers(self) -> Mapping[str, object]:
        """None that it could know of."""
        return {}

    async def run(self, session: AgentSession, deps: Dependencies, prompt: str) -> AsyncIterator[Event]:
        """See `Architecture.run`."""
        session.recorder.next_step()
        advice = "\n\n".join(_as_text(bound) for bound in deps.bound_advice)
        lendable: dict[str, object] = {"model": deps.model, "deps": deps, "session": session, "advice": advice}
        lent = {name: lendable[name] for name in self._lent}
        carried = bool(advice) and (self.advice_in_prompt or "advice" in lent)
        result = self._call(f"{advice}\n\n{prompt}" if advice and self.advice_in_prompt else prompt, **lent)
        if not inspect.isawaitable(result):
            raise ConfigError(f"Wrapped({self.name!r}): it isn't async; wrap blocking code in asyncio.to_thread")
        session.output = encodable(self._output(await result))
        session.turns += 1
        if carried:
            for bound in deps.bound_advice:
                bound.delivered()
        session.recorder.add("output", text=session.output)
        for event in ():  # an async generator has to yield somewhere
            yield event


def as_architecture(base: object) -> Architecture:
    """An architecture as it is; a callable or another framework's agent wrapped."""
    if hasattr(base, "declared_workers") and hasattr(base, "run"):
        return cast("Architecture", base)
    return Wrapped(base)


def _named_parameters(call: Callable[..., object], names: tuple[str, ...]) -> tuple[str, ...]:
    try:
        parameters = inspect.signature(call).parameters
    except (TypeError, ValueError):  # some builtins have no signature
        return ()
    return tuple(name for name in names if name in parameters)


def _text_of_result(result: object) -> str:
    if isinstance(result, str):
        return result
    for attribute in ("output", "final_output", "content", "text"):
        value = getattr(result, attribute, None)
        if isinstance(value, str):
            return value
    raise ConfigError(
        f"the wrapped callable returned {type(result).__name__!r}, which holds no text; pass Wrapped(…, output=…)"
    )


def _as_text(bound: BoundAdvice) -> str:
    advice = bound.advice
    turns = "\n\n".join(f"Task: {task}\nAccepted answer: {answer}" for task, answer in advice.turns)
    return "\n\n".join(part for part in (advice.section, turns) if part)
