"""On a terminal there are frames and progress; no text of a user's is taken for markup."""

import asyncio
import json
import os
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from wisen.cards import CardEvidence, MemoryCard, MemoryKind, MemoryScope, MemoryStatus, Provenance, Situation
from wisen.cli.main import main
from wisen.embedders.hashing import HashEmbedder
from wisen.records import RunRecord, Task
from wisen.reports import DecisionReport, report_to_card
from wisen.stores.markdown.store import MarkdownStore
from wisen.stores.sqlite.store import SQLiteVectorStore
from wisen.trial_records import DrawCounts, Trial

Script = Callable[..., str]
Tasks = Callable[..., Path]


@pytest.fixture
def on_screen(store: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Calls the command on a terminal of its own and gives what stands there."""
    del store
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")

    def call(*args: object) -> str:
        reader, terminal = os.openpty()
        with ThreadPoolExecutor(1) as thread:
            seen = thread.submit(everything, reader)
            screen = os.fdopen(terminal, "w", encoding="utf-8")
            with screen, redirect_stdout(screen), redirect_stderr(screen), pytest.raises(SystemExit):
                main([str(arg) for arg in args])
            return seen.result()

    return call


async def made(path: Path, *run_ids: str) -> None:
    """Make a store with these runs."""
    async with SQLiteVectorStore(path) as opened:
        for run_id in run_ids:
            await opened.save_run(RunRecord(run_id=run_id, task=Task(prompt="x"), status="failed"))


def everything(reader: int) -> str:
    """What is written to a terminal until it is closed, which its reader sees as an error; without colours."""
    found = b""
    with suppress(OSError):
        while piece := os.read(reader, 100_000):
            found += piece
    os.close(reader)
    return re.sub(r"\x1b\[[\d;]*m", "", found.decode())


def test_a_run_shows_its_progress_and_a_table(on_screen: Callable[..., str], script: Script, tasks: Tasks) -> None:
    file = tasks({"prompt": "[bold]Capital[/bold] of France? \x1b]0;x", "reference": "Paris", "evaluator": "exact"})
    seen = on_screen("run", file, "--model", script("Paris"), "--embedder", "hash")
    assert "1/1" in seen
    assert "1 satisfied, 0 failed" in seen
    assert "────" in seen
    assert "[bold]Capital[/bold]" in seen
    assert "\x1b]0;x" not in seen
    listed = on_screen("lessons", "list")
    assert "skill_card" in listed
    assert "────" in listed


def test_a_narrow_screen_shows_ids_that_can_be_used_and_room_for_text(
    on_screen: Callable[..., str], script: Script, tasks: Tasks
) -> None:
    task = {"prompt": f"What is the capital of France?{' Think hard.' * 5}", "reference": "Paris", "evaluator": "exact"}
    file = tasks(task, {**task, "tenant": "acme", "prompt": "And of Peru?"})
    assert on_screen("run", file, "--model", script("Paris", "Paris"), "--embedder", "hash", "--seed", "1")
    for noun, text in (("runs", "And of Peru?"), ("lessons", "Paris")):
        listed = on_screen(noun, "list")
        assert max(map(len, listed.splitlines())) <= 80
        assert text in listed
        rows = [line for line in listed.splitlines() if re.match("[0-9a-f]{12} ", line)]
        assert len(rows) == 2
        for row in rows:
            shown = row[:12]
            assert re.search(rf"id +{shown}", on_screen(noun, "show", shown))
    assert "acme" in on_screen("lessons", "list")
    assert "tenant" not in on_screen("lessons", "list", "--tenant", "")
    found = on_screen("lessons", "search", "What is the capital of France?")
    assert max(map(len, found.splitlines())) <= 80
    assert "Paris" in found


def test_a_screen_too_narrow_for_anything_else_shows_ids(
    on_screen: Callable[..., str], script: Script, tasks: Tasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tasks({"prompt": "Capital of France?", "reference": "Paris", "evaluator": "exact"})
    assert on_screen("run", file, "--model", script("Paris"), "--embedder", "hash")
    monkeypatch.setenv("COLUMNS", "20")
    for noun in ("runs", "lessons"):
        assert any(re.match("[0-9a-f]{12} ", line) for line in on_screen(noun, "list").splitlines())


REPLAYS = CardEvidence(model="SmolLM2-135M-Instruct", layout="turns", gained=12, lost=1, ties=7)
COUNTS = DrawCounts(propensity=0.6, shown=41, shown_good=33, held_out=28, held_out_good=13)
TRIALS = (
    Trial(model="SmolLM2-135M-Instruct", layout="turns", number=1, first=2),
    Trial(model="gpt-5-mini", layout="turns", number=2, stage="on trial", first=3, counts=(COUNTS,)),
)


@pytest.mark.parametrize(
    ("width", "headings"),
    [
        (60, "card status text"),
        (80, "card status trial replays text"),
        (100, "card status trial replays e helps e hurts shown text"),
        (140, "card status trial model replays e helps e hurts shown held out text"),
    ],
)
def test_where_cards_stand_fits_any_screen(
    on_screen: Callable[..., str], store: Path, monkeypatch: pytest.MonkeyPatch, width: int, headings: str
) -> None:
    card = MemoryCard(
        kind=MemoryKind.LESSON,
        content="Before quoting a price, convert it to euros with the rate of the invoice's date, not today's.",
        status=MemoryStatus.QUARANTINED,
        provenance=Provenance(run_id="r"),
        evidence=(REPLAYS,),
        trials=TRIALS,
    )
    asyncio.run(holding(store, card))
    monkeypatch.setenv("COLUMNS", str(width))
    listed = on_screen("ci", "status").splitlines()
    assert listed[0].split() == headings.split()
    assert max(map(len, listed[:4])) <= width
    rows = [row for row in listed if row.startswith(card.id[:12])]
    assert len(rows) == 2
    assert all("Before" in row and "…" in row for row in rows)
    if width >= 80:
        assert "12/1/7" in rows[0]
        assert "on trial, 72 of about" in rows[1]


@pytest.mark.parametrize(
    ("width", "headings"),
    [
        (80, "id date agent status task"),
        (100, "id date agent report status tenant task"),
        (140, "id date agent report status tenant task file"),
    ],
)
def test_reports_fit_any_screen(
    on_screen: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int, headings: str
) -> None:
    asyncio.run(reported(tmp_path))
    monkeypatch.setenv("COLUMNS", str(width))
    listed = on_screen("reflect", "list", "--store", tmp_path).splitlines()
    assert listed[0].split() == headings.split()
    assert max(map(len, listed)) <= width
    assert "…" not in "".join(listed)


async def holding(path: Path, card: MemoryCard) -> None:
    """Make a store with a card as it is."""
    async with SQLiteVectorStore(path) as opened:
        await opened.add([card])


async def reported(root: Path) -> None:
    """Make a folder with two reports."""
    task = "Sort the incoming mail by the harbour master's list and file it"
    report = DecisionReport(
        agent="planner-of-routes",
        date=date(2026, 3, 1),
        summary=task,
        decision="By size",
        alternatives="By date",
        why_chosen="Room",
    )
    async with MarkdownStore(root) as opened:
        tenant = MemoryScope(tenant="acme")
        await opened.add([report_to_card(report), report_to_card(replace(report, agent="zoe"), scope=tenant)])


def test_ids_are_as_long_as_it_takes_to_tell_them_apart(on_screen: Callable[..., str], store: Path) -> None:
    ids = [f"run-of-monday-{number}" for number in range(8)]
    asyncio.run(made(store, *ids))
    listed = on_screen("runs", "list")
    assert [line.split()[0] for line in listed.splitlines()[2:]] == ids[::-1]
    assert on_screen("runs", "show", "run-of").endswith(
        "run-of-monday-5, run-of-monday-4, run-of-monday-3 and 3 more; write more of it\r\n"
    )


def test_an_empty_listing_says_so(on_screen: Callable[..., str], store: Path) -> None:
    asyncio.run(made(store))
    assert on_screen("runs", "list") == "no runs yet\r\n"
    assert on_screen("lessons", "list") == "no lessons yet\r\n"


def test_json_is_the_same_on_a_terminal(on_screen: Callable[..., str], script: Script, tasks: Tasks) -> None:
    file = tasks({"prompt": "Capital of France?", "reference": "Paris", "evaluator": "exact"})
    assert on_screen("run", file, "--model", script("Paris"), "--embedder", "hash")
    assert json.loads(on_screen("lessons", "list", "--json"))["total"] == 1


def test_replays_say_what_is_being_tested(
    on_screen: Callable[..., str], script: Script, tasks: Tasks, store: Path
) -> None:
    async def learned() -> None:
        store.parent.mkdir(parents=True, exist_ok=True)
        lesson = MemoryCard(
            kind=MemoryKind.LESSON,
            content="Say yes.",
            situation=Situation(prompt="Is there room for ship 99 in the harbour?"),
            status=MemoryStatus.QUARANTINED,
        )
        async with SQLiteVectorStore(store, embedder=HashEmbedder()) as opened:
            await opened.add([lesson])

    asyncio.run(learned())
    file = tasks(
        *(
            {"prompt": f"Is there room for ship {n} in {word} harbour?", "reference": "yes", "evaluator": "exact"}
            for n, word in enumerate(("the grey", "our old stone", "a deep but narrow"))
        )
    )
    seen = on_screen("ci", "run", file, "--model", script(*["no", "yes"] * 9), "--embedder", "hash")
    assert "round 1, related task" in seen
    assert "cards tested: 1; 0 promoted, 0 archived, 1 undecided" in seen


@pytest.mark.local_model
def test_the_ci_demo_says_how_far_it_is_and_what_it_found(on_screen: Callable[..., str]) -> None:
    seen = on_screen("ci", "demo", "--family", "tickets", "--quick", "--embedder", "hash")
    assert "tickets: training, 1 tasks" in seen
    assert re.search(r"tickets: \d+ pairs, round 1, ", seen)
    assert "training tasks solved" in seen
    assert "planted as" in seen
    assert "wrong answer" in seen
    assert seen.rstrip().endswith("wisen ci demo --json --seed 1 --quick")
    assert "some minutes" not in seen


def test_a_copy_shows_its_progress(on_screen: Callable[..., str], store: Path, tmp_path: Path) -> None:
    asyncio.run(made(store, "r1", "r2"))
    seen = on_screen("store", "copy", store, tmp_path / "copy.db")
    assert "runs" in seen.partition("read")[0]
    assert "2/2" in seen.partition("read")[0]
    assert "whole: read back from the target" in seen
