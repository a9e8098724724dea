"""Queues on servers as people have them: behind a pooler, several for one database, away when a worker starts."""

import asyncio
from functools import partial

import psycopg
import pytest
from poolers import KNOWN_TO_POOLERS, pooler

from wisen import Agent, ScriptedModel
from wisen.errors import QueueError
from wisen.queue.database import hosts_as_options
from wisen.queue.leases import claim, resign
from wisen.queue.queue import Queue
from wisen.queue.worker import Worker

pytestmark = pytest.mark.anyio


async def test_a_pooler_takes_what_a_queue_asks_for(postgres_url: str) -> None:
    """Poolers refuse clients that ask for settings which they don't know."""
    async with pooler(postgres_url) as before:
        async with Queue(before.url, "q") as queue:
            assert list(await queue.batches()) == []
            assert list(await queue.batches()) == []
        lease = await asyncio.to_thread(partial(claim, before.url, "q", "w-1", 30.0))
        await asyncio.to_thread(partial(resign, before.url, lease))
    assert before.asked <= KNOWN_TO_POOLERS


async def test_a_pooler_that_shares_its_connections_is_refused(postgres_url: str) -> None:
    async with pooler(postgres_url, shares=True) as before, Queue(before.url, "q") as queue:
        with pytest.raises(QueueError, match="shares its connections among clients; set it to session mode"):
            await queue.batches()


async def test_a_worker_stops_while_it_waits_for_its_database() -> None:
    worker = Worker("postgresql://user@127.0.0.1:1/x", queue="q")
    working = asyncio.create_task(worker.run())
    await asyncio.sleep(0)
    worker.stop()
    async with asyncio.timeout(20):
        await working


async def test_a_worker_stops_while_it_waits_for_its_lease(postgres_url: str) -> None:
    made = asyncio.Event()

    def agent() -> Agent:
        # Comes before the lease, which nobody is given while the table is locked.
        holding.execute("LOCK TABLE wisen_queue.workers IN ACCESS EXCLUSIVE MODE")
        made.set()
        return Agent(model=ScriptedModel([]))

    with psycopg.connect(postgres_url) as holding:
        worker = Worker(postgres_url, queue="q", agent=agent)
        working = asyncio.create_task(worker.run())
        await made.wait()
        await asyncio.sleep(0.2)
        worker.stop()
        async with asyncio.timeout(10):
            await working
    assert worker.id == ""


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("postgresql://u:p@a:1,b:2/x?c=d", "postgresql://u:p@/x?host=a,b&port=1,2&c=d"),
        ("postgres://a,b", "postgres:///?host=a,b&port=5432,5432"),
        ("postgresql://u@[::1]:1,[::2]/x", "postgresql://u@/x?host=::1,::2&port=1,5432"),
        ("postgresql://u:p,q@a:1/x", "postgresql://u:p,q@a:1/x"),
        ("postgresql://u@/x?host=a,b", "postgresql://u@/x?host=a,b"),
    ],
)
def test_several_hosts_become_options(url: str, same: str) -> None:
    assert hosts_as_options(url) == same
