"""A corrected idea stays corrected: in other words, elsewhere, and where the correction was a wording of it."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trying import HARBOUR, NOON, Meaning, found, keeper, kept, lesson

from wisen import (
    InMemoryVectorStore,
    MarkdownStore,
    MemoryCard,
    MemoryCI,
    MemoryKind,
    MemoryStatus,
    Situation,
    SQLiteVectorStore,
    VectorStore,
)
from wisen.cards import Provenance
from wisen.memory_ci.ideas import Ideas

pytestmark = pytest.mark.anyio

BILLS = "Bills: hand each of them over to the Harbour team."
FORWARD = "Forward any bill you get to the people at Harbour."
MAPLE = "Invoices go to Maple."
ELSEWHERE = "Sort the other post of today."
ABOUT = ("invoice", "bill"), ("parcel",)


@pytest.fixture(params=["memory", "sqlite", "markdown"])
async def ci(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[MemoryCI]:
    store: VectorStore
    match request.param:
        case "memory":
            store = InMemoryVectorStore(embedder=Meaning(*ABOUT))
        case "sqlite":
            store = SQLiteVectorStore(tmp_path / "store.db", embedder=Meaning(*ABOUT))
        case _:
            store = MarkdownStore(tmp_path / "memory", embedder=Meaning(*ABOUT))
    yield keeper(store)
    await store.close()


def in_memory() -> MemoryCI:
    return keeper(InMemoryVectorStore(embedder=Meaning(*ABOUT)))


async def taught(ci: MemoryCI, text: str, *prompt: str, **more: Any) -> MemoryCard:
    return await kept(ci.store, (await ci.submit(lesson(text, *prompt, **more))).card_id)


async def corrected(ci: MemoryCI, card: MemoryCard, text: str = MAPLE, **more: Any) -> str:
    return (await ci.correct(card.id, lesson(text, **more), "the teams were renamed")).card_id


async def recalled(ci: MemoryCI) -> set[str]:
    return {one.hit.card.id for one in await found(ci)}


async def test_a_corrected_claim_in_other_words_is_corrected_too(ci: MemoryCI) -> None:
    old = await taught(ci, HARBOUR)
    new = await corrected(ci, old)
    for text in (BILLS, FORWARD):
        submission = await ci.submit(lesson(text))
        assert submission.card is not None
        assert submission.card.superseded_by == new, "so that its own run isn't told either"
        wording = await kept(ci.store, submission.card_id)
        assert (wording.idea, wording.superseded_by) == (old.id, new)
    assert await recalled(ci) == {new}
    head, correction = await ci.store.get([old.id, new])
    assert (head.retold, head.rivals, correction.rivals) == (2, (), ()), "a person has chosen between them already"


async def test_its_own_words_are_known_again_elsewhere(ci: MemoryCI) -> None:
    old = await taught(ci, HARBOUR)
    new = await corrected(ci, old)
    again = await taught(ci, HARBOUR, ELSEWHERE, agent="another")
    assert (again.id != old.id, again.idea, again.superseded_by) == (True, old.id, new)
    assert [one.head.id for one in await found(ci, ELSEWHERE)] in ([], [new])


async def test_what_was_split_off_and_corrected_is_no_wording_of_what_it_left(ci: MemoryCI) -> None:
    first, second = await taught(ci, HARBOUR), await taught(ci, BILLS)
    await ci.split(second.id, "it says something else")
    new = await corrected(ci, second)
    again = await taught(ci, BILLS, agent="another", run="another")
    assert (again.idea, again.superseded_by) == (second.id, new)
    assert await recalled(ci) == {first.id, new}


async def test_with_its_correction_rejected_the_new_wordings_hold_too() -> None:
    ci = in_memory()
    old = await taught(ci, HARBOUR)
    new = await corrected(ci, old)
    wording = await taught(ci, BILLS)
    await ci.reject(new, "nobody renamed them")
    assert {one.superseded_by for one in await ci.store.get([old.id, wording.id])} == {""}


class Turned(Meaning):
    """Texts by their angle."""

    def __init__(self, angles: dict[str, float]) -> None:
        super().__init__(*ABOUT)
        self._angles = angles

    async def embed(self, texts: Sequence[str]) -> Any:
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:2] = np.cos(self._angles.get(text, 0.0)), np.sin(self._angles.get(text, 0.0))
        return rows


@pytest.mark.parametrize(("angle", "holds"), [(0.3, True), (0.6, True), (0.1, False)])
@pytest.mark.parametrize("first", [True, False])
async def test_what_says_as_much_of_a_correction_goes_to_that(angle: float, holds: bool, first: bool) -> None:
    store = InMemoryVectorStore(embedder=Turned({BILLS: angle, FORWARD: 0.3}))
    old, new = (replace(lesson(text), status=MemoryStatus.QUARANTINED) for text in (BILLS, FORWARD))
    old = replace(old, superseded_by=new.id, provenance=replace(old.provenance, run_id=f"{first}"), id="")
    await store.add_unscreened([old, new] if first else [new, old])
    assert (await Ideas(store).relations(lesson(HARBOUR))).head == (new if holds else old)


@pytest.mark.parametrize("where", ["", ELSEWHERE])
async def test_the_same_words_that_hold_come_before_those_that_were_corrected(where: str) -> None:
    store = InMemoryVectorStore(embedder=Meaning(*ABOUT))
    live, old = (
        replace(lesson(HARBOUR, prompt, created_at=at), status=MemoryStatus.QUARANTINED)
        for prompt, at in (("A.", NOON), ("B.", NOON + timedelta(days=1)))
    )
    await store.add_unscreened([replace(old, superseded_by="another"), live])
    assert (await Ideas(store).relations(lesson(HARBOUR, where))).head == live


async def test_a_wording_that_is_written_while_its_idea_is_corrected_is_corrected() -> None:
    ci = in_memory()
    old, made = await taught(ci, HARBOUR), list[str]()
    added = ci.store.add_unscreened

    async def meanwhile(cards: Sequence[MemoryCard]) -> Any:
        ci.store.add_unscreened = added
        made.append(await corrected(ci, old))
        return await added(cards)

    ci.store.add_unscreened = meanwhile
    wording = await taught(ci, BILLS)
    assert (wording.idea, [wording.superseded_by]) == (old.id, made)


async def test_a_wording_that_comes_while_the_wordings_are_corrected_is_corrected() -> None:
    ci = in_memory()
    head, other, made = await taught(ci, HARBOUR), await taught(ci, FORWARD), list[MemoryCard]()
    listed = ci.store.list

    async def meanwhile(*args: Any, **more: Any) -> Any:
        found = await listed(*args, **more)
        if args[0].idea:
            ci.store.list = listed
            made.append(await taught(ci, BILLS))
        return found

    ci.store.list = meanwhile
    new = await corrected(ci, other)
    assert [(one.idea, one.superseded_by) for one in made] == [(head.id, new)]


async def test_a_wording_that_leaves_the_idea_meanwhile_is_not_corrected_with_it() -> None:
    ci = in_memory()
    old, other = await taught(ci, HARBOUR), await taught(ci, BILLS)
    listed = ci.store.list

    async def meanwhile(*args: Any, **more: Any) -> Any:
        found = await listed(*args, **more)
        if args[0].idea:
            ci.store.list = listed
            await ci.split(other.id, "it says something else")
        return found

    ci.store.list = meanwhile
    new = await corrected(ci, old)
    assert [one.superseded_by for one in await ci.store.get([old.id, other.id])] == [new, ""]


async def test_what_was_corrected_is_nobodys_rival() -> None:
    ci = in_memory()
    new = await corrected(ci, await taught(ci, HARBOUR))
    assert (await taught(ci, "Invoices go to Oak.")).rivals == (new,)


async def test_an_example_of_a_like_task_is_no_wording_of_a_corrected_one() -> None:
    ci = in_memory()

    def example(answer: str, prompt: str) -> MemoryCard:
        source = Provenance(run_id=answer, agent="agent", verified=True)
        return MemoryCard(
            kind=MemoryKind.SKILL_CARD, content=answer, situation=Situation(prompt=prompt), provenance=source
        )

    old = (await ci.submit(example("Harbour", "Who gets the invoice of May?"))).card_id
    await ci.correct(old, example("Maple", "Who gets the invoice of May?"), "it was Maple")
    other = await kept(ci.store, (await ci.submit(example("Oak", "Who gets the invoice of June?"))).card_id)
    assert (other.idea == old, other.superseded_by) == (False, "")


async def test_a_correction_that_was_a_wording_of_the_idea_leaves_it_and_corrects_the_rest(ci: MemoryCI) -> None:
    head, other, right = [await taught(ci, text, created_by="human") for text in (HARBOUR, FORWARD, BILLS)]
    assert {other.idea, right.idea} == {head.id}
    done = await ci.correct(head.id, lesson(BILLS, created_by="human"), "only the team")
    assert (done.card_id, done.idea) == (right.id, right.id)
    wrong, follows, new = await ci.store.get([head.id, other.id, right.id])
    assert (wrong.superseded_by, follows.superseded_by, follows.idea) == (right.id, right.id, head.id)
    assert (new.idea, new.supersedes, new.superseded_by, new.status) == ("", head.id, "", MemoryStatus.QUARANTINED)
    assert (new.history[-1].by, new.history[-1].why) == ("human", f"split from {head.id}: only the team")
    assert wrong.retold == 1
    assert await recalled(ci) == {right.id}


async def test_the_first_wording_of_an_idea_can_correct_the_others(ci: MemoryCI) -> None:
    head, second, third = [await taught(ci, text, created_by="human") for text in (HARBOUR, FORWARD, BILLS)]
    assert await corrected(ci, third, HARBOUR, created_by="human") == head.id
    new, *wrong = await ci.store.get([head.id, second.id, third.id])
    assert (new.idea, new.supersedes, new.superseded_by) == ("", third.id, "")
    assert {one.superseded_by for one in wrong} == {head.id}
    assert await recalled(ci) == {head.id}


OAK = "Invoices go to Oak."


async def test_a_correction_and_what_else_it_contradicts_are_rivals_but_not_it_and_what_it_corrects(
    ci: MemoryCI,
) -> None:
    other, wrong = await taught(ci, OAK), await taught(ci, HARBOUR)
    done = await ci.correct(wrong.id, lesson(MAPLE), "the teams were renamed")
    assert done.rivals == (other.id,)
    stands, new, old = await ci.store.get([other.id, done.card_id, wrong.id])
    assert (stands.rivals, new.rivals) == ((wrong.id, new.id), (other.id,))
    assert new.id not in old.rivals


async def test_a_correction_that_rewords_another_idea_joins_it_and_follows_it(ci: MemoryCI) -> None:
    right, wrong = await taught(ci, HARBOUR, verified=True), await taught(ci, MAPLE)
    await ci.promote(right.id, "so it is")
    done = await ci.correct(wrong.id, lesson(BILLS, created_by="human"), "that was last year")
    head, new, old = await ci.store.get([right.id, done.card_id, wrong.id])
    assert (done.idea, new.idea, new.supersedes, new.status) == (head.id, head.id, old.id, MemoryStatus.PROMOTED)
    assert (head.retold, head.supersedes, old.superseded_by) == (1, "", new.id)
    assert len(await recalled(ci)) == 1, "of the idea one wording, and nothing of what was corrected"
    await ci.reject(right.id, "it was right all along")
    assert (await kept(ci.store, wrong.id)).superseded_by == ""


@pytest.mark.parametrize("texts", [[HARBOUR], [HARBOUR, BILLS], [BILLS, HARBOUR]])
async def test_a_correction_in_the_words_of_the_wrong_idea_is_no_wording_of_it(ci: MemoryCI, texts: list[str]) -> None:
    """As an embedder would have it, that hardly hears what is right now."""
    cards = [await taught(ci, text) for text in texts]
    assert {one.idea or one.id for one in cards} == {cards[0].id}
    new = await kept(ci.store, await corrected(ci, cards[-1], FORWARD))
    assert (new.idea, new.superseded_by, new.rivals) == ("", "", ())
    assert [one.by for one in new.history] == ["screen"]
    assert (await kept(ci.store, cards[0].id)).retold == len(cards) - 1
    assert await recalled(ci) == {new.id}


async def test_a_correction_joins_nothing_that_was_corrected_before(ci: MemoryCI) -> None:
    first = await taught(ci, HARBOUR)
    second = await corrected(ci, first)
    back = await kept(ci.store, await corrected(ci, await kept(ci.store, second), BILLS, created_by="human"))
    assert (back.idea, back.superseded_by) == ("", "")
    assert await recalled(ci) == {back.id}


async def test_an_example_that_corrects_one_is_of_no_group_with_it_but_of_another() -> None:
    ci = in_memory()

    def example(answer: str, prompt: str, **source: Any) -> MemoryCard:
        told = Provenance(run_id=answer, agent="agent", verified=True, **source)
        return MemoryCard(
            kind=MemoryKind.SKILL_CARD, content=answer, situation=Situation(prompt=prompt), provenance=told
        )

    wrong = (await ci.submit(example("Harbour", "Who gets the invoice of May?"))).card_id
    done = await ci.correct(wrong, example("Maple", "Who gets the invoice of May?"), "it was Maple")
    assert done.idea == done.card_id
    beside = (await ci.submit(example("Oak", "Who gets the parcel?"))).card_id
    again = await ci.correct(beside, example("Oak Hall", "Who gets the invoice of June?"), "it is a hall")
    assert again.idea == done.card_id
