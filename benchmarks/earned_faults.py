"""What can go wrong with a run, most of it because of what the run was shown."""

import asyncio
from collections.abc import Awaitable, Callable

from wisen.run import RunResult

Start = Callable[[str | None], Awaitable[RunResult]]
"""Begins the run, or goes on with it, under a run id."""


class KilledError(BaseException):
    """Stands for the end of the process: nothing can be written any more."""


class Fault:
    """Nothing goes wrong; the others differ from this."""

    name = "plain"
    renews = 0
    """After how many runs agent and memory are made anew; 0 for never."""
    ids = 0
    """How many run ids there are; 0 for one each."""
    late = 0
    """After how many runs an outcome comes from outside; 0: a check says it at once."""

    async def strike(self, caused: bool) -> None:
        """Before the answer; `caused` says whether the attempt will fail and was shown an idea with an effect."""

    def silent(self, *, good: bool, caused: bool, luck: float) -> bool:
        """Whether the attempt gets no score."""
        del good, caused, luck
        return False

    async def around(self, start: Start, number: int) -> RunResult | None:
        """Have one run; `None` where it came to nothing."""
        del number
        return await start(None)


class Raises(Fault):
    """Each failure under a planted idea is an error of the agent's."""

    name = "the agent raises"

    async def strike(self, caused: bool) -> None:
        """Raise."""
        if caused:
            raise RuntimeError("the agent broke")

    async def around(self, start: Start, number: int) -> RunResult | None:
        """Bear it."""
        del number
        try:
            return await start(None)
        except RuntimeError:
            return None


class Cancelled(Fault):
    """Each failure under a planted idea hangs until the caller cancels the run."""

    name = "the run is cancelled"

    def __init__(self) -> None:
        self._hangs = asyncio.Event()

    async def strike(self, caused: bool) -> None:
        """Hang."""
        if caused:
            self._hangs.set()
            await asyncio.Event().wait()

    async def around(self, start: Start, number: int) -> RunResult | None:
        """Cancel what hangs."""
        del number
        self._hangs.clear()
        run = asyncio.ensure_future(start(None))
        hangs = asyncio.ensure_future(self._hangs.wait())
        await asyncio.wait((run, hangs), return_when=asyncio.FIRST_COMPLETED)
        hangs.cancel()
        if run.done():
            return run.result()
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        return None


class Killed(Fault):
    """Each failure under a planted idea ends the process: from then on no write reaches the store."""

    name = "killed between draw and outcome"

    def __init__(self) -> None:
        self.dead = False

    async def strike(self, caused: bool) -> None:
        """Die."""
        if caused:
            self.dead = True
            raise KilledError

    async def around(self, start: Start, number: int) -> RunResult | None:
        """Start another process."""
        del number
        try:
            return await start(None)
        except KilledError:
            return None
        finally:
            self.dead = False


class Resumed(Raises):
    """Each failure under a planted idea raises; the caller tries again under the same run id, up to twice."""

    name = "raised, then resumed under the same id"

    async def around(self, start: Start, number: int) -> RunResult | None:
        """Try again."""
        for _ in range(3):
            try:
                return await start(f"ticket-{number}")
            except RuntimeError:
                continue
        return None


class AskedTwice(Fault):
    """Each run is asked for again under its id when it has ended."""

    name = "each run asked for twice under one id"

    async def around(self, start: Start, number: int) -> RunResult | None:
        """Ask again."""
        result = await start(f"ticket-{number}")
        await start(f"ticket-{number}")
        return result


class IdsComeBack(Fault):
    """Runs are numbered from 0 to 19, again and again."""

    name = "run ids that come back"
    ids = 20


class Restarts(Fault):
    """Agent, memory and store are made anew after every ten runs."""

    name = "restarts after every 10 runs"
    renews = 10


class NoScores(Fault):
    """Some attempts get no score: shares of the good and of the failed ones."""

    def __init__(self, name: str, *, good: float = 0.0, failed: float = 0.0, caused: float = 0.0) -> None:
        self.name = name
        self._good, self._failed, self._caused = good, failed, caused

    def silent(self, *, good: bool, caused: bool, luck: float) -> bool:
        """By share."""
        return luck < (self._good if good else max(self._failed, self._caused if caused else 0.0))


class Late(Fault):
    """No check judges the run; what it came to is reported ten runs later, and of one in five never."""

    name = "outcomes ten runs late, from outside"
    late = 10
    lost = 0.2

    def silent(self, *, good: bool, caused: bool, luck: float) -> bool:
        """Always."""
        del good, caused, luck
        return True
