"""In which order a card's tasks are tried, and tried again."""

from collections import deque
from collections.abc import Iterable
from dataclasses import replace

from wisen.records import Task
from wisen.replay.clusters import Planned

_NEAREST = 10


class Turns:
    """A card's tasks that wait: ten clusters, the nearest first, then what is tried again of them, then the next ten.

    A pair that made no difference may make one with another seed, and tells as much then as one of another task.
    """

    def __init__(self, tasks: Iterable[Planned] = ()) -> None:
        self._first = deque(tasks)
        self._again = deque[Planned]()
        self._clusters: set[str] = set()
        """Those whose turn it is."""

    def __len__(self) -> int:
        """How many wait."""
        return len(self._first) + len(self._again)

    @property
    def tasks(self) -> list[Task]:
        """Those that wait for their first turn, in their order."""
        return [one.task for one in self._first]

    def take(self) -> Planned:
        """The next one. Raises `IndexError` where none waits."""
        ended = not self._first or len({*self._clusters, self._first[0].cluster}) > _NEAREST
        if ended and self._again:
            return self._again.popleft()
        one = self._first.popleft()
        self._clusters = {one.cluster} if ended else {*self._clusters, one.cluster}
        return one

    def again(self, one: Planned) -> None:
        """Let a task wait for one more try."""
        self._again.append(replace(one, number=one.number + 1))

    def begins(self, cluster: str) -> bool:
        """Whether a task of the cluster waits for its first turn."""
        return any(one.cluster == cluster for one in self._first)

    def clear(self) -> None:
        """None waits any more."""
        self._first.clear()
        self._again.clear()
