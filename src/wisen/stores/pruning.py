"""Lets go of what is kept for resuming: the recorded calls of runs that ended long ago."""

from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from wisen.protocols import RunLog
from wisen.records import ENDED, NEVER, RunRecord
from wisen.stores.maintenance import DropsCalls
from wisen.stores.paging import every_run

_AT_ONCE = 200


class PrunableStore(RunLog, DropsCalls, Protocol):
    """A store whose calls can be let go of by run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """What was let go of."""

    runs: int
    """Runs that ended before the time."""
    calls: int
    """Their recorded calls, now gone."""


async def prune_calls(
    store: PrunableStore,
    before: datetime,
    *,
    resumable: bool = False,
    progress: Callable[[int], None] = lambda _done: None,
) -> Pruned:
    """Remove the recorded calls of runs that ended before a time; their records stay.

    Runs that can still be resumed keep their calls: those under way, and those that failed or were cancelled. With
    `resumable` they lose them too if they began, or failed, before that time; such a run would start over. Replays,
    releases and cassettes keep theirs: their scopes aren't those of runs. `progress` hears how many runs are looked at.
    """
    seen = runs = calls = 0
    waiting: list[str] = []
    async with aclosing(every_run(store, tenant=None)) as records:
        async for record in records:
            seen += 1
            if (resumable or record.status in ENDED) and _end(record) < before:
                waiting.append(call_scope(record.run_id))
                runs += 1
            if len(waiting) == _AT_ONCE:
                calls += await store.drop_calls(waiting)
                waiting = []
            progress(seen)
    if waiting:
        calls += await store.drop_calls(waiting)
    return Pruned(runs=runs, calls=calls)


def call_scope(run_id: str) -> str:
    """The scope under which a run's calls are recorded."""
    return f"run:{run_id}"


def _end(record: RunRecord) -> datetime:
    began = record.started_at
    return (began if began.tzinfo else began.replace(tzinfo=NEVER.tzinfo)) + timedelta(seconds=record.seconds)
