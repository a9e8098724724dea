"""Every decision on a lesson, and its undoing, as a person makes it in a real browser: by mouse and by keyboard."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from accessibility import axe_faults
from page_server import Served, serving
from page_views import run_apart

from wisen.cards import MemoryCard, MemoryStatus
from wisen.recall import CardFilter
from wisen.stores.sqlite.store import SQLiteVectorStore
from wisen.testing.material import card

WHY = "agreed with the back office"
NORTH = "a-token-of-the-north"
QUARANTINED, PROMOTED = MemoryStatus.QUARANTINED, MemoryStatus.PROMOTED
BEGINS = {
    "Promote": card("Count by rows.", status=QUARANTINED, run_id="r1"),
    "Release": replace(card("Post it to a.example.", status=QUARANTINED, run_id="r2"), held=("a.example",)),
    "Archive": replace(card("Round down.", status=PROMOTED, run_id="r3"), pinned=True),
    "Quarantine": replace(card("Use code N7.", status=PROMOTED, run_id="r4"), pinned=True),
    "Reject": card("Guess the date.", status=QUARANTINED, run_id="r5"),
    "Pin": card("Dates are ISO.", status=QUARANTINED, run_id="r6"),
    "Unpin": replace(card("Answer in German.", status=PROMOTED, run_id="r7"), pinned=True),
}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A lesson for each decision."""

    async def filled() -> None:
        async with SQLiteVectorStore(tmp_path / "lessons.db") as opened:
            await opened.add_unscreened(list(BEGINS.values()))

    run_apart(filled())
    return tmp_path / "lessons.db"


@pytest.fixture
def server(store: Path) -> Iterator[Served]:
    with serving(str(store)) as one:
        yield one


def kept(store: Path, card_id: str) -> MemoryCard:
    """The card as it is in the file now."""

    async def read() -> MemoryCard:
        async with SQLiteVectorStore(store, read_only=True) as opened:
            return (await opened.get([card_id]))[0]

    return run_apart(read())


def same(one: MemoryCard, other: MemoryCard) -> bool:
    return replace(one, version=1, history=(), note="") == replace(other, version=1, history=(), note="")


@pytest.mark.parametrize("script", [True, False], ids=["with scripts", "without scripts"])
def test_each_decision_can_be_made_with_a_reason_and_undone(
    server: Served, store: Path, opened: Callable[..., Any], *, script: bool
) -> None:
    window, _ = opened(server, java_script_enabled=script)
    for act, before in BEGINS.items():
        window.goto(f"{server.url}/lessons/{before.id}")
        window.get_by_label("Why").first.fill(f"{WHY}, {act}")
        window.get_by_role("button", name=act, exact=True).click()
        window.get_by_role("status").get_by_text(before.id).wait_for()
        after = kept(store, before.id)
        assert not same(after, before), act
        assert f"{WHY}, {act}" in after.history[-1].why
        assert after.history[-1].by == "human"
        window.get_by_role("button", name="Undo").click()
        window.get_by_role("status").wait_for(state="detached")
        assert same(kept(store, before.id), before), act
        assert "undone" in window.locator(".history").inner_text()


def test_a_correction_takes_the_lesson_s_place_and_can_be_undone(
    server: Served, store: Path, opened: Callable[..., Any]
) -> None:
    window, _ = opened(server)
    before = BEGINS["Promote"]
    window.goto(f"{server.url}/lessons/{before.id}")
    window.get_by_text("Correct it").click()
    form = window.locator("details form")
    form.get_by_label("Lesson").fill("Count by columns.")
    form.get_by_label("Why").fill(WHY)
    assert axe_faults(window) == []
    form.get_by_role("button", name="Correct").click()
    window.get_by_role("status").wait_for()
    corrected = kept(store, kept(store, before.id).superseded_by)
    assert (corrected.content, corrected.provenance.created_by) == ("Count by columns.", "human")
    window.get_by_role("button", name="Undo").click()
    window.get_by_role("status").wait_for(state="detached")
    assert kept(store, before.id).superseded_by == ""


def test_without_a_reason_the_browser_asks_for_one(server: Served, store: Path, opened: Callable[..., Any]) -> None:
    window, _ = opened(server)
    before = BEGINS["Promote"]
    window.goto(f"{server.url}/lessons/{before.id}")
    window.get_by_role("button", name="Promote").click()
    assert window.evaluate("document.activeElement.name") == "why"
    window.keyboard.type("   ")
    window.get_by_role("button", name="Promote").click()
    window.get_by_role("alert").get_by_text("say why").wait_for()
    assert axe_faults(window) == []
    assert kept(store, before.id) == before


def test_a_decision_needs_the_keyboard_alone(server: Served, store: Path, opened: Callable[..., Any]) -> None:
    window, _ = opened(server, scheme="dark")
    before = BEGINS["Promote"]

    def tab_to(*wanted: str) -> None:
        for _ in range(60):
            window.keyboard.press("Tab")
            at = window.evaluate("[document.activeElement.id, document.activeElement.textContent.trim()]")
            if set(wanted) & set(at):
                return
        raise AssertionError(f"the keyboard doesn't come to {wanted}")

    tab_to("Lessons")
    window.keyboard.press("Enter")
    window.wait_for_url("**/lessons")
    tab_to(before.content)
    window.keyboard.press("Enter")
    window.wait_for_url(f"**/{before.id}")
    tab_to("why")
    window.keyboard.type(WHY)
    tab_to("Promote")
    window.keyboard.press("Enter")
    window.get_by_role("status").wait_for()
    assert kept(store, before.id).status is PROMOTED
    tab_to("Undo")
    window.keyboard.press("Space")
    window.get_by_role("status").wait_for(state="detached")
    assert kept(store, before.id).status is QUARANTINED


def test_each_tenant_logs_in_to_its_own(store: Path, tmp_path: Path, opened: Callable[..., Any]) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"{NORTH} north\na-token-of-the-south south\n")
    with serving(str(store), "--tokens", str(tokens), token=NORTH) as server:
        window, _ = opened(server)
        window.get_by_role("heading", name="What needs a decision").wait_for()
        assert axe_faults(window) == []
        window.goto(f"{server.url}/lessons/{BEGINS['Promote'].id}")
        assert BEGINS["Promote"].content not in window.content()
        window.get_by_role("button", name="Log out").click()
        window.get_by_label("Token").fill("a-token-of-nobody")
        window.get_by_role("button", name="Log in").click()
        window.get_by_role("alert").wait_for()
        assert axe_faults(window) == []


def test_two_windows_decide_and_one_is_told(server: Served, store: Path, opened: Callable[..., Any]) -> None:
    before, windows = BEGINS["Reject"], [opened(server)[0] for _ in range(2)]
    for window in windows:
        window.goto(f"{server.url}/lessons/{before.id}")
        window.get_by_label("Why").first.fill(WHY)
    for window in windows:
        window.get_by_role("button", name="Reject").click()
    windows[1].get_by_role("alert").wait_for()
    assert [one.after for one in kept(store, before.id).history] == [MemoryStatus.REJECTED]


async def _everything(store: Path) -> list[MemoryCard]:
    async with SQLiteVectorStore(store, read_only=True) as opened:
        return await opened.list(CardFilter())


def test_looking_changes_nothing(server: Served, store: Path, opened: Callable[..., Any]) -> None:
    before = run_apart(_everything(store))
    window, _ = opened(server)
    for path in ("/", "/lessons", "/runs", *(f"/lessons/{one.id}" for one in BEGINS.values())):
        window.goto(server.url + path)
    assert run_apart(_everything(store)) == before
