"""What foreign agents return: answers and usage are read by shape, without their frameworks."""

from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelRequest
from pydantic_ai.models import Model
from wrapping import LESSON, Taught

from wisen import Agent, Reflexion, RunResult, ScriptedModel, Wrapped
from wisen.errors import ConfigError
from wisen.events import Degraded, Event
from wisen.records import Budget, TokenUsage

pytestmark = pytest.mark.anyio


SPENT = SimpleNamespace(requests=2, input_tokens=3, output_tokens=4)


class Order(BaseModel):
    """An answer with a structure."""

    number: int


class Graph:
    """An object with `ainvoke` that notes what it is asked, and answers "no" until it is told the lesson."""

    def __init__(self, earlier: list[Any] | None = None) -> None:
        self.asked: list[list[dict[str, str]]] = []
        self.configs: list[object] = []
        self._earlier = earlier or []

    async def ainvoke(self, state: dict[str, list[dict[str, str]]], config: object = None) -> dict[str, Any]:
        """The conversation with its answer, of which a tool's result is a part."""
        self.asked.append(state["messages"])
        self.configs.append(config)
        told = any(LESSON in one["content"] for one in state["messages"])
        mine = [SimpleNamespace(content=one["content"]) for one in state["messages"]]
        return {"messages": [*self._earlier, *mine, SimpleNamespace(content="4"), answer("yes" if told else "no")]}


def answer(content: object, **more: object) -> SimpleNamespace:
    return SimpleNamespace(content=content, usage_metadata={"input_tokens": 5, "output_tokens": 2}, **more)


async def run(returned: object, **options: Any) -> RunResult:
    async def work(prompt: str) -> object:
        del prompt
        return returned

    return await Agent(architecture=Wrapped(work, **options)).run("Answer.")


async def test_an_object_with_ainvoke_is_asked_with_the_advice_as_a_system_message() -> None:
    graph = Graph()
    learner = Reflexion(base=graph, evaluator=lambda output: output == "yes", reflector=Taught())
    result = await Agent(architecture=learner).run("Answer the captain.")
    first, second = graph.asked
    question = {"role": "user", "content": "Answer the captain."}
    assert first == [question]
    assert [one["role"] for one in second] == ["system", "user"]
    assert LESSON in second[0]["content"]
    assert second[1] == question
    assert (result.output, result.attempts[1].advice_delivered) == ("yes", True)
    assert result.usage == TokenUsage(requests=2, input_tokens=10, output_tokens=4)


async def test_its_advice_stands_in_the_prompt_alone_where_that_is_asked_for() -> None:
    graph = Graph()
    base = Wrapped(graph, advice_in_prompt=True, options={"config": "theirs"})
    learner = Reflexion(base=base, evaluator=lambda _: False, reflector=Taught(), max_attempts=2)
    await Agent(architecture=learner).run("Q")
    assert [[one["role"] for one in asked] for asked in graph.asked] == [["user"], ["user"]]
    assert graph.asked[1][0]["content"].endswith("</memory>\n\nQ")
    assert graph.configs == ["theirs", "theirs"]


async def test_messages_before_the_prompt_are_not_counted_again() -> None:
    earlier = [SimpleNamespace(content="Answer."), answer("earlier")]
    result = await Agent(architecture=Graph(earlier)).run("Answer.")
    assert result.usage == TokenUsage(requests=1, input_tokens=5, output_tokens=2)


def test_an_object_without_a_known_method_says_what_to_pass() -> None:
    with pytest.raises(ConfigError, match=r"async run\(\) or ainvoke\(\); pass an async function that calls it"):
        Wrapped(object())


async def test_an_ainvoke_that_is_not_async_says_what_to_do() -> None:
    graph = SimpleNamespace(ainvoke=dict[str, object])
    with pytest.raises(ConfigError, match="it isn't async"):
        await Agent(architecture=Wrapped(graph)).run("Answer.")


@pytest.mark.parametrize(
    ("returned", "text", "structured"),
    [
        (SimpleNamespace(output_text="yes", output=[1], text=2), "yes", None),
        (SimpleNamespace(final_output="yes"), "yes", None),
        (SimpleNamespace(final_output=Order(number=4)), '{"number":4}', Order(number=4)),
        (SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content="yes"))]), "yes", None),
        ({"messages": [answer([{"type": "text"}], text="yes")]}, "yes", None),
        ({"messages": [answer("{}")], "structured_response": Order(number=4)}, '{"number":4}', Order(number=4)),
        ({"messages": ["no", "yes"]}, "yes", None),
    ],
)
async def test_the_answer_is_read_by_its_shape(returned: object, text: str, structured: object) -> None:
    result = await run(returned)
    assert (result.output, result.structured) == (text, structured)


@pytest.mark.parametrize(
    "returned", [{"messages": []}, {"messages": "yes"}, {"answer": "yes"}, SimpleNamespace(choices=[])]
)
async def test_a_result_without_an_answer_says_what_to_pass(returned: object) -> None:
    with pytest.raises(ConfigError, match=r"holds no text; pass Wrapped\(…, output=…\)"):
        await run(returned)


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        (SimpleNamespace(text="", usage=SimpleNamespace(prompt_tokens=3, completion_tokens=4)), (1, 3, 4)),
        (SimpleNamespace(text="", usage=SimpleNamespace(input_tokens=3, output_tokens=None)), (1, 3, 0)),
        (SimpleNamespace(text="", usage={"input_tokens": 3, "output_tokens": 4, "requests": 2}), (2, 3, 4)),
        (
            SimpleNamespace(
                text="",
                context_wrapper=SimpleNamespace(usage=SimpleNamespace(requests=0, input_tokens=0, output_tokens=0)),
            ),
            (0, 0, 0),
        ),
        (answer(""), (1, 5, 2)),
        ({"messages": [answer("a look"), answer("yes")]}, (2, 10, 4)),
        (SimpleNamespace(text="", context_wrapper=SimpleNamespace(usage=SPENT)), (2, 3, 4)),
        (SimpleNamespace(text="", usage=SimpleNamespace(input_tokens="3", output_tokens=4)), (1, 0, 4)),
        (SimpleNamespace(text="", usage=None), (0, 0, 0)),
        (SimpleNamespace(text="", usage="much"), (0, 0, 0)),
        ("", (0, 0, 0)),
    ],
)
async def test_usage_is_read_by_its_shape(returned: object, expected: tuple[int, int, int]) -> None:
    usage = (await run(returned)).usage
    assert (usage.requests, usage.input_tokens, usage.output_tokens) == expected


async def test_usage_is_read_by_the_function_that_was_given_and_counts_where_no_answer_is_found() -> None:
    spent = TokenUsage(requests=3, input_tokens=20, output_tokens=1, cost_usd=0.5)

    def told(result: object) -> TokenUsage:
        del result
        return spent

    assert (await run(answer("yes"), usage=told)).usage == spent
    base = Wrapped(Graph(), output=lambda result: {"yes": "told"}[result["messages"][-1].content], usage=told)
    learner = Reflexion(base=base, evaluator=lambda _: False, reflector=Taught(), max_attempts=2)
    result = await Agent(architecture=learner).run("Answer.")
    assert (result.usage.requests, [bool(one.failure) for one in result.attempts]) == (6, [True, False])


async def test_usage_that_cannot_be_read_is_told_and_fails_nothing() -> None:
    events: list[Event] = []
    base = Wrapped(Graph(), usage=lambda result: result["spent"])
    result = await Agent(architecture=base, watch=events.append).run("Answer.")
    assert (result.output, result.usage) == ("no", TokenUsage())
    assert [(one.error, one.skipped) for one in events if isinstance(one, Degraded)] == [
        ("KeyError: 'spent'", "the usage of this attempt")
    ]


async def test_usage_of_another_type_is_a_mistake_in_the_setup() -> None:
    with pytest.raises(ConfigError, match="it gave 'int', not a TokenUsage"):
        await run("yes", usage=len)


async def test_calls_by_the_lent_model_are_counted_once() -> None:
    async def borrow(prompt: str, *, model: Model) -> object:
        return await model_request(model, [ModelRequest.user_text_prompt(prompt)])

    result = await Agent(model=ScriptedModel(["yes"]), architecture=borrow).run("Answer.")
    assert (result.output, result.usage.requests) == ("yes", 1)


async def test_no_attempt_begins_on_a_budget_used_up() -> None:
    graph = Graph()
    learner = Reflexion(base=Wrapped(graph, output=lambda _: "no"), evaluator=lambda _: False, reflector=Taught())
    result = await Agent(architecture=learner, budget=Budget(requests=2)).run("Answer.")
    assert (len(graph.asked), result.status, result.output) == (2, "budget_exhausted", "no")
    again = await Agent(architecture=Graph(), budget=Budget(requests=1)).run("Answer.")
    assert again.output == "no"
