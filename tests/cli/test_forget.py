"""`wisen forget` says first what would go, deletes it when told to, and prints a receipt."""

import json
from collections.abc import Callable
from subprocess import CompletedProcess
from typing import Any

Wisen = Callable[..., CompletedProcess[str]]


def found(wisen: Wisen, *args: str) -> Any:
    return json.loads(wisen(*args, "--json").stdout)


def test_without_yes_nothing_is_changed(learned: Wisen) -> None:
    before = learned("store", "check").stdout
    done = learned("forget", "--tenant", "acme")
    assert done.returncode == 0
    assert done.stdout.startswith("to forget    tenant 'acme'\n")
    assert done.stderr.startswith("nothing was changed (1 card, 1 run, 0 blocks, ")
    assert done.stderr.endswith("; add --yes to do it\n")
    assert learned("store", "check").stdout == before


def test_a_tenant_and_a_run_go(learned: Wisen) -> None:
    receipt = found(learned, "forget", "--tenant", "acme", "--yes")
    assert (receipt["about"], receipt["done"], receipt["remaining"]) == ("tenant 'acme'", True, 0)
    assert found(learned, "runs", "list", "--tenant", "acme") == []
    (run,) = [one["run_id"] for one in found(learned, "runs", "list")]
    done = learned("forget", "--run", run[:9], "--yes")
    assert done.returncode == 0
    assert f"run {run!r}" in done.stdout
    assert done.stderr.startswith("deleted: ")
    assert found(learned, "runs", "list") == []
    assert found(learned, "lessons", "list")["total"] == 0
    assert learned("forget", "--run", run, "--yes").stderr == (
        f"wisen: no run {run!r}; `wisen runs list` shows what is recorded\n"
    )


def test_a_person_goes_and_the_receipt_doesnt_name_them(learned: Wisen) -> None:
    done = learned("forget", "--person", "peru", "--yes")
    assert done.returncode == 0
    assert "peru" not in done.stdout.casefold()
    assert [one["task"]["id"] for one in found(learned, "runs", "list")] == ["france"]


def test_everything_is_never_meant(learned: Wisen) -> None:
    done = learned("forget", "--yes")
    assert (done.returncode, done.stderr) == (
        2,
        "wisen: forget: name a person, a tenant or a run; it doesn't forget everything\n",
    )
