"""On a terminal there are frames and progress; no text of a user's is taken for markup."""

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path

import pytest

from wisen.cli.main import main

Script = Callable[..., str]
Tasks = Callable[..., Path]


@pytest.fixture
def on_screen(store: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Calls the command on a terminal of its own and gives what stands there."""
    del store
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")

    def call(*args: object) -> str:
        reader, terminal = os.openpty()
        with ThreadPoolExecutor(1) as thread:
            seen = thread.submit(everything, reader)
            screen = os.fdopen(terminal, "w", encoding="utf-8")
            with screen, redirect_stdout(screen), redirect_stderr(screen), pytest.raises(SystemExit):
                main([str(arg) for arg in args])
            return seen.result()

    return call


def everything(reader: int) -> str:
    """What is written to a terminal until it is closed, which its reader sees as an error."""
    found = b""
    with suppress(OSError):
        while piece := os.read(reader, 100_000):
            found += piece
    os.close(reader)
    return found.decode()


def test_a_run_shows_its_progress_and_a_table(on_screen: Callable[..., str], script: Script, tasks: Tasks) -> None:
    file = tasks({"prompt": "[bold]Capital[/bold] of France? \x1b]0;x", "reference": "Paris", "evaluator": "exact"})
    seen = on_screen("run", file, "--model", script("Paris"), "--embedder", "hash")
    assert "1/1" in seen
    assert "1 satisfied, 0 failed" in seen
    assert "│" in seen
    assert "[bold]Capital[/bold]" in seen
    assert "\x1b]0;x" not in seen
    listed = on_screen("lessons", "list")
    assert "skill_card" in listed
    assert "│" in listed


def test_json_is_the_same_on_a_terminal(on_screen: Callable[..., str], script: Script, tasks: Tasks) -> None:
    file = tasks({"prompt": "Capital of France?", "reference": "Paris", "evaluator": "exact"})
    assert on_screen("run", file, "--model", script("Paris"), "--embedder", "hash")
    assert json.loads(on_screen("lessons", "list", "--json"))["total"] == 1
