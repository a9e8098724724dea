"""What a run has done, kept step by step in a call log, so that a run that was cut off goes on where it stopped.

A resumed run is made again from its beginning, and every step that was kept gives what it gave before: model calls,
tools, judgements, what was recalled and drawn. So nothing is asked, paid for or done twice, and whatever comes after
the last kept step sees exactly what it would have seen.
"""

import asyncio
import hashlib
import heapq
import json
import secrets
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import datetime
from random import Random

from wisen.deadlines import calling, named
from wisen.errors import ConfigError, DeadlineError, RunMismatchError
from wisen.protocols import CallLog, KeepsFirst, KeepsWhile
from wisen.records import Clockwork, Task
from wisen.stores.maintenance import DropsCalls

_PLACE: ContextVar[str] = ContextVar("wisen_place_in_run", default="")
_HEAD = "begun"
_LONGEST_ID = 200
_TOLD = ("prompt", "id", "type", "tools", "tenant", "choices", "reference")


class RunOver(BaseException):
    """Another process has ended this run meanwhile.

    No `Exception`, so that nobody on the way takes it for a failure of what they called, and goes on without it.
    """


class StepsUnreadableError(BaseException):
    """What a resumed run has done can't be read, so that going on might do it again.

    No `Exception`, for the same reason.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """What a run begins with, and goes on with wherever it is resumed."""

    started: datetime
    seed: str
    """What its ids and draws follow from; it reaches no prompt."""
    new: bool
    """Whether it was begun just now, so that nothing of it is kept yet."""
    changed: tuple[str, ...] = ()
    """What it was begun with differently, by name."""

    def clockwork(self, clockwork: Clockwork) -> Clockwork:
        """This clock, with ids and draws that follow from the seed."""
        ids = Random(f"{self.seed} ids")
        return replace(clockwork, new_id=lambda: f"{ids.getrandbits(128):032x}", random=Random(f"{self.seed} draws"))


class JournalStep:
    """A step of a journal; implements `Step`."""

    def __init__(self, journal: "Journal", key: str, ordinal: int) -> None:
        self.value: bytes | None = None
        self.key = key
        self.ordinal = ordinal
        self._journal = journal

    async def keep(self, value: bytes) -> bytes:
        """See `Step.keep`."""
        self.value = await self._journal.keep(self.key, self.ordinal, value)
        return self.value


class Journal:
    """The steps of one run, under the scope `run:<run_id>` of a call log; implements `Steps`.

    A step is known by its content, its place in the run, and how many equal steps were begun before it. So steps that
    run side by side don't get each other's values. Where two processes make the same run at once, the first value that
    is kept counts for both, if the log is a `KeepsFirst`.

    Args:
        log: Where the steps are kept; every store is one.
        run_id: Whose steps these are.
        failed: Called once if a step couldn't be written. The run goes on, and nothing more of it is kept.

    """

    def __init__(self, log: CallLog, run_id: str, *, failed: Callable[[Exception], None] | None = None) -> None:
        _check_id(run_id)
        self.scope = f"run:{run_id}"
        self._log = log
        self._called = named("store", log)
        self._first = log if isinstance(log, KeepsFirst) else None
        self._while = log if isinstance(log, KeepsWhile) else None
        self._run_id = run_id
        self._failed = failed
        self._begun: defaultdict[str, int] = defaultdict(int)
        self._free: defaultdict[str, list[int]] = defaultdict(list)
        self._headed = False
        self._empty = False
        self._broken = False

    async def begin(self, task: Task, *, at: datetime, seed: str, told: Mapping[str, object] | None = None) -> Begun:
        """Begin the run at this time and with this seed, or find out with which it was begun.

        `told` is what the run is made with, by name; all that is kept of it is whether it is still the same. Raises
        `RunMismatchError` where it was begun with another task, and what the log raises: nothing is done yet.
        """
        # A seed may be given, so that two processes come with the same one; whose head it is, this number tells.
        by, about = secrets.token_hex(8), task_key(task)
        with_this = {name: _digest(repr(value)) for name, value in (told or {}).items()}
        mine = json.dumps(
            {"task": about, "started": at.isoformat(), "seed": seed, "by": by, "with": with_this}
        ).encode()
        kept = await self._put(_HEAD, 0, mine)
        head = json.loads(kept)
        if head["task"] != about:
            raise RunMismatchError(self._run_id)
        self._headed, self._empty = True, kept == mine
        before: Mapping[str, str] = head.get("with", {})
        changed = tuple(name for name, value in with_this.items() if before.get(name, value) != value)
        started = datetime.fromisoformat(head["started"])
        return Begun(started=started, seed=head["seed"], new=self._empty, changed=changed)

    async def drop(self) -> None:
        """Forget the steps of a run that has ended, and whose record is kept: they hold texts, and serve nobody."""
        if isinstance(self._log, DropsCalls):
            await self._log.drop_calls([self.scope])

    @asynccontextmanager
    async def step(self, key: str) -> AsyncGenerator[JournalStep]:
        """See `Steps.step`."""
        key = _digest(f"{_PLACE.get()}\x1e{key}")
        step = JournalStep(self, key, self._take(key))
        try:
            step.value = await self._kept(key, step.ordinal)
            yield step
        finally:
            if step.value is None:
                heapq.heappush(self._free[key], step.ordinal)

    async def once(self, key: str, make: Callable[[], Awaitable[bytes]]) -> bytes:
        """See `Steps.once`."""
        async with self.step(key) as step:
            return step.value if step.value is not None else await step.keep(await make())

    async def first(self, key: str) -> bool:
        """See `Steps.first`."""
        async with self.step(key) as step:
            if step.value is not None:
                return False
            mine = secrets.token_bytes(8)  # of two processes that come at once, one is the first
            return await step.keep(mine) == mine

    @contextmanager
    def within(self, place: str) -> Generator[None]:
        """See `Steps.within`."""
        before = _PLACE.set(f"{_PLACE.get()}\x1d{place}")
        try:
            yield
        finally:
            _PLACE.reset(before)

    async def keep(self, key: str, ordinal: int, value: bytes) -> bytes:
        """Write a step's value, if the log still works; a cancellation waits, since it may have been paid for."""
        if self._broken:
            return value
        writing = asyncio.ensure_future(self._put_in_run(key, ordinal, value))
        try:
            kept = await asyncio.shield(writing)
        except asyncio.CancelledError:
            await asyncio.wait([writing])
            if not writing.cancelled():
                writing.exception()  # nobody is left to hear of it
            raise
        except Exception as error:  # noqa: BLE001 - a log may be anybody's code; the value matters more
            self._give_up(error)
            return value
        if kept is None:
            raise RunOver
        return kept

    async def _kept(self, key: str, ordinal: int) -> bytes | None:
        if self._empty:
            return None
        try:
            with calling(self._called):
                return await self._log.call(self.scope, key, ordinal)
        except DeadlineError:
            raise
        except Exception as error:
            raise StepsUnreadableError from error

    async def _put_in_run(self, key: str, ordinal: int, value: bytes) -> bytes | None:
        """Write a step; `None` where the run is over."""
        with calling(self._called, closing=True):
            if self._headed and self._while is not None:
                return await self._while.keep_call_while(self.scope, key, ordinal, value, head=_HEAD)
            kept = await self._put(key, ordinal, value)
            over = self._headed and await self._log.call(self.scope, _HEAD, 0) is None
            return None if over else kept

    async def _put(self, key: str, ordinal: int, value: bytes) -> bytes:
        if self._first is not None:
            return await self._first.keep_call(self.scope, key, ordinal, value)
        kept = await self._log.call(self.scope, key, ordinal)
        if kept is None:
            await self._log.save_call(self.scope, key, ordinal, value)
        return value if kept is None else kept

    def _take(self, key: str) -> int:
        if self._free[key]:
            return heapq.heappop(self._free[key])
        self._begun[key] += 1
        return self._begun[key] - 1

    def _give_up(self, error: Exception) -> None:
        if not self._broken and self._failed is not None:
            self._failed(error)
        self._broken = True


def task_key(task: Task) -> str:
    """The same for tasks that ask for the same; it says nothing of what they ask."""
    told = [getattr(task, name) for name in _TOLD]
    told += [task.owner] if task.owner else []  # so that runs of earlier versions, which had none, can be resumed
    return _digest(json.dumps(told))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _check_id(run_id: object) -> None:
    if not isinstance(run_id, str) or not run_id.strip() or len(run_id) > _LONGEST_ID or not run_id.isprintable():
        shown = repr(run_id)[:_LONGEST_ID]
        raise ConfigError(f"run_id={shown}: must be a text of 1 to {_LONGEST_ID} printable characters")
