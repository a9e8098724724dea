"""Which views a store has: one address of each sort, with the most to show."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from wisen.cards import MemoryCard, MemoryStatus
from wisen.recall import CardFilter
from wisen.records import RunRecord
from wisen.stores.sqlite.store import SQLiteVectorStore

_Found = TypeVar("_Found")


def run_apart(work: Coroutine[Any, Any, _Found]) -> _Found:
    """What it comes to, in a thread of its own: a browser's driver has a loop running in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def views_of(store: Path, tenant: str = "") -> dict[str, str]:
    """The address of each view, by a name for people."""
    cards, runs = run_apart(_read(store, tenant))
    lessons = {
        "a lesson in quarantine": _first(cards, lambda one: one.status is MemoryStatus.QUARANTINED and not one.trials),
        "a lesson on trial": max(cards, key=_drawn),
        "a promoted lesson": _first(cards, lambda one: one.status is MemoryStatus.PROMOTED and bool(one.evidence)),
        "a pinned lesson": _first(cards, lambda one: one.pinned),
        "an archived lesson": _first(cards, lambda one: one.status is MemoryStatus.ARCHIVED),
        "a rejected lesson": _first(cards, lambda one: one.status is MemoryStatus.REJECTED),
        "a held lesson": _first(cards, lambda one: bool(one.held)),
        "another wording": _first(cards, lambda one: bool(one.idea)),
        "a lesson with a rival": _first(cards, lambda one: bool(one.rivals)),
        "an episode": _first(cards, lambda one: one.is_episode),
    }
    told = {
        "a run with three attempts": _first(runs, lambda one: len(one.attempts) == 3),
        "a run under way": _first(runs, lambda one: one.status == "unfinished"),
        "a run that nobody judged": _first(runs, lambda one: one.status == "unevaluated"),
    }
    held, run = lessons["a held lesson"], told["a run with three attempts"]
    return {
        "what needs a decision": "/",
        "lessons": "/lessons",
        "lessons, page 7": "/lessons?page=7",
        "lessons that are held": "/lessons?awaits=release",
        "lessons that are promoted": "/lessons?status=promoted",
        "lessons by a search": f"/lessons?q={quote(run.task.prompt)}",
        "no lesson": "/lessons?status=candidate",
        **{name: f"/lessons/{one.id}" for name, one in lessons.items()},
        "a lesson's text": f"/lessons/{held.id}/text/content",
        "runs": "/runs",
        "runs, page 7": "/runs?page=7",
        **{name: f"/runs/{one.run_id}" for name, one in told.items()},
        "a run's answer": f"/runs/{run.run_id}/text/answer",
        "no such lesson": "/lessons/none",
        "no such page": "/none",
    }


async def _read(store: Path, tenant: str) -> tuple[list[MemoryCard], list[RunRecord]]:
    async with SQLiteVectorStore(store, read_only=True) as opened:
        return await opened.list(CardFilter(tenant=tenant), limit=100_000), await opened.runs(
            tenant=tenant, limit=2_000
        )


def _drawn(card: MemoryCard) -> int:
    return sum(one.runs for trial in card.trials for one in (*trial.counts, *trial.before))


def _first(found: Iterable[_Found], fits: Callable[[_Found], bool]) -> _Found:
    return next(one for one in found if fits(one))
