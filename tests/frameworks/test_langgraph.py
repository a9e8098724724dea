"""LangGraph's graphs: what they send, with their tools and threads."""

from collections.abc import Callable
from typing import Any

import pytest
from wrapping import LESSON, Provider, Taught, documented, said

from wisen import Agent, Reflexion, Wrapped
from wisen.events import Degraded, Event

pytestmark = pytest.mark.anyio
WHY = "not run here: langgraph isn't installed; make test-frameworks"
graphs: Any = pytest.importorskip("langgraph.graph", reason=WHY)
checkpoints: Any = pytest.importorskip("langgraph.checkpoint.memory", reason=WHY)
models: Any = pytest.importorskip("langchain_openai", reason=WHY)

LOOK = {"id": "1", "type": "function", "function": {"name": "stock", "arguments": '{"article": "lamp"}'}}


def says_yes(output: str) -> bool:
    return output == "yes"


def with_thread() -> Any:
    """A graph of one node, that remembers its threads."""
    model = models.ChatOpenAI(model="theirs")

    async def node(state: Any) -> Any:
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = graphs.StateGraph(graphs.MessagesState)
    graph.add_node("node", node)
    graph.add_edge(graphs.START, "node")
    return graph.compile(checkpointer=checkpoints.InMemorySaver())


async def test_the_documented_graph_keeps_its_model_and_tools_and_carries_the_lesson(
    provide: Callable[..., Provider],
) -> None:
    provider = provide({"tool_calls": [LOOK]}, "3 lamps", "Reply with the bare number.", "3", "4")
    agent = documented("langgraph")["agent"]
    result = await agent.run("How many lamps are there?")
    again = await agent.run("How many chairs are there?")
    asked, looked, reflecting, second, third = provider.bodies
    theirs = (asked, looked, second, third)
    assert (result.output, again.output, len(again.attempts)) == ("3", "4", 1)
    assert {body["model"] for body in theirs} == {"gpt-5-mini"}
    assert reflecting["model"] == "gpt-5"
    assert [[tool["function"]["name"] for tool in body["tools"]] for body in theirs] == [["stock"]] * 4
    assert [one["role"] for one in asked["messages"]] == ["system", "user"]
    assert [one["role"] for one in looked["messages"]] == ["system", "user", "assistant", "tool"]
    assert looked["messages"][3]["content"] == "3"
    for body in (second, third):
        own, advice, _ = body["messages"]
        assert (own["role"], own["content"]) == ("system", "You keep a warehouse.")
        assert advice["role"] == "system"
        assert advice["content"].startswith("<memory>\n")
        assert "Reply with the bare number." in advice["content"]
    assert (said(second, "user"), said(third, "user")) == ("How many lamps are there?", "How many chairs are there?")
    assert [one.usage.requests for one in result.attempts] == [3, 1], "the reflection belongs to the attempt before it"
    assert result.usage.total_tokens == 4 * 7


async def test_the_history_of_a_thread_is_sent_and_counted_once(provide: Callable[..., Provider]) -> None:
    provider = provide("noted", "yes")
    graph = with_thread()
    thread = {"configurable": {"thread_id": "1"}}
    await graph.ainvoke({"messages": [("user", "The captain is Ann.")]}, config=thread)
    result = await Agent(architecture=Wrapped(graph, options={"config": thread})).run("Answer the captain.")
    assert [(one["role"], one["content"]) for one in provider.bodies[1]["messages"]] == [
        ("user", "The captain is Ann."),
        ("assistant", "noted"),
        ("user", "Answer the captain."),
    ]
    assert (result.output, result.usage.requests, result.usage.total_tokens) == ("yes", 1, 7)


async def test_advice_in_the_prompt_is_nowhere_else(provide: Callable[..., Provider]) -> None:
    provider = provide("no", "yes")
    graph = with_thread()
    base = Wrapped(graph, advice_in_prompt=True, options={"config": {"configurable": {"thread_id": "1"}}})
    learner = Reflexion(base=base, evaluator=says_yes, reflector=Taught())
    await Agent(architecture=learner).run("Answer the captain.")
    last = provider.bodies[1]["messages"]
    assert [one["role"] for one in last] == ["user", "assistant", "user"]
    assert last[2]["content"].endswith("</memory>\n\nAnswer the captain.")
    assert LESSON in last[2]["content"]


async def test_a_function_around_a_graph_that_takes_no_advice_says_so(provide: Callable[..., Provider]) -> None:
    provider = provide("no")
    model = models.ChatOpenAI(model="theirs")

    async def serve(prompt: str) -> Any:
        return await model.ainvoke(prompt)

    with pytest.warns(UserWarning, match="what 'serve' learns doesn't reach it"):
        learner = Reflexion(base=serve, evaluator=says_yes, reflector=Taught(), max_attempts=2)
    events: list[Event] = []
    result = await Agent(architecture=learner, watch=events.append).run("Answer the captain.")
    assert [one.skipped for one in events if isinstance(one, Degraded)] == ["the lessons of this attempt"]
    assert [one["messages"] for one in provider.bodies] == [[{"role": "user", "content": "Answer the captain."}]] * 2
    assert (result.usage.requests, result.usage.total_tokens) == (2, 14)
