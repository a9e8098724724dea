"""What tests of queues share: workers in processes of their own, and in this one."""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path

from queue_worker import work

from wisen.queue.jobs import Job
from wisen.queue.worker import Worker
from wisen.records import Task
from wisen.tasks.files import EvaluatorSpec

_COPIED = multiprocessing.get_context("forkserver")
_COPIED.set_forkserver_preload(["queue_worker"])


def _start(process: BaseProcess) -> None:
    """Start it as a copy of a process that has imported everything, which takes seconds."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(Path(__file__).parent), before)))
    try:
        process.start()
    finally:
        os.environ.pop("PYTHONPATH")
        if before is not None:
            os.environ["PYTHONPATH"] = before


class WorkerProcess:
    """A worker in a process of its own."""

    def __init__(self, url: str, queue: str, options: dict[str, object]) -> None:
        self.process = _COPIED.Process(target=work, args=(url, queue, options), daemon=True)
        _start(self.process)

    @property
    def alive(self) -> bool:
        return self.process.is_alive()

    def send(self, number: int) -> None:
        assert self.process.pid is not None
        os.kill(self.process.pid, number)

    def ended(self) -> int | None:
        self.process.join(60)
        return self.process.exitcode


@contextmanager
def workers(url: str, queue: str, count: int, **options: object) -> Generator[list[WorkerProcess]]:
    """So many workers, which are killed at the end."""
    started = [WorkerProcess(url, queue, {**options, "id": f"w{number}"}) for number in range(count)]
    try:
        yield started
    finally:
        for one in started:
            if one.alive:
                one.send(signal.SIGCONT)
                one.send(signal.SIGKILL)
            one.ended()


@asynccontextmanager
async def working(worker: Worker) -> AsyncGenerator[Worker]:
    """A worker in this process, stopped in order at the end; where it fails, so does what waits for its work."""
    task, body = asyncio.ensure_future(worker.run()), asyncio.current_task()
    assert body is not None

    def failed(ended: asyncio.Future[None]) -> None:
        if not ended.cancelled() and ended.exception() is not None:
            body.cancel()

    task.add_done_callback(failed)
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
