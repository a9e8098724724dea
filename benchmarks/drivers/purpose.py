"""Runs purpose-agent: its own loop, which acts, is scored by a critic, and extracts heuristics when a task is done.

Nothing in it is a Reflexion: the nearest thing to an attempt is one step of a task, an action and its score.
"""

import asyncio
import logging
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import common
import purpose_agent
from purpose_agent.streaming import AsyncOrchestrator

_SCORE = 'phi_before = 2.0\nphi_after = 2.5\nreasoning = "short"\nevidence = "none"\nconfidence = 0.9'
_STEPS = {"single": 1, "block": 3}


class FakeBackend(purpose_agent.LLMBackend):
    """Acts always alike, and scores always low."""

    def __init__(self, seconds: float = 0.0) -> None:
        """Begin to count."""
        self.calls = 0
        self._seconds = seconds

    def generate(self, *_: object, **__: object) -> str:
        """Give the critic's reply."""
        self.calls += 1
        if self._seconds:
            time.sleep(self._seconds)
        return _SCORE

    def generate_structured(self, *_: object, **__: object) -> dict[str, object]:
        """Give the actor's reply, in which the extractor of heuristics finds nothing."""
        self.calls += 1
        if self._seconds:
            time.sleep(self._seconds)
        action = {"name": "answer", "params": {"number": self.calls}}
        return {"thought": "think", "action": action, "expected_delta": "more"}


def _orchestrator(backend: FakeBackend) -> Any:
    def execute(action: Any, _state: Any) -> Any:
        return purpose_agent.State(data={"answer": str(action.params)})

    environment = purpose_agent.SimpleEnvironment(execute)
    return purpose_agent.Orchestrator(backend, environment, {"answer": "give an answer"})


def _overhead(asked: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for mode in (mode for mode in asked["modes"] if mode in _STEPS):
        backend = FakeBackend()
        _orchestrator(backend).run_task("warm up", max_steps=_STEPS[mode])
        backend.calls = 0
        found[mode] = []
        for prompts in common.batches(asked["batches"], asked["runs"]):
            agent = _orchestrator(backend)
            began, spent = time.perf_counter(), time.process_time()
            for prompt in prompts:
                agent.run_task(prompt, max_steps=_STEPS[mode])
            found[mode].append(
                ((time.process_time() - spent) / len(prompts), (time.perf_counter() - began) / len(prompts))
            )
        found[f"{mode}_calls"] = backend.calls / (asked["batches"] * asked["runs"])
    return found


async def _many(asked: dict[str, Any]) -> dict[str, Any]:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(asked["runs"]))
    backend = FakeBackend(asked["sleep"])

    async def run(prompt: str) -> None:
        await AsyncOrchestrator(_orchestrator(backend)).run_task(purpose=prompt, max_steps=_STEPS[asked["mode"]])

    seconds = await common.at_once(run, common.Corpus(13).prompts(asked["runs"]))
    return {"seconds": seconds, "calls": backend.calls / asked["runs"], "peak_mb": common.peak_rss_mb()}


def _concurrent(asked: dict[str, Any]) -> dict[str, Any]:
    return asyncio.run(_many(asked))


def _cards(entries: Sequence[common.Entry]) -> list[Any]:
    return [
        purpose_agent.MemoryCard(
            content=entry.lesson,
            status=purpose_agent.MemoryStatus.PROMOTED,
            scope=purpose_agent.MemoryScope(agent_roles=[entry.role], user_id=entry.tenant),
        )
        for entry in entries
    ]


def _recall(asked: dict[str, Any]) -> dict[str, Any]:
    size, corpus = asked["size"], common.Corpus()
    cards, prompts = _cards(corpus.entries(size)), corpus.prompts(asked["queries"])
    store = purpose_agent.MemoryStore()
    before = common.rss_mb()
    began = time.perf_counter()
    for card in cards:
        store.add(card)
    store.retrieve(prompts[0], top_k=5)
    filling = time.perf_counter() - began
    memory = common.rss_mb() - before

    def timed(**scope: Any) -> list[float]:
        where = purpose_agent.MemoryScope(**scope) if scope else None
        taken: list[float] = []
        for prompt in prompts:
            began = time.perf_counter()
            store.retrieve(prompt, scope=where, top_k=5)
            taken.append(time.perf_counter() - began)
        return taken

    return {
        "memory_mb": memory,
        "all": timed(),
        "tenant": timed(user_id=common.SMALL_TENANT),
        "role": timed(agent_roles=[common.ROLE]),
        "ingest_bulk": [size / filling],
    }


def _imported(_asked: dict[str, Any]) -> dict[str, Any]:
    return {"rss_mb": common.rss_mb()}


_MEASURES = {"overhead": _overhead, "concurrent": _concurrent, "recall": _recall, "imported": _imported}

if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    _asked = common.options()
    common.answer(_MEASURES[_asked["measure"]](_asked))
