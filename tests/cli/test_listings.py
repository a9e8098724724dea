"""The listings show what a store holds: to people, to programs, and to git."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from dirty_equals import IsFloat, IsStr
from inline_snapshot import snapshot

from wisen import SQLiteVectorStore
from wisen.records import AttemptRecord, RunRecord, Task
from wisen.stores.serialization import card_from_json

Wisen = Callable[..., CompletedProcess[str]]
Script = Callable[..., str]
Tasks = Callable[..., Path]

CAPITAL = {"id": "france", "prompt": "What is the capital of France?", "reference": "Paris", "evaluator": "normalised"}


def listed(wisen: Wisen, *args: object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(wisen("lessons", "list", "--json", *args).stdout)["lessons"]
    return found


def test_lessons_are_listed(learned: Wisen) -> None:
    assert learned("lessons", "list").stdout == snapshot("""\
id                    kind        status       tenant  verified  seen  text
5d393a983711705f4b76  lesson      quarantined          yes          1  Name the seat of government.
54e631bd7eb6f3bddb0e  skill_card  quarantined          yes          1  Paris
e91f068f3bf86460aeea  skill_card  quarantined  acme    yes          1  Lima
""")


def test_a_listing_can_be_narrowed(learned: Wisen) -> None:
    assert [card["content"] for card in listed(learned)] == ["Name the seat of government.", "Paris", "Lima"]
    assert [card["content"] for card in listed(learned, "--tenant", "acme")] == ["Lima"]
    assert [card["content"] for card in listed(learned, "--tenant", "", "--kind", "skill_card")] == ["Paris"]
    assert [card["content"] for card in listed(learned, "--limit", 1, "--offset", 1)] == ["Paris"]
    assert listed(learned, "--status", "promoted") == []
    run = listed(learned)[2]["provenance"]["run_id"]
    assert [card["content"] for card in listed(learned, "--run", run)] == ["Lima"]
    part = learned("lessons", "list", "--limit", 1)
    assert part.stderr == "1 of 3; see --limit and --offset\n"


def test_a_lesson_is_shown_whole(learned: Wisen) -> None:
    card = listed(learned)[1]
    shown = learned("lessons", "show", card["id"]).stdout
    assert [line.split("  ")[0] for line in shown.splitlines()] == snapshot(
        [
            "id",
            "kind",
            "status",
            "content",
            "learned from",
            "run",
            "created",
            "agent",
            "model",
            "evaluator",
            "trial",
            "version",
            "times seen",
        ]
    )
    assert "What is the capital of France?" in shown
    assert "attempt 2" in shown
    assert json.loads(learned("lessons", "show", card["id"], "--json").stdout) == card


def test_a_search_says_why(learned: Wisen) -> None:
    found = json.loads(learned("lessons", "search", "what is the capital of france", "--json").stdout)
    assert found[0] == {
        "relevance": 1.0,
        "reasons": ["same prompt", IsStr(regex="shares rare words: .*")],
        "vector": IsFloat(ge=0, le=1.001),
        "lexical": IsFloat(ge=0, le=1),
        "lesson": found[0]["lesson"],
    }
    assert {hit["lesson"]["content"] for hit in found} == {"Paris", "Name the seat of government."}
    assert "same prompt" in learned("lessons", "search", "what is the capital of france").stdout
    assert learned("lessons", "search", "capital of Peru", "--tenant", "acme", "--k", 1).stdout.count("\n") == 2


def test_nothing_is_a_normal_answer_of_a_search(learned: Wisen) -> None:
    done = learned("lessons", "search", "quarterly zebra migration")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "no card is relevant enough\n")


def test_exported_cards_can_be_read_back(learned: Wisen, tmp_path: Path) -> None:
    lines = learned("lessons", "export").stdout.splitlines()
    assert [card_from_json(line).content for line in lines] == ["Name the seat of government.", "Paris", "Lima"]
    done = learned("lessons", "export", "--output", tmp_path / "cards.jsonl", "--tenant", "acme")
    assert (done.stdout, done.stderr) == ("", f"cards written to {tmp_path / 'cards.jsonl'}: 1\n")
    assert (tmp_path / "cards.jsonl").read_text(encoding="utf-8").splitlines() == lines[2:]


def test_markdown_quotes_what_cards_say(wisen: Wisen, script: Script, tasks: Tasks) -> None:
    model = script("no", "First line\n# Not a heading", "Paris")
    assert wisen("run", tasks(CAPITAL), "--model", model, "--embedder", "hash").returncode == 0
    text = wisen("lessons", "export", "--format", "markdown").stdout
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        IsStr(regex=r"## lesson [0-9a-f]{20}"),
        IsStr(regex=r"## skill_card [0-9a-f]{20}"),
    ]


def test_runs_are_listed_and_explained(learned: Wisen, script: Script, tasks: Tasks) -> None:
    again = learned("run", tasks(CAPITAL), "--model", script("Paris"), "--trust", "screened", "--seed", "2")
    assert again.returncode == 0
    records = json.loads(learned("runs", "list", "--json").stdout)
    assert [record["task"]["id"] for record in records] == ["france", "peru", "france"]
    assert [
        record["task"]["id"] for record in json.loads(learned("runs", "list", "--json", "--tenant", "acme").stdout)
    ] == ["peru"]
    assert len(learned("runs", "list", "--limit", 2).stdout.splitlines()) == 3
    shown = learned("runs", "show", records[0]["run_id"]).stdout
    assert "shown: same prompt" in shown
    assert "1.00 (reference, check)" in shown
    first = json.loads(learned("runs", "show", records[2]["run_id"], "--json").stdout)
    assert {key: value for key, value in first.items() if key != "lessons"} == records[2]
    assert [lesson["content"] for lesson in first["lessons"]] == ["Name the seat of government.", "Paris"]
    assert "lessons\n" in learned("runs", "show", records[2]["run_id"]).stdout


def test_a_failed_attempt_says_why_in_one_line(wisen: Wisen, script: Script, tasks: Tasks) -> None:
    why = "the provider is down;\ntry again later"
    assert wisen("run", tasks(CAPITAL), "--model", script({"error": why}), "--embedder", "hash").returncode == 1
    (record,) = json.loads(wisen("runs", "list", "--json").stdout)
    assert [one["failure"] for one in record["attempts"]] == [
        "UnreachableModelError: model 'scripted': the provider is down; try again later"
    ]
    lines = wisen("runs", "show", record["run_id"]).stdout.splitlines()
    (line,) = [line for line in lines if "the provider is down" in line]
    assert line.split() == ["failed", *record["attempts"][0]["failure"].split()]


def test_what_an_attempt_did_is_shown(wisen: Wisen, store: Path) -> None:
    did = 'action: look({"register": 1})\nobservation of look: closed'

    async def keep() -> None:
        async with SQLiteVectorStore(store) as opened:
            attempt = AttemptRecord(attempt=1, output="closed", did=did)
            await opened.save_run(RunRecord(run_id="r1", task=Task(prompt="Is it open?"), attempts=(attempt,)))

    asyncio.run(keep())
    lines = [line.strip() for line in wisen("runs", "show", "r1").stdout.splitlines()]
    at = next(place for place, line in enumerate(lines) if line.startswith("did "))
    assert [lines[at].removeprefix("did").strip(), lines[at + 1]] == did.splitlines()


def test_the_beginning_of_an_id_is_enough(learned: Wisen) -> None:
    cards = listed(learned)
    for number in (0, 1):
        whole = learned("lessons", "show", cards[number]["id"], "--json").stdout
        assert learned("lessons", "show", cards[number]["id"][:12], "--json").stdout == whole
    run = cards[2]["provenance"]["run_id"]
    assert json.loads(learned("runs", "show", run[:12], "--json").stdout)["run_id"] == run
    done = learned("lessons", "show", "5")
    assert (done.returncode, done.stdout, done.stderr) == snapshot(
        (
            2,
            "",
            "wisen: '5' begins several ids: 5d393a983711705f4b76, 54e631bd7eb6f3bddb0e; write more of it\n",
        )
    )


def test_an_empty_listing_says_so_beside_the_output(learned: Wisen) -> None:
    done = learned("runs", "list", "--tenant", "nobody")
    assert (done.returncode, done.stdout.count("\n"), done.stderr) == (0, 1, "no run fits these options\n")
    done = learned("lessons", "list", "--tenant", "nobody")
    assert (done.returncode, done.stdout.count("\n"), done.stderr) == (0, 1, "no lesson fits these options\n")
    done = learned("runs", "list", "--tenant", "nobody", "--json")
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.usefixtures("learned")
def test_a_reader_that_closes_the_pipe_is_no_error(store: Path) -> None:
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    for args in (("list",), ("list", "--json"), ("export",)):
        reader, writer = os.pipe()
        os.close(reader)
        command = [sys.executable, "-m", "wisen", "lessons", *args, "--store", str(store)]
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False, env=buffered)
        os.close(writer)
        assert (done.returncode, done.stderr) == (141, "")


def test_where_the_store_is(wisen: Wisen, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = wisen("lessons", "path")
    assert done.stdout == f"{store}\n"
    assert done.stderr == "from: the environment variable WISEN_STORE; it does not exist yet\n"
    assert wisen("lessons", "path", "--store", "x.db").stdout == "x.db\n"
    monkeypatch.delenv("WISEN_STORE")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert wisen("lessons", "path").stdout == f"{tmp_path}/wisen/wisen.db\n"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert wisen("lessons", "path").stdout == f"{tmp_path}/.local/share/wisen/wisen.db\n"


def test_the_module_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "wisen", "--version"], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert done.stdout.startswith("wisen ")


def test_help_loads_nothing_heavy() -> None:
    heavy = ("numpy", "pydantic", "pydantic_ai", "rich", "yaml")
    code = f"""
import sys
from wisen.cli.main import main
try:
    main(["--help"])
except SystemExit:
    print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"
    assert "lessons" in done.stdout
