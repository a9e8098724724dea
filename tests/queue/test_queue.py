"""Batches in a queue, done by a worker in this process."""

import asyncio
from collections.abc import Callable

import pytest
from queues import checked, until, working

from wisen import Agent, ScriptedModel, VectorStore
from wisen.errors import BatchNotFoundError, ConfigError, QueueError, QueueFullError
from wisen.queue.batches import store
from wisen.queue.database import QueueConnection
from wisen.queue.jobs import BatchOptions, Job
from wisen.queue.leases import claim
from wisen.queue.queue import Queue
from wisen.queue.rates import Rate
from wisen.queue.worker import Worker, WorkerOptions
from wisen.records import Task
from wisen.tasks.files import EvaluatorSpec
from wisen.testing.provider import FakeProvider

pytestmark = pytest.mark.anyio


async def test_results_come_in_the_order_of_submission_each_once(
    queue: Queue, make_worker: Callable[..., Worker]
) -> None:
    with FakeProvider(lambda prompt: f"re: {prompt}") as provider:
        batch = await queue.submit(
            [checked(number, right=number != 3) for number in range(6)],
            BatchOptions(model=provider.model, max_attempts=1, seed=3),
            batch="first",
        )
        async with working(make_worker()):
            status = await batch.wait(60)
    results = [one async for one in batch.results()]
    assert (status.done, status.dead, status.finished) == (6, 0, True)
    assert [one.place for one in results] == list(range(6))
    assert [one.outcome and one.outcome.output for one in results] == [f"re: task {number}" for number in range(6)]
    assert [one.outcome and one.outcome.score for one in results] == [1, 1, 1, 0, 1, 1]
    assert {one.outcome and one.outcome.verified for one in results} == {True}
    assert [one.outcome and one.outcome.run_id for one in results] == [f"first-{number:05d}" for number in range(6)]
    assert all(one.answered and one.worker for one in results)


async def test_the_same_batch_again_adds_nothing_and_another_one_is_refused(queue: Queue) -> None:
    options = BatchOptions(model="fake")
    for _ in range(2):
        await queue.submit(["a", "b"], options, batch="same")
    assert (await queue.depth()).waiting == 2
    with pytest.raises(ConfigError, match="holds other tasks"):
        await queue.submit(["a", "c"], options, batch="same")
    with pytest.raises(ConfigError, match="holds other tasks"):
        await queue.submit(["a", "b"], batch="same")
    assert [one.id for one in await queue.batches()] == ["same"]


async def test_too_many_waiting_tasks_are_refused_or_waited_for(
    queue: Queue, make_worker: Callable[..., Worker]
) -> None:
    with FakeProvider() as provider:
        options = BatchOptions(model=provider.model)
        await queue.submit(["a", "b"], options, most_waiting=3)
        with pytest.raises(QueueFullError, match="queue 'support' is full: 2 tasks wait, and with 2 more"):
            await queue.submit(["c", "d"], options, most_waiting=3)
        with pytest.raises(QueueFullError):
            await queue.submit(["c", "d"], options, most_waiting=1, wait=True)
        later = asyncio.ensure_future(queue.submit(["c", "d"], options, most_waiting=3, wait=True))
        async with working(make_worker()):
            batch = await later
            assert (await batch.wait(60)).done == 2


async def test_a_task_that_fails_too_often_is_a_dead_letter_and_can_be_sent_again(
    queue: Queue, make_worker: Callable[..., Worker]
) -> None:
    broken = [True]

    def answer(prompt: str) -> str:
        if prompt == "bad" and broken[0]:
            raise ValueError("down")
        return "fine"

    with FakeProvider(answer) as provider:
        batch = await queue.submit(["bad", "good"], BatchOptions(model=provider.model), tries=2)
        async with working(make_worker()):
            status = await batch.wait(60)
            assert (status.done, status.dead) == (1, 1)
            bad = await anext(batch.results())
            assert (bad.state, bad.tries, bad.outcome) == ("dead", 2, None)
            assert "500" in bad.reason
            assert (await queue.depth()).dead == 1
            broken.clear()
            broken.append(False)
            assert await batch.retry() == 1
            assert (await batch.wait(60)).done == 2
    assert [one.state async for one in batch.results()] == ["done", "done"]


async def test_what_can_never_work_is_given_up_at_once(queue: Queue, make_worker: Callable[..., Worker]) -> None:
    bad = Job(task=Task(prompt="x"), evaluator=EvaluatorSpec(kind="function", options={"function": "no.such:thing"}))
    batch = await queue.submit([bad], BatchOptions(model="no-such-model"))
    async with working(make_worker()):
        await batch.wait(60)
    only = await anext(batch.results())
    assert (only.state, only.tries) == ("dead", 1)


async def test_a_cancelled_batch_drops_what_waits_and_ends_what_runs(
    queue: Queue, make_worker: Callable[..., Worker]
) -> None:
    begun, gate = asyncio.Event(), asyncio.Event()

    async def architecture(prompt: str) -> str:
        if prompt == "quick":
            return "done"
        begun.set()
        await gate.wait()
        return "never"

    batch = await queue.submit(["quick", *["slow"] * 4])
    async with working(make_worker(agent=Agent(model=ScriptedModel([]), architecture=architecture), concurrency=2)):
        async with asyncio.timeout(60):
            await begun.wait()
            async for now in batch.follow():
                if now.done:
                    break
            await batch.cancel()
            status = await batch.wait()
    assert (status.done, status.cancelled, status.called_off) == (1, 4, True)


async def test_an_own_agent_is_made_with_the_shared_store(queue: Queue, make_worker: Callable[..., Worker]) -> None:
    stores: list[VectorStore] = []
    with FakeProvider() as provider:

        def make(store: VectorStore) -> Agent:
            stores.append(store)
            return Agent("Answer.", model=provider.model)

        batch = await queue.submit(["a", Task(prompt="b", id="second")])
        async with working(make_worker(agent=make)):
            await batch.wait(60)
    assert len(stores) == 1
    assert [one.outcome and one.outcome.output async for one in batch.results()] == ["an answer"] * 2


async def test_a_function_that_makes_no_agent_is_refused(make_worker: Callable[..., Worker]) -> None:
    with pytest.raises(ConfigError, match="gave a str"):
        await make_worker(agent=lambda: "an agent").run()


async def test_a_worker_tells_first_which_queue_it_serves_and_where_else_tasks_wait(
    postgres_url: str, make_worker: Callable[..., Worker], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "wisen.worker")
    async with Queue(postgres_url, "other") as other:
        await other.submit(["a", "b"])
    async with working(make_worker()) as worker:
        await until(lambda: bool(worker.id))
    started = [vars(record)["wisen_fields"] for record in caplog.records[:2]]
    assert started == [
        {"queue": "support"},
        {"worker": worker.id, "queue": "support", "waiting_elsewhere": ["other: 2"]},
    ]


async def test_two_workers_in_one_process_are_refused(make_worker: Callable[..., Worker]) -> None:
    async with working(make_worker()) as first:
        await until(lambda: bool(first.id))
        with pytest.raises(ConfigError, match="runs in this process already"):
            await make_worker().run()


async def test_a_worker_whose_name_is_taken_stops(postgres_url: str) -> None:
    worker = Worker(postgres_url, queue="support", id="one", options=WorkerOptions(takeover=2.0, poll=0.05))
    running = asyncio.ensure_future(worker.run())
    await until(lambda: worker.id == "one" and worker.heartbeat_age < 1.0)
    await asyncio.to_thread(claim, postgres_url, "support", "one", 60.0)
    with pytest.raises(QueueError, match="worker 'one' of queue 'support' was started again elsewhere"):
        await asyncio.wait_for(running, 60)


async def test_a_worker_that_was_held_for_dead_begins_anew(queue: Queue, make_worker: Callable[..., Worker]) -> None:
    begun: list[str] = []
    gate = asyncio.Event()

    async def architecture(prompt: str) -> str:
        begun.append(prompt)
        if len(begun) == 1:
            await gate.wait()
        return "done"

    async def bury(connection: QueueConnection) -> None:
        await connection.execute("UPDATE workers SET ended = now()")

    batch = await queue.submit(["once more"], tries=2)
    agent = Agent(model=ScriptedModel([]), architecture=architecture)
    async with working(make_worker(agent=agent, takeover=2.0)):
        await until(lambda: bool(begun))
        await queue.tables.run(bury)
        status = await batch.wait(60)
    assert (status.done, begun) == (1, ["once more", "once more"])
    only = await anext(batch.results())
    assert (only.tries, "was lost while it ran" in only.reason) == (1, True)


@pytest.mark.parametrize("signals", [1, 2])
async def test_what_does_not_end_in_time_is_handed_back(
    queue: Queue, make_worker: Callable[..., Worker], signals: int
) -> None:
    begun = asyncio.Event()

    async def architecture(prompt: str) -> str:
        begun.set()
        await asyncio.Event().wait()
        return prompt

    batch = await queue.submit(["endless"])
    agent = Agent(model=ScriptedModel([]), architecture=architecture)
    async with working(make_worker(agent=agent, takeover=60.0, grace=0.0 if signals == 1 else 600.0)) as worker:
        await asyncio.wait_for(begun.wait(), 60)
        for _ in range(signals):
            worker.stop()
    only = await anext(batch.results())
    assert (only.state, only.tries) == ("waiting", 0)


async def test_calls_keep_to_the_rate(queue: Queue, make_worker: Callable[..., Worker]) -> None:
    with FakeProvider(lambda prompt: f"re: {prompt}") as provider:
        batch = await queue.submit([checked(number) for number in range(15)], BatchOptions(model=provider.model))
        async with working(make_worker(concurrency=15, rates={"fake": Rate(calls=5, seconds=1)})):
            await batch.wait(60)
    times = sorted(call.at for call in provider.calls)
    assert len(times) == 15
    # Fifteen calls at five a second take 2.8 s; the first may come late. Without the rate all come at once.
    assert times[-1] - times[0] > 1.4


async def test_many_tasks_are_no_more_than_are_allowed_at_a_time(
    queue: Queue, make_worker: Callable[..., Worker]
) -> None:
    with FakeProvider(lambda prompt: f"re: {prompt}", seconds=0.1) as provider:
        batch = await queue.submit([checked(number) for number in range(8)], BatchOptions(model=provider.model))
        async with working(make_worker(concurrency=8, most_running=2)):
            await batch.wait(60)
    assert provider.most_running == 2


async def test_tasks_are_done_in_the_order_in_which_they_were_submitted(
    queue: Queue, make_worker: Callable[..., Worker]
) -> None:
    with FakeProvider(lambda prompt: f"re: {prompt}") as provider:
        options = BatchOptions(model=provider.model)
        batches = [await queue.submit([checked(number) for number in numbers], options) for numbers in ((3, 4), (1, 2))]
        async with working(make_worker(concurrency=1)):
            for batch in batches:
                assert (await batch.wait(60)).done == 2
    assert [call.prompt for call in provider.calls] == [f"task {number}" for number in (3, 4, 1, 2)]


async def test_unknown_batches_and_bad_names_are_told(queue: Queue, postgres_url: str) -> None:
    for work in (queue.batch("no").status, queue.batch("no").cancel, queue.batch("no").retry):
        with pytest.raises(BatchNotFoundError, match="no batch 'no'"):
            await work()
    with pytest.raises(ConfigError, match="queue '_x'"):
        Queue(postgres_url, "_x")
    with pytest.raises(ConfigError, match="queues need Postgres"):
        Queue("lessons.db")
    with pytest.raises(ConfigError, match="one task at least"):
        await queue.submit([])
    with pytest.raises(ConfigError, match="worker 'a b'"):
        Worker(postgres_url, queue="q", id="a b")


async def test_a_database_that_is_away_is_told_without_its_password() -> None:
    secret = "hidden"
    async with Queue(f"postgresql://me:{secret}@127.0.0.1:9/none", patience=0.1) as queue:
        with pytest.raises(QueueError, match="can't be reached") as told:
            await queue.depth()
    assert secret not in str(told.value)


async def test_a_batch_whose_submitter_died_is_put_into_the_queue_by_a_worker(
    queue: Queue, make_worker: Callable[..., Worker]
) -> None:
    with FakeProvider(lambda prompt: f"re: {prompt}") as provider:
        options = BatchOptions(model=provider.model)
        await store(queue.tables, "half", queue.name, [checked(1)], options, tries=3, most=None)
        async with working(make_worker(forgotten=0.3)):
            assert (await queue.batch("half").wait(60)).done == 1
