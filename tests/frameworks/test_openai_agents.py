"""Lessons for agents of the OpenAI Agents SDK: what reaches the provider, and what the memory makes of it."""

import asyncio
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
    attempts,
    bad_store,
    in_use,
    kept,
    learned,
    not_for_ever,
    trusted,
    wants_a_number,
    without_advice,
)
from wrapping import Provider, documented, said

pytestmark = pytest.mark.anyio
WHY = "not run here: openai-agents isn't installed; make test-frameworks"
sdk: Any = pytest.importorskip("agents", reason=WHY)
run_config: Any = pytest.importorskip("agents.run_config", reason=WHY)
adapter: Any = pytest.importorskip("wisen.integrations.openai_agents_lessons", reason=WHY)
Lessons = adapter.Lessons
Provide = Callable[..., Provider]


def stock(article: str) -> int:
    """How many pieces of an article are in stock."""
    if article == "lamps":
        raise ZeroDivisionError(NO_SUCH)
    return 3


def keeper(*, chat: bool = False, **tool: Any) -> Any:
    model = sdk.OpenAIChatCompletionsModel(model="theirs", openai_client=sdk.AsyncOpenAI()) if chat else "theirs"
    tools = [sdk.function_tool(**tool)(stock)]
    return sdk.Agent(name="keeper", instructions="You keep a warehouse.", model=model, tools=tools)


def no(_context: Any, _error: Exception) -> str:
    return "no"


def so(_args: Any) -> str:
    return "so: no such article"


async def answered(lessons: Any, agent: Any, prompt: str = PROMPT, config: Any = None) -> tuple[Any, str]:
    """What the agent's run gives, and the id of its attempt."""
    async with lessons.run(config) as run:
        result = await sdk.Runner.run(agent, prompt, hooks=run, run_config=run.config)
    return result, run.attempt_id


async def test_the_documented_agent_carries_the_lesson_of_its_first_run(
    provide: Provide, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    provider = provide("3 lamps", "3")
    names = documented("openai_agents")
    _, attempt_id = await names["answer"](PROMPT)
    names["lessons"].memory.outcome(attempt_id, 0.0, feedback=FEEDBACK)
    result, _ = await names["answer"](PROMPT)
    before, after = provider.bodies
    assert result.final_output == "3"
    assert FEEDBACK not in str(before)
    assert after["instructions"].startswith("You keep a warehouse.\n\n<memory>\n")
    assert FEEDBACK in after["instructions"]
    assert without_advice(after) == without_advice(before)


@pytest.mark.parametrize("chat", [True, False])
async def test_prompts_messages_and_tools_are_sent_as_without_memory(provide: Provide, chat: bool) -> None:
    plain = provide({"tool_calls": [LOOK]}, {"tool_calls": [AGAIN]}, "3")
    await sdk.Runner.run(keeper(chat=chat), PROMPT)
    provider = provide({"tool_calls": [LOOK]}, {"tool_calls": [AGAIN]}, "3")
    lessons = Lessons(trusted())
    in_use(lessons.memory)
    await answered(lessons, keeper(chat=chat))
    assert all(FEEDBACK in said(body, "system") for body in provider.bodies)
    assert len({said(body, "system") for body in provider.bodies}) == 1, "the advice is the same for a whole run"
    assert [without_advice(body) for body in provider.bodies] == [without_advice(body) for body in plain.bodies]


async def test_where_nothing_fits_nothing_is_sent(provide: Provide) -> None:
    plain = provide("3")
    await sdk.Runner.run(keeper(), PROMPT)
    provider = provide("3")
    await answered(Lessons(trusted()), keeper())
    assert provider.bodies == plain.bodies


def outputs(body: dict[str, Any]) -> str:
    return "\n".join(str(one["output"]) for one in body["input"] if one.get("type") == "function_call_output")


async def test_what_fits_a_tool_s_error_is_told_with_it(provide: Provide) -> None:
    provider = provide({"tool_calls": [LOOK]}, {"tool_calls": [AGAIN]}, "3")
    lessons = Lessons(trusted(), top_k=1)
    in_use(lessons.memory)
    _, attempt_id = await answered(lessons, keeper())
    asked, failed, worked = provider.bodies
    assert SINGULAR not in str(asked)
    assert outputs(failed).startswith("An error occurred while running the tool")
    assert SINGULAR in outputs(failed)
    assert outputs(worked).count(SINGULAR) == 1, "a call that works needs no lesson"
    record = kept(lessons.memory, attempt_id).attempts[0]
    assert [(one.shown, one.draw) for one in record.injections] == [(True, ""), (True, "")]


async def test_a_tool_that_words_its_errors_itself_has_the_last_word(provide: Provide) -> None:
    provider = provide({"tool_calls": [LOOK]}, "3")
    lessons = Lessons(trusted(), top_k=1)
    in_use(lessons.memory)
    await answered(lessons, keeper(failure_error_function=no))
    assert outputs(provider.bodies[1]) == "no"


async def test_the_caller_s_own_filter_and_formatter_are_asked_first(provide: Provide) -> None:
    def shouted(data: Any) -> Any:
        return run_config.ModelInputData(input=data.model_data.input, instructions="You shout.")

    provider = provide({"tool_calls": [LOOK]}, "3")
    lessons = Lessons(trusted(), top_k=1)
    in_use(lessons.memory)
    own = sdk.RunConfig(call_model_input_filter=shouted, tool_error_formatter=so)
    await answered(lessons, keeper(), config=own)
    first, second = provider.bodies
    assert first["instructions"].startswith("You shout.\n\n<memory>")
    assert outputs(second).startswith("so: no such article\n\n<memory>")
    assert own.call_model_input_filter is shouted, "the caller's configuration is left as it is"


async def test_the_attempt_has_the_run_s_task_tools_and_answer(provide: Provide) -> None:
    provide({"tool_calls": [LOOK]}, {"tool_calls": [AGAIN]}, "3")
    lessons = Lessons(trusted(), evaluator=str.isdigit)
    _, attempt_id = await answered(lessons, keeper())
    record = kept(lessons.memory, attempt_id)
    assert (record.task.prompt, record.task.tools, record.output) == (PROMPT, ("stock",), "3")
    assert (record.status, record.score, record.attempts[0].used) == ("satisfied", 1.0, ("stock",))


async def test_the_last_message_of_a_session_is_the_task(provide: Provide) -> None:
    provide("3", "4")
    lessons, session = Lessons(trusted()), sdk.SQLiteSession("1")
    await sdk.Runner.run(keeper(), "The captain is Ann.", session=session)
    async with lessons.run() as run:
        await sdk.Runner.run(keeper(), PROMPT, session=session, hooks=run, run_config=run.config)
    assert kept(lessons.memory, run.attempt_id).task.prompt == PROMPT


async def test_a_tool_s_error_is_part_of_what_was_learned(provide: Provide) -> None:
    provide({"tool_calls": [LOOK]}, {"tool_calls": [AGAIN]}, "3 lamps")
    lessons = Lessons(trusted(), evaluator=wants_a_number)
    await answered(lessons, keeper())
    (card,) = learned(lessons.memory)
    assert FEEDBACK in card.content
    assert NO_SUCH in card.situation.error
    assert card.situation.tools == ("stock",)


@pytest.mark.parametrize("chat", [True, False])
async def test_streams_carry_the_lesson_and_end_the_attempt(provide: Provide, chat: bool) -> None:
    plain = provide("3 lamps and 4 chairs")
    expected = [one.type async for one in sdk.Runner.run_streamed(keeper(chat=chat), PROMPT).stream_events()]
    provider = provide("3 lamps and 4 chairs")
    lessons = Lessons(trusted(), evaluator=str.isdigit)
    in_use(lessons.memory)
    async with lessons.run() as run:
        result = sdk.Runner.run_streamed(keeper(chat=chat), PROMPT, hooks=run, run_config=run.config)
        got = [one.type async for one in result.stream_events()]
    assert got == expected
    assert len(got) > 3
    assert FEEDBACK in said(provider.bodies[0], "system")
    assert without_advice(provider.bodies[0]) == without_advice(plain.bodies[0])
    assert [(one.output, one.score) for one in attempts(lessons.memory)] == [(result.final_output, 0.0)]


async def test_an_error_is_an_outcome_and_passes_on(provide: Provide) -> None:
    provide({"status": 400})
    lessons = Lessons(trusted())
    with pytest.raises(Exception, match="400"):
        await answered(lessons, keeper())
    (record,) = attempts(lessons.memory)
    assert (record.status, record.score) == ("unsatisfied", 0.0)
    assert "400" in record.attempts[0].failure


async def test_a_block_that_ends_without_an_answer_has_no_outcome(provide: Provide) -> None:
    provide("3")
    lessons = Lessons(trusted(), evaluator=str.isdigit)
    async with lessons.run():
        pass
    with pytest.raises(asyncio.CancelledError):
        async with lessons.run() as run:
            await sdk.Runner.run(keeper(), PROMPT, hooks=Cancelling(run), run_config=run.config)
    assert [one.status for one in attempts(lessons.memory)] == ["unevaluated"]


class Cancelling(sdk.RunHooks):
    """Ends its run from within."""

    def __init__(self, run: Any) -> None:
        self.run = run

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        del context, agent, response
        raise asyncio.CancelledError


def test_without_an_event_loop(provide: Provide) -> None:
    provider = provide("3")
    lessons = Lessons(trusted(), evaluator=str.isdigit)
    in_use(lessons.memory)
    with lessons.run() as run:
        sdk.Runner.run_sync(keeper(), PROMPT, hooks=run, run_config=run.config)
    assert FEEDBACK in provider.bodies[0]["instructions"]
    assert kept(lessons.memory, run.attempt_id).score == 1.0


async def test_runs_side_by_side_are_attempts_of_their_own(provide: Provide) -> None:
    provide("3")
    lessons, agent = Lessons(trusted()), keeper()
    done = await asyncio.gather(*(answered(lessons, agent, f"{PROMPT} On shelf {number}?") for number in range(12)))
    ids = {attempt_id for _, attempt_id in done}
    assert len(ids) == len({kept(lessons.memory, one).task.prompt for one in ids}) == 12


@pytest.mark.parametrize("bad", BAD_STORES)
async def test_no_failure_of_memory_fails_or_delays_the_run(provide: Provide, bad: str, tmp_path: Path) -> None:
    plain = provide({"tool_calls": [LOOK]}, {"tool_calls": [AGAIN]}, "3")
    await sdk.Runner.run(keeper(), PROMPT)
    provider = provide({"tool_calls": [LOOK]}, {"tool_calls": [AGAIN]}, "3")
    with bad_store(bad, tmp_path) as store:
        lessons = Lessons(store, timeout=PATIENCE)
        with not_for_ever():
            result, _ = await answered(lessons, keeper())
    assert result.final_output == "3"
    assert provider.bodies == plain.bodies
