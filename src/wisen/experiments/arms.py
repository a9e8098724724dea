"""Frozen memory on unseen tasks, beside the controls without which a gain means nothing.

The control arms are "none" (no memory), "placebo" (as many turns of the same length, without content), "random" (true
cards, drawn at random) and "shuffled" (the recalled tasks with answers of other cards). Beside them stand "memory" (the
recalled cards) and "tfidf_shown" (the cards that TF-IDF finds instead). Three ask no model, and say what a lookup would
score. "copy" takes the answer of the most similar card, "tfidf" that of the nearest by TF-IDF. "smart_copy" takes that
of the most similar card, and replaces its words by their counterparts in the new task.
"""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from wisen import models
from wisen.advice.compiler import PromptCompiler, Recalled
from wisen.advice.placebo import emptied
from wisen.agent import Agent
from wisen.cards import MemoryCard, MemoryKind, Situation
from wisen.experiments.correction import evaluator_of
from wisen.experiments.families.family import Family, FamilyTask
from wisen.experiments.lookup import TfIdf, smart_copy
from wisen.experiments.stream import AuditOptions, Progress, base_of, task_of
from wisen.memory_ci.pipeline import MemoryCI
from wisen.memory_ci.statistics import PairedOutcome, compare_pairs
from wisen.protocols import VectorStore
from wisen.recall import RECALLABLE, CardFilter
from wisen.records import Advice, Injection, Task, Trace

if TYPE_CHECKING:
    from pydantic_ai.models import Model

LookupName = Literal["copy", "tfidf", "smart_copy"]
"""The arms that ask no model."""
ArmName = Literal["none", "placebo", "random", "shuffled", "memory", "tfidf_shown"] | LookupName
LOOKUPS: tuple[LookupName, ...] = ("copy", "tfidf", "smart_copy")
ARMS: tuple[ArmName, ...] = ("none", "placebo", "random", "shuffled", "memory", "tfidf_shown", *LOOKUPS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmReport:
    """How one arm did."""

    outcomes: tuple[bool, ...]
    """Right or wrong, in the order of the family's test."""
    tokens: int
    seconds: float

    @property
    def passed(self) -> int:
        """How many tasks were right at the first and only attempt."""
        return sum(self.outcomes)


class FrozenMemory:
    """What a store holds at the end of a stream, and the advice that each arm makes of it."""

    def __init__(self, store: VectorStore, cards: list[MemoryCard], options: AuditOptions) -> None:
        """`cards` are the store's verified episodes, in a fixed order."""
        self._ci = MemoryCI(store)
        self._cards = cards
        self._options = options
        self._compiler = PromptCompiler()
        answers = [card.content for card in cards]
        random.Random(f"shuffled/{options.seed}").shuffle(answers)
        self._other_answer = {card.id: answer for card, answer in zip(cards, answers, strict=True)}
        self._tfidf = TfIdf(cards)
        self._draws = random.Random(f"random/{options.seed}")

    @classmethod
    async def of(cls, store: VectorStore, options: AuditOptions) -> "FrozenMemory":
        """Read the store's episodes."""
        where = CardFilter(tenant="", kinds=(MemoryKind.SKILL_CARD,), statuses=RECALLABLE)
        return cls(store, await store.list(where, limit=100_000), options)

    @property
    def size(self) -> int:
        """How many cards there are."""
        return len(self._cards)

    async def recalled(self, task: Task) -> list[MemoryCard]:
        """The cards that memory would show for `task`, best first."""
        situation = Situation(prompt=task.prompt, task_type=task.type)
        where = CardFilter(tenant=task.tenant, kinds=(MemoryKind.SKILL_CARD,))
        found = await self._ci.recall(situation, where, run_id=task.id, k=self._options.top_k)
        return [one.hit.card for one in found]

    async def advice(self, arm: ArmName, task: Task) -> Advice:
        """What `arm` puts before `task`."""
        if arm == "none":
            return Advice()
        if arm == "random":
            return self._compiled(self._draws.sample(self._cards, min(self._options.top_k, len(self._cards))))
        if arm == "tfidf_shown":
            return self._compiled(self._tfidf.nearest(task.prompt, self._options.top_k))
        cards = await self.recalled(task)
        if arm == "shuffled":
            cards = [replace(card, content=self._other_answer[card.id]) for card in cards]
        advice = self._compiled(cards)
        return emptied(advice, as_turns=bool(task.choices)) if arm == "placebo" else advice

    async def looked_up(self, arm: LookupName, task: Task) -> str:
        """What a lookup answers without a model; "" where no card is similar."""
        cards = self._tfidf.nearest(task.prompt, 1) if arm == "tfidf" else await self.recalled(task)
        if not cards:
            return ""
        return smart_copy(cards[0], task.prompt) if arm == "smart_copy" else cards[0].content

    def _compiled(self, cards: list[MemoryCard]) -> Advice:
        recalled = [
            Recalled(card=card, injection=Injection(card_id=card.id, kind=card.kind.value, reasons=(), score=1.0))
            for card in cards
        ]
        return self._compiler.compile(recalled)


async def run_arm(
    arm: ArmName, family: Family, model: "Model", memory: FrozenMemory, options: AuditOptions, progress: Progress
) -> ArmReport:
    """Ask each unseen task once, with what the arm puts before it; nothing is learned meanwhile."""
    answer = _looking_up(arm, family, memory) if arm in LOOKUPS else _asking(arm, family, model, memory, options)
    outcomes: list[bool] = []
    tokens, seconds = 0, 0.0
    for done, one in enumerate(family.test, 1):
        right, used, took = await answer(family, one)
        outcomes.append(right)
        tokens += used
        seconds += took
        progress(done, len(family.test))
    return ArmReport(outcomes=tuple(outcomes), tokens=tokens, seconds=seconds)


_Answer = Callable[[Family, FamilyTask], Awaitable[tuple[bool, int, float]]]


def _asking(arm: ArmName, family: Family, model: "Model", memory: FrozenMemory, options: AuditOptions) -> _Answer:
    base, evaluator = base_of(family, options), evaluator_of(family)
    agent = Agent(family.instructions, model=model, architecture=base, evaluator=evaluator, name=family.name)

    async def answer(family: Family, one: FamilyTask) -> tuple[bool, int, float]:
        task = task_of(family, one)
        advice = await memory.advice(arm, task)
        advised = models.AdvisedModel(model, advice, _nobody) if advice else model
        result = await agent.run(task, model=advised)
        return result.score == 1.0, result.usage.total_tokens, result.record.seconds

    return answer


def _looking_up(arm: LookupName, family: Family, memory: FrozenMemory) -> _Answer:
    evaluator = evaluator_of(family)

    async def answer(family: Family, one: FamilyTask) -> tuple[bool, int, float]:
        task = task_of(family, one)
        evaluation = await evaluator.evaluate(task, await memory.looked_up(arm, task), _no_trace(task))
        return evaluation.overall_score == 1.0, 0, 0.0

    return answer


def against_memory(arms: dict[ArmName, ArmReport]) -> dict[ArmName, PairedOutcome]:
    """Memory compared with each other arm, task by task."""
    treated = arms["memory"].outcomes
    return {name: compare_pairs(treated, arm.outcomes) for name, arm in arms.items() if name != "memory"}


def _no_trace(task: Task) -> Trace:
    return Trace(trace_id=task.id, purpose=task.prompt)


def _nobody() -> None:
    """Hear that advice was delivered; the arm knows what it sent."""
