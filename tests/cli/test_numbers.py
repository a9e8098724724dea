"""Every number that any command takes: what can't be meant is one line that names the option, and nothing else."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
import typer

from wisen.cli.main import application

Wisen = Callable[..., CompletedProcess[str]]

TASK = {"id": "france", "prompt": "What is the capital of France?", "reference": "Paris", "evaluator": "normalised"}
VALUES = ("0", "-1", "nan", "inf", "1e400", "0.5", "1" * 30, f"-{'1' * 30}", "many", "")
COUNTS: Mapping[tuple[str, ...], int] = {
    ("run",): 8,
    ("ci", "run"): 9,
    ("learn",): 2,
    ("lessons", "list"): 2,
    ("lessons", "search"): 1,
    ("runs", "list"): 2,
    ("reflect", "archive"): 1,
}
"""How many options with numbers each command has, at least."""


def options(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each command with each of its options."""
    for name, one in getattr(command, "commands", {}).items():
        yield from options(one, (*path, name))
    for one in () if hasattr(command, "commands") else command.params:
        if one.opts[0].startswith("--") and not one.is_flag:
            yield path, one.opts[0]


OPTIONS = sorted(set(options(typer.main.get_command(application()))))


def is_a_number(wisen: Wisen, path: tuple[str, ...], option: str) -> bool:
    """Whether the option's value has to be a number."""
    said = wisen(*path, f"{option}=many").stderr
    return option in said and "number" in said


@pytest.fixture
def base(
    wisen: Wisen,
    script: Callable[..., str],
    tasks: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Mapping[tuple[str, ...], tuple[object, ...]]:
    """What each command needs besides, over a store with a run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "memory").mkdir()
    model = ("--model", script("Paris", "Paris"))
    done = wisen("run", tasks(TASK), *model, "--embedder", "hash")
    assert done.returncode == 0
    traces = tmp_path / "traces.jsonl"
    traces.write_text(json.dumps({"task": "x", "steps": [{"action": "find", "observation": "08:15"}]}))
    return {
        ("run",): (tasks(TASK), *model),
        ("ci", "run"): (tasks(TASK), *model),
        ("learn",): (traces, "--dry-run"),
        ("lessons", "search"): ("capital",),
        ("reflect", "archive"): ("--root", "memory"),
    }


@pytest.mark.parametrize("path", sorted(COUNTS))
def test_a_number_is_taken_or_refused_by_its_option(
    wisen: Wisen, base: Mapping[tuple[str, ...], tuple[object, ...]], path: tuple[str, ...]
) -> None:
    numbers = [option for one, option in OPTIONS if one == path and is_a_number(wisen, path, option)]
    assert len(numbers) >= COUNTS[path]
    for option in numbers:
        assert wisen(*path, f"{option}=many").stderr.count("\n") == 1
    for option in numbers:
        for value in VALUES:
            done = wisen(*path, *base.get(path, ()), f"{option}={value}")
            if done.returncode == 2:
                assert done.stdout == ""
                assert done.stderr.startswith("wisen: ")
                assert option in done.stderr
                assert done.stderr.count("\n") == 1
                assert "Input should" not in done.stderr
            else:
                assert done.returncode in (0, 1)
