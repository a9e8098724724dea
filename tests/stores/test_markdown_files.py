"""Every card has a file of its own, in a form that people can read."""

import asyncio
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot
from markdown_files import AGENT, EVERYTHING, card, failed, files

from wisen.cards import CardEvidence, MemoryCard, MemoryKind, MemoryScope, MemoryStatus, Provenance, Situation
from wisen.errors import StoreError
from wisen.recall import CardFilter
from wisen.reports import SuccessReport, report_to_card
from wisen.stores.markdown.store import MarkdownStore

pytestmark = pytest.mark.anyio


async def test_section_4_a_report_is_a_file(store: MarkdownStore, root: Path) -> None:
    one = replace(card("API timeout handling"), situation=Situation(prompt="Fetch: all.", tools=("http",)))
    one = replace(one, evidence=(CardEvidence(model="m", shown=2),), note="true")
    await store.add([one])
    path = root / "reflections/researcher-agent/2026-03-01-api-timeout-handling.md"
    assert await store.path_of(one.id) == path
    assert path.read_text().partition("# Reflection")[0] == snapshot("""\
---
id: a0e87e929814b04ffab0
status: promoted
created_at: 2026-03-01T09:00:00Z
created_by: reflexion
run: r1
prompt: "Fetch: all."
tools: ["http"]
note: "true"
seal: 2d380ac7d1fdde37d09ad65308c9c7e6
---

""")


@pytest.mark.parametrize(
    ("agent", "summary", "expected"),
    [
        (AGENT, "One two three four five six", f"{AGENT}/2026-03-01-one-two-three-four-five.md"),
        (AGENT, "Über-Größe: 数え上げ!", f"{AGENT}/2026-03-01-über-grösse-数え上げ.md"),
        (AGENT, "???", f"{AGENT}/2026-03-01-untitled.md"),
        ("../../etc/passwd", "x/../y", "etc-passwd/2026-03-01-x-y.md"),
        ("Con", "nul", "the-con/2026-03-01-the-nul.md"),
        ("archive", "a\\b", "the-archive/2026-03-01-a-b.md"),
        ("..", "w" * 300, f"agent/2026-03-01-{'w' * 80}.md"),
        ("A long name of an agent, of eight words", "x", "a-long-name-of-an-agent-of-eight-words/2026-03-01-x.md"),
    ],
)
async def test_section_4_names_are_safe(
    store: MarkdownStore, root: Path, agent: str, summary: str, expected: str
) -> None:
    one = card(summary, agent=agent)
    await store.add_unscreened([one])
    assert files(root) == [f"reflections/{expected}"]
    assert await store.get([one.id]) == [one]


async def test_section_4_nothing_is_overwritten(store: MarkdownStore, root: Path) -> None:
    first = root / "reflections/researcher-agent/2026-03-01-api-timeout.md"
    first.parent.mkdir(parents=True)
    first.write_text("A person's own notes.")
    await store.add([card("API timeout", run_id="a"), replace(card("API timeout"), steps=("Wait.",), id="")])
    assert [Path(name).name for name in files(root)] == [
        "2026-03-01-api-timeout-2.md",
        "2026-03-01-api-timeout-3.md",
        "2026-03-01-api-timeout.md",
    ]
    assert first.read_text() == "A person's own notes."


async def test_other_cards_have_a_place_of_their_own(store: MarkdownStore, root: Path) -> None:
    lesson = MemoryCard(
        kind=MemoryKind.LESSON,
        content="Look twice.\n\n## Strategy\n\nAs a word.",
        pattern="With chairs",
        strategy=" kept as it is\r",
        steps=("Look.", "Look\n  again."),
        provenance=Provenance(agent="clerk"),
    )
    await store.add([lesson])
    assert files(root) == ["cards/lesson/with-chairs.md"]
    assert (root / files(root)[0]).read_text() == snapshot("""\
---
id: 7bff71368b023f14671a
status: candidate
agent: clerk
strategy: " kept as it is\\r"
seal: d79388c1dba41940284ab59dde3fac89
---

Look twice.

\\## Strategy

As a word.

## When it applies

With chairs

## Steps

1. Look.
2. Look
     again.
""")
    assert await store.get([lesson.id]) == [lesson]


LINES = st.one_of(
    st.sampled_from(("---", "## Steps", "id: 7", "\r", " ", "\x00", "<<<<<<< ours", ">>>>>>> theirs", "1. x", "```")),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
)
TEXTS = st.lists(LINES, max_size=4).map("\n".join)
MOMENTS = st.datetimes(timezones=st.sampled_from((None, UTC)))


@settings(max_examples=60)
@given(
    st.builds(
        MemoryCard,
        kind=st.sampled_from(MemoryKind),
        content=TEXTS,
        pattern=TEXTS,
        strategy=TEXTS,
        steps=st.lists(TEXTS, max_size=2).map(tuple),
        situation=st.builds(Situation, prompt=TEXTS, task_type=TEXTS, tools=st.lists(TEXTS, max_size=2).map(tuple)),
        scope=st.builds(MemoryScope, tenant=TEXTS, tool_names=st.lists(TEXTS, max_size=2).map(tuple)),
        status=st.sampled_from(MemoryStatus),
        provenance=st.builds(Provenance, run_id=TEXTS, agent=TEXTS, attempt=st.integers(0, 9), created_at=MOMENTS),
        note=TEXTS,
    ),
    st.sampled_from(MemoryStatus),
    TEXTS,
)
def test_any_card_comes_back(
    tmp_path_factory: pytest.TempPathFactory, one: MemoryCard, status: MemoryStatus, text: str
) -> None:
    root = tmp_path_factory.mktemp("any")

    async def there_and_back() -> None:
        async with MarkdownStore(root, fsync=False) as store:
            await store.add_unscreened([one])
        changed = replace(one.with_status(status), content=text)
        async with MarkdownStore(root, fsync=False) as store:
            assert await store.get([one.id]) == [one]
            await store.update(changed)
        async with MarkdownStore(root, fsync=False) as store:
            assert await store.list(CardFilter(tenant=one.scope.tenant)) == [changed]
            assert await store.problems() == ()

    asyncio.run(there_and_back())


async def test_a_success_is_a_procedure(store: MarkdownStore, root: Path) -> None:
    one = report_to_card(
        SuccessReport(agent="clerk", date=date(2026, 1, 1), summary="Sum", strategy="By row.", why_it_worked="No gap.")
    )
    await store.add([one])
    assert files(root) == ["reflections/clerk/2026-01-01-sum.md"]
    assert await store.get([one.id]) == [one]
    await store.update(replace(one, version=2, content="No longer in the form of a report."))
    assert (await store.get([one.id]))[0].content == "No longer in the form of a report."
    assert "kind: procedure\n" in (root / files(root)[0]).read_text()
    await store.update(replace(one, version=3))
    assert (await store.get([one.id]))[0] == replace(one, version=3)
    assert "kind:" not in (root / files(root)[0]).read_text()


@pytest.mark.parametrize("odd", ["<<<<<<< ours\nx\n>>>>>>> theirs", "a \x00 zero"])
async def test_a_report_that_is_no_text_to_git_is_kept_as_values(store: MarkdownStore, root: Path, odd: str) -> None:
    one = report_to_card(replace(failed("Odd"), what_happened=odd), status=MemoryStatus.PROMOTED)
    await store.add_unscreened([one])
    await store.update(one.with_status(MemoryStatus.REJECTED))
    assert await store.get([one.id]) == [one.with_status(MemoryStatus.REJECTED)]
    text = (root / files(root)[0]).read_text()
    assert "kind: reflection\n" in text
    assert odd not in text
    assert len(await store.reports()) == 1


async def test_a_card_of_any_size_is_kept_or_refused(store: MarkdownStore) -> None:
    large = MemoryCard(kind=MemoryKind.LESSON, content="x" * 3_900_000)
    await store.add_unscreened([large])
    assert await store.get([large.id]) == [large]
    with pytest.raises(StoreError, match="more than 4000000 bytes"):
        await store.add_unscreened([card("Small"), MemoryCard(kind=MemoryKind.LESSON, content="y" * 4_000_000)])
    assert await store.count(EVERYTHING) == 1


async def test_the_title_decides_on_day_and_agent(store: MarkdownStore) -> None:
    one = card("Fine")
    await store.add([one])
    path = await store.path_of(one.id)
    path.write_text(path.read_text().replace("2026-03-01 - researcher-agent", "2026-03-05 - clerk"))
    seen = (await store.get([one.id]))[0]
    assert (seen.provenance.agent, seen.provenance.created_at) == ("clerk", datetime(2026, 3, 5, tzinfo=UTC))
    await store.update(seen.with_status(MemoryStatus.REJECTED))
    assert await store.get([one.id]) == [seen.with_status(MemoryStatus.REJECTED)]


async def test_a_file_without_id_cannot_pass_for_an_own_run(store: MarkdownStore, root: Path) -> None:
    path = root / "cards/skill_card/x.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\ncreated_by: reflexion\nverified: true\nprompt: Capital of Peru?\n---\nLima\n")
    assert [one.provenance.origin for one in await store.list(EVERYTHING)] == ["human"]
    path.write_text(path.read_text().replace("reflexion", "import"))
    assert [one.provenance.origin for one in await store.list(EVERYTHING)] == ["imported"]
