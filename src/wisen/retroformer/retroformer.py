"""Retroformer: looks back at whole runs and turns them into typed memories, without touching a weight.

After Yao et al. 2023, "Retroformer: Retrospective Large Language Agents with Policy Gradient Optimization"
(arXiv:2308.02151). There a retrospective model is trained; here any model looks back, and what it writes is tested
afterwards: every card goes through `MemoryCI`.
"""

import asyncio
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from wisen import models
from wisen.cards import MemoryCard, MemoryStatus
from wisen.errors import ConfigError, ModelError
from wisen.memory_ci.pipeline import MemoryCI
from wisen.protocols import ModelBinder
from wisen.records import ReflectionEvaluation, Task, Trace, TraceEvent
from wisen.reflection.traced import Outcome, TracedRun, traced
from wisen.retroformer.prompt import RETROSPECTION_PROMPT, RunLessons
from wisen.retroformer.retrospection import Reader, Retrospection, context_limits
from wisen.retroformer.typed_cards import Signature

if TYPE_CHECKING:
    from pydantic_ai.models import Model

__all__ = ["RETROSPECTION_PROMPT", "Reflection", "Retroformer", "RetroformerReflector", "TracedRun"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflection:
    """What one look back gave, in numbers."""

    trace_id: str
    contrasted_with: str = ""
    """The trace of the solved run that was seen with it."""
    parts: int = 1
    """In how many parts it was read."""
    skills: int = 0
    failures: int = 0
    policies: int = 0
    observations: int = 0
    submitted: int = 0
    """Cards that went to the `MemoryCI`."""
    duplicates: int = 0
    """Of these, counted on a stored card instead of being stored."""
    rejected: int = 0
    """Of these, refused by the screen, or rejected before."""
    rules: tuple[str, ...] = ()
    """The rules that refused them."""
    new: tuple[str, ...] = ()
    """Ids of the cards that weren't stored before."""
    known: tuple[str, ...] = ()
    """Ids of those that were, because the same run had taught them already."""

    @property
    def total_cards(self) -> int:
        """All that was extracted."""
        return self.skills + self.failures + self.policies + self.observations


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """One look back that is to be made: at a run alone, or at a failed one beside a solved one."""

    run: TracedRun
    beside: TracedRun | None = None


class Retroformer:
    """Extracts skills, failures, policies and observations from the traces of finished runs, as memory cards.

    Args:
        model: Who looks back; `None` is the bundled local model, which is too small to be of use here.
        memory_ci: Where the cards go: screened, and quarantined until they have proved themselves. Without one they
            are returned as candidates, which nobody has screened.
        agent_role: The role that the cards are scoped to; "" for all.
        prompt: System prompt; `RETROSPECTION_PROMPT` by default.
        most: Most cards of each kind that a look back is asked for; where a model gives more, all are taken.
        solved_from: Score in [0, 1] from which a run counts as solved.
        concurrency: Most model calls at a time.
        longest_part: Most characters of a run that a call is shown; by default what the model's context has room for.
        now: The clock for the cards' dates.

    """

    def __init__(  # noqa: PLR0913 - who looks back, where it goes, and five bounds with defaults
        self,
        model: "Model | str | None" = None,
        memory_ci: MemoryCI | None = None,
        agent_role: str = "",
        *,
        prompt: str | None = None,
        most: int = 4,
        solved_from: float = 0.8,
        concurrency: int = 4,
        longest_part: int | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        for name, count in (("most", most), ("concurrency", concurrency), ("longest_part", longest_part)):
            if count is not None and count < 1:
                raise ConfigError(f"Retroformer({name}={count!r}): must be 1 or more")
        if not 0.0 < solved_from <= 1.0:
            raise ConfigError(f"Retroformer(solved_from={solved_from!r}): must be in (0, 1]")
        self.model = model
        self.memory_ci = memory_ci
        self.agent_role = agent_role
        self.prompt = RETROSPECTION_PROMPT if prompt is None else prompt
        self.most = most
        self.solved_from = solved_from
        self.concurrency = concurrency
        self.longest_part = longest_part
        self.now = now
        self.lent: Model | None = None
        self._reflections: list[Reflection] = []

    @property
    def reflections(self) -> tuple[Reflection, ...]:
        """What each look back gave, in order."""
        return tuple(self._reflections)

    def bound(self, bind: ModelBinder) -> "Retroformer":
        """The same, calling its model through `bind`."""
        retroformer = copy.copy(self)
        retroformer.lent = bind(self.model, "reflect")
        return retroformer

    async def reflect(
        self, trace: Trace | TracedRun, *, task: Task | None = None, outcome: Outcome | None = None
    ) -> list[MemoryCard]:
        """Look back at one run and submit what it teaches.

        Args:
            trace: The run.
            task: The task, where the trace's purpose isn't all of it: its type, tools and tenant are the cards' scope.
            outcome: How it ended; by default what the trace's last score says.

        Returns:
            The cards as they are stored, quarantined or counted on an older card; those that the screen rejects, or
            that were rejected before, are left out. `reflections[-1]` has the numbers.

        Raises:
            ModelError: A call failed, or no answer could be read. Nothing is submitted then.
            BudgetExceededError: The budget of the run that lends its model is used up.
            StoreError: The store failed.
        """
        look = _Look(run=traced(trace, task, outcome))
        reader = self._reader()
        return await self._keep(look, await _read(reader, look), reader)

    async def reflect_all(
        self,
        runs: Sequence[Trace | TracedRun],
        *,
        contrast: bool = True,
        on_error: Callable[[TracedRun, ModelError], None] | None = None,
    ) -> list[MemoryCard]:
        """Look back at many runs, several at a time.

        If a task has failed and solved runs, each failed one is paired with a solved one, and one call asks for the
        difference. Solved runs that are left over, and runs whose outcome is unknown, are read alone.

        Args:
            runs: The runs.
            contrast: Whether to do so.
            on_error: Called for every run that a model failed on; the others go on. Without it the first error is
                raised, and what was learned before it is kept.

        Returns:
            All cards, as `reflect` gives them, none twice.
        """
        reader = self._reader()
        looks = list(self._looks([traced(run) for run in runs], contrast=contrast))
        tasks = [asyncio.ensure_future(_read(reader, look)) for look in looks]
        cards: dict[str, MemoryCard] = {}
        try:
            for look, task in zip(looks, tasks, strict=True):
                try:
                    read = await task
                except ModelError as error:
                    if on_error is None:
                        raise
                    on_error(look.run, error)
                    continue
                # One after the other, in the order given, so that the same runs always give the same cards.
                cards |= {card.id: card for card in await self._keep(look, read, reader)}
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return list(cards.values())

    async def candidates(self, run: TracedRun) -> list[MemoryCard]:
        """What a run teaches, as candidates that go nowhere. Raises `ModelError`."""
        reader, look = self._reader(), _Look(run=run)
        return list(self._signature(look, reader).cards((await _read(reader, look)).lessons))

    def pairs(self, runs: Sequence[TracedRun]) -> list[tuple[TracedRun, TracedRun | None]]:
        """The looks that `reflect_all` would make: each run, with the solved one that it is contrasted with."""
        return [(look.run, look.beside) for look in self._looks(runs, contrast=True)]

    def _looks(self, runs: Sequence[TracedRun], *, contrast: bool) -> Iterator[_Look]:
        failed: dict[tuple[str, str, str], int] = {}
        solved: dict[tuple[str, str, str], list[TracedRun]] = {}
        for run in runs if contrast else ():
            match run.solved(self.solved_from):
                case True:
                    solved.setdefault(run.task_key, []).append(run)
                case False:
                    failed[run.task_key] = failed.get(run.task_key, 0) + 1
                case None:
                    pass
        met: dict[tuple[str, str, str], int] = {}
        for run in runs:
            good = solved.get(run.task_key, []) if contrast else []
            is_solved = run.solved(self.solved_from)
            if is_solved is False and good:
                number = met.get(run.task_key, 0)
                met[run.task_key] = number + 1
                yield _Look(run=run, beside=good[number % len(good)])
            elif not (is_solved and any(run is one for one in good[: failed.get(run.task_key, 0)])):
                yield _Look(run=run)

    def _reader(self) -> Reader:
        model = self.lent if self.lent is not None else models.resolve_model(self.model)
        return Reader(
            model=model,
            system=self.prompt,
            limits=context_limits(model, most=self.most, longest_part=self.longest_part),
            threshold=self.solved_from,
            slots=asyncio.Semaphore(self.concurrency),
        )

    def _signature(self, look: _Look, reader: Reader) -> Signature:
        return Signature(
            run=look.run, beside=look.beside, agent_role=self.agent_role, model=reader.model.model_name, at=self.now()
        )

    async def _keep(self, look: _Look, read: Retrospection, reader: Reader) -> list[MemoryCard]:
        found = list(self._signature(look, reader).cards(read.lessons))
        told = _summed_up(look, read)
        if self.memory_ci is None:
            self._reflections.append(told)
            return found
        return await submit_all(self.memory_ci, found, told, self._reflections.append)


class RetroformerReflector:
    """A `Retroformer` as the reflector of a `Reflexion`, which screens and stores the cards itself.

    It sees the whole run up to now, earlier attempts included.

    Args:
        retroformer: Who looks back; one that asks the run's own model by default. Its `memory_ci` isn't used.

    """

    def __init__(self, retroformer: Retroformer | None = None) -> None:
        self.retroformer = retroformer if retroformer is not None else Retroformer()

    def bound(self, bind: ModelBinder) -> "RetroformerReflector":
        """The same reflector, calling its model through `bind`."""
        return RetroformerReflector(self.retroformer.bound(bind))

    async def reflect(
        self, task: Task, output: str, evaluation: ReflectionEvaluation, trace: Trace
    ) -> list[MemoryCard]:
        """Skills, failures, policies and observations of an attempt that wasn't good enough. Raises `ModelError`."""
        if not any(event.kind == "output" for event in trace.events):
            said = TraceEvent(kind="output", step=max(trace.step_count, 1), at=trace.duration_s, data={"text": output})
            trace = replace(trace, events=(*trace.events, said))
        return await self.retroformer.candidates(TracedRun(trace=trace, task=task, outcome=evaluation))


async def _read(reader: Reader, look: _Look) -> Retrospection:
    return await (reader.alone(look.run) if look.beside is None else reader.together(look.run, look.beside))


def _summed_up(look: _Look, read: Retrospection) -> Reflection:
    lessons: RunLessons = read.lessons
    return Reflection(
        trace_id=look.run.trace.trace_id,
        contrasted_with="" if look.beside is None else look.beside.trace.trace_id,
        parts=read.parts,
        skills=len(lessons.skills),
        failures=len(lessons.failures),
        policies=len(lessons.policies),
        observations=len(lessons.observations),
    )


async def submit_all(
    ci: MemoryCI, found: Sequence[MemoryCard], told: Reflection, tell: Callable[[Reflection], None], *, known: str = ""
) -> list[MemoryCard]:
    """Submit cards, one after the other; gives them as they are stored, without those that are rejected.

    `tell` hears `told` with what became of them, also where the store fails midway; `known` is as `MemoryCI.submit` has
    it. Raises `StoreError`.
    """
    cards: dict[str, MemoryCard] = {}
    rules: dict[str, None] = {}
    try:
        for card in found:
            submission = await ci.submit(card, known=known)
            told = replace(told, submitted=told.submitted + 1)
            stored = (await ci.store.get([submission.card_id]))[0]
            if submission.card is None or stored.status is MemoryStatus.REJECTED:
                told = replace(told, rejected=told.rejected + 1)
                rules |= dict.fromkeys(finding.rule for finding in submission.findings)
                continue
            if submission.outcome == "duplicate":
                told = replace(told, duplicates=told.duplicates + 1)
            elif submission.known:
                told = replace(told, known=(*told.known, submission.card_id))
            else:
                told = replace(told, new=(*told.new, submission.card_id))
            cards[submission.card_id] = stored
    finally:
        tell(replace(told, rules=tuple(rules)))
    return list(cards.values())
