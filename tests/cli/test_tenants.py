"""Commands that take an id take a tenant, for whom the cards and runs of others aren't there."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
import typer.main

from wisen import RunRecord, SQLiteVectorStore, Task
from wisen.cli.main import application

Wisen = Callable[..., CompletedProcess[str]]

ON_CARDS = [
    ("lessons", "show"),
    ("lessons", "why"),
    *(("lessons", act, "--why", "so") for act in ("promote", "archive", "quarantine", "pin", "unpin", "reject")),
    ("ci", "history"),
]
ON_RUNS = [("runs", "show"), ("why",), ("runs", "outcome", "--score", "1")]


def found(wisen: Wisen, *args: str) -> Any:
    return json.loads(wisen(*args, "--json").stdout)


@pytest.mark.parametrize("command", ON_CARDS, ids=" ".join)
def test_a_card_of_another_tenant_isnt_there(learned: Wisen, command: tuple[str, ...]) -> None:
    theirs = found(learned, "lessons", "list", "--tenant", "acme")["lessons"][0]["id"]
    for given in (theirs, theirs[:9]):
        done = learned(*command, given, "--tenant", "")
        assert done.returncode == 2
        assert done.stderr == f"wisen: no memory card {given!r}; `wisen lessons list` shows what is stored\n"
    assert found(learned, "lessons", "show", theirs)["status"] != "archived"
    allowed = learned(*command, theirs[:9], "--tenant", "acme")
    assert "no memory card" not in allowed.stderr


@pytest.mark.parametrize("command", ON_RUNS, ids=" ".join)
def test_a_run_of_another_tenant_isnt_there(learned: Wisen, command: tuple[str, ...]) -> None:
    theirs = found(learned, "runs", "list", "--tenant", "acme")[0]["run_id"]
    for given in (theirs, theirs[:9]):
        done = learned(*command, given, "--tenant", "")
        assert done.returncode == 2
        assert done.stderr == f"wisen: no run {given!r}; `wisen runs list` shows what is recorded\n"
    assert learned(*command, theirs[:9], "--tenant", "acme").returncode == 0
    done = learned(*command, theirs, "--tenant", "nobody")
    assert done.stderr == f"wisen: no run {theirs!r}: the store has no runs of this tenant\n"


def test_a_beginning_that_two_tenants_have_is_enough_for_one(wisen: Wisen, store: Path) -> None:
    async def fill() -> None:
        async with SQLiteVectorStore(store) as opened:
            for run_id, tenant in (("abc1", ""), ("abc2", "acme"), ("abc3", "acme")):
                await opened.save_run(RunRecord(run_id=run_id, task=Task(prompt="p", tenant=tenant)))

    asyncio.run(fill())
    assert found(wisen, "runs", "show", "abc", "--tenant", "")["run_id"] == "abc1"
    assert wisen("runs", "show", "abc", "--tenant", "acme").stderr == (
        "wisen: 'abc' begins several ids: abc3, abc2; write more of it\n"
    )


def test_every_command_that_takes_an_id_takes_a_tenant() -> None:
    """Batches belong to a queue, and not to a tenant."""
    without: list[str] = []

    def look(command: Any, name: str) -> None:
        for verb, inner in getattr(command, "commands", {}).items():
            look(inner, f"{name} {verb}".strip())
        options = {option for one in getattr(command, "params", ()) for option in one.opts}
        takes = {one.metavar for one in getattr(command, "params", ()) if one.param_type_name == "argument"}
        if takes & {"ID", "RUN", "CARD", "REPORT"} and "--tenant" not in options:
            without.append(name)

    look(typer.main.get_command(application()), "")
    assert [name for name in without if not name.startswith("batch")] == []
