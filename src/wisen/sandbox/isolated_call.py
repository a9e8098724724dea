"""Calls a function in another process, where it may hang or hold the interpreter without anybody noticing here."""

import atexit
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from wisen.deadlines import seconds_left
from wisen.errors import ConfigError, EvaluationError
from wisen.sandbox.isolated_child import read, write
from wisen.threads import in_thread

_CHILD = Path(__file__).with_name("isolated_child.py")
_LONGEST = 30.0
"""Seconds that a call outside of a run may take."""
_KEPT = 4
"""Processes that wait for the next call."""


class _Child:
    """A process that answers one call after the other."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - this very interpreter
            [sys.executable, "-I", str(_CHILD)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def ask(self, head: bytes, arguments: bytes) -> bytes | None:
        """The answer; `None` where the process has ended. Blocks."""
        pipes = self._process.stdin, self._process.stdout
        try:
            if pipes[0] is None or pipes[1] is None:
                return None
            write(pipes[0], head)  # pyright: ignore[reportArgumentType] - a pipe of bytes
            write(pipes[0], arguments)  # pyright: ignore[reportArgumentType] - as above
            return read(pipes[1])  # pyright: ignore[reportArgumentType] - as above
        except (OSError, ValueError):
            return None

    def end(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


class _Children:
    """The processes of this one; it begins without any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[_Child] = []
        self._all: set[_Child] = set()
        self._pid = os.getpid()

    def idle(self) -> _Child | None:
        """One that waits for a call."""
        with self._lock:
            if self._pid != os.getpid():  # a fork has the pipes of its parent's
                self._idle, self._all, self._pid = [], set(), os.getpid()
            return self._idle.pop() if self._idle else None

    def new(self) -> _Child:
        """Another one. Blocks for a moment."""
        child = _Child()
        self._all.add(child)
        return child

    def give_back(self, child: _Child, *, well: bool) -> None:
        """Keep one for the next call, or end it."""
        with self._lock:
            if well and len(self._idle) < _KEPT:
                self._idle.append(child)
                return
        self._all.discard(child)
        child.end()

    def end(self) -> None:
        """End them all."""
        for child in tuple(self._all) if self._pid == os.getpid() else ():
            child.end()


_CHILDREN = _Children()
atexit.register(_CHILDREN.end)


class Apart:
    """A function that is called in another process.

    Args:
        function: One that can be imported there: defined at the top of a module or script.
        name: Whose function it is, for errors.

    Raises:
        ConfigError: It can't be imported.
    """

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        module = getattr(function, "__module__", None) or ""
        qualified = getattr(function, "__qualname__", "<")
        file = getattr(sys.modules.get(module), "__file__", None)
        if "<" in qualified or file is None:
            raise ConfigError(
                f"evaluator {name!r}: process=True needs a function that another process can import; define it with "
                "def at the top of a module"
            )
        self._target = (module, qualified, str(file))
        self._name = name

    async def __call__(self, arguments: Sequence[object], keywords: Mapping[str, object] | None = None) -> Any:  # noqa: ANN401 - whatever the function gives
        """What it gives for arguments that can be pickled.

        Raises `EvaluationError` where it fails, takes too long, or can't be asked.
        """
        if os.environ.get("WISEN_APART"):
            raise EvaluationError(
                f"evaluator {self._name!r}: the script that defines it runs agents when it is imported; put these "
                'under `if __name__ == "__main__":`'
            )
        seconds = min(seconds_left(_LONGEST), threading.TIMEOUT_MAX / 10)
        try:
            packed_arguments = pickle.dumps((tuple(arguments), dict(keywords or {})))
        except Exception as error:
            said = f"evaluator {self._name!r}: its arguments can't be sent to another process"
            raise EvaluationError(f"{said} ({type(error).__name__})") from error
        head = pickle.dumps((sys.path, self._target, max(seconds, 0.01) + 0.5))
        child, well = _CHILDREN.idle() or await in_thread(_CHILDREN.new), False
        try:
            answer = await in_thread(child.ask, head, packed_arguments)
            well = answer is not None
        finally:
            _CHILDREN.give_back(child, well=well)
        if answer is None:
            raise EvaluationError(f"evaluator {self._name!r}: its process ended, or took longer than {seconds:g} s")
        good, given = pickle.loads(answer)  # noqa: S301 - from the user's own function
        if not good:
            raise EvaluationError(f"evaluator {self._name!r} failed with {given}; the score is unknown")
        return given
