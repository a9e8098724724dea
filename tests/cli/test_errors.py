"""Whatever is wrong with the input: one clear line on standard error, exit code 2, and no store made."""

import asyncio
import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from inline_snapshot import snapshot

from wisen.cards import MemoryCard, MemoryKind
from wisen.errors import StoreError
from wisen.stores.sqlite.store import SQLiteVectorStore

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
    path.write_text('[[tasks]]\nprompt = "x"\nevaluator = {kind = "command", command = "ls -l"}\n')
    assert refused(path=path).endswith("option 'command' is 'ls -l'; it must be a list")
    assert refused(path=tmp_path) == snapshot("DIR: is a directory; give a .toml, .yaml or .jsonl file")
    assert refused(path=tmp_path / "none.toml") == snapshot("DIR/none.toml: no such file")


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("openai:gpt-5", "model 'openai:gpt-5': set the environment variable OPENAI_API_KEY"),
        ("gtp-5", "model 'gtp-5': no such model; the forms are "),
        ("nowhere:model", "model 'nowhere:model': no such model; the forms are "),
        ("local:/no/such/file.gguf", "model 'local:/no/such/file.gguf': no such file; give the path of a GGUF file"),
        ("scripted:/no/such/file.json", "/no/such/file.json: No such file or directory"),
        ("scripted:", "model 'scripted:': the file is missing; write scripted:FILE.json"),
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
        (("--budget-tokens", "-1"), snapshot("--budget-tokens -1: must be a number, 0 or more")),
    ],
)
def test_an_option_out_of_its_range(refused: Callable[..., str], args: tuple[str, ...], said: str) -> None:
    assert refused(*args) == said


def test_an_embedder_that_isnt_one(refused: Callable[..., str]) -> None:
    assert refused("--embedder", "hush").startswith("no embedder is called 'hush' (did you mean 'hash'?); ")


@pytest.mark.parametrize("model", ["openai:text-embedding-3-small", "openai:x@768"])
def test_an_embedder_that_cant_work(refused: Callable[..., str], wisen: Wisen, script: Script, model: str) -> None:
    said = f"embedder {model.partition('@')[0]!r}: set the environment variable OPENAI_API_KEY"
    assert refused("--embedder", model) == said
    assert one_line(wisen("demo", "--embedder", model)) == said
    done = wisen("doctor", "--embedder", model, "--model", script("x"), "--json")
    assert done.returncode == 1
    assert [problem["problem"] for problem in json.loads(done.stdout)["problems"]] == [said]


def test_an_embedder_whose_length_isnt_known(refused: Callable[..., str], wisen: Wisen) -> None:
    said = "embedder 'openai:x': its vectors' length isn't known; write it behind the name, as in openai:x@768"
    assert refused("--embedder", "openai:x") == said
    assert one_line(wisen("demo", "--embedder", "openai:x")) == said


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise RuntimeError('no database\\nat all')", "RuntimeError: no database at all"),
        ("import sys\nsys.exit('bye')", "SystemExit: bye"),
        ("x = (", "SyntaxError: '(' was never closed (ends_{n}.py, line 1)"),
    ],
)
def test_an_evaluators_module_that_fails(refused: Callable[..., str], tmp_path: Path, code: str, said: str) -> None:
    name = f"ends_{tmp_path.name.rpartition('_')[2]}"
    (tmp_path / f"{name}.py").write_text(code)
    path = tmp_path / "checked.toml"
    path.write_text(f'[[tasks]]\nprompt = "x"\nevaluator = {{kind = "function", function = "{name}:check"}}\n')
    told = refused(path=path)
    assert told.startswith("DIR/checked.toml:3: field 'evaluator'")
    assert told.endswith(f"{name}:check' can't be imported: {said.format(n=name.removeprefix('ends_'))}")


@pytest.mark.parametrize("path", [".", "/"])
def test_a_directory_is_no_store(wisen: Wisen, script: Script, tasks: Tasks, path: str) -> None:
    said = f"store '{path}' is a directory; pass a file's path, or markdown:FOLDER"
    reading = [("lessons", "list"), ("lessons", "show", "x"), ("lessons", "search", "x"), ("lessons", "export")]
    running = ("run", tasks(TASK), "--model", script("Paris"))
    for args in (running, *reading, ("runs", "list"), ("runs", "show", "x")):
        assert one_line(wisen(*args, "--store", path)) == said
    done = wisen("doctor", "--model", script("x"), "--embedder", "hash", "--store", path, "--json")
    assert [problem["problem"] for problem in json.loads(done.stdout)["problems"]] == [said]


@pytest.mark.anyio
async def test_a_directory_is_no_store_of_the_library_either(tmp_path: Path) -> None:
    for read_only in (False, True):
        store = SQLiteVectorStore(tmp_path, read_only=read_only)
        with pytest.raises(StoreError, match="is a directory; pass a file's path"):
            await store.open()
        await store.close()


def test_the_demo_looks_before_it_speaks(wisen: Wisen, tmp_path: Path) -> None:
    quick = ("--family", "tickets", "--embedder", "hash", "--model", "openai-compatible:http://127.0.0.1:9/v1#x")
    assert one_line(wisen("demo", "--family", "x")) == snapshot(
        "--family 'x': no such task family; there are: trial, tickets, dates, notes"
    )
    assert one_line(wisen("demo", *quick, "--model", "gtp-5")).startswith("model 'gtp-5': no such model; ")
    assert one_line(wisen("demo", *quick, "--svg", tmp_path / "none" / "c.svg")).replace(
        str(tmp_path), "DIR"
    ) == snapshot("--svg 'DIR/none/c.svg': its folder doesn't exist; make it, or give another")
    file = tmp_path / "t.toml"
    file.touch()
    said = one_line(wisen("demo", *quick, "--store", file))
    assert said.replace(str(tmp_path), "DIR") == snapshot(
        "--store 'DIR/t.toml': is a file; give a folder for the demo's stores"
    )
    asyncio.run(filled(tmp_path / "demo-tickets-1.db"))
    said = one_line(wisen("demo", *quick, "--store", tmp_path))
    assert said.replace(str(tmp_path), "DIR") == snapshot(
        "store 'DIR/demo-tickets-1.db' holds cards of an earlier demo; give a new folder"
    )


async def filled(path: Path) -> None:
    """Make a store with a card."""
    async with SQLiteVectorStore(path) as store:
        await store.add([MemoryCard(id="a", kind=MemoryKind.LESSON, content="Look.")])


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("run",), "missing argument 'TASKS'; see `wisen run --help`"),
        (("run", "x", "--nope"), "no such option: --nope "),
        (("run", "x", "--trust", "odd"), "invalid value for '--trust': 'odd' is not one of 'replayed', 'trial', 's"),
        (("run", "x", "--max-attempts", "few"), "invalid value for '--max-attempts': "),
        (("run", "x", "--model"), "option '--model' requires an argument"),
        (("runs", "list", "--limit", "0"), "invalid value for '--limit': "),
        (("lessons", "list", "--status", "odd"), "invalid value for '--status': 'odd' is not one of 'candidate', "),
        (("lessons", "export", "--format", "odd"), "invalid value for '--format': 'odd' is not one of 'jsonl', "),
        (("nope",), "no such command 'nope'; see `wisen --help`"),
    ],
)
def test_usage_errors_are_one_line(wisen: Wisen, args: tuple[str, ...], said: str) -> None:
    assert one_line(wisen(*args)).startswith(said)


def test_a_noun_alone_shows_its_verbs(wisen: Wisen) -> None:
    for args, verb in (((), "lessons"), (("runs",), "show")):
        done = wisen(*args)
        assert (done.returncode, done.stdout) == (2, "")
        assert verb in done.stderr


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


@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_a_command_works_where_its_output_is_closed(tmp_path: Path, closed: str) -> None:
    store = tmp_path / "cards.db"

    async def fill() -> None:
        async with SQLiteVectorStore(store) as opened:
            await opened.add([MemoryCard(kind=MemoryKind.LESSON, content="Count from zero.", id="first")])

    asyncio.run(fill())
    command = f"'{sys.executable}' -m wisen lessons list --store '{store}' {closed}"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
