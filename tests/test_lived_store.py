"""The store that the page is measured with: as large as was asked for, whole, in any store, and the same each time."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from wisen.cards import MemoryCard, MemoryStatus
from wisen.recall import CardFilter
from wisen.stores.connect import connect
from wisen.stores.copying import CheckReport, check_store

pytestmark = pytest.mark.anyio
PROGRAM = Path(__file__).parents[1] / "benchmarks" / "lived_store.py"


def made(store: str, *, runs: int = 500, cards: int = 300, tenants: str = "") -> str:
    asked = ["--runs", str(runs), "--cards", str(cards), "--tenants", tenants]
    done = subprocess.run([sys.executable, str(PROGRAM), store, *asked], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return store


async def checked(store: str) -> CheckReport:
    async with connect(store) as opened:
        return await check_store(opened)


async def every_card(store: str) -> list[MemoryCard]:
    async with connect(store) as opened:
        return await opened.list(CardFilter(), limit=10_000)


async def test_it_has_the_size_that_was_asked_for_and_what_months_leave(tmp_path: Path) -> None:
    store = made(str(tmp_path / "lived.db"), runs=1_500, cards=700)
    report = await checked(store)
    assert report.whole
    assert (report.counts["runs"], report.counts["cards"]) == (1_500, 700)
    cards = await every_card(store)
    stages = Counter(trial.stage for card in cards for trial in card.trials)
    assert {card.status for card in cards} == set(MemoryStatus) - {MemoryStatus.CANDIDATE}
    assert {"on trial", "waiting", "promoted"} <= set(stages)
    for what in ("held", "idea", "rivals"):
        assert any(getattr(card, what) for card in cards)
    assert any(one.gained for card in cards for one in card.evidence)


async def test_runs_say_what_they_were_shown_and_taught(tmp_path: Path) -> None:
    store = made(str(tmp_path / "lived.db"))
    cards = {card.id: card for card in await every_card(store)}
    async with connect(store) as opened:
        records = await opened.runs(limit=1_000)
    injections = [one for record in records for attempt in record.attempts for one in attempt.injections]
    assert {one.shown for one in injections} == {True, False}
    assert {one.card_id for one in injections} | {one.idea for one in injections} <= set(cards)
    taught = {one for record in records for attempt in record.attempts for one in attempt.lesson_ids}
    assert taught == set(cards)
    assert {len(record.attempts) for record in records} == {1, 2, 3}


async def test_the_same_seed_gives_the_same_in_any_store(tmp_path: Path) -> None:
    reports = [
        await checked(made(str(tmp_path / name), runs=120, cards=60, tenants="north,south"))
        for name in ("one.db", "other.db", "folder/")
    ]
    hashes = [{part: report.hashes[part] for part in ("cards", "runs", "calls")} for report in reports]
    assert hashes[0] == hashes[1] == hashes[2]
    assert reports[0].counts["cards"] == 120


def test_a_store_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    store = made(str(tmp_path / "lived.db"), runs=20, cards=10)
    done = subprocess.run([sys.executable, str(PROGRAM), store], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "holds cards already" in done.stderr
