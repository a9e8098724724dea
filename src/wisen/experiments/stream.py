"""The closed loop: one stream of tasks, attempted, evaluated, retried, and what was verified kept."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from wisen.agent import Agent
from wisen.architectures.react import ReAct
from wisen.events import CardMoved, Event, LessonsRecalled
from wisen.experiments.correction import evaluator_of
from wisen.experiments.families.family import Family, FamilyTask
from wisen.protocols import VectorStore
from wisen.records import Clockwork, Task
from wisen.reflection.silent import NoReflection
from wisen.reflexion.loop import Reflexion
from wisen.reflexion.options import LearningOptions
from wisen.stores.in_process.store import InMemoryVectorStore

if TYPE_CHECKING:
    from pydantic_ai.models import Model

Progress = Callable[[int, int], None]
"""Told how many tasks are done, and of how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialVerdict:
    """That a run's outcome moved an idea to another status."""

    run: int
    """Which run of the stream it was, from 1."""
    card_id: str
    """Of the card that stands for the idea."""
    text: str
    """From which status to which, and why."""


@dataclass(slots=True, kw_only=True)
class TrustReport:
    """What the live trial did meanwhile, as the events of the runs tell."""

    told: Callable[[TrialVerdict], None] | None = None
    """Hears of each verdict as it falls."""
    run: int = 0
    """Which run of the stream goes on, from 1."""
    shown: int = 0
    """Draws after which a run saw what is on trial."""
    held_out: int = 0
    """Draws after which it didn't."""
    verdicts: list[TrialVerdict] = field(default_factory=list[TrialVerdict])
    """Of ideas that were promoted, archived or benched."""

    def hear(self, event: Event) -> None:
        """Count the draws of a first attempt; keep a verdict, and tell it."""
        if isinstance(event, LessonsRecalled) and event.attempt == 1:
            drawn = [one.shown for one in event.injections if one.draw]
            self.shown += sum(drawn)
            self.held_out += len(drawn) - sum(drawn)
        elif isinstance(event, CardMoved):
            text = f"{event.before} to {event.after}: {event.why}"
            self.verdicts.append(TrialVerdict(run=self.run, card_id=event.card_id, text=text))
            if self.told is not None:
                self.told(self.verdicts[-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamReport:
    """How one stream went."""

    attempts_to_success: tuple[int, ...]
    """For each task in order, the attempt that succeeded; 0 where none did."""
    max_attempts: int
    """Tries that each task had."""
    tokens: int
    seconds: float
    trust: TrustReport = field(default_factory=TrustReport)

    @property
    def first_try(self) -> tuple[bool, ...]:
        """For each task in order, whether the first attempt succeeded."""
        return tuple(attempt == 1 for attempt in self.attempts_to_success)

    def as_json(self) -> dict[str, object]:
        """It as JSON-compatible values."""
        return {
            "tasks": len(self.attempts_to_success),
            "solved": self.solved(),
            "solved_by_third": list(self.solved_by_third()),
            "first_try_by_third": list(self.first_try_by_third()),
            "tokens": self.tokens,
            "seconds": round(self.seconds, 3),
            "attempts_to_success": list(self.attempts_to_success),
            "draws": {"shown": self.trust.shown, "held_out": self.trust.held_out},
            "verdicts": [f"run {one.run}: {one.text}" for one in self.trust.verdicts],
        }

    def solved(self) -> int:
        """How many tasks were solved within the attempts allowed."""
        return sum(bool(attempt) for attempt in self.attempts_to_success)

    def first_try_by_third(self) -> tuple[int, int, int]:
        """First-attempt successes in the first, second and last third of the stream."""
        third = len(self.attempts_to_success) // 3
        tries = self.first_try
        return sum(tries[:third]), sum(tries[third : 2 * third]), sum(tries[2 * third :])

    def solved_by_third(self) -> tuple[int, int, int]:
        """Successes within the attempts allowed, by third."""
        third = len(self.attempts_to_success) // 3
        done = [bool(attempt) for attempt in self.attempts_to_success]
        return sum(done[:third]), sum(done[third : 2 * third]), sum(done[2 * third :])


@dataclass(frozen=True, slots=True, kw_only=True)
class BothStreams:
    """One stream with memory, and the same without."""

    stream_with: StreamReport
    stream_without: StreamReport

    @property
    def curves(self) -> Mapping[str, Sequence[bool]]:
        """The streams' first tries, for a learning curve."""
        return {"memory": self.stream_with.first_try, "no memory": self.stream_without.first_try}

    def streams_json(self) -> dict[str, object]:
        """Both as JSON-compatible values."""
        return {"memory": self.stream_with.as_json(), "none": self.stream_without.as_json()}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """What the closed loop and the arms have in common."""

    seed: int
    top_k: int = 3
    """How many cards an attempt is shown."""
    max_attempts: int = 3
    """Tries per task of the stream with memory; without, and for the unseen tasks, it is one."""
    max_output_tokens: int = 24


async def run_stream(
    family: Family,
    model: "Model",
    store: VectorStore | None,
    options: AuditOptions,
    progress: Progress,
    told: Callable[[TrialVerdict], None] | None = None,
    before: Callable[[int], Awaitable[None]] | None = None,
) -> StreamReport:
    """Work through `family.train` in order.

    `told` hears of each verdict as it falls. `before` is awaited before each run, with its number from 1.

    With a `store`, verified answers are kept there, on trial as by default. A retry then knows which answers to the
    task were rejected or, if the family has wrong answers `corrected`, what would have been right. Without a store,
    every task starts from nothing and is tried once, since no retry would be kept.
    """
    clockwork, trust = _clockwork(options.seed), TrustReport(told=told)
    options = options if store is not None else replace(options, max_attempts=1)
    succeeded: list[int] = []
    tokens, seconds = 0, 0.0
    for done, one in enumerate(family.train, 1):
        trust.run = done
        if before is not None:
            await before(done)
        kept = InMemoryVectorStore() if store is None else store
        agent = _learner(family, model, kept, options, clockwork, trust)
        result = await agent.run(task_of(family, one))
        succeeded.append(len(result.attempts) if result.status == "satisfied" else 0)
        tokens += result.usage.total_tokens
        seconds += result.record.seconds
        progress(done, len(family.train))
    return StreamReport(
        attempts_to_success=tuple(succeeded),
        max_attempts=options.max_attempts,
        tokens=tokens,
        seconds=seconds,
        trust=trust,
    )


def _learner(
    family: Family, model: "Model", store: VectorStore, options: AuditOptions, clockwork: Clockwork, trust: TrustReport
) -> Agent:
    """An agent that learns into `store`."""
    return Agent(
        family.instructions,
        model=model,
        architecture=Reflexion(
            base=base_of(family, options),
            max_attempts=options.max_attempts,
            threshold=1.0,
            reflector=NoReflection(),
            lesson_store=store,
            top_k_lessons=options.top_k,
            options=LearningOptions(keep_successes="verified"),
        ),
        evaluator=evaluator_of(family),
        clockwork=clockwork,
        watch=trust.hear,
        name=family.name,
    )


def base_of(family: Family, options: AuditOptions) -> ReAct:
    """What makes an attempt, in the streams and in all arms."""
    return ReAct(settings={"max_tokens": min(options.max_output_tokens, family.answer_tokens), "temperature": 0.0})


def task_of(family: Family, one: FamilyTask) -> Task:
    """The family's task as an agent is asked it; only the evaluator sees the reference."""
    return Task(
        id=one.key, prompt=one.prompt, type=family.task_type, choices=family.choices or (), reference=one.answer
    )


def _clockwork(seed: int) -> Clockwork:
    """Ids that follow from the seed, and a real clock, since seconds are reported."""
    seeded = Clockwork.seeded(seed)
    return Clockwork(new_id=seeded.new_id, random=seeded.random)
