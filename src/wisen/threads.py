"""Threads for other people's blocking code: one that never comes back holds up neither the others nor the exit."""

import asyncio
import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextvars import copy_context
from typing import Any, ParamSpec, TypeVar

from wisen import forks
from wisen.forks import Forkable

_Result = TypeVar("_Result")
_Arguments = ParamSpec("_Arguments")
_AT_FIRST = min(32, (os.cpu_count() or 1) + 4)
_PATIENCE = 0.05
"""Seconds that work waits before it gets threads beyond the first ones: these may hang."""
_IDLE = 10.0
"""Seconds after which a thread without work ends."""
_MUCH = 5_000
"""Characters that may be read on the event loop in one go."""

_Work = tuple["Future[Any]", Callable[[], Any]]


class DaemonThreads(Executor, Forkable):
    """An executor whose threads are made as they are needed, and which the interpreter's exit doesn't wait for.

    A few threads serve all as long as the work is short. Where none gets free for a moment, there are more: a thread
    that hangs is left behind, and isn't counted on.
    """

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._waiting: deque[_Work] = deque()
        self._threads = 0
        self._idle = 0

    def submit(
        self, fn: Callable[_Arguments, _Result], /, *args: _Arguments.args, **kwargs: _Arguments.kwargs
    ) -> "Future[_Result]":
        """Call it in a thread. Cancelling the future keeps a call from beginning, and ends none."""
        future: Future[_Result] = Future()
        with self._lock:
            self._waiting.append((future, lambda: fn(*args, **kwargs)))
            if self._idle >= len(self._waiting):
                self._lock.notify()
            elif self._threads < _AT_FIRST:
                self._start()
            else:
                self._later()
        return future

    def _later(self) -> None:
        try:
            asyncio.get_running_loop().call_later(_PATIENCE, self._grow)
        except RuntimeError:  # nobody can be asked to look again
            self._start()

    def _grow(self) -> None:
        with self._lock:
            for _ in range(min(len(self._waiting) - self._idle, _AT_FIRST)):
                self._start()
            if self._waiting:
                self._later()

    def _start(self) -> None:
        forks.joins(self)
        self._threads += 1
        threading.Thread(target=self._serve, name="wisen-part", daemon=True).start()

    def _serve(self) -> None:
        while (work := self._next()) is not None:
            future, call = work
            if not future.set_running_or_notify_cancel():
                continue
            try:
                result = call()
            except BaseException as error:  # noqa: BLE001 - whoever asked hears of it, whatever it is
                future.set_exception(error)
            else:
                future.set_result(result)
            del work, future, call

    def _next(self) -> _Work | None:
        """The next work; `None` where there was none for a while, and the thread ends."""
        with self._lock:
            self._idle += 1
            try:
                there = self._lock.wait_for(lambda: bool(self._waiting), _IDLE)
            finally:
                self._idle -= 1
            if not there:
                self._threads -= 1
                return None
            return self._waiting.popleft()

    def after_fork_in_child(self) -> None:
        """See `Forkable`: none of the threads is there, and what waited for one is the parent's."""
        self._lock = threading.Condition()
        self._waiting.clear()
        self._threads = self._idle = 0


THREADS = DaemonThreads()
"""Those of this process: a hanging call is left behind whichever run made it."""


async def in_thread(
    function: Callable[_Arguments, _Result], /, *args: _Arguments.args, **kwargs: _Arguments.kwargs
) -> _Result:
    """What a blocking function gives, as `asyncio.to_thread`; cancelled, its thread is left behind.

    A `StopIteration`, which no future can hold, comes out as a `RuntimeError`.
    """
    context = copy_context()

    def call() -> _Result:
        try:
            return context.run(function, *args, **kwargs)
        except StopIteration as error:
            raise RuntimeError("the function raised StopIteration") from error

    return await asyncio.get_running_loop().run_in_executor(THREADS, call)


async def reading(characters: int, work: Callable[[], _Result]) -> _Result:
    """What work gives that reads so many characters: in a thread if they are many, so that the event loop goes on."""
    return await in_thread(work) if characters > _MUCH else work()
