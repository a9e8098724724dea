"""The finer choices of a `Reflexion`: what is refused, and which screen advice passes."""

import asyncio
from typing import Any

import pytest

from wisen import (
    Agent,
    Budget,
    InMemoryVectorStore,
    LearningOptions,
    MemoryCI,
    PromptCompiler,
    Reflexion,
    ScriptedModel,
)
from wisen.errors import ConfigError
from wisen.events import Degraded, Event
from wisen.screening.screens import DefaultScreen


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"keep_successes": "some"}, "(keep_successes='some'): must be one of verified, all, none"),
        (
            {"best_version": "best"},
            "(best_version='best'): must be one of highest_score, latest, first_satisfactory, weighted_recency",
        ),
    ],
)
def test_what_is_no_choice_is_refused_with_those_there_are(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as error:
        LearningOptions(**given)
    assert str(error.value) == f"LearningOptions{said}"


class Stricter(DefaultScreen):
    """A screen of somebody's own."""


class Compiler(PromptCompiler):
    """A compiler of somebody's own."""


OTHER = DefaultScreen(max_characters=77)


@pytest.mark.parametrize(
    ("compiler", "screen", "shared"),
    [
        (PromptCompiler(), DefaultScreen(), True),
        (PromptCompiler(), OTHER, False),
        (PromptCompiler(screen=OTHER), DefaultScreen(max_characters=77), True),
        (PromptCompiler(), Stricter(), False),
        (PromptCompiler(screen=Stricter()), DefaultScreen(), False),
        (PromptCompiler(screen=Stricter()), Stricter(), False),
        (Compiler(), DefaultScreen(), False),
    ],
)
def test_advice_passes_the_very_screen_of_the_lessons_where_it_is_the_same(
    compiler: PromptCompiler, screen: DefaultScreen, shared: bool
) -> None:
    options = LearningOptions(compiler=compiler, keep_successes="all")
    learner = Reflexion(lesson_store=MemoryCI(InMemoryVectorStore(), screen=screen), options=options)
    assert learner.compiler.screen is (screen if shared else compiler.screen)
    assert type(learner.compiler) is type(compiler)


@pytest.mark.anyio
async def test_a_callback_that_a_run_waited_for_is_named() -> None:
    async def waits(_: object) -> None:
        await asyncio.Event().wait()

    events = list[Event]()
    learner = Reflexion(max_attempts=1, options=LearningOptions(on_escalation=waits))
    agent = Agent(
        model=ScriptedModel(["41", "Think."]),
        architecture=learner,
        evaluator=lambda _: False,
        budget=Budget(step_seconds=0.5),
        watch=events.append,
    )
    assert (await agent.run("Count.")).status == "escalated"
    (told,) = [one for one in events if isinstance(one, Degraded)]
    assert told.error.startswith("PartTimeoutError: the callback on_escalation ")
