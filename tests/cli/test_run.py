"""`wisen run` works through a file, keeps what it learned, and tells the whole truth about it."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest
from inline_snapshot import snapshot
from numpy.typing import NDArray
from replaying import WORDS

from wisen.cards import MemoryCard, MemoryKind, Situation
from wisen.embedders.hashing import HashEmbedder
from wisen.memory_ci.pipeline import MemoryCI
from wisen.stores.sqlite.store import SQLiteVectorStore

Wisen = Callable[..., CompletedProcess[str]]
Script = Callable[..., str]
Tasks = Callable[..., Path]

EXAMPLES = sorted(Path(__file__).parent.parent.parent.glob("examples/tasks/*"))
CAPITAL = {"id": "france", "prompt": "What is the capital of France?", "reference": "Paris", "evaluator": "normalised"}
JUDGED = {"id": "haiku", "prompt": "Write a haiku."}
QUICK = ("--embedder", "hash")


def test_a_table_and_totals(wisen: Wisen, script: Script, tasks: Tasks, store: Path) -> None:
    model = script("Lyon", "Name the seat of government.", "Paris", "Frogs leap", "score: 0.9")
    done = wisen("run", tasks(CAPITAL, JUDGED), "--model", model, *QUICK)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.replace(str(store), "STORE") == snapshot("""\
task    status     score  judged by        attempts  tokens
france  satisfied   1.00  check                   2     252
haiku   satisfied   0.90  model's opinion         1     192

2 of 2 tasks satisfied, 0 failed; mean score 0.95 of 2
3 attempts, 2 lessons (all new), 5 model calls, 433 + 11 tokens
store: STORE (the environment variable WISEN_STORE)
""")


def test_json_holds_the_records_and_totals(wisen: Wisen, script: Script, tasks: Tasks) -> None:
    model = script("Paris", "Frogs leap", "score: 0.5", "More frogs.", "Frogs", "score: 0.25", "No frogs.")
    done = wisen("run", tasks(CAPITAL, JUDGED), "--model", model, "--max-attempts", "2", "--json", *QUICK)
    found = json.loads(done.stdout)
    assert done.returncode == 0
    assert [task["status"] for task in found["tasks"]] == ["satisfied", "unsatisfied"]
    assert [len(task["attempts"]) for task in found["tasks"]] == [1, 2]
    assert [task["error"] for task in found["tasks"]] == [None, None]
    assert found["tasks"][1]["output"] == "Frogs leap"
    seconds = found["totals"].pop("seconds")
    assert seconds >= 0
    assert found["totals"] == snapshot(
        {
            "tasks": 2,
            "satisfied": 1,
            "unsatisfied": 1,
            "escalated": 0,
            "unevaluated": 0,
            "budget_exhausted": 0,
            "failed": 0,
            "unfinished": 0,
            "cancelled": 0,
            "scored": 2,
            "checked": 1,
            "mean_score": 0.75,
            "attempts": 3,
            "lessons": 3,
            "new_lessons": 3,
            "requests": 7,
            "input_tokens": 721,
            "output_tokens": 12,
            "cost_usd": 0.0,
            "interrupted": False,
        }
    )


def test_a_failing_task_doesnt_end_the_others(wisen: Wisen, script: Script, tasks: Tasks) -> None:
    model = script({"error": "the provider is down; try again later"}, "Paris")
    done = wisen("run", tasks(JUDGED, CAPITAL), "--model", model, "--json", *QUICK)
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert done.stderr == snapshot("""\
wisen: task haiku: model 'scripted': the provider is down; try again later
wisen: --resume tries what failed again; what was answered stays
""")
    assert [task["status"] for task in found["tasks"]] == ["failed", "satisfied"]
    assert found["tasks"][0]["run_id"]
    assert found["tasks"][0]["usage"]["requests"] == 1
    assert found["totals"]["failed"] == 1


def test_a_budget_that_admits_no_call_is_no_answer(wisen: Wisen, script: Script, tasks: Tasks) -> None:
    done = wisen("run", tasks(CAPITAL), "--model", script(), "--budget-requests", "0", *QUICK)
    assert done.returncode == 1
    assert done.stderr == "wisen: task france: no answer: budget exhausted\n"


def test_a_judge_of_its_own_judges_everything_that_a_model_judges(
    wisen: Wisen, script: Script, tasks: Tasks, tmp_path: Path
) -> None:
    (tmp_path / "judge.json").write_text(json.dumps(["score: 1.0", "score: 0.9", "score: 0.8"]))
    limerick = {**JUDGED, "id": "limerick", "evaluator": "judge"}
    both = [{"kind": "judge"}, {"kind": "regex", "pattern": "C"}]
    sonnet = {**JUDGED, "id": "sonnet", "evaluator": {"kind": "all_of", "evaluators": both}}
    file = tasks(JUDGED, limerick, sonnet)
    judge = f"scripted:{tmp_path / 'judge.json'}"
    done = wisen("run", file, "--model", script("A", "B", "C"), "--judge-model", judge, "--json", *QUICK)
    assert [task["score"] for task in json.loads(done.stdout)["tasks"]] == [1.0, 0.9, 0.8]


def test_later_runs_are_shown_what_earlier_ones_learned(wisen: Wisen, script: Script, tasks: Tasks) -> None:
    file = tasks(CAPITAL)
    assert wisen("run", file, "--model", script("Paris"), *QUICK).returncode == 0
    again = wisen("run", file, "--model", script("Paris"), "--trust", "screened", "--json", *QUICK)
    (recalled,) = json.loads(again.stdout)["tasks"][0]["attempts"][0]["injections"]
    assert (recalled["kind"], recalled["shown"], recalled["score"]) == ("skill_card", True, 1.0)
    proven = wisen("run", file, "--model", script("Paris"), "--trust", "replayed", "--json", *QUICK)
    assert json.loads(proven.stdout)["tasks"][0]["attempts"][0]["injections"] == []


def test_a_seed_gives_the_same_ids_however_many_run_at_a_time(
    wisen: Wisen, script: Script, tasks: Tasks, tmp_path: Path
) -> None:
    file = tasks(*({**CAPITAL, "id": str(number)} for number in range(6)))
    found: list[list[str]] = []
    for concurrency in (1, 4):
        args = ("--seed", 7, "--concurrency", concurrency, "--store", tmp_path / f"{concurrency}.db", "--json", *QUICK)
        done = wisen("run", file, "--model", script(*["Paris"] * 6), *args)
        found.append([task["run_id"] for task in json.loads(done.stdout)["tasks"]])
    assert found[0] == found[1]
    assert len(set(found[0])) == 6


def test_texts_cannot_steer_the_terminal(wisen: Wisen, script: Script, tasks: Tasks) -> None:
    file = tasks({"prompt": "[red]\x1b]0;owned\x07 \u202egnp[/red]", "evaluator": {"kind": "regex", "pattern": "."}})
    done = wisen("run", file, "--model", script("x"), *QUICK)
    assert "[red]" in done.stdout
    assert not any(character in done.stdout for character in "\x1b\x07\u202e")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_example_files_run(wisen: Wisen, script: Script, path: Path) -> None:
    done = wisen("run", path, "--model", script(*["wrong"] * 20), "--max-attempts", "1", "--json", *QUICK)
    assert json.loads(done.stdout)["totals"]["failed"] == 0


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Lets Ctrl-C reach the processes of a test, also where these tests run in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_prints_what_is_finished(store: Path, tasks: Tasks, tmp_path: Path) -> None:
    """The second task's check tells that it runs, and then waits for the interruption."""
    beacon = tmp_path / "beacon"
    os.mkfifo(beacon)
    code = f"open({str(beacon)!r}, 'w').close(); import time; time.sleep(60)"
    waiting = {"kind": "command", "command": [sys.executable, "-c", code], "timeout": 60}
    file = tasks(CAPITAL, {"prompt": "Wait.", "evaluator": waiting}, JUDGED)
    (tmp_path / "replies.json").write_text('["Paris", "yes"]')
    command = [sys.executable, "-m", "wisen", "run", str(file), "--model", f"scripted:{tmp_path / 'replies.json'}"]
    with subprocess.Popen(
        [*command, "--json", *QUICK], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        beacon.read_text()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    found: dict[str, Any] = json.loads(out)
    assert process.returncode == 130
    assert [task["status"] for task in found["tasks"]] == ["satisfied", "unfinished", "cancelled"]
    assert [task["usage"]["requests"] for task in found["tasks"]] == [1, 1, 0]
    assert found["tasks"][1]["run_id"]
    assert (found["totals"]["interrupted"], found["totals"]["failed"]) == (True, 0)
    assert err == "wisen: interrupted; finished tasks are kept, and --resume goes on with the others\n"
    assert store.exists()


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_in_the_demo_says_so() -> None:
    """The server's first connection tells that the demo runs; no answer ever comes."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        model = f"openai-compatible:http://127.0.0.1:{server.getsockname()[1]}/v1#x"
        command = [sys.executable, "-m", "wisen", "demo", "--family", "tickets", "--model", model, "--embedder", "hash"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            connection, _ = server.accept()
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=30)
            connection.close()
    assert (process.returncode, err) == (130, "wisen: interrupted\n")


class Elsewhere:
    """Stands where the store was filled: the same embedder as a provider's, with its key."""

    name = "openai:text-embedding-3-small"
    dimension = 1536
    floor = 0.3

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.eye(len(texts), self.dimension, dtype=np.float32)


async def fill(path: Path) -> None:
    """Make a store whose vectors come from a provider."""
    async with SQLiteVectorStore(path, embedder=Elsewhere()) as store:
        await store.add([MemoryCard(id="a", kind=MemoryKind.LESSON, content="Look.")])


def test_what_a_run_went_without_is_told_whole(wisen: Wisen, script: Script, tasks: Tasks, store: Path) -> None:
    asyncio.run(fill(store))
    done = wisen("run", tasks(CAPITAL), "--model", script("Paris"))
    assert done.returncode == 0
    cause = f"embedder {Elsewhere.name!r}: set the environment variable OPENAI_API_KEY"
    assert f"went without: persist: EmbedderError: {cause} (count: 1)\n" in done.stdout
    assert f"went without: recall: EmbedderError: {cause} (count: 1)\n" in done.stdout
    checked = json.loads(wisen("doctor", "--model", script("Paris"), "--json").stdout)
    assert [problem["problem"] for problem in checked["problems"]] == [cause]


@pytest.mark.local_model
def test_the_bundled_model_answers_with_one_of_the_choices(wisen: Wisen, tasks: Tasks) -> None:
    choices = ["billing", "shipping", "returns"]
    file = tasks({"prompt": "I was charged twice.", "choices": choices, "reference": "billing", "evaluator": "exact"})
    done = wisen("run", file, "--json")
    task = json.loads(done.stdout)["tasks"][0]
    assert (done.returncode, done.stderr) == (0, "")
    assert task["model"] == "smollm2"
    assert {attempt["output"] for attempt in task["attempts"]} <= set(choices)
    assert len({attempt["output"] for attempt in task["attempts"]}) == len(task["attempts"])


def test_lessons_are_tried_on_recorded_runs_after_the_batch(
    wisen: Wisen, script: Script, tasks: Tasks, store: Path
) -> None:
    asked = (f"Is there room for {WORDS[n]} in {WORDS[-n - 1]}?" for n in range(9))
    file = tasks(*({"prompt": one, "reference": "yes", "evaluator": "exact"} for one in asked))
    asyncio.run(_learned(store))
    # Where every answer is right, nothing ends the trial before the second batch.
    again = ("run", file, "--model", script(*["yes"] * 80), "--max-attempts", "1", *QUICK)
    said = wisen(*again, "--replay-budget", "6").stdout.splitlines()[-1]
    assert said.startswith("replays: 6 attempts on ")
    assert said.endswith("; the budget is used up, and the next run goes on")
    found = json.loads(wisen(*again, "--replay-budget", "500", "--json").stdout)["replays"]
    assert (found["attempts"] > 0, found["exhausted"], found["error"]) == (True, False, "")
    assert "replays" not in json.loads(wisen(*again, "--json").stdout)
    assert "replays" not in wisen(*again).stdout


async def _learned(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lesson = MemoryCard(
        kind=MemoryKind.LESSON, content="Say yes.", situation=Situation(prompt="Is there room for all in the harbour?")
    )
    async with SQLiteVectorStore(path, embedder=HashEmbedder()) as store:
        await MemoryCI(store).submit(lesson)
