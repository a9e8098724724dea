"""What a loop of one's own says of its model and of outcomes is evidence for the reports that it began with."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from reporting import FAILED, NOON, SCRAPING, filed

from wisen import CardFilter, Clockwork, InMemoryVectorStore, MemoryCard, MemoryCI, MemoryStatus, ScriptedModel
from wisen.architectures.protocol_guard import BegunTask, ReflexionProtocol
from wisen.cards import CardEvidence
from wisen.errors import StoreError
from wisen.events import CardMoved, Degraded, Event
from wisen.memory_ci.status import move
from wisen.records import ReflectionEvaluation
from wisen.reflection.report import ReportReflector
from wisen.reports import FailedReport

pytestmark = pytest.mark.anyio

LAYOUT = "episodes-as-turns"
GOOD = ReflectionEvaluation(overall_score=1.0, verifiable=True, evaluator="check")
REPORT = FailedReport(agent="scraper", date=NOON.date(), **FAILED)


class Stuck(InMemoryVectorStore):
    """Takes cards in, and changes none."""

    async def update(self, card: MemoryCard) -> None:
        raise StoreError(f"card {card.id!r} can't be changed")


async def guard(*cards: MemoryCard, store: InMemoryVectorStore | None = None, **more: Any) -> ReflexionProtocol:
    kept = store or InMemoryVectorStore()
    await kept.add(list(cards))
    silent = ReportReflector(model=ScriptedModel([]), report_successes="never")
    return ReflexionProtocol(MemoryCI(kept), reflector=silent, clockwork=Clockwork.seeded(3), **more)


def proven(model: str) -> MemoryCard:
    """A report that evidence for a model promoted."""
    seen = CardEvidence(model=model, layout=LAYOUT, propensity=0.85, shown=60, shown_successes=60, held_out=10)
    card = replace(filed("a proven report"), evidence=(seen,))
    return move(card, MemoryStatus.PROMOTED, note="helps", at=NOON, by="trial", evidence=seen)


def draws(begun: BegunTask) -> list[tuple[bool, float]]:
    return [(one.shown, one.propensity) for one in begun.advice.injections]


async def finish(protocol: ReflexionProtocol, begun: BegunTask, evaluation: ReflectionEvaluation | None) -> None:
    await protocol.finish(begun, "success", evaluation=evaluation)


async def evidence(store: InMemoryVectorStore) -> tuple[CardEvidence, ...]:
    cards = await store.list(CardFilter())
    return next(card.evidence for card in cards if card.provenance.run_id == "a report")


@pytest.mark.parametrize(
    ("model", "evaluation", "counted"),
    [
        ("m", GOOD, [("m", LAYOUT, False, 1)]),
        ("m", replace(GOOD, verifiable=False), [("m", LAYOUT, True, 1)]),
        ("m", replace(GOOD, overall_score=None), [("m", LAYOUT, False, 1), ("m", LAYOUT, True, 1)]),
        ("m", None, []),
        ("", GOOD, []),
    ],
)
async def test_an_outcome_that_was_judged_counts_for_the_model(
    model: str, evaluation: ReflectionEvaluation | None, counted: list[tuple[str, str, bool, int]]
) -> None:
    store = InMemoryVectorStore()
    protocol = await guard(filed("a report"), store=store)
    begun = await protocol.begin(SCRAPING, "scraper", model=model)
    assert [propensity for _, propensity in draws(begun)] == [0.85]
    await finish(protocol, begun, evaluation)
    found = await evidence(store)
    assert [(one.model, one.layout, one.judged, one.shown + one.held_out) for one in found] == counted


async def test_a_retry_counts_for_nothing() -> None:
    store = InMemoryVectorStore()
    protocol = await guard(filed("a report"), store=store)
    first = await protocol.begin(SCRAPING, "scraper", model="m")
    bad = replace(GOOD, overall_score=0.0)
    done = await protocol.finish(first, "failed", report=REPORT, evaluation=bad)
    await finish(protocol, await protocol.begin(SCRAPING, "scraper", retry_of=done, model="m"), GOOD)
    (seen,) = await evidence(store)
    assert (seen.shown + seen.held_out, seen.shown_successes + seen.held_out_successes) == (1, 0)


async def test_a_retry_counts_for_nothing_though_the_first_try_was_not_judged() -> None:
    store = InMemoryVectorStore()
    protocol = await guard(filed("a report"), store=store)
    first = await protocol.begin(SCRAPING, "scraper", model="m")
    done = await protocol.finish(first, "failed", report=REPORT)
    again = await protocol.begin(SCRAPING, "scraper", retry_of=done, model="m")
    assert draws(again)
    await finish(protocol, again, GOOD)
    assert await evidence(store) == ()


async def test_what_helped_one_model_is_on_trial_for_another() -> None:
    protocol = await guard(proven("m"))
    assert draws(await protocol.begin(SCRAPING, "scraper", model="m")) == [(True, 0.95)]
    assert [propensity for _, propensity in draws(await protocol.begin(SCRAPING, "scraper", model="n"))] == [0.85]
    assert [propensity for _, propensity in draws(await protocol.begin(SCRAPING, "scraper"))] == [0.95]


async def test_a_report_that_hurts_the_model_is_not_shown_to_it() -> None:
    harm = CardEvidence(model="m", layout=LAYOUT, lost=12)
    protocol = await guard(replace(filed("a report"), evidence=(harm,)))
    told = await protocol.begin(SCRAPING, "scraper", model="m")
    assert (told.brief, [one.why for one in told.advice.left_out]) == ("", ["hurts (evidence)"])
    done = await protocol.finish(told, "failed", report=REPORT)
    again = await protocol.begin(SCRAPING, "scraper", retry_of=done)
    assert (again.model, [one.why for one in again.advice.left_out]) == ("m", ["hurts (evidence)"])
    assert "a report" in (await protocol.begin(SCRAPING, "scraper", model="n")).brief


async def test_tasks_that_went_better_with_a_report_promote_it() -> None:
    store, events, chance = InMemoryVectorStore(), list[Event](), Random(5)
    protocol = await guard(filed("a report"), store=store, watch=events.append)
    for number in range(200):
        begun = await protocol.begin(replace(SCRAPING, prompt=f"Scrape page {number}."), "scraper", model="m")
        mine = [shown for shown, propensity in draws(begun) if propensity < 1.0]
        score = float(chance.random() < (0.95 if any(mine) else 0.1))
        await finish(protocol, begun, replace(GOOD, overall_score=score))
    told = [event for event in events if isinstance(event, CardMoved)]
    assert [(event.after, event.by) for event in told] == [("promoted", "trial")]


async def test_a_store_that_fails_to_count_costs_no_report() -> None:
    events = list[Event]()
    protocol = await guard(filed("a report"), store=Stuck(), watch=events.append)
    begun = await protocol.begin(SCRAPING, "scraper", model="m")
    await finish(protocol, begun, GOOD)
    (told,) = [event for event in events if isinstance(event, Degraded)]
    assert (told.stage, told.skipped) == ("trial", "counting this task on the reports that it began with")
