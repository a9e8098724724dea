"""What every store promises about lessons that look alike: each is kept, and the right one is found."""
# ruff: noqa: S101 - these assertions are what this module is for

from dataclasses import replace

from wisen.cards import MemoryScope, MemoryStatus
from wisen.protocols import VectorStore
from wisen.recall import CardFilter
from wisen.testing.material import card, query
from wisen.testing.slots import families

_SIZE = 60
_AGREEING = "same numbers and names"


class LookalikesContract:
    """Tests of what is the same, and of cards whose situation agrees in content; needs a `store` fixture."""

    async def test_lessons_that_differ_in_one_slot_are_kept_and_found(self, store: VectorStore) -> None:
        """A number, a name, a code, a unit, a negation, a format: the lesson of the same prompt comes first."""
        for family in families(_SIZE):
            cards = [family.card(slot) for slot in family.slots]
            written = await store.add(cards)
            assert [each.outcome for each in written] == ["added"] * _SIZE, family.name
            for slot, own in zip(family.slots, cards, strict=True):
                hits = await store.search(query(family.prompt.format(slot)))
                assert hits[0].card == own, (family.name, slot)

    async def test_signs_are_content(self, store: VectorStore) -> None:
        """What differs in an operator or a currency is another lesson, of another prompt."""
        pairs = (("8+2", "8-2"), ("C++", "C#"), ("$5", "€5"))
        for one, other in pairs:
            cards = [card(f"Mind {slot} here", prompt=f"Explain {slot}") for slot in (one, other)]
            assert [each.outcome for each in await store.add(cards)] == ["added"] * 2
            for slot, own in zip((one, other), cards, strict=True):
                hits = await store.search(query(f"Explain {slot}"))
                assert (hits[0].card, hits[0].relevance) == (own, 1.0)
                assert all(hit.relevance < 1.0 for hit in hits[1:])

    async def test_form_alone_makes_no_other_card(self, store: VectorStore) -> None:
        """Case, spacing, quotes and the full stop don't count, nor does whether a check or an opinion decided."""
        first = card("Look under the “table” too.", prompt="Count the chairs.", run_id="r1")
        same = card("look  under the table too", prompt="count the chairs", run_id="r2")
        checked = replace(same, provenance=replace(same.provenance, run_id="r3", verified=True), id="")
        await store.add([first])
        written = await store.add([same, checked])
        assert [(each.card_id, each.outcome) for each in written] == [(first.id, "duplicate")] * 2

    async def test_a_card_that_agrees_comes_before_those_that_sound_alike(self, store: VectorStore) -> None:
        """Its relevance is lower, yet its number is the query's; it says why it is there."""
        alike = [card(f"Lesson {number}.", prompt=f"Ship the parcel to zone {number} now.") for number in range(20, 50)]
        agrees = card("Ask the desk.", prompt="What does a parcel to zone 7 cost?")
        await store.add([*alike, agrees])
        hits = await store.search(query("Ship the parcel to zone 7 now.", k=3))
        assert hits[0].card == agrees
        assert (hits[0].agrees, hits[1].agrees) == (True, False)
        assert hits[0].relevance < hits[1].relevance
        assert _AGREEING in hits[0].reasons
        assert all(_AGREEING not in hit.reasons for hit in hits[1:])

    async def test_content_agrees_however_it_is_written(self, store: VectorStore) -> None:
        """A date, a time, a name at the beginning: what sounds more like it has other content in its place."""
        told = (
            ("List the invoices of 2024-05-03.", "Which invoices to list came on 3 May 2024?", "2024-05-04"),
            ("Book the blue room for 5:30 pm.", "Is the blue room free at 17:30, to book it?", "5:30 am"),
            ("What is the invoice total of Nordic Timber?", "Nordic Timber: what did they invoice in total?", "Baltic"),
        )
        for asked, agrees, other in told:
            alike = asked.replace("2024-05-03", other).replace("5:30 pm", other).replace("Nordic", other)
            await store.add([card("Ask the desk.", prompt=agrees), card("Look it up.", prompt=alike, minute=1)])
            hits = await store.search(query(asked, k=1))
            assert [(hit.card.situation.prompt, hit.agrees) for hit in hits] == [(agrees, True)]

    async def test_a_card_that_says_the_opposite_comes_last(self, store: VectorStore) -> None:
        """It denies what the prompt says, or goes the other way round, and its relevance is higher."""
        told = (
            (
                "List the orders that are not paid.",
                "Which orders haven't been paid yet?",
                "List the orders that are paid.",
            ),
            (
                "Don't archive the draft of the offer.",
                "The draft of the offer shall not go to the archive.",
                "Archive the draft of the offer.",
            ),
            (
                "Import orders from SAP to Oracle.",
                "Bring orders out of SAP to Oracle.",
                "Import orders from Oracle to SAP.",
            ),
        )
        for asked, other, opposite in told:
            await store.add([card("Ask the desk.", prompt=other), card("Look it up.", prompt=opposite, minute=1)])
            hits = await store.search(query(asked, floor=0.01))
            found = {hit.card.situation.prompt: hit for hit in hits}
            assert found[opposite].relevance > found[other].relevance
            assert found[opposite].contradicts
            assert not found[other].contradicts
            assert hits[-1] == found[opposite]
            assert (await store.search(query(asked, k=1, floor=0.01)))[0] == hits[0]

    async def test_the_same_prompt_comes_before_one_that_agrees(self, store: VectorStore) -> None:
        """Both agree in content."""
        agrees = card("Ask the desk.", prompt="What does a parcel to zone 7 cost?", minute=9)
        same = card("Weigh it first.", prompt="Ship the parcel to zone 7 now.")
        await store.add([agrees, same])
        hits = await store.search(query("ship the parcel to zone 7 now"))
        assert [(hit.card, hit.agrees) for hit in hits] == [(same, True), (agrees, True)]

    async def test_a_card_that_agrees_is_found_behind_any_crowd(self, store: VectorStore) -> None:
        """However many cards sound more like the prompt, and have its words too."""
        prompts = (f"Ship the parcel to zone 7 with {number} stamps now." for number in range(100, 900))
        crowd = [card("Lesson.", prompt=prompt) for prompt in prompts]
        agrees = card("Ask the desk.", prompt="What does a parcel to zone 7 cost?")
        await store.add([*crowd, agrees])
        hits = await store.search(query("Ship the parcel to zone 7 now.", k=3))
        assert [hit.card for hit in hits if hit.agrees] == [agrees]

    async def test_prompts_without_numbers_and_names_agree_with_none(self, store: VectorStore) -> None:
        """Not even with one another: relevance alone decides."""
        await store.add(
            [
                card(f"Look {number} times.", prompt=f"count the {kind} chairs")
                for number, kind in enumerate(("red", "old"))
            ]
        )
        for prompt in ("count the red chairs", "count the chairs"):
            hits = await store.search(query(prompt))
            assert [hit.agrees for hit in hits] == [False, False]
            assert all(_AGREEING not in hit.reasons for hit in hits)

    async def test_filter_and_floor_hold_for_cards_that_agree(self, store: VectorStore) -> None:
        """A number alone makes nothing relevant, and nothing of another tenant or status."""
        prompt = "What does a parcel to zone 7 cost?"
        cards = [
            card("Unrelated.", prompt="Compose 7 lullabies for violin."),
            card("Elsewhere.", prompt=prompt, scope=MemoryScope(tenant="north")),
            card("Archived.", prompt=prompt, status=MemoryStatus.ARCHIVED),
        ]
        await store.add(cards)
        where = CardFilter(tenant="", statuses=(MemoryStatus.PROMOTED,))
        assert await store.search(query("Ship the parcel to zone 7 now.", where=where)) == []

    async def test_a_changed_prompt_agrees_by_its_new_content(self, store: VectorStore) -> None:
        """And no longer by the old one."""
        lesson = card("Ask the desk.", prompt="What does a parcel to zone 7 cost?")
        await store.add([lesson])
        moved = replace(lesson.situation, prompt="What does a parcel to zone 8 cost?")
        await store.update(replace(lesson, version=2, situation=moved))
        for zone, agrees in ((7, False), (8, True)):
            hits = await store.search(query(f"Ship the parcel to zone {zone} now.", floor=0.0))
            assert [hit.agrees for hit in hits] == [agrees]

    async def test_words_with_vowel_signs_are_found_whole(self, store: VectorStore) -> None:
        """Tamil and Bengali: tasks that share only signs and letters have nothing to do with each other."""
        cakes = ("சாக்லேட் கேக் எப்படி செய்வது?", "চকলেট কেক কীভাবে বানাবো?")
        trains = ("ஷாங்காய்க்கு ரயில் டிக்கெட் பதிவு செய்.", "সাংহাইয়ের ট্রেনের টিকিট বুক করো।")
        await store.add([card(f"Lesson {at}.", prompt=prompt) for at, prompt in enumerate(trains)])
        for prompt in cakes:
            assert await store.search(query(prompt)) == []
        assert [hit.card.situation.prompt for hit in await store.search(query("ஷாங்காய்க்கு ரயில்"))] == [trains[0]]

    async def test_prompts_without_spaces_or_letters_are_found(self, store: VectorStore) -> None:
        """Thai, Chinese and flags: the same prompt comes first, and a near one is found by what it shares."""
        prompts = ("ราคาตั๋วรถไฟไปเชียงใหม่เท่าไร", "从北京到上海的火车票多少钱", "Visa rules for 🇹🇭")
        near = ("ราคาตั๋วรถไฟไปกรุงเทพเท่าไร", "从广州到上海的火车票多少钱", "Which visa rules hold for 🇹🇭 today")
        others = ("สูตรทำแกงเขียวหวานไก่", "绿咖喱鸡的做法", "Recipes from 🇮🇹")
        cards = [card(f"Lesson {number}.", prompt=prompt) for number, prompt in enumerate((*prompts, *others))]
        await store.add(cards)
        for own, prompt, like in zip(cards, prompts, near, strict=False):
            hits = await store.search(query(prompt))
            assert (hits[0].card, hits[0].relevance) == (own, 1.0)
            assert [hit.card for hit in await store.search(query(like))][:1] == [own]
