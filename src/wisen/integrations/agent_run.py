"""One run of another framework's agent, as an attempt that memory can neither fail nor delay beyond its timeout."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Generator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Any, Generic, Protocol, TypeVar

from wisen.memory.asynchronous import AsyncMemory
from wisen.memory.front import Memory
from wisen.memory.open_attempt import Attempt

_Result = TypeVar("_Result")
_Work = TypeVar("_Work")
_Said_co = TypeVar("_Said_co", covariant=True)
_LOG = logging.getLogger("wisen.integrations")
_GRACE = 0.5
"""Seconds beyond the timeout in which memory may say by itself that its time was up."""


class AgentMemory:
    """What runs of an agent share: the memory, and how long a run waits for it.

    Args:
        store: As `Memory` has it, or a `Memory`.
        timeout: Seconds that memory may delay a run, all in all. What isn't done by then goes on in the background.
        options: All others of `AsyncMemory`, by keyword; none beside a `Memory`.

    Raises:
        ConfigError: If an option can't be meant, or the store can't be one.
    """

    def __init__(self, store: Any, *, timeout: float, **options: Any) -> None:  # noqa: ANN401 - those of AsyncMemory
        self.memory = store if isinstance(store, Memory) else Memory(store, timeout=timeout, **options)
        self.timeout = timeout

    def run(self, run_id: str = "") -> "AgentRun":
        """One run of the agent, which has yet to begin; with an id of its own for its attempt, where it has one."""
        return AgentRun(self, run_id)


class Pending(Protocol[_Said_co]):
    """What memory is asked for, for code with and without an event loop: `await` it, or `wait` for it."""

    def wait(self) -> _Said_co:
        """What it comes to."""
        ...

    def __await__(self) -> Generator[Any, None, _Said_co]:
        """What it comes to."""
        ...


class Waiting(Generic[_Work, _Result]):
    """Work of memory under way; a `Pending`.

    Where memory fails, or isn't done in time, nothing comes of it.
    """

    def __init__(
        self,
        run: "AgentRun",
        begun: "Future[_Work] | None",
        made: Callable[[_Work | None], _Result],
        *,
        gives_up: bool = True,
    ) -> None:
        self._run, self._begun, self._made = run, begun, made
        self._gives_up = gives_up
        """Whether what isn't done in time is called off; otherwise it goes on in the background."""

    def wait(self) -> _Result:
        """What is made of the result, or of `None`."""
        since, ended = time.monotonic(), threading.Event()
        if self._begun is not None:
            self._begun.add_done_callback(lambda _: ended.set())
            ended.wait(max(self._run.left, 0.0))
        return self._result(since)

    def __await__(self) -> Generator[Any, None, _Result]:
        """As `wait`."""
        return self._awaited().__await__()

    async def _awaited(self) -> _Result:
        since, loop, ended = time.monotonic(), asyncio.get_running_loop(), asyncio.Event()

        def wake(_: object) -> None:
            with suppress(RuntimeError):  # the agent's event loop may be closed by then
                loop.call_soon_threadsafe(ended.set)

        if self._begun is not None:
            self._begun.add_done_callback(wake)
            with suppress(TimeoutError):
                async with asyncio.timeout(max(self._run.left, 0.0)):
                    await ended.wait()
        return self._result(since)

    def _result(self, since: float) -> _Result:
        self._run.left -= time.monotonic() - since
        result: _Work | None = None
        if self._begun is not None:
            try:
                result = self._begun.result(0.0)
            except (TimeoutError, CancelledError):
                _LOG.warning("memory took too long; the agent goes on without it")
                if self._gives_up:
                    self._begun.cancel()
            except Exception as error:  # noqa: BLE001 - whatever fails in memory, the agent goes on
                _LOG.warning("memory failed with %s; the agent goes on without it", type(error).__name__)
        return self._made(result)


class AgentRun:
    """One run of an agent. Nothing here raises; whatever waits gives way after `AgentMemory.timeout`, all in all."""

    def __init__(self, shared: AgentMemory, run_id: str) -> None:
        self._memory = shared.memory
        self.left = shared.timeout + _GRACE
        """Seconds that the run still waits for memory."""
        self._id = run_id
        self._asked = False
        self._attempt: Attempt | None = None
        self._text = ""

    @property
    def attempt_id(self) -> str:
        """Names the attempt in `Memory.outcome`; "" where there is none, since the run had no task or memory failed."""
        return "" if self._attempt is None else self._attempt.id

    def advice(self, task: str, tools: Sequence[str]) -> Pending[str]:
        """Begin the attempt, and say what memory has to say; "" for nothing.

        Asked again, as before each model call, it says the same, whatever the task and tools are by then.
        """
        begun = None
        if not self._asked and task.strip():
            begun = self._start(lambda memory: memory.begin(task, tools=tools, attempt_id=self._id))
        self._asked = True
        return Waiting(self, begun, self._said)

    def _said(self, attempt: Attempt | None) -> str:
        if attempt is not None:
            self._attempt, self._text = attempt, attempt.advice.text
        return self._text

    def called(self, tool: str, arguments: object = None, *, result: object = None, error: str = "") -> None:
        """Note a call of a tool, and what it gave or which error it met."""
        if self._attempt is not None:
            self._attempt.called(tool, arguments, result=result, error=error)

    def on_error(self, tool: str, error: str) -> Pending[str]:
        """What memory has to say on a tool's error, to be told with it; "" for nothing."""
        attempt = self._attempt
        asked = (
            None if attempt is None else self._start(lambda memory: memory.on_error(attempt, tool=tool, error=error))
        )
        return Waiting(self, asked, lambda said: said or "")

    def answered(self, output: object) -> Pending[None]:
        """End the attempt with the agent's answer, which the memory's evaluator judges, if it has one."""
        if self._attempt is not None:
            self._attempt.returned(output)
        return self._ended()

    def broken(self, error: BaseException) -> Pending[None]:
        """End the attempt with an error. Being cancelled is none of the agent's: then its outcome is unknown."""
        if self._attempt is not None and isinstance(error, Exception):
            self._attempt.failed(error)
            return self._ended()
        return self.left_open()

    def left_open(self) -> Pending[None]:
        """End the attempt without an outcome, even if it could be judged: the outcome may come later."""
        if self._attempt is not None:
            self._attempt.outcome(None)
        return self._ended()

    def nothing(self, said: _Result) -> Pending[_Result]:
        """What waits for nothing."""
        waiting: Waiting[object, _Result] = Waiting(self, None, lambda _: said)
        return waiting

    def _ended(self) -> Pending[None]:
        attempt = self._attempt
        ending = None if attempt is None else self._start(lambda memory: memory.end(attempt))
        return Waiting(self, ending, lambda _: None, gives_up=False)

    def _start(self, work: Callable[[AsyncMemory], Coroutine[Any, Any, _Result]]) -> "Future[_Result] | None":
        try:
            return self._memory.start(work)
        except Exception as error:  # noqa: BLE001 - such as no thread left
            _LOG.warning("memory failed with %s; the agent goes on without it", type(error).__name__)
            return None
