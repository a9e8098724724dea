"""What a coding agent runs at each of its events: asks the resident process, and stays out of the way without one.

Run as `python -I -S hook_client.py EVENT`, with the agent's payload on standard input. It runs at every tool call, so
it imports next to nothing. Whatever goes wrong, it prints nothing, and its exit code is 0.
"""

import os
import socket
import sys
import time
from collections.abc import Mapping

SOCKET = "hooks.sock"
PENDING = "pending"
LOCK = "hooks.lock"
LOG = "hooks.log"
PERSON = "person.db"
"""Beside them in the state folder: the person's store."""
FOLDER = ".wisen"
"""At the root of a repository: its store, in Markdown."""
STOP, ALIVE = "wisen.stop", "wisen.alive"
"""What `wisen` itself asks of the resident process."""
OFF = "off"
"""A file of this name in the state folder, or in a repository's `.wisen`, turns the hooks off."""
VARIABLE = "WISEN_HOOKS"
"""`off` turns them off for whatever inherits it."""
PATIENCE = "WISEN_HOOKS_SECONDS"
_SECONDS = 0.5
_STARTING = ("SessionStart", "Stop", "SessionEnd")
_KEPT = ("Stop", "SessionEnd")
"""Events that say where a transcript is: without a resident process they wait for the next one."""
_MOST = 1_000_000
_HANDED = 3
"""The descriptor under which a resident process gets the lock."""


def state_folder(environ: Mapping[str, str]) -> str:
    """Where socket, log and what waits lie: in the user's data folder."""
    data = environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(data, "wisen", "hooks")


def ask(folder: str, event: str, payload: bytes, seconds: float) -> tuple[bool, bytes | None]:
    """Whether there is a resident process, and its answer, a line or nothing; `None` where none came in time."""
    ends, there = time.monotonic() + seconds, False
    try:
        os.chdir(folder)  # the path of a socket may be 100 characters long at most
        with socket.socket(socket.AF_UNIX) as channel:
            channel.settimeout(seconds)
            channel.connect(SOCKET)
            there = True
            channel.sendall(event.encode() + b"\n" + payload)
            channel.shutdown(socket.SHUT_WR)
            answer = b""
            while len(answer) < _MOST:
                channel.settimeout(max(ends - time.monotonic(), 0.001))
                part = channel.recv(65_536)
                if not part:
                    # One that was cut off has no line end, and no agent may see it.
                    return there, answer[:-1] if answer.endswith(b"\n") else None
                answer += part
    except (OSError, ValueError):
        pass
    return there, None


def keep(folder: str, event: str, payload: bytes) -> None:
    """Leave an event for the next resident process."""
    waiting = os.path.join(folder, PENDING)
    os.makedirs(waiting, 0o700, exist_ok=True)
    name = os.path.join(waiting, f"{time.time_ns()}-{os.getpid()}")
    with open(name + ".part", "xb") as out:
        out.write(event.encode() + b"\n" + payload)
    os.rename(name + ".part", name)


def locked(folder: str) -> int | None:
    """The lock of the one resident process, held while this descriptor is open; `None` where another one holds it."""
    import fcntl  # noqa: PLC0415 - most events need none

    lock = os.open(os.path.join(folder, LOCK), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock


def start(folder: str) -> None:
    """Start a resident process that belongs to nobody, and don't wait for it; nothing where one is there or starting.

    The lock is taken here and handed on, so that there is never a second one that waits for the first to end.
    """
    os.makedirs(folder, 0o700, exist_ok=True)
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork() == 0:
            lock = locked(folder)
            if lock is None:
                return
            os.dup2(lock, _HANDED)
            os.set_inheritable(_HANDED, True)  # which a descriptor isn't that had this number already
            nowhere = os.open(os.devnull, os.O_RDWR)
            for number in range(_HANDED):
                os.dup2(nowhere, number)
            os.closerange(_HANDED + 1, 1024)
            os.chdir(folder)
            # -P: no module of the folder that the agent works in is taken for one of wisen's.
            asked = [sys.executable, "-P", "-m", "wisen", "hooks", "serve", "--lock", str(_HANDED)]
            os.execv(sys.executable, asked)  # noqa: S606 - itself
    finally:
        os._exit(0)


def main(event: str) -> None:
    """Answer one event."""
    folder = state_folder(os.environ)
    if os.environ.get(VARIABLE) == "off" or os.path.exists(os.path.join(folder, OFF)):
        return
    payload = sys.stdin.buffer.read()
    there, answer = ask(folder, event, payload, float(os.environ.get(PATIENCE) or _SECONDS))
    if answer is None:
        if event in _KEPT:
            keep(folder, event, payload)
        if event in _STARTING and not there:
            start(folder)
    elif answer:
        os.write(1, answer + b"\n")


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    finally:
        os._exit(0)  # whatever it was, it isn't the agent's
