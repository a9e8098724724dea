"""What a worker lets its operator see: whether it can work, how full its queue is, and how busy it is."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from wisen.errors import WisenError
from wisen.operations.health import Check, Health, Pulse, heartbeat
from wisen.operations.metrics import Metrics, PoolUse, QueueDepth
from wisen.operations.serving import Address, Readings, serving
from wisen.protocols import VectorStore
from wisen.queue.batches import depth
from wisen.queue.database import SCHEMA, QueueConnection, Tables
from wisen.queue.jobs import options_from_json
from wisen.queue.worker_runs import OpenStore

if TYPE_CHECKING:
    from pydantic_ai.models import Model

STORE_SCHEMA = "wisen"
"""Where the store of lessons is, unless it was given another schema."""
_CONNECTIONS = 1
"""Of its own, so that a full pool of the worker's can't make it look ill."""


class Attended(Protocol):
    """What is asked of a worker; `Worker` is one."""

    @property
    def url(self) -> str:
        """The database."""
        ...

    @property
    def queue(self) -> str:
        """Whose tasks it does."""
        ...

    @property
    def takeover(self) -> float:
        """Seconds without a sign of life after which others have its tasks."""
        ...

    @property
    def stopping(self) -> bool:
        """Whether it ends what it has begun, and takes no more."""
        ...

    @property
    def heartbeat_age(self) -> float:
        """Seconds since its last sign of life; infinite before the first."""
        ...

    def find_model(self, name: str | None) -> "Model":
        """The model that a name means; raises a `WisenError` where it can't be used, without calling it."""
        ...


@runtime_checkable
class Pooled(Protocol):
    """What a store adds that has connections."""

    @property
    def connections(self) -> tuple[int, int]:
        """How many are at work, and how many may be."""
        ...


class OpenedStores:
    """Opens stores for a worker, and says how many of their connections are at work."""

    def __init__(self, open_store: OpenStore) -> None:
        self._open_store = open_store
        self._opened: list[object] = []

    @asynccontextmanager
    async def __call__(self, embedder: str | None) -> AsyncGenerator[VectorStore]:
        """Open the store with the embedder of this name."""
        async with self._open_store(embedder) as store:
            self._opened.append(store)
            try:
                yield store
            finally:
                self._opened.remove(store)

    def use(self) -> PoolUse:
        """Of all stores that are open now."""
        uses = [store.connections for store in self._opened if isinstance(store, Pooled)]
        return PoolUse(in_use=sum(used for used, _ in uses), size=sum(most for _, most in uses))


@asynccontextmanager
async def attending(
    worker: Attended,
    address: Address,
    metrics: Metrics,
    *,
    pool: Callable[[], PoolUse] | None = None,
    monotonic: Callable[[], float] = time.monotonic,
) -> AsyncGenerator[Address]:
    """Serve a worker's health and metrics, in the event loop that makes its runs; gives where.

    Begin before the worker has reached its database, so that an orchestrator sees it alive and not ready. `pool` reads
    the use of the store's connections.
    """
    tables = Tables(worker.url, patience=0.0, size=_CONNECTIONS)
    pulse = Pulse(hear=metrics.lagged)
    health = Health(checks(worker, tables), pulse=pulse, stopping=lambda: worker.stopping, monotonic=monotonic)

    async def queues() -> Sequence[QueueDepth]:
        return [await depth(tables, worker.queue)]

    readings = Readings(queues=queues, heartbeat_age=lambda: worker.heartbeat_age, pool=pool)
    beating = asyncio.create_task(pulse.beat())
    try:
        async with serving(address, health, metrics, readings) as listening:
            yield listening
    finally:
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)
        await tables.close()


def checks(worker: Attended, tables: Tables) -> tuple[Check, ...]:
    """What has to hold for a worker to be given work; none of them asks a model."""

    async def database() -> str:
        await tables.run(_answer)
        return ""

    async def schema() -> str:
        there = await tables.run(_migrated)
        known = {SCHEMA: _migrations("wisen.queue", "queue_schema")}
        known[STORE_SCHEMA] = _migrations("wisen.stores.postgres", "migrations")
        return "; ".join(filter(None, (_compared(name, there[name], known[name]) for name in there)))

    usable: set[str | None] = set()

    async def model() -> str:
        wanted, lacking = await _models(tables, worker.queue), list[str]()
        for name in set[str | None]().union(*wanted) - usable:
            try:
                await asyncio.to_thread(worker.find_model, name)
            except WisenError as error:
                lacking.append(str(error))  # of names, keys and packages: nothing was asked yet
            else:
                usable.add(name)
        # Where there is a batch that it can do, it is of use; those that it leaves say themselves why they wait.
        return "" if any(names <= usable for names in wanted) else "; ".join(sorted(lacking))

    found = [Check(name="database", problem=database), Check(name="schema", problem=schema)]
    return (*found, heartbeat(lambda: worker.heartbeat_age, worker.takeover), Check(name="model", problem=model))


async def _models(tables: Tables, queue: str) -> set[frozenset[str | None]]:
    """The models that each of the batches with work left asks for."""

    async def work(connection: QueueConnection) -> set[frozenset[str | None]]:
        rows = await connection.fetch(
            "SELECT DISTINCT options FROM batches b WHERE queue = $1 AND cancelled IS NULL AND EXISTS "
            "(SELECT FROM tasks t WHERE t.batch = b.id AND t.state IN ('waiting', 'running'))",
            queue,
        )
        options = [options_from_json(row["options"]) for row in rows]
        return {frozenset({one.model, one.judge_model or one.model}) for one in options}

    return await tables.run(work)


async def _answer(connection: QueueConnection) -> None:
    await connection.fetchval("SELECT 1")


async def _migrated(connection: QueueConnection) -> dict[str, int]:
    """How far each schema is, where it is there."""
    there: dict[str, int] = {}
    for schema in (SCHEMA, STORE_SCHEMA):
        if await connection.fetchval("SELECT to_regclass($1)::text", f"{schema}.migrations"):
            there[schema] = await connection.fetchval(f"SELECT count(*) FROM {schema}.migrations")  # noqa: S608 - own names
    return there


def _migrations(package: str, folder: str) -> int:
    return sum(file.name.endswith(".sql") for file in files(package).joinpath(folder).iterdir())


def _compared(schema: str, there: int, known: int) -> str:
    if there == known:
        return ""
    remedy = "update this worker" if there > known else "restart one worker, which brings it up to date"
    return f"schema {schema} is at {there}, and this wisen knows {known}; {remedy}"
