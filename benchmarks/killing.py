"""Kills workers at random moments while they do a batch, and counts at the provider what that cost.

`python benchmarks/killing.py` does 500 tasks on 4 workers with 100 kills, on a PostgreSQL of its own; `--tasks 60
--kills 10` shows the same in two minutes. It ends with status 1 where a promise was broken:

- every task ends exactly once in the results, and none is given up;
- no call is made again whose answer was kept; those that were under way at a kill are counted apart;
- no lesson is lost, and none is there twice;
- what a dead worker had goes on within 30 seconds, without anyone's help.
"""

import argparse
import asyncio
import itertools
import json
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

from wisen.queue.database import QueueConnection
from wisen.queue.jobs import BatchOptions, Job
from wisen.queue.queue import Batch, Queue
from wisen.recall import CardFilter
from wisen.records import RunRecord, Task
from wisen.stores.paging import every_card, every_run
from wisen.stores.postgres.store import PostgresVectorStore
from wisen.tasks.files import EvaluatorSpec
from wisen.testing.provider import FakeProvider, ProviderCall

QUEUE = "killing"
LIMIT = 30.0
_SERIAL = re.compile(r"no\. (\d+)")
_LOOK = 0.1
_ALIVE = 2
"""Workers that must be at work for one to be killed: that others take over is promised where there are others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is done."""

    tasks: int
    kills: int
    workers: int
    concurrency: int
    every: float
    """Seconds between kills, on average."""
    call: float
    """Seconds that a model call takes."""
    takeover: float
    seed: int


@dataclass(slots=True)
class Found:
    """What came of it."""

    kills: int = 0
    seconds: float = 0.0
    takeovers: list[float] = field(default_factory=list[float])
    """For each task that a killed worker had: seconds until somebody else had it."""


class Answers:
    """Answers that can be told apart: each has a number, so that it is known which one was kept."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    def __call__(self, prompt: str) -> str:
        """Half of the tasks are right at once, the others never."""
        with self._lock:
            number = next(self._numbers)
        task = re.search(r"task (\d+)", prompt)
        right = task is not None and int(task[1]) % 2 == 0
        return f"{'right' if right else 'wrong'}, says no. {number}"


class Workers:
    """Worker processes, each replaced by another one when it is killed, as any supervisor would."""

    def __init__(self, url: str, plan: Plan) -> None:
        self._url = url
        self._plan = plan
        self._names = itertools.count()
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def start_all(self) -> None:
        """Start as many as are planned."""
        for _ in range(self._plan.workers):
            self.start()

    def start(self) -> None:
        """Start one, under a name that was never used."""
        name = f"w{next(self._names)}"
        options = ("--id", name, "--queue", QUEUE, "--store", self._url, "--log-level", "error")
        limits = ("--takeover", str(self._plan.takeover), "--concurrency", str(self._plan.concurrency))
        program = str(Path(sys.executable).with_name("wisen"))
        self.running[name] = subprocess.Popen([program, "worker", *options, *limits])

    def kill(self, name: str) -> None:
        """End one at once, and start another."""
        process = self.running.pop(name)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.start()

    def stop(self) -> None:
        """End all in order."""
        for process in self.running.values():
            process.terminate()
        for process in self.running.values():
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


async def held(queue: Queue) -> dict[str, set[int]]:
    """The places of the tasks that run, by worker."""

    async def work(connection: QueueConnection) -> dict[str, set[int]]:
        rows = await connection.fetch(
            "SELECT place, split_part(split_part(holder, '/', 2), '#', 1) AS worker FROM tasks WHERE state = 'running'"
        )
        found: dict[str, set[int]] = defaultdict(set)
        for row in rows:
            found[row["worker"]].add(row["place"])
        return found

    return await queue.tables.run(work)


async def until_taken(queue: Queue, places: set[int], dead: str, found: Found) -> None:
    """Note when each of the tasks is somebody else's, or has ended."""
    began, left = time.monotonic(), set(places)

    async def work(connection: QueueConnection) -> set[int]:
        rows = await connection.fetch(
            "SELECT place FROM tasks WHERE place = ANY($1::int[]) AND (state = 'waiting' "
            "OR (state = 'running' AND split_part(split_part(holder, '/', 2), '#', 1) = $2))",
            *(sorted(left), dead),
        )
        return {row["place"] for row in rows}

    while left and time.monotonic() - began < 3 * LIMIT:
        still = await queue.tables.run(work)
        found.takeovers += [time.monotonic() - began] * len(left - still)
        left = still
        await asyncio.sleep(_LOOK)
    found.takeovers += [float("inf")] * len(left)


async def kill(queue: Queue, batch: Batch, workers: Workers, plan: Plan, found: Found) -> None:
    """Kill at random moments, as often as is planned or until all is done."""
    draws, watching = random.Random(plan.seed), set[asyncio.Task[None]]()
    while found.kills < plan.kills:
        await asyncio.sleep(draws.uniform(0.0, 2 * plan.every))
        if (await batch.status()).finished:
            break
        busy = {name: places for name, places in (await held(queue)).items() if name in workers.running}
        if len(busy) < _ALIVE:
            continue
        name = draws.choice(sorted(busy))
        workers.kill(name)
        found.kills += 1
        watching.add(asyncio.create_task(until_taken(queue, busy[name], name, found)))
        print(f"kill {found.kills}: {name}, which had {len(busy[name])} tasks", file=sys.stderr, flush=True)
    await asyncio.gather(*watching)


async def show(url: str, plan: Plan) -> dict[str, Any]:
    """Do it, and give what was found."""
    found = Found()
    with FakeProvider(Answers(), seconds=plan.call) as provider:
        async with Queue(url, QUEUE) as queue:
            right = EvaluatorSpec(kind="regex", options={"pattern": "^right"})
            jobs = [Job(task=Task(prompt=f"task {number}"), evaluator=right) for number in range(plan.tasks)]
            options = BatchOptions(model=provider.model, max_attempts=2, embedder="hash")
            batch = await queue.submit(jobs, options, tries=1_000)
            began = time.monotonic()
            async with running(Workers(url, plan)) as workers:
                await kill(queue, batch, workers, plan, found)
                await batch.wait(3_600)
                found.seconds = time.monotonic() - began
            results = [one async for one in batch.results()]
        async with PostgresVectorStore(url) as store:
            runs = [record async for record in every_run(store, tenant=None)]
            cards = [card async for card in every_card(store, CardFilter())]
    taught = Counter((card.provenance.run_id, card.provenance.attempt) for card in cards)
    named = {card for record in runs for attempt in record.attempts for card in attempt.lesson_ids}
    kept = serials(runs) | {int(one) for card in cards for one in _SERIAL.findall(card.text)}
    asked: dict[str, list[ProviderCall]] = defaultdict(list)
    for call in provider.calls:
        asked[call.asked].append(call)
    again = [calls for calls in asked.values() if len(calls) > 1]
    return {
        "tasks": plan.tasks,
        "workers": plan.workers,
        "kills": found.kills,
        "seconds": round(found.seconds, 1),
        "results": len(results),
        "results in order, each once": [one.place for one in results] == list(range(plan.tasks)),
        "ended": dict(Counter(one.state for one in results)),
        "runs recorded": len({record.run_id for record in runs}),
        "calls": len(provider.calls),
        "calls made again, under way at a kill": sum(len(calls) - 1 for calls in again),
        "calls made again though kept": sum(kept_before(calls, kept) for calls in again),
        "lessons": len(cards),
        "lessons twice": sum(count - 1 for count in taught.values()),
        "lessons lost": len(named - {card.id for card in cards}),
        "tasks taken over": len(found.takeovers),
        "takeover, median s": round(median(found.takeovers), 1) if found.takeovers else None,
        "takeover, longest s": round(max(found.takeovers), 1) if found.takeovers else None,
    }


def serials(runs: list[RunRecord]) -> set[int]:
    """The numbers of the answers that runs used."""
    return {int(one) for record in runs for attempt in record.attempts for one in _SERIAL.findall(attempt.output)}


def kept_before(calls: list[ProviderCall], kept: set[int]) -> bool:
    """Whether a run went on with another answer than the last one that equal calls got: the last was then needless."""
    return any(int(one) in kept for call in calls[:-1] for one in _SERIAL.findall(call.answer))


@asynccontextmanager
async def running(workers: Workers) -> AsyncGenerator[Workers]:
    """All workers, ended in order."""
    workers.start_all()
    try:
        yield workers
    finally:
        await asyncio.to_thread(workers.stop)


def broken(report: dict[str, Any], plan: Plan) -> list[str]:
    """The promises that weren't kept."""
    promises = {
        "as many kills as asked for": report["kills"] >= plan.kills,
        "every task ends exactly once": report["results in order, each once"]
        and report["ended"] == {"done": plan.tasks}
        and report["runs recorded"] == plan.tasks,
        "no kept call is made again": report["calls made again though kept"] == 0,
        "no lesson is lost": report["lessons lost"] == 0,
        "no lesson is there twice": report["lessons twice"] == 0,
        "the dead worker's tasks go on within 30 s": (report["takeover, longest s"] or 0.0) <= LIMIT,
    }
    return [promise for promise, was_kept in promises.items() if not was_kept]


def main() -> None:
    """Read the options, and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("tasks", 500), ("kills", 100), ("workers", 4), ("concurrency", 4), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    for name, default in (("every", 4.0), ("call", 3.5), ("takeover", 20.0)):
        parser.add_argument(f"--{name}", type=float, default=default)
    parser.add_argument("--store", help="a PostgreSQL database of which nothing is needed; by default one of its own")
    parser.add_argument("--json", action="store_true")
    given = vars(parser.parse_args())
    store, as_json = given.pop("store"), given.pop("json")
    plan = Plan(**given)
    if store:
        report = asyncio.run(show(store, plan))
    else:
        # What the tests start their server with.
        sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
        with import_module("postgres").running_server() as server:
            report = asyncio.run(show(server.new_database(), plan))
    failed = broken(report, plan)
    if as_json:
        print(json.dumps({**report, "broken": failed}, indent=2))
    else:
        for name, value in report.items():
            print(f"{name:40} {value}")
        print("all promises kept" if not failed else f"BROKEN: {'; '.join(failed)}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
