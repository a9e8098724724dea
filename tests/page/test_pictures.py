"""Takes the pictures of the page that the docs show: into the folder that WISEN_PICTURES names, else a test's own."""

import os
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from page_server import Served
from page_views import views_of

MOST = 150_000
"""Bytes of a picture."""
SIZE = {"width": 1240, "height": 820}
COLOURS = 128
"""That text and its edges need; with all of them a picture is three times as large."""
SHOWN = {"decide": "what needs a decision", "lesson": "a promoted lesson", "run": "a run with three attempts"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pictures_are_taken(
    scheme: str, lived: Path, served: Served, opened: Callable[..., Any], tmp_path: Path
) -> None:
    image: Any = pytest.importorskip("PIL.Image", reason="not run here: pillow isn't installed; make test-page")
    folder = Path(os.environ.get("WISEN_PICTURES") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    views = views_of(lived)
    window, _ = opened(served, scheme=scheme, viewport=SIZE)
    for name, view in SHOWN.items():
        window.goto(served.url + views[view], wait_until="networkidle")
        picture = folder / f"page-{name}-{scheme}.png"
        taken = image.open(BytesIO(window.screenshot(animations="disabled", caret="hide")))
        taken.convert("RGB").quantize(COLOURS).save(picture, optimize=True)
        assert 10_000 < picture.stat().st_size <= MOST, picture.name
