"""In which order a run is shown what it finds: what has helped and is meant for it first, but what it knows before."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from wisen import (
    Agent,
    InMemoryVectorStore,
    MemoryCard,
    MemoryCI,
    MemoryKind,
    MemoryStatus,
    PromptCompiler,
    RecallHit,
    RecallQuery,
    ReflectionEvaluation,
    Reflexion,
    ScriptedModel,
    Situation,
    Task,
    Trace,
)
from wisen.cards import CardEvidence, MemoryScope, Provenance
from wisen.memory_ci.trial import TrialRule
from wisen.trial_records import DrawCounts, Trial

pytestmark = pytest.mark.anyio

TASK = Task(prompt="Count the chairs.", type="counting")
LAYOUT = PromptCompiler().layout
LESSONS = (
    "Look under the stage.",
    "Begin at the door.",
    "Read the list backwards.",
    "Ask the caretaker.",
    "Stack what is broken.",
    "Lights on first.",
    "Write totals on paper.",
)


def card(number: int, *, evidence: CardEvidence | None = None, task_types: tuple[str, ...] = ()) -> MemoryCard:
    return MemoryCard(
        kind=MemoryKind.LESSON,
        content=LESSONS[number],
        situation=Situation(prompt=TASK.prompt, task_type=TASK.type),
        provenance=Provenance(run_id=f"earlier {number}", agent="agent"),
        status=MemoryStatus.PROMOTED,
        evidence=() if evidence is None else (evidence,),
        scope=MemoryScope(task_types=task_types),
    )


class Hiding(InMemoryVectorStore):
    """A store that doesn't find one of its cards."""

    hidden = ""

    async def search(self, query: RecallQuery) -> list[RecallHit]:
        return [hit for hit in await super().search(query) if hit.card.id != self.hidden]


async def shown(cards: Sequence[MemoryCard], store: Hiding | None = None, *, attempts: int = 1) -> list[list[int]]:
    """The numbers of the cards that each attempt was shown, in order."""
    store = Hiding() if store is None else store
    await store.add_unscreened(cards)

    def judge(_: str) -> bool:
        store.hidden = ""
        return False

    learner = Reflexion(
        lesson_store=MemoryCI(store, trial=TrialRule(recheck=0.0)), max_attempts=attempts, reflector=Says()
    )
    agent = Agent(model=ScriptedModel(["40"] * attempts), architecture=learner, evaluator=judge)
    numbers = {one.id: number for number, one in enumerate(cards)}
    result = await agent.run(TASK)
    return [[numbers[one.card_id] for one in attempt.injections] for attempt in result.attempts]


class Says:
    """A reflector that has nothing to say."""

    async def reflect(
        self, task: Task, output: str, evaluation: ReflectionEvaluation, trace: Trace
    ) -> list[MemoryCard]:
        del task, output, evaluation, trace
        return []


@pytest.mark.parametrize("better", [0, 1, 2])
async def test_what_has_helped_this_model_in_this_layout_comes_first(better: int) -> None:
    def known(model: str = "scripted", layout: str = LAYOUT) -> CardEvidence:
        return CardEvidence(model=model, layout=layout, gained=30)

    others = (known(model="another"), known(layout="another"))
    evidence = [known() if number == better else others[number % 2] for number in range(3)]
    (order,) = await shown([card(number, evidence=one) for number, one in enumerate(evidence)])
    assert (order[0], sorted(order)) == (better, [0, 1, 2])


@pytest.mark.parametrize("meant", [0, 1, 2])
async def test_of_equals_what_is_meant_for_the_tasks_type_comes_first(meant: int) -> None:
    cards = [card(number, task_types=("counting",) if number == meant else ()) for number in range(3)]
    (order,) = await shown(cards)
    assert (order[0], sorted(order)) == (meant, [0, 1, 2])


async def test_what_the_attempt_before_was_told_comes_before_what_is_found_later() -> None:
    better = card(0, evidence=CardEvidence(model="scripted", layout=LAYOUT, gained=30))
    cards, store = [better, card(1), card(2)], Hiding()
    store.hidden = better.id
    first, second = await shown(cards, store, attempts=2)
    assert sorted(first) == [1, 2]
    assert second == [*first, 0]


async def test_five_are_shown_where_nothing_else_is_asked_for() -> None:
    (order,) = await shown([card(number) for number in range(7)])
    assert len(order) == 5


def example(number: int) -> MemoryCard:
    return MemoryCard(
        kind=MemoryKind.SKILL_CARD,
        content=f"{number} chairs",
        situation=Situation(prompt=TASK.prompt, task_type=TASK.type),
        provenance=Provenance(run_id=f"solved {number}", agent="agent", verified=True),
        status=MemoryStatus.PROMOTED,
    )


@pytest.mark.parametrize("in_use", [True, False])
async def test_examples_crowd_out_no_lesson_that_is_in_use_or_has_a_place_on_trial(in_use: bool) -> None:
    waiting = [replace(card(number), status=MemoryStatus.QUARANTINED) for number in range(5)]
    farther = replace(card(6), situation=Situation(prompt="Count the chairs in the hall twice.", task_type=TASK.type))
    ahead = DrawCounts(propensity=0.6, shown=20, shown_good=18, held_out=12, held_out_good=4)
    trial = Trial(model="scripted", layout=LAYOUT, number=1, stage="on trial", counts=(ahead,))
    tried = farther if in_use else replace(farther, status=MemoryStatus.QUARANTINED, trials=(trial,))
    (order,) = await shown([*waiting, tried, *map(example, range(6))])
    assert 5 in order, "however many other lessons, which wait, are nearer"


async def test_lessons_crowd_out_no_example_either() -> None:
    (order,) = await shown([*map(card, range(6)), *map(example, range(2))])
    assert {6, 7} < set(order)


async def test_of_two_notes_on_the_same_numbers_none_goes_for_one_that_only_sounds_alike() -> None:
    def on(prompt: str, text: str) -> MemoryCard:
        return replace(card(0), content=text, situation=Situation(prompt=prompt), id="")

    cards = [
        on("What does a parcel to zone 7 cost?", "In zone 7 weigh each parcel on the blue scale first."),
        on("Which rules hold for zone 7?", "In zone 7 weigh no parcel; use the blue scale later."),
        on("Ship the parcel to zone 8 now.", "Ask the night desk for stamps."),
    ]
    store = InMemoryVectorStore()
    await store.add_unscreened(cards)
    ci = MemoryCI(store, trial=TrialRule(recheck=0.0))
    learner = Reflexion(lesson_store=ci, max_attempts=1, top_k_lessons=2, reflector=Says())
    agent = Agent(model=ScriptedModel(["40"]), architecture=learner, evaluator=lambda _: False)
    result = await agent.run("Ship the parcel to zone 7 now.")
    assert {one.card_id for one in result.attempts[0].injections} == {cards[0].id, cards[1].id}
