"""The limit: the same model calls in a bare asyncio loop, without any framework."""

import asyncio
from typing import Any

import common


async def _calls(replies: common.Replies, count: int, seconds: float) -> None:
    for _ in range(count):
        if seconds:
            await asyncio.sleep(seconds)
        replies.to("")


async def _overhead(asked: dict[str, Any]) -> dict[str, Any]:
    replies = common.Replies()

    async def run(_prompt: str) -> None:
        await _calls(replies, 1, 0.0)

    return {
        "single": [await common.in_turn(run, prompts) for prompts in common.batches(asked["batches"], asked["runs"])]
    }


async def _concurrent(asked: dict[str, Any]) -> dict[str, Any]:
    replies = common.Replies()
    prompts = common.Corpus(13).prompts(asked["runs"])

    async def run(_prompt: str) -> None:
        await _calls(replies, asked["calls"], asked["sleep"])

    seconds = await common.at_once(run, prompts)
    return {"seconds": seconds, "calls": asked["calls"], "peak_mb": common.peak_rss_mb()}


async def _hold(asked: dict[str, Any]) -> dict[str, Any]:
    return {"idle": await common.longest_hold(asyncio.sleep(asked["seconds"]))}


_MEASURES = {"overhead": _overhead, "concurrent": _concurrent, "hold": _hold}

if __name__ == "__main__":
    _asked = common.options()
    common.answer(asyncio.run(_MEASURES[_asked["measure"]](_asked)))
