"""A screen of one's own that doesn't keep to the protocol is named at once, and costs no run its answer."""

from collections.abc import Callable
from typing import Any

import pytest

from wisen import (
    Agent,
    BlockMemory,
    CardFilter,
    InMemoryVectorStore,
    LearningOptions,
    MemoryCard,
    MemoryCI,
    MemoryKind,
    PromptCompiler,
    Reflexion,
    ScriptedModel,
)
from wisen.errors import ConfigError
from wisen.events import Degraded, Event
from wisen.protocols import ScreenVerdict
from wisen.screening.screens import ScreenChain

pytestmark = pytest.mark.anyio


class Gives:
    """A screen that gives whatever it is told to."""

    name = "house-rules"

    def __init__(self, given: Callable[[MemoryCard], Any]) -> None:
        self.given = given

    def check(self, card: MemoryCard) -> Any:
        return self.given(card)


async def an_answer() -> None:
    """What a screen gives whose author has written `async def`."""


WRONG: dict[str, Callable[[MemoryCard], object]] = {
    "nothing": lambda _: None,
    "a bool": lambda _: True,
    "a MemoryCard": lambda card: card,
    "a coroutine": lambda _: an_answer(),
}
LESSON = MemoryCard(kind=MemoryKind.LESSON, content="Write dates as YYYY-MM-DD.")


@pytest.mark.parametrize("given", WRONG)
@pytest.mark.parametrize("chained", [False, True])
async def test_the_first_submission_says_which_screen_is_wrong(given: str, chained: bool) -> None:
    screen: Any = Gives(WRONG[given])
    ci = MemoryCI(InMemoryVectorStore(), screen=ScreenChain(screens=(screen,)) if chained else screen)
    with pytest.raises(ConfigError) as caught:
        await ci.submit(LESSON)
    said = f"screen 'house-rules' gave {given}; its check(card) has to return a ScreenVerdict"
    assert str(caught.value) == said
    assert await ci.store.count(CardFilter()) == 0


async def test_what_is_rejected_goes_no_further_though_the_card_came_with_it() -> None:
    ci = MemoryCI(InMemoryVectorStore(), screen=Gives(lambda card: ScreenVerdict(outcome="rejected", card=card)))
    submission = await ci.submit(LESSON)
    assert (submission.outcome, submission.card) == ("rejected", None)
    (kept,) = await ci.store.list(CardFilter())
    assert kept.text == ""


@pytest.mark.parametrize("where", ["store", "block", "compiler"])
@pytest.mark.parametrize("given", WRONG)
async def test_a_run_keeps_its_answer_and_an_event_tells(where: str, given: str) -> None:
    screen = Gives(WRONG[given])
    store = MemoryCI(InMemoryVectorStore(), screen=screen if where == "store" else None)
    compiler = PromptCompiler(screen=screen) if where == "compiler" else PromptCompiler()
    architecture = Reflexion(
        lesson_store=None if where == "block" else store,
        options=LearningOptions(compiler=compiler, screen=screen) if where != "store" else LearningOptions(),
    )
    scores, events = [0.5, 1.0], list[Event]()
    agent = Agent(
        model=ScriptedModel(["41", "Count again.", "42"]),
        architecture=architecture,
        memory=BlockMemory(),
        evaluator=lambda _: scores.pop(0),
        watch=events.append,
    )
    result = await agent.run("How many?")
    assert (result.output, result.score) == ("42", 1.0)
    told = [event.error for event in events if isinstance(event, Degraded)]
    assert any(f"screen 'house-rules' gave {given}" in error for error in told)
