"""Ideas of one cohort are promoted together, where their evidence is enough for so many."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trying import COIN, LAYOUT, NOON, PROMPT, keeper, kept, lesson, trial_in

from wisen import InMemoryVectorStore, MemoryCard, MemoryCI, MemoryKind, MemoryStatus, VectorStore
from wisen.account.cohorts import chosen_together, trial_name
from wisen.account.counts import Outcome, give_number, settle, weigh
from wisen.cards import CardEvidence
from wisen.events import CardMoved
from wisen.memory_ci.changes import change_card
from wisen.memory_ci.trial import TrialRule
from wisen.memory_ci.verdicts import bar, evidence_of
from wisen.trial_records import DrawCounts, Family, OpenDraw, Stage, Trial

pytestmark = pytest.mark.anyio

TEXTS = (
    "Invoices go to Harbour.",
    "Greet nobody by first name.",
    "Parcels above ten kilos need a pallet.",
    "Write amounts with a comma.",
    "Check spelling last.",
    "Never promise dates.",
)
PLAIN, GOOD, FAIR, LITTLE = 54, 52, 51, 46
"""Of 80 runs that saw the idea, so many were good, and 30 of 80 others: e = 455, 195, 128 and 16."""


async def put_on_trial(
    ci: MemoryCI,
    text: str,
    good: int,
    *,
    tenant: str = "",
    model: str = "m",
    family: Family = "",
    prompt: str = PROMPT,
    **changed: object,
) -> str:
    """An idea that has come so far; its id."""
    card = lesson(text, prompt)
    idea = (await ci.submit(replace(card, scope=replace(card.scope, tenant=tenant)))).card_id
    seen = DrawCounts(propensity=0.5, shown=80, shown_good=good, held_out=80, held_out_good=30)
    trial = Trial(model=model, layout=LAYOUT, family=family, stage="on trial", counts=(seen,))
    trial = replace(trial, number=await ci.numbers.of(trial_name(idea, trial), family))
    await change_card(ci.store, idea, lambda card: replace(card, trials=(*card.trials, trial), **changed))
    return idea


async def some_on_trial(ci: MemoryCI, goods: Sequence[int]) -> list[str]:
    """Ideas of one cohort; the store's first trial, which is a cohort by itself, was another one's."""
    await ci.numbers.of("the first trial")
    return [await put_on_trial(ci, text, good) for text, good in zip(TEXTS, goods, strict=False)]


async def after(ci: MemoryCI, *ideas: str) -> list[str]:
    """What has become of ideas."""
    return [(await kept(ci.store, idea)).status.value for idea in ideas]


async def test_what_is_not_enough_for_one_is_enough_for_two(any_store: VectorStore) -> None:
    ci = keeper(any_store, rule=COIN)
    one, other = await some_on_trial(ci, [GOOD, FAIR])
    draw = OpenDraw(id="d", at=NOON, model="m", layout=LAYOUT, propensity=0.5)
    await change_card(ci.store, other, lambda card: replace(card, open_draws=(draw,)))
    told = (await settle(ci, {other: "d"}, Outcome(good=True), at=NOON)).events
    assert [(event.card_id, event.after) for event in told if isinstance(event, CardMoved)] == [
        (one, "promoted"),
        (other, "promoted"),
    ]
    assert await after(ci, one, other) == ["promoted", "promoted"]
    cards = await ci.store.get([one, other])
    assert [trial_in(card).stage for card in cards] == ["promoted", "promoted"]
    assert all(card.history[-1].why.endswith(", together with 1 other)") for card in cards)
    assert await ci.promotions.in_cohort_of(2).last() == 2


@pytest.mark.parametrize(
    ("goods", "promoted"),
    [
        ([GOOD], 0),
        ([PLAIN], 1),
        ([GOOD, LITTLE], 0),
        ([GOOD, 50], 0),  # 85 is less than the 150 that two need
        ([50, 50, GOOD], 0),  # and than the 100 that three need
        ([50, 50, 50, GOOD], 4),
        ([PLAIN, GOOD, LITTLE], 2),
        ([49, 49, 49, 49, 49], 0),  # 56: five need 60
        ([49, 49, 49, 49, 49, PLAIN], 6),
    ],
)
async def test_as_many_are_promoted_as_have_enough_for_so_many(goods: list[int], promoted: int) -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    ideas = await some_on_trial(ci, goods)
    moved = [event for idea in ideas for event in await weigh(ci, idea, model="m", layout=LAYOUT, at=NOON)]
    assert len(moved) == len({one.card_id for one in moved}) == promoted
    assert (await after(ci, *ideas)).count("promoted") == promoted
    assert await ci.promotions.in_cohort_of(2).last() == promoted


async def test_one_by_itself_says_nothing_of_others() -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    (idea,) = await some_on_trial(ci, [PLAIN])
    (told,) = await weigh(ci, idea, model="m", layout=LAYOUT, at=NOON)
    assert "together" not in told.why


@pytest.mark.parametrize("way", ["pinned", "held", "corrected", "joined", "rejected", "archived", "benched", "again"])
async def test_what_is_no_longer_on_trial_counts_for_nobody(way: str) -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    one, other = await some_on_trial(ci, [GOOD, GOOD])
    changed: dict[str, dict[str, object]] = {
        "pinned": {"pinned": True},
        "held": {"held": "by a rule"},
        "corrected": {"superseded_by": "another"},
        "joined": {"idea": "another"},
        "rejected": {"status": MemoryStatus.REJECTED},
        "archived": {"status": MemoryStatus.ARCHIVED},
    }

    def change(card: MemoryCard) -> MemoryCard:
        trial = trial_in(card)
        if way == "benched":
            return replace(card, trials=(replace(trial, stage="benched"),))
        if way == "again":  # another round, whose number is another one
            return replace(card, trials=(replace(trial, rounds=trial.rounds + 1, number=77),))
        return replace(card, **changed[way])

    before = await change_card(ci.store, one, change)
    assert before is not None
    assert await weigh(ci, other, model="m", layout=LAYOUT, at=NOON) == []
    assert await after(ci, one, other) == [before.status.value, "quarantined"]


@pytest.mark.parametrize(
    "changed",
    [{"pinned": True}, {"held": "by a rule"}, {"superseded_by": "another"}, {"status": MemoryStatus.ARCHIVED}],
    ids=["pinned", "held", "corrected", "archived"],
)
async def test_what_is_no_longer_on_trial_is_not_decided_by_a_late_outcome(changed: dict[str, object]) -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    (one,) = await some_on_trial(ci, [PLAIN])
    draw = OpenDraw(id="d", at=NOON, model="m", layout=LAYOUT, propensity=0.5)
    before = await change_card(ci.store, one, lambda card: replace(card, open_draws=(draw,), **changed))
    await settle(ci, {one: "d"}, Outcome(good=True), at=NOON)
    card = await kept(ci.store, one)
    assert before is not None
    assert (card.status, trial_in(card).stage, trial_in(card).runs) == (before.status, "on trial", 161)
    assert await ci.promotions.in_cohort_of(2).last() == 0


async def test_another_cohort_and_another_family_count_for_nobody() -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    await put_on_trial(ci, TEXTS[0], LITTLE)  # the first trial is a cohort by itself
    for number in range(2, 32):
        await ci.numbers.of(f"elsewhere {number}")
    await ci.numbers.of("the first example", "examples")
    elsewhere = await put_on_trial(ci, TEXTS[1], GOOD, family="examples")
    idea = await put_on_trial(ci, TEXTS[2], GOOD)
    assert trial_in(await kept(ci.store, idea)).number == 32
    assert await weigh(ci, idea, model="m", layout=LAYOUT, at=NOON) == []
    await change_card(ci.store, elsewhere, lambda card: replace(card, pinned=False))
    assert await after(ci, elsewhere, idea) == ["quarantined", "quarantined"]
    third = await put_on_trial(ci, TEXTS[3], GOOD)
    assert len(await weigh(ci, third, model="m", layout=LAYOUT, at=NOON)) == 2
    assert await after(ci, elsewhere, idea, third) == ["quarantined", "promoted", "promoted"]


async def test_trials_for_another_model_are_in_the_cohort_too() -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    (one,) = await some_on_trial(ci, [GOOD])
    other = await put_on_trial(ci, TEXTS[1], GOOD, model="n")
    assert len(await weigh(ci, other, model="n", layout=LAYOUT, at=NOON)) == 2
    assert await after(ci, one, other) == ["promoted", "promoted"]


async def test_draws_that_nobody_reported_and_replays_count() -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    one, other = await some_on_trial(ci, [GOOD, GOOD])
    draw = OpenDraw(at=NOON, model="m", layout=LAYOUT, propensity=0.5, overtaken=True)
    late = tuple(replace(draw, id=str(at)) for at in range(2))
    await change_card(ci.store, one, lambda card: replace(card, open_draws=late))
    assert await weigh(ci, other, model="m", layout=LAYOUT, at=NOON) == []
    replays = CardEvidence(model="m", layout=LAYOUT, gained=1)
    await change_card(ci.store, one, lambda card: replace(card, evidence=(replays,)))
    assert len(await weigh(ci, other, model="m", layout=LAYOUT, at=NOON)) == 2


async def test_an_idea_that_replays_alone_have_tried_is_among_them() -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    (one,) = await some_on_trial(ci, [GOOD])
    replayed = (await ci.submit(lesson(TEXTS[1]))).card_id
    await give_number(ci, replayed, model="m", layout=LAYOUT)
    gained = CardEvidence(model="m", layout=LAYOUT, gained=10)  # e = 91
    await change_card(ci.store, replayed, lambda card: replace(card, evidence=(gained,)))
    assert await weigh(ci, one, model="m", layout=LAYOUT, at=NOON) == []
    gained = replace(gained, gained=11)  # 156
    await change_card(ci.store, replayed, lambda card: replace(card, evidence=(gained,)))
    assert len(await weigh(ci, one, model="m", layout=LAYOUT, at=NOON)) == 2
    assert await after(ci, one, replayed) == ["promoted", "promoted"]


async def test_of_rivals_one_counts() -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    await ci.numbers.of("the first trial")
    one = await put_on_trial(ci, "VAT is 12 percent.", GOOD)
    other = await put_on_trial(ci, "VAT is 25 percent.", FAIR + 1)
    assert (await kept(ci.store, other)).rivals == (one,)
    assert await weigh(ci, other, model="m", layout=LAYOUT, at=NOON) == []
    third = await put_on_trial(ci, TEXTS[1], GOOD)
    moved = await weigh(ci, third, model="m", layout=LAYOUT, at=NOON)
    assert sorted(event.after for event in moved) == ["archived", "promoted", "promoted"]
    assert sorted(await after(ci, one, other)) == ["archived", "promoted"]
    assert await ci.promotions.in_cohort_of(2).last() == 2


async def test_an_example_of_a_group_is_tried_by_itself() -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    (one,) = await some_on_trial(ci, [GOOD])
    other = await put_on_trial(ci, TEXTS[1], GOOD, kind=MemoryKind.SKILL_CARD, strategy="", idea="its group")
    assert len(await weigh(ci, one, model="m", layout=LAYOUT, at=NOON)) == 2
    assert await after(ci, one, other) == ["promoted", "promoted"]


@pytest.mark.parametrize("stage", ["promoted", "recheck"])
async def test_what_is_in_use_asks_for_nothing(stage: Stage) -> None:
    ci = keeper(InMemoryVectorStore(), rule=TrialRule(first_shown=0, promote_at=1_000.0))
    (one,) = await some_on_trial(ci, [PLAIN])
    await change_card(
        ci.store,
        one,
        lambda card: replace(
            card, status=MemoryStatus.PROMOTED, trials=tuple(replace(trial, stage=stage) for trial in card.trials)
        ),
    )
    gained = CardEvidence(model="m", layout=LAYOUT, gained=9)
    await change_card(ci.store, one, lambda card: replace(card, evidence=(gained,)))
    await keeper(ci.store).promotions.in_cohort_of(2).of("elsewhere")
    assert await weigh(ci, one, model="m", layout=LAYOUT, at=NOON) == []
    assert ci.promotions.in_cohort_of(2).known == 0


async def test_another_tenants_ideas_count_for_nobody_here() -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    (one,) = await some_on_trial(ci, [GOOD])
    other = await put_on_trial(ci, TEXTS[1], GOOD, tenant="acme")
    loose = keeper(ci.store, rule=TrialRule(first_shown=0, promote_at=2.0, false_discoveries=1.0))
    told = await weigh(loose, other, model="m", layout=LAYOUT, at=NOON)
    assert [event.card_id for event in told] == [other]
    assert await after(ci, one, other) == ["quarantined", "promoted"]
    third = await put_on_trial(ci, TEXTS[2], GOOD)
    assert len(await weigh(ci, third, model="m", layout=LAYOUT, at=NOON)) == 2, "but what is promoted there counts"


async def test_who_has_enough_by_itself_brings_along_who_now_has_enough() -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    one, other = await some_on_trial(ci, [GOOD, PLAIN])
    moved = await weigh(ci, other, model="m", layout=LAYOUT, at=NOON)
    assert [event.card_id for event in moved] == [other, one]
    assert await after(ci, one, other) == ["promoted", "promoted"]
    assert await ci.promotions.in_cohort_of(2).last() == 2


async def test_what_has_a_number_in_the_log_alone_is_not_on_trial_yet() -> None:
    """A process was killed, or has just begun to write it on the card."""
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    (one,) = await some_on_trial(ci, [GOOD])
    begun = (await ci.submit(lesson(TEXTS[1]))).card_id
    first = Trial(model="m", layout=LAYOUT, first=3, first_good=3)
    await ci.numbers.of(trial_name(begun, first))
    await change_card(ci.store, begun, lambda card: replace(card, trials=(first,)))
    assert await weigh(ci, one, model="m", layout=LAYOUT, at=NOON) == []
    other = await put_on_trial(ci, TEXTS[2], GOOD)
    assert len(await weigh(ci, one, model="m", layout=LAYOUT, at=NOON)) == 2
    assert await after(ci, one, begun, other) == ["promoted", "quarantined", "promoted"]


async def test_a_trial_without_a_number_promotes_nothing() -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    (one,) = await some_on_trial(ci, [PLAIN])
    await change_card(ci.store, one, lambda card: replace(card, trials=(replace(trial_in(card), number=0),)))
    assert await weigh(ci, one, model="m", layout=LAYOUT, at=NOON) == []
    assert await after(ci, one) == ["quarantined"]


async def test_a_number_of_another_cohort_counts_there() -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    one, other = await some_on_trial(ci, [GOOD, GOOD])

    def elsewhere(card: MemoryCard) -> MemoryCard:
        return replace(card, trials=(replace(trial_in(card), number=45),))

    await change_card(ci.store, one, elsewhere)
    assert await weigh(ci, other, model="m", layout=LAYOUT, at=NOON) == []


async def test_rivals_of_other_situations_may_both_be_promoted() -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    await ci.numbers.of("the first trial")
    one = await put_on_trial(ci, "Ship the boxes by Harbour.", PLAIN, prompt="Ship 17 boxes.")
    other = await put_on_trial(ci, "Ship the boxes by Maple.", PLAIN, prompt="Ship 99 boxes.")
    assert (await kept(ci.store, other)).rivals == (one,)
    for idea in (one, other):
        await weigh(ci, idea, model="m", layout=LAYOUT, at=NOON)
    assert await after(ci, one, other) == ["promoted", "promoted"]


async def test_a_run_that_promotes_others_still_tells_how_far_its_own_idea_is() -> None:
    ci = keeper(InMemoryVectorStore(), rule=TrialRule(first_shown=0, promote_at=10.0))
    one, other, little = await some_on_trial(ci, [GOOD, GOOD, LITTLE])
    draw = OpenDraw(id="d", at=NOON, model="m", layout=LAYOUT, propensity=0.5)
    await change_card(ci.store, little, lambda card: replace(card, open_draws=(draw,)))
    told = (await settle(ci, {little: "d"}, Outcome(good=False), at=NOON)).events
    assert [(event.card_id, event.name) for event in told] == [
        (one, "memory.card_moved"),
        (other, "memory.card_moved"),
        (little, "memory.trial_advanced"),
    ]


async def test_a_deleted_idea_counts_for_nobody_and_hinders_nobody() -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    one, other, third = await some_on_trial(ci, [GOOD, GOOD, GOOD])
    await ci.store.delete([one])
    assert len(await weigh(ci, other, model="m", layout=LAYOUT, at=NOON)) == 2
    assert await after(ci, other, third) == ["promoted", "promoted"]


@given(st.lists(st.integers(8, 22), min_size=1, max_size=len(TEXTS)), st.integers(0, 3))
def test_all_that_are_chosen_have_what_so_many_need(goods: list[int], before: int) -> None:
    async def choose() -> None:
        ci = keeper(InMemoryVectorStore(), rule=COIN)
        ideas = await some_on_trial(ci, goods)
        promotions = ci.promotions.in_cohort_of(2)
        for number in range(before):
            await promotions.of(f"before {number}")
        trials = {idea: trial_in(await kept(ci.store, idea)) for idea in ideas}
        evidence = {idea: evidence_of(trial) for idea, trial in trials.items()}
        found = await chosen_together(ci, ideas[0], trials[ideas[0]], tenant="")
        chosen = {one.idea for one in found.together}
        assert all(evidence[idea] >= log(bar(2, before + len(chosen) - 1, COIN)) for idea in chosen)
        ranked = sorted(set(ideas) - chosen, key=evidence.__getitem__, reverse=True)
        for more in range(1, len(ranked) + 1):  # and nobody is left out that could be among them
            assert evidence[ranked[more - 1]] < log(bar(2, before + len(chosen) + more - 1, COIN))

    asyncio.run(choose())
