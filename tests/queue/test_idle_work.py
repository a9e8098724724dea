"""Idle workers replay recorded runs: one of them in each hour, within its budget, and only while there are no tasks."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import replace

import pytest
from queues import working
from replaying import HELPS, obedient, stored, tasks

from wisen import Agent, InMemoryVectorStore, MemoryCI, ReAct, Reflexion, ScriptedModel, VectorStore
from wisen.advice.rankers import BySimilarity
from wisen.errors import ConfigError
from wisen.evaluation.checks import ReferenceEvaluator
from wisen.events import Event
from wisen.memory_ci.trial import TrialRule
from wisen.models.scripted import ScriptedCall
from wisen.queue.idle_work import IdleWork, Judges, Replayable
from wisen.queue.jobs import BatchOptions, Job
from wisen.queue.queue import Queue
from wisen.queue.task_ids import TaskId
from wisen.queue.worker import Worker
from wisen.queue.worker_runs import Runs, RunSetup
from wisen.recall import RecallHit, RecallQuery
from wisen.records import Task
from wisen.replay.background import BackgroundReplays

pytestmark = pytest.mark.anyio


class Hour:
    """A clock, and whether tasks are in hand."""

    def __init__(self) -> None:
        self.now = 7_200.0
        self.free = asyncio.Event()
        self.free.set()

    async def idle(self) -> None:
        await self.free.wait()


async def recorded(store: InMemoryVectorStore, **given: object) -> Replayable:
    """An agent with recorded runs, which a worker has done."""
    options: dict[str, object] = {"evaluator": ReferenceEvaluator(), "architecture": ReAct(), **given}
    agent = Agent("Answer.", model=ScriptedModel(obedient), memory=store, name="clerk", **options)  # pyright: ignore[reportArgumentType] - of the right types
    judges = Judges()
    for task in tasks(40):
        judges.saw(task, agent, None)
        await agent.run(task)
    return Replayable(agent=agent, ci=MemoryCI(store), judges=judges)


def spare(hour: Hour, one: Replayable, *, holder: str = "w1", budget: int = 6) -> IdleWork:
    return IdleWork(
        queue="q",
        holder=holder,
        budget=budget,
        idle=hour.idle,
        agents=lambda: [one],
        every=0.001,
        clock=lambda: hour.now,
    )


async def until(done: Callable[[], Awaitable[bool]]) -> None:
    """Look again and again."""
    async with asyncio.timeout(120):
        while True:
            if await done():
                return
            await asyncio.sleep(0.02)


async def calls(one: Replayable, expected: int) -> int:
    """How many calls replays have made: as soon as there are as many as expected, and a while later."""
    model = one.agent.model
    assert isinstance(model, ScriptedModel)

    async def made() -> bool:
        return len(model.calls) - 40 >= expected

    await until(made)
    await asyncio.sleep(0.3)
    return len(model.calls) - 40


async def test_an_hours_budget_is_for_all_workers_and_a_new_hour_has_a_new_one() -> None:
    hour, one = Hour(), await recorded(await stored(HELPS))
    async with asyncio.TaskGroup() as group:
        workers = [group.create_task(spare(hour, one, holder=name).use()) for name in ("w1", "w2", "w3")]
        assert await calls(one, 6) == 6
        hour.now += 3_600
        assert await calls(one, 12) == 12
        for worker in workers:
            worker.cancel()


async def test_nothing_is_replayed_while_there_are_tasks() -> None:
    hour, one = Hour(), await recorded(await stored(HELPS))
    hour.free.clear()
    asked, recalled = list[str](), one.ci.ranker.hits

    class Heard(BySimilarity):
        async def hits(self, store: VectorStore, query: RecallQuery) -> list[RecallHit]:
            asked.append(query.situation.prompt)
            return await recalled(store, query)

    one.ci.ranker = Heard()
    worker = asyncio.create_task(spare(hour, one).use())
    assert await calls(one, 0) == 0
    assert not asked
    hour.free.set()
    assert await calls(one, 6) == 6
    worker.cancel()


async def test_a_task_that_comes_holds_up_the_next_attempt() -> None:
    hour, one = Hour(), await recorded(await stored(HELPS))

    def busy(messages: object, call: ScriptedCall) -> str:
        hour.free.clear()
        return obedient(messages, call)

    assert isinstance(one.agent.model, ScriptedModel)
    before, one.agent.model = one.agent.model, ScriptedModel(busy)
    one.agent._resolved = None
    worker = asyncio.create_task(spare(hour, one).use())
    assert 1 <= await calls(one, 1 - 40) + 40 <= 2, "both sides of a pair are asked for at once"
    assert len(before.calls) == 40
    worker.cancel()


async def test_an_agent_with_tools_is_left_alone() -> None:
    def book(berth: str) -> str:
        return berth

    hour, one = Hour(), await recorded(await stored(HELPS), tools=[book])
    worker = asyncio.create_task(spare(hour, one).use())
    assert await calls(one, 0) == 0
    assert not worker.done()
    worker.cancel()


class Theirs(ReAct):
    """An architecture that isn't ours."""


async def test_others_code_is_left_alone_and_that_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    hour, one = Hour(), await recorded(await stored(HELPS), architecture=Theirs())
    worker = asyncio.create_task(spare(hour, one).use())
    assert await calls(one, 0) == 0
    worker.cancel()
    (told,) = (record for record in caplog.records if record.levelname == "WARNING")
    assert told.message == "replays.refused"
    assert "tools_too=True" in str(vars(told))
    allowed = asyncio.create_task(spare(hour, replace(one, tools_too=True)).use())
    assert await calls(one, 6) == 6
    allowed.cancel()


async def test_an_idle_worker_tries_lessons_on_the_runs_that_it_made(
    make_worker: Callable[..., Worker], queue: Queue
) -> None:
    def clerk(store: VectorStore) -> Agent:
        return Agent(
            "Answer.",
            model=ScriptedModel(obedient),
            architecture=Reflexion(lesson_store=store, max_attempts=1),
            evaluator=ReferenceEvaluator(),
            name="clerk",
        )

    ended = list[str]()

    def watch(event: Event) -> None:
        ended.append(event.name)

    worker = make_worker(agent=clerk, replay_budget=12, replay_every=0.2, watch=watch)
    async with worker._options.open_store(None) as store:  # pyright: ignore[reportOptionalCall] - where the worker's lessons are
        await store.add([HELPS])
        async with working(worker):
            batch = await queue.submit(tasks(20))

            async def finished() -> bool:
                return (await batch.status()).finished

            async def replayed() -> bool:
                return any(one.gained + one.ties for one in (await store.get([HELPS.id]))[0].evidence)

            await until(finished)
            await until(replayed)
    assert ended.count("run.completed") >= 20 + 4


async def no_options(_: str) -> BatchOptions:
    raise AssertionError("a worker with an agent of its own asks for none")


async def test_replays_follow_the_rules_of_the_workers_own_agent() -> None:
    """Its trial rule, trust and ranker are those of its memory CI."""
    ci = MemoryCI(store := InMemoryVectorStore(), trial=TrialRule(promote_at=1e6))
    agent = Agent(model=ScriptedModel(["a"]), architecture=Reflexion(lesson_store=ci, evaluator=ReferenceEvaluator()))
    setup = RunSetup(
        agent=agent, open_store=lambda _: nullcontext(store), find_model=lambda _: ScriptedModel([]), tools_too=True
    )
    async with Runs(setup, guard=lambda model: model, options_of=no_options) as runs:
        await runs.run(TaskId(batch="b", place=0), Job(task=Task(prompt="x", reference="a")))
        (one,) = runs.replayable()
    assert one.ci is ci
    assert one.tools_too


def test_a_budget_is_at_least_one(make_worker: Callable[..., Worker]) -> None:
    with pytest.raises(ConfigError, match="replay_budget 0"):
        make_worker(replay_budget=0)
    with pytest.raises(ConfigError, match="share"):
        BackgroundReplays(MemoryCI(InMemoryVectorStore()), share=0)
