"""What every store promises about finding cards again: filters, floor, order, reasons and tenants."""
# ruff: noqa: S101, PLR2004 - these modules' assertions are what they are for

import asyncio
from dataclasses import replace

import pytest

from wisen.cards import MemoryKind, MemoryScope, MemoryStatus, Situation
from wisen.errors import ConfigError
from wisen.protocols import VectorStore
from wisen.recall import RECALLABLE, CardFilter, RecallQuery
from wisen.testing.material import card, query

CHAIRS = "Count the chairs in the northern meeting room."


class RecallContract:
    """Tests of `VectorStore.search`; needs a `store` fixture."""

    async def test_an_empty_store_has_no_answer(self, store: VectorStore) -> None:
        """Nothing is a normal answer."""
        assert await store.search(query(CHAIRS)) == []

    async def test_a_circle_sees_its_own_cards_and_what_is_promoted(self, store: VectorStore) -> None:
        """In searches, listings and counts; and a card that is released belongs to all circles from then on."""
        waits = MemoryStatus.QUARANTINED
        own, other, held = (card(f"Count the row {row}.", prompt=CHAIRS, status=waits) for row in "abc")
        other = replace(other, provenance=replace(other.provenance, owner="bo"), id="")
        held = replace(held, held=("row c",))
        promoted = card("Count the aisles.", prompt=CHAIRS, run_id="")
        await store.add_unscreened([own, other, held, promoted])

        async def seen() -> set[str]:
            where = CardFilter(tenant="", circle=own.circle)
            listed = await store.list(where)
            assert await store.count(where) == len(listed)
            found = await store.search(RecallQuery(situation=Situation(prompt=CHAIRS), filter=where, k=9))
            assert {hit.card.id for hit in found} == {one.id for one in listed}
            return {one.id for one in listed}

        assert await seen() == {own.id, promoted.id}
        await store.update(replace(other, released=True, version=other.version + 1))
        assert await seen() == {own.id, other.id, promoted.id}
        await store.update(replace(own, held=("row a",), version=own.version + 1))
        where = CardFilter(tenant="", circle=own.circle)
        assert {one.id for one in await store.list(where)} == {other.id, promoted.id}

    async def test_the_same_prompt_comes_first_with_relevance_1(self, store: VectorStore) -> None:
        """Also when it is written in other case and spacing, or without its full stop."""
        same = card("Look under the table too.", prompt=CHAIRS)
        near = card("Count the chairs in the northern meeting room twice.", prompt="Count the chairs in the hall.")
        await store.add([near, same])
        for wording in (CHAIRS, "  count THE chairs in the northern  meeting room "):
            best = (await store.search(query(wording)))[0]
            assert (best.card, best.relevance) == (same, 1.0)
            assert "same prompt" in best.reasons

    async def test_the_same_prompt_is_found_whatever_its_card_says(self, store: VectorStore) -> None:
        """Even among many cards whose text is nearer, and with the highest floor."""
        crowd = [card(f"{CHAIRS} Then do it again, {number}.", prompt=f"{CHAIRS} {number}") for number in range(30)]
        same = card("Unrelated sentence about violins.", prompt=CHAIRS)
        await store.add([*crowd, same])
        hits = await store.search(query(CHAIRS, k=3, floor=1.0))
        assert [hit.card for hit in hits] == [same]

    async def test_of_equal_hits_the_newer_comes_first_then_by_id(self, store: VectorStore) -> None:
        """Ten lessons of one prompt: the newest `k` are returned."""
        old = [card(f"Old lesson {number}.", prompt=CHAIRS, minute=1) for number in range(4)]
        new = [card(f"New lesson {number}.", prompt=CHAIRS, minute=2) for number in range(3)]
        await store.add([*old, *new])
        expected = [*sorted(new, key=lambda each: each.id), *sorted(old, key=lambda each: each.id)]
        assert [hit.card for hit in await store.search(query(CHAIRS, k=5))] == expected[:5]

    async def test_a_similar_situation_is_found_by_its_prompt(self, store: VectorStore) -> None:
        """The lesson's own words need not resemble the query."""
        lesson = card("Stools are easily forgotten.", prompt="Count the chairs in the southern meeting room.")
        await store.add([lesson, card("Bananas bend.", prompt="Describe tropical fruit for a poster.")])
        hits = await store.search(query(CHAIRS))
        assert [hit.card for hit in hits] == [lesson]
        assert hits[0].reasons
        assert 0.0 < hits[0].relevance < 1.0

    async def test_a_lesson_is_found_by_its_own_text(self, store: VectorStore) -> None:
        """A card without a situation has its words only."""
        lesson = card("When you count the chairs in a meeting room, count the northern room last.")
        await store.add([lesson])
        assert [hit.card for hit in await store.search(query(CHAIRS))] == [lesson]

    async def test_an_unrelated_prompt_gets_nothing(self, store: VectorStore) -> None:
        """What doesn't fit stays below the floor."""
        await store.add([card(f"Count chairs row by row, lesson {number}.", prompt=CHAIRS) for number in range(9)])
        assert await store.search(query("Compose a lullaby for violin and oboe")) == []

    async def test_a_query_of_no_words_gets_nothing(self, store: VectorStore) -> None:
        """An empty situation resembles nothing."""
        await store.add([card("A lesson without a situation."), card("Chairs.", prompt=CHAIRS)])
        assert await store.search(query("")) == []
        assert await store.search(query("   \n")) == []

    async def test_the_floor_is_kept_and_hits_fall_in_relevance(self, store: VectorStore) -> None:
        """All numbers are in [0, 1], best first; a higher floor gives the head of the same list."""
        rooms = ("northern", "southern", "eastern", "western", "big", "small")
        await store.add([card(f"Mind the {room} door.", prompt=f"Count chairs in the {room} room") for room in rooms])
        everything = await store.search(query(CHAIRS, k=6, floor=0.0))
        relevances = [hit.relevance for hit in everything]
        assert relevances == sorted(relevances, reverse=True)
        assert all(0.0 <= value <= 1.0 for hit in everything for value in (hit.relevance, hit.vector, hit.lexical))
        floor = relevances[2]
        expected = [hit.card.id for hit in everything if hit.relevance >= floor]
        assert [hit.card.id for hit in await store.search(query(CHAIRS, k=6, floor=floor))] == expected

    async def test_filters_apply_before_the_best_are_taken(self, store: VectorStore) -> None:
        """The few cards that fit are found behind hundreds of better ones that don't."""
        crowd = [card(f"Lesson {number}.", prompt=CHAIRS, status=MemoryStatus.ARCHIVED) for number in range(300)]
        fitting = [card(f"Fitting lesson {number}.", prompt=f"{CHAIRS} Room {number}.") for number in range(3)]
        await store.add([*crowd, *fitting])
        hits = await store.search(query(CHAIRS, where=CardFilter(tenant="", statuses=RECALLABLE)))
        assert {hit.card.id for hit in hits} == {each.id for each in fitting}

    async def test_every_condition_of_the_filter_holds(self, store: VectorStore) -> None:
        """Searching and `CardFilter.accepts` agree."""
        cards = [
            card("For any run.", prompt=CHAIRS),
            card("For clerks.", prompt=CHAIRS, scope=MemoryScope(agent_roles=("clerk",))),
            card("For the shell.", prompt=CHAIRS, scope=MemoryScope(tool_names=("shell",))),
            card("For letters.", prompt=CHAIRS, scope=MemoryScope(task_types=("letters",)), run_id="other"),
            card("A principle.", prompt=CHAIRS, kind=MemoryKind.PRINCIPLE),
            card("In quarantine.", prompt=CHAIRS, status=MemoryStatus.QUARANTINED),
        ]
        await store.add(cards)
        for where in (
            CardFilter(tenant=""),
            CardFilter(tenant="", agent_role="pilot"),
            CardFilter(tenant="", tools=("hammer",), task_type="letters"),
            CardFilter(tenant="", tools=()),
            CardFilter(tenant="", run_id="other"),
            CardFilter(tenant="", run_id="nowhere"),
            CardFilter(tenant="", kinds=(MemoryKind.PRINCIPLE,)),
            CardFilter(tenant="", statuses=(MemoryStatus.QUARANTINED,)),
        ):
            hits = await store.search(query(CHAIRS, where=where, k=10))
            assert {hit.card.id for hit in hits} == {each.id for each in cards if where.accepts(each)}

    async def test_refused_cards_are_listed_and_answer_no_query(self, store: VectorStore) -> None:
        """A filter for them belongs to listing and counting; a query with one says so instead of finding nothing."""
        where = CardFilter(tenant="", refused="abc")
        refused = replace(card("Refused.", prompt=CHAIRS), status=MemoryStatus.REJECTED, refused="abc")
        await store.add([refused, card("In use.", prompt=CHAIRS)])
        assert await store.list(where) == [refused]
        with pytest.raises(ConfigError, match=r"RecallQuery\.filter: 'refused'"):
            await store.search(query(CHAIRS, where=where))
        with pytest.raises(ConfigError, match="'corrected'"):
            await store.search(query(CHAIRS, where=CardFilter(tenant="", corrected=True)))

    async def test_no_tenant_sees_another(self, store: VectorStore) -> None:
        """Names that resemble each other, and the empty one, are tenants of their own."""
        tenants = ("", "north", "North", "north ", "nor%", "*")
        cards = [card(f"Lesson of {name!r}.", prompt=CHAIRS, scope=MemoryScope(tenant=name)) for name in tenants]
        await store.add(cards)
        for name, own in zip(tenants, cards, strict=True):
            hits = await store.search(query(CHAIRS, where=CardFilter(tenant=name), k=10, floor=0.0))
            assert [hit.card for hit in hits] == [own]

    async def test_superseded_cards_are_left_out(self, store: VectorStore) -> None:
        """They stay readable, and are found where the query asks for them, within its filter."""
        old, new = card("Old advice.", prompt=CHAIRS), card("New advice.", prompt=CHAIRS)
        await store.add([old, new])
        await store.update(replace(old, version=2, superseded_by=new.id))
        assert [hit.card for hit in await store.search(query(CHAIRS))] == [new]
        (kept,) = await store.get([old.id])
        assert kept.superseded_by == new.id
        asked = replace(query(CHAIRS), superseded=True)
        assert {hit.card.id for hit in await store.search(asked)} == {old.id, new.id}
        elsewhere = replace(asked, filter=CardFilter(tenant="", kinds=(MemoryKind.PRINCIPLE,)))
        assert await store.search(elsewhere) == []
        assert [hit.card for hit in await store.search(query(CHAIRS))] == [new]

    async def test_a_change_of_status_decides_at_once(self, store: VectorStore) -> None:
        """What was promoted is found by the very next search, what was archived isn't."""
        lesson = card("Words.", prompt=CHAIRS, status=MemoryStatus.QUARANTINED)
        await store.add([lesson])
        promoted = query(CHAIRS, where=CardFilter(tenant="", statuses=(MemoryStatus.PROMOTED,)))
        assert await store.search(promoted) == []
        lesson = lesson.with_status(MemoryStatus.PROMOTED)
        await store.update(lesson)
        assert [hit.card for hit in await store.search(promoted)] == [lesson]
        await store.update(lesson.with_status(MemoryStatus.ARCHIVED))
        assert await store.search(promoted) == []

    async def test_a_changed_text_is_found_by_its_new_words(self, store: VectorStore) -> None:
        """And no longer by the old ones."""
        lesson = card("Sharpen the pencils before drawing portraits.")
        await store.add([lesson])
        assert await store.search(query("Sharpen pencils before drawing portraits of people"))
        await store.update(replace(lesson, version=2, content="Rinse lettuce before preparing salads."))
        assert await store.search(query("Sharpen pencils before drawing portraits of people")) == []
        assert await store.search(query("Rinse lettuce before preparing salads for guests"))

    async def test_what_is_gone_no_longer_makes_words_common(self, store: VectorStore) -> None:
        """An answer depends on what is there, not on what was."""
        await store.add([card("Count the stools twice."), card("Paint the northern wall."), card("Mind the step.")])
        before = await store.search(query(CHAIRS, floor=0.0))
        crowd = [card(f"Northern meeting number {number}.") for number in range(9)]
        await store.add(crowd)
        assert await store.search(query(CHAIRS, floor=0.0)) != before
        changed = [replace(each, version=2, content="Northern chairs.") for each in crowd[:4]]
        for each in changed:
            await store.update(each)
        await store.search(query(CHAIRS, floor=0.0))
        await store.delete([each.id for each in crowd])
        assert await store.search(query(CHAIRS, floor=0.0)) == before

    async def test_type_tools_and_error_belong_to_the_situation(self, store: VectorStore) -> None:
        """An error message alone brings back what was learned from it."""
        situation = Situation(
            prompt="Load the page.", tools=("browser",), error="TimeoutError: selector never appeared"
        )
        lesson = replace(card("Wait for the network first."), situation=situation, id="")
        await store.add([lesson])
        asked = RecallQuery(
            situation=Situation(error="TimeoutError: selector never appeared"), filter=CardFilter(tenant="")
        )
        assert [hit.card.content for hit in await store.search(asked)] == ["Wait for the network first."]

    async def test_searching_while_others_write(self, store: VectorStore) -> None:
        """Each search sees a whole state; in the end everything is found."""
        cards = [card(f"Lesson {number}.", prompt=CHAIRS, minute=number) for number in range(20)]
        writes = [store.add([each]) for each in cards]
        searches = [store.search(query(CHAIRS, k=20)) for _ in range(10)]
        found = await asyncio.gather(*searches, *writes)
        assert all(len(each) <= 20 for each in found)
        assert [hit.card for hit in await store.search(query(CHAIRS, k=20))] == cards[::-1]
