"""Which hits come first by their content, and that so many texts are compared and no more."""

from collections.abc import Sequence
from typing import Any

import pytest

from wisen.cards import Situation
from wisen.memory_ci.ideas import agree
from wisen.recall import RecallHit
from wisen.stores.in_process.store import InMemoryVectorStore
from wisen.stores.index.agreeing import by_content
from wisen.stores.index.ranking import Probe
from wisen.testing.material import card, query

pytestmark = pytest.mark.anyio

ASKED = "Ship the parcel of Anna to zone 7 now."


def hit(prompt: str, relevance: float, **more: Any) -> RecallHit:
    return RecallHit(card=card("Ask.", prompt=prompt), relevance=relevance, reasons=("so",), **more)


def test_the_same_prompt_agreeing_ones_others_and_contrary_ones_come_in_this_order():
    same, contrary = hit(ASKED, 1.0), hit("Don't ship the parcel of Anna to zone 7 now.", 0.9)
    other, agrees = hit("Ship the parcel of Anna to zone 8 now.", 0.8), hit("What does zone 7 cost?", 0.3)
    less, far = hit("Is zone 7 far?", 0.2), hit("Count the chairs.", 0.1)
    found = by_content(query(ASKED, k=6), [same, contrary, other, agrees, less, far])
    assert [one.card for one in found] == [one.card for one in (same, agrees, less, other, far, contrary)]
    assert [one.fit for one in found] == [1, 1, 1, 0, 0, -1]
    assert [one.agrees for one in found] == [True, True, True, False, False, False]
    assert [one.reasons for one in found] == [
        ("so",),
        ("same numbers and names", "so"),
        ("same numbers and names", "so"),
        ("so",),
        ("so",),
        ("so",),
    ]
    assert by_content(query(ASKED, k=2), [same, contrary, other, agrees, less, far]) == found[:2]


def test_the_same_prompt_comes_before_one_that_says_more():
    asked = "what is the population of berlin?"
    same, agrees = hit(asked, 1.0), hit("Tell me the population of Berlin.", 0.8)
    assert [(one.card, one.fit) for one in by_content(query(asked), [same, agrees])] == [
        (same.card, 0),
        (agrees.card, 1),
    ]


def test_of_a_long_prompt_the_beginning_and_the_end_are_compared():
    filling = "so " * 3_000
    assert by_content(query(f"Zone 7. {filling} Cost?"), [hit("Zone 7: what does it cost?", 0.5)])[0].agrees
    assert by_content(query(f"{filling} Zone 7: cost?"), [hit("Zone 7: what does it cost?", 0.5)])[0].agrees
    assert not by_content(query(f"{filling} Zone 7. {filling}"), [hit("Zone 7: what does it cost?", 0.5)])[0].agrees
    assert not by_content(query("Zone 7: what does it cost?"), [hit(f"{filling} Zone 7. {filling}", 0.5)])[0].agrees


def test_of_many_long_prompts_those_of_the_best_hits_are_read_and_keys_decide_for_the_others():
    prompt = f"Zone 7: cost? {'so ' * 2_000}"
    hits = [hit(prompt, 0.5 - number / 100, agrees=number > 6) for number in range(10)]
    found = by_content(query("What does zone 7 cost?", k=10), hits)
    assert [round(0.5 - one.relevance, 2) for one in found if one.agrees] == [0, 0.01, 0.02, 0.03, 0.07, 0.08, 0.09]


class Counting(InMemoryVectorStore):
    """Notes how many hits its index gives."""

    given = 0

    async def _answers(self, probes: Sequence[Probe]) -> Sequence[Sequence[RecallHit]]:
        found = await super()._answers(probes)
        self.given = sum(map(len, found))
        return found


@pytest.mark.parametrize(("number", "given"), [("{}", 16), ("7", 16), ("7 of {} b", 16)])
async def test_however_many_cards_fit_the_texts_of_a_few_are_compared(number: str, given: int):
    store = Counting()
    await store.add([card(f"Look {at}.", prompt=f"Ship {at * '!'} to zone {number.format(at)}.") for at in range(100)])
    assert len(await store.search(query("Ship to zone 7.", k=3, floor=0.0))) == 3
    assert store.given <= 2 * given
    assert store.given >= given
    await store.search(query("", k=3, floor=0.0))
    assert store.given <= 3


def test_situations_agree_where_none_has_other_content_and_none_denies_the_other():
    def agrees(one: str, other: str) -> bool:
        return agree(Situation(prompt=one), Situation(prompt=other))

    assert agrees("Cost of zone 7?", "What does zone 7 cost?")
    assert agrees("Count the chairs.", "Paint the fence.")
    assert agrees("", "")
    assert not agrees("Cost of zone 7?", "Cost of zone 8?")
    assert not agrees("Cost of zone 7?", "Cost?")
    assert not agrees("Cost?", "Cost of zone 7?")
    assert not agrees("Archive the draft.", "Don't archive the draft.")
