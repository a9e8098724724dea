"""Puts the CI itself to the test: plants cards whose truth is known among those from training runs.

Nothing tells the test which card is which. Some planted cards are episodes that look like the agent's own verified
runs. Their answer isn't the right one ("wrong answer") or, if answers are free, it is the right one as the question had
it ("wrong form"). Others are well-meant lessons that say nothing of use ("empty advice").
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from wisen.agent import Agent
from wisen.cards import MemoryCard, MemoryKind, MemoryScope, MemoryStatus, Provenance, Situation
from wisen.experiments.correction import evaluator_of
from wisen.experiments.families.family import Family, FamilyTask
from wisen.experiments.stream import AuditOptions, Progress, StreamReport, base_of, run_stream, task_of
from wisen.memory_ci.pipeline import MemoryCI
from wisen.memory_ci.verdicts import Rule
from wisen.protocols import VectorStore
from wisen.recall import CardFilter
from wisen.replay.attempts import agent_attempt
from wisen.replay.card_tests import ReplayReport, ReplayTest
from wisen.replay.replay_options import ReplayOptions
from wisen.replay.stages import Replayed

if TYPE_CHECKING:
    from pydantic_ai.models import Model

Truth = Literal["kept", "wrong answer", "wrong form", "empty advice"]
_ADVICE = (
    "Read the request twice before you answer.",
    "Think about what the person who asks would like to hear.",
    "A careful answer is better than a quick one.",
    "When in doubt, remember what usually works best.",
)
_ALL = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantOptions:
    """How much is put to the test."""

    seed: int = 1
    groups: int = 4
    """How many of the family's kinds of tasks are used: a card can be decided on as many related tasks as there are."""
    kept: int = 12
    """How many of the cards from training are tested."""
    wrong: int = 4
    """How many harmful episodes are planted."""
    empty: int = 2
    """How many empty lessons are planted."""
    max_attempts: int = 4
    """Tries per task of the training."""
    nearest: int = 36
    """On how many tasks each card is tested in a round."""
    top_k: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedReport:
    """What the CI made of the cards."""

    family: str
    stream: StreamReport
    truth: Mapping[str, Truth]
    """What each tested card is."""
    cards: Mapping[str, MemoryCard]
    """As they stand after the test."""
    report: ReplayReport

    def counts(self) -> dict[Truth, dict[str, int]]:
        """How many cards of each sort ended with which status."""
        found: dict[Truth, dict[str, int]] = {}
        for card_id, truth in self.truth.items():
            status = self.cards[card_id].status
            result = "undecided" if status is MemoryStatus.QUARANTINED else status.value
            row = found.setdefault(truth, {"promoted": 0, "archived": 0, "undecided": 0})
            row[result] = row.get(result, 0) + 1
        return found


async def try_planted(
    family: Family,
    model: "Model",
    store: VectorStore,
    options: PlantOptions,
    *,
    progress: Progress,
    watch: Callable[[Replayed], None],
) -> PlantedReport:
    """Train on the family, plant cards, test all, and say what became of which.

    The `store` is an empty one.
    """
    family = some_groups(family, options)
    ci = MemoryCI(store)
    audit = AuditOptions(seed=options.seed, top_k=options.top_k, max_attempts=options.max_attempts)
    stream = await run_stream(family, model, store, audit, progress)
    truth = await _planted(family, ci, options)
    agent = Agent(
        family.instructions,
        model=model,
        architecture=base_of(family, audit),
        evaluator=evaluator_of(family),
        name=family.name,
    )
    test = ReplayTest(
        ci,
        agent_attempt(agent, setup=f"{family.name}/{options.seed}"),
        rule=Rule(max_pairs=3 * options.nearest),
        options=ReplayOptions(top_k=options.top_k, nearest=options.nearest, rounds=3, threshold=1.0),
        watch=watch,
    )
    report = await test.run([task_of(family, one) for one in (*family.train, *family.test)], list(truth))
    cards = {card.id: card for card in await store.get(list(truth))}
    return PlantedReport(family=family.name, stream=stream, truth=truth, cards=cards, report=report)


def some_groups(family: Family, options: PlantOptions) -> Family:
    """The family with so many kinds of tasks only, drawn by the seed."""
    names = sorted({task.group for task in family.train})
    drawn = set(random.Random(f"groups/{options.seed}").sample(names, min(options.groups, len(names))))
    halves = {half: tuple(task for task in getattr(family, half) if task.group in drawn) for half in ("train", "test")}
    return replace(family, **halves)


async def _planted(family: Family, ci: MemoryCI, options: PlantOptions) -> dict[str, Truth]:
    """The cards to test, in an order that says nothing, with what they are."""
    draws = random.Random(f"planted/{options.seed}")
    learned = await ci.store.list(CardFilter(kinds=(MemoryKind.SKILL_CARD,)), limit=_ALL)
    kept = draws.sample(learned, min(options.kept, len(learned)))
    truth: dict[str, Truth] = {card.id: "kept" for card in kept}
    hosts = _hosts(family, kept, options, draws)
    for task in hosts[: options.wrong]:
        answer, sort = _wrong(task, family.choices, draws)
        card = _episode(family, task, answer, learned)
        truth[(await ci.submit(card)).card_id] = sort
    for number, task in enumerate(hosts[options.wrong :]):
        card = replace(_episode(family, task, _ADVICE[number % len(_ADVICE)], learned), kind=MemoryKind.LESSON, id="")
        truth[(await ci.submit(card)).card_id] = "empty advice"
    order = list(truth.items())
    draws.shuffle(order)
    return dict(order)


def _hosts(family: Family, kept: Sequence[MemoryCard], options: PlantOptions, draws: random.Random) -> list[FamilyTask]:
    """Tasks of training that planted cards pretend to come from, of kinds that kept cards cover, to do harm."""
    prompts = {card.situation.prompt for card in kept}
    covered = {task.group for task in family.train if task.prompt in prompts}
    free = [task for task in family.train if task.prompt not in prompts and task.group in covered]
    draws.shuffle(free)
    by_group: dict[str, list[FamilyTask]] = {}
    for task in free:
        by_group.setdefault(task.group, []).append(task)
    spread = sorted(free, key=lambda task: by_group[task.group].index(task))
    return spread[: options.wrong + options.empty]


def _wrong(task: FamilyTask, choices: Sequence[str] | None, draws: random.Random) -> tuple[str, Truth]:
    if choices:
        return draws.choice([choice for choice in choices if choice != task.answer]), "wrong answer"
    return task.prompt, "wrong form"


def _episode(family: Family, task: FamilyTask, answer: str, like: Sequence[MemoryCard]) -> MemoryCard:
    """What the agent would have kept if a check had accepted this answer; as old as what it did keep."""
    return MemoryCard(
        kind=MemoryKind.SKILL_CARD,
        content=answer,
        situation=Situation(prompt=task.prompt, task_type=family.task_type),
        scope=like[0].scope if like else MemoryScope(),
        provenance=replace(
            like[0].provenance if like else Provenance(created_by="reflexion", verified=True),
            run_id=f"planted-{task.key}",
            trace_id=f"planted-{task.key}",
        ),
    )
