"""What a process of its own does in the tests of the account: run one agent some times, side by side with others.

Run with `ORDER` and `SAY` among its globals.
"""

import asyncio
from multiprocessing.connection import Connection
from random import Random

from trying import PROMPT, agent

from wisen import HashEmbedder, MemoryCI
from wisen.memory_ci.trial import TrialRule
from wisen.stores.connect import connect


async def run_all(order: tuple[str, str, int, int], say: Connection) -> None:
    """Run `wanted` times, `together` runs at once; every third run has an id that the other process uses too."""
    url, name, wanted, together = order
    store, chance = connect(url, embedder=HashEmbedder()), Random(name)
    ci = MemoryCI(store, trial=TrialRule(first_shown=0, promote_at=1e9, no_difference_at=1e9, archive_at=1e9))

    def reply(messages: object, call: object) -> str:
        del messages, call
        return chance.choice(("yes", "no"))

    made = agent(ci, reply, memory=store)

    async def one(number: int) -> None:
        run_id = f"shared {number}" if number % 3 == 0 else f"{name} {number}"
        result = await made.run(PROMPT, run_id=run_id)
        say.send_bytes(result.run_id.replace(" ", "-").encode() + b" ")

    for first in range(0, wanted, together):
        await asyncio.gather(*(one(number) for number in range(first, first + together)))
    await store.close()


if __name__ == "__main__":
    asyncio.run(run_all(globals()["ORDER"], globals()["SAY"]))
