"""The OpenAI Agents SDK: what its agents send, with their tools and sessions."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel
from wrapping import LESSON, Provider, Taught, documented, said

from wisen import Agent, Reflexion, Wrapped
from wisen.errors import ConfigError
from wisen.events import Degraded, Event

pytestmark = pytest.mark.anyio
sdk: Any = pytest.importorskip("agents", reason="not run here: openai-agents isn't installed; make test-frameworks")

LOOK = {"id": "1", "type": "function", "function": {"name": "stock", "arguments": '{"article": "lamp"}'}}


def says_yes(output: str) -> bool:
    return output == "yes"


async def test_the_documented_agent_keeps_its_model_and_tools_and_carries_the_lesson(
    provide: Callable[..., Provider],
) -> None:
    provider = provide({"tool_calls": [LOOK]}, "3 lamps", "Reply with the bare number.", "3", "4")
    agent = documented("agents")["agent"]
    result = await agent.run("How many lamps are there?")
    again = await agent.run("How many chairs are there?")
    asked, looked, reflecting, second, third = provider.bodies
    theirs = (asked, looked, second, third)
    assert (result.output, again.output, len(again.attempts)) == ("3", "4", 1)
    assert {body["model"] for body in theirs} == {"gpt-5-mini"}
    assert reflecting["model"] == "gpt-5"
    assert [[tool["name"] for tool in body["tools"]] for body in theirs] == [["stock"]] * 4
    assert looked["input"][-1] == {"call_id": "1", "output": "3", "type": "function_call_output"}
    assert [body["instructions"].strip() for body in (asked, looked)] == ["You keep a warehouse."] * 2
    for body in (second, third):
        assert body["instructions"].startswith("You keep a warehouse.\n\n<memory>\n")
        assert "Reply with the bare number." in body["instructions"]
    assert (said(second, "user"), said(third, "user")) == ("How many lamps are there?", "How many chairs are there?")
    assert [one.usage.requests for one in result.attempts] == [3, 1], "the reflection belongs to the attempt before it"
    assert result.usage.total_tokens == 4 * 7


async def test_chat_completions_get_the_advice_in_the_system_message_and_keep_their_session(
    provide: Callable[..., Provider],
) -> None:
    provider = provide("noted", "no", "yes")
    model = sdk.OpenAIChatCompletionsModel(model="theirs", openai_client=sdk.AsyncOpenAI())
    steward = sdk.Agent(name="steward", instructions="You serve.", model=model)
    session = sdk.SQLiteSession("1")
    await sdk.Runner.run(steward, "The captain is Ann.", session=session)

    async def serve(prompt: str, advice: str) -> Any:
        advised = steward.clone(instructions=f"{steward.instructions}\n\n{advice}")
        return await sdk.Runner.run(advised, prompt, session=session)

    learner = Reflexion(base=serve, evaluator=says_yes, reflector=Taught())
    result = await Agent(architecture=learner).run("Answer the captain.")
    last = provider.bodies[2]
    assert [one["role"] for one in last["messages"]] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert said(last, "user") == "The captain is Ann.\nAnswer the captain.\nAnswer the captain."
    assert said(last, "system").startswith("You serve.\n\n<memory>\n")
    assert LESSON in said(last, "system")
    assert {body["model"] for body in provider.bodies} == {"theirs"}
    assert (result.usage.requests, result.usage.total_tokens) == (2, 14)


async def test_advice_in_the_prompt_leaves_the_instructions_alone(provide: Callable[..., Provider]) -> None:
    provider = provide("no", "yes")
    steward = sdk.Agent(name="steward", instructions="You serve.", model="theirs")

    async def serve(prompt: str) -> Any:
        return await sdk.Runner.run(steward, prompt)

    learner = Reflexion(base=Wrapped(serve, advice_in_prompt=True), evaluator=says_yes, reflector=Taught())
    await Agent(architecture=learner).run("Answer the captain.")
    assert [body["instructions"] for body in provider.bodies] == ["You serve.", "You serve."]
    assert said(provider.bodies[1], "user").endswith("</memory>\n\nAnswer the captain.")
    assert LESSON in said(provider.bodies[1], "user")


async def test_what_takes_no_advice_says_so_and_is_sent_none(provide: Callable[..., Provider]) -> None:
    provider = provide("no")
    steward = sdk.Agent(name="steward", instructions="You serve.", model="theirs")

    async def serve(prompt: str) -> Any:
        return await sdk.Runner.run(steward, prompt)

    with pytest.warns(UserWarning, match="what 'serve' learns doesn't reach it"):
        learner = Reflexion(base=serve, evaluator=says_yes, reflector=Taught(), max_attempts=2)
    events: list[Event] = []
    await Agent(architecture=learner, watch=events.append).run("Answer the captain.")
    assert [one.skipped for one in events if isinstance(one, Degraded)] == ["the lessons of this attempt"]
    assert [said(one, "user") for one in provider.bodies] == ["Answer the captain."] * 2
    assert [one["instructions"] for one in provider.bodies] == ["You serve."] * 2


async def test_an_output_type_is_kept_as_an_object(provide: Callable[..., Provider]) -> None:
    class Order(BaseModel):
        number: int

    provide('{"number": 4}')
    steward = sdk.Agent(name="steward", model="theirs", output_type=Order)

    async def serve(prompt: str) -> Any:
        return await sdk.Runner.run(steward, prompt)

    result = await Agent(architecture=serve).run("Which order?")
    assert (result.output, result.structured) == ('{"number":4}', Order(number=4))


def test_an_agent_that_only_the_sdk_can_run_says_what_to_pass() -> None:
    with pytest.raises(ConfigError, match="pass an async function that calls it"):
        Wrapped(sdk.Agent(name="steward"))
