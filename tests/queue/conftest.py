"""Databases in which all tables of a queue exist already, since making them takes long; and what works on them."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from postgres import PostgresServer, database_of
from queue_worker import lessons_at

from wisen.embedders.names import explain_embedder
from wisen.queue.queue import Queue
from wisen.queue.worker import Worker, WorkerOptions
from wisen.stores.postgres.store import PostgresVectorStore


async def _prepare(url: str) -> None:
    async with Queue(url) as queue, PostgresVectorStore(url, embedder=explain_embedder("hash")[0]):
        await queue.depth()
        await asyncio.to_thread(queue.dispatch.holders, queue.name)


@pytest.fixture(scope="session")
def prepared_database(postgres_server: PostgresServer) -> str:
    """What the tests' databases are copied from; nobody may be connected to it."""
    url = postgres_server.new_database()
    asyncio.run(_prepare(url))
    return database_of(url)


@pytest.fixture
def postgres_url(postgres_server: PostgresServer, prepared_database: str) -> Iterator[str]:
    """The URL of a database of the test's own, with the tables of queue, lessons and DBOS."""
    url = postgres_server.new_database(prepared_database)
    yield url
    postgres_server.drop(url)


@pytest.fixture
async def queue(postgres_url: str) -> AsyncGenerator[Queue]:
    async with Queue(postgres_url, "support") as one:
        yield one


@pytest.fixture
def make_worker(postgres_url: str, tmp_path: Path) -> Callable[..., Worker]:
    """Makes a worker of the queue "support" for this process, with lessons in a file."""

    def make(*, agent: Any = None, concurrency: int = 4, **options: Any) -> Worker:
        lessons = lessons_at(str(tmp_path / "lessons.db"))
        told: dict[str, Any] = {"poll": 0.05, "grace": 5.0, "takeover": 4.0, "open_store": lessons, **options}
        given = WorkerOptions(**told)
        return Worker(postgres_url, queue="support", agent=agent, concurrency=concurrency, options=given)

    return make
