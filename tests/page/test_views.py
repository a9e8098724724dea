"""Every view of a store with 10,000 runs and 5,000 lessons in a real browser: quiet, light, and open to everybody."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from accessibility import axe_faults, tabbed_through
from page_server import Served
from page_views import views_of

SCHEMES = ("light", "dark")
MOST = 100_000
"""Bytes of a view over the wire, with all that it names."""


@pytest.fixture(scope="session")
def views(lived: Path) -> dict[str, str]:
    return views_of(lived)


@pytest.fixture(params=SCHEMES)
def window(request: pytest.FixtureRequest, served: Served, opened: Callable[..., Any]) -> Any:
    return opened(served, scheme=request.param)[0]


def test_nothing_keeps_a_person_from_a_view(views: dict[str, str], served: Served, window: Any) -> None:
    faults: dict[str, list[str]] = {}
    for name, path in views.items():
        window.goto(served.url + path)
        found = axe_faults(window)
        if window.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found.append("is wider than the window")
        if found:
            faults[name] = found
    assert faults == {}


def test_a_first_visit_is_light(views: dict[str, str], served: Served, opened: Callable[..., Any]) -> None:
    weights: dict[str, int] = {}
    window, watch = opened(served)
    for name, path in views.items():
        watch.forget()
        window.goto(served.url + path)
        weights[name] = watch.weight
    assert {name: weight for name, weight in weights.items() if not 0 < weight <= MOST} == {}


def test_dark_is_dark(served: Served, opened: Callable[..., Any]) -> None:
    grounds: dict[str, int] = {}
    for scheme in SCHEMES:
        window, _ = opened(served, scheme=scheme)
        window.goto(served.url)
        ground = window.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        grounds[scheme] = sum(int(part) for part in ground.strip("rgba()").split(",")[:3])
    assert grounds["dark"] < 200
    assert grounds["light"] > 600


def test_a_view_fits_a_telephone(views: dict[str, str], served: Served, opened: Callable[..., Any]) -> None:
    window, _ = opened(served, viewport={"width": 360, "height": 740})
    wide: list[str] = []
    for name, path in views.items():
        window.goto(served.url + path)
        if window.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(name)
    assert wide == []


def test_no_table_lies_over_what_stands_beside_it(
    views: dict[str, str], served: Served, opened: Callable[..., Any]
) -> None:
    over: list[str] = []
    for width in (1280, 1217, 1100, 900, 600):
        window, _ = opened(served, viewport={"width": width, "height": 800})
        for name in ("what needs a decision", "lessons", "a promoted lesson", "a lesson on trial", "runs"):
            window.goto(served.url + views[name])
            if window.evaluate(
                "[...document.querySelectorAll('table')].some((one) =>"
                " one.getBoundingClientRect().right > one.parentElement.getBoundingClientRect().right + 1)"
            ):
                over.append(f"{name}, {width} pixels wide")
    assert over == []


def test_the_keyboard_comes_to_everything_and_shows_where_it_is(
    views: dict[str, str], served: Served, opened: Callable[..., Any]
) -> None:
    window, _ = opened(served, scheme="dark")
    for name, path in views.items():
        window.goto(served.url + path)
        there = window.evaluate(
            "[...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary')]"
            ".filter((one) => one.checkVisibility({visibilityProperty: true, contentVisibilityAuto: true})).length"
        )
        stops = tabbed_through(window)
        assert [one["what"] for one in stops if not (one["seen"] and one["ring"])] == [], name
        assert len(stops) >= there, name
        assert "Skip" in stops[0]["what"], name


def test_the_skip_link_leads_past_the_navigation(served: Served, window: Any) -> None:
    window.goto(served.url)
    window.keyboard.press("Tab")
    window.keyboard.press("Enter")
    assert window.evaluate("document.activeElement.closest('main') !== null")


def test_a_search_needs_no_new_page_and_no_script(served: Served, opened: Callable[..., Any]) -> None:
    found: list[str] = []
    for script in (True, False):
        window, _ = opened(served, java_script_enabled=script)
        window.goto(f"{served.url}/lessons")
        window.get_by_label("Search").fill("Which tax code goes on the invoice?")
        if script:
            window.get_by_text("lessons found").wait_for()
        else:
            window.get_by_role("button", name="Show").click()
        found.append(window.locator("#found").inner_text())
    assert found[0] == found[1]
    assert "tax" in found[0]
