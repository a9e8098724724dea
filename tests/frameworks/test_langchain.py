"""Lessons for LangChain's agents: what reaches the provider, and what the memory makes of it."""

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
    PATIENCE,
    PROMPT,
    Counting,
    attempts,
    bad_store,
    in_use,
    kept,
    learned,
    not_for_ever,
    searches_of_one_attempt,
    trusted,
    wants_a_number,
    without_advice,
)
from wrapping import Provider, documented, said

from wisen import Memory

pytestmark = pytest.mark.anyio
WHY = "not run here: langchain isn't installed; make test-frameworks"
agents: Any = pytest.importorskip("langchain.agents", reason=WHY)
models: Any = pytest.importorskip("langchain_openai", reason=WHY)
types: Any = pytest.importorskip("langgraph.types", reason=WHY)
middlewares: Any = pytest.importorskip("langchain.agents.middleware", reason=WHY)
checkpoints: Any = pytest.importorskip("langgraph.checkpoint.memory", reason=WHY)
adapter: Any = pytest.importorskip("wisen.integrations.langchain_lessons", reason=WHY)
Lessons = adapter.Lessons
Provide = Callable[..., Provider]
ASKED = {"messages": [("user", PROMPT)]}
BAD_CALL = {"id": "1", "type": "function", "function": {"name": "stock", "arguments": '{"thing": "lamps"}'}}
"""Its arguments aren't the tool's: the error that LangChain tells the model of."""
ARTICLE = "Invoking stock, name the field article: it is required."


def stock(article: str) -> int:
    """How many pieces of an article are in stock."""
    if article == "lamps":
        raise ZeroDivisionError("no such article")
    return 3


def keeper(*middleware: Any, **options: Any) -> Any:
    model = models.ChatOpenAI(model="theirs", max_retries=0)
    return agents.create_agent(
        model, tools=[stock], system_prompt="You keep a warehouse.", middleware=list(middleware), **options
    )


async def test_the_documented_agent_carries_the_lesson_of_its_first_run(
    provide: Provide, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    provider = provide("3 lamps", "3")
    names = documented("langchain")
    first = await names["agent"].ainvoke(ASKED)
    names["told"](first, 0.0, FEEDBACK)
    names["agent"].invoke(ASKED)
    before, after = provider.bodies
    assert FEEDBACK not in str(before)
    assert said(after, "system").startswith("You keep a warehouse.\n\n<memory>\n")
    assert FEEDBACK in said(after, "system")
    assert without_advice(after) == without_advice(before)


@pytest.mark.parametrize("sync", [True, False])
async def test_prompts_messages_and_tools_are_sent_as_without_memory(provide: Provide, sync: bool) -> None:
    plain = provide({"tool_calls": [BAD_CALL]}, {"tool_calls": [AGAIN]}, "3")
    await keeper().ainvoke(ASKED)
    provider = provide({"tool_calls": [BAD_CALL]}, {"tool_calls": [AGAIN]}, "3")
    lessons = Lessons(trusted())
    in_use(lessons.memory)
    agent = keeper(lessons)
    result = await asyncio.to_thread(agent.invoke, ASKED) if sync else await agent.ainvoke(ASKED)
    assert all(FEEDBACK in said(body, "system") for body in provider.bodies)
    assert len({said(body, "system") for body in provider.bodies}) == 1, "the advice is the same for a whole run"
    assert [without_advice(body) for body in provider.bodies] == [without_advice(body) for body in plain.bodies]
    assert [one.type for one in result["messages"]] == ["human", "ai", "tool", "ai", "tool", "ai"]


async def test_without_instructions_the_advice_is_the_system_message(provide: Provide) -> None:
    provider = provide("3")
    lessons = Lessons(trusted())
    in_use(lessons.memory)
    await agents.create_agent(models.ChatOpenAI(model="theirs"), middleware=[lessons]).ainvoke(ASKED)
    assert [one["role"] for one in provider.bodies[0]["messages"]] == ["system", "user"]
    assert said(provider.bodies[0], "system").startswith("<memory>")


async def test_where_nothing_fits_nothing_is_sent(provide: Provide) -> None:
    plain = provide("3")
    await keeper().ainvoke(ASKED)
    provider = provide("3")
    await keeper(Lessons(trusted())).ainvoke(ASKED)
    assert provider.bodies == plain.bodies


@pytest.mark.parametrize("sync", [True, False])
async def test_what_fits_a_tool_s_error_is_told_with_it(provide: Provide, sync: bool) -> None:
    provider = provide({"tool_calls": [BAD_CALL]}, {"tool_calls": [AGAIN]}, "3")
    lessons = Lessons(trusted(), top_k=1)
    in_use(lessons.memory, at_tool=ARTICLE)
    agent = keeper(lessons)
    result = await asyncio.to_thread(agent.invoke, ASKED) if sync else await agent.ainvoke(ASKED)
    asked, failed, worked = provider.bodies
    assert ARTICLE not in str(asked)
    assert "Error invoking tool" in said(failed, "tool")
    assert ARTICLE in said(failed, "tool")
    assert said(worked, "tool").count(ARTICLE) == 1, "a call that works needs no lesson"
    record = kept(lessons.memory, result["lessons_attempt_id"]).attempts[0]
    assert [(one.shown, one.draw) for one in record.injections] == [(True, ""), (True, "")]


async def test_the_attempt_has_the_run_s_task_tools_and_answer(provide: Provide) -> None:
    provide({"tool_calls": [AGAIN]}, "3")
    store = Counting()
    lessons = Lessons(store, evaluator=str.isdigit)
    result = await keeper(lessons).ainvoke(ASKED)
    record = kept(lessons.memory, result["lessons_attempt_id"])
    assert (record.task.prompt, record.task.tools, record.output) == (PROMPT, ("stock",), "3")
    assert (record.status, record.score, record.attempts[0].used) == ("satisfied", 1.0, ("stock",))
    assert store.searches == searches_of_one_attempt(), "a run recalls once, however many model calls it makes"


@pytest.mark.parametrize("sync", [True, False])
async def test_streams_carry_the_lesson_and_end_the_attempt(provide: Provide, sync: bool) -> None:
    plain = provide("3 lamps and 4 chairs")
    expected = [one.text async for one, _ in keeper().astream(ASKED, stream_mode="messages")]
    provider = provide("3 lamps and 4 chairs")
    lessons = Lessons(trusted(), evaluator=str.isdigit)
    in_use(lessons.memory)
    if sync:
        agent = keeper(lessons)
        got = await asyncio.to_thread(lambda: [one.text for one, _ in agent.stream(ASKED, stream_mode="messages")])
    else:
        got = [one.text async for one, _ in keeper(lessons).astream(ASKED, stream_mode="messages")]
    assert got == expected
    assert len(got) > 3
    assert FEEDBACK in said(provider.bodies[0], "system")
    assert without_advice(provider.bodies[0]) == without_advice(plain.bodies[0])
    assert [(one.output, one.score) for one in attempts(lessons.memory)] == [("3lampsand4chairs", 0.0)]


@pytest.mark.parametrize("sync", [True, False])
@pytest.mark.parametrize(("reply", "failure"), [({"status": 400}, "400"), ({"tool_calls": [LOOK]}, "ZeroDivision")])
async def test_an_error_of_model_or_tool_is_an_outcome_and_passes_on(
    provide: Provide, reply: dict[str, Any], failure: str, sync: bool
) -> None:
    provide(reply)
    lessons = Lessons(trusted())
    agent = keeper(lessons)
    with pytest.raises(Exception, match=r"400|no such article"):
        await (asyncio.to_thread(agent.invoke, ASKED) if sync else agent.ainvoke(ASKED))
    (record,) = attempts(lessons.memory)
    assert (record.status, record.score) == ("unsatisfied", 0.0)
    assert failure in record.attempts[0].failure


async def test_what_is_retried_inside_is_no_failure(provide: Provide) -> None:
    provide({"status": 503}, "3")
    lessons = Lessons(trusted(), evaluator=str.isdigit)
    retry = middlewares.ModelRetryMiddleware(max_retries=1, initial_delay=0.0, jitter=False)
    await keeper(lessons, retry).ainvoke(ASKED)
    assert [(one.output, one.score) for one in attempts(lessons.memory)] == [("3", 1.0)]


async def test_a_run_that_waits_for_a_person_goes_on_as_the_same_attempt(provide: Provide) -> None:
    def ask(question: str) -> str:
        """Ask a person."""
        return types.interrupt(question)

    call = {"id": "1", "type": "function", "function": {"name": "ask", "arguments": '{"question": "how many?"}'}}
    provider = provide({"tool_calls": [call]}, "3")
    lessons = Lessons(trusted(), evaluator=str.isdigit)
    in_use(lessons.memory)
    model, thread = models.ChatOpenAI(model="theirs"), {"configurable": {"thread_id": "1"}}
    agent = agents.create_agent(model, tools=[ask], middleware=[lessons], checkpointer=checkpoints.InMemorySaver())
    waiting = await agent.ainvoke(ASKED, config=thread)
    assert attempts(lessons.memory) == []
    done = await agent.ainvoke(types.Command(resume="3"), config=thread)
    assert done["lessons_attempt_id"] == waiting["lessons_attempt_id"]
    assert len({said(body, "system") for body in provider.bodies}) == 1
    assert [(one.output, one.score) for one in attempts(lessons.memory)] == [("3", 1.0)]
    another = await agent.ainvoke(ASKED, config=thread)
    assert another["lessons_attempt_id"] != done["lessons_attempt_id"], "the next run of a thread is another attempt"


async def test_a_tool_s_error_is_part_of_what_was_learned(provide: Provide) -> None:
    provide({"tool_calls": [BAD_CALL]}, {"tool_calls": [AGAIN]}, "3 lamps")
    lessons = Lessons(trusted(), evaluator=wants_a_number)
    await keeper(lessons).ainvoke(ASKED)
    (card,) = learned(lessons.memory)
    assert FEEDBACK in card.content
    assert "article: Field required" in card.situation.error
    assert card.situation.tools == ("stock",)


async def test_runs_side_by_side_are_attempts_of_their_own(provide: Provide) -> None:
    provide("3")
    with Memory(trusted()) as memory:
        agent = keeper(Lessons(memory))
        asked = [{"messages": [("user", f"{PROMPT} On shelf {number}?")]} for number in range(12)]
        results = await asyncio.gather(*(agent.ainvoke(one) for one in asked))
        ids = {one["lessons_attempt_id"] for one in results}
        assert len(ids) == len({kept(memory, one).task.prompt for one in ids}) == 12


@pytest.mark.parametrize("sync", [True, False])
@pytest.mark.parametrize("bad", BAD_STORES)
async def test_no_failure_of_memory_fails_or_delays_the_run(
    provide: Provide, bad: str, sync: bool, tmp_path: Path
) -> None:
    plain = provide({"tool_calls": [BAD_CALL]}, {"tool_calls": [AGAIN]}, "3")
    await keeper().ainvoke(ASKED)
    provider = provide({"tool_calls": [BAD_CALL]}, {"tool_calls": [AGAIN]}, "3")
    with bad_store(bad, tmp_path) as store:
        agent = keeper(Lessons(store, timeout=PATIENCE))
        with not_for_ever():
            result = await (asyncio.to_thread(agent.invoke, ASKED) if sync else agent.ainvoke(ASKED))
    assert result["messages"][-1].text == "3"
    assert provider.bodies == plain.bodies
