"""Whatever is wrong with the input: one clear line on standard error, exit code 2, and no store made."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from inline_snapshot import snapshot

Wisen = Callable[..., CompletedProcess[str]]
Script = Callable[..., str]
Tasks = Callable[..., Path]

TASK = {"prompt": "What is the capital of France?", "reference": "Paris", "evaluator": "normalised"}
WITHOUT_RIGHTS = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)  # root keeps its files, and no longer passes over their modes
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


def one_line(done: CompletedProcess[str]) -> str:
    """What a refused command said, once its form is right."""
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("wisen: ")
    assert done.stderr.count("\n") == 1
    return done.stderr.removeprefix("wisen: ").strip()


@pytest.fixture
def refused(wisen: Wisen, script: Script, tasks: Tasks, tmp_path: Path, store: Path) -> Callable[..., str]:
    """Runs a good file with further options, which have to be refused before a store is made."""
    file, model = tasks(TASK), script("Paris")

    def run(*args: object, path: Path = file) -> str:
        said = one_line(wisen("run", path, *(() if "--model" in args else ("--model", model)), *args))
        assert not store.exists()
        return said.replace(str(tmp_path), "DIR")

    return run


def test_a_mistake_in_a_tasks_file_names_file_line_and_field(refused: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text('[[tasks]]\nprompt = "fine"\n\n[[tasks]]\nprompt = 3\n')
    assert refused(path=path) == snapshot(
        "DIR/bad.toml:5: field 'prompt': must be a string, not a number; put it in quotes"
    )
    path.write_text('[[tasks]]\nprompt = "fine"\nevaluator = "magic"\n')
    assert refused(path=path).startswith("DIR/bad.toml:3: field 'evaluator'")
    assert refused(path=tmp_path / "none.toml") == snapshot("DIR/none.toml: no such file")


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("openai:gpt-5", "model 'openai:gpt-5': set the environment variable OPENAI_API_KEY"),
        ("gtp-5", "model 'gtp-5': no such model; the forms are "),
        ("nowhere:model", "model 'nowhere:model': no such model; the forms are "),
        ("local:/no/such/file.gguf", "model 'local:/no/such/file.gguf': no such file; give the path of a GGUF file"),
        ("scripted:/no/such/file.json", "/no/such/file.json: No such file or directory"),
    ],
)
def test_a_model_that_cant_be_had(refused: Callable[..., str], model: str, said: str) -> None:
    assert refused("--model", model).startswith(said)
    assert refused("--judge-model", model).startswith(said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "{",
            snapshot(
                "DIR/script.json: not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"
            ),
        ),
        ("{}", snapshot("DIR/script.json: must hold a JSON list of replies, and holds a dict")),
        ('["fine", 3]', snapshot('DIR/script.json: reply 2: must be a text, or {"error": text} for a call that fails')),
        (
            '[{"tool": "search"}]',
            snapshot('DIR/script.json: reply 1: must be a text, or {"error": text} for a call that fails'),
        ),
    ],
)
def test_a_script_that_is_none(refused: Callable[..., str], tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "script.json"
    path.write_text(text)
    assert refused("--model", f"scripted:{path}") == said


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--max-attempts", "0"), snapshot("--max-attempts 0: must be 1 or more")),
        (("--threshold", "1.5"), snapshot("--threshold 1.5: must be in [0, 1]")),
        (("--threshold", "nan"), snapshot("--threshold nan: must be in [0, 1]")),
        (("--concurrency", "0"), snapshot("--concurrency 0: must be 1 or more")),
        (("--budget-tokens", "-1"), snapshot("Budget(tokens=-1): must be 0 or more, or None for no limit")),
    ],
)
def test_an_option_out_of_its_range(refused: Callable[..., str], args: tuple[str, ...], said: str) -> None:
    assert refused(*args) == said


def test_an_embedder_that_isnt_one(refused: Callable[..., str]) -> None:
    assert refused("--embedder", "hush").startswith("no embedder is called 'hush' (did you mean 'hash'?); ")


def test_usage_errors_exit_with_2(wisen: Wisen) -> None:
    for args in (("run",), ("run", "x", "--nope"), ("lessons", "list", "--status", "odd"), ("nope",)):
        done = wisen(*args)
        assert done.returncode == 2
        assert "Error: " in done.stderr
        assert "Traceback" not in done.stderr


def test_an_embedder_that_doesnt_fit_the_store(wisen: Wisen, script: Script, tasks: Tasks, store: Path) -> None:
    file = tasks(TASK)
    assert wisen("run", file, "--model", script("Paris"), "--embedder", "hash").returncode == 0
    said = one_line(wisen("run", file, "--model", script("Paris"), "--embedder", "hash:512"))
    assert said.replace(str(store), "STORE").startswith(
        "store 'STORE' holds vectors of embedder 'hash-384-v1/384', opened with 'hash-512-v1/512'; "
    )
    assert one_line(wisen("lessons", "search", "France", "--embedder", "hash:512")) == said
    assert wisen("run", file, "--model", script("Paris")).returncode == 0


def test_a_database_of_another_program(wisen: Wisen, script: Script, tasks: Tasks, tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE songs (title)")
    connection.close()
    said = one_line(wisen("run", tasks(TASK), "--model", script("Paris"), "--store", path))
    assert said.replace(str(path), "PATH") == snapshot(
        "'PATH' is not a store this wisen can open (a database of another program); pass another path"
    )
    path.write_text("not a database at all, but long enough to be read as the header of one, one hundred bytes or so")
    for args in (("lessons", "list"), ("lessons", "search", "x"), ("runs", "list"), ("lessons", "export")):
        assert "is not a store" in one_line(wisen(*args, "--store", path))


def test_a_read_only_database(wisen: Wisen, script: Script, tasks: Tasks, store: Path) -> None:
    file = tasks(TASK)
    assert wisen("run", file, "--model", script("Paris"), "--embedder", "hash").returncode == 0
    store.chmod(0o444)
    python = (sys.executable, "-c", WITHOUT_RIGHTS)
    tried = subprocess.run([*python, "-c", f"open({str(store)!r}, 'a')"], capture_output=True, check=False)
    if tried.returncode == 0:
        pytest.skip("this user may write to read-only files")
    command = [*python, "-m", "wisen", "run", str(file), "--model", script("Paris")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert one_line(done).replace(str(store), "STORE") == snapshot(
        "store 'STORE' is read-only; make it writable or pass another path"
    )


def test_looking_at_a_store_that_isnt_there(wisen: Wisen, store: Path) -> None:
    for args in (("lessons", "list"), ("lessons", "show", "x"), ("lessons", "search", "x"), ("lessons", "export"),
                 ("runs", "list"), ("runs", "show", "x")):  # fmt: skip
        assert one_line(wisen(*args)).replace(str(store), "STORE") == snapshot(
            "no store at 'STORE' (the environment variable WISEN_STORE); `wisen run TASKS` makes it, or pass --store"
        )
    assert not store.parent.exists()


def test_ids_that_mean_nothing(wisen: Wisen, script: Script, tasks: Tasks) -> None:
    assert wisen("run", tasks(TASK), "--model", script("Paris"), "--embedder", "hash").returncode == 0
    assert one_line(wisen("lessons", "show", "x")) == snapshot(
        "no memory card 'x'; `wisen lessons list` shows what is stored"
    )
    assert one_line(wisen("runs", "show", "x")) == snapshot("no run 'x'; `wisen runs list` shows what is recorded")
    assert one_line(wisen("lessons", "search", " ")) == snapshot(
        "TEXT is empty; write the task that cards are searched for"
    )
    assert one_line(wisen("lessons", "search", "x", "-k", "0")) == snapshot("--k 0: must be 1 or more")
    assert one_line(wisen("lessons", "export", "--output", "/no/such/folder/file")) == snapshot(
        "/no/such/folder/file: No such file or directory"
    )
