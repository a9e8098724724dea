"""Measures tasks per second through the queue by number of workers, and what keeping a step costs.

`python benchmarks/workers.py --help` lists the options; `docs/measured/postgres.md` explains what is measured.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pg_server
from figures import MEASURED, options, setting, table, tell
from provider import serving
from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart
from pydantic_ai.models import ModelRequestParameters

from wisen import PostgresVectorStore, SQLiteVectorStore
from wisen.models.journal import Journal
from wisen.models.names import endpoint
from wisen.queue.queue import Queue

_HERE = Path(__file__).parent
_WORKERS = (1, 2, 4)
_CASES = ((0.0, 16, 400), (1.0, 50, 600))
"""Seconds of a model call, tasks at a time in a worker, tasks."""
_STEPS = 400
_BESIDE = 8
_ANSWER = b'{"parts": [{"content": "an answer", "part_kind": "text"}], "kind": "response"}' * 4


def main() -> None:
    """Measure and report."""
    tell(
        _arguments(),
        lambda asked: asyncio.run(_measured(asked)),
        report,
        lambda _, text: [(MEASURED, "queue and steps", text)],
    )


def _arguments() -> argparse.Namespace:
    parser = options(__doc__ or "")
    parser.add_argument("--rounds", type=int, default=3, help="of each case; the median counts (%(default)s)")
    parser.add_argument("--share", type=float, default=1.0, help="of the usual number of tasks and steps (%(default)s)")
    parser.add_argument("--no-tasks", action="store_true", help="steps only")
    return parser.parse_args()


async def _measured(asked: argparse.Namespace) -> dict[str, Any]:
    results: dict[str, Any] = {"tasks": [], "steps": []}
    with pg_server.running() as server:
        results["setting"] = setting("make bench-workers", pg_server.told(server))
        for _ in range(asked.rounds):
            results["steps"].append(await _steps(server, round(_STEPS * asked.share)))
            _told(f"steps: {results['steps'][-1]}")
            for seconds, concurrency, usual in () if asked.no_tasks else _CASES:
                tasks = round(usual * asked.share)
                with serving(seconds) as url:
                    bare = await _bare(url, tasks, concurrency)
                    for workers in _WORKERS:
                        one = await _through_queue(server, url, workers, concurrency, tasks)
                        results["tasks"].append({"latency": seconds, "bare": bare, **one})
                        _told(f"{workers} workers, {seconds:g} s: {one['rate']:.1f} tasks/s, bare {bare:.1f}")
    return results


def _told(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


async def _bare(url: str, tasks: int, concurrency: int) -> float:
    """Calls per second of a bare loop in one process, so many at a time."""
    model, parameters, places = endpoint(url, "fake"), ModelRequestParameters(), asyncio.Semaphore(concurrency)

    async def one(number: int) -> None:
        async with places:
            parts = [SystemPromptPart("Do the task."), UserPromptPart(f"task {number}")]
            await model.request([ModelRequest(parts=parts)], None, parameters)

    await one(0)
    began = time.perf_counter()
    await asyncio.gather(*(one(number) for number in range(tasks)))
    return tasks / (time.perf_counter() - began)


async def _through_queue(server: Any, url: str, workers: int, concurrency: int, tasks: int) -> dict[str, Any]:
    """A batch, with workers that were started before; the first, small batch shows that all of them are there."""
    database = server.new_database()
    async with PostgresVectorStore(database), Queue(database, "bench") as queue:
        model = f"openai-compatible:{url}#fake"
        with _processes(database, model, workers, concurrency):
            first = await queue.submit([f"warm up {number}" for number in range(4 * workers)])
            await first.wait(120)
            await asyncio.sleep(1.0)
            began = time.perf_counter()
            batch = await queue.submit([f"task {number}" for number in range(tasks)])
            async for status in batch.follow(every=0.05):
                if status.finished:
                    break
            taken = time.perf_counter() - began
            ended = [result async for result in batch.results()]
    if any(result.state != "done" for result in ended):
        sys.exit(f"{sum(result.state != 'done' for result in ended)} of {tasks} tasks weren't done")
    return {
        "workers": workers,
        "concurrency": concurrency,
        "tasks": tasks,
        "rate": tasks / taken,
    }


@contextmanager
def _processes(database: str, model: str, workers: int, concurrency: int) -> Generator[None]:
    command = [sys.executable, str(_HERE / "bench_worker.py"), database, "bench", model, str(concurrency)]
    started = [subprocess.Popen(command) for _ in range(workers)]
    try:
        yield
    finally:
        for one in started:
            one.terminate()
        for one in started:
            try:
                one.wait(30)
            except subprocess.TimeoutExpired:
                one.kill()


async def _steps(server: Any, count: int) -> dict[str, Any]:
    """Seconds that a kept step takes, one after the other and for eight runs at once."""
    found: dict[str, Any] = {}
    for kind in ("sqlite", "postgres"):
        async with _opened(kind, server) as store:
            await _run_of_steps(store, "warm up", 5)
            began = time.perf_counter()
            await _run_of_steps(store, "one", count)
            found[kind] = {"one": (time.perf_counter() - began) / count}
            began = time.perf_counter()
            await asyncio.gather(
                *(_run_of_steps(store, f"run {number}", count // _BESIDE) for number in range(_BESIDE))
            )
            found[kind]["eight"] = (time.perf_counter() - began) / (count // _BESIDE * _BESIDE)
    command = [sys.executable, str(_HERE / "dbos_steps.py"), server.new_database(), str(count)]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    said, _ = await process.communicate()
    found["dbos"] = json.loads(said.decode().splitlines()[-1])
    return found


async def _run_of_steps(store: SQLiteVectorStore | PostgresVectorStore, run_id: str, count: int) -> None:
    journal = Journal(store, run_id)

    async def make() -> bytes:
        return _ANSWER

    for number in range(count):
        await journal.once(f"call {number}", make)


@asynccontextmanager
async def _opened(kind: str, server: Any) -> AsyncGenerator[SQLiteVectorStore | PostgresVectorStore]:
    if kind == "postgres":
        async with PostgresVectorStore(server.new_database()) as store:
            yield store
        return
    with tempfile.TemporaryDirectory() as folder:
        async with SQLiteVectorStore(Path(folder) / "store.db") as store:
            yield store


def report(results: dict[str, Any]) -> str:
    """All tables."""
    parts = [results["setting"]]
    if results["tasks"]:
        parts.append(_tasks_table(results["tasks"]))
    return "\n\n".join([*parts, _steps_table(results["steps"])])


def _tasks_table(samples: list[dict[str, Any]]) -> str:
    rows: list[list[str]] = []
    for latency, concurrency, workers in dict.fromkeys(
        (one["latency"], one["concurrency"], one["workers"]) for one in samples
    ):
        found = [one for one in samples if (one["latency"], one["workers"]) == (latency, workers)]
        rates = sorted(one["rate"] for one in found)
        bound = f"{workers * concurrency / latency:,.0f}" if latency else "-"
        rows.append(
            [
                f"{latency:g} s",
                f"{workers} x {concurrency}",
                f"{statistics.median(rates):.1f} ({rates[0]:.1f} to {rates[-1]:.1f})",
                bound,
            ]
        )
    head = ["model call", "workers x tasks at a time", "tasks/s", "the model's bound"]
    return table("Tasks through the queue, one model call each", head, rows)


def _steps_table(samples: list[dict[str, Any]]) -> str:
    labels = {
        "sqlite": "wisen's journal, SQLite",
        "postgres": "wisen's journal, Postgres",
        "dbos": "a step of DBOS, bare",
    }
    rows: list[list[str]] = []
    for kind, label in labels.items():
        cells = [f"{statistics.median(one[kind][beside] for one in samples) * 1e3:.2f}" for beside in ("one", "eight")]
        rows.append([label, *cells])
    middle = statistics.median(one["dbos"]["workflow"] for one in samples) * 1e3
    rows.append(["an empty workflow of DBOS", f"{middle:.2f}", "-"])
    return table("One kept step, ms", ["", "one run", f"{_BESIDE} runs at once, each step"], rows)


if __name__ == "__main__":
    main()
