"""The documentation's pictures are what `make drawings` draws, and can be read in either colour scheme."""

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "pictures"
DRAWN = ("hold-out-arms.svg", "lesson-path.svg", "trial-evidence.svg")


@pytest.fixture(scope="module")
def pictures() -> Any:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        yield import_module("pictures")
    finally:
        sys.path.remove(str(ROOT / "tools"))


def test_all_are_named_here(pictures: Any) -> None:
    assert tuple(sorted(pictures.PICTURES)) == DRAWN


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_is_what_the_command_draws(name: str, pictures: Any) -> None:
    drawn = pictures.PICTURES[name]()
    assert drawn == (FOLDER / name).read_text("utf-8"), "run: make drawings"


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_says_what_it_shows_and_follows_the_colour_scheme(name: str) -> None:
    text = (FOLDER / name).read_text("utf-8")
    assert re.search(r"<title>[^<]+</title>\n<desc>[^<]+</desc>", text)
    assert "prefers-color-scheme: dark" in text
    pages = [page.read_text("utf-8") for page in (ROOT / "docs").rglob("*.md")]
    assert any(f"pictures/{name})" in page for page in pages), "no page shows it"


def test_a_simulated_trial_ends_where_the_rule_says(pictures: Any) -> None:
    for _, _, steps in pictures.trials():
        assert [one.said for one in steps[:-1]] == ["undecided"] * (len(steps) - 1)
        assert steps[-1].said == ("helps" if steps[-1].e_value >= 20.0 else "no difference")
