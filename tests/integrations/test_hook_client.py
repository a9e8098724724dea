"""The client of the hooks: without a resident process nothing is delayed, printed or broken, and nothing is lost."""

import json
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from coding_desk import CLIENT, PROMPT, Desk, desk_in
from session_files import rollout

EVENTS = ("SessionStart", "UserPromptSubmit", "PreToolUse", "Stop", "SessionEnd", "Unheard")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_in(tmp_path)


@pytest.mark.parametrize("event", ["UserPromptSubmit", "PreToolUse", "Unheard"])
@pytest.mark.parametrize("payload", [b"", b"\xff not JSON", b'{"session_id": 3}'])
def test_without_a_resident_process_nothing_is_said(desk: Desk, event: str, payload: bytes) -> None:
    assert desk.raw_hook(event, payload) == b""
    assert not desk.state.exists()


def test_without_an_event_nothing_is_said(desk: Desk) -> None:
    done = subprocess.run([sys.executable, "-I", "-S", str(CLIENT)], env=desk.environ, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("payload", [b"", b"\xff not JSON", b"[]", b'{"session_id": 3}'])
def test_a_payload_that_means_nothing_is_told_to_the_log_alone(desk: Desk, payload: bytes) -> None:
    with desk.resident():
        for event in EVENTS:
            assert desk.raw_hook(event, payload) == b""
    assert "ERROR" in desk.log
    assert desk.log.count("begins") == 1
    assert not (desk.state / "hooks.sock").exists(), "no hook has started another one"


@pytest.mark.parametrize("answer", [b"", b'{"hookSpecificOutput": {"hookEventNa', None])
@pytest.mark.parametrize("event", ["PreToolUse", "Stop"])
def test_an_answer_that_is_cut_off_or_late_is_none(
    desk: Desk, answer: bytes | None, event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`None` never answers."""
    desk.state.mkdir(parents=True)
    monkeypatch.chdir(desk.state)  # the path of a socket may be 100 characters long at most
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("hooks.sock")
        server.listen()

        def serve() -> None:
            channel = server.accept()[0]
            with channel:
                while channel.recv(4096):
                    pass
                if answer is None:
                    over.wait(30)
                else:
                    channel.sendall(answer)

        over, thread = threading.Event(), threading.Thread(target=serve)
        thread.start()
        began = time.monotonic()
        assert desk.raw_hook(event, desk.payload(event), {"WISEN_HOOKS_SECONDS": "0.5"}) == b""
        assert time.monotonic() - began < 10, "it waits for half a second"
        over.set()
        thread.join()
    waiting = [*(desk.state / "pending").glob("*")]
    assert len(waiting) == (event == "Stop"), "the end of a turn isn't lost"
    assert desk.log == "", "there was a process, so none was started"


def test_a_session_starts_a_resident_process_that_outlives_it(desk: Desk) -> None:
    assert desk.hook("SessionStart") == ""
    desk.until_alive()
    process = json.loads(desk.wisen("status", "--json").stdout)["process"]
    desk.hook("SessionStart", session_id="s-2")
    assert json.loads(desk.wisen("status", "--json").stdout)["process"] == process
    assert desk.wisen("hooks", "stop").returncode == 0
    assert json.loads(desk.wisen("status", "--json").stdout)["process"] is None


def test_a_resident_process_ends_by_itself(desk: Desk) -> None:
    command = [sys.executable, "-P", "-m", "wisen", "hooks", "serve", "--idle", "1"]
    done = subprocess.run(command, env=desk.environ, cwd=desk.home, check=False, timeout=60)
    assert done.returncode == 0
    assert not (desk.state / "hooks.sock").exists()


def test_there_is_one_resident_process(desk: Desk) -> None:
    with desk.resident():
        done = desk.wisen("hooks", "serve")
        assert (done.returncode, "another process" in done.stderr) == (0, True)


def test_stopping_stops_also_one_that_is_only_starting(desk: Desk) -> None:
    """And there is no second one, which would begin once the first has ended."""
    for number in range(4):
        desk.hook("SessionStart", session_id=f"s-{number}")
    assert "no process" not in desk.wisen("hooks", "stop").stderr
    assert (desk.log.count("begins"), desk.log.count("ends")) == (1, 1)
    assert "no process" in desk.wisen("hooks", "stop").stderr
    with desk.resident():
        assert desk.log.count("begins") == 2


def test_the_end_of_a_turn_waits_for_a_resident_process(desk: Desk, tmp_path: Path) -> None:
    """It starts one itself, which takes in what waits."""
    path = rollout(tmp_path / "r.jsonl", (PROMPT, [("sh a.sh", 1, "not so"), ("sh a.sh --so", 0, "")]))
    desk.hook("Stop", transcript_path=str(path))
    desk.wait_for(lambda: [*(desk.repository / ".wisen").glob("cards/*/*.md")])
    desk.wait_for(lambda: not [*(desk.state / "pending").iterdir()])
    desk.wisen("hooks", "stop")


def test_off_starts_and_keeps_nothing(desk: Desk) -> None:
    for event in EVENTS:
        assert desk.hook(event, {"WISEN_HOOKS": "off"}) == ""
    assert not desk.state.exists()
    desk.wisen("hooks", "off")
    for event in EVENTS:
        assert desk.hook(event) == ""
    assert [one.name for one in desk.state.iterdir()] == ["off"]
    assert json.loads(desk.wisen("status", "--json").stdout)["off"]
    desk.wisen("hooks", "on")
    assert json.loads(desk.wisen("status", "--json").stdout)["off"] == ""


def test_no_module_of_the_folder_is_run(desk: Desk) -> None:
    """Neither the client nor the resident process that it starts takes what an agent's folder holds for its own."""
    trap = f"open({str(desk.home / 'sprung')!r}, 'w').close()\n"
    desk.state.mkdir(parents=True)
    for name in ("socket.py", "wisen.py", "json.py", "typer.py"):
        for folder in (desk.repository, desk.state):
            (folder / name).write_text(trap)
    desk.hook("SessionStart")
    desk.until_alive()
    desk.wisen("hooks", "stop")
    assert not (desk.home / "sprung").exists()
