"""Any async function, and any other framework's agent, as an architecture."""

import inspect
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast
from warnings import warn

from wisen import models
from wisen.advice.frame import OwnRun, episode_note, section
from wisen.answer_text import output_text
from wisen.architectures.introspection import inward
from wisen.architectures.results import answer_of, usage_of
from wisen.deadlines import calling
from wisen.errors import ConfigError
from wisen.events import Degraded, Event, described
from wisen.json_values import encodable
from wisen.records import TokenUsage
from wisen.screening.taint import UNSEEN
from wisen.session import AgentSession, Architecture, BoundAdvice, Dependencies

if TYPE_CHECKING:
    from pydantic_ai.models import Model

_LENT = ("model", "deps", "session", "advice")


class Wrapped:
    """Runs a callable as the attempt.

    The callable gets the prompt as its first argument, and of `model`, `deps`, `session` and `advice` those that its
    signature names. Calls through `model` (a pydantic-ai `Model`) carry the attempt's advice, count against its budget
    and stand in its trace. A pydantic-ai agent keeps its own model: its calls go through it, and carry the advice too.

    An object with `ainvoke`, such as a LangGraph graph, is called with `{"messages": […]}`: the advice as a system
    message, then the prompt.

    Any other callable that brings a model of its own can't be reached that way: let it take `advice` (a text), or pass
    `advice_in_prompt=True`. Else a learner warns of it when it is made, and each run that had advice is degraded.

    What a model out of reach used is booked when the attempt has ended, so no attempt begins on a budget used up.

    Args:
        target: An async function, or an object with an async method `run` or `ainvoke` such as another framework's
            agent.
        output: Reads the answer's text from what the callable returns; by default a string itself, the last of its
            messages, or its `.output_text`, `.output`, `.final_output`, `.content` or `.text`. An output that is no
            string is kept as `structured`, and its JSON is the text.
        usage: Reads what the callable's own model used from what it returns. By default, and only where that model is
            out of reach, its `.usage`, its `.context_wrapper.usage`, or the `usage_metadata` of its new messages; where
            it has none of these, nothing is counted.
        advice_in_prompt: Put the advice before the prompt, and nowhere else.
        name: Name of the architecture; the callable's own by default.
        options: More arguments of each call, such as `{"deps": …, "message_history": …}`.

    """

    def __init__(
        self,
        target: object,
        *,
        output: Callable[[Any], str] | None = None,
        usage: Callable[[Any], TokenUsage] | None = None,
        advice_in_prompt: bool = False,
        name: str | None = None,
        options: Mapping[str, object] | None = None,
    ) -> None:
        named = () if inspect.isroutine(target) else ("run", "ainvoke")
        method = next((name for name in named if hasattr(target, name)), "")
        call: object = getattr(target, method) if method else target
        if not callable(call):
            raise ConfigError(
                f"Wrapped({type(target).__name__!r}): neither callable nor an object with an async run() or ainvoke(); "
                "pass an async function that calls it"
            )
        known = cast("Callable[..., object]", call)
        self._call: Callable[..., object] = partial(_converse, known) if method == "ainvoke" else known
        # Another framework's `run(deps=…)` means dependencies of its own.
        lendable = {"run": ("model",), "ainvoke": () if advice_in_prompt else ("advice",)}.get(method, _LENT)
        self._lent = _named_parameters(self._call, lendable)
        self._output = output if output is not None else _text_of_result
        self._usage = usage
        self.advice_in_prompt = advice_in_prompt
        self.options: Mapping[str, object] = dict(options or {})
        self.model = self.options.get("model", _model_of(target)) if "model" in self._lent else None
        """The model that the callable brings and wisen can reach; `None` where it has none of its own."""
        self.name: str = name if name is not None else str(getattr(target, "__name__", type(target).__name__))

    @property
    def borrows_model(self) -> bool:
        """Whether the callable takes the run's model."""
        return bool({"model", "deps"} & set(self._lent))

    @property
    def carries_advice(self) -> bool:
        """Whether a run's advice reaches the callable's model."""
        return self.advice_in_prompt or self.borrows_model or "advice" in self._lent

    def declared_workers(self) -> Mapping[str, object]:
        """None that it could know of."""
        return {}

    async def run(self, session: AgentSession, deps: Dependencies, prompt: str) -> AsyncIterator[Event]:
        """See `Architecture.run`."""
        session.recorder.next_step()
        advice = "\n\n".join(_as_text(bound) for bound in deps.bound_advice)
        model = deps.model
        if self.model is not None:
            own = cast("Model | str", self.model)
            model = models.with_bound_advice(deps.bind(own, "attempt"), deps.bound_advice)
        lendable: dict[str, object] = {"model": model, "deps": deps, "session": session, "advice": advice}
        lent = {**self.options, **{name: lendable[name] for name in self._lent}}
        if advice and not self.carries_advice:
            error = f"{self.name!r} brings a model of its own, and takes no advice"
            yield Degraded(stage="recall", error=error, skipped="the lessons of this attempt")
        in_prompt = bool(advice) and self.advice_in_prompt
        carried = in_prompt or (bool(advice) and "advice" in lent)
        session.recorder.add("note", text="what the agent reads isn't known", **{UNSEEN: True})
        answered = await self._answered(session, deps, f"{advice}\n\n{prompt}" if in_prompt else prompt, lent)
        answer = answer_of(answered)
        session.structured = None if isinstance(answer, str) else answer
        session.turns += 1
        if carried:
            for bound in deps.bound_advice:
                bound.delivered()
        session.recorder.add("output", text=session.output)

    async def _answered(
        self, session: AgentSession, deps: Dependencies, prompt: str, lent: Mapping[str, object]
    ) -> object:
        """Call it, book what its own model used, and read its answer."""
        apart = self._usage is not None or (self.model is None and not self.borrows_model)
        used = TokenUsage()
        if apart:
            session.meter.admit()
        try:
            with calling(f"agent {self.name!r}", limit="run"):
                result = self._call(prompt, **lent)
                if not inspect.isawaitable(result):
                    raise ConfigError(
                        f"Wrapped({self.name!r}): it isn't async; wrap blocking code in asyncio.to_thread"
                    )
                answered: object = await result
                if apart:
                    used = self._used(answered, prompt, deps)
                session.output = encodable(self._output(answered))
        finally:
            if apart:
                session.meter.settle(used)
        return answered

    def _used(self, answered: object, prompt: str, deps: Dependencies) -> TokenUsage:
        """What its own model used; nothing where that can't be told."""
        if self._usage is None:
            return usage_of(answered, prompt) or TokenUsage()
        try:
            used = cast("object", self._usage(answered))
        except Exception as error:  # noqa: BLE001 - a user's code; its failure isn't the attempt's
            deps.emit(Degraded(stage="attempt", error=described(error), skipped="the usage of this attempt"))
            return TokenUsage()
        if not isinstance(used, TokenUsage):
            raise ConfigError(f"Wrapped({self.name!r}, usage=…): it gave {type(used).__name__!r}, not a TokenUsage")
        return used


def as_architecture(base: object) -> Architecture:
    """An architecture as it is; a callable or another framework's agent wrapped."""
    if hasattr(base, "declared_workers") and hasattr(base, "run"):
        return cast("Architecture", base)
    return Wrapped(base)


def own_model(architecture: object) -> object:
    """The model that the agent brings which an architecture is built on; `None` where it brings none."""
    wrapped = _wrapped_in(architecture)
    return None if wrapped is None else wrapped.model


def warn_of_bundled_model(architecture: Architecture, evaluator: object) -> None:
    """Warn where the bundled model will judge or reflect for an agent that answers by another one, out of reach."""
    wrapped = _wrapped_in(architecture)
    if wrapped is None or wrapped.model is not None or wrapped.borrows_model:
        return
    judges = evaluator or getattr(architecture, "evaluator", None)
    parts = {"evaluate": judges, "reflect": getattr(architecture, "reflector", None)}
    # A part that asks a model says which one; `None` is the run's own.
    roles = [role for role, part in parts.items() if part is not None and getattr(part, "model", part) is None]
    if roles:
        warn(
            f"the bundled model will {' and '.join(roles)}, since wisen can't reach the one of {wrapped.name!r}; "
            "pass Agent(model=…) to choose another",
            stacklevel=3,
        )


def runs_others_code(architecture: object) -> bool:
    """Whether the architecture, or what it is built on, isn't ours: what such code does can't be known."""
    ours = __name__.partition(".")[0]
    return any(
        isinstance(one, Wrapped) or type(one).__module__.partition(".")[0] != ours for one in inward(architecture)
    )


def _wrapped_in(architecture: object) -> Wrapped | None:
    return next((one for one in inward(architecture) if isinstance(one, Wrapped)), None)


def _model_of(target: object) -> object:
    """An agent's own model, or its name."""
    model: object = getattr(target, "model", None)
    return model if isinstance(model, str) or hasattr(model, "request") else None


def _named_parameters(call: Callable[..., object], names: tuple[str, ...]) -> tuple[str, ...]:
    try:
        parameters = inspect.signature(call).parameters
    except (TypeError, ValueError):  # some builtins have no signature
        return ()
    return tuple(name for name in names if name in parameters)


def _converse(invoke: Callable[..., object], prompt: str, *, advice: str = "", **options: object) -> object:
    """Ask a graph whose state is a conversation."""
    told = [{"role": "system", "content": advice}] if advice else []
    return invoke({"messages": [*told, {"role": "user", "content": prompt}]}, **options)


def _text_of_result(result: object) -> str:
    answer = answer_of(result)
    said = "" if answer is None else output_text(answer)
    if not said and not isinstance(answer, str):
        raise ConfigError(
            f"the wrapped callable returned {type(result).__name__!r}, which holds no text; pass Wrapped(…, output=…)"
        )
    return said


def _as_text(bound: BoundAdvice) -> str:
    advice = bound.advice
    turns = section([episode_note("solved before", *turn) for turn in advice.turns], "", OwnRun())
    return "\n\n".join(part for part in (advice.section, turns) if part)
