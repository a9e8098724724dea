"""`wisen rules` lists what stands, adds with and without a test, drops and goes back; each says what is so now."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
import replaying
from inline_snapshot import snapshot
from ruling import promoted

from wisen import HashEmbedder, MemoryCard, MemoryKind, MemoryStatus, SQLiteVectorStore

Wisen = Callable[..., CompletedProcess[str]]
WHY = ("--why", "we want it")
UNITS = promoted("Name the unit.", agent="agent")
STEPS = promoted("These steps worked:", kind=MemoryKind.PROCEDURE, steps=("Look.", "Ask."), agent="agent", run_id="s")


@pytest.fixture
def stored(store: Path) -> Callable[..., None]:
    """Puts cards into the command's store."""

    def put(*cards: MemoryCard) -> None:
        async def write() -> None:
            async with SQLiteVectorStore(store, embedder=HashEmbedder()) as opened:
                await opened.add_unscreened(cards)

        store.parent.mkdir(exist_ok=True)
        asyncio.run(write())

    return put


@pytest.fixture
def berths(tasks: Callable[..., Path]) -> Path:
    """Tasks that differ, each with the answer "yes"."""
    given = ({"prompt": task.prompt, "reference": "yes", "evaluator": "normalised"} for task in replaying.tasks(20))
    return tasks(*given)


def listed(wisen: Wisen, *args: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(wisen("rules", "list", "--json", *args).stdout)
    return found


def test_a_rule_is_added_untested_dropped_and_brought_back(wisen: Wisen, stored: Callable[..., None]) -> None:
    stored(UNITS)
    said = wisen("rules", "list").stdout
    assert "waits" in said
    said = wisen("rules", "add", UNITS.id[:8], *WHY)
    assert (said.returncode, said.stdout) == (
        0,
        f"card {UNITS.id}: a standing rule of agent 'agent' (version 1); untested; --tasks TASKS tests it\n",
    )
    (agent,) = listed(wisen)
    assert (agent["agent"], agent["version"], agent["waiting"]) == ("agent", 1, [])
    assert agent["rules"] == [
        {
            "card_id": UNITS.id,
            "verdict": "untested",
            "gained": 0,
            "lost": 0,
            "ties": 0,
            "model": "",
            "layout": "",
            "stands": True,
            "why_not": "",
            "text": "Name the unit.",
        }
    ]
    said = wisen("rules", "drop", UNITS.id, *WHY)
    assert said.stdout == f"card {UNITS.id}: no rule of agent 'agent' any more (version 2)\n"
    assert wisen("rules", "list").stderr == "no rules: a promoted principle or procedure becomes one\n"
    said = wisen("rules", "rollback", *WHY)
    assert said.stdout == "rules of agent 'agent': version 3, with 1 of them\n"
    told = json.loads(wisen("lessons", "why", UNITS.id, "--json").stdout)["history"]
    assert [one["why"] for one in told[-3:]] == snapshot(
        [
            "a standing rule of agent 'agent', version 1: we want it",
            "no standing rule of agent 'agent', version 2: we want it",
            "a standing rule of agent 'agent', version 3: back to version 1: we want it",
        ]
    )
    versions = wisen("rules", "list", "--versions").stdout.splitlines()
    assert [line.split()[-2:] for line in versions[1:]] == [
        ["added", UNITS.id],
        ["dropped", UNITS.id],
        ["added", UNITS.id],
    ]


def test_a_run_is_shown_what_was_promoted_and_why_says_so(
    wisen: Wisen, stored: Callable[..., None], tasks: Callable[..., Path], script: Callable[..., str]
) -> None:
    stored(*(replace(card, status=MemoryStatus.QUARANTINED) for card in (UNITS, STEPS)))
    for card in (UNITS, STEPS):
        assert wisen("lessons", "promote", card.id, *WHY).returncode == 0
    file = tasks({"prompt": "Translate house.", "reference": "ok", "evaluator": "normalised"})
    assert wisen("run", file, "--model", script("ok"), "--embedder", "hash").returncode == 0
    (run,) = json.loads(wisen("runs", "list", "--json").stdout)
    told = json.loads(wisen("why", run["run_id"], "--json").stdout)["attempts"][0]["cards"]
    assert [(one["card_id"], one["fate"], one["injection"]["rule"]) for one in told] == [
        (UNITS.id, "shown", 2),
        (STEPS.id, "shown", 2),
    ]
    said = wisen("why", run["run_id"]).stdout
    assert "for every task  standing rule, version 2" in said
    assert "relevance" not in said.split("own lesson")[0]
    assert f"{UNITS.id} principle, shown: standing rule, version 2" in wisen("runs", "show", run["run_id"]).stdout
    assert [rule["card_id"] for rule in listed(wisen)[0]["rules"]] == [UNITS.id, STEPS.id]
    assert wisen("lessons", "archive", UNITS.id, *WHY).returncode == 0
    assert [rule["why_not"] for rule in listed(wisen)[0]["rules"]] == ["it is archived; promote it first", ""]


def test_a_person_who_promotes_a_principle_is_told_that_it_becomes_a_rule(
    wisen: Wisen, stored: Callable[..., None]
) -> None:
    stored(replace(UNITS, status=MemoryStatus.QUARANTINED))
    said = wisen("lessons", "promote", UNITS.id, *WHY).stdout
    assert said.endswith("promoted, and a standing rule of agent 'agent'\n")


def test_a_harmful_rule_is_caught_by_its_test(
    wisen: Wisen, stored: Callable[..., None], berths: Path, script: Callable[..., str]
) -> None:
    stored(UNITS)
    args = ("rules", "add", UNITS.id, *WHY, "--tasks", berths, "--model", script(*(["yes", "no"] * 20)))
    said = wisen(*args)
    assert (said.returncode, said.stdout) == (
        1,
        f"card {UNITS.id}: no rule of agent 'agent'; hurts: replays came out worse with it\n",
    )
    (agent,) = listed(wisen)
    assert (agent["rules"], agent["waiting"]) == ([], [])
    assert agent["versions"][0]["dropped"] == [UNITS.id]


def test_where_the_budget_ends_nothing_is_added(
    wisen: Wisen, stored: Callable[..., None], berths: Path, script: Callable[..., str]
) -> None:
    stored(UNITS)
    said = wisen("rules", "add", UNITS.id, *WHY, "--tasks", berths, "--model", script("yes"), "--budget", "1")
    assert said.returncode == 1
    assert "the budget ended before its test did" in said.stdout
    assert [card["card_id"] for card in listed(wisen)[0]["waiting"]] == [UNITS.id]


def test_a_rule_that_helps_is_added_with_its_counts(
    wisen: Wisen, stored: Callable[..., None], berths: Path, script: Callable[..., str]
) -> None:
    stored(UNITS)
    said = wisen("rules", "add", UNITS.id, *WHY, "--tasks", berths, "--model", script(*(["no", "yes"] * 20)))
    showed = "helps: 7 clusters of like tasks replayed, 7 gained, 0 lost"
    assert said.stdout == f"card {UNITS.id}: a standing rule of agent 'agent' (version 1); {showed}\n"
    assert said.returncode == 0
    assert "helps: 7 replayed, 7 gained, 0 lost (model scripted)" in wisen("rules", "list").stdout


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("drop", UNITS.id), f"card {UNITS.id!r} is no rule of agent 'agent'; `wisen rules list` shows which are"),
        (("rollback",), "agent 'agent' can't go back to version 0 of its rules: it has no rules yet"),
        (("add", "ffff"), "no memory card 'ffff'"),
        (("add", UNITS.id, "--agent", "porter"), "can't be a rule of agent 'porter': it is for agent 'agent'"),
        (("add", UNITS.id, "--tenant", "acme"), f"no memory card {UNITS.id!r}"),
        (("add", UNITS.id, "--why", " "), "rules change only with a reason; say why"),
    ],
)
def test_what_can_t_be_done_is_said_in_a_line(
    wisen: Wisen, stored: Callable[..., None], args: tuple[str, ...], said: str
) -> None:
    stored(UNITS)
    found = wisen("rules", args[0], *WHY, *args[1:])
    assert (found.returncode, found.stdout, found.stderr.count("\n")) == (2, "", 1)
    assert said in found.stderr


def test_the_tenant_s_tasks_are_needed(
    wisen: Wisen, stored: Callable[..., None], tasks: Callable[..., Path], script: Callable[..., str]
) -> None:
    stored(UNITS)
    file = tasks({"prompt": "x", "reference": "y", "evaluator": "normalised", "tenant": "acme"})
    found = wisen("rules", "add", UNITS.id, *WHY, "--tasks", file, "--model", script("y"))
    assert (found.returncode, "none of these tasks is of tenant ''" in found.stderr) == (2, True)


def test_each_command_says_what_it_does(wisen: Wisen) -> None:
    for verb in ("list", "add", "drop", "rollback"):
        help_ = wisen("rules", verb, "--help").stdout
        assert all(option in help_ for option in ("--store", "--tenant", "--agent", "--json"))
