"""A count is finished, and a verdict carried out, whoever is cancelled and whenever the store fails."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from trying import NOON, PROMPT, agent, drawing, drawn, good_and_all, keeper, lesson, says_yes

from wisen import CardFilter, InMemoryVectorStore, MemoryCard, MemoryCI, MemoryStatus, SQLiteVectorStore
from wisen.account.counts import Outcome, weigh
from wisen.account.draws import Draws
from wisen.cards import CardEvidence
from wisen.errors import StoreError
from wisen.events import CardMoved
from wisen.memory_ci.changes import change_card
from wisen.records import Advice

pytestmark = pytest.mark.anyio

GOOD = Outcome(good=True)
PARCELS = "Letters about parcels: choose Maple, tracked."


class Weak:
    """A store whose writes wait until they may go on, or fail."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.begun = asyncio.Event()
        self.waits = False
        self.fails = 0
        """So many writes fail."""
        self.refuses = ""
        """The card that can't be written."""
        self.down = False
        """Whether nothing can be read once an idea is promoted."""
        self._promoted = False

    async def update(self, card: MemoryCard) -> None:
        """Write, as it may be."""
        if self.waits:
            self.begun.set()
            await asyncio.sleep(0.02)
        if card.id == self.refuses:
            raise StoreError("refused")
        if self.fails:
            self.fails -= 1
            raise StoreError("busy")
        await super().update(card)  # type: ignore[misc]
        self._promoted |= card.status is MemoryStatus.PROMOTED

    async def get(self, card_ids: Any) -> Any:
        """Read, as it may be."""
        if self.down and self._promoted:
            raise StoreError("gone")
        return await super().get(card_ids)  # type: ignore[misc]


class WeakMemory(Weak, InMemoryVectorStore):
    """In memory."""


class WeakFile(Weak, SQLiteVectorStore):
    """In a file."""


@pytest.fixture(params=["memory", "sqlite"])
async def weak(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Any]:
    if request.param == "memory":
        yield WeakMemory()
        return
    async with WeakFile(tmp_path / "s.db") as store:
        yield store


async def two_ideas(store: Any) -> MemoryCI:
    ci = keeper(store)
    await ci.submit(lesson())
    await ci.submit(lesson(PARCELS))
    return ci


async def outcomes(ci: MemoryCI) -> list[tuple[int, tuple[int, int]]]:
    """Of each idea how many draws are open, and what was counted."""
    cards = await ci.store.list(CardFilter())
    return [(len(card.open_draws), good_and_all(trial)) for card in cards for trial in card.trials]


async def test_a_caller_that_is_cancelled_while_it_counts_has_counted_on_all_ideas(weak: Any) -> None:
    ci = await two_ideas(weak)
    draws = drawing(ci)
    advice = await drawn(draws)
    weak.waits = True
    counting = asyncio.create_task(draws.settle(advice, GOOD))
    await weak.begun.wait()
    counting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await counting
    await asyncio.sleep(0.5)
    assert await outcomes(ci) == [(0, (1, 1)), (0, (1, 1))]


async def test_a_run_that_is_cancelled_while_it_counts_waits_for_the_count(weak: Any) -> None:
    ci = await two_ideas(weak)

    async def judge(output: str) -> float:
        weak.waits = True
        return float(output == "yes")

    run = asyncio.create_task(agent(ci, says_yes, evaluator=judge).run(PROMPT))
    await weak.begun.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert await outcomes(ci) == [(0, (1, 1)), (0, (1, 1))]


@pytest.mark.parametrize("last", ["reflexion.evaluated", "reflexion.threshold_met"])
async def test_a_reader_that_leaves_once_the_outcome_is_known_leaves_no_draw_open(weak: Any, last: str) -> None:
    ci = await two_ideas(weak)
    events = agent(ci, says_yes).stream(PROMPT)
    async for event in events:
        if event.name == last:
            break
    await events.aclose()  # type: ignore[attr-defined]
    assert await outcomes(ci) == [(0, (1, 1)), (0, (1, 1))]


async def test_one_failure_of_the_store_loses_no_outcome(weak: Any) -> None:
    ci = await two_ideas(weak)

    async def judge(output: str) -> float:
        weak.fails = 1
        return float(output == "yes")

    result = await agent(ci, says_yes, evaluator=judge).run(PROMPT)
    assert (result.status, result.record.degradations) == ("satisfied", ())
    assert await outcomes(ci) == [(0, (1, 1)), (0, (1, 1))]


async def test_where_one_idea_cannot_be_counted_on_the_others_are(weak: Any) -> None:
    ci = await two_ideas(weak)
    draws = drawing(ci)
    advice = await drawn(draws)
    weak.refuses = next(one.idea for one in advice.injections if one.draw)
    with pytest.raises(StoreError, match="refused"):
        await draws.settle(advice, GOOD)
    assert sorted(await outcomes(ci)) == [(0, (1, 1)), (1, (0, 0))]
    weak.refuses = ""
    assert [one.name for one in await draws.settle(advice, GOOD)] == ["memory.trial_advanced"]
    assert await outcomes(ci) == [(0, (1, 1)), (0, (1, 1))]


async def near_a_verdict(store: Any, *, runs: int = 16) -> tuple[MemoryCI, Draws, Advice]:
    """Two rivals; one more good run promotes the first of them."""
    ci = keeper(store)
    for text in ("VAT is 12 % on books.", "VAT is 25 % on books."):
        await ci.submit(lesson(text))
    chance = Random(3)
    for number in range(runs + 1):
        draws = drawing(ci, run_id=f"r{number}", nonce=f"n{number}")
        advice = await drawn(draws)
        shown = any(one.shown for one in advice.injections if one.draw)
        good = chance.random() < (0.95 if shown else 0.1)
        if number == runs:
            assert good is shown
            return ci, draws, advice
        await draws.settle(advice, Outcome(good=good))
    raise AssertionError


async def fates(ci: MemoryCI) -> tuple[dict[str, str], int]:
    """What became of the rivals, and how many promotions were numbered."""
    cards = await ci.store.list(CardFilter())
    return {card.content: card.status.value for card in cards}, await keeper(ci.store).promotions.in_cohort_of(1).last()


CARRIED_OUT = ({"VAT is 12 % on books.": "promoted", "VAT is 25 % on books.": "archived"}, 1)
CUT_OFF = ({"VAT is 12 % on books.": "promoted", "VAT is 25 % on books.": "quarantined"}, 0)


def good_of(advice: Advice) -> Outcome:
    return Outcome(good=any(one.shown for one in advice.injections if one.draw))


async def test_a_verdict_is_carried_out_though_the_caller_is_cancelled(weak: Any) -> None:
    ci, draws, advice = await near_a_verdict(weak)
    weak.waits = True
    counting = asyncio.create_task(draws.settle(advice, good_of(advice)))
    await weak.begun.wait()
    counting.cancel()
    await asyncio.gather(counting, return_exceptions=True)
    await asyncio.sleep(0.5)
    assert await fates(ci) == CARRIED_OUT


@pytest.mark.parametrize("replayed", [False, True])
async def test_what_a_failure_has_left_of_a_verdict_is_made_up_by_the_next_settlement(
    weak: Any, *, replayed: bool
) -> None:
    ci, draws, advice = await near_a_verdict(weak)
    weak.down = True
    with pytest.raises(StoreError, match="gone"):
        await draws.settle(advice, good_of(advice))
    weak.down = False
    assert await fates(ci) == CUT_OFF
    later = keeper(weak)
    if replayed:
        (head,) = [card for card in await weak.list(CardFilter()) if card.status is MemoryStatus.PROMOTED]
        trial = head.trials[0]
        moved = await weigh(later, head.id, model=trial.model, layout=trial.layout, at=NOON)
    else:
        again = drawing(later, run_id="later")
        moved = [one for one in await again.settle(await drawn(again), GOOD) if isinstance(one, CardMoved)]
    assert [(one.before, one.after) for one in moved] == [("quarantined", "archived")]
    assert await fates(ci) == CARRIED_OUT
    last = drawing(later, run_id="last")
    assert await last.settle(await drawn(last), GOOD) == []


async def test_one_failure_within_a_verdict_is_made_up_at_once(weak: Any) -> None:
    ci, draws, advice = await near_a_verdict(weak)
    weak.fails = 1
    moved = await draws.settle(advice, good_of(advice))
    assert [one.after for one in moved if isinstance(one, CardMoved)] == ["promoted", "archived"]
    assert await fates(ci) == CARRIED_OUT


async def test_a_rival_that_a_person_tries_again_is_not_archived_once_more(weak: Any) -> None:
    ci, draws, advice = await near_a_verdict(weak)
    await draws.settle(advice, good_of(advice))
    assert await fates(ci) == CARRIED_OUT
    (lost,) = [card for card in await weak.list(CardFilter()) if card.status is MemoryStatus.ARCHIVED]
    await ci.quarantine(lost.id, "the law has changed")
    later = keeper(weak)
    again = drawing(later, run_id="later")
    await again.settle(await drawn(again), GOOD)
    assert (await weak.get([lost.id]))[0].status is MemoryStatus.QUARANTINED


@pytest.mark.parametrize("taught", [False, True])
async def test_what_came_after_a_promotion_that_was_cut_off_stays_on_trial(weak: Any, *, taught: bool) -> None:
    _, draws, advice = await near_a_verdict(weak)
    weak.down = True
    with pytest.raises(StoreError):
        await draws.settle(advice, good_of(advice))
    weak.down = False
    later = keeper(weak, now=lambda: NOON + timedelta(hours=1))
    if taught:
        stays = (await later.submit(lesson("VAT is 7 % on books."))).card_id
    else:
        (rival,) = [card for card in await weak.list(CardFilter()) if card.status is MemoryStatus.QUARANTINED]
        await later.archive(rival.id, "no")
        await later.quarantine(stays := rival.id, "once more")
    again = drawing(later, run_id="later")
    await again.settle(await drawn(again), GOOD)
    assert (await weak.get([stays]))[0].status is MemoryStatus.QUARANTINED
    assert await keeper(weak).promotions.in_cohort_of(1).last() == 1


async def test_the_wordings_of_an_archived_idea_follow_with_the_next_settlement(weak: Any) -> None:
    ci = keeper(weak)
    card_id = (await ci.submit(lesson())).card_id
    wording = (await ci.submit(lesson(prompt="Whom does this letter concern?", run="another"))).card_id
    first, second = drawing(ci, run_id="first"), drawing(ci, run_id="second")
    advice = [await drawn(one) for one in (first, second)]
    lost = CardEvidence(model="m", layout=first.layout, lost=40)
    await change_card(weak, card_id, lambda card: replace(card, evidence=(lost,)))
    await first.settle(advice[0], GOOD)

    def left_behind(card: MemoryCard) -> MemoryCard:
        return replace(card, status=MemoryStatus.QUARANTINED, history=card.history[:-1])

    await change_card(weak, wording, left_behind)
    await second.settle(advice[1], GOOD)
    head, other = await weak.get([card_id, wording])
    assert (head.status, other.status, other.idea) == (MemoryStatus.ARCHIVED, MemoryStatus.ARCHIVED, card_id)
