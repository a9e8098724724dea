"""Stands between wisen and a program it doesn't trust: sets limits, cuts the network, and leaves no process behind.

`Sandbox` runs `main` as `python -I -S`, with JOB as the one argument. JOB is JSON with `argv`, `limits` and more.
`lifeline` and `report` are the numbers of two inherited pipes. End of file on `lifeline` means "stop"; the outcome is
written to `report` as JSON. `channel` has the numbers of the program's own pipes. `room` says what the program's root
holds; null keeps this machine's. `required` lists the parts of isolation without which the program isn't started.

    launcher   watches processes, memory and files; ends everything
    └─ init    first process of a new PID namespace: when it ends, the kernel kills all that is in there
       └─ the program, and whatever it starts

Where the kernel grants no namespaces, the launcher adopts orphans (a "subreaper") and kills its descendants until
none is left.
"""

import ctypes
import json
import os
import re
import resource
import select
import signal
import sys
from contextlib import suppress
from typing import Any, NoReturn

from wisen.sandbox.sandboxed.confinement import call_filter, enter_root, filter_calls, forbid_namespaces

_NEW_USER, _NEW_PID, _NEW_NET, _NEW_IPC = 0x10000000, 0x20000000, 0x40000000, 0x08000000
_PDEATHSIG, _DUMPABLE, _DROP_BOUND, _SUBREAPER, _NO_NEW_PRIVS = 1, 4, 24, 36, 38
_CAPABILITIES = 64
_TICK_MS = 10
_NOBODY = 65534
_RESERVED_IDS = 302
_PAGE = os.sysconf("SC_PAGE_SIZE")
_libc = ctypes.CDLL(None, use_errno=True)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:  # noqa: PTH123 - pathlib is slow to import
        file.write(text)


def _isolate(*, as_nobody: bool) -> bool:
    """Enter new user, PID, network and IPC namespaces; says whether the kernel granted them."""
    uid, gid = os.getuid(), os.getgid()
    if not sys.platform.startswith("linux") or _libc.unshare(_NEW_USER | _NEW_PID | _NEW_NET | _NEW_IPC):
        return False
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{_NOBODY if as_nobody else uid} {uid} 1")
    _write("/proc/self/gid_map", f"{_NOBODY if as_nobody else gid} {gid} 1")
    return True


def _limit(kind: int, soft: int, hard: int | None = None) -> None:
    allowed = resource.getrlimit(kind)[1]
    wanted = soft if hard is None else hard
    top = wanted if allowed == resource.RLIM_INFINITY else min(wanted, allowed)
    resource.setrlimit(kind, (min(soft, top), top))


def _threads_of_user() -> int:
    threads = 0
    for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - pathlib is slow to import
        with suppress(OSError):
            if os.stat(f"/proc/{name}").st_uid == os.getuid():  # noqa: PTH116 - as above
                threads += len(os.listdir(f"/proc/{name}/task"))  # noqa: PTH208 - as above
    return threads


def _limits_ids_per_namespace() -> bool:
    """Whether `pid_max` is the namespace's own, since Linux 6.14; before, writing it would change the whole machine."""
    numbers = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) >= (6, 14)


def _become(argv: list[str], limits: dict[str, Any], failures: int, *, isolated: bool) -> NoReturn:
    """Take on the limits, drop all privileges, and turn into the program."""
    try:
        os.setpriority(os.PRIO_PROCESS, 0, max(5, os.getpriority(os.PRIO_PROCESS, 0)))  # nobody may lower it
        cpu = max(1, int(-(-limits["cpu_seconds"] // 1)))
        _limit(resource.RLIMIT_CPU, cpu, cpu + 1)
        _limit(resource.RLIMIT_AS, 2 * limits["memory_bytes"] + (256 << 20))
        _limit(resource.RLIMIT_FSIZE, limits["file_bytes"])
        _limit(resource.RLIMIT_NOFILE, limits["open_files"])
        _limit(resource.RLIMIT_CORE, 0)
        # Counted per user namespace; without one, together with all processes of this user. It doesn't bind root.
        _limit(resource.RLIMIT_NPROC, limits["processes"] + (1 if isolated else _threads_of_user()))
        for capability in range(_CAPABILITIES):
            _libc.prctl(_DROP_BOUND, capability, 0, 0, 0)
        _libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.execvpe(argv[0], argv, os.environ)  # noqa: S606 - no shell is what is wanted
    except BaseException as error:  # noqa: BLE001 - it has to reach the other process
        os.write(failures, f"{type(error).__name__}: {error}".encode())
    os._exit(127)


def _confine(room: dict[str, Any]) -> list[str]:
    """Go into the room and under the filter; says which of both the kernel granted."""
    held: list[str] = []
    with suppress(OSError):
        program = call_filter()
        with suppress(OSError):  # a second lock: the filter refuses them too
            forbid_namespaces()
        with suppress(OSError):
            enter_root(room, room["below"])
            held.append("files")
        filter_calls(program)
        held.append("calls")
    return held


def _init(job: dict[str, Any], done: int, launcher: int, *, isolated: bool) -> NoReturn:
    """Start the program, adopt orphans, and say what holds it and with which status it ended, in a line each."""
    _libc.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if not isolated and os.getppid() != launcher:
        os._exit(0)
    os.setsid()
    if isolated and _limits_ids_per_namespace():
        with suppress(OSError):
            # Binds root too. Ids below 300 aren't given out twice, so a lower limit would stop a program that starts
            # many processes one after the other.
            _write("/proc/sys/kernel/pid_max", str(_RESERVED_IDS + job["limits"]["processes"]))
    held = ["processes", "network"] if isolated else []
    if isolated and job["room"]:
        held += _confine(job["room"])
    os.write(done, json.dumps(held).encode() + b"\n")
    if not set(job["required"]) <= set(held):
        os._exit(0)
    failed, failing = os.pipe()
    program = os.fork()
    if not program:
        _become(job["argv"], job["limits"], failing, isolated=isolated)
    os.close(failing)
    for number in (0, 1, 2, *job["channel"]):
        os.close(number)
    problem = os.read(failed, 1000).decode(errors="replace")
    while True:
        pid, status = os.wait()
        if pid == program:
            os.write(done, json.dumps({"status": os.waitstatus_to_exitcode(status), "error": problem}).encode())
            os._exit(0)


def _line(pipe: int) -> bytes:
    """The first line that comes through a pipe; empty where it ends before."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(pipe, 1)
        if not byte:
            return b""
        line += byte
    return line


def _descendants(root: int, most: int) -> list[int]:
    """Processes below `root`; stops looking once there are more than `most`."""
    found: list[int] = []
    queue = [root]
    while queue and len(found) <= most:
        pid = queue.pop()
        with suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - pathlib is slow to import
                with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:  # noqa: PTH123 - as above
                    children = [int(child) for child in file.read().split()]
                found += children
                queue += children
    return found


def _resident(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:  # noqa: PTH123 - pathlib is slow to import
            return int(file.read().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def _written(directory: str) -> int:
    """Bytes of all files below `directory`."""
    total, folders = 0, [directory]
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
    return total


def _excess(root: int, limits: dict[str, Any], tick: int) -> str:
    """Which limit all processes together exceed, if any."""
    alive = _descendants(root, limits["processes"])
    if len(alive) > limits["processes"]:
        return "processes"
    if sum(map(_resident, alive)) > limits["memory_bytes"]:
        return "memory"
    if tick % 10 == 0 and _written(".") > limits["file_bytes"]:
        return "files"
    return ""


def _watch(init: int, job: dict[str, Any], done: int) -> dict[str, Any]:
    """Wait for the program's end, the other side's wish to stop, or an excess."""
    poll = select.poll()
    poll.register(job["lifeline"], select.POLLIN | select.POLLHUP)
    poll.register(done, select.POLLIN | select.POLLHUP)
    tick = 0
    while True:
        ready = [number for number, _ in poll.poll(_TICK_MS)]
        if done in ready:
            said = os.read(done, 4096)
            return json.loads(said) if said else {"status": -signal.SIGKILL}
        if ready:
            return {"killed": ""}
        tick += 1
        excess = _excess(init, job["limits"], tick)
        if excess:
            return {"killed": excess}


def _end_all(init: int) -> None:
    """Kill init with its group, and so its namespace, and then every orphan that came to this process."""
    for kill in (os.killpg, os.kill):
        with suppress(OSError):
            kill(init, signal.SIGKILL)
    while True:
        alive = _descendants(os.getpid(), 100_000)
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in alive:
                with suppress(OSError):
                    os.kill(pid, number)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        select.select((), (), (), 0.001)


def main() -> None:
    """Run the job that the command line holds."""
    job: dict[str, Any] = json.loads(sys.argv[1])
    # The group's signals (an interrupt, say) are for the program; this process has to outlive it.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _libc.prctl(_SUBREAPER, 1, 0, 0, 0)
    with suppress(OSError):
        # Only root may; a program that starts thousands of processes must not starve the one that watches it.
        os.setpriority(os.PRIO_PROCESS, 0, -10)
    isolated = job["isolate"] and _isolate(as_nobody=job["room"] is not None)
    # The program may have the same user: without this it could open this process's pipes through /proc.
    _libc.prctl(_DUMPABLE, 0, 0, 0, 0)
    for number in (job["lifeline"], job["report"]):
        os.set_inheritable(number, False)
    done, says_done = os.pipe()
    launcher = os.getpid()
    init = os.fork()
    if not init:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        os.close(job["lifeline"])
        os.close(job["report"])
        _init(job, says_done, launcher, isolated=isolated)
    os.close(says_done)
    for number in (0, 1, 2, *job["channel"]):
        os.close(number)
    held = json.loads(_line(done) or b"[]")
    refused = sorted(set(job["required"]) - set(held))
    outcome = {"refused": refused} if refused else _watch(init, job, done)
    _end_all(init)
    os.write(job["report"], json.dumps({"held": held, "files": _written("."), **outcome}).encode())
