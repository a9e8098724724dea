"""Two processes that test at once lose nothing of each other's: neither releases, nor pairs, nor scores."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from wisen import InMemoryVectorStore, MarkdownStore, SQLiteVectorStore
from wisen.protocols import CallLog
from wisen.replay.attempts import Condition
from wisen.replay.log import Made, Pair, Release, ReplayLog, releases

pytestmark = pytest.mark.anyio

CONDITION = Condition(model="m", layout="l")
NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Plain:
    """A call log that doesn't tell who was first."""

    def __init__(self) -> None:
        self._calls = InMemoryVectorStore()
        self.save_call = self._calls.save_call
        self.call = self._calls.call


@pytest.fixture(params=["memory", "sqlite", "markdown"])
async def both(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[CallLog, CallLog]]:
    """One store, as two processes see it."""
    if request.param == "memory":
        store = InMemoryVectorStore()
        yield store, store
        return
    kind = SQLiteVectorStore if request.param == "sqlite" else MarkdownStore
    one, other = kind(tmp_path / "store"), kind(tmp_path / "store")
    yield one, other
    await one.close()
    await other.close()


async def test_releases_at_once_have_numbers_of_their_own(both: tuple[CallLog, CallLog]) -> None:
    logs = [ReplayLog(calls, CONDITION) for calls in both]
    told = [Release(at="now", cards=(f"card {number}",)) for number in range(12)]
    kept = await asyncio.gather(*(logs[number % 2].keep_release(one) for number, one in enumerate(told)))
    assert sorted(one.number for one in kept) == list(range(1, 13))
    assert await releases(both[0]) == sorted(kept, key=lambda one: one.number)
    assert {one.cards for one in kept} == {one.cards for one in told}


async def test_pairs_at_once_are_all_counted(both: tuple[CallLog, CallLog]) -> None:
    logs = [ReplayLog(calls, CONDITION) for calls in both]
    pairs = [Pair(key=f"task {number}", side="gained") for number in range(12)]
    await asyncio.gather(*(logs[number % 2].keep_pair("card 1", one) for number, one in enumerate(pairs)))
    afterwards = ReplayLog(both[0], CONDITION)
    assert (await afterwards.counts("card 1")).gained == 12


async def test_of_two_scores_of_one_attempt_the_first_counts_for_both(both: tuple[CallLog, CallLog]) -> None:
    logs = [ReplayLog(calls, CONDITION) for calls in both]
    made = [Made(score=score, at=NOW) for score in (0.25, 1.0)]
    kept = await asyncio.gather(*(log.keep_made("attempt", one) for log, one in zip(logs, made, strict=True)))
    assert kept[0] == kept[1] == await logs[1].made("attempt", NOW)
    assert kept[0] in made


async def test_a_plain_call_log_serves_one_process() -> None:
    log = ReplayLog(Plain(), CONDITION)
    assert [(await log.keep_release(Release(at="now", cards=()))).number for _ in range(3)] == [1, 2, 3]
    for number in range(3):
        await log.keep_pair("card 1", Pair(key=f"task {number}", side="tie"))
    assert (await log.counts("card 1")).ties == 3
