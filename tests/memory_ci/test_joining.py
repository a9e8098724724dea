"""Two ideas become one where a new wording says what both say; what was counted on either is kept."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from trying import COIN, LAYOUT, NOON, advice_of, drawing, found, keeper, kept, lesson

from wisen import (
    InMemoryVectorStore,
    MarkdownStore,
    MemoryCard,
    MemoryCI,
    MemoryStatus,
    SQLiteVectorStore,
    VectorStore,
)
from wisen.cards import CardEvidence
from wisen.embedders.local import LocalEmbedder
from wisen.memory_ci.changes import change_card
from wisen.memory_ci.circles import Circles
from wisen.memory_ci.decisions import Act
from wisen.memory_ci.ideas import head_of, heads_of
from wisen.memory_ci.joining import join
from wisen.memory_ci.pipeline import Found
from wisen.memory_ci.status import move
from wisen.trial_records import DrawCounts, OpenDraw, Trial

pytestmark = pytest.mark.anyio

SLOT = "A first visit gets a slot of 50 minutes in the calendar."
BOOK = "Book 50 minutes for every patient's first appointment."
BRIDGE = "Schedule a patient's initial appointment as a 50 minutes slot."
RESERVE = "Reserve 50 minutes in the diary whenever a patient has a first appointment."
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


async def test_the_one_that_something_rests_on_is_the_head(ci: MemoryCI) -> None:
    one, other = await two(ci)
    await on_trial(ci, one, 0, stage="waiting", first=3, first_good=2)
    await change_card(ci.store, one, lambda card: replace(card, retold=2, duplicates=5, taught_at=NOON))
    await on_trial(ci, other, 4, 10, 8, 5, 1)
    before = await kept(ci.store, other)
    await taught(ci, BRIDGE)
    joined, head = await ci.store.get([one, other])
    assert joined.idea == other
    assert head.trials == before.trials, "first deliveries are no evidence"
    assert head.retold == 1 + (2 + 5 + 1)
    assert head.taught_at == NOON
    assert (joined.trials, joined.retold, joined.duplicates, joined.taught_at) == ((), 0, 5, None)


async def test_of_two_that_nothing_rests_on_the_one_that_others_text_may_have_worded_joins(ci: MemoryCI) -> None:
    one, other = await two(ci)
    await change_card(ci.store, one, lambda card: replace(card, provenance=replace(card.provenance, tainted=True)))
    await taught(ci, BRIDGE)
    assert (await kept(ci.store, one)).idea == other


async def test_a_draw_on_what_has_joined_another_idea_counts_for_nothing(ci: MemoryCI) -> None:
    one, other = await two(ci)
    draws = drawing(ci, run_id="late")
    parts = await draws.with_draws([found for found in await found_all(ci) if found.head.id == other], first=True)
    await taught(ci, BRIDGE)
    assert (await kept(ci.store, other)).idea == one
    (injection,) = (await draws.write(advice_of(parts))).injections
    assert injection.draw == ""
    cards = await ci.store.get([one, other])
    assert [(card.trials, card.open_draws) for card in cards] == [((), ())] * 2
    assert await ci.numbers.of("the next") == 1


async def found_all(ci: MemoryCI) -> list[Found]:
    return await found(ci, PROMPT)


ARCHIVED = {"status": MemoryStatus.ARCHIVED}


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

    @pytest.mark.parametrize(
        "rests",
        [
            {"trials": (Trial(number=1),)},
            {"trials": (Trial(before=(DrawCounts(shown=1),)),)},
            {"trials": (Trial(rounds=1),)},
            {"open_draws": (OpenDraw(id="x"),)},
            {"evidence": (CardEvidence(gained=1),)},
        ],
    )
    async def test_where_something_rests_on_both(self, ci: MemoryCI, rests: Any) -> None:
        one, other = await two(ci)
        await on_trial(ci, one, 7)
        await change_card(ci.store, other, lambda card: replace(card, **rests))
        before = await ci.store.get([one, other])
        assert await join(ci.store, [other, one], shown_by="x", at=NOON) == other
        assert await ci.store.get([one, other]) == before

    async def test_where_a_person_has_put_it_on_trial_again(self, ci: MemoryCI) -> None:
        one, other = await two(ci)
        await ci.promote(one, "it is right")
        await ci.promote(other, "so is this")
        await ci.quarantine(other, "I doubt it")
        await taught(ci, BRIDGE)
        assert {(await kept(ci.store, card)).idea for card in (one, other)} == {""}

    async def test_where_what_shows_it_is_held(self, ci: MemoryCI, monkeypatch: pytest.MonkeyPatch) -> None:
        one, other = await two(ci)
        monkeypatch.setattr(Circles, "held_for", held_for)
        assert (await ci.submit(lesson(BRIDGE, PROMPT))).held
        assert {(await kept(ci.store, card)).idea for card in (one, other)} == {""}

    async def test_where_only_one_wording_of_many_is_like_both(self, ci: MemoryCI) -> None:
        one, other = await two(ci)
        lone = [replace(lesson(f"Give every dog {name} walk."), idea=other) for name in ("a long", "a short", "one")]
        await ci.store.add_unscreened(lone)
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
        "more", [{"held": ("a sink",)}, {"released": True}, {"superseded_by": "another"}, {"idea": "a third"}, ARCHIVED]
    )
    async def test_where_one_is_of_another_circle_or_no_head(self, ci: MemoryCI, more: Any, *, first: bool) -> None:
        one, other = await two(ci)
        await change_card(ci.store, one if first else other, lambda card: replace(card, **more))
        before = await ci.store.get([one, other])
        assert await join(ci.store, [one, other], shown_by="x", at=NOON) == one
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

    async def test_where_one_is_a_correction(self, ci: MemoryCI) -> None:
        one, other = await two(ci)
        await change_card(ci.store, other, lambda card: replace(card, supersedes="what was wrong"))
        await taught(ci, BRIDGE)
        assert {(await kept(ci.store, card)).idea for card in (one, other)} == {""}

    async def test_where_one_is_gone(self, ci: MemoryCI) -> None:
        one, other = await two(ci)
        await ci.store.delete([other])
        assert await join(ci.store, [one, other], shown_by="x", at=NOON) == one
        assert await join(ci.store, [one, one], shown_by="x", at=NOON) == one
        assert (await kept(ci.store, one)).idea == ""
        await ci.store.delete([one])
        assert await join(ci.store, [one, other], shown_by="x", at=NOON) == one

    @pytest.mark.parametrize("gone", [True, False])
    async def test_where_a_person_was_quicker(self, model: LocalEmbedder, *, gone: bool) -> None:
        store = Decided(embedder=model)
        ci = keeper(store, rule=COIN)
        one, other = await two(ci)
        wording = await taught(ci, RESERVE)
        await change_card(store, wording, lambda card: replace(card, idea=other))
        await change_card(store, one, lambda card: replace(card, idea="", retold=0))

        async def decided() -> None:
            await (store.delete([other]) if gone else ci.archive(other, "it is wrong"))

        store.meanwhile = decided
        assert await join(store, [one, other], shown_by="x", at=NOON) == one
        if not gone:
            assert (await kept(store, other)).status is MemoryStatus.ARCHIVED
        assert (await kept(store, one)).retold == 0


async def held_for(self: Circles, card: MemoryCard, known: str) -> tuple[str, ...]:
    """Hold whatever comes."""
    del self, card, known
    return ("a sink",)


class Read(InMemoryVectorStore):
    """Has something happen after the next reading."""

    meanwhile: Callable[[], Awaitable[None]] | None = None

    async def get(self, card_ids: Sequence[str]) -> list[MemoryCard]:
        found = await super().get(card_ids)
        if self.meanwhile:
            happens, self.meanwhile = self.meanwhile, None
            await happens()
        return found


class Decided(InMemoryVectorStore):
    """Has something happen after the next write."""

    meanwhile: Callable[[], Awaitable[None]] | None = None

    async def update(self, card: MemoryCard) -> None:
        await super().update(card)
        if self.meanwhile:
            happens, self.meanwhile = self.meanwhile, None
            await happens()


async def test_an_idea_in_use_is_the_head(ci: MemoryCI) -> None:
    one, other = await two(ci)
    await ci.promote(other, "it is right")
    await taught(ci, BRIDGE)
    joined, head = await ci.store.get([one, other])
    assert (joined.idea, joined.status, head.idea) == (other, MemoryStatus.PROMOTED, "")


async def test_the_wordings_of_what_joins_an_idea_in_use_are_in_use_but_for_others_text(ci: MemoryCI) -> None:
    one, other = await two(ci)
    wording = await taught(ci, "For an initial visit, block 50 minutes in the schedule.")
    tainted = await taught(ci, RESERVE, tainted=True)
    assert {(await kept(ci.store, card)).idea for card in (wording, tainted)} == {one}
    await ci.promote(other, "it is right")
    await change_card(ci.store, one, lambda card: replace(card, provenance=replace(card.provenance, tainted=True)))
    await taught(ci, BRIDGE)
    cards = await ci.store.get([wording, tainted, one])
    assert {card.idea for card in cards} == {other}
    statuses = [card.status for card in cards]
    assert statuses == [MemoryStatus.PROMOTED, MemoryStatus.QUARANTINED, MemoryStatus.QUARANTINED]


async def test_what_a_person_decides_on_the_head_meanwhile_holds_for_what_joins_it(model: LocalEmbedder) -> None:
    store = Decided(embedder=model)
    ci = keeper(store, rule=COIN)
    one, other = await two(ci)

    async def archived() -> None:
        await change_card(store, one, partial(move, status=MemoryStatus.ARCHIVED, note="it is wrong", at=NOON))

    store.meanwhile = archived
    await join(store, [one, other], shown_by="x", at=NOON)
    assert {card.status for card in await store.get([one, other])} == {MemoryStatus.ARCHIVED}


async def test_a_wording_that_is_written_meanwhile_comes_along(model: LocalEmbedder) -> None:
    store = Decided(embedder=model)
    one, other = await two(keeper(store, rule=COIN))
    late = replace(lesson("Written late."), status=MemoryStatus.QUARANTINED, idea=other)

    async def written() -> None:
        await store.add_unscreened([late])

    store.meanwhile = written
    await join(store, [one, other], shown_by="x", at=NOON)
    assert (await kept(store, late.id)).idea == one


async def test_a_draw_that_a_join_comes_before_counts_for_nothing(model: LocalEmbedder) -> None:
    store = Read(embedder=model)
    ci = keeper(store, rule=COIN)
    one, other = await two(ci)
    draws = drawing(ci)
    parts = await draws.with_draws([found for found in await found_all(ci) if found.head.id == other], first=True)

    async def joined() -> None:
        await join(store, [one, other], shown_by="x", at=NOON)

    store.meanwhile = joined
    (injection,) = (await draws.write(advice_of(parts))).injections
    left = await kept(store, other)
    assert (injection.draw, left.idea, left.open_draws) == ("", one, ())


async def test_rivals_come_along(ci: MemoryCI) -> None:
    one, other = await two(ci)
    rival = await taught(ci, "Book 20 minutes for every patient's first appointment.")
    third = await taught(ci, "Cook every meal at noon.")
    assert (await kept(ci.store, rival)).rivals == (other,)
    await change_card(ci.store, one, lambda card: replace(card, rivals=(third,)))
    await taught(ci, BRIDGE)
    head, joined, facing = await ci.store.get([one, other, rival])
    assert (head.rivals, joined.idea, joined.rivals, facing.rivals) == ((rival, third), one, (), (one,))
    assert head.taught_at is None


@pytest.mark.parametrize("known", [None, NOON + timedelta(days=2)])
async def test_when_a_check_taught_what_joins_comes_along_if_there_are_rivals(
    ci: MemoryCI, known: datetime | None
) -> None:
    one = await taught(ci, SLOT, created_at=NOON - timedelta(days=1))
    other = await taught(ci, BOOK, created_at=NOON, verified=True)
    rival = await taught(ci, "Book 20 minutes for every patient's first appointment.")
    assert (await kept(ci.store, rival)).rivals == (other,)
    await change_card(ci.store, other, lambda card: replace(card, taught_at=known))
    await taught(ci, BRIDGE)
    assert (await kept(ci.store, one)).taught_at == (known or NOON)


async def test_wordings_come_along(ci: MemoryCI) -> None:
    one, other = await two(ci)
    await on_trial(ci, other, 1)
    wording = await taught(ci, "For an initial visit, block 50 minutes in the schedule.")
    rejected = replace(lesson("50 minutes.").without_text(), status=MemoryStatus.REJECTED, idea=one)
    await ci.store.add_unscreened([rejected])
    assert (await kept(ci.store, wording)).idea == one
    bridge = await taught(ci, BRIDGE)
    assert {(await kept(ci.store, card)).idea for card in (one, wording, bridge)} == {other}
    assert (await kept(ci.store, rejected.id)).idea == one, "but what was rejected"


async def test_a_wording_of_what_has_joined_another_idea_meanwhile_goes_there(ci: MemoryCI) -> None:
    one, other = await two(ci)
    added = ci.store.add_unscreened

    async def slowly(cards: Sequence[MemoryCard]) -> Any:
        ci.store.add_unscreened = added
        assert await join(ci.store, [one, other], shown_by="x", at=NOON) == one
        return await added(cards)

    ci.store.add_unscreened = slowly
    wording = await taught(ci, "Book 50 minutes for each patient's very first appointment.")
    assert (await kept(ci.store, other)).idea == (await kept(ci.store, wording)).idea == one


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


@pytest.mark.parametrize("text", [BRIDGE, "An initial visit by a patient takes up 50 minutes of the calendar."])
async def test_where_two_ideas_stay_two_a_wording_goes_to_the_nearer_one(
    ci: MemoryCI, model: LocalEmbedder, text: str
) -> None:
    one, other = await two(ci)
    await change_card(ci.store, one, lambda card: replace(card, rivals=(other,)))
    slot, book, new = await model.embed([SLOT, BOOK, text])
    assert (await ci.submit(lesson(text, PROMPT))).idea == (one if slot @ new > book @ new else other)
