"""Taking a split back: what came to either idea since is in the one idea again, and what was decided since holds."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from trying import NOON, keeper, kept, lesson

from wisen import MemoryCard, MemoryCI, MemoryStatus, VectorStore
from wisen.errors import ConfigError
from wisen.memory_ci.changes import change_card
from wisen.memory_ci.decisions import Act
from wisen.memory_ci.status import move
from wisen.memory_ci.undoing import Undoable, after_decision, before_decision, take_back

pytestmark = pytest.mark.anyio

LATER = NOON + timedelta(hours=1)
HEAD = replace(lesson("Take the discount."), status=MemoryStatus.QUARANTINED, retold=5)


def wording(text: str, head: MemoryCard = HEAD, **more: Any) -> MemoryCard:
    return replace(lesson(text), **{"idea": head.id, "status": head.status, **more})


SAME, WRONG = wording("Use the discount."), wording("Decline the discount.", duplicates=1)


async def split(store: VectorStore, card_id: str, *cards: MemoryCard) -> tuple[MemoryCI, Undoable]:
    ci = keeper(store)
    assert {one.outcome for one in await store.add_unscreened(cards)} == {"added"}
    before = await before_decision(store, card_id)
    await ci.split(card_id, "it says the opposite")
    return ci, await after_decision(store, before)


@pytest.mark.parametrize("act", ["reject", "archive", "promote", "pin", "release"])
async def test_what_was_decided_since_on_the_wording_holds(any_store: VectorStore, act: Act) -> None:
    ci, made = await split(any_store, WRONG.id, HEAD, SAME, WRONG)
    await ci.decide(act, WRONG.id, "another person")
    now = await any_store.get([HEAD.id, WRONG.id])
    with pytest.raises(ConfigError) as refused:
        await take_back(ci, made)
    assert str(refused.value) == f"card {WRONG.id!r} has been moved since by 'human'; decide on it as it is now"
    assert await any_store.get([HEAD.id, WRONG.id]) == now


async def test_what_a_trial_moved_since_holds(any_store: VectorStore) -> None:
    ci, made = await split(any_store, HEAD.id, HEAD, SAME, WRONG)
    leads = next(one for one in (SAME, WRONG) if not made.left[one.id].idea)
    await change_card(
        any_store, leads.id, lambda card: move(card, MemoryStatus.PROMOTED, note="it helps", at=LATER, by="trial")
    )
    with pytest.raises(ConfigError, match="moved since by 'trial'"):
        await take_back(ci, made)
    assert (await kept(any_store, leads.id)).status is MemoryStatus.PROMOTED


async def test_what_came_to_either_idea_since_is_in_the_one_idea(any_store: VectorStore) -> None:
    ci, made = await split(any_store, WRONG.id, HEAD, SAME, WRONG)
    assert (await kept(any_store, HEAD.id)).retold == 3
    to_both = [wording("Take what is off."), wording("Take nothing off.", WRONG), wording("Off with it.", WRONG)]
    await any_store.add_unscreened(to_both)
    await change_card(any_store, HEAD.id, lambda card: replace(card, retold=card.retold + 1))
    await change_card(any_store, WRONG.id, lambda card: replace(card, retold=card.retold + 2, duplicates=3))
    await take_back(ci, made)
    ids = [one.id for one in (SAME, WRONG, *to_both)]
    assert {one.idea for one in await any_store.get(ids)} == {HEAD.id}
    head, wrong = await any_store.get([HEAD.id, WRONG.id])
    assert (head.retold, wrong.retold, wrong.duplicates) == (HEAD.retold + 1 + 2 + 2, 0, 3)
    await ci.archive(HEAD.id, "no use")
    assert {one.status for one in await any_store.get(ids)} == {MemoryStatus.ARCHIVED}


async def test_what_an_idea_was_told_is_counted_again_also_where_nothing_else_changed(any_store: VectorStore) -> None:
    ci = keeper(any_store)
    await any_store.add_unscreened([HEAD, SAME, WRONG])
    before = await before_decision(any_store, WRONG.id)
    await change_card(any_store, HEAD.id, lambda card: replace(card, retold=card.retold - 2))
    made = await after_decision(any_store, before)
    await change_card(any_store, HEAD.id, lambda card: replace(card, retold=card.retold + 1))
    await take_back(ci, made)
    assert (await kept(any_store, HEAD.id)).retold == HEAD.retold + 1


async def test_all_wordings_come_back_to_the_first_one(any_store: VectorStore) -> None:
    ci, made = await split(any_store, HEAD.id, HEAD, SAME, WRONG)
    leads = next(one for one in (SAME, WRONG) if not made.left[one.id].idea)
    await any_store.add_unscreened([came := wording("Take nothing off.", leads, idea=leads.id)])
    await take_back(ci, made)
    assert {one.idea for one in await any_store.get([SAME.id, WRONG.id, came.id])} == {HEAD.id}
    assert (await kept(any_store, HEAD.id)).retold == HEAD.retold


async def test_rivals_since_the_split_face_the_one_idea(any_store: VectorStore) -> None:
    rival = replace(lesson("The discount is gone."), rivals=(WRONG.id,), status=MemoryStatus.QUARANTINED)
    ci, made = await split(any_store, WRONG.id, HEAD, SAME, WRONG, rival)
    await change_card(any_store, HEAD.id, lambda card: replace(card, rivals=(WRONG.id,)))
    faces = {"rivals": (HEAD.id, rival.id), "taught_at": LATER}
    await change_card(any_store, WRONG.id, lambda card: replace(card, **faces))
    await take_back(ci, made)
    head, wrong, other = await any_store.get([HEAD.id, WRONG.id, rival.id])
    assert (head.rivals, head.taught_at) == ((rival.id,), LATER)
    assert (wrong.rivals, wrong.taught_at, other.rivals) == ((), None, (HEAD.id,))
