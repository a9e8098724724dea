"""Two ideas become one where a new wording says what both say; what was counted on either is kept."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from trying import COIN, LAYOUT, NOON, advice_of, drawing, found, keeper, kept, lesson, trial_in

from wisen import (
    InMemoryVectorStore,
    MarkdownStore,
    MemoryCard,
    MemoryCI,
    MemoryStatus,
    SQLiteVectorStore,
    VectorStore,
)
from wisen.account.counts import Outcome
from wisen.account.draws import Draws
from wisen.cards import CardEvidence, Move
from wisen.embedders.local import LocalEmbedder
from wisen.memory_ci.changes import change_card
from wisen.memory_ci.decisions import Act
from wisen.memory_ci.ideas import head_of, heads_of
from wisen.memory_ci.joining import join
from wisen.records import Advice
from wisen.trial_records import DrawCounts, Trial

pytestmark = pytest.mark.anyio

SLOT = "A first visit gets a slot of 50 minutes in the calendar."
BOOK = "Book 50 minutes for every patient's first appointment."
BRIDGE = "Schedule a patient's initial appointment as a 50 minutes slot."
PROMPT = "Put Mrs. Okafor's first visit into the calendar."


@pytest.fixture(scope="module")
def model() -> LocalEmbedder:
    return LocalEmbedder()


@pytest.fixture(params=["memory", "sqlite", "markdown"])
async def store(request: pytest.FixtureRequest, tmp_path: Path, model: LocalEmbedder) -> AsyncIterator[VectorStore]:
    match request.param:
        case "memory":
            made = InMemoryVectorStore(embedder=model)
        case "sqlite":
            made = SQLiteVectorStore(tmp_path / "store.db", embedder=model)
        case _:
            made = MarkdownStore(tmp_path / "memory", embedder=model)
    yield made
    await made.close()


@pytest.fixture
def ci(model: LocalEmbedder) -> MemoryCI:
    return keeper(InMemoryVectorStore(embedder=model), rule=COIN)


async def taught(ci: MemoryCI, text: str, **more: Any) -> str:
    return (await ci.submit(lesson(text, PROMPT, **more))).card_id


async def two(ci: MemoryCI) -> tuple[str, str]:
    """Two wordings that aren't recognised as one idea; the first is the older one."""
    one, other = await taught(ci, SLOT, created_at=NOON - timedelta(days=1)), await taught(ci, BOOK, created_at=NOON)
    assert {(await kept(ci.store, card)).idea for card in (one, other)} == {""}
    return one, other


def of(trial: Trial) -> tuple[int, int, int, int]:
    (one,) = trial.counts
    return one.shown, one.shown_good, one.held_out, one.held_out_good


def counts(*numbers: int) -> DrawCounts:
    return DrawCounts(
        propensity=0.5, **dict(zip(("shown", "shown_good", "held_out", "held_out_good"), numbers, strict=True))
    )


async def on_trial(ci: MemoryCI, card_id: str, number: int, *numbers: int, **more: object) -> None:
    trial = Trial(
        model="m", layout=LAYOUT, number=number, stage="on trial", counts=(counts(*numbers),) if numbers else ()
    )
    await change_card(ci.store, card_id, lambda card: replace(card, trials=(replace(trial, **more),)))


async def test_a_wording_that_either_is_like_makes_them_one(store: VectorStore) -> None:
    ci = keeper(store)
    one, other = await two(ci)
    bridge = await ci.submit(lesson(BRIDGE, PROMPT, created_at=NOON))
    assert bridge.idea == one, "the older one stays the head"
    assert {(await kept(store, card)).idea for card in (other, bridge.card_id)} == {one}
    head, joined = await store.get([one, other])
    assert (head.retold, joined.retold) == (2, 0)
    assert joined.history[-1].why == f"card {bridge.card_id} says what both say: another wording of {one}"
    (told,) = await found(ci, PROMPT)
    assert (told.head.id, told.told) == (one, 3)


async def test_the_counts_of_both_are_kept(ci: MemoryCI) -> None:
    one, other = await two(ci)
    await on_trial(ci, one, 7, 4, 3, 2, 1, first=3, first_good=2, before=(counts(1, 1, 0, 0),))
    await on_trial(ci, other, 4, 10, 8, 5, 1, first=2, first_good=1)
    await change_card(ci.store, one, lambda card: replace(card, retold=2, duplicates=5, observed=("seen",)))
    await change_card(ci.store, other, lambda card: replace(card, observed=("also seen",)))
    await taught(ci, BRIDGE)
    joined, head = await ci.store.get([one, other])
    trial = trial_in(head)
    assert joined.idea == other, "the one whose trial began first is the head"
    assert (trial.number, trial.stage, of(trial)) == (4, "on trial", (14, 11, 7, 2))
    assert (trial.first, trial.first_good, trial.before) == (5, 3, (counts(1, 1, 0, 0),))
    assert (joined.trials, joined.retold, joined.observed, joined.rivals) == ((), 0, (), ())
    assert (head.retold, head.observed) == (2 + 5 + 1 + 1, ("seen", "also seen"))


async def test_an_idea_that_no_trial_has_begun_on_takes_its_number_from_the_other(ci: MemoryCI) -> None:
    one, other = await two(ci)
    await on_trial(ci, one, 0, stage="waiting", first=1)
    await on_trial(ci, other, 9, 1, 1, 1, 0)
    await taught(ci, BRIDGE)
    assert (await kept(ci.store, one)).idea == other
    trial = trial_in(await kept(ci.store, other))
    assert (trial.number, trial.stage, trial.first) == (9, "on trial", 1)


async def test_the_trials_of_other_models_go_along(ci: MemoryCI) -> None:
    one, other = await two(ci)
    await on_trial(ci, one, 2, 1, 1, 1, 0)
    await on_trial(ci, other, 5, 2, 1, 1, 0, model="another")
    await taught(ci, BRIDGE)
    head = await kept(ci.store, one)
    assert [(trial.model, trial.number) for trial in head.trials] == [("m", 2), ("another", 5)]


async def test_what_the_head_waits_with_for_one_model_goes_on_as_the_other_ideas_trial(ci: MemoryCI) -> None:
    one, other = await two(ci)
    begun = Trial(model="another", layout=LAYOUT, number=1, stage="on trial")
    waits = (begun, Trial(model="m", layout=LAYOUT, first=2), Trial(model="third", layout=LAYOUT, number=7))
    await change_card(ci.store, one, lambda card: replace(card, trials=waits))
    theirs = (
        Trial(model="m", layout=LAYOUT, number=5, family="examples", stage="on trial"),
        Trial(model="third", layout=LAYOUT, number=9, stage="on trial"),
    )
    await change_card(ci.store, other, lambda card: replace(card, trials=theirs))
    await taught(ci, BRIDGE)
    trials = {trial.model: trial for trial in (await kept(ci.store, one)).trials}
    assert trials["another"] == begun
    assert trials["m"] == replace(theirs[0], first=2)
    assert (trials["third"].number, trials["third"].stage) == (7, "on trial"), "replays had given it its number"


async def open_on(ci: MemoryCI, idea: str) -> tuple[Draws, Advice]:
    """A run that has drawn an idea, and whose outcome isn't known."""
    draws = drawing(ci, run_id="open")
    parts = await draws.with_draws([one for one in await found(ci, PROMPT) if one.head.id == idea], first=True)
    return draws, await draws.write(advice_of(parts))


async def test_a_draw_that_was_open_counts_on_the_head_once(ci: MemoryCI) -> None:
    one, other = await two(ci)
    draws, advice = await open_on(ci, other)
    await on_trial(ci, one, 1, 1, 1, 1, 0)  # begun by a process that was quicker
    await change_card(ci.store, other, lambda card: replace(card, trials=(replace(card.trials[0], number=2),)))
    await taught(ci, BRIDGE)
    assert [draw.run_id for draw in (await kept(ci.store, one)).open_draws] == ["open"]
    for _ in range(2):
        await draws.settle(advice, Outcome(good=True))
        head = await kept(ci.store, one)
        assert (trial_in(head).runs, head.open_draws) == (3, ())


async def test_a_draw_that_was_open_is_taken_back_from_the_head(ci: MemoryCI) -> None:
    one, other = await two(ci)
    draws, advice = await open_on(ci, other)
    await on_trial(ci, one, 1)
    await change_card(ci.store, other, lambda card: replace(card, trials=(replace(card.trials[0], number=2),)))
    await taught(ci, BRIDGE)
    await draws.withdraw(advice, used=replace(advice, injections=()))
    assert (await kept(ci.store, one)).open_draws == ()


class TestStayTwo:
    @pytest.mark.parametrize("act", ["archive", "pin"])
    @pytest.mark.parametrize("first", [True, False])
    async def test_where_a_person_has_decided(self, ci: MemoryCI, act: Act, first: bool) -> None:
        one, other = await two(ci)
        await ci.decide(act, one if first else other, "so we decided")
        await taught(ci, BRIDGE)
        assert {(await kept(ci.store, card)).idea for card in (one, other)} == {""}

    @pytest.mark.parametrize("stage", ["benched", "archived"])
    @pytest.mark.parametrize("first", [True, False])
    async def test_where_a_trial_has_decided(self, ci: MemoryCI, stage: str, first: bool) -> None:
        one, other = await two(ci)
        await on_trial(ci, one if first else other, 3, stage=stage)
        await taught(ci, BRIDGE)
        assert {(await kept(ci.store, card)).idea for card in (one, other)} == {""}

    @pytest.mark.parametrize("first", [True, False])
    async def test_where_they_are_rivals(self, ci: MemoryCI, *, first: bool) -> None:
        one, other = await two(ci)
        facing, faced = (one, other) if first else (other, one)
        await change_card(ci.store, facing, lambda card: replace(card, rivals=(faced,)))
        await taught(ci, BRIDGE)
        assert {(await kept(ci.store, card)).idea for card in (one, other)} == {""}

    @pytest.mark.parametrize("first", [True, False])
    @pytest.mark.parametrize(
        "more", [{"held": ("a sink",)}, {"released": True}, {"superseded_by": "its correction"}, {"idea": "a third"}]
    )
    async def test_where_one_is_of_another_circle_or_no_head(self, ci: MemoryCI, more: Any, *, first: bool) -> None:
        one, other = await two(ci)
        await change_card(ci.store, one if first else other, lambda card: replace(card, **more))
        before = await ci.store.get([one, other])
        assert await join(ci.store, one, other, shown_by="x", at=NOON) == one
        assert await ci.store.get([one, other]) == before

    async def test_where_nobody_has_read_either(self, ci: MemoryCI) -> None:
        one, other = await two(ci)
        for card_id in (one, other):
            await change_card(ci.store, card_id, lambda card: replace(card, held=("a sink",)))
        await taught(ci, BRIDGE)
        assert {(await kept(ci.store, card)).idea for card in (one, other)} == {""}

    async def test_where_it_is_in_use_and_made_no_difference_to_this_model(self, ci: MemoryCI) -> None:
        one, other = await two(ci)
        await ci.promote(one, "it is right")
        await on_trial(ci, one, 1, stage="benched")
        await taught(ci, BRIDGE)
        assert {(await kept(ci.store, card)).idea for card in (one, other)} == {""}

    async def test_where_the_head_is_gone_meanwhile(self, model: LocalEmbedder) -> None:
        store = Deleting(embedder=model)
        ci = keeper(store, rule=COIN)
        one, other = await two(ci)
        await on_trial(ci, other, 3, 4, 3, 2, 1)
        await on_trial(ci, one, 2)
        store.deletes = one
        assert await join(store, other, one, shown_by="x", at=NOON) == other
        left = await kept(store, other)
        assert (left.idea, of(trial_in(left)), left.status) == ("", (4, 3, 2, 1), MemoryStatus.QUARANTINED)


class Deleting(InMemoryVectorStore):
    """Loses a card once another was written."""

    deletes = ""

    async def update(self, card: MemoryCard) -> None:
        await super().update(card)
        if self.deletes:
            gone, self.deletes = self.deletes, ""
            await super().delete([gone])


async def test_an_idea_in_use_is_the_head(ci: MemoryCI) -> None:
    one, other = await two(ci)
    await on_trial(ci, one, 1, 2, 1, 1, 1)
    await ci.promote(other, "it is right")
    await taught(ci, BRIDGE)
    joined, head = await ci.store.get([one, other])
    assert (joined.idea, joined.status, head.idea) == (other, MemoryStatus.PROMOTED, "")
    assert head.trials == (), "it is in use for every model"


async def test_the_wordings_of_what_joins_an_idea_in_use_are_in_use_but_for_others_text(ci: MemoryCI) -> None:
    one, other = await two(ci)
    wording = await taught(ci, "For an initial visit, block 50 minutes in the schedule.")
    tainted = await taught(ci, "Patients are booked into a first appointment slot of 50 minutes.", tainted=True)
    assert {(await kept(ci.store, card)).idea for card in (wording, tainted)} == {one}
    await ci.promote(other, "it is right")
    await change_card(ci.store, one, lambda card: replace(card, provenance=replace(card.provenance, tainted=True)))
    await taught(ci, BRIDGE)
    cards = await ci.store.get([wording, tainted, one])
    assert {card.idea for card in cards} == {other}
    statuses = [card.status for card in cards]
    assert statuses == [MemoryStatus.PROMOTED, MemoryStatus.QUARANTINED, MemoryStatus.QUARANTINED]


async def test_runs_decide_nothing_of_what_a_trial_has_promoted(ci: MemoryCI) -> None:
    one, other = await two(ci)
    await on_trial(ci, one, 1, 2, 1, 1, 1)
    await on_trial(ci, other, 2, 3, 2, 1, 0, stage="promoted")
    promoted = Move(at=NOON, before=MemoryStatus.QUARANTINED, after=MemoryStatus.PROMOTED, why="helps", by="trial")
    evidence = CardEvidence(model="m", layout=LAYOUT)
    in_use = {"status": MemoryStatus.PROMOTED, "history": (replace(promoted, evidence=evidence),)}
    await change_card(ci.store, other, lambda card: replace(card, **in_use))
    await taught(ci, BRIDGE)
    trial = trial_in(await kept(ci.store, other))
    assert (await kept(ci.store, one)).idea == other
    assert (trial.stage, of(trial), trial.before) == ("promoted", (3, 2, 1, 0), (counts(2, 1, 1, 1),))


async def test_what_is_in_use_for_another_model_is_tried_on_for_this_one(ci: MemoryCI) -> None:
    one, other = await two(ci)
    await on_trial(ci, one, 1, 2, 1, 1, 1)
    promoted = Move(at=NOON, before=MemoryStatus.QUARANTINED, after=MemoryStatus.PROMOTED, why="helps", by="trial")
    evidence = CardEvidence(model="another", layout=LAYOUT)
    in_use = {"status": MemoryStatus.PROMOTED, "history": (replace(promoted, evidence=evidence),)}
    await change_card(ci.store, other, lambda card: replace(card, **in_use))
    await taught(ci, BRIDGE)
    assert of(trial_in(await kept(ci.store, other))) == (2, 1, 1, 1)


async def test_wordings_and_rivals_know_the_head(ci: MemoryCI) -> None:
    one, other = await two(ci)
    await on_trial(ci, other, 1)
    wording = await taught(ci, "For an initial visit, block 50 minutes in the schedule.")
    rival = await taught(ci, "A first visit gets a slot of 20 minutes in the calendar.")
    assert (await kept(ci.store, wording)).idea == one
    assert (await kept(ci.store, rival)).rivals == (one,)
    bridge = await taught(ci, BRIDGE)
    assert {(await kept(ci.store, card)).idea for card in (one, wording, bridge)} == {other}
    head, joined, facing = await ci.store.get([other, one, rival])
    assert (rival in head.rivals, joined.rivals) == (True, ())
    assert facing.rivals == (other,)


async def test_an_idea_that_was_joined_leads_to_the_head_of_both() -> None:
    store = InMemoryVectorStore()
    cards = [replace(lesson(text), status=MemoryStatus.QUARANTINED) for text in ("One.", "Two.", "Three.")]
    first, second, third = (card.id for card in cards)
    await store.add_unscreened([cards[0], replace(cards[1], idea=first), replace(cards[2], idea=second)])
    (wording,) = await store.get([third])
    assert (await heads_of(store, [wording]))[third].id == first
    await change_card(store, first, lambda card: replace(card, idea=third))
    assert (await heads_of(store, [wording]))[third].id in (first, second), "it ends where they lead in a circle"


async def test_a_wording_whose_idea_was_rejected_stands_for_itself() -> None:
    store = InMemoryVectorStore()
    head = replace(lesson("One."), status=MemoryStatus.REJECTED)
    wording = replace(lesson("Two."), status=MemoryStatus.QUARANTINED, idea=head.id)
    await store.add_unscreened([head, wording])
    assert await head_of(store, wording) == wording


async def test_where_two_ideas_stay_two_a_wording_goes_to_the_nearer_one(ci: MemoryCI, model: LocalEmbedder) -> None:
    one, other = await two(ci)
    await change_card(ci.store, one, lambda card: replace(card, rivals=(other,)))
    for text in (BRIDGE, "An initial visit by a patient takes up 50 minutes of the calendar."):
        slot, book, new = await model.embed([SLOT, BOOK, text])
        assert (await ci.submit(lesson(text, PROMPT))).idea == (one if slot @ new > book @ new else other)


async def test_nothing_is_counted_twice_if_it_is_asked_again(ci: MemoryCI) -> None:
    one, other = await two(ci)
    await on_trial(ci, one, 1, 4, 3, 2, 1)
    await on_trial(ci, other, 2, 4, 3, 2, 1)
    assert await join(ci.store, one, other, shown_by="x", at=NOON) == one
    for ids in ((one, other), (other, one), (one, one)):
        await join(ci.store, *ids, shown_by="x", at=NOON + timedelta(hours=1))
    assert of(trial_in(await kept(ci.store, one))) == (8, 6, 4, 2)
