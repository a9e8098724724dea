"""Processes that write cards to a store, told by path or URL, and are killed in the middle of it."""

from collections.abc import Sequence
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from random import Random
from runpy import run_path
from typing import Any

WRITER = Path(__file__).parents[1] / "stores" / "writer.py"


def start(store: str, name: str, wanted: int, together: int, *, script: Path = WRITER) -> tuple[BaseProcess, Any]:
    """A writing process, and where to read what it has written; all start from one that has done the imports."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["wisen.stores.sqlite.store", "wisen.stores.postgres.store"])
    hear, say = context.Pipe(duplex=False)
    order = (store, name, wanted, together)
    writer = context.Process(target=run_path, args=(str(script), {"ORDER": order, "SAY": say}, "__main__"))
    writer.start()
    say.close()
    return writer, hear


def hear_out(hear: Any) -> list[str]:
    """All that is still to be heard; a message that a kill has cut off doesn't count."""
    heard: list[str] = []
    while True:
        try:
            heard += hear.recv_bytes().decode().split()
        except (EOFError, OSError):
            hear.close()
            return heard


def finish(writers: Sequence[tuple[BaseProcess, Any]]) -> list[str]:
    acknowledged = [card_id for _, hear in writers for card_id in hear_out(hear)]
    for writer, _ in writers:
        writer.join()
    assert [writer.exitcode for writer, _ in writers] == [0] * len(writers)
    return acknowledged


def kill_somewhere(store: str, name: str, draws: Random) -> list[str]:
    """Start a writer, kill it at a random moment, and say which cards it had acknowledged."""
    writer, hear = start(store, name, 0, draws.choice((1, 8)))
    acknowledged = [card_id for _ in range(draws.randrange(1, 60)) for card_id in hear.recv_bytes().decode().split()]
    for _ in range(draws.randrange(20_000)):
        pass  # some microseconds, so that the kill falls between two messages too
    writer.kill()
    acknowledged += hear_out(hear)
    writer.join()
    return acknowledged
