"""A person's word on a card is on its idea: the head is moved, its wordings follow, and each history tells of it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from trying import HARBOUR, NOON, keeper, kept, lesson

from wisen import CardFilter, InMemoryVectorStore, MemoryCard, MemoryCI, MemoryStatus, VectorStore
from wisen.cards import Move
from wisen.errors import ConfigError
from wisen.explain.card_facts import decided
from wisen.memory_ci.decisions import Act, follow
from wisen.memory_ci.reasons import kept_reason
from wisen.memory_ci.status import move
from wisen.recall import UNREVIEWED

pytestmark = pytest.mark.anyio

HEAD = replace(lesson(HARBOUR), status=MemoryStatus.QUARANTINED)
SECOND = replace(HEAD, content="Harbour gets invoices.", idea=HEAD.id, id="")
THIRD = replace(HEAD, content="To Harbour with invoices.", idea=HEAD.id, id="")
WHY = "so we agreed"
ENDS: dict[Act, MemoryStatus] = {
    "promote": MemoryStatus.PROMOTED,
    "archive": MemoryStatus.ARCHIVED,
    "reject": MemoryStatus.REJECTED,
}


class Forgetful(InMemoryVectorStore):
    """Deletes some cards just when a card's wordings, or what it corrects, have been listed."""

    def __init__(self, *gone: str) -> None:
        super().__init__()
        self.gone = gone

    async def list(self, where: CardFilter, *, limit: int = 100, offset: int = 0) -> list[MemoryCard]:
        """List, and delete."""
        found = await super().list(where, limit=limit, offset=offset)
        if where.idea or where.corrected:
            await self.delete([one.id for one in found if one.id in self.gone])
        return found


async def stored(*cards: MemoryCard, gone: Sequence[str] = ()) -> InMemoryVectorStore:
    store = Forgetful(*gone)
    await store.add_unscreened(cards)
    return store


@pytest.mark.parametrize("act", ENDS)
@pytest.mark.parametrize("named", [HEAD, SECOND])
async def test_the_head_is_moved_by_the_person_and_its_wordings_follow(act: Act, named: MemoryCard) -> None:
    ci = keeper(await stored(HEAD, SECOND, THIRD))
    given = await ci.decide(act, named.id, WHY)
    head, *wordings = await ci.store.get([HEAD.id, SECOND.id, THIRD.id])
    assert given == await kept(ci.store, named.id)
    done = Move(at=NOON, before=MemoryStatus.QUARANTINED, after=ENDS[act], why=WHY, by="human")
    assert (head.status, head.note, head.history) == (ENDS[act], WHY, (done,))
    if act != "reject":
        done = replace(done, why=f"as {HEAD.id}, which says the same: {WHY}", by="idea")
    assert [(one.status, one.history, one.idea) for one in wordings] == [
        (ENDS[act], (done,), "" if act == "reject" else HEAD.id)
    ] * 2


async def test_wordings_are_rejected_by_whoever_rejected_their_idea_even_if_pinned() -> None:
    pinned = replace(SECOND, pinned=True)
    promoted = move(HEAD, MemoryStatus.PROMOTED, note="it helps", at=NOON, by="human")
    rejected = move(promoted, MemoryStatus.REJECTED, note="it hurts", at=NOON, by="trial")
    store = await stored(rejected, pinned)
    await follow(store, HEAD.id, at=NOON)
    done = Move(at=NOON, before=MemoryStatus.QUARANTINED, after=MemoryStatus.REJECTED, why="it hurts", by="trial")
    now = await kept(store, SECOND.id)
    assert (now.history, now.pinned, now.text, now.refused) == ((done,), False, "", SECOND.refusal_key)
    await follow(store, HEAD.id, at=NOON)
    assert await kept(store, SECOND.id) == now


async def test_a_rejected_wording_stays_rejected_and_one_that_was_deleted_is_passed_over() -> None:
    gone = move(SECOND, MemoryStatus.REJECTED, note="no", at=NOON, by="human")
    gone = replace(gone, idea=HEAD.id)
    ci = keeper(await stored(HEAD, gone, THIRD, deleted := replace(THIRD, content="D", id=""), gone=[deleted.id]))
    await ci.archive(HEAD.id, WHY)
    assert await kept(ci.store, gone.id) == gone
    assert (await kept(ci.store, THIRD.id)).status is MemoryStatus.ARCHIVED


@pytest.mark.parametrize("named", [HEAD, SECOND])
async def test_a_release_is_of_the_idea_and_of_the_card_that_was_read(named: MemoryCard) -> None:
    held: dict[str, Any] = {"held": ("harbour.example",)}
    cards = [replace(one, **held) for one in (HEAD, SECOND, THIRD)]
    ci = keeper(await stored(*cards))
    assert await ci.release(named.id, "that is ours") == await kept(ci.store, named.id)
    why = "released: that is ours (held for: harbour.example)"
    done = Move(at=NOON, before=MemoryStatus.QUARANTINED, after=MemoryStatus.QUARANTINED, why=why, by="human")
    for one in cards:
        now = await kept(ci.store, one.id)
        out = one.id in (HEAD.id, named.id)
        assert (now.released, now.held, now.history) == ((True, (), (done,)) if out else (False, one.held, ()))


async def test_what_a_person_promotes_by_name_is_held_no_more() -> None:
    ci = keeper(await stored(HEAD, replace(SECOND, held=("a.example",)), replace(THIRD, held=("b.example",))))
    promoted = await ci.promote(SECOND.id, WHY)
    assert (promoted.held, promoted.status) == ((), MemoryStatus.PROMOTED)
    assert [one.held for one in await ci.store.get([SECOND.id, THIRD.id])] == [(), ("b.example",)]


async def test_what_a_rejected_correction_had_corrected_holds_again() -> None:
    new = replace(lesson("Invoices go to Maple."), status=MemoryStatus.QUARANTINED, supersedes=SECOND.id)
    cards = [replace(one, superseded_by=new.id) for one in (HEAD, SECOND, THIRD)]
    other = replace(THIRD, content="Other words.", superseded_by="another", id="")
    deleted = replace(THIRD, content="Deleted words.", superseded_by=new.id, id="")
    ci = keeper(await stored(new, *cards, other, deleted, gone=[deleted.id]))
    await ci.reject(new.id, WHY)
    now = await ci.store.get([one.id for one in (*cards, other)])
    assert [one.superseded_by for one in now] == ["", "", "", "another"]
    assert [one.version for one in now] == [2, 2, 2, 1]


@pytest.mark.parametrize("named", [HEAD, SECOND])
async def test_all_that_an_idea_had_corrected_holds_again_whichever_wording_is_rejected(
    any_store: VectorStore, named: MemoryCard
) -> None:
    old = [
        replace(lesson(f"Call {name}."), superseded_by=by)
        for name, by in (("Ada", HEAD.id), ("Berta", SECOND.id), ("Cleo", "another"))
    ]
    await any_store.add_unscreened([replace(HEAD, supersedes="forgotten"), SECOND, *old])
    await keeper(any_store).reject(named.id, WHY)
    assert [(await kept(any_store, one.id)).superseded_by for one in old] == ["", "", "another"]


async def test_what_a_correction_takes_the_place_of_holds_again_only_where_that_is_rejected() -> None:
    old = replace(lesson("Call Ada."), superseded_by=SECOND.id)

    class Releasing(InMemoryVectorStore):
        """Somebody takes the wording out of its idea just before that is rejected."""

        async def list(self, where: CardFilter, *, limit: int = 100, offset: int = 0) -> list[MemoryCard]:
            found = await super().list(where, limit=limit, offset=offset)
            second = await kept(self, SECOND.id)
            if second.idea:
                await self.update(replace(second, idea="", version=2))
            return found

    store = Releasing()
    await store.add_unscreened([HEAD, SECOND, old])
    await keeper(store).reject(HEAD.id, WHY)
    assert await kept(store, old.id) == old


async def test_a_rejection_of_what_corrects_a_card_that_is_gone_is_a_rejection() -> None:
    ci = keeper(await stored(replace(HEAD, supersedes="gone")))
    assert (await ci.reject(HEAD.id, WHY)).status is MemoryStatus.REJECTED


def test_a_reason_of_nothing_but_a_secret_is_none() -> None:
    secret = "ghp_" + "Ab3" * 12
    with pytest.raises(ConfigError) as refused:
        kept_reason(f"{secret}!")
    assert str(refused.value) == "the reason says nothing but what may not be kept; say why in other words"
    assert kept_reason("") == ""
    assert kept_reason("ask ada@example.org") == "ask <e-mail-1>"


HELD = replace(
    lesson("Invoices go to harbour!", tainted=True, agent="another"),
    status=MemoryStatus.QUARANTINED,
    idea=HEAD.id,
    held=("harbour",),
    duplicates=1,
)
IMPORTED = replace(lesson("Send invoices to Harbour.", created_by="import"), status=HELD.status, idea=HEAD.id)


async def with_held(store: VectorStore, *more: MemoryCard, status: MemoryStatus) -> MemoryCI:
    head = replace(HEAD, status=status, retold=4)
    await store.add_unscreened([head, replace(SECOND, status=status), HELD, *more])
    return keeper(store)


class TestWordingsThatWait:
    """A held or imported wording of an idea is a person's to decide on, and that decision isn't on the idea."""

    @pytest.mark.parametrize("act", ["release", "promote"])
    async def test_let_out_it_follows_its_idea_into_use(self, any_store: VectorStore, act: Act) -> None:
        ci = await with_held(any_store, status=MemoryStatus.PROMOTED)
        before = await kept(any_store, HEAD.id)
        now = await ci.decide(act, HELD.id, WHY)
        assert (now.status, now.held, now.released, now.idea) == (MemoryStatus.PROMOTED, (), act == "release", HEAD.id)
        assert [one.by for one in now.history] == (["human", "idea"] if act == "release" else ["human"])
        assert WHY in now.history[0].why
        assert await kept(any_store, HEAD.id) == before
        with pytest.raises(ConfigError, match=f"'{HELD.id if act == 'release' else HEAD.id}' is 'promoted'"):
            await ci.decide(act, HELD.id, WHY)

    @pytest.mark.parametrize("status", [MemoryStatus.PROMOTED, MemoryStatus.QUARANTINED])
    @pytest.mark.parametrize("named", [HELD, IMPORTED])
    async def test_rejected_it_goes_alone(
        self, any_store: VectorStore, status: MemoryStatus, named: MemoryCard
    ) -> None:
        ci = await with_held(any_store, IMPORTED, status=status)
        gone = await ci.reject(named.id, WHY)
        assert (gone.status, gone.text, gone.history[-1].by) == (MemoryStatus.REJECTED, "", "human")
        head, second = await any_store.get([HEAD.id, SECOND.id])
        assert (head.status, second.status, head.history) == (status, status, HEAD.history)
        assert head.retold == 4 - (1 + named.duplicates)
        again = await ci.submit(replace(lesson(named.content, run="again"), id=""))
        assert again.outcome == ("duplicate" if named is HELD else "rejected"), "what the idea goes on saying counts"

    async def test_one_that_may_be_tried_is_rejected_with_its_idea(self) -> None:
        ci = await with_held(InMemoryVectorStore(), status=MemoryStatus.PROMOTED)
        said = decided("reject", SECOND, await ci.reject(SECOND.id, WHY))
        assert said == f"quarantined to rejected, as its idea {HEAD.id} is"
        cards = await ci.store.get([HEAD.id, SECOND.id, HELD.id])
        assert {one.status for one in cards} == {MemoryStatus.REJECTED}

    async def test_promoted_its_idea_leaves_it_to_wait(self) -> None:
        ci = await with_held(InMemoryVectorStore(), status=MemoryStatus.QUARANTINED)
        await ci.promote(HEAD.id, WHY)
        assert await kept(ci.store, HELD.id) == HELD
        assert await ci.store.list(UNREVIEWED) == [HELD]
        assert (await kept(ci.store, SECOND.id)).status is MemoryStatus.PROMOTED
        await ci.archive(HEAD.id, WHY)
        assert (await kept(ci.store, HELD.id)).status is MemoryStatus.ARCHIVED

    async def test_named_for_its_idea_on_trial_it_goes_into_use_with_that(self) -> None:
        ci = await with_held(InMemoryVectorStore(), status=MemoryStatus.QUARANTINED)
        now = await ci.promote(HELD.id, WHY)
        assert (now.status, now.held) == (MemoryStatus.PROMOTED, ())
        assert (await kept(ci.store, HEAD.id)).status is MemoryStatus.PROMOTED

    @pytest.mark.parametrize("head", [MemoryStatus.QUARANTINED, MemoryStatus.PROMOTED])
    async def test_what_is_said_of_it_names_what_became_of_the_idea(self, head: MemoryStatus) -> None:
        said = dict[str, str]()
        for act in ("release", "promote", "reject"):
            ci = await with_held(InMemoryVectorStore(), status=head)
            said[act] = decided(act, HELD, await ci.decide(act, HELD.id, WHY))
        released = f"all runs of its tenant may try it, and its idea {HEAD.id}"
        in_use = f"in use, as its idea {HEAD.id} is"
        assert said == {
            "release": in_use if head is MemoryStatus.PROMOTED else released,
            "promote": f"quarantined to promoted, as its idea {HEAD.id} is",
            "reject": f"quarantined to rejected; its idea {HEAD.id} stays",
        }
