"""Learning curves: what they show follows from the stream alone."""

import re
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from wisen.experiments.curve import sparkline, svg

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    ("right", "parts", "shown"),
    [
        ([False, False, True, True], 2, " █"),
        ([False] * 4 + [True, False] * 2 + [True] * 4, 3, " ▄█"),
        ([True], 12, "█"),
        ([], 12, ""),
        ([False] * 99 + [True], 1, "▁"),
    ],
)
def test_the_sparkline_is_as_high_as_the_share_of_right_first_tries(right: list[bool], parts: int, shown: str) -> None:
    assert sparkline(right, parts) == shown


def drawn(curves: dict[str, dict[str, list[bool]]]) -> ET.Element:
    return ET.fromstring(svg(curves))  # noqa: S314 - it was made here


def test_the_picture_has_a_panel_for_each_family_and_a_line_for_each_stream() -> None:
    root = drawn({"a<b": {"no memory": [False, False], "memory": [False, True]}, "c": {"memory": []}})
    assert len(root.findall(f"{SVG}g")) == 2
    first, second = (line.get("points") for line in root.findall(f"{SVG}g/{SVG}polyline"))
    assert first == "0.0,150.0 125.0,150.0 250.0,150.0"
    assert second == "0.0,150.0 125.0,150.0 250.0,0.0"
    said = [text.text for text in root.iter(f"{SVG}text")]
    assert "a<b: right at the first try, so far" in said
    assert "memory: 1" in said
    assert "2 tasks" in said


def test_the_picture_says_in_words_what_it_shows_and_which_line_has_no_memory() -> None:
    root = drawn({"a<b": {"no memory": [False, False], "memory": [False, True]}, "c": {"memory": [True]}})
    title = "Tasks right at the first try, so far. a<b: no memory 0 of 2, memory 1 of 2; c: memory 1 of 1"
    assert root.findtext(f"{SVG}title") == title
    lines = [line.get("class") for line in root.iter(f"{SVG}polyline")]
    assert lines == ["series-2", "series-1", "series-1"]


def test_panels_stand_two_in_a_row_within_the_picture() -> None:
    root = drawn({name: {"memory": [True]} for name in "abc"})
    places = [str(panel.get("transform"))[10:-1].split() for panel in root.findall(f"{SVG}g")]
    (left, top), (right, beside), (below, under) = [(float(x), float(y)) for x, y in places]
    assert (top, left) == (beside, below)
    assert right > left
    assert under > top
    _, _, width, height = map(float, str(root.get("viewBox")).split())
    assert right + 250 < width
    assert under + 150 < height


def test_names_of_lines_that_end_together_do_not_cover_each_other() -> None:
    root = drawn({"a": {"no memory": [True], "memory": [True], "random": [True]}})
    heights = sorted(
        float(str(name.get("y"))) for name in root.iter(f"{SVG}text") if name.get("class", "")[:6] == "series"
    )
    assert all(lower - upper >= 15 for upper, lower in pairwise(heights))


def test_the_picture_has_colours_for_light_and_dark() -> None:
    picture = svg({"a": {"memory": [True]}})
    light, dark = re.findall(r"^svg \{ (.*) \}$", picture, re.MULTILINE)
    assert "prefers-color-scheme: dark" in picture
    assert re.findall(r"--\w+", light) == re.findall(r"--\w+", dark)
    assert light != dark
