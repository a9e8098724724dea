"""An answer has a text, whatever it is, and none is thrown away or used up for want of one."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, cast

import pytest
from pydantic_ai import Agent as Framework
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from wisen import Agent, InMemoryVectorStore, Memory, ReAct
from wisen.answer_text import output_text
from wisen.integrations.agent_run import AgentMemory
from wisen.integrations.pydantic_ai_lessons import Lessons

pytestmark = pytest.mark.anyio


class Frame:
    """An object that nothing but Python knows."""

    def __init__(self, rows: int) -> None:
        self.rows = rows


class Said(Frame):
    """One that says what it is."""

    def __str__(self) -> str:
        return f"{self.rows} rows"


class Silent(Frame):
    """One that can't even say that."""

    def __str__(self) -> str:
        raise OSError


@dataclass
class Held:
    frame: Frame


def rows() -> Iterator[int]:
    yield 3


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("yes", "yes"),
        ({"rows": 3}, '{"rows":3}'),
        (None, "null"),
        (Said(3), "3 rows"),
        (Frame(3), '{"rows":3}'),
        ({"frame": Said(3), "other": object()}, '{"frame":"3 rows","other":null}'),
        (Held(Frame(3)), '{"frame":{"rows":3}}'),
        (b"\xff", "_w=="),
        (range(3), "range(0, 3)"),
        (Silent(3), ""),
        (object(), ""),
        (rows, ""),
        (rows(), ""),
    ],
    ids=count(),
)
def test_an_answer_is_told_as_far_as_it_can_be(answer: object, text: str) -> None:
    assert output_text(answer) == text


def test_an_answer_that_refers_to_itself_is_no_error() -> None:
    answer: list[Any] = [Frame(3)]
    answer[0].rows = answer
    assert isinstance(output_text(answer), str)


def test_a_stream_is_left_to_its_reader() -> None:
    stream = rows()
    assert output_text({"stream": [stream]}) == ""
    assert list(stream) == [3]


def likes(output: str) -> bool:
    """An evaluator to which all is the same."""
    del output
    return True


ANSWERS = [Frame(3), {"frame": Frame(3)}, b"\xff", rows()]


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda one: type(one).__name__)
def test_what_a_function_returns_reaches_its_caller(answer: object) -> None:
    store = InMemoryVectorStore()
    with Memory(store, evaluator=likes) as memory:

        @memory.learns()
        def work(task: str, advice: str) -> object:
            del task, advice
            return answer

        assert work("Make a table.") is answer


async def test_an_open_stream_is_not_judged() -> None:
    store, asked = InMemoryVectorStore(), list[str]()

    def judge(output: str) -> bool:
        asked.append(output)
        return False

    with Memory(store, evaluator=judge) as memory:

        @memory.learns()
        def work(task: str, advice: str) -> Iterator[int]:
            del task, advice
            return rows()

        assert list(work("Make a table.")) == [3]
    (record,) = await store.runs()
    assert (asked, record.output, record.score, record.status) == ([], "", None, "unevaluated")


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda one: type(one).__name__)
async def test_what_another_frameworks_agent_answers_is_no_error_of_memory(answer: object) -> None:
    store = InMemoryVectorStore()
    run = AgentMemory(store, timeout=30.0, evaluator=likes).run()
    await run.advice("Make a table.", [])
    await run.answered(answer)
    (record,) = await store.runs()
    assert record.output == output_text(answer)


def frame(rows: int) -> Any:  # pydantic-ai warns of a type that has no schema
    """Give the table."""
    return Frame(rows)


def calling_the_output_tool() -> FunctionModel:
    return FunctionModel(
        lambda _, info: ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, {"rows": 3})]),
    )


async def test_an_output_function_may_give_any_object() -> None:
    agent = Agent(model=calling_the_output_tool(), architecture=ReAct(output_type=cast("Any", frame)))
    result = await agent.run("Make a table.")
    assert result.output == '{"rows":3}'
    assert isinstance(result.structured, Frame)


async def test_an_agent_with_lessons_gives_any_object() -> None:
    agent = Framework(calling_the_output_tool(), output_type=frame, capabilities=[Lessons(InMemoryVectorStore())])
    assert isinstance((await agent.run("Make a table.")).output, Frame)
