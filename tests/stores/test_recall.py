"""Recall over thousands of cards: the same prompt always comes back, an unrelated one gets nothing."""

import os
from collections.abc import Sequence
from random import Random

import pytest
from vocabulary import FORMS, OWNERS, THINGS, VERBS

from wisen.cards import MemoryCard, MemoryKind, MemoryScope, Provenance, Situation
from wisen.embedders.hashing import HashEmbedder
from wisen.embedders.local import LocalEmbedder
from wisen.protocols import Embedder
from wisen.recall import CardFilter, RecallQuery
from wisen.stores.in_process.store import InMemoryVectorStore

MANNERS = (
    "without duplicates",
    "with totals by month",
    "for the auditor",
    "before Friday",
    "keeping the order",
    "ignoring drafts",
    "under the new policy",
)
UNRELATED = (
    "Compose a lullaby about falling snow",
    "What is the boiling point of ethanol?",
    "Prove that the square root of two is irrational",
    "Which muscles does a kayaker strain most?",
    "Tell me how glaciers carve valleys",
    "Name three constellations visible in winter",
    "How long should sourdough rest overnight?",
    "Describe the habitat of emperor penguins",
)


def prompt(draws: Random) -> str:
    return (
        f"{draws.choice(VERBS).capitalize()} the {draws.choice(THINGS)} of {draws.choice(OWNERS)} into "
        f"{draws.choice(FORMS)} {draws.choice(MANNERS)}, file {draws.randrange(100_000)}"
    )


def lesson(draws: Random, number: int, tenant: str = "") -> MemoryCard:
    advice = f"Open the {draws.choice(THINGS)} of {draws.choice(OWNERS)} first, then check the {draws.choice(FORMS)}."
    return MemoryCard(
        kind=MemoryKind.LESSON,
        content=f"{advice} Note {number}.",
        situation=Situation(prompt=prompt(draws)),
        scope=MemoryScope(tenant=tenant),
        provenance=Provenance(run_id=f"r{number}"),
    )


def asked(text: str) -> RecallQuery:
    return RecallQuery(situation=Situation(prompt=text), filter=CardFilter(tenant=""))


async def crowded(embedder: Embedder, cards: Sequence[MemoryCard]) -> InMemoryVectorStore:
    store = InMemoryVectorStore(embedder=embedder)
    for start in range(0, len(cards), 1_000):
        await store.add(cards[start : start + 1_000])
    return store


async def check_recall(embedder: Embedder, others: int) -> None:
    draws = Random(11)
    cards = [lesson(draws, number) for number in range(others + 200)]
    chosen = draws.sample(cards, 200)
    async with await crowded(embedder, cards) as store:
        back = 0
        for card in chosen:
            hits = await store.search(asked(card.situation.prompt))
            back += card.id in {hit.card.id for hit in hits if hit.relevance == 1.0}
        assert back == 200
        answers = [await store.search(asked(text)) for text in UNRELATED]
        assert [[hit.card.situation.prompt for hit in hits] for hits in answers] == [[]] * len(UNRELATED)


@pytest.mark.no_cover
@pytest.mark.anyio
async def test_same_and_unrelated_prompts_with_hashed_words() -> None:
    await check_recall(HashEmbedder(), 5_000)


@pytest.mark.anyio
@pytest.mark.local_model
async def test_same_and_unrelated_prompts_with_the_local_model() -> None:
    await check_recall(LocalEmbedder(), int(os.environ.get("WISEN_RECALL_CARDS", "300")))


@pytest.mark.no_cover
@pytest.mark.anyio
async def test_prefiltered_search_finds_what_exact_search_finds() -> None:
    """The nearest card by far is found among thousands, whatever the sign bits say."""
    draws = Random(12)
    cards = [lesson(draws, number) for number in range(3_000)]
    embedder = HashEmbedder()
    vectors = await embedder.embed([card.situation.text for card in cards])
    async with await crowded(embedder, cards) as store:
        found = 0
        for _ in range(50):
            question = prompt(draws)
            cosines = vectors @ (await embedder.embed([question]))[0]
            places: list[int] = cosines.argsort()[-5:].tolist()
            best = {cards[place].id for place in places}
            hits = await store.search(
                RecallQuery(situation=Situation(prompt=question), filter=CardFilter(tenant=""), k=40)
            )
            found += len(best & {hit.card.id for hit in hits})
        assert found >= 245


@pytest.mark.anyio
async def test_many_small_tenants_stay_apart() -> None:
    draws = Random(13)
    cards = [lesson(draws, number, tenant=f"t{number % 50}") for number in range(1_000)]
    async with await crowded(HashEmbedder(), cards) as store:
        for card in draws.sample(cards, 50):
            where = CardFilter(tenant=card.scope.tenant)
            hits = await store.search(RecallQuery(situation=card.situation, filter=where, floor=0.0))
            assert hits[0].card == card
            assert {hit.card.scope.tenant for hit in hits} == {card.scope.tenant}


@pytest.mark.anyio
@pytest.mark.parametrize("cards", [1, 64, 66, 300])
async def test_a_few_cards_are_all_compared_as_many_are(cards: int):
    draws = Random(cards)
    store = InMemoryVectorStore(floor=0.0)
    await store.add([lesson(draws, number) for number in range(cards)])

    for _ in range(40):
        asked = Situation(prompt=prompt(draws))
        found = [
            [
                (hit.card.id, hit.relevance, hit.reasons)
                for hit in await store.search(RecallQuery(situation=asked, filter=CardFilter(tenant=""), k=k))
            ]
            for k in (1, 2, 3, 300)
        ]
        # With 66 cards, those for which candidates are looked for and those for which none need be give the same.
        assert [one[:1] for one in found] == [found[0]] * 4
        assert found[1] == found[2][:2] == found[3][:2]
        assert len(found[3]) == cards


@pytest.mark.anyio
@pytest.mark.parametrize("change", ["add", "delete"])
async def test_a_question_that_is_asked_again_sees_what_came_and_went(change: str) -> None:
    draws = Random(5)
    cards = [
        MemoryCard(
            kind=MemoryKind.LESSON, content=f"Lesson {n}.", id=f"card-{n}", situation=Situation(prompt=prompt(draws))
        )
        for n in range(1_500)
    ]
    asked = "Turn the tram timetable of the harbour office into a poster"
    new = MemoryCard(
        kind=MemoryKind.LESSON, content="Ask for the poster's size.", id="new", situation=Situation(prompt=f"{asked}s")
    )
    query = RecallQuery(situation=Situation(prompt=asked), filter=CardFilter(tenant=""), k=3)
    async with InMemoryVectorStore(embedder=HashEmbedder()) as store:
        await store.add_unscreened(cards if change == "add" else [*cards, new])
        before = await store.search(query)
        gone = [card.id for card in cards[:700]]
        await (store.add_unscreened([new]) if change == "add" else store.delete(gone))
        after = await store.search(query)
        fresh = InMemoryVectorStore(embedder=HashEmbedder())
        await fresh.add_unscreened([*(cards if change == "add" else cards[700:]), new])
        expected = await fresh.search(query)
        await fresh.close()
    assert ("new" in [hit.card.id for hit in before]) == (change == "delete")
    told = [(hit.card.id, hit.relevance, hit.reasons) for hit in after]
    assert told == [(hit.card.id, hit.relevance, hit.reasons) for hit in expected]


@pytest.mark.anyio
async def test_what_the_screen_took_out_makes_no_two_prompts_the_same() -> None:
    """Whose mail it was, nobody knows any more: one person's answer is no answer to another one's question."""
    store = InMemoryVectorStore()
    of_somebody = Situation(prompt="Which 3 orders belong to anna@example.com?")
    [written] = await store.add([MemoryCard(kind=MemoryKind.LESSON, content="Look in A-17.", situation=of_somebody)])
    kept = (await store.get([written.card_id]))[0]
    assert "anna" not in kept.situation.prompt
    [hit] = (await store.search(asked(kept.situation.prompt)))[:1]
    assert (hit.card.id, hit.agrees, hit.relevance < 1.0) == (kept.id, False, True)
    assert not {"same prompt", "same numbers and names"} & set(hit.reasons)
