"""What a process of its own does in the tests of submissions at once: teach lessons that others teach too.

Run with `ORDER` and `SAY` among its globals.
"""

import asyncio
from multiprocessing.connection import Connection

from wisen import HashEmbedder, MemoryCard, MemoryCI, MemoryKind, Situation
from wisen.cards import Provenance
from wisen.stores.connect import connect

GOODS = ("anchors", "barrels", "candles", "drums", "engines", "figs", "gravel", "hemp", "iron", "jute")


def taught(number: int, run_id: str) -> MemoryCard:
    goods = GOODS[number]
    return MemoryCard(
        kind=MemoryKind.LESSON,
        content=f"Of {goods}, {goods} first: {goods} are heavier than {goods} look.",
        situation=Situation(prompt=f"Load {goods}, {goods} and more {goods}"),
        provenance=Provenance(run_id=run_id),
    )


async def submit_all(order: tuple[str, str, int, int], say: Connection) -> None:
    """Submit `wanted` lessons, each of them `together` times at once."""
    url, name, wanted, together = order
    store = connect(url, embedder=HashEmbedder())
    ci = MemoryCI(store)

    async def submit(number: int, run: int) -> None:
        submission = await ci.submit(taught(number, f"{name}-{run}"))
        if submission.outcome == "added":
            say.send_bytes(submission.card_id.encode())

    for number in range(wanted):
        await asyncio.gather(*(submit(number, run) for run in range(together)))
    await store.close()


if __name__ == "__main__":
    asyncio.run(submit_all(globals()["ORDER"], globals()["SAY"]))
