"""Databases in which all tables of a queue exist already: making them takes longer than most tests."""

import asyncio
from collections.abc import Iterator

import pytest
from postgres import PostgresServer, database_of

from wisen.durable.queue import Queue
from wisen.embedders.names import explain_embedder
from wisen.stores.postgres import PostgresVectorStore


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
