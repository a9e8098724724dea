"""Holds the finer choices of a `Reflexion`, and what it learns with."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from wisen.advice.compiler import PromptCompiler
from wisen.architectures.selection import SELECTIONS, Selection
from wisen.deadlines import calling
from wisen.errors import ConfigError
from wisen.events import Escalated
from wisen.memory_ci.pipeline import MemoryCI
from wisen.protocols import Evaluator, Reflector, Screen
from wisen.screening.screens import DefaultScreen

_KEEPS = ("verified", "all", "none")


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningOptions:
    """Finer choices of `Reflexion`."""

    keep_successes: Literal["verified", "all", "none"] = "verified"
    """Which good answers become skill cards: those that an execution or exact check accepted, all, or none. Needs a
    lesson store."""
    exclude_rejected: bool = True
    """Whether an answer that a verifiable evaluator rejected is ruled out for the rest of the run. A constraint does it
    if the task has known choices and the model can be constrained; otherwise the advice does."""
    best_version: Selection = "highest_score"
    compiler: PromptCompiler = field(default_factory=PromptCompiler)
    screen: Screen = field(default_factory=DefaultScreen)
    """Screens lessons in block mode; with a store its `MemoryCI` has its own."""
    escalate: bool = False
    """Whether a run whose last attempt isn't good enough either ends as "escalated", with an event that says so."""
    on_escalation: Callable[[Escalated], Awaitable[None] | None] | None = None
    """Called when a run escalates: a function, plain or async. Passing one means `escalate=True`. An error in it
    becomes an event and loses nothing."""

    @property
    def escalates(self) -> bool:
        """Whether runs escalate."""
        return self.escalate or self.on_escalation is not None

    def __post_init__(self) -> None:
        """Refuse values that don't exist with `ConfigError`."""
        if self.keep_successes not in _KEEPS:
            raise ConfigError(
                f"LearningOptions(keep_successes={self.keep_successes!r}): must be one of {', '.join(_KEEPS)}"
            )
        if self.best_version not in SELECTIONS:
            raise ConfigError(
                f"LearningOptions(best_version={self.best_version!r}): must be one of {', '.join(SELECTIONS)}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningParts:
    """What a `Reflexion` learns with."""

    evaluator: Evaluator
    reflector: Reflector
    ci: MemoryCI | None
    """`None`: block mode."""
    block: str
    top_k: int
    options: LearningOptions

    def __post_init__(self) -> None:
        """Let the compiler use the very screen that lessons pass where it is the same: it knows what has passed."""
        compiler, screen = self.options.compiler, self.screen
        own = type(compiler) is PromptCompiler and type(compiler.screen) is type(screen) is DefaultScreen
        if own and compiler.screen is not screen and compiler.screen == screen:
            shared = replace(self.options, compiler=replace(compiler, screen=screen))
            object.__setattr__(self, "options", shared)

    @property
    def screen(self) -> Screen:
        """The screen that lessons pass."""
        return self.ci.screen if self.ci else self.options.screen


async def call_back(call: Callable[[Escalated], Awaitable[None] | None], escalated: Escalated) -> None:
    """Tell the user's function that a run was escalated. Raises what it raises."""
    with calling("the callback on_escalation"):
        waiting = call(escalated)
        if waiting is not None:
            await waiting
