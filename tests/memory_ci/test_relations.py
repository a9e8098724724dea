"""Which idea a new card is a wording of, and which stored ideas are its rivals."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from trying import HARBOUR, Meaning, lesson

from wisen import (
    CardFilter,
    HashEmbedder,
    InMemoryVectorStore,
    MemoryCard,
    MemoryKind,
    MemoryScope,
    MemoryStatus,
    Situation,
)
from wisen.cards import Provenance
from wisen.memory_ci.ideas import (
    Ideas,
    Relations,
    comparable,
    embedder_of,
    heads_of,
    is_example,
    submission_key,
    wordings_of,
)
from wisen.recall import RecallHit, RecallQuery

pytestmark = pytest.mark.anyio

BILLS = "Bills: hand each of them over to the Harbour team."
ELSEWHERE = "Whom does this letter concern?"
CHEAP, DEAR, DEAREST = (f"Invoices above {sum_} EUR go to Harbour." for sum_ in (500, 900, 990))


def kept(content: str, prompt: str = "Route the ticket.", **more: Any) -> MemoryCard:
    """A lesson in quarantine; `more` are fields of the card."""
    return replace(lesson(content, prompt), status=MemoryStatus.QUARANTINED, id="", **more)


def episode(prompt: str, answer: str = "Maple", *, strategy: str = "", **source: Any) -> MemoryCard:
    """A task with its accepted answer."""
    told: dict[str, Any] = {"run_id": prompt, "agent": "agent", "verified": True, **source}
    return MemoryCard(
        kind=MemoryKind.SKILL_CARD,
        content=answer,
        strategy=strategy,
        situation=Situation(prompt=prompt),
        status=MemoryStatus.QUARANTINED,
        provenance=Provenance(**told),
    )


async def related(card: MemoryCard, *stored: MemoryCard, embedder: Any = None) -> Relations:
    store = InMemoryVectorStore(embedder=embedder) if embedder else InMemoryVectorStore()
    await store.add_unscreened(stored)
    return await Ideas(store).relations(card)


class TestWordings:
    async def test_a_card_that_nothing_is_like_is_a_new_idea(self) -> None:
        assert await related(kept(HARBOUR)) == Relations()
        assert await related(kept(HARBOUR), kept("Write dates in full.", "Read the dates.")) == Relations()

    async def test_the_same_words_are_one_idea_and_of_the_same_situation_one_card(self) -> None:
        first, other = kept(HARBOUR), kept(HARBOUR, ELSEWHERE)
        assert await related(replace(first, id="new"), first) == Relations(head=first, same=first)
        assert await related(replace(first, id="new"), other) == Relations(head=other)
        assert await related(first, first) == Relations(), "it isn't another wording of itself"

    async def test_the_head_is_named_whichever_wording_is_near(self) -> None:
        head = kept("Something else that nobody searches for.", "Count the chairs.")
        assert await related(kept(HARBOUR), head, kept(HARBOUR, ELSEWHERE, idea=head.id)) == Relations(head=head)

    @pytest.mark.parametrize("first", ["archived", "live"])
    async def test_the_same_words_in_use_come_before_archived_ones_and_other_wordings(self, first: str) -> None:
        archived = kept(HARBOUR, ELSEWHERE, provenance=Provenance(run_id=first))
        archived = replace(archived, status=MemoryStatus.ARCHIVED)
        live, worded = kept(HARBOUR, "Which team?"), kept(BILLS)
        meaning = Meaning(
            ("invoice", "bill"),
        )
        stored = [archived, live, worded] if first == "archived" else [live, worded, archived]
        assert (await related(kept(HARBOUR), *stored, embedder=meaning)).head == live
        assert (await related(kept(HARBOUR), archived, worded, embedder=meaning)).head == archived

    async def test_of_other_wordings_the_nearest_is_the_one(self) -> None:
        near, far = kept(BILLS), kept("Forward any bill you get to the people at Harbour.")
        angles = {HARBOUR: 0.0, near.text: 0.3, far.text: 0.6}

        class Turned(Meaning):
            """Texts by their angle."""

            async def embed(self, texts: Sequence[str]) -> Any:
                rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
                for row, text in zip(rows, texts, strict=True):
                    row[:2] = np.cos(angles.get(text, 0.0)), np.sin(angles.get(text, 0.0))
                return rows

        for stored in ([far, near], [near, far]):
            assert (await related(kept(HARBOUR), *stored, embedder=Turned())).head == near

    async def test_what_was_learned_elsewhere_is_no_other_wording_and_hides_none(self) -> None:
        meaning = Meaning(("invoice", "bill", "ticket"), ("parcel", "chairs"))
        meaning.floor = 0.5
        apart, worded = kept(BILLS, "Count the chairs."), kept("Forward any bill you get to the people at Harbour.")
        for stored in ([apart, worded], [worded, apart]):
            assert (await related(kept(HARBOUR), *stored, embedder=meaning)).head == worded
        assert await related(kept(HARBOUR), apart, embedder=meaning) == Relations()

        class Ordered(InMemoryVectorStore):
            """Gives the unlike one first."""

            async def search(self, query: RecallQuery) -> list[RecallHit]:
                del query
                return [RecallHit(card=one, relevance=0.5, reasons=()) for one in (apart, worded)]

        assert (await Ideas(Ordered(embedder=meaning)).relations(kept(HARBOUR))).head == worded
        nowhere = kept(BILLS, "")
        assert (await related(kept(HARBOUR), nowhere, embedder=meaning)).head == nowhere
        assert (await related(kept(HARBOUR, ""), apart, embedder=meaning)).head == apart

    async def test_where_an_embedder_does_not_know_a_text_it_says_nothing_of_it(self) -> None:
        class Learned(Meaning):
            """It has learned some texts."""

            unknown = ""

            def knows(self, text: str) -> bool:
                return text != self.unknown

        meaning = Learned(("invoice", "bill"))
        assert (await related(kept(HARBOUR), kept(BILLS), embedder=meaning)).head is not None
        for text in (HARBOUR, BILLS):
            meaning.unknown = text
            assert await related(kept(HARBOUR), kept(BILLS), embedder=meaning) == Relations()


class TestRivals:
    async def test_like_words_that_say_otherwise_are_rivals(self) -> None:
        cheap, dear = kept(CHEAP), kept(DEAR)
        found = await related(kept(DEAREST), cheap, dear)
        assert (found.head, found.same, set(found.rivals)) == (None, None, {cheap, dear})

    async def test_rivals_are_heads_each_once_and_never_the_own_idea(self) -> None:
        head = kept("Something else that nobody searches for.", "Count the chairs.")
        cheap, dear = kept(CHEAP, idea=head.id), kept(DEAR, idea=head.id)
        assert (await related(kept(DEAREST), head, cheap, dear)).rivals == (head,)
        own = kept(DEAREST, ELSEWHERE)
        found = await related(kept(DEAREST), own, kept(CHEAP, idea=own.id))
        assert (found.head, found.rivals) == (own, ())

    async def test_the_same_situation_is_the_same_even_if_no_embedder_knows_it(self) -> None:
        cheap = kept(CHEAP, "???")
        assert (await related(kept(DEAR, "???"), cheap)).rivals == (cheap,)
        assert (await related(kept(DEAR, "!?"), cheap)).rivals == ()
        assert (await related(kept(DEAR, " "), kept(CHEAP, "Route."))).rivals == ()

    async def test_situations_that_the_embedder_does_not_know_are_alike_by_their_words(self) -> None:
        class Latin(Meaning):
            """Gives all other scripts one vector, as a model does for characters that it never learned."""

            def knows(self, text: str) -> bool:
                return text.isascii()

        cake, train = kept("Set the timer to 25 minutes.", "วิธีอบเค้กช็อกโกแลต"), "จองตั๋วรถไฟไปเซี่ยงไฮ้"
        longer = kept("Set the timer to 40 minutes.", train)
        assert (await related(longer, cake, embedder=Latin())).rivals == ()
        again = kept("Set the timer to 40 minutes.", "วิธีอบเค้กช็อกโกแลตสำหรับวันเกิด")
        assert (await related(again, cake, embedder=Latin())).rivals == (cake,)
        assert (await related(longer, cake, embedder=Meaning())).rivals == (cake,)

    async def test_what_was_learned_of_other_cases_is_no_rival(self) -> None:
        seven = kept("For zone 7 add 12 EUR.", "Send a parcel to zone 7.")
        eight = kept("For zone 8 add 15 EUR.", "Send a parcel to zone 8.")
        assert (await related(eight, seven)).rivals == ()
        assert (await related(replace(eight, situation=seven.situation, id=""), seven)).rivals == (seven,)


class TestExamples:
    async def test_like_tasks_of_one_origin_are_one_idea(self) -> None:
        old = episode("Route the ticket of customer 7, please.")
        found = await related(episode("Route the ticket of customer 8, please."), old)
        assert found == Relations(head=old)
        worded = replace(episode("Route the ticket of customer 9, please."), idea=old.id)
        far = replace(old, situation=Situation(prompt="Something else altogether"))
        assert await related(episode("Route the ticket of customer 8, please."), far, worded) == Relations(head=far)
        again = episode(old.situation.prompt, run_id="again")
        assert await related(again, old) == Relations(head=old, same=old)

    @pytest.mark.parametrize(
        "change",
        [
            {"verified": False},
            {"created_by": "import"},
            {"strategy": "Look twice."},
        ],
    )
    async def test_of_another_origin_or_none_at_all_they_are_apart(self, change: dict[str, Any]) -> None:
        old = episode("Route the ticket of customer 7, please.", **change)
        assert await related(episode("Route the ticket of customer 8, please."), old) == Relations()
        assert await related(replace(old, id="new"), episode("Route the ticket of customer 8, please.")) == Relations()

    async def test_the_same_example_of_another_origin_is_the_same_and_no_idea_of_its(self) -> None:
        old = episode("Which team?", verified=False)
        assert await related(episode("Which team?", run_id="new"), old) == Relations(same=old)

    async def test_for_other_runs_they_are_apart(self) -> None:
        old = replace(episode("Route the ticket of customer 7, please."), scope=MemoryScope(task_types=("a",)), id="")
        assert await related(episode("Route the ticket of customer 8, please."), old) == Relations()

    @pytest.mark.parametrize(("relevance", "alike"), [(0.35, True), (0.3499, False)])
    async def test_a_task_is_like_another_from_this_relevance_on(self, relevance: float, alike: bool) -> None:
        old = episode("Something else altogether")

        class Found(InMemoryVectorStore):
            async def search(self, query: RecallQuery) -> list[RecallHit]:
                del query
                return [RecallHit(card=old, relevance=relevance, reasons=())]

        found = await Ideas(Found()).relations(episode("Route the ticket."))
        assert found == Relations(head=old if alike else None)

    async def test_an_example_and_a_skill_that_claims_something_are_not_compared(self) -> None:
        claim = replace(episode("", "Route tickets to Maple.", strategy="Look."), situation=Situation(), id="")
        example = replace(episode("Route the ticket.", "Route tickets to Maple."), id="")
        assert await related(claim, example) == Relations()


class TestSearch:
    @pytest.mark.parametrize("kind", [MemoryKind.LESSON, MemoryKind.REFLECTION])
    async def test_a_report_that_was_archived_by_age_is_no_idea_any_more(self, kind: MemoryKind) -> None:
        old = replace(kept(HARBOUR, ELSEWHERE), kind=kind, status=MemoryStatus.ARCHIVED, id="")
        found = await related(replace(kept(HARBOUR), kind=kind, id=""), old)
        assert found == Relations(head=old if kind is MemoryKind.LESSON else None)

    async def test_candidates_and_cards_of_other_kinds_scopes_or_tenants_are_left_alone(self) -> None:
        card = kept(HARBOUR)
        others = [
            replace(card, status=MemoryStatus.CANDIDATE, id="a"),
            replace(card, kind=MemoryKind.PRINCIPLE, id="b"),
            replace(card, scope=MemoryScope(tenant="acme"), id="c"),
            replace(card, scope=MemoryScope(tool_names=("search",)), id="d"),
        ]
        assert await related(card, *others) == Relations()

    async def test_many_cards_of_other_kinds_crowd_nothing_out(self) -> None:
        others = [kept(DEAR, f"Case {number}.", kind=MemoryKind.PRINCIPLE) for number in range(40)]
        assert await related(kept(DEAR), *others, cheap := kept(CHEAP)) == Relations(rivals=(cheap,))
        several = [kept(f"Invoices above {number} EUR go to Harbour.") for number in range(100, 130)]
        assert set((await related(kept(DEAR), *several)).rivals) == set(several)

    async def test_reports_are_compared_with_their_own_agents(self) -> None:
        def report(agent: str) -> MemoryCard:
            source = Provenance(run_id=agent, agent=agent)
            return replace(kept(HARBOUR, ELSEWHERE), kind=MemoryKind.REFLECTION, provenance=source, id="")

        bobs, mine = report("bob"), replace(report("alice"), situation=Situation(prompt="Route."), id="")
        assert await related(mine, bobs) == Relations()
        assert await related(mine, bobs, alices := report("alice")) == Relations(head=alices)

    async def test_the_32_nearest_of_its_kind_are_compared(self) -> None:
        asked: list[RecallQuery] = []

        class Asked(InMemoryVectorStore):
            async def search(self, query: RecallQuery) -> list[RecallHit]:
                asked.append(query)
                return []

        card = kept(DEAR)
        assert await Ideas(Asked()).relations(card) == Relations()
        assert [(one.k, one.filter.kinds, one.filter.tenant) for one in asked] == [
            (32, (card.kind,), card.scope.tenant)
        ]

    async def test_each_text_is_embedded_once_and_only_where_content_may_agree(self) -> None:
        class Counting(HashEmbedder):
            asked: list[str]

            async def embed(self, texts: Sequence[str]) -> Any:
                self.asked += texts
                return await super().embed(texts)

        embedder = Counting()
        embedder.asked = []
        rival, other = kept(CHEAP, ""), kept("The Harbour team is kind.", "Who is kind?")

        class Found(InMemoryVectorStore):
            async def search(self, query: RecallQuery) -> list[RecallHit]:
                del query
                return [RecallHit(card=one, relevance=0.5, reasons=()) for one in (rival, other)]

        ideas, card = Ideas(Found(embedder=embedder)), kept(DEAR)
        for _ in range(2):
            assert (await ideas.relations(card)).rivals == (rival,)
        assert embedder.asked == [DEAR, CHEAP, card.situation.text]


class Recording(InMemoryVectorStore):
    """Notes which cards it is asked for, and which it lists."""

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[list[str]] = []

    async def get(self, card_ids: Sequence[str]) -> list[MemoryCard]:
        self.noted.append([*card_ids])
        return await super().get(card_ids)

    async def list(self, where: CardFilter, *, limit: int = 100, offset: int = 0) -> list[MemoryCard]:
        found = await super().list(where, limit=limit, offset=offset)
        self.noted.append([one.id for one in found])
        return found


async def test_heads_are_read_only_where_they_are_others_and_not_there_already() -> None:
    store = Recording()
    head, other = kept("A."), kept("B.")
    await store.add_unscreened([head, other])
    cards = [head, kept("C.", idea=head.id), kept("D.", idea=other.id), kept("E.", idea=other.id)]
    assert [*(await heads_of(store, cards)).values()] == [head, head, other, other]
    assert store.noted == [[other.id]]
    assert await heads_of(store, [head, other]) == {head.id: head, other.id: other}
    assert store.noted == [[other.id]]


async def test_the_wordings_of_an_idea_are_of_its_tenant_and_kind_and_nothing_else_is_read() -> None:
    store = Recording()
    head, wording = kept("A."), kept("B.")
    wording = replace(wording, idea=head.id)
    await store.add_unscreened(
        [
            head,
            wording,
            kept("C."),
            replace(wording, scope=MemoryScope(tenant="acme"), id="theirs"),
            replace(wording, kind=MemoryKind.PRINCIPLE, id="of another kind"),
        ]
    )
    assert await wordings_of(store, head) == [wording]
    assert [one for one in store.noted if one] == [[wording.id]]


def test_an_example_is_a_task_with_an_answer_and_no_claim() -> None:
    assert is_example(episode("Which team?"))
    assert not is_example(episode(""))
    assert not is_example(episode("Which team?", strategy="Look."))
    assert not is_example(replace(episode("Which team?"), kind=MemoryKind.LESSON))


async def test_a_card_whose_head_is_gone_or_rejected_stands_for_itself() -> None:
    store = InMemoryVectorStore()
    head, rejected = kept("A."), replace(kept("B."), status=MemoryStatus.REJECTED)
    await store.add_unscreened([head, rejected])
    cards = [kept(f"C{at}.", idea=one) for at, one in enumerate((head.id, rejected.id, "gone", ""))]
    heads = await heads_of(store, cards)
    assert list(heads) == [one.id for one in cards]
    assert list(heads.values()) == [head, *cards[1:]]


def test_cards_of_one_kind_for_the_same_runs_are_comparable() -> None:
    card = kept(HARBOUR)
    assert comparable(card, kept(BILLS, ELSEWHERE))
    assert not comparable(card, replace(card, kind=MemoryKind.PRINCIPLE))
    assert not comparable(card, replace(card, scope=MemoryScope(tenant="acme")))
    report = replace(card, kind=MemoryKind.REFLECTION)
    assert not comparable(report, replace(report, provenance=Provenance(agent="bob")))


def test_submissions_wait_for_those_that_they_may_be_wordings_of() -> None:
    card = kept("Zone 3 costs 4.50.")
    key = submission_key(card)
    assert key == submission_key(replace(card, content="4.50 is what zone 3 costs", situation=Situation(prompt="x")))
    assert key == submission_key(replace(card, provenance=Provenance(agent="bob")))
    for other in (
        replace(card, content="Zone 3 costs 5.50."),
        replace(card, kind=MemoryKind.PRINCIPLE),
        replace(card, scope=MemoryScope(tenant="acme")),
    ):
        assert key != submission_key(other)
    plain = kept("Ask first.")
    assert submission_key(plain) == submission_key(replace(plain, content="ask  FIRST!")) != key
    assert submission_key(plain) != submission_key(replace(plain, content="Never ask."))
    report = replace(card, kind=MemoryKind.REFLECTION)
    assert submission_key(report) != submission_key(replace(report, provenance=Provenance(agent="bob")))
    asked = episode("Which team?")
    assert (
        submission_key(asked) == submission_key(episode("which  TEAM", "Oak")) != submission_key(episode("Which tree?"))
    )


def test_a_store_that_names_no_embedder_compares_words() -> None:
    class Plain:
        embedder: Any = None

    plain: list[Any] = [Plain(), object()]
    assert all(isinstance(embedder_of(one), HashEmbedder) for one in plain)
    assert embedder_of(InMemoryVectorStore(embedder=(meaning := Meaning(("a",))))) is meaning
