"""`wisen run --replay-budget`: when the batch has ended, lessons without a verdict are tried on recorded runs."""

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from wisen.errors import WisenError
from wisen.explain.wording import counted, line

if TYPE_CHECKING:
    from wisen.agent import Agent
    from wisen.cli.batch_runner import BatchTask
    from wisen.memory_ci.pipeline import MemoryCI
    from wisen.replay.stages import Replayed

ReplayAttempts = Annotated[
    int | None,
    typer.Option(
        "--replay-budget",
        metavar="N",
        min=1,
        help="Then try lessons without a verdict on recorded runs, in N attempts at most.",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaysReport:
    """What the replays came to."""

    attempts: int = 0
    tokens: int = 0
    ideas: int = 0
    """How many lessons were tried."""
    promoted: int = 0
    archived: int = 0
    too_few: int = 0
    """Of those that are undecided, how many have too few clusters of like tasks for any verdict."""
    rules: int = 0
    """How many standing rules were tested."""
    dropped: int = 0
    """Of these, how many stand no more."""
    exhausted: bool = False
    """Whether the budget ended before everything was tried."""
    error: str = ""
    """Why they were broken off, where they were."""

    @property
    def line(self) -> str:
        """It in a line."""
        said = f"replays: {counted(self.attempts, 'attempt')} on {counted(self.ideas, 'lesson')}"
        said += f"; {self.promoted} promoted, {self.archived} archived"
        said += f"; too few clusters of like tasks for a verdict: {self.too_few}" if self.too_few else ""
        said += f"; {counted(self.rules, 'standing rule')} tested, {self.dropped} dropped" if self.rules else ""
        said += "; the budget is used up, and the next run goes on" if self.exhausted else ""
        return said + (f"; broken off: {line(self.error, 300)}" if self.error else "")


async def replay_after(agent: "Agent", ci: "MemoryCI", jobs: "Sequence[BatchTask]", attempts: int) -> ReplaysReport:
    """Try lessons on recorded runs. Raises nothing: the batch has its results, whatever becomes of this."""
    from wisen.cards import MemoryStatus  # noqa: PLC0415 - as above
    from wisen.replay.pairs import ReplayBudget  # noqa: PLC0415 - as above
    from wisen.replay.recorded_runs import RecordedOptions, replay_recorded  # noqa: PLC0415 - imports the agent

    evaluators = {(job.task.tenant, job.task.prompt): job.evaluator for job in jobs}
    tenants = {agent.tenant, *(job.task.tenant for job in jobs)}
    with progress() as watch:
        options = RecordedOptions(
            tenants=tenants, evaluator_of=lambda task: evaluators.get((task.tenant, task.prompt)), watch=watch
        )
        try:
            report = await replay_recorded(agent, ci, budget=ReplayBudget(attempts=attempts), options=options)
        except WisenError as error:
            return ReplaysReport(error=str(error))
        except asyncio.CancelledError:
            if (current := asyncio.current_task()) is not None:
                current.uncancel()
            return ReplaysReport(error="interrupted; what was bought is kept")
    statuses = Counter(one.status for one in report.cards)
    return ReplaysReport(
        attempts=report.attempts,
        tokens=report.tokens,
        ideas=len(report.cards),
        promoted=statuses[MemoryStatus.PROMOTED],
        archived=statuses[MemoryStatus.ARCHIVED],
        too_few=sum(bool(one.too_few) for one in report.cards if one.status is MemoryStatus.QUARANTINED),
        rules=len(report.rules),
        dropped=sum(one.verdict == "hurts" for one in report.rules),
        exhausted=bool(report.exhausted),
    )


@contextmanager
def progress() -> "Generator[Callable[[Replayed], None]]":
    """A line that says what is being tested, on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415 - only where it is seen

    with Console(stderr=True).status("replaying …") as spinner:
        pairs = Counter[str]()

        def watch(done: "Replayed") -> None:
            pairs[done.card_id] += 1
            counts = done.counts
            spinner.update(
                f"{pairs.total()} pairs, {len(pairs)} cards; round {done.round}, {done.stage}, {done.card_id[:12]}: "
                f"{counts.gained} gained, {counts.lost} lost, {counts.ties} ties"
            )

        yield watch
