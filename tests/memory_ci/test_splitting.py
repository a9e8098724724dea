"""A person takes a wording out of an idea that says something else, and nothing puts it back."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from trying import NOON, keeper, kept, lesson

from wisen import InMemoryVectorStore, MemoryCard, MemoryCI, MemoryStatus, VectorStore
from wisen.cards import CardEvidence
from wisen.embedders.local import LocalEmbedder
from wisen.errors import ConfigError
from wisen.memory_ci.changes import change_card
from wisen.memory_ci.joining import join
from wisen.memory_ci.splitting import split
from wisen.memory_ci.undoing import after_decision, before_decision, take_back
from wisen.trial_records import DrawCounts, Trial

pytestmark = pytest.mark.anyio

TAKE = "Take the 2% early-payment discount whenever the vendor offers it."
USE = "Whenever the vendor offers the 2% early-payment discount, use it."
DECLINE = "Decline early-payment discounts of 2%; the liquidity is worth more to us."
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
