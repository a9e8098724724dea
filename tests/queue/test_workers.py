"""Workers in processes of their own: killed, paused, stopped in order, with a database that goes away."""

import asyncio
import itertools
import signal
import threading
import time
from pathlib import Path

import pytest
from postgres import PostgresServer, running_server
from queues import WorkerProcess, checked, until, workers

from wisen import SQLiteVectorStore
from wisen.queue.database import QueueConnection
from wisen.queue.jobs import BatchOptions, Job
from wisen.queue.queue import Batch, Queue
from wisen.recall import CardFilter
from wisen.records import Task
from wisen.tasks.files import EvaluatorSpec
from wisen.testing.provider import FakeProvider, ProviderCall

pytestmark = pytest.mark.anyio
_KEPT = 0.25
"""Seconds that a worker has, at least, to keep an answer; later ones count as under way."""


@pytest.fixture
def options(tmp_path: Path) -> dict[str, object]:
    return {"lessons": str(tmp_path / "lessons.db"), "takeover": 3.0, "poll": 0.1, "grace": 1.0}


def answered(call: ProviderCall) -> bool:
    return call.answered is not None


async def ended(batch: Batch, tasks: int) -> None:
    status = await batch.wait(90)
    assert (status.done, status.dead) == (tasks, 0)
    assert [one.place async for one in batch.results()] == list(range(tasks))


def again(provider: FakeProvider, broken: float) -> list[str]:
    """Prompts of calls that were made once more, though they were answered long enough before all was broken off."""
    calls = provider.calls
    return [
        later.prompt
        for place, later in enumerate(calls)
        for earlier in calls[:place]
        if later.asked == earlier.asked and earlier.answered is not None and earlier.answered < broken - _KEPT
    ]


async def kept_steps(path: str) -> bytes:
    """All that is kept of runs that haven't ended."""
    async with SQLiteVectorStore(path, read_only=True) as store:
        items, _ = await store.export_page("calls", limit=10_000)
    return b"\n".join(item.content for item in items)


async def test_others_go_on_with_what_a_killed_worker_did(
    queue: Queue, postgres_url: str, options: dict[str, object]
) -> None:
    numbers = itertools.count(100_000)

    def answer(_: str) -> str:
        return f"wrong answer {next(numbers)}"

    with FakeProvider(answer, seconds=0.3) as provider, workers(postgres_url, "support", 2, **options) as started:
        jobs = [checked(number, right=False) for number in range(8)]
        batch = await queue.submit(jobs, BatchOptions(model=provider.model, max_attempts=2))
        await until(lambda: sum(map(answered, provider.calls)) >= 6)
        started[0].send(signal.SIGKILL)
        started[0].ended()
        kept = await kept_steps(str(options["lessons"]))
        await ended(batch, 8)
    calls = provider.calls
    twice = {one.answer for place, one in enumerate(calls) for later in calls[place + 1 :] if one.asked == later.asked}
    assert [one for one in twice if one and one.encode() in kept] == []
    assert b"wrong answer" in kept
    found = [one async for one in batch.results()]
    assert {one.worker for one in found} >= {"w1"}
    assert any(one.tries == 1 and "w0" in one.reason for one in found)
    async with SQLiteVectorStore(str(options["lessons"])) as store:
        cards = await store.list(CardFilter())
    taught = [(card.provenance.run_id, card.provenance.attempt) for card in cards]
    assert len(taught) == len(set(taught))
    assert len({run for run, _ in taught}) == 8


async def test_a_stopped_worker_hands_back_at_once(queue: Queue, postgres_url: str, options: dict[str, object]) -> None:
    options = {**options, "takeover": 60.0, "grace": 0.5}
    slow = ["slow"]

    def answer(prompt: str) -> str:
        if slow:
            asyncio.run(asyncio.sleep(3))
        return prompt

    with FakeProvider(answer) as provider, workers(postgres_url, "support", 1, **options) as started:
        batch = await queue.submit(["a", "b"], BatchOptions(model=provider.model))
        await until(lambda: len(provider.calls) == 2)
        started[0].send(signal.SIGTERM)
        assert started[0].ended() == 0
        slow.clear()
        assert [one.state async for one in batch.results()] == ["waiting", "waiting"]
        with workers(postgres_url, "support", 1, **options):
            await ended(batch, 2)
    assert [one.tries async for one in batch.results()] == [0, 0]


async def test_a_paused_worker_does_nothing_more_once_its_tasks_are_taken_over(
    queue: Queue, postgres_url: str, options: dict[str, object]
) -> None:
    asked = threading.Barrier(3)
    paused = threading.Event()

    def answer(prompt: str) -> str:
        if not paused.is_set():
            asked.wait(60)
            paused.wait(60)
        return f"re: {prompt}"

    with (
        FakeProvider(answer) as provider,
        workers(postgres_url, "support", 2, **options, concurrency=1) as started,
    ):
        jobs = [checked(number, right=False) for number in range(4)]
        batch = await queue.submit(jobs, BatchOptions(model=provider.model, max_attempts=2))
        # Each worker waits for an answer: a request that is just being sent would still go out after the pause.
        await asyncio.to_thread(asked.wait, 60)
        broken = time.monotonic()
        started[0].send(signal.SIGSTOP)
        paused.set()
        await ended(batch, 4)
        made = len(provider.calls)
        started[0].send(signal.SIGCONT)
        await rejoined(queue)
        assert len(provider.calls) == made
        await ended(batch, 4)
        # It is as good as new.
        started[1].send(signal.SIGKILL)
        more = await queue.submit(["more"], BatchOptions(model=provider.model))
        await ended(more, 1)
        assert {one.worker async for one in more.results()} == {"w0"}
    assert again(provider, broken) == []


async def rejoined(queue: Queue) -> None:
    """Wait until the worker w0 has begun another life."""

    async def epoch(connection: QueueConnection) -> int:
        return await connection.fetchval("SELECT epoch FROM workers WHERE id = 'w0' AND ended IS NULL") or 0

    async with asyncio.timeout(30):
        while await queue.tables.run(epoch) < 2:  # noqa: ASYNC110 - another process does it
            await asyncio.sleep(0.1)


async def test_a_task_that_kills_its_workers_is_given_up_and_takes_no_other_with_it(
    queue: Queue, postgres_url: str, options: dict[str, object]
) -> None:
    options = {**options, "takeover": 2.0, "concurrency": 3}
    poison = Job(
        task=Task(prompt="poison"),
        evaluator=EvaluatorSpec(kind="function", options={"function": "queues:kill_worker", "inline": True}),
    )
    with FakeProvider(seconds=0.1) as provider, workers(postgres_url, "support", 1, **options) as started:
        batch = await queue.submit([poison, "a", "b"], BatchOptions(model=provider.model), tries=2)
        for _ in range(2):
            started[-1].ended()
            started.append(WorkerProcess(postgres_url, "support", {**options, "id": "w0"}))
        status = await batch.wait(60)
    found = [one async for one in batch.results()]
    assert (status.done, status.dead) == (2, 1)
    assert (found[0].state, found[0].tries) == ("dead", 2)
    assert "was lost while it ran" in found[0].reason


async def test_workers_together_keep_to_the_most_that_may_run(
    queue: Queue, postgres_url: str, options: dict[str, object]
) -> None:
    with (
        FakeProvider(lambda prompt: f"re: {prompt}", seconds=0.2) as provider,
        workers(postgres_url, "support", 2, **options, concurrency=2, most_running=3),
    ):
        batch = await queue.submit([checked(number) for number in range(12)], BatchOptions(model=provider.model))
        await ended(batch, 12)
    assert provider.most_running <= 3
    assert {one.worker async for one in batch.results()} == {"w0", "w1"}


async def test_workers_together_keep_to_a_rate(queue: Queue, postgres_url: str, options: dict[str, object]) -> None:
    with (
        FakeProvider(lambda prompt: f"re: {prompt}") as provider,
        workers(postgres_url, "support", 2, **options, concurrency=6, rates=["fake=5/s"]),
    ):
        batch = await queue.submit([checked(number) for number in range(24)], BatchOptions(model=provider.model))
        await ended(batch, 24)
    times = sorted(call.at for call in provider.calls)
    # One call each fifth of a second: 24 take 4.6 s, and half of that if each worker has a rate of its own. The first
    # may come late.
    assert times[-1] - times[0] > 3.5


async def test_a_database_that_is_stopped_and_started_costs_nothing(options: dict[str, object]) -> None:
    with running_server() as server:
        url = server.new_database()
        async with Queue(url, "support") as queue:
            with (
                FakeProvider(lambda prompt: f"re: {prompt}", seconds=0.2) as provider,
                workers(url, "support", 2, **options),
            ):
                jobs = [checked(number) for number in range(16)]
                batch = await queue.submit(jobs, BatchOptions(model=provider.model))
                await until(lambda: len(provider.calls) >= 4)
                broken = time.monotonic()
                await restarted(server)
                await ended(batch, 16)
    assert again(provider, broken) == []


async def restarted(server: PostgresServer) -> None:
    server.stop()
    await asyncio.sleep(1.0)
    server.start()
