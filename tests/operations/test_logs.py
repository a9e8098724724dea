"""Logs tell what happened, and never a word of a prompt, an answer, a lesson, or an error that quotes one."""

import ast
import asyncio
import gc
import io
import json
import logging
import runpy
import subprocess
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.exceptions import ModelHTTPError

from wisen import (
    Agent,
    Budget,
    InMemoryVectorStore,
    MemoryCard,
    MemoryCI,
    MemoryKind,
    ReflectionEvaluation,
    ReflectionPattern,
    Reflexion,
    ScriptedModel,
    Supervisor,
    Task,
    ToolCall,
    Trace,
)
from wisen.errors import ConfigError, ModelError, StoreError
from wisen.events import Degraded, Event
from wisen.operations.logs import LEVELS, Form, event_log, log, log_context, set_up_logs
from wisen.operations.safe_text import safe_message, template

pytestmark = pytest.mark.anyio

CANARY = "zanzibar7731"
PROMPT = f"What is the capital of {CANARY}?"
IDS = {"batch": "b-1", "task": "t-9", "worker": "wisen-worker-0"}


class Lines:
    """What was logged."""

    def __init__(self, stream: io.StringIO) -> None:
        self.stream = stream

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def all(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]

    def of(self, event: str) -> list[dict[str, Any]]:
        return [line for line in self.all if line["event"] == event]


def started(form: Form = "json", level: str = "debug") -> Lines:
    stream = io.StringIO()
    set_up_logs(form, level, stream=stream)
    return Lines(stream)


@pytest.fixture
def lines(logging_restored: None) -> Lines:  # noqa: ARG001 - restores
    return started()


class Judge:
    """Discontent once, then content; or breaks down with what it was asked."""

    name = "judge"

    def __init__(self, *, fails: bool = False) -> None:
        self.fails, self.asked = fails, 0

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:
        del trace
        if self.fails:
            raise ValueError(f"can't judge {task.prompt!r}: {output!r}")
        self.asked += 1
        score = 1.0 if self.asked > 1 else 0.1
        return ReflectionEvaluation(
            overall_score=score, issues=(f"{CANARY} is wrong",), suggestions=(CANARY,), verifiable=True
        )


class Teller:
    def __init__(self, *, fails: bool = False) -> None:
        self.fails = fails

    async def reflect(
        self, task: Task, output: str, evaluation: ReflectionEvaluation, trace: Trace
    ) -> Sequence[MemoryCard]:
        del output, evaluation, trace
        if self.fails:
            raise RuntimeError(f"can't reflect on {task.prompt}")
        return [MemoryCard(kind=MemoryKind.LESSON, content=f"Of {CANARY}, look at the map first.")]


class QuotingStore(InMemoryVectorStore):
    async def add_unscreened(self, cards: Any) -> Any:
        raise ValueError(f"can't write {cards[0].text}")


def agent(store: InMemoryVectorStore, *, judge: Judge | None = None, teller: Teller | None = None) -> Agent:
    architecture = Reflexion(
        evaluator=judge or Judge(), reflector=teller or Teller(), lesson_store=MemoryCI(store, trust="screened")
    )
    return Agent(
        f"You know {CANARY}.",
        model=ScriptedModel(lambda _messages, _call: f"The answer is {CANARY}."),
        architecture=architecture,
        tenant=f"tenant of {CANARY}",
        watch=event_log(**IDS),
    )


async def test_a_whole_run(lines: Lines) -> None:
    one = agent(InMemoryVectorStore())
    await one.run(Task(prompt=PROMPT, reference=CANARY, metadata={"note": CANARY}))
    result = await one.run(PROMPT)
    assert CANARY not in lines.text
    ended = lines.of("run.completed")[-1]
    assert ended.items() >= {**IDS, "run": result.run_id, "level": "info", "outcome": "satisfied"}.items()
    assert ended["attempts"] == len(result.attempts)
    assert {"seconds", "requests", "input_tokens", "cost_usd", "degradations", "score", "at"} <= set(ended)
    names = {line["event"] for line in lines.all}
    assert names >= {
        "run.started",
        "reflexion.attempt_started",
        "model.called",
        "reflexion.evaluated",
        "reflexion.lesson_persisted",
        "reflexion.lessons_recalled",
    }
    assert {line["run"] for line in lines.all} == {line["run"] for line in lines.of("run.started")}
    assert lines.of("reflexion.lesson_persisted")[0]["outcome"] == "added"
    assert lines.of("model.called")[0]["purpose"] == "attempt"


async def test_all_that_can_break_around_an_attempt(lines: Lines) -> None:
    await agent(InMemoryVectorStore(), judge=Judge(fails=True)).run(PROMPT)
    await agent(InMemoryVectorStore(), teller=Teller(fails=True)).run(PROMPT)
    await agent(QuotingStore()).run(PROMPT)
    assert CANARY not in lines.text
    told = {(line["stage"], *line["error"]) for line in lines.of("run.degraded")}
    assert told >= {("evaluate", "ValueError"), ("reflect", "RuntimeError"), ("persist", "ValueError")}


async def test_a_provider_that_quotes_the_prompt(lines: Lines) -> None:
    def refuse(_messages: Any, _call: Any) -> str:
        raise ModelHTTPError(400, "gpt", {"error": f"bad prompt: {PROMPT}"})

    def crash(_messages: Any, _call: Any) -> str:
        raise LookupError(PROMPT)

    for reply in (refuse, crash):
        one = Agent("Answer.", model=ScriptedModel(reply), watch=event_log())
        with pytest.raises((ModelError, LookupError)) as caught:
            await one.run(PROMPT)
        log("task.failed", level=logging.ERROR, error=caught.value, seconds=0.5)
        logging.getLogger("elsewhere").error("failed: %s", caught.value, exc_info=caught.value)
        logging.getLogger("elsewhere").error(f"failed with {caught.value} in the end")  # noqa: G004 - as others do
    assert CANARY not in lines.text
    first, second = lines.of("task.failed")
    assert first["error"] == ["ModelError: model 'scripted'", "ModelHTTPError: status 400"]
    assert second["error"] == ["LookupError"]
    assert second["raised"][-1].startswith("operations/test_logs.py:")
    assert second["raised"][-1].endswith(" crash")
    says = [line["says"] for line in lines.of("log") if line["logger"] == "elsewhere"]
    assert says == ["failed: %s", "failed with … in the end"] * 2


async def test_tools_and_workers(lines: Lines) -> None:
    def search(query: str) -> str:
        """Search."""
        return f"found {query}"

    helper = Agent("Help.", model=ScriptedModel([ToolCall("search", query=CANARY), CANARY]), tools=[search])
    model = ScriptedModel([ToolCall("delegate", worker="helper", instructions=PROMPT), CANARY])
    boss = Agent("Lead.", model=model, architecture=Supervisor({"helper": helper}), watch=event_log(**IDS))
    await boss.run(PROMPT)
    assert CANARY not in lines.text
    inside = [line for line in lines.of("tool.called") if line.get("depth") == 1]
    assert len(inside) == 1
    assert {line["run"] for line in lines.all} == {lines.of("run.started")[0]["run"]}


async def test_reflection_and_budgets(lines: Lines) -> None:
    replies = [CANARY, json.dumps({"scores": {}, "issues": [CANARY], "suggestions": [CANARY]}), CANARY, CANARY] * 3
    pattern = Agent("Write.", model=ScriptedModel(replies), architecture=ReflectionPattern(), watch=event_log())
    await pattern.run(PROMPT)
    await Agent("x", model=ScriptedModel([CANARY]), budget=Budget(requests=0), watch=event_log()).run(PROMPT)
    assert CANARY not in lines.text
    assert lines.of("run.budget_exhausted")[0]["limit"] == "requests"


async def test_what_about_sets_stays_with_its_task(lines: Lines) -> None:
    async def work(task: str) -> None:
        log_context(task=task)
        log("one")
        await asyncio.sleep(0)
        await asyncio.create_task(inner())

    async def inner() -> None:
        log("two", more=1)

    await asyncio.gather(work("a"), work("b"))
    log("three")
    assert sorted(line["task"] for line in lines.of("one")) == ["a", "b"]
    assert sorted(line["task"] for line in lines.of("two")) == ["a", "b"]
    assert "task" not in lines.of("three")[0]


def test_every_event_that_is_told_tells_only_what_it_may(lines: Lines) -> None:
    """Each text of each event is the canary; what comes through are names that wisen or the configuration gives."""
    import dataclasses
    import typing

    from wisen import events
    from wisen.records import Blocked, Injection, RunRecord, TokenUsage

    values: dict[str, Any] = {
        "usage": TokenUsage(),
        "evaluation": ReflectionEvaluation(overall_score=0.5, issues=(CANARY,), suggestions=(CANARY,)),
        "record": RunRecord(run_id="r", task=Task(prompt=PROMPT), output=CANARY, degradations=(CANARY,)),
        "injections": (Injection(card_id="c", kind="lesson", reasons=(CANARY,), score=1.0),),
        "blocked": (Blocked(card_id="c", rules=("rule",)),),
        "event": events.WorkerStarted(worker=CANARY, instructions=CANARY),
    }
    names = {"run_id", "card_id", "agent", "architecture", "model", "purpose", "evaluator", "kind", "by", "reason"}
    words = {"stage", "outcome", "limit", "before", "after", "strategy", "mode", "rules", "card_ids", "standing"}
    kinds = typing.get_args(Event)
    for kind in kinds:
        given: dict[str, Any] = {}
        for field in dataclasses.fields(kind):
            if field.name in names | words:
                given[field.name] = ("word",) if field.name in ("rules", "card_ids") else "word"
            elif field.name in values:
                given[field.name] = values[field.name]
            elif field.name != "name":
                given[field.name] = CANARY if "str" in str(field.type) else 1
        event_log()(kind(**given))
    silent = {"TextDelta", "LessonProduced", "GenerationMade", "Steered", "ReflectionTriggered", "ThresholdMet"}
    assert len(lines.all) == len(kinds) - len(silent)
    assert CANARY not in lines.text


def test_other_libraries_are_quiet_below_warnings(lines: Lines) -> None:
    logging.getLogger("httpx").info("GET /%s", CANARY)
    logging.getLogger("httpx").warning(CANARY)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.warn(CANARY, stacklevel=1)
    assert CANARY not in lines.text
    (warned, captured) = lines.of("log")
    assert warned["logger"] == "httpx"
    assert "says" not in warned
    assert captured["logger"] == "py.warnings"


@pytest.mark.usefixtures("logging_restored")
def test_handlers_that_others_made_are_gone(capsys: pytest.CaptureFixture[str]) -> None:
    other = logging.getLogger("somebody.elses")
    other.addHandler(logging.StreamHandler(sys.stderr))
    other.propagate = False
    lines = started()
    other.warning(CANARY)
    assert CANARY not in lines.text + capsys.readouterr().err
    assert lines.of("log")[0]["logger"] == "somebody.elses"


def test_dbos_finds_a_handler_and_adds_none_of_its_own(lines: Lines) -> None:
    dbos = logging.getLogger("dbos")
    level = dbos.level
    dbos.setLevel(logging.NOTSET)
    try:
        assert dbos.handlers
        dbos.error(f"workflow failed: {CANARY}")
    finally:
        dbos.setLevel(level)
    assert CANARY not in lines.text
    assert [(line["logger"], line["says"]) for line in lines.of("log")] == [("dbos", "workflow failed: …")]


def test_a_stream_that_is_closed_costs_the_lines_alone(logging_restored: None, tmp_path: Path) -> None:  # noqa: ARG001 - restores
    with (tmp_path / "log").open("w") as stream:
        set_up_logs("json", "debug", stream=stream)
    for handler in logging.getLogger("dbos").handlers:
        handler.flush()
    logging.getLogger("wisen.worker").warning("x")


def test_a_record_that_cannot_be_formatted_is_not_printed(lines: Lines, capsys: pytest.CaptureFixture[str]) -> None:
    class Bad:
        def __str__(self) -> str:
            raise RuntimeError(CANARY)

    logging.getLogger("wisen.worker").warning("x", extra={"wisen_fields": {"bad": Bad()}})
    assert CANARY not in lines.text + capsys.readouterr().err
    (line,) = lines.all
    assert (line["event"], line["level"]) == ("log.unwritten", "warning")
    assert line["source"].startswith("operations/test_logs.py:")


def test_a_parse_within_the_parse_of_a_source(lines: Lines, tmp_path: Path) -> None:
    """What the garbage collector frees may warn, which is logged; before 3.11.8 Python then breaks the outer parse."""
    source = tmp_path / "fresh.py"
    filling = "".join(f"def f{one}(a, b): return [a + b, {{a: b}}, (a, b)]\n" for one in range(300))
    source.write_text(f"import logging\nlogging.getLogger('elsewhere').error('failed: %s', {CANARY!r})\n{filling}")

    def parse(phase: str, _: dict[str, int]) -> None:
        if phase == "stop" and sys._getframe(1).f_code is ast.parse.__code__:
            gc.callbacks.remove(parse)
            deeper(10)

    def deeper(frames: int) -> None:
        if frames:
            deeper(frames - 1)
        ast.parse("1 + 1")

    gc.callbacks.append(parse)
    runpy.run_path(str(source))
    assert parse not in gc.callbacks
    assert [(line["event"], line["says"]) for line in lines.all] == [("log", "failed: %s")]


def test_what_python_ignores_is_a_line_too(lines: Lines, capsys: pytest.CaptureFixture[str]) -> None:
    class Fails:
        def __del__(self) -> None:
            raise ValueError(CANARY)

    Fails()
    assert CANARY not in lines.text + capsys.readouterr().err
    assert [line["error"] for line in lines.of("ignored")] == [["ValueError"]]


def test_what_is_no_number_is_json(lines: Lines) -> None:
    log("x", score=float("nan"), seconds=float("inf"))
    assert "NaN" not in lines.text
    assert lines.of("x")[0].items() >= {"score": "nan", "seconds": "inf"}.items()


@pytest.mark.usefixtures("logging_restored")
def test_lines_for_people() -> None:
    lines = started("text", "info")
    log("task.ended", batch="b 1", seconds=0.1234567, ok=True, nothing=None)
    log("not.shown", level=logging.DEBUG)
    (line,) = lines.text.splitlines()
    assert line[24:] == ' INFO    task.ended batch="b 1" seconds=0.123457 ok=true'
    assert line[:2] == "20"
    assert line[23] == "Z"


def test_long_values_are_cut(lines: Lines) -> None:
    log("x", name="a" * 500)
    assert len(lines.of("x")[0]["name"]) == 120


@pytest.mark.usefixtures("logging_restored")
@pytest.mark.parametrize("level", LEVELS)
def test_levels(level: str) -> None:
    lines = started("json", level)
    for one in LEVELS:
        log(one, level=logging.getLevelNamesMapping()[one.upper()])
    assert [line["event"] for line in lines.all] == list(LEVELS[LEVELS.index(level) :])


@pytest.mark.parametrize(("form", "level"), [("xml", "info"), ("json", "loud")])
def test_what_cannot_be_set_up(form: Any, level: str) -> None:
    with pytest.raises(ConfigError, match="must be one of"):
        set_up_logs(form, level)


def test_crashes_are_lines_too() -> None:
    code = (
        "import threading\n"
        "from wisen.operations.logs import set_up_logs\n"
        "set_up_logs('json')\n"
        f"def crash(): raise ValueError({CANARY!r})\n"
        "one = threading.Thread(target=crash); one.start(); one.join()\n"
        "crash()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert CANARY not in done.stderr
    assert [json.loads(line)["error"] for line in done.stderr.splitlines()] == [["ValueError"]] * 2
    assert done.returncode == 1


def test_what_errors_may_tell() -> None:
    assert safe_message(StoreError("the server\nis away")) == "StoreError: the server is away"
    assert safe_message(ModelError("gpt", CANARY)) == "ModelError: model 'gpt'"
    assert (
        safe_message(ModelError("x:http://me:hidden@host/v1#x", "y")) == "ModelError: model 'x:http://me:***@host/v1#x'"
    )
    assert safe_message(ModelHTTPError(429, "gpt", {"error": CANARY})) == "ModelHTTPError: status 429"
    assert safe_message(KeyError(CANARY)) == "KeyError"


@pytest.mark.parametrize(("error", "name"), [(f"{CANARY} and more", "other"), (f"KeyError: {CANARY}", "KeyError")])
def test_of_an_events_error_the_type_is_told(lines: Lines, error: str, name: str) -> None:
    event_log()(Degraded(stage="recall", error=error, skipped=CANARY))
    assert lines.of("run.degraded")[0]["error"] == [name]
    assert CANARY not in lines.text


def test_records_without_a_source_say_where_they_were_made() -> None:
    record = logging.LogRecord("x", logging.ERROR, "/nowhere/module.py", 3, CANARY, (), None)
    assert template(record) == ""
