"""What memory says within an attempt, at a tool's error; and how long it takes at most."""

import asyncio
import time

import pytest
from hanging import HangingStore, Hangs, waits

from wisen import AsyncMemory, InMemoryVectorStore, Memory, MemoryCI, RecallHit, RecallQuery
from wisen.deadlines import RunTime
from wisen.memory_ci.trust import TrustPolicy
from wisen.records import Clockwork

pytestmark = pytest.mark.anyio
PROMPT, TOOL, ERROR = "Book a room for Ann.", "rooms", "no such floor: G"
FLOORS = "A floor is a number: for the ground floor, no such floor as G, say 0."


async def memory_with(*, trust: TrustPolicy = "trial", tool: str = TOOL, promoted: bool = True) -> AsyncMemory:
    memory = AsyncMemory(MemoryCI(InMemoryVectorStore(), trust=trust), top_k=1)
    kept = await memory.lesson("Ann wants a room with a window.", task=PROMPT)
    await memory.ci.promote(kept.card_id, "house style")
    await memory.ci.pin(kept.card_id, "house style")
    kept = await memory.lesson(FLOORS, tools=[tool])
    if promoted:
        await memory.ci.promote(kept.card_id, "house style")
        await memory.ci.pin(kept.card_id, "house style")
    return memory


async def test_what_fits_the_error_is_said_once_it_is_met() -> None:
    memory = await memory_with()
    attempt = await memory.begin(PROMPT, tools=[TOOL, "mail"])
    assert FLOORS not in attempt.advice.text
    assert FLOORS in await memory.on_error(attempt, tool=TOOL, error=ERROR)
    assert await memory.on_error(attempt, tool=TOOL, error=ERROR) == "", "it was said"
    assert [one.draw for one in attempt.account.advice.injections][1:] == [""]


async def test_what_was_said_at_the_beginning_is_not_said_again() -> None:
    memory = await memory_with()
    attempt = await memory.begin(f"{PROMPT} {FLOORS}", tools=[TOOL])
    assert FLOORS in attempt.advice.text
    assert await memory.on_error(attempt, tool=TOOL, error=ERROR) == ""


async def test_what_chance_has_left_out_of_an_attempt_stays_out() -> None:
    clockwork = Clockwork.seeded(7)
    memory = AsyncMemory(MemoryCI(InMemoryVectorStore(), trust="screened"), clockwork=clockwork)
    await memory.lesson(FLOORS, task=PROMPT, tools=[TOOL])
    held_out = 0
    for _ in range(60):
        attempt = await memory.begin(PROMPT, tools=[TOOL])
        assert await memory.on_error(attempt, tool=TOOL, error=ERROR) == ""
        held_out += FLOORS not in attempt.advice.text
    assert held_out > 0


async def test_lessons_of_another_tool_are_not_said() -> None:
    memory = await memory_with(tool="mail")
    attempt = await memory.begin(PROMPT, tools=[TOOL, "mail"])
    assert await memory.on_error(attempt, tool=TOOL, error=ERROR) == ""


async def test_what_is_on_trial_is_not_said_without_a_draw() -> None:
    memory = await memory_with(promoted=False)
    attempt = await memory.begin(PROMPT, tools=[TOOL])
    assert await memory.on_error(attempt, tool=TOOL, error=ERROR) == ""
    trusting = await memory_with(promoted=False, trust="screened")
    attempt = await trusting.begin(PROMPT, tools=[TOOL])
    assert FLOORS in await trusting.on_error(attempt, tool=TOOL, error=ERROR)


@pytest.mark.parametrize("where", ["search", "save_run"])
async def test_no_step_of_an_attempt_hangs(where: str) -> None:
    began = time.monotonic()
    memory = AsyncMemory(HangingStore(Hangs(waits), where), timeout=0.2)
    attempt = await memory.begin(PROMPT, tools=[TOOL])
    assert await memory.on_error(attempt, tool=TOOL, error=ERROR) == ""
    await memory.end(attempt)
    assert attempt.degradations
    assert time.monotonic() - began < 10, "each of three steps waits for a fifth of a second"


async def test_an_attempt_may_have_an_id_of_the_caller_s() -> None:
    memory = await memory_with()
    attempt = await memory.begin(PROMPT, attempt_id="mine")
    await memory.end(attempt)
    assert attempt.id == "mine"
    assert (await memory.outcome("mine", 0.0)).record.task.prompt == PROMPT


def test_work_is_begun_without_waiting_for_it() -> None:
    with Memory(HangingStore(Hangs(waits), "search"), timeout=60.0) as memory:
        asked = memory.start(lambda asked: asked.begin(PROMPT))
        assert not asked.done()
        assert asked.cancel()


class Slow(InMemoryVectorStore):
    """Takes its time."""

    async def search(self, query: RecallQuery) -> list[RecallHit]:
        await asyncio.sleep(0.5)
        return await super().search(query)


def test_memory_within_a_run_of_wisen_has_its_own_time() -> None:
    with Memory(Slow(), timeout=60.0) as memory:
        with RunTime(seconds=0.2, step_seconds=0.2) as outer, outer.closing("tool"):
            begun = memory.start(lambda asked: asked.begin(PROMPT))
        assert begun.result().degradations == ()
