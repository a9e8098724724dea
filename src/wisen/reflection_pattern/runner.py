"""What `ReflectionPattern.execute` needs of an agent and of a run's result, which are built on patterns themselves."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from wisen.records import Task

if TYPE_CHECKING:
    from wisen.reflection_pattern.history import ReflectionResult
    from wisen.session import Architecture


class Ended(Protocol):
    """A run's result, as `RunResult` is."""

    @property
    def metadata(self) -> Mapping[str, object]:
        """What the architecture has to say beyond the record."""
        ...

    @property
    def reflection(self) -> "ReflectionResult":
        """What a `ReflectionPattern` found. Raises `ConfigError` where none ran."""
        ...


class Runner(Protocol):
    """Runs tasks with an architecture, as an `Agent` does."""

    architecture: "Architecture"

    async def run(self, prompt: str | Task, *, run_id: str | None = None) -> Ended:
        """Work on a task."""
        ...
