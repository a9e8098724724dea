"""`wisen run --resume`: a batch that was killed anywhere goes on, and no model call that was answered is made again."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Generator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from chat_server import chat_server

Wisen = Callable[..., CompletedProcess[str]]
Tasks = Callable[..., Path]
QUICK = ("--embedder", "hash")
FRANCE = {"id": "france", "prompt": "Capital of France?", "reference": "Paris", "evaluator": "exact"}
SPAIN = {"id": "spain", "prompt": "Capital of Spain?", "reference": "Madrid", "evaluator": "exact"}


class Provider:
    """Answers as OpenAI's chat completions do; and can kill the process that asks."""

    def __init__(self) -> None:
        self.answered: Counter[str] = Counter()
        self.process: subprocess.Popen[str] | None = None
        self.left: int | None = None
        """Calls that are answered before the asking process is killed."""
        self.url = ""

    def reply(self, body: dict[str, Any]) -> dict[str, Any] | None:
        """The message that answers a request; `None` once the process that asked was killed."""
        if self.left == 0 and self.process is not None:
            self.process.kill()
            self.process.wait()
            return None
        if self.left is not None:
            self.left -= 1
        self.answered[json.dumps(body["messages"])] += 1
        return {"content": answer(body["messages"])}

    @property
    def model(self) -> str:
        return f"openai-compatible:{self.url}#counting"


def answer(messages: list[dict[str, Any]]) -> str:
    said = json.dumps(messages)
    if "You write the lesson" in said:
        return "Name the seat of government, not the largest port."
    place = ("Paris", "Marseille") if "France?" in json.dumps(messages[-1]) else ("Madrid", "Barcelona")
    return place[0] if "seat of government" in said else place[1]


@pytest.fixture
def provider() -> Generator[Provider]:
    provider = Provider()
    with chat_server(provider.reply) as provider.url:
        yield provider


def run(provider: Provider, file: Path, *options: str, left: int | None) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "wisen", "run", str(file), "--model", provider.model, "--json", *QUICK, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        provider.process, provider.left = process, left
        out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def lasting(out: str) -> list[object]:
    """What of a batch's records doesn't depend on time and chance."""
    kept = ("output", "status", "score", "turns")
    found: list[dict[str, Any]] = json.loads(out)["tasks"]
    return [
        [task["task"]["id"], *(task[name] for name in kept), task["usage"]["requests"], len(task["attempts"])]
        for task in found
    ]


def test_kill_9_at_each_model_call(provider: Provider, tasks: Tasks, store: Path, wisen: Wisen, tmp_path: Path) -> None:
    """Each process is killed, with its second call unanswered; the last one has nothing left to ask."""
    file = tasks(FRANCE, SPAIN)
    seeded = ("--seed", "5")
    code, whole, _ = run(provider, file, *seeded, "--store", str(tmp_path / "whole.db"), left=None)
    assert code == 0
    calls = provider.answered.total()
    expected, provider.answered = provider.answered, Counter()
    out = ""
    for killed in range(calls):
        code, out, err = run(provider, file, "--resume", *seeded, left=1)
        if code == 0:
            break
        assert (code, out) == (-signal.SIGKILL, "")
        if killed == 0:
            assert "nothing to resume" in err
            listed = json.loads(wisen("runs", "list", "--unfinished", "--json").stdout)
            assert [(one["status"], one["attempts"]) for one in listed] == [("unfinished", [])]
        else:
            assert err == "wisen: going on with the batch that is unfinished\n"
    assert code == 0
    assert lasting(out) == lasting(whole)
    assert provider.answered == expected
    assert set(provider.answered.values()) == {1}
    assert json.loads(out)["totals"]["requests"] == calls
    lessons = json.loads(wisen("lessons", "list", "--json").stdout)["lessons"]
    others = json.loads(wisen("lessons", "list", "--json", "--store", tmp_path / "whole.db").stdout)["lessons"]
    assert [_without_time(card) for card in lessons] == [_without_time(card) for card in others]
    assert json.loads(wisen("runs", "list", "--unfinished", "--json").stdout) == []
    assert "no run fits" in wisen("runs", "list", "--unfinished").stderr
    assert store.exists()


def _without_time(card: dict[str, Any]) -> dict[str, Any]:
    provenance = {name: value for name, value in card["provenance"].items() if name != "created_at"}
    history = [{name: value for name, value in move.items() if name != "at"} for move in card["history"]]
    return {**card, "provenance": provenance, "history": history}


def test_what_has_ended_is_given_again_and_not_made_again(
    wisen: Wisen, script: Callable[..., str], tasks: Tasks
) -> None:
    file, model = tasks(FRANCE), script("Paris")
    done = wisen("run", file, "--model", model, "--json", *QUICK)
    again = wisen("run", file, "--model", model, "--resume", "--json", *QUICK)
    assert again.stderr == ("wisen: this batch has ended: these are its results; without --resume it is run again\n")
    assert json.loads(again.stdout)["tasks"] == json.loads(done.stdout)["tasks"]
    anew = wisen("run", file, "--model", model, "--json", *QUICK)
    assert (anew.returncode, anew.stderr) == (0, "")
    assert json.loads(anew.stdout)["tasks"][0]["run_id"] != json.loads(done.stdout)["tasks"][0]["run_id"]


def test_nothing_to_resume_just_runs(wisen: Wisen, script: Callable[..., str], tasks: Tasks) -> None:
    file, model = tasks(FRANCE), script("Paris")
    done = wisen("run", file, "--model", model, "--resume", "--json", *QUICK)
    assert done.returncode == 0
    assert done.stderr == "wisen: nothing to resume: these tasks with these options never began\n"


def test_failed_tasks_are_tried_again_and_the_others_stay(
    wisen: Wisen, script: Callable[..., str], tasks: Tasks, tmp_path: Path
) -> None:
    file, traces = tasks(FRANCE, SPAIN), tmp_path / "traces.jsonl"
    first = wisen("run", file, "--model", script("Paris", {"error": "down"}), "--json", *QUICK)
    assert first.stderr.endswith("wisen: --resume tries what failed again; what was answered stays\n")
    model = script("Madrid")
    done = wisen("run", file, "--model", model, "--resume", "--json", "--traces", traces, *QUICK)
    assert done.stderr == "wisen: going on with the batch that is unfinished\n"
    before, after = (json.loads(one.stdout)["tasks"] for one in (first, done))
    assert [task["output"] for task in after] == ["Paris", "Madrid"]
    assert before[0] == after[0]
    assert before[1]["run_id"] == after[1]["run_id"]
    assert len(traces.read_text().splitlines()) == 1


def test_a_hint_that_is_read_too_late_costs_nothing(wisen: Wisen, script: Callable[..., str], tasks: Tasks) -> None:
    """A batch that began anew in place of an unfinished one, and came to nothing, gives way to that one."""
    file = tasks(FRANCE, SPAIN)
    first = wisen("run", file, "--model", script("Paris", {"error": "down"}), "--json", *QUICK)
    anew = wisen("run", file, "--model", script({"error": "down"}, {"error": "down"}), "--json", *QUICK)
    assert anew.stderr.startswith("wisen: a batch of these tasks is unfinished; --resume goes on with it")
    done = wisen("run", file, "--model", script("Madrid"), "--resume", "--json", *QUICK)
    ids = [[task["run_id"] for task in json.loads(one.stdout)["tasks"]] for one in (first, anew, done)]
    assert ids[2] == ids[0] != ids[1]


def test_other_options_make_another_batch(wisen: Wisen, script: Callable[..., str], tasks: Tasks) -> None:
    file = tasks(FRANCE)
    wisen("run", file, "--model", script({"error": "down"}), "--json", *QUICK)
    other = wisen("run", file, "--model", script("Paris"), "--resume", "--threshold", "0.5", "--json", *QUICK)
    assert "nothing to resume" in other.stderr
    same = wisen("run", file, "--model", script("Paris"), "--resume", "--concurrency", "3", "--json", *QUICK)
    assert "going on" in same.stderr


def test_a_seed_repeats_its_ids_in_a_fresh_store_alone(
    wisen: Wisen, script: Callable[..., str], tasks: Tasks, tmp_path: Path
) -> None:
    """In one that has runs of this seed, the next batch gets others: those that it gets in each such store."""
    file = tasks(FRANCE, SPAIN)
    ids: dict[str, list[str]] = {"one.db": [], "other.db": []}
    for _ in range(2):
        for name, given in ids.items():
            options = ("--model", script("Paris", "Madrid"), "--seed", 7, "--json", "--store", tmp_path / name)
            done = wisen("run", file, *options, *QUICK)
            given += [task["run_id"] for task in json.loads(done.stdout)["tasks"]]
    assert ids["one.db"] == ids["other.db"]
    assert len(set(ids["one.db"])) == 4


def test_a_run_that_hasnt_ended_is_nothing_to_report_on(
    provider: Provider, wisen: Wisen, tasks: Tasks, store: Path
) -> None:
    code, _, _ = run(provider, tasks(FRANCE), left=0)
    assert code == -signal.SIGKILL
    assert os.environ["WISEN_STORE"] == str(store)
    (record,) = json.loads(wisen("runs", "list", "--json").stdout)
    refused = wisen("reflect", "new", "--run", record["run_id"])
    assert (refused.returncode, "hasn't ended" in refused.stderr) == (2, True)
    assert wisen("runs", "show", record["run_id"]).returncode == 0
    assert wisen("why", record["run_id"]).returncode == 0
