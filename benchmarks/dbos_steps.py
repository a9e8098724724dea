"""DBOS used bare: prints, as JSON, the seconds of its steps and of empty workflows. Arguments: URL, number of steps."""

import asyncio
import json
import logging
import sys
import time
from typing import Any

from dbos import DBOS, DBOSConfig


async def _main(url: str, count: int) -> None:
    config: DBOSConfig = {
        "name": "bench",
        "system_database_url": url,
        "log_level": "CRITICAL",
        "enable_otlp": False,
    }
    logging.getLogger("dbos").setLevel(logging.CRITICAL)
    DBOS(config=config)

    @DBOS.step()
    async def step(value: str) -> str:
        return value

    @DBOS.workflow()
    async def steps(times: int) -> None:
        for number in range(times):
            await step(f"answer {number}")

    DBOS.launch()
    taken: dict[str, Any] = {}
    await steps(5)
    began = time.perf_counter()
    await steps(count)
    taken["one"] = (time.perf_counter() - began) / count
    began = time.perf_counter()
    await asyncio.gather(*(steps(count // 8) for _ in range(8)))
    taken["eight"] = (time.perf_counter() - began) / (count // 8 * 8)
    began = time.perf_counter()
    for _ in range(20):
        await steps(0)
    taken["workflow"] = (time.perf_counter() - began) / 20
    print(json.dumps(taken), flush=True)
    DBOS.destroy()


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], int(sys.argv[2])))
