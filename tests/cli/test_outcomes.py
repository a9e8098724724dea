"""`wisen runs outcome` tells how a run came out, once that is known."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from trying import PROMPT, agent, keeper, kept, lesson, says_yes, trial_in

from wisen import HashEmbedder, ReflectionEvaluation, SQLiteVectorStore, Task, Trace
from wisen.cards import MemoryCard

Wisen = Callable[..., CompletedProcess[str]]


class Away:
    """A judge that isn't there."""

    name = "away"

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:
        """Say nothing."""
        del task, output, trace
        return ReflectionEvaluation(overall_score=None)


@pytest.fixture
def run_id(store: Path) -> str:
    """A run that nobody could judge, and that a lesson was tried in."""

    async def make() -> str:
        store.parent.mkdir(parents=True)
        async with SQLiteVectorStore(store, embedder=HashEmbedder()) as opened:
            await keeper(opened).submit(lesson())
            return (await agent(opened, says_yes, evaluator=Away(), memory=opened).run(PROMPT)).run_id

    return asyncio.run(make())


def card(store: Path) -> MemoryCard:
    async def read() -> MemoryCard:
        async with SQLiteVectorStore(store, embedder=HashEmbedder()) as opened:
            return await kept(opened, lesson().id)

    return asyncio.run(read())


def test_an_outcome_is_counted_once(wisen: Wisen, store: Path, run_id: str) -> None:
    assert [one.unknown for one in card(store).open_draws] == [True]
    done = wisen("runs", "outcome", run_id[:10], "--score", "0.9")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"run {run_id}: 1 lesson counted\n"
    counted = card(store)
    assert counted.open_draws == ()
    assert (trial_in(counted, "scripted").runs, wisen("runs", "show", run_id).stdout.count("satisfied")) == (1, 1)
    again = wisen("runs", "outcome", run_id, "--score", "0")
    assert (again.returncode, again.stdout) == (0, f"run {run_id}: 0 lessons counted\n")
    assert "counted before" in again.stderr
    assert card(store) == counted


def test_what_can_not_be_an_outcome_is_refused(wisen: Wisen, store: Path, run_id: str) -> None:
    for wrong in (("--score", "2"), ("--score", "1", "--threshold", "-1")):
        done = wisen("runs", "outcome", run_id, *wrong)
        assert (done.returncode, done.stdout) == (2, "")
        assert wrong[-2] in done.stderr
    unknown = wisen("runs", "outcome", "nobody", "--score", "1")
    assert (unknown.returncode, "no run 'nobody'" in unknown.stderr) == (2, True)
    assert len(card(store).open_draws) == 1


def test_a_run_that_has_not_ended_has_no_outcome_yet(wisen: Wisen, store: Path, run_id: str) -> None:
    async def begin() -> None:
        async with SQLiteVectorStore(store, embedder=HashEmbedder()) as opened:
            record = await opened.run(run_id)
            await opened.save_run(replace(record, run_id="begun", status="unfinished", attempts=()))

    asyncio.run(begin())
    done = wisen("runs", "outcome", "begun", "--score", "1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "run 'begun' hasn't ended" in done.stderr
