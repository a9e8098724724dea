"""What a loop of one's own says of its model and of outcomes is evidence for the reports that it began with."""

import asyncio
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from reporting import FAILED, NOON, SCRAPING, filed

from wisen import (
    CardFilter,
    Clockwork,
    InMemoryVectorStore,
    MemoryCard,
    MemoryCI,
    MemoryStatus,
    ScriptedModel,
    Situation,
)
from wisen.cards import CardEvidence
from wisen.errors import ReflectionRequiredError, ReportError, StoreError
from wisen.events import CardMoved, Degraded, Event, TrialAdvanced
from wisen.memory_ci.status import move
from wisen.memory_ci.trial import TrialRule
from wisen.records import ReflectionEvaluation
from wisen.reflection.report import ReportReflector
from wisen.report_protocol.guard import BegunTask, ReflexionProtocol
from wisen.report_protocol.task_advice import advice_for, draws_of
from wisen.reports import FailedReport
from wisen.trial_records import Trial

pytestmark = pytest.mark.anyio

LAYOUT = "episodes-as-turns"
GOOD = ReflectionEvaluation(overall_score=1.0, verifiable=True, evaluator="check")
ON_TRIAL = TrialRule(first_shown=0)
REPORT = FailedReport(agent="scraper", date=NOON.date(), **FAILED)


class Stuck(InMemoryVectorStore):
    """Takes cards in, and changes as many as it is told."""

    def __init__(self, changes: int = 0) -> None:
        super().__init__()
        self.changes = changes

    async def update(self, card: MemoryCard) -> None:
        self.changes -= 1
        if self.changes < 0:
            raise StoreError(f"card {card.id!r} can't be changed")
        await super().update(card)


async def guard(*cards: MemoryCard, store: InMemoryVectorStore | None = None, **more: Any) -> ReflexionProtocol:
    kept = store or InMemoryVectorStore()
    await kept.add(list(cards))
    silent = ReportReflector(model=ScriptedModel([]), report_successes="never")
    ci = MemoryCI(kept, trial=more.pop("trial", ON_TRIAL))
    return ReflexionProtocol(ci, reflector=silent, clockwork=Clockwork.seeded(3), **more)


def proven(model: str) -> MemoryCard:
    """A report that evidence for a model promoted."""
    seen = CardEvidence(model=model, layout=LAYOUT, propensity=0.85, shown=60, shown_successes=60, held_out=10)
    card = replace(filed("a proven report"), evidence=(seen,))
    return move(card, MemoryStatus.PROMOTED, note="helps", at=NOON, by="trial", evidence=seen)


def draws(begun: BegunTask) -> list[tuple[bool, float]]:
    return [(one.shown, one.propensity) for one in begun.advice.injections]


async def finish(protocol: ReflexionProtocol, begun: BegunTask, evaluation: ReflectionEvaluation | None) -> None:
    await protocol.finish(begun, "success", evaluation=evaluation)


class Slow(InMemoryVectorStore):
    """A store whose changes take a while."""

    async def update(self, card: MemoryCard) -> None:
        await asyncio.sleep(0.05)
        await super().update(card)


async def test_a_task_that_is_refused_while_it_begins_leaves_no_draw() -> None:
    store = Slow()
    protocol = await guard(filed("a report"), store=store)
    first = await protocol.begin(SCRAPING, "scraper", model="m")
    second = asyncio.create_task(protocol.begin(SCRAPING, "scraper", model="m"))
    await asyncio.sleep(0.02)
    with pytest.raises(ReportError):
        await protocol.finish(first, "failed", report="no report at all")
    with pytest.raises(ReflectionRequiredError):
        await second
    (head,) = await store.list(CardFilter())
    assert [one.run_id for one in head.open_draws] == [first.id]


async def trials(store: InMemoryVectorStore) -> tuple[Trial, ...]:
    cards = await store.list(CardFilter())
    (head,) = [card for card in cards if card.provenance.run_id == "a report"]
    assert [one for one in head.open_draws if not one.unknown] == []
    return head.trials


@pytest.mark.parametrize("model", ["m", ""])
@pytest.mark.parametrize(
    ("evaluation", "good", "judged"),
    [
        (GOOD, 1, 0),
        (replace(GOOD, overall_score=0.8), 1, 0),
        (replace(GOOD, overall_score=0.79), 0, 0),
        (replace(GOOD, verifiable=False), 1, 1),
        (None, 1, 0),
    ],
)
async def test_an_outcome_counts_for_the_model(
    model: str, evaluation: ReflectionEvaluation | None, good: int, judged: int
) -> None:
    store = InMemoryVectorStore()
    protocol = await guard(filed("a report"), store=store)
    begun = await protocol.begin(SCRAPING, "scraper", model=model)
    assert [propensity for _, propensity in draws(begun)] == [0.6]
    await finish(protocol, begun, evaluation)
    (trial,) = await trials(store)
    (seen,) = trial.counts
    assert (trial.model, trial.layout, trial.number, seen.runs) == (model, LAYOUT, 1, 1)
    assert (seen.shown_good + seen.held_out_good, seen.judged) == (good, judged)


async def test_without_a_judgement_it_counts_as_it_was_finished() -> None:
    store = InMemoryVectorStore()
    protocol = await guard(filed("a report"), store=store)
    begun = await protocol.begin(SCRAPING, "scraper", model="m")
    await protocol.finish(begun, "failed", report=REPORT)
    ((seen,),) = [one.counts for one in await trials(store)]
    assert (seen.runs, seen.shown_good + seen.held_out_good) == (1, 0)


async def test_a_score_that_nobody_knows_may_still_come() -> None:
    store = InMemoryVectorStore()
    protocol = await guard(filed("a report"), store=store)
    begun = await protocol.begin(SCRAPING, "scraper", model="m")
    await finish(protocol, begun, replace(GOOD, overall_score=None))
    assert [one.runs for one in await trials(store)] == [0]
    (head,) = [card for card in await store.list(CardFilter()) if card.open_draws]
    assert [(one.unknown, one.run_id) for one in head.open_draws] == [(True, begun.chain_id)]


async def test_a_draw_is_written_before_the_task_begins() -> None:
    store = InMemoryVectorStore()
    protocol = await guard(filed("a report"), store=store)
    begun = await protocol.begin(SCRAPING, "scraper", model="m")
    (head,) = await store.list(CardFilter())
    ((shown, propensity),) = draws(begun)
    (written,) = head.open_draws
    assert (written.shown, written.propensity, written.model, written.unknown) == (shown, propensity, "m", False)


async def test_a_retry_counts_for_nothing() -> None:
    store = InMemoryVectorStore()
    protocol = await guard(filed("a report"), store=store)
    first = await protocol.begin(SCRAPING, "scraper", model="m")
    bad = replace(GOOD, overall_score=0.0)
    done = await protocol.finish(first, "failed", report=REPORT, evaluation=bad)
    await finish(protocol, await protocol.begin(SCRAPING, "scraper", retry_of=done, model="m"), GOOD)
    ((seen,),) = [one.counts for one in await trials(store)]
    assert (seen.runs, seen.shown_good + seen.held_out_good) == (1, 0)


async def test_what_helped_one_model_is_on_trial_for_another() -> None:
    protocol = await guard(proven("m"))
    assert [propensity for _, propensity in draws(await protocol.begin(SCRAPING, "scraper", model="m"))] == [0.9]
    for other in ("n", ""):
        begun = await protocol.begin(SCRAPING, "scraper", model=other)
        assert [propensity for _, propensity in draws(begun)] == [0.6]


async def test_a_report_that_hurts_the_model_is_not_shown_to_it() -> None:
    harm = CardEvidence(model="m", layout=LAYOUT, lost=12)
    protocol = await guard(replace(filed("a report"), evidence=(harm,)))
    told = await protocol.begin(SCRAPING, "scraper", model="m")
    assert (told.brief, [one.why for one in told.advice.left_out]) == ("", ["hurts (evidence)"])
    done = await protocol.finish(told, "failed", report=REPORT)
    again = await protocol.begin(SCRAPING, "scraper", retry_of=done)
    assert (again.model, [one.why for one in again.advice.left_out]) == ("m", ["hurts (evidence)"])
    other = await protocol.begin(SCRAPING, "scraper", model="n")
    assert "hurts (evidence)" not in [one.why for one in other.advice.left_out]


async def test_a_report_of_this_very_task_leaves_the_others_of_its_type_their_places() -> None:
    own = replace(filed("of this task"), situation=Situation(prompt=SCRAPING.prompt, task_type=SCRAPING.type), id="")
    protocol = await guard(own, filed("of another", days_old=1), trial=replace(ON_TRIAL, at_once=3, holdout=0.0))
    brief = (await protocol.begin(SCRAPING, "scraper", model="m")).brief
    assert ["of this task" in brief, "of another" in brief] == [True, True]


async def test_tasks_that_went_better_with_a_report_promote_it() -> None:
    store, events, chance = InMemoryVectorStore(), list[Event](), Random(5)
    protocol = await guard(filed("a report"), store=store, watch=events.append)
    for number in range(150):
        begun = await protocol.begin(replace(SCRAPING, prompt=f"Scrape page {number}."), "scraper", model="m")
        score = float(chance.random() < (0.95 if any(shown for shown, _ in draws(begun)) else 0.1))
        await finish(protocol, begun, replace(GOOD, overall_score=score))
    told = [event for event in events if isinstance(event, CardMoved)]
    assert [(event.after, event.by) for event in told] == [("promoted", "trial")]
    advanced = [event.text for event in events if isinstance(event, TrialAdvanced)]
    assert advanced[0].startswith("on trial, 1 of about ")
    assert advanced[-1].endswith(" runs, ahead")


async def test_a_store_that_fails_to_count_costs_no_report() -> None:
    events = list[Event]()
    protocol = await guard(filed("a report"), store=Stuck(1), watch=events.append)
    begun = await protocol.begin(SCRAPING, "scraper", model="m")
    await finish(protocol, begun, GOOD)
    (told,) = [event for event in events if isinstance(event, Degraded)]
    assert (told.stage, told.skipped) == ("trial", "counting this task on the reports that it began with")


async def test_a_task_whose_draw_can_not_be_written_does_not_begin() -> None:
    protocol = await guard(filed("a report"), store=Stuck())
    with pytest.raises(StoreError, match="can't be changed"):
        await protocol.begin(SCRAPING, "scraper", model="m")
    assert protocol.owed("scraper") == ()


@pytest.mark.parametrize("benched", [0, 1, 2])
async def test_a_task_begins_with_as_many_reports_as_asked_for_besides_those_that_may_not_be_shown(
    benched: int,
) -> None:
    reports = [filed(f"report {number}", days_old=number) for number in range(3)]
    reports[benched] = replace(reports[benched], trials=(Trial(layout=LAYOUT, number=1, stage="benched"),))
    protocol = await guard(*reports, last=1)
    (begun,) = (await protocol.begin(SCRAPING, "scraper")).advice.injections
    assert begun.card_id in {card.id for card in reports} - {reports[benched].id}


async def test_what_earlier_tries_reported_is_told_once_and_what_contradicts_it_is_marked() -> None:
    stored = replace(filed("fetch twice"), status=MemoryStatus.PROMOTED)
    own = replace(filed("fetch two times"), id="own", idea="", rivals=(stored.id,))
    again = replace(own, idea=stored.id, rivals=())
    for told, ids, marks in ((own, [stored.id], 1), (again, [], 0)):
        store = InMemoryVectorStore()
        await store.add_unscreened([replace(stored, rivals=("own",) if told is own else ()), told])
        draws = draws_of(MemoryCI(store), SCRAPING, "scraper", model="m", chain_id="c", nonce="n", now=lambda: NOON)
        advice = await advice_for(draws, SCRAPING, "scraper", first=False, told=[told], last=5)
        assert [one.card_id for one in advice.injections] == ids
        assert advice.section.count("Another note here says otherwise") == marks
