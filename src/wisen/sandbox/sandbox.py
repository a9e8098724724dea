"""Runs an untrusted program with limits, in isolation, and without leaving a process behind."""

import asyncio
import json
import os
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

from wisen.errors import ConfigError, SandboxError
from wisen.sandbox.sandbox_root import SOURCES, SandboxRoot, interpreter, python_room
from wisen.sandbox.sandboxed.clearing import clear

_LAUNCH = "import sys; sys.path.append(sys.argv.pop(1)); from wisen.sandbox.sandboxed.launcher import main; main()"
_CHUNK = 65_536
_TAIL_BYTES = 262_144
_GRACE_SECONDS = 5.0

KillReason = Literal["cpu", "wall", "memory", "output", "files", "processes"]
Held = Literal["processes", "network", "files", "calls"]
"""A part of isolation: other processes can't be seen, no network, an empty root, a filter on system calls."""
FULL: tuple[Held, ...] = ("processes", "network", "files", "calls")
"""The isolation that code under test needs for its verdict to be verifiable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxLimits:
    """The limits of a program. Each is for all its processes together, unless it says otherwise."""

    cpu_seconds: float = 10.0
    """Per process, rounded up to whole seconds; `wall_seconds` bounds them all."""
    wall_seconds: float = 20.0
    memory_bytes: int = 512 << 20
    """Resident memory, looked at every 10 ms. One process may map twice as much and 256 MiB, and no more."""
    output_bytes: int = 1 << 20
    """Of stdout and stderr together."""
    file_bytes: int = 64 << 20
    """Per file, wherever it is, and for the working directory as a whole."""
    processes: int = 64
    """Processes, and also threads if the kernel counts them."""
    open_files: int = 256
    """Per process."""

    def __post_init__(self) -> None:
        """Refuse limits that aren't positive with `ConfigError`."""
        for field in fields(self):
            if not getattr(self, field.name) > 0:
                raise ConfigError(f"SandboxLimits({field.name}={getattr(self, field.name)!r}): must be more than 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxResult:
    """How a program ended."""

    exit_code: int | None
    """The exit code, or minus the signal's number; `None` when the sandbox stopped it."""
    killed: KillReason | None
    """Which limit ended it."""
    stdout: str
    """The last 256 KiB, with unreadable bytes replaced."""
    stderr: str
    """Likewise."""
    isolation: tuple[Held, ...]
    """What the kernel granted: "processes" and "network", the loopback included; in a room also "files", "calls"."""

    @property
    def network_isolated(self) -> bool:
        """Whether the kernel cut the network, the loopback included."""
        return "network" in self.isolation

    @property
    def passed(self) -> bool:
        """Whether it ended by itself with exit code 0."""
        return self.killed is None and self.exit_code == 0

    @property
    def ending(self) -> str:
        """How it ended, in words."""
        if self.killed:
            return f"stopped at the limit of {self.killed}"
        if self.exit_code is not None and self.exit_code < 0:
            return f"ended by signal {-self.exit_code}"
        return f"exit code {self.exit_code}"


class Sandbox:
    """Runs programs under `limits`.

    Each runs in a fresh temporary directory, which is removed, with no variables of this process's environment but a
    default `PATH`, and without privileges. If the kernel allows user namespaces, it has no network, not even the
    loopback, and everything it started dies with it. Elsewhere its orphans are adopted and killed; `network_isolated`
    is then False.

    In a `room`, the program sees an empty root with what the room lists, no `/proc`, and no sockets; what it wrote is
    gone with it. Without one it is no prison: the program runs as this user, and can read and write the files that
    this user can. Put a container around it for code that may be hostile to the machine and not only to its verdict.

    Args:
        limits: What the programs may use.
        isolate: Try namespaces; False is for programs that need the network.
        room: What the programs' root holds; `None` leaves them this machine's files.
        required: Parts of isolation without which nothing is run.
    """

    def __init__(
        self,
        limits: SandboxLimits | None = None,
        *,
        isolate: bool = True,
        room: SandboxRoot | None = None,
        required: Sequence[Held] = (),
    ) -> None:
        self.limits = limits or SandboxLimits()
        self._isolate = isolate
        self._room = room
        self._required = tuple(required)

    async def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        files: Mapping[str, bytes] | None = None,
        channel: Sequence[int] = (),
    ) -> SandboxResult:
        """Run one program to its end; cancelling ends all its processes.

        Args:
            argv: Program and arguments; the program is looked up in a default `PATH`.
            stdin: The content of its stdin.
            files: Files for its working directory, by plain name. A room has none.
            channel: Numbers of open pipes that are handed over to it; in this process they are closed.

        Raises:
            SandboxError: It could not be started, or the kernel doesn't grant what is required.
        """
        with ExitStack() as handed:
            for number in channel:
                handed.callback(os.close, number)
            if not argv or any("\0" in part for part in argv):
                raise SandboxError("the sandbox got no program to run, or one with a null character in its arguments")
            directory = await asyncio.to_thread(_directory, files or {}, stdin)
            try:
                job = _Job(
                    argv=argv, limits=self.limits, isolate=self._isolate, room=self._room, required=self._required,
                    channel=tuple(channel), handed=handed, directory=directory,
                )  # fmt: skip
                return await job.run()
            finally:
                await asyncio.shield(asyncio.to_thread(_remove, directory))


async def granted_isolation() -> tuple[Held, ...]:
    """The isolation that the kernel grants here to code under test. Raises `SandboxError` if no program can run."""
    return (await Sandbox(room=python_room()).run([interpreter(), "-I", "-S", "-c", ""])).isolation


def _directory(files: Mapping[str, bytes], stdin: bytes) -> str:
    directory = tempfile.mkdtemp(prefix="wisen-sandbox-")
    root = Path(directory)
    (root / "work").mkdir()
    (root / "root").mkdir()
    (root / "stdin").write_bytes(stdin)
    for name, data in files.items():
        (root / "work" / Path(name).name).write_bytes(data)
    return directory


def _remove(directory: str) -> None:
    clear(directory)
    with suppress(OSError):
        Path(directory).rmdir()


def _environment(work: str) -> dict[str, str]:
    return {
        "PATH": os.defpath + ":/usr/local/bin",
        "HOME": work,
        "TMPDIR": work,
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    argv: Sequence[str]
    limits: SandboxLimits
    isolate: bool
    room: SandboxRoot | None
    required: tuple[Held, ...]
    channel: tuple[int, ...]
    handed: ExitStack
    directory: str

    async def run(self) -> SandboxResult:
        lifeline, hold = os.pipe()
        reported, report = os.pipe()
        try:
            process = await self._start(lifeline, report)
        except BaseException as error:  # also a cancellation, which would leave the pipes open
            os.close(hold)
            os.close(reported)
            if isinstance(error, OSError):
                raise SandboxError(f"the sandbox's launcher didn't start: {type(error).__name__}") from error
            raise
        finally:
            os.close(lifeline)
            os.close(report)
            self.handed.close()
        tails = (bytearray(), bytearray())
        try:
            killed = await self._follow(process, tails)
        finally:
            os.close(hold)
            await asyncio.shield(asyncio.ensure_future(_ended(process)))
            said = await asyncio.to_thread(_rest_of, reported)
        return self._result(json.loads(said) if said else {}, killed, tails)

    async def _start(self, lifeline: int, report: int) -> asyncio.subprocess.Process:
        job = {
            "argv": list(self.argv), "limits": asdict(self.limits), "isolate": self.isolate,
            "lifeline": lifeline, "report": report, "channel": self.channel, "required": self.required,
            "room": self._laid_out(),
        }  # fmt: skip
        work = f"{self.directory}/work"
        home = work if self.room is None else "/tmp"  # noqa: S108 - in a room it is a private one
        with await asyncio.to_thread(Path(f"{self.directory}/stdin").open, "rb") as stdin:
            return await asyncio.create_subprocess_exec(
                sys.executable, "-I", "-S", "-c", _LAUNCH, str(SOURCES), json.dumps(job),
                stdin=stdin, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
                cwd=work, env=_environment(home), pass_fds=(lifeline, report, *self.channel), start_new_session=True,
            )  # fmt: skip

    def _laid_out(self) -> dict[str, Any] | None:
        if self.room is None:
            return None
        return {**asdict(self.room), "below": f"{self.directory}/root", "bytes": self.limits.file_bytes}

    async def _follow(
        self, process: asyncio.subprocess.Process, tails: tuple[bytearray, bytearray]
    ) -> KillReason | None:
        """Collect the output until the program ends; says which limit was reached before."""
        left = [self.limits.output_bytes]
        try:
            async with asyncio.timeout(self.limits.wall_seconds):
                pairs = zip((process.stdout, process.stderr), tails, strict=True)
                await asyncio.gather(*(_collect(stream, tail, left) for stream, tail in pairs))
                await process.wait()
        except TimeoutError:
            return "wall"
        except _TooMuchOutputError:
            return "output"
        return None

    def _result(
        self, said: dict[str, Any], killed: KillReason | None, tails: tuple[bytearray, bytearray]
    ) -> SandboxResult:
        if said.get("error"):
            raise SandboxError(f"the sandbox can't start {self.argv[0]!r}: {said['error']}")
        if said.get("refused"):
            missing = ", ".join(said["refused"])
            raise SandboxError(f"the kernel doesn't isolate {missing}; `wisen doctor` says what to do")
        if not said and killed is None:
            raise SandboxError("the sandbox's launcher ended without a report")
        stdout, stderr = (tail.decode(errors="replace") for tail in tails)
        status = said.get("status")
        return SandboxResult(
            exit_code=status if killed is None else None,
            killed=killed or self._reason(said, status, stderr),
            stdout=stdout,
            stderr=stderr,
            isolation=tuple(said.get("held", ())),
        )

    def _reason(self, said: dict[str, Any], status: int | None, stderr: str) -> KillReason | None:
        """The limit that ended a program, from what the launcher saw, the signal, or the error the program died of."""
        if status is None:
            return said["killed"] or "wall"
        if status == 0:
            return None
        last = stderr.strip().rpartition("\n")[2]
        if status in (-signal.SIGXCPU, -signal.SIGKILL):
            return "cpu"
        if status == -signal.SIGXFSZ or "Errno 27" in last or said.get("files", 0) > self.limits.file_bytes:
            return "files"
        return "memory" if last.startswith("MemoryError") else None


def _rest_of(pipe: int) -> bytes:
    """What a pipe holds whose writer has ended."""
    with os.fdopen(pipe, "rb") as end:
        return end.read()


class _TooMuchOutputError(Exception):
    pass


async def _collect(stream: asyncio.StreamReader | None, tail: bytearray, left: list[int]) -> None:
    while stream is not None and (chunk := await stream.read(_CHUNK)):
        tail += chunk
        del tail[:-_TAIL_BYTES]
        left[0] -= len(chunk)
        if left[0] < 0:
            raise _TooMuchOutputError


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Wait for the launcher, which ends once its lifeline is closed; kill its whole group if it doesn't.

    Raises `SandboxError` where something still holds its output then: a program that isn't isolated can end it.
    """
    try:
        async with asyncio.timeout(_GRACE_SECONDS):
            await _drained(process)
    except TimeoutError:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        try:
            async with asyncio.timeout(_GRACE_SECONDS):
                await _drained(process)
        except TimeoutError:
            raise SandboxError("a program without isolation has ended its watcher and lives on") from None


async def _drained(process: asyncio.subprocess.Process) -> None:
    """Wait for the end of a process whose output nobody wants any more."""
    for stream in (process.stdout, process.stderr):
        while stream is not None and await stream.read(_CHUNK):
            pass
    await process.wait()
