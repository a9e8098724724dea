"""Tasks that are sent again go on with their runs, and runs of batches that were cancelled say so."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from queues import checked, until, working

from wisen import Agent, RunRecord, ScriptedModel, SQLiteVectorStore
from wisen.embedders.names import explain_embedder
from wisen.queue import batches
from wisen.queue.database import QueueConnection
from wisen.queue.jobs import BatchOptions
from wisen.queue.owned_tasks import ClaimedTask, OwnedTasks
from wisen.queue.queue import Queue
from wisen.queue.task_ids import TaskId
from wisen.queue.worker import Worker, WorkerOptions
from wisen.stores.postgres.store import PostgresVectorStore
from wisen.stores.pruning import call_scope
from wisen.testing.provider import FakeProvider

pytestmark = pytest.mark.anyio


class Provider(FakeProvider):
    """Answers wrongly at once, and holds each later call until it may go on; each run asks twice or more."""

    def __init__(self) -> None:
        self.held = True
        super().__init__(self._say)

    def _say(self, prompt: str) -> str:
        while self.held and len(self.calls) > 1:
            asyncio.run(asyncio.sleep(0.05))
        return f"wrong about {prompt[-6:]}"

    def first_asked(self) -> int:
        """How often the first call was made, which was answered."""
        return [call.asked for call in self.calls].count(self.calls[0].asked)


async def until_status(path: Path, run_id: str, status: str) -> None:
    async with asyncio.timeout(60):
        while (await record_in(path, run_id)).status != status:  # noqa: ASYNC110 - a worker writes it
            await asyncio.sleep(0.05)


async def record_in(path: Path, run_id: str) -> RunRecord:
    async with SQLiteVectorStore(path) as store:
        return await store.run(run_id)


async def test_a_cancelled_task_that_is_sent_again_goes_on_with_its_run(
    queue: Queue, make_worker: Callable[..., Worker], tmp_path: Path
) -> None:
    with Provider() as provider:
        batch = await queue.submit(
            [checked(1, right=False)], BatchOptions(model=provider.model, max_attempts=2), batch="b"
        )
        async with working(make_worker()):
            await until(lambda: len(provider.calls) == 2)
            await batch.cancel()
            now = await batch.wait(60)
            assert (now.cancelled, now.called_off) == (1, True)
            await until_status(tmp_path / "lessons.db", "b-00000", "cancelled")
            provider.held = False
            assert await batch.retry() == 1
            now = await batch.wait(60)
            assert (now.done, now.called_off) == (1, False)
    only = await anext(batch.results())
    assert only.outcome is not None
    assert (only.outcome.run_id, only.outcome.attempts) == ("b-00000", 2)
    assert provider.first_asked() == 1
    assert (await record_in(tmp_path / "lessons.db", "b-00000")).status == "unsatisfied"


@pytest.mark.parametrize("anew", [False, True])
async def test_a_dead_letter_that_is_sent_again_pays_twice_only_on_request(
    queue: Queue, make_worker: Callable[..., Worker], *, anew: bool
) -> None:
    async def bury(connection: QueueConnection) -> None:
        await connection.execute("UPDATE workers SET ended = now()")

    with Provider() as provider:
        options = BatchOptions(model=provider.model, max_attempts=2)
        batch = await queue.submit([checked(1, right=False)], options, batch="b", tries=1)
        async with working(make_worker(takeover=2.0)):
            await until(lambda: len(provider.calls) == 2)
            await queue.tables.run(bury)
            assert (await batch.wait(60)).dead == 1
            provider.held = False
            assert await batch.retry(anew=anew) == 1
            assert (await batch.wait(60)).done == 1
    only = await anext(batch.results())
    assert only.outcome is not None
    assert only.outcome.run_id == ("b-00000-1" if anew else "b-00000")
    assert provider.first_asked() == (2 if anew else 1)


async def test_a_batch_that_is_sent_again_at_once_isnt_cancelled_after_all(
    queue: Queue, make_worker: Callable[..., Worker]
) -> None:
    begun = asyncio.Event()
    again: list[int] = []

    async def architecture(prompt: str) -> str:
        if begun.is_set():
            return prompt
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            # While the worker breaks the task off, and before it has noted that.
            again.append(await batch.retry())
        return ""

    batch = await queue.submit(["x"])
    async with working(make_worker(agent=Agent(model=ScriptedModel([]), architecture=architecture))):
        await asyncio.wait_for(begun.wait(), 60)
        await batch.cancel()
        async with asyncio.timeout(60):
            while not (await batch.status()).done:  # noqa: ASYNC110 - a worker does it
                await asyncio.sleep(0.05)
    assert again == [0]
    assert [(one.state, one.tries) async for one in batch.results()] == [("done", 0)]


async def test_runs_that_were_handed_back_are_cancelled_with_their_batch_and_forgotten_with_it(
    queue: Queue, postgres_url: str
) -> None:
    def open_store() -> PostgresVectorStore:
        return PostgresVectorStore(postgres_url, embedder=explain_embedder("hash")[0])

    with Provider() as provider:
        options = BatchOptions(model=provider.model, max_attempts=2, embedder="hash")
        batch = await queue.submit([checked(1, right=False), checked(2)], options, batch="b")
        work = WorkerOptions(poll=0.05, grace=0.0, takeover=4.0)
        async with working(Worker(postgres_url, queue="support", concurrency=1, options=work)):
            await until(lambda: len(provider.calls) == 2)
        provider.held = False
        async with open_store() as store:
            assert (await store.run("b-00000")).status == "unfinished"
            await batch.cancel()
            assert (await store.run("b-00000")).status == "cancelled"
            assert (await store.facts()).calls > 0
            assert await batch.delete() == 2
            assert (await store.facts()).calls == 0
            assert [run.run_id for run in await store.runs()] == ["b-00000"]


async def test_a_task_that_was_sent_again_is_left_to_others_however_often_that_is_noted(queue: Queue) -> None:
    """A commit whose answer is lost is made again, and a worker that is held for dead notes it too late."""
    place, claims = await begun_task(queue)
    await batches.cancel(queue.tables, place.batch)
    await batches.retry(queue.tables, place.batch, anew=False)
    assert [await claims.drop(place) for _ in range(2)] == [None, None]
    other = OwnedTasks(queue.tables, "support", "support/w1#1")
    assert isinstance(await other.begin(place), ClaimedTask)
    assert await claims.drop(place) is None
    await batches.cancel(queue.tables, place.batch)
    assert await claims.drop(place) is None
    assert [await other.drop(place) for _ in range(2)] == [place, place]


async def test_a_task_that_is_let_go_does_not_wait_in_a_cancelled_batch(queue: Queue) -> None:
    place, claims = await begun_task(queue)
    await batches.cancel(queue.tables, place.batch)
    await claims.let_go(place)
    now = await queue.batch(place.batch).status()
    assert (now.waiting, now.cancelled, now.finished) == (0, 1, True)


async def test_what_the_database_refuses_while_a_batch_is_cancelled_is_noted_later(
    queue: Queue, make_worker: Callable[..., Worker], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "wisen.worker")

    async def full(connection: QueueConnection) -> None:
        await connection.execute(
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS "
            "$$BEGIN RAISE EXCEPTION 'disk full' USING ERRCODE = '53100'; END$$; "
            "CREATE TRIGGER full_disk BEFORE UPDATE ON tasks FOR EACH ROW WHEN (NEW.state = 'cancelled') "
            "EXECUTE FUNCTION full_disk()"
        )

    async def emptied(connection: QueueConnection) -> None:
        await connection.execute("DROP TRIGGER full_disk ON tasks")

    begun = asyncio.Event()

    async def architecture(_: str) -> str:
        begun.set()
        await asyncio.Event().wait()
        return ""

    batch = await queue.submit(["x"])
    async with working(make_worker(agent=Agent(model=ScriptedModel([]), architecture=architecture), takeover=1.0)):
        await asyncio.wait_for(begun.wait(), 60)
        await queue.tables.run(full)
        await batch.cancel()
        await until(lambda: any(record.message == "task.left" for record in caplog.records))
        await queue.tables.run(emptied)
        assert (await batch.wait(60)).cancelled == 1


async def test_the_steps_of_runs_that_were_begun_anew_go_with_the_batch(queue: Queue, postgres_url: str) -> None:
    async def begun_again(connection: QueueConnection) -> None:
        await connection.execute("UPDATE tasks SET started = now()")

    batch = await queue.submit(["x", "y"], batch="b")
    async with PostgresVectorStore(postgres_url, embedder=explain_embedder("hash")[0]) as store:
        for run in ("b-00000", "b-00000-1", "b-00001", "b-00001-1", "c-00000"):
            await store.save_call(call_scope(run), "key", 0, b"answer")
        await queue.tables.run(begun_again)
        await batch.cancel()
        await batch.retry(anew=True)
        await batch.cancel()
        assert await batch.delete() == 2
        assert (await store.facts()).calls == 1


async def begun_task(queue: Queue) -> tuple[TaskId, OwnedTasks]:
    """A task that a worker has begun, with that worker's statements; there is another worker."""

    async def enlist(connection: QueueConnection) -> None:
        await connection.execute(
            "INSERT INTO workers (queue, id, epoch, host, takeover) "
            "VALUES ('support', 'w0', 1, '', 60), ('support', 'w1', 1, '', 60)"
        )

    batch = await queue.submit(["x"])
    await queue.tables.run(enlist)
    place, claims = TaskId(batch=batch.id, place=0), OwnedTasks(queue.tables, "support", "support/w0#1")
    assert isinstance(await claims.begin(place), ClaimedTask)
    return place, claims


async def test_a_batch_tells_whether_it_is_new(queue: Queue) -> None:
    first, second = [await queue.submit(["x"], batch="b") for _ in range(2)]
    assert (first.new, second.new, queue.batch("b").new) == (True, False, False)
    assert repr(second) == "Batch(id='b', queue='support', new=False)"
