"""Other frameworks' agents: what their own model is sent over HTTP, and what is said where wisen can't reach it."""

import asyncio
import json

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent as ForeignAgent
from pydantic_ai import RunContext
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart
from wrapping import LESSON, Taught, model_of, said, serving

from wisen import Agent, Reflexion, ScriptedModel, Wrapped
from wisen.errors import ConfigError
from wisen.events import Degraded, Event

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("given", [None, "ours"])
async def test_an_agent_keeps_its_own_model_and_gets_the_advice_there(given: str | None) -> None:
    ours = None if given is None else ScriptedModel(["never asked"])
    with serving({"content": "no"}, {"content": "yes"}) as provider:
        foreign = ForeignAgent(model_of(provider), instructions="You serve on a ship.")
        learner = Reflexion(base=foreign, evaluator=lambda output: output == "yes", reflector=Taught())
        result = await Agent(model=ours, architecture=learner).run("Answer the captain.")
    first, second = provider.bodies
    assert (result.output, result.status) == ("yes", "satisfied")
    assert [body["model"] for body in provider.bodies] == ["theirs", "theirs"]
    assert [said(body, "user") for body in provider.bodies] == ["Answer the captain.", "Answer the captain."]
    assert said(first, "system") == "You serve on a ship."
    assert said(second, "system").startswith("You serve on a ship.")
    assert LESSON in said(second, "system")
    assert result.attempts[1].advice_delivered
    assert (result.usage.requests, result.usage.input_tokens, result.usage.output_tokens) == (2, 10, 4)


async def test_judge_and_reflector_ask_the_agents_own_model_where_none_is_named() -> None:
    verdict = json.dumps({"score": 0.2, "feedback": "too short"})
    with serving({"content": "no"}, {"content": verdict}, {"content": LESSON}) as provider:
        learner = Reflexion(base=ForeignAgent(model_of(provider)), max_attempts=2)
        result = await Agent(architecture=learner).run("Answer the captain.")
    assert {body["model"] for body in provider.bodies} == {"theirs"}
    assert result.record.model == "theirs"


async def test_dependencies_history_and_structured_output_work() -> None:
    class Order(BaseModel):
        number: int

    call = {"id": "1", "type": "function", "function": {"name": "final_result", "arguments": '{"number": 4}'}}
    look = {"id": "2", "type": "function", "function": {"name": "shelf", "arguments": "{}"}}
    with serving({"tool_calls": [look]}, {"tool_calls": [call]}) as provider:
        foreign = ForeignAgent(model_of(provider), deps_type=str, output_type=Order)

        @foreign.tool
        def shelf(context: RunContext[str]) -> str:
            return f"shelf of {context.deps}"

        del shelf
        history = [
            ModelRequest(parts=[UserPromptPart(content="Which order?")]),
            ModelResponse(parts=[TextPart(content="Tell me.")]),
        ]
        base = Wrapped(foreign, options={"deps": "Ann", "message_history": history})
        result = await Agent(architecture=base).run("The fourth.")
    assert (result.output, result.structured) == ('{"number":4}', Order(number=4))
    assert said(provider.bodies[0], "user") == "Which order?\nThe fourth."
    assert "shelf of Ann" in said(provider.bodies[1], "tool")


async def test_an_output_that_no_text_can_be_made_of_says_what_to_do() -> None:
    class Result:
        output = object()

    async def work(prompt: str) -> Result:
        del prompt
        return Result()

    with pytest.raises(ConfigError, match=r"holds no text; pass Wrapped\(…, output=…\)"):
        await Agent(architecture=work).run("Hello.")


async def test_an_agent_without_a_model_is_lent_the_runs() -> None:
    result = await Agent(model=ScriptedModel(["lent"]), architecture=ForeignAgent()).run("Hello.")
    assert result.output == "lent"


async def test_what_takes_no_advice_says_so_when_it_is_made_and_in_the_run() -> None:
    async def own(prompt: str) -> str:
        return prompt[:2]

    with pytest.warns(UserWarning, match="what 'own' learns doesn't reach it"):
        learner = Reflexion(base=own, evaluator=lambda _: False, reflector=Taught(), max_attempts=2)
    events: list[Event] = []
    await Agent(architecture=learner, watch=events.append).run("Answer.")
    told = [event for event in events if isinstance(event, Degraded)]
    assert [(one.stage, one.skipped) for one in told] == [("recall", "the lessons of this attempt")]


def test_the_bundled_model_doesnt_judge_somebody_elses_agent_in_silence() -> None:
    async def own(prompt: str, advice: str) -> str:
        return prompt + advice

    with pytest.warns(UserWarning, match="the bundled model will evaluate and reflect"):
        Agent(architecture=Reflexion(base=own))
    with pytest.warns(UserWarning, match="the bundled model will reflect"):
        Agent(architecture=Reflexion(base=own), evaluator=lambda _: True)
    Agent(architecture=Reflexion(base=own, evaluator=lambda _: True, reflector=Taught()))
    Agent(model="local", architecture=Reflexion(base=own))
    Agent(architecture=own)


async def test_a_callable_that_isnt_async_says_what_to_do() -> None:
    with pytest.raises(ConfigError, match=r"asyncio\.to_thread"):
        await Agent(architecture=lambda prompt: prompt).run("Hello.")  # type: ignore[arg-type]
    await asyncio.sleep(0)
