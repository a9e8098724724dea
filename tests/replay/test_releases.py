"""Cards go into use together: chosen together, tested together, and found out where they regress."""

import pytest
from replaying import FEW, HELPS, attempt, card, obedient, outcome, status, stored, tasks

from wisen import InMemoryVectorStore, MemoryCard, MemoryCI, MemoryStatus, ScriptedModel
from wisen.models.scripted import ScriptedCall
from wisen.replay.card_tests import ReplayOptions, ReplayTest
from wisen.replay.log import releases
from wisen.replay.pairs import ReplayBudget

pytestmark = pytest.mark.anyio


async def test_many_cards_are_promoted_by_e_bh() -> None:
    """Seven gains (e = 32) are enough for a card alone; among six, five of them idle, it takes 120, which is ten."""
    idle = [card(f"IDLE talk {word}.", of="harbour") for word in ("a", "b", "c", "d", "e")]
    store = await stored(HELPS, *idle)
    report = await ReplayTest(MemoryCI(store), attempt(), options=ReplayOptions(top_k=1)).run(tasks())
    assert outcome(report, HELPS) == (10, 0)
    assert await status(store, HELPS) is MemoryStatus.PROMOTED
    store = await stored(HELPS, *idle)
    await ReplayTest(MemoryCI(store), attempt(), options=ReplayOptions(top_k=1)).run(tasks(16))
    assert await status(store, HELPS) is MemoryStatus.QUARANTINED


async def test_a_release_that_regresses_is_halved_until_the_culprit_is_found() -> None:
    """Each helps alone; two of them contradict each other. Without one of these, the others go into use."""
    words = ("ONE", "two", "three", "four", "OTHER", "six", "seven", "eight")
    members = [card(f"HELPS, {word}.", run=word) for word in words]

    def quarrel(messages: object, call: ScriptedCall) -> str:
        if "ONE" in call.system and "OTHER" in call.system:
            return "berth ?"
        return obedient(messages, call)

    store, options = await stored(*members), ReplayOptions(top_k=8)
    report = await ReplayTest(MemoryCI(store), attempt(ScriptedModel(quarrel)), options=options).run(tasks(48))
    (release,) = report.releases
    assert (release.verdict, release.searches, len(release.cards)) == ("helps", 3, 7)
    (culprit,) = await store.get(release.withdrawn)
    assert culprit.content in ("HELPS, ONE.", "HELPS, OTHER.")
    assert culprit.status is MemoryStatus.ARCHIVED
    assert culprit.history[-1].why.startswith("release 1 regressed with it, found in 3 tests; by itself: ")
    others = await store.get(release.cards)
    assert {one.status for one in others} == {MemoryStatus.PROMOTED}
    assert all(one.history[-1].why.startswith("release 1: ") for one in others)


@pytest.mark.no_cover
async def test_a_regressed_release_stays_out_where_the_budget_ends_before_the_culprit_is_found() -> None:
    members = [card(f"HELPS, {word}.", run=word) for word in ("ONE", "OTHER")]
    whole = await ReplayTest(MemoryCI(await stored(*members)), attempt(), options=FEW).run(tasks())
    assert whole.releases[0].searches == 1
    held_back = 0
    for attempts in range(whole.attempts):
        store = await stored(*members)
        test = ReplayTest(MemoryCI(store), attempt(), options=FEW, budget=ReplayBudget(attempts=attempts))
        report = await test.run(tasks())
        assert report.exhausted
        for release in report.releases:
            held_back += release.verdict == "untested" and len(release.withdrawn) == 2
            out = await store.get(release.withdrawn)
            assert MemoryStatus.PROMOTED not in {one.status for one in out}
    assert held_back


async def test_a_release_that_a_crash_cut_short_is_finished() -> None:
    class Dies(InMemoryVectorStore):
        dead = False

        async def update(self, card: MemoryCard) -> None:
            if card.status is MemoryStatus.PROMOTED and not self.dead:
                self.dead = True
                raise RuntimeError("killed")
            await super().update(card)

    store = Dies()
    await store.add([HELPS])
    with pytest.raises(RuntimeError, match="killed"):
        await ReplayTest(MemoryCI(store), attempt(), options=FEW).run(tasks())
    await ReplayTest(MemoryCI(store), attempt(), options=FEW).run(tasks())
    assert await status(store, HELPS) is MemoryStatus.PROMOTED
    assert [one.cards for one in await releases(store)] == [(HELPS.id,)]
