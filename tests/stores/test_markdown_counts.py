"""What is counted on a card stands beside its file: nothing to review, nothing lost, and nothing in a clone."""

import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from markdown_files import EVERYTHING

from wisen.cards import CardEvidence, MemoryCard, MemoryKind, MemoryStatus, Provenance
from wisen.stores.markdown.card_counts import without_counts
from wisen.stores.markdown.store import MarkdownStore
from wisen.trial_records import DrawCounts, OpenDraw, Trial

pytestmark = pytest.mark.anyio

LESSON = MemoryCard(
    kind=MemoryKind.LESSON,
    content="Look twice.",
    status=MemoryStatus.QUARANTINED,
    provenance=Provenance(run_id="r", created_by="reflexion", agent="clerk"),
)
TRIAL = Trial(model="m", stage="on trial", number=1, counts=(DrawCounts(shown=3, shown_good=2, held_out=4),))


OLD = """\
---
id: f9ddcb4beab2f5b270c1
status: quarantined
agent: clerk
created_by: reflexion
run: r
version: 4
repeats: 1
retold: 2
trials:
  - {"model": "m", "number": 1, "stage": "on trial", "counts": [{"propensity": 0.5, "shown": 3, "shown_good": 2, \
"shown_unknown": 0, "held_out": 4, "held_out_good": 0, "held_out_unknown": 0, "judged": 0}]}
open_draws:
  - {"id": "n", "run_id": "s"}
evidence:
  - {"model": "m", "gained": 1}
seal: f83333e462a0fa6d42604cef3bfabe43
---

Look twice.
"""
"""As version 0.1.0 wrote and sealed it, when counts stood in the file."""


def counted(card: MemoryCard, runs: int = 1) -> MemoryCard:
    """The card after so many runs more."""
    return replace(
        card,
        version=card.version + 1,
        trials=(replace(TRIAL, first=runs),),
        open_draws=(OpenDraw(id=f"n{runs}", run_id="s"),),
        observed=("a1",),
        evidence=(CardEvidence(model="m", gained=runs),),
        retold=2,
        taught_at=datetime(2026, 3, 1, tzinfo=UTC),
    )


async def read(root: Path) -> MemoryCard:
    async with MarkdownStore(root, read_only=True) as store:
        (card,) = await store.list(EVERYTHING)
        assert await store.problems() == ()
        return card


def texts(root: Path) -> dict[str, str]:
    return {one.name: one.read_text() for one in (root / "cards").rglob("*.md")}


def counts(root: Path) -> Path:
    return root / ".wisen" / "counts.jsonl"


async def test_counts_change_no_file_and_others_see_them(store: MarkdownStore, root: Path) -> None:
    await store.add([LESSON])
    before = texts(root)
    async with MarkdownStore(root, fsync=False) as another:
        assert await another.get([LESSON.id]) == [LESSON]
        await store.update(counted(LESSON))
        assert await another.get([LESSON.id]) == [counted(LESSON)]
        await another.update(once := counted(counted(LESSON)))
        assert await store.get([LESSON.id]) == [once]
    assert texts(root) == before
    assert await read(root) == once


async def test_a_status_goes_into_the_file_and_the_counts_stay(store: MarkdownStore, root: Path) -> None:
    await store.add([LESSON])
    await store.update(counted(LESSON))
    decided = replace(counted(LESSON).with_status(MemoryStatus.PROMOTED), trials=(replace(TRIAL, stage="promoted"),))
    await store.update(decided)
    assert await read(root) == decided
    (text,) = texts(root).values()
    assert "status: promoted\n" in text
    assert "version: 2\n" in text, "the file's own changes"
    await store.update(decided.with_status(MemoryStatus.ARCHIVED))
    assert await read(root) == decided.with_status(MemoryStatus.ARCHIVED)


async def test_a_copy_without_the_counts_has_none(store: MarkdownStore, root: Path, tmp_path: Path) -> None:
    await store.add([LESSON])
    await store.update(counted(LESSON))
    await store.update(counted(LESSON).with_status(MemoryStatus.PROMOTED))
    clone = tmp_path / "clone"
    shutil.copytree(root, clone, ignore=shutil.ignore_patterns(".wisen"))
    assert await read(clone) == LESSON.with_status(MemoryStatus.PROMOTED)


async def test_counts_are_those_of_the_text(store: MarkdownStore, root: Path) -> None:
    await store.add([LESSON])
    await store.update(counted(LESSON))
    path = await store.path_of(LESSON.id)
    text = path.read_text()
    path.write_text(text.replace("twice", "once"))
    (edited,) = await store.get([LESSON.id])
    assert without_counts(edited) == edited
    await store.update(counted(edited, 5))
    assert (await read(root)).trials[0].first == 5
    path.write_text(text)
    assert await read(root) == counted(LESSON)


@pytest.mark.parametrize("replaced", [False, True])
async def test_a_crash_between_counts_and_file_leaves_one_state(
    store: MarkdownStore, root: Path, *, replaced: bool
) -> None:
    await store.add([LESSON])
    await store.update(counted(LESSON))
    path = await store.path_of(LESSON.id)
    old = path.read_text()
    decided = replace(counted(LESSON).with_status(MemoryStatus.PROMOTED), trials=(replace(TRIAL, stage="promoted"),))
    await store.update(decided)
    # The last line says that the file is there; a crash before it leaves the one before.
    counts(root).write_bytes(b"".join(counts(root).read_bytes().splitlines(keepends=True)[:-1]))
    if not replaced:
        path.write_text(old)
    expected = decided if replaced else counted(LESSON)
    assert await read(root) == expected
    async with MarkdownStore(root) as later:
        await later.update(after := counted(expected, 3))
    assert await read(root) == after


async def test_half_a_line_is_cut_off(store: MarkdownStore, root: Path) -> None:
    await store.add([LESSON])
    await store.update(counted(LESSON))
    with counts(root).open("ab") as file:
        file.write(b'{"id": "')
    assert await read(root) == counted(LESSON)
    await store.update(counted(counted(LESSON)))
    assert await read(root) == counted(counted(LESSON))
    assert await store.unreadable() == []


async def test_a_line_that_cannot_be_read_is_told_and_stops_nothing(store: MarkdownStore, root: Path) -> None:
    await store.add([LESSON])
    await store.update(counted(LESSON))
    with counts(root).open("ab") as file:
        file.write(b"<<<<<<< ours\n")
    assert await read(root) == counted(LESSON)
    assert await store.unreadable() == [".wisen/counts.jsonl: line 3 can't be read"]


async def test_a_deleted_card_leaves_no_counts(store: MarkdownStore, root: Path) -> None:
    other = replace(LESSON, content="Look once.", id="")
    await store.add([LESSON, other])
    await store.update(counted(LESSON))
    await store.update(counted(other))
    await store.delete([LESSON.id])
    assert LESSON.id not in counts(root).read_text()
    await store.add([LESSON])
    assert await store.get([LESSON.id, other.id]) == [LESSON, counted(other)]


async def test_the_counts_of_many_runs_take_little_space(store: MarkdownStore, root: Path) -> None:
    await store.add([LESSON])
    card = counted(LESSON)
    async with MarkdownStore(root, fsync=False) as another:
        for number in range(700):
            await store.update(card := counted(replace(card, version=number + 1)))
            if number % 100 == 0:
                assert await another.get([LESSON.id]) == [card]
        assert await another.get([LESSON.id]) == [card]
    assert counts(root).stat().st_size < 120_000
    assert await read(root) == card


async def test_counts_in_files_of_an_earlier_version_move_out_of_them(root: Path) -> None:
    path = root / "cards" / "lesson" / "look-twice.md"
    path.parent.mkdir(parents=True)
    path.write_text(OLD)
    old = await read(root)
    assert (old.version, old.retold, old.trials, old.status) == (4, 2, (TRIAL,), MemoryStatus.QUARANTINED)
    async with MarkdownStore(root) as store:
        await store.update(counted(old))
    text = path.read_text()
    assert not any(word in text for word in ("trials", "retold", "evidence", "repeats"))
    assert await read(root) == counted(old)
    async with MarkdownStore(root) as store:
        await store.update(counted(counted(old)))
    assert path.read_text() == text


async def test_counts_that_were_typed_into_a_file_are_not_believed(store: MarkdownStore, root: Path) -> None:
    await store.add([LESSON])
    path = await store.path_of(LESSON.id)
    path.write_text(path.read_text().replace("run: r\n", 'run: r\ntrials:\n  - {"model": "m", "stage": "promoted"}\n'))
    assert await read(root) == LESSON


async def test_a_persons_new_text_begins_without_counts(store: MarkdownStore, root: Path) -> None:
    path = root / "cards" / "lesson" / "mine.md"
    path.parent.mkdir(parents=True)
    path.write_text("Look twice.\n")
    (card,) = await store.list(EVERYTHING)
    await store.update(counted(card))
    assert await read(root) == counted(card)
    assert path.read_text() == "Look twice.\n"
    path.write_text("Look once.\n")
    assert (await read(root)).trials == ()
