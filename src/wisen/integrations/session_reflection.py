"""A model that a person named looks back at what failed in a coding session; nobody waits for it."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from wisen.errors import ConfigError, ModelError, WisenError
from wisen.integrations.hook_settings import read_settings
from wisen.memory_ci.pipeline import MemoryCI
from wisen.models import resolve_model
from wisen.reflection.traced import TracedRun
from wisen.retroformer.repairs import named_by_program
from wisen.retroformer.retroformer import Retroformer

_SECONDS: Final = 120.0
_WAITING: Final = 20


class SessionReflection:
    """Has a `Retroformer` look back at turns, one session after the other.

    Args:
        folder: The state folder, whose settings name the model.
        log: Told what came of it.
        seconds: After which a look back is given up.
    """

    def __init__(self, folder: Path, *, log: Callable[[str], None], seconds: float = _SECONDS) -> None:
        self._folder = folder
        self._log = log
        self._seconds = seconds
        self._one = asyncio.Lock()
        self._waiting = 0

    async def look_back(self, runs: Sequence[TracedRun], ci: MemoryCI) -> None:
        """Put what these turns teach into a store, on trial. Whatever fails costs a line of the log."""
        try:
            name = read_settings(self._folder).model
        except ConfigError as error:
            self._log(f"no look back: {error}")
            return
        if not name or not runs:
            return
        if self._waiting >= _WAITING:
            self._log(f"no look back: {name} is behind by {self._waiting} sessions")
            return
        self._waiting += 1
        try:
            async with self._one, asyncio.timeout(self._seconds):
                await self._asked(name, runs, ci)
        except TimeoutError:
            self._log(f"no look back: {name} took more than {self._seconds:g} seconds")
        except (WisenError, OSError) as error:
            self._failed(name, error)
        finally:
            self._waiting -= 1

    async def _asked(self, name: str, runs: Sequence[TracedRun], ci: MemoryCI) -> None:
        # A provider's package takes long to import, and hooks are answered meanwhile.
        model = await asyncio.to_thread(resolve_model, name)
        retroformer = Retroformer(model, ci)

        def fails(run: TracedRun, error: ModelError) -> None:
            del run
            self._failed(name, error)

        cards = await retroformer.reflect_all([named_by_program(run) for run in runs], contrast=False, on_error=fails)
        self._log(f"{name} has looked back at {len(runs)} turns: {len(cards)} lessons")

    def _failed(self, name: str, error: Exception) -> None:
        self._log(f"no look back: {name}: {type(error).__name__}: {error}")
