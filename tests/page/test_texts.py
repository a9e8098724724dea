"""Texts that attack, in a real browser: nothing of theirs runs, asks for anything, or is taken for the page's own."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hostile_texts import HOSTILE, LONG, card_of, run_of
from page_server import Served, serving
from page_views import run_apart

from wisen.stores.sqlite.store import SQLiteVectorStore
from wisen.stores.transfer_items import card_item, run_item

TEXTS = [*HOSTILE.values(), LONG]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    """A lesson and a run of each text."""

    async def filled() -> None:
        async with SQLiteVectorStore(tmp_path / "lessons.db") as store:
            cards = [replace(card_of(text, held=True), id=f"card-{place}") for place, text in enumerate(TEXTS)]
            runs = [run_of(text, run_id=f"run-{place}") for place, text in enumerate(TEXTS)]
            assert await store.take("cards", [card_item(one) for one in cards]) == {}
            assert await store.take("runs", [run_item(one) for one in runs]) == {}

    run_apart(filled())
    with serving(str(tmp_path / "lessons.db")) as one:
        yield one


def test_no_text_does_anything_in_a_browser(server: Served, opened: Callable[..., Any]) -> None:
    window, _ = opened(server)
    paths = ["/", "/lessons", "/runs", "/lessons?q=script"]
    paths += [f"/{what}s/{what}-{place}" for what in ("lesson", "run") for place in range(len(TEXTS))]
    paths = [path.replace("/lesson-", "/card-") for path in paths]
    own = 0
    for path in paths:
        window.goto(server.url + path, wait_until="load")
        assert window.evaluate("document.title").endswith("wisen"), path
        assert window.evaluate("document.querySelectorAll('script, iframe, object, embed, base, style').length") <= 1
        assert window.evaluate("[...document.querySelectorAll('h1')].length") == 1, path
        assert window.get_by_text("owned", exact=True).count() == 0, path
        assert not window.evaluate("document.documentElement.scrollWidth > innerWidth"), path
        own += window.evaluate("document.images.length")
    assert own == 0
    assert window.context.cookies() == []


def test_a_text_turns_no_other_text_round(server: Served, opened: Callable[..., Any]) -> None:
    window, _ = opened(server)
    window.goto(f"{server.url}/lessons/card-{[*HOSTILE].index('bidi')}")
    said = window.locator("main").inner_text()
    assert "U+202E" in said
    assert "\u202e" not in said
