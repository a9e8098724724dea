"""A copy that is killed without warning and run again writes only what is missing."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from postgres import PostgresServer
from whole_stores import everything, lived_in

from wisen.stores.connect import connect
from wisen.stores.copying import copy_store
from wisen.testing.material import card

COPYING = """
import asyncio, sys
from wisen.stores.connect import connect
from wisen.stores.copying import copy_store

def told(part, done, of):
    print("page", flush=True)
    sys.stdin.readline()

async def main(source, target):
    async with connect(source, read_only=True) as giver, connect(target) as taker:
        await copy_store(giver, taker, page=4, progress=told)

asyncio.run(main(*sys.argv[1:]))
"""
"""Copies, and says so after each page, until it is told to go on."""


@pytest.mark.parametrize("target", ["sqlite", "markdown", "postgres"])
def test_a_killed_copy_goes_on(target: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    server: PostgresServer | None = request.getfixturevalue("postgres_server") if target == "postgres" else None
    url = server.new_database() if server else f"{target}:{tmp_path / 'target'}"
    source = f"sqlite:{tmp_path / 'source.db'}"
    written: list[int] = []

    async def prepare() -> None:
        async with connect(source) as store:
            await lived_in(store)
            await store.add([card(f"Lesson {number}.", minute=number) for number in range(30)])
            for number in range(30):
                await store.save_call("run:r1", "more", number, b"response")

    async def finish() -> None:
        async with connect(source) as store, connect(url) as taker:
            report = await copy_store(store, taker, page=4)
            assert report.whole
            assert await everything(store) == await everything(taker)
            written.append(sum(part.written for part in report.parts if part.part != "vectors"))
            again = await copy_store(store, taker, page=4)
            assert sum(part.written for part in again.parts) == 0

    asyncio.run(prepare())
    for pages in (2, 5, 9):
        killed_after(pages, source, url)
    asyncio.run(finish())
    # Each of the killed ones had written three pages more than the one before it, the first one one.
    assert 0 < written[0] < 37 + 2 + 2 + 31 - 5 * 4
    if server:
        server.drop(url)


def killed_after(pages: int, source: str, target: str) -> None:
    """Copy in a process of its own, and kill it without warning once so many pages were read back."""
    process = subprocess.Popen(
        [sys.executable, "-c", COPYING, source, target],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout
        assert process.stdin
        for _ in range(pages):
            assert process.stdout.readline() == "page\n"
            process.stdin.write("go\n")
            process.stdin.flush()
    finally:
        process.kill()
        process.communicate()
