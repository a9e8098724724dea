"""Reflections in a git repository: after each use, git shows what had to change and nothing else."""

import shutil
import subprocess
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest

from wisen.cards import MemoryCard, MemoryStatus, Provenance, Situation
from wisen.recall import RECALLABLE, CardFilter, RecallQuery
from wisen.reports import DecisionReport, FailedReport, PartialReport, Report, SuccessReport, report_to_card
from wisen.stores.markdown.seals import seal_of
from wisen.stores.markdown.store import MarkdownStore

GIT = shutil.which("git")
pytestmark = [pytest.mark.anyio, pytest.mark.skipif(GIT is None, reason="git isn't installed")]
AGENTS = ("researcher-agent", "coding-agent", "Data Clerk", "pilot")
THINGS = ("invoice", "weather", "harbour", "orchard", "museum", "bridge", "violin", "glacier", "bakery", "library")
Git = Callable[..., list[str]]


def written(number: int) -> Report:
    """One of 200 reports: 50 of each agent, every kind among them, over two years."""
    agent, place = AGENTS[number % 4], number // 4
    thing, other = THINGS[place % 10], THINGS[(place // 10 + number) % 10]
    on = date(2024, 10, 1) + timedelta(days=7 * place)
    summary = f"Compare {thing} and {other} tables, part {place}"
    happened, wrong = f"The {thing} table of part {place} was read.", f"Column {number} was taken for the {other} one."
    advice = f"Read the header of part {place} first."
    match number % 7:
        case 0:
            return SuccessReport(agent=agent, date=on, summary=summary, strategy=advice, why_it_worked=happened)
        case 1:
            return DecisionReport(
                agent=agent, date=on, summary=summary, decision=advice, alternatives=wrong, why_chosen=happened
            )
        case 2 | 3:
            return PartialReport(
                agent=agent,
                date=on,
                summary=summary,
                what_happened=happened,
                what_went_wrong=wrong,
                what_to_do_differently=advice,
            )
        case _:
            return FailedReport(
                agent=agent,
                date=on,
                summary=summary,
                what_happened=happened,
                what_went_wrong=wrong,
                why_it_went_wrong="Nobody looked at the header.",
                what_to_do_differently=advice,
                tactical_rule="Always read the header of a table.",
            )


def stored(number: int) -> MemoryCard:
    report = written(number)
    return report_to_card(
        report,
        situation=Situation(prompt=report.summary, task_type="tables"),
        status=MemoryStatus.PROMOTED,
        provenance=Provenance(run_id=f"run-{number}", created_by="reflexion"),
    )


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """Runs git in the repository; gives the lines that it prints."""
    names = ("-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "core.quotePath=false", "-c", "gc.auto=0")

    def call(*args: str) -> list[str]:
        done = subprocess.run([str(GIT), *names, *args], cwd=tmp_path, capture_output=True, check=True, text=True)
        return done.stdout.splitlines()

    call("init", "--quiet", "--initial-branch=main")
    return call


@pytest.fixture
async def store(tmp_path: Path, git: Git) -> AsyncIterator[MarkdownStore]:
    """200 reflections by 4 agents, committed."""
    async with MarkdownStore(tmp_path / "memory", fsync=False) as store:
        await store.add([stored(number) for number in range(200)])
        commit(git)
        yield store


def commit(git: Git) -> None:
    git("add", "--all")
    git("commit", "--quiet", "--message", "Reflections")


def status(git: Git) -> list[str]:
    return git("status", "--porcelain", "--untracked-files=all")


def changed_lines(git: Git) -> list[str]:
    """The lines that `git diff` shows as removed or added."""
    shown = git("diff", "--unified=0")
    return [line for line in shown if line[:1] in "+-" and not line.startswith(("+++", "---"))]


def query(number: int) -> RecallQuery:
    situation = Situation(prompt=written(number).summary)
    return RecallQuery(situation=situation, filter=CardFilter(tenant="", statuses=RECALLABLE), k=3)


async def test_recall_changes_nothing(store: MarkdownStore, git: Git, tmp_path: Path) -> None:
    assert len(git("ls-files")) == 200
    for number in range(0, 200, 7):
        assert (await store.search(query(number)))[0].card == stored(number)
    async with MarkdownStore(tmp_path / "memory") as another:
        assert (await another.search(query(3)))[0].card == stored(3)
    assert status(git) == []


async def test_a_new_report_is_one_new_file(store: MarkdownStore, git: Git) -> None:
    new = replace(written(4), date=date(2026, 9, 9), summary="Weigh the crates")
    await store.add([report_to_card(new)])
    assert status(git) == ["?? memory/reflections/researcher-agent/2026-09-09-weigh-the-crates.md"]


async def test_a_status_is_three_lines_and_a_count_none(store: MarkdownStore, git: Git) -> None:
    await store.update(stored(5).with_status(MemoryStatus.REJECTED))
    seals = [f"-seal: {seal_of(stored(5))}", f"+seal: {seal_of(stored(5).with_status(MemoryStatus.REJECTED))}"]
    expected = ["-status: promoted", "+status: rejected", "+version: 2", *seals]
    assert sorted(changed_lines(git)) == sorted(expected)
    git("checkout", "--quiet", ".")
    again = replace(stored(6), provenance=replace(stored(6).provenance, run_id="another"), id="")
    assert [one.outcome for one in await store.add([again])] == ["duplicate"]
    assert (await store.get([stored(6).id]))[0].duplicates == 1
    assert status(git) == []


async def test_retention_is_renames_alone(store: MarkdownStore, git: Git) -> None:
    moved = await store.archive()
    assert len(moved) == 4 * (50 - 30)
    git("add", "--all")
    names = [line.split("\t") for line in git("diff", "--cached", "--find-renames=100%", "--name-status")]
    assert sorted(names) == sorted(["R100", f"memory/{one.source}", f"memory/{one.target}"] for one in moved)
    assert {Path(one.target).parent.name for one in moved} == {"2024", "2025"}
    recallable = await store.list(CardFilter(statuses=RECALLABLE), limit=1_000)
    assert {agent: sum(card.provenance.agent == agent for card in recallable) for agent in AGENTS} == dict.fromkeys(
        AGENTS, 30
    )
    oldest = await store.search(query(0))
    assert stored(0).id not in [hit.card.id for hit in oldest]
    assert await store.count(CardFilter()) == 200
    git("reset", "--quiet", "--hard")
    assert await store.count(CardFilter(statuses=RECALLABLE)) == 200


async def test_edits_by_hand_are_followed_and_left_alone(store: MarkdownStore, git: Git) -> None:
    edited, renamed, removed = [await store.path_of(stored(number).id) for number in (8, 9, 10)]
    edited.write_text(edited.read_text().replace("Compare", "Press the apples:"))
    renamed.rename(renamed.with_name("our-favourite.md"))
    removed.unlink()
    own = edited.with_name("2026-10-01-by-hand.md")
    own.write_text(
        "# Reflection: 2026-10-01 - researcher-agent - Feed the llamas\n## What happened?\nThey spat.\n"
        "## What went wrong?\nNo hay.\n## What should I do differently?\nBring hay to the llamas.\n"
    )
    before = sorted(status(git))
    asked = RecallQuery(
        situation=Situation(prompt="Feed the llamas"), filter=CardFilter(tenant="", statuses=RECALLABLE)
    )
    assert [hit.card.provenance.origin for hit in await store.search(asked)] == ["human"]
    assert (await store.get([stored(8).id]))[0].pattern.startswith("Press the apples:")
    assert await store.get([stored(9).id]) == [stored(9)]
    assert await store.count(CardFilter()) == 200
    assert await store.archive(51) == []
    assert sorted(status(git)) == before
    assert len(before) == 5


async def test_branches_are_followed_and_merge(store: MarkdownStore, git: Git) -> None:
    git("checkout", "--quiet", "-b", "other")
    await store.add([report_to_card(replace(written(4), summary="Feed the llamas"))])
    commit(git)
    git("checkout", "--quiet", "main")
    assert await store.count(CardFilter()) == 200
    await store.update(stored(4).with_status(MemoryStatus.ARCHIVED))
    await store.archive(50)
    commit(git)
    git("merge", "--quiet", "--no-edit", "other")
    assert await store.count(CardFilter()) == 201
    assert await store.problems() == ()
    assert (await store.get([stored(4).id]))[0].status is MemoryStatus.ARCHIVED
    assert status(git) == []
