"""Lessons for pydantic-ai's agents: what reaches the provider, and what the memory makes of it."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lesson_runs import (
    AGAIN,
    BAD_STORES,
    FEEDBACK,
    LOOK,
    NO_SUCH,
    PATIENCE,
    PROMPT,
    SINGULAR,
    Counting,
    attempts,
    bad_store,
    in_use,
    kept,
    learned,
    not_for_ever,
    searches_of_one_attempt,
    trusted,
    wants_a_number,
    without_advice,
)
from pydantic_ai import Agent, DeferredToolRequests, ModelRetry, ToolFailed
from pydantic_ai.exceptions import CallDeferred, ModelHTTPError
from wrapping import Provider, documented, model_of, said

from wisen import Memory
from wisen.integrations.pydantic_ai_lessons import Lessons

pytestmark = pytest.mark.anyio
Provide = Callable[..., Provider]


def keeper(
    provider: Provider, *lessons: Lessons, error: type[BaseException] = ModelRetry, **options: Any
) -> Agent[None, Any]:
    """An agent with a tool that fails for the plural of an article."""
    agent = Agent(model_of(provider), instructions="You keep a warehouse.", capabilities=list(lessons), **options)

    @agent.tool_plain
    def stock(article: str) -> int:
        """How many pieces of an article are in stock."""
        if article.endswith("s"):
            raise error(NO_SUCH)
        return 3

    return agent


async def test_the_documented_agent_carries_the_lesson_of_its_first_run(
    provide: Provide, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    provider = provide("3 lamps", "3")
    names = documented("pydantic_ai")
    first = await names["agent"].run(PROMPT)
    names["told"](first, 0.0, FEEDBACK)
    await names["agent"].run(PROMPT)
    before, after = provider.bodies
    assert FEEDBACK not in str(before)
    assert said(after, "system").startswith("You keep a warehouse.\n\n<memory>\n")
    assert FEEDBACK in said(after, "system")
    assert without_advice(after) == without_advice(before)


async def test_prompts_messages_and_tools_are_sent_as_without_memory(provide: Provide) -> None:
    plain = provide({"tool_calls": [LOOK]}, {"tool_calls": [AGAIN]}, "3")
    await keeper(plain).run(PROMPT)
    provider = provide({"tool_calls": [LOOK]}, {"tool_calls": [AGAIN]}, "3")
    lessons = Lessons(trusted())
    in_use(lessons.memory)
    await keeper(provider, lessons).run(PROMPT)
    assert all(FEEDBACK in said(body, "system") for body in provider.bodies)
    assert len({said(body, "system") for body in provider.bodies}) == 1, "the advice is the same for a whole run"
    assert [without_advice(body) for body in provider.bodies] == [without_advice(body) for body in plain.bodies]


async def test_where_nothing_fits_nothing_is_sent(provide: Provide) -> None:
    plain, provider = provide("3"), provide("3")
    await keeper(plain).run(PROMPT)
    await keeper(provider, Lessons(trusted())).run(PROMPT)
    assert provider.bodies == plain.bodies


@pytest.mark.parametrize("error", [ModelRetry, ToolFailed])
async def test_what_fits_a_tool_s_error_is_told_with_it(provide: Provide, error: type[Exception]) -> None:
    provider = provide({"tool_calls": [LOOK]}, {"tool_calls": [AGAIN]}, "3")
    lessons = Lessons(trusted(), top_k=1)
    in_use(lessons.memory)
    result = await keeper(provider, lessons, error=error).run(PROMPT)
    asked, failed, worked = provider.bodies
    assert SINGULAR not in str(asked)
    assert NO_SUCH in said(failed, "tool")
    assert SINGULAR in said(failed, "tool")
    assert said(worked, "tool").count(SINGULAR) == 1, "a call that works needs no lesson"
    record = kept(lessons.memory, result.run_id).attempts[0]
    assert [(one.shown, bool(one.draw)) for one in record.injections] == [(True, False), (True, False)]
    assert record.advice_delivered


async def test_the_attempt_is_the_run_with_its_tools_and_answer(provide: Provide) -> None:
    store = Counting()
    lessons = Lessons(store, evaluator=str.isdigit)
    result = await keeper(provide({"tool_calls": [AGAIN]}, "3"), lessons).run(PROMPT)
    record = kept(lessons.memory, result.run_id)
    assert (record.task.prompt, record.task.tools, record.output) == (PROMPT, ("stock",), "3")
    assert (record.status, record.score, record.attempts[0].used) == ("satisfied", 1.0, ("stock",))
    assert store.searches == searches_of_one_attempt(), "a run recalls once, however many model calls it makes"


async def test_a_tool_s_error_is_part_of_what_was_learned(provide: Provide) -> None:
    lessons = Lessons(trusted(), evaluator=wants_a_number)
    await keeper(provide({"tool_calls": [LOOK]}, {"tool_calls": [AGAIN]}, "3 lamps"), lessons).run(PROMPT)
    (card,) = learned(lessons.memory)
    assert FEEDBACK in card.content
    assert NO_SUCH in card.situation.error
    assert card.situation.tools == ("stock",)


async def test_streams_carry_the_lesson_and_end_the_attempt(provide: Provide) -> None:
    plain, provider = provide("3 lamps and 4 chairs"), provide("3 lamps and 4 chairs")
    async with keeper(plain).run_stream(PROMPT) as stream:
        expected = [text async for text in stream.stream_text(delta=True, debounce_by=None)]
    lessons = Lessons(trusted(), evaluator=str.isdigit)
    in_use(lessons.memory)
    async with keeper(provider, lessons).run_stream(PROMPT) as stream:
        got = [text async for text in stream.stream_text(delta=True, debounce_by=None)]
    assert got == expected
    assert len(got) > 3
    assert FEEDBACK in said(provider.bodies[0], "system")
    assert without_advice(provider.bodies[0]) == without_advice(plain.bodies[0])
    assert [(one.output, one.score) for one in attempts(lessons.memory)] == [("3lampsand4chairs", 0.0)]


async def test_an_error_is_an_outcome_and_passes_on(provide: Provide) -> None:
    lessons = Lessons(trusted())
    with pytest.raises(ModelHTTPError) as without:
        await keeper(provide({"status": 400})).run(PROMPT)
    with pytest.raises(ModelHTTPError) as error:
        await keeper(provide({"status": 400}), lessons).run(PROMPT)
    assert str(error.value) == str(without.value)
    (record,) = attempts(lessons.memory)
    assert (record.status, record.score) == ("unsatisfied", 0.0)
    assert "status_code: 400" in record.attempts[0].failure


async def test_a_tool_that_raises_ends_the_run_with_its_error(provide: Provide) -> None:
    lessons = Lessons(trusted())
    with pytest.raises(ZeroDivisionError, match=NO_SUCH):
        await keeper(provide({"tool_calls": [LOOK]}), lessons, error=ZeroDivisionError).run(PROMPT)
    assert attempts(lessons.memory)[0].attempts[0].failure.startswith("ZeroDivisionError")


async def test_a_run_that_is_cancelled_or_waits_for_approval_has_no_outcome(provide: Provide) -> None:
    lessons = Lessons(trusted(), evaluator=str.isdigit)
    agent = keeper(
        provide({"tool_calls": [LOOK]}), lessons, error=CallDeferred, output_type=[str, DeferredToolRequests]
    )
    await agent.run(PROMPT)
    waiting = asyncio.create_task(keeper(provide({"tool_calls": [LOOK]}), lessons, error=Stop).run(PROMPT))
    await asyncio.wait((waiting,))
    assert waiting.cancelled()
    assert [one.status for one in attempts(lessons.memory)] == ["unevaluated"] * 2
    assert learned(lessons.memory) == []


class Stop(asyncio.CancelledError):
    """Cancels the run from within."""


async def test_a_history_brings_no_old_advice(provide: Provide) -> None:
    provider = provide("3", "4")
    lessons = Lessons(trusted())
    in_use(lessons.memory)
    agent = keeper(provider, lessons)
    first = await agent.run(PROMPT)
    await agent.run("Buy a hat.", message_history=first.all_messages())
    assert FEEDBACK in str(provider.bodies[0])
    assert "<memory>" not in json.dumps(provider.bodies[1]["messages"][-1])
    assert str(provider.bodies[1]).count("<memory>") <= 1


async def test_runs_side_by_side_are_attempts_of_their_own(provide: Provide) -> None:
    lessons = Lessons(trusted())
    agent = keeper(provide("3"), lessons)
    results = await asyncio.gather(*(agent.run(f"{PROMPT} On shelf {number}?") for number in range(12)))
    told = {kept(lessons.memory, one.run_id).task.prompt for one in results}
    assert len({one.run_id for one in results}) == len(told) == 12


def test_one_memory_serves_one_event_loop_after_another(provide: Provide, tmp_path: Path) -> None:
    provider = provide("3 lamps", "3")
    with Memory(tmp_path / "lessons.db") as memory:
        agent = Agent(instructions="You keep a warehouse.", capabilities=[Lessons(memory)])
        first = asyncio.run(agent.run(PROMPT, model=model_of(provider)))
        memory.outcome(first.run_id, 0.0, feedback=FEEDBACK)
        asyncio.run(agent.run(PROMPT, model=model_of(provider)))
    assert FEEDBACK in said(provider.bodies[1], "system")


@pytest.mark.parametrize("bad", BAD_STORES)
async def test_no_failure_of_memory_fails_or_delays_the_run(provide: Provide, bad: str, tmp_path: Path) -> None:
    plain = provide({"tool_calls": [LOOK]}, {"tool_calls": [AGAIN]}, "3")
    await keeper(plain).run(PROMPT)
    provider = provide({"tool_calls": [LOOK]}, {"tool_calls": [AGAIN]}, "3")
    with bad_store(bad, tmp_path) as store:
        agent = keeper(provider, Lessons(store, timeout=PATIENCE))
        with not_for_ever():
            result = await agent.run(PROMPT)
    assert result.output == "3"
    assert provider.bodies == plain.bodies


async def test_a_hanging_evaluator_delays_no_answer(provide: Provide) -> None:
    async def hanging(output: str) -> bool:
        await asyncio.sleep(1000.0)
        return bool(output)

    with not_for_ever():
        result = await keeper(provide("3"), Lessons(trusted(), timeout=PATIENCE, evaluator=hanging)).run(PROMPT)
    assert result.output == "3"
