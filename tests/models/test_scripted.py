"""The scripted model answers from its script, keeps what it was asked, and works in an agent."""

import pytest
from inline_snapshot import snapshot
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.messages import ImageUrl, ModelMessage, ModelResponse, TextPart
from pydantic_ai.usage import RequestUsage

from wisen.errors import ModelError
from wisen.models.calls import ask, ask_for_response
from wisen.models.scripted import Reply, ScriptedCall, ScriptedModel, ToolCall

pytestmark = pytest.mark.anyio


class City(BaseModel):
    name: str
    bridges: int


async def test_replies_come_in_order_and_calls_are_kept() -> None:
    model = ScriptedModel(["one", ModelResponse(parts=[TextPart("two")])])
    assert await ask(model, system="Count.", prompt="first") == "one"
    assert await ask(model, system="", prompt="second") == "two"
    assert [(call.system, call.prompt, call.turns, call.tools) for call in model.calls] == snapshot(
        [("Count.", "first", (), ()), ("", "second", (), ())]
    )


async def test_a_used_up_script_says_so() -> None:
    model = ScriptedModel(["only"], name="actor")
    await ask(model, system="", prompt="x")
    with pytest.raises(ModelError) as caught:
        await ask(model, system="", prompt="x")
    assert str(caught.value) == snapshot(
        "model 'actor': the script of 1 replies is used up; give it more replies, or a function"
    )


async def test_an_exception_in_the_script_is_raised() -> None:
    with pytest.raises(LookupError):
        await ask(ScriptedModel([LookupError("cable")]), system="", prompt="x")


async def test_functions_reply_sync_and_async() -> None:
    def shout(messages: list[ModelMessage], call: ScriptedCall) -> Reply:
        return f"{call.prompt.upper()} {len(messages)}"

    async def whisper(messages: list[ModelMessage], call: ScriptedCall) -> Reply:
        return f"{call.prompt.lower()} {len(messages)}"

    assert await ask(ScriptedModel(shout), system="", prompt="Hi") == "HI 1"
    assert await ask(ScriptedModel(whisper), system="", prompt="Hi") == "hi 1"


async def test_files_in_a_prompt_are_passed_over() -> None:
    model = ScriptedModel(["a bridge"])
    await Agent(model).run(["What is this?", ImageUrl("https://example.org/bridge.png"), "Be brief."])
    assert model.calls[0].prompt == "What is this?\nBe brief."


async def test_usage_counts_words_unless_a_response_brings_its_own() -> None:
    own = ModelResponse(parts=[TextPart("x")], usage=RequestUsage(input_tokens=70, output_tokens=7))
    model = ScriptedModel(["three words here", own])
    counted = await ask_for_response(model, system="be brief", prompt="what is it")
    given = await ask_for_response(model, system="be brief", prompt="what is it")
    assert (counted.usage.input_tokens, counted.usage.output_tokens) == (5, 3)
    assert (given.usage.input_tokens, given.usage.output_tokens) == (70, 7)


async def test_an_agent_calls_tools() -> None:
    model = ScriptedModel([ToolCall("add", a=1, b=2), "the sum is 3"])
    agent = Agent(model, instructions="Use tools.", system_prompt="You add.")

    @agent.tool_plain
    def add(a: int, b: int) -> int:
        return a + b

    result = await agent.run("1 + 2?")
    assert result.output == "the sum is 3"
    assert [(call.system, call.prompt, call.turns, call.tools) for call in model.calls] == snapshot(
        [("You add.\n\nUse tools.", "1 + 2?", (), ("add",)), ("You add.\n\nUse tools.", "1 + 2?", (), ("add",))]
    )


async def test_several_parts_in_one_reply() -> None:
    model = ScriptedModel([("Let me add.", ToolCall("add", a=1, b=2), ToolCall("add", a=3, b=4)), "3 and 7"])
    agent = Agent(model)
    sums: list[int] = []

    @agent.tool_plain
    def add(a: int, b: int) -> str:
        sums.append(a + b)
        return "ok"

    assert (await agent.run("add")).output == "3 and 7"
    assert sorted(sums) == [3, 7]


async def test_structured_output_from_json() -> None:
    agent = Agent(ScriptedModel(["no", '{"name": "Prague", "bridges": 18}']), output_type=City, retries=1)
    assert (await agent.run("A city?")).output == City(name="Prague", bridges=18)


async def test_streaming_gives_word_after_word() -> None:
    agent = Agent(ScriptedModel(["good morning Ann"]))
    async with agent.run_stream("greet") as stream:
        pieces = [piece async for piece in stream.stream_text(delta=True, debounce_by=None)]
    assert pieces == ["good ", "morning ", "Ann"]


async def test_streaming_a_tool_call() -> None:
    agent = Agent(ScriptedModel([ToolCall("now"), "it is noon"]))

    @agent.tool_plain
    def now() -> str:
        return "12:00"

    async with agent.run_stream("time?") as stream:
        assert await stream.get_output() == "it is noon"
