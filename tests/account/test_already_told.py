"""What a prompt holds anyway: neither its cards are shown again, nor their ideas in other words."""

from dataclasses import replace

import pytest
from trying import COIN, HARBOUR, drawing, keeper, lesson

from wisen import InMemoryVectorStore, MemoryCard, MemoryKind, MemoryStatus, RecallHit, Situation
from wisen.account.already_told import Told, told_by
from wisen.advice.compiler import Recalled
from wisen.cards import Provenance
from wisen.memory_ci.pipeline import Found
from wisen.records import Injection

pytestmark = pytest.mark.anyio

HEAD = replace(lesson(HARBOUR), id="head", status=MemoryStatus.PROMOTED)
WORDING = replace(lesson("Bills go to Harbour."), id="wording", idea="head")
OTHER = replace(lesson("Write dates in full."), id="other", status=MemoryStatus.PROMOTED)
EXAMPLE = MemoryCard(
    kind=MemoryKind.SKILL_CARD,
    id="example",
    content="Harbour",
    status=MemoryStatus.PROMOTED,
    situation=Situation(prompt="Which team?"),
    provenance=Provenance(run_id="r", agent="agent", verified=True),
)


def found(card: MemoryCard, head: MemoryCard) -> Found:
    return Found(hit=RecallHit(card=card, relevance=0.9, reasons=()), head=head)


def recalled(card: MemoryCard, idea: str, *rivals: str) -> Recalled:
    injection = Injection(card_id=card.id, kind=card.kind.value, reasons=(), score=0.9, idea=idea)
    return Recalled(card=card, injection=injection, rivals=rivals)


def shown(card: MemoryCard, idea: str) -> Injection:
    return recalled(card, idea).injection


async def test_what_is_told_is_told_in_all_wordings_as_far_as_it_is_stored() -> None:
    store = InMemoryVectorStore()
    await store.add_unscreened([HEAD, WORDING, OTHER])
    told = await told_by(store, ["wording", "gone"])
    assert told == Told(cards=frozenset(("wording", "gone")), ideas=frozenset(("head",)))
    every = [found(HEAD, HEAD), found(WORDING, HEAD), found(OTHER, OTHER)]
    left = await told.drawn(drawing(keeper(store)), every, first=False)
    assert [one.card.id for one in left] == ["other"]


async def test_what_is_told_takes_no_place_on_trial() -> None:
    store = InMemoryVectorStore()
    tried, waiting = replace(HEAD, status=MemoryStatus.QUARANTINED), replace(OTHER, status=MemoryStatus.QUARANTINED)
    await store.add_unscreened([tried, waiting])
    ci = keeper(store, rule=replace(COIN, at_once=1))
    for cards, drawn in (([], ["other"]), (["other"], ["head"])):
        told = await told_by(store, cards)
        left = await told.drawn(drawing(ci), [found(tried, tried), found(waiting, waiting)], first=True)
        assert [one.card.id for one in left if not one.barred] == drawn


async def test_of_a_group_of_examples_one_that_is_told_hides_only_itself() -> None:
    told = Told(cards=frozenset(("example",)), ideas=frozenset(("example",)))
    second = replace(EXAMPLE, id="second", idea="example")
    every = [found(EXAMPLE, EXAMPLE), found(second, EXAMPLE)]
    left = await told.drawn(drawing(keeper(InMemoryVectorStore())), every, first=False)
    assert [one.card.id for one in left] == ["second"]


def test_what_was_held_out_is_not_told() -> None:
    nothing = Told(cards=frozenset(), ideas=frozenset())
    assert nothing.and_shown([shown(WORDING, "head")]) == Told(
        cards=frozenset(("wording",)), ideas=frozenset(("head",))
    )
    assert nothing.and_shown([replace(shown(WORDING, "head"), shown=False)]) == nothing
    assert nothing.and_shown([shown(WORDING, "")]).ideas == frozenset()


def test_what_contradicts_it_is_marked() -> None:
    told = Told(cards=frozenset(), ideas=frozenset(("head",)))
    assert [one.contradicted for one in told.marked([recalled(OTHER, "other", "x", "head"), recalled(OTHER, "y")])] == [
        True,
        False,
    ]
