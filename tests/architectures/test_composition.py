"""ReAct, Supervisor and wrapped callables, alone and inside one another."""

import asyncio

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent as ProviderAgent

from wisen import (
    Agent,
    Budget,
    InMemoryVectorStore,
    MemoryCI,
    ReAct,
    Reflexion,
    ScriptedModel,
    Supervisor,
    Task,
    ToolCall,
    Wrapped,
)
from wisen.errors import ConfigError, ModelError
from wisen.events import Event, TextDelta, ToolCalled, ToolReturned, WorkerCompleted, WorkerEvent, WorkerStarted
from wisen.session import AgentSession

pytestmark = pytest.mark.anyio


def times(a: int, b: int) -> int:
    """Multiply two numbers."""
    return a * b


async def test_react_calls_tools_until_the_answer() -> None:
    events: list[Event] = []
    model = ScriptedModel([ToolCall("times", a=6, b=7), "It is 42."])
    result = await Agent("Use tools.", model=model, tools=[times], watch=events.append).run("Six times seven?")
    assert result.output == "It is 42."
    called = next(event for event in events if isinstance(event, ToolCalled))
    returned = next(event for event in events if isinstance(event, ToolReturned))
    assert (called.tool, returned.result, returned.failed) == ("times", "42", False)
    assert [event.kind for event in result.trace.events if event.kind != "model_call"] == [
        "action",
        "observation",
        "output",
    ]
    assert result.record.turns == 2


async def test_react_validates_structured_output() -> None:
    class City(BaseModel):
        name: str
        people: int

    model = ScriptedModel(['{"name": "Oslo", "people": 709000}'])
    result = await Agent(model=model, architecture=ReAct(output_type=City)).run("Capital of Norway?")
    assert result.structured == City(name="Oslo", people=709000)
    assert result.output == '{"name":"Oslo","people":709000}'


async def test_react_stops_at_max_turns() -> None:
    model = ScriptedModel([["thinking", ToolCall("times", a=1, b=1)] for _ in range(9)])
    result = await Agent(model=model, architecture=ReAct(max_turns=3), tools=[times]).run("Loop.")
    assert len(model.calls) == 3
    assert result.output == "thinking"


async def test_attempt_that_its_base_breaks_off_ends_the_run_and_is_kept() -> None:
    async def half(prompt: str, advice: str, session: AgentSession) -> str:
        del advice
        session.interrupted, session.interruption_reason = True, "the user left"
        return f"half of: {prompt}"

    result = await Agent(model=ScriptedModel([]), architecture=Reflexion(base=half)).run("Work.")
    assert (result.output, result.status, len(result.attempts)) == ("half of: Work.", "unevaluated", 1)
    assert result.record.degradations == ("attempt: Interrupted: the user left",)


async def test_task_narrows_the_tools() -> None:
    def plus(a: int, b: int) -> int:
        return a + b

    model = ScriptedModel(["done"])
    agent = Agent(model=model, tools=[times, plus])
    await agent.run(Task(prompt="Add.", tools=("plus",)))
    assert model.calls[0].tools == ("plus",)
    with pytest.raises(ConfigError, match="task asks for tools"):
        await agent.run(Task(prompt="Add.", tools=("minus",)))


async def test_stream_shows_text_as_it_comes() -> None:
    agent = Agent(model=ScriptedModel(["one two three"]))
    events = [event async for event in agent.stream("Count.")]
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "one two three"
    assert events[0].name == "run.started"
    assert events[-1].name == "run.completed"


async def test_leaving_a_stream_cancels_the_run() -> None:
    ended = asyncio.Event()

    async def endless(prompt: str, advice: str) -> str:
        del advice
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return prompt

    stream = Agent(model=ScriptedModel([]), architecture=Reflexion(base=endless)).stream("Wait.")
    async for event in stream:
        if event.name == "reflexion.attempt_started":
            break
    await stream.aclose()  # type: ignore[attr-defined]
    assert ended.is_set()


async def test_stream_raises_what_ended_the_run() -> None:
    agent = Agent(model=ScriptedModel([ModelError("scripted", "is gone")]))
    with pytest.raises(ModelError, match="is gone"):
        _ = [event async for event in agent.stream("Do it.")]


async def test_supervisor_delegates_and_shares_the_budget() -> None:
    events: list[Event] = []
    researcher = Agent("You research.", model=ScriptedModel(["Ferries leave at nine."]))
    boss = ScriptedModel([ToolCall("delegate", worker="researcher", instructions="When do ferries leave?"), "At nine."])
    agent = Agent(model=boss, architecture=Supervisor({"researcher": researcher}), watch=events.append)
    result = await agent.run("Plan my trip.")
    assert result.output == "At nine."
    assert result.usage.requests == 3
    assert list(agent.declared_workers()) == ["researcher"]
    assert [event.worker for event in events if isinstance(event, WorkerStarted | WorkerCompleted)] == [
        "researcher"
    ] * 2
    limited = await agent.run(
        "Plan my trip.",
        model=ScriptedModel([ToolCall("delegate", worker="researcher", instructions="When?"), "At nine."]),
        budget=Budget(requests=1),
    )
    assert limited.status == "budget_exhausted"


async def test_unknown_and_failing_workers_are_told_to_the_supervisor() -> None:
    broken = Agent(model=ScriptedModel([ModelError("scripted", "is gone")]))
    boss = ScriptedModel(
        [
            [
                ToolCall("delegate", worker="nobody", instructions="?"),
                ToolCall("delegate", worker="broken", instructions="?"),
            ],
            "I did it alone.",
        ]
    )
    events: list[Event] = []
    result = await Agent(model=boss, architecture=Supervisor({"broken": broken}), watch=events.append).run("Do it.")
    assert result.output == "I did it alone."
    results = [event.result for event in events if isinstance(event, ToolReturned)]
    assert results[0].startswith("There is no worker 'nobody'")
    assert "failed" in results[1]


async def test_advice_reaches_supervisor_and_workers() -> None:
    writer_model = ScriptedModel(["a draft", "a better draft"])
    writer = Agent("You write.", model=writer_model)
    delegation = ToolCall("delegate", worker="writer", instructions="Write it.")
    boss = ScriptedModel([delegation, "bad", "Mention the tide tables.", delegation, "good"])
    agent = Agent(
        model=boss,
        architecture=Reflexion(base=Supervisor({"writer": writer}), max_attempts=2),
        evaluator=lambda output: output == "good",
    )
    result = await agent.run("Write about ferries.")
    assert result.output == "good"
    assert list(agent.declared_workers()) == ["writer"]
    assert "Mention the tide tables." not in writer_model.calls[0].system
    assert "Mention the tide tables." in writer_model.calls[1].system
    assert all("Mention the tide tables." in call.system for call in boss.calls[3:])


async def test_reflexion_worker_inside_a_supervisor_learns_by_itself() -> None:
    store = InMemoryVectorStore()
    worker = Agent(
        "You write.",
        model=ScriptedModel(["41", "Count from zero.", "42"]),
        architecture=Reflexion(lesson_store=MemoryCI(store, trust="screened")),
        evaluator=lambda output: output == "42",
    )
    boss = ScriptedModel([ToolCall("delegate", worker="counter", instructions="Count."), "It is 42."])
    events: list[Event] = []
    result = await Agent(model=boss, architecture=Supervisor({"counter": worker}), watch=events.append).run("Count.")
    assert result.output == "It is 42."
    inside = [event.event.name for event in events if isinstance(event, WorkerEvent)]
    assert inside.count("reflexion.attempt_started") == 2
    assert len(result.attempts) == 1


async def test_advice_of_nested_reflexions_adds_up() -> None:
    model = ScriptedModel(["40", "Inner lesson.", "41", "Outer lesson.", "42"])
    scores = {"40": 0.1, "41": 0.5, "42": 1.0}
    inner = Reflexion(max_attempts=2, threshold=0.4, lessons_block_name="inner")
    agent = Agent(
        model=model, architecture=Reflexion(base=inner, max_attempts=2), evaluator=lambda output: scores[output]
    )
    result = await agent.run("Count.")
    assert result.output == "42"
    last = model.calls[-1].system
    assert "Inner lesson." in last
    assert "Outer lesson." in last


async def test_provider_agent_as_base_gets_model_and_advice() -> None:
    other = ProviderAgent(system_prompt="You are another framework.")
    model = ScriptedModel(["41", "Add one.", "42"])
    agent = Agent(model=model, architecture=Reflexion(base=other), evaluator=lambda output: output == "42")
    result = await agent.run("How many?")
    assert result.output == "42"
    assert result.attempts[1].advice_delivered
    assert "Add one." in model.calls[2].system


async def test_function_base_may_take_model_and_session() -> None:
    async def work(prompt: str, *, session: object, deps: object, model: object) -> str:
        assert all((session, deps, model))
        return prompt.upper()

    result = await Agent(model=ScriptedModel([]), architecture=work).run("shout")
    assert (result.output, result.record.architecture) == ("SHOUT", "work")


async def test_wrapped_reads_common_results_and_refuses_others() -> None:
    async def number(prompt: str) -> object:
        return len(prompt)

    with pytest.raises(ConfigError, match="holds no text"):
        await Agent(model=ScriptedModel([]), architecture=number).run("12345")
    lengths = Wrapped(number, output=str, name="length")
    result = await Agent(model=ScriptedModel([]), architecture=lengths).run("12345")
    assert (result.output, result.record.architecture) == ("5", "length")
    with pytest.raises(ConfigError, match="neither callable"):
        Wrapped(3)


def test_supervisor_needs_workers() -> None:
    with pytest.raises(ConfigError, match="at least one worker"):
        Supervisor({})
    with pytest.raises(ConfigError, match="not an Agent"):
        Supervisor({"x": 3})  # type: ignore[dict-item]


def test_run_sync_is_for_code_without_a_loop() -> None:
    assert Agent(model=ScriptedModel(["done"])).run_sync("Do it.").output == "done"


async def test_run_sync_inside_a_loop_says_what_to_do() -> None:
    with pytest.raises(ConfigError, match=r"await agent\.run\(\)"):
        Agent(model=ScriptedModel(["done"])).run_sync("Do it.")


async def test_empty_prompt_is_refused() -> None:
    with pytest.raises(ConfigError, match="prompt is empty"):
        await Agent(model=ScriptedModel(["done"])).run("  ")
