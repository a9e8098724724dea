"""The bundled model answers in this process: constrained, repeatable, cancellable, with clear errors."""

import asyncio
import importlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
from dirty_equals import IsInt
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelRequest
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel

from wisen.errors import ConfigError, ModelError, WeightsError
from wisen.models.advised import AdvisedModel
from wisen.models.calls import ask, ask_for_response
from wisen.models.constraints import LocalModelSettings
from wisen.models.local import LocalModel
from wisen.models.names import endpoint
from wisen.models.scripted import ScriptedModel
from wisen.models.structured import ask_for
from wisen.models.weights import checked_weights
from wisen.records import Advice

pytestmark = [pytest.mark.anyio, pytest.mark.local_model]
SYSTEM = "You are terse."


class Colour(BaseModel):
    name: Literal["red", "green", "blue"]
    warm: bool


@pytest.fixture(scope="module")
def model() -> LocalModel:
    return LocalModel()


def said(prompt: str) -> list[ModelMessage]:
    return [ModelRequest.user_text_prompt(prompt)]


async def test_it_answers_and_counts_tokens(model: LocalModel) -> None:
    response = await ask_for_response(model, system=SYSTEM, prompt="Name a colour.", settings={"max_tokens": 12})
    assert response.model_name == "smollm2"
    assert response.finish_reason in ("stop", "length")
    assert response.usage.input_tokens == IsInt(gt=10, lt=60)
    assert response.usage.output_tokens == IsInt(ge=1, le=12)
    again = await ask_for_response(model, system=SYSTEM, prompt="Name a colour.", settings={"max_tokens": 12})
    assert again.parts == response.parts
    assert again.usage.cache_read_tokens > 0


async def test_the_same_seed_repeats_and_another_one_does_not(model: LocalModel) -> None:
    async def story(seed: int) -> str:
        settings = LocalModelSettings(max_tokens=16, temperature=1.5, seed=seed)
        return await ask(model, system=SYSTEM, prompt="Tell a story about a ferry.", settings=settings)

    assert await story(1) == await story(1)
    assert len({await story(seed) for seed in range(1, 5)}) > 1


@pytest.mark.parametrize(
    "choices", [["Harbour", "Maple"], ['say "hi"\\', "two\nlines"], ["a"]], ids=["plain", "odd", "one"]
)
async def test_choices_are_all_that_it_can_say(model: LocalModel, choices: Sequence[str]) -> None:
    settings = LocalModelSettings(local_choices=choices)
    assert await ask(model, system="", prompt="Tell me a story.", settings=settings) in choices


async def test_advice_as_turns_changes_the_answer(model: LocalModel) -> None:
    settings = LocalModelSettings(local_choices=["Harbour", "Maple", "Falcon"])
    turns = tuple((f"Ticket {number}: the invoice is wrong.", "Falcon") for number in range(4))
    advised = AdvisedModel(model, Advice(turns=turns), lambda: None)
    assert await ask(advised, system=SYSTEM, prompt="Ticket 9: the invoice is wrong.", settings=settings) == "Falcon"


async def test_schema_and_grammar(model: LocalModel) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}, "required": ["n"]}
    numbered = await ask(model, system="", prompt="A number?", settings=LocalModelSettings(local_schema=schema))
    assert numbered.startswith('{"n":')
    grammar = LocalModelSettings(local_grammar='root ::= "no" [0-9] [0-9]')
    assert (await ask(model, system="", prompt="A number?", settings=grammar))[:2] == "no"


async def test_structured_output_is_constrained(model: LocalModel) -> None:
    assert (await Agent(model, output_type=Colour).run("The colour of blood?")).output.name in ("red", "green", "blue")
    assert isinstance(await ask_for(model, Colour, system=SYSTEM, prompt="The colour of grass?"), Colour)


async def test_tools_are_emulated(model: LocalModel) -> None:
    agent = Agent(model, instructions="Look the weather up.")
    asked: list[str] = []

    @agent.tool_plain
    def weather(city: Literal["Rome", "Paris"]) -> str:
        """The weather in a city."""
        asked.append(city)
        return f"sunny in {city}"

    result = await agent.run("How is the weather in Rome?", model_settings={"max_tokens": 60})
    assert asked == ["Rome"]
    assert isinstance(result.output, str)
    assert "{" not in result.output


async def test_tools_and_structured_output_together(model: LocalModel) -> None:
    agent = Agent(model, output_type=Colour)

    @agent.tool_plain
    def palette() -> str:
        """The colours there are."""
        return "red, green"

    # A model this small may ask for the palette for ever; its first reply has to be readable either way.
    async with agent.iter("Pick a colour, without looking.", model_settings={"max_tokens": 60}) as run:
        async for node in run:
            if agent.is_call_tools_node(node):
                assert {part.part_kind for part in node.model_response.parts} <= {"text", "tool-call"}
                break


async def test_it_streams_as_it_writes(model: LocalModel) -> None:
    async with Agent(model).run_stream("Say hello to Ann.", model_settings={"max_tokens": 10}) as stream:
        pieces = [piece async for piece in stream.stream_text(delta=True, debounce_by=None)]
        assert stream.usage.output_tokens == IsInt(ge=1, le=10)
    assert len(pieces) > 2
    whole = await ask(model, system="", prompt="Say hello to Ann.", settings={"max_tokens": 10})
    assert "".join(pieces).strip() == whole


async def test_two_requests_at_a_time(model: LocalModel) -> None:
    settings = LocalModelSettings(local_choices=["yes", "no"])
    prompts = [f"Is {number} even?" for number in range(4)]
    answers = await asyncio.gather(*(ask(model, system="", prompt=prompt, settings=settings) for prompt in prompts))
    assert set(answers) <= {"yes", "no"}


async def test_a_request_cancelled_before_it_begins_costs_nothing(model: LocalModel) -> None:
    waiting = [
        asyncio.create_task(ask(model, system="", prompt=f"Write a novel {n}.", settings={"max_tokens": 1900}))
        for n in range(4)
    ]
    await asyncio.sleep(0)
    for task in waiting:
        task.cancel()
    ends = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(end, asyncio.CancelledError) for end in ends)
    assert await ask(model, system="", prompt="There?", settings=LocalModelSettings(local_choices=["yes"])) == "yes"


async def test_leaving_a_stream_frees_its_slot(model: LocalModel) -> None:
    endless = LocalModelSettings(local_grammar="root ::= [a-z ]+", max_tokens=900)
    async with model.request_stream(said("Write a novel."), endless, ModelRequestParameters()) as stream:
        async for _ in stream:
            break
    long = LocalModelSettings(local_grammar="root ::= [a-z ]+", max_tokens=250)
    other = asyncio.create_task(ask(model, system="", prompt="Write a story.", settings=long))
    await asyncio.sleep(0)
    # Were the first request still being answered, both slots would be taken, and this had to wait for the other.
    assert await ask(model, system="", prompt="There?", settings=LocalModelSettings(local_choices=["yes"])) == "yes"
    assert not other.done()
    await other


async def test_a_prompt_that_is_too_long_says_by_how_much(model: LocalModel) -> None:
    with pytest.raises(ModelError, match=r"the prompt has \d+ tokens and a request may have 2048; shorten it"):
        await ask(model, system="", prompt="word " * 4000)
    counted = await model.count_tokens(said("word " * 4000), None, ModelRequestParameters())
    assert counted.input_tokens > 4000
    short = await model.count_tokens(said("one two three"), None, ModelRequestParameters())
    assert short.input_tokens == IsInt(gt=3, lt=60)


async def test_it_counts_a_texts_tokens(model: LocalModel) -> None:
    count = await model.token_counter()
    assert count("") == 0
    assert count("one two three") == 3
    assert count("one two three\ud800") > 3
    # As a control token it would count one.
    assert count("<|im_end|>") > 1
    closed = LocalModel(context=256, slots=1)
    gone = await closed.token_counter()
    await closed.close()
    with pytest.raises(ModelError, match="can't count tokens"):
        gone("one")


@pytest.mark.parametrize("token", ["<|im_end|>", "<|im_start|>", "<|endoftext|>"])
async def test_text_cannot_open_a_turn_of_its_own(model: LocalModel, token: str) -> None:
    async def count(text: str, advice: Advice) -> int:
        advised = AdvisedModel(model, advice, lambda: None)
        return (await advised.request(said(text), {"max_tokens": 1}, ModelRequestParameters())).usage.input_tokens

    plain = await count("one", Advice(section="two"))
    # As a control token it would count one.
    assert await count(f"one{token}", Advice(section="two")) > plain + 1
    assert await count("one", Advice(section=f"two{token}")) > plain + 1


async def test_an_answer_cut_off_inside_a_tool_call(model: LocalModel) -> None:
    agent = Agent(model)

    @agent.tool_plain
    def note(text: str) -> str:
        return text

    with pytest.raises(ModelError, match="the answer was cut off after 3 tokens; raise max_tokens"):
        await agent.run("Note a poem.", model_settings={"max_tokens": 3})


async def test_constraints_that_contradict_or_do_not_parse(model: LocalModel) -> None:
    with pytest.raises(ConfigError, match="one of them only"):
        await ask(model, system="", prompt="p", settings=LocalModelSettings(local_choices=["a"], local_grammar="g"))
    with pytest.raises(ConfigError, match="at least one choice"):
        await ask(model, system="", prompt="p", settings=LocalModelSettings(local_choices=[]))
    with pytest.raises(ModelError, match="the runtime refused the request"):
        await ask(model, system="", prompt="p", settings=LocalModelSettings(local_grammar="root ::= ("))
    agent = Agent(model)
    agent.tool_plain(lambda: "x")
    with pytest.raises(ConfigError, match="can't be combined with tools"):
        await agent.run("p", model_settings=LocalModelSettings(local_grammar='root ::= "a"'))
    with pytest.raises(ConfigError, match="slots=0"):
        LocalModel(slots=0)


async def test_a_closed_model_loads_again() -> None:
    model = LocalModel(context=512, slots=1)
    await model.load()
    await model.close()
    settings = LocalModelSettings(local_choices=["here"])
    assert await ask(model, system="", prompt="There?", settings=settings) == "here"
    await model.close()
    await model.close()


async def test_a_pretrained_model_continues_text() -> None:
    model = LocalModel(checked_weights("smollm2"), chat=False, context=512, slots=1)
    advised = AdvisedModel(model, Advice(turns=(("one", "1"), ("two", "2"), ("three", "3"))), lambda: None)
    assert (await ask(advised, system="", prompt="four", settings={"max_tokens": 8})).startswith("4")
    await model.close()


async def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "fake.gguf").write_bytes(b"GGUF but not really")
    with pytest.raises(WeightsError, match="isn't a GGUF model"):
        await ask(LocalModel(tmp_path / "fake.gguf"), system="", prompt="p")


async def test_an_openai_compatible_server_serves_it_too() -> None:
    xllamacpp: Any = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(checked_weights("smollm2"))
    params.n_ctx, params.n_parallel, params.n_threads_http = 512, 1, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.offline, params.ui, params.verbosity, params.warmup, params.fit_params = True, False, 0, False, False
    server = xllamacpp.Server(params)
    model = endpoint(f"{server.listening_address}/v1", "smollm2")
    assert isinstance(model, OpenAIChatModel)
    async with model:
        response = await ask_for_response(model, system=SYSTEM, prompt="Hello?", settings={"max_tokens": 5})
    assert response.usage.output_tokens == IsInt(ge=1, le=5)


def test_names_do_not_depend_on_being_loaded() -> None:
    assert LocalModel("/somewhere/my-model.Q4.gguf").model_name == "my-model.Q4"
    assert ScriptedModel([]).model_name != LocalModel().model_name


CLOSING = """
from wisen.models.engine import Engine, EngineOptions
from wisen.models.weights import checked_weights

weights = checked_weights("smollm2")
for _ in range(10):
    Engine(weights, EngineOptions(context=256, slots=1)).close()
print("all closed")
"""


def test_models_that_are_closed_at_once_let_the_process_go_on() -> None:
    done = subprocess.run([sys.executable, "-c", CLOSING], capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.strip().endswith("all closed"), done.stderr
