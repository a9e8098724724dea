"""How these tests call the command: in this process, through its one entry, with a store of their own."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from wisen.cli.main import main

Wisen = Callable[..., CompletedProcess[str]]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the store of this test is, once something has made it."""
    path = tmp_path / "data" / "store.db"
    monkeypatch.setenv("WISEN_STORE", str(path))
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return path


@pytest.fixture
def wisen(store: Path, capsys: pytest.CaptureFixture[str], logging_restored: None) -> Wisen:  # noqa: ARG001 - restores
    """Calls the command with arguments; gives its exit code and what it printed."""
    del store

    def call(*args: object) -> CompletedProcess[str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as exit_:
            main([str(arg) for arg in args])
        out, err = capsys.readouterr()
        return CompletedProcess(
            [str(arg) for arg in args], exit_.value.code if isinstance(exit_.value.code, int) else 0, out, err
        )

    return call


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., str]:
    """Writes replies to a file and gives the name of the model that answers with them."""

    def write(*replies: object) -> str:
        path = tmp_path / "replies.json"
        path.write_text(json.dumps(replies))
        return f"scripted:{path}"

    return write


@pytest.fixture
def tasks(tmp_path: Path) -> Callable[..., Path]:
    """Writes tasks to a file, a JSON object a line."""

    def write(*items: dict[str, object]) -> Path:
        path = tmp_path / "tasks.jsonl"
        path.write_text("".join(f"{json.dumps(item)}\n" for item in items))
        return path

    return write


@pytest.fixture
def learned(wisen: Wisen, script: Callable[..., str], tasks: Callable[..., Path]) -> Wisen:
    """The command, over a store with two runs: one that failed once, and one of another tenant."""
    capital = {"id": "france", "prompt": "What is the capital of France?", "reference": "Paris"}
    tenant = {"id": "peru", "prompt": "Capital of Peru?", "reference": "Lima", "tenant": "acme"}
    file = tasks(*({**task, "evaluator": "normalised"} for task in (capital, tenant)))
    model = script("Lyon", "Name the seat of government.", "Paris", "Lima")
    assert wisen("run", file, "--model", model, "--seed", "1", "--embedder", "hash").returncode == 0
    return wisen
