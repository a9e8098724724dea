"""`Memory`: the small front door, for code without an event loop."""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Generator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import wraps
from typing import Any, Self, TypeVar

from wisen.account.outcomes import Reported
from wisen.cards import MemoryKind
from wisen.deadlines import detached
from wisen.memory.asynchronous import AsyncMemory
from wisen.memory.open_attempt import Attempt
from wisen.memory.told import wanted_by
from wisen.memory_ci.intake import Submission
from wisen.memory_ci.pipeline import MemoryCI
from wisen.records import Task

_Result = TypeVar("_Result")


class Memory:
    """`AsyncMemory` without `await`: each call waits for its end, also inside of a running event loop.

    ```python
    memory = wisen.Memory("lessons.db")
    with memory.attempt("Refund order 1234", tools=["crm"]) as attempt:
        answer = my_agent(attempt.advice.text)
        attempt.outcome(score=0.4, feedback="the refund needs a reason code")
    ```

    Args:
        store: As `AsyncMemory` has it.
        options: All others of `AsyncMemory`, by keyword.

    Raises:
        ConfigError: If an option or the store is invalid.
    """

    def __init__(self, store: Any, **options: Any) -> None:  # noqa: ANN401 - those of AsyncMemory
        self._memory = AsyncMemory(store, **options)
        self._loop = _LoopThread()

    @property
    def ci(self) -> MemoryCI:
        """What guards the store."""
        return self._memory.ci

    def __enter__(self) -> Self:
        """Itself; nothing is opened before the first use."""
        return self

    def __exit__(self, *_: object) -> None:
        """See `close`."""
        self.close()

    def close(self) -> None:
        """Close the store, if it was opened here, and end the thread. Closing twice is fine."""
        self._loop.run(self._memory.close())
        self._loop.stop()

    @contextmanager
    def attempt(self, task: str | Task, *, tools: Sequence[str] = (), task_type: str = "") -> Generator[Attempt]:
        """See `AsyncMemory.attempt`."""
        attempt = self._loop.run(self._memory.begin(task, tools=tools, task_type=task_type))
        try:
            yield attempt
        except BaseException as error:
            attempt.failed(error)
            raise
        finally:
            self._loop.run(self._memory.end(attempt))

    def outcome(
        self,
        attempt_id: str,
        score: float,
        *,
        feedback: str = "",
        expected: str = "",
        verified: bool = True,
        unseen: bool = False,
    ) -> Reported:
        """See `AsyncMemory.outcome`."""
        told = self._memory.outcome(
            attempt_id, score, feedback=feedback, expected=expected, verified=verified, unseen=unseen
        )
        return self._loop.run(told)

    def lesson(
        self,
        text: str,
        *,
        task: str = "",
        task_type: str = "",
        tools: Sequence[str] = (),
        kind: MemoryKind = MemoryKind.LESSON,
        by: str = "human",
    ) -> Submission:
        """See `AsyncMemory.lesson`."""
        asked = self._memory.lesson(text, task=task, task_type=task_type, tools=tools, kind=kind, by=by)
        return self._loop.run(asked)

    def start(self, work: Callable[[AsyncMemory], Coroutine[Any, Any, _Result]]) -> "Future[_Result]":
        """Begin work on the memory's own event loop, without waiting for it.

        For code that has a deadline, or an event loop of its own: `asyncio.wrap_future` makes the future awaitable.
        """
        return self._loop.start(work(self._memory))

    def learns(
        self, *, tools: Sequence[str] = (), task_type: str = ""
    ) -> Callable[[Callable[..., _Result]], Callable[..., _Result]]:
        """Make each call of a function an attempt: a decorator.

        The first argument, a text, is the task. A parameter named `advice` gets the advice as a text, one named
        `attempt` the attempt. The memory's evaluator judges the answer that the function returns, as text: JSON, or
        what the object says of itself. Without an evaluator, and for answers that hold no text, such as open streams,
        report the outcome through `attempt`. An error counts as an outcome, and is raised further.

        Raises:
            ConfigError: If it takes neither, or is an async function: use `AsyncMemory.learns` for those.
        """

        def decorated(function: Callable[..., _Result]) -> Callable[..., _Result]:
            wanted = wanted_by(function, asynchronous=False)

            @wraps(function)
            def attempted(task: str, *args: object, **keywords: object) -> _Result:
                with self.attempt(task, tools=tools, task_type=task_type) as attempt:
                    return attempt.returned(function(task, *args, **attempt.given(wanted), **keywords))

            return attempted

        return decorated


class _LoopThread:
    """An event loop in a daemon thread, begun with the first call; a forked child begins its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid = 0

    def run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """What the work comes to, or what it raises."""
        return self.start(work).result()

    def start(self, work: Coroutine[Any, Any, _Result]) -> "Future[_Result]":
        """The work, under way. A run of wisen that it is begun in has its own event loop, and doesn't time it."""
        return detached().run(asyncio.run_coroutine_threadsafe, work, self._begun())

    def stop(self) -> None:
        """End the thread, once it has nothing to do."""
        with self._lock:
            if self._loop is not None and self._pid == os.getpid():
                self._loop.call_soon_threadsafe(self._loop.stop)
            self._loop = None

    def _begun(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._pid != os.getpid():
                self._loop, self._pid = asyncio.new_event_loop(), os.getpid()
                threading.Thread(target=_serve, args=(self._loop,), name="wisen-memory", daemon=True).start()
            return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
