"""Runs wisen's agents on a fake model: what the loop around a model call costs."""

import asyncio
from typing import Any

import common
from fake_model import FakeModel

from wisen import Agent, HashEmbedder, InMemoryVectorStore, Reflexion


def _agent(mode: str, model: FakeModel, embedder: HashEmbedder) -> Agent:
    if mode == "single":
        return Agent(common.INSTRUCTIONS, model=model)
    store = InMemoryVectorStore(embedder=embedder) if mode == "recall" else None
    loop = Reflexion(
        max_attempts=3,
        evaluator_prompt=common.EVALUATOR,
        reflector_prompt=common.REFLECTOR,
        lesson_store=store,
    )
    return Agent(common.INSTRUCTIONS, model=model, architecture=loop)


async def _overhead(asked: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for mode in asked["modes"]:
        model, embedder = FakeModel(replies := common.Replies(good_at=3)), HashEmbedder()
        await common.in_turn(_agent(mode, model, embedder).run, ["warm up", "and again"])
        replies.calls = 0
        found[mode] = [
            await common.in_turn(_agent(mode, model, embedder).run, prompts)
            for prompts in common.batches(asked["batches"], asked["runs"])
        ]
        found[f"{mode}_calls"] = replies.calls / (asked["batches"] * asked["runs"])
    return found


async def _concurrent(asked: dict[str, Any]) -> dict[str, Any]:
    model = FakeModel(replies := common.Replies(), asked["sleep"])
    agent = _agent(asked["mode"], model, HashEmbedder())
    await agent.run("warm up")
    replies.calls = 0
    seconds = await common.at_once(agent.run, common.Corpus(13).prompts(asked["runs"]))
    return {"seconds": seconds, "calls": replies.calls / asked["runs"], "peak_mb": common.peak_rss_mb()}


async def _imported(_asked: dict[str, Any]) -> dict[str, Any]:
    return {"rss_mb": common.rss_mb()}


_MEASURES = {"overhead": _overhead, "concurrent": _concurrent, "imported": _imported}

if __name__ == "__main__":
    _asked = common.options()
    common.answer(asyncio.run(_MEASURES[_asked["measure"]](_asked)))
