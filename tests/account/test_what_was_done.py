"""What an agent did in an attempt is in the record of its run: tools called, what they returned, and errors."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from secret_samples import Samples

from wisen import (
    Agent,
    AsyncMemory,
    InMemoryVectorStore,
    ReAct,
    ReflectionPattern,
    Reflexion,
    ScriptedModel,
    SQLiteVectorStore,
    ToolCall,
)
from wisen.records import RunRecord

pytestmark = pytest.mark.anyio
REGISTERS = {1: "closed", 2: "open"}


async def look(register: int) -> str:
    """Look into a register."""
    return REGISTERS[register]


def looked(register: int) -> str:
    return f'action: look({{"register": {register}}})\nobservation of look: {REGISTERS[register]}'


def agent(*replies: Any, **given: Any) -> Agent:
    return Agent(model=ScriptedModel(replies), tools=[look], **given)


def says_open(output: str) -> bool:
    return output == "open"


async def test_each_attempt_has_what_was_done_in_it() -> None:
    store = InMemoryVectorStore()
    made = agent(
        ToolCall("look", register=1), "closed", "Look into the second one.", ToolCall("look", register=2), "open",
        architecture=Reflexion(base=ReAct(), lesson_store=store), evaluator=says_open, memory=store,
    )  # fmt: skip
    result = await made.run("Is it open?")
    assert [one.did for one in result.attempts] == [looked(1), looked(2)]
    assert (await store.run(result.run_id)).attempts[1].did == looked(2)


async def test_an_attempt_that_failed_has_it_too() -> None:
    made = agent(ToolCall("look", register=3), architecture=ReAct(), memory=(store := InMemoryVectorStore()))
    with pytest.raises(KeyError):
        await made.run("Is it open?", run_id="r1")
    (only,) = (await store.run("r1")).attempts
    assert only.did.startswith('action: look({"register": 3})')


@pytest.mark.parametrize("evaluated", [False, True])
async def test_without_learning_the_only_attempt_has_it(evaluated: bool) -> None:
    evaluator = {"evaluator": says_open} if evaluated else {}
    result = await agent(ToolCall("look", register=2), "open", architecture=ReAct(), **evaluator).run("Is it open?")
    assert [one.did for one in result.attempts] == [looked(2)]


async def test_of_several_versions_the_first_has_what_the_base_did() -> None:
    made = agent(
        ToolCall("look", register=1), "closed", "open",
        architecture=ReflectionPattern(base=ReAct(), max_iterations=1), evaluator=says_open,
    )  # fmt: skip
    result = await made.run("Is it open?")
    assert [one.did for one in result.attempts][:2] == [looked(1), ""]


async def test_who_called_no_tool_did_nothing_that_is_kept() -> None:
    result = await agent("open", architecture=Reflexion(), evaluator=says_open).run("Is it open?")
    assert [one.did for one in result.attempts] == [""]


async def test_secrets_that_a_tool_returned_are_not_kept() -> None:
    secret = Samples(7).prefixed()["github"]

    async def read() -> str:
        """Read the file."""
        return f"token: {secret}"

    model = ScriptedModel([ToolCall("read"), "done"])
    for architecture in (ReAct(), Reflexion(base=ReAct())):
        model = ScriptedModel([ToolCall("read"), "done"])
        made = Agent(model=model, tools=[read], architecture=architecture, evaluator=lambda _: True)
        (only,) = (await made.run("Read it.")).attempts
        assert only.did.startswith("action: read({})\nobservation of read: token: ")
        assert secret not in only.did


@pytest.mark.parametrize("apart", range(0, 24, 4))
async def test_a_password_is_not_kept_though_the_word_before_it_is_cut_away(apart: int) -> None:
    secret = "Zebra!kQ81xTu2wp"

    async def read() -> str:
        """Read the file."""
        return f"{'x ' * 600}password: {secret} {'y' * apart} {'q ' * 360}"

    model = ScriptedModel([ToolCall("read"), "done"])
    (only,) = (await Agent(model=model, tools=[read], architecture=ReAct()).run("Read it.")).attempts
    assert len(only.did) > 1_000
    assert secret not in only.did


@pytest.mark.parametrize("before", [10, 270, 470])
def test_a_secret_in_an_error_is_not_kept(tmp_path: Path, before: int) -> None:
    """Neither whole nor in part: it stands where the errors of attempts and of situations are cut."""
    secret = Samples(7).prefixed()["github"]

    async def fetch() -> str:
        """Fetch it."""
        raise RuntimeError(f"{'no ' * (before // 3)}{secret} refused")

    async def run() -> RunRecord:
        async with SQLiteVectorStore(tmp_path / "s.db") as store:
            made = Agent(
                model=ScriptedModel(lambda _, call: "Ask again." if "lesson" in call.system else ToolCall("fetch")),
                tools=[fetch],
                architecture=Reflexion(base=ReAct(), lesson_store=store, max_attempts=1),
                evaluator=lambda _: 0.0,
            )
            with pytest.raises(Exception, match="refused"):
                await made.run("Fetch it.")
            (record,) = await store.runs()
            return record

    (only,) = asyncio.run(run()).attempts
    assert only.failure.startswith("RuntimeError: no no no ")
    for file in tmp_path.iterdir():
        assert secret[:10].encode() not in file.read_bytes()


async def test_it_is_bounded() -> None:
    async def read() -> str:
        """Read the file."""
        return "page " * 100_000

    model = ScriptedModel([*[ToolCall("read")] * 8, "done"])
    result = await Agent(model=model, tools=[read], architecture=ReAct()).run("Read it.")
    assert len(result.attempts[0].did) <= 6_000


async def test_an_own_loop_has_what_it_told_of() -> None:
    store = InMemoryVectorStore()
    async with AsyncMemory(store).attempt("Is it open?") as attempt:
        attempt.called("look", {"register": 1}, result="closed")
        attempt.outcome(0.0)
    assert (await store.run(attempt.id)).attempts[0].did == looked(1)


async def test_what_no_file_can_hold_becomes_a_question_mark(tmp_path: Path) -> None:
    async with SQLiteVectorStore(tmp_path / "s.db") as store:
        async with AsyncMemory(store).attempt("Is it open?") as attempt:
            attempt.called("look\ud800", {"at": "a\ud800b"}, result="closed\ud800", error="odd\ud800")
            attempt.failed(ValueError("odd\ud800"))
        (only,) = (await store.run(attempt.id)).attempts
    assert "".join(only.did.split("\n")).count("?") == 6
    assert (only.used, only.failure) == (("look?", "a?b"), "ValueError: odd?")
