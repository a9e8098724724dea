"""Passes a run's events on to those that watch it.

It stands apart because runs and memories have watchers, and neither knows the other.
"""

from collections.abc import Callable
from contextlib import nullcontext

from wisen import errors
from wisen.deadlines import RunTime
from wisen.errors import ModelError, WisenError
from wisen.events import Degraded, Event, RunCompleted, described


class Watchers:
    """Passes a run's events on to its watchers; none of them can end the run."""

    def __init__(self, watch: Callable[[Event], None] | None, sink: Callable[[Event], None] | None = None) -> None:
        """`watch` is the user's; `sink` reads the stream."""
        self._watch = watch
        self._sink = sink
        self._closed = False
        self.degradations: list[str] = []
        self.time: RunTime | None = None
        """The run's, once it has begun."""

    @property
    def any(self) -> bool:
        """Whether there is a watcher."""
        return self._watch is not None or self._sink is not None

    def __call__(self, event: Event) -> None:
        """Show an event to all, unless the run is over."""
        if self._closed:
            return
        self._closed = isinstance(event, RunCompleted)
        if isinstance(event, Degraded):
            self.degradations.append(f"{event.stage}: {_kept(event.error)}")
        if self._sink is not None:
            self._sink(event)
        if self._watch is None:
            return
        try:
            with nullcontext() if self.time is None else self.time.closing("the watcher"):
                self._watch(event)
        except Exception as error:  # noqa: BLE001 - a watcher is the user's code; the run goes on without it
            self._watch = None
            self(Degraded(stage="watch", error=described(error), skipped="a watcher that failed"))


def _kept(error: str) -> str:
    """What a record may hold of an error: all of those that quote nobody's text, and the type of the others."""
    name = error.partition(":")[0]
    kind: object = getattr(errors, name, None)
    ours = isinstance(kind, type) and issubclass(kind, WisenError) and not issubclass(kind, ModelError)
    return error if ours or name == "Interrupted" else name
