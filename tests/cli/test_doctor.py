"""`wisen doctor` says what a run would use and why, and for each problem what to do."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

from inline_snapshot import snapshot

from wisen.cli.doctor import isolation_line

Wisen = Callable[..., CompletedProcess[str]]
Script = Callable[..., str]
Tasks = Callable[..., Path]


def test_all_is_well(wisen: Wisen, script: Script, store: Path) -> None:
    model = script("hello")
    found = json.loads(wisen("doctor", "--model", model, "--embedder", "hash", "--json").stdout)
    assert (found["ok"], found["problems"]) == (True, [])
    assert found["sqlite_fts5"] in (True, False)
    assert set(found["isolation"]) <= {"processes", "network", "files", "calls"}
    assert found["packages"]["core"]["wisen"]
    assert set(found["weights"]) == {"smollm2", "gemma3"}
    assert found["model"]["name"] == "wisen:scripted"
    assert found["store"] == {
        "name": str(store),
        "why": "the environment variable WISEN_STORE",
        "ready": True,
        "about": "does not exist yet; the first run makes it",
    }
    done = wisen("doctor", "--model", model, "--embedder", "hash")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("All is well.\n")
    assert not store.exists()


def test_it_tells_what_the_store_holds_and_asks_for(wisen: Wisen, script: Script, tasks: Tasks) -> None:
    file = tasks({"prompt": "Capital of France?", "reference": "Paris", "evaluator": "normalised"})
    assert wisen("run", file, "--model", script("Paris"), "--embedder", "hash:128").returncode == 0
    found = json.loads(wisen("doctor", "--model", script("x"), "--json").stdout)
    assert found["store"]["about"] == "cards: 1, runs: 1"
    assert found["embedder"] == {
        "name": "hash-128-v1",
        "why": "the store's vectors come from it",
        "ready": True,
        "about": "128 dimensions",
    }


def test_problems_come_with_their_solution(wisen: Wisen, tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.db"
    foreign.write_text("x" * 200)
    done = wisen("doctor", "--model", "openai:gpt-5", "--embedder", "hush", "--store", foreign, "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert [problem["part"] for problem in found["problems"]] == ["model", "store", "embedder"]
    assert found["problems"][0]["problem"] == snapshot(
        "model 'openai:gpt-5': set the environment variable OPENAI_API_KEY"
    )
    printed = wisen("doctor", "--model", "openai:gpt-5", "--embedder", "hush", "--store", foreign)
    assert printed.returncode == 1
    assert printed.stdout.count("NOT READY") == 3
    assert "OPENAI_API_KEY" in printed.stdout
    assert "All is well." not in printed.stdout


def test_what_the_kernel_does_not_isolate_is_said_with_what_follows():
    assert isolation_line(("processes", "network", "files", "calls")).endswith("verdicts of unit tests are verified")
    assert isolation_line(()).startswith("none, without processes, network, files, calls: no verdict")
    assert "allow unprivileged user namespaces" in isolation_line(("processes",))
