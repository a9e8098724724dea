"""The parts that workers are made of, each by itself."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import ModelRequest, UserPromptPart
from pydantic_ai.models import ModelRequestParameters
from queues import until

from wisen import ScriptedModel
from wisen.errors import ConfigError, QueueError
from wisen.queue import leases
from wisen.queue.call_gate import GatedModel
from wisen.queue.database import QueueConnection, Tables
from wisen.queue.dbos_engine import Dispatch
from wisen.queue.in_flight import IsolationLock
from wisen.queue.jobs import (
    BatchOptions,
    Job,
    JobOutcome,
    job_from_json,
    options_from_json,
    outcome_from_json,
    to_json,
)
from wisen.queue.leases import Lease, LeaseKeeper, LeaseListener, checked_name, claim, resign
from wisen.queue.queue import Queue
from wisen.queue.rates import Rate, Rates, parse_rates
from wisen.queue.reconnecting import patiently
from wisen.queue.worker import Worker, WorkerOptions
from wisen.records import Budget, Task
from wisen.tasks.files import EvaluatorSpec

TEXT = st.text(st.characters(exclude_categories=("Cs",)))


@given(TEXT, TEXT, st.dictionaries(TEXT, TEXT))
def test_jobs_travel_as_json(prompt: str, name: str, metadata: dict[str, object]) -> None:
    job = Job(task=Task(prompt=prompt, id=name, tools=(name,), metadata=metadata))
    assert job_from_json(to_json(job)) == job


def test_options_and_outcomes_travel_as_json() -> None:
    options = BatchOptions(model="m", budget=Budget(requests=3, cost_usd=0.5), seed=1, embedder="hash")
    assert options_from_json(to_json(options)) == options
    outcome = JobOutcome(run_id="r", status="satisfied", score=1.0, verified=True)
    assert outcome_from_json(to_json(outcome)) == outcome
    with pytest.raises(QueueError, match="a stored Job can't be read"):
        job_from_json("{}")
    with pytest.raises(ConfigError, match="can't be written as JSON"):
        to_json(Job(task=Task(prompt="x"), evaluator=EvaluatorSpec(kind="regex", options={"thing": object()})))


def test_rates_are_read_and_refused() -> None:
    assert parse_rates(["openai=60/min", "fake=5/2s", "x=1/hour"]) == {
        "openai": Rate(calls=60, seconds=60),
        "fake": Rate(calls=5, seconds=2),
        "x": Rate(calls=1, seconds=3600),
    }
    for wrong in ("openai", "openai=60", "=1/s", "x=1/day", "x=0/s"):
        with pytest.raises(ConfigError, match="rate"):
            parse_rates([wrong])


def test_options_that_cannot_be_are_refused() -> None:
    for make in (
        lambda: BatchOptions(max_attempts=0),
        lambda: BatchOptions(threshold=2),
        lambda: WorkerOptions(takeover=0),
        lambda: WorkerOptions(poll=-1),
        lambda: WorkerOptions(grace=-1),
        lambda: WorkerOptions(most_running=0),
        lambda: Worker("postgresql://x/y", queue="q", concurrency=0),
        lambda: checked_name("", "queue"),
        lambda: checked_name("a/b", "queue"),
    ):
        with pytest.raises(ConfigError):
            make()


@pytest.mark.anyio
async def test_a_lease_that_is_old_holds_up_until_it_is_renewed() -> None:
    now = [0.0]
    lease = Lease(queue="q", worker="w", epoch=1, takeover=10.0, clock=lambda: now[0], renewed=0.0)
    await lease.held()
    now[0] = 8.0
    waiting = asyncio.create_task(lease.held())
    done, _ = await asyncio.wait([waiting], timeout=0.2)
    assert not done
    lease.renewed = now[0]
    await asyncio.wait_for(waiting, 10)


@pytest.mark.anyio
async def test_no_call_is_made_and_no_answer_given_out_while_the_lease_is_in_doubt() -> None:
    now = [100.0]
    lease = Lease(queue="q", worker="w", epoch=1, takeover=10.0, clock=lambda: now[0], renewed=0.0)

    def answer(_: object, __: object) -> str:
        now[0] += 100.0  # the process is paused while it waits for the answer
        return "an answer"

    model = ScriptedModel(answer)
    gated = GatedModel(model, lease, Rates(Tables("postgresql://x/y"), "q", {}))
    call = asyncio.create_task(
        gated.request([ModelRequest(parts=[UserPromptPart("x")])], None, ModelRequestParameters())
    )
    await asyncio.wait([call], timeout=0.2)
    assert len(model.calls) == 0
    lease.renewed = now[0]
    await until(lambda: len(model.calls) == 1)
    await asyncio.wait([call], timeout=0.2)
    assert not call.done()
    lease.renewed = now[0]
    assert (await asyncio.wait_for(call, 10)).text == "an answer"


@pytest.mark.anyio
async def test_who_wants_to_be_alone_is_alone_and_comes_next() -> None:
    lock, order = IsolationLock(), list[str]()
    gate = asyncio.Event()

    async def take(name: str, *, alone: bool) -> None:
        async with lock.hold(alone=alone):
            order.append(f"{name} in")
            await gate.wait()
            order.append(f"{name} out")

    first = [asyncio.create_task(take(name, alone=False)) for name in "ab"]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    later = [asyncio.create_task(take("x", alone=True)), asyncio.create_task(take("c", alone=False))]
    given_up = asyncio.create_task(take("y", alone=True))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    given_up.cancel()
    gate.set()
    await asyncio.wait_for(asyncio.gather(*first, *later), 10)
    assert order == ["a in", "b in", "a out", "b out", "x in", "x out", "c in", "c out"]


@pytest.mark.anyio
async def test_ids_are_claimed_and_free_again_when_they_are_given_up(postgres_url: str) -> None:
    async with Queue(postgres_url, "q") as queue:
        await queue.depth()
    first = claim(postgres_url, "q", None, 60.0)
    second = claim(postgres_url, "q", None, 60.0)
    assert first.worker.endswith("-0")
    assert second.worker.endswith("-1")
    resign(postgres_url, first)
    again = claim(postgres_url, "q", None, 60.0)
    assert (again.worker, again.epoch) == (first.worker, 2)
    taken = claim(postgres_url, "q", second.worker, 60.0)
    assert taken.holder == f"q/{second.worker}#2"


@pytest.mark.anyio
async def test_tables_of_a_newer_wisen_are_refused(postgres_url: str) -> None:
    tables = Tables(postgres_url)

    async def newer(connection: QueueConnection) -> None:
        await connection.execute("INSERT INTO migrations (number) VALUES (999)")

    await tables.run(newer)
    await tables.close()
    with pytest.raises(QueueError, match="newer wisen"):
        await Tables(postgres_url).run(newer)


@pytest.mark.anyio
async def test_a_statement_that_is_refused_is_told(postgres_url: str) -> None:
    tables = Tables(postgres_url)

    async def wrong(connection: QueueConnection) -> None:
        await connection.execute("SELECT nothing FROM nowhere")

    with pytest.raises(QueueError, match="refused: UndefinedTableError"):
        await tables.run(wrong)
    await tables.close()


@pytest.mark.anyio
async def test_blocking_work_waits_for_its_database() -> None:
    from psycopg import OperationalError

    tries = [0]

    def work() -> str:
        tries[0] += 1
        if tries[0] == 1:
            raise OperationalError("away")
        return "done"

    assert await patiently(work) == "done"
    tries[0] = 0
    with pytest.raises(QueueError, match="can't be reached: away"):
        await patiently(work, patience=0.0)


def test_half_a_character_is_refused_in_a_task_and_replaced_in_an_answer() -> None:
    with pytest.raises(ConfigError, match="can't be written as JSON"):
        to_json(BatchOptions(instructions="half \ud83d"))
    assert outcome_from_json(to_json(JobOutcome(output="half \ud83d"))).output == "half ?"


def test_a_model_with_a_secret_in_its_address_is_refused_without_quoting_it() -> None:
    for name in ("openai-compatible:http://me:hidden@host/v1#m", "openai-compatible:http://host/v1?key=hidden#m"):
        with pytest.raises(ConfigError, match="keys are workers' own") as told:
            BatchOptions(model=name)
        assert "hidden" not in str(told.value)
        with pytest.raises(ConfigError, match="keys are workers' own"):
            BatchOptions(judge_model=name)
    assert BatchOptions(model="openai-compatible:http://host:8080/v1#m").model


@pytest.mark.anyio
async def test_a_leap_of_the_servers_clock_buries_nobody(postgres_url: str) -> None:
    async with Queue(postgres_url, "q") as queue:
        await queue.depth()
        first, second = (claim(postgres_url, "q", name, 0.5) for name in ("a", "b"))
        dispatch, lost = Dispatch(postgres_url), list[str]()
        listener = LeaseListener(lost=lost.append, cancelled=lambda _: None, doing=frozenset)
        keeper = LeaseKeeper(postgres_url, dispatch, first, listener)

        async def leap(connection: QueueConnection) -> None:
            # As it looks from the next sign of life on: all others are old.
            await connection.execute("UPDATE workers SET beat = beat - interval '2 min' WHERE id = 'b'")

        async def alive(connection: QueueConnection) -> int:
            return await connection.fetchval("SELECT count(*) FROM workers WHERE ended IS NULL")

        clock = [0.0]
        first.clock, first.renewed = lambda: clock[0], 0.0
        with leases._connected(postgres_url) as connection:
            assert keeper._beat(connection)
            clock[0] -= 120.0  # the server's went on by two minutes more than this one
            await queue.tables.run(leap)
            assert keeper._beat(connection)
            keeper._check_tasks(connection)
            assert await queue.tables.run(alive) == 2
            clock[0] += 61.0
            assert keeper._beat(connection)
            keeper._steady = float("-inf")
            keeper._check_tasks(connection)
            assert await queue.tables.run(alive) == 1
        dispatch.close()
        assert second.worker == "b"
