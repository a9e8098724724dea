"""Replay tests whose attempts the workers of a queue make."""

import asyncio
from contextlib import nullcontext
from pathlib import Path

import pytest
from queue_worker import lessons_at
from queues import working
from replaying import HELPS, tasks

from wisen import Agent, InMemoryVectorStore, MemoryCI, Reflexion, ScriptedModel, SQLiteVectorStore
from wisen.errors import PartError, QueueError, UnreachableModelError
from wisen.evaluation.checks import ReferenceEvaluator
from wisen.models.names import resolve_model
from wisen.models.scripted import ScriptedCall
from wisen.queue.jobs import BatchOptions
from wisen.queue.queue import Queue
from wisen.queue.replay_attempts import QueuedAttempt
from wisen.queue.worker import Worker, WorkerOptions
from wisen.records import Task
from wisen.replay.attempts import agent_attempt
from wisen.replay.card_tests import ReplayTest
from wisen.tasks.files import EvaluatorSpec
from wisen.testing.provider import FakeProvider

pytestmark = pytest.mark.anyio


async def test_workers_make_the_attempts_of_a_replay_test(postgres_url: str, tmp_path: Path) -> None:
    with FakeProvider(lambda _: "grey") as provider:
        path = str(tmp_path / "lessons.db")
        async with SQLiteVectorStore(path) as store, Queue(postgres_url, "ci") as queue:
            await store.add([HELPS])
            model = resolve_model(provider.model)
            local = agent_attempt(Agent(model=model, architecture=Reflexion(lesson_store=store)))
            attempt = QueuedAttempt(
                queue,
                local,
                BatchOptions(model=provider.model),
                evaluator_of=lambda _: EvaluatorSpec(kind="exact"),
                every=0.05,
            )
            options = WorkerOptions(open_store=lessons_at(path), poll=0.05, takeover=4.0)
            async with working(Worker(postgres_url, queue="ci", options=options)), attempt:
                report = await ReplayTest(MemoryCI(store), attempt, parallel=4).run(tasks(8))
                status = await queue.batch(attempt.batch).status()
    assert report.problems == {}
    assert report.attempts == status.done == len(provider.calls) > 2
    assert attempt.spent.requests == len(provider.calls)
    assert sum("HELPS" in call.asked for call in provider.calls) > 1


@pytest.mark.parametrize(("gone", "error"), [(False, PartError), (True, QueueError)])
async def test_what_an_agent_raises_is_told_from_a_model_that_is_gone(
    postgres_url: str, *, gone: bool, error: type[Exception]
) -> None:
    def clerk(messages: object, call: ScriptedCall) -> Exception:
        del messages, call
        return UnreachableModelError("m", "down") if gone else RuntimeError("no such berth")

    agent = Agent(model=ScriptedModel(clerk), name="clerk", evaluator=ReferenceEvaluator())
    store = InMemoryVectorStore()
    options = WorkerOptions(open_store=lambda _: nullcontext(store), poll=0.05, takeover=4.0)
    async with (
        Queue(postgres_url, "ci") as queue,
        QueuedAttempt(queue, agent_attempt(agent), BatchOptions(), every=0.05) as attempt,
        working(Worker(postgres_url, agent=agent, queue="ci", options=options)),
    ):
        with pytest.raises(error, match="attempt"):
            await attempt(tasks()[1], [HELPS], 0)
    assert attempt.spent.requests == (0 if gone else 1)


def book(berth: str) -> str:
    """Books it, which can't be undone."""
    return berth


@pytest.mark.parametrize("tools_too", [False, True])
async def test_a_workers_own_agent_acts_again_only_where_that_was_allowed(
    postgres_url: str, *, tools_too: bool
) -> None:
    model = ScriptedModel(["berth 1"])
    agent = Agent(model=model, name="clerk", evaluator=ReferenceEvaluator(), tools=[book])
    store = InMemoryVectorStore()
    options = WorkerOptions(open_store=lambda _: nullcontext(store), poll=0.05, takeover=4.0, tools_too=tools_too)
    async with (
        Queue(postgres_url, "ci") as queue,
        QueuedAttempt(queue, agent_attempt(agent), BatchOptions(), every=0.05) as attempt,
        working(Worker(postgres_url, agent=agent, queue="ci", options=options)),
    ):
        with nullcontext() if tools_too else pytest.raises(QueueError, match=r"WorkerOptions\(tools_too=True\)"):
            assert await attempt(tasks()[1], [HELPS], 0) == 1.0
    assert len(model.calls) == tools_too


async def test_an_attempt_that_was_cancelled_is_told(postgres_url: str, tmp_path: Path) -> None:
    async with SQLiteVectorStore(tmp_path / "lessons.db") as store, Queue(postgres_url, "ci") as queue:
        local = agent_attempt(
            Agent(
                model=resolve_model("openai-compatible:http://127.0.0.1:9/v1#x"),
                architecture=Reflexion(lesson_store=store),
            )
        )
        async with QueuedAttempt(queue, local, BatchOptions(), every=0.01) as attempt:

            async def give_up() -> None:
                async with asyncio.timeout(60):
                    while not await queue.batches():
                        pass
                await queue.batch(attempt.batch).cancel()

            cancelling = asyncio.create_task(give_up())
            with pytest.raises(QueueError, match="cancelled"):
                await attempt(Task(prompt="x"), [], 0)
            await cancelling
