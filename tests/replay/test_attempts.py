"""What a replay test repeats: attempts of agents, and of functions."""

from collections.abc import Sequence

import pytest
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelRequest
from pydantic_ai.models import Model
from replaying import FEW, HELPS, IDLE, attempt, obedient, stored, tasks

from wisen import Agent, MemoryCard, MemoryCI, MemoryStatus, Reflexion, ScriptedModel, Task
from wisen.errors import ConfigError
from wisen.evaluation.build import as_evaluator
from wisen.evaluation.checks import ReferenceEvaluator
from wisen.replay.attempts import Condition, agent_attempt
from wisen.replay.card_tests import ReplayOptions, ReplayTest

pytestmark = pytest.mark.anyio


async def test_advice_that_no_call_carried_gives_no_score() -> None:
    async def deaf(prompt: str) -> str:
        del prompt
        return "berth 1"

    agent = Agent(architecture=deaf, model=ScriptedModel([]), evaluator=ReferenceEvaluator())
    assert await agent_attempt(agent)(tasks()[1], [], 0) == 1.0
    assert await agent_attempt(agent)(tasks()[1], [HELPS], 0) is None


async def test_an_attempt_that_raised_has_used_the_calls_that_it_made() -> None:
    async def thrice(prompt: str, *, model: Model) -> str:
        for _ in range(3):
            await model_request(model, [ModelRequest.user_text_prompt(prompt)])
        raise RuntimeError("too long")

    one = agent_attempt(Agent(architecture=thrice, model=ScriptedModel(obedient)))
    with pytest.raises(RuntimeError, match="too long"):
        await one(tasks()[1], [], 0)
    assert one.spent.requests == 3


async def test_repetitions_have_their_own_seeds_on_both_sides() -> None:
    store, model = await stored(IDLE), ScriptedModel(obedient)
    options = ReplayOptions(top_k=1, repetitions=2)
    report = await ReplayTest(MemoryCI(store), attempt(model), options=options).run(tasks(4))
    seeds = [call.settings["seed"] if call.settings and "seed" in call.settings else None for call in model.calls]
    assert sorted(seeds, key=str) == [1] * 8 + [None] * 8
    assert report.cards[0].counts.ties == 3


async def test_the_architectures_memory_is_taken_off() -> None:
    store = await stored(HELPS)
    reflexion = Reflexion(lesson_store=store, evaluator=ReferenceEvaluator(), max_attempts=3)
    agent = Agent("Answer.", model=ScriptedModel(obedient), architecture=reflexion)
    one = agent_attempt(agent)
    assert await one(tasks()[1], [], 0) == 0.0
    assert await one(tasks()[1], [HELPS], 0) == 1.0
    assert one.spent.requests == 2
    assert await store.runs() == []
    with pytest.raises(ConfigError, match="can't be run without memory"):
        agent_attempt(Agent(architecture=_Around(reflexion), model="local"))


class _Around:
    name = "around"

    def __init__(self, base: Reflexion) -> None:
        self.base = base
        self.run = base.run
        self.declared_workers = base.declared_workers


async def test_any_function_can_make_attempts() -> None:
    async def plain(task: Task, cards: Sequence[MemoryCard], repetition: int) -> float | None:
        del task, repetition
        return 1.0 if cards else 0.0

    store = await stored(IDLE)
    options = ReplayOptions(condition=Condition(model="mine"))
    await ReplayTest(MemoryCI(store), plain, options=options).run(tasks())
    kept = (await store.get([IDLE.id]))[0]
    assert (kept.status, kept.evidence[0].model) == (MemoryStatus.PROMOTED, "mine")


def strict(text: str) -> bool:
    return not text


def lax(text: str) -> bool:
    return "berth" in text


async def test_scores_of_another_evaluator_are_not_reused() -> None:
    store, made = await stored(HELPS), list[int]()
    for check in (strict, lax):
        judge = as_evaluator(check)
        for _ in range(2):
            one = agent_attempt(Agent(model=ScriptedModel(obedient)), evaluator_of=lambda _, judge=judge: judge)
            made.append((await ReplayTest(MemoryCI(store), one, options=FEW).run(tasks(4))).attempts)
    assert made[1] == made[3] == 0
    assert made[0] == made[2] > 0
