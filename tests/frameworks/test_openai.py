"""A function around OpenAI's client: what it sends, by both of OpenAI's interfaces."""

from collections.abc import Callable
from typing import Any

import pytest
from wrapping import LESSON, Provider, Taught, documented, said

from wisen import Agent, Reflexion, Wrapped
from wisen.events import Degraded, Event
from wisen.records import Budget

pytestmark = pytest.mark.anyio
openai: Any = pytest.importorskip("openai", reason="not run here: openai isn't installed; make test-frameworks")


def says_yes(output: str) -> bool:
    return output == "yes"


async def test_the_documented_function_keeps_its_model_and_carries_the_lesson(provide: Callable[..., Provider]) -> None:
    provider = provide("3 lamps", "Reply with the bare number.", "3", "4")
    agent = documented("openai")["agent"]
    result = await agent.run("How many lamps are there?")
    again = await agent.run("How many chairs are there?")
    first, reflecting, second, third = provider.bodies
    assert (result.output, again.output, len(again.attempts)) == ("3", "4", 1)
    assert [body["model"] for body in provider.bodies] == ["gpt-5-mini", "gpt-5", "gpt-5-mini", "gpt-5-mini"]
    assert reflecting is not first
    assert said(first, "system").strip() == "You keep a warehouse."
    for body in (second, third):
        assert said(body, "system").startswith("You keep a warehouse.\n\n<memory>\n")
        assert "Reply with the bare number." in said(body, "system")
    assert [said(body, "user") for body in (first, second)] == ["How many lamps are there?"] * 2
    assert said(third, "user") == "How many chairs are there?"
    usage = result.usage
    assert (usage.requests, usage.input_tokens, usage.output_tokens) == (3, 15, 6)
    assert again.attempts[0].usage.total_tokens == 7


async def test_advice_goes_into_the_instructions_of_a_response(provide: Callable[..., Provider]) -> None:
    provider = provide("no", "yes")
    client = openai.AsyncOpenAI()

    async def serve(prompt: str, advice: str) -> Any:
        return await client.responses.create(model="theirs", instructions=f"You serve. {advice}", input=prompt)

    learner = Reflexion(base=serve, evaluator=says_yes, reflector=Taught())
    result = await Agent(architecture=learner).run("Answer the captain.")
    first, second = provider.bodies
    assert (result.output, result.structured, result.usage.total_tokens) == ("yes", None, 14)
    assert [body["model"] for body in provider.bodies] == ["theirs", "theirs"]
    assert first["instructions"] == "You serve. "
    assert second["instructions"].startswith("You serve. <memory>\n")
    assert LESSON in second["instructions"]
    assert (first["input"], second["input"]) == ("Answer the captain.", "Answer the captain.")


async def test_advice_in_the_prompt_leaves_the_system_message_alone(provide: Callable[..., Provider]) -> None:
    provider = provide("no", "yes")
    client = openai.AsyncOpenAI()

    async def serve(prompt: str) -> Any:
        messages = [{"role": "system", "content": "You serve."}, {"role": "user", "content": prompt}]
        return await client.chat.completions.create(model="theirs", messages=messages)

    learner = Reflexion(base=Wrapped(serve, advice_in_prompt=True), evaluator=says_yes, reflector=Taught())
    await Agent(architecture=learner).run("Answer the captain.")
    first, second = provider.bodies
    assert [said(body, "system") for body in provider.bodies] == ["You serve.", "You serve."]
    assert said(first, "user") == "Answer the captain."
    assert said(second, "user").startswith("<memory>\n")
    assert said(second, "user").endswith("</memory>\n\nAnswer the captain.")
    assert LESSON in said(second, "user")


async def test_what_takes_no_advice_says_so_and_is_sent_none(provide: Callable[..., Provider]) -> None:
    provider = provide("no")
    client = openai.AsyncOpenAI()

    async def serve(prompt: str) -> Any:
        return await client.chat.completions.create(model="theirs", messages=[{"role": "user", "content": prompt}])

    with pytest.warns(UserWarning, match="what 'serve' learns doesn't reach it"):
        learner = Reflexion(base=serve, evaluator=says_yes, reflector=Taught(), max_attempts=2)
    events: list[Event] = []
    await Agent(architecture=learner, watch=events.append).run("Answer the captain.")
    assert [one.skipped for one in events if isinstance(one, Degraded)] == ["the lessons of this attempt"]
    assert [one["messages"] for one in provider.bodies] == [[{"role": "user", "content": "Answer the captain."}]] * 2


async def test_a_budget_used_up_stops_the_next_attempt(provide: Callable[..., Provider]) -> None:
    provider = provide("no")
    client = openai.AsyncOpenAI()

    async def serve(prompt: str, advice: str) -> Any:
        messages = [{"role": "system", "content": advice}, {"role": "user", "content": prompt}]
        return await client.chat.completions.create(model="theirs", messages=messages)

    learner = Reflexion(base=serve, evaluator=says_yes, reflector=Taught(), max_attempts=5)
    result = await Agent(architecture=learner, budget=Budget(tokens=14)).run("Answer the captain.")
    assert (len(provider.bodies), result.status, result.output) == (2, "budget_exhausted", "no")
