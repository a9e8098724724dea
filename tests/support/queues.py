"""What tests of queues share: workers in processes of their own, and in this one."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from wisen.config.tasks import EvaluatorSpec
from wisen.durable.jobs import Job
from wisen.durable.worker import Worker
from wisen.records import Task

_SCRIPT = Path(__file__).parent / "queue_worker.py"


class WorkerProcess:
    """A worker in a process of its own."""

    def __init__(self, url: str, queue: str, options: dict[str, object]) -> None:
        path = os.pathsep.join(filter(None, (str(_SCRIPT.parent), os.environ.get("PYTHONPATH"))))
        self.process = subprocess.Popen(
            [sys.executable, str(_SCRIPT), url, queue, json.dumps(options)], env={**os.environ, "PYTHONPATH": path}
        )

    def send(self, number: int) -> None:
        self.process.send_signal(number)

    def ended(self) -> int:
        return self.process.wait(60)


@contextmanager
def workers(url: str, queue: str, count: int, **options: object) -> Generator[list[WorkerProcess]]:
    """So many workers, which are killed at the end."""
    started = [WorkerProcess(url, queue, {**options, "id": f"w{number}"}) for number in range(count)]
    try:
        yield started
    finally:
        for one in started:
            if one.process.poll() is None:
                one.send(signal.SIGCONT)
                one.send(signal.SIGKILL)
            one.ended()


@asynccontextmanager
async def working(worker: Worker) -> AsyncGenerator[Worker]:
    """A worker in this process, stopped in order at the end."""
    task = asyncio.ensure_future(worker.run())
    try:
        yield worker
    finally:
        worker.stop()
        await asyncio.wait_for(task, 60)


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that another process or thread does."""
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - nothing here hears of it
            await asyncio.sleep(0.02)


def checked(number: int, *, right: bool = True) -> Job:
    """A job that an exact check judges; a wrong one has two attempts to fail."""
    reference = f"re: task {number}" if right else "something else"
    return Job(task=Task(prompt=f"task {number}", reference=reference), evaluator=EvaluatorSpec(kind="exact"))


def kill_worker(_: str) -> bool:
    """An evaluator that takes its worker with it."""
    os.kill(os.getpid(), signal.SIGKILL)
    return True
