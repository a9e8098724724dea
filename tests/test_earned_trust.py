"""Trust is earned by default, through the real agent: by what a lesson does, and not by what it says."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest
from pydantic_ai.messages import ModelMessage

from wisen import Agent, Clockwork, InMemoryVectorStore, LearningOptions, Reflexion, ScriptedModel
from wisen.cards import MemoryCard, MemoryKind, MemoryStatus
from wisen.models.scripted import Reply, ScriptedCall
from wisen.recall import CardFilter
from wisen.records import ReflectionEvaluation, Task, Trace

BENCHMARK = Path(__file__).parents[1] / "benchmarks" / "earned_trust.py"
WORDINGS = ("Crates on dock 9 are counted in pairs.", "On dock 9 one crate in the list stands for a pair of crates.")
BASE = 0.35
TRIALS = 5
RUNS = 300


@dataclass
class Dock:
    """An agent whose success depends on whether a known wording stands in its prompt."""

    seed: int
    effect: float
    lost: bool = False
    """Whether the agent raises instead of failing, where it was shown a wording."""
    wordings: Sequence[str] = WORDINGS[:1]
    untold: list[str] = field(default_factory=list[str])
    shown: list[bool] = field(default_factory=list[bool])

    def __post_init__(self) -> None:
        self.luck = Random(self.seed)
        self.untold = list(self.wordings)
        self.store = InMemoryVectorStore()
        self.agent = Agent(
            "You count crates.",
            model=ScriptedModel(self.answer),
            architecture=Reflexion(
                lesson_store=self.store, reflector=self, options=LearningOptions(keep_successes="none")
            ),
            evaluator=lambda output: output.startswith("right"),
            clockwork=Clockwork.seeded(self.seed),
        )
        self.new = False

    def answer(self, messages: list[ModelMessage], call: ScriptedCall) -> Reply:
        del messages
        shown = any(text in call.system for text in WORDINGS)
        if self.new:
            self.shown.append(shown)
            self.new = False
        if self.untold:
            return "wrong"
        good = self.luck.random() < BASE + self.effect * shown
        if shown and not good and self.lost:
            raise RuntimeError("the crane broke")
        return f"{'right' if good else 'wrong'}, {self.luck.randint(10, 99)} crates"

    async def reflect(
        self, task: Task, output: str, evaluation: ReflectionEvaluation, trace: Trace
    ) -> Sequence[MemoryCard]:
        del task, output, evaluation, trace
        return [MemoryCard(kind=MemoryKind.LESSON, content=self.untold.pop())] if self.untold else []

    async def run(self, runs: int = RUNS) -> MemoryStatus:
        """Where the lesson stands when it was promoted or archived, or all runs are made."""
        for number in range(runs):
            self.new = True
            try:
                await self.agent.run(f"How many crates stand on dock 9 after delivery {number}?")
            except RuntimeError:
                continue
            if number % 10 == 0 and (status := await self.status()) is not MemoryStatus.QUARANTINED:
                return status
        return await self.status()

    async def status(self) -> MemoryStatus:
        found = {card.status for card in await self.store.list(CardFilter())}
        return next(
            (one for one in (MemoryStatus.PROMOTED, MemoryStatus.ARCHIVED) if one in found), MemoryStatus.QUARANTINED
        )


async def statuses(effect: float, *, trials: int = TRIALS, **how: object) -> list[MemoryStatus]:
    return [await Dock(seed, effect, **how).run() for seed in range(trials)]  # pyright: ignore[reportArgumentType]


@pytest.mark.no_cover
@pytest.mark.anyio
async def test_a_lesson_that_helps_is_promoted() -> None:
    found = await statuses(0.3)
    assert found.count(MemoryStatus.PROMOTED) >= TRIALS - 1


@pytest.mark.no_cover
@pytest.mark.anyio
async def test_a_lesson_in_two_wordings_is_promoted_as_often() -> None:
    found = await statuses(0.3, wordings=WORDINGS)
    assert found.count(MemoryStatus.PROMOTED) >= TRIALS - 1


@pytest.mark.no_cover
@pytest.mark.anyio
async def test_a_lesson_without_effect_is_not_promoted() -> None:
    found = await statuses(0.0, trials=2 * TRIALS)
    assert found.count(MemoryStatus.PROMOTED) <= 1  # 5 % of such lessons are


@pytest.mark.no_cover
@pytest.mark.anyio
async def test_a_lesson_under_which_the_agent_breaks_is_not_promoted() -> None:
    found = await statuses(-0.15, lost=True, trials=2 * TRIALS)
    assert MemoryStatus.PROMOTED not in found


@pytest.mark.no_cover
@pytest.mark.anyio
async def test_a_lesson_that_hurts_is_soon_shown_no_more() -> None:
    docks = [Dock(seed, -0.25) for seed in range(TRIALS)]
    for dock in docks:
        await dock.run()
    assert sum(any(dock.shown[-50:]) and len(dock.shown) == RUNS for dock in docks) <= 1


@pytest.mark.parametrize("scenario", ["stream", "alone", "corrections", "bounds", "paraphrases", "many"])
def test_the_benchmark_runs(scenario: str, tmp_path: Path) -> None:
    sizes = [
        "--quick",
        "--trials",
        "1",
        "--runs",
        "24" if scenario in ("stream", "many") else "2",
        "--embedder",
        "hash",
    ]
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), scenario, *sizes], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert f"earned_trust.py {scenario}" in done.stdout
    assert done.stdout.count("\n| ") >= 3
