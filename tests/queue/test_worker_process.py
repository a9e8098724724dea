"""A worker as its operator has it: a process of its own, its pages asked over HTTP, its log read line by line."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from http_client import get
from local_provider import LocalProvider

from wisen.operations.serving import Address
from wisen.queue.jobs import BatchOptions
from wisen.queue.queue import Queue
from wisen.records import Task

pytestmark = pytest.mark.anyio

CANARY = "zanzibar7731"
WISEN = (sys.executable, "-c", "from wisen.cli.main import main; main()")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


@contextlib.asynccontextmanager
async def worker(url: str, log: Path, *options: str) -> AsyncGenerator[tuple[asyncio.subprocess.Process, Address]]:
    address = Address(host="127.0.0.1", port=free_port())
    command = [*WISEN, "worker", "--queue", "nightly", "--http", str(address), "--grace", "5", *options]
    with log.open("wb") as file:
        process = await asyncio.create_subprocess_exec(
            *command, stderr=file, stdout=file, env={**os.environ, "WISEN_STORE": url}
        )
        try:
            yield process, address
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


async def ready(address: Address) -> None:
    async with asyncio.timeout(60):
        while True:
            with contextlib.suppress(OSError):
                if (await get(address, "/readyz")).status == 200:
                    return
            await asyncio.sleep(0.1)


async def test_a_batch_with_errors_that_quote_prompts(postgres_url: str, tmp_path: Path) -> None:
    provider = LocalProvider(f"The lesson of {CANARY}: look at the map first.", errors=9)
    log = tmp_path / "log"
    options = ("--id", "wisen-worker-0", "--log", "json", "--log-level", "debug")
    async with (
        provider.running() as model,
        worker(postgres_url, log, *options) as (process, address),
        Queue(postgres_url, "nightly") as queue,
    ):
        await ready(address)
        assert (await get(address, "/healthz")).status == 200
        tasks = [Task(prompt=f"What is the capital of {CANARY}? {n}", tenant=f"tenant-{CANARY}") for n in range(3)]
        how = BatchOptions(model=model, instructions=f"You know {CANARY}.", max_attempts=2, embedder="hash")
        batch = await queue.submit(tasks, how, batch="b-1", tries=4)
        status = await batch.wait(60)
        assert (status.done, status.dead) == (3, 0)
        page = (await get(address, "/metrics")).body
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(30):
            assert await process.wait() == 0
    said = log.read_text()
    assert CANARY not in said
    assert CANARY not in page
    lines = [json.loads(line) for line in said.splitlines()]
    ended = [line for line in lines if line["event"] == "task.ended"]
    assert [line["place"] for line in ended if line["batch"] == "b-1" and line["worker"] == "wisen-worker-0"]
    assert {line["run"] for line in ended} == {"b-1-00000", "b-1-00001", "b-1-00002"}
    failed = [line for line in lines if line["event"] == "task.failed"]
    assert failed
    assert failed[0]["error"][0].startswith("UnreachableModelError: model ")
    assert {"worker.started", "run.started", "model.called", "run.completed", "worker.stopped"} <= {
        line["event"] for line in lines
    }
    figures = dict(line.rsplit(" ", 1) for line in page.splitlines() if not line.startswith("#"))
    assert sum(float(value) for name, value in figures.items() if name.startswith("wisen_tasks_total")) >= 3
    assert float(figures['wisen_queue_tasks{queue="nightly",state="waiting"}']) == 0
    assert float(figures["wisen_pool_size"]) == 3
    assert float(figures["wisen_runs_started_total"]) >= 3


async def test_a_takeover_is_seen(postgres_url: str, tmp_path: Path) -> None:
    """The worker that has the task is killed in a model call; the other counts what it took over, and ends it."""
    provider = LocalProvider(hangs=True)
    options = ("--takeover", "2", "--log", "json")
    async with (
        provider.running() as model,
        Queue(postgres_url, "nightly") as queue,
        worker(postgres_url, tmp_path / "w-1", "--id", "w-1", *options) as first,
        worker(postgres_url, tmp_path / "w-2", "--id", "w-2", *options) as second,
    ):
        await ready(first[1])
        await ready(second[1])
        batch = await queue.submit(["a task"], BatchOptions(model=model, embedder="hash"), batch="b-1")
        async with asyncio.timeout(30):
            await provider.called.wait()
        (task,) = [one async for one in batch.results()]
        (killed, _), (_, left) = (first, second) if task.worker == "w-1" else (second, first)
        provider.hangs = False
        killed.kill()
        status = await batch.wait(60)
        assert (status.done, status.dead) == (1, 0)
        page = (await get(left, "/metrics")).body.splitlines()
    assert "wisen_takeovers_total 1.0" in page
    assert "wisen_tasks_taken_over_total 1.0" in page
    other = "w-2" if task.worker == "w-1" else "w-1"
    lines = [json.loads(line) for line in (tmp_path / other).read_text().splitlines()]
    assert [line["lost"] for line in lines if line["event"] == "worker.lost"] == [task.worker]
    (taken,) = [line for line in lines if line["event"] == "tasks.taken_over"]
    assert (taken["worker"], taken["tasks"]) == (other, 1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--log", "xml"], "wisen: invalid value for '--log': 'xml' is not one of 'text', 'json'"),
        (["--log-level", "loud"], "wisen: log level 'loud': must be one of debug, info, warning, error"),
        (["--http", "nowhere"], "wisen: address 'nowhere': must be host:port, such as 127.0.0.1:9464"),
    ],
)
async def test_options_that_cannot_be(options: list[str], said: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *WISEN,
        *("worker", "--store", "postgresql://nobody@nowhere.invalid/none", *options),
        stderr=asyncio.subprocess.PIPE,
    )
    _, error = await process.communicate()
    assert process.returncode == 2
    assert error.decode().startswith(said)
    assert error.count(b"\n") == 1
