"""Judges all attacks on the unit-test evaluator as another user, or where the kernel grants no namespaces.

Run as `python attacked.py ATTACKS TESTS {nobody|without}`; TESTS is JSON. It prints a line of JSON for each attack. It
goes into namespaces first, in which it can do what it tests without harm: the machine's files are read-only there.
"""

import asyncio
import ctypes
import json
import os
import sys
from pathlib import Path

from wisen.errors import EvaluationError
from wisen.evaluation.unit_tests import PythonTestsEvaluator
from wisen.records import ReflectionEvaluation, Task, Trace
from wisen.sandbox.sandbox import SandboxLimits

LIMITS = SandboxLimits(cpu_seconds=1, wall_seconds=6, memory_bytes=256 << 20, processes=24)
NOBODY = 65534
_USER, _PID, _NS, _NET, _IPC = 0x10000000, 0x20000000, 0x20000, 0x40000000, 0x08000000
_BIND, _REC, _PRIVATE = 4096, 16384, 1 << 18
_libc = ctypes.CDLL(None, use_errno=True)


def checked(result: int) -> None:
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def mount(source: str, target: str, kind: str, flags: int = 0, data: str = "") -> None:
    checked(_libc.mount(source.encode(), target.encode(), kind.encode(), flags, data.encode()))


def in_child() -> None:
    """Go on in a child; this process ends as the child does."""
    child = os.fork()
    if child:
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 255)


def without_namespaces() -> None:
    """Enter namespaces in which there can be no others, and in which nothing can be harmed."""
    user, group = os.getuid(), os.getgid()
    checked(_libc.unshare(_USER | _PID | _NS | _NET | _IPC))
    for name, text in (("setgroups", "deny"), ("uid_map", f"{NOBODY} {user} 1"), ("gid_map", f"{NOBODY} {group} 1")):
        Path(f"/proc/self/{name}").write_text(text)
    in_child()
    mount("", "/", "", _REC | _PRIVATE)
    read_only = (ctypes.c_uint64 * 4)(1, 0, 0, 0)
    checked(_libc.syscall(442, -100, b"/", 0x8000, ctypes.byref(read_only), 32))
    for place in ("/tmp", "/var/tmp", "/dev/shm"):  # noqa: S108 - private ones
        mount("tmpfs", place, "tmpfs", 0, "size=256m,mode=1777")
    mount("proc", "/proc", "proc")
    Path("/proc/sys/user/max_user_namespaces").write_text("0")
    for capability in range(64):
        _libc.prctl(24, capability, 0, 0, 0)
    header, nothing = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    checked(_libc.capset(ctypes.byref(header), ctypes.byref(nothing)))
    _libc.prctl(4, 0, 0, 0, 0)  # so that no attack writes into what this prints


def as_nobody() -> None:
    """Become a user without rights, for whom the interpreter and this package are still in reach."""
    if os.getuid():
        return
    checked(_libc.unshare(_NS))
    mount("", "/", "", _REC | _PRIVATE)
    wanted = [Path(path).resolve() for path in (sys.base_prefix, sys.prefix, __file__)]
    wanted = [path if path.is_dir() else path.parents[2] for path in wanted]
    closed = {parent for path in wanted for parent in path.parents if not parent.stat().st_mode & 1}
    staged = Path("/mnt")
    mount("tmpfs", str(staged), "tmpfs")
    for number, path in enumerate(wanted):
        (staged / str(number)).mkdir()
        mount(str(path), str(staged / str(number)), "", _BIND | _REC)
    for path in sorted(closed)[:1]:
        mount("tmpfs", str(path), "tmpfs", 0, "mode=755")
    for number, path in enumerate(wanted):
        if not path.exists():
            path.mkdir(parents=True)
            mount(str(staged / str(number)), str(path), "", _BIND | _REC)
    os.nice(7)  # somebody without rights can't take that back
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def own_tests(attack: Path) -> str:
    """The tests that an attack brings; "" where it is for the shared ones."""
    own = attack.with_suffix(".tests")
    return own.read_text() if own.exists() else ""


async def judge(attack: str, texts: tuple[str, str], shared: list[str], turn: asyncio.Semaphore) -> None:
    marker = f"wisen-attack-{os.getpid()}-{attack}"
    own, code = (text and text.replace("MARKER", marker) for text in texts)
    evaluator = PythonTestsEvaluator(own or shared, entry=None if own else "solve", limits=LIMITS)
    async with turn:
        try:
            verdict = await evaluator.evaluate(Task(prompt="write solve"), code, Trace(trace_id="t", purpose="attack"))
        except EvaluationError as error:  # without isolation, code can end what watches it
            verdict = ReflectionEvaluation(overall_score=None, isolation=(), issues=(str(error),))
    said = {
        name: getattr(verdict, name) for name in ("overall_score", "satisfactory", "verifiable", "isolation", "issues")
    }
    said |= {"attack": attack, "own_tests": bool(own), "user": os.getuid()}
    print(json.dumps(said), flush=True)  # noqa: T201 - what it is for


async def main(attacks: dict[str, tuple[str, str]], tests: list[str]) -> None:
    turn = asyncio.Semaphore(1)  # without isolation, one could end another
    await asyncio.gather(*(judge(attack, texts, tests, turn) for attack, texts in attacks.items()))


if __name__ == "__main__":
    found = {path.stem: (own_tests(path), path.read_text()) for path in sorted(Path(sys.argv[1]).glob("*.py"))}
    {"nobody": as_nobody, "without": without_namespaces}[sys.argv[3]]()
    asyncio.run(main(found, json.loads(sys.argv[2])))
