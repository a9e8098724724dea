"""A batch that a worker lacks something for is left to others, stops no other batch, and says why it waits."""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.exceptions import ModelHTTPError
from queue_worker import lessons_at
from queues import checked, until, working

from wisen import Agent, ScriptedModel, SQLiteVectorStore, Task
from wisen.errors import ModelError, StoreError
from wisen.models.names import resolve_model
from wisen.operations.metrics import Metrics
from wisen.queue.batches import BatchStatus
from wisen.queue.capabilities import why_waiting
from wisen.queue.database import QueueConnection
from wisen.queue.jobs import BatchOptions, Job
from wisen.queue.queue import Batch, Queue
from wisen.queue.task_ids import TaskId
from wisen.queue.worker import Worker
from wisen.queue.worker_runs import Runs, RunSetup
from wisen.testing.provider import FakeProvider

pytestmark = pytest.mark.anyio

NEEDY = "openai-chat:gpt-5"
LACKS = "model 'openai-chat:gpt-5': set the environment variable OPENAI_API_KEY"
WISEN = (sys.executable, "-c", "from wisen.cli.main import main; main()")


class Keys:
    """Finds models; the needy one only once the key is there."""

    def __init__(self, instead: str) -> None:
        self.there = False
        self.asked = 0
        self._instead = instead

    def find(self, name: str | None) -> Any:
        if name != NEEDY:
            return resolve_model(name)
        self.asked += 1
        if not self.there:
            raise ModelError(NEEDY, "set the environment variable OPENAI_API_KEY")
        return resolve_model(self._instead)


async def notes(queue: Queue) -> int:
    async def work(connection: QueueConnection) -> int:
        return await connection.fetchval("SELECT count(*) FROM unfit")

    return await queue.tables.run(work)


async def taken(queue: Queue, batch: Batch) -> int:
    """How often tasks of a batch were given to a worker."""

    async def work(connection: QueueConnection) -> int:
        return await connection.fetchval(
            "SELECT sum(recovery_attempts)::int FROM wisen_dbos.workflow_status WHERE workflow_uuid LIKE $1 || '.%'",
            batch.id,
        )

    return await queue.tables.run(work)


async def waits_because(batch: Batch, why: str) -> BatchStatus:
    async with asyncio.timeout(60):
        while why not in (now := await batch.status()).why:  # noqa: ASYNC110 - a worker notes it
            await asyncio.sleep(0.05)
    return now


async def test_batches_behind_one_that_cannot_be_done_are_done(
    queue: Queue, make_worker: Callable[..., Worker], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "wisen.worker")
    with FakeProvider() as provider:
        keys, doable = Keys(provider.model), BatchOptions(model=provider.model)
        metrics = Metrics()
        needy = await queue.submit(["x"] * 40, BatchOptions(model=NEEDY), batch="b")
        # Its id begins like the other's.
        second = await queue.submit(["y"] * 6, doable, batch="b.1.2")
        async with working(make_worker(find_model=keys.find, again=0.5, metrics=metrics)) as worker:
            assert (await second.wait(60)).done == 6
            now = await waits_because(needy, "no worker can do it")
            assert (now.waiting, now.why) == (40, f"no worker can do it: {worker.id}: {LACKS}")
            assert await queue.workers() == [worker.id]
            assert keys.asked < 30
            assert b'wisen_unfit_batches{queue="support"} 1.0' in metrics.text()
            keys.there = True
            assert (await needy.wait(60)).done == 40
            assert (await needy.status()).why == ""
            assert await notes(queue) == 0
            assert b'wisen_unfit_batches{queue="support"} 0.0' in metrics.text()
    assert {one.tries async for one in needy.results()} == {0}
    told = [record for record in caplog.records if record.message in ("worker.unfit", "worker.fit")]
    assert [record.message for record in told] == ["worker.unfit", "worker.fit"]
    assert vars(told[0])["wisen_fields"] == {"worker": worker.id, "batch": "b", "why": LACKS}


async def test_a_worker_that_has_only_what_it_leaves_is_told_of_new_tasks_and_takes_none_of_those(
    queue: Queue, make_worker: Callable[..., Worker]
) -> None:
    with FakeProvider() as provider:
        keys = Keys("")
        # By itself it would look after minutes.
        async with working(make_worker(find_model=keys.find, poll=300.0, takeover=600.0)) as worker:
            await until(lambda: worker.heartbeat_age < 100.0)
            await asyncio.sleep(0.5)
            needy = await queue.submit(["x"] * 9, BatchOptions(model=NEEDY))
            await waits_because(needy, LACKS)
            asked = keys.asked
            for _ in range(3):
                assert (await (await queue.submit(["y"], BatchOptions(model=provider.model))).wait(60)).done == 1
    assert keys.asked == asked <= 8
    assert await taken(queue, needy) <= 4


async def test_a_batch_that_is_cancelled_is_left_no_longer(queue: Queue, make_worker: Callable[..., Worker]) -> None:
    keys = Keys("")
    needy = await queue.submit(["x"], BatchOptions(model=NEEDY))
    async with working(make_worker(find_model=keys.find, again=0.1)):
        await waits_because(needy, LACKS)
        await needy.cancel()
        async with asyncio.timeout(60):
            while await notes(queue):  # noqa: ASYNC110 - a worker does it
                await asyncio.sleep(0.05)
        asked = keys.asked
        await asyncio.sleep(0.5)
        assert keys.asked <= asked + 1


async def test_a_key_that_the_provider_refuses_uses_up_no_try(queue: Queue, make_worker: Callable[..., Worker]) -> None:
    refused = [True]

    def answer(prompt: str) -> str:
        if refused[0] and prompt == "x":
            raise PermissionError("wrong key")
        return "fine"

    with FakeProvider(answer) as provider:
        needy = await queue.submit(["x"] * 3, BatchOptions(model=provider.model), tries=1)
        other = await queue.submit(["y"] * 3, BatchOptions(model=provider.model))
        async with working(make_worker(again=0.5)):
            await waits_because(needy, "the provider refused the API key")
            assert (await other.wait(60)).done == 3
            refused[0] = False
            assert (await needy.wait(60)).done == 3
    assert {one.tries async for one in needy.results()} == {0}


async def test_why_a_key_is_refused_is_told_without_anything_of_what_the_provider_or_an_agent_said(
    queue: Queue, make_worker: Callable[..., Worker], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "wisen.worker")

    async def architecture(prompt: str) -> str:
        refused = ModelHTTPError(401, "m", body={"error": "wrong key: the key"})
        if prompt == "the prompt":
            raise RuntimeError(f"no answer to {prompt}") from refused
        raise refused

    batches = [await queue.submit([prompt]) for prompt in ("the prompt", "y")]
    async with working(make_worker(agent=Agent(model=ScriptedModel([]), architecture=architecture))):
        for one in batches:
            await waits_because(one, ": a provider refused the API key")
    said = [str(vars(record).get("wisen_fields")) for record in caplog.records]
    said += [(await one.status()).why for one in batches]
    assert not any("the prompt" in one or "the key" in one for one in said)


async def test_however_long_a_reason_is_a_batch_waits_with_the_beginning_of_it(
    queue: Queue, make_worker: Callable[..., Worker]
) -> None:
    def find(_: str | None) -> Any:
        raise OSError("no weights\0 here " * 1000)

    batch = await queue.submit(["x"])
    async with working(make_worker(find_model=find)):
        now = await waits_because(batch, "no weights here no weights here")
    assert len(now.why) < 600


async def test_a_batch_whose_options_only_another_wisen_reads_stops_no_other(
    queue: Queue, make_worker: Callable[..., Worker]
) -> None:
    async def another(connection: QueueConnection) -> None:
        await connection.execute("UPDATE batches SET options = $1", '{"trust": "some day"}')

    strange = await queue.submit(["x"] * 3)
    await queue.tables.run(another)
    with FakeProvider() as provider:
        second = await queue.submit(["y"], BatchOptions(model=provider.model))
        async with working(make_worker(takeover=60.0, most_running=2, concurrency=2)):
            assert (await second.wait(30)).done == 1
            await waits_because(strange, "a stored BatchOptions can't be read: trust: ")


async def test_tasks_that_begin_a_batch_at_once_share_what_its_runs_are_made_of(tmp_path: Path) -> None:
    """With a guard of lessons of their own each, runs would store the same lesson twice."""
    asked: list[object] = []

    def guard(model: Any) -> Any:
        asked.append(model)
        return model

    async def options_of(_: str) -> BatchOptions:
        await asyncio.sleep(0)
        return BatchOptions(model="m", trust="screened")

    setup = RunSetup(
        agent=None,
        open_store=lessons_at(str(tmp_path / "lessons.db")),
        find_model=lambda _: ScriptedModel(["a"] * 99),
    )
    async with Runs(setup, guard=guard, options_of=options_of) as runs:
        places = [TaskId(batch="b", place=number) for number in range(4)]

        async def one(place: TaskId) -> None:
            await runs.prepare(place.batch)
            await runs.run(place, Job(task=Task(prompt=str(place.place))))

        await asyncio.gather(*map(one, places))
    assert len(set(map(id, asked))) == 1


async def test_a_store_that_cannot_be_opened_yet_uses_up_no_try(
    queue: Queue, make_worker: Callable[..., Worker], tmp_path: Path
) -> None:
    there = [False]

    @contextlib.asynccontextmanager
    async def opened(_: str | None) -> AsyncGenerator[SQLiteVectorStore]:
        if not there[0]:
            raise StoreError("store 'x' can't be used: this user may not add pgvector")
        async with SQLiteVectorStore(tmp_path / "other.db") as store:
            yield store

    with FakeProvider() as provider:
        batch = await queue.submit(["x"] * 3, BatchOptions(model=provider.model), tries=1)
        async with working(make_worker(open_store=opened, again=0.3)):
            await waits_because(batch, "this user may not add pgvector")
            there[0] = True
            assert (await batch.wait(60)).done == 3
    assert {one.tries async for one in batch.results()} == {0}


async def test_what_nobody_can_do_is_given_up_instead_of_waiting(
    queue: Queue, make_worker: Callable[..., Worker]
) -> None:
    def careless(_: str | None) -> Any:
        raise LookupError("the secret prompt")

    batch = await queue.submit(["x"], tries=1)
    assert (await batch.status()).why == "no worker of queue 'support' is running"
    assert await queue.workers() == []
    async with working(make_worker(find_model=careless)):
        assert (await batch.wait(60)).dead == 1
    only = await anext(batch.results())
    assert only.reason.startswith("LookupError at queue/test_capabilities.py:")


async def test_an_agent_of_the_workers_own_lacks_nothing(queue: Queue, make_worker: Callable[..., Worker]) -> None:
    async def answer(prompt: str) -> str:
        return prompt

    batch = await queue.submit(["x"], BatchOptions(model=NEEDY))
    async with working(make_worker(agent=Agent(model=ScriptedModel([]), architecture=answer))):
        assert (await batch.wait(60)).done == 1


async def test_a_batch_waits_for_nobody_while_one_of_the_workers_may_do_it(queue: Queue) -> None:
    await queue.submit(["x"], batch="b")

    async def work(connection: QueueConnection) -> list[str]:
        said: list[str] = []
        for number in range(6):
            await connection.execute(
                "INSERT INTO workers (queue, id, epoch, host, takeover) VALUES ('support', $1, 1, '', 60)", f"w{number}"
            )
            said.append((await why_waiting(connection, {"b": "support"})).get("b", ""))
            reason = "the same" if number < 2 else f"reason {number}"
            await connection.execute("INSERT INTO unfit VALUES ('b', $1, $2)", f"support/w{number}#1", reason)
            said.append((await why_waiting(connection, {"b": "support"})).get("b", ""))
        return said

    said = await queue.tables.run(work)
    assert said[::2] == [""] * 6
    assert said[3] == "no worker can do it: w0, w1: the same"
    assert said[11].endswith("w0, w1: the same; w2: reason 2; w3: reason 3; and 2 more reasons")


@contextlib.asynccontextmanager
async def worker_process(url: str, name: str, log: Path, **more: str) -> AsyncGenerator[None]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI")}
    command = [*WISEN, "worker", "--queue", "support", "--id", name, "--grace", "2", "--log", "json"]
    with log.open("wb") as file:
        process = await asyncio.create_subprocess_exec(
            *command, stderr=file, stdout=file, env={**environment, "WISEN_STORE": url, **more}
        )
        try:
            yield
        finally:
            process.kill()
            await process.wait()


async def test_workers_in_processes_of_their_own_with_and_without_the_key(
    queue: Queue, postgres_url: str, tmp_path: Path
) -> None:
    with FakeProvider(lambda prompt: f"re: {prompt}") as provider:
        jobs = [checked(number) for number in range(221)]
        needy = await queue.submit(jobs[:200], BatchOptions(model=NEEDY, embedder="hash"))
        doable = BatchOptions(model=provider.model, embedder="hash")
        second = await queue.submit(jobs[200:220], doable)
        async with (
            worker_process(postgres_url, "w-1", tmp_path / "w-1"),
            worker_process(postgres_url, "w-2", tmp_path / "w-2"),
        ):
            assert (await second.wait(60)).done == 20
            await until(lambda: all("worker.unfit" in (tmp_path / one).read_text() for one in ("w-1", "w-2")))
            now = await waits_because(needy, "w-1, w-2: ")
            assert (now.waiting, now.done) == (200, 0)
            key = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": provider.url}
            async with worker_process(postgres_url, "w-3", tmp_path / "w-3", **key):
                async for now in needy.follow():
                    if now.done:
                        break
                # While one does it, others go on with what comes.
                assert (await (await queue.submit(jobs[220:], doable)).wait(60)).done == 1
                assert (await needy.wait(120)).done == 200
        assert len(provider.calls) == 221
    found = [one async for one in needy.results()]
    assert ({one.tries for one in found}, {one.worker for one in found}) == ({0}, {"w-3"})
    for name in ("w-1", "w-2", "w-3"):
        lines = [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]
        assert (lines[0]["event"], lines[0]["queue"]) == ("worker.starting", "support")
        left = [(line["batch"], line["why"]) for line in lines if line["event"] == "worker.unfit"]
        assert left == ([] if name == "w-3" else [(needy.id, LACKS)])
