"""What a process of its own does in the tests of durability: write cards and say which were acknowledged, or be killed.

Run with `ORDER` and `SAY` among its globals.
"""

import asyncio
from itertools import count
from multiprocessing.connection import Connection

from wisen.cards import MemoryCard, MemoryKind, Provenance, Situation
from wisen.stores.connect import connect


def made(name: str, number: int) -> MemoryCard:
    return MemoryCard(
        kind=MemoryKind.LESSON,
        content=f"Lesson {number} of writer {name}: check the seal of crate {number} first.",
        situation=Situation(prompt=f"Load crate {number} for {name}"),
        provenance=Provenance(run_id=f"{name}-{number}"),
    )


async def write_cards(order: tuple[str, str, int, int], say: Connection) -> None:
    """Write `wanted` batches of one or two cards (0: endless), `together` at a time."""
    url, name, wanted, together = order
    store = connect(url)
    numbers = iter(range(wanted)) if wanted else count()

    async def write() -> None:
        for number in numbers:
            batch = [made(name, number)] if number % 3 else [made(name, number), made(f"{name}-twin", number)]
            written = await store.add(batch)
            say.send_bytes(" ".join(each.card_id for each in written if each.outcome == "added").encode())

    await asyncio.gather(*(write() for _ in range(together)))
    await store.close()


if __name__ == "__main__":
    asyncio.run(write_cards(globals()["ORDER"], globals()["SAY"]))
