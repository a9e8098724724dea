"""The live trial counts each run once, as it was drawn, and moves a card when the counts say so."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest

from wisen import (
    Agent,
    CardFilter,
    Clockwork,
    InMemoryVectorStore,
    MemoryCard,
    MemoryCI,
    MemoryKind,
    MemoryStatus,
    ReflectionEvaluation,
    Reflexion,
    RunRecord,
    ScriptedModel,
    Situation,
    SQLiteVectorStore,
    Task,
    Trace,
    VectorStore,
)
from wisen.architectures.turn import hurts
from wisen.cards import CardEvidence
from wisen.errors import StoreError
from wisen.events import CardMoved, Degraded, Event
from wisen.memory_ci.changes import change_card
from wisen.memory_ci.trial import added, observe
from wisen.memory_ci.verdicts import trial_verdict
from wisen.records import AttemptRecord, Injection

pytestmark = pytest.mark.anyio

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
PROMPT = "Route the ticket."
LAYOUT = "episodes-as-turns"


def lesson(content: str = "Invoices go to Harbour.") -> MemoryCard:
    return MemoryCard(kind=MemoryKind.LESSON, content=content, situation=Situation(prompt=PROMPT))


def keeper(store: VectorStore, **options: Any) -> MemoryCI:
    return MemoryCI(store, now=lambda: NOON, **options)


def ran(run_id: str, drawn: Injection, *, score: float | None, verifiable: bool = True, model: str = "m") -> RunRecord:
    judged = ReflectionEvaluation(overall_score=score, verifiable=verifiable)
    first = AttemptRecord(attempt=1, output="", evaluation=judged, injections=(drawn,))
    return RunRecord(run_id=run_id, task=Task(prompt=PROMPT), model=model, attempts=(first,))


def drawn(card_id: str, *, shown: bool = True, propensity: float = 0.85) -> Injection:
    return Injection(card_id=card_id, kind="lesson", reasons=(), score=1.0, shown=shown, propensity=propensity)


async def only(store: VectorStore) -> MemoryCard:
    return (await store.list(CardFilter()))[0]


async def tried(ci: MemoryCI, *, with_card: float, without: float, runs: int, seed: int = 1) -> list[CardMoved]:
    """Runs of a card whose effect is known, drawn as recall draws them."""
    chance, moved = Random(seed), list[CardMoved]()
    for number in range(runs):
        run_id = f"run {number}"
        for one in await ci.recall(lesson().situation, CardFilter(tenant=""), run_id=run_id):
            good = chance.random() < (with_card if one.shown else without)
            injection = drawn(one.hit.card.id, shown=one.shown, propensity=one.propensity)
            moved += await observe(ci, ran(run_id, injection, score=float(good)), layout=LAYOUT)
    return moved


async def test_a_card_that_helps_is_promoted() -> None:
    ci = keeper(InMemoryVectorStore())
    await ci.submit(lesson())
    (told,) = await tried(ci, with_card=0.9, without=0.1, runs=300)
    card = await only(ci.store)
    assert (told.before, told.after, told.by) == ("quarantined", "promoted", "trial")
    assert card.status is MemoryStatus.PROMOTED
    last = card.history[-1]
    assert last.why == card.note == told.why
    assert last.evidence is not None
    assert trial_verdict(last.evidence, 0.85) == "helps"
    assert f"good in {last.evidence.shown_successes} of {last.evidence.shown} runs with it" in last.why


async def test_a_card_that_hurts_is_archived_and_shown_no_more() -> None:
    ci = keeper(InMemoryVectorStore())
    await ci.submit(lesson())
    (told,) = await tried(ci, with_card=0.1, without=0.9, runs=300)
    assert told.after == "archived"
    assert told.why.startswith("hurts: good in ")
    assert await ci.recall(lesson().situation, CardFilter(tenant=""), run_id="later") == []


async def test_a_useless_card_stays_on_trial() -> None:
    ci = keeper(InMemoryVectorStore())
    await ci.submit(lesson())
    assert await tried(ci, with_card=0.5, without=0.5, runs=300) == []
    card = await only(ci.store)
    (counts,) = card.evidence
    assert (card.status, counts.shown + counts.held_out) == (MemoryStatus.QUARANTINED, 300)
    assert len(card.observed) == 64


async def test_a_pinned_card_is_counted_on_and_stays() -> None:
    ci = keeper(InMemoryVectorStore())
    card_id = (await ci.submit(lesson())).card_id
    await ci.pin(card_id, "we look at it ourselves")
    assert await tried(ci, with_card=0.9, without=0.1, runs=300) == []
    card = await only(ci.store)
    assert (card.status, card.evidence[0].shown + card.evidence[0].held_out) == (MemoryStatus.QUARANTINED, 300)


async def test_late_counts_archive_a_promoted_card_that_hurts() -> None:
    ci = keeper(InMemoryVectorStore())
    card_id = (await ci.submit(lesson())).card_id
    await ci.promote(card_id, "looked good")
    counts = CardEvidence(model="m", layout=LAYOUT, propensity=0.85, shown=80, held_out=20, held_out_successes=20)
    await change_card(ci.store, card_id, lambda card: replace(card, evidence=(counts,)))
    (told,) = await observe(ci, ran("r", drawn(card_id), score=0.0), layout=LAYOUT)
    assert (told.before, told.after) == ("promoted", "archived")


async def test_forty_runs_at_once_are_all_counted(any_store: VectorStore) -> None:
    ci = keeper(any_store)
    card_id = (await ci.submit(lesson())).card_id
    records = [ran(f"run {number}", drawn(card_id), score=float(number % 2)) for number in range(40)]
    await asyncio.gather(*(observe(ci, record, layout=LAYOUT) for record in (*records, *records[:5])))
    assert (await only(any_store)).evidence == (
        CardEvidence(model="m", layout=LAYOUT, propensity=0.85, shown=40, shown_successes=20),
    )


async def test_runs_of_two_processes_are_all_counted(tmp_path: Path) -> None:
    async with SQLiteVectorStore(tmp_path / "s.db") as one, SQLiteVectorStore(tmp_path / "s.db") as other:
        card_id = (await keeper(one).submit(lesson())).card_id
        records = [ran(f"run {number}", drawn(card_id, shown=number > 9), score=1.0) for number in range(40)]
        await asyncio.gather(
            *(observe(keeper((one, other)[at % 2]), record, layout=LAYOUT) for at, record in enumerate(records))
        )
        (counts,) = (await only(other)).evidence
        assert (counts.shown, counts.shown_successes, counts.held_out, counts.held_out_successes) == (30, 30, 10, 10)


async def test_counts_are_kept_apart_by_model_layout_propensity_and_who_judged() -> None:
    ci = keeper(InMemoryVectorStore())
    card_id = (await ci.submit(lesson())).card_id
    for number, (model, layout, propensity, verifiable) in enumerate(
        [
            ("m", "a", 0.85, True),
            ("n", "a", 0.85, True),
            ("m", "b", 0.85, True),
            ("m", "a", 0.5, True),
            ("m", "a", 0.85, False),
            ("m", "a", 0.85, True),
        ]
    ):
        injection = drawn(card_id, propensity=propensity, shown=number > 0)
        record = ran(f"run {number}", injection, score=0.8, verifiable=verifiable, model=model)
        await observe(ci, record, layout=layout)
    found = (await only(ci.store)).evidence
    assert [(one.model, one.layout, one.propensity, one.judged) for one in found] == [
        ("m", "a", 0.85, False),
        ("n", "a", 0.85, False),
        ("m", "b", 0.85, False),
        ("m", "a", 0.5, False),
        ("m", "a", 0.85, True),
    ]
    assert found[0] == CardEvidence(
        model="m", layout="a", propensity=0.85, shown=1, shown_successes=1, held_out=1, held_out_successes=1
    )


async def test_what_says_nothing_is_not_counted() -> None:
    store = InMemoryVectorStore()
    card_id = (await keeper(store).submit(lesson())).card_id
    nothing = RunRecord(run_id="r", task=Task(prompt=PROMPT))
    certain = ran("r", drawn(card_id, propensity=1.0), score=1.0)
    second = ran("r", drawn("another"), score=1.0)
    second = replace(second, attempts=(*second.attempts, ran("r", drawn(card_id), score=1.0).attempts[0]))
    for record in (nothing, certain, second):
        assert await observe(keeper(store), record, layout=LAYOUT) == []
    for trust in ("screened", "replayed"):
        assert await observe(keeper(store, trust=trust), ran("r", drawn(card_id), score=1.0), layout=LAYOUT) == []
    assert (await only(store)).evidence == ()


async def status_after(
    outcome: Callable[[Random, bool], tuple[float | None, bool]], *, runs: int, seed: int
) -> MemoryStatus:
    """Where a card ends; `outcome` is a run's score and whether a check gave it, by whether the card was shown."""
    ci, chance = keeper(InMemoryVectorStore()), Random(seed)
    await ci.submit(lesson())
    for number in range(runs):
        for one in await ci.recall(lesson().situation, CardFilter(tenant=""), run_id=f"{seed} {number}"):
            score, verifiable = outcome(chance, one.shown)
            injection = drawn(one.hit.card.id, shown=one.shown, propensity=one.propensity)
            await observe(ci, ran(f"r{number}", injection, score=score, verifiable=verifiable), layout=LAYOUT)
    return (await only(ci.store)).status


async def test_a_card_that_makes_failures_unknown_is_not_promoted() -> None:
    """Seven of ten failures with it end without a score; else nothing differs. Left out, they would be successes."""

    def hides(chance: Random, shown: bool) -> tuple[float | None, bool]:
        return (1.0 if chance.random() < 0.5 else None if shown and chance.random() < 0.7 else 0.0), True

    for seed in range(8):
        assert await status_after(hides, runs=200, seed=seed) is not MemoryStatus.PROMOTED


async def test_a_card_that_helps_is_promoted_though_a_fifth_of_the_runs_has_no_score() -> None:
    def helps(chance: Random, shown: bool) -> tuple[float | None, bool]:
        return None if chance.random() < 0.2 else float(chance.random() < (0.9 if shown else 0.3)), True

    for seed in range(4):
        assert await status_after(helps, runs=300, seed=seed) is MemoryStatus.PROMOTED


async def test_a_card_that_only_makes_results_scorable_helps() -> None:
    """What it says of success is the rate of good scores; the rate among runs with a score is the same."""

    def scorable(chance: Random, shown: bool) -> tuple[float | None, bool]:
        return None if chance.random() < (0.05 if shown else 0.8) else float(chance.random() < 0.8), True

    assert await status_after(scorable, runs=300, seed=1) is MemoryStatus.PROMOTED


@pytest.mark.parametrize("opinions", [1.0, 0.5])
async def test_a_card_that_makes_unknown_results_known_failures_is_not_promoted(opinions: float) -> None:
    """Without it most failures that a model would have judged have no score; so the checks' counts alone favour it."""

    def tells(chance: Random, shown: bool) -> tuple[float | None, bool]:
        judged, good, lost = chance.random() < opinions, chance.random() < 0.5, chance.random() < 0.8
        return (None if judged and not good and not shown and lost else float(good)), not judged

    for seed in range(4):
        assert await status_after(tells, runs=400, seed=seed) is not MemoryStatus.PROMOTED


async def test_an_evaluator_that_fails_for_all_says_nothing_against_a_card() -> None:
    ci = keeper(InMemoryVectorStore())
    card_id = (await ci.submit(lesson())).card_id
    for number in range(100):
        injection = drawn(card_id, shown=number % 7 > 0)
        assert await observe(ci, ran(f"r{number}", injection, score=None), layout=LAYOUT) == []
    assert (await only(ci.store)).evidence == tuple(
        CardEvidence(
            model="m",
            layout=LAYOUT,
            propensity=0.85,
            judged=judged,
            shown=85,
            shown_unknown=85,
            held_out=15,
            held_out_unknown=15,
        )
        for judged in (False, True)
    )


async def test_a_move_tells_of_runs_without_a_score() -> None:
    ci = keeper(InMemoryVectorStore())
    card_id = (await ci.submit(lesson())).card_id
    seen = CardEvidence(
        model="m",
        layout=LAYOUT,
        propensity=0.85,
        shown=80,
        shown_unknown=3,
        held_out=20,
        held_out_successes=17,
        held_out_unknown=2,
    )
    await change_card(ci.store, card_id, lambda card: replace(card, evidence=(seen,)))
    (told,) = await observe(ci, ran("late", drawn(card_id), score=0.0), layout=LAYOUT)
    assert "good in 0 of 81 runs with it, 3 without a score, and 17 of 20 without, 2 without a score (e = " in told.why


async def test_what_one_model_promoted_is_on_trial_for_another_and_only_barred_for_it() -> None:
    ci = keeper(InMemoryVectorStore())
    card_id = (await ci.submit(lesson())).card_id
    await tried(ci, with_card=0.9, without=0.1, runs=300)
    where = CardFilter(tenant="")
    for model, propensity in (("m", 0.95), ("other", 0.85)):
        (one,) = await ci.recall(lesson().situation, where, run_id="x", model=model, layout=LAYOUT)
        assert one.propensity == propensity
    counts = CardEvidence(model="other", layout=LAYOUT, propensity=0.85, shown=80, held_out=20, held_out_successes=20)
    await change_card(ci.store, card_id, lambda card: replace(card, evidence=(*card.evidence, counts)))
    assert await observe(ci, ran("late", drawn(card_id), score=0.0, model="other"), layout=LAYOUT) == []
    card = await only(ci.store)
    assert card.status is MemoryStatus.PROMOTED
    assert hurts(card, model="other", layout=LAYOUT)
    assert not hurts(card, model="m", layout=LAYOUT)


async def test_rejected_cards_are_not_counted_on() -> None:
    ci = keeper(InMemoryVectorStore())
    card_id = (await ci.submit(lesson())).card_id
    await ci.reject(card_id, "wrong")
    await observe(ci, ran("r", drawn(card_id), score=1.0), layout=LAYOUT)
    assert (await only(ci.store)).evidence == ()


def test_replays_and_trials_are_added_to_entries_of_their_own() -> None:
    trial = CardEvidence(model="m", layout="a", propensity=0.85, shown=1)
    pairs = CardEvidence(model="m", layout="a", gained=2, lost=1, ties=3)
    both = added(added((trial,), pairs), pairs)
    assert both == (trial, replace(pairs, gained=4, lost=2, ties=6))


async def test_a_promoted_card_goes_on_being_tested_unless_it_is_pinned() -> None:
    ci = MemoryCI(InMemoryVectorStore(), recheck=0.5)
    card_id = (await ci.submit(lesson())).card_id
    await ci.promote(card_id, "it works")
    situation, where = (await only(ci.store)).situation, CardFilter(tenant="")
    seen = [(await ci.recall(situation, where, run_id=f"r{number}"))[0] for number in range(40)]
    assert {one.shown for one in seen} == {True, False}
    assert {one.propensity for one in seen} == {0.5}
    for number, one in enumerate(seen * 5):
        drawn_so = Injection(card_id=card_id, kind="lesson", reasons=(), score=1.0, shown=one.shown, propensity=0.5)
        await observe(ci, ran(f"run {number}", drawn_so, score=float(not one.shown)), layout=LAYOUT)
    assert (await only(ci.store)).status is MemoryStatus.ARCHIVED
    await ci.quarantine(card_id, "again")
    await ci.promote(card_id, "we know better")
    await ci.pin(card_id, "we know better")
    seen = [(await ci.recall(situation, where, run_id=f"r{number}"))[0] for number in range(40)]
    assert all(one.shown for one in seen)


class TestRuns:
    async def test_the_first_attempt_of_a_run_counts_as_it_was_drawn(self) -> None:
        store = InMemoryVectorStore()
        await keeper(store).submit(lesson())
        for seed in range(12):
            model = ScriptedModel(["no", "Say yes.", "yes"])
            architecture = Reflexion(lesson_store=MemoryCI(store, holdout=0.5), max_attempts=2)
            agent = Agent(
                model=model, architecture=architecture, evaluator="yes".__eq__, clockwork=Clockwork.seeded(seed)
            )
            await agent.run(PROMPT)
        card = next(one for one in await store.list(CardFilter()) if "Harbour" in one.content)
        (counts,) = card.evidence
        records = await store.runs()
        seen = [one for record in records for one in record.attempts[0].injections if one.card_id == card.id]
        assert (counts.model, counts.layout, counts.propensity) == ("scripted", LAYOUT, 0.5)
        assert counts.shown == sum(one.shown for one in seen) > 0
        assert counts.held_out == sum(not one.shown for one in seen) > 0
        assert (counts.shown_successes, counts.held_out_successes, counts.judged) == (0, 0, False)

    async def test_what_only_a_later_attempt_recalls_is_not_counted(self) -> None:
        store = InMemoryVectorStore()

        class Teaching:
            name = "teaching"

            async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:
                del task, trace
                await keeper(store).submit(lesson())
                return ReflectionEvaluation(overall_score=float(output == "yes"), verifiable=True)

        agent = Agent(
            model=ScriptedModel(["no", "Say yes.", "yes"]),
            architecture=Reflexion(lesson_store=store, max_attempts=2),
            evaluator=Teaching(),
            clockwork=Clockwork.seeded(1),
        )
        result = await agent.run(PROMPT)
        (seen,) = result.attempts[1].injections
        card = (await store.get([seen.card_id]))[0]
        assert (card.content, card.evidence) == ("Invoices go to Harbour.", ())

    async def test_a_run_tells_that_it_decided(self) -> None:
        store, events = InMemoryVectorStore(), list[Event]()
        card_id = (await keeper(store).submit(lesson())).card_id
        counts = CardEvidence(
            model="scripted", layout=LAYOUT, propensity=0.85, shown=60, shown_successes=60, held_out=20
        )
        await change_card(store, card_id, lambda card: replace(card, evidence=(counts,)))
        agent = Agent(
            model=ScriptedModel(["yes"]),
            architecture=Reflexion(lesson_store=store),
            evaluator="yes".__eq__,
            watch=events.append,
            clockwork=Clockwork.seeded(1),
        )
        await agent.run(PROMPT)
        (told,) = [event for event in events if isinstance(event, CardMoved)]
        assert (told.card_id, told.after, told.name) == (card_id, "promoted", "memory.card_moved")
        (moved,) = [one for one in (await store.get([card_id]))[0].history if one.by == "trial"]
        assert (moved.at, moved.why) == (datetime(2026, 1, 1, tzinfo=UTC), told.why)

    async def test_a_store_that_fails_costs_the_count_and_no_answer(self) -> None:
        class Broken(InMemoryVectorStore):
            async def update(self, card: MemoryCard) -> None:
                del card
                raise StoreError("disk full")

        store, events = Broken(), list[Event]()
        await keeper(store).submit(lesson())
        agent = Agent(
            model=ScriptedModel(["yes"]),
            architecture=Reflexion(lesson_store=store),
            evaluator="yes".__eq__,
            watch=events.append,
        )
        result = await agent.run(PROMPT)
        assert (result.output, result.status) == ("yes", "satisfied")
        (told,) = [event for event in events if isinstance(event, Degraded)]
        assert (told.stage, told.error) == ("trial", "StoreError: disk full")
