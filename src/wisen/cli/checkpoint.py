"""Remembers in the store which batch `wisen run` is at, so that one that was cut off goes on where it stopped."""

import hashlib
import json
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import typer

from wisen.errors import RunNotFoundError, StoreError
from wisen.records import ENDED
from wisen.stores.whole_store import Store

_KEY = "batch"
_ENDED = "this batch has ended: these are its results; without --resume it is run again"


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRun:
    """A batch that is being run: the ids of its runs follow from it."""

    scope: str
    nonce: str

    def run_id(self, index: int) -> str:
        """The id of the run of the task with this number, from 0."""
        return run_id(self.nonce, index)


def run_id(nonce: str, index: int) -> str:
    """The id of a batch's run."""
    return hashlib.sha256(f"{nonce}:{index}:0".encode()).hexdigest()[:32]


def batch_scope(tasks: Path, options: Mapping[str, object]) -> str:
    """Where a batch of these tasks under these options is remembered; other options make another batch."""
    plain = json.dumps(options, sort_keys=True).encode()
    return f"batch:{hashlib.sha256(plain + tasks.read_bytes()).hexdigest()[:32]}"


async def begin_batch(store: Store, scope: str, *, tasks: int, seed: int | None, resume: bool) -> BatchRun:
    """Begin a batch, or go on with the one that was cut off; says on stderr what there is to say."""
    newest, before, ended = _read(await store.call(scope, _KEY, 0))
    if newest and before and not await _came_to_something(store, newest, tasks):
        newest = before  # the newest was stopped at once, perhaps because the hint was read
    if resume and newest:
        typer.echo(f"wisen: {_ENDED if ended else 'going on with the batch that is unfinished'}", err=True)
        return BatchRun(scope=scope, nonce=newest)
    if resume:
        typer.echo("wisen: nothing to resume: these tasks with these options never began", err=True)
    elif newest and not ended:
        typer.echo("wisen: a batch of these tasks is unfinished; --resume goes on with it, this starts over", err=True)
    nonce = secrets.token_hex(16) if seed is None else await _seeded(store, seed)
    await store.save_call(scope, _KEY, 0, json.dumps([nonce, "" if ended else newest]).encode())
    return BatchRun(scope=scope, nonce=nonce)


async def end_batch(store: Store, batch: BatchRun) -> None:
    """Note that nothing of a batch is left to do. Where that fails it counts as unfinished, and does nothing then."""
    with suppress(StoreError):
        await store.save_call(batch.scope, _KEY, 0, json.dumps([batch.nonce, "", True]).encode())


async def _seeded(store: Store, seed: int) -> str:
    """What the ids follow from: the seed alone in a store that hasn't seen it."""
    nonce, times = str(seed), 1
    while True:
        try:
            await store.run(run_id(nonce, 0))
        except RunNotFoundError:
            return nonce
        times += 1
        nonce = f"{seed}/{times}"


async def _came_to_something(store: Store, nonce: str, tasks: int) -> bool:
    for index in range(tasks):
        with suppress(RunNotFoundError):
            if (await store.run(run_id(nonce, index))).status in ENDED:
                return True
    return False


def _read(kept: bytes | None) -> tuple[str, str, bool]:
    """The newest batch, the unfinished one that it took the place of, and whether the newest has ended."""
    newest, before, ended, *_ = [*json.loads(kept or b"[]"), "", "", ""]
    return str(newest), str(before), bool(ended)
