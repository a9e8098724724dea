"""A run's first attempt draws, and its outcome counts; later attempts draw, write and count nothing."""

from collections.abc import Sequence

import pytest

from wisen import (
    Agent,
    Clockwork,
    InMemoryVectorStore,
    MemoryCard,
    MemoryCI,
    MemoryKind,
    RecallHit,
    RecallQuery,
    ReflectionEvaluation,
    Reflexion,
    ScriptedModel,
    Situation,
    Task,
    Trace,
)
from wisen.cards import Provenance
from wisen.errors import BudgetExceededError, StoreError
from wisen.events import Degraded, Event
from wisen.memory_ci.trial import TrialRule

pytestmark = pytest.mark.anyio

PROMPT = "Count the chairs."
ON_TRIAL = MemoryCard(
    kind=MemoryKind.LESSON,
    content="Look under the stage.",
    situation=Situation(prompt=PROMPT),
    provenance=Provenance(run_id="earlier", agent="agent"),
)


class Store(InMemoryVectorStore):
    """A store that may find nothing for a while, or can't give its cards."""

    finds = gives = True

    async def search(self, query: RecallQuery) -> list[RecallHit]:
        return await super().search(query) if self.finds else []

    async def get(self, card_ids: Sequence[str]) -> list[MemoryCard]:
        if not self.gives:
            raise StoreError("gone")
        return await super().get(card_ids)


class Reflecting:
    """A reflector after which the store can't give its cards any more, or that the budget ends."""

    def __init__(self, store: Store, *, ends: bool = False) -> None:
        self.store, self.ends = store, ends

    async def reflect(
        self, task: Task, output: str, evaluation: ReflectionEvaluation, trace: Trace
    ) -> list[MemoryCard]:
        del task, output, evaluation, trace
        self.store.gives = False
        if self.ends:
            raise BudgetExceededError("tokens", 1, 2)
        return []


def degraded(events: Sequence[Event]) -> list[tuple[str, str, str, int]]:
    return [(one.stage, one.error, one.skipped, one.attempt) for one in events if isinstance(one, Degraded)]


async def test_what_was_held_out_stays_so_though_an_attempt_between_does_not_find_it() -> None:
    shown = set[tuple[bool, ...]]()
    for seed in range(6):
        store = Store()
        ci = MemoryCI(store, trial=TrialRule(holdout=0.5, first_shown=0))
        await ci.submit(ON_TRIAL)

        def judge(output: str, store: Store = store) -> bool:
            store.finds = output != "40"
            return output == "42"

        model = ScriptedModel(["40", "Think.", "41", "Think twice.", "42"])
        learner = Reflexion(lesson_store=ci)
        await Agent(model=model, architecture=learner, evaluator=judge, clockwork=Clockwork.seeded(seed)).run(PROMPT)
        shown.add(tuple("under the stage" in model.calls[number].system for number in (0, 2, 4)))
    assert shown == {(True, False, True), (False, False, False)}


async def test_a_later_attempt_neither_writes_draws_nor_counts_them() -> None:
    store, events = Store(), list[Event]()
    ci = MemoryCI(store, trial=TrialRule(first_shown=100))
    tried = await ci.submit(ON_TRIAL)
    agent = Agent(
        model=ScriptedModel(["40", "41"]),
        architecture=Reflexion(lesson_store=ci, reflector=Reflecting(store), max_attempts=2),
        evaluator=lambda _: False,
        watch=events.append,
    )
    result = await agent.run(PROMPT)
    assert [[one.card_id for one in attempt.injections] for attempt in result.attempts] == [[tried.card_id]] * 2
    assert degraded(events) == []


async def test_an_outcome_that_can_not_be_counted_is_told_once() -> None:
    store, events = Store(), list[Event]()
    ci = MemoryCI(store, trial=TrialRule(first_shown=100))
    await ci.submit(ON_TRIAL)

    def judge(_: str) -> bool:
        store.gives = False
        return False

    agent = Agent(
        model=ScriptedModel(["40"]),
        architecture=Reflexion(lesson_store=ci, reflector=Reflecting(store, ends=True)),
        evaluator=judge,
        watch=events.append,
    )
    assert (await agent.run(PROMPT)).status == "budget_exhausted"
    assert degraded(events) == [("trial", "StoreError: gone", "counting this run on the ideas that it tried", 1)]
