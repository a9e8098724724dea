"""Health, readiness and metrics, asked over HTTP of a server that was really started."""

import asyncio
import contextlib
import math
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Sequence

import pytest
from http_client import get

from wisen import InMemoryVectorStore
from wisen.errors import ConfigError, StoreError
from wisen.operations.health import STUCK_SECONDS, Check, Health, Pulse, heartbeat, store_check
from wisen.operations.metrics import Metrics, PoolUse, QueueDepth
from wisen.operations.serving import Address, Readings, serving

pytestmark = pytest.mark.anyio

FREE = Address(host="127.0.0.1", port=0)
SECRET = "the-prompt-of-a-tenant"


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Condition:
    """A check that can be made to fail, and counts how often it is asked."""

    def __init__(self, name: str = "database") -> None:
        self.name, self.error, self.asked = name, None, 0
        self.hangs = False

    error: Exception | None

    async def problem(self) -> str:
        self.asked += 1
        if self.hangs:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error
        return ""

    def check(self) -> Check:
        return Check(name=self.name, problem=self.problem)


@contextlib.asynccontextmanager
async def served(
    *conditions: Condition, clock: Callable[[], float] | None = None, readings: Readings | None = None
) -> AsyncGenerator[tuple[Address, Health]]:
    clock = clock or Clock()
    health = Health([one.check() for one in conditions], patience=0.05, monotonic=clock)
    async with serving(FREE, health, Metrics(), readings) as address:
        yield address, health


async def test_healthy_and_ready() -> None:
    async with served(Condition(), Condition("model")) as (address, _):
        alive = await get(address, "/healthz")
        ready = await get(address, "/readyz")
    assert (alive.status, alive.json) == (
        200,
        {"ok": True, "checks": [{"check": "event loop", "ok": True, "why": ""}]},
    )
    assert ready.status == 200
    assert [one["check"] for one in ready.json["checks"]] == ["event loop", "running", "database", "model"]
    assert "cache-control: no-store" in ready.head
    assert "server:" not in ready.head


async def test_a_database_that_is_away_takes_readiness_and_not_health() -> None:
    database, clock = Condition(), Clock()
    async with served(database, clock=clock) as (address, _):
        database.error = StoreError("store 'postgresql://db/wisen' can't be reached")
        assert (await get(address, "/readyz")).json["checks"][2] == {
            "check": "database",
            "ok": False,
            "why": "StoreError: store 'postgresql://db/wisen' can't be reached",
        }
        assert (await get(address, "/readyz")).status == 503
        assert (await get(address, "/healthz")).status == 200
        database.error, clock.now = None, clock.now + 2
        assert (await get(address, "/readyz")).status == 200


async def test_what_others_errors_say_is_not_shown() -> None:
    database = Condition()
    database.error = ValueError(SECRET)
    async with served(database) as (address, _):
        ready = await get(address, "/readyz")
    assert ready.status == 503
    assert ready.json["checks"][2]["why"] == "ValueError"
    assert SECRET not in ready.body


async def test_a_check_that_hangs_fails_in_time_and_alone() -> None:
    hangs, good = Condition("database"), Condition("model")
    hangs.hangs = True
    async with served(hangs, good) as (address, _):
        found = {one["check"]: one for one in (await get(address, "/readyz")).json["checks"]}
    assert found["database"]["why"] == "no answer within 0.05 s"
    assert found["model"]["ok"]


async def test_many_questions_ask_the_database_once() -> None:
    database = Condition()
    async with served(database) as (address, _):
        answers = await asyncio.gather(*(get(address, "/readyz") for _ in range(20)))
    assert {one.status for one in answers} == {200}
    assert database.asked == 1


async def test_a_worker_that_stops_is_not_ready_and_lives() -> None:
    stopping = False
    health = Health(stopping=lambda: stopping)
    async with serving(FREE, health, Metrics()) as address:
        assert (await get(address, "/readyz")).status == 200
        stopping = True
        ready = await get(address, "/readyz")
        assert ready.status == 503
        assert ready.json["checks"][1] == {"check": "running", "ok": False, "why": "stopping"}
        assert (await get(address, "/healthz")).status == 200


async def test_a_loop_that_does_not_turn_is_not_alive() -> None:
    clock = Clock()
    health = Health(pulse=Pulse(monotonic=clock), monotonic=clock)
    async with serving(FREE, health, Metrics()) as address:
        assert (await get(address, "/healthz")).status == 200
        clock.now += STUCK_SECONDS + 1
        alive = await get(address, "/healthz")
        assert (await get(address, "/readyz")).status == 503
    assert alive.status == 503
    assert alive.json["checks"][0]["why"] == "has not turned for 30 s"


async def test_the_pulse_tells_how_late_timers_are() -> None:
    heard: list[float] = []
    enough = asyncio.Event()

    def hear(late: float) -> None:
        heard.append(late)
        if len(heard) == 3:
            enough.set()

    pulse = Pulse(hear=hear, every=0.001)
    beating = asyncio.create_task(pulse.beat())
    await enough.wait()
    beating.cancel()
    assert all(late >= 0 for late in heard)


@pytest.mark.parametrize(
    ("age", "why"),
    [
        (9.0, ""),
        (11.0, "the last sign of life is 11 s old, and others take over after 10 s"),
        (math.inf, "no sign of life yet"),
    ],
)
async def test_a_heartbeat_is_fresh_until_its_limit(age: float, why: str) -> None:
    (_, _, found) = await Health([heartbeat(lambda: age, 10.0)]).ready()
    assert (found.check, found.ok, found.why) == ("heartbeat", not why, why)


async def test_a_store_is_ready_while_it_can_be_read() -> None:
    store = InMemoryVectorStore()
    assert (await Health([store_check(store)]).ready())[2].ok
    await store.close()
    found = (await Health([store_check(store)]).ready())[2]
    assert (found.check, found.ok) == ("store", False)
    assert found.why.startswith("StoreError: ")


async def test_metrics_are_looked_up_when_they_are_asked_for() -> None:
    async def queues() -> Sequence[QueueDepth]:
        return [QueueDepth(queue="nightly", waiting=7, running=1, dead=0)]

    readings = Readings(queues=queues, heartbeat_age=lambda: 2.5, pool=lambda: PoolUse(in_use=1, size=4))
    failing = Condition()
    failing.error = StoreError("away")
    async with served(failing, readings=readings) as (address, _):
        page = await get(address, "/metrics")
    assert page.status == 200
    assert "content-type: text/plain; version=0.0.4; charset=utf-8" in page.head
    for line in (
        'wisen_queue_tasks{queue="nightly",state="waiting"} 7.0',
        "wisen_heartbeat_age_seconds 2.5",
        "wisen_pool_in_use 1.0",
        'wisen_check_ok{check="database"} 0.0',
        'wisen_check_ok{check="event loop"} 1.0',
    ):
        assert line in page.body.splitlines()


async def test_metrics_come_without_the_database_too() -> None:
    async def queues() -> Sequence[QueueDepth]:
        raise OSError(SECRET)

    async with served(readings=Readings(queues=queues)) as (address, _):
        page = await get(address, "/metrics")
    assert page.status == 200
    assert "wisen_runs_started_total 0.0" in page.body
    assert SECRET not in page.body


async def test_nothing_else_is_served() -> None:
    async with served() as (address, _):
        assert (await get(address, "/")).status == 404
        assert (await get(address, "/readyz", "POST")).status == 405


async def test_the_port_is_free_again_afterwards() -> None:
    async with served() as (address, _):
        pass
    with pytest.raises(ConnectionRefusedError):
        await get(address, "/healthz")


async def test_a_port_in_use_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = Address(host="127.0.0.1", port=other.getsockname()[1])
        with pytest.raises(ConfigError, match=r"^address '127\.0\.0\.1:\d+': can't be listened on .*pass another one$"):
            async with serving(taken, Health(), Metrics()):
                pass


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:9464", "127.0.0.1", 9464),
        ("9464", "127.0.0.1", 9464),
        (":80", "0.0.0.0", 80),  # noqa: S104 - what it means
        ("[::1]:1", "::1", 1),
        ("localhost:0", "localhost", 0),
    ],
)
def test_addresses(text: str, host: str, port: int) -> None:
    address = Address.parse(text)
    assert (address.host, address.port) == (host, port)
    assert Address.parse(str(address)) == address


@pytest.mark.parametrize("text", ["", "host", "host:", "host:x", "::1:80", "host:65536", "host:-1", "host:²"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(ConfigError, match=r"must be host:port, such as 127\.0\.0\.1:9464"):
        Address.parse(text)


@pytest.mark.parametrize("absent", ["starlette.applications", "uvicorn"])
def test_without_the_extra_it_says_what_to_install(absent: str) -> None:
    code = (
        f"import asyncio, sys; sys.modules[{absent!r}] = None\n"
        "from wisen.operations.health import Health\n"
        "from wisen.operations.metrics import Metrics\n"
        "from wisen.operations.serving import Address, serving\n"
        "async def main():\n"
        "    async with serving(Address(host='127.0.0.1', port=0), Health(), Metrics()): pass\n"
        "asyncio.run(main())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingExtraError: serving health and metrics needs a package" in done.stderr
    assert done.stderr.rstrip().endswith("run: pip install 'wisen[durable]'")
