"""Recorded calls are replayed in any process, and an unknown call is an error that says what to do."""

import asyncio
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelRequest, UserPromptPart
from pydantic_ai.models import ModelRequestParameters

from wisen.errors import ConfigError, UnknownCallError
from wisen.models.advised import AdvisedModel
from wisen.models.calls import ask, ask_for_response
from wisen.models.recorded import CassetteFile, RecordedModel, request_key
from wisen.models.scripted import ScriptedModel, ToolCall
from wisen.records import Advice

pytestmark = pytest.mark.anyio


class MemoryLog:
    """A store that keeps recorded calls."""

    def __init__(self) -> None:
        self.calls: dict[tuple[str, str, int], bytes] = {}

    async def save_call(self, scope: str, key: str, ordinal: int, response: bytes) -> None:
        self.calls[scope, key, ordinal] = response

    async def call(self, scope: str, key: str, ordinal: int) -> bytes | None:
        return self.calls.get((scope, key, ordinal))


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().split(b"\n")


def write(path: Path, content: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)


def exists(path: Path) -> bool:
    return path.exists()


@pytest.fixture
def cassette(tmp_path: Path) -> Path:
    return tmp_path / "tapes" / "calls.jsonl"


async def test_what_was_recorded_is_replayed_without_the_model(cassette: Path) -> None:
    recording = RecordedModel(ScriptedModel(["red", "blue"]), cassette)
    first = await ask_for_response(recording, system="s", prompt="a colour?")
    second = await ask_for_response(recording, system="s", prompt="another?")
    silent = ScriptedModel([])
    replaying = RecordedModel(silent, cassette, mode="replay")
    assert await ask_for_response(replaying, system="s", prompt="another?") == second
    assert await ask_for_response(replaying, system="s", prompt="a colour?") == first
    assert silent.calls == []


async def test_identical_requests_are_told_apart_by_their_order(cassette: Path) -> None:
    recording = RecordedModel(ScriptedModel(["one", "two"]), cassette)
    for _ in range(2):
        await ask(recording, system="", prompt="again")
    replaying = RecordedModel(None, cassette, name="scripted")
    assert [await ask(replaying, system="", prompt="again") for _ in range(2)] == ["one", "two"]
    with pytest.raises(UnknownCallError, match="number 3 of its kind"):
        await ask(replaying, system="", prompt="again")


async def test_an_unknown_call_names_the_cassette_and_the_remedy(cassette: Path) -> None:
    with pytest.raises(UnknownCallError) as caught:
        await ask(RecordedModel(ScriptedModel(["x"]), cassette, mode="replay"), system="", prompt="secret")
    said = re.sub("key [0-9a-f]{12}", "key …", str(caught.value).replace(str(cassette), "calls.jsonl"))
    assert said == snapshot(
        "model 'scripted': the cassette 'calls.jsonl' has no answer to this call (unknown, key …); "
        "record it by running once with mode='auto' and the real model"
    )


async def test_auto_replays_what_is_there_and_records_the_rest(cassette: Path) -> None:
    await ask(RecordedModel(ScriptedModel(["old"]), cassette), system="", prompt="known")
    live = ScriptedModel(["new"])
    model = RecordedModel(live, cassette)
    assert [await ask(model, system="", prompt=text) for text in ("known", "unknown")] == ["old", "new"]
    assert [call.prompt for call in live.calls] == ["unknown"]


async def test_record_asks_always_and_the_last_answer_counts(cassette: Path) -> None:
    for answer in ("old", "new"):
        await ask(RecordedModel(ScriptedModel([answer]), cassette, mode="record"), system="", prompt="p")
    assert await ask(RecordedModel(None, cassette, name="scripted"), system="", prompt="p") == "new"


async def test_a_store_can_be_the_cassette_and_scopes_are_apart() -> None:
    log = MemoryLog()
    await ask(RecordedModel(ScriptedModel(["one"]), log, scope="run-1"), system="", prompt="p")
    assert await ask(RecordedModel(None, log, scope="run-1", name="scripted"), system="", prompt="p") == "one"
    with pytest.raises(UnknownCallError, match="MemoryLog"):
        await ask(RecordedModel(None, log, scope="run-2", name="scripted"), system="", prompt="p")


async def test_a_failed_call_is_not_recorded_and_its_repetition_takes_its_place(cassette: Path) -> None:
    model = RecordedModel(ScriptedModel([LookupError(), "at last"]), cassette)
    with pytest.raises(LookupError):
        await ask(model, system="", prompt="p")
    assert await ask(model, system="", prompt="p") == "at last"
    assert await ask(RecordedModel(None, cassette, name="scripted"), system="", prompt="p") == "at last"


async def test_a_whole_tool_loop_is_replayed(cassette: Path) -> None:
    async def run(model: RecordedModel) -> str:
        agent = Agent(AdvisedModel(model, Advice(section="Beware."), lambda: None), instructions="Use tools.")

        @agent.tool_plain
        def double(number: int) -> int:
            return 2 * number

        return (await agent.run("double 4")).output

    script = ScriptedModel([ToolCall("double", number=4), "8"])
    assert await run(RecordedModel(script, cassette)) == "8"
    assert await run(RecordedModel(ScriptedModel([]), cassette, mode="replay")) == "8"


async def test_streams_are_recorded_and_replayed(cassette: Path) -> None:
    async def stream(model: RecordedModel) -> list[str]:
        async with Agent(model).run_stream("greet") as result:
            return [piece async for piece in result.stream_text(delta=True, debounce_by=None)]

    assert await stream(RecordedModel(ScriptedModel(["good morning Ann"]), cassette)) == ["good ", "morning ", "Ann"]
    assert await stream(RecordedModel(None, cassette, name="scripted")) == ["good ", "morning ", "Ann"]


async def test_a_stream_that_is_left_early_is_not_recorded(cassette: Path) -> None:
    model = RecordedModel(ScriptedModel(["a b c", "a b c"]), cassette)
    asked: list[ModelMessage] = [ModelRequest(parts=[UserPromptPart("p")])]
    async with model.request_stream(asked, None, ModelRequestParameters()):
        pass
    assert not exists(cassette)


async def test_concurrent_calls_are_all_kept(cassette: Path) -> None:
    model = RecordedModel(ScriptedModel(lambda _, call: call.prompt), cassette)
    await asyncio.gather(*(ask(model, system="", prompt=f"p{number}") for number in range(20)))
    replaying = RecordedModel(None, cassette, name="scripted")
    assert [await ask(replaying, system="", prompt=f"p{number}") for number in range(20)] == [
        f"p{number}" for number in range(20)
    ]


async def test_a_line_cut_off_by_a_crash_costs_only_itself(cassette: Path) -> None:
    await ask(RecordedModel(ScriptedModel(["one"]), cassette), system="", prompt="1")
    (whole, rest) = lines_of(cassette)
    assert rest == b""
    write(cassette, whole + b"\n" + whole[:40])
    await ask(RecordedModel(ScriptedModel(["two"]), cassette), system="", prompt="2")
    lines = lines_of(cassette)
    assert len(lines) == 4
    write(cassette, b"\n".join([lines[0], lines[2], b""]))
    replaying = RecordedModel(None, cassette, name="scripted")
    assert [await ask(replaying, system="", prompt=text) for text in "12"] == ["one", "two"]


async def test_a_file_that_is_no_cassette_is_refused(cassette: Path) -> None:
    write(cassette, b"hello\nworld\n")
    with pytest.raises(ConfigError, match=r"calls\.jsonl:1: isn't a recorded call"):
        await CassetteFile(cassette).call("", "k", 0)
    log = MemoryLog()
    model = RecordedModel(None, log, name="m")
    key = request_key("m", [ModelRequest.user_text_prompt("p")], None, ModelRequestParameters())
    await log.save_call("", key, 0, ModelMessagesTypeAdapter.dump_json([ModelRequest.user_text_prompt("x")]))
    with pytest.raises(ConfigError, match="holds a request"):
        await ask(model, system="", prompt="p")


def test_the_mode_is_checked(cassette: Path) -> None:
    with pytest.raises(ConfigError, match="must be 'auto', 'record' or 'replay'"):
        RecordedModel(None, cassette, mode="live")  # pyright: ignore[reportArgumentType] - the point of the test


def test_the_key_depends_on_what_is_asked_and_not_on_when() -> None:
    def key(prompt: str = "p", *, year: int = 2020, run: str = "a", model: str = "m", heat: float = 0.0) -> str:
        at = datetime(year, 1, 1, tzinfo=UTC)
        said = ModelRequest(parts=[UserPromptPart(prompt, timestamp=at)], run_id=run, timestamp=at)
        return request_key(model, [said], {"temperature": heat}, ModelRequestParameters())

    assert key() == key(year=2021) == key(run="b")
    assert len({key(), key("q"), key(model="n"), key(heat=1.0)}) == 4
