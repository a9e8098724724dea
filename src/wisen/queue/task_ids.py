"""Where a task is in its batch, and what it is called elsewhere: in DBOS, and in the store that keeps its run.

It stands apart because every module of the queue names tasks, and it needs none of them.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class TaskId:
    """Where a task is: its batch, its place in it from 0, and how often it was sent again."""

    batch: str
    place: int
    round: int = 0
    rank: int = field(default=0, compare=False)
    """Its place among all tasks that were ever submitted: the lowest that waits is next, so what a dead worker had
    comes before what nobody has begun."""
    anew: int = field(default=0, compare=False)
    """How often its run was started over on request. Otherwise a task that is sent again goes on with its run."""

    @property
    def workflow(self) -> str:
        """The workflow's id."""
        return f"{self.batch}.{self.place}.{self.round}"

    @property
    def run_id(self) -> str:
        """The id of the task's run, the same wherever it is made, and each time that the task is sent again."""
        return f"{self.batch}-{self.place:05d}" + (f"-{self.anew}" if self.anew else "")
