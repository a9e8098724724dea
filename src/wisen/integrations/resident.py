"""The process that hooks ask: one for each person, which ends by itself when no agent has asked for a while."""

import asyncio
import json
import logging
import os
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import replace
from logging.handlers import RotatingFileHandler
from pathlib import Path
from random import Random

from wisen.errors import ConfigError
from wisen.integrations.coding_memory import CodingMemory
from wisen.integrations.hook_client import ALIVE, LOG, PENDING, SOCKET, STOP, locked
from wisen.integrations.hook_payload import HookPayload, read_payload
from wisen.records import Clockwork
from wisen.reflection.traced import TracedRun

_LEARNING = ("Stop", "SessionEnd")
_LONGEST = 16_000_000
_LOG_BYTES = 1_000_000
_READ_SECONDS = 10.0
_LAST_LOOK = 10.0
"""Seconds that a model has left once the process is to end."""
_LONGEST_ADVICE = 9_000
"""Characters; both agents take 10,000."""


class Resident:
    """Answers hooks over a socket in the state folder.

    Args:
        folder: The state folder.
        idle: Seconds without an event after which it ends.
        seed: Makes the draws of trials repeat, for tests.
    """

    def __init__(self, folder: Path, *, idle: float, seed: int | None = None) -> None:
        if idle <= 0:
            raise ConfigError(f"Resident(idle={idle!r}): must be more than 0 seconds")
        self._folder = folder
        self._idle = idle
        self._log = _logger(folder)
        ids = Random(seed)
        clockwork = Clockwork()
        if seed is not None:
            clockwork = replace(clockwork, new_id=lambda: f"{ids.getrandbits(128):032x}", random=Random(seed))
        self._memory = CodingMemory(folder, clockwork=clockwork, log=self._log.info)
        self._asked = 0.0
        self._working: set[asyncio.Task[None]] = set()
        self._looking: set[asyncio.Task[None]] = set()
        """A model's looks back, for which nothing waits."""
        self._over = asyncio.Event()

    def serve(self, lock: int | None = None) -> bool:
        """Serve until it is told to stop, or nothing was asked for `idle` seconds. `False` where another one serves.

        Args:
            lock: The descriptor of `locked`, where the one who started this process has taken it.
        """
        os.chdir(self._folder)  # the path of a socket may be 100 characters long at most
        held = locked(".") if lock is None else lock
        if held is None:
            return False
        try:
            Path(SOCKET).unlink(missing_ok=True)
            asyncio.run(self._serve())
        finally:
            Path(SOCKET).unlink(missing_ok=True)
            os.close(held)  # says that all is done
        return True

    async def _serve(self) -> None:
        async with await asyncio.start_unix_server(self._serve_one, SOCKET):
            self._log.info("begins, process %d", os.getpid())
            self._touch()
            self._begin(self._pending(), self._working)
            await self._until_idle()
        await self._finish()
        await self._memory.close()
        self._log.info("ends")

    async def _until_idle(self) -> None:
        loop = asyncio.get_running_loop()
        while (left := self._asked + self._idle - loop.time()) > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), left)
                return

    def _touch(self) -> None:
        self._asked = asyncio.get_running_loop().time()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_READ_SECONDS):
                event = (await reader.readline()).decode().strip()
                payload = await _rest(reader)
            writer.write(await self._answer(event, payload) + b"\n")
            await writer.drain()
        except Exception as error:  # noqa: BLE001 - an agent goes on whatever it is; the log tells
            self._failed("an event", error)
        finally:
            writer.close()

    async def _answer(self, event: str, payload: bytes) -> bytes:
        if event == ALIVE:
            return str(os.getpid()).encode()
        if event == STOP:
            self._over.set()
            return b""
        self._touch()
        if event in _LEARNING:
            self._begin(self._learn(payload), self._working)
            return b""
        text = await self._memory.answer(event, read_payload(payload))
        if not text or len(text) > _LONGEST_ADVICE:
            return b""
        return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}).encode()

    async def _learn(self, payload: bytes) -> None:
        try:
            read = read_payload(payload)
            failed = await self._memory.learn(read)
        except Exception as error:  # noqa: BLE001 - nobody waits for it; the log tells
            self._failed("the end of a turn", error)
            return
        if failed:
            self._begin(self._look_back(failed, read), self._looking)

    async def _look_back(self, failed: Sequence[TracedRun], payload: HookPayload) -> None:
        try:
            await self._memory.look_back(failed, payload)
        except Exception as error:  # noqa: BLE001 - as above
            self._failed("a look back", error)

    async def _pending(self) -> None:
        """Take in what was left while no process was there, oldest first."""
        waiting = self._folder / PENDING
        for path in sorted(waiting.glob("*")) if waiting.is_dir() else []:
            if path.suffix != ".part":
                _, _, payload = path.read_bytes().partition(b"\n")
                await self._learn(payload)
                path.unlink(missing_ok=True)

    def _begin(self, work: Coroutine[None, None, None], among: set[asyncio.Task[None]]) -> None:
        task = asyncio.create_task(work)
        among.add(task)
        task.add_done_callback(among.discard)

    async def _finish(self) -> None:
        """End what is under way; a model has so long, and no longer."""
        await asyncio.gather(*self._working)
        if self._looking:
            _, late = await asyncio.wait(self._looking, timeout=_LAST_LOOK)
            for one in late:
                one.cancel()
            if late:
                self._log.info("no look back: given up, the process ends")
                await asyncio.wait(late)

    def _failed(self, what: str, error: Exception) -> None:
        self._log.error("%s: %s: %s", what, type(error).__name__, error)


async def _rest(reader: asyncio.StreamReader) -> bytes:
    parts, size = list[bytes](), 0
    while part := await reader.read(1 << 16):
        parts.append(part)
        size += len(part)
        if size > _LONGEST:
            raise ValueError(f"a payload of more than {_LONGEST} bytes")
    return b"".join(parts)


def _logger(folder: Path) -> logging.Logger:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    handler = RotatingFileHandler(folder / LOG, maxBytes=_LOG_BYTES, backupCount=1, delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log = logging.getLogger("wisen.hooks")
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    return log
