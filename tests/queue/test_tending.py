"""What keeps a queue in order: batches are removed, workers that lack something step aside, and idle ones are quiet."""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from queues import checked, until, working

from wisen import Agent, ScriptedModel, Task
from wisen.embedders.names import explain_embedder
from wisen.errors import BatchNotFoundError, ModelError, QueueError
from wisen.evaluation.judge import JudgeEvaluator
from wisen.models.names import resolve_model
from wisen.queue.database import QueueConnection
from wisen.queue.dbos_engine import Dispatch
from wisen.queue.deletions import Deletions
from wisen.queue.jobs import BatchOptions, Job
from wisen.queue.polling import TaskPoll
from wisen.queue.queue import Queue
from wisen.queue.rates import Rate
from wisen.queue.reconnecting import full, patiently
from wisen.queue.task_ids import TaskId
from wisen.queue.worker import Worker, WorkerOptions
from wisen.recall import CardFilter
from wisen.stores.postgres.store import PostgresVectorStore
from wisen.tasks.files import EvaluatorSpec
from wisen.testing.provider import FakeProvider

pytestmark = pytest.mark.anyio


async def answer(prompt: str) -> str:
    return f"re: {prompt}"


def answering() -> Agent:
    return Agent(model=ScriptedModel([]), architecture=answer)


async def rows(queue: Queue) -> dict[str, int]:
    async def work(connection: QueueConnection) -> dict[str, int]:
        names = ("wisen_queue.batches", "wisen_queue.tasks", "wisen_dbos.workflow_status", "wisen_dbos.workflow_input")
        return {name: await connection.fetchval(f"SELECT count(*) FROM {name}") for name in names}  # noqa: S608 - constants

    return await queue.tables.run(work)


async def test_a_finished_batch_is_removed_with_all_that_is_kept_of_it(
    queue: Queue, make_worker: Callable[..., Worker]
) -> None:
    old, new = await queue.submit(["a", "b"], batch="b_1"), await queue.submit(["c"], batch="bX1")
    with pytest.raises(QueueError, match="isn't finished"):
        await old.delete()
    async with working(make_worker(agent=answering())):
        await old.wait(60)
        await new.wait(60)
    assert await old.delete() == 2
    assert set((await rows(queue)).values()) == {1}
    assert [one.id for one in await queue.batches()] == ["bX1"]
    with pytest.raises(BatchNotFoundError):
        await old.delete()
    assert await queue.prune(datetime.now(UTC) - timedelta(hours=1)) == 0
    assert await queue.prune(datetime.now(UTC) + timedelta(hours=1)) == 1
    assert set((await rows(queue)).values()) == {0}
    # The id can be had again.
    again = await queue.submit(["a", "b"], batch="b_1")
    async with working(make_worker(agent=answering())):
        assert (await again.wait(60)).done == 2


async def test_a_removal_that_was_broken_off_is_ended_by_the_next(queue: Queue, postgres_url: str) -> None:
    class Dies(Dispatch):
        def forget(self, task_ids: object) -> None:
            raise KeyError(task_ids)

    batch = await queue.submit(["a", "b"], batch="one")
    await batch.cancel()
    with pytest.raises(KeyError):
        await Deletions(queue.tables, Dies(postgres_url), patience=1.0).delete("one")
    with pytest.raises(QueueError, match="is being removed"):
        await queue.submit(["a", "b"], batch="one")
    assert await batch.delete() == 2
    assert set((await rows(queue)).values()) == {0}


async def test_a_worker_that_lacks_a_key_uses_up_no_try(queue: Queue, make_worker: Callable[..., Worker]) -> None:
    asked: list[str | None] = []

    def keyless(name: str | None) -> Any:
        asked.append(name)
        raise ModelError(str(name), "set the environment variable THE_KEY")

    with FakeProvider() as provider:
        batch = await queue.submit(["a"], BatchOptions(model=provider.model), tries=1)
        async with working(make_worker(find_model=keyless)):
            await until(lambda: bool(asked))
            await asyncio.sleep(0.3)
            assert (await batch.status()).waiting == 1
        assert asked == [provider.model]  # it steps aside for longer than that
        async with working(make_worker(find_model=resolve_model)):
            assert (await batch.wait(60)).done == 1
    assert [one.tries async for one in batch.results()] == [0]


async def test_a_worker_whose_own_agent_lacks_a_key_does_not_start(make_worker: Callable[..., Worker]) -> None:
    def keyless(name: str | None) -> Any:
        raise ModelError(str(name), "set the environment variable THE_KEY")

    with pytest.raises(ModelError, match="THE_KEY"):
        await make_worker(agent=Agent(model="some:model"), find_model=keyless).run()


async def test_a_judge_that_an_agent_names_itself_keeps_to_the_rate(
    queue: Queue, make_worker: Callable[..., Worker]
) -> None:
    with FakeProvider(lambda _: "score: 0.9") as judge:
        agent = Agent(model=ScriptedModel([]), architecture=answer, evaluator=JudgeEvaluator(model=judge.model))
        batch = await queue.submit(["a", "b", "c", "d"])
        async with working(make_worker(agent=agent, rates={"fake": Rate(calls=5, seconds=3)})):
            await batch.wait(60)
    times = sorted(call.at for call in judge.calls)
    assert len(times) >= 4
    # Four calls, .6 s apart, take 1.8 s; the first may come late. Without the rate they come at once.
    assert times[3] - times[0] > 0.6


async def test_why_a_task_was_given_up_quotes_nobody(queue: Queue, make_worker: Callable[..., Worker]) -> None:
    async def careless(prompt: str) -> str:
        raise ValueError(f"can't do {prompt}")

    batch = await queue.submit(["the secret prompt"], tries=1)
    async with working(make_worker(agent=Agent(model=ScriptedModel([]), architecture=careless))):
        await batch.wait(60)
    only = await anext(batch.results())
    assert only.reason.startswith("ValueError at queue/test_tending.py:")
    assert "secret" not in only.reason


async def test_an_idle_worker_is_told_of_tasks_and_of_cancelled_batches(
    queue: Queue, make_worker: Callable[..., Worker]
) -> None:
    begun = asyncio.Event()

    async def endless(prompt: str) -> str:
        begun.set()
        await asyncio.Event().wait()
        return prompt

    agent = Agent(model=ScriptedModel([]), architecture=endless)
    # Without being told it would look after minutes.
    async with working(make_worker(agent=agent, poll=300.0, takeover=600.0)) as worker:
        await until(lambda: worker.heartbeat_age < 100.0)
        await asyncio.sleep(0.5)
        batch = await queue.submit(["a"])
        await asyncio.wait_for(begun.wait(), 30)
        await batch.cancel()
        assert (await batch.wait(30)).cancelled == 1


async def test_an_idle_worker_asks_the_database_seldom(queue: Queue, make_worker: Callable[..., Worker]) -> None:
    async def transactions(connection: QueueConnection) -> int:
        await connection.execute("SELECT pg_stat_clear_snapshot()")
        return await connection.fetchval(
            "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()"
        )

    async with working(make_worker(agent=answering(), poll=0.5, takeover=20.0)) as worker:
        await until(lambda: bool(worker.id))
        await asyncio.sleep(1)
        before = await queue.tables.run(transactions)
        await asyncio.sleep(3)
        # Counts become known with a delay of a second or so.
        assert await queue.tables.run(transactions) - before < 30


def test_looks_are_seldom_without_work_and_at_once_when_told() -> None:
    busy = [True]
    poll = TaskPoll(0.01, lambda: busy[0], longest=60.0)
    for _ in range(3):
        assert not poll.wait(0.01)
    busy[0] = False
    began = time.monotonic()
    for _ in range(8):
        poll.wait(0.01)
    assert time.monotonic() - began > 0.2
    poll._pause = 60.0
    poll.look()
    assert not poll.wait(0.01)
    for _ in range(8):
        poll.worked()  # and it had ended before the next look
        assert not poll.wait(0.01)
    assert poll._pause == 0.01
    poll.set()
    assert poll.wait(60.0)


async def test_a_server_without_a_free_connection_is_waited_for_and_told(caplog: pytest.LogCaptureFixture) -> None:
    from psycopg import OperationalError

    error = OperationalError("FATAL:  sorry, too many clients already")
    assert "max_connections" in full(error)["why"]
    assert full(OperationalError("refused")) == {}
    tries = [0]

    def work() -> str:
        tries[0] += 1
        if tries[0] == 1:
            raise error
        return "done"

    with caplog.at_level("WARNING"):
        assert await patiently(work) == "done"
    assert "database.awaited" in caplog.text


async def test_what_dbos_has_of_unknown_tasks_is_nothing(queue: Queue) -> None:
    await asyncio.to_thread(queue.dispatch.forget, [TaskId(batch="no", place=0)])


async def test_huge_and_odd_prompts_come_through(queue: Queue, make_worker: Callable[..., Worker]) -> None:
    odd = ["x" * 3_000_000, "with \0 in it", "'; DROP TABLE tasks; --"]
    jobs = [Job(task=Task(prompt=one), evaluator=EvaluatorSpec(kind="exact")) for one in odd]
    batch = await queue.submit([*jobs, checked(1)], BatchOptions())
    async with working(make_worker(agent=answering())):
        assert (await batch.wait(60)).done == 4
    found = [one async for one in batch.results()]
    assert [one.task.prompt for one in found][:3] == odd
    assert [one.outcome and one.outcome.output for one in found][:3] == [f"re: {one}" for one in odd]


async def test_lessons_of_two_tenants_in_one_batch_are_kept_apart(postgres_url: str, queue: Queue) -> None:
    jobs = [
        Job(task=Task(prompt=f"task {name}", reference="never", tenant=name), evaluator=EvaluatorSpec(kind="exact"))
        for name in ("red", "blue")
    ]
    options = WorkerOptions(poll=0.05, grace=5.0, takeover=4.0)
    with FakeProvider(lambda prompt: f"wrong about {prompt[-8:]}") as provider:
        batch = await queue.submit(jobs, BatchOptions(model=provider.model, max_attempts=2, embedder="hash"))
        async with working(Worker(postgres_url, queue="support", options=options)):
            await batch.wait(60)
    async with PostgresVectorStore(postgres_url, embedder=explain_embedder("hash")[0]) as store:
        found = {name: await store.list(CardFilter(tenant=name)) for name in ("red", "blue")}
    runs = {name: {card.provenance.run_id for card in cards} for name, cards in found.items()}
    assert runs == {"red": {f"{batch.id}-00000"}, "blue": {f"{batch.id}-00001"}}


async def test_an_outcome_that_the_database_refuses_is_left_to_others(
    queue: Queue, make_worker: Callable[..., Worker]
) -> None:
    async def refuse(connection: QueueConnection) -> None:
        await connection.execute("ALTER TABLE tasks ADD CONSTRAINT never CHECK (state <> 'done')")

    async def allow(connection: QueueConnection) -> None:
        await connection.execute("ALTER TABLE tasks DROP CONSTRAINT never")

    async def left(connection: QueueConnection) -> bool:
        return await connection.fetchval("SELECT count(*) > 0 FROM tasks WHERE holder IS NULL AND started IS NOT NULL")

    batch = await queue.submit(["a"], tries=1)
    await queue.tables.run(refuse)
    async with working(make_worker(agent=answering(), takeover=2.0)), asyncio.timeout(60):
        while not await queue.tables.run(left):  # noqa: ASYNC110 - a worker does it
            await asyncio.sleep(0.02)
        await queue.tables.run(allow)
        assert (await batch.wait()).done == 1
    assert [one.tries async for one in batch.results()] == [0]
