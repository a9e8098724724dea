"""The arms of coding_sessions.py: without wisen, with it as it is installed, and with all lessons at the prompt."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, Literal

from coding_agent import MOST, Agent, Answer, Plan, Session
from coding_world import Repository, kinds, told

from wisen.cards import MemoryCard
from wisen.integrations.coding_memory import CodingMemory
from wisen.integrations.hook_client import FOLDER
from wisen.integrations.hook_files import installing
from wisen.integrations.hook_payload import read_payload
from wisen.recall import CardFilter
from wisen.records import Clockwork
from wisen.stores.markdown.store import MarkdownStore

ArmName = Literal["without", "wisen", "all"]
ARMS: tuple[ArmName, ...] = ("without", "wisen", "all")
_APART = timedelta(minutes=20)
_NOISE_UNTIL = 0.3
_NOISES = 2


@dataclass(frozen=True, kw_only=True)
class Came:
    """What came of an arm."""

    sessions: Sequence[Session]
    cards: Sequence[MemoryCard]
    seconds: float


def plans(sessions: int, seed: int, *, looks: bool) -> list[Plan]:
    """Sessions of all kinds, each as often, in an order and with the luck of the seed."""
    luck, all_kinds = Random(f"plans {seed}"), kinds()
    order = list[int]()
    while len(order) < sessions:
        order += luck.sample(range(len(all_kinds)), len(all_kinds))
    made = [
        Plan(number=number, kind=all_kinds[kind], luck=tuple(luck.random() for _ in range(MOST)), looks=looks)
        for number, kind in enumerate(order[:sessions])
    ]
    for kind in all_kinds:
        if kind.noise or kind.harmful:
            early = [one.number for one in made if one.kind == kind and one.number < _NOISE_UNTIL * sessions]
            for number in luck.sample(early, min(_NOISES, len(early))):
                made[number] = replace(made[number], noise=True)
    return made


async def run(arm: ArmName, planned: Sequence[Plan], seed: int, folder: Path) -> Came:
    """All sessions in one arm."""
    transcripts = _folder(folder / "home" / ".codex" / "sessions")
    repository, clock = Repository(folder / "repository"), _Clock()
    sessions = list[Session]()
    async with _memory(arm, repository, folder / "home", clock, seed) as hooks:
        agent = Agent(repository=repository, transcripts=transcripts, hooks=hooks)
        for plan in planned:
            sessions.append(await agent.work(plan, clock.at))
            clock.at += _APART
    cards = await _cards(repository) if arm != "without" else []
    return Came(sessions=sessions, cards=cards, seconds=sum(one.seconds for one in sessions))


class _Clock:
    def __init__(self) -> None:
        self.at = datetime.fromisoformat("2026-11-22T08:00:00+00:00")


@asynccontextmanager
async def _memory(
    arm: ArmName, repository: Repository, home: Path, clock: _Clock, seed: int
) -> AsyncGenerator[dict[str, Answer]]:
    """The arm's hooks, by event."""
    if arm == "without":
        yield {}
        return
    _tell(repository.folder)
    state = _folder(home / ".local" / "share" / "wisen" / "hooks")
    ids = Random(f"ids {seed}")
    clockwork = Clockwork(
        now=lambda: clock.at, new_id=lambda: f"{ids.getrandbits(128):032x}", random=Random(f"draws {seed}")
    )
    memory = CodingMemory(state, clockwork=clockwork, log=lambda _: None)

    async def answer(event: str, payload: bytes) -> str:
        """As the resident process does, but for the socket: the end of a turn is waited for."""
        if event == "Stop":
            await memory.learn(read_payload(payload))
            return ""
        return await memory.answer(event, read_payload(payload))

    async def all_of_them(event: str, payload: bytes) -> str:
        if event == "Stop":
            return await answer(event, payload)
        stores = [ci.store for ci in memory.stores.there(read_payload(payload))]
        cards = [card for store in stores for card in await store.list(CardFilter())]
        return "\n\n".join(card.content for card in cards)

    installed = _installed(home)
    yield {"UserPromptSubmit": all_of_them, "Stop": all_of_them} if arm == "all" else dict.fromkeys(installed, answer)
    await memory.close()


def _folder(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def _installed(home: Path) -> list[str]:
    """The events that `wisen install codex` puts hooks on."""
    change = installing(home / ".codex" / "hooks.json")
    change.write()
    settings: dict[str, Any] = json.loads(change.path.read_text(encoding="utf-8"))
    return [*settings["hooks"]]


def _tell(repository: Path) -> None:
    """Add a person's lessons by the command."""
    for one in told():
        subprocess.run(
            [
                *(sys.executable, "-P", "-m", "wisen", "lessons", "add", one.text, "--for", one.task),
                *("--tool", one.tool, "--type", "command", "--promote", "it is known", "--store", FOLDER),
            ],
            cwd=repository,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")},
            stdout=subprocess.DEVNULL,
            check=True,
        )


async def _cards(repository: Repository) -> list[MemoryCard]:
    path = repository.folder / FOLDER
    if not await asyncio.to_thread(path.exists):
        return []
    async with MarkdownStore(path, read_only=True) as store:
        return [*await store.list(CardFilter())]
