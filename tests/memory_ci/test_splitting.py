"""A person takes a wording out of an idea that says something else, and nothing puts it back."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from trying import NOON, keeper, kept, lesson

from wisen import HashEmbedder, InMemoryVectorStore, MemoryCard, MemoryCI, MemoryStatus, SQLiteVectorStore, VectorStore
from wisen.cards import CardEvidence
from wisen.embedders.local import LocalEmbedder
from wisen.errors import ConfigError, StoreError
from wisen.memory_ci.changes import change_card
from wisen.memory_ci.joining import join
from wisen.memory_ci.splitting import split
from wisen.memory_ci.undoing import after_decision, before_decision, take_back
from wisen.trial_records import DrawCounts, Trial

pytestmark = pytest.mark.anyio

TAKE = "Take the 2% early-payment discount whenever the vendor offers it."
USE = "Whenever the vendor offers the 2% early-payment discount, use it."
DECLINE = "Let the 2% early-payment discount of a vendor lapse; the liquidity is worth more to us."
PROMPT = "Pay the vendor's invoice."
TRIAL = Trial(model="m", layout="l", number=1, stage="on trial", counts=(DrawCounts(propensity=0.6, shown=9),))
TESTED: dict[str, Any] = {"trials": (TRIAL,), "evidence": (CardEvidence(model="m", gained=3),)}


def wording(text: str, head: MemoryCard, days: int, **more: Any) -> MemoryCard:
    made = lesson(text, PROMPT, created_at=NOON + timedelta(days=days))
    return replace(made, idea=head.id, status=head.status, **more)


HEAD = replace(lesson(TAKE, PROMPT, created_at=NOON), status=MemoryStatus.QUARANTINED, retold=4, **TESTED)
SAME = wording(USE, HEAD, 3)
WRONG = wording(DECLINE, HEAD, 2, duplicates=1)


async def holding(store: VectorStore, *cards: MemoryCard) -> MemoryCI:
    ci = keeper(store)
    assert {one.outcome for one in await ci.store.add_unscreened(cards)} == {"added"}
    return ci


async def test_a_wording_becomes_an_idea_of_its_own_and_the_evidence_stays(any_store: VectorStore) -> None:
    ci = await holding(any_store, HEAD, SAME, WRONG)
    alone = await ci.split(WRONG.id, "it says the opposite")
    assert (alone.idea, alone.status, alone.trials, alone.duplicates) == ("", MemoryStatus.QUARANTINED, (), 1)
    assert (alone.history[-1].by, alone.history[-1].why) == ("human", f"split from {HEAD.id}: it says the opposite")
    head = await kept(any_store, HEAD.id)
    assert (head.trials, head.evidence, head.retold, head.status) == (HEAD.trials, HEAD.evidence, 2, HEAD.status)
    assert (head.history[-1].by, head.history[-1].why) == (
        "human",
        f"split, so that {WRONG.id} is an idea of its own: it says the opposite",
    )
    assert await kept(any_store, SAME.id) == SAME


async def test_of_the_first_wording_the_others_are_taken_as_one_idea(any_store: VectorStore) -> None:
    ci = await holding(any_store, HEAD, SAME, WRONG)
    head = await ci.split(HEAD.id, "the others say the opposite")
    assert (head.idea, head.trials, head.retold) == ("", HEAD.trials, 1)
    assert [(await kept(any_store, one.id)).idea for one in (WRONG, SAME)] == ["", WRONG.id], "the older one leads"


async def test_a_wording_that_was_withdrawn_stays_where_it_is() -> None:
    withdrawn = replace(SAME, status=MemoryStatus.REJECTED, provenance=replace(SAME.provenance, created_at=NOON))
    ci = await holding(InMemoryVectorStore(), HEAD, withdrawn, WRONG)
    await ci.split(HEAD.id, "the others say the opposite")
    assert (await kept(ci.store, WRONG.id)).idea == ""
    assert await kept(ci.store, SAME.id) == withdrawn


@pytest.mark.parametrize("moved", [{"status": MemoryStatus.REJECTED}, {"idea": "another"}])
async def test_what_is_decided_on_a_wording_meanwhile_holds(moved: dict[str, Any]) -> None:
    store = InMemoryVectorStore()
    await holding(store, HEAD, WRONG)
    await change_card(store, WRONG.id, lambda card: replace(card, **moved))
    with pytest.raises(ConfigError, match="decided on while it was to be split"):
        await split(store, WRONG, HEAD, why="it says the opposite", at=NOON)
    assert replace(await kept(store, WRONG.id), version=1) == replace(WRONG, **moved)


@pytest.mark.parametrize("status", [MemoryStatus.PROMOTED, MemoryStatus.ARCHIVED])
async def test_it_goes_on_trial_whatever_became_of_its_idea(status: MemoryStatus) -> None:
    head = replace(HEAD, status=status)
    ci = await holding(InMemoryVectorStore(), head, replace(WRONG, status=status))
    alone = await ci.split(WRONG.id, "it says the opposite")
    assert (alone.status, alone.history[-1].before) == (MemoryStatus.QUARANTINED, status)
    assert (await kept(ci.store, head.id)).status is status


async def test_a_correction_of_its_idea_no_longer_counts_for_it_but_its_own_does() -> None:
    ci = await holding(InMemoryVectorStore(), HEAD, SAME, WRONG)
    await ci.correct(SAME.id, lesson("Discounts are taken by the treasury alone.", PROMPT), "renamed")
    assert (await kept(ci.store, WRONG.id)).superseded_by
    assert (await ci.split(WRONG.id, "it says the opposite")).superseded_by == ""
    assert (await ci.split(SAME.id, "it says something else")).superseded_by


@pytest.mark.parametrize(
    ("card", "why", "said"),
    [
        (WRONG, " ", "without a reason"),
        (replace(HEAD, idea=""), "so", "only wording"),
        (replace(WRONG, status=MemoryStatus.REJECTED), "so", "rejected"),
    ],
)
async def test_what_cannot_be_split_is_refused_and_stays(card: MemoryCard, why: str, said: str) -> None:
    ci = await holding(InMemoryVectorStore(), *{one.id: one for one in (HEAD, card)}.values())
    with pytest.raises(ConfigError, match=said):
        await ci.split(card.id, why)
    assert await kept(ci.store, card.id) == card
    assert await kept(ci.store, HEAD.id) == HEAD


async def test_a_wording_that_leads_to_its_head_over_another_one_is_split(any_store: VectorStore) -> None:
    joined = wording(USE, HEAD, 1)
    ci = await holding(any_store, HEAD, joined, replace(WRONG, idea=joined.id))
    assert (await ci.split(WRONG.id, "it says the opposite")).idea == ""


async def test_a_split_can_be_taken_back() -> None:
    ci = await holding(InMemoryVectorStore(), HEAD, SAME, WRONG)
    before = await before_decision(ci.store, WRONG.id)
    alone = await ci.split(WRONG.id, "it says the opposite")
    made = await after_decision(ci.store, before)
    await change_card(ci.store, WRONG.id, lambda card: replace(card, trials=(TRIAL,)))
    back = await take_back(ci, made)
    assert (back.idea, back.trials, back.history[-1].why) == (HEAD.id, (), f"undone: {alone.history[-1].why}")
    head = await kept(ci.store, HEAD.id)
    assert (head.retold, head.trials) == (HEAD.retold, HEAD.trials)


@pytest.mark.local_model
async def test_nothing_joins_again_what_a_person_has_split() -> None:
    ci = keeper(InMemoryVectorStore(embedder=LocalEmbedder()))
    take, decline = [(await ci.submit(lesson(text, PROMPT, created_at=NOON))).card_id for text in (TAKE, DECLINE)]
    assert (await kept(ci.store, decline)).idea == take, "the bundled embedder takes opposites in like words for one"
    await ci.split(decline, "it says the opposite")
    again = [await ci.submit(lesson(one, PROMPT, run=f"{one} again")) for one in (TAKE, DECLINE)]
    assert [(one.outcome, one.idea) for one in again] == [("duplicate", take), ("duplicate", decline)]
    for pair in ((take, decline), (decline, take)):
        assert await join(ci.store, pair, shown_by="another", at=NOON) == pair[0]
    assert [(await kept(ci.store, one)).idea for one in (take, decline)] == ["", ""]


class Beside(SQLiteVectorStore):
    """Has another process do something after the first write of the head."""

    meanwhile: Callable[[MemoryCI], Awaitable[object]] | None = None

    async def update(self, card: MemoryCard) -> None:
        await super().update(card)
        if card.id == HEAD.id and self.meanwhile:
            happens, self.meanwhile = self.meanwhile, None
            async with SQLiteVectorStore(self.path, embedder=HashEmbedder()) as other:
                await happens(keeper(other))


class TestCorrections:
    """Each stays with the side whose card it names."""

    @pytest.mark.parametrize("named", [HEAD, SAME])
    async def test_what_corrects_those_that_stay_is_not_of_what_leaves(
        self, any_store: VectorStore, named: MemoryCard
    ) -> None:
        ci = await holding(any_store, HEAD, SAME, WRONG)
        new = (await ci.correct(named.id, lesson("Ask the treasury.", PROMPT), "renamed")).card_id
        await ci.split(WRONG.id, "it says the opposite")
        cards = await any_store.get([HEAD.id, SAME.id, WRONG.id])
        assert [one.superseded_by for one in cards] == [new, new, ""]

    async def test_what_corrects_what_leaves_is_not_of_those_that_stay(self, any_store: VectorStore) -> None:
        ci = await holding(any_store, HEAD, SAME, WRONG)
        new = (await ci.correct(WRONG.id, lesson("Ask the treasury.", PROMPT), "renamed")).card_id
        await ci.split(WRONG.id, "it says the opposite")
        cards = await any_store.get([HEAD.id, SAME.id, WRONG.id])
        assert [one.superseded_by for one in cards] == ["", "", new]

    async def test_all_that_leave_the_first_wording_take_theirs_along(self) -> None:
        ci = await holding(InMemoryVectorStore(), HEAD, SAME, WRONG)
        new = (await ci.correct(SAME.id, lesson("Ask the treasury.", PROMPT), "renamed")).card_id
        await ci.split(HEAD.id, "the others say the opposite")
        cards = await ci.store.get([HEAD.id, SAME.id, WRONG.id])
        assert [one.superseded_by for one in cards] == ["", new, new]

    async def test_one_that_comes_meanwhile_holds(self) -> None:
        ci = await holding(InMemoryVectorStore(), HEAD, SAME, WRONG)
        await change_card(ci.store, WRONG.id, lambda card: replace(card, superseded_by="known before"))
        before = await kept(ci.store, WRONG.id)
        await change_card(ci.store, WRONG.id, lambda card: replace(card, superseded_by="just made"))
        await split(ci.store, before, await kept(ci.store, HEAD.id), why="it says the opposite", at=NOON)
        assert (await kept(ci.store, WRONG.id)).superseded_by == "just made"


class TestCounts:
    """How often an idea was told is of its own wordings, wherever a split is broken off, and whoever splits beside."""

    async def test_those_that_leave_the_first_wording_are_counted_with_the_one_that_leads_them(self) -> None:
        twice = wording("Use it: the 2% discount for early payment.", HEAD, 4, duplicates=2)
        ci = await holding(InMemoryVectorStore(), replace(HEAD, retold=6), SAME, WRONG, twice)
        await ci.split(HEAD.id, "the others say the opposite")
        cards = await ci.store.get([HEAD.id, WRONG.id, SAME.id, twice.id])
        assert [one.retold for one in cards] == [0, 4, 0, 0]

    async def test_a_split_that_was_broken_off_counts_once(self, any_store: VectorStore) -> None:
        ci = await holding(any_store, HEAD, SAME, WRONG)
        update = any_store.update

        async def broken(card: MemoryCard) -> None:
            if card.id == WRONG.id:
                raise StoreError("the disk is full")
            await update(card)

        any_store.update = broken
        with pytest.raises(StoreError):
            await ci.split(WRONG.id, "it says the opposite")
        assert (await kept(any_store, HEAD.id)).retold == HEAD.retold
        assert (await kept(any_store, HEAD.id)).history[-1].by == "human", "nothing joins the two meanwhile"
        any_store.update = update
        await ci.split(WRONG.id, "it says the opposite")
        assert (await kept(any_store, HEAD.id)).retold == 2

    @pytest.mark.parametrize("other", [SAME, WRONG])
    async def test_two_splits_at_once_count_each_wording_once(self, other: MemoryCard) -> None:
        ci = await holding(InMemoryVectorStore(), HEAD, SAME, WRONG)
        acts = [ci.split(one.id, "it says the opposite") for one in (WRONG, other)]
        done = await asyncio.gather(*acts, return_exceptions=True)
        assert sum(isinstance(one, ConfigError) for one in done) == (other is WRONG)
        assert (await kept(ci.store, HEAD.id)).retold == (2 if other is WRONG else 1)


class TestMeanwhile:
    @pytest.fixture
    async def beside(self, tmp_path: Path) -> AsyncIterator[Beside]:
        async with Beside(tmp_path / "store.db", embedder=HashEmbedder()) as store:
            await holding(store, HEAD, SAME, WRONG)
            yield store

    async def test_what_was_archived_with_its_idea_goes_on_trial(self, beside: Beside) -> None:
        beside.meanwhile = lambda other: other.archive(HEAD.id, "no use")
        alone = await keeper(beside).split(WRONG.id, "it says the opposite")
        assert (alone.idea, alone.status) == ("", MemoryStatus.QUARANTINED)
        assert {one.status for one in await beside.get([HEAD.id, SAME.id])} == {MemoryStatus.ARCHIVED}

    async def test_who_comes_too_late_is_told(self, beside: Beside) -> None:
        beside.meanwhile = lambda other: other.reject(WRONG.id, "it is wrong")
        with pytest.raises(ConfigError, match="decided on while it was to be split; decide on it as it is now"):
            await keeper(beside).split(WRONG.id, "it says the opposite")

    @pytest.mark.parametrize("then", ["", "reject"])
    async def test_nothing_is_put_under_what_another_person_split_off_first(self, beside: Beside, then: str) -> None:
        async def happens(other: MemoryCI) -> None:
            await other.split(WRONG.id, "it says the opposite of both")
            if then:
                await other.reject(WRONG.id, "it is wrong")

        beside.meanwhile = happens
        await keeper(beside).split(HEAD.id, "it is something else")
        assert {one.idea for one in await beside.get([HEAD.id, SAME.id, WRONG.id])} == {""}
        assert (await kept(beside, HEAD.id)).retold == HEAD.retold - 3

    async def test_what_left_its_idea_does_not_follow_it(self) -> None:
        ci = await holding(InMemoryVectorStore(), HEAD, SAME, WRONG)
        listed = ci.store.list

        async def late(*args: Any, **more: Any) -> Any:
            found = await listed(*args, **more)
            ci.store.list = listed
            await ci.split(WRONG.id, "it says the opposite")
            return found

        ci.store.list = late
        await ci.archive(HEAD.id, "no use")
        cards = await ci.store.get([HEAD.id, SAME.id, WRONG.id])
        assert [one.status.value for one in cards] == ["archived", "archived", "quarantined"]
