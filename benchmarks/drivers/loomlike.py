"""Runs loomflow or jeevesagent, which share their interface: agents on a fake model, and their in-memory store."""

import asyncio
import heapq
import importlib
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import common

_ASKED = common.options()
_NAME: str = _ASKED["package"]
_PACKAGE = importlib.import_module(_NAME)
_TYPES = importlib.import_module(f"{_NAME}.core.types")
_REFLEXION = importlib.import_module(f"{_NAME}.architecture.reflexion")
_STORES = importlib.import_module(f"{_NAME}.vectorstore.inmemory")
_EMBEDDERS = importlib.import_module(f"{_NAME}.memory.embedder")
_CHUNKS = importlib.import_module(f"{_NAME}.loader.base")


class FakeModel:
    """Answers after `seconds` of waiting."""

    name = "fake"

    def __init__(self, replies: common.Replies, seconds: float = 0.0) -> None:
        """Take the replies to give."""
        self._replies = replies
        self._seconds = seconds

    async def complete(self, messages: Sequence[Any], **_: object) -> tuple[str, list[object], Any, str]:
        """Give the next reply."""
        if self._seconds:
            await asyncio.sleep(self._seconds)
        return self._replies.to(messages[0].content), [], _TYPES.Usage(), "stop"

    async def stream(self, messages: Sequence[Any], **_: object) -> AsyncIterator[Any]:
        """Give the next reply in one piece; jeevesagent's evaluator and reflector always stream."""
        text, _calls, usage, reason = await self.complete(messages)
        yield _TYPES.ModelChunk(kind="text", text=text)
        yield _TYPES.ModelChunk(kind="finish", finish_reason=reason, usage=usage)


class QuickEmbedder:
    """Random vectors, so that filling a store of 100,000 doesn't take minutes; searching costs the same with any."""

    name = "quick"
    dimensions = 384

    def __init__(self) -> None:
        """Begin the draws."""
        self._draw = random.Random(3)

    async def embed(self, _text: str) -> list[float]:
        """Draw a vector."""
        draw = self._draw.random
        return [draw() - 0.5 for _ in range(self.dimensions)]

    async def embed_batch(self, texts: Sequence[str]) -> list[list[float]]:
        """Draw a vector for each."""
        return [await self.embed(text) for text in texts]


def _agent(mode: str, model: FakeModel) -> Any:
    if mode == "single":
        return _PACKAGE.Agent(common.INSTRUCTIONS, model=model)
    store = _STORES.InMemoryVectorStore(embedder=_EMBEDDERS.HashEmbedder()) if mode == "recall" else None
    loop = _REFLEXION.Reflexion(
        max_attempts=3,
        evaluator_prompt=common.EVALUATOR,
        reflector_prompt=common.REFLECTOR,
        lesson_store=store,
    )
    return _PACKAGE.Agent(common.INSTRUCTIONS, model=model, architecture=loop)


async def _overhead(asked: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for mode in asked["modes"]:
        model = FakeModel(replies := common.Replies(good_at=3))
        await common.in_turn(_agent(mode, model).run, ["warm up", "and again"])
        replies.calls = 0
        found[mode] = [
            await common.in_turn(_agent(mode, model).run, prompts)
            for prompts in common.batches(asked["batches"], asked["runs"])
        ]
        found[f"{mode}_calls"] = replies.calls / (asked["batches"] * asked["runs"])
    return found


async def _concurrent(asked: dict[str, Any]) -> dict[str, Any]:
    model = FakeModel(replies := common.Replies(), asked["sleep"])
    agent = _agent(asked["mode"], model)
    await agent.run("warm up")
    replies.calls = 0
    seconds = await common.at_once(agent.run, common.Corpus(13).prompts(asked["runs"]))
    return {"seconds": seconds, "calls": replies.calls / asked["runs"], "peak_mb": common.peak_rss_mb()}


def _chunks(entries: Sequence[common.Entry]) -> list[Any]:
    return [
        _CHUNKS.Chunk(content=entry.lesson, metadata={"tenant": entry.tenant, "role": entry.role}) for entry in entries
    ]


async def _recall(asked: dict[str, Any]) -> dict[str, Any]:
    size, corpus = asked["size"], common.Corpus()
    chunks, prompts = _chunks(corpus.entries(size)), corpus.prompts(asked["queries"])
    embedder = _EMBEDDERS.HashEmbedder() if size <= asked["hashed_up_to"] else QuickEmbedder()
    store = _STORES.InMemoryVectorStore(embedder=embedder)
    before = common.rss_mb()
    filling = (await common.each(store.add, [chunks]))[0]
    memory = common.rss_mb() - before
    vectors = [await embedder.embed(prompt) for prompt in prompts]

    def asking(search: Callable[..., Awaitable[object]], **where: str) -> Callable[[Any], Awaitable[object]]:
        return lambda question: search(question, k=5, filter=where or None)

    found: dict[str, Any] = {
        "memory_mb": memory,
        "all": await common.each(asking(store.search), prompts),
        "all_by_vector": await common.each(asking(store.search_by_vector), vectors),
        "tenant": await common.each(asking(store.search, tenant=common.SMALL_TENANT), prompts),
        "role": await common.each(asking(store.search, role=common.ROLE), prompts),
    }
    if isinstance(embedder, QuickEmbedder):
        return found
    # The random vectors say nothing about ranking, and the scan is the same at every size.
    found["recall_cosine"] = await _agreement(store, embedder, chunks, vectors[:3])
    found["ingest_bulk"] = [size / filling]
    more = _chunks(corpus.entries(asked["singles"]))
    found["ingest_single"] = [len(more) / sum(await common.each(store.add, [[chunk] for chunk in more]))]
    return found


async def _agreement(store: Any, embedder: Any, chunks: Sequence[Any], vectors: Sequence[list[float]]) -> float:
    known = [await embedder.embed(chunk.content) for chunk in chunks]
    same = 0
    for vector in vectors:
        scored = [sum(a * b for a, b in zip(vector, other, strict=True)) for other in known]
        exact = {chunks[at].content for at in heapq.nlargest(5, range(len(scored)), key=scored.__getitem__)}
        hits = await store.search_by_vector(vector, k=5)
        same += sum(hit.chunk.content in exact for hit in hits)
    return same / (5 * len(vectors))


async def _hold(asked: dict[str, Any]) -> dict[str, Any]:
    corpus = common.Corpus()
    store = _STORES.InMemoryVectorStore(embedder=_EMBEDDERS.HashEmbedder())
    await store.add(_chunks(corpus.entries(asked["size"])))
    recalls = (store.search(prompt, k=5) for prompt in corpus.prompts(asked["recalls"]))
    return {"in_memory": await common.longest_hold(asyncio.gather(*recalls))}


async def _imported(_asked: dict[str, Any]) -> dict[str, Any]:
    return {"rss_mb": common.rss_mb()}


_MEASURES = {
    "overhead": _overhead,
    "concurrent": _concurrent,
    "recall": _recall,
    "hold": _hold,
    "imported": _imported,
}

if __name__ == "__main__":
    common.answer(asyncio.run(_MEASURES[_ASKED["measure"]](_ASKED)))
