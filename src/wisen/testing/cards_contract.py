"""What every store promises about keeping cards: writing, reading, changing, removing and listing them."""
# ruff: noqa: S101, PLR2004 - these modules' assertions are what they are for

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from wisen.cards import CardEvidence, MemoryKind, MemoryScope, MemoryStatus
from wisen.errors import CardNotFoundError, ConfigError, StoreError
from wisen.protocols import VectorStore
from wisen.recall import CardFilter
from wisen.testing.material import NOON, card, query
from wisen.trial_records import DrawCounts, OpenDraw, Trial

EVERYTHING = CardFilter()
NORTH = MemoryScope(tenant="north")


class CardsContract:
    """Tests of `VectorStore` but for `search`; needs a `store` fixture."""

    async def test_add_says_added_and_get_gives_the_card_back(self, store: VectorStore) -> None:
        """A card comes back as it was, every field of it."""
        lesson = card("Chairs are counted twice.", prompt="Count the chairs.", run_id="r1")
        written = await store.add([lesson])
        assert [(each.card_id, each.outcome) for each in written] == [(lesson.id, "added")]
        assert await store.get([lesson.id]) == [lesson]

    async def test_all_that_a_card_holds_comes_back(self, store: VectorStore) -> None:
        """As it was added, as it was changed, and from a listing."""
        bare = card("Chairs are counted twice.", prompt="Count the chairs.")
        whole = replace(
            bare,
            pattern="In a hall",
            strategy="Row by row.",
            steps=("Begin.", "End."),
            duplicates=3,
            alike=2,
            idea="head",
            retold=4,
            rivals=("one", "two"),
            taught_at=NOON,
            evidence=(CardEvidence(model="m", shown=3, gained=1),),
            trials=(Trial(model="m", stage="promoted", counts=(DrawCounts(propensity=0.25, shown=2),), expected=0.5),),
            open_draws=(OpenDraw(id="n", at=NOON, shown=False, propensity=0.0, run_id="r", grace=timedelta(hours=2)),),
            observed=("a1",),
            pinned=True,
            provenance=replace(bare.provenance, owner="anna", tainted=True, source="wiki.md"),
            held=("billing.example.org",),
            released=True,
        )
        changed = replace(whole, version=2, idea="", rivals=(), open_draws=(*whole.open_draws, OpenDraw(id="n2")))
        await store.add([whole])
        assert await store.get([whole.id]) == await store.list(EVERYTHING) == [whole]
        await store.update(changed)
        assert await store.get([whole.id]) == await store.list(EVERYTHING) == [changed]

    async def test_the_wordings_of_an_idea_are_listed(self, store: VectorStore) -> None:
        """By their head's id, which a change may take away; the head itself isn't one of them."""
        head = card("Count twice.")
        wordings = [replace(card(f"Count {often} times."), idea=head.id) for often in ("two", "2")]
        north = replace(card("Count two times.", scope=NORTH), idea=head.id)
        await store.add([head, *wordings, north])
        where = CardFilter(tenant="", idea=head.id)
        assert {each.id for each in await store.list(where)} == {each.id for each in wordings}
        assert await store.count(where) == 2
        assert await store.count(CardFilter(idea=head.id)) == 3
        await store.update(replace(wordings[0], version=2, idea=""))
        assert await store.list(where) == wordings[1:]
        assert await store.list(CardFilter(tenant="", idea="nobody")) == []
        with pytest.raises(ConfigError, match="'idea'"):
            query("Count.", where=where)

    async def test_add_of_nothing_gives_nothing(self, store: VectorStore) -> None:
        """An empty batch is no error."""
        assert await store.add([]) == []
        assert await store.count(EVERYTHING) == 0

    async def test_add_twice_leaves_the_first_as_it_is(self, store: VectorStore) -> None:
        """The same id again is "unchanged", even where the rest differs."""
        lesson = card("Look twice.")
        await store.add([lesson])
        again = await store.add([replace(lesson, status=MemoryStatus.ARCHIVED)])
        assert [each.outcome for each in again] == ["unchanged"]
        assert await store.get([lesson.id]) == [lesson]

    async def test_add_counts_near_identical_cards(self, store: VectorStore) -> None:
        """A card that differs in spacing only is counted, and the answer names the card that stays."""
        first = card("Look  twice.", run_id="r1")
        await store.add([first])
        written = await store.add([card("Look twice.", run_id="r2"), card("Look twice. ", run_id="r3")])
        assert [(each.card_id, each.outcome) for each in written] == [(first.id, "duplicate")] * 2
        kept = (await store.get([first.id]))[0]
        assert (kept.duplicates, kept.version) == (2, 1)
        assert await store.count(EVERYTHING) == 1

    async def test_add_sees_duplicates_within_one_batch(self, store: VectorStore) -> None:
        """Earlier cards of the batch count as stored; one answer per card, in order."""
        first, again, other = card("One.", run_id="r1"), card("One.", run_id="r2"), card("Two.")
        written = await store.add([first, again, first, other])
        assert [each.outcome for each in written] == ["added", "duplicate", "unchanged", "added"]
        assert [each.card_id for each in written] == [first.id, first.id, first.id, other.id]

    async def test_duplicates_are_of_one_tenant_and_kind(self, store: VectorStore) -> None:
        """The same words of another tenant, or as another kind, are another card."""
        written = await store.add(
            [
                card("Same words."),
                card("Same words.", scope=MemoryScope(tenant="north")),
                card("Same words.", kind=MemoryKind.PRINCIPLE),
            ]
        )
        assert [each.outcome for each in written] == ["added"] * 3

    async def test_concurrent_adds_lose_and_double_nothing(self, store: VectorStore) -> None:
        """Many tasks write different cards and one card all at once."""
        shared = card("All of us write this.")
        own = [card(f"Only number {number} writes this.") for number in range(20)]
        await asyncio.gather(*(store.add([each, shared]) for each in own))
        assert await store.count(EVERYTHING) == 21
        assert (await store.get([shared.id]))[0] == shared

    async def test_get_keeps_the_asked_order(self, store: VectorStore) -> None:
        """Also with an id asked for twice."""
        first, second = card("First."), card("Second.")
        await store.add([first, second])
        assert await store.get([second.id, first.id, second.id]) == [second, first, second]
        assert await store.get([]) == []

    async def test_get_of_an_unknown_id_raises(self, store: VectorStore) -> None:
        """The error names the first id that isn't there."""
        known = card("Known.")
        await store.add([known])
        with pytest.raises(CardNotFoundError) as caught:
            await store.get([known.id, "nowhere", "elsewhere"])
        assert caught.value.card_id == "nowhere"

    async def test_update_replaces_the_card(self, store: VectorStore) -> None:
        """The next version is what is read from then on."""
        lesson = card("Old words.", status=MemoryStatus.QUARANTINED)
        await store.add([lesson])
        changed = replace(lesson.with_status(MemoryStatus.PROMOTED), content="New words.")
        await store.update(changed)
        assert await store.get([lesson.id]) == [changed]
        assert await store.count(EVERYTHING) == 1

    async def test_update_refuses_any_version_but_the_next(self, store: VectorStore) -> None:
        """A lost update is an error, and changes nothing."""
        lesson = card("Words.")
        await store.add([lesson])
        for version in (0, 1, 3):
            with pytest.raises(StoreError, match="version"):
                await store.update(replace(lesson, version=version, strategy="Changed."))
        assert await store.get([lesson.id]) == [lesson]

    async def test_of_concurrent_updates_one_wins(self, store: VectorStore) -> None:
        """Both start from the same version; the other one is told."""
        lesson = card("Words.")
        await store.add([lesson])
        outcomes = await asyncio.gather(
            *(store.update(replace(lesson, version=2, strategy=f"From {name}.")) for name in ("one", "two", "three")),
            return_exceptions=True,
        )
        assert sorted(type(each).__name__ for each in outcomes) == ["NoneType", "StoreError", "StoreError"]

    async def test_update_of_an_unknown_card_raises(self, store: VectorStore) -> None:
        """An update never adds."""
        with pytest.raises(CardNotFoundError):
            await store.update(replace(card("Nobody knows me."), version=2))
        assert await store.count(EVERYTHING) == 0

    async def test_update_keeps_the_count_of_duplicates(self, store: VectorStore) -> None:
        """Duplicates counted between reading and updating aren't forgotten."""
        lesson = card("Words.", run_id="r1")
        await store.add([lesson])
        await store.add([card("Words.", run_id="r2")])
        await store.update(lesson.with_status(MemoryStatus.ARCHIVED))
        kept = (await store.get([lesson.id]))[0]
        assert (kept.status, kept.duplicates) == (MemoryStatus.ARCHIVED, 1)

    async def test_an_updated_text_decides_what_is_a_duplicate(self, store: VectorStore) -> None:
        """The old words are free again, the new ones are taken."""
        lesson = card("Old words.", run_id="r1")
        await store.add([lesson])
        await store.update(replace(lesson, version=2, content="New words."))
        written = await store.add([card("Old words.", run_id="r2"), card("New words.", run_id="r2")])
        assert [each.outcome for each in written] == ["added", "duplicate"]

    async def test_delete_removes_and_counts(self, store: VectorStore) -> None:
        """Unknown ids are passed over; a deleted card can be added again."""
        one, two = card("One.", prompt="Count one."), card("Two.")
        await store.add([one, two])
        assert await store.delete([one.id, "nowhere", one.id]) == 1
        assert await store.list(EVERYTHING) == [two]
        assert await store.search(query("Count one.")) == []
        assert [each.outcome for each in await store.add([one])] == ["added"]

    async def test_list_is_oldest_first_then_by_id(self, store: VectorStore) -> None:
        """Whatever the order of adding."""
        late, early = card("Late.", minute=9), card("Early.", minute=1)
        together = sorted((card(f"Together {number}.", minute=5) for number in range(3)), key=lambda each: each.id)
        await store.add([late, *reversed(together), early])
        assert await store.list(EVERYTHING) == [early, *together, late]

    async def test_list_pages(self, store: VectorStore) -> None:
        """`limit` and `offset` cut the one order; past the end there is nothing."""
        cards = [card(f"Number {number}.", minute=number) for number in range(7)]
        await store.add(cards)
        assert await store.list(EVERYTHING, limit=3, offset=2) == cards[2:5]
        assert await store.list(EVERYTHING, limit=3, offset=7) == []

    async def test_list_and_count_agree_with_the_filter(self, store: VectorStore) -> None:
        """`CardFilter.accepts` is the one definition of what is meant."""
        cards = [
            card("Any run."),
            card("For clerks.", scope=MemoryScope(agent_roles=("clerk",))),
            card("For the shell.", scope=MemoryScope(tool_names=("shell", "browser"))),
            card("For letters.", scope=MemoryScope(task_types=("letters",)), run_id="other"),
            card("For north.", scope=MemoryScope(tenant="north", task_types=("letters",))),
            card("A principle.", kind=MemoryKind.PRINCIPLE, status=MemoryStatus.REJECTED),
            replace(card("Refused."), status=MemoryStatus.REJECTED, refused="abc"),
            replace(card("Refused by north.", scope=NORTH), status=MemoryStatus.REJECTED, refused="abc"),
            replace(card("Refused too."), status=MemoryStatus.REJECTED, refused="def"),
            replace(card("Corrected."), superseded_by="another"),
            replace(card("Corrected in north.", scope=NORTH), superseded_by="another"),
        ]
        await store.add(cards)
        for where in (
            EVERYTHING,
            CardFilter(tenant=""),
            CardFilter(tenant="north"),
            CardFilter(tenant="south"),
            CardFilter(agent_role="clerk"),
            CardFilter(agent_role="pilot"),
            CardFilter(tools=("shell",)),
            CardFilter(tools=("hammer", "browser")),
            CardFilter(tools=()),
            CardFilter(task_type="letters", tenant=""),
            CardFilter(kinds=(MemoryKind.PRINCIPLE, MemoryKind.DECISION)),
            CardFilter(statuses=(MemoryStatus.PROMOTED,), run_id="other"),
            CardFilter(run_id="nowhere"),
            CardFilter(refused="abc"),
            CardFilter(tenant="", refused="abc", kinds=(MemoryKind.LESSON,), statuses=(MemoryStatus.REJECTED,)),
            CardFilter(refused="nothing"),
            CardFilter(corrected=True),
            CardFilter(tenant="", corrected=True, tools=()),
        ):
            meant = {each.id for each in cards if where.accepts(each)}
            assert {each.id for each in await store.list(where)} == meant
            assert await store.count(where) == len(meant)

    async def test_what_waits_for_a_decision_is_found(self, store: VectorStore) -> None:
        """By `CardFilter.awaits`: what no run may try, what is on trial, and what has rivals; not what only says so."""
        trial = Trial(model="m", layout="chat", number=1, stage="on trial", counts=(DrawCounts(shown=3),))
        waits = MemoryStatus.QUARANTINED
        said = 'It says "stage":"on trial" and "rivals":["x"] and "stage":"recheck".'
        cards = [
            card("Anybody may.", run_id="1", status=waits),
            replace(card("Held.", run_id="2", status=waits), held=("mail",)),
            replace(card("Released.", run_id="3", status=waits), released=True),
            replace(card("Held once.", run_id="4", status=MemoryStatus.ARCHIVED), held=("mail",)),
            replace(
                card("On trial.", run_id="5", status=waits), trials=(replace(trial, model="n", stage="waiting"), trial)
            ),
            replace(card("Suspected.", run_id="6"), trials=(replace(trial, stage="recheck"),)),
            replace(card("In use.", run_id="7"), trials=(replace(trial, stage="promoted"),)),
            replace(card("Over.", run_id="8", status=MemoryStatus.ARCHIVED), trials=(trial,), rivals=("a",)),
            replace(card("One of two.", run_id="9", scope=NORTH), rivals=("a",)),
            card(said, run_id="10"),
        ]
        await store.add_unscreened(cards)
        found = {"release": ["Held."], "verdict": ["On trial.", "Suspected."], "choice": ["One of two."]}
        for awaits in ("release", "verdict", "choice"):
            where = CardFilter(awaits=awaits)
            listed = await store.list(where)
            assert sorted(one.content for one in listed) == found[awaits]
            assert listed == [one for one in await store.list(EVERYTHING) if where.accepts(one)]
            assert await store.count(where) == len(found[awaits])
            assert await store.count(replace(where, tenant="")) == len(found[awaits]) - (awaits == "choice")

    async def test_text_of_every_script_comes_back(self, store: VectorStore) -> None:
        """Quotes, line breaks, other scripts, emoji and control characters are kept."""
        odd = card("'); DROP TABLE cards; --\n\t\u0000 ünï 日本語 \U0001f6b2 \u202e", prompt='say "hi" % _ \\')
        await store.add_unscreened([odd])
        assert await store.get([odd.id]) == [odd]

    async def test_closing_twice_is_fine_and_then_all_else_fails(self, store: VectorStore) -> None:
        """A closed store says so with a `StoreError`."""
        lesson = card("Words.")
        await store.add([lesson])
        await store.close()
        await store.close()
        for attempt in (
            store.add([lesson]),
            store.get([lesson.id]),
            store.search(query("Words.")),
            store.update(lesson.with_status(MemoryStatus.ARCHIVED)),
            store.delete([lesson.id]),
            store.list(EVERYTHING),
            store.count(EVERYTHING),
        ):
            with pytest.raises(StoreError, match="closed"):
                await attempt
