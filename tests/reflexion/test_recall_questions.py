"""What a run asks its store: which situation, how many cards, and whose cards it knows already."""

import asyncio
from typing import Any

import pytest

from wisen import (
    Agent,
    AsyncMemory,
    InMemoryVectorStore,
    LearningOptions,
    MemoryCI,
    PromptCompiler,
    RecallHit,
    RecallQuery,
    Reflexion,
    ScriptedModel,
    Situation,
    Task,
)
from wisen.events import Degraded, Event
from wisen.protocols import VectorStore
from wisen.records import Advice

pytestmark = pytest.mark.anyio

PROMPT = "Book a room for Ann."


class Asked(InMemoryVectorStore):
    """A store that notes what it is asked, or doesn't answer."""

    def __init__(self) -> None:
        super().__init__()
        self.queries: list[RecallQuery] = []
        self.hangs = False

    async def search(self, query: RecallQuery) -> list[RecallHit]:
        self.queries.append(query)
        if self.hangs:
            await asyncio.Event().wait()
        return await super().search(query)


class Fixed:
    """A ranker that takes a fixed number of cards, as the store gives them."""

    name = "fixed"

    async def hits(self, store: VectorStore, query: RecallQuery) -> list[RecallHit]:
        return await store.search(query)


@pytest.mark.parametrize(("ranker", "rooms"), [(None, [6, 7]), (Fixed(), [2, 3])])
async def test_a_run_asks_for_as_many_cards_as_may_be_shown_and_for_its_own(ranker: Any, rooms: list[int]) -> None:
    store = Asked()
    ci = MemoryCI(store, ranker=ranker) if ranker else MemoryCI(store)
    learner = Reflexion(lesson_store=ci, top_k_lessons=2, max_attempts=2)
    agent = Agent(model=ScriptedModel(["no", "Think.", "no", "Wait."]), architecture=learner, evaluator=lambda _: False)
    result = await agent.run(PROMPT)
    asked = [one for one in store.queries if one.situation.prompt == PROMPT and one.without_run]
    # The default ranker goes on asking on its own account.
    assert (asked[0].k, asked[0].situation) == (rooms[0], Situation(prompt=PROMPT))
    assert {*rooms} <= {one.k for one in asked}
    assert {one.without_run for one in asked} == {result.run_id}


async def test_at_a_tools_error_memory_is_asked_for_the_task_the_tool_and_the_error() -> None:
    store = Asked()
    memory = AsyncMemory(store)
    attempt = await memory.begin(Task(prompt=PROMPT, type="booking"), tools=["rooms"])
    await memory.on_error(attempt, tool="rooms", error="no such floor: " + "9" * 400)
    asked = store.queries[-1].situation
    assert (asked.prompt, asked.task_type, asked.tools) == (PROMPT, "booking", ("rooms",))
    assert asked.error.startswith("no such floor: 9")
    assert len(asked.error) == 300


async def test_a_store_that_does_not_answer_at_a_tools_error_is_named() -> None:
    store, events = Asked(), list[Event]()
    memory = AsyncMemory(store, timeout=0.5, watch=events.append)
    attempt = await memory.begin(PROMPT, tools=["rooms"])
    store.hangs = True
    assert await memory.on_error(attempt, tool="rooms", error="no such floor") == ""
    (told,) = [one for one in events if isinstance(one, Degraded)]
    assert told.error.startswith("PartTimeoutError: store Asked ")


class Compiles(PromptCompiler):
    """A compiler that notes whom it compiles for, and doesn't end the second time."""

    async def compile_for(self, model: Any, recalled: Any, **given: Any) -> Advice:
        COMPILED.append((model, given["most"]))
        if len(COMPILED) == 2:
            await asyncio.Event().wait()
        return await super().compile_for(model, recalled, **given)


COMPILED: list[tuple[object, object]] = []


async def test_advice_on_a_tools_error_is_compiled_as_that_of_the_attempt_was() -> None:
    COMPILED.clear()
    events = list[Event]()
    options = LearningOptions(compiler=Compiles())
    memory = AsyncMemory(InMemoryVectorStore(), top_k=3, options=options, timeout=0.5, watch=events.append)
    attempt = await memory.begin(PROMPT, tools=["rooms"])
    await memory.on_error(attempt, tool="rooms", error="no such floor")
    assert len(COMPILED) == 2
    assert COMPILED[0] == COMPILED[1]
    assert COMPILED[0][1] == 3
    (told,) = [one for one in events if isinstance(one, Degraded)]
    assert told.error.startswith("PartTimeoutError: the prompt compiler ")
