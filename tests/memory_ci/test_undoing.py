"""Taking a decision back: what it changed is as it was, what was counted since stays, and the history tells of it."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from trying import HARBOUR, NOON, kept, lesson

from wisen import InMemoryVectorStore, MemoryCard, MemoryCI, MemoryStatus
from wisen.cards import CardEvidence, Move
from wisen.errors import CardNotFoundError, ConfigError
from wisen.memory_ci.changes import change_card
from wisen.memory_ci.decisions import Act
from wisen.memory_ci.status import move
from wisen.memory_ci.undoing import before_decision, take_back
from wisen.trial_records import DrawCounts, OpenDraw, Trial

pytestmark = pytest.mark.anyio

LATER = NOON + timedelta(hours=1)
TRIAL = Trial(model="m", layout="l", number=1, stage="on trial", counts=(DrawCounts(shown=9, held_out=7),))
COUNTED: dict[str, Any] = {
    "evidence": (CardEvidence(model="m", gained=3),),
    "observed": ("0a1b2c3d",),
    "trials": (TRIAL,),
    "open_draws": (OpenDraw(id="d", at=NOON, model="m", layout="l"),),
}
IN_QUARANTINE = replace(lesson(HARBOUR), status=MemoryStatus.QUARANTINED, note="passed", **COUNTED)
BEGINS: dict[Act, MemoryCard] = {
    "promote": IN_QUARANTINE,
    "archive": IN_QUARANTINE,
    "reject": IN_QUARANTINE,
    "pin": IN_QUARANTINE,
    "unpin": replace(IN_QUARANTINE, pinned=True),
    "release": replace(IN_QUARANTINE, held=("harbour.example",)),
    "quarantine": replace(IN_QUARANTINE, status=MemoryStatus.PROMOTED),
}
BENCHED = replace(IN_QUARANTINE, trials=(replace(TRIAL, stage="benched"),))


async def deciding(*cards: MemoryCard) -> MemoryCI:
    """Somebody who decides an hour after noon."""
    store = InMemoryVectorStore()
    await store.add_unscreened(cards)
    return MemoryCI(store, now=lambda: LATER)


@pytest.mark.parametrize("act", BEGINS)
async def test_the_card_is_as_it_was_and_its_history_tells_of_both(act: Act) -> None:
    card = BEGINS[act]
    ci = await deciding(card)
    before = await before_decision(ci.store, card.id)
    decided = await ci.decide(act, card.id, "so we agreed")
    back = await take_back(ci, before)
    (done, undone) = back.history
    assert done == decided.history[-1]
    assert undone == Move(at=LATER, before=decided.status, after=card.status, why=f"undone: {done.why}", by="human")
    assert back == replace(card, history=(done, undone), version=3)
    assert await kept(ci.store, card.id) == back


async def test_a_decision_is_on_the_idea_first_its_wordings_and_what_they_correct() -> None:
    old_head, head = lesson("Old."), replace(IN_QUARANTINE, supersedes="nobody")
    old = replace(lesson("Old, in other words."), idea=old_head.id)
    another = replace(lesson("Old, once more."), idea=old_head.id)
    wording = replace(lesson("In other words."), idea=head.id, supersedes=old.id, status=MemoryStatus.QUARANTINED)
    apart = lesson("Something else.")
    ci = await deciding(old_head, old, another, head, wording, apart)
    for named in (head, wording):
        before = await before_decision(ci.store, named.id)
        assert (before.card_id, before.cards[0], before.added) == (named.id, head, "")
        assert before.cards[1] == wording
        assert {one.id for one in before.cards} == {one.id for one in (head, wording, old, old_head, another)}
        assert len(before.cards) == 5


async def test_wordings_go_back_with_their_idea_and_say_so() -> None:
    wording = replace(lesson("In other words."), idea=IN_QUARANTINE.id, status=MemoryStatus.QUARANTINED)
    ci = await deciding(IN_QUARANTINE, wording)
    before = await before_decision(ci.store, wording.id)
    await ci.promote(wording.id, "it helps")
    back = await take_back(ci, before)
    assert (back.id, back.status) == (wording.id, MemoryStatus.QUARANTINED)
    followed = f"as {IN_QUARANTINE.id}, which says the same: it helps"
    assert [(one.why, one.by) for one in back.history] == [(followed, "idea"), (f"undone: {followed}", "human")]


async def test_what_holds_again_by_a_rejection_is_corrected_again_and_a_correction_goes() -> None:
    ci = await deciding(IN_QUARANTINE)
    before = await before_decision(ci.store, IN_QUARANTINE.id)
    new = (await ci.correct(IN_QUARANTINE.id, lesson("Invoices go to Maple."), "renamed")).card_id
    corrected = await before_decision(ci.store, new)
    await ci.reject(new, "nobody renamed it")
    assert (await take_back(ci, corrected)).supersedes == IN_QUARANTINE.id
    old = await kept(ci.store, IN_QUARANTINE.id)
    assert (old.superseded_by, old.history[-1].why) == (new, "undone, with the decision on another card")
    assert (await take_back(ci, replace(before, added=new))).superseded_by == ""
    with pytest.raises(CardNotFoundError):
        await kept(ci.store, new)


async def test_what_was_counted_since_stays_but_not_where_counts_began_anew() -> None:
    seen: dict[str, Any] = {
        "evidence": (CardEvidence(model="m", gained=4),),
        "observed": ("4e5f6071",),
        "trials": (replace(TRIAL, counts=(DrawCounts(shown=10, held_out=7),)),),
        "open_draws": (),
    }
    for act, card in BEGINS.items():
        if act == "reject":
            continue
        ci = await deciding(card)
        before = await before_decision(ci.store, card.id)
        await ci.decide(act, card.id, "so we agreed")
        await change_card(ci.store, card.id, lambda one: replace(one, **seen))
        back = await take_back(ci, before)
        assert {name: getattr(back, name) for name in seen} == (COUNTED if act == "quarantine" else seen)


async def test_a_benched_card_that_was_tried_again_is_benched_again() -> None:
    ci = await deciding(BENCHED)
    before = await before_decision(ci.store, BENCHED.id)
    again = await ci.quarantine(BENCHED.id, "another model")
    assert (again.trials[0].stage, again.history[-1].why) == ("waiting", "tried again: another model")
    assert (await take_back(ci, before)).trials == BENCHED.trials


async def test_nothing_is_undone_where_nothing_was_changed() -> None:
    ci = await deciding(IN_QUARANTINE)
    before = await before_decision(ci.store, IN_QUARANTINE.id)
    assert await take_back(ci, before) == IN_QUARANTINE


@pytest.mark.parametrize("by", ["trial", "replay", "rollback", "human"])
async def test_a_card_that_was_moved_since_stays_as_it_is(by: str) -> None:
    ci = await deciding(IN_QUARANTINE)
    before = await before_decision(ci.store, IN_QUARANTINE.id)
    promoted = await ci.promote(IN_QUARANTINE.id, "it helps")
    moved = move(promoted, MemoryStatus.ARCHIVED, note="it hurts", at=LATER, by=by)
    await ci.store.update(moved)
    with pytest.raises(ConfigError) as refused:
        await take_back(ci, before)
    said = f"card {moved.id!r} has been moved since by {by!r}; decide on it as it is now"
    assert (str(refused.value), await kept(ci.store, moved.id)) == (said, moved)


async def test_what_a_trial_moved_instead_stays_too() -> None:
    ci = await deciding(IN_QUARANTINE)
    before = await before_decision(ci.store, IN_QUARANTINE.id)
    await ci.store.update(move(IN_QUARANTINE, MemoryStatus.ARCHIVED, note="it hurts", at=LATER, by="trial"))
    with pytest.raises(ConfigError, match="has been moved since by 'trial'"):
        await take_back(ci, before)


async def test_a_wording_that_was_deleted_meanwhile_is_passed_over() -> None:
    gone, left = (replace(lesson(text), idea=IN_QUARANTINE.id, status=MemoryStatus.QUARANTINED) for text in ("A", "B"))
    ci = await deciding(IN_QUARANTINE, gone, left)
    before = await before_decision(ci.store, IN_QUARANTINE.id)
    await ci.archive(IN_QUARANTINE.id, "no use")
    await ci.store.delete([before.cards[1].id])
    assert (await take_back(ci, before)).status is MemoryStatus.QUARANTINED
    assert (await kept(ci.store, before.cards[2].id)).status is MemoryStatus.QUARANTINED
