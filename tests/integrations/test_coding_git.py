"""What a coding agent's sessions change in their repository: lessons, and nothing that git need know."""

import asyncio
import json
import shutil
import subprocess
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from coding_desk import PROMPT, Desk, desk_in
from session_files import Ran, rollout

from wisen import Clockwork
from wisen.cli.main import main
from wisen.integrations.coding_memory import CodingMemory
from wisen.integrations.hook_payload import HookPayload
from wisen.memory_ci.pipeline import MemoryCI
from wisen.stores.markdown.card_counts import without_counts
from wisen.stores.markdown.store import MarkdownStore

GIT = shutil.which("git")
pytestmark = [pytest.mark.anyio, pytest.mark.skipif(GIT is None, reason="git isn't installed")]
FAILS, PASSES = "sh report.sh 2026", "sh report.sh --closed 2026"


def git(folder: Path, *args: str) -> list[str]:
    names = ("-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "core.quotePath=false", "-c", "gc.auto=0")
    done = subprocess.run([str(GIT), *names, *args], cwd=folder, capture_output=True, check=True, text=True)
    return done.stdout.splitlines()


def status(folder: Path) -> list[str]:
    return git(folder, "status", "--porcelain", "--untracked-files=all")


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "Lessons")


def said(capsys: pytest.CaptureFixture[str], *args: str) -> Any:
    """What a command says as JSON."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as exit_:
        main([*args, "--json"])
    assert exit_.value.code in (None, 0)
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = desk_in(tmp_path)
    made.state.mkdir(parents=True)
    (made.repository / ".git").rmdir()
    git(made.repository, "init", "--quiet", "--initial-branch=main")
    return made


@pytest.fixture
async def memory(desk: Desk) -> AsyncIterator[CodingMemory]:
    ids = Random(1)
    clockwork = Clockwork(new_id=lambda: f"{ids.getrandbits(128):032x}")
    made = CodingMemory(desk.state, clockwork=clockwork, log=lambda _: None)
    yield made
    await made.close()


async def session(memory: CodingMemory, desk: Desk, name: str, *ran: Ran) -> list[str]:
    """A session with one prompt and these commands; gives what the agent was told at them."""
    common = {"session_id": name, "cwd": str(desk.repository), "model": "probe"}
    await memory.answer("SessionStart", HookPayload(**common))
    told = [await memory.answer("UserPromptSubmit", HookPayload(**common, prompt=PROMPT))]
    for number, (command, *_) in enumerate(ran, 1):
        call = HookPayload(**common, tool_name="Bash", tool_input={"command": command}, tool_use_id=f"c{number}")
        told.append(await memory.answer("PreToolUse", call))
    path = rollout(desk.home / f"{name}.jsonl", (PROMPT, ran), session=name)
    await memory.learn(HookPayload(**common, transcript_path=str(path)))
    return told


async def test_draws_and_counts_leave_a_repository_clean(
    desk: Desk, memory: CodingMemory, capsys: pytest.CaptureFixture[str]
) -> None:
    await session(memory, desk, "first", (FAILS, 3, "the year is closed"), (PASSES, 0, "printed"))
    (new,) = status(desk.repository)
    assert new.startswith("?? .wisen/cards/failure_pattern/")
    commit(desk.repository)
    for number in range(6):
        told = await session(memory, desk, f"s{number}", (f"sh report.sh {number}", number % 2, "printed"))
        assert any("report.sh" in one for one in told) or number > 2, "the first three are shown it"
    # What it taught before is taught once more, and counted.
    await session(memory, desk, "again", (FAILS, 3, "the year is closed"), (PASSES, 0, "printed"))
    assert status(desk.repository) == []
    (card,) = await desk.cards()
    (trial,) = card.trials
    assert (trial.first, trial.first_good, trial.runs, card.duplicates) == (3, 2, 4, 1)
    store = str(desk.repository / ".wisen")
    (shown,) = (await asyncio.to_thread(said, capsys, "ci", "status", "--store", store))["cards"]
    assert shown["trials"][0]["first"] == 3
    assert shown["trials"][0]["said"].startswith("on trial, 7 of about "), "chance says which arm is ahead"
    runs = await asyncio.to_thread(said, capsys, "runs", "list", "--store", store)
    why = await asyncio.to_thread(said, capsys, "why", runs[0]["run_id"], "--store", store)
    assert card.id in json.dumps(why)
    assert status(desk.repository) == []


async def test_a_clone_begins_without_counts(
    desk: Desk, memory: CodingMemory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await session(memory, desk, "first", (FAILS, 3, "the year is closed"), (PASSES, 0, "printed"))
    for number in range(4):
        await session(memory, desk, f"s{number}", (f"sh report.sh {number}", 0, "printed"))
    (card,) = await desk.cards()
    commit(desk.repository)
    git(desk.repository, "clone", "--quiet", str(desk.repository), str(tmp_path / "clone"))
    async with MarkdownStore(tmp_path / "clone" / ".wisen") as store:
        (cloned,) = await store.get([card.id])
    assert cloned == without_counts(replace(card, version=cloned.version))
    async with MarkdownStore(desk.repository / ".wisen") as store:
        await MemoryCI(store).promote(card.id, "we know it")
    assert [line[:8] for line in status(desk.repository)] == [" M .wise"]
    commit(desk.repository)
    git(tmp_path / "clone", "pull", "--quiet")
    answer = await asyncio.to_thread(said, capsys, "ci", "status", "--store", str(tmp_path / "clone" / ".wisen"))
    (shown,) = answer["cards"]
    assert (shown["status"], shown["trials"], shown["evidence"]) == ("promoted", [], [])
