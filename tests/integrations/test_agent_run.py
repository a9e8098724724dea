"""How long a run of another framework's agent waits for memory, all in all."""

import time

import pytest
from hanging import Hang, HangingStore, Hangs, sleeps, waits, wont_be_cancelled

from wisen import MemoryCI
from wisen.integrations.agent_run import AgentMemory

pytestmark = pytest.mark.anyio
PROMPT, TOOL, ERROR = "How many lamps are there?", "stock", "no such article: lamps"
PATIENCE = 0.2
STEPS = 120
"""If a run waited for each of them, it would wait for more than a minute."""


@pytest.mark.parametrize("hang", [waits, sleeps, wont_be_cancelled])
@pytest.mark.parametrize("awaits", [True, False])
async def test_a_run_waits_for_memory_no_longer_than_its_timeout_all_in_all(hang: Hang, awaits: bool) -> None:
    store = HangingStore(Hangs(hang, first=1000), "search")
    run = AgentMemory(MemoryCI(store, trust="screened"), timeout=PATIENCE).run()
    await run.advice(PROMPT, [TOOL])
    assert run.attempt_id
    store.hangs.first, began = 0, time.monotonic()
    for number in range(STEPS):
        run.called(TOOL, {"article": number}, error=f"{ERROR} {number}")
        asked = run.on_error(TOOL, f"{ERROR} {number}")
        assert (await asked if awaits else asked.wait()) == ""
    assert run.left <= 0
    assert time.monotonic() - began < 30.0
