"""Files of all forms are told apart by their content, read one run at a time, and what is left out is told."""

import gzip
import json
import tracemalloc
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from transcripts import META, asks, claude, ran, written

from wisen.errors import TracesFileError
from wisen.records import ReflectionEvaluation, Task, Trace, TraceEvent
from wisen.reflection.traced import TracedRun
from wisen.trace_import.eval_logs import LARGEST_SAMPLE
from wisen.trace_import.trace_files import Skipped, file_runs, files_in, kind_of
from wisen.trace_import.traces import read_traces, write_traces

FERRY: dict[str, Any] = {"task": "When does the ferry leave?", "steps": [{"action": "find", "observation": "08:15"}]}
SPAN: dict[str, Any] = {
    "trace_id": "t",
    "span_id": "1",
    "attributes": {"gen_ai.input.messages": '[{"role": "user", "parts": [{"type": "text", "content": "Go."}]}]'},
}


def read(path: Path, **options: Any) -> tuple[list[TracedRun], list[Skipped]]:
    skipped: list[Skipped] = []
    return list(file_runs(path, kind_of(path), on_skip=skipped.append, **options)), skipped


def test_each_form_is_known_by_its_content(tmp_path: Path) -> None:
    several = written(tmp_path / "a", json.dumps(FERRY), json.dumps(FERRY))
    packed = tmp_path / "b"
    packed.write_bytes(gzip.compress(several.read_bytes()))
    log = tmp_path / "e"
    with zipfile.ZipFile(log, "w") as file:
        file.writestr("samples/1_epoch_1.json", "{}")
    kinds = {
        several: "jsonl",
        packed: "jsonl",
        written(tmp_path / "c", json.dumps([FERRY, FERRY], indent=1)): "json",
        written(tmp_path / "d", json.dumps([FERRY])): "json",
        written(tmp_path / "f", META, asks("go")): "codex",
        written(tmp_path / "g", {"type": "summary"}, claude("user", "go")): "claude",
        log: "inspect",
    }
    assert {path: kind_of(path) for path in kinds} == kinds
    assert [run.source for run in read(packed)[0]] == [f"{packed}:1", f"{packed}:2"]
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(TracesFileError, match="can't be"):
        read(packed)


def test_lines_that_are_wrong_are_left_out_with_line_and_reason(tmp_path: Path) -> None:
    file = written(tmp_path / "a", json.dumps(FERRY), "{", json.dumps({**FERRY, "tools": 5}), "", json.dumps(FERRY))
    runs, skipped = read(file)
    assert [run.source for run in runs] == [f"{file}:1", f"{file}:5"]
    assert [one.place for one in skipped] == [f"{file}:2", f"{file}:3"]
    assert skipped[0].reason.startswith("isn't valid JSON")
    assert skipped[1].reason == "field 'tools': must be a list of tools' names"


def test_spans_of_one_run_may_be_in_several_lines(tmp_path: Path) -> None:
    spans = [{**SPAN, "span_id": str(number)} for number in range(2)]
    runs, _ = read(written(tmp_path / "a", *map(json.dumps, spans)))
    assert [run.asked.prompt for run in runs] == ["Go."]


def test_folders_are_read_at_any_depth_and_say_what_they_leave_aside(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    inner = written(tmp_path / "b" / "x.jsonl", json.dumps(FERRY))
    outer = written(tmp_path / "y.json", json.dumps(FERRY))
    written(tmp_path / "notes.txt", "no")
    skipped: list[Skipped] = []
    assert list(files_in([tmp_path], on_skip=skipped.append)) == [outer, inner]
    assert [(one.place, one.reason.rpartition(" ")[2]) for one in skipped] == [(str(tmp_path), "1")]
    assert list(files_in([tmp_path / "notes.txt"], on_skip=skipped.append)) == [tmp_path / "notes.txt"]
    with pytest.raises(TracesFileError, match="no such file"):
        list(files_in([tmp_path / "none"], on_skip=skipped.append))


def test_a_document_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wisen.trace_import.trace_files.LARGEST_DOCUMENT", 100)
    with pytest.raises(TracesFileError, match="write one run a line"):
        read(written(tmp_path / "a", json.dumps([FERRY] * 9, indent=1)))


def test_what_was_written_as_atif_is_read_as_it_was(tmp_path: Path) -> None:
    events = (
        TraceEvent(kind="note", step=1, at=0, data={"name": "instructions", "text": "Be brief."}),
        TraceEvent(kind="action", step=1, at=0, data={"name": "find", "params": {"q": "ferry"}, "thought": "Look."}),
        TraceEvent(kind="error", step=1, at=0, data={"name": "find", "text": "no such page"}),
        TraceEvent(kind="observation", step=2, at=0, data={"name": "user", "text": "Try the port."}),
        TraceEvent(kind="action", step=3, at=0, data={"name": "find", "params": {"q": "port"}}),
        TraceEvent(kind="observation", step=3, at=0, data={"name": "find", "text": "08:15"}),
        TraceEvent(kind="output", step=4, at=0, data={"text": "At 08:15."}),
    )
    run = TracedRun(
        trace=Trace(trace_id="r-1", purpose="When?", events=events),
        task=Task(prompt="When?", id="ferry"),
        outcome=ReflectionEvaluation(overall_score=0.5),
        agent="porter",
        model="m-1",
    )
    file = tmp_path / "runs.jsonl"
    write_traces(file, [run, run], form="atif")
    first = json.loads(file.read_text().splitlines()[0])
    assert (first["schema_version"], first["session_id"], first["agent"]["name"]) == ("ATIF-v1.4", "r-1", "porter")
    assert [step["step_id"] for step in first["steps"]] == list(range(1, len(first["steps"]) + 1))
    assert {step["source"] for step in first["steps"]} == {"system", "user", "agent"}
    told, again = read_traces(file)
    assert again == replace(told, source=f"{file}:2")
    assert (told.asked.prompt, told.asked.id, told.agent, told.model) == ("When?", "ferry", "porter", "m-1")
    assert told.ended.overall_score == 0.5
    seen = {(event.kind, str(event.data.get("text", event.data.get("params")))) for event in told.trace.events}
    assert seen == {(event.kind, str(event.data.get("text", event.data.get("params")))) for event in events}
    assert told.foreign


def test_a_trajectory_of_others(tmp_path: Path) -> None:
    steps = [
        {"step_id": 1, "source": "user", "message": "What is GOOGL at?"},
        {
            "step_id": 2,
            "source": "agent",
            "message": "I look.",
            "tool_calls": [{"tool_call_id": "c1", "function_name": "price", "arguments": {"ticker": "GOOGL"}}],
            "observation": {"results": [{"source_call_id": "c1", "content": "185.35"}]},
        },
        {"step_id": 3, "source": "agent", "message": "185.35"},
    ]
    record = {"schema_version": "ATIF-v1.6", "session_id": "s", "agent": {"name": "a", "version": "1"}, "steps": steps}
    (run,), skipped = read(written(tmp_path / "trajectory.json", json.dumps(record, indent=2)))
    assert not skipped
    told = [(event.kind, event.step, event.data.get("name")) for event in run.trace.events]
    assert told == [("action", 1, "price"), ("observation", 1, "price"), ("output", 2, None)]
    record["steps"] = [*steps, {"source": "robot"}]
    with pytest.raises(TracesFileError, match=r"known: system, user, agent"):
        read(written(tmp_path / "trajectory.json", json.dumps(record, indent=2)))


def test_a_log_of_inspect_ai(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "attachment://a1"},
        {
            "role": "assistant",
            "content": [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "I look."}],
            "tool_calls": [{"id": "c1", "function": "bash", "arguments": {"cmd": "ls /x"}, "type": "function"}],
        },
        {
            "role": "tool",
            "content": "",
            "tool_call_id": "c1",
            "function": "bash",
            "error": {"type": "permission", "message": "denied"},
        },
        {"role": "assistant", "content": "I can't."},
    ]
    sample: dict[str, Any] = {
        "id": "one",
        "epoch": 2,
        "input": "List it.",
        "messages": messages,
        "attachments": {"a1": "List it."},
        "scores": {"includes": {"value": "I", "answer": "I can't."}},
    }
    log = tmp_path / "log.eval"
    with zipfile.ZipFile(log, "w", zipfile.ZIP_DEFLATED) as file:
        header = {"eval": {"task": "files", "model": "m/1", "run_id": "r"}}
        file.writestr("header.json", json.dumps(header))
        file.writestr("samples/one_epoch_2.json", json.dumps(sample))
        file.writestr("samples/two_epoch_1.json", "{")
    (run,), skipped = read(log)
    assert (run.source, run.foreign) == (f"{log}:samples/one_epoch_2.json", True)
    assert (run.asked.prompt, run.asked.id, run.trace.trace_id, run.model) == (
        "List it.",
        "files/one",
        "r/one/2",
        "m/1",
    )
    assert (run.ended.overall_score, run.ended.evaluator) == (0.0, "includes")
    told = [(event.kind, event.data.get("name"), event.data.get("text")) for event in run.trace.events]
    assert told == [
        ("note", "instructions", "Be brief."),
        ("action", "bash", None),
        ("error", "bash", "denied"),
        ("output", None, "I can't."),
    ]
    assert [one.place for one in skipped] == [f"{log}:samples/two_epoch_1.json"]
    assert LARGEST_SAMPLE > 1000
    monkeypatch.setattr("wisen.trace_import.eval_logs.LARGEST_SAMPLE", 400)
    runs, skipped = read(log)
    assert not runs
    assert skipped[0].reason.startswith("is larger than")


@pytest.mark.no_cover
@pytest.mark.parametrize("form", ["codex", "jsonl"])
def test_memory_is_flat_in_the_size_of_a_file(tmp_path: Path, form: str) -> None:
    noise = "x" * 2_000

    def most(rounds: int) -> tuple[int, int, int]:
        path = tmp_path / f"{rounds}.jsonl"
        with path.open("w") as file:
            if form == "codex":
                file.write(json.dumps(META) + "\n")
            for number in range(rounds):
                lines = [asks(f"part {number}"), *ran(f"c{number}", "make", 1, noise)]
                record = {**FERRY, "steps": [{"action": "find", "observation": noise}] * 2}
                file.writelines(json.dumps(line) + "\n" for line in (lines if form == "codex" else [record]))
        tracemalloc.start()
        runs = sum(1 for _ in file_runs(path, kind_of(path), on_skip=print))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return runs, peak, path.stat().st_size

    assert kind_of(written(tmp_path / "x", json.dumps(FERRY), json.dumps(FERRY))) == "jsonl"
    most(10)  # what is imported and cached with the first use
    (few, small, _), (many, large, size) = most(20), most(2_000)
    assert (few, many) == (20, 2_000)
    assert size > 4_000_000
    assert large < small + 100_000
