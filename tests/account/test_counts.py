"""Each draw counts once, as it was drawn, and moves its idea when the counts say so."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from trying import (
    COIN,
    HARBOUR,
    LAYOUT,
    NOON,
    ON_TRIAL,
    Meaning,
    drawing,
    drawn,
    found,
    good_and_all,
    keeper,
    kept,
    lesson,
    only,
    open_in,
    ran,
    trial_in,
    tried,
)

from wisen import InMemoryVectorStore, MemoryCard, MemoryCI, MemoryKind, MemoryStatus, SQLiteVectorStore, VectorStore
from wisen.account.counts import Outcome, give_number, settle, weigh
from wisen.cards import CardEvidence
from wisen.events import CardMoved, TrialAdvanced
from wisen.explain.card_facts import trial_lines
from wisen.memory_ci.changes import change_card
from wisen.memory_ci.sequence_numbers import promoted_by_trials
from wisen.memory_ci.statistics import trial_e_value
from wisen.memory_ci.trial import TrialRule
from wisen.memory_ci.verdicts import bar, progress
from wisen.trial_records import DrawCounts, Family, OpenDraw, Stage, Trial

pytestmark = pytest.mark.anyio

GOOD, BAD, UNKNOWN = Outcome(good=True), Outcome(good=False), Outcome(good=None)


async def test_an_idea_that_helps_is_promoted() -> None:
    ci = keeper(InMemoryVectorStore())
    await ci.submit(lesson())
    (told,) = await tried(ci, with_it=0.9, without=0.1, runs=120)
    card = await only(ci.store)
    assert (told.before, told.after, told.by) == ("quarantined", "promoted", "trial")
    assert (card.status, trial_in(card).stage) == (MemoryStatus.PROMOTED, "promoted")
    last = card.history[-1]
    assert last.why == card.note == told.why
    assert last.evidence is not None
    seen = last.evidence
    assert (seen.model, seen.layout, seen.terms, seen.judged) == ("m", LAYOUT, "live trial", False)
    assert f"good in {seen.shown_successes} of {seen.shown} runs with it and" in last.why
    assert f"{seen.held_out_successes} of {seen.held_out} without (e = " in last.why
    assert seen.shown_successes > seen.held_out_successes
    assert last.why.startswith("helps: ")


async def test_an_idea_that_hurts_is_shown_no_more() -> None:
    ci = keeper(InMemoryVectorStore())
    await ci.submit(lesson())
    moved = await tried(ci, with_it=0.1, without=0.9, runs=200)
    stage = trial_in(await only(ci.store)).stage
    assert stage in ("archived", "benched")
    assert [one.after for one in moved] == (["archived"] if stage == "archived" else [])
    advice = await drawn(drawing(ci))
    assert advice.injections == ()


async def test_harm_that_is_plain_archives(any_store: VectorStore) -> None:
    ci = keeper(any_store)
    card_id = (await ci.submit(lesson())).card_id
    seen = DrawCounts(propensity=0.6, shown=60, held_out=40, held_out_good=40)
    await put_on_trial(ci, card_id, seen)
    (told,) = [one for one in await ran(ci, lambda shown: not shown) if isinstance(one, CardMoved)]
    assert (told.after, told.why.partition(":")[0]) == ("archived", "hurts")
    assert await found(ci) == []


@pytest.mark.no_cover
async def test_a_useless_idea_is_not_promoted_and_gives_its_place_away() -> None:
    stages = list[str]()
    for seed in range(4):
        ci = keeper(InMemoryVectorStore(), rule=COIN)
        await ci.submit(lesson())
        assert await tried(ci, with_it=0.5, without=0.5, runs=400, seed=seed) == []
        card = await only(ci.store)
        assert card.status is MemoryStatus.QUARANTINED
        stages.append(trial_in(card).stage)
    assert set(stages) <= {"benched", "on trial"}
    assert stages.count("benched") >= 2


async def put_on_trial(ci: MemoryCI, card_id: str, *counts: DrawCounts, model: str = "m") -> None:
    """As if the idea's trial had come this far."""
    number = await ci.numbers.of(f"{card_id} {model}")
    trial = Trial(model=model, layout=LAYOUT, number=number, stage="on trial", counts=counts)
    await change_card(ci.store, card_id, lambda card: replace(card, trials=(*card.trials, trial)))


async def test_a_pinned_idea_is_counted_on_and_stays() -> None:
    ci = keeper(InMemoryVectorStore())
    card_id = (await ci.submit(lesson())).card_id
    await ci.pin(card_id, "we look at it ourselves")
    assert await tried(ci, with_it=0.9, without=0.1, runs=120) == []
    card = await only(ci.store)
    assert (card.status, trial_in(card).runs) == (MemoryStatus.QUARANTINED, 120)


async def test_forty_runs_at_once_are_all_counted_once(any_store: VectorStore) -> None:
    ci = keeper(any_store, rule=TrialRule(first_shown=0, promote_at=1e9, no_difference_at=1e9))
    await ci.submit(lesson())
    draws = [drawing(ci, run_id=f"run {number}") for number in range(40)]
    advice = await asyncio.gather(*(drawn(one) for one in draws))
    assert len((await only(any_store)).open_draws) == 40
    ended = [(one, told, Outcome(good=at % 2 == 0)) for at, (one, told) in enumerate(zip(draws, advice, strict=True))]
    await asyncio.gather(*(one.settle(told, outcome) for one, told, outcome in (*ended, *ended[:5])))
    card = await only(any_store)
    assert (card.open_draws, good_and_all(trial_in(card))) == ((), (20, 40))
    assert sum(one.shown for one in trial_in(card).counts) == sum(told.injections[0].shown for told in advice)


async def test_an_outcome_that_comes_again_changes_nothing(any_store: VectorStore) -> None:
    ci = keeper(any_store)
    await ci.submit(lesson())
    draws = drawing(ci)
    advice = await drawn(draws)
    (told,) = await draws.settle(advice, GOOD)
    assert isinstance(told, TrialAdvanced)
    before = await only(any_store)
    for outcome in (GOOD, BAD, UNKNOWN):
        assert await draws.settle(advice, outcome) == []
    assert await drawing(ci, nonce=draws.nonce).settle(advice, BAD) == []
    assert await only(any_store) == before
    assert good_and_all(trial_in(before)) == (1, 1)


async def test_two_memories_on_one_file_count_each_draw_once(tmp_path: Path) -> None:
    async with SQLiteVectorStore(tmp_path / "s.db") as one, SQLiteVectorStore(tmp_path / "s.db") as other:
        rule = TrialRule(first_shown=0, promote_at=1e9, no_difference_at=1e9)
        cis = [keeper(store, rule=rule) for store in (one, other)]
        await cis[0].submit(lesson())
        draws = [drawing(cis[at % 2], run_id=f"run {at}") for at in range(30)]
        advice = await asyncio.gather(*(drawn(each) for each in draws))
        # Both processes tell of each run, the other one first.
        both = [(drawing(cis[1 - at % 2]), told) for at, told in enumerate(advice)]
        both += [(draws[at], told) for at, told in enumerate(advice)]
        await asyncio.gather(*(each.settle(told, GOOD) for each, told in both))
        for store in (one, other):
            card = await only(store)
            assert (card.open_draws, good_and_all(trial_in(card))) == ((), (30, 30))


async def test_counts_are_kept_apart_by_model_layout_and_propensity() -> None:
    store = InMemoryVectorStore()
    card_id = (await keeper(store).submit(lesson())).card_id
    for model, layout, rule in (
        ("m", "a", COIN),
        ("n", "a", COIN),
        ("m", "b", COIN),
        ("m", "a", TrialRule(first_shown=0, holdout=0.25)),
        ("m", "a", COIN),
    ):
        draws = drawing(keeper(store, rule=rule), model=model, layout=layout)
        await draws.settle(await drawn(draws), Outcome(good=True, judged=model == "n"))
    found = {
        (one.model, one.layout): [(each.propensity, each.runs) for each in one.counts]
        for one in (await kept(store, card_id)).trials
    }
    assert found == {("m", "a"): [(0.5, 2), (0.75, 1)], ("n", "a"): [(0.5, 1)], ("m", "b"): [(0.5, 1)]}
    judged = {one.model: sum(each.judged for each in one.counts) for one in (await kept(store, card_id)).trials}
    assert judged == {"m": 0, "n": 1}


async def test_what_was_not_drawn_is_not_counted() -> None:
    store = InMemoryVectorStore()
    ci = keeper(store)
    await ci.submit(lesson())
    before = await only(store)
    draws = drawing(ci)
    later = await draws.with_draws(await found(ci), first=False)
    assert [one.injection.draw for one in later] == [""]
    certain = drawing(keeper(store, trust="replayed"))
    for told in (await drawn(certain), (await drawn(draws)).__class__()):
        assert await draws.settle(told, GOOD) == []
    card = await only(store)
    assert trial_in(card).counts == ()
    assert replace(card, trials=(), open_draws=(), version=1) == before


async def test_rejected_ideas_are_not_counted_on() -> None:
    ci = keeper(InMemoryVectorStore())
    card_id = (await ci.submit(lesson())).card_id
    draws = drawing(ci)
    advice = await drawn(draws)
    await ci.reject(card_id, "wrong")
    assert await draws.settle(advice, GOOD) == []
    assert (await only(ci.store)).trials == ()
    await ci.store.delete([card_id])
    assert await draws.settle(advice, GOOD) == []


async def status_after(rates: tuple[float, float], hides: tuple[float, float], *, runs: int, seed: int) -> MemoryStatus:
    """Where an idea ends; rates of good runs, and of the others those without a score, each with it and without it."""
    ci, chance = keeper(InMemoryVectorStore(), rule=COIN), Random(seed)
    await ci.submit(lesson())

    def outcome(shown: bool) -> bool | None:
        if chance.random() < rates[not shown]:
            return True
        return None if chance.random() < hides[not shown] else False

    for number in range(runs):
        await ran(ci, outcome, run_id=f"{seed} {number}", nonce=f"{seed} {number}")
    later = keeper(ci.store, rule=COIN, now=lambda: NOON + timedelta(days=2))
    await ran(later, lambda _: False)
    return (await only(ci.store)).status


@pytest.mark.no_cover
@pytest.mark.parametrize("hides", [(0.9, 0.0), (0.0, 0.9)])
async def test_an_idea_that_makes_failures_unknown_or_known_is_not_promoted(hides: tuple[float, float]) -> None:
    """Most failures of one side end without a score; else nothing differs. Left out, they would be successes."""
    ended = [await status_after((0.5, 0.5), hides, runs=120, seed=seed) for seed in range(8)]
    assert ended.count(MemoryStatus.PROMOTED) <= 1, "chance alone has its five percent"


async def test_an_idea_that_helps_is_promoted_though_many_failures_have_no_score() -> None:
    for seed in range(3):
        assert await status_after((0.9, 0.3), (0.3, 0.3), runs=150, seed=seed) is MemoryStatus.PROMOTED


async def promoted_where_told(*, late: int, seed: int, with_it: float = 0.5) -> bool:
    """Whether an idea is promoted that a person judges: at once where it was shown, else so many runs later."""
    ci, chance, waiting = keeper(InMemoryVectorStore(), rule=COIN), Random(seed), list[tuple[int, str, bool]]()
    card_id = (await ci.submit(lesson())).card_id
    for number in range(60):
        draws = drawing(ci, run_id=f"r{number}", nonce=f"{seed} {number}")
        advice = await drawn(draws)
        await draws.settle(advice, UNKNOWN)
        for one in advice.injections:
            good = chance.random() < (with_it if one.shown else 0.5)
            waiting.append((number if one.shown else number + late, one.draw, good))
        for due in [due for due in waiting if due[0] <= number]:
            waiting.remove(due)
            await settle(ci, {card_id: due[1]}, Outcome(good=due[2]), at=NOON)
    return (await only(ci.store)).status is MemoryStatus.PROMOTED


@pytest.mark.no_cover
async def test_what_is_told_sooner_of_runs_with_the_idea_does_not_promote_it() -> None:
    """A useless idea: half of all runs are good. Counted as failures until they are told, controls made it win."""
    promoted = [await promoted_where_told(late=15, seed=seed) for seed in range(12)]
    assert promoted.count(True) <= 1


async def test_what_helps_is_promoted_where_a_person_judges_later() -> None:
    assert [await promoted_where_told(late=5, seed=seed, with_it=1.0) for seed in range(3)] == [True] * 3


@pytest.mark.parametrize("told", [True, False])
async def test_without_a_judge_a_draw_waits_in_its_place_and_overtakes_none_once_one_was_told(*, told: bool) -> None:
    ci = keeper(InMemoryVectorStore())
    await ci.submit(lesson())
    await ran(ci, lambda _: None, run_id="first", nonce="0")
    if told:
        (first,) = (card := await only(ci.store)).open_draws
        await settle(ci, {card.id: first.id}, GOOD, at=NOON)
    runs = [drawing(ci, run_id=f"r{number}", nonce=f"{number}") for number in range(1, 4)]
    advice = [await drawn(one) for one in runs]
    await runs[1].settle(advice[1], UNKNOWN)
    seen = {one.run_id: (one.unknown, one.overtaken) for one in (await only(ci.store)).open_draws}
    assert list(seen)[-3:] == ["r1", "r2", "r3"]
    assert list(seen.values())[-3:] == [(False, not told), (True, False), (False, False)]


@pytest.mark.parametrize("luck", [0, 25_500, 26_100, 29_400], ids=["none", "bad", "worse", "worst"])
async def test_a_judge_that_is_down_says_nothing_for_or_against_an_idea(luck: int) -> None:
    ci = keeper(InMemoryVectorStore())
    await ci.submit(lesson())
    for number in range(60):
        told = await ran(ci, lambda _: None, run_id=f"r{number}", nonce=f"{luck + number}")
        assert [type(one) for one in told] in ([TrialAdvanced], [])
    card = await only(ci.store)
    assert (card.status, trial_in(card).runs, len(card.open_draws)) == (MemoryStatus.QUARANTINED, 0, 60)
    assert all(one.unknown for one in card.open_draws)
    assert {one.shown for one in card.open_draws} == {True, False}


async def test_what_stays_unknown_is_not_good_on_either_side() -> None:
    ci = keeper(InMemoryVectorStore())
    await ci.submit(lesson())
    for number in range(30):
        await ran(ci, lambda _: None, run_id=f"r{number}")
    later = keeper(ci.store, now=lambda: NOON + timedelta(hours=24))
    await drawn(drawing(later, run_id="next"))
    card = await only(ci.store)
    (counts,) = trial_in(card).counts
    assert open_in(card) == ["next"]
    assert (counts.runs, counts.shown_good, counts.held_out_good) == (30, 0, 0)
    assert counts.shown_unknown == counts.shown > 0
    assert counts.held_out_unknown == counts.held_out > 0


@pytest.mark.parametrize("unknown", [True, False])
async def test_an_outcome_that_comes_in_time_counts_and_one_that_comes_late_does_not(unknown: bool) -> None:
    ci = keeper(InMemoryVectorStore())
    await ci.submit(lesson())
    draws = drawing(ci)
    advice = await drawn(draws)
    if unknown:
        await draws.settle(advice, UNKNOWN)
    hour = keeper(ci.store, now=lambda: NOON + timedelta(hours=23))
    await drawn(drawing(hour, run_id="an hour before"))
    assert "run" in open_in(await only(ci.store))
    day = keeper(ci.store, now=lambda: NOON + timedelta(hours=24))
    await drawn(drawing(day, run_id="a day later"))
    card = await only(ci.store)
    assert open_in(card) == ["an hour before", "a day later"]
    assert good_and_all(trial_in(card)) == (0, 1)
    assert await drawing(day).settle(advice, GOOD) == []
    assert good_and_all(trial_in(await only(ci.store))) == (0, 1)


async def test_an_outcome_that_comes_too_late_is_not_good_though_nobody_has_looked_since() -> None:
    ci = keeper(InMemoryVectorStore())
    await ci.submit(lesson())
    draws = drawing(ci)
    advice = await drawn(draws)
    day = keeper(ci.store, now=lambda: NOON + timedelta(hours=24))
    await drawing(day).settle(advice, GOOD)
    card = await only(ci.store)
    assert (good_and_all(trial_in(card)), card.open_draws) == ((0, 1), ())


async def test_of_too_many_open_draws_the_oldest_are_counted() -> None:
    ci = keeper(InMemoryVectorStore())
    card_id = (await ci.submit(lesson())).card_id
    many = tuple(OpenDraw(id=str(at), at=NOON, model="m", layout=LAYOUT, propensity=0.6) for at in range(700))
    await change_card(ci.store, card_id, lambda card: replace(card, open_draws=many))
    await drawn(drawing(ci))
    card = await only(ci.store)
    assert len(card.open_draws) + trial_in(card).runs == 701
    assert len(card.open_draws) < 520
    assert card.open_draws[-2].id == "699"


async def test_a_move_tells_of_runs_without_a_score() -> None:
    ci = keeper(InMemoryVectorStore())
    card_id = (await ci.submit(lesson())).card_id
    seen = DrawCounts(propensity=0.6, shown=80, shown_unknown=3, held_out=20, held_out_good=17, held_out_unknown=2)
    await put_on_trial(ci, card_id, seen)
    draw = OpenDraw(id="d", at=NOON, model="m", layout=LAYOUT, propensity=0.6)
    await change_card(ci.store, card_id, lambda card: replace(card, open_draws=(draw,)))
    (told,) = (await settle(ci, {card_id: "d"}, BAD, at=NOON)).events
    assert isinstance(told, CardMoved)
    assert "good in 0 of 81 runs with it, 3 without a score, and 17 of 20 without, 2 without a score (e = " in told.why
    assert (await only(ci.store)).history[-1].evidence == CardEvidence(
        model="m",
        layout=LAYOUT,
        terms="live trial",
        shown=81,
        shown_unknown=3,
        held_out=20,
        held_out_successes=17,
        held_out_unknown=2,
    )


async def test_a_move_keeps_what_went_well_and_tells_no_more_than_there_was() -> None:
    ci = keeper(InMemoryVectorStore())
    card_id = (await ci.submit(lesson())).card_id
    await put_on_trial(ci, card_id, DrawCounts(propensity=0.5, shown=40, shown_good=39, held_out=40, held_out_good=1))
    (told,) = await weigh(ci, card_id, model="m", layout=LAYOUT, at=NOON)
    trial = trial_in(await only(ci.store))
    e_value = trial_e_value(trial.before)
    assert told.why == f"helps: good in 39 of 40 runs with it and 1 of 40 without (e = {e_value:.3g})"
    assert (await only(ci.store)).history[-1].evidence == CardEvidence(
        model="m",
        layout=LAYOUT,
        terms="live trial",
        shown=40,
        shown_successes=39,
        held_out=40,
        held_out_successes=1,
    )


async def test_a_move_tells_of_replays_and_of_who_judged_and_what_speaks_for_it() -> None:
    for replays, said in (((3, 1), ", 3 replays gained, 1 lost"), ((3, 0), ", 3 replays gained, 0 lost"), ((0, 0), "")):
        ci = keeper(InMemoryVectorStore())
        card_id = (await ci.submit(lesson())).card_id
        seen = DrawCounts(propensity=0.6, shown=79, held_out=20, held_out_good=20, judged=99)
        await put_on_trial(ci, card_id, seen)
        draw = OpenDraw(id="d", at=NOON, model="m", layout=LAYOUT, propensity=0.6)
        evidence = CardEvidence(model="m", layout=LAYOUT, gained=replays[0], lost=replays[1])
        await change_card(ci.store, card_id, lambda card: replace(card, open_draws=(draw,), evidence=(evidence,)))  # noqa: B023
        (told,) = (await settle(ci, {card_id: "d"}, Outcome(good=False, judged=True), at=NOON)).events
        assert isinstance(told, CardMoved)
        counted = DrawCounts(propensity=0.6, shown=80, held_out=20, held_out_good=20)
        trial = Trial(model="m", layout=LAYOUT, number=1, stage="on trial", counts=(counted,))
        harm = trial_e_value(trial.counts, gained=replays[0], lost=replays[1], hurts=True)
        assert told.why.startswith("hurts, as a model judged: ")
        assert told.why.endswith(f"20 of 20 without{said} (e = {harm:.3g})")
        assert ((await only(ci.store)).history[-1].evidence or CardEvidence()).judged


@pytest.mark.parametrize("unknown", [True, False])
async def test_a_move_tells_of_runs_that_nobody_has_told_yet(*, unknown: bool) -> None:
    """The figures and the evidence are those that decided."""
    ci = keeper(InMemoryVectorStore())
    card_id = (await ci.submit(lesson())).card_id
    await put_on_trial(ci, card_id, DrawCounts(propensity=0.5, shown=40, shown_good=39, held_out=40, held_out_good=1))
    draw = OpenDraw(id="d", at=NOON, model="m", layout=LAYOUT, propensity=0.5, overtaken=not unknown, unknown=unknown)
    await change_card(ci.store, card_id, lambda card: replace(card, open_draws=(draw, replace(draw, shown=False))))
    (told,) = await weigh(ci, card_id, model="m", layout=LAYOUT, at=NOON)
    controls = 1 if unknown else 2
    seen = DrawCounts(propensity=0.5, shown=41, shown_good=39, held_out=41, held_out_good=controls)
    said = (
        "39 of 41 runs with it, 1 without a score, and 1 of 41 without, 1 without a score"
        if unknown
        else "39 of 41 runs with it and 2 of 41 without, with 2 untold that count against this"
    )
    assert told.why == f"helps: good in {said} (e = {trial_e_value((seen,)):.3g})"
    evidence = (await only(ci.store)).history[-1].evidence or CardEvidence()
    assert (evidence.held_out, evidence.held_out_successes) == (41, controls)


@pytest.mark.parametrize("stage", ["recheck", "promoted"])
async def test_a_move_tells_only_of_replays_that_decided(stage: Stage) -> None:
    """After its promotion, runs alone decide on an idea; what its open runs may come to speaks for it."""
    ci = keeper(InMemoryVectorStore())
    card_id = (await ci.submit(lesson())).card_id
    await ci.promote(card_id, "it works")
    seen = DrawCounts(propensity=0.5, shown=60, shown_good=2, held_out=60, held_out_good=58)
    await put_on_trial(ci, card_id, seen)
    draw = OpenDraw(id="d", at=NOON, model="m", layout=LAYOUT, propensity=0.5, overtaken=True)

    def staged(card: MemoryCard) -> MemoryCard:
        replays = CardEvidence(model="m", layout=LAYOUT, gained=3, lost=1)
        trial = replace(trial_in(card), stage=stage)
        return replace(card, open_draws=(draw,), evidence=(replays,), trials=(trial,))

    await change_card(ci.store, card_id, staged)
    (told,) = await weigh(ci, card_id, model="m", layout=LAYOUT, at=NOON)
    e_value = trial_e_value((replace(seen, shown=61, shown_good=3),), hurts=True)
    assert told.after == "archived"
    assert told.why.endswith(f"58 of 60 without, with 1 untold that count against this (e = {e_value:.3g})")


async def test_several_ideas_of_a_run_are_all_counted_and_told() -> None:
    ci = keeper(InMemoryVectorStore())
    cards = [(await ci.submit(lesson(text))).card_id for text in (HARBOUR, "Ask for the year before you answer.")]
    told = await ran(ci, lambda _: True)
    assert sorted(one.card_id for one in told) == sorted(cards)


async def test_an_outcome_of_an_idea_that_a_person_archived_meanwhile_moves_nothing() -> None:
    ci = keeper(InMemoryVectorStore())
    card_id = (await ci.submit(lesson())).card_id
    await put_on_trial(ci, card_id, DrawCounts(propensity=0.6, shown=60, held_out=40, held_out_good=40))
    draws = drawing(ci)
    advice = await drawn(draws)
    await ci.archive(card_id, "we don't want it")
    before = (await only(ci.store)).history
    assert await draws.settle(advice, Outcome(good=not advice.injections[0].shown)) == []
    assert (await only(ci.store)).history == before


async def test_an_outcome_that_comes_too_late_may_decide_all_the_same() -> None:
    ci = keeper(InMemoryVectorStore())
    card_id = (await ci.submit(lesson())).card_id
    await put_on_trial(ci, card_id, DrawCounts(propensity=0.6, shown=80, held_out=20, held_out_good=20))
    draw = OpenDraw(id="d", at=NOON, model="m", layout=LAYOUT, propensity=0.6)
    await change_card(ci.store, card_id, lambda card: replace(card, open_draws=(draw,)))
    (told,) = (await settle(ci, {card_id: "d"}, GOOD, at=NOON + timedelta(hours=24))).events
    assert isinstance(told, CardMoved)
    seen = (await only(ci.store)).history[-1].evidence or CardEvidence()
    assert (told.after, seen.shown, seen.shown_successes) == ("archived", 81, 0)


async def test_how_much_evidence_promotes_is_the_rules_word() -> None:
    strict = TrialRule(first_shown=0, promote_at=1e9, no_difference_at=1e9)
    lengths = list[int]()
    for rule in (strict, ON_TRIAL):
        ci = keeper(InMemoryVectorStore(), rule=rule)
        card_id = (await ci.submit(lesson())).card_id
        seen = DrawCounts(propensity=0.6, shown=21, shown_good=14, held_out=15, held_out_good=6)
        await put_on_trial(ci, card_id, seen)
        (told,) = await ran(ci, lambda shown: shown)
        assert isinstance(told, TrialAdvanced)
        lengths.append(told.of_about)
    assert lengths[0] > lengths[1]
    ci = keeper(InMemoryVectorStore(), rule=strict)
    await ci.submit(lesson())
    assert await tried(ci, with_it=0.95, without=0.05, runs=60) == []


@pytest.mark.parametrize("stage", ["waiting", "on trial", "recheck", "promoted", "benched"])
async def test_how_far_it_is_is_told_of_what_is_being_tried_alone(stage: Stage) -> None:
    ci = keeper(InMemoryVectorStore(), rule=TrialRule())
    card_id = (await ci.submit(lesson())).card_id
    trial = Trial(model="m", layout=LAYOUT, number=0 if stage == "waiting" else 1, stage=stage)
    draw = OpenDraw(id="d", at=NOON, model="m", layout=LAYOUT, propensity=1.0 if stage == "waiting" else 0.6)
    await change_card(ci.store, card_id, lambda card: replace(card, trials=(trial,), open_draws=(draw,)))
    told = (await settle(ci, {card_id: "d"}, GOOD, at=NOON)).events
    assert [type(one) for one in told] == ([TrialAdvanced] if stage in ("waiting", "on trial", "recheck") else [])


async def test_the_grace_time_is_that_of_the_rule() -> None:
    ci = keeper(InMemoryVectorStore(), rule=TrialRule(first_shown=0, grace=timedelta(hours=2)))
    await ci.submit(lesson())
    first, second = drawing(ci, run_id="first"), drawing(ci, run_id="second")
    advice = [await drawn(first), await drawn(second)]
    later = keeper(ci.store, rule=ci.trial, now=lambda: NOON + timedelta(hours=3))
    await drawing(later).settle(advice[0], GOOD)
    card = await only(ci.store)
    assert (good_and_all(trial_in(card)), card.open_draws) == ((0, 2), ())


async def test_an_idea_that_a_trial_promotes_once_more_is_one_more_promotion() -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    card_id = (await ci.submit(lesson())).card_id
    for trial in (1, 2):
        moved = await tried(ci, with_it=1.0, without=0.0, runs=60, seed=trial)
        assert "promoted" in [one.after for one in moved]
        assert await ci.promotions.in_cohort_of(trial).last() == 1, "each in the cohort of its trial"
        await ci.quarantine(card_id, "once more")


async def test_what_one_model_promoted_is_on_trial_for_another_and_only_barred_for_it() -> None:
    ci = keeper(InMemoryVectorStore())
    card_id = (await ci.submit(lesson())).card_id
    await tried(ci, with_it=0.95, without=0.05, runs=80)
    assert (await only(ci.store)).status is MemoryStatus.PROMOTED
    for model, propensity in (("m", 0.9), ("other", 0.6)):
        (one,) = (await drawn(drawing(ci, model=model))).injections
        assert one.propensity == propensity
    seen = DrawCounts(propensity=0.6, shown=80, held_out=20, held_out_good=20)
    trials = [one for one in (await only(ci.store)).trials if one.model != "other"]
    await change_card(ci.store, card_id, lambda card: replace(card, trials=tuple(trials)))
    await put_on_trial(ci, card_id, seen, model="other")
    assert await ran(ci, lambda shown: not shown, model="other") == []
    card = await only(ci.store)
    assert (card.status, trial_in(card, "other").stage) == (MemoryStatus.PROMOTED, "archived")
    assert (await drawn(drawing(ci, model="other"))).injections == ()
    assert len((await drawn(drawing(ci, model="m"))).injections) == 1


async def test_counts_of_before_there_were_trials_are_kept_and_decide_nothing() -> None:
    ci = keeper(InMemoryVectorStore())
    card_id = (await ci.submit(lesson())).card_id
    counts = CardEvidence(model="m", layout=LAYOUT, propensity=0.85, shown=80, shown_successes=80, held_out=20)
    await change_card(ci.store, card_id, lambda card: replace(card, evidence=(counts,)))
    (told,) = await ran(ci, lambda _: True)
    assert isinstance(told, TrialAdvanced)
    card = await only(ci.store)
    assert (card.evidence, card.status, trial_in(card).runs) == ((counts,), MemoryStatus.QUARANTINED, 1)


@pytest.mark.parametrize("pinned", [True, False])
async def test_a_promoted_idea_goes_on_being_tested_unless_it_is_pinned(pinned: bool) -> None:
    ci = keeper(InMemoryVectorStore(), rule=TrialRule(recheck=0.25))
    card_id = (await ci.submit(lesson())).card_id
    await ci.promote(card_id, "it works")
    if pinned:
        await ci.pin(card_id, "we know better")
    seen = [(await drawn(drawing(ci))).injections[0] for _ in range(40)]
    assert {one.propensity for one in seen} == {1.0 if pinned else 0.75}
    assert {one.shown for one in seen} == ({True} if pinned else {True, False})
    assert {bool(one.draw) for one in seen} == {not pinned}


async def test_what_a_person_promoted_is_counted_on_beside_what_was_counted_before() -> None:
    ci = keeper(InMemoryVectorStore())
    card_id = (await ci.submit(lesson())).card_id
    await tried(ci, with_it=0.6, without=0.5, runs=6)
    before = trial_in(await only(ci.store))
    await ci.quarantine((await ci.promote(card_id, "it works")).id, "once more")
    await give_number(ci, card_id, model="m", layout=LAYOUT)
    number = trial_in(await only(ci.store)).number
    await ci.promote(card_id, "it works")
    await ran(ci, lambda _: True)
    trial = trial_in(await only(ci.store))
    assert (trial.layout, trial.stage, trial.number, trial.runs) == (LAYOUT, "promoted", number, 1)
    assert trial.before == before.counts


async def test_a_promoted_idea_that_turns_harmful_is_noticed() -> None:
    ci = keeper(InMemoryVectorStore())
    card_id = (await ci.submit(lesson())).card_id
    await tried(ci, with_it=0.9, without=0.2, runs=80)
    assert (await kept(ci.store, card_id)).status is MemoryStatus.PROMOTED
    moved = await tried(ci, with_it=0.2, without=0.9, runs=150, seed=2)
    assert [(one.before, one.after, one.by) for one in moved] == [("promoted", "archived", "trial")]


class Looked(InMemoryVectorStore):
    """A store that notes which series of numbers it is asked about."""

    def __init__(self) -> None:
        super().__init__()
        self.series = list[str]()

    async def call(self, scope: str, key: str, ordinal: int) -> bytes | None:
        """Note it."""
        self.series.append(key)
        return await super().call(scope, key, ordinal)


async def test_promotions_of_other_processes_make_the_next_one_easier() -> None:
    """At most a tenth of what a cohort promotes may be false; so the more are promoted, the less its trials need."""
    store = InMemoryVectorStore()
    ci, other = keeper(store, rule=COIN), keeper(store, rule=COIN)
    for number in range(8):
        await ci.numbers.of(f"earlier {number}")
    card_id = (await ci.submit(lesson())).card_id
    await put_on_trial(ci, card_id, DrawCounts(propensity=0.5, shown=24, shown_good=15, held_out=24, held_out_good=3))
    e_value = trial_e_value(trial_in(await only(store)).counts)
    assert bar(9, 40, COIN) < e_value < bar(9, 0, COIN)
    (told,) = await ran(ci, lambda _: True)
    assert isinstance(told, TrialAdvanced)
    for number in range(40):
        await other.promotions.in_cohort_of(9).of(f"elsewhere {number}")
    (told,) = await ran(ci, lambda _: True)
    assert isinstance(told, CardMoved)
    assert (told.after, ci.promotions.in_cohort_of(9).known) == ("promoted", 41)
    assert (await only(store)).history[-1].at == NOON


@pytest.mark.parametrize(
    ("good", "gained", "lost", "asks"),
    [(15, 0, 0, True), (8, 0, 0, False), (11, 0, 0, False), (11, 5, 0, True), (15, 0, 5, False), (16, 0, 2, True)],
)
async def test_other_trials_are_looked_up_only_where_they_could_decide(
    good: int, gained: int, lost: int, asks: bool
) -> None:
    store = Looked()
    ci, other = keeper(store, rule=COIN), keeper(store, rule=COIN)
    for number in range(8):
        await ci.numbers.of(f"earlier {number}")
    card_id = (await ci.submit(lesson())).card_id
    await put_on_trial(ci, card_id, DrawCounts(propensity=0.5, shown=24, shown_good=good, held_out=24, held_out_good=3))
    replays = CardEvidence(model="m", layout=LAYOUT, gained=gained, lost=lost)
    draw = OpenDraw(id="d", at=NOON, model="m", layout=LAYOUT, propensity=0.5)
    await change_card(ci.store, card_id, lambda card: replace(card, evidence=(replays,), open_draws=(draw,)))
    for number in range(3):
        await other.promotions.in_cohort_of(9).of(f"elsewhere {number}")
    store.series.clear()
    (told,) = (await settle(ci, {card_id: "d"}, GOOD, at=NOON)).events
    looked = "trials" in store.series
    trial = trial_in(await only(store))
    counts = trial.counts if isinstance(told, TrialAdvanced) else trial.before
    e_value = trial_e_value(counts, gained=gained, lost=lost)
    assert (COIN.promote_at <= e_value < bar(9, 0, COIN)) is asks
    assert looked is asks


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize(("model", "layout", "moves"), [("m", LAYOUT, False), ("n", LAYOUT, True), ("m", "b", True)])
async def test_an_idea_does_not_win_by_making_its_failures_late(
    model: str, layout: str, moves: bool, *, before: bool
) -> None:
    """What was drawn after all whose outcome is known is neither late nor early."""
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    card_id = (await ci.submit(lesson())).card_id
    await put_on_trial(ci, card_id, DrawCounts(propensity=0.5, shown=20, shown_good=19, held_out=20, held_out_good=9))
    late = [OpenDraw(id=str(at), at=NOON, model=model, layout=layout, propensity=0.5) for at in range(20)]
    draw = OpenDraw(id="d", at=NOON, model="m", layout=LAYOUT, propensity=0.5)
    draws = (*late, draw) if before else (draw, *late)
    await change_card(ci.store, card_id, lambda card: replace(card, open_draws=draws))
    (told,) = (await settle(ci, {card_id: "d"}, GOOD, at=NOON)).events
    assert isinstance(told, CardMoved) is (moves or not before)


@pytest.mark.parametrize(
    ("rule", "gained", "lost", "after"),
    [
        (ON_TRIAL, 0, 0, "archived"),
        (TrialRule(archive_at=1e12, no_difference_at=1e12), 0, 0, ""),
        (ON_TRIAL, 40, 0, "promoted"),
        (ON_TRIAL, 40, 30, ""),
        (ON_TRIAL, 30, 40, "archived"),
    ],
)
async def test_what_moves_an_idea_is_the_rules_word_and_that_of_replays(
    rule: TrialRule, gained: int, lost: int, after: str
) -> None:
    ci = keeper(InMemoryVectorStore(), rule=rule)
    card_id = (await ci.submit(lesson())).card_id
    await put_on_trial(ci, card_id, DrawCounts(propensity=0.6, shown=24, held_out=16, held_out_good=14))
    replays = CardEvidence(model="m", layout=LAYOUT, gained=gained, lost=lost)
    draw = OpenDraw(id="d", at=NOON, model="m", layout=LAYOUT, propensity=0.6)
    await change_card(ci.store, card_id, lambda card: replace(card, evidence=(replays,), open_draws=(draw,)))
    told = (await settle(ci, {card_id: "d"}, BAD, at=NOON)).events
    assert [event.after for event in told if isinstance(event, CardMoved)] == ([after] if after else [])


async def test_what_is_promoted_so_becomes_a_rule_of_its_agent() -> None:
    store = InMemoryVectorStore()
    ci, other = keeper(store, rule=COIN), keeper(store, rule=COIN)
    for number in range(8):
        await ci.numbers.of(f"earlier {number}")
    card_id = (await ci.submit(replace(lesson(verified=True), kind=MemoryKind.PRINCIPLE))).card_id
    await put_on_trial(ci, card_id, DrawCounts(propensity=0.5, shown=24, shown_good=17, held_out=24, held_out_good=3))
    for number in range(40):
        await other.promotions.in_cohort_of(9).of(f"elsewhere {number}")
    (told,) = await ran(ci, lambda _: True)
    assert isinstance(told, CardMoved)
    assert list((await ci.standing.current("", "agent")).cards) == [card_id]


async def test_replays_too_know_of_promotions_of_other_processes() -> None:
    store = InMemoryVectorStore()
    ci, other = keeper(store, rule=COIN), keeper(store, rule=COIN)
    for number in range(8):
        await ci.numbers.of(f"earlier {number}")
    card_id = (await ci.submit(lesson())).card_id
    await put_on_trial(ci, card_id, DrawCounts(propensity=0.5, shown=24, shown_good=15, held_out=24, held_out_good=3))
    assert await weigh(ci, card_id, model="m", layout=LAYOUT, at=NOON) == []
    for number in range(40):
        await other.promotions.in_cohort_of(9).of(f"elsewhere {number}")
    (told,) = await weigh(ci, card_id, model="m", layout=LAYOUT, at=NOON)
    assert (told.card_id, told.after) == (card_id, "promoted")


async def test_how_far_a_trial_is_is_told_in_words() -> None:
    ci = keeper(InMemoryVectorStore())
    card_id = (await ci.submit(lesson())).card_id
    await put_on_trial(ci, card_id, DrawCounts(propensity=0.6, shown=21, shown_good=14, held_out=15, held_out_good=6))
    (told,) = await ran(ci, lambda shown: shown)
    assert isinstance(told, TrialAdvanced)
    assert (told.name, told.card_id, told.runs, told.standing) == ("memory.trial_advanced", card_id, 37, "ahead")
    assert told.text == f"on trial, 37 of about {told.of_about} runs, ahead"
    assert 60 < told.of_about < 130


@pytest.mark.parametrize("number", [1, 2])
async def test_how_many_runs_are_needed_follows_from_the_rule_and_the_bar(number: int) -> None:
    ci = keeper(InMemoryVectorStore(), rule=TrialRule(first_shown=7, holdout=0.2))
    card_id = (await ci.submit(lesson())).card_id
    for earlier in range(1, number):
        await ci.numbers.of(f"earlier {earlier}")
    await put_on_trial(ci, card_id, DrawCounts(propensity=0.8, shown=21, shown_good=14, held_out=15, held_out_good=6))
    (told,) = await ran(ci, lambda shown: shown)
    assert isinstance(told, TrialAdvanced)
    said = progress(trial_in(await only(ci.store)), ci.trial, at=bar(number, 0, ci.trial))
    assert (told.runs, told.of_about, told.standing) == (said.runs, said.of_about, said.standing)


async def test_how_far_a_trial_is_is_the_same_in_the_event_and_in_what_people_read() -> None:
    """With promotions by other processes, and with replays."""
    store = InMemoryVectorStore()
    ci, other = keeper(store, rule=TrialRule()), keeper(store)
    for earlier in range(1, 4):
        await other.numbers.of(f"earlier {earlier}")
        await other.promotions.in_cohort_of(4).of(f"elsewhere {earlier}")
    card_id = (await ci.submit(lesson())).card_id
    await put_on_trial(ci, card_id, DrawCounts(propensity=0.6, shown=20, shown_good=10, held_out=14, held_out_good=8))
    assert (await kept(store, card_id)).trials[0].number == 4
    replays = CardEvidence(model="m", layout=LAYOUT, gained=9, lost=0)
    await change_card(store, card_id, lambda card: replace(card, evidence=(replays,)))
    (told,) = await ran(ci, lambda shown: shown, nonce="1")
    assert isinstance(told, TrialAdvanced)
    assert told.standing == "ahead"
    assert trial_lines(await kept(store, card_id), await promoted_by_trials(store))[0] == f"{told.text} (m, {LAYOUT})"


class TestWordings:
    ABOUT = (("invoice", "bill"), ("parcel", "package"))
    WORDING = "Bills: hand each of them over to the Harbour team."

    async def two_wordings(self) -> MemoryCI:
        ci = keeper(InMemoryVectorStore(embedder=Meaning(*self.ABOUT)))
        head = await ci.submit(lesson(HARBOUR))
        other = await ci.submit(lesson(self.WORDING))
        assert (other.outcome, other.idea) == ("added", head.card_id)
        return ci

    async def test_all_wordings_are_promoted_together(self) -> None:
        ci = await self.two_wordings()
        moved = await tried(ci, with_it=0.95, without=0.05, runs=80)
        assert [one.after for one in moved] == ["promoted"]
        cards = [one.head for one in await found(ci)]
        assert {one.id for one in cards} == {moved[0].card_id}
        every = [await kept(ci.store, each) for each in (lesson(HARBOUR).id, lesson(self.WORDING).id)]
        assert {one.status for one in every} == {MemoryStatus.PROMOTED}
        assert [len(one.trials) for one in every] == [1, 0]

    async def test_all_wordings_are_archived_together(self) -> None:
        ci = await self.two_wordings()
        head = lesson(HARBOUR).id
        await put_on_trial(ci, head, DrawCounts(propensity=0.6, shown=60, held_out=40, held_out_good=40))
        await ran(ci, lambda shown: not shown)
        every = [await kept(ci.store, each) for each in (head, lesson(self.WORDING).id)]
        assert {one.status for one in every} == {MemoryStatus.ARCHIVED}
        assert await found(ci) == []
        third = await ci.submit(lesson("Forward any bill you get to the people at Harbour.", run="later"))
        assert (third.idea, (await kept(ci.store, third.card_id)).status) == (head, MemoryStatus.ARCHIVED)
        assert await found(ci) == []

    async def test_one_wording_of_an_idea_is_recalled_and_its_draw_is_the_ideas(self) -> None:
        ci = await self.two_wordings()
        (one,) = (await drawn(drawing(ci))).injections
        assert one.idea == lesson(HARBOUR).id
        cards = [await kept(ci.store, each) for each in (lesson(HARBOUR).id, lesson(self.WORDING).id)]
        assert [len(card.open_draws) for card in cards] == [1, 0]


class TestReplays:
    """Trials that replays bet on before, between and after runs."""

    async def test_a_trial_has_its_number_before_the_first_replay_and_keeps_it(self) -> None:
        ci = keeper(InMemoryVectorStore())
        card_id = (await ci.submit(lesson())).card_id
        for _ in range(2):
            await give_number(ci, card_id, model="m", layout=LAYOUT)
        await give_number(ci, card_id, model="other", layout=LAYOUT)
        await give_number(ci, card_id, model="m", layout="another")
        card = await only(ci.store)
        numbers = {(one.model, one.layout): (one.number, one.stage) for one in card.trials}
        waiting = {("m", LAYOUT): (1, "waiting"), ("other", LAYOUT): (2, "waiting"), ("m", "another"): (3, "waiting")}
        assert numbers == waiting
        await drawn(drawing(ci))
        begun = next(one for one in (await only(ci.store)).trials if (one.model, one.layout) == ("m", LAYOUT))
        assert (begun.number, begun.stage) == (1, "on trial")

    async def test_examples_have_numbers_and_a_bound_of_their_own(self) -> None:
        ci = keeper(InMemoryVectorStore())
        cards = [lesson(), replace(lesson("Harbour", "Whose is it?"), kind=MemoryKind.SKILL_CARD, id="")]
        ids = [(await ci.submit(card)).card_id for card in cards]
        for _ in range(3):
            await ci.numbers.of("earlier", "examples")
        for card_id in ids:
            await give_number(ci, card_id, model="m", layout=LAYOUT)
        trials = [trial_in(card) for card in await ci.store.get(ids)]
        assert [(one.number, one.family) for one in trials] == [(1, ""), (2, "examples")]
        clear = DrawCounts(propensity=0.5, shown=40, shown_good=40, held_out=40)
        for card_id, trial in zip(ids, trials, strict=True):
            began = replace(trial, stage="on trial", counts=(clear,))
            await change_card(ci.store, card_id, lambda card, began=began: replace(card, trials=(began,)))
            assert await weigh(ci, card_id, model="m", layout=LAYOUT, at=NOON)
        assert [await ci.promotions.in_cohort_of(1).last(), await ci.promotions.in_cohort_of(2).last()] == [1, 0]
        assert await ci.promotions.in_cohort_of(2, "examples").last() == 1

    @pytest.mark.parametrize(("family", "promotes"), [("", 0), ("examples", 1)])
    async def test_promotions_of_one_family_say_nothing_of_the_other(self, family: Family, promotes: int) -> None:
        ci = keeper(InMemoryVectorStore())
        example = replace(lesson("Harbour", "Whose is it?"), kind=MemoryKind.SKILL_CARD, id="")
        card_id = (await ci.submit(example)).card_id
        await ci.numbers.of("earlier", "examples")
        for number in range(30):
            await ci.promotions.in_cohort_of(2, family).of(f"another {number}")
        await give_number(ci, card_id, model="m", layout=LAYOUT)
        ahead = DrawCounts(propensity=0.5, shown=12, shown_good=12, held_out=12, held_out_good=3)
        (trial,) = (await kept(ci.store, card_id)).trials
        trial = replace(trial, stage="on trial", counts=(ahead,))
        assert 20 < trial_e_value(trial.counts) < 300
        await change_card(ci.store, card_id, lambda card: replace(card, trials=(trial,)))
        assert len(await weigh(ci, card_id, model="m", layout=LAYOUT, at=NOON)) == promotes

    async def test_an_idea_that_is_gone_has_no_number_and_no_verdict(self) -> None:
        ci = keeper(InMemoryVectorStore())
        await give_number(ci, "gone", model="m", layout=LAYOUT)
        assert await weigh(ci, "gone", model="m", layout=LAYOUT, at=NOON) == []
        assert await ci.numbers.of("the first") == 1

    async def test_an_undecided_verdict_writes_nothing(self) -> None:
        ci = keeper(InMemoryVectorStore())
        card_id = (await ci.submit(lesson())).card_id
        await put_on_trial(ci, card_id, DrawCounts(propensity=0.5, shown=4, shown_good=2, held_out=4, held_out_good=2))
        before = await only(ci.store)
        assert await weigh(ci, card_id, model="m", layout=LAYOUT, at=NOON) == []
        assert await only(ci.store) == before

    async def test_the_move_has_the_time_at_which_the_replays_were_weighed(self) -> None:
        ci = keeper(InMemoryVectorStore(embedder=Meaning(*TestWordings.ABOUT)))
        head = (await ci.submit(lesson())).card_id
        wording = (await ci.submit(lesson(TestWordings.WORDING))).card_id
        counts = DrawCounts(propensity=0.5, shown=40, shown_good=40, held_out=40)
        await put_on_trial(ci, head, counts)
        later = NOON + timedelta(hours=3)
        (told,) = await weigh(ci, head, model="m", layout=LAYOUT, at=later)
        assert told.after == "promoted"
        assert [card.history[-1].at for card in await ci.store.get([head, wording])] == [later, later]

    async def test_replays_alone_decide_before_the_first_run(self) -> None:
        ci = keeper(InMemoryVectorStore())
        card_id = (await ci.submit(lesson())).card_id
        await give_number(ci, card_id, model="m", layout=LAYOUT)
        won = CardEvidence(model="m", layout=LAYOUT, gained=40)
        await change_card(ci.store, card_id, lambda card: replace(card, evidence=(won,)))
        (told,) = await weigh(ci, card_id, model="m", layout=LAYOUT, at=NOON)
        trial = trial_in(await only(ci.store))
        assert (told.after, trial.stage, trial.number) == ("promoted", "promoted", 1)
        assert "40 replays gained, 0 lost" in told.why
        assert "judged" not in told.why
        await ci.quarantine(card_id, "once more")
        await give_number(ci, card_id, model="m", layout=LAYOUT)
        await ran(ci, lambda _: True, judged=True)
        await change_card(ci.store, card_id, lambda card: replace(card, evidence=(won,)))
        (told,) = await weigh(ci, card_id, model="m", layout=LAYOUT, at=NOON)
        assert told.why.startswith("helps, as a model judged: ")
