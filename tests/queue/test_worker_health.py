"""What a worker's operator sees: asked over HTTP, with a real database that goes away and comes back."""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

import pytest
from http_client import get
from postgres import PostgresServer, database_of

from wisen import Agent, CardFilter, ScriptedModel
from wisen.errors import ModelError
from wisen.operations.metrics import Metrics, PoolUse
from wisen.operations.serving import Address
from wisen.queue.database import Tables
from wisen.queue.worker import Worker, WorkerOptions
from wisen.queue.worker_health import OpenedStores, attending
from wisen.queue.worker_runs import store_at

pytestmark = pytest.mark.anyio

FREE = Address(host="127.0.0.1", port=0)


@dataclass
class Told:
    """A worker that is whatever the test says."""

    url: str
    queue: str = "nightly"
    takeover: float = 20.0
    stopping: bool = False
    heartbeat_age: float = 1.0
    usable: set[str | None] = field(default_factory=lambda: {None, "openai:gpt-5"})
    asked: list[str | None] = field(default_factory=list)

    def find_model(self, name: str | None) -> Any:
        self.asked.append(name)
        if name not in self.usable:
            raise ModelError(str(name), "set the environment variable OPENAI_API_KEY")
        return ScriptedModel(["a"])


class Later:
    """A clock that says a later time whenever it is asked, so that nothing that was found is kept."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 10.0
        return self.now


@contextlib.asynccontextmanager
async def seen(worker: Any, metrics: Metrics | None = None) -> AsyncGenerator[Address]:
    pool = PoolUse(in_use=1, size=10)
    async with attending(worker, FREE, metrics or Metrics(), pool=lambda: pool, monotonic=Later()) as address:
        yield address


async def findings(address: Address) -> dict[str, str]:
    """Why each check doesn't pass; "" where it does."""
    found = await get(address, "/readyz")
    assert found.status == (200 if all(one["ok"] for one in found.json["checks"]) else 503)
    return {one["check"]: one["why"] for one in found.json["checks"]}


async def batch(url: str, options: dict[str, Any], states: list[str], id_: str = "b") -> None:
    """A batch with tasks in these states, as a submitter and workers would leave it."""
    tables = Tables(url)

    async def work(connection: Any) -> None:
        await connection.execute(
            "INSERT INTO batches (id, queue, options, most_tries, tasks, fingerprint) "
            "VALUES ($1, 'nightly', $2, 3, 9, '')",
            id_,
            json.dumps(options),
        )
        for place, state in enumerate(states):
            await connection.execute(
                "INSERT INTO tasks (batch, place, queue, body, state) VALUES ($1, $2, 'nightly', '{}', $3)",
                id_,
                place,
                state,
            )

    await tables.run(work)
    await tables.close()


async def test_all_is_well(postgres_url: str) -> None:
    async with seen(Told(postgres_url)) as address:
        assert await findings(address) == dict.fromkeys(
            ("event loop", "running", "database", "schema", "heartbeat", "model"), ""
        )


async def test_a_model_that_batches_ask_for_and_that_cannot_be_used(postgres_url: str) -> None:
    await batch(postgres_url, {"model": "openai:gpt-9", "judge_model": "openai:gpt-5"}, ["waiting"])
    worker = Told(postgres_url)
    async with seen(worker) as address:
        why = (await findings(address))["model"]
    assert why == "model 'openai:gpt-9': set the environment variable OPENAI_API_KEY"
    assert "openai:gpt-9" in worker.asked


async def test_a_worker_that_can_do_one_of_the_batches_is_ready(postgres_url: str) -> None:
    await batch(postgres_url, {"model": "openai:gpt-9"}, ["waiting"])
    await batch(postgres_url, {"model": "openai:gpt-5"}, ["waiting"], "c")
    async with seen(Told(postgres_url)) as address:
        assert (await findings(address))["model"] == ""


async def test_models_of_batches_that_ended_are_not_looked_at(postgres_url: str) -> None:
    await batch(postgres_url, {"model": "openai:gpt-9"}, ["done", "dead"])
    async with seen(Told(postgres_url)) as address:
        assert (await findings(address))["model"] == ""


async def test_a_database_that_a_newer_wisen_has_changed(postgres_url: str, postgres_server: PostgresServer) -> None:
    async with seen(Told(postgres_url)) as address:
        assert (await findings(address))["schema"] == ""
    postgres_server.sql(
        "INSERT INTO wisen_queue.migrations (number) SELECT max(number) + 1 FROM wisen_queue.migrations",
        database=database_of(postgres_url),
    )
    async with seen(Told(postgres_url)) as address:
        why = await findings(address)
    assert "newer wisen" in why["schema"] + why["database"]
    assert why["heartbeat"] == ""


async def test_a_change_while_it_runs_is_noticed(postgres_url: str, postgres_server: PostgresServer) -> None:
    async with seen(Told(postgres_url)) as address:
        await findings(address)
        postgres_server.sql(
            "INSERT INTO wisen_queue.migrations (number) SELECT max(number) + 1 FROM wisen_queue.migrations",
            database=database_of(postgres_url),
        )
        assert "and this wisen knows 3; update this worker" in (await findings(address))["schema"]


async def test_signs_of_life_that_stop(postgres_url: str) -> None:
    async with seen(Told(postgres_url, heartbeat_age=21.0, stopping=True)) as address:
        found = await findings(address)
    assert found["heartbeat"] == "the last sign of life is 21 s old, and others take over after 20 s"
    assert found["running"] == "stopping"


async def test_how_full_the_queue_is(postgres_url: str) -> None:
    await batch(postgres_url, {}, ["waiting"] * 3 + ["running"] * 2 + ["dead", "done", "cancelled"])
    async with seen(Told(postgres_url)) as address:
        page = (await get(address, "/metrics")).body.splitlines()
    for state, count in (("waiting", 3.0), ("running", 2.0), ("dead", 1.0)):
        assert f'wisen_queue_tasks{{queue="nightly",state="{state}"}} {count}' in page
    assert "wisen_pool_size 10.0" in page
    assert "wisen_heartbeat_age_seconds 1.0" in page


async def test_a_server_that_is_away_and_comes_back(postgres_server: PostgresServer, postgres_url: str) -> None:
    async with seen(Told(postgres_url)) as address:
        assert not any((await findings(address)).values())
        await asyncio.to_thread(postgres_server.kill)
        try:
            found = await findings(address)
            assert found["database"].startswith("QueueError: the queue's database ")
            assert (await get(address, "/healthz")).status == 200
            assert (await get(address, "/metrics")).status == 200
        finally:
            await asyncio.to_thread(postgres_server.start)
        assert not any((await findings(address)).values())


async def test_how_many_connections_of_stores_are_at_work(postgres_url: str) -> None:
    stores = OpenedStores(store_at(postgres_url))
    assert stores.use() == PoolUse(in_use=0, size=0)
    async with stores("hash") as store, stores("hash"):
        await store.count(CardFilter())
        assert stores.use() == PoolUse(in_use=0, size=8)
        begun = asyncio.create_task(store.count(CardFilter()))
        async with asyncio.timeout(10):
            while not stores.use().in_use:  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(0)
        await begun
    assert stores.use() == PoolUse(in_use=0, size=0)


async def test_a_real_worker(postgres_url: str) -> None:
    metrics = Metrics()
    agent = Agent(model=ScriptedModel(lambda _messages, _call: "a"))
    worker = Worker(
        postgres_url, queue="nightly", agent=agent, id="w-0", options=WorkerOptions(metrics=metrics, grace=1.0)
    )
    async with seen(worker, metrics) as address:
        assert (await findings(address))["heartbeat"] == "no sign of life yet"
        working = asyncio.create_task(worker.run())
        async with asyncio.timeout(60):
            while worker.heartbeat_age > 20.0:  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(0.05)
        assert not any((await findings(address)).values())
        worker.stop()
        assert (await findings(address))["running"] == "stopping"
        await working
