"""A worker in a process of its own, for tests that end it in every way.

What it needs is imported here, so that a process that has this module can be copied instead of being started anew.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import dbos._queue
import pydantic_ai.models.openai

import wisen.stores.postgres.store
from wisen import Agent, Reflexion, SQLiteVectorStore
from wisen.protocols import VectorStore
from wisen.queue.rates import parse_rates
from wisen.queue.worker import Worker, WorkerOptions
from wisen.queue.worker_runs import OpenStore

IMPORTED = (dbos._queue, pydantic_ai.models.openai, wisen.stores.postgres.store)


def lessons_at(path: str) -> OpenStore:
    @asynccontextmanager
    async def opened(_: str | None) -> AsyncGenerator[VectorStore]:
        async with SQLiteVectorStore(path) as store:
            yield store

    return opened


def learning(model: str, attempts: int) -> Callable[[VectorStore], Agent]:
    def make(store: VectorStore) -> Agent:
        return Agent("Do the task.", model=model, architecture=Reflexion(max_attempts=attempts, lesson_store=store))

    return make


def work(url: str, queue: str, options: dict[str, Any]) -> None:
    given = dict(options)
    lessons = given.pop("lessons", None)
    if lessons:
        given["open_store"] = lessons_at(lessons)
    model, attempts = given.pop("model", None), given.pop("attempts", 2)
    worker = Worker(
        url,
        queue=queue,
        agent=learning(model, attempts) if model else None,
        concurrency=given.pop("concurrency", 2),
        id=given.pop("id", None),
        options=WorkerOptions(rates=parse_rates(given.pop("rates", ())), **given),
    )
    worker.run_sync()
