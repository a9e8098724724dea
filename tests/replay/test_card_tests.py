"""The course of a replay test on a scripted model that does what its notes say: stages, verdicts, bounds."""

import asyncio
from dataclasses import replace

import pytest
from replaying import FEW, HELPS, HURTS, IDLE, attempt, card, obedient, outcome, status, stored, tasks

from wisen import Agent, InMemoryVectorStore, MemoryCI, MemoryStatus, ReAct, ScriptedModel
from wisen.cards import CardEvidence, MemoryScope
from wisen.errors import ConfigError, StoreError
from wisen.evaluation.checks import ReferenceEvaluator
from wisen.explain.card_facts import trial_lines
from wisen.memory_ci.verdicts import Rule
from wisen.models.scripted import ScriptedCall
from wisen.replay.card_tests import ReplayOptions, ReplayTest
from wisen.replay.log import releases
from wisen.replay.pairs import ReplayBudget
from wisen.replay.stages import Replayed

pytestmark = pytest.mark.anyio


async def test_a_card_that_helps_is_promoted_one_that_hurts_archived_and_others_stay() -> None:
    for one, expected in (
        (HELPS, MemoryStatus.PROMOTED),
        (HURTS, MemoryStatus.ARCHIVED),
        (IDLE, MemoryStatus.QUARANTINED),
    ):
        store = await stored(one)
        report = await ReplayTest(MemoryCI(store), attempt(), options=FEW).run(tasks())
        assert await status(store, one) is expected
        assert not report.exhausted
    assert outcome(report, IDLE) == (0, 0)


async def test_a_card_has_its_number_among_the_trials_before_anything_is_known_of_it() -> None:
    """A live trial bets on the same pairs, and what it asks for may not follow from them."""
    store = await stored(HELPS, IDLE)
    ci = MemoryCI(store)
    report = await ReplayTest(ci, attempt(), options=FEW, budget=ReplayBudget(attempts=0)).run(tasks())
    assert report.attempts == 0
    kept = await store.get([HELPS.id, IDLE.id])
    assert [card.trials[0].stage for card in kept] == ["waiting", "waiting"]
    numbers = [card.trials[0].number for card in kept]
    assert sorted(numbers) == [1, 2]
    await ReplayTest(ci, attempt(), options=FEW).run(tasks())
    kept = await store.get([HELPS.id, IDLE.id])
    assert [card.trials[0].number for card in kept] == numbers
    assert trial_lines(kept[0]) == []


async def test_evidence_and_history_stand_on_the_card() -> None:
    store = await stored(HELPS)
    report = await ReplayTest(MemoryCI(store), attempt(), options=FEW).run(tasks())
    kept = (await store.get([HELPS.id]))[0]
    (evidence,) = kept.evidence
    assert evidence == CardEvidence(
        model="scripted",
        layout=evidence.layout,
        terms="score 0.8 against nothing",
        gained=7,
        lost=0,
        ties=evidence.ties,
    )
    (moved,) = kept.history
    assert (moved.by, moved.evidence) == ("replay", evidence)
    assert moved.why.startswith("release 1: helps: ")
    assert report.cards[0].helps >= 20
    assert report.cards[0].why in moved.why
    assert [one.cards for one in await releases(store)] == [(HELPS.id,)]


async def test_the_own_task_and_solved_neighbours_come_first_and_only_related_tasks_count() -> None:
    store, seen = (
        await stored(replace(HELPS, situation=replace(HELPS.situation, prompt=tasks()[1].prompt), id="")),
        list[Replayed](),
    )
    learner = Agent(
        "Answer.", model=ScriptedModel(obedient), architecture=ReAct(), memory=store, evaluator=ReferenceEvaluator()
    )
    for task in tasks(6):
        await learner.run(task)
    report = await ReplayTest(MemoryCI(store), attempt(), options=FEW, watch=seen.append).run(tasks())
    stages = [one.stage for one in seen]
    assert stages[:4] == ["own task", *["solved neighbour"] * 3]
    assert set(stages[4:]) == {"related task"}
    (found,) = report.cards
    assert (found.own, found.kept, found.broken) == ("fixed", 3, 0)
    assert found.tasks == 23
    assert found.counts.gained == 7
    assert found.why.endswith("; own task fixed; 0 of 3 solved neighbours broken")


async def test_pairs_share_the_attempts_without_cards() -> None:
    store, model = await stored(HURTS, IDLE), ScriptedModel(obedient)
    await ReplayTest(MemoryCI(store), attempt(model), options=ReplayOptions(top_k=1)).run(tasks())
    bare = [call.prompt for call in model.calls if "talk" not in call.system and "here" not in call.system]
    assert len(bare) == len(set(bare)) == 24


async def test_attempts_run_side_by_side_within_the_bound() -> None:
    now, most = [0], [0]

    async def counted(messages: object, call: ScriptedCall) -> str:
        now[0] += 1
        most[0] = max(most[0], now[0])
        for _ in range(5):
            await asyncio.sleep(0)
        now[0] -= 1
        return obedient(messages, call)

    for parallel in (1, 3, 8):
        most[0], store = 0, await stored(HELPS)
        test = ReplayTest(MemoryCI(store), attempt(ScriptedModel(counted)), options=FEW, parallel=parallel)
        report = await test.run(tasks())
        assert most[0] in (parallel, parallel - 1)  # a pair is two attempts
        assert most[0] <= parallel
        assert report.cards[0].counts.gained >= 7
        assert await status(store, HELPS) is MemoryStatus.PROMOTED


async def test_harm_shows_beside_what_is_in_use() -> None:
    """By itself the card has nothing to break; in the second round it stands beside the one that was promoted."""

    def helpless(_: object, call: ScriptedCall) -> str:
        good = "HELPS" in call.system and "HURTS" not in call.system
        return call.prompt.replace("Give the berth of ship", "berth").split(" in ")[0] if good else "berth ?"

    store = await stored(HELPS, HURTS)
    report = await ReplayTest(MemoryCI(store), attempt(ScriptedModel(helpless)), options=FEW).run(tasks())
    assert await status(store, HELPS) is MemoryStatus.PROMOTED
    assert await status(store, HURTS) is MemoryStatus.ARCHIVED
    assert outcome(report, HURTS) == (0, 7)


async def test_only_cards_in_quarantine_that_nobody_pinned_are_tested() -> None:
    pinned = replace(HURTS, pinned=True)
    store = await stored(pinned, replace(HELPS, status=MemoryStatus.ARCHIVED))
    report = await ReplayTest(MemoryCI(store), attempt()).run(tasks(), [pinned.id, HELPS.id])
    assert report.cards == ()
    assert report.attempts == 0


async def test_a_card_is_never_tested_on_another_tenants_tasks() -> None:
    foreign = replace(HELPS, scope=MemoryScope(tenant="acme"), id="")
    store = await stored(foreign)
    report = await ReplayTest(MemoryCI(store), attempt()).run(tasks())
    assert (report.cards[0].tasks, report.attempts) == (0, 0)


async def test_a_placebo_stands_in_the_cards_place() -> None:
    long = card("HELPS here, and says so in as many words as it takes.")
    store, model = await stored(long), ScriptedModel(obedient)
    options = ReplayOptions(top_k=2, control="placebo")
    await ReplayTest(MemoryCI(store), attempt(model), options=options).run(tasks())
    assert await status(store, long) is MemoryStatus.PROMOTED
    without = [call for call in model.calls if "HELPS" not in call.system]
    assert len([call for call in without if "no information" in call.system]) >= 7
    assert "no information" in without[0].system


async def test_what_cannot_be_meant_is_refused() -> None:
    ci = MemoryCI(InMemoryVectorStore())
    for make in (
        lambda: ReplayTest(ci, attempt(), parallel=0),
        lambda: ReplayBudget(attempts=-1),
        lambda: ReplayOptions(top_k=0),
        lambda: ReplayOptions(threshold=0.0),
        lambda: Rule(max_pairs=0),
    ):
        with pytest.raises(ConfigError):
            make()


async def test_a_store_that_keeps_no_calls_is_refused() -> None:
    class Bare:
        def __getattr__(self, name: str) -> object:
            if name in ("call", "save_call"):
                raise AttributeError(name)
            return getattr(InMemoryVectorStore(), name)

    with pytest.raises(StoreError, match="keeps no calls"):
        await ReplayTest(MemoryCI(Bare()), attempt()).run(tasks())  # pyright: ignore[reportArgumentType]
