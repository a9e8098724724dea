"""The attempts of a replay test, made by the workers of a queue."""

import asyncio
import itertools
import uuid
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from wisen.cards import MemoryCard
from wisen.errors import PartError, QueueError
from wisen.queue import batches
from wisen.queue.jobs import DEFAULT_TRIES, BatchOptions, Job, JobOutcome, Replay
from wisen.queue.queue import Queue
from wisen.queue.task_ids import TaskId
from wisen.records import Task, TokenUsage
from wisen.replay.attempts import AgentAttempt, Condition
from wisen.stores.serialization import card_to_json
from wisen.tasks.files import EvaluatorSpec

_POLL = 0.2


class QueuedAttempt:
    """Implements `Attempt`, `Conditioned` and `Fitting`; enter it, and what still waits is cancelled when it is left.

    Args:
        queue: Its workers make the attempts.
        attempt: The same attempt made here; it knows the condition and what fits, and isn't called.
        options: Describe its agent for the workers; workers with an agent of their own must have this one.
        evaluator_of: What judges a task, as a tasks file names it; `None` is the agent's own.
        every: Seconds between looks for attempts that have ended.
    """

    def __init__(
        self,
        queue: Queue,
        attempt: AgentAttempt,
        options: BatchOptions,
        *,
        evaluator_of: Callable[[Task], EvaluatorSpec | None] = lambda _: None,
        every: float = _POLL,
    ) -> None:
        self.batch = f"replays-{uuid.uuid4().hex[:12]}"
        self.condition: Condition = attempt.condition
        self.spent = TokenUsage()
        self._queue = queue
        self._local = attempt
        self._options = options
        self._evaluator_of = evaluator_of
        self._every = every
        self._places = itertools.count()
        self._awaited: dict[int, asyncio.Future[JobOutcome | str]] = {}
        self._looking: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Begin to look for what has ended."""
        self._looking = asyncio.create_task(self._look())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cancel what isn't awaited any more."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)
        if self._awaited:
            await self._queue.batch(self.batch).cancel()

    def fits(self, cards: Sequence[MemoryCard]) -> bool:
        """See `Fitting`."""
        return self._local.fits(cards)

    def judged_by(self, task: Task) -> str:
        """See `Fitting`."""
        return self._local.judged_by(task)

    async def __call__(self, task: Task, cards: Sequence[MemoryCard], repetition: int) -> float | None:
        """See `Attempt`. Raises `PartError` where the agent failed, and `QueueError` where it wasn't made.

        So it is where workers gave it up, since a model can't be reached, or where it was cancelled.
        """
        if not self.fits(cards):
            return None
        next_ = TaskId(batch=self.batch, place=next(self._places))
        replay = Replay(cards=tuple(map(card_to_json, cards)), repetition=repetition)
        job = Job(task=task, evaluator=self._evaluator_of(task), replay=replay)
        ended: asyncio.Future[JobOutcome | str] = asyncio.get_running_loop().create_future()
        queue, options = self._queue, self._options
        task_id = await batches.add(queue.tables, next_, queue.name, job, options, tries=DEFAULT_TRIES)
        self._awaited[task_id.place] = ended
        await self._queue.put([task_id])
        outcome = await ended
        self._awaited.pop(task_id.place, None)
        if isinstance(outcome, str):
            raise QueueError(f"an attempt of {self.batch!r} wasn't made: {outcome}")
        self.spent = self.spent + TokenUsage(
            requests=outcome.requests,
            input_tokens=outcome.input_tokens,
            output_tokens=outcome.output_tokens,
            cost_usd=outcome.cost_usd,
        )
        if outcome.error:
            raise PartError(f"an attempt of {self.batch!r}", f"failed: {outcome.error}")
        return outcome.score

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(self._every)
            awaited = {place: future for place, future in self._awaited.items() if not future.done()}
            if not awaited:
                continue
            try:
                found = await batches.outcomes(self._queue.tables, self.batch, list(awaited))
            except QueueError as error:
                for future in awaited.values():
                    future.set_exception(error)
                continue
            for place, outcome in found.items():
                if not awaited[place].done():
                    awaited[place].set_result(outcome)
