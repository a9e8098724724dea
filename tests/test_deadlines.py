"""Whatever hangs, a run ends at its deadline with its finished answer, and says what it was waiting for."""

import asyncio
import gc
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from types import FunctionType
from typing import Any

import pytest
from hanging import (
    ASYNC,
    PLAIN,
    Hang,
    HangingEvaluator,
    HangingModel,
    Hangs,
    agent_with,
    holds_the_interpreter,
    model,
    says_paris,
    sleeps,
    waits,
    wont_be_cancelled,
)

from wisen import Agent, Budget, InMemoryVectorStore, Reflexion, RegexEvaluator, ScriptedModel, deadlines
from wisen.errors import ConfigError, ModelError
from wisen.evaluation.checks import JsonSchemaEvaluator
from wisen.evaluation.function import FunctionEvaluator
from wisen.events import Degraded, Event, RunCompleted
from wisen.records import ReflectionEvaluation, Task, Trace
from wisen.run import RunResult
from wisen.threads import DaemonThreads, in_thread

pytestmark = pytest.mark.anyio
SECONDS = 1.0
LOAD = 10.0
"""Seconds that a machine with much to do may take beyond a deadline; what hangs here does so for days."""
NAMED = {
    "model": "model 'scripted' (attempt)",
    "tool": "tool 'tool'",
    "plain tool": "tool 'plain_tool'",
    "evaluator": "evaluator 'hanging'",
    "function": "evaluator 'check'",
    "judge": "model 'scripted' (evaluate)",
    "reflector": "reflector HangingReflector",
    "embedder": "embedder ",
    "store, searched": "store HangingStore",
    "store, written": "store HangingStore",
    "store of runs": "store HangingStore",
    "ranker": "ranker 'hanging'",
    "screen": "screen 'hanging'",
    "watcher": "the watcher",
    "callback": "the callback on_escalation",
    "base": "agent 'base'",
}
NO_ANSWER = ("model", "tool", "plain tool", "base")
"""Parts without which a first attempt has no answer."""
AFTER_ALL = ("store of runs",)
"""Parts that are called when the run is over: it hasn't run out of anything."""


def works() -> bool:
    """Whether the process goes on working."""
    return Agent(model=ScriptedModel(["fine"])).run_sync("Go on.").output == "fine"


def timed(run: Callable[[], RunResult]) -> tuple[RunResult, float]:
    began = time.monotonic()
    result = run()
    return result, time.monotonic() - began


@pytest.mark.parametrize("hang", [waits, sleeps, wont_be_cancelled])
@pytest.mark.parametrize("part", ASYNC)
def test_part_that_hangs_ends_with_the_run(part: str, hang: Hang) -> None:
    check_part(part, hang)


@pytest.mark.parametrize("part", PLAIN)
def test_plain_part_that_sleeps_ends_with_the_run(part: str) -> None:
    check_part(part, sleeps)


def check_part(part: str, hang: Hang) -> None:
    agent, hangs = agent_with(part, hang, budget=Budget(seconds=SECONDS))
    result, took = timed(lambda: agent.run_sync("Capital of Italy?"))
    assert hangs.calls, "the part wasn't even called"
    assert took < SECONDS + LOAD
    assert any(NAMED[part] in said for said in result.record.degradations), result.record.degradations
    if part not in AFTER_ALL:
        assert result.status == "budget_exhausted" or part in ("watcher", "callback")
        late = "hadn't answered when Budget(seconds=1) was used up; raise it to wait longer"
        assert any(late in said for said in result.record.degradations)
    assert bool(result.output) == (part not in NO_ANSWER and hangs.calls == 1 and answered(part))
    assert works()


def answered(part: str) -> bool:
    """Whether the part is called only after the first answer."""
    return part not in ("store, searched", "embedder", "ranker", "screen")


@pytest.mark.parametrize("part", ["evaluator", "function", "reflector", "store, searched", "embedder", "screen"])
def test_without_a_budget_a_step_ends_by_itself_and_the_run_goes_on(part: str) -> None:
    agent, hangs = agent_with(part, sleeps if part in PLAIN else waits, budget=Budget(step_seconds=0.5))
    result, took = timed(lambda: agent.run_sync("Capital of Italy?"))
    assert hangs.calls
    assert result.output in ("Paris", "Say Rome.", "Rome")
    assert took < 10
    assert result.status != "budget_exhausted"
    assert any("0.5 s" in said and NAMED[part] in said for said in result.record.degradations)


def test_step_that_takes_no_notice_of_being_cancelled_is_left_behind_with_the_answer() -> None:
    agent = Agent(model=model(), evaluator=HangingEvaluator(Hangs(wont_be_cancelled)), budget=Budget(step_seconds=0.5))
    result, took = timed(lambda: agent.run_sync("Capital of Italy?"))
    assert (result.output, result.status) == ("Paris", "unevaluated")
    assert took < 10
    assert works()


async def test_time_in_which_a_step_waits_for_a_model_does_not_count() -> None:
    async def slow() -> None:
        await asyncio.sleep(0.8)

    judge = HangingModel(ScriptedModel(["score: 1"]), Hangs(slow))
    agent = Agent(
        model=model("Paris"),
        architecture=Reflexion(evaluator_model=judge),
        budget=Budget(step_seconds=0.5),
    )
    result = await agent.run("Capital of France?")
    assert (result.status, result.record.degradations) == ("satisfied", ())


async def test_without_a_budget_models_and_tools_may_take_as_long_as_they_like() -> None:
    async def slow() -> None:
        await asyncio.sleep(0.8)

    for part in ("model", "tool", "base"):
        agent, hangs = agent_with(part, slow, budget=Budget(step_seconds=0.5))
        result = await agent.run("Capital of Italy?")
        assert hangs.calls
        assert result.record.degradations == ()


async def test_best_of_the_finished_attempts_comes_back() -> None:
    scores = iter((0.5, 0.7))

    async def rated(output: str) -> float:
        del output
        score = next(scores, None)
        if score is None:
            await waits()
        return score or 0.0

    agent = Agent(
        model=ScriptedModel(["a", "Lesson.", "b", "Lesson two.", "c"]),
        architecture=Reflexion(max_attempts=3),
        evaluator=rated,
        budget=Budget(seconds=SECONDS),
    )
    result = await agent.run("Go.")
    assert (result.output, result.score, result.status) == ("b", 0.7, "budget_exhausted")
    assert [attempt.output for attempt in result.attempts] == ["a", "b", "c"]


async def test_last_event_is_that_the_run_is_completed_and_nothing_follows() -> None:
    events: list[Event] = []
    agent, _ = agent_with("evaluator", wont_be_cancelled)
    agent = Agent(
        model=agent.model, architecture=agent.architecture, evaluator=agent.evaluator, budget=agent.budget,
        watch=events.append,
    )  # fmt: skip
    await agent.run("Capital of Italy?")
    await asyncio.sleep(0.2)
    assert isinstance(events[-1], RunCompleted)
    told = [event for event in events if isinstance(event, Degraded)]
    assert [NAMED["evaluator"] in event.error for event in told] == [True]


async def test_stream_of_a_model_that_hangs_ends_at_the_deadline() -> None:
    agent, _ = agent_with("judge", waits)
    began = time.monotonic()
    events = [event async for event in agent.stream("Capital of Italy?")]
    assert time.monotonic() - began < SECONDS + LOAD
    assert isinstance(events[-1], RunCompleted)
    assert events[-1].record.status == "budget_exhausted"


@pytest.mark.parametrize("part", ["evaluator", "reflector", "store, searched", "embedder", "ranker", "callback"])
async def test_part_that_cancels_itself_has_failed_and_the_run_goes_on(part: str) -> None:
    async def cancels() -> None:
        raise asyncio.CancelledError

    agent, hangs = agent_with(part, cancels)
    result = await agent.run("Capital of Italy?")
    assert hangs.calls
    assert result.output
    assert any(said.startswith(("recall", "evaluate", "reflect", "escalate", "persist")) for said in told_of(result))
    task = asyncio.current_task()
    assert task is not None
    assert not task.cancelling()


def told_of(result: RunResult) -> tuple[str, ...]:
    return tuple(said for said in result.record.degradations if "PartCancelledError" in said)


async def test_model_that_cancels_itself_is_a_model_error() -> None:
    async def cancels() -> None:
        raise asyncio.CancelledError

    agent, _ = agent_with("model", cancels)
    with pytest.raises(ModelError, match="cancelled itself"):
        await agent.run("Capital of Italy?")


async def test_cancelled_run_is_cancelled_also_while_a_part_works() -> None:
    for hang in (waits, wont_be_cancelled):
        agent, hangs = agent_with("evaluator", hang, budget=Budget(step_seconds=0.5))
        run = asyncio.create_task(agent.run("Capital of Italy?"))
        while not hangs.calls:  # noqa: ASYNC110 - a part can't tell a test
            await asyncio.sleep(0.01)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run


async def test_run_within_a_run_ends_with_it() -> None:
    inner = Agent(model=HangingModel(model(), Hangs(waits)))

    ended: list[RunResult] = []

    async def asks(prompt: str) -> str:
        ended.append(await inner.run(prompt))
        return "nothing"

    began = time.monotonic()
    result = await Agent(architecture=asks, model=model(), budget=Budget(seconds=SECONDS)).run("Go.")
    assert time.monotonic() - began < SECONDS + LOAD
    assert [one.status for one in ended] == ["budget_exhausted"]
    assert result.output == "nothing"


@pytest.mark.parametrize("budget", [Budget(seconds=2.0), Budget(step_seconds=2.0)])
@pytest.mark.parametrize(
    "evaluator",
    [
        RegexEvaluator(r"^(a+)+$"),
        JsonSchemaEvaluator({"type": "string", "pattern": "^(a+)+$"}),
        FunctionEvaluator(holds_the_interpreter, process=True),
    ],
    ids=["regex", "schema", "function"],
)
async def test_evaluator_that_computes_for_ever_holds_up_nobody(evaluator: Any, budget: Budget) -> None:
    beats: list[float] = []

    async def beat() -> None:
        while True:
            beats.append(time.monotonic())
            await asyncio.sleep(0.02)

    beating = asyncio.create_task(beat())
    answer = '"' + "a" * 60 + 'b"' if isinstance(evaluator, JsonSchemaEvaluator) else "a" * 60 + "b"
    result, began = None, time.monotonic()
    result = await Agent(model=ScriptedModel([answer]), evaluator=evaluator, budget=budget).run("Go.")
    beating.cancel()
    assert time.monotonic() - began < 2.0 + LOAD
    assert result.output == answer
    assert result.score is None
    assert len(beats) > 20
    other = FunctionEvaluator(says_paris, process=True)
    assert (await other.evaluate(Task(prompt="p"), "Paris", Trace(trace_id="", purpose="p"))).satisfactory


async def test_function_in_a_process_of_its_own_gets_everything_and_its_errors_are_told() -> None:
    ask = FunctionEvaluator(says_paris, process=True)
    trace = Trace(trace_id="t", purpose="p")
    verdicts = [(await ask.evaluate(Task(prompt="p"), said, trace)).overall_score for said in ("Paris", "Rome")]
    assert verdicts == [1.0, 0.0]
    with pytest.raises(ConfigError, match="define it with def at the top of a module"):
        FunctionEvaluator(lambda output: output == "x", process=True)
    with pytest.raises(ConfigError, match="exclude each other"):
        FunctionEvaluator(says_paris, process=True, inline=True)


@pytest.mark.no_cover
def test_thousand_runs_of_which_a_tenth_hang_finish() -> None:
    parts = ("evaluator", "function", "store, searched", "embedder", "reflector", "judge", "model", "base")

    async def main() -> list[tuple[bool, RunResult]]:
        async def one(number: int) -> tuple[bool, RunResult]:
            if number % 10:
                healthy = Agent(
                    model=ScriptedModel(["Rome"]), evaluator=lambda output: output == "Rome",
                    architecture=Reflexion(lesson_store=InMemoryVectorStore()), budget=Budget(seconds=60.0),
                )  # fmt: skip
                return True, await healthy.run("Capital of Italy?")
            part = parts[number // 10 % len(parts)]
            agent, _ = agent_with(part, sleeps if part in PLAIN else waits, budget=Budget(seconds=5.0))
            return False, await agent.run("Capital of Italy?")

        return await asyncio.gather(*(one(number) for number in range(1000)))

    ended = asyncio.run(main())
    assert {result.status for healthy, result in ended if healthy} == {"satisfied"}
    assert {result.status for healthy, result in ended if not healthy} == {"budget_exhausted"}


@pytest.mark.parametrize(("module", "ends"), [("a_users.checks", False), ("wisen.stores.own", True)])
@pytest.mark.parametrize("wait", ["time.sleep(1.0)", "threading.Event().wait(1.0)"])
def test_only_others_code_is_interrupted_where_it_stands(module: str, ends: bool, wait: str) -> None:
    """wisen's own may hold a lock, which an error from outside would leave locked for ever."""
    code = f"async def evaluate(self, task, output, trace):\n    {wait}\n    ended.append(True)\n"
    made: dict[str, Any] = {"__name__": module, "time": time, "threading": threading, "ended": list[bool]()}
    exec(code, made)  # noqa: S102 - to choose the module's name
    evaluator: Any = type("Blocking", (), {"name": "blocking", "evaluate": made["evaluate"]})()
    agent = Agent(model=model(), evaluator=evaluator, budget=Budget(step_seconds=0.5))
    result = agent.run_sync("Capital of Italy?")
    assert result.output == "Paris"
    assert made["ended"] == [True] * ends
    assert any("PartTimeoutError" in said for said in result.record.degradations) is not ends
    assert works()


def test_a_run_that_begins_while_the_lookout_goes_to_rest_is_watched() -> None:
    class Looking(threading.Event):
        """Ends the lookout when it would rest."""

        waits = 0

        def wait(self, timeout: float | None = None) -> bool:
            self.waits += 1
            if self.waits > 1:
                raise SystemExit(timeout)
            return True

    looking = Looking()

    class Begins(set[object]):
        """Is found empty, and then has a run."""

        asked = 0

        def __len__(self) -> int:
            self.asked += 1
            if self.asked == 1:
                looking.set()
            return 0

    # The process's own lookout goes on beside it.
    look = FunctionType(deadlines._look.__code__, {**vars(deadlines), "_LOOKING": looking, "_RUNS": Begins()})
    with pytest.raises(SystemExit):
        look()
    assert looking.is_set()


async def test_threads_that_hang_starve_nobody() -> None:
    threads = DaemonThreads()
    loop = asyncio.get_running_loop()
    release = threading.Event()
    hanging = [loop.run_in_executor(threads, release.wait) for _ in range(100)]
    try:
        assert await asyncio.wait_for(loop.run_in_executor(threads, lambda: 42), 10) == 42
    finally:
        release.set()
        await asyncio.gather(*hanging)


async def test_what_a_thread_raises_comes_out() -> None:
    def stops() -> None:
        raise StopIteration

    with pytest.raises(RuntimeError, match="StopIteration"):
        await in_thread(stops)


def test_parts_left_behind_do_not_keep_the_process_from_exiting() -> None:
    program = (
        "import time\n"
        "from wisen import Agent, Budget, ScriptedModel\n"
        "def hangs(output): time.sleep(1e6)\n"
        "run = Agent(model=ScriptedModel(['Paris']), evaluator=hangs, budget=Budget(seconds=0.5)).run_sync('Go.')\n"
        "print(run.output, run.status)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "Paris budget_exhausted\n"


async def test_prompt_of_a_megabyte_does_not_hold_the_event_loop() -> None:
    gaps: list[float] = []  # of the loop's thread, whatever else the machine does

    async def beat() -> None:
        last = time.thread_time()
        while True:
            await asyncio.sleep(0.005)
            gaps.append(time.thread_time() - last)
            last = time.thread_time()

    prompt = "Sort these words: " + " ".join(f"word{number}" for number in range(110_000))
    assert len(prompt) > 1_000_000
    agent = Agent(
        model=ScriptedModel(["no", "Sort by length.", "yes", "no", "yes"]),
        architecture=Reflexion(lesson_store=InMemoryVectorStore()),
        evaluator=lambda output: output == "yes",
    )
    gc.disable()  # what other tests have left isn't the run's
    try:
        beating = asyncio.create_task(beat())
        await agent.run(prompt)
        beating.cancel()
    finally:
        gc.enable()
    assert max(gaps) < 0.25


async def test_evaluation_that_is_known_before_the_deadline_counts() -> None:
    async def judged(output: str) -> ReflectionEvaluation:
        return ReflectionEvaluation(overall_score=float(bool(re.match("P", output))))

    result = await Agent(model=model(), evaluator=judged, budget=Budget(seconds=30.0)).run("Go.")
    assert (result.status, result.record.degradations) == ("satisfied", ())
