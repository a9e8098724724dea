"""A run has one deadline, and every call of someone else's part has a time-out within it.

`RunTime` is the time of one run. Within it, `with calling("tool 'search'"):` wraps every call of someone else's code or
of a remote service. The call is cut off when its time is up, and the error names it. Outside of a run it does nothing.

A part that waits is cancelled. One that blocks the event loop of the main thread is interrupted there by a signal. One
that takes no notice of being cancelled is left behind, and its run ends without it.
"""

import asyncio
import math
import signal
import threading
import time
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager, suppress
from contextvars import Context, ContextVar, Token, copy_context
from types import FrameType, TracebackType
from typing import Any, Literal, Self, TypeVar

from wisen.errors import DeadlineError, PartCancelledError, PartTimeoutError, WisenError

_Result = TypeVar("_Result")
_Limit = Literal["step", "run"]
_CLOSING = 0.4
"""Seconds that writing down the run's outcome gets, also where the deadline has passed."""
_GRACE = 0.6
"""Seconds after the deadline in which what was cancelled may tidy up; then the run ends without it."""
_STEP_GRACE = 5.0
"""The same for a step that has a limit of its own."""
_BLOCKED = 0.15
"""Seconds by which a call has to be overdue to be taken for one that blocks the event loop."""
_LOOK = 0.1
_LAST = 0.1
_EARLY = 0.001
_OURS = ("wisen", "asyncio")
_WAITING = ("threading", "concurrent", "queue", "selectors", "logging")
"""Modules in which those wait who called them: they decide whose work it is."""
_ON_ITS_WAY = 0.1
"""Seconds in which the error of a part whose time was up comes to those who wait for it."""


class RunTime:
    """The time of one run; a context manager. Within another run's part it ends no later than that run.

    Args:
        seconds: From now until the deadline; `None` for none.
        step_seconds: How long a step may take by itself.
    """

    def __init__(self, *, seconds: float | None, step_seconds: float | None) -> None:
        self.began = time.monotonic()
        self.allowed = math.inf if seconds is None else seconds
        self.deadline = self.began + self.allowed
        self.step_seconds = math.inf if step_seconds is None else step_seconds
        self.calls: set[Call] = set()
        """Those under way that end by themselves."""
        self._given_up: asyncio.Future[None] | None = None
        self._why: WisenError | None = None
        self.left_behind = False
        """Whether the run's work goes on somewhere, since it takes no notice of being cancelled."""

    def __enter__(self) -> Self:
        """Begin."""
        outer = _NOW.get()
        if outer is not None and outer.active and outer.time.deadline < self.deadline:
            self.deadline, self.allowed = outer.time.deadline, outer.time.allowed
        _watch(self)
        return self

    def __exit__(self, *_: object) -> None:
        """End: what is left behind is nobody's concern any more."""
        _RUNS.discard(self)

    def closing(self, part: str) -> "Call":
        """As `calling`, outside of the run's work: for what tells or writes down what the run came to."""
        return Call(part, "step", closing=True, time=self)

    async def spend(self, part: str, work: Coroutine[Any, Any, _Result], *, closing: bool = False) -> _Result:
        """Do the run's work, or with `closing` write down what came of it, until it ends or can't be ended.

        Raises what the work raises, and a `DeadlineError` or `PartTimeoutError` where it was left behind.
        """
        self._given_up = asyncio.get_running_loop().create_future()

        async def whole() -> _Result:
            with Call(part, "step" if closing else "run", closing=closing, time=self):
                return await work

        task = asyncio.create_task(whole())
        try:
            await asyncio.wait((task, self._given_up), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self._cancelled(task)
            raise
        if task.done():
            return task.result()
        self.left_behind = True
        _leave_behind(task)
        raise self._why or PartTimeoutError(part, self.step_seconds)

    async def _cancelled(self, task: "asyncio.Task[Any]") -> None:
        """Hand a cancellation on, and wait until everything is tidied up, or nothing is to be hoped for."""
        until = time.monotonic() + max(min(self.step_seconds, 30.0), _STEP_GRACE)
        while not task.done() and time.monotonic() < until:
            task.cancel()
            try:
                await asyncio.wait((task,), timeout=until - time.monotonic())
            except asyncio.CancelledError:
                continue
        if not task.done():
            _leave_behind(task)
        elif not task.cancelled():
            task.exception()  # the cancellation is what counts

    def give_up(self, why: WisenError) -> None:
        """End the run without the part that doesn't let itself be ended."""
        if self._given_up is not None and not self._given_up.done():
            self._why = why
            self._given_up.set_result(None)


class Call:
    """One call of a part: see `calling`."""

    __slots__ = (
        "_above",
        "_began",
        "_broken",
        "_closing",
        "_expired",
        "_heard_by",
        "_inner",
        "_limit",
        "_part",
        "_task",
        "_timer",
        "_token",
        "active",
        "ends_at",
        "time",
    )  # fmt: skip

    def __init__(self, part: str, limit: _Limit, *, closing: bool = False, time: RunTime | None = None) -> None:
        self._part = part
        self._limit = limit
        self._closing = closing
        self._above: Call | None = None
        self._task: asyncio.Task[Any] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._token: Token[Call | None] | None = None
        self._began = 0.0
        self._inner = 0
        """Calls within this one that watch the time in its stead."""
        self._heard_by = 0.0
        """Until when an inner call's error may still be on its way."""
        self._expired = self._broken = False
        self.active = False
        self.ends_at = math.inf
        if time is not None:
            self.time = time

    def __enter__(self) -> None:
        """Begin; raises `DeadlineError` where the time is up."""
        above = _NOW.get()
        if not hasattr(self, "time"):
            if above is None or not above.active:
                return
            self.time = above.time
        self._above = above if above is not None and above.active else None
        self._began = now = time.monotonic()
        deadline = max(self.time.deadline, now + _CLOSING) if self._closing else self.time.deadline
        if now >= deadline:
            raise self._too_late()
        self.ends_at = deadline
        if self._limit == "step":
            self.ends_at = min(deadline, now + self.time.step_seconds)
            if self._above is not None and not self._closing:
                self.ends_at = min(self.ends_at, self._above.ends_at)
        self.active = True
        self._token = _NOW.set(self)
        if self.ends_at < math.inf:
            self.time.calls.add(self)
        self._attend()

    def _attend(self) -> None:
        """Watch the time on the event loop, where this is one of its tasks."""
        try:
            self._task = asyncio.current_task()
        except RuntimeError:
            return
        if self._task is not None:
            if self._above is not None:
                self._above._inner += 1  # noqa: SLF001 - of this class
            self._set_timer()

    def _set_timer(self, *, at_least: float = 0.0) -> None:
        if self.ends_at < math.inf:
            left = max(self.ends_at - time.monotonic(), at_least)
            self._timer = asyncio.get_running_loop().call_later(left, self._expire)

    def _expire(self) -> None:
        self._timer = None
        if self._inner or not self.active or self._task is None:
            return
        until = max(self.ends_at, self._heard_by)  # it may have had to wait for others, which gives it more time
        if time.monotonic() < until - _EARLY:
            self._set_timer(at_least=until - time.monotonic())
            return
        self._expired = True
        self._task.cancel()
        by_deadline = self.ends_at >= self.time.deadline
        grace = max(self.time.deadline + _GRACE - time.monotonic(), 0.0) if by_deadline else _STEP_GRACE
        self._timer = asyncio.get_running_loop().call_later(grace, self._stuck)

    def _stuck(self) -> None:
        if self.active and self._task is not None:
            _leave_behind(self._task)
            self.time.give_up(self._too_late())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End, and say so where its time was up."""
        if not self.active:
            return
        self.active = False
        self.time.calls.discard(self)
        if self._timer is not None:
            self._timer.cancel()
        if self._token is not None:
            with suppress(ValueError):  # a stream that is closed from elsewhere
                _NOW.reset(self._token)
        if self._task is not None and self._above is not None:
            self._above._given_back(time.monotonic() - self._began if self._limit == "run" else 0.0)  # noqa: SLF001
        self._judge(error)

    def _given_back(self, seconds: float) -> None:
        """An inner call has ended, whose time may not count for this one."""
        self._inner -= 1
        self._heard_by = time.monotonic() + _ON_ITS_WAY
        if self.ends_at < self.time.deadline:
            self.ends_at = min(self.ends_at + seconds, self.time.deadline)
        if seconds and self._above is not None:
            self._above._longer(seconds)  # noqa: SLF001 - of this class
        if self.active and not self._inner and self._timer is None and not self._expired:
            self._set_timer()

    def _longer(self, seconds: float) -> None:
        if self.ends_at < self.time.deadline:
            self.ends_at = min(self.ends_at + seconds, self.time.deadline)
        if self._above is not None:
            self._above._longer(seconds)  # noqa: SLF001 - of this class

    def _judge(self, error: BaseException | None) -> None:
        """Tell a part whose time was up, and one that cancelled itself, from a run that was cancelled."""
        cancelled = isinstance(error, asyncio.CancelledError)
        asked = 0
        if self._task is not None:
            asked = self._task.uncancel() if self._expired else self._task.cancelling()
        if asked and cancelled:
            return
        if self._expired or self._broken:
            if cancelled or isinstance(error, Exception):
                raise self._too_late() from error
        elif cancelled:
            raise PartCancelledError(self._part) from error

    def _too_late(self) -> WisenError:
        now = time.monotonic()
        if now >= self.time.deadline - _EARLY:
            return DeadlineError(self._part, self.time.allowed, now - self.time.began)
        return PartTimeoutError(self._part, self.time.step_seconds)

    def break_off(self) -> None:
        """Interrupt the code that is running now, if its time is up: it doesn't let the event loop see to it."""
        if self.active and time.monotonic() > self.ends_at + _BLOCKED:
            self._broken = True
            raise asyncio.CancelledError(self._part)


def calling(part: str, *, limit: _Limit = "step", closing: bool = False) -> Call:
    """Stands around a call of someone else's part, sync or async, within a run.

    Args:
        part: Names it, for the error: "evaluator 'is_iso_date'".
        limit: "step": it may take as long as a step may, and no longer than what it is part of. "run": the deadline
            alone holds, and what it is part of waits as long.
        closing: It writes down what the run came to: it gets a moment also where the deadline has passed.

    Raises:
        DeadlineError: The run's time is up; after that nothing is called any more.
        PartTimeoutError: It took longer than a step may.
        PartCancelledError: It raised `CancelledError`, and nobody had asked for that.
    """
    return Call(part, limit, closing=closing)


def seconds_left(otherwise: float) -> float:
    """How long the call may still take that this is said in; `otherwise` where there is none, or without an end."""
    call = _NOW.get()
    ends = call is not None and call.active and call.ends_at < math.inf
    return call.ends_at - time.monotonic() if call is not None and ends else otherwise


def detached() -> Context:
    """The context for a task that serves others too, and mustn't end with the run that began it."""
    context = copy_context()
    context.run(_NOW.set, None)
    return context


def named(kind: str, part: object) -> str:
    """What to call a part that has no name of its own: "store InMemoryVectorStore"."""
    return f"{kind} {type(part).__name__}"


_NOW: ContextVar[Call | None] = ContextVar("wisen_call", default=None)
_RUNS: set[RunTime] = set()
"""Those of the main thread's event loops that a thread keeps an eye on."""
_LOOKING = threading.Event()
_LOOKOUT: list[threading.Thread] = []


@asynccontextmanager
async def ending_others() -> AsyncGenerator[None]:
    """For the last work of an event loop: after it all other tasks are cancelled, or left behind if they don't end."""
    try:
        yield
    finally:
        await _end_others()


async def _end_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        _, unmoved = await asyncio.wait(others, timeout=_LAST)
        for task in unmoved:
            _leave_behind(task)


def _leave_behind(task: "asyncio.Task[Any]") -> None:
    """Cancel a task that takes no notice, so that nobody waits for it, not even the end of the event loop."""
    task.cancel()
    task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
    asyncio._unregister_task(task)  # noqa: SLF001 - documented under "Extending" asyncio


def _watch(run: RunTime) -> None:
    """Keep an eye on a run of the main thread: a call that blocks its event loop can only be interrupted from outside.

    The signal is `SIGURG`, which is ignored by default and hardly ever used; where a program has a handler for it, it
    keeps it, and nothing is interrupted.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    handler = signal.getsignal(signal.SIGURG)
    if handler in (signal.SIG_DFL, signal.SIG_IGN):
        signal.signal(signal.SIGURG, _interrupt)
    elif handler is not _interrupt:
        return
    _RUNS.add(run)
    if not _LOOKOUT or not _LOOKOUT[0].is_alive():
        _LOOKOUT[:] = [threading.Thread(target=_look, name="wisen-lookout", daemon=True)]
        _LOOKOUT[0].start()
    _LOOKING.set()


def _look() -> None:
    while True:
        _LOOKING.wait()
        _LOOKING.clear()
        if _RUNS:  # one that begins after this look sets it by itself
            _LOOKING.set()
        time.sleep(_LOOK)
        late = time.monotonic() - _BLOCKED
        if any(call.ends_at < late for run in tuple(_RUNS) for call in tuple(run.calls)):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGURG)


def _interrupt(_number: int, frame: FrameType | None) -> None:
    call = _NOW.get()
    if call is not None and not _is_ours(frame):
        call.break_off()


def _is_ours(frame: FrameType | None) -> bool:
    """Whether wisen or asyncio is at work, which may hold a lock: it isn't interrupted, and soon looked at again."""
    while frame is not None and _package(frame) in _WAITING:
        frame = frame.f_back
    return frame is not None and _package(frame) in _OURS


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]
