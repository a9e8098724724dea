"""What an earlier version counted by spelling is named wherever a store or such a card is looked at."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from old_stores import old_markdown, old_postgres, old_sqlite

from wisen.recall import CardFilter
from wisen.stores.connect import connect

Wisen = Callable[..., CompletedProcess[str]]
SAID = "counted 5 other lessons by spelling under an earlier version; what those said wasn't kept"


async def upgraded(url: str) -> str:
    """Open the old store once for writing; gives the id of the card that others were counted on."""
    async with connect(url) as store:
        return next(card.id for card in await store.list(CardFilter()) if card.alike)


@pytest.mark.parametrize("kind", ["sqlite", "markdown", "postgres"])
def test_what_cannot_be_taken_apart_is_said(
    wisen: Wisen, tmp_path: Path, request: pytest.FixtureRequest, kind: str
) -> None:
    if kind == "postgres":
        url = asyncio.run(old_postgres(request.getfixturevalue("postgres_url")))
    elif kind == "markdown":
        url = f"markdown:{old_markdown(tmp_path / 'memory')}"
    else:
        url = str(old_sqlite(tmp_path / "old.db"))
    card = asyncio.run(upgraded(url))
    check = wisen("store", "check", url)
    assert (check.returncode, f"note: 1 card {SAID}" in check.stderr, "problem" in check.stderr) == (0, True, False)
    assert json.loads(wisen("store", "check", url, "--json").stdout)["notes"] == [f"1 card {SAID}"]
    assert SAID in wisen("store", "show", url).stdout
    assert json.loads(wisen("store", "show", url, "--json").stdout)["notes"] == [f"1 card {SAID}"]
    assert SAID in wisen("doctor", "--store", url).stdout.replace("\n", " ")
    why = wisen("lessons", "why", card, "--store", url)
    assert "6 times; 5 of them counted by spelling under an earlier version" in why.stdout
    assert json.loads(wisen("lessons", "why", card, "--store", url, "--json").stdout)["alike"] == 5


@pytest.mark.parametrize("kind", ["sqlite", "markdown"])
@pytest.mark.parametrize("command", [("lessons", "list"), ("ci", "status"), ("store", "check"), ("runs", "list")])
def test_a_command_that_only_looks_opens_an_old_store(
    wisen: Wisen, tmp_path: Path, command: tuple[str, str], kind: str
) -> None:
    made = tmp_path / "old.db"
    if kind == "markdown":
        made = old_markdown(tmp_path / "memory")
        (made / ".wisen").mkdir(exist_ok=True)
    old_sqlite(made / ".wisen" / "runs.db" if kind == "markdown" else made)
    done = wisen(*command, "--store", str(made))
    assert (done.returncode, "older wisen" in done.stderr, bool(done.stdout)) == (0, False, True)
