"""What a run carries with it: its meter and its trace, and the steps of a user's own that it takes once."""

from collections.abc import Awaitable, Callable

import pytest

from wisen import Agent, Budget, InMemoryVectorStore, ScriptedModel
from wisen.errors import BudgetExceededError
from wisen.json_values import encodable
from wisen.records import TokenUsage, Trace, TraceEvent
from wisen.session import Dependencies, Meter, Recorder

pytestmark = pytest.mark.anyio


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


def refused(meter: Meter) -> str:
    with pytest.raises(BudgetExceededError) as caught:
        meter.admit()
    return str(caught.value)


def test_calls_under_way_count_and_refused_ones_do_not() -> None:
    meter = Meter(Budget(requests=3), Clock())
    for _ in range(3):
        meter.admit()
    said = "budget for requests is used up: 3 of 3; raise Budget(requests=…) to go on"
    assert [refused(meter), refused(meter)] == [said, said]
    meter.settle(TokenUsage())
    meter.admit()
    assert refused(meter) == said


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (Budget(tokens=7), "tokens is used up: 7 of 7; raise Budget(tokens=…)"),
        (Budget(cost_usd=0.5), "cost_usd is used up: 0.5 of 0.5; raise Budget(cost_usd=…)"),
        (Budget(seconds=2.5), "seconds is used up: 2.5 of 2.5; raise Budget(seconds=…)"),
    ],
)
def test_a_limit_that_is_reached_is_named(budget: Budget, said: str) -> None:
    clock = Clock()
    meter = Meter(budget, clock)
    meter.admit()
    meter.settle(TokenUsage(requests=1, input_tokens=4, output_tokens=3, cost_usd=0.5))
    clock.at += 2.5
    assert refused(meter) == f"budget for {said} to go on"


def test_calls_without_a_price_are_those_that_used_tokens_and_cost_nothing() -> None:
    meter = Meter(Budget(), Clock())
    for usage, unpriced in (
        (TokenUsage(requests=1), 0),
        (TokenUsage(requests=1, input_tokens=1, cost_usd=0.1), 0),
        (TokenUsage(requests=1, input_tokens=1), 1),
        (TokenUsage(requests=1, output_tokens=1), 2),
    ):
        meter.admit()
        meter.settle(usage)
        assert meter.unpriced == unpriced


def test_what_a_worker_did_is_in_both_traces_each_by_its_own_clock() -> None:
    clock = Clock()
    whole = Recorder("t1", "the task", clock)
    assert whole.trace() == Trace(trace_id="t1", purpose="the task")
    whole.add("note", text="before any step")
    assert whole.next_step() == 1
    clock.at = 103.0
    part = whole.part("north", "a part of it")
    clock.at = 105.0
    assert part.next_step() == whole.next_step() - 1 == 2
    part.add("output", text="42")
    clock.at = 106.0
    part.part("inner", "less").add("score", score=1.0)
    before = TraceEvent(kind="note", step=1, at=0.0, data={"text": "before any step"})
    assert part.trace() == Trace(
        trace_id="t1",
        purpose="a part of it",
        events=(
            TraceEvent(kind="output", step=2, at=2.0, data={"text": "42"}),
            TraceEvent(kind="score", step=1, at=3.0, data={"worker": "inner", "score": 1.0}),
        ),
        duration_s=3.0,
    )
    assert whole.trace() == Trace(
        trace_id="t1",
        purpose="the task",
        events=(
            before,
            TraceEvent(kind="output", step=2, at=5.0, data={"worker": "north", "text": "42"}),
            TraceEvent(kind="score", step=1, at=6.0, data={"worker": "inner", "score": 1.0}),
        ),
        duration_s=6.0,
    )


def test_half_a_surrogate_pair_becomes_a_question_mark_and_nothing_else_does() -> None:
    assert encodable("a pair 🎉, half a pair \ud83d") == "a pair 🎉, half a pair ?"


class Broken(Exception):  # noqa: N818 - the process is gone
    """The process is gone."""


async def test_own_steps_are_known_again_by_their_names_and_as_they_were() -> None:
    taken: list[str] = []
    orders = [("letter", "bill"), ("bill", "letter", "bill")]

    def step(name: str) -> Callable[[], Awaitable[str]]:
        async def make() -> str:
            taken.append(name)
            return f"{name} {len(taken)} \ud83d"

        return make

    async def sends(prompt: str, deps: Dependencies) -> str:
        del prompt
        names = orders.pop(0)
        said = [await deps.once(name, step(name)) for name in names]
        if orders:
            raise Broken
        return " ".join(said)

    store = InMemoryVectorStore()
    agent = Agent(model=ScriptedModel([]), architecture=sends, memory=store)
    with pytest.raises(Broken):
        await agent.run("Send.", run_id="r")
    result = await agent.run("Send.", run_id="r")
    assert result.output == "bill 2 ? letter 1 ? bill 3 ?"
    assert taken == ["letter", "bill", "bill"]
