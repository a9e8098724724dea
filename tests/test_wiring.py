"""What an agent's runs are connected to."""

from pathlib import Path

import pytest

from wisen import Agent, BlockMemory, InMemoryVectorStore, ScriptedModel, SQLiteVectorStore
from wisen.agent import Wiring

pytestmark = pytest.mark.anyio


def test_a_store_that_keeps_runs_goes_on_keeping_them() -> None:
    own, other = InMemoryVectorStore(), InMemoryVectorStore()
    assert Wiring.to(own).kept_in(other) == Wiring.to(own)
    assert Wiring.to(BlockMemory()).kept_in(other) == Wiring.to(other)


def test_what_keeps_runs_without_their_steps_gives_way_whole() -> None:
    class Runs:
        save_run = InMemoryVectorStore.save_run
        run = InMemoryVectorStore.run
        runs = InMemoryVectorStore.runs

    wiring, other = Wiring.to(Runs()), InMemoryVectorStore()
    assert (wiring.run_log is not None, wiring.call_log) == (True, None)
    kept = wiring.kept_in(other)
    assert (kept.run_log, kept.call_log) == (other, other)


async def test_a_rewired_agent_is_another_one_and_the_first_stays(tmp_path: Path) -> None:
    agent = Agent(model=ScriptedModel(["a", "b"]))
    async with SQLiteVectorStore(tmp_path / "runs.db") as store:
        other = agent.rewired(agent.wiring.kept_in(store))
        await other.run("Say a letter.")
        await agent.run("Say a letter.")
        assert len(await store.runs()) == 1
