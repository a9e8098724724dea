"""Texts that attack: in a lesson or a run, whatever field it is in, a text changes nothing on any page but words."""

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hostile_texts import HARMLESS, HOSTILE, LONG, card_of, other_wording, rival_of, run_of
from page_client import Visitor, visiting

from wisen.cards import MemoryCard, MemoryStatus
from wisen.explain.wording import line
from wisen.recall import CardFilter
from wisen.records import RunRecord
from wisen.screening.invisible import unveiled
from wisen.stores.sqlite.store import SQLiteVectorStore
from wisen.stores.transfer_items import card_item, run_item
from wisen.testing.material import card
from wisen.web.application import page_application

pytestmark = [pytest.mark.anyio, pytest.mark.no_cover]
LESSON, RUN = "/lessons/hostile-card", "/runs/hostile-run"
PARTS = ("content", "pattern", "strategy", "steps", "situation", "history")
VIEWS = (
    "/",
    "/lessons",
    LESSON,
    *(f"{LESSON}/text/{part}" for part in PARTS),
    "/runs",
    RUN,
    f"{RUN}/text/task",
    f"{RUN}/text/answer",
    f"{RUN}/text/attempt-1",
)
STEERS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e0fff]"
)
MOST = 100_000
BIDI = "\u202e"


@asynccontextmanager
async def page_of(cards: Sequence[MemoryCard], *runs: RunRecord) -> AsyncGenerator[Visitor]:
    """The page of a store that holds these, as they are."""
    with TemporaryDirectory() as folder:
        async with SQLiteVectorStore(Path(folder) / "lessons.db") as store:
            assert await store.take("cards", [card_item(one) for one in cards]) == {}
            assert await store.take("runs", [run_item(one) for one in runs]) == {}
            async with visiting(page_application(store)) as visitor:
                yield visitor


def cards_of(text: str, status: MemoryStatus = MemoryStatus.QUARANTINED, *, held: bool = False) -> list[MemoryCard]:
    head = card_of(text, status=status, held=held)
    rival = rival_of(head)
    return [replace(head, rivals=(rival.id,)), other_wording(head), rival]


async def skeletons(text: str, *, held: bool) -> dict[str, list[tuple[str, ...]]]:
    """The elements of each view of a store that holds this text, wherever there can be one."""
    async with page_of(cards_of(text, held=held), run_of(text)) as visitor:
        found: dict[str, list[tuple[str, ...]]] = {}
        for view in VIEWS:
            reply = await visitor.get(view)
            assert reply.status == 200, view
            assert len(reply.body) < MOST, view
            body = reply.body.decode()
            assert STEERS.findall(body) == [], view
            assert not reply.header("set-cookie").startswith("owned"), view
            assert [one for one in reply.page.addresses if not one.startswith(("/", "#"))] == [], view
            assert [one for one in reply.page.addresses if one.startswith("//")] == [], view
            assert "1337" not in body, view
            found[view] = reply.page.skeleton
        return found


@pytest.mark.parametrize("name", HOSTILE)
async def test_no_text_changes_an_element_of_a_page(name: str) -> None:
    held = len(name) % 2 == 0
    harmless, found = await skeletons(HARMLESS, held=held), await skeletons(HOSTILE[name], held=held)
    for view in VIEWS:
        assert found[view] == harmless[view], view


async def test_a_correction_keeps_what_is_too_long_for_its_form(tmp_path: Path) -> None:
    long = "word " * 600
    async with SQLiteVectorStore(tmp_path / "lessons.db") as store:
        await store.add_unscreened([card(f"short{BIDI}", status=MemoryStatus.PROMOTED)])
        (before,) = await store.list(CardFilter())
        await store.update(replace(before, pattern=long, version=before.version + 1))
        async with visiting(page_application(store)) as visitor:
            address = f"/lessons/{before.id}"
            fields = next(one for one in (await visitor.get(address)).page.forms if one.get("act") == "correct")
            assert (fields["pattern"], fields["content"]) == ("", f"short{unveiled(BIDI)}")
            reply = await visitor.post(address, fields | {"content": "right", "why": "it was wrong"})
            assert reply.status == 303, reply.page.text
        (after,) = (one for one in await store.list(CardFilter()) if one.id != before.id)
        assert (after.content, after.pattern) == ("right", long)


async def test_a_text_is_shown_as_it_was_written() -> None:
    async with page_of(cards_of(HOSTILE["script"]), run_of(HOSTILE["script"])) as visitor:
        for view in (LESSON, f"{LESSON}/text/content", RUN, f"{RUN}/text/task", "/lessons", "/runs"):
            assert HOSTILE["script"] in (await visitor.get(view)).page.text


async def test_what_is_invisible_is_shown_as_its_code_point() -> None:
    async with page_of(cards_of(HOSTILE["bidi"]), run_of(HOSTILE["bidi"])) as visitor:
        for view in (LESSON, RUN):
            assert "U+202E" in (await visitor.get(view)).page.text


@pytest.mark.parametrize("text", [LONG, LONG.replace("x", "\u202e"), LONG.replace("x", "<"), LONG.replace("x", "é&")])
async def test_a_hundred_thousand_characters_without_a_blank_fit(text: str) -> None:
    async with page_of(cards_of(text), run_of(text)) as visitor:
        for view in (*VIEWS, f"{LESSON}/text/content?page=2"):
            reply = await visitor.get(view)
            assert reply.status == 200, view
            assert len(reply.body) < MOST, view


def test_of_a_text_no_more_is_read_than_a_line_may_hold() -> None:
    assert line("  many \n words ", 20) == "many words"
    assert line(" " * 10_000 + "words", 20) == "…"
    assert line("w" * 10_000, 20) == "w" * 19 + "…"


async def test_all_of_a_long_text_can_be_read() -> None:
    text = "".join(f"<{number}>" for number in range(9_000))
    async with page_of(cards_of(text)) as visitor:
        read, page = "", 1
        while len(read) < len(text):
            found = (await visitor.get(f"{LESSON}/text/content?page={page}")).page.text
            part = re.search(r"<\d*>?.*<?\d*>?", found)
            assert part is not None
            read, page = read + part[0], page + 1
            assert page < 100
        assert text.count("<") == read.count("<")


@pytest.mark.parametrize(
    "run_id", ["nightly/7", "a b", "50%", "what?", "a#b", "größe", "a&b=c", "<b>", "'", '"', "a+b", "a;b", "%2F"]
)
async def test_a_run_of_any_id_is_one_link_away(run_id: str) -> None:
    async with page_of([], run_of("the task", run_id=run_id)) as visitor:
        listed = (await visitor.get("/runs")).page
        (address,) = {one for one in listed.addresses if one.startswith("/runs/")}
        reply = await visitor.get(address)
        assert reply.status == 200
        assert run_id in reply.page.text
        for more in (one for one in reply.page.addresses if "/text/" in one):
            assert (await visitor.get(more)).status == 200
