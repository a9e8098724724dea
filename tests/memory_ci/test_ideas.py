"""What becomes of ideas: wordings stay together, rivals face each other, and what was discarded supports nothing."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from trying import COIN, HARBOUR, NOON, Meaning, drawing, drawn, found, keeper, kept, lesson, tried

from wisen import InMemoryVectorStore, MemoryCard, MemoryCI, MemoryStatus, Situation, VectorStore
from wisen.account.draws import Draws
from wisen.advice.compiler import PromptCompiler
from wisen.events import CardMoved
from wisen.memory_ci.changes import change_card
from wisen.memory_ci.decisions import Act
from wisen.memory_ci.rollback import Origin, rollback
from wisen.trial_records import DrawCounts, Stage, Trial

pytestmark = pytest.mark.anyio

BILLS = "Bills: hand each of them over to the Harbour team."
FORWARD = "Forward any bill you get to the people at Harbour."
MAPLE = "Invoices go to Maple."
LATER = datetime(2026, 5, 1, tzinfo=UTC)


def knowing() -> MemoryCI:
    return keeper(InMemoryVectorStore(embedder=Meaning(("invoice", "bill"), ("parcel", "package"))), rule=COIN)


async def ids(ci: MemoryCI, *texts: str, **more: object) -> list[str]:
    return [(await ci.submit(lesson(text, **more))).card_id for text in texts]  # type: ignore[arg-type]


async def statuses(ci: MemoryCI, cards: Sequence[str]) -> set[MemoryStatus]:
    return {one.status for one in await ci.store.get(list(cards))}


class TestTheSame:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("8+2 is what is asked.", "8-2 is what is asked."),
            ("Write it in C++.", "Write it in C#."),
            ("It costs $5.", "It costs €5."),
            ("Always ask first.", "Never ask first."),
            ("Do retry the call.", "Do not retry the call."),
            ("Refund up to 500 euros.", "Refund up to 50 euros."),
            ("Write dates as DD.MM.YYYY.", "Write dates as MM.DD.YYYY."),
            ("VAT is 25 percent.", "VAT is 12 percent."),
        ],
    )
    async def test_what_differs_in_content_is_kept(self, any_store: VectorStore, one: str, other: str) -> None:
        ci = MemoryCI(any_store)
        first = await ci.submit(lesson(one))
        second = await ci.submit(lesson(other))
        assert (first.outcome, second.outcome) == ("added", "added")
        assert second.idea == second.card_id, "nor is it another wording"
        assert {card.duplicates for card in await any_store.get([first.card_id, second.card_id])} == {0}

    async def test_what_says_the_same_is_counted(self, any_store: VectorStore) -> None:
        ci = MemoryCI(any_store)
        first = await ci.submit(lesson("8+2 is what is asked."))
        for number, text in enumerate(("8+2 is what is asked", "8+2  IS what is asked!", "“8+2 is what is asked.”")):
            again = await ci.submit(lesson(text, run=str(number)))
            assert (again.outcome, again.card_id) == ("duplicate", first.card_id)
        assert (await kept(any_store, first.card_id)).duplicates == 3

    async def test_evidence_survives_re_teaching_and_another_judge(self, any_store: VectorStore) -> None:
        ci = keeper(any_store, rule=COIN)
        (card_id,) = await ids(ci, HARBOUR)
        await tried(ci, with_it=0.6, without=0.5, runs=5)
        before = (await kept(any_store, card_id)).trials
        assert before[0].runs == 5
        for number, verified in enumerate((True, False)):
            await ci.submit(lesson(HARBOUR, run=f"again {number}", verified=verified, evaluator=f"judge {number}"))
        card = await kept(any_store, card_id)
        assert (card.trials, card.duplicates, card.provenance.verified) == (before, 2, True)


class TestWordings:
    async def test_wordings_are_one_idea_where_the_embedder_knows_meaning(self) -> None:
        ci = knowing()
        head, *others = await ids(ci, HARBOUR, BILLS, FORWARD)
        assert {(await kept(ci.store, one)).idea for one in others} == {head}
        assert (await kept(ci.store, head)).retold == 2
        plain = keeper(InMemoryVectorStore())
        assert {(await kept(plain.store, one)).idea for one in await ids(plain, HARBOUR, BILLS, FORWARD)} == {""}

    async def test_the_same_words_of_another_situation_are_the_same_idea(self, any_store: VectorStore) -> None:
        ci = MemoryCI(any_store)
        first = await ci.submit(lesson(HARBOUR))
        other = await ci.submit(lesson(HARBOUR, "Whom does this letter concern?"))
        assert (other.outcome, other.idea) == ("added", first.card_id)

    @pytest.mark.parametrize("named", [0, 1, 2])
    async def test_a_persons_word_on_one_wording_is_on_the_idea(self, named: int) -> None:
        ci = knowing()
        cards = await ids(ci, HARBOUR, BILLS, FORWARD)
        for act, status in (
            (ci.promote, MemoryStatus.PROMOTED),
            (ci.archive, MemoryStatus.ARCHIVED),
            (ci.quarantine, MemoryStatus.QUARANTINED),
            (ci.reject, MemoryStatus.REJECTED),
        ):
            assert (await act(cards[named], "so we decided")).id == cards[named]
            assert await statuses(ci, cards) == {status}
        assert {card.text for card in await ci.store.get(cards)} == {""}
        for number, text in enumerate((HARBOUR, BILLS, FORWARD)):
            assert (await ci.submit(lesson(text, "Another task.", run=f"again {number}"))).outcome == "rejected"

    async def test_an_archived_idea_that_is_taught_again_stays_out(self) -> None:
        ci = knowing()
        (head,) = await ids(ci, HARBOUR)
        await ci.archive(head, "it hurts")
        done = await ci.submit(lesson(BILLS))
        assert (done.outcome, done.idea) == ("added", head)
        assert (await kept(ci.store, done.card_id)).status is MemoryStatus.ARCHIVED
        assert [one.by for one in (await kept(ci.store, done.card_id)).history] == ["screen", "idea"]
        assert await found(ci) == []

    async def test_a_correction_supersedes_all_wordings(self) -> None:
        ci = knowing()
        cards = await ids(ci, HARBOUR, BILLS, FORWARD)
        done = await ci.correct(cards[1], lesson(MAPLE), "the teams were renamed")
        assert {card.superseded_by for card in await ci.store.get(cards)} == {done.card_id}
        assert [one.hit.card.id for one in await found(ci)] == [done.card_id]
        for number, text in enumerate((HARBOUR, BILLS, FORWARD)):
            assert (await ci.submit(lesson(text, run=f"again {number}"))).outcome == "duplicate"
        assert [one.hit.card.id for one in await found(ci)] == [done.card_id]
        await ci.reject(done.card_id, "nobody renamed them")
        assert {card.superseded_by for card in await ci.store.get(cards)} == {""}

    async def test_a_correction_holds_for_wordings_that_it_has_not_reached_yet(self) -> None:
        ci = knowing()
        head, other = await ids(ci, HARBOUR, BILLS)
        done = await ci.correct(head, lesson(MAPLE), "the teams were renamed")
        await change_card(ci.store, other, lambda card: replace(card, superseded_by=""))
        assert [one.hit.card.id for one in await found(ci)] == [done.card_id]
        await ci.archive(done.card_id, "wrong as well")
        assert await found(ci) == []

    @pytest.mark.parametrize("status", ["quarantined", "promoted"])
    async def test_a_rollback_of_the_head_leaves_its_other_wordings_standing(self, status: str) -> None:
        ci = knowing()
        head, second, third = await ids(ci, HARBOUR, BILLS, FORWARD)
        await tried(ci, with_it=0.6, without=0.5, runs=4)
        if status == "promoted":
            await ci.promote(head, "it helps")
        await rollback(ci.store, Origin(run_id=f"taught {HARBOUR}"))
        gone, new, other = await ci.store.get([head, second, third])
        assert gone.status is MemoryStatus.REJECTED
        assert (new.status, other.status) == (MemoryStatus.QUARANTINED, MemoryStatus.QUARANTINED)
        assert {new.idea, other.idea} in ({"", second}, {"", third})
        assert [one.trials for one in (new, other)] == [(), ()], "its evidence is gone"
        (one,) = await found(ci)
        assert one.head.id in (second, third)

    async def test_a_rollback_of_a_wording_leaves_the_idea(self) -> None:
        ci = knowing()
        head, second = await ids(ci, HARBOUR, BILLS)
        await tried(ci, with_it=0.6, without=0.5, runs=4)
        await rollback(ci.store, Origin(run_id=f"taught {BILLS}"))
        first, gone = await ci.store.get([head, second])
        assert (first.status, gone.status) == (MemoryStatus.QUARANTINED, MemoryStatus.REJECTED)
        assert first.trials[0].runs == 4


class TestRivals:
    async def rivals(self, *acts: Act, verified: bool = True, ci: MemoryCI | None = None) -> tuple[MemoryCI, str, str]:
        """An idea, on which a person decides, and one of two months later that can't be right beside it."""
        ci = ci or knowing()
        old = await ci.submit(lesson(HARBOUR, verified=True, created_at=LATER - timedelta(days=60)))
        for act in acts:
            await ci.decide(act, old.card_id, "it is so")
        new = await ci.submit(lesson(MAPLE, verified=verified, created_at=LATER))
        assert (new.outcome, new.rivals) == ("added", (old.card_id,))
        cards = await ci.store.get([old.card_id, new.card_id])
        assert [card.rivals for card in cards] == [(new.card_id,), (old.card_id,)]
        return ci, old.card_id, new.card_id

    async def test_the_newer_one_with_a_verified_source_is_tried_first(self) -> None:
        ci, old, new = await self.rivals()
        parts = await drawing(ci).with_draws(await found(ci), first=True)
        assert {one.card.id: one.barred for one in parts} == {old: f"its newer rival {new} is tried first", new: ""}

    async def test_it_is_shown_wherever_the_other_one_would_be(self) -> None:
        """Also where only the old one fits the task."""
        ci, old, new = await self.rivals()
        await change_card(ci.store, new, lambda card: replace(card, situation=replace(card.situation, prompt="x")))
        (only,) = [one for one in await found(ci) if one.head.id == old]
        advice = await drawing(ci).with_draws([only], first=True)
        assert [one.card.id for one in advice if not one.barred] == [new]
        assert f"rival of card {old}" in advice[0].injection.reasons

    @pytest.mark.parametrize("good", [4, 12])
    async def test_what_is_ahead_on_trial_is_not_put_back_by_what_is_said_later(self, good: int) -> None:
        ci, old, new = await self.rivals()
        counts = DrawCounts(propensity=0.5, shown=15, shown_good=good, held_out=15, held_out_good=3)
        trial = Trial(model="m", layout="episodes-as-turns", number=1, stage="on trial", counts=(counts,))
        await change_card(ci.store, old, lambda card: replace(card, trials=(trial,)))
        parts = await drawing(ci).with_draws(await found(ci), first=True)
        barred = next(one.barred for one in parts if one.card.id == old)
        assert barred == ("" if good == 12 else f"its newer rival {new} is tried first")

    async def test_what_a_trial_has_promoted_stays_in_use_beside_a_newer_rival(self) -> None:
        ci, old, _ = await self.rivals("promote")
        parts = await drawing(ci).with_draws(await found(ci), first=True)
        assert [one.barred for one in parts if one.card.id == old] == [""]

    async def test_without_a_verified_source_both_are_tried_and_shown_as_rivals(self) -> None:
        ci, old, new = await self.rivals(verified=False)
        while True:
            draws: Draws = drawing(ci)
            parts = await draws.with_draws(await found(ci), first=True)
            if all(one.injection.shown for one in parts):
                break
        assert {one.card.id: one.barred for one in parts} == {old: "", new: ""}
        section = PromptCompiler().compile(parts).section
        assert section.count("(Another note here says otherwise. At most one of them is right.)") == 2

    async def decided(self, ci: MemoryCI, winner: str) -> list[CardMoved]:
        """The winner's trial has all but ended, and ends; the moves that came of it."""
        counts = DrawCounts(propensity=0.5, shown=30, shown_good=29, held_out=30, held_out_good=3)
        trial = Trial(
            model="m",
            layout="episodes-as-turns",
            number=await ci.numbers.of(winner),
            stage="on trial",
            counts=(counts,),
        )
        await change_card(ci.store, winner, lambda card: replace(card, trials=(trial,)))
        moved = await tried(ci, with_it=1.0, without=0.0, runs=4)
        assert ("promoted", winner) in [(one.after, one.card_id) for one in moved]
        return moved

    async def test_the_rival_of_one_that_is_promoted_is_archived(self) -> None:
        ci, old, new = await self.rivals()
        await self.decided(ci, new)
        lost, won = await ci.store.get([old, new])
        assert (lost.status, won.status) == (MemoryStatus.ARCHIVED, MemoryStatus.PROMOTED)
        assert (lost.history[-1].by, lost.note) == ("trial", f"its rival {new} is promoted, and both can't be right")

    async def test_what_becomes_of_the_rival_is_told_and_its_wordings_follow(self) -> None:
        ci, old, new = await self.rivals()
        wording = await ci.submit(lesson(HARBOUR, "Whom does this letter concern?", verified=True))
        moved = await self.decided(ci, new)
        (told,) = [one for one in moved if one.card_id == old]
        lost, other = await ci.store.get([old, wording.card_id])
        assert (told.before, told.after, told.why, told.by) == ("quarantined", "archived", lost.note, "trial")
        assert (other.status, other.history[-1].at, lost.history[-1].at) == (MemoryStatus.ARCHIVED, NOON, NOON)

    async def test_the_one_that_a_trial_had_promoted_gives_way_too(self) -> None:
        ci, old, new = await self.rivals("promote")

        def by_trial(card: MemoryCard) -> MemoryCard:
            *before, last = card.history
            return replace(card, history=(*before, replace(last, by="trial")))

        await change_card(ci.store, old, by_trial)
        await self.decided(ci, new)
        assert (await kept(ci.store, old)).status is MemoryStatus.ARCHIVED

    async def test_so_does_one_that_a_person_put_on_trial_again_and_one_without_a_history(self) -> None:
        for history in (True, False):
            ci, old, new = await self.rivals()
            await ci.archive(old, "no")
            await ci.quarantine(old, "once more")
            if not history:
                await change_card(ci.store, old, lambda card: replace(card, history=()))
            await self.decided(ci, new)
            assert (await kept(ci.store, old)).status is MemoryStatus.ARCHIVED

    async def test_a_rival_that_is_gone_is_passed_over(self) -> None:
        ci, old, new = await self.rivals()
        await ci.store.delete([old])
        assert [one.card_id for one in await self.decided(ci, new)] == [new]

    @pytest.mark.parametrize("act", ["pin", "promote"])
    async def test_what_a_person_has_decided_stays(self, act: Act) -> None:
        ci, old, new = await self.rivals(act)
        before = (await kept(ci.store, old)).status
        await self.decided(ci, new)
        assert (await kept(ci.store, old)).status is before

    async def test_the_rival_of_one_that_a_person_promotes_is_archived_with_its_wordings(self) -> None:
        ci, old, new = await self.rivals()
        wording = await ci.submit(lesson(HARBOUR, "Whom does this letter concern?", verified=True))
        await ci.promote(new, "we asked")
        lost, other, won = await ci.store.get([old, wording.card_id, new])
        assert (lost.status, other.status, won.status) == ("archived", "archived", "promoted")
        assert (lost.history[-1].by, lost.note) == ("human", f"its rival {new} is promoted, and both can't be right")

    @pytest.mark.parametrize("act", ["pin", "promote"])
    async def test_a_person_who_promotes_leaves_what_a_person_has_chosen_before(self, act: Act) -> None:
        ci, old, new = await self.rivals(act)
        before = (await kept(ci.store, old)).status
        await ci.promote(new, "we asked")
        assert [one.status for one in await ci.store.get([old, new])] == [before, "promoted"]

    @pytest.mark.parametrize("act", ["archive", "reject"])
    async def test_a_person_may_promote_beside_what_is_shown_no_more(self, act: Act) -> None:
        ci, old, new = await self.rivals()
        await ci.decide(act, old, "it is wrong")
        before = await kept(ci.store, old)
        assert (await ci.promote(new, "we asked")).status is MemoryStatus.PROMOTED
        assert await kept(ci.store, old) == before

    @pytest.mark.parametrize(("prompt", "good"), [("Route ticket 7.", 12), ("Route ticket 7.", 4), ("", 12)])
    async def test_a_person_who_promotes_leaves_what_is_ahead_in_other_tasks(self, prompt: str, good: int) -> None:
        ci, old, new = await self.rivals()
        counts = DrawCounts(propensity=0.5, shown=15, shown_good=good, held_out=15, held_out_good=3)
        trial = Trial(model="m", layout="episodes-as-turns", number=1, stage="on trial", counts=(counts,))
        await change_card(ci.store, old, lambda card: replace(card, trials=(trial,)))
        if prompt:
            await change_card(ci.store, old, lambda card: replace(card, situation=Situation(prompt=prompt)))
        await ci.promote(new, "we asked")
        stays = bool(prompt) and good == 12
        assert (await kept(ci.store, old)).status == ("quarantined" if stays else "archived")

    async def test_a_person_who_promotes_a_second_wording_archives_no_rival_again(self) -> None:
        ci, old, new = await self.rivals()
        await ci.promote(new, "we asked")
        await ci.quarantine(old, "it may be right elsewhere")
        held = await ci.submit(lesson(MAPLE, "Whom does this letter concern?", verified=True))
        await change_card(
            ci.store, held.card_id, lambda card: replace(card, status=MemoryStatus.QUARANTINED, held=("maple",))
        )
        await ci.promote(held.card_id, "we read it")
        assert (await kept(ci.store, old)).status is MemoryStatus.QUARANTINED

    async def test_a_pinned_one_in_use_is_not_put_behind_its_newer_rival(self) -> None:
        ci, old, _ = await self.rivals()
        await ci.promote(old, "it is so")
        await ci.pin(old, "it is so")
        parts = await drawing(ci).with_draws(await found(ci), first=True)
        assert next(one.barred for one in parts if one.card.id == old) == ""

    async def test_nor_behind_one_that_its_trial_has_promoted(self) -> None:
        ci, old, new = await self.rivals("promote", "pin")
        await ci.promote(new, "its trial said so")
        parts = await drawing(ci).with_draws(await found(ci), first=True)
        assert next(one.barred for one in parts if one.card.id == old) == ""

    async def test_a_discarded_rival_supports_nothing_and_stands_behind_nobody(self) -> None:
        ci, old, new = await self.rivals()
        await ci.archive(new, "wrong")
        (one,) = (await drawn(drawing(ci))).injections
        assert one.idea == old
        assert (await kept(ci.store, old)).duplicates == 0

    async def test_texts_that_name_the_case_they_are_for_are_no_rivals(self) -> None:
        ci = knowing()
        await ci.submit(lesson("Invoices of customer 7 go to Harbour.", "Route the ticket of customer 7."))
        done = await ci.submit(lesson("Invoices of customer 8 go to Maple.", "Route the ticket of customer 8."))
        assert (done.outcome, done.rivals) == ("added", ())

    async def cases(self) -> tuple[MemoryCI, str, str]:
        """Rivals that were learned from tasks with other numbers, which they don't name themselves."""
        ci = knowing()
        early = LATER - timedelta(days=60)
        old = await ci.submit(lesson(HARBOUR, "Route the ticket of customer 7.", verified=True, created_at=early))
        new = await ci.submit(lesson(MAPLE, "Route the ticket of customer 8.", verified=True, created_at=LATER))
        assert new.rivals == (old.card_id,)
        return ci, old.card_id, new.card_id

    async def test_a_correction_is_tried_first_in_tasks_with_other_numbers(self) -> None:
        ci, old, new = await self.cases()
        for customer in (8, 9):
            parts = await drawing(ci).with_draws(
                await found(ci, f"Route the ticket of customer {customer}."), first=True
            )
            assert {one.card.id: one.barred for one in parts} == {old: f"its newer rival {new} is tried first", new: ""}

    async def test_where_the_old_one_was_learned_both_are_shown_or_neither(self) -> None:
        ci, old, new = await self.cases()
        seen = set[tuple[bool, bool]]()
        for _ in range(40):
            parts = await drawing(ci).with_draws(await found(ci, "Route the ticket of customer 7."), first=True)
            assert [one.card.id for one in parts] == [old, new]
            assert parts[0].injection.draw == "", "only the newer one is drawn"
            seen.add((not parts[0].barred, parts[1].injection.shown))
        assert seen == {(True, True), (False, False)}

    async def test_where_both_were_learned_the_newer_one_is_tried(self) -> None:
        ci, prompt = knowing(), "Route the ticket of customer 7."
        early = LATER - timedelta(days=60)
        old = await ci.submit(lesson(HARBOUR, prompt, verified=True, created_at=early))
        new = await ci.submit(lesson(MAPLE, prompt, verified=True, created_at=LATER))
        parts = await drawing(ci).with_draws(await found(ci, prompt), first=True)
        barred = {one.card.id: one.barred for one in parts}
        assert barred == {old.card_id: f"its newer rival {new.card_id} is tried first", new.card_id: ""}

    @pytest.mark.parametrize(("same", "shown"), [(False, 2), (True, 1)])
    async def test_so_it_is_where_recall_has_found_the_old_one_alone(self, same: bool, shown: int) -> None:
        ci, early = knowing(), LATER - timedelta(days=60)
        prompts = [f"Route the ticket of customer {7 if same else number}." for number in (7, 8)]
        old = await ci.submit(lesson(HARBOUR, prompts[0], verified=True, created_at=early))
        await ci.submit(lesson(MAPLE, prompts[1], verified=True, created_at=LATER))
        (alone,) = [one for one in await found(ci, prompts[0]) if one.head.id == old.card_id]
        assert alone.hit.agrees
        while True:
            parts = await drawing(ci).with_draws([alone], first=True)
            if any(one.injection.shown and one.injection.draw for one in parts):
                break
        assert len([one for one in parts if not one.barred]) == shown

    @pytest.mark.parametrize("stage", ["archived", "benched"])
    async def test_what_the_evidence_keeps_out_isnt_shown_beside_its_rival_either(self, stage: Stage) -> None:
        ci, old, _ = await self.cases()
        trial = Trial(model="m", layout="episodes-as-turns", number=1, stage=stage)
        await change_card(ci.store, old, lambda card: replace(card, trials=(trial,)))
        parts = await drawing(ci).with_draws(await found(ci, "Route the ticket of customer 7."), first=True)
        assert next(one.barred for one in parts if one.card.id == old)

    async def test_of_several_rivals_the_newest_is_tried(self) -> None:
        ci, old, middle = await self.rivals()
        newest = await ci.submit(lesson("Invoices go to Cedar.", verified=True, created_at=LATER + timedelta(days=1)))
        assert set(newest.rivals) == {old, middle}
        said = f"its newer rival {newest.card_id} is tried first"
        parts = await drawing(ci).with_draws(await found(ci), first=True)
        assert {one.card.id: one.barred for one in parts} == {old: said, middle: said, newest.card_id: ""}
        (only,) = [one for one in await found(ci) if one.head.id == old]
        parts = await drawing(ci).with_draws([only], first=True)
        assert [one.card.id for one in parts if not one.barred] == [newest.card_id]

    @pytest.mark.parametrize(("good", "kept_as"), [(4, MemoryStatus.ARCHIVED), (7, MemoryStatus.QUARANTINED)])
    async def test_a_rival_of_another_case_is_archived_unless_it_is_ahead(
        self, good: int, kept_as: MemoryStatus
    ) -> None:
        ci, old, new = await self.cases()
        counts = DrawCounts(propensity=0.5, shown=10, shown_good=good, held_out=10, held_out_good=2)
        trial = Trial(model="m", layout="episodes-as-turns", number=1, stage="on trial", counts=(counts,))
        await change_card(ci.store, old, lambda card: replace(card, trials=(trial,)))
        await self.decided(ci, new)
        assert (await kept(ci.store, old)).status is kept_as


async def test_wordings_and_rivals_are_kept_by_every_store(any_store: VectorStore) -> None:
    ci = keeper(any_store)
    head, other = await ids(ci, HARBOUR, MAPLE)
    wording = (await ci.submit(lesson(HARBOUR, "Whom does it concern?"))).card_id
    cards: list[MemoryCard] = await any_store.get([head, other, wording])
    assert [one.idea for one in cards] == ["", "", head]
    assert [one.rivals for one in cards] == [(other,), (head,), ()]
