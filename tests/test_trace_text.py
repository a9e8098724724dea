"""What judges and reflectors are told of what an agent did, and in how many words."""

import re
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import ModelRetry

from wisen import Agent, ReAct, ReflectionPattern, Reflexion, ScriptedModel, Supervisor, ToolCall
from wisen.evaluation.criteria import CriteriaEvaluator
from wisen.evaluation.quoting import to_grade
from wisen.records import Trace, TraceEvent
from wisen.trace_text import ACCOUNT, account_of, clipped

pytestmark = pytest.mark.anyio

DONE = """\
action: search({"query": "tides"})
observation of search: found tides
action: search({"query": "bad"})
error of search: {"error":"no such page"}"""


def search(query: str) -> str:
    """Look something up."""
    if query == "bad":
        raise ModelRetry("no such page")
    return f"found {query}"


def trace_of(*events: tuple[Any, dict[str, object]]) -> Trace:
    made = tuple(TraceEvent(kind=kind, step=at, at=0.0, data=data) for at, (kind, data) in enumerate(events, 1))
    return Trace(trace_id="t", purpose="p", events=made)


def quoted(prompt: str, what: str) -> str:
    """The text of a part that a prompt quotes; "" where it has none."""
    begun = prompt.partition(f"[begin {what} ")[2].partition("]\n")[2]
    return begun.partition(f"\n[end {what} ")[0]


async def test_judge_and_reflector_see_what_the_tools_were_asked_and_answered() -> None:
    calls = [ToolCall("search", query="tides"), ToolCall("search", query="bad")]
    model = ScriptedModel(
        [
            *calls,
            "Tides rise.",
            "score: 0.2",
            "Search for the month.",
            ToolCall("search", query="May"),
            "At 8.",
            "score: 1",
        ]
    )
    await Agent(model=model, architecture=Reflexion(lesson_store=None), tools=[search]).run("When is high tide?")
    judge, reflector, again = model.calls[3].prompt, model.calls[4].prompt, model.calls[7].prompt
    assert quoted(judge, "what the agent did") == DONE
    assert quoted(judge, "output") == "Tides rise."
    assert quoted(reflector, "what the agent did") == DONE
    assert quoted(reflector, "answer") == "Tides rise."
    assert quoted(again, "what the agent did") == 'action: search({"query": "May"})\nobservation of search: found May'


async def test_a_review_under_criteria_sees_it_too_also_of_a_revision() -> None:
    review = '{"issues": ["short"], "suggestions": [], "scores": {"clarity": %s}, "confidence": 1}'
    critic = ScriptedModel([review % 0.2, review % 0.9])
    pattern = ReflectionPattern(evaluator=CriteriaEvaluator(["clarity"], model=critic), max_iterations=1)
    model = ScriptedModel([ToolCall("search", query="tides"), "Tides.", "Tides rise."], name="writer")
    await Agent(model=model, architecture=pattern, tools=[search]).run("Explain.")
    told = [quoted(call.prompt, "what the agent did") for call in critic.calls]
    assert told == ['action: search({"query": "tides"})\nobservation of search: found tides'] * 2


async def test_a_run_without_tools_has_the_prompts_that_it_had() -> None:
    model = ScriptedModel(["Tides rise.", "score: 0.2", "Say when.", "At 8.", "score: 1"])
    await Agent(model=model, architecture=Reflexion(lesson_store=None)).run("When?")
    assert model.calls[1].prompt == to_grade("When?", "Tides rise.", "Grade the output.").text
    assert "what the agent did" not in model.calls[2].prompt


async def test_workers_have_accounts_of_their_own() -> None:
    looks: list[Any] = [ToolCall("search", query="tides"), "At 8."]
    found: list[str] = []

    def judge(_task: object, _output: object, trace: Trace) -> bool:
        found.append(account_of(trace))
        return True

    worker = Agent(
        model=ScriptedModel(looks), architecture=Reflexion(lesson_store=None), tools=[search], evaluator=judge
    )
    boss = ScriptedModel([ToolCall("delegate", worker="clerk", instructions="Look."), "It is at 8."])
    architecture = Reflexion(base=Supervisor(workers={"clerk": worker}), lesson_store=None)
    result = await Agent(model=boss, architecture=architecture, evaluator=judge).run("When?")
    assert found == [
        'action: search({"query": "tides"})\nobservation of search: found tides',
        'action: delegate({"worker": "clerk", "instructions": "Look."})\nobservation of delegate: At 8.',
    ]
    named = [event.data.get("worker") for event in result.trace.events if event.data.get("name") == "search"]
    assert named == ["clerk", "clerk"]


async def test_who_says_what_is_wrong_sees_it_too() -> None:
    scores = '{"correctness": 0.2, "completeness": 0.2, "clarity": 0.2}'
    review = f'{{"issues": ["short"], "suggestions": [], "scores": {scores}, "confidence": 1}}'
    critic = ScriptedModel([review])
    pattern = ReflectionPattern(evaluator=lambda output: output == "At 8.", reflection_model=critic, max_iterations=1)
    model = ScriptedModel([ToolCall("search", query="tides"), "Tides.", "At 8."], name="writer")
    await Agent(model=model, architecture=pattern, tools=[search]).run("When?")
    told = quoted(critic.calls[0].prompt, "what the agent did")
    assert told == 'action: search({"query": "tides"})\nobservation of search: found tides'


class Tide(BaseModel):
    hour: int


async def test_an_answer_given_by_a_tool_call_is_no_deed() -> None:
    events: tuple[tuple[Any, dict[str, object]], ...] = (
        ("action", {"name": "final_result", "params": {"hour": 8}}),
        ("observation", {"name": "final_result", "text": "Final result processed."}),
        ("output", {"text": Tide(hour=8).model_dump_json()}),
    )
    assert account_of(trace_of(*events)) == ""
    assert account_of(trace_of(("action", {"name": "look", "params": {}}), *events)) == "action: look({})"


def save_order(number: int) -> str:
    """Save."""
    if number == 7:
        raise ModelRetry("order 7 is locked")
    return "saved"


async def test_a_tool_that_was_called_with_what_the_answer_says_has_done_it() -> None:
    replies = [ToolCall("save_order", number=7), ToolCall("save_order", number=8), '{"number": 8}']
    result = await Agent(model=ScriptedModel(replies), tools=[save_order]).run("Save orders 7 and 8.")
    first, failed, second, saved = result.attempts[0].did.splitlines()
    assert (first, second) == ('action: save_order({"number": 7})', 'action: save_order({"number": 8})')
    assert "order 7 is locked" in failed
    assert saved == "observation of save_order: saved"


async def test_an_agent_that_answers_in_a_structure_has_done_what_came_before() -> None:
    replies = [ToolCall("search", query="tides"), ToolCall("final_result", hour=8)]
    made = Agent(model=ScriptedModel(replies), tools=[search], architecture=ReAct(output_type=Tide))
    result = await made.run("When?")
    assert (result.output, result.attempts[0].did.count("action")) == ('{"hour":8}', 1)
    assert "final_result" not in result.attempts[0].did


@pytest.mark.parametrize("much", [0, 300, 100_000])
@pytest.mark.parametrize("before", [700, 744, 746, 748, 750, 752, 755, 760, 2_745, 2_750, 2_755])
def test_what_is_to_be_taken_out_is_so_wherever_the_middle_is_cut(before: int, much: int) -> None:
    """The word after a label is a secret; neither half of a text by itself says so."""
    text = f"{'x ' * (before // 2)}password: zebra {'y ' * (much // 2)}password: zebra {'z ' * (before // 2 - 8)}"
    action: tuple[Any, dict[str, object]] = ("action", {"name": "read", "params": {}})
    account = account_of(trace_of(action, ("observation", {"name": "read", "text": text})), clean=without_secrets)
    assert "zebra" not in account
    assert len(account) < 1_600


def test_what_is_left_out_does_not_come_near_because_much_beside_it_is_taken_out() -> None:
    looked_at = 2_750
    rest = f"zebra password: {'w' * (looked_at - 17)} "
    text = f"{'x ' * 4_000}password: {rest}"
    assert len(rest) == looked_at
    action: tuple[Any, dict[str, object]] = ("action", {"name": "read", "params": {}})
    account = account_of(trace_of(action, ("observation", {"name": "read", "text": text})), clean=without_secrets)
    assert "zebra" not in account


def without_secrets(texts: list[str]) -> list[str]:
    return [re.sub(r"password: \w+", "password: ?", text) for text in texts]


def test_errors_of_wisens_own_are_no_deeds() -> None:
    look: tuple[Any, dict[str, object]] = ("action", {"name": "look", "params": {}})
    assert account_of(trace_of(look, ("error", {"stage": "recall", "error": "StoreError"}))) == "action: look({})"
    assert account_of(trace_of(("error", {"stage": "recall", "error": "StoreError"}))) == ""
    assert account_of(trace_of(("observation", {"name": "look", "text": "a page"}))) == ""


def test_of_much_the_errors_and_both_ends_are_kept() -> None:
    events: list[tuple[Any, dict[str, object]]] = []
    for number in range(100):
        events.append(("action", {"name": "read", "params": {"page": number}}))
        kind = "error" if number == 50 else "observation"
        events.append((kind, {"name": "read", "text": f"page {number} " + "x" * 400}))
    account = account_of(trace_of(*events))
    assert 0.8 * ACCOUNT < len(account) <= ACCOUNT
    assert account.startswith('action: read({"page": 0})\nobservation of read: page 0 x')
    assert "page 99 x" in account
    assert 'action: read({"page": 50})\nerror of read: page 50 x' in account
    assert account.count(" more …]") == 2  # before the error, and after it
    missing = sum(int(line.split()[1]) for line in account.splitlines() if line.startswith("[… "))
    assert missing + sum(line.startswith(("action", "observation", "error")) for line in account.splitlines()) == 200


@pytest.mark.parametrize("longest", [40, 400, 6_000])
@pytest.mark.parametrize("size", [10, 100_000])
def test_an_account_has_a_bound(longest: int, size: int) -> None:
    action: tuple[Any, dict[str, object]] = ("action", {"name": "a", "params": {"x": "x" * size}})
    error: tuple[Any, dict[str, object]] = ("error", {"name": "a", "text": "y" * size})
    assert len(account_of(trace_of(*[action, error] * 30), longest)) <= max(longest, 60)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("one two three four five six seven eight", "one two\n[…]\neight"),
        ('{"one":"two","three":"four"}', '{"one":"\n[…]\n":"four"}'),
        ("a" * 100, "a" * 10 + "\n[…]\n" + "a" * 10),
        ("one two three four ", "one two three four"),
        ("one two th ree fou four fiv", "one two th\n[…]\nfour fiv"),
    ],
)
def test_no_word_is_cut_but_one_that_is_the_whole_text(text: str, kept: str) -> None:
    assert clipped(text, 20) == kept
