"""Says whether a process lives and whether it can work: checks with a time limit, and why one doesn't pass."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from wisen.operations.safe_text import safe_message
from wisen.protocols import VectorStore
from wisen.recall import CardFilter

STUCK_SECONDS = 30.0
"""An event loop that comes this late to a timer is as good as dead."""
BEAT_SECONDS = 0.5
_CHECK_SECONDS = 5.0
_KEPT_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One condition of being able to work."""

    name: str
    """A short lower-case word: "database", "heartbeat", "model"."""
    problem: Callable[[], Awaitable[str]]
    """Says in one line, without anybody's text, why the condition doesn't hold, and "" where it does. It changes
    nothing, and costs no money. What it raises is told as far as that may be shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthFinding:
    """What a check found."""

    check: str
    ok: bool
    why: str = ""
    """Why it doesn't pass, in one line without anybody's text."""


class Pulse:
    """Feels an event loop's pulse: how late it comes to timers, and when it last came to one."""

    def __init__(
        self,
        *,
        hear: Callable[[float], None] = lambda _: None,
        every: float = BEAT_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`hear` is told the lateness, in seconds, of each timer."""
        self._hear = hear
        self._every = every
        self._monotonic = monotonic
        self._due = monotonic() + every

    @property
    def late(self) -> float:
        """By how many seconds the next timer is overdue; safe to ask from another thread."""
        return max(0.0, self._monotonic() - self._due)

    async def beat(self) -> None:
        """Beat until cancelled."""
        while True:
            self._due = self._monotonic() + self._every
            await asyncio.sleep(self._every)
            self._hear(self.late)


class Health:
    """A process's own word on itself.

    Args:
        checks: What has to hold for it to be given work.
        pulse: Of the event loop that does the work.
        stopping: Whether the process ends what it has begun, and takes no more.
        patience: Seconds that a check may take.
        monotonic: The clock.

    """

    def __init__(
        self,
        checks: Sequence[Check] = (),
        *,
        pulse: Pulse | None = None,
        stopping: Callable[[], bool] = lambda: False,
        patience: float = _CHECK_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._checks = tuple(checks)
        self._pulse = pulse
        self._patience = patience
        self._monotonic = monotonic
        self._stopping = stopping
        self._found: tuple[HealthFinding, ...] = ()
        self._until = monotonic()
        self._asking = asyncio.Lock()

    def alive(self) -> HealthFinding:
        """Whether the event loop that does the work still turns."""
        late = 0.0 if self._pulse is None else self._pulse.late
        if late < STUCK_SECONDS:
            return HealthFinding(check="event loop", ok=True)
        return HealthFinding(check="event loop", ok=False, why=f"has not turned for {late:.0f} s")

    async def ready(self) -> tuple[HealthFinding, ...]:
        """What all checks say; for a moment they aren't asked again, however often this is called."""
        async with self._asking:
            if not self._found or self._monotonic() >= self._until:
                self._found = tuple(await asyncio.gather(*(self._ask(check) for check in self._checks)))
                self._until = self._monotonic() + _KEPT_SECONDS
        why = "stopping" if self._stopping() else ""
        return (self.alive(), HealthFinding(check="running", ok=not why, why=why), *self._found)

    async def _ask(self, check: Check) -> HealthFinding:
        try:
            async with asyncio.timeout(self._patience):
                why = await check.problem()
        except TimeoutError:
            why = f"no answer within {self._patience:g} s"
        except Exception as error:  # noqa: BLE001 - whatever goes wrong in a check is what it found
            why = safe_message(error)
        return HealthFinding(check=check.name, ok=not why, why=why)


def heartbeat(age: Callable[[], float], limit: float) -> Check:
    """That a worker's last sign of life, `age()` seconds ago, isn't older than `limit` seconds."""

    async def problem() -> str:
        old = age()
        if old == math.inf:
            return "no sign of life yet"
        return (
            f"the last sign of life is {old:.0f} s old, and others take over after {limit:g} s" if old > limit else ""
        )

    return Check(name="heartbeat", problem=problem)


def store_check(store: VectorStore) -> Check:
    """That a store of any kind can be read."""

    async def problem() -> str:
        # A tenant that nobody has: no card is read, however many there are.
        await store.list(CardFilter(tenant="wisen/health"), limit=1)
        return ""

    return Check(name="store", problem=problem)
