"""How `wisen learn` makes lessons of runs: by a template, or by a model that looks back."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Protocol

from wisen.cli.learn_files import LearnedFiles, Source

if TYPE_CHECKING:
    from wisen.cards import MemoryCard
    from wisen.errors import ModelError
    from wisen.memory_ci.pipeline import MemoryCI
    from wisen.reflection.traced import TracedRun
    from wisen.retroformer.repairs import Repair
    from wisen.retroformer.retroformer import Reflection, Retroformer

BATCH: Final = 1_000
"""Runs that a model looks back at together: among these, failed and solved ones of a task are contrasted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A run that a model failed on."""

    run: "TracedRun"
    error: str


@dataclass(slots=True)
class Learned:
    """What came of it so far."""

    cards: "dict[str, MemoryCard]" = field(default_factory=dict[str, "MemoryCard"])
    reflections: "list[Reflection]" = field(default_factory=list["Reflection"])
    failed: list[Failed] = field(default_factory=list[Failed])


class LessonMaker(Protocol):
    """Learns from runs that are told one after the other."""

    learned: Learned
    alone: bool
    """Whether a run teaches by itself, so that those that were learned from before may be left out."""

    async def learn(self, run: "TracedRun", source: Source) -> None:
        """Learn from a run of a file. Raises `StoreError`."""
        ...

    async def ended(self, source: Source, line: int) -> None:
        """A file has ended with the run that begins in `line`; once all is learned, it is remembered."""
        ...

    async def finish(self) -> None:
        """Learn from what is still held."""
        ...


class TemplateLearner:
    """Makes a lesson of each command that failed and passed later in the same session."""

    alone = False

    def __init__(self, ci: "MemoryCI", agent_role: str, files: LearnedFiles) -> None:
        """Cards go to `ci`, for this role."""
        from wisen.retroformer.repairs import Repairs  # noqa: PLC0415 - imports the screen and its tables

        self.learned = Learned()
        self._ci, self._role, self._files = ci, agent_role, files
        self._repairs: Repairs = Repairs()

    async def learn(self, run: "TracedRun", source: Source) -> None:
        """See `LessonMaker.learn`."""
        del source
        for repair in self._repairs.found(run):
            await self._keep(repair)

    async def ended(self, source: Source, line: int) -> None:
        """See `LessonMaker.ended`."""
        await self._files.keep(source, line)

    async def finish(self) -> None:
        """Nothing is held."""

    async def _keep(self, repair: "Repair") -> None:
        from wisen.retroformer.retroformer import Reflection, submit_all  # noqa: PLC0415 - imports pydantic-ai

        card = repair.card(agent_role=self._role, at=datetime.now(UTC))
        told = Reflection(trace_id=repair.run.trace.trace_id, failures=1)
        kept = await submit_all(self._ci, [card], told, self.learned.reflections.append, known=repair.used)
        self.learned.cards |= {one.id: one for one in kept}


class ModelLearner:
    """Has a `Retroformer` look back at the runs, so many at a time."""

    alone = True

    def __init__(self, retroformer: "Retroformer", files: LearnedFiles, *, contrast: bool) -> None:
        """`contrast` is as `Retroformer.reflect_all` has it."""
        self.learned = Learned()
        self._retroformer, self._files, self._contrast = retroformer, files, contrast
        self._runs: list[tuple[TracedRun, Source]] = []
        self._read: list[tuple[Source, int]] = []
        self._lost: set[str] = set()
        """Files with a run that a model failed on: they are read once more the next time."""

    async def learn(self, run: "TracedRun", source: Source) -> None:
        """See `LessonMaker.learn`."""
        from wisen.retroformer.repairs import named_by_program  # noqa: PLC0415 - imports the screen and its tables

        self._runs.append((named_by_program(run), source))
        if len(self._runs) >= BATCH:
            await self.finish()

    async def ended(self, source: Source, line: int) -> None:
        """See `LessonMaker.ended`."""
        self._read.append((source, line))
        if not self._runs:
            await self.finish()

    async def finish(self) -> None:
        """See `LessonMaker.finish`."""
        names = {id(run): source.name for run, source in self._runs}

        def fails(run: "TracedRun", error: "ModelError") -> None:
            self.learned.failed.append(Failed(run=run, error=str(error)))
            self._lost.add(names[id(run)])

        runs: Sequence[TracedRun] = [run for run, _ in self._runs]
        cards = await self._retroformer.reflect_all(runs, contrast=self._contrast, on_error=fails) if runs else []
        self.learned.cards |= {card.id: card for card in cards}
        self.learned.reflections = list(self._retroformer.reflections)
        for source, line in self._read:
            if source.name not in self._lost:
                await self._files.keep(source, line)
        self._runs, self._read = [], []
