"""`wisen serve`: what it refuses before it serves, and that it serves until it is stopped."""

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Wisen = Callable[..., subprocess.CompletedProcess[str]]
TOKEN = "a-token-of-some-length"


@pytest.mark.parametrize("host", ["0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "lessons.example:0"])
def test_others_than_this_machine_need_a_token(wisen: Wisen, host: str) -> None:
    done = wisen("serve", "--at", host)
    said = f"wisen: --at {host}: others can reach it; pass --tokens FILE or set WISEN_SERVE_TOKEN\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_a_tenant_has_one_source(wisen: Wisen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"{TOKEN} north\n")
    said = "wisen: --tenant: each token names its tenant"
    assert wisen("serve", "--tokens", tokens, "--tenant", "south").stderr.startswith(said)
    monkeypatch.setenv("WISEN_SERVE_TOKEN", f"{TOKEN} north")
    assert wisen("serve", "--tenant", "south").stderr.startswith(said)


def test_tokens_that_cannot_be_read_are_told_by_their_place(
    wisen: Wisen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"{TOKEN} north\nshort south\n")
    assert wisen("serve", "--tokens", tokens).stderr.startswith(f"wisen: {tokens}:2: the token has fewer")
    tokens.write_bytes(b"\xff\n")
    assert wisen("serve", "--tokens", tokens).stderr == f"wisen: --tokens '{tokens}': isn't UTF-8 text\n"
    monkeypatch.setenv("WISEN_SERVE_TOKEN", "nothing")
    assert wisen("serve").stderr.startswith("wisen: WISEN_SERVE_TOKEN:1: write a token")


def test_a_store_that_is_not_there_is_not_made(wisen: Wisen, store: Path) -> None:
    done = wisen("serve", "--at", "0")
    assert (done.returncode, done.stderr.startswith(f"wisen: no store at '{store}'")) == (2, True)
    assert not store.exists()


def test_without_the_extra_it_says_what_to_install(wisen: Wisen, store: Path) -> None:
    assert wisen("lessons", "add", "Count by rows.").returncode == 0
    code = "import sys; sys.modules['jinja2'] = None; from wisen.cli.main import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "serve", "--store", str(store)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = "wisen: `wisen serve` needs a package that isn't installed; run: pip install 'wisen[web]'\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_it_serves_until_it_is_stopped(wisen: Wisen, store: Path) -> None:
    assert wisen("lessons", "add", "Count by rows.").returncode == 0
    command = [sys.executable, "-m", "wisen", "serve", "--at", "0", "--store", str(store)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        said = process.stderr.readline()
        address = re.fullmatch(r".*: http://127\.0\.0\.1:(\d+)/ \(Ctrl-C ends it\)\n", said)
        assert address, said
        with socket.create_connection(("127.0.0.1", int(address[1]))) as connection:
            connection.sendall(b"GET /lessons HTTP/1.0\r\nHost: localhost\r\n\r\n")
            answer = b"".join(iter(lambda: connection.recv(65_536), b"")).decode()
        assert "Count by rows." in answer
        process.send_signal(signal.SIGINT)
        assert (process.wait(timeout=60), process.stderr.read()) == (0, "")
