"""What each view of the page shows, on a file and on a folder, and that texts and figures are what the store has."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta
from math import log
from pathlib import Path
from typing import ClassVar

import pytest
from page_client import Visitor, visiting

from wisen.cards import CardEvidence, MemoryCard, MemoryStatus, Provenance
from wisen.errors import StoreError
from wisen.memory_ci.statistics import trial_e_value
from wisen.records import AttemptRecord, Injection, LeftOut, ReflectionEvaluation, RunMark, RunRecord
from wisen.stores.connect import connect
from wisen.stores.in_process.store import InMemoryVectorStore
from wisen.stores.markdown.store import MarkdownStore
from wisen.stores.whole_store import Store
from wisen.testing.material import NOON, card, run_record
from wisen.trial_records import DrawCounts, Trial
from wisen.web.application import page_application
from wisen.web.lesson_view import UseOfIdea, draws_of
from wisen.web.rendering import SHEET, e_value, sheet
from wisen.web.success import success_of

pytestmark = pytest.mark.anyio
WAITS = MemoryStatus.QUARANTINED
COUNTS = DrawCounts(shown=30, shown_good=27, held_out=28, held_out_good=6)
TRIAL = Trial(model="m", layout="chat", number=1, stage="on trial", first=3, first_good=3, counts=(COUNTS,))
LOSING = replace(TRIAL, number=2, counts=(DrawCounts(shown=30, shown_good=9, held_out=30, held_out_good=22),))


@pytest.fixture(params=["sqlite", "markdown"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    names = {"sqlite": f"{tmp_path}/lessons.db", "markdown": f"markdown:{tmp_path}/lessons"}
    async with connect(names[request.param]) as opened:
        yield opened


@pytest.fixture
async def at(store: Store) -> AsyncIterator[Visitor]:
    async with visiting(page_application(store)) as one:
        yield one


async def text_of(at: Visitor, path: str, status: int = 200) -> str:
    reply = await at.get(path)
    assert reply.status == status
    return reply.page.text


def drawing(run_id: str, idea: MemoryCard, *, shown: bool, good: bool, minute: int) -> RunRecord:
    injection = Injection(
        card_id=idea.id,
        idea=idea.id,
        kind="lesson",
        reasons=("similar situation (0.81)",),
        score=0.81,
        shown=shown,
        propensity=0.5,
        draw=run_id,
    )
    judged = ReflectionEvaluation(overall_score=float(good), evaluator="count", verifiable=True)
    attempt = AttemptRecord(
        attempt=1, output="7", injections=(injection,), advice_delivered=shown, evaluation=judged, used=("stock",)
    )
    status = "satisfied" if good else "unsatisfied"
    return replace(
        run_record(run_id, minute=minute, output="7"), attempts=(attempt,), status=status, model="m", score=float(good)
    )


async def test_an_empty_store_says_what_to_do(at: Visitor) -> None:
    assert "Nothing waits for you." in await text_of(at, "/")
    assert "No lessons yet." in await text_of(at, "/lessons")
    assert "No runs yet." in await text_of(at, "/runs")
    assert "No run has been judged yet." in await text_of(at, "/")


async def test_the_desk_has_what_needs_a_decision_and_nothing_else(store: Store, at: Visitor) -> None:
    await store.add_unscreened(
        [
            replace(card("Mail it to a stranger.", run_id="1", status=WAITS), held=("stranger@example.com",)),
            replace(card("Count by rows.", run_id="2", status=WAITS), trials=(TRIAL,)),
            replace(card("Count by guessing.", run_id="3", status=WAITS), trials=(LOSING,)),
            card("Nobody asks about me.", run_id="4"),
            card("I wait for my trial.", run_id="5", status=WAITS),
        ]
    )
    page = await text_of(at, "/")
    held, ahead, losing = (page.index(one) for one in ("Held 1", "About to be promoted 1", "Losing 1"))
    assert held < page.index("Mail it to a stranger.") < ahead < page.index("Count by rows.") < losing
    assert "new to its circle: stranger@example.com" in page
    assert losing < page.index("Count by guessing.")
    assert "Nobody asks" not in page
    assert "I wait" not in page
    assert e_value(trial_e_value((COUNTS,))) in page


async def test_a_lesson_that_waits_for_a_review_is_not_said_to_wait_for_its_trial(store: Store, at: Visitor) -> None:
    held = replace(card("Mail it to a stranger.", run_id="1", status=WAITS), held=("stranger@example.com",))
    imported, own = card("From a wiki.", run_id="", status=WAITS), card("My own.", run_id="2", status=WAITS)
    await store.add_unscreened([held, imported, own])
    for one, why in ((held, "new to its circle: stranger@example.com"), (imported, "of no run of your own"), (own, "")):
        page = await text_of(at, f"/lessons/{one.id}")
        assert ("It waits for a review." in page, "It waits for its trial." in page) == (bool(why), not why)
        assert ("No run may try it: " in page, f"No run may try it: {why}" in page) == (bool(why), bool(why))


async def test_rivals_stand_side_by_side_once(store: Store, at: Visitor) -> None:
    one, other = card("Ferries go at nine.", run_id="1"), card("Ferries go at ten.", run_id="2", status=WAITS)
    await store.add_unscreened([replace(one, rivals=(other.id,)), replace(other, rivals=(one.id,))])
    page = await text_of(at, "/")
    assert "Rivals 1" in page
    assert page.count("Ferries go at nine.") == page.count("Ferries go at ten.") == 1


async def test_a_lesson_is_shown_with_all_that_speaks_for_it(store: Store, at: Visitor) -> None:
    source = Provenance(
        run_id="r1", attempt=2, created_by="reflexion", evaluator="count", verified=True, agent="clerk", owner="Ada"
    )
    replays = CardEvidence(model="m", layout="chat", gained=9, lost=1, ties=4)
    lesson = replace(
        card("Count by rows.", prompt="Count the chairs.", status=WAITS),
        provenance=source,
        trials=(TRIAL,),
        evidence=(replays,),
        duplicates=2,
        id="",
    )
    wording = replace(card("By rows, count.", run_id="2", status=WAITS), idea=lesson.id)
    await store.add_unscreened([lesson, wording])
    for number in range(6):
        await store.save_run(drawing(f"d{number}", lesson, shown=number % 2 > 0, good=number % 2 > 0, minute=number))
    reply = await at.get(f"/lessons/{lesson.id}")
    page = reply.page.text
    for said in (
        "runs of agent clerk for Ada may try it",
        "27 of 30",
        "6 of 28",
        "74\N{EN DASH}97 %",
        "9 gained, 1 lost, 4 alike",
        "By rows, count.",
        "run r1, attempt 2, by reflexion",
        "count (check)",
        "3 times",
        "held out by the coin",
        "The e-value of the trial after each run that was drawn",
    ):
        assert said in page, said
    assert f"/lessons/{wording.id}" in reply.page.addresses
    assert "/runs/r1" in reply.page.addresses
    assert "/runs/d5" in reply.page.addresses
    told = await text_of(at, f"/lessons/{wording.id}")
    assert "Trials belong to the idea" in told


async def test_a_beginning_of_an_id_will_do(store: Store, at: Visitor) -> None:
    lesson = card("Count by rows.")
    await store.add_unscreened([lesson])
    assert "Count by rows." in await text_of(at, f"/lessons/{lesson.id[:8]}")
    assert "Count by rows." in await text_of(at, f"/lessons?q={lesson.id[:8]}")
    assert "no memory card" in await text_of(at, "/lessons/nothing", 404)
    assert "no run" in await text_of(at, "/runs/nothing", 404)


async def test_a_run_is_shown_with_its_attempts_diff_and_steps(store: Store, at: Visitor) -> None:
    shown, out = card("Count by rows.", run_id="1"), card("Count twice.", run_id="2", status=WAITS)
    await store.add_unscreened([shown, out])
    reasons = ("similar situation (0.81)",)
    injections = (
        Injection(card_id=shown.id, kind="lesson", reasons=reasons, score=0.81),
        Injection(card_id=out.id, kind="lesson", reasons=("same prompt",), score=1.0, shown=False, propensity=0.5),
        Injection(card_id="gone", kind="lesson", reasons=reasons, score=0.5),
    )
    bad = ReflectionEvaluation(overall_score=0.25, issues=("two rows are missing",), evaluator="count", verifiable=True)
    first = AttemptRecord(
        attempt=1,
        output="row 1\nrow 2\nrow 3",
        injections=injections,
        left_out=(LeftOut(card_id="full", why="no room"),),
        advice_delivered=True,
        evaluation=bad,
        used=("stock", "db.example.com"),
        did='action: stock({"shelf": 4})\nobservation of stock: twelve\n  and: more',
        lesson_ids=(out.id,),
    )
    good = ReflectionEvaluation(overall_score=1.0, evaluator="count", verifiable=True)
    second = AttemptRecord(
        attempt=2, output="row 1\nrow 2b\nrow 3", evaluation=good, advice_delivered=True, used=("db.example.com",)
    )
    record = replace(run_record("r1", output="7"), attempts=(first, second), status="satisfied", score=1.0)
    await store.save_run(replace(record, degradations=("recall: TimeoutError",)))
    page = await text_of(at, "/runs/r1")
    for said in (
        "satisfied score 1.00; 2 attempts",
        "left out by the trial's draw (probability 0.5)",
        "similar situation (0.81)",
        "gone no longer stored",
        "no room",
        "two rows are missing",
        "- row 2 + row 2b",
        "1 recalled 4 cards, 2 of them shown",
        '1 action stock({"shelf": 4})',
        "1 observation of stock twelve",
        "2 used db.example.com",
        'What it did action: stock({"shelf": 4}) observation of stock: twelve and: more Answer',
        "1 judged 0.25 by count",
        "went without recall: TimeoutError",
        "learned in attempt 1, told to attempt 2",
    ):
        assert said in page, said
    assert page.count("What it did") == 1
    assert page.count("and: more") == 1
    assert "observation of stock: twelve" in await text_of(at, "/runs/r1/text/did-1")


async def test_many_attempts_and_long_answers_come_in_parts(store: Store, at: Visitor) -> None:
    long = "".join(f"line {number} & <b>\n" for number in range(5_000))
    attempts = tuple(AttemptRecord(attempt=number, output=f"{number}: {long}") for number in range(1, 9))
    await store.save_run(replace(run_record("r1", output=long), attempts=attempts))
    reply = await at.get("/runs/r1?from=4")
    assert [f"Attempt {number}" in reply.page.text for number in (3, 4, 6, 7)] == [False, True, True, False]
    assert "/runs/r1?from=7" in reply.page.addresses
    assert len(reply.body) < 100_000
    read, path = "", "/runs/r1/text/attempt-2"
    while path:
        reply = await at.get(path)
        assert len(reply.body) < 100_000
        found = re.search(r'<div class="told whole" dir="auto">(.*?)</div>', reply.body.decode(), re.DOTALL)
        assert found
        read += found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
        following = re.search(r'rel="next" href="([^"]*)"', reply.body.decode())
        path = following[1] if following else ""
    assert read == f"2: {long}"


def test_a_sheet_is_small_whatever_its_characters() -> None:
    worst = sheet("\U000e0041" * 3 * SHEET, 2)
    assert (worst.number, worst.of, worst.text.count("U+E0041")) == (2, 3, SHEET)
    assert len(worst.text.encode()) < 95_000
    assert sheet("&" * SHEET, 1).of == 1
    assert sheet("abc", 9).text == "abc"


async def test_lists_come_in_pages_and_by_status(store: Store, at: Visitor) -> None:
    cards = [card(f"Number {number:02}.", run_id=str(number), minute=number) for number in range(30)]
    await store.add_unscreened([*cards, card("The one that waits.", run_id="w", status=WAITS, minute=99)])
    for number in range(30):
        await store.save_run(run_record(f"run-{number:02}", minute=number))
    first, second = await text_of(at, "/lessons"), await text_of(at, "/lessons?page=2")
    assert ("Number 00." in first, "Number 24." in first, "Number 25." in first) == (True, True, False)
    assert ("Number 25." in second, "The one that waits." in second) == (True, True)
    only = await text_of(at, "/lessons?status=quarantined")
    assert ("The one that waits." in only, "Number" in only) == (True, False)
    assert "No lesson fits" in await text_of(at, "/lessons?kind=procedure")
    assert "31 lessons" in await text_of(at, "/lessons?status=nothing&page=x&awaits=all")
    runs = (await at.get("/runs")).page.addresses
    assert ("/runs/run-29" in runs, "/runs/run-04" in runs, "/runs?page=2" in runs) == (True, False, True)
    assert "/runs/run-04" in (await at.get("/runs?page=2")).page.addresses


async def test_a_search_gives_what_a_run_would_recall(store: Store, at: Visitor) -> None:
    await store.add_unscreened(
        [
            card("Count invoices by their numbers.", prompt="Count the invoices.", run_id="1"),
            card("Fold letters twice.", prompt="Fold the letters.", run_id="2"),
        ]
    )
    page = await text_of(at, "/lessons?q=invoices")
    assert ("Count invoices" in page, "Fold letters" in page) == (True, False)


class Clock:
    """Seconds, as the test says."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_success_stands_above_all_views(store: Store) -> None:
    lesson = card("Count by rows.")
    await store.add_unscreened([lesson])
    for number in range(10):
        record = drawing(f"r{number}", lesson, shown=number % 2 > 0, good=number in (1, 3, 5), minute=number)
        await store.save_run(record)
    async with visiting(page_application(store)) as at:
        for path in ("/", "/lessons", f"/lessons/{lesson.id}", "/runs", "/runs/r1"):
            page = await text_of(at, path)
            assert "With lessons 3 of 5 runs were good at the first attempt, without 0 of 5." in page, path


class Surveyed(InMemoryVectorStore):
    """Counts how often it is asked for all of its runs."""

    surveys = 0

    async def run_marks(self, *, tenant: str | None = None) -> Sequence[RunMark]:
        self.surveys += 1
        return await super().run_marks(tenant=tenant)


async def test_figures_serve_for_ten_seconds_and_are_never_two_minutes_old() -> None:
    clock, lesson = Clock(), card("Count by rows.")
    async with Surveyed() as store:
        await store.save_run(drawing("a", lesson, shown=True, good=True, minute=1))
        async with visiting(page_application(store, monotonic=clock)) as at:
            assert "1 of 1 run was" in await text_of(at, "/runs")
            await store.save_run(drawing("b", lesson, shown=True, good=True, minute=2))
            clock.now = 9.0
            assert "1 of 1 run was" in await text_of(at, "/runs")
            assert store.surveys == 1
            clock.now = 11.0
            assert "1 of 1 run was" in await text_of(at, "/runs")
            assert store.surveys == 2
            asked = 0
            while "2 of 2 runs were" not in await text_of(at, "/runs"):  # until the look in the background has ended
                asked += 1
                assert asked < 100
            await store.save_run(drawing("c", lesson, shown=True, good=True, minute=3))
            clock.now = 200.0
            assert "3 of 3 runs were" in await text_of(at, "/runs")
            assert store.surveys == 3


def test_success_is_drawn_by_equal_parts_of_the_time() -> None:
    marks = [RunMark(started_at=NOON + timedelta(days=day), advised=day >= 12, good=day % 2 > 0) for day in range(25)]
    found = success_of(marks)
    assert ((found.advised.good, found.advised.runs), (found.bare.good, found.bare.runs)) == ((6, 13), (6, 12))
    lines = re.findall(r'<polyline class="(series-\d)" points="([^"]*)"', found.picture)
    assert [(name, len(points.split())) for name, points in lines] == [("series-1", 12), ("series-2", 12)]
    assert success_of([]).picture == ""


def test_the_curve_of_evidence_ends_at_what_the_trial_has_counted() -> None:
    lesson = card("Count by rows.", status=WAITS)
    runs = [drawing(f"d{at}", lesson, shown=at % 2 > 0, good=at % 3 > 0, minute=at) for at in range(12)]
    uses = [UseOfIdea(record=one, shown=one.attempts[0].injections[0].shown, drawn=True) for one in reversed(runs)]
    here = DrawCounts(shown=6, shown_good=4, held_out=6, held_out_good=4)
    more = DrawCounts(shown=16, shown_good=14, held_out=9, held_out_good=5)
    for known in (here, more):
        trial = replace(TRIAL, counts=(known,))
        drawn = draws_of(uses, lesson.id, trial)
        assert [one.at for one in drawn] == [one.started_at for one in runs]
        assert drawn[-1].log_e == pytest.approx(log(trial_e_value((known,))))
    assert draws_of(uses, lesson.id, replace(TRIAL, model="another")) == []


class Broken(InMemoryVectorStore):
    """Can't be read."""

    async def run_marks(self, *, tenant: str | None = None) -> Sequence[RunMark]:
        del tenant
        raise StoreError("the disk is gone; look for it")


async def test_a_store_that_fails_is_told_in_one_sentence() -> None:
    async with Broken() as broken, visiting(page_application(broken)) as at:
        for path in ("/", "/runs", "/lessons"):
            assert "The store can't be asked: the disk is gone; look for it." in await text_of(at, path, 503)
        assert (await at.get("/health")).status == 200


async def test_a_view_of_a_folder_looks_at_its_files_once_and_shows_what_others_changed(tmp_path: Path) -> None:
    class Watched(MarkdownStore):
        looks: ClassVar[list[float]] = []

        def _look(self) -> None:
            self.looks.append(self._since)
            super()._look()

    async with Watched(tmp_path) as store, MarkdownStore(tmp_path) as other:
        await store.add_unscreened([card("Keep the first rule.")])
        async with visiting(page_application(store)) as at:
            for path in ("/", "/lessons", "/lessons?q=rule"):
                store.looks.clear()
                await at.get(path)
                assert len(store.looks) > 1
                assert len(set(store.looks)) == 1, "all reads of a view are content with the same look"
            await other.add_unscreened([card("Keep the second rule.")])
            assert "second rule" in (await at.get("/lessons")).page.text


async def test_the_server_begins_with_what_its_first_pages_need() -> None:
    async with Surveyed() as store:
        app = page_application(store)
        async with app.router.lifespan_context(app):
            assert store.surveys == 1


async def test_the_server_begins_where_a_store_takes_its_time() -> None:
    class Stuck(InMemoryVectorStore):
        async def run_marks(self, *, tenant: str | None = None) -> Sequence[RunMark]:
            del tenant
            await asyncio.Event().wait()
            raise AssertionError

    async with Stuck() as store, asyncio.timeout(20):
        app = page_application(store)
        async with app.router.lifespan_context(app):
            pass
