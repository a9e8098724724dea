"""Taking a decision back: what it changed is as it was, what was counted since stays, and the history tells of it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from trying import HARBOUR, NOON, kept, lesson

from wisen import CardFilter, InMemoryVectorStore, MemoryCard, MemoryCI, MemoryStatus, Situation, VectorStore
from wisen.account.counts import Outcome, count_alone, settle
from wisen.cards import CardEvidence, Move, Provenance
from wisen.errors import CardNotFoundError, ConfigError
from wisen.memory_ci.changes import change_card
from wisen.memory_ci.decisions import Act
from wisen.memory_ci.ideas import still_there
from wisen.memory_ci.status import move
from wisen.memory_ci.undoing import Undoable, after_decision, before_decision, take_back
from wisen.trial_records import DrawCounts, OpenDraw, Trial, short_id

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


async def deciding(*cards: MemoryCard, store: VectorStore | None = None) -> MemoryCI:
    """Somebody who decides an hour after noon."""
    kept_in = store if store is not None else InMemoryVectorStore()
    assert {one.outcome for one in await kept_in.add_unscreened(cards)} == {"added"}
    return MemoryCI(kept_in, now=lambda: LATER)


async def decided(ci: MemoryCI, act: Act, card_id: str) -> Undoable:
    before = await before_decision(ci.store, card_id)
    await ci.decide(act, card_id, "so we agreed")
    return await after_decision(ci.store, before)


async def corrected(ci: MemoryCI, card_id: str, new: MemoryCard) -> Undoable:
    before = await before_decision(ci.store, card_id)
    return await after_decision(ci.store, before, await ci.correct(card_id, new, "renamed"))


def worded(text: str, head: MemoryCard, **more: Any) -> MemoryCard:
    """What runs taught in other words."""
    return replace(lesson(text), **{"idea": head.id, "status": head.status, **more})


def by_hand(text: str, run: str = "") -> MemoryCard:
    return replace(lesson(text), provenance=Provenance(created_by="human", run_id=run, created_at=NOON), id="")


def but_told(was: MemoryCard, now: MemoryCard) -> MemoryCard:
    """The card as it was, with the version and the history that it has now."""
    return replace(was, version=now.version, history=now.history)


@pytest.mark.parametrize("act", BEGINS)
async def test_the_card_is_as_it_was_and_its_history_tells_of_both(act: Act) -> None:
    card = BEGINS[act]
    ci = await deciding(card)
    made = await decided(ci, act, card.id)
    after = await kept(ci.store, card.id)
    back = await take_back(ci, made)
    (done, undone) = back.history
    assert done == after.history[-1]
    assert undone == Move(at=LATER, before=after.status, after=card.status, why=f"undone: {done.why}", by="human")
    assert back == replace(card, history=(done, undone), version=3)
    assert await kept(ci.store, card.id) == back


async def test_a_decision_is_on_the_idea_first_its_wordings_and_what_they_correct() -> None:
    head = replace(IN_QUARANTINE, supersedes="nobody")
    wording = replace(lesson("In other words."), idea=head.id, status=MemoryStatus.QUARANTINED)
    old, another = (replace(lesson(f"{text}."), superseded_by=by.id) for text, by in (("A", head), ("B", wording)))
    apart = replace(lesson("Something else."), superseded_by="another")
    ci = await deciding(old, another, head, wording, apart)
    for named in (head, wording):
        before = await before_decision(ci.store, named.id)
        assert (before.card_id, before.cards[:2]) == (named.id, (head, wording))
        assert {one.id for one in before.cards[2:]} == {old.id, another.id}
        assert len(before.cards) == 4


async def test_wordings_go_back_with_their_idea_and_say_so() -> None:
    wording = replace(lesson("In other words."), idea=IN_QUARANTINE.id, status=MemoryStatus.QUARANTINED)
    ci = await deciding(IN_QUARANTINE, wording)
    back = await take_back(ci, await decided(ci, "promote", wording.id))
    assert (back.id, back.status) == (wording.id, MemoryStatus.QUARANTINED)
    followed = f"as {IN_QUARANTINE.id}, which says the same: so we agreed"
    assert [(one.why, one.by) for one in back.history] == [(followed, "idea"), (f"undone: {followed}", "human")]


async def test_rivals_that_a_promotion_archived_go_back_with_their_wordings() -> None:
    rival = replace(lesson("Invoices go to Maple."), status=MemoryStatus.QUARANTINED, **COUNTED)
    wording = worded("To Maple.", rival)
    card = replace(IN_QUARANTINE, rivals=(rival.id, "gone"))
    ci = await deciding(card, rival, wording)
    made = await decided(ci, "promote", card.id)
    assert [one.status for one in await ci.store.get([rival.id, wording.id])] == ["archived", "archived"]
    await take_back(ci, made)
    for was in (card, rival, wording):
        now = await kept(ci.store, was.id)
        done, undone = now.history
        assert now == but_told(was, now)
        assert undone.why == f"undone: {done.why}"


async def test_what_holds_again_by_a_rejection_is_corrected_again_and_a_correction_goes() -> None:
    ci = await deciding(IN_QUARANTINE)
    made = await corrected(ci, IN_QUARANTINE.id, lesson("Invoices go to Maple."))
    new = (await kept(ci.store, IN_QUARANTINE.id)).superseded_by
    again = await take_back(ci, await decided(ci, "reject", new))
    assert again.supersedes == IN_QUARANTINE.id
    old = await kept(ci.store, IN_QUARANTINE.id)
    assert (old.superseded_by, old.history[-1].why) == (new, "undone, with the decision on another card")
    ci = await deciding(IN_QUARANTINE)
    made = await corrected(ci, IN_QUARANTINE.id, lesson("Invoices go to Maple."))
    assert (await take_back(ci, made)).superseded_by == ""
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
        made = await decided(ci, act, card.id)
        await change_card(ci.store, card.id, lambda one: replace(one, **seen))
        back = await take_back(ci, made)
        assert {name: getattr(back, name) for name in seen} == (COUNTED if act == "quarantine" else seen)


IN_FLIGHT = tuple(
    OpenDraw(id=f"{number:024x}"[::-1], at=LATER, model="m", layout="l", propensity=0.6) for number in range(1, 100)
)


async def told(ci: MemoryCI, draw: OpenDraw, *, good: bool | None, with_rule: bool = True) -> int:
    """How many ideas a run's outcome is counted on."""
    draws, outcome = {IN_QUARANTINE.id: draw.id}, Outcome(good=good)
    if with_rule:
        return len((await settle(ci, draws, outcome, at=LATER)).counted)
    return len((await count_alone(ci.store, draws, outcome, at=LATER)).counted)


@pytest.mark.parametrize("with_rule", [True, False])
@pytest.mark.parametrize("act", ["quarantine", "reject"])
async def test_draws_whose_outcome_came_meanwhile_wait_for_it_no_more(
    any_store: VectorStore, act: Act, with_rule: bool
) -> None:
    came, unknown, waits = IN_FLIGHT[:3]
    ci = await deciding(replace(BEGINS[act], open_draws=IN_FLIGHT[:3]), store=any_store)
    made = await decided(ci, act, IN_QUARANTINE.id)
    for _ in range(2):
        assert await told(ci, came, good=True, with_rule=with_rule) == 0
    assert await told(ci, unknown, good=None, with_rule=with_rule) == 0
    assert (await kept(any_store, IN_QUARANTINE.id)).observed == (short_id(came.id),)
    assert (await take_back(ci, made)).open_draws == (unknown, waits)
    for one, counted in ((came, 0), (unknown, 1), (waits, 1)):
        assert await told(ci, one, good=True, with_rule=with_rule) == counted
    (trial,) = (await kept(any_store, IN_QUARANTINE.id)).trials
    assert [(one.propensity, one.shown, one.shown_good) for one in trial.counts] == [(0.5, 9, 0), (0.6, 2, 2)]


@pytest.mark.parametrize("many", [63, 64])
async def test_where_more_came_than_are_remembered_no_draw_waits(many: int) -> None:
    ci = await deciding(replace(BEGINS["quarantine"], open_draws=IN_FLIGHT))
    made = await decided(ci, "quarantine", IN_QUARANTINE.id)
    for one in IN_FLIGHT[:many]:
        await told(ci, one, good=True)
    left = IN_FLIGHT[many:] if many == 63 else ()
    assert (await take_back(ci, made)).open_draws == left


async def test_a_benched_card_that_was_tried_again_is_benched_again() -> None:
    ci = await deciding(BENCHED)
    made = await decided(ci, "quarantine", BENCHED.id)
    again = await kept(ci.store, BENCHED.id)
    assert (again.trials[0].stage, again.history[-1].why) == ("waiting", "tried again: so we agreed")
    assert (await take_back(ci, made)).trials == BENCHED.trials


async def test_nothing_is_undone_where_nothing_was_changed() -> None:
    ci = await deciding(IN_QUARANTINE)
    made = await after_decision(ci.store, await before_decision(ci.store, IN_QUARANTINE.id))
    assert await take_back(ci, made) == IN_QUARANTINE


@pytest.mark.parametrize("by", ["trial", "replay", "rollback", "human"])
async def test_a_card_that_was_moved_since_stays_as_it_is(by: str) -> None:
    ci = await deciding(IN_QUARANTINE)
    made = await decided(ci, "promote", IN_QUARANTINE.id)
    moved = move(await kept(ci.store, IN_QUARANTINE.id), MemoryStatus.ARCHIVED, note="it hurts", at=LATER, by=by)
    await ci.store.update(moved)
    with pytest.raises(ConfigError) as refused:
        await take_back(ci, made)
    said = f"card {moved.id!r} has been moved since by {by!r}; decide on it as it is now"
    assert (str(refused.value), await kept(ci.store, moved.id)) == (said, moved)


async def test_what_a_trial_moved_instead_stays_too() -> None:
    ci = await deciding(IN_QUARANTINE)
    before = await before_decision(ci.store, IN_QUARANTINE.id)
    await ci.store.update(move(IN_QUARANTINE, MemoryStatus.ARCHIVED, note="it hurts", at=LATER, by="trial"))
    made = await after_decision(ci.store, before)
    with pytest.raises(ConfigError, match="has been moved since by 'trial'"):
        await take_back(ci, made)


async def test_a_wording_that_was_deleted_meanwhile_is_passed_over() -> None:
    gone, left = worded("A", IN_QUARANTINE), worded("B", IN_QUARANTINE)
    ci = await deciding(IN_QUARANTINE, gone, left)
    made = await decided(ci, "archive", IN_QUARANTINE.id)
    await ci.store.delete([gone.id])
    assert (await take_back(ci, made)).status is MemoryStatus.QUARANTINED
    assert (await kept(ci.store, left.id)).status is MemoryStatus.QUARANTINED


async def test_where_the_idea_is_gone_nothing_is_undone(any_store: VectorStore) -> None:
    wording = worded("In other words.", IN_QUARANTINE)
    ci = await deciding(IN_QUARANTINE, wording, store=any_store)
    made = await decided(ci, "archive", wording.id)
    await any_store.delete([IN_QUARANTINE.id])
    with pytest.raises(CardNotFoundError):
        await take_back(ci, made)
    assert (await kept(any_store, wording.id)).status is MemoryStatus.ARCHIVED


async def test_a_correction_that_was_stored_before_stays_as_it_was(any_store: VectorStore) -> None:
    ci = await deciding(
        IN_QUARANTINE, other := replace(lesson("Call Ada."), status=MemoryStatus.QUARANTINED), store=any_store
    )
    known = (await ci.submit(said := by_hand("Only the treasury decides."))).card_id
    await ci.promote(known, "checked")
    for old, text in ((IN_QUARANTINE, said), (other, by_hand("Only the treasury decides.", run="told again"))):
        was = await kept(any_store, known)
        made = await corrected(ci, old.id, text)
        assert ((await kept(any_store, old.id)).superseded_by, made.written) == (known, [])
        back = await take_back(ci, made)
        assert back == but_told(old, back)
        now = await kept(any_store, known)
        assert replace(now, duplicates=was.duplicates) == but_told(was, now), "what is counted stays counted"


async def test_one_correction_of_two_ideas_is_taken_back_for_the_second_alone(any_store: VectorStore) -> None:
    ci = await deciding(
        IN_QUARANTINE, other := replace(lesson("Call Ada."), status=MemoryStatus.QUARANTINED), store=any_store
    )
    await corrected(ci, IN_QUARANTINE.id, by_hand("Only the treasury decides."))
    new = (await kept(any_store, IN_QUARANTINE.id)).superseded_by
    await take_back(ci, await corrected(ci, other.id, by_hand("Only the treasury decides.")))
    now = [await kept(any_store, one) for one in (IN_QUARANTINE.id, other.id, new)]
    assert [(one.superseded_by, one.supersedes) for one in now] == [(new, ""), ("", ""), ("", IN_QUARANTINE.id)]


async def test_a_correction_that_is_corrected_back_is_so_no_more(any_store: VectorStore) -> None:
    first = (await (ci := await deciding(IN_QUARANTINE, store=any_store)).submit(by_hand("Call Ada."))).card_id
    await corrected(ci, first, by_hand("Call Berta."))
    second = (was := await kept(any_store, first)).superseded_by
    await take_back(ci, await corrected(ci, second, by_hand("Call Ada.")))
    now = await kept(any_store, first)
    assert now == but_told(was, now)
    assert (await kept(any_store, second)).superseded_by == ""


async def test_what_runs_said_in_place_of_a_correction_is_their_own_idea_without_it(any_store: VectorStore) -> None:
    ci = await deciding(IN_QUARANTINE, store=any_store)
    made = await corrected(ci, IN_QUARANTINE.id, by_hand("Invoices go to Maple."))
    new = await kept(any_store, (await kept(any_store, IN_QUARANTINE.id)).superseded_by)
    first, second = worded("To Maple.", new, supersedes=""), worded("To Maple, always.", new, supersedes="")
    await any_store.add_unscreened([first, second])
    await take_back(ci, made)
    ideas = {one: (await kept(any_store, one)).idea for one in (first.id, second.id)}
    assert sorted(ideas.values()) == sorted(["", next(one for one, idea in ideas.items() if not idea)])


async def test_what_a_run_says_just_when_a_correction_goes_is_an_idea_of_its_own() -> None:
    class Late(InMemoryVectorStore):
        """A run puts a card in other words just before that is deleted."""

        async def delete(self, card_ids: Sequence[str]) -> int:
            for card in await still_there(self, card_ids):
                await self.add_unscreened([worded("To Maple.", card)])
            return await super().delete(card_ids)

    ci = await deciding(IN_QUARANTINE, store=Late())
    await take_back(ci, await corrected(ci, IN_QUARANTINE.id, by_hand("Invoices go to Maple.")))
    told = {one.text: one.idea for one in await ci.store.list(CardFilter())}
    assert told == {IN_QUARANTINE.text: "", "To Maple.": ""}


@pytest.mark.parametrize("act", ["promote", "pin", "archive", "reject"])
async def test_a_correction_on_which_somebody_has_decided_stays(any_store: VectorStore, act: Act) -> None:
    ci = await deciding(IN_QUARANTINE, store=any_store)
    made = await corrected(ci, IN_QUARANTINE.id, by_hand("Invoices go to Maple."))
    ids = [IN_QUARANTINE.id, (await kept(any_store, IN_QUARANTINE.id)).superseded_by]
    await ci.decide(act, ids[1], "checked")
    now = await any_store.get(ids)
    with pytest.raises(ConfigError, match=r"has been (moved since by 'human'|changed since); decide on it"):
        await take_back(ci, made)
    assert await any_store.get(ids) == now


@pytest.mark.parametrize("corrects", [True, False])
async def test_a_correction_that_somebody_else_has_made_too_stays(any_store: VectorStore, corrects: bool) -> None:
    ci = await deciding(
        IN_QUARANTINE, other := replace(lesson("Call Ada."), status=MemoryStatus.QUARANTINED), store=any_store
    )
    made = await corrected(ci, IN_QUARANTINE.id, by_hand("Invoices go to Maple."))
    told = by_hand("Invoices go to Maple.", run="another")
    await (ci.correct(other.id, told, "so") if corrects else ci.submit(told))
    with pytest.raises(ConfigError, match="has been changed since; decide on it as it is now"):
        await take_back(ci, made)


@pytest.mark.parametrize(
    ("new", "told", "rivals"),
    [(replace(by_hand(HARBOUR), situation=Situation(prompt="Sum.")), 1, 0), (by_hand("Invoices go to Maple."), 0, 1)],
)
async def test_without_the_correction_its_idea_and_its_rivals_are_as_they_were(
    any_store: VectorStore, new: MemoryCard, told: int, rivals: int
) -> None:
    ci = MemoryCI(any_store, now=lambda: LATER)
    first, old = [(await ci.submit(lesson(text))).card_id for text in (HARBOUR, "Call Ada.")]
    made = await corrected(ci, old, new)
    card = await kept(any_store, first)
    assert (card.retold, len(card.rivals)) == (told, rivals)
    await take_back(ci, made)
    card = await kept(any_store, first)
    assert (card.retold, card.rivals) == (0, ())


async def test_what_was_corrected_meanwhile_is_not_undone(any_store: VectorStore) -> None:
    ci = await deciding(IN_QUARANTINE, store=any_store)
    made = await decided(ci, "archive", IN_QUARANTINE.id)
    await corrected(ci, IN_QUARANTINE.id, by_hand("Invoices go to Maple."))
    with pytest.raises(ConfigError, match="has been changed since"):
        await take_back(ci, made)


async def test_what_the_decision_left_alone_may_be_moved_meanwhile() -> None:
    wording = worded("In other words.", IN_QUARANTINE)
    ci = await deciding(IN_QUARANTINE, wording)
    made = await decided(ci, "pin", IN_QUARANTINE.id)
    moved = move(await kept(ci.store, wording.id), MemoryStatus.ARCHIVED, note="it hurts", at=LATER, by="trial")
    await ci.store.update(moved)
    assert not (await take_back(ci, made)).pinned
    assert await kept(ci.store, wording.id) == moved


@pytest.mark.parametrize("act", ["promote", "archive"])
async def test_a_wording_that_came_since_follows_its_idea_back(any_store: VectorStore, act: Act) -> None:
    ci = await deciding(IN_QUARANTINE, store=any_store)
    made = await decided(ci, act, IN_QUARANTINE.id)
    came = worded("In other words.", after := await kept(any_store, IN_QUARANTINE.id), note="", trials=())
    withdrawn = worded("Withdrawn.", IN_QUARANTINE, status=MemoryStatus.REJECTED)
    await any_store.add_unscreened([came, withdrawn])
    await take_back(ci, made)
    now = await kept(any_store, came.id)
    why = f"another wording of {IN_QUARANTINE.id}, which is quarantined"
    assert now.history == (Move(at=LATER, before=after.status, after=MemoryStatus.QUARANTINED, why=why, by="idea"),)
    assert (now.status, now.idea, await kept(any_store, withdrawn.id)) == (
        MemoryStatus.QUARANTINED,
        IN_QUARANTINE.id,
        withdrawn,
    )


async def test_a_wording_that_came_since_is_corrected_as_its_idea_is() -> None:
    ci = await deciding(IN_QUARANTINE)
    made = await corrected(ci, IN_QUARANTINE.id, by_hand("Invoices go to Maple."))
    new = (await kept(ci.store, IN_QUARANTINE.id)).superseded_by
    hidden = worded("A", IN_QUARANTINE, superseded_by=new)
    other = worded("B", IN_QUARANTINE, superseded_by="another")
    await ci.store.add_unscreened([hidden, other])
    await take_back(ci, made)
    assert [(await kept(ci.store, one.id)).superseded_by for one in (hidden, other)] == ["", "another"]


async def test_a_card_that_is_moved_while_others_go_back_stays() -> None:
    wording = worded("In other words.", IN_QUARANTINE)

    class Moving(InMemoryVectorStore):
        """A trial archives the idea as soon as its wording is back."""

        async def update(self, card: MemoryCard) -> None:
            await super().update(card)
            if card.id == wording.id and card.history[-1].why.startswith("undone"):
                head = await kept(self, IN_QUARANTINE.id)
                await super().update(move(head, MemoryStatus.ARCHIVED, note="it hurts", at=LATER, by="trial"))

    ci = await deciding(IN_QUARANTINE, wording, store=Moving())
    assert (await take_back(ci, await decided(ci, "promote", wording.id))).status is MemoryStatus.QUARANTINED
    head = await kept(ci.store, IN_QUARANTINE.id)
    assert (head.status, head.history[-1].by) == (MemoryStatus.ARCHIVED, "trial")
