"""What tests of `Lessons` share: stores that fail an agent's run in every way, and what the runs were sent."""

import json
import re
import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from hanging import HangingStore, Hangs, sleeps, waits, wont_be_cancelled

from wisen import CardFilter, InMemoryVectorStore, Memory, MemoryCard, MemoryCI, RecallHit, RecallQuery
from wisen.records import RunRecord

PROMPT = "How many lamps are there?"
FEEDBACK = "Reply with the bare number."
LOOK = {"id": "1", "type": "function", "function": {"name": "stock", "arguments": '{"article": "lamps"}'}}
AGAIN = {"id": "2", "type": "function", "function": {"name": "stock", "arguments": '{"article": "lamp"}'}}
SINGULAR = "Articles are kept under their singular: no such article means that the plural was asked for."
NO_SUCH = "no such article: lamps"
PATIENCE = 0.5
"""Seconds that agents of these tests wait for memory."""


class Counting(InMemoryVectorStore):
    """Counts how often it is searched."""

    def __init__(self) -> None:
        super().__init__()
        self.searches = 0

    async def search(self, query: RecallQuery) -> list[RecallHit]:
        """Count, and search."""
        self.searches += 1
        return await super().search(query)


class Failing(InMemoryVectorStore):
    """Fails in whatever is asked of it."""

    async def search(self, query: RecallQuery) -> list[RecallHit]:
        """Fail as code does that has a bug."""
        raise ZeroDivisionError(f"{query.k} by zero")

    async def save_run(self, record: RunRecord) -> None:
        """The same."""
        raise ZeroDivisionError(record.run_id)


def a_failing_store(_folder: Path) -> Failing:
    """Fails at once."""
    return Failing()


def a_store_that_is_gone(_folder: Path) -> str:
    """There is no server."""
    return "postgresql://127.0.0.1:1/wisen"


def a_folder_that_is_gone(folder: Path) -> Path:
    """The file can't be made."""
    return folder / "gone" / "further" / "lessons.db"


def a_locked_store(folder: Path) -> Path:
    """Somebody else writes to it for as long as the test lasts."""
    path = folder / "locked.db"
    with Memory(path) as memory:
        memory.lesson(SINGULAR)
    return path


@contextmanager
def bad_store(kind: str, folder: Path) -> Generator[Any]:
    """A store that fails runs in one of the ways of `BAD_STORES`."""
    store = BAD_STORES[kind](folder)
    if kind != "locked":
        yield store
        return
    with closing(sqlite3.connect(store, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield store


ADVICE = re.compile(r"(?:\\n){0,2}<memory>.*?</memory>")
"""As it stands in JSON, with the blank line before it."""


def _hanging(hang: Callable[[], Any], where: str) -> Callable[[Path], HangingStore]:
    return lambda _: HangingStore(Hangs(hang), where)


BAD_STORES: dict[str, Callable[[Path], Any]] = {
    "failing": a_failing_store,
    "gone": a_store_that_is_gone,
    "no folder": a_folder_that_is_gone,
    "locked": a_locked_store,
    "waits": _hanging(waits, "search"),
    "blocks": _hanging(sleeps, "search"),
    "isn't cancelled": _hanging(wont_be_cancelled, "search"),
    "hangs at the end": _hanging(waits, "save_run"),
    "blocks at the end": _hanging(sleeps, "save_run"),
}


def trusted() -> MemoryCI:
    """A memory that shows what it has learned, but for what chance leaves out after three runs."""
    return MemoryCI(InMemoryVectorStore(), trust="screened")


@contextmanager
def not_for_ever() -> Generator[None]:
    """Fail where a run waits for memory that hangs for ever; how long it may wait is tested without a framework."""
    began = time.monotonic()
    yield
    assert time.monotonic() - began < 60.0


def without_advice(body: dict[str, Any]) -> str:
    """All that was sent, but for the advice and the blank line before it, byte for byte."""
    sent = json.loads(ADVICE.sub("", json.dumps(body)))
    for name in ("messages", "input"):
        if name in sent:  # some send the advice as a message of its own
            sent[name] = [one for one in sent[name] if one.get("role") != "system" or one["content"]]
    return json.dumps(sent)


def kept(memory: Memory, run_id: str) -> RunRecord:
    """The record of an attempt."""
    log: Any = memory.ci.store
    return memory.start(lambda _: log.run(run_id)).result()


def attempts(memory: Memory) -> list[RunRecord]:
    """All that the store keeps."""
    log: Any = memory.ci.store
    return memory.start(lambda _: log.runs()).result()


def learned(memory: Memory) -> list[MemoryCard]:
    """The store's cards."""
    store = memory.ci.store
    return memory.start(lambda _: store.list(CardFilter(tenant=""))).result()


def wants_a_number(output: str) -> tuple[bool, str]:
    """An evaluator that says what to do."""
    return output.isdigit(), FEEDBACK


def in_use(memory: Memory, *, at_tool: str = SINGULAR) -> None:
    """Keep a lesson that fits the prompt, and one that fits the tool; pinned, so that chance leaves none out."""
    for lesson in (memory.lesson(FEEDBACK, task=PROMPT), memory.lesson(at_tool, tools=["stock"])):
        card_id = lesson.card_id
        memory.start(lambda asked, card_id=card_id: asked.ci.promote(card_id, "house style")).result()
        memory.start(lambda asked, card_id=card_id: asked.ci.pin(card_id, "for good")).result()


def searches_of_one_attempt() -> int:
    """How often an attempt that is begun once searches its store."""
    store = Counting()
    with Memory(store, evaluator=str.isdigit) as memory, memory.attempt(PROMPT, tools=["stock"]) as attempt:
        attempt.answered("3")
    return store.searches
