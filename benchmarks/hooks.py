"""What one hook of a coding agent costs in processor time, in the client and in the resident process, by lessons kept.

Run as `python benchmarks/hooks.py [--cards 10 1000 100000] [--hooks 200]`. Each hook is a process of its own, as the
agent starts it; the resident process is a real one, over a repository's store or, with very many lessons, the person's.
"""

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import wisen
from wisen.cards import MemoryCard, MemoryKind, MemoryScope, MemoryStatus, Situation
from wisen.integrations import hook_client
from wisen.integrations.hook_client import FOLDER, PERSON
from wisen.stores.markdown.store import MarkdownStore
from wisen.stores.sqlite.store import SQLiteVectorStore

_CLIENT = Path(hook_client.__file__)
_PROGRAMS = 40
_AT_ONCE = 2_000
_MOST_FILES = 10_000
"""More lessons than a repository would hold are the person's, in SQLite."""
_SECONDS = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What hooks of one kind cost, in milliseconds."""

    event: str
    client: list[float]
    resident: list[float]
    waited: list[float]
    answered: int


async def fill(store: MarkdownStore | SQLiteVectorStore, cards: int) -> None:
    """Put failure lessons on the commands of forty programs into a store, promoted."""
    async with store:
        for start in range(0, cards, _AT_ONCE):
            await store.add_unscreened([lesson(one) for one in range(start, min(start + _AT_ONCE, cards))])


def lesson(number: int) -> MemoryCard:
    """A lesson on a command like others of its program."""
    program = f"tool{number % _PROGRAMS}"
    command = f"{program} build target{number} --level {number % 7}"
    return MemoryCard(
        kind=MemoryKind.FAILURE_PATTERN,
        content=f"`{command}` failed with exit code 2\nWhat passed instead: `{command} --strict`",
        situation=Situation(prompt=command, task_type="command", tools=(program,)),
        scope=MemoryScope(tool_names=(program,), task_types=("command",)),
        status=MemoryStatus.PROMOTED,
    )


@contextmanager
def resident(environ: dict[str, str], home: Path) -> Generator[int]:
    """A resident process; gives its id."""
    wisen_ = [sys.executable, "-P", "-m", "wisen"]
    with subprocess.Popen([*wisen_, "hooks", "serve"], env=environ, cwd=home) as process:
        try:
            while not (home / ".local/share/wisen/hooks/hooks.sock").exists():
                time.sleep(0.05)
            yield process.pid
        finally:
            subprocess.run([*wisen_, "hooks", "stop"], env=environ, check=False)


def processor_time(pid: int) -> float:
    """Milliseconds that the threads of a process have used."""
    return sum(int(one.read_text().split()[0]) for one in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e6


def ask(event: str, payload: dict[str, Any], environ: dict[str, str], cwd: Path) -> tuple[float, float, bool]:
    """Run one hook: its processor time, the time until its end, and whether it said anything."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(_CLIENT), event],
        input=json.dumps(payload).encode(),
        env=environ,
        cwd=cwd,
        capture_output=True,
        check=True,
    )
    after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return 1000.0 * used, 1000.0 * (ended - began), bool(done.stdout)


def measure(event: str, hooks: int, environ: dict[str, str], repository: Path, pid: int) -> Cost:
    """Run hooks of one kind one after another, each in a session of its own."""
    cost = Cost(event=event, client=[], resident=[], waited=[], answered=0)
    answered = 0
    for number in range(hooks):
        command = lesson(number % 10).situation.prompt
        payload: dict[str, Any] = {
            "session_id": f"{event} {number}",
            "cwd": str(repository),
            "model": "probe",
            "prompt": f"build target{number} with tool{number % _PROGRAMS}",
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_use_id": f"c{number}",
        }
        before = processor_time(pid)
        used, waited, said = ask(event, payload, environ, repository)
        cost.client.append(used)
        cost.waited.append(waited)
        cost.resident.append(processor_time(pid) - before)
        answered += said
    return Cost(event=event, client=cost.client, resident=cost.resident, waited=cost.waited, answered=answered)


def at(share: float, values: list[float]) -> float:
    """A quantile of the values."""
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cards", type=int, nargs="+", default=[10, 1_000, 100_000])
    parser.add_argument("--hooks", type=int, default=200)
    given = parser.parse_args()
    print("lessons in     event             client p50/p99    resident p50/p99  waited p50/p99   answered   (ms)")
    for cards in given.cards:
        with tempfile.TemporaryDirectory() as folder:
            home, repository = Path(folder) / "home", Path(folder) / "repository"
            (repository / ".git").mkdir(parents=True)
            home.mkdir()
            environ = {"HOME": str(home), "PATH": os.environ["PATH"], "WISEN_HOOKS_SECONDS": str(_SECONDS)}
            environ["PYTHONPATH"] = str(Path(wisen.__file__).parents[1])
            state = home / ".local/share/wisen/hooks"
            state.mkdir(parents=True)
            person = cards > _MOST_FILES
            asyncio.run(
                fill(SQLiteVectorStore(state / PERSON) if person else MarkdownStore(repository / FOLDER), cards)
            )
            with resident(environ, home) as pid:
                measure("PreToolUse", 3, environ, repository, pid)  # the first one reads the store
                for event in ("SessionStart", "UserPromptSubmit", "PreToolUse"):
                    said = row(measure(event, given.hooks, environ, repository, pid))
                    print(f"{cards:7} {'person' if person else 'files':6} {said}", flush=True)


def row(cost: Cost) -> str:
    """One line of the table."""
    both = [f"{at(0.5, one):6.1f} /{at(0.99, one):6.1f}" for one in (cost.client, cost.resident, cost.waited)]
    return f"{cost.event:16}  {'    '.join(both)}   {cost.answered:4} of {len(cost.client)}"


if __name__ == "__main__":
    main()
